"""The canonical bytes of one matrix of edge scores: a line of text, header, node names, planes of numbers.

A cell is a sequence of little-endian 64-bit words; equal scores have equal bytes.

========= ====================================================================================================
words 0-3 text for readers of printed tables: kind, number of nodes, whether symmetric
word 4    byte 0 magic 0xCB, byte 1 version 1, byte 2 kind code, byte 3 number of planes, bytes 4-7 n_nodes
word 5    BLAKE2b digest (8 bytes) of the names
word 6    bytes 0-3 length of the names in bytes, bytes 4-7 flags: 1 symmetric, 2 rounded to float32
names     UTF-8 names in code-point order joined by NUL, filled up with zero bytes to whole words
planes    float64, plane after plane, each d x d along its rows: source, then target; NaN is not scored
========= ====================================================================================================

A cell of one plane holds a score of every ordered pair. A cell of kind "types" holds probabilities of the types of edge
of a pair, as ensembles of graphs give them: plane 0 p(i -> j), plane 1 p(i -- j), plane 2, if any, p(i <-> j).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...contract.cells import CellFormat, register_cell_format
from ...contract.checks import name_row
from ...graphs.packing.header import HEADER_WORDS, MAX_NODES, TEXT_WORDS, check_names, names_header
from ...graphs.packing.packed import COLUMN_DTYPE, is_packed

MAGIC, VERSION = 0xCB, 1
#: what scores are: ranked by size, by magnitude, probabilities, and probabilities of types of edge
KINDS = ("score", "weight", "probability", "types")
SCORE, WEIGHT, PROBABILITY, TYPES = range(len(KINDS))
#: the first words of a cell, by kind
_WORDS = ("scores", "weights", "probabilities", "edge types")
#: planes of cells of types: directed and undirected edges, and bidirected ones
TYPE_PLANES = ("directed", "undirected", "bidirected")
SYMMETRIC, SINGLE = 1, 2
#: bytes of the line of text
_TEXT = 8 * TEXT_WORDS
FORMAT = register_cell_format(CellFormat("packed scores", MAGIC, _TEXT))

Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """One decoded cell."""

    #: names in code-point order
    nodes: tuple[str, ...]
    #: (planes, d, d)
    planes: Floats
    #: position in `KINDS`
    kind: int
    #: `SYMMETRIC` and `SINGLE`
    flags: int


@dataclass(frozen=True, eq=False)
class ScoreBatch:
    """Scores of matrices with as many nodes and planes."""

    #: number of nodes d
    n_nodes: int
    #: (N, planes, d, d)
    planes: Floats
    #: (N,): position in `KINDS`
    kinds: NDArray[np.uint8]
    #: (N,): whether scores are of unordered pairs, and whether they were rounded to float32
    symmetric: NDArray[np.bool_]
    single: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.planes)

    @cached_property
    def values(self) -> Floats:
        """Scores of ordered pairs, (N, d, d): of types, p(i -> j) + p(i -- j) / 2."""
        if self.planes.shape[1] == 1:
            return self.planes[:, 0]
        return np.ascontiguousarray(self.planes[:, 0] + self.planes[:, 1] / 2)

    def take(self, at: NDArray[Any]) -> ScoreBatch:
        """Return the matrices at some positions."""
        return ScoreBatch(self.n_nodes, self.planes[at], self.kinds[at], self.symmetric[at], self.single[at])


class ScoreBlock(NamedTuple):
    """The cells of a column with as many nodes and planes."""

    #: (n,): positions among the distinct cells
    rows: NDArray[np.int64]
    #: their scores
    scores: ScoreBatch
    #: (n,): flags of each
    flags: NDArray[np.uint32]
    #: (n,): position of each one's nodes in `node_sets`
    node_set: NDArray[np.int64]


class ScoreColumn(NamedTuple):
    """A decoded column: its distinct cells in blocks, and which of them stands in each row."""

    #: (rows,): number of the row's distinct cell, -1 where missing
    codes: NDArray[np.int64]
    #: blocks by numbers of nodes and planes
    blocks: tuple[ScoreBlock, ...]
    #: the distinct node sets, names in code-point order
    node_sets: tuple[tuple[str, ...], ...]

    @property
    def node_set(self) -> NDArray[np.int64]:
        """Position of the nodes of each distinct cell in `node_sets`."""
        found = np.zeros(int(self.codes.max(initial=-1)) + 1, np.int64)
        for block in self.blocks:
            found[block.rows] = block.node_set
        return found


@lru_cache(maxsize=1024)
def _head(nodes: tuple[str, ...], kind: int, n_planes: int, flags: int) -> bytes:
    text = f"{_WORDS[kind]}, {len(nodes)} node{'s' * (len(nodes) != 1)}"
    if flags & SYMMETRIC and len(text) + 11 <= _TEXT:
        text += ", symmetric"
    words = names_header(nodes)
    words[0] = MAGIC | VERSION << 8 | kind << 16 | n_planes << 24 | len(nodes) << 32
    words[2] |= np.uint64(flags << 32)
    return text[:_TEXT].encode().ljust(_TEXT) + words.tobytes()


def pack_scores(nodes: tuple[str, ...], planes: Floats, kind: int, flags: int) -> bytes:
    """Return the canonical bytes of scores (planes, d, d) over names in code-point order."""
    values = planes + 0.0  # no negative zeros
    values[np.isnan(values)] = np.nan
    return _head(nodes, kind, len(planes), flags) + values.astype("<f8").tobytes()


def is_score_cell(raw: Any) -> bool:
    """Return whether bytes begin as packed scores do."""
    return FORMAT.holds(raw)


def _split(raw: bytes) -> tuple[bytes, int]:
    """Return header with names, and the number of their bytes; raise a ValueError for bytes that are not scores."""
    if not is_score_cell(raw):
        raise ValueError(f"{FORMAT.explain(raw)}; make them with score_column")
    if len(raw) < _TEXT + 8 * HEADER_WORDS:
        raise ValueError(f"found {len(raw)} bytes, fewer than a header of edge scores has; the cell is damaged")
    length = int.from_bytes(raw[_TEXT + 16 : _TEXT + 20], "little")
    end = _TEXT + 8 * (HEADER_WORDS + (length + 7) // 8)
    return raw[:end], end


@lru_cache(maxsize=1024)
def _read_head(head: bytes) -> tuple[tuple[str, ...], int, int, int]:
    """Return names, kind, number of planes and flags."""
    version, kind, n_planes = head[_TEXT + 1], head[_TEXT + 2], head[_TEXT + 3]
    if version != VERSION:
        raise ValueError(f"found packed scores of format version {version}; this release reads version {VERSION}")
    if kind >= len(KINDS) or n_planes not in ((2, 3) if kind == TYPES else (1,)):
        raise ValueError(f"found kind code {kind} with {n_planes} planes; the cell is damaged")
    n_nodes = int.from_bytes(head[_TEXT + 4 : _TEXT + 8], "little")
    length, flags = (int.from_bytes(head[_TEXT + at : _TEXT + at + 4], "little") for at in (16, 20))
    begin = _TEXT + 8 * HEADER_WORDS
    try:
        names = tuple(head[begin : begin + length].decode().split("\0")) if length else ()
    except UnicodeDecodeError:
        raise ValueError("its node names are not UTF-8; the cell is damaged") from None
    if len(names) != n_nodes or n_nodes > MAX_NODES:
        raise ValueError(f"has {n_nodes} nodes but {len(names)} names; the cell is damaged")
    if fault := check_names(names):
        raise ValueError(fault)
    if flags > SYMMETRIC | SINGLE or head != _head(names, kind, n_planes, flags):
        raise ValueError("its header is not the one of its kind and names; the cell is damaged")
    return names, kind, n_planes, flags


def is_score_column(cells: pd.Series) -> bool:
    """Return whether a column looks like packed edge scores, by its first cell that is not missing."""
    if not (is_packed(cells) or cells.dtype == object):
        return False
    known = np.flatnonzero(cells.notna().to_numpy(bool))
    return bool(len(known)) and is_score_cell(cells.iloc[int(known[0])])


def score_cells(cells: Sequence[bytes | None], index: pd.Index, name: Hashable | None) -> pd.Series:
    """Make a column of packed cells."""
    return pd.Series(pd.array(pa.array(cells, type=pa.large_binary()), dtype=COLUMN_DTYPE), index=index, name=name)


def unpack_column(series: pd.Series, column: Hashable | None = None) -> ScoreColumn:
    """Decode the distinct cells of a column; an error names the row."""
    codes, distinct = pd.factorize(series)
    cells = pa.array(distinct.array).to_pylist() if len(distinct) else []
    numbers: dict[tuple[str, ...], int] = {}
    groups: dict[tuple[int, int], list[tuple[int, bytes, int, int, int]]] = {}
    for number, raw in enumerate(cells):
        try:
            if not isinstance(raw, bytes):
                raise TypeError(f"expected packed scores, found {type(raw).__name__}; use score_column")
            head, end = _split(raw)
            nodes, kind, n_planes, flags = _read_head(head)
            if len(raw) != end + 8 * n_planes * len(nodes) ** 2:
                raise ValueError(f"found {len(raw)} bytes, not those of {len(nodes)} nodes; the cell is damaged")
        except (ValueError, TypeError) as fault:
            row = int(np.argmax(codes == number))
            raise type(fault)(f"{name_row(row, series.index, column)}: {fault}") from fault
        node_set = numbers.setdefault(nodes, len(numbers))
        groups.setdefault((len(nodes), n_planes), []).append((number, raw[end:], kind, flags, node_set))
    blocks = []
    for (d, n_planes), found in sorted(groups.items()):
        places, bodies, kinds, flags_of, sets = zip(*found, strict=True)
        planes = np.frombuffer(b"".join(bodies), "<f8").reshape(len(found), n_planes, d, d)
        if np.isinf(planes).any():
            place = places[int(np.isinf(planes).any(axis=(1, 2, 3)).argmax())]
            row = int(np.argmax(codes == place))
            raise ValueError(f"{name_row(row, series.index, column)}: has an infinite score; the cell is damaged")
        marked = np.array(flags_of, np.uint32)
        flagged = [(marked & flag).astype(bool) for flag in (SYMMETRIC, SINGLE)]
        scores = ScoreBatch(d, planes, np.array(kinds, np.uint8), *flagged)
        blocks.append(ScoreBlock(np.array(places, np.int64), scores, marked, np.array(sets, np.int64)))
    return ScoreColumn(codes.astype(np.int64), tuple(blocks), tuple(numbers))
