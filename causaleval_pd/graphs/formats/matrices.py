"""Matrices as cells: numpy arrays, scipy sparse matrices and DataFrames of ones or of codes, and arrays of strings.

The same matrix is valid in several of these encodings, with another graph in each: they are used by name only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.encoding import Encoding, Matrix, Pair
from ..edge_marks import INTO, MARK_OF_CHARACTER, OUT_OF
from ..kernels.planes import ARROW, CIRCLE, TAIL
from ..node_names import short
from ..weights import explain_weights


@runtime_checkable
class SparseMatrix(Protocol):
    """A sparse matrix of scipy, or of another library that converts to coordinates."""

    def tocoo(self) -> Any:
        """Return the matrix in coordinate format."""


def read_matrix(cell: Any) -> Matrix:
    """Read a matrix; index and columns of a DataFrame or a gCastle array name the nodes, in the columns' order."""
    if isinstance(cell, pd.DataFrame):
        return _read_named("DataFrame", _values(cell), cell.index, cell.columns)
    index, columns = getattr(cell, "index", None), getattr(cell, "columns", None)
    is_matrix = isinstance(cell, np.ndarray) and cell.ndim == 2
    if is_matrix and isinstance(index, pd.Index) and isinstance(columns, pd.Index):
        is_numbered = columns.equals(pd.RangeIndex(len(columns)))
        return Matrix(None, cell) if is_numbered else _read_named(type(cell).__name__, np.asarray(cell), index, columns)
    # slices of a np.matrix keep two dimensions
    return Matrix(None, np.asarray(cell) if isinstance(cell, np.matrix) else cell)


def _values(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the values of a DataFrame, those of pandas' nullable types as numbers."""
    types = set(frame.dtypes)
    if not any(isinstance(dtype, pd.api.extensions.ExtensionDtype) for dtype in types):
        return frame.to_numpy()
    missing = np.argwhere(frame.isna().to_numpy())
    if len(missing):
        i, j = missing[0].tolist()
        raise ValueError(
            f"found a missing value in cell ({str(frame.index[i])!r}, {str(frame.columns[j])!r}) of a DataFrame, "
            "expected 0 or 1; fill it, as in frame.fillna(0) where no edge is meant"
        )
    numeric = all(pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_numeric_dtype(dtype) for dtype in types)
    return frame.to_numpy(np.float64) if numeric else frame.to_numpy()


def _read_named(what: str, values: NDArray[Any], index: pd.Index, names: pd.Index) -> Matrix:
    """Bring the rows of a matrix into the order of its columns."""
    if values.shape[0] != values.shape[1]:
        more = "; read it with index_col=0 if its first column holds names"
        mend = more if values.shape[1] == values.shape[0] + 1 else ""
        raise ValueError(f"found a {what} of shape {values.shape}, expected a square adjacency matrix{mend}")
    rows, columns = list(index), list(names)
    if set(rows) != set(columns):
        raise ValueError(
            f"found a {what} with rows {short(rows)} and columns {short(columns)}, expected the same nodes; "
            "set frame.index = frame.columns if the rows are in the order of the columns"
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"found a {what} with columns {short(columns)}, expected each node once")
    return Matrix(tuple(columns), values if rows == columns else values[index.get_indexer(names)])


def explain_ones(matrix: NDArray[Any], names: Sequence[str]) -> str:
    """Return why a matrix is not one of zeros and ones."""
    source, target = np.nonzero(matrix)
    mend = explain_weights(source, target, matrix[source, target])
    i, j = np.argwhere((matrix != 0) & (matrix != 1))[0].tolist()
    return f"found {matrix[i, j]} in cell ({names[i]!r}, {names[j]!r}), expected 0 or 1; {mend}"


def explain_effects(matrix: NDArray[Any], names: Sequence[str]) -> str:
    """Return why a matrix is none of effects; NaN is a pair that RCD, CAM-UV and ParceLiNGAM leave open."""
    missing = np.argwhere(np.isnan(matrix.astype(np.float64)))
    if not len(missing):
        return explain_ones(matrix, names)
    i, j = missing[0].tolist()
    return (
        f"found nan in cell ({names[i]!r}, {names[j]!r}), as lingam writes pairs with a latent confounder or of "
        "unknown order; matrices of 0 and 1 cannot hold them: W + 2 * W.T + 2 * np.isnan(B) with W = abs(B) > 0.3 "
        "and encoding='bnmetrics' reads them as <->"
    )


def pairs_of_marks(codes: Mapping[int, int], at: str) -> dict[Pair, Pair]:
    """Return the marks at j and i for codes in cells (i, j) and (j, i); (i, j) holds that at its column or row."""
    pairs = {(a, b): (codes[a], codes[b]) for a, b in product(codes, codes)}
    return pairs if at == "column" else {pair: marks[::-1] for pair, marks in pairs.items()}


def _mirrored(codes: dict[Pair, Pair]) -> dict[Pair, Pair]:
    """Return codes with those of the mirror images of edges."""
    return codes | {pair[::-1]: marks[::-1] for pair, marks in codes.items()}


_of_numbers = partial(
    Encoding,
    cells="numpy / scipy / DataFrame adjacency",
    read=read_matrix,
    types=(np.ndarray, pd.DataFrame, SparseMatrix),
    by_name=True,
    is_likely=lambda cell: len(cell.shape) == 2 and cell.shape[0] == cell.shape[1],
)
#: a one in the cell of the source's row, of the source's column, and in both cells
ONES_BY_ROW = _mirrored({(1, 0): (ARROW, TAIL), (1, 1): (TAIL, TAIL)})
ONES_BY_COLUMN = {pair: marks[::-1] for pair, marks in ONES_BY_ROW.items()}
_MEANING = "1 a mark, 0 none; both cells of a pair 1 an undirected edge"
_EFFECT = "an edge i -> j is the number in cell (j, i)"

CAUSAL_LEARN_MATRIX = _of_numbers(
    name="causal-learn matrix",
    tool="causal-learn (G.graph)",
    meaning="0 no edge, -1 a tail, 1 an arrow, 2 a circle, at both ends of an edge; 4 with 5 both '->' and '<->'",
    mark="an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i): marks at the row's node",
    example="[[0, -1], [1, 0]] is 0 -> 1, [[0, 2], [1, 0]] is 0 o-> 1",
    codes=pairs_of_marks({-1: TAIL, 1: ARROW, 2: CIRCLE}, "row") | {(4, 5): INTO, (5, 4): OUT_OF},
)

GCASTLE = _of_numbers(
    name="gCastle",
    tool="gCastle (causal_matrix, MetricsDAG)",
    meaning="1 a directed edge, 1 in both cells or -1 in one an undirected edge",
    mark="an edge i -> j is the 1 in cell (i, j)",
    example="[[0, 1], [0, 0]] is 0 -> 1, [[0, -1], [0, 0]] is 0 -- 1",
    codes=_mirrored({(1, 1): (TAIL, TAIL), (-1, 0): (TAIL, TAIL), (1, 0): (ARROW, TAIL)}),
)

LINGAM = _of_numbers(
    name="lingam",
    tool="lingam (adjacency_matrix_), causal-learn's LiNGAM",
    meaning="1 an effect of j on i; weights are cut by size first, as in abs(B) > 0.3",
    mark=_EFFECT,
    example="[[0, 0], [1, 0]] is 0 -> 1",
    codes=ONES_BY_COLUMN,
    explain=explain_effects,
)

_TIGRAMITE = {f"{a}-{b}": (MARK_OF_CHARACTER[b], MARK_OF_CHARACTER[a]) for a, b in product("-<o", "->o")}
_TIGRAMITE |= {"+->": INTO, "<-+": OUT_OF}


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


def _write_tigramite(marks: NDArray[np.uint8]) -> NDArray[Any]:
    signs = np.zeros((6, 6), "<U3")
    for sign, both in _TIGRAMITE.items():
        signs[both] = sign
    return signs[marks, marks.transpose(0, 2, 1)]


ENCODINGS = (
    _of_numbers(
        name="row->column",
        tool="networkx, NOTEARS, gCastle, bnlearn (amat), benchpress",
        meaning=_MEANING,
        mark="an edge i -> j is the 1 in cell (i, j)",
        example="[[0, 1], [0, 0]] is 0 -> 1",
        codes=ONES_BY_ROW,
        explain=explain_ones,
    ),
    _of_numbers(
        name="column->row",
        tool="LiNGAM, pcalg",
        meaning=_MEANING,
        mark="an edge i -> j is the 1 in cell (j, i)",
        example="[[0, 1], [0, 0]] is 1 -> 0",
        codes=ONES_BY_COLUMN,
        explain=explain_ones,
    ),
    _of_numbers(
        name="pcalg amat.pag",
        tool="pcalg, py-tetrad, causalDisco (ag)",
        meaning="0 no edge, 1 a circle, 2 an arrow, 3 a tail, at both ends of an edge",
        mark="an edge i -> j is the 2 in cell (i, j) with the 3 in cell (j, i): marks at the column's node",
        example="[[0, 2], [3, 0]] is 0 -> 1, [[0, 2], [1, 0]] is 0 o-> 1",
        codes=pairs_of_marks({1: CIRCLE, 2: ARROW, 3: TAIL}, "column"),
        read=lambda cell: read_matrix(cell)._replace(kind="pag"),
    ),
    _of_numbers(
        name="bnmetrics",
        tool="bnmetrics, cbcd",
        meaning="0 no edge, 1 a tail, 2 an arrow, 3 a circle, at both ends of an edge",
        mark="an edge i -> j is the 2 in cell (i, j) with the 1 in cell (j, i): marks at the column's node",
        example="[[0, 2], [1, 0]] is 0 -> 1, [[0, 2], [3, 0]] is 0 o-> 1",
        codes=pairs_of_marks({1: TAIL, 2: ARROW, 3: CIRCLE}, "column"),
    ),
    CAUSAL_LEARN_MATRIX,
    _of_numbers(
        name="Tetrad R matrix",
        tool="Tetrad (graphRMatrixTxt)",
        meaning="0 no edge, -1 a tail, 1 an arrow, at both ends of an edge",
        mark="an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i): marks at the row's node",
        example="[[0, -1], [1, 0]] is 0 -> 1",
        codes=pairs_of_marks({-1: TAIL, 1: ARROW}, "row"),
    ),
    _of_numbers(
        name="MXM",
        tool="MXM",
        meaning="0 no edge, 1 in both cells an undirected edge, 2 an arrow with 3 a tail",
        mark="an edge i -> j is the 2 in cell (i, j) with the 3 in cell (j, i)",
        example="[[0, 2], [3, 0]] is 0 -> 1, [[0, 1], [1, 0]] is 0 -- 1",
        codes=_mirrored({(1, 1): (TAIL, TAIL), (2, 3): (ARROW, TAIL)}),
    ),
    _of_numbers(
        name="pywhy-graphs matrix",
        tool="pywhy-graphs (graph_to_numpy), dodiscover",
        meaning="1 an arrow, 2 a circle, 0 a tail or no edge; 10 in both cells undirected, 20 bidirected, 21 with 20 "
        "both '->' and '<->'",
        mark="an edge i -> j is the 1 in cell (i, j) with the 0 in cell (j, i): marks at the column's node",
        example="[[0, 1], [0, 0]] is 0 -> 1, [[0, 1], [2, 0]] is 0 o-> 1",
        codes=_mirrored(
            {(1, 0): (ARROW, TAIL), (1, 2): (ARROW, CIRCLE), (2, 2): (CIRCLE, CIRCLE), (2, 0): (CIRCLE, TAIL)}
            | {(10, 10): (TAIL, TAIL), (20, 20): (ARROW, ARROW), (21, 20): INTO}
        ),
    ),
    _of_numbers(
        name="gadjid row->column",
        tool="gadjid, edge_direction='from row to column'",
        meaning="1 a directed edge, 2 in one cell or both an undirected edge",
        mark="an edge i -> j is the 1 in cell (i, j)",
        example="[[0, 1], [0, 0]] is 0 -> 1, [[0, 2], [0, 0]] is 0 -- 1",
        codes=_mirrored({(1, 0): (ARROW, TAIL), (2, 2): (TAIL, TAIL), (2, 0): (TAIL, TAIL)}),
    ),
    _of_numbers(
        name="gadjid column->row",
        tool="gadjid, edge_direction='from column to row'",
        meaning="1 a directed edge, 2 in one cell or both an undirected edge",
        mark="an edge i -> j is the 1 in cell (j, i)",
        example="[[0, 1], [0, 0]] is 1 -> 0, [[0, 2], [0, 0]] is 0 -- 1",
        codes=_mirrored({(1, 0): (TAIL, ARROW), (2, 2): (TAIL, TAIL), (2, 0): (TAIL, TAIL)}),
    ),
    GCASTLE,
    _of_numbers(
        name="pcalg amat.cpdag",
        tool="pcalg, causalDisco (pdag)",
        meaning="1 in cell (j, i) alone a directed edge, 1 in both cells an undirected edge",
        mark=_EFFECT,
        example="[[0, 0], [1, 0]] is 0 -> 1",
        codes=ONES_BY_COLUMN,
        explain=explain_ones,
    ),
    LINGAM,
    Encoding(
        name="tigramite",
        tool="tigramite",
        cells="tigramite array",
        meaning="'-->' an edge with a tail and an arrow, 'o' a circle, '+->' both '->' and '<->', '' no edge",
        mark="an edge i -> j is '-->' in cell (i, j) with '<--' in cell (j, i)",
        example="np.array([['', '-->'], ['<--', '']])",
        read=read_tigramite,
        types=(np.ndarray,),
        recognise=lambda cell: cell.dtype.kind == "U" and cell.ndim >= 2,
        codes=pairs_of_marks({mark: mark for mark in (TAIL, ARROW, CIRCLE)}, "column") | {INTO: INTO, OUT_OF: OUT_OF},
        write=_write_tigramite,
    ),
)
