"""Walks of graphs: relabelled estimates, and random graphs with a given number of edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...graphs.kernels.planes import CPDAG, DAG, arcs_from_planes, planes_from_arcs
from ...graphs.mixed.marks import join_halves, plane_halves
from ...graphs.pairs import GraphBatch, GraphPairs

States = NDArray[np.int64]

#: pairs of nodes up to which random graphs walk: a state lists all pairs
_MOST_PAIRS = 20_000


def _random_orders(n: int, d: int, rng: np.random.Generator) -> States:
    return rng.permuted(np.tile(np.arange(d, dtype=np.int64), (n, 1)), axis=1)


def _exchange(states: States, first: States, second: States) -> None:
    """Exchange two places of each state."""
    every = np.arange(len(states))
    states[every, first], states[every, second] = states[every, second], states[every, first]


def _against(pairs: GraphPairs, row: int, graphs: GraphBatch) -> GraphPairs:
    """Pair the truth of a row with graphs."""
    n = len(graphs)
    return GraphPairs(pairs.truth, graphs, np.full(n, pairs.truth_index[row]), np.arange(n, dtype=np.int64))


class RelabellingWalk:
    """The estimates with their nodes relabelled; a state is an order of the nodes, a change exchanges two of them."""

    def __init__(self, pairs: GraphPairs) -> None:
        self._pairs = pairs

    def start(self, row: int, n: int, rng: np.random.Generator) -> States:
        """Draw orders of the nodes."""
        return _random_orders(n, self._pairs.n_nodes, rng)

    def propose(self, row: int, states: States, rng: np.random.Generator) -> States:
        """Exchange two nodes."""
        moved = states.copy()
        _exchange(moved, *rng.integers(self._pairs.n_nodes, size=(2, len(states))))
        return moved

    def pairs(self, row: int, states: States) -> GraphPairs:
        """Relabel the row's estimate."""
        number = self._pairs.estimate_index[row]
        graphs, d, n = self._pairs.estimate, self._pairs.n_nodes, len(states)
        halves = []
        for half in plane_halves(graphs.planes[[number]]):
            _, source, target = arcs_from_planes(half, d)
            places = np.repeat(np.arange(n), len(source))
            halves.append(planes_from_arcs(n, d, places, states[:, source].reshape(-1), states[:, target].reshape(-1)))
        planes = join_halves(halves)
        return _against(self._pairs, row, GraphBatch(d, planes, np.repeat(graphs.kinds[[number]], n)))


class EdgesWalk:
    """Random skeletons directed along random orders, or their CPDAGs.

    A state is an order of all pairs of ranks, of which the first are adjacent, followed by an order of the nodes. A
    change exchanges an adjacent pair for one that is not, or two nodes.
    """

    def __init__(self, pairs: GraphPairs, n_edges: NDArray[np.int64], kinds: NDArray[np.uint8]) -> None:
        self._pairs, self._n_edges, self._kinds = pairs, n_edges, kinds
        self._low, self._high = np.triu_indices(pairs.n_nodes, 1)

    def start(self, row: int, n: int, rng: np.random.Generator) -> States:
        """Draw orders of the pairs and of the nodes."""
        return np.concatenate(
            [_random_orders(n, len(self._low), rng), _random_orders(n, self._pairs.n_nodes, rng)], axis=1
        )

    def propose(self, row: int, states: States, rng: np.random.Generator) -> States:
        """Exchange an adjacent pair for another one, or two nodes."""
        n, d, n_pairs, m = len(states), self._pairs.n_nodes, len(self._low), int(self._n_edges[row])
        moved = states.copy()
        first, second = n_pairs + rng.integers(d, size=(2, n))
        if 0 < m < n_pairs:
            of_pairs = rng.random(n) < 0.5
            first = np.where(of_pairs, rng.integers(m, size=n), first)
            second = np.where(of_pairs, rng.integers(m, n_pairs, size=n), second)
        _exchange(moved, first, second)
        return moved

    def pairs(self, row: int, states: States) -> GraphPairs:
        """Make the graphs."""
        n, d, n_pairs, m = len(states), self._pairs.n_nodes, len(self._low), int(self._n_edges[row])
        chosen, order = states[:, :m], states[:, n_pairs:]
        places = np.repeat(np.arange(n), m)
        ends = (order[places, side[chosen].reshape(-1)] for side in (self._low, self._high))
        graphs = GraphBatch(d, planes_from_arcs(n, d, places, *ends), np.full(n, DAG, np.uint8))
        return _against(self._pairs, row, graphs.cpdag if self._kinds[row] == CPDAG else graphs)


def edges_walk(pairs: GraphPairs, n_edges: NDArray[np.int64], kinds: NDArray[np.uint8]) -> EdgesWalk | None:
    """Return the walk of random graphs, or None for digraphs and for graphs of too many nodes."""
    if len(kinds) == 0 or not np.isin(kinds, (DAG, CPDAG)).all() or pairs.n_nodes < 2:
        return None
    return EdgesWalk(pairs, n_edges, kinds) if pairs.n_nodes * (pairs.n_nodes - 1) // 2 <= _MOST_PAIRS else None
