"""Columns of canonical bytes: packing and unpacking."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from ..contract.checks import name_row
from .decode import Where, to_large_binary, unpack_array
from .edge_strings import TEXT_OF_OBJECT, explain_text
from .header import names_header
from .kernels.planes import plane_words, row_chunks
from .unpacked import UnpackedColumn, group_rows

COLUMN_DTYPE = pd.ArrowDtype(pa.large_binary())

#: of arrays that are alive, by identity: the array, and the numbers of nodes and planes of graphs with checked classes
_CHECKED: dict[int, tuple[weakref.ref[pa.ChunkedArray], set[tuple[int, int]]]] = {}


def is_packed(series: pd.Series) -> bool:
    """Return whether a column has an Arrow binary dtype."""
    dtype = series.dtype
    if not isinstance(dtype, pd.ArrowDtype):
        return False
    kind = dtype.pyarrow_dtype
    return bool(
        pa.types.is_large_binary(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or str(kind) == "binary_view"  # pyarrow has the type, and its test, since 16
    )


def pack_column(column: UnpackedColumn, *, index: pd.Index | None = None, name: Hashable | None = None) -> pd.Series:
    """Pack decoded graphs into a column of `COLUMN_DTYPE`; rows in no block become missing."""
    headers = [names_header(names) for names in column.node_sets]
    header_words = np.array([len(words) for words in headers], dtype=np.int64)
    length = np.zeros(column.n_rows, dtype=np.int64)
    for block in column.blocks:
        length[block.rows] = header_words[block.node_set] + block.planes.shape[1] * plane_words(block.n_nodes)
    offset = np.zeros(column.n_rows + 1, dtype=np.int64)
    np.cumsum(length, out=offset[1:])
    data = np.empty(offset[-1], dtype=np.uint64)
    for block in column.blocks:
        # among graphs with as many nodes and name words only the contents differ
        for size, chosen in group_rows(header_words[block.node_set]):
            sets, position = np.unique(block.node_set[chosen], return_inverse=True)
            table = np.stack([headers[i] for i in sets.tolist()])
            cell_words = size + block.planes.shape[1] * plane_words(block.n_nodes)
            n_planes = np.uint64(block.planes.shape[1] << 24)
            for part in row_chunks(len(chosen), 16 * cell_words):
                some = chosen[part]
                cells = np.empty((len(some), cell_words), dtype=np.uint64)
                cells[:, :size] = table[position[part]]
                cells[:, 0] |= block.kinds[some].astype(np.uint64) << np.uint64(16) | n_planes
                cells[:, size:] = block.planes[some].reshape(len(some), -1)
                start = offset[block.rows[some]]
                if start[-1] - start[0] == (len(some) - 1) * cell_words:
                    data[start[0] : start[-1] + cell_words] = cells.reshape(-1)
                else:
                    data[start[:, None] + np.arange(cell_words)] = cells
    valid = length > 0
    bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bitmap, pa.py_buffer(offset * 8), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_binary(), column.n_rows, buffers)
    packed = pd.Series(pd.array(array, dtype=COLUMN_DTYPE), index=index, name=name)
    _checked_blocks(_arrow(packed)).update(block.key for block in column.blocks)
    return packed


def as_packed(series: pd.Series) -> pd.Series:
    """Return a packed column of another Arrow type as `COLUMN_DTYPE`."""
    if series.dtype == COLUMN_DTYPE:
        return series
    array = to_large_binary(_arrow(series))
    return pd.Series(pd.array(array, dtype=COLUMN_DTYPE), index=series.index, name=series.name)


def _arrow(series: pd.Series) -> pa.ChunkedArray:
    """Return the chunks of a packed column without a copy."""
    return series.array.__arrow_array__()


def _checked_blocks(array: pa.ChunkedArray) -> set[tuple[int, int]]:
    """Return the numbers of nodes and planes of an array's graphs with checked classes, remembered while it lives."""
    known = _CHECKED.get(id(array))
    if known is None or known[0]() is not array:
        key = id(array)
        known = _CHECKED[key] = (weakref.ref(array, lambda _: _CHECKED.pop(key, None)), set())
    return known[1]


def unpack_column(series: pd.Series, *, column: Hashable | None = None, in_place: bool = False) -> UnpackedColumn:
    """Decode a column of canonical bytes (Arrow binary, or objects), checking every cell's header.

    Messages call it `column`, by default the name of the series. Planes are views of the cells if `in_place`.

    Raises
    ------
    ValueError
        If a cell is not the canonical bytes of a graph; names the row and what was found.
    TypeError
        If the column holds anything but bytes.

    Notes
    -----
    The class that a cell declares is checked only as far as its bytes go (a dag has no undirected edge).
    `graph_column` checks it in full, and so does what relies on it, once a column.
    """
    column = series.name if column is None else column

    def where(row: int) -> str:
        return name_row(row, series.index, column)

    if is_packed(series):
        array = _arrow(series)
        return replace(unpack_array(array, where, in_place=in_place), checked=_checked_blocks(array))
    array = pa.array(_bytes_cells(series, where), type=pa.large_binary())
    return replace(unpack_array(array, where, in_place=in_place), checked=set())


def _bytes_cells(series: pd.Series, where: Where) -> list[bytes | None]:
    """Return the cells of an object column of bytes."""
    missing = series.isna().to_numpy()
    cells: list[bytes | None] = []
    for row, cell in enumerate(series.array):
        if missing[row]:
            cells.append(None)
        elif isinstance(cell, bytes):
            cells.append(cell)
        elif isinstance(cell, str) and TEXT_OF_OBJECT.match(cell):
            raise ValueError(f"{where(row)}: {explain_text(cell)}")
        else:
            raise TypeError(f"{where(row)}: expected packed bytes, found {type(cell).__name__}; use graph_column")
    return cells
