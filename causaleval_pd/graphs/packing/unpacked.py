"""Decoded columns: graphs in blocks by number of nodes, and the rows that two columns share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

#: the rows of whole columns by number, while one of that length is in use
_ALL_ROWS: WeakValueDictionary[int, NDArray[np.int64]] = WeakValueDictionary()


def all_rows(n: int) -> NDArray[np.int64]:
    """Return 0 to n - 1, read-only: columns of one length share the array."""
    rows = _ALL_ROWS.get(n)
    if rows is None:
        rows = np.arange(n, dtype=np.int64)
        rows.flags.writeable = False
        _ALL_ROWS[n] = rows
    return rows


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


def join_blocks(blocks: Sequence[Block]) -> Block:
    """Join blocks with as many nodes and planes, rows ascending."""
    if len(blocks) == 1:
        return blocks[0]
    rows, planes, kinds, node_set = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("rows", "planes", "kinds", "node_set")
    )
    order = np.argsort(rows)
    return Block(blocks[0].n_nodes, rows[order], planes[order], kinds[order], node_set[order])


def join_by_key(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Join the blocks with as many nodes and planes, ascending in these numbers."""
    by_key: dict[tuple[int, int], list[Block]] = {}
    for block in blocks:
        by_key.setdefault(block.key, []).append(block)
    return tuple(join_blocks(by_key[key]) for key in sorted(by_key))


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
        found = np.full(self.n_rows, -1, dtype=np.int64)
        for block in self.blocks:
            found[block.rows] = block.node_set
        return found

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
            if _same_rows(block, other, truth.n_rows):
                index = _positions(block, truth.n_rows)
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


def _same_rows(block: Block, other: Block, n_rows: int) -> bool:
    """Return whether two blocks of equally long columns have the same rows."""
    if len(block.rows) == len(other.rows) == n_rows:
        return True
    return np.array_equal(block.rows, other.rows)


def _positions(block: Block, n_rows: int) -> NDArray[np.int64]:
    """Return the positions of a block's graphs in it; where it holds every row, these are the rows."""
    return block.rows if len(block.rows) == n_rows else np.arange(len(block.rows), dtype=np.int64)
