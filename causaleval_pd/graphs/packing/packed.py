"""Columns of canonical bytes: packing and unpacking."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...contract.checks import name_row
from ..edge_strings import TEXT_OF_OBJECT, explain_text
from ..kernels.planes import plane_words, row_chunks
from ..mixed.marks import count_edges
from .decode import Where, to_large_binary, unpack_array
from .header import TEXT_WORDS, cell_texts, names_header
from .unpacked import UnpackedColumn, group_rows

COLUMN_DTYPE = pd.ArrowDtype(pa.large_binary())

Rows = NDArray[np.int64]


@dataclass
class _Known:
    """What is known of an array that is alive: Arrow's memory does not change."""

    #: what ends it
    array: weakref.ref[pa.ChunkedArray]
    #: keys of its blocks whose classes were checked
    checked: set[tuple[int, int]] = field(default_factory=set)
    #: its graphs, where their planes stand in its own memory
    unpacked: UnpackedColumn | None = None


#: by the places of the chunks in memory: slices of a whole array, such as those that `concat` makes, are at the same
_KNOWN: dict[tuple[Any, ...], _Known] = {}


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
        plane_part = block.planes.shape[1] * plane_words(block.n_nodes)
        length[block.rows] = TEXT_WORDS + header_words[block.node_set] + plane_part
    offset = np.zeros(column.n_rows + 1, dtype=np.int64)
    np.cumsum(length, out=offset[1:])
    data = np.empty(offset[-1], dtype=np.uint64)
    for block in column.blocks:
        # among graphs with as many nodes and name words only the contents differ
        for size, chosen in group_rows(header_words[block.node_set]):
            position, sets = pd.factorize(block.node_set[chosen])
            table = np.stack([headers[i] for i in sets.tolist()])
            planes_at = TEXT_WORDS + size
            cell_words = planes_at + block.planes.shape[1] * plane_words(block.n_nodes)
            n_planes = np.uint64(block.planes.shape[1] << 24)
            for part in row_chunks(len(chosen), 16 * cell_words):
                some = _consecutive(chosen[part])
                planes, kinds = block.planes[some], block.kinds[some]
                start = offset[block.rows[some]]
                n = len(start)
                # cells that lie side by side are written where they belong
                together = start[-1] - start[0] == (n - 1) * cell_words
                place = data[start[0] : start[0] + n * cell_words] if together else np.empty(n * cell_words, np.uint64)
                cells = place.reshape(n, cell_words)
                cells[:, :TEXT_WORDS] = cell_texts(kinds, block.n_nodes, count_edges(planes))
                cells[:, TEXT_WORDS:planes_at] = table[position[part]] if len(table) > 1 else table
                cells[:, TEXT_WORDS] |= kinds.astype(np.uint64) << np.uint64(16) | n_planes
                cells[:, planes_at:] = planes.reshape(n, -1)
                if not together:
                    data[start[:, None] + np.arange(cell_words)] = cells
    valid = length > 0
    bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    buffers = [bitmap, pa.py_buffer(offset * 8), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_binary(), column.n_rows, buffers)
    packed = pd.Series(pd.array(array, dtype=COLUMN_DTYPE), index=index, name=name)
    _known(_arrow(packed)).checked.update(block.key for block in column.blocks)
    return packed


def _consecutive(positions: Rows) -> Rows | slice:
    """Return ascending positions as a slice, by which arrays are not copied, where they leave none out."""
    first, last = int(positions[0]), int(positions[-1])
    return slice(first, last + 1) if last - first == len(positions) - 1 else positions


def as_packed(series: pd.Series) -> pd.Series:
    """Return a packed column of another Arrow type as `COLUMN_DTYPE`."""
    if series.dtype == COLUMN_DTYPE:
        return series
    array = to_large_binary(_arrow(series))
    return pd.Series(pd.array(array, dtype=COLUMN_DTYPE), index=series.index, name=series.name)


def _arrow(series: pd.Series) -> pa.ChunkedArray:
    """Return the chunks of a packed column without a copy."""
    return series.array.__arrow_array__()


def _known(array: pa.ChunkedArray) -> _Known:
    """Return what is known of an array, remembered while it lives."""
    key = (array.type, *((part.offset, len(part), *map(_address, part.buffers())) for part in array.chunks))
    found = _KNOWN.get(key)
    if found is None or found.array() is None:
        found = _KNOWN[key] = _Known(weakref.ref(array, lambda _: _KNOWN.pop(key, None)))
    return found


def _address(buffer: pa.Buffer | None) -> int:
    return 0 if buffer is None else int(buffer.address)


def _unpack_known(array: pa.ChunkedArray, where: Where, in_place: bool) -> UnpackedColumn:
    """Decode an array, in place once while it lives."""
    known = _known(array)
    if in_place and known.unpacked is not None:
        return replace(known.unpacked)
    unpacked = replace(unpack_array(array, where, in_place=in_place), checked=known.checked)
    if in_place and array.num_chunks == 1 and len(unpacked.blocks) == 1:
        data, planes = array.chunk(0).buffers()[-1], unpacked.blocks[0].planes
        if data.address <= planes.ctypes.data < data.address + data.size:  # kept, a copy would take memory
            known.unpacked = replace(unpacked)
    return unpacked


def unpack_column(series: pd.Series, *, column: Hashable | None = None, in_place: bool = False) -> UnpackedColumn:
    """Decode a column of canonical bytes (Arrow binary, or objects), checking every cell's header.

    Messages call it `column`, by default the name of the series. Planes are views of the cells if `in_place`. The class
    that a cell declares is checked only as far as its bytes go (a dag has no undirected edge); `graph_column` checks it
    in full, and so does what relies on it, once per column.
    """
    column = series.name if column is None else column

    def where(row: int) -> str:
        return name_row(row, series.index, column)

    if is_packed(series):
        return _unpack_known(_arrow(series), where, in_place)
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
