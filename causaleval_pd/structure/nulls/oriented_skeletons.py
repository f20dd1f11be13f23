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
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.kernels.control_inputs import MOST_ORIENTED
from ...graphs.kernels.planes import plane_words
from ...graphs.pairs import GraphBatch, GraphPairs, control_kernels
from .edge_moments import exchangeable, half_of_shared, of_dags, oriented
from .graph_controls import GraphControls, class_codes, estimated_edges, in_class, matched_by_cpdags
from .published import published

Planes = NDArray[np.uint64]

#: tries that a uniform orientation may take
MOST_TRIES = 200_000
_LAW = {"orientation_law": "order"}
#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0xD1B54A32D192ED03)


def _undirected(graphs: GraphBatch) -> GraphBatch:
    """Return the skeletons of graphs."""
    edges = graphs.planes[:, 0] | graphs.planes[:, 1]
    return GraphBatch(graphs.n_nodes, np.stack([edges, edges], axis=1), graphs.kinds)


def check_law(matching: Matching) -> str:
    """Return the law of random directions, after checking it."""
    law = str(matching.options["orientation_law"])
    if law not in ("order", "uniform"):
        raise ValueError(f"orientation_law must be 'order' or 'uniform', found {law!r}")
    return law


def orientation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Keep the estimate's skeleton and direct it at random."""
    return _direct_skeletons(matching, rows, pairs, keys, of_truth=False)


register_null(
    "graph",
    Null(
        "orientation",
        "the estimate's skeleton with random acyclic directions",
        orientation_controls,
        prepare=check_law,
        options=_LAW,
    ),
)


def oracle_skeleton_controls(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]
) -> Controls:
    """Take the truth's skeleton and direct it at random."""
    return _direct_skeletons(matching, rows, pairs, keys, of_truth=True)


register_null(
    "graph",
    Null(
        "oracle_skeleton",
        "the truth's skeleton with random acyclic directions, an upper reference",
        oracle_skeleton_controls,
        prepare=check_law,
        reference=True,
        options=_LAW,
    ),
)


def _direct_skeletons(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64], *, of_truth: bool
) -> Controls:
    law, d = matching.prepared, pairs.n_nodes
    if law == "uniform" and d > MOST_ORIENTED:
        raise ValueError(
            f"orientation_law='uniform' draws over at most {MOST_ORIENTED} nodes, found {d}; use "
            "orientation_law='order'"
        )
    source, index_of_row = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
    skeletons = GraphPairs(pairs.truth, _undirected(source), pairs.truth_index, index_of_row)
    cpdag = matched_by_cpdags(matching, rows, pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        given, index = skeletons.estimate.planes, skeletons.estimate_index
        if law == "order":
            drawn = control_kernels().orient_graphs(given, d, index[:, None], keys, start, count)
        else:
            drawn = _orient_uniformly(given, d, index, rows, keys, start, count)
        return in_class(drawn, d, cpdag, count)

    def known(metric: Metric) -> ClosedForm | None:
        return _directed_at_random(metric, skeletons, cpdag, along_order=law == "order")

    return GraphControls(pairs, class_codes(cpdag), graphs, known)


def _directed_at_random(
    metric: Metric, skeletons: GraphPairs, cpdag: NDArray[np.bool_], *, along_order: bool
) -> ClosedForm | None:
    """Return closed forms given the skeleton: its functions are constant, those of directions have moments."""
    if metric.closed_form == "hypergeometric":
        value = np.asarray(metric(skeletons), np.float64)
        every = np.arange(skeletons.n, dtype=np.int64)
        law = Distribution.of(every, value[:, None], np.ones((skeletons.n, 1)))
        return ClosedForm(value, np.where(np.isnan(value), np.nan, 0.0), law)
    if cpdag.all():
        return None
    if metric.closed_form == "linear":
        found = oriented(metric, skeletons, along_order=along_order)
    elif metric.closed_form == "reversal":
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
    """Orient skeletons uniformly; raise an error that names a row with too many edges for that.

    Parameters
    ----------
    skeletons : (N, 2, W) uint64
        Stored skeletons.
    d : int
        Number of nodes.
    index : (n,) int64
        Which skeleton belongs to a row.
    rows : (n,) int64
        Positions of the rows in the table, for messages.
    keys : (n,) uint64
        The rows' random streams.
    start, count : int
        First draw and number of draws.
    """
    drawn, stuck = control_kernels().orient_uniformly(skeletons, d, index, keys, start, count, MOST_TRIES)
    if stuck >= 0:
        raise ValueError(
            f"row {rows[stuck]}: no acyclic graph was found in {MOST_TRIES:,} random directions of its edges over {d} "
            "nodes; skeletons this dense are not oriented uniformly: use orientation_law='order', or null='dags' for "
            "uniform DAGs with as many edges"
        )
    return np.asarray(drawn)


#: `skeletons(pairs, keys, start, count)` draws skeletons, (n * count, 2, W)
Skeletons = Callable[[GraphPairs, NDArray[np.uint64], int, int], Planes]


def _drawn_skeletons(
    matching: Matching,
    rows: NDArray[np.int64],
    pairs: Any,
    keys: NDArray[np.uint64],
    skeletons: Skeletons,
    *,
    alike: bool,
    pace: float = 30,
) -> Controls:
    """Draw skeletons, direct them along random orders, and map them to the estimate's class.

    Parameters
    ----------
    matching, rows, pairs, keys
        As every null model gets them.
    skeletons : callable
        Draws the skeletons.
    alike : bool
        Whether nodes are alike under the model, so that means have closed forms.
    pace : float
        Nanoseconds that drawing takes for each node and edge, roughly.
    """
    cpdag = matched_by_cpdags(matching, rows, pairs)
    d = pairs.n_nodes

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = skeletons(pairs, keys, start, count)
        index = np.arange(len(drawn), dtype=np.int64).reshape(-1, count)
        directed = control_kernels().orient_graphs(drawn, d, index, keys ^ _DIRECTIONS, start, count)
        return in_class(directed, d, cpdag, count)

    def known(metric: Metric) -> ClosedForm | None:
        return exchangeable(metric, pairs, cpdag) if alike else None

    return GraphControls(pairs, class_codes(cpdag), graphs, known, 16 * plane_words(d), pace)


def check_switches(matching: Matching) -> int:
    """Return the number of switches for each edge, after checking it."""
    return check_whole(matching.options["switches"], "switches", 1)


def degree_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Keep the degrees of the estimate's skeleton by switching the ends of its edges."""
    switches = int(matching.prepared)

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        attempts = switches * estimated_edges(pairs)
        drawn = control_kernels().switch_edges(
            pairs.estimate.planes, pairs.n_nodes, pairs.estimate_index, attempts, keys, start, count
        )
        return np.asarray(drawn)

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=False, pace=10 * switches)


register_null(
    "graph",
    Null(
        "degree",
        "random graphs with the degrees of the estimate's skeleton",
        degree_controls,
        prepare=check_switches,
        options={"switches": 20},
    ),
)


def scale_free_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw skeletons by preferential attachment with the estimate's number of edges."""

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        return np.asarray(control_kernels().scale_free(pairs.n_nodes, estimated_edges(pairs), keys, start, count))

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=True)


register_null(
    "graph",
    Null(
        "scale_free",
        "graphs grown by preferential attachment, with the estimate's number of edges",
        scale_free_controls,
        published=published(scale_free_controls),
    ),
)


def check_rewiring(matching: Matching) -> float:
    """Return the share of rewired edges, after checking it."""
    return check_number(matching.options["rewiring"], "rewiring", "[0, 1]")


def small_world_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw rewired rings with the estimate's number of edges."""

    def skeletons(pairs: GraphPairs, keys: NDArray[np.uint64], start: int, count: int) -> Planes:
        edges = estimated_edges(pairs)
        return np.asarray(control_kernels().small_world(pairs.n_nodes, edges, matching.prepared, keys, start, count))

    return _drawn_skeletons(matching, rows, pairs, keys, skeletons, alike=True)


register_null(
    "graph",
    Null(
        "small_world",
        "rewired rings with the estimate's number of edges",
        small_world_controls,
        prepare=check_rewiring,
        published=published(small_world_controls, check_rewiring),
        options={"rewiring": 0.1},
    ),
)
