"""The canonical bytes of graphs: packed cells are written, read and checked in bulk, and kept unpacked.

A cell is a sequence of little-endian 64-bit words: equal graphs have equal bytes, different graphs never do.

========= ====================================================================================================
words 0-3 text for readers of printed tables: class, numbers of nodes and of edges (`cell_text`)
word 4    byte 0 magic 0xCE, byte 1 version 2, byte 2 class code, byte 3 number of planes, bytes 4-7 n_nodes
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-7 zero
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    the pair planes, two or four by class, bits of no pair being zero
========= ====================================================================================================

Cells become blocks of graphs by number of nodes from Arrow's buffers, without a Python loop over rows.
"""

from __future__ import annotations

import hashlib
import operator
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.cells import COLUMN_DTYPE, CellFormat, format_of, pack_rows, register_cell_format
from ..contract.checks import alike, explain_alike, face, name_row
from .edge_strings import MADE_BY, TEXT_OF_OBJECT, explain_text
from .kernels import kernels
from .kernels.planes import CLASS_BITS, DAG, DIGRAPH, KINDS, padding_mask, plane_words, planes_of_kind, row_chunks
from .mixed.marks import count_edges, is_mixed, reserved

Rows = NDArray[np.int64]

MAGIC, VERSION, HEADER_WORDS = 0xCE, 2, 3
MAX_NODES = 20_000
#: how to make graphs of other packed cells
_AS_GRAPHS = {
    "a packed lagged graph": "; this is a lagged graph: take a view of it, as column.lagged.summary()",
    "packed scores": "; these are scores of edges: make graphs of them, as column.score.threshold(0.5), or use "
    "metrics of scores",
}
TEXT_WORDS = 4
FORMAT = register_cell_format(CellFormat("a packed graph", MAGIC, 8 * TEXT_WORDS, *MADE_BY))


def cell_text(kind: int, n_nodes: int, n_edges: int) -> bytes:
    """Return the text of one cell, filled up with blanks; the number of edges is left out where it does not fit."""
    return FORMAT.line(KINDS[kind], f"{n_nodes} node{'s' * (n_nodes != 1)}", f"{n_edges} edge{'s' * (n_edges != 1)}")


def cell_texts(kinds: NDArray[np.uint8], n_nodes: int, n_edges: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the texts of cells as words, (N, 4)."""
    code, distinct = pd.factorize(n_edges * len(KINDS) + kinds)
    graphs = zip((distinct % len(KINDS)).tolist(), (distinct // len(KINDS)).tolist(), strict=True)
    texts = b"".join(cell_text(kind, n_nodes, edges) for kind, edges in graphs)
    return np.frombuffer(texts, np.uint64).reshape(-1, TEXT_WORDS)[code]


def check_names(names: Sequence[str]) -> str | None:
    """Return the fault of node names, which must be valid and in code-point order, or None."""
    if len(names) > MAX_NODES:
        return f"has {len(names)} nodes; at most {MAX_NODES} are supported"
    text = "\0".join(names)
    if "" in names or text.count("\0") >= max(1, len(names)):
        return f"has the node name {next(x for x in names if not x or chr(0) in x)!r}; names are not empty, without NUL"
    if not all(map(operator.lt, names, names[1:])):
        name, following = next(pair for pair in pairwise(names) if not pair[0] < pair[1])
        if name == following:
            return f"has the node name {name!r} twice; names must be unique"
        return f"has its nodes out of code-point order ({name!r} before {following!r})"
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"has a node name with {text[error.start]!r}, which is not valid Unicode text"
    return _unclear(names)


def _unclear(names: Sequence[str]) -> str | None:
    """Return the fault of names of which nothing shows, or two look alike."""
    hidden = next((name for name in names if not face(name)), None)
    if hidden is not None:
        return f"has the node name {hidden!a}, of which nothing shows; give it a name"
    pair = alike(names)
    if pair is not None:
        return f"has two nodes that may be one: {explain_alike(*pair)}; give them one name, or names that differ"
    return None


def names_header(names: Sequence[str]) -> NDArray[np.uint64]:
    """Return the header and name words of a node set, class code and number of planes zero."""
    blob = "\0".join(names).encode()
    words = np.zeros(HEADER_WORDS + (len(blob) + 7) // 8, dtype=np.uint64)
    words[0] = MAGIC | VERSION << 8 | len(names) << 32
    words[1] = int.from_bytes(_digest(blob), "little")
    words[2] = len(blob)
    words.view(np.uint8)[8 * HEADER_WORDS : 8 * HEADER_WORDS + len(blob)] = np.frombuffer(blob, dtype=np.uint8)
    return words


def _digest(blob: bytes) -> bytes:
    return hashlib.blake2b(blob, digest_size=8).digest()


def pack_cell(names: Sequence[str], kind: int, planes: NDArray[np.uint64]) -> bytes:
    """Return the canonical bytes of one graph: names in code-point order, class code, planes (2 or 4, W)."""
    words = np.concatenate([names_header(names), planes.reshape(-1)])
    words[0] |= np.uint64(kind << 16 | len(planes) << 24)
    return cell_text(kind, len(names), int(count_edges(planes[None])[0])) + words.tobytes()


def contents(raw: bytes) -> bytes:
    """Return the bytes by which a graph is identified: without its text and version."""
    return bytes([MAGIC, 1]) + raw[8 * TEXT_WORDS + 2 :]


def not_a_graph(raw: bytes) -> str:
    """Return a message for bytes that are not a packed graph."""
    other = format_of(raw)
    mend = "" if other is None else _AS_GRAPHS.get(other.noun, "")
    return FORMAT.explain(raw) + mend


def read_header(whole: NDArray[np.uint64]) -> tuple[tuple[str, ...], int]:
    """Return node names and number of words before the planes; raise a ValueError for a faulty cell."""
    cell = whole[TEXT_WORDS:]
    raw = cell.tobytes()
    if len(cell) < HEADER_WORDS or raw[0] != MAGIC:
        raise ValueError(f"{not_a_graph(whole.tobytes())} (these start with a line such as 'dag, 3 nodes, 2 edges')")
    if raw[1] != VERSION:
        raise ValueError(f"found a packed graph of format version {raw[1]}; this release reads version {VERSION}")
    if raw[2] >= len(KINDS):
        raise ValueError(f"found class code {raw[2]}; known are 0 to {len(KINDS) - 1} for {', '.join(KINDS)}")
    n_planes = planes_of_kind(raw[2])
    if raw[3] != n_planes:
        raise ValueError(f"found {raw[3]} planes of marks; graphs of class {KINDS[raw[2]]} have {n_planes}")
    n_nodes, n_bytes = int(cell[0]) >> 32, int(cell[2])
    if n_nodes > MAX_NODES:
        raise ValueError(f"has {n_nodes} nodes; at most {MAX_NODES} are supported")
    size = HEADER_WORDS + (n_bytes + 7) // 8
    if len(cell) != size + n_planes * plane_words(n_nodes):
        raise ValueError(
            f"found {8 * len(whole)} bytes, but a graph of {n_nodes} nodes with {n_bytes} bytes of names has "
            f"{8 * (TEXT_WORDS + size + n_planes * plane_words(n_nodes))}; the cell is damaged"
        )
    filled = raw[8 * HEADER_WORDS : 8 * size]
    blob = filled[:n_bytes]
    if _digest(blob) != raw[8:16] or filled[n_bytes:].strip(b"\0"):
        raise ValueError("its node names do not match their digest; the cell is damaged")
    return read_names(blob, n_nodes), TEXT_WORDS + size


def read_names(blob: bytes, n_nodes: int) -> tuple[str, ...]:
    """Return the names of a cell's nodes; raise a ValueError for faulty ones."""
    try:
        names = tuple(blob.decode().split("\0")) if blob else ()
    except UnicodeDecodeError:
        raise ValueError("its node names are not UTF-8; the cell is damaged") from None
    if len(names) != n_nodes:
        raise ValueError(f"has {n_nodes} nodes but {len(names)} names; the cell is damaged")
    fault = check_names(names)
    if fault:
        raise ValueError(fault)
    return names


#: of every code of a class; 0 of unknown ones
_PLANES_OF_KIND = np.array([planes_of_kind(code) if code < len(KINDS) else 0 for code in range(256)])

Where = Callable[[int], str]
Decoded = tuple[tuple["Block", ...], tuple[tuple[str, ...], ...]]


def unpack_array(array: pa.Array | pa.ChunkedArray, where: Where, *, in_place: bool = False) -> UnpackedColumn:
    """Decode an Arrow binary array; `where` names a row in messages. Planes may stay `in_place` in its buffer."""
    n_rows = len(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else to_large_binary(array).combine_chunks()
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = to_large_binary(array)
    rows = np.arange(n_rows, dtype=np.int64)
    if array.null_count:
        rows = rows[array.is_valid().to_numpy(zero_copy_only=False)]
    if not len(rows):
        return UnpackedColumn(n_rows, (), ())
    words, length = _cell_words(array, rows, where)
    if len(length) == 1:
        return UnpackedColumn(n_rows, *_decode(words.reshape(len(rows), length[0]), rows, where, in_place))
    start = np.cumsum(length) - length
    all_blocks: list[Block] = []
    # graphs on the same nodes have cells of one length for each number of planes
    node_sets: dict[tuple[str, ...], int] = {}
    for cell_words, chosen in group_rows(length):
        blocks, names = _decode(_cell_matrix(words, start[chosen], cell_words), rows[chosen], where, in_place)
        place = np.array([node_sets.setdefault(one, len(node_sets)) for one in names], dtype=np.int64)
        all_blocks += [replace(block, node_set=place[block.node_set]) for block in blocks]
    return UnpackedColumn(n_rows, join_by_key(all_blocks), tuple(node_sets))


def to_large_binary(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Cast to 64-bit offsets."""
    try:
        return array.cast(pa.large_binary())
    except pa.ArrowNotImplementedError:  # older releases of pyarrow do not cast views
        flat = pa.array(array.to_pylist(), type=pa.large_binary())
        return pa.chunked_array([flat]) if isinstance(array, pa.ChunkedArray) else flat


def _cell_words(array: pa.Array, rows: Rows, where: Where) -> tuple[NDArray[np.uint64], Rows]:
    """Return present cells in a row as words, a view where buffers allow it, and their lengths, one if all equal."""
    if array.null_count:
        # a null may own bytes; dropping it closes the gap
        array = array.drop_null()
    _, offsets, data = array.buffers()
    dtype = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    bounds = np.frombuffer(offsets, dtype=dtype)[array.offset : array.offset + len(array) + 1]
    length = np.diff(bounds)
    length = (length[:1] if (length == length[0]).all() else length).astype(np.int64, copy=False)
    bad = (length & 7 != 0) | (length < 8 * (TEXT_WORDS + HEADER_WORDS))
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(
            f"{where(int(rows[at]))}: {not_a_graph(array[at].as_py())}; a cell has whole 64-bit words, at least seven"
        )
    raw = np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]
    if raw.ctypes.data % 8:
        raw = raw.copy()
    return raw.view(np.uint64), length >> 3


def _cell_matrix(words: NDArray[np.uint64], start: NDArray[np.int64], cell_words: int) -> NDArray[np.uint64]:
    """Return the cells of one length, (n, cell_words); a view where they follow one another."""
    n = len(start)
    if start[-1] - start[0] == (n - 1) * cell_words:
        return words[start[0] : start[0] + n * cell_words].reshape(n, cell_words)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(words, cell_words)[start])


def _decode(cells: NDArray[np.uint64], rows: Rows, where: Where, in_place: bool) -> Decoded:
    """Decode cells of one length."""
    return _one_node_set(cells, rows, in_place) or _many_node_sets(cells, rows, where)


def _one_node_set(cells: NDArray[np.uint64], rows: Rows, in_place: bool) -> Decoded | None:
    """Decode cells that all have the first one's nodes; None if they do not or one is faulty."""
    try:
        names, size = read_header(cells[0])
    except ValueError:
        return None
    n_nodes = len(names)
    words, padding = plane_words(n_nodes), padding_mask(n_nodes)
    if cells.shape[1] == size + planes_of_kind(DAG) * words:
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
        and (_PLANES_OF_KIND[kinds] == planes.shape[1]).all()
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
    # each cell must have the header of the first one with its digest, but for the class
    like, head = first[node_set], cells[:, TEXT_WORDS].copy()
    kinds = ((head & CLASS_BITS) >> np.uint64(16)).astype(np.uint8)
    differing = _PLANES_OF_KIND[kinds] != ((head >> np.uint64(24)) & np.uint64(0xFF)).astype(np.int64)
    sizes = np.array([size for _, size in headers], dtype=np.int64)[node_set]
    for size, chosen in group_rows(sizes):
        for part in row_chunks(len(chosen), 16 * size):
            some = chosen[part]
            unlike = cells[some, TEXT_WORDS:size] ^ cells[like[some], TEXT_WORDS:size]
            unlike[:, 0] &= ~CLASS_BITS
            differing[some] |= unlike.any(axis=1)
    if differing.any():
        at = int(differing.argmax())
        header(at)
        raise refuse(at, "has the digest of other node names; the cell is damaged")
    blocks = []
    for key, chosen in group_rows((head >> np.uint64(24)).astype(np.int64)):
        # cells of one length on as many nodes, with as many planes, have name parts of one length
        n_nodes = key >> 8
        planes = np.ascontiguousarray(cells[chosen, sizes[chosen[0]] :]).reshape(len(chosen), -1, plane_words(n_nodes))
        padded = (planes[:, :, -1] & padding_mask(n_nodes)).any(axis=1)
        faults = {"has bits set beyond its last pair of nodes; the cell is damaged": padded}
        if is_mixed(planes):
            faults["has an edge with a mark at one end only; the cell is damaged"] = reserved(planes)
        else:
            undirected = (planes[:, 0] & planes[:, 1]).any(axis=1)
            for kind in (DAG, DIGRAPH):
                faults[f"is declared a {KINDS[kind]} but has undirected edges"] = undirected & (kinds[chosen] == kind)
        for fault, wrong in faults.items():
            if wrong.any():
                raise refuse(chosen[wrong.argmax()], fault)
        blocks.append(Block(n_nodes, rows[chosen], planes, kinds[chosen], node_set[chosen].astype(np.int64)))
    return tuple(blocks), tuple(names for names, _ in headers)


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
    # by name, as pyarrow has the type of views, and its test, since 16
    return str(dtype.pyarrow_dtype).startswith(("binary", "large_binary", "fixed_size_binary"))


def holds_cells(series: pd.Series, of: CellFormat, is_one: Callable[[Any], bool] = lambda cell: False) -> bool:
    """Check by its first cell whether a column has packed cells of a format, or others of which `is_one` holds."""
    packed = is_packed(series)
    if not (packed or series.dtype == object or pd.api.types.is_string_dtype(series.dtype)):
        return False
    known = np.flatnonzero(series.notna().to_numpy(bool))
    if not len(known):
        return packed
    first = series.iloc[int(known[0])]
    return of.holds(first) or is_one(first)


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


def coerce_cells(series: pd.Series, pack: Callable[[int, Any], bytes], column: Hashable | None = None) -> pd.Series:
    """Return a column of a user's table as packed cells: `pack(row, cell)` packs those that are not."""
    return as_packed(series) if is_packed(series) else pack_rows(series, pack, column)


def _arrow(series: pd.Series) -> pa.ChunkedArray:
    """Return the chunks of a packed column without a copy."""
    return series.array.__arrow_array__()


def _known(array: pa.ChunkedArray) -> _Known:
    """Return what is known of an array, remembered while it lives."""
    places = [[None if buffer is None else buffer.address for buffer in part.buffers()] for part in array.chunks]
    key = (array.type, *((part.offset, len(part), *at) for part, at in zip(array.chunks, places, strict=True)))
    entry = _KNOWN.get(key)
    if entry is None or entry.array() is None:
        entry = _KNOWN[key] = _Known(weakref.ref(array, lambda _: _KNOWN.pop(key, None)))
    return entry


def unpack_column(series: pd.Series, *, column: Hashable | None = None, in_place: bool = False) -> UnpackedColumn:
    """Decode a column of canonical bytes (Arrow binary, or objects), checking every cell's header.

    Messages call it `column`, by default the name of the series. Planes are views of the cells if `in_place`. The class
    that a cell declares is checked only as far as its bytes go (a dag has no undirected edge); `graph_column` checks it
    in full, and so does what relies on it, once per column.
    """
    where = partial(name_row, index=series.index, column=series.name if column is None else column)
    if not is_packed(series):
        cells = pa.array(_bytes_cells(series, where), type=pa.large_binary())
        return replace(unpack_array(cells, where, in_place=in_place), checked=set())
    array = _arrow(series)
    known = _known(array)
    if in_place and known.unpacked is not None:
        return replace(known.unpacked)
    unpacked = replace(unpack_array(array, where, in_place=in_place), checked=known.checked)
    if in_place and array.num_chunks == 1 and len(unpacked.blocks) == 1:
        data, planes = array.chunk(0).buffers()[-1], unpacked.blocks[0].planes
        if data.address <= planes.ctypes.data < data.address + data.size:  # kept, a copy would take memory
            known.unpacked = replace(unpacked)
    return unpacked


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


@dataclass(frozen=True, eq=False)
class Block:
    """The graphs of a column that have the same number of nodes, and of planes."""

    #: number of nodes d
    n_nodes: int
    #: (n,): positions in the column, ascending
    rows: NDArray[np.int64]
    #: (n, 2, W), or (n, 4, W) of mixed graphs: pair planes, contiguous and the block's own unless unpacked in place
    planes: NDArray[np.uint64]
    #: (n,): position of each graph's class in `KINDS`
    kinds: NDArray[np.uint8]
    #: (n,): position of each graph's nodes in the column's `node_sets`
    node_set: NDArray[np.int64]

    @property
    def key(self) -> tuple[int, int]:
        """Numbers of nodes and of planes."""
        return self.n_nodes, self.planes.shape[1]

    def take(self, at: NDArray[np.int64]) -> Block:
        """Return the graphs at some positions of the block."""
        return Block(self.n_nodes, self.rows[at], self.planes[at], self.kinds[at], self.node_set[at])


def join_by_key(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Join the blocks with as many nodes and planes, ascending in these numbers."""
    by_key: dict[tuple[int, int], list[Block]] = {}
    for block in blocks:
        by_key.setdefault(block.key, []).append(block)
    joined: list[Block] = []
    for (n_nodes, _), parts in sorted(by_key.items(), key=operator.itemgetter(0)):
        names = ("rows", "planes", "kinds", "node_set")
        if len(parts) == 1:
            joined += parts
        else:
            whole = Block(n_nodes, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))
            joined.append(whole.take(np.argsort(whole.rows)))
    return tuple(joined)


@dataclass(frozen=True, eq=False)
class UnpackedColumn:
    """A decoded column: blocks by numbers of nodes and planes; a row in no block is missing."""

    #: length of the column
    n_rows: int
    #: ascending in `key`
    blocks: tuple[Block, ...]
    #: the distinct node sets, names in code-point order
    node_sets: tuple[tuple[str, ...], ...]
    #: keys of blocks that were checked to hold the classes that their cells declare; None: all hold
    checked: set[tuple[int, int]] | None = None

    @cached_property
    def row_node_set(self) -> NDArray[np.int64]:
        """Position of each row's nodes in `node_sets`, -1 for a missing row."""
        positions = np.full(self.n_rows, -1, dtype=np.int64)
        for block in self.blocks:
            positions[block.rows] = block.node_set
        return positions

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows hold no graph."""
        return self.row_node_set < 0

    def scatter(self, values: Sequence[NDArray[Any]], fill: Any, dtype: Any) -> NDArray[Any]:
        """Lay one array per block (one value per graph) out along the rows, `fill` where a graph is missing."""
        out = np.full(self.n_rows, fill, dtype=dtype)
        for block, part in zip(self.blocks, values, strict=True):
            out[block.rows] = part
        return out


def group_rows(values: NDArray[np.int64]) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the distinct values, ascending, each with the ascending positions where it stands."""
    if len(values) and (values == values[0]).all():
        return [(int(values[0]), np.arange(len(values), dtype=np.int64))]
    order = np.argsort(values, kind="stable")
    cuts = np.flatnonzero(np.diff(values[order])) + 1
    return [(int(values[part[0]]), part) for part in np.split(order, cuts) if len(part)]


def first_other_nodes(truth: UnpackedColumn, estimate: UnpackedColumn) -> int | None:
    """Return the first row where both columns have a graph but on different nodes, or None."""
    if len(truth.node_sets) == len(estimate.node_sets) == 1 and truth.node_sets == estimate.node_sets:
        return None
    known: dict[tuple[str, ...], int] = {}
    number = [
        np.array([known.setdefault(names, len(known)) for names in side.node_sets] + [-1], dtype=np.int64)
        for side in (truth, estimate)
    ]
    left, right = number[0][truth.row_node_set], number[1][estimate.row_node_set]
    other = (left != right) & (left >= 0) & (right >= 0)
    return int(other.argmax()) if other.any() else None


def shared_rows(
    truth: UnpackedColumn, estimate: UnpackedColumn
) -> list[tuple[Block, Block, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Match the blocks of two columns of equal length whose rows have the same nodes.

    Each item holds the two blocks, the rows where both have a graph, and where these stand in either block.
    """
    by_size: dict[int, list[tuple[int, Block]]] = {}
    for number, other in enumerate(estimate.blocks):
        by_size.setdefault(other.n_nodes, []).append((number, other))
    matched, owner = [], None
    for block in truth.blocks:
        for number, other in by_size.get(block.n_nodes, []):
            whole = len(block.rows) == truth.n_rows
            if (whole and len(other.rows) == truth.n_rows) or np.array_equal(block.rows, other.rows):
                # where a block holds every row, its positions are the rows
                index = block.rows if whole else np.arange(len(block.rows), dtype=np.int64)
                matched.append((block, other, block.rows, index, index))
                continue
            if owner is None:
                owner, position = np.full((2, estimate.n_rows), -1, dtype=np.int64)
                for k, one in enumerate(estimate.blocks):
                    owner[one.rows], position[one.rows] = k, np.arange(len(one.rows))
            left = np.flatnonzero(owner[block.rows] == number)
            if len(left):
                rows = block.rows[left]
                matched.append((block, other, rows, left, position[rows]))
    return matched
