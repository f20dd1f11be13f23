"""A quick reader of models in plain notation: ASCII names, `*`, `+`, `<->`, and no spaces."""

from __future__ import annotations

import re
from functools import lru_cache

from .formula import Atom, Conjunction, Literal, Model

_LITERAL = r"(?:[A-Z][A-Z0-9_.]*|[a-z][a-z0-9_.]*)(?:=[0-9]{1,2})?"
_ATOM = rf"{_LITERAL}(?:[*+]{_LITERAL})*<->{_LITERAL}"
_PLAIN = re.compile(rf"{_ATOM}|\({_ATOM}\)(?:[*,]\({_ATOM}\))*", re.ASCII)


def read_plain(text: str) -> Model | None:
    """Read a model in plain notation, or return None.

    Examples
    --------
    >>> read_plain("(A*b+C<->D)*(D<->E)"), read_plain("A or B"), read_plain("(A<->B)*(C<->B)")
    (Model('(A*b+C<->D)*(D<->E)'), None, None)
    """
    if _PLAIN.fullmatch(text) is None:
        return None
    parts = text[1:-1].replace("),(", ")*(").split(")*(") if text[0] == "(" else [text]
    atoms = [_atom(*part.split("<->")) for part in parts]
    if len({atom.outcome for atom in atoms}) < len(atoms):
        return None
    model = Model(tuple(atoms))
    if "=" not in text:
        # known without looking, as a cached property
        model.__dict__["multi_value"] = False
    return model


def _atom(left: str, right: str) -> Atom:
    disjuncts = {_conjunction(one) for one in left.split("+")}
    return Atom.in_order(tuple(one for _, one in sorted(disjuncts, key=_order)), _literal(right))


def _order(conjunction: tuple[tuple[Literal, ...], Conjunction]) -> tuple[Literal, ...]:
    return conjunction[0]


@lru_cache(maxsize=1 << 14)
def _conjunction(text: str) -> tuple[tuple[Literal, ...], Conjunction]:
    """Return the literals of a conjunction, in order and as a set."""
    found = frozenset(map(_literal, text.split("*")))
    return tuple(sorted(found)), found


@lru_cache(maxsize=1 << 12)
def _literal(text: str) -> Literal:
    name, equals, value = text.partition("=")
    return name.upper(), int(value) if equals else int(name[0].isupper())
