"""Arrays of other tools: strings of tigramite, numbers whose axes the user names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ..cells.marks import CODE_OF_SIGN, UNDIRECTED, code, is_plain
from .links import Links, Presence, Weights, array_of_lags, from_lag_1

#: axes of arrays of numbers, and the axes of (lag, cause, effect) among them
AXES = {
    "cause,effect,lag": (2, 0, 1),
    "effect,cause,lag": (2, 1, 0),
    "lag,cause,effect": (0, 1, 2),
    "lag,effect,cause": (0, 2, 1),
}
_CIRCLES = CODE_OF_SIGN["o-o"]
_LEFT, _RIGHT = {"-": 1, "<": 2, "o": 3}, {"-": 1, ">": 2, "o": 3}
#: codes of the strings of tigramite
_STRINGS = {f"{a}-{b}": code(at_a, at_b) for a, at_a in _LEFT.items() for b, at_b in _RIGHT.items()}


def is_strings(value: Any) -> bool:
    """Return whether a cell is an array of strings with an axis of lags."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.ndim == 3


def read_tigramite(value: Any, *, conflict: str = "raise", circles: bool = False) -> Links:
    """Read an array of strings (d, d, L + 1), `graph[i, j, lag]` being the link from i at t - lag to j at t.

    `o-o` at lag 0 is an undirected link where the graph has no other circle and no bidirected link, unless `circles`.
    """
    check_choice(conflict, ("raise", "circle"), "conflict")
    graph = np.asarray(value)
    if graph.dtype.kind != "U" or graph.ndim != 3 or graph.shape[0] != graph.shape[1] or not graph.shape[2]:
        raise ValueError(
            f"found an array of dtype {graph.dtype} and shape {graph.shape}, expected strings of shape (d, d, lags + 1)"
        )
    signs, place = np.unique(graph, return_inverse=True)
    codes = np.array([_code(str(sign), graph, conflict) for sign in signs], np.uint8)[place.reshape(graph.shape)]
    codes = np.ascontiguousarray(codes.transpose(2, 0, 1))
    if not circles:
        lines = codes.copy()
        lines[0][codes[0] == _CIRCLES] = UNDIRECTED
        if is_plain(lines[None])[0]:
            codes = lines
    return Links(None, codes)


def _code(sign: str, graph: NDArray[Any], conflict: str) -> int:
    """Return the code of a string of an array; an error names its first cell."""
    try:
        return code_of_string(sign, conflict)
    except ValueError as error:
        place = tuple(np.argwhere(graph == sign)[0].tolist())
        raise ValueError(f"cell {place}: {error}") from None


def code_of_string(sign: str, conflict: str = "raise") -> int:
    """Return the code of a string of tigramite, as '-->'; 0 of the empty one.

    Examples
    --------
    >>> code_of_string("-->"), code_of_string("<--"), code_of_string("")
    (9, 6, 0)
    """
    if not sign:
        return 0
    if "x" in sign and conflict == "circle":
        sign = sign.replace("x", "o")
    if sign in _STRINGS:
        return _STRINGS[sign]
    why = ""
    if "x" in sign:
        why = "; the orientations of this link conflict: pass conflict='circle' to read conflicting marks as circles"
    elif "+" in sign:
        why = "; '->' and '<->' of two variables are two links, which a cell cannot hold"
    raise ValueError(f"found {sign!r}, expected '' or one of {', '.join(map(repr, _STRINGS))}{why}")


def write_tigramite(codes: NDArray[np.uint8], *, lines: bool) -> NDArray[Any]:
    """Return codes (L + 1, d, d) as strings (d, d, L + 1); undirected links are "---" with `lines`, else "o-o"."""
    words = {number: sign for sign, number in _STRINGS.items()}
    words[UNDIRECTED] = "---" if lines else "o-o"
    table = np.array([words.get(number, "") for number in range(16)], dtype="<U3")
    return np.asarray(table[codes.transpose(1, 2, 0)])


def axes_weights(value: Any, axes: str, first_lag: int | None) -> Weights:
    """Read an array of numbers whose axes are named; `first_lag` is the lag of its first slice, 0 or 1."""
    found = array_of_lags(value, f"three axes, {axes}")
    if first_lag not in (0, 1):
        raise ValueError(
            f"encoding={axes!r} names the axes; pass first_lag=0 if the first slice along the lags holds "
            f"contemporaneous links, or first_lag=1 if it holds lag 1; found {first_lag!r}"
        )
    arranged = found.transpose(AXES[axes])
    if arranged.shape[1] != arranged.shape[2]:
        raise ValueError(
            f"found an array of shape {found.shape}; as {axes!r} it has other numbers of causes and effects"
        )
    return from_lag_1(arranged, None) if first_lag else Weights(None, arranged)


def read_numbers(value: Any, axes: str, first_lag: int | None, presence: Presence) -> Links:
    """Read the links of an array of numbers whose axes are named."""
    found = axes_weights(value, axes, first_lag)
    if not first_lag and presence != Presence() and len(found.values):
        # tests and weights of a variable on itself at the same time mean nothing
        values = found.values.copy()
        np.einsum("ii->i", values[0])[:] = 1 if presence.alpha is not None else 0
        found = Weights(None, values)
    return found.links(presence)
