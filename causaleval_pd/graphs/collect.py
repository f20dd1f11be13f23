"""Graphs of cells in blocks of planes: edges and matrices are gathered by number of nodes, and marks set in bulk."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import Ends, Pair
from .mixed import marks as mixed
from .node_names import Matched
from .packing import Block, join_by_key

Ints = NDArray[np.int64]


@dataclass
class _SameSize:
    """Graphs with the same number of nodes, and the edges of them all."""

    rows: list[int] = field(default_factory=list)
    node_set: list[int] = field(default_factory=list)
    #: of each edge the number of its graph, its nodes, and the marks at both
    at: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    marks: list[Pair] = field(default_factory=list)

    def blocks(self, n_nodes: int) -> list[Block]:
        at, first, second = (np.array(x, dtype=np.int64) for x in (self.at, self.first, self.second))
        codes = np.array(self.marks, np.int64).reshape(-1, 2).T
        planes = mixed.planes_from_ends(len(self.rows), n_nodes, mixed.Ends(at, first, second, *codes))
        return _blocks(n_nodes, np.array(self.rows, np.int64), planes, np.array(self.node_set, np.int64))


def _blocks(n_nodes: int, rows: Ints, planes: NDArray[np.uint64], node_set: Ints) -> list[Block]:
    """Return graphs of four planes as blocks: those that have plain marks with two planes."""
    found = []
    plain = mixed.has_plain_marks(planes)
    for some, change in ((plain, mixed.lower), (~plain, np.asarray)):
        if some.any():
            kinds = np.zeros(int(some.sum()), np.uint8)
            found.append(Block(n_nodes, rows[some], change(planes[some]), kinds, node_set[some]))
    return found


class Collector:
    """Gathers the edges of cells by number of nodes."""

    def __init__(self) -> None:
        self._sizes: defaultdict[int, _SameSize] = defaultdict(_SameSize)
        self._stacks: list[Block] = []

    def add(self, row: int, matched: Matched, ends: Ends) -> None:
        """Add one graph by its edges, whose nodes are positions in the matched labels."""
        edges = _one_a_pair(ends)
        size, rank = self._sizes[matched.n_nodes], matched.rank
        size.at.extend([len(size.rows)] * len(edges))
        size.rows.append(row)
        size.node_set.append(matched.node_set)
        size.first.extend([rank[i] for i, _ in edges])
        size.second.extend([rank[j] for _, j in edges])
        size.marks.extend(edges.values())

    def add_stack(self, rows: Ints, matched: Matched, marks: NDArray[np.uint8]) -> None:
        """Add graphs over the same labels: (N, d, d) codes of the marks at the columns' nodes."""
        node_set = np.full(len(rows), matched.node_set, dtype=np.int64)
        order = np.argsort(np.array(matched.rank, dtype=np.int64))
        planes = mixed.planes_from_marks(marks[:, order[:, None], order])
        self._stacks += _blocks(matched.n_nodes, rows, planes, node_set)

    def blocks(self) -> tuple[Block, ...]:
        """Return all graphs as blocks, rows ascending; their classes are not yet known."""
        return join_by_key([block for d, size in self._sizes.items() for block in size.blocks(d)] + self._stacks)


def _one_a_pair(ends: Ends) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the marks by pair of nodes: `->` beside `<->` has no mark at its tail, as in the planes."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for i, j, at_i, at_j in ends:
        pair, codes = ((i, j), (at_i, at_j)) if i < j else ((j, i), (at_j, at_i))
        if not (codes in ((0, 2), (2, 0)) or {*codes} <= {1, 2, 3}):
            raise ValueError(f"found an edge with the marks {codes}, expected 1 a tail, 2 an arrow or 3 a circle")
        known = found.get(pair, codes)
        if known != codes:
            both = {known, codes}
            if both not in ({(1, 2), (2, 2)}, {(2, 1), (2, 2)}):
                raise ValueError("found two edges between the same nodes other than one directed and one bidirected")
            codes = (0, 2) if (1, 2) in both else (2, 0)
        found[pair] = codes
    return found
