"""The null model `permutation`: the estimate with its nodes relabelled at random."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.kernels import control_kernels
from ...graphs.kernels.planes import marks_from_planes, planes_from_marks
from ...graphs.pairs import GraphBatch
from .additive import additive_moments
from .enumeration import enumerated
from .graph_controls import GraphControls

#: nodes up to which all relabellings are listed (120), so that every metric has an exact distribution
MOST_LISTED = 5


@cache
def _orders(n_nodes: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(n_nodes))), np.int64).reshape(math.factorial(n_nodes), n_nodes)


def all_relabellings(graphs: GraphBatch, number: int) -> GraphBatch:
    """Return a graph with its nodes in all orders."""
    orders = _orders(graphs.n_nodes)
    marks = marks_from_planes(graphs.planes[[number]], graphs.n_nodes)[0].astype(bool)
    moved = marks[orders[:, :, None], orders[:, None, :]]
    planes = planes_from_marks(moved, np.arange(graphs.n_nodes))
    return GraphBatch(graphs.n_nodes, planes, np.repeat(graphs.kinds[[number]], len(orders)))


def permutation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Relabel every estimate: its class, degrees and directed and undirected edges stay."""
    d = pairs.n_nodes

    kinds = pairs.estimate.kinds[pairs.estimate_index]

    def graphs(start: int, count: int) -> GraphBatch:
        planes = control_kernels().relabel_graphs(
            pairs.estimate.contiguous, d, pairs.estimate_index, keys, start, count
        )
        return GraphBatch(d, planes, np.repeat(kinds, count))

    @cache
    def support(number: int) -> tuple[GraphBatch, float]:
        return all_relabellings(pairs.estimate, number), 1 / math.factorial(d)

    def known(metric: Metric) -> ClosedForm | None:
        if d <= MOST_LISTED:
            return enumerated(metric, pairs, pairs.estimate_index, support)
        return additive_moments(metric, pairs)

    return GraphControls(pairs, kinds, graphs, known)


register_null("graph", Null("permutation", "the estimate with its nodes relabelled at random", permutation_controls))
