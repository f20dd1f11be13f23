"""Graphs of cells in blocks of planes: arcs and matrices are gathered by number of nodes, and marks set in bulk."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import Arcs
from .kernels.planes import planes_from_arcs, planes_from_marks
from .node_names import Matched
from .unpacked import Block

Ints = NDArray[np.int64]


@dataclass
class _SameSize:
    """Graphs with the same number of nodes: arcs of single graphs, whose number is in `at`, and stacks of planes."""

    rows: list[int] = field(default_factory=list)
    node_set: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    stacks: list[tuple[Ints, Ints, NDArray[np.uint64]]] = field(default_factory=list)

    def block(self, n_nodes: int) -> Block:
        at, source, target = (np.array(x, dtype=np.int64) for x in (self.at, self.source, self.target))
        single = planes_from_arcs(len(self.rows), n_nodes, at, source, target)
        parts = [(np.array(self.rows, np.int64), np.array(self.node_set, np.int64), single), *self.stacks]
        rows, node_set, planes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(rows)
        return Block(n_nodes, rows[order], planes[order], np.zeros(len(rows), np.uint8), node_set[order])


class Collector:
    """Gathers the arcs of cells by number of nodes."""

    def __init__(self) -> None:
        self._sizes: defaultdict[int, _SameSize] = defaultdict(_SameSize)

    def add(self, row: int, matched: Matched, arcs: Arcs) -> None:
        """Add one graph whose arcs are positions in the matched labels."""
        size, rank = self._sizes[matched.n_nodes], matched.rank
        size.at.extend([len(size.rows)] * len(arcs))
        size.rows.append(row)
        size.node_set.append(matched.node_set)
        size.source.extend([rank[s] for s, _ in arcs])
        size.target.extend([rank[t] for _, t in arcs])

    def add_stack(self, rows: Ints, matched: Matched, marks: NDArray[np.bool_]) -> None:
        """Add graphs over the same labels, (N, d, d) with True in cell (i, j) for the mark i -> j."""
        node_set = np.full(len(rows), matched.node_set, dtype=np.int64)
        planes = planes_from_marks(marks, np.argsort(np.array(matched.rank, dtype=np.int64)))
        self._sizes[matched.n_nodes].stacks.append((rows, node_set, planes))

    def blocks(self) -> tuple[Block, ...]:
        """Return all graphs as blocks, rows ascending; their classes are not yet known."""
        return tuple(self._sizes[n_nodes].block(n_nodes) for n_nodes in sorted(self._sizes))
