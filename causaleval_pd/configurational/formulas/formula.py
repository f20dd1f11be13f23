"""Configurational models as values: literals, atoms and models, and how they are written.

A literal is a factor (upper-case name) with a value: the crisp `A` is `("A", 1)`, `a` is `("A", 0)`, the multi-value
`A=2` is `("A", 2)`. A model is a conjunction of atoms `DNF<->literal`; orders and repetitions carry no meaning. An atom
may also state one half of the equivalence: `DNF=>literal` that the left-hand side suffices, `DNF<=literal` that it is
necessary.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal as OneOf

__all__ = ["Atom", "Model"]

Literal = tuple[str, int]
Arrow = OneOf["<->", "=>", "<="]
Conjunction = frozenset[Literal]


def literal_text(literal: Literal, *, multi_value: bool = False) -> str:
    """Write a literal: upper or lower case for 1 and 0, `NAME=value` otherwise or where `multi_value`."""
    name, value = literal
    lower = name.lower()
    # some scripts have no case
    if multi_value or value > 1 or lower == name or lower.upper() != name:
        return f"{name}={value}"
    return name if value else lower


@lru_cache(maxsize=1 << 14)
def conjunction_text(conjunction: Conjunction, *, multi_value: bool = False) -> str:
    """Write a conjunction in canonical order, as `A*b`."""
    return "*".join(literal_text(literal, multi_value=multi_value) for literal in sorted(conjunction))


def dnf_text(disjuncts: Iterable[Conjunction], *, multi_value: bool = False) -> str:
    """Write a disjunction of conjunctions in canonical order, as `A*b+C`."""
    return "+".join(conjunction_text(one, multi_value=multi_value) for one in sorted(disjuncts, key=sorted))


@dataclass(frozen=True)
class Atom:
    """One atomic model `disjuncts<->outcome`; disjuncts are kept in canonical order, each once.

    Attributes
    ----------
    disjuncts : tuple of frozensets of literals
        Left-hand side.
    outcome : (str, int)
        The literal it explains.
    arrow : {"<->", "=>", "<="}
        Whether the left-hand side is stated to be equivalent to the outcome, sufficient for it, or necessary for it.

    Examples
    --------
    >>> Atom([{("B", 1)}, {("A", 1), ("C", 0)}], ("E", 1))
    Atom('A*c+B<->E')
    """

    disjuncts: tuple[Conjunction, ...]
    outcome: Literal
    arrow: Arrow = "<->"

    def __post_init__(self) -> None:
        disjuncts = tuple(sorted({frozenset(one) for one in self.disjuncts}, key=sorted))
        if not disjuncts or not all(disjuncts):
            raise ValueError("an atom needs at least one disjunct, and a disjunct at least one literal")
        object.__setattr__(self, "disjuncts", disjuncts)

    @classmethod
    def in_order(cls, disjuncts: tuple[Conjunction, ...], outcome: Literal) -> Atom:
        """Make an atom of different disjuncts in canonical order, which are not checked."""
        atom = object.__new__(cls)
        object.__setattr__(atom, "disjuncts", disjuncts)
        object.__setattr__(atom, "outcome", outcome)
        return atom

    @property
    def complexity(self) -> int:
        """Number of literal occurrences on the left-hand side."""
        return sum(map(len, self.disjuncts))

    @cached_property
    def literals(self) -> frozenset[Literal]:
        """Literals of the left-hand side."""
        return frozenset().union(*self.disjuncts)

    @property
    def multi_value(self) -> bool:
        """Whether a value other than 0 and 1 occurs."""
        return self.outcome[1] > 1 or any(value > 1 for one in self.disjuncts for _, value in one)

    def text(self, *, multi_value: bool = False) -> str:
        """Write the atom, as `A*b+C<->E`."""
        left = "+".join([conjunction_text(one, multi_value=multi_value) for one in self.disjuncts])
        return f"{left}{self.arrow}{literal_text(self.outcome, multi_value=multi_value)}"

    def __str__(self) -> str:
        return self.text(multi_value=self.multi_value)

    def __repr__(self) -> str:
        return f"Atom({str(self)!r})"


def _outcome_of(atom: Atom) -> Literal:
    return atom.outcome


def _order_of_atom(atom: Atom) -> tuple[Literal, list[list[Literal]]]:
    return atom.outcome, [sorted(one) for one in atom.disjuncts]


@dataclass(frozen=True)
class Model:
    """A configurational model: atoms in canonical order, at most one for each outcome literal.

    Attributes
    ----------
    atoms : tuple of Atom
        The atoms.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> model = parse("(D + E <-> G) * (B*F + A <-> D)")
    >>> str(model), model.factors, model.outcomes, model.complexity
    ('(A+B*F<->D)*(D+E<->G)', ('A', 'B', 'D', 'E', 'F', 'G'), (('D', 1), ('G', 1)), 5)
    """

    atoms: tuple[Atom, ...]

    def __post_init__(self) -> None:
        if not self.atoms:
            raise ValueError("a model needs at least one atom; the empty set of models is written {}")
        if len({atom.outcome for atom in self.atoms}) == len(self.atoms):
            atoms = tuple(sorted(self.atoms, key=_outcome_of))
        else:
            atoms = tuple(sorted(set(self.atoms), key=_order_of_atom))
        for first, second in itertools.pairwise(atoms):
            if first.outcome == second.outcome:
                raise ValueError(f"two atoms have the outcome {literal_text(first.outcome)}: {first} and {second}")
        object.__setattr__(self, "atoms", atoms)

    @cached_property
    def factors(self) -> tuple[str, ...]:
        """Names of all factors, in order."""
        return tuple(sorted({name for atom in self.atoms for name, _ in (*atom.literals, atom.outcome)}))

    @property
    def outcomes(self) -> tuple[Literal, ...]:
        """Outcome literals, in order."""
        return tuple(atom.outcome for atom in self.atoms)

    @property
    def complexity(self) -> int:
        """Number of literal occurrences on left-hand sides."""
        return sum(atom.complexity for atom in self.atoms)

    @cached_property
    def by_outcome(self) -> dict[Literal, Atom]:
        """The atom of each outcome literal."""
        return {atom.outcome: atom for atom in self.atoms}

    @cached_property
    def multi_value(self) -> bool:
        """Whether a value other than 0 and 1 occurs."""
        return any(atom.multi_value for atom in self.atoms)

    @cached_property
    def one_way(self) -> bool:
        """Whether an atom states sufficiency or necessity alone."""
        return any(atom.arrow != "<->" for atom in self.atoms)

    def as_equivalence(self) -> Model:
        """Return the model with `=>` and `<=` read as `<->`.

        Examples
        --------
        >>> from causaleval_pd.configurational import parse
        >>> parse("A*b + C => E").as_equivalence()
        Model('A*b+C<->E')
        """
        return Model(tuple(replace(atom, arrow="<->") for atom in self.atoms)) if self.one_way else self

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return self.text(multi_value=self.multi_value)

    def text(self, *, multi_value: bool = False) -> str:
        """Write the model, as `(A*b+C<->D)*(D<->E)`."""
        texts = [atom.text(multi_value=multi_value) for atom in self.atoms]
        return texts[0] if len(texts) == 1 else "*".join(f"({text})" for text in texts)

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"


def require_equivalences(model: Model) -> None:
    """Raise an error if an atom states sufficiency or necessity alone."""
    if model.one_way:
        one = next(atom for atom in model.atoms if atom.arrow != "<->")
        states = "sufficiency" if one.arrow == "=>" else "necessity"
        raise ValueError(
            f"{one} states {states} only, where an equivalence is needed; write {replace(one, arrow='<->')} if that is "
            "meant, or use model.as_equivalence()"
        )


def set_text(models: Iterable[Model]) -> str:
    """Write a set of models as one text, which `parse_set` reads."""
    return "; ".join(sorted({str(model) for model in models})) or "{}"
