"""Printed Python and numpy values, as in cells of published CSV files, parsed without evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_type

__all__ = ["parse_matrix", "parse_printed"]

#: largest number of characters of a cell; the list of all compositions of 16 components fits
MAX_CELL = 2**24
#: largest number of characters of a number
MAX_NUMBER = 400
#: deepest nesting of values
MAX_DEPTH = 20

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b|nan\b))
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<word>(?:np\.)?(?:True|False)_?\b|None\b)
    |(?P<call>(?:np\.|numpy\.)?(?:float\d+|int\d+|uint\d+|bool_?|str_|array)\()
    |(?P<mark>[][(){},:])
    )""",
    re.VERBOSE,
)
_WORDS = {"True": True, "False": False, "None": None}
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def parse_printed(text: str) -> Any:
    """Parse a printed Python value: numbers, text, lists, tuples, maps, `np.float64(0.5)`, printed arrays.

    Nothing is evaluated. `ast.literal_eval` would refuse what numpy prints: no commas, `nan`, `np.float64(...)`.

    Parameters
    ----------
    text : str
        One cell.

    Returns
    -------
    object
        Numbers, strings, booleans, None, and lists, tuples and dicts of these; a printed array is a list of lists.

    Raises
    ------
    ValueError
        If the text is cut short by `...`, nested too deeply, too long, or not such a value.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_printed
    >>> parse_printed("{('X', 'Y'): np.float64(0.25), 'n': [1 2]}")
    {('X', 'Y'): 0.25, 'n': [1, 2]}
    """
    check_type(text, str, "a string", "text")
    if len(text) > MAX_CELL:
        raise ValueError(f"a cell has {len(text)} characters; at most {MAX_CELL} are parsed")
    tokens = list(_tokens(text))
    value, end = _value(tokens, 0, 0)
    if end != len(tokens):
        raise ValueError(f"a cell holds more than one value: {_shown(text)}")
    return value


def parse_matrix(text: str) -> NDArray[np.int64]:
    """Parse a printed square matrix of zeros and ones, row -> column.

    Parameters
    ----------
    text : str
        One cell.

    Returns
    -------
    array
        Integers.

    Raises
    ------
    ValueError
        If numpy omitted entries when printing, as it does from 32 nodes on, or the matrix is not square.

    Examples
    --------
    >>> from causaleval_pd.reasoning import parse_matrix
    >>> parse_matrix("[[0. 1.], [0. 0.]]").tolist()
    [[0, 1], [0, 0]]
    """
    rows = parse_printed(text)
    square = isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(rows) for row in rows)
    if not square or not all(entry in (0, 1) for row in rows for entry in row):
        raise ValueError(f"expected a square matrix of 0 and 1, found {_shown(text)}")
    return np.array(rows, np.int64).reshape(len(rows), len(rows))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place:].lstrip()
            if rest.startswith("..."):
                raise ValueError(
                    "a cell was cut short: numpy printed '...' in place of entries, so they are lost (matrices of 32 "
                    "nodes and more); write the file again after numpy.set_printoptions(threshold=sys.maxsize)"
                )
            raise ValueError(f"a cell is not a printed Python value at {_shown(rest)}")
        kind = str(match.lastgroup)
        yield kind, match[kind]
        place = match.end()


def _value(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Any, int]:
    """Parse one value that starts at a token; return it and the place after it."""
    if at >= len(tokens):
        raise ValueError("a cell ends within a value")
    if depth > MAX_DEPTH:
        raise ValueError(f"a cell nests values more than {MAX_DEPTH} deep")
    kind, text = tokens[at]
    if kind == "number":
        if len(text) > MAX_NUMBER:
            raise ValueError(f"a cell has a number of {len(text)} characters; at most {MAX_NUMBER} are parsed")
        return (float(text) if re.search(r"[.einfa]", text, re.IGNORECASE) else int(text)), at + 1
    if kind == "text":
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text[1:-1], flags=re.DOTALL), at + 1
    if kind == "word":
        return _WORDS[text.removeprefix("np.").removesuffix("_")], at + 1
    if kind == "call":
        items, end = _items(tokens, at + 1, ")", depth)
        if len(items) != 1 or isinstance(items[0], _Entry):
            raise ValueError(f"expected one value within {text}...) of a cell")
        return items[0], end
    if text not in _CLOSING:
        raise ValueError(f"a cell has {text!r} where a value should start")
    items, end = _items(tokens, at + 1, _CLOSING[text], depth)
    if text == "{":
        return _mapping(items), end
    if any(isinstance(item, _Entry) for item in items):
        raise ValueError("a cell has ':' outside a map")
    grouped = text == "(" and len(items) == 1 and tokens[end - 2] != ("mark", ",")
    return (items if text == "[" else items[0] if grouped else tuple(items)), end


class _Entry(tuple[Any, Any]):
    """Key and value of a map."""


def _items(tokens: list[tuple[str, str]], at: int, closing: str, depth: int) -> tuple[list[Any], int]:
    """Parse values up to a closing mark; numpy leaves out the commas between them."""
    items: list[Any] = []
    while at < len(tokens):
        if tokens[at] == ("mark", closing):
            return items, at + 1
        if tokens[at] == ("mark", ",") and items:
            at += 1
            continue
        item, at = _value(tokens, at, depth + 1)
        if at < len(tokens) and tokens[at] == ("mark", ":"):
            value, at = _value(tokens, at + 1, depth + 1)
            item = _Entry((item, value))
        items.append(item)
    raise ValueError(f"a cell ends before {closing!r}")


def _mapping(items: Iterable[Any]) -> dict[Any, Any]:
    found = {}
    for item in items:
        if not isinstance(item, _Entry):
            raise ValueError("a cell has a map with a key and no value")
        key, value = item
        if not _is_hashable(key):
            raise ValueError(f"a cell has a map with the key {_shown(str(key))}, which is or holds a list or a map")
        found[key] = value
    return found


def _is_hashable(key: Any) -> bool:
    return all(map(_is_hashable, key)) if isinstance(key, tuple) else not isinstance(key, (list, dict))


def _shown(text: str) -> str:
    return repr(text[:60] + "..." if len(text) > 60 else text)
