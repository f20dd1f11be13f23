"""Null models in two steps: a skeleton (given, or drawn with a number of edges), then random acyclic directions.

References
----------
.. [1] Besag, J., Clifford, P. (1989). Generalized Monte Carlo significance tests. doi:10.1093/biomet/76.4.633
.. [2] Barabasi, A.-L., Albert, R. (1999). Emergence of scaling in random networks. doi:10.1126/science.286.5439.509
.. [3] Watts, D. J., Strogatz, S. H. (1998). Collective dynamics of small-world networks. doi:10.1038/30918
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_number, check_whole
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, Matcher, Matching
from ...graphs.kernels import control_kernels
from ...graphs.kernels.control_inputs import MOST_ORIENTED
from ...graphs.kernels.planes import plane_words
from ...graphs.pairs import GraphBatch, GraphPairs
from .closed_forms import exchangeable, half_of_shared, of_dags, oriented
from .drawn_graphs import DrawnGraphs, class_codes, in_class
from .random_graphs import control_classes, estimated_edges

Planes = NDArray[np.uint64]

#: tries that a uniform orientation may take
_TRIES = 200_000
#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0xD1B54A32D192ED03)


def _undirected(graphs: GraphBatch) -> GraphBatch:
    """Return skeletons."""
    edges = graphs.planes[:, 0] | graphs.planes[:, 1]
    return GraphBatch(graphs.n_nodes, np.stack([edges, edges], axis=1), graphs.kinds)


def match_orientation(matching: Matching) -> Matcher:
    """Keep the estimate's skeleton and direct it at random."""
    return _match_skeleton(matching, of_truth=False)


def match_oracle_skeleton(matching: Matching) -> Matcher:
    """Take the truth's skeleton and direct it at random."""
    return _match_skeleton(matching, of_truth=True)


def _match_skeleton(matching: Matching, *, of_truth: bool) -> Matcher:
    law = matching.options["orientation_law"]
    if law not in ("order", "uniform"):
        raise ValueError(f"orientation_law must be 'order' or 'uniform', found {law!r}")

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        given = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
        skeletons = GraphPairs(pairs.truth, _undirected(given[0]), pairs.truth_index, given[1])
        cpdag = control_classes(matching, rows, pairs)
        d = pairs.n_nodes

        def planes(start: int, count: int) -> Planes:
            graphs, index = skeletons.estimate.planes, skeletons.estimate_index
            if law == "order":
                drawn = control_kernels().orient_graphs(graphs, d, index[:, None], keys, start, count)
            else:
                drawn = _orient_uniformly(graphs, d, index, rows, keys, start, count)
            return in_class(drawn, d, cpdag, count)

        def known(metric: Metric) -> ClosedForm | None:
            return _directed_at_random(metric, skeletons, cpdag, along_order=law == "order")

        if law == "uniform" and d > MOST_ORIENTED:
            raise ValueError(
                f"orientation_law='uniform' draws over at most {MOST_ORIENTED} nodes, found {d}; use "
                "orientation_law='order'"
            )
        return DrawnGraphs(pairs, class_codes(cpdag), planes, known)

    return match


def _directed_at_random(
    metric: Metric, skeletons: GraphPairs, cpdag: NDArray[np.bool_], *, along_order: bool
) -> ClosedForm | None:
    """Say what is known where the skeleton is: functions of it are constant, of directions they have moments."""
    if metric.null == "hypergeometric":
        value = np.asarray(metric(skeletons), np.float64)
        every = np.arange(skeletons.n, dtype=np.int64)
        law = Distribution.of(every, value[:, None], np.ones((skeletons.n, 1)))
        return ClosedForm(value, np.where(np.isnan(value), np.nan, 0.0), law)
    if cpdag.all():
        return None
    if metric.null == "linear":
        found = oriented(metric, skeletons, along_order=along_order)
    elif metric.null == "reversal":
        shared = skeletons.counts.tp > 0
        found = ClosedForm(half_of_shared(metric, skeletons, shared))
    else:
        return None
    return None if found is None else of_dags(found, cpdag)


def _orient_uniformly(
    skeletons: Planes,
    d: int,
    index: NDArray[np.int64],
    rows: NDArray[np.int64],
    keys: NDArray[np.uint64],
    start: int,
    count: int,
) -> Planes:
    """Orient skeletons uniformly, or say which row has too many edges for that."""
    drawn, stuck = control_kernels().orient_uniformly(skeletons, d, index, keys, start, count, _TRIES)
    if stuck >= 0:
        raise ValueError(
            f"row {rows[stuck]}: no acyclic graph was found in {_TRIES:,} random directions of its edges over {d} "
            "nodes; skeletons this dense are not oriented uniformly: use orientation_law='order', or null='dags' for "
            "uniform DAGs with as many edges"
        )
    return np.asarray(drawn)


#: draws skeletons, (n * count, 2, W), for rows whose pairs and streams are given
Skeletons = Callable[[GraphPairs, NDArray[np.uint64], int, int], Planes]


def _match_drawn(matching: Matching, skeletons: Skeletons, *, alike: bool, pace: float = 30) -> Matcher:
    """Draw skeletons, direct them along random orders, and map them to the estimate's class."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        cpdag = control_classes(matching, rows, pairs)
        d = pairs.n_nodes

        def planes(start: int, count: int) -> Planes:
            drawn = skeletons(pairs, keys, start, count)
            index = np.arange(len(drawn), dtype=np.int64).reshape(-1, count)
            directed = control_kernels().orient_graphs(drawn, d, index, keys ^ _DIRECTIONS, start, count)
            return in_class(directed, d, cpdag, count)

        def known(metric: Metric) -> ClosedForm | None:
            return exchangeable(metric, pairs, cpdag) if alike else None

        return DrawnGraphs(pairs, class_codes(cpdag), planes, known, 16 * plane_words(d), pace)

    return match


def match_degree(matching: Matching) -> Matcher:
    """Keep the degrees of the estimate's skeleton by switching the ends of its edges."""
    switches = matching.options["switches"]
    check_whole(switches, "switches", 1)

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        attempts = int(switches) * estimated_edges(pairs)
        drawn = control_kernels().switch_edges(
            pairs.estimate.planes, pairs.n_nodes, pairs.estimate_index, attempts, keys, start, count
        )
        return np.asarray(drawn)

    return _match_drawn(matching, skeletons, alike=False, pace=10 * int(switches))


def match_scale_free(matching: Matching) -> Matcher:
    """Draw skeletons by preferential attachment with the estimate's number of edges."""

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        return np.asarray(control_kernels().scale_free(pairs.n_nodes, estimated_edges(pairs), keys, start, count))

    return _match_drawn(matching, skeletons, alike=True)


def match_small_world(matching: Matching) -> Matcher:
    """Draw rewired rings with the estimate's number of edges."""
    rewiring = matching.options["rewiring"]
    check_number(rewiring, "rewiring", "[0, 1]")

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        edges = estimated_edges(pairs)
        return np.asarray(control_kernels().small_world(pairs.n_nodes, edges, rewiring, keys, start, count))

    return _match_drawn(matching, skeletons, alike=True)
