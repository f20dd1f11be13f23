"""Readers of models: from text to literals, atoms, models and sets of models, with the position of each error."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from ...contract.checks import shown
from .formula import Atom, Literal, Model, literal_text
from .plain_text import read_plain

__all__ = ["FormulaError", "parse", "parse_set"]

#: the models of one cell of a table
Cell = tuple[Model, ...]

MAX_TEXT = 20_000
MAX_VALUE = 99
#: containers that may hold several models of one cell
SEVERAL = (list, tuple, set, frozenset)

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow><->|<=>|->|=>)|(?P<name>[^\W\d_][\w.]*)(?:\s*=(?!>)\s*(?P<value>\d{1,9}))?|(?P<mark>[*+(),~]))"
)


class FormulaError(ValueError):
    """A text that is not a configurational model, with the position of the first wrong character.

    Parameters
    ----------
    what : str
        What was found and what was expected.
    text : str
        The text.
    position : int
        Position in the text, from 0.
    hint : str
        How to mend it.

    Examples
    --------
    >>> from causaleval_pd.configurational import parse
    >>> parse("A*+B<->C")
    Traceback (most recent call last):
        ...
    causaleval_pd.configurational.formulas.reader.FormulaError: expected a literal, found '+' at position 2 of
    'A*+B<->C'
    """

    def __init__(self, what: str, text: str, position: int, hint: str = "") -> None:
        shown = text if len(text) <= 80 else f"...{text[max(0, position - 30) : position + 30]}..."
        super().__init__(f"{what} at position {position} of {shown!r}{'; ' * bool(hint)}{hint}")
        self.what, self.text, self.position, self.hint = what, text, position, hint

    def __reduce__(self) -> tuple[type[FormulaError], tuple[str, str, int, str]]:
        return FormulaError, (self.what, self.text, self.position, self.hint)


class _Token(NamedTuple):
    """A piece of a text: its sort, its characters, where it starts, and the value of a multi-value literal."""

    sort: str
    text: str
    position: int
    value: int | None = None


def _tokens(text: str, start: int, stop: int) -> list[_Token]:
    """Cut text[start:stop] into tokens; the last one is the end."""
    found, position = [], start
    end = start + len(text[start:stop].rstrip())
    while position < end:
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
    """Recursive descent over the tokens of the model in text[start:stop]."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text, self.tokens, self.next = text, _tokens(text, start, stop), 0

    def fail(self, expected: str) -> FormulaError:
        token = self.tokens[self.next]
        found = token.text if token.sort == "end" else repr(token.text)
        return FormulaError(f"expected {expected}, found {found}", self.text, token.position)

    def accept(self, mark: str) -> bool:
        token = self.tokens[self.next]
        taken = token.sort == "mark" and token.text == mark
        self.next += taken
        return taken

    def literal(self) -> Literal:
        negated = self.accept("~")
        token = self.tokens[self.next]
        if token.sort != "name":
            raise self.fail("a literal")
        name, value = self._signed(token)
        if negated:
            if value > 1:
                raise FormulaError(f"~ applies to values 0 and 1, found {name}={value}", self.text, token.position)
            value = 1 - value
        self.next += 1
        return name, value

    def _signed(self, token: _Token) -> Literal:
        """Return the factor and value of a token: the value as written, or by the case of the name."""
        name, lower, value = token.text.upper(), token.text.lower(), token.value
        if name.lower() != lower:
            what = f"the upper and lower case of {token.text!r} do not correspond; choose another name"
            raise FormulaError(what, self.text, token.position)
        if value is None:
            if token.text not in (name, lower) or name == lower:
                what = f"{token.text!r} is neither upper case (present) nor lower case (absent); write {token.text}=1"
                raise FormulaError(what, self.text, token.position)
            return name, int(token.text == name)
        if value > MAX_VALUE:
            raise FormulaError(f"values go up to {MAX_VALUE}, found {value}", self.text, token.position)
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

    def atoms(self) -> list[tuple[Atom, int]]:
        """Return the atoms, each with the position where it starts."""
        found = []
        bare = not self.accept("(")
        while True:
            position = self.tokens[self.next].position
            found.append((self.atom(), position))
            if not bare and not self.accept(")"):
                raise self.fail("')'")
            if bare or not (self.accept("*") or self.accept(",")):
                break
            if not self.accept("("):
                raise self.fail("'('")
        if self.tokens[self.next].sort != "end":
            raise self.fail("the end")
        return found


def _read(text: str, start: int, stop: int) -> Model:
    """Read the model in text[start:stop]; two atoms with the same outcome are an error."""
    atoms: dict[Literal, Atom] = {}
    for atom, position in _Reader(text, start, stop).atoms():
        if atoms.setdefault(atom.outcome, atom) != atom:
            raise FormulaError(f"a second atom with the outcome {literal_text(atom.outcome)}", text, position)
    return Model(tuple(atoms.values()))


@lru_cache(maxsize=4096)
def _read_model(text: str) -> Model:
    return read_plain(text) or _read(text, 0, len(text))


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
        If the text is not a model, with the position of the first wrong character.
    TypeError
        If `text` is not a string.

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
    return _read_model(text)


def parse_set(text: str) -> Cell:
    """Read a set of models: what a method returns when it cannot decide, or when it finds nothing.

    Parameters
    ----------
    text : str
        Models separated by `;`; `{}` is the empty set.

    Returns
    -------
    tuple of Model
        The distinct models in canonical order.

    Raises
    ------
    FormulaError
        If one of them is not a model, with the position of the first wrong character.
    TypeError
        If `text` is not a string.

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
    return _read_models(text)


@lru_cache(maxsize=1024)
def _read_models(text: str) -> Cell:
    models, start = set(), 0
    last = len(text.rstrip(" \t\r\n;"))
    for piece in text.split(";"):
        stop = start + len(piece)
        if piece.strip():
            models.add(read_plain(piece.strip()) or _read(text, start, stop))
        elif stop < last or not models:  # a `;` may end the set, but not stand alone
            raise FormulaError("expected a model before ';'", text, stop)
        start = stop + 1
    return tuple(sorted(models, key=str))


def as_model(model: Model | str) -> Model:
    """Return a model, read from its text if necessary."""
    return model if isinstance(model, Model) else parse(model)


def as_models(cell: Any) -> Cell:
    """Read one cell: a text, a model, or several models."""
    if isinstance(cell, Model):
        return (cell,)
    if isinstance(cell, SEVERAL) and all(isinstance(one, (Model, str)) for one in cell):
        models = {model for one in cell for model in as_models(one)}
        return tuple(sorted(models, key=str))
    if not isinstance(cell, str):
        found = "a packed graph or network" if isinstance(cell, bytes) else shown(cell)
        raise TypeError(
            f"expected a model as text ('A*b+C<->E'), or several ('A<->C; B<->C' or a list of texts; none is the "
            f"text {{}}), found {found}"
        )
    return parse_set(cell)
