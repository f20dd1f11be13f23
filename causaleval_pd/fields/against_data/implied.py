"""What graphs imply of data: independences by the local Markov property, a basis of them, and smallest separators."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...graphs.classes import extensions
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import DAG, PLAIN_KINDS, matrices_from_planes
from ...graphs.mixed.marks import adjacencies
from ...graphs.mixed.paths import as_mags
from ...graphs.pairs import GraphBatch

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class Statements(NamedTuple):
    """Statements, (m,), on pairs of nodes given sets of nodes."""

    #: the graph that makes a statement
    graph: Ints
    x: Ints
    y: Ints
    #: (m, d): the set
    given: Bools


class Implications:
    """What graphs imply, (N,) of them; of a CPDAG or PDAG that of the first DAG of its class, by the order of nodes."""

    def __init__(self, graphs: GraphBatch) -> None:
        self.graphs, self.n, self.d = graphs, len(graphs), graphs.n_nodes

    @cached_property
    def adjacent(self) -> Bools:
        """Pairs of nodes that are joined, (N, d, d)."""
        edges = adjacencies(self.graphs.planes)
        marks: Bools = matrices_from_planes(np.stack([edges, edges], axis=1), self.d).astype(bool)
        return marks

    @cached_property
    def _extended(self) -> tuple[Bools, Bools]:
        planes, exists = extensions(self.graphs.planes, self.d, self.graphs.kinds)
        return matrices_from_planes(planes, self.d).astype(bool), exists

    @property
    def arcs(self) -> Bools:
        """Which node is a parent of which, (N, d, d), in a DAG of the class."""
        return self._extended[0]

    @property
    def has_dag(self) -> Bools:
        """Which graphs have a DAG in their class, (N,)."""
        return self._extended[1]

    @cached_property
    def reached(self) -> Bools:
        """Which node is an ancestor of which, or the same, (N, d, d)."""
        steps = (self.arcs | np.eye(self.d, dtype=bool)).astype(np.float32)
        for _ in range(max(1, (self.d - 1).bit_length())):
            steps = (steps @ steps > 0).astype(np.float32)
        return np.asarray(steps > 0)

    @cached_property
    def _local(self) -> Bools:
        """Pairs (x, y) where y is neither a descendant nor a parent of x, (N, d, d)."""
        return ~(self.reached | self.arcs.transpose(0, 2, 1)) & self.has_dag[:, None, None]

    @cached_property
    def local_markov(self) -> Statements:
        """Each node is independent of those that are neither descendants nor parents, given its parents."""
        return self._given_parents(self._local)

    def _given_parents(self, pairs: Bools) -> Statements:
        graph, x, y = np.nonzero(pairs)
        return Statements(graph, x, y, self.arcs[graph, :, x])

    @cached_property
    def is_distinct(self) -> Bools:
        """Which of `local_markov` are not the statement of another node with the same parents."""
        parents = self.arcs.transpose(0, 2, 1).astype(np.float32)
        shared, sizes = parents @ parents.transpose(0, 2, 1), parents.sum(axis=2)
        same = (shared == sizes[:, :, None]) & (shared == sizes[:, None, :])
        both = self._local & self._local.transpose(0, 2, 1) & same
        graph, x, y, _ = self.local_markov
        return np.asarray(~(both[graph, x, y] & (x > y)))

    @cached_property
    def distinct(self) -> Statements:
        """The distinct ones of `local_markov`."""
        (graph, x, y, given), some = self.local_markov, self.is_distinct
        return Statements(graph[some], x[some], y[some], given[some])

    @cached_property
    def dependences(self) -> Statements:
        """Each node depends on its descendants that are not children, given its parents."""
        diagonal = np.eye(self.d, dtype=bool)
        return self._given_parents(self.reached & ~self.arcs & ~diagonal & self.has_dag[:, None, None])

    @cached_property
    def descents(self) -> Statements:
        """Each node depends on its descendants."""
        return self.alone(self.reached & ~np.eye(self.d, dtype=bool) & self.has_dag[:, None, None])

    @cached_property
    def basis(self) -> Statements:
        """Nodes that are not joined are independent given the parents of both (Shipley's basis set)."""
        graph, x, y = np.nonzero(np.triu(~self.adjacent, 1) & self.has_dag[:, None, None])
        return Statements(graph, x, y, self.arcs[graph, :, x] | self.arcs[graph, :, y])

    @cached_property
    def edges(self) -> Statements:
        """Each child y depends on each parent x given its other parents."""
        graph, x, y = np.nonzero(self.arcs & self.has_dag[:, None, None])
        other_parents = self.arcs[graph, :, y]
        other_parents[np.arange(len(x)), x] = False
        return Statements(graph, x, y, other_parents)

    def alone(self, pairs: Bools) -> Statements:
        """Return statements on pairs of nodes, (N, d, d), given nothing."""
        graph, x, y = np.nonzero(pairs)
        return Statements(graph, x, y, np.zeros((len(x), self.d), bool))

    @cached_property
    def separations(self) -> Statements:
        """Nodes that are not joined are independent given their smallest separator, the first by the order of nodes."""
        low, high = np.triu_indices(self.d, 1)
        if self.graphs.kinds.size and self.graphs.kinds[0] < len(PLAIN_KINDS):
            planes, exists = extensions(self.graphs.planes, self.d, self.graphs.kinds)
            kinds = np.full(self.n, DAG, np.uint8)
        else:
            planes, exists, kinds = self.graphs.planes, np.ones(self.n, bool), self.graphs.kinds
        set_words = kernels("mixed").smallest_separators(as_mags(planes, kinds, self.d), self.d)
        joined = self.adjacent[:, low, high]
        graph, pair = np.nonzero(~joined & exists[:, None])
        words = np.ascontiguousarray(set_words[graph, pair]).view(np.uint8)
        separators = np.unpackbits(words, axis=1, bitorder="little")[:, : self.d].astype(bool)
        return Statements(graph, low[pair], high[pair], separators)
