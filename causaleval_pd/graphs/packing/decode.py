"""Decode and check packed cells in bulk: from Arrow buffers to blocks, without a Python loop over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..kernels import kernels
from ..kernels.planes import (
    CLASS_BITS,
    DAG,
    DIGRAPH,
    KINDS,
    N_PLANES,
    PLAIN_KINDS,
    padding_mask,
    plane_words,
    planes_of_kind,
    row_chunks,
)
from ..mixed.marks import is_mixed, reserved
from .header import HEADER_WORDS, TEXT_WORDS, not_a_graph, read_header
from .unpacked import Block, UnpackedColumn, all_rows, group_rows, join_by_key

_FEW = 8  # up to this many words, a strided pass each is faster than one pass along the rows
_PLANES_OF_KIND = np.array([planes_of_kind(kind) for kind in range(len(KINDS))])
_BOUND_BYTES = 512  # a row, so that some thousands of differences are taken at a time

Where = Callable[[int], str]
Decoded = tuple[tuple[Block, ...], tuple[tuple[str, ...], ...]]


def unpack_array(array: pa.Array | pa.ChunkedArray, where: Where, *, in_place: bool = False) -> UnpackedColumn:
    """Decode an Arrow binary array; `where` names a row in messages. Planes may stay `in_place` in its buffer."""
    n_rows = len(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else to_large_binary(array).combine_chunks()
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = to_large_binary(array)
    rows = all_rows(n_rows)
    if array.null_count:
        rows = rows[array.is_valid().to_numpy(zero_copy_only=False)]
    if not len(rows):
        return UnpackedColumn(n_rows, (), ())
    words, length = _cell_words(array, rows, where)
    if isinstance(length, int):
        cells = words.reshape(len(rows), length)
        return UnpackedColumn(n_rows, *(_one_node_set(cells, rows, in_place) or _many_node_sets(cells, rows, where)))
    start = np.cumsum(length) - length
    found: list[Block] = []
    # graphs on the same nodes have cells of one length for each number of planes
    node_sets: dict[tuple[str, ...], int] = {}
    for cell_words, chosen in group_rows(length):
        cells = _cell_matrix(words, start[chosen], cell_words)
        here = rows[chosen]
        blocks, names = _one_node_set(cells, here, in_place) or _many_node_sets(cells, here, where)
        place = np.array([node_sets.setdefault(one, len(node_sets)) for one in names], dtype=np.int64)
        found += [replace(block, node_set=place[block.node_set]) for block in blocks]
    return UnpackedColumn(n_rows, join_by_key(found), tuple(node_sets))


def to_large_binary(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Cast to 64-bit offsets."""
    try:
        return array.cast(pa.large_binary())
    except pa.ArrowNotImplementedError:  # older releases of pyarrow do not cast views
        flat = pa.array(array.to_pylist(), type=pa.large_binary())
        return pa.chunked_array([flat]) if isinstance(array, pa.ChunkedArray) else flat


def _cell_words(
    array: pa.Array, rows: NDArray[np.int64], where: Where
) -> tuple[NDArray[np.uint64], int | NDArray[np.int64]]:
    """Return present cells in a row as words, a view where buffers allow it, and their lengths, one if all equal."""
    if array.null_count:
        # a null may own bytes; dropping it closes the gap
        array = array.drop_null()
    _, offsets, data = array.buffers()
    dtype = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    bounds = np.frombuffer(offsets, dtype=dtype)[array.offset : array.offset + len(array) + 1]
    even = _evenly_spaced(bounds)
    length = np.diff(bounds[:2] if even else bounds).astype(np.int64, copy=False)
    bad = (length & 7 != 0) | (length < 8 * (TEXT_WORDS + HEADER_WORDS))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            f"{where(int(rows[at]))}: {not_a_graph(array[at].as_py())}; a cell has whole 64-bit words, at least seven"
        )
    raw = np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]
    if raw.ctypes.data % 8:
        raw = raw.copy()
    return raw.view(np.uint64), int(length[0]) >> 3 if even else length >> 3


def _evenly_spaced(bounds: NDArray[Any]) -> bool:
    """Return whether successive numbers all differ by as much; some at a time, whose differences stay in the cache."""
    step = bounds[1] - bounds[0]
    return all(
        (bounds[part.start + 1 : part.stop + 1] - bounds[part] == step).all()
        for part in row_chunks(len(bounds) - 1, _BOUND_BYTES)
    )


def _cell_matrix(words: NDArray[np.uint64], start: NDArray[np.int64], cell_words: int) -> NDArray[np.uint64]:
    """Return the cells of one length, (n, cell_words); a view where they follow one another."""
    n = len(start)
    if start[-1] - start[0] == (n - 1) * cell_words:
        return words[start[0] : start[0] + n * cell_words].reshape(n, cell_words)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(words, cell_words)[start])


def _one_node_set(cells: NDArray[np.uint64], rows: NDArray[np.int64], in_place: bool) -> Decoded | None:
    """Decode cells that all have the first one's nodes; None if they do not or one is faulty."""
    try:
        names, size = read_header(cells[0])
    except ValueError:
        return None
    n_nodes = len(names)
    words, padding = plane_words(n_nodes), padding_mask(n_nodes)
    if cells.shape[1] == size + N_PLANES * words:
        planes, kinds, alike = kernels().split_cells(cells, TEXT_WORDS, size, words, padding)
    else:
        planes, kinds, alike = _split_mixed_cells(cells, size, words, padding)
    if not alike:
        return None
    if not in_place:
        planes = planes.copy()
    return (Block(n_nodes, rows, planes, kinds, np.broadcast_to(np.int64(0), len(cells))),), (names,)


def _split_mixed_cells(
    cells: NDArray[np.uint64], size: int, words: int, padding: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.uint8], bool]:
    """Take cells of mixed graphs apart, as the kernel `split_cells` does those of other graphs."""
    planes = cells[:, size:].reshape(len(cells), -1, words)
    head = cells[:, TEXT_WORDS]
    kinds = ((head & CLASS_BITS) >> np.uint64(16)).astype(np.uint8)
    alike = bool(
        ((head ^ head[0]) & ~CLASS_BITS == 0).all()
        and (cells[:, TEXT_WORDS + 1 : size] == cells[0, TEXT_WORDS + 1 : size]).all()
        and ((kinds >= len(PLAIN_KINDS)) & (kinds < len(KINDS))).all()
        and not (planes[:, :, -1] & padding).any()
        and not reserved(planes).any()
    )
    return planes, kinds, alike


def _many_node_sets(cells: NDArray[np.uint64], rows: NDArray[np.int64], where: Where) -> Decoded:
    """Decode cells of one length and any node sets; a faulty cell is an error."""

    def refuse(at: int, fault: str) -> ValueError:
        return ValueError(f"{where(int(rows[at]))}: {fault}")

    def header(at: int) -> tuple[tuple[str, ...], int]:
        try:
            return read_header(cells[at])
        except ValueError as fault:
            raise refuse(at, str(fault)) from None

    node_set, _ = pd.factorize(cells[:, TEXT_WORDS + 1].copy())
    first = np.empty(int(node_set.max()) + 1, dtype=np.int64)
    first[node_set[::-1]] = np.arange(len(node_set))[::-1]
    headers = [header(at) for at in first.tolist()]
    # each cell must have the header of the first one with its digest
    like = first[node_set]
    head, name_bytes = cells[:, TEXT_WORDS].copy(), cells[:, TEXT_WORDS + 2].copy()
    kinds = ((head & CLASS_BITS) >> np.uint64(16)).astype(np.uint8)
    n_planes = ((head >> np.uint64(24)) & np.uint64(0xFF)).astype(np.int64)
    differing = ((head ^ head[like]) & ~CLASS_BITS != 0) | (name_bytes != name_bytes[like]) | (kinds >= len(KINDS))
    differing |= _PLANES_OF_KIND[np.minimum(kinds, len(KINDS) - 1)] != n_planes
    sizes = np.array([size for _, size in headers], dtype=np.int64)[node_set]
    for size, chosen in group_rows(sizes):
        for part in row_chunks(len(chosen), 16 * size):
            some = chosen[part]
            unlike = (
                cells[some, TEXT_WORDS + HEADER_WORDS : size] != cells[like[some], TEXT_WORDS + HEADER_WORDS : size]
            )
            differing[some] |= unlike.any(axis=1)
    if differing.any():
        at = int(differing.argmax())
        header(at)
        raise refuse(at, "has the digest of other node names; the cell is damaged")
    blocks = []
    for key, chosen in group_rows((head >> np.uint64(24)).astype(np.int64)):
        # cells of one length on as many nodes, with as many planes, have name parts of one length
        n_nodes = key >> 8
        flat = np.ascontiguousarray(cells[chosen, sizes[chosen[0]] :])
        planes = flat.reshape(len(chosen), -1, plane_words(n_nodes))
        padded = (planes[:, :, -1] & padding_mask(n_nodes)).any(axis=1)
        if padded.any():
            raise refuse(chosen[padded.argmax()], "has bits set beyond its last pair of nodes; the cell is damaged")
        if is_mixed(planes):
            unknown = reserved(planes)
            if unknown.any():
                raise refuse(chosen[unknown.argmax()], "has an edge with a mark at one end only; the cell is damaged")
        else:
            undirected = _undirected(flat, kinds[chosen])
            if undirected.any():
                at = chosen[undirected.argmax()]
                raise refuse(at, f"is declared a {KINDS[kinds[at]]} but has undirected edges")
        blocks.append(Block(n_nodes, rows[chosen], planes, kinds[chosen], node_set[chosen].astype(np.int64)))
    return tuple(blocks), tuple(names for names, _ in headers)


def _undirected(planes: NDArray[np.uint64], kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which graphs, planes (n, 2 * W), are declared fully directed although an edge has both marks."""
    words = planes.shape[1] // N_PLANES
    if words > _FEW:
        both = (planes[:, :words] & planes[:, words:]).any(axis=1)
    else:
        both = np.zeros(len(planes), dtype=np.bool_)
        for j in range(words):
            both |= planes[:, j] & planes[:, words + j] != 0
    return np.asarray(both & ((kinds == DAG) | (kinds == DIGRAPH)))
