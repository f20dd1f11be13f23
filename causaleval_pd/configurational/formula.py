"""Configurational models as values: literals, atoms, models, and how they are read and written.

A literal is a factor (upper-case name) with a value: the crisp `A` is `("A", 1)`, `a` is `("A", 0)`, the multi-value
`A=2` is `("A", 2)`. A model is a conjunction of atoms `DNF<->literal`; orders and repetitions carry no meaning.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

Literal = tuple[str, int]
Conjunction = frozenset[Literal]

MAX_TEXT = 20_000
MAX_VALUE = 99

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow><->|<=>|->|=>)|(?P<name>[^\W\d_][\w.]*)(?:\s*=(?!>)\s*(?P<value>\d+))?|(?P<mark>[*+(),~]))"
)


class FormulaError(ValueError):
    """A text that is no configurational model, with the position of the first character that is wrong.

    Parameters
    ----------
    what : str
        What was found and what was expected.
    text : str
        The text.
    position : int
        Position in the text, from 0.

    Examples
    --------
    >>> parse("A*+B<->C")
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.formula.FormulaError: expected a literal, found '+' at position 2 of 'A*+B<->C'
    """

    def __init__(self, what: str, text: str, position: int) -> None:
        shown = text if len(text) <= 80 else f"...{text[max(0, position - 30) : position + 30]}..."
        super().__init__(f"{what} at position {position} of {shown!r}")
        self.what, self.text, self.position = what, text, position

    def __reduce__(self) -> tuple[type[FormulaError], tuple[str, str, int]]:
        return FormulaError, (self.what, self.text, self.position)


def literal_text(literal: Literal, *, multi_value: bool = False) -> str:
    """Write a literal: upper or lower case for 1 and 0, `NAME=value` otherwise.

    Parameters
    ----------
    literal : (str, int)
        Factor and value.
    multi_value : bool
        Write `NAME=value` also for 0 and 1.

    Returns
    -------
    str
        The literal.

    Examples
    --------
    >>> literal_text(("A", 0)), literal_text(("A", 2)), literal_text(("A", 0), multi_value=True)
    ('a', 'A=2', 'A=0')
    """
    name, value = literal
    lower = name.lower()
    if multi_value or value > 1 or lower == name or lower.upper() != name:  # some scripts have no case
        return f"{name}={value}"
    return name if value else lower


def conjunction_text(conjunction: Conjunction, *, multi_value: bool = False) -> str:
    """Write a conjunction of literals in canonical order, as `A*b`.

    Parameters
    ----------
    conjunction : frozenset of literals
        What to write.
    multi_value : bool
        Write every literal as `NAME=value`.

    Returns
    -------
    str
        The conjunction.
    """
    return "*".join(literal_text(literal, multi_value=multi_value) for literal in sorted(conjunction))


def dnf_text(disjuncts: Iterable[Conjunction], *, multi_value: bool = False) -> str:
    """Write a disjunction of conjunctions in canonical order, as `A*b+C`.

    Parameters
    ----------
    disjuncts : iterable of frozensets of literals
        What to write.
    multi_value : bool
        Write every literal as `NAME=value`.

    Returns
    -------
    str
        The disjunctive normal form.
    """
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

    Examples
    --------
    >>> Atom([{("B", 1)}, {("A", 1), ("C", 0)}], ("E", 1))
    Atom('A*c+B<->E')
    """

    disjuncts: tuple[Conjunction, ...]
    outcome: Literal

    def __post_init__(self) -> None:
        disjuncts = tuple(sorted({frozenset(one) for one in self.disjuncts}, key=sorted))
        if not disjuncts or not all(disjuncts):
            raise ValueError("an atom needs at least one disjunct, and a disjunct at least one literal")
        object.__setattr__(self, "disjuncts", disjuncts)

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
        return any(value > 1 for _, value in (*self.literals, self.outcome))

    def text(self, *, multi_value: bool = False) -> str:
        """Write the atom, as `A*b+C<->E`."""
        left = dnf_text(self.disjuncts, multi_value=multi_value)
        return f"{left}<->{literal_text(self.outcome, multi_value=multi_value)}"

    def __str__(self) -> str:
        return self.text(multi_value=self.multi_value)

    def __repr__(self) -> str:
        return f"Atom({str(self)!r})"


@dataclass(frozen=True)
class Model:
    """A configurational model: atoms in canonical order, at most one for each outcome literal.

    Attributes
    ----------
    atoms : tuple of Atom
        The atoms.

    Examples
    --------
    >>> model = parse("(D + E <-> G) * (B*F + A <-> D)")
    >>> str(model), model.factors, model.outcomes, model.complexity
    ('(A+B*F<->D)*(D+E<->G)', ('A', 'B', 'D', 'E', 'F', 'G'), (('D', 1), ('G', 1)), 5)
    """

    atoms: tuple[Atom, ...]

    def __post_init__(self) -> None:
        atoms = tuple(sorted(set(self.atoms), key=lambda atom: (atom.outcome, [sorted(one) for one in atom.disjuncts])))
        if not atoms:
            raise ValueError("a model needs at least one atom; the empty set of models is written {}")
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

    def __str__(self) -> str:
        texts = [atom.text(multi_value=self.multi_value) for atom in self.atoms]
        return texts[0] if len(texts) == 1 else "*".join(f"({text})" for text in texts)

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"


class _Token(NamedTuple):
    """A piece of a text: its sort, what it says, where it starts."""

    sort: str
    said: str
    position: int
    value: int | None = None


def _tokens(text: str, start: int, stop: int) -> list[_Token]:
    """Cut text[start:stop] into tokens; the last one is the end."""
    found, position = [], start
    while text[position:stop].strip():
        match = _TOKEN.match(text, position, stop)
        if match is None:
            position += len(text[position:stop]) - len(text[position:stop].lstrip())
            raise FormulaError(f"unexpected {text[position]!r}", text, position)
        sort = str(match.lastgroup if match["name"] is None else "name")
        value = None if match["value"] is None else int(match["value"])
        found.append(_Token(sort, match[sort], match.start(sort), value))
        position = match.end()
    return [*found, _Token("end", "the end", stop)]


class _Reader:
    """Recursive descent over the tokens of one model."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text, self.tokens, self.next = text, _tokens(text, start, stop), 0

    def fail(self, expected: str) -> FormulaError:
        token = self.tokens[self.next]
        found = token.said if token.sort == "end" else repr(token.said)
        return FormulaError(f"expected {expected}, found {found}", self.text, token.position)

    def accept(self, said: str) -> bool:
        token = self.tokens[self.next]
        taken = token.sort == "mark" and token.said == said
        self.next += taken
        return taken

    def literal(self) -> Literal:
        negated = self.accept("~")
        token = self.tokens[self.next]
        if token.sort != "name":
            raise self.fail("a literal")
        name, lower, value = token.said.upper(), token.said.lower(), token.value
        if name.lower() != lower:
            what = f"the upper and lower case of {token.said!r} do not correspond; choose another name"
            raise FormulaError(what, self.text, token.position)
        if value is None:
            if token.said not in (name, lower) or name == lower:
                what = f"{token.said!r} is neither upper case (present) nor lower case (absent); write {token.said}=1"
                raise FormulaError(what, self.text, token.position)
            value = int(token.said == name)
        elif value > MAX_VALUE:
            raise FormulaError(f"values go up to {MAX_VALUE}, found {value}", self.text, token.position)
        if negated:
            if value > 1:
                raise FormulaError(f"~ applies to values 0 and 1, found {name}={value}", self.text, token.position)
            value = 1 - value
        self.next += 1
        return name, value

    def atom(self) -> Atom:
        disjuncts = []
        while True:
            conjunction = [self.literal()]
            while self.accept("*"):
                conjunction.append(self.literal())
            disjuncts.append(frozenset(conjunction))
            if not self.accept("+"):
                break
        if self.tokens[self.next].sort != "arrow":
            raise self.fail("'*', '+' or '<->'")
        self.next += 1
        return Atom(tuple(disjuncts), self.literal())

    def model(self) -> Model:
        atoms: dict[Literal, Atom] = {}
        bare = not self.accept("(")
        while True:
            position = self.tokens[self.next].position
            atom = self.atom()
            if atoms.setdefault(atom.outcome, atom) != atom:
                what = f"a second atom with the outcome {literal_text(atom.outcome)}"
                raise FormulaError(what, self.text, position)
            if not bare and not self.accept(")"):
                raise self.fail("')'")
            if bare or not (self.accept("*") or self.accept(",")):
                break
            if not self.accept("("):
                raise self.fail("'('")
        if self.tokens[self.next].sort != "end":
            raise self.fail("the end")
        return Model(tuple(atoms.values()))


def _check_length(text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"expected a model as text, as 'A*b+C<->E', found {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise FormulaError(f"models have at most {MAX_TEXT} characters, found {len(text)}", text, MAX_TEXT)


def parse(text: str) -> Model:
    """Read one configurational model.

    Crisp literals are upper case (present) or lower case (absent, also `~A`), multi-value ones `NAME=value`; `A=1` and
    `A` are the same literal. Conjuncts are joined by `*`, disjuncts by `+`; `<->`, `<=>`, `->` and `=>` are read alike.
    The atoms of a complex model stand in parentheses joined by `*` or `,`.

    Parameters
    ----------
    text : str
        The model.

    Returns
    -------
    Model
        The model in canonical order.

    Raises
    ------
    FormulaError
        If the text is no model, with the position of the first wrong character.
    TypeError
        If it is no text.

    Examples
    --------
    >>> str(parse("(D + E => G), (B*F + ~a <-> D)"))
    '(A+B*F<->D)*(D+E<->G)'
    >>> parse("SMOKING*age + GENE=1 <-> CANCER").complexity
    3
    """
    _check_length(text)
    if not text.strip():
        raise FormulaError("expected a model, found nothing (the empty set of models is written {})", text, 0)
    return _parse_model(text)


@lru_cache(maxsize=4096)
def _parse_model(text: str) -> Model:
    return _Reader(text, 0, len(text)).model()


def parse_set(text: str) -> tuple[Model, ...]:
    """Read a set of models: what a method returns when it cannot decide, or when it finds nothing.

    Parameters
    ----------
    text : str
        Models separated by `;`; `{}` is the empty set.

    Returns
    -------
    tuple of Model
        The models, each once, in canonical order.

    Raises
    ------
    FormulaError
        If one of them is no model, with the position of the first wrong character.
    TypeError
        If it is no text.

    Examples
    --------
    >>> parse_set("B<->C; A<->C")
    (Model('A<->C'), Model('B<->C'))
    >>> parse_set("{}")
    ()
    """
    _check_length(text)
    if ";" not in text:
        return () if text.strip() == "{}" else (parse(text),)
    return _parse_models(text)


@lru_cache(maxsize=1024)
def _parse_models(text: str) -> tuple[Model, ...]:
    models, start = set(), 0
    for piece in text.split(";"):
        stop = start + len(piece)
        if piece.strip():
            models.add(_Reader(text, start, stop).model())
        elif text[stop:].strip(" \t\r\n;") or not models:  # a `;` may end the set, but not stand alone
            raise FormulaError("expected a model before ';'", text, stop)
        start = stop + 1
    return tuple(sorted(models, key=str))


def set_text(models: Iterable[Model]) -> str:
    """Write a set of models, as `A<->C; B<->C`, or `{}`.

    Parameters
    ----------
    models : iterable of Model
        The models.

    Returns
    -------
    str
        Canonical text, which `parse_set` reads back.

    Examples
    --------
    >>> set_text(parse_set("b<->C;A<->C")), set_text([])
    ('A<->C; b<->C', '{}')
    """
    return "; ".join(sorted({str(model) for model in models})) or "{}"
