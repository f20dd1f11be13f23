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
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
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
Words = NDArray[np.uint64]
Split = tuple[Words, NDArray[np.uint8], bool]


def unpack_array(array: pa.Array | pa.ChunkedArray, where: Where, *, in_place: bool = False) -> UnpackedColumn:
    """Decode an Arrow binary array; `where` names a row in messages. Planes may stay `in_place` in its buffer."""
    n_rows = len(array)
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else to_large_binary(array).combine_chunks()
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = to_large_binary(array)
    rows = np.arange(n_rows, dtype=np.int64)
    if array.null_count:
        # a null may own bytes; dropping it closes the gap
        rows, array = rows[array.is_valid().to_numpy(zero_copy_only=False)], array.drop_null()
    groups = group_rows(pc.binary_length(array).to_numpy())
    odd = [int(chosen[0]) for length, chosen in groups if length % 8 or length < 8 * (TEXT_WORDS + HEADER_WORDS)]
    if odd:
        at = min(odd)
        raise ValueError(
            f"{where(int(rows[at]))}: {not_a_graph(array[at].as_py())}; a cell has whole 64-bit words, at least seven"
        )
    blocks: list[Block] = []
    # graphs on the same nodes have cells of one length for each number of planes
    node_sets: dict[tuple[str, ...], int] = {}
    for length, chosen in groups:
        whole = len(groups) == 1
        cells = _words(array if whole else array.take(pa.array(chosen)), length)
        for block in _decode(cells, rows if whole else rows[chosen], where, node_sets):
            blocks.append(block if in_place else replace(block, planes=block.planes.copy()))
    return UnpackedColumn(n_rows, join_by_key(blocks), tuple(node_sets))


def to_large_binary(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Cast to 64-bit offsets."""
    try:
        return array.cast(pa.large_binary())
    except pa.ArrowNotImplementedError:  # older releases of pyarrow do not cast views
        flat = pa.array(array.to_pylist(), type=pa.large_binary())
        return pa.chunked_array([flat]) if isinstance(array, pa.ChunkedArray) else flat


def _words(array: pa.Array, length: int) -> NDArray[np.uint64]:
    """Return cells of one length in bytes as words, (n, words); a view where the buffer allows it."""
    _, offsets, data = array.buffers()
    dtype = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    first = int(np.frombuffer(offsets, dtype=dtype)[array.offset])
    raw = np.frombuffer(data, np.uint8)[first : first + length * len(array)]
    if raw.ctypes.data % 8:
        raw = raw.copy()
    return raw.view(np.uint64).reshape(len(array), -1)


def _decode(cells: Words, rows: Rows, where: Where, node_sets: dict[tuple[str, ...], int]) -> Iterator[Block]:
    """Yield cells of one length as blocks of as many nodes; `node_sets` numbers their nodes, and grows."""
    try:
        names, size = read_header(cells[0])
        planes, kinds, alike = _split_cells(cells, cells[:1], size, len(names))
    except ValueError:
        alike = False
    if alike:
        place = np.int64(node_sets.setdefault(names, len(node_sets)))
        yield Block(len(names), rows, planes, kinds, np.broadcast_to(place, len(rows)))
        return
    # with as many planes, their name parts have one length
    for _, chosen in group_rows((cells[:, TEXT_WORDS] >> np.uint64(24)).astype(np.int64)):
        some = cells[chosen]
        node_set, digests = pd.factorize(some[:, TEXT_WORDS + 1].copy())
        first = np.empty(len(digests), dtype=np.int64)
        first[node_set[::-1]] = np.arange(len(node_set))[::-1]
        try:
            headers = [read_header(cell) for cell in some[first]]
            size = headers[0][1]
            planes, kinds, alike = _split_cells(some, some[first, :size][node_set], size, len(headers[0][0]))
        except ValueError:
            alike = False
        if not alike:
            faults = ((row, _fault(cell)) for row, cell in zip(rows.tolist(), cells, strict=True))
            other = int(rows[chosen[0]]), "has the digest of other node names; the cell is damaged"
            row, fault = next((pair for pair in faults if pair[1]), other)
            raise ValueError(f"{where(row)}: {fault}")
        places = np.array([node_sets.setdefault(names, len(node_sets)) for names, _ in headers], dtype=np.int64)
        yield Block(len(headers[0][0]), rows[chosen], planes, kinds, places[node_set])


def _split_cells(cells: Words, like: Words, size: int, n_nodes: int) -> Split:
    """Return planes and class codes of cells, and whether all have the headers of `like`, their own or one for all."""
    words = plane_words(n_nodes)
    if len(like) == 1 and cells.shape[1] == size + planes_of_kind(DAG) * words:
        split: Split = kernels().split_cells(cells, TEXT_WORDS, size, words, padding_mask(n_nodes))
        return split
    planes = cells[:, size:].reshape(len(cells), -1, words)
    head = cells[:, TEXT_WORDS]
    kinds = ((head & CLASS_BITS) >> np.uint64(16)).astype(np.uint8)
    alike = (
        ((head ^ like[:, TEXT_WORDS]) & ~CLASS_BITS == 0).all()
        and (cells[:, TEXT_WORDS + 1 : size] == like[:, TEXT_WORDS + 1 : size]).all()
        and (_PLANES_OF_KIND[kinds] == planes.shape[1]).all()
        and not (planes[:, :, -1] & padding_mask(n_nodes)).any()
        and not _wrong_marks(planes, kinds).any()
    )
    return planes, kinds, bool(alike)


def _wrong_marks(planes: Words, kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which graphs have a lone mark, or an undirected edge in a dag or digraph."""
    if is_mixed(planes):
        return reserved(planes)
    return np.isin(kinds, (DAG, DIGRAPH)) & (planes[:, 0] & planes[:, 1]).any(axis=1)


def _fault(cell: NDArray[np.uint64]) -> str | None:
    """Return what is wrong with a cell of whole words, or None."""
    try:
        names, size = read_header(cell)
    except ValueError as fault:
        return str(fault)
    planes, kind = cell[size:].reshape(1, -1, plane_words(len(names))), int(cell[TEXT_WORDS]) >> 16 & 0xFF
    if (planes[:, :, -1] & padding_mask(len(names))).any():
        return "has bits set beyond its last pair of nodes; the cell is damaged"
    if not _wrong_marks(planes, np.array([kind])).any():
        return None
    lone = "has an edge with a mark at one end only; the cell is damaged"
    return lone if is_mixed(planes) else f"is declared a {KINDS[kind]} but has undirected edges"


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
    # by name, as pyarrow has the type of views, and its test, since 16
    names = ("binary", "large_binary", "fixed_size_binary")
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype).startswith(names)


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
    arrays: list[pa.Array] = []
    rows: list[Rows] = []
    for block in column.blocks:
        n_planes, n_words = block.planes.shape[1:]
        # among graphs with as many nodes and name words only the contents differ
        for size, chosen in group_rows(header_words[block.node_set]):
            position, sets = pd.factorize(block.node_set[chosen])
            table = np.stack([headers[i] for i in sets.tolist()])
            names_end = TEXT_WORDS + size
            cells = np.empty((len(chosen), names_end + n_planes * n_words), np.uint64)
            for part in row_chunks(len(chosen), 16 * cells.shape[1]):
                some = part if len(chosen) == len(block.rows) else chosen[part]
                planes, kinds, place = block.planes[some], block.kinds[some], cells[part]
                place[:, :TEXT_WORDS] = cell_texts(kinds, block.n_nodes, count_edges(planes))
                place[:, TEXT_WORDS:names_end] = table[position[part]] if len(table) > 1 else table
                place[:, TEXT_WORDS] |= kinds.astype(np.uint64) << np.uint64(16) | np.uint64(n_planes << 24)
                place[:, names_end:] = planes.reshape(len(planes), -1)
            offsets = np.arange(len(cells) + 1, dtype=np.int64) * cells[0].nbytes
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(cells)]
            arrays.append(pa.Array.from_buffers(pa.large_binary(), len(cells), buffers))
            rows.append(block.rows[chosen])
    if len(arrays) == 1 and len(arrays[0]) == column.n_rows:
        [array] = arrays
    else:
        at = np.full(column.n_rows, -1)
        at[np.concatenate([np.zeros(0, np.int64), *rows])] = np.arange(sum(map(len, rows)))
        array = pa.concat_arrays([pa.array([], pa.large_binary()), *arrays]).take(pa.array(at, mask=at < 0))
    packed = pd.Series(pd.array(array, dtype=COLUMN_DTYPE), index=index, name=name)
    _known(_arrow(packed)).checked.update(block.key for block in column.blocks)
    return packed


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
    """Decode a column of canonical bytes (Arrow binary, or objects); planes are views of the cells if `in_place`."""
    # a class that needs more than the bytes of a cell is checked by what relies on it, once per column: `misdeclared`
    where = partial(name_row, index=series.index, column=series.name if column is None else column)
    if not is_packed(series):
        series = pack_rows(series, _bytes_of, column)
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


def _bytes_of(row: int, cell: Any) -> bytes:
    """Return a cell of an object column, which must be bytes."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, str) and TEXT_OF_OBJECT.match(cell):
        raise ValueError(explain_text(cell))
    raise TypeError(f"expected packed bytes, found {type(cell).__name__}; use graph_column")


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
    joined = []
    for (n_nodes, _), group in groupby(sorted(blocks, key=lambda block: block.key), key=lambda block: block.key):
        whole, *others = parts = list(group)
        if others:
            names = ("rows", "planes", "kinds", "node_set")
            whole = Block(n_nodes, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))
            whole = whole.take(np.argsort(whole.rows))
        joined.append(whole)
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
    """Match blocks of two columns whose rows have the same nodes: both, their rows, and where these stand in either."""
    matched = []
    for block, other in product(truth.blocks, estimate.blocks):
        if block.n_nodes != other.n_nodes:
            continue
        if np.array_equal(block.rows, other.rows):
            index = np.arange(len(block.rows), dtype=np.int64)
            matched.append((block, other, block.rows, index, index))
            continue
        place = np.full(estimate.n_rows, -1, dtype=np.int64)
        place[other.rows] = np.arange(len(other.rows))
        position = place[block.rows]
        left = np.flatnonzero(position >= 0)
        if len(left):
            matched.append((block, other, block.rows[left], left, position[left]))
    return matched
