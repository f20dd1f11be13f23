"""Adjacency matrices as cells: numpy arrays, scipy sparse matrices and DataFrames of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.encoding import Arcs, CellError, Encoding, Matrix, register_encoding
from ..node_names import short
from ..weights import explain_weights


@runtime_checkable
class SparseMatrix(Protocol):
    """A sparse matrix of scipy, or of another library that converts to coordinates."""

    def tocoo(self) -> Any:
        """Return the matrix in coordinate format."""


def is_square(cell: Any) -> bool:
    """Return whether a cell is a square matrix."""
    return len(cell.shape) == 2 and cell.shape[0] == cell.shape[1]


def read_matrix(cell: Any) -> Matrix:
    """Read a matrix.

    The index and columns of a DataFrame, or of an array that has both as gCastle's, name the nodes, in the order of the
    columns.
    """
    if isinstance(cell, pd.DataFrame):
        return _read_named("DataFrame", _values(cell), cell.index, cell.columns)
    if not isinstance(cell, np.ndarray) or type(cell) is np.ndarray:
        return Matrix(None, cell)
    if isinstance(cell, np.matrix):
        # its slices keep two dimensions
        return Matrix(None, np.asarray(cell))
    index, columns = getattr(cell, "index", None), getattr(cell, "columns", None)
    if not (isinstance(index, pd.Index) and isinstance(columns, pd.Index) and cell.ndim == 2):
        return Matrix(None, cell)
    if not columns.equals(pd.RangeIndex(len(columns))):
        return _read_named(type(cell).__name__, np.asarray(cell), index, columns)
    return Matrix(None, cell)


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


def decode_ones(stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.bool_]:
    """Return where matrices hold ones; refuse values other than 0 and 1."""
    ones = stack != 0
    odd = ones & (stack != 1)
    if odd.any():
        at, i, j = (int(x) for x in np.argwhere(odd)[0])
        value = stack[at, i, j].item()
        source, target = np.nonzero(stack[at])
        mend = explain_weights(source, target, stack[at][source, target])
        raise CellError(at, f"found {value} in cell ({names[i]!r}, {names[j]!r}), expected 0 or 1; {mend}")
    return np.asarray(ones)


def decode_sparse_ones(cell: Any, names: Sequence[str]) -> Arcs:
    """Return (row, column) of the ones of a scipy sparse matrix."""
    matrix = cell.tocsr().tocoo()  # adds up duplicate entries
    arcs = []
    for i, j, value in zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True):
        if value not in (0, 1):
            mend = explain_weights(matrix.row, matrix.col, matrix.data)
            raise ValueError(f"found {value} in cell ({names[i]!r}, {names[j]!r}), expected 0 or 1; {mend}")
        if value:
            arcs.append((i, j))
    return arcs


MATRIX_TYPES = (np.ndarray, pd.DataFrame, SparseMatrix)
CELLS = "numpy / scipy / DataFrame adjacency"
_MEANING = "1 a mark, 0 none; both cells of a pair 1 an undirected edge"

ROW_TO_COLUMN = register_encoding(
    Encoding(
        name="row->column",
        tool="networkx, NOTEARS, gCastle, bnlearn (amat), benchpress",
        cells=CELLS,
        meaning=_MEANING,
        mark="an edge i -> j is the 1 in cell (i, j)",
        example="[[0, 1], [0, 0]] is 0 -> 1",
        read=read_matrix,
        types=MATRIX_TYPES,
        by_name=True,
        is_likely=is_square,
        decode=decode_ones,
        decode_sparse=decode_sparse_ones,
        write=lambda marks: marks,
    )
)

COLUMN_TO_ROW = register_encoding(
    Encoding(
        name="column->row",
        tool="LiNGAM, pcalg",
        cells=CELLS,
        meaning=_MEANING,
        mark="an edge i -> j is the 1 in cell (j, i)",
        example="[[0, 1], [0, 0]] is 1 -> 0",
        read=read_matrix,
        types=MATRIX_TYPES,
        by_name=True,
        is_likely=is_square,
        decode=lambda stack, names: decode_ones(stack, names).transpose(0, 2, 1),
        decode_sparse=lambda cell, names: [(j, i) for i, j in decode_sparse_ones(cell, names)],
        write=lambda marks: marks.transpose(0, 2, 1),
    )
)
