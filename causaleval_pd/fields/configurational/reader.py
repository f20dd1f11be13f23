"""Readers of models: from text to literals, atoms, models and sets of models, with the position of each error."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Any, NamedTuple

from ...contract.checks import shown
from .formula import Arrow, Atom, Literal, Model, literal_text

__all__ = ["FormulaError", "parse"]

#: the models of one cell of a table
Cell = tuple[Model, ...]

MAX_TEXT = 20_000
MAX_VALUE = 99
#: containers that may hold several models of one cell
SEVERAL = (list, tuple, set, frozenset)

_TOKEN = re.compile(
    r"\s*(?:(?P<arrow><->|<=>|->|=>|<-|<=|[↔⇔→⇒←⇐])|(?P<name>[^\W\d_][\w.]*)"
    r"(?:\s*(?:=(?!>)\s*(?P<value>\d{1,9})|\{\s*(?P<braced>\d{1,9})\s*\}|\[\s*(?P<bracketed>\d{1,9})\s*\]))?"
    r"|(?P<mark>[*+(),~·¬\u2227\u2228]))"
)
#: lines that cna and QCA print around models
_PRINTED = re.compile(r"^[\s#]*-*\s*Coincidence Analysis|^[\s#]*\w+ solution formulas:|\binclS\b", re.M)
#: what the arrows of programs state
_ARROWS: dict[str, Arrow] = {
    **dict.fromkeys(("<->", "<=>", "↔", "⇔"), "<->"),
    **dict.fromkeys(("->", "=>", "→", "⇒"), "=>"),
    **dict.fromkeys(("<-", "<=", "←", "⇐"), "<="),
}
#: marks of print by those of programs
_MARKS = {"·": "*", "\u2227": "*", "\u2228": "+", "¬": "~"}
#: marks of other languages, and how they are written here
_FOREIGN = {"&": "* joins conjuncts", "|": "+ joins disjuncts", "!": "~ or lower case negates"}
_NO_ARROW = "a model has an arrow, as 'A*b+C<->E'; an output without models is written {}"
#: number of a model in the output of QCA
_PREFIX = re.compile(r"\s*M\d{1,6}\s*:")
_BETWEEN = re.compile(r";|(?<![\w.])(?=M\d{1,6}\s*:)")


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
    causaleval_pd.fields.configurational.reader.FormulaError: expected a literal, found '+' at position 2 of
    'A*+B<->C'
    """

    def __init__(self, what: str, text: str, position: int, hint: str = "") -> None:
        if _PRINTED.search(text):
            hint = "read what cna or QCA prints by ce.configurational.read_printout(text), and take its models"
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
    tokens, position = [], start
    end = start + len(text[start:stop].rstrip())
    while position < end:
        match = _TOKEN.match(text, position, stop)
        if match is None:
            position += len(text[position:stop]) - len(text[position:stop].lstrip())
            raise FormulaError(f"unexpected {text[position]!r}", text, position, _FOREIGN.get(text[position], ""))
        sort = str(match.lastgroup if match["name"] is None else "name")
        value = match["value"] or match["braced"] or match["bracketed"]
        piece = _MARKS.get(match[sort], match[sort])
        tokens.append(_Token(sort, piece, match.start(sort), None if value is None else int(value)))
        position = match.end()
    return [*tokens, _Token("end", "the end", stop)]


class _Reader:
    """Recursive descent over the tokens of the model in text[start:stop]."""

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text, self.tokens, self.next = text, _tokens(text, start, stop), 0

    def fail(self, expected: str, hint: str = "") -> FormulaError:
        token = self.tokens[self.next]
        token_text = token.text if token.sort == "end" else repr(token.text)
        return FormulaError(f"expected {expected}, found {token_text}", self.text, token.position, hint)

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
                hint = f"recode {name} to 1 where it is {value} and 0 elsewhere"
                what = f"~ applies to values 0 and 1, found {name}={value}"
                raise FormulaError(what, self.text, token.position, hint)
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

    def conjunction(self) -> frozenset[Literal]:
        literals = [self.literal()]
        while self.accept("*"):
            literals.append(self.literal())
        return frozenset(literals)

    def disjuncts(self) -> list[frozenset[Literal]]:
        """Read a disjunct; QCA writes those that only some of its models have as a sum in parentheses."""
        opened = self.accept("(")
        conjunctions = [self.conjunction()]
        while opened and self.accept("+"):
            conjunctions.append(self.conjunction())
        if opened and not self.accept(")"):
            raise self.fail("'*', '+' or ')'")
        return conjunctions

    def atom(self) -> Atom:
        disjuncts = self.disjuncts()
        while self.accept("+"):
            disjuncts += self.disjuncts()
        token = self.tokens[self.next]
        if token.sort != "arrow":
            has_arrow = any(one.sort == "arrow" for one in self.tokens)
            raise self.fail("'*', '+' or '<->'", "" if has_arrow else _NO_ARROW)
        self.next += 1
        return Atom(tuple(disjuncts), self.literal(), _ARROWS[token.text])

    def opens_atom(self) -> bool:
        """Check whether a parenthesis here is that of an atom: an arrow, or nothing, comes before it is closed."""
        depth = 0
        for token in self.tokens[self.next :]:
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0 or token.sort in ("arrow", "end"):
                return depth > 0
        return False

    def atoms(self) -> list[tuple[Atom, int]]:
        """Return the atoms, each with the position where it starts."""
        placed_atoms = []
        while True:
            enclosed = self.opens_atom() and self.accept("(")
            position = self.tokens[self.next].position
            placed_atoms.append((self.atom(), position))
            if enclosed and not self.accept(")"):
                raise self.fail("')'")
            if self.accept(","):
                continue
            if not (enclosed and self.accept("*")):
                break
            if not self.opens_atom():
                raise self.fail("'('")
        token = self.tokens[self.next]
        if token.sort != "end":
            hint = "write a chain as (A<->B)*(B<->C)" if token.sort == "arrow" else ""
            raise self.fail("the end", "an outcome is one literal" if token.text in ("*", "+") else hint)
        return placed_atoms

    def check_case(self) -> None:
        """Refuse `~` where all names are lower case: they are names of present factors then, not of absent ones."""
        names = [(before, one) for before, one in itertools.pairwise(self.tokens) if one.sort == "name"]
        negated = [one for before, one in names if before.text == "~"]
        if negated and all(one.text != one.text.upper() and one.value is None for _, one in names):
            what = f"~{negated[0].text} negates twice, because lower case means absent"
            raise FormulaError(what, self.text, negated[0].position, "write names in upper case where ~ negates")


def _read(text: str, start: int, stop: int) -> Model:
    """Read the model in text[start:stop]; two atoms with the same outcome are an error."""
    atoms: dict[Literal, Atom] = {}
    prefix = _PREFIX.match(text, start, stop)
    reader = _Reader(text, start if prefix is None else prefix.end(), stop)
    reader.check_case()
    for atom, position in reader.atoms():
        if atoms.setdefault(atom.outcome, atom) != atom:
            raise FormulaError(
                f"a second atom with the outcome {literal_text(atom.outcome)}", text, position, "; separates models"
            )
    return Model(tuple(atoms.values()))


@lru_cache(maxsize=4096)
def _read_model(text: str) -> Model:
    return _read(text, *_inside(text))


def _inside(text: str) -> tuple[int, int]:
    """Return where the models of a text begin and end: within braces if it stands in braces."""
    left, right = len(text) - len(text.lstrip()), len(text.rstrip())
    enclosed = text[left : left + 1] == "{" and text[right - 1 : right] == "}" and text[left + 1 : right - 1].strip()
    return (left + 1, right - 1) if enclosed else (0, len(text))


def _check_length(text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"expected a model as text, as 'A*b+C<->E', found {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise FormulaError(f"models have at most {MAX_TEXT} characters, found {len(text)}", text, MAX_TEXT)


def parse(text: str) -> Model:
    """Read one configurational model.

    Crisp literals are upper case (present) or lower case (absent, also `~A`), multi-value ones `NAME=value`,
    `NAME{value}` or `NAME[value]`; `A=1` and `A` are the same literal. Conjuncts are joined by `*`, disjuncts by `+`.
    `<->` and `<=>` state an equivalence, `->` and `=>` that the left-hand side suffices, `<-` and `<=` that it is
    necessary (see `Model.as_equivalence`); arrows and signs of print are read too. The atoms of a complex model stand
    in parentheses joined by `*`, or are joined by `,`. A number such as `M1:`, parentheses around disjuncts and
    braces around all are left out.

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
    >>> str(parse("(D + E <=> G), (B*F + ~a <-> D)"))
    '(A+B*F<->D)*(D+E<->G)'
    >>> parse("M1: A{1}*B{0} + (C{2}) -> Y{1}")
    Model('A=1*B=0+C=2=>Y=1')
    >>> parse("SMOKING*age + GENE=1 <-> CANCER").complexity
    3
    """
    _check_length(text)
    if not text.strip():
        raise FormulaError("expected a model, found nothing (the empty set of models is written {})", text, 0)
    return _read_model(text)


def as_literal(given: Any) -> Literal:
    """Return a literal, such as an outcome, read from its text if necessary."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], int):
        return given[0].upper(), given[1]
    if not isinstance(given, str):
        raise TypeError(f"expected a literal, as 'E', 'e', 'E=2' or ('E', 2), found {shown(given)}")
    _check_length(given)
    reader = _Reader(given, 0, len(given))
    literal = reader.literal()
    if reader.tokens[reader.next].sort != "end":
        raise reader.fail("the end", "an outcome is one literal")
    return literal


def parse_set(text: str) -> Cell:
    """Read a set of models: what a method returns when it cannot decide, or when it finds nothing."""
    _check_length(text)
    if re.fullmatch(r"\s*\{\s*\}\s*", text):
        return ()
    return _read_models(text) if ";" in text or text.count(":") > 1 else (parse(text),)


@lru_cache(maxsize=1024)
def _read_models(text: str) -> Cell:
    start, end = _inside(text)
    models: set[Model] = set()
    last = len(text[:end].rstrip(" \t\r\n;"))
    for mark in [*_BETWEEN.finditer(text, start, end), None]:
        stop = end if mark is None else mark.start()
        if text[start:stop].strip():
            models.add(_read(text, start, stop))
        elif (mark is None or mark[0]) and (stop < last or not models):  # a `;` may end the set, but not stand alone
            raise FormulaError("expected a model before ';'", text, stop)
        start = stop if mark is None else mark.end()
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
        description = "a packed graph or network" if isinstance(cell, bytes) else shown(cell)
        raise TypeError(
            f"expected a model as text ('A*b+C<->E'), or several ('A<->C; B<->C' or a list of texts; none is the "
            f"text {{}}), found {description}"
        )
    return parse_set(cell)
