"""Graphs of cells in blocks of planes: arcs and matrices are gathered by number of nodes, and marks set in bulk."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import Arcs, Ends
from .kernels.planes import planes_from_arcs, planes_from_marks
from .mixed import marks as mixed
from .node_names import Matched
from .packing.unpacked import Block, join_by_key

Ints = NDArray[np.int64]


@dataclass
class _SameSize:
    """Graphs with the same number of nodes: arcs of single graphs, whose number is in `at`."""

    rows: list[int] = field(default_factory=list)
    node_set: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    #: marks at source and target, of graphs of four planes
    marks: list[tuple[int, int]] = field(default_factory=list)

    def block(self, n_nodes: int, is_mixed: bool) -> Block:
        at, source, target = (np.array(x, dtype=np.int64) for x in (self.at, self.source, self.target))
        if is_mixed:
            codes = np.array(self.marks, np.int64).reshape(-1, 2).T
            planes = mixed.planes_from_ends(len(self.rows), n_nodes, mixed.Ends(at, source, target, *codes))
        else:
            planes = planes_from_arcs(len(self.rows), n_nodes, at, source, target)
        return _block(n_nodes, np.array(self.rows, np.int64), planes, np.array(self.node_set, np.int64))


def _block(n_nodes: int, rows: Ints, planes: NDArray[np.uint64], node_set: Ints) -> Block:
    return Block(n_nodes, rows, planes, np.zeros(len(rows), np.uint8), node_set)


class Collector:
    """Gathers the edges of cells by number of nodes, and of planes."""

    def __init__(self) -> None:
        self._sizes: defaultdict[tuple[int, bool], _SameSize] = defaultdict(_SameSize)
        self._stacks: list[Block] = []

    def add(self, row: int, matched: Matched, arcs: Arcs, ends: Ends | None = None) -> None:
        """Add one graph whose arcs, or edges with the marks at both ends, are positions in the matched labels."""
        if ends is not None:
            edges = _one_a_pair(ends)
            arcs = list(edges)
        size, rank = self._sizes[matched.n_nodes, ends is not None], matched.rank
        size.at.extend([len(size.rows)] * len(arcs))
        size.rows.append(row)
        size.node_set.append(matched.node_set)
        size.source.extend([rank[s] for s, _ in arcs])
        size.target.extend([rank[t] for _, t in arcs])
        if ends is not None:
            size.marks.extend(edges.values())

    def add_stack(self, rows: Ints, matched: Matched, marks: NDArray[Any]) -> None:
        """Add graphs over the same labels: (N, d, d) as `Encoding.decode` returns them."""
        node_set = np.full(len(rows), matched.node_set, dtype=np.int64)
        order = np.argsort(np.array(matched.rank, dtype=np.int64))
        if marks.dtype == np.bool_:
            self._stacks.append(_block(matched.n_nodes, rows, planes_from_marks(marks, order), node_set))
            return
        planes = mixed.planes_from_marks(marks[:, order[:, None], order])
        plain = mixed.has_plain_marks(planes)
        if plain.any():
            self._stacks.append(_block(matched.n_nodes, rows[plain], mixed.lower(planes[plain]), node_set[plain]))
        if not plain.all():
            self._stacks.append(_block(matched.n_nodes, rows[~plain], planes[~plain], node_set[~plain]))

    def blocks(self) -> tuple[Block, ...]:
        """Return all graphs as blocks, rows ascending; their classes are not yet known."""
        return join_by_key([*(size.block(*key) for key, size in self._sizes.items()), *self._stacks])


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
