"""Counts that metrics share beside those of edges by type: of one graph, v-structures, paths, Markov blankets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class EdgeCounts(NamedTuple):
    """Edges of each graph of a batch, by type."""

    edges: NDArray[np.float64]
    directed: NDArray[np.float64]
    undirected: NDArray[np.float64]


class VStructureCounts(NamedTuple):
    """Unshielded colliders of the truth, of the estimate and of both, one value per pair."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]


class AncestorCounts(NamedTuple):
    """Ordered pairs joined by a directed path in the truth, the estimate and both, one value per pair of graphs."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]
    #: directed edges of the truth whose tail is an ancestor of the head in the estimate, not vice versa
    agreed: NDArray[np.float64]
    #: those whose head is an ancestor of the tail, not vice versa
    opposed: NDArray[np.float64]


class BlanketCounts(NamedTuple):
    """Members of Markov blankets, summed over the nodes, in the truth, the estimate and both."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]
