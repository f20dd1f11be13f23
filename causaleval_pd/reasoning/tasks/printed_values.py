"""Printed Python and numpy values, as in cells of published CSV files, parsed without evaluation."""

from __future__ import annotations

import ast
import math
import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_type

__all__ = ["parse_matrix", "parse_printed"]

#: largest number of characters of a cell; the list of all compositions of 16 components fits
MAX_CELL = 2**24
#: deepest nesting of values
MAX_DEPTH = 20

#: a text, blanks between two values where numpy prints no comma, and what no printed value has outside a text
_PIECE = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<gap>(?<=[\w.'"\])}])\s+(?=[\w.'"\[({]|[-+][\w.]))
    |(?P<odd>\.\.\.|['"\#])""",
    re.VERBOSE | re.DOTALL,
)
_TYPE = re.compile(r"(np\.|numpy\.)?(float\d+|u?int\d+|bool_?|str_|array)")
_WORDS = {"nan": math.nan, "inf": math.inf, "True_": True, "False_": False}


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that Python does not know
        try:
            tree = ast.parse(f"[{_PIECE.sub(_with_comma, text)}\n]", mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as fault:
            if isinstance(fault, _CellError):
                raise
            what = fault.msg if isinstance(fault, SyntaxError) else str(fault)
            raise _CellError(f"a cell is not a printed Python value ({what}): {_shown(text)}") from None
    values = _value(tree, -1)
    if not isinstance(values, list) or len(values) != 1:
        what = "no value" if values == [] else "more than one value"
        raise _CellError(f"a cell holds {what}: {_shown(text)}")
    return values[0]


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


class _CellError(ValueError):
    """A fault of a cell that its message explains."""


def _with_comma(piece: re.Match[str]) -> str:
    """Return a text as it is, and a comma for a gap."""
    if piece["odd"] == "...":
        raise _CellError(
            "a cell was cut short: numpy printed '...' in place of entries, so they are lost (matrices of 32 nodes and "
            "more); write the file again after numpy.set_printoptions(threshold=sys.maxsize)"
        )
    if piece["odd"]:
        raise _CellError(f"a cell is not a printed Python value at {_shown(piece.string[piece.start() :])}")
    return piece["text"] or ","


def _value(node: ast.expr | None, depth: int) -> Any:
    """Return the value that a piece of syntax prints; refuse any other syntax."""
    if depth > MAX_DEPTH:
        raise _CellError(f"a cell nests values more than {MAX_DEPTH} deep")
    match node:
        case ast.List(items):
            return [_value(item, depth + 1) for item in items]
        case ast.Tuple(items):
            return tuple(_value(item, depth + 1) for item in items)
        case ast.Dict(keys, values):
            return {_key(key, depth): _value(item, depth + 1) for key, item in zip(keys, values, strict=True)}
        case ast.Call(function, items) if _TYPE.fullmatch(ast.unparse(function)):
            if len(items) != 1 or any(option.arg != "dtype" for option in node.keywords):
                raise _CellError(f"expected one value within {ast.unparse(function)}(...) of a cell")
            return _value(items[0], depth + 1)
    return _atom(node)


def _atom(node: ast.expr | None) -> Any:
    """Return the number, text or word that a piece of syntax prints; refuse any other syntax."""
    match node:
        case ast.Constant(None | bool() | int() | float() | str()):
            return node.value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float()) | ast.Name("inf" | "nan")):
            return -_atom(node.operand)
        case ast.UnaryOp(ast.UAdd(), ast.Constant(int() | float()) | ast.Name("inf" | "nan")):
            return _atom(node.operand)
        case ast.Name(word) | ast.Attribute(ast.Name("np" | "numpy"), word) if word in _WORDS:
            return _WORDS[word]
    raise _CellError(f"a cell is not a printed Python value at {_shown('**' if node is None else ast.unparse(node))}")


def _key(node: ast.expr | None, depth: int) -> Any:
    """Return a key of a map."""
    key = _value(node, depth + 1)
    try:
        hash(key)
    except TypeError:
        raise _CellError(
            f"a cell has a map with the key {_shown(str(key))}, which is or holds a list or a map"
        ) from None
    return key


def _shown(text: str) -> str:
    return repr(text[:60] + "..." if len(text) > 60 else text)
