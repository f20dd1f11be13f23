"""Matrices whose codes are marks of edges as cells: those of pcalg, bnmetrics, causal-learn, pywhy-graphs and others.

The same matrix is valid in several of these encodings, with another graph in each: they are used by name only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.encoding import CellError, Encoding, Matrix, register_encoding
from ..edge_marks import ARROW, CIRCLE, TAIL
from .matrices import CELLS, MATRIX_TYPES, decode_ones, decode_sparse_ones, is_square, read_matrix

Pair = tuple[int, int]

#: marks at the column's and at the row's node of a pair that has two edges, `->` to the column's node and `<->`
INTO, OUT_OF = (5, 4), (4, 5)
_WORDS = {TAIL: "a tail", ARROW: "an arrow", CIRCLE: "a circle"}


def pairs_of_marks(codes: Mapping[int, int], at: str) -> dict[Pair, Pair]:
    """Return what two codes in cells (i, j) and (j, i) are: the marks at j and at i.

    `codes` are marks by code; `at` is "column" if cell (i, j) holds the mark at j, "row" if it holds that at i.
    """
    found = {(a, b): (codes[a], codes[b]) for a, b in product(codes, codes)}
    return found if at == "column" else {pair: marks[::-1] for pair, marks in found.items()}


def decoder(pairs: Mapping[Pair, Pair], expected: str) -> Callable[[NDArray[Any], Sequence[str]], NDArray[np.uint8]]:
    """Return a function that decodes a stack by the codes in the cells (i, j) and (j, i) of each pair."""

    def decode(stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.uint8]:
        other = stack.transpose(0, 2, 1)
        marks, known = np.zeros(stack.shape, np.uint8), (stack == 0) & (other == 0)
        for (here, there), (mark, _) in pairs.items():
            chosen = (stack == here) & (other == there)
            marks[chosen] = mark
            known |= chosen
        if not known.all():
            at, i, j = np.argwhere(~known)[0].tolist()
            raise CellError(at, _explain_codes(stack[at, i, j], stack[at, j, i], names[i], names[j], expected))
        return marks

    return decode


def _explain_codes(here: Any, there: Any, row: str, column: str, expected: str) -> str:
    if row == column:
        return f"found {here} in cell ({row!r}, {row!r}), an edge from {row!r} to itself; graphs have no self loops"
    return f"found {here} in cell ({row!r}, {column!r}) and {there} in cell ({column!r}, {row!r}), expected {expected}"


def writer(pairs: Mapping[Pair, Pair], name: str) -> Callable[[NDArray[np.uint8]], NDArray[Any]]:
    """Return a function that writes a stack of marks, 4 and 5 at the ends of two edges, in these codes."""
    code: dict[Pair, int] = {}
    for (here, _), both in pairs.items():
        # of several codes the first
        code.setdefault(both, here)

    def write(marks: NDArray[np.uint8]) -> NDArray[Any]:
        other = marks.transpose(0, 2, 1)
        written, known = np.zeros(marks.shape, np.int8), marks == 0
        for (at_column, at_row), here in code.items():
            chosen = (marks == at_column) & (other == at_row)
            written[chosen] = here
            known |= chosen
        if not known.all():
            at, i, j = np.argwhere(~known)[0].tolist()
            raise CellError(at, f"the encoding {name!r} has no codes for {_edge(other[at, i, j], marks[at, i, j])}")
        return written

    return write


def _edge(at_row: int, at_column: int) -> str:
    if 4 in (at_row, at_column):
        return "a pair of nodes with '->' and '<->'"
    return f"an edge with {_WORDS[int(at_row)]} and {_WORDS[int(at_column)]}"


def read_codes(cell: Any) -> Matrix:
    """Read a matrix of codes; a sparse one is made dense."""
    found = read_matrix(cell)
    return Matrix(found.labels, found.values.toarray()) if hasattr(found.values, "toarray") else found


def read_pag_codes(cell: Any) -> Matrix:
    """Read a matrix of codes whose name says that it is a PAG."""
    return read_codes(cell)._replace(kind="pag")


def _register(
    name: str,
    tool: str,
    meaning: str,
    mark: str,
    example: str,
    pairs: Mapping[Pair, Pair],
    read: Callable[[Any], Matrix] = read_codes,
) -> Encoding:
    return register_encoding(
        Encoding(
            name=name,
            tool=tool,
            cells=CELLS,
            meaning=meaning,
            mark=mark,
            example=example,
            read=read,
            types=MATRIX_TYPES,
            by_name=True,
            is_likely=is_square,
            decode=decoder(pairs, meaning),
            write_marks=writer(pairs, name),
        )
    )


PCALG_PAG = _register(
    "pcalg amat.pag",
    "pcalg, py-tetrad, causalDisco (ag)",
    "0 no edge, 1 a circle, 2 an arrow, 3 a tail, at both ends of an edge",
    "an edge i -> j is the 2 in cell (i, j) with the 3 in cell (j, i): marks at the column's node",
    "[[0, 2], [3, 0]] is 0 -> 1, [[0, 2], [1, 0]] is 0 o-> 1",
    pairs_of_marks({1: CIRCLE, 2: ARROW, 3: TAIL}, "column"),
    read_pag_codes,
)

BNMETRICS = _register(
    "bnmetrics",
    "bnmetrics, cbcd",
    "0 no edge, 1 a tail, 2 an arrow, 3 a circle, at both ends of an edge",
    "an edge i -> j is the 2 in cell (i, j) with the 1 in cell (j, i): marks at the column's node",
    "[[0, 2], [1, 0]] is 0 -> 1, [[0, 2], [3, 0]] is 0 o-> 1",
    pairs_of_marks({1: TAIL, 2: ARROW, 3: CIRCLE}, "column"),
)

CAUSAL_LEARN_MATRIX = _register(
    "causal-learn matrix",
    "causal-learn (G.graph)",
    "0 no edge, -1 a tail, 1 an arrow, 2 a circle, at both ends of an edge; 4 with 5 both '->' and '<->'",
    "an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i): marks at the row's node",
    "[[0, -1], [1, 0]] is 0 -> 1, [[0, 2], [1, 0]] is 0 o-> 1",
    pairs_of_marks({-1: TAIL, 1: ARROW, 2: CIRCLE}, "row") | {(4, 5): INTO, (5, 4): OUT_OF},
)

TETRAD_MATRIX = _register(
    "Tetrad R matrix",
    "Tetrad (graphRMatrixTxt)",
    "0 no edge, -1 a tail, 1 an arrow, at both ends of an edge",
    "an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i): marks at the row's node",
    "[[0, -1], [1, 0]] is 0 -> 1",
    pairs_of_marks({-1: TAIL, 1: ARROW}, "row"),
)

MXM = _register(
    "MXM",
    "MXM",
    "0 no edge, 1 in both cells an undirected edge, 2 an arrow with 3 a tail",
    "an edge i -> j is the 2 in cell (i, j) with the 3 in cell (j, i)",
    "[[0, 2], [3, 0]] is 0 -> 1, [[0, 1], [1, 0]] is 0 -- 1",
    {(1, 1): (TAIL, TAIL), (2, 3): (ARROW, TAIL), (3, 2): (TAIL, ARROW)},
)

PYWHY_MATRIX = _register(
    "pywhy-graphs matrix",
    "pywhy-graphs (graph_to_numpy), dodiscover",
    "1 an arrow, 2 a circle, 0 a tail or no edge; 10 in both cells undirected, 20 bidirected, 21 with 20 both '->' and "
    "'<->'",
    "an edge i -> j is the 1 in cell (i, j) with the 0 in cell (j, i): marks at the column's node",
    "[[0, 1], [0, 0]] is 0 -> 1, [[0, 1], [2, 0]] is 0 o-> 1",
    {
        (1, 0): (ARROW, TAIL),
        (0, 1): (TAIL, ARROW),
        (1, 2): (ARROW, CIRCLE),
        (2, 1): (CIRCLE, ARROW),
        (2, 2): (CIRCLE, CIRCLE),
        (2, 0): (CIRCLE, TAIL),
        (0, 2): (TAIL, CIRCLE),
        (10, 10): (TAIL, TAIL),
        (20, 20): (ARROW, ARROW),
        (21, 20): INTO,
        (20, 21): OUT_OF,
    },
)

_UNDIRECTED_GADJID = {(2, 2): (TAIL, TAIL), (2, 0): (TAIL, TAIL), (0, 2): (TAIL, TAIL)}

GADJID_ROW_TO_COLUMN = _register(
    "gadjid row->column",
    "gadjid, edge_direction='from row to column'",
    "1 a directed edge, 2 in one cell or both an undirected edge",
    "an edge i -> j is the 1 in cell (i, j)",
    "[[0, 1], [0, 0]] is 0 -> 1, [[0, 2], [0, 0]] is 0 -- 1",
    {(0, 1): (TAIL, ARROW), (1, 0): (ARROW, TAIL)} | _UNDIRECTED_GADJID,
)

GADJID_COLUMN_TO_ROW = _register(
    "gadjid column->row",
    "gadjid, edge_direction='from column to row'",
    "1 a directed edge, 2 in one cell or both an undirected edge",
    "an edge i -> j is the 1 in cell (j, i)",
    "[[0, 1], [0, 0]] is 1 -> 0, [[0, 2], [0, 0]] is 0 -- 1",
    {(1, 0): (TAIL, ARROW), (0, 1): (ARROW, TAIL)} | _UNDIRECTED_GADJID,
)

GCASTLE = _register(
    "gCastle",
    "gCastle (causal_matrix, MetricsDAG)",
    "1 a directed edge, 1 in both cells or -1 in one an undirected edge",
    "an edge i -> j is the 1 in cell (i, j)",
    "[[0, 1], [0, 0]] is 0 -> 1, [[0, -1], [0, 0]] is 0 -- 1",
    {
        (1, 1): (TAIL, TAIL),
        (-1, 0): (TAIL, TAIL),
        (0, -1): (TAIL, TAIL),
        (0, 1): (TAIL, ARROW),
        (1, 0): (ARROW, TAIL),
    },
)


def _decode_transposed(stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.bool_]:
    return decode_ones(stack, names).transpose(0, 2, 1)


def _decode_lingam(stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.bool_]:
    """Decode effects of columns on rows; NaN is a pair that RCD, CAM-UV and ParceLiNGAM leave open."""
    missing = np.isnan(stack.astype(np.float64))
    if missing.any():
        at, i, j = np.argwhere(missing)[0].tolist()
        raise CellError(
            at,
            f"found nan in cell ({names[i]!r}, {names[j]!r}), as lingam writes pairs with a latent confounder or of "
            "unknown order; matrices of 0 and 1 cannot hold them: W + 2 * W.T + 2 * np.isnan(B) with W = abs(B) > 0.3 "
            "and encoding='bnmetrics' reads them as <->",
        )
    return _decode_transposed(stack, names)


def _register_transposed(
    name: str,
    tool: str,
    meaning: str,
    example: str,
    decode: Callable[[NDArray[Any], Sequence[str]], NDArray[np.bool_]],
) -> Encoding:
    return register_encoding(
        Encoding(
            name=name,
            tool=tool,
            cells=CELLS,
            meaning=meaning,
            mark="an edge i -> j is the number in cell (j, i)",
            example=example,
            read=read_matrix,
            types=MATRIX_TYPES,
            by_name=True,
            is_likely=is_square,
            decode=decode,
            decode_sparse=lambda cell, names: [(j, i) for i, j in decode_sparse_ones(cell, names)],
            write=lambda marks: marks.transpose(0, 2, 1),
        )
    )


PCALG_CPDAG = _register_transposed(
    "pcalg amat.cpdag",
    "pcalg, causalDisco (pdag)",
    "1 in cell (j, i) alone a directed edge, 1 in both cells an undirected edge",
    "[[0, 0], [1, 0]] is 0 -> 1",
    _decode_transposed,
)

LINGAM = _register_transposed(
    "lingam",
    "lingam (adjacency_matrix_), causal-learn's LiNGAM",
    "1 an effect of j on i; weights are cut by size first, as in abs(B) > 0.3",
    "[[0, 0], [1, 0]] is 0 -> 1",
    _decode_lingam,
)

# ---- strings -------------------------------------------------------------------------------------------------------

_LEFT = {"-": TAIL, "<": ARROW, "o": CIRCLE}
_RIGHT = {"-": TAIL, ">": ARROW, "o": CIRCLE}
_TIGRAMITE = {f"{a}-{b}": (at_b, at_a) for (a, at_a), (b, at_b) in product(_LEFT.items(), _RIGHT.items())}
_TIGRAMITE |= {"+->": INTO, "<-+": OUT_OF}
_STRINGS = {marks: sign for sign, marks in _TIGRAMITE.items()}


def is_tigramite(cell: Any) -> bool:
    """Return whether a cell is an array of strings."""
    return isinstance(cell, np.ndarray) and cell.dtype.kind == "U" and cell.ndim >= 2


def read_tigramite(cell: NDArray[Any]) -> Matrix:
    """Read an array of strings: that at (i, j) is the edge from i to j, and that at (j, i) its mirror image."""
    if cell.ndim == 4 or (cell.ndim == 3 and (cell[:, :, 1:] != "").any()):
        lagged = "an array (N, N, T, T)" if cell.ndim == 4 else "links at lags"
        raise ValueError(
            f"found {lagged}; a cell is a graph of contemporaneous links: read graphs of time series by "
            "ce.lagged_column, or take graph[:, :, 0]"
        )
    strings = cell[:, :, 0] if cell.ndim == 3 and cell.shape[2] else cell
    if strings.ndim != 2 or strings.shape[0] != strings.shape[1]:
        raise ValueError(f"found an array of strings of shape {cell.shape}, expected (N, N) or (N, N, 1)")
    marks, mirrored = np.zeros(strings.shape, np.uint8), np.zeros(strings.shape, np.uint8)
    known = strings == ""
    for sign, (at_column, at_row) in _TIGRAMITE.items():
        chosen = strings == sign
        marks[chosen], mirrored[chosen] = at_column, at_row
        known |= chosen
    if not known.all():
        i, j = np.argwhere(~known)[0].tolist()
        sign = str(strings[i, j])[:20]
        why = "'x' is a conflict of orientations; settle it first" if "x" in sign else "'' is not an edge"
        raise ValueError(f"found {sign!r} in cell ({i}, {j}), expected one of {', '.join(_TIGRAMITE)}; {why}")
    odd = np.argwhere(marks != mirrored.T)
    if len(odd):
        i, j = odd[0].tolist()
        raise ValueError(
            f"found {str(strings[i, j])!r} in cell ({i}, {j}) and {str(strings[j, i])!r} in cell ({j}, {i}); a "
            "contemporaneous link stands in both, mirrored, as '-->' and '<--'"
        )
    return Matrix(None, marks)


def write_tigramite(marks: NDArray[np.uint8]) -> NDArray[Any]:
    """Write marks as strings."""
    other = marks.transpose(0, 2, 1)
    written = np.zeros(marks.shape, "<U3")
    for (at_column, at_row), sign in _STRINGS.items():
        written[(marks == at_column) & (other == at_row)] = sign
    return written


TIGRAMITE = register_encoding(
    Encoding(
        name="tigramite",
        tool="tigramite",
        cells="tigramite array",
        meaning="'-->' an edge with a tail and an arrow, 'o' a circle, '+->' both '->' and '<->', '' no edge",
        mark="an edge i -> j is '-->' in cell (i, j) with '<--' in cell (j, i)",
        example="np.array([['', '-->'], ['<--', '']])",
        read=read_tigramite,
        types=(np.ndarray,),
        recognise=is_tigramite,
        decode=lambda stack, names: np.asarray(stack, np.uint8),
        write_marks=write_tigramite,
    )
)
