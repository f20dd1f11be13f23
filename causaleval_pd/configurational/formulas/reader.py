"""Syntax of configurational models: from text to literals, with the position of what is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

Literal = tuple[str, int]
Conjunction = frozenset[Literal]

MAX_TEXT = 20_000
MAX_VALUE = 99

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow><->|<=>|->|=>)|(?P<name>[^\W\d_][\w.]*)(?:\s*=(?!>)\s*(?P<value>\d{1,9}))?|(?P<mark>[*+(),~]))"
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
    hint : str
        How to mend it.

    Examples
    --------
    >>> read_atoms("A*+B<->C")
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


class AtomText(NamedTuple):
    """An atom as it is written: disjuncts, outcome, and where it starts."""

    disjuncts: tuple[Conjunction, ...]
    outcome: Literal
    position: int


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

    def atom(self) -> AtomText:
        position, disjuncts = self.tokens[self.next].position, []
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
        return AtomText(tuple(disjuncts), self.literal(), position)

    def model(self) -> list[AtomText]:
        atoms = []
        bare = not self.accept("(")
        while True:
            atoms.append(self.atom())
            if not bare and not self.accept(")"):
                raise self.fail("')'")
            if bare or not (self.accept("*") or self.accept(",")):
                break
            if not self.accept("("):
                raise self.fail("'('")
        if self.tokens[self.next].sort != "end":
            raise self.fail("the end")
        return atoms


def read_atoms(text: str, start: int = 0, stop: int | None = None) -> list[AtomText]:
    """Read the atoms of the model that stands in text[start:stop].

    Parameters
    ----------
    text : str
        The whole text, which positions refer to.
    start, stop : int, optional
        Where the model stands.

    Returns
    -------
    list of AtomText
        The atoms as written.

    Raises
    ------
    FormulaError
        If the text is no model.

    Examples
    --------
    >>> read_atoms("A=2<->C")
    [AtomText(disjuncts=(frozenset({('A', 2)}),), outcome=('C', 1), position=0)]
    """
    return _Reader(text, start, len(text) if stop is None else stop).model()
