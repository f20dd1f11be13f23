"""Formulas of linear models, read by a grammar of names and a few signs: nothing in them is evaluated."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from ..contract.checks import check_known, check_type, nearest

_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*(?:\.\w+)?)|`(?P<quoted>[^`]+)`|(?P<sign>[+\-*:()~])|(?P<number>\d+))")
_FORMS: dict[str, Literal["levels", "log"]] = {"C": "levels", "log": "log", "np.log": "log"}
_ALLOWED = "names of strata, + * : - 1, C(name) and log(name)"


class Factor(NamedTuple):
    """A stratum in a term: as it is, as levels without an order, or its logarithm."""

    name: str
    form: Literal["as it is", "levels", "log"]

    @property
    def label(self) -> str:
        """How results name it."""
        return {"as it is": self.name, "levels": f"C({self.name})", "log": f"log({self.name})"}[self.form]


class Formula(NamedTuple):
    """A response and the terms that explain it."""

    response: str
    #: products of factors, each once
    terms: tuple[tuple[Factor, ...], ...]
    intercept: bool


def read_formula(text: str, strata: Collection[str]) -> Formula:
    """Read a formula such as `"skill ~ algorithm * density + log(n)"`.

    Parameters
    ----------
    text : str
        Response, "~", and terms: names of strata (in backquotes where they are not identifiers), `a + b`, `a:b` for
        their product, `a * b` for `a + b + a:b`, `- 1` to leave out the intercept, `C(a)` for levels without an order,
        `log(a)` (or `np.log(a)`).
    strata : collection of str
        What terms may name.

    Returns
    -------
    Formula
        Its terms in the order of their first appearance, main effects before products.

    Raises
    ------
    ValueError
        If the text has anything else, or names what is not a stratum.

    Examples
    --------
    >>> found = read_formula("skill ~ algorithm * density - 1", ["algorithm", "density"])
    >>> [":".join(factor.label for factor in term) for term in found.terms], found.intercept
    (['algorithm', 'density', 'algorithm:density'], False)
    """
    check_type(text, str, "a formula such as 'skill ~ algorithm * density'", "formula")
    tokens = _tokens(text)
    if [x for x in tokens if x == "~"] != ["~"] or len(tokens) < 3 or tokens[1] != "~":
        raise ValueError(f"the formula {text!r} needs a response, as in 'skill ~ algorithm * density'")
    response, rest = _plain(tokens[0]), tokens[2:]
    intercept, found = True, dict[tuple[Factor, ...], None]()
    for minus, part in _parts(rest, text):
        if part in (["1"], ["0"]):
            intercept = (part == ["1"]) != minus
            continue
        if minus:
            raise ValueError(f"'- {''.join(part)}' in the formula {text!r}: only the intercept can be left out, by - 1")
        for term in _products(part, text, strata):
            found.setdefault(term)
    terms = sorted(found, key=len)
    if not terms:
        raise ValueError(f"the formula {text!r} has no term; name strata: {', '.join(strata)}")
    return Formula(response, tuple(terms), intercept)


def _tokens(text: str) -> list[str]:
    """Cut a formula into words and signs; quoted names keep their first backquote."""
    found, place = [], 0
    while text[place:].strip():
        token = _TOKEN.match(text, place)
        if token is None:
            wrong = text[place:].strip()[0]
            if wrong == "|":
                raise ValueError(
                    f"'|' in the formula {text!r} is not allowed: clusters are the random effect of every model; "
                    "leave the term in brackets out"
                )
            raise ValueError(f"{wrong!r} in the formula {text!r} is not allowed; it takes {_ALLOWED}")
        found.append("`" + token["quoted"] if token["quoted"] else token[0].strip())
        place = token.end()
    return found


def _plain(word: str) -> str:
    return word.removeprefix("`")


def _parts(tokens: list[str], text: str) -> list[tuple[bool, list[str]]]:
    """Cut the terms at + and -, and return whether each is left out."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    for token in tokens:
        if token in ("+", "-"):
            if not parts[-1][1] and len(parts) > 1:
                raise ValueError(f"a sign follows a sign in the formula {text!r}")
            parts.append((token == "-", []))
        else:
            parts[-1][1].append(token)
    kept = [part for place, part in enumerate(parts) if part[1] or place > 0]
    if not kept or any(not part for _, part in kept):
        raise ValueError(f"a term is missing in the formula {text!r}")
    return kept


def _products(part: list[str], text: str, strata: Collection[str]) -> list[tuple[Factor, ...]]:
    """Return the terms of a part without + and -: those of `a * b`, or of `a:b`."""
    crossed: list[list[Factor]] = [[]]
    place, expected = 0, True
    while place < len(part):
        token = part[place]
        if expected:
            factor, place = _factor(part, place, text, strata)
            if factor not in crossed[-1]:
                crossed[-1].append(factor)
        elif token in ("*", ":"):
            crossed += [[]] if token == "*" else []
            place += 1
        else:
            raise ValueError(f"{_plain(token)!r} in the formula {text!r} needs a sign before it; it takes {_ALLOWED}")
        expected = not expected
    if expected:
        raise ValueError(f"a term is missing after {part[-1]!r} in the formula {text!r}")
    chosen = (pick for size in range(1, len(crossed) + 1) for pick in itertools.combinations(crossed, size))
    return [tuple(dict.fromkeys(itertools.chain.from_iterable(pick))) for pick in chosen]


def _factor(part: list[str], place: int, text: str, strata: Collection[str]) -> tuple[Factor, int]:
    """Read a name, or C(name) or log(name), and return the place after it."""
    word = part[place]
    form: Literal["as it is", "levels", "log"] = "as it is"
    after = place + 1
    if part[after : after + 1] == ["("]:
        if word not in _FORMS or part[after + 2 : after + 3] != [")"]:
            raise ValueError(f"{word}(...) in the formula {text!r} is not allowed; it takes {_ALLOWED}")
        form, word, after = _FORMS[word], part[after + 1], after + 3
    if word in ("+", "-", "*", ":", "(", ")", "~") or word.isdigit():
        raise ValueError(f"{word!r} in the formula {text!r} is not the name of a stratum; it takes {_ALLOWED}")
    hint = f"it is in the formula {text!r}; {nearest(_plain(word), strata)}"
    check_known(_plain(word), list(strata), "stratum", hint)
    return Factor(_plain(word), form), after
