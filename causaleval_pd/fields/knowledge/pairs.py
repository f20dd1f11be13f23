"""Aligned pairs of knowledge and estimated graphs."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.pairs import ANY_KIND, Pairs
from ...graphs.kernels.planes import KINDS, a_kind, marks_from_planes
from ...graphs.pairs import GraphPairs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]

#: what an undirected edge at a known arc adds to the arcs that agree with knowledge
AGREES = {"half": 0.5, "match": 1.0, "miss": 0.0}


class Counts(NamedTuple):
    """Known arcs of pairs, (n,) each: in number, and those that the estimate has right or violates."""

    required: Floats
    forbidden: Floats
    #: required arcs that the estimate has
    present: Floats
    #: forbidden arcs that the estimate has
    violated: Floats


@dataclass(frozen=True, eq=False)
class KnowledgePairs(Pairs):
    """Pairs over estimates with the same number of nodes."""

    #: estimates, paired with themselves
    graphs: GraphPairs
    #: required, forbidden, (N, d, d): known arcs of the distinct truths
    required: Marks
    forbidden: Marks
    #: (n,): truth of each pair
    known_index: Ints

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.known_index)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every estimate."""
        return self.graphs.n_nodes

    @property
    def work(self) -> float:
        """Nanoseconds that a metric takes for one pair, roughly."""
        return 20.0 * self.n_nodes**2

    @property
    def lacking(self) -> NDArray[np.bool_] | None:  # type: ignore[override]
        """Which pairs have an estimate that could not be drawn."""
        return self.graphs.lacking

    def take(self, positions: NDArray[Any] | slice) -> KnowledgePairs:
        """Return the pairs at `positions`."""
        return self.with_graphs(self.graphs.take(positions), self.known_index[positions])

    def with_graphs(self, graphs: GraphPairs, known_index: Ints) -> KnowledgePairs:
        """Return pairs of other estimates with these truths."""
        return KnowledgePairs(graphs, self.required, self.forbidden, known_index)

    def unique(self) -> tuple[KnowledgePairs, Ints]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        same = np.stack([self.graphs.unique()[1], self.known_index], axis=1)
        _, first, inverse = np.unique(same, axis=0, return_index=True, return_inverse=True)
        return self.take(first), inverse.reshape(-1).astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have an estimate not in `kinds`; every truth is of the kind "knowledge"."""
        if truth_kinds is not None and "knowledge" not in truth_kinds:
            return np.ones(self.n, bool)
        return self.graphs.refused(kinds, ANY_KIND)

    def describe(self, position: int) -> str:
        """Name the class of the estimate at `position`."""
        return f"the estimate is {a_kind(self.graphs.estimate.kinds[self.graphs.estimate_index[position]])}"

    @property
    def kinds(self) -> list[str]:
        """Classes of the estimates."""
        return [KINDS[kind] for kind in self.graphs.estimate.kinds[self.graphs.estimate_index].tolist()]

    @cached_property
    def marks(self) -> Marks:
        """Marks of the estimates, (n, d, d): an undirected edge has both."""
        planes = self.graphs.estimate.planes[self.graphs.estimate_index]
        return marks_from_planes(planes, self.n_nodes).astype(bool)

    def counts(self, undirected: str) -> Counts:
        """Count the known arcs that estimates have; `undirected` is a word of `AGREES`."""
        required, forbidden = self.required[self.known_index], self.forbidden[self.known_index]
        both = self.marks & self.marks.transpose(0, 2, 1)
        directed, agrees = self.marks & ~both, AGREES[undirected]

        def total(arcs: Marks) -> Floats:
            return np.asarray(arcs.sum(axis=(1, 2)), np.float64)

        return Counts(
            total(required),
            total(forbidden),
            total(required & directed) + agrees * total(required & both),
            total(forbidden & directed) + (1 - agrees) * total(forbidden & both),
        )
