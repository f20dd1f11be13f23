"""The null models `orientation` and `oracle_skeleton`: a given skeleton with random directions.

Directions are acyclic, except that each edge of a digraph's control is directed by a coin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Matching, Null, register_null
from ....graphs.kernels import control_kernels
from ....graphs.kernels.control_inputs import MOST_ORIENTED
from ....graphs.kernels.planes import DIGRAPH, PDAG
from ....graphs.pairs import GraphBatch, GraphPairs
from .edge_moments import half_of_shared, of_dags, oriented
from .graph_controls import (
    GraphControls,
    constant,
    in_class,
    lose_directions,
    matched_kinds,
    redirect,
    warn_of_undirected,
)
from .latent.matching import BIDIRECTED, are_mixed, check_bidirected
from .latent.random_graphs import latent_orientation
from .listed.laws import ListedLaws
from .listed.orientations import MOST_ORIENTATIONS, Orientations

Planes = NDArray[np.uint64]

#: tries that a uniform orientation may take
MOST_TRIES = 200_000
_LAW = {"orientation_law": "order"} | BIDIRECTED


def _undirected(graphs: GraphBatch) -> GraphBatch:
    """Return the skeletons of graphs."""
    edges = graphs.planes[:, 0] | graphs.planes[:, 1]
    return GraphBatch(graphs.n_nodes, np.stack([edges, edges], axis=1), graphs.kinds)


def check_law(matching: Matching) -> str:
    """Return the law of random directions, after checking it."""
    check_bidirected(matching)
    law = str(matching.options["orientation_law"])
    if law not in ("order", "uniform"):
        raise ValueError(f"orientation_law must be 'order' or 'uniform', found {law!r}")
    return law


def orientation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Keep the estimate's skeleton and direct it at random.

    Law: with `orientation_law="order"` each edge points along one uniform order of the nodes; with "uniform" all
    acyclic orientations are equally likely; edges of digraphs are directed by coins. Then the graph is mapped to the
    estimate's class. Given: the skeleton. Where orientations are few, all are listed. Graphs with latent confounders
    follow the law of `edges` given their skeleton; in an ADMG it is uniform which adjacent nodes have a directed edge,
    a bidirected one or both, at the estimate's numbers of each.

    The two laws differ: "order" makes hubs point all out or all in more often, "uniform" (for trees one coin per edge)
    paths in one direction. A guesser of one law is rejected too often under the other where truths have such a shape;
    `null=[...]` takes both. Functions of the skeleton do not vary, so that their p is 1.
    """
    return _direct_skeletons(matching, rows, pairs, keys, of_truth=False)


def _prepared(matching: Matching) -> str:
    """Return the law of random directions; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_law(matching)


register_null(
    "graph",
    Null(
        "orientation",
        "the estimate's skeleton with random acyclic directions",
        orientation_controls,
        prepare=_prepared,
        options=_LAW,
    ),
)


def oracle_skeleton_controls(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]
) -> Controls:
    """Take the truth's skeleton and direct it at random.

    Law: as `orientation`, of the truth's skeleton. It uses the truth and is a point of reference: what perfect
    adjacencies with random directions score. It is not a null hypothesis, and has no p.
    """
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
    if of_truth and matching.truth is None:
        raise ValueError("null 'oracle_skeleton' keeps the truth's skeleton, and truth=None names no truth")
    if are_mixed(pairs):
        return latent_orientation(matching, rows, pairs, keys, of_truth=of_truth)
    law, d = matching.prepared, pairs.n_nodes
    if law == "uniform" and d > MOST_ORIENTED:
        raise ValueError(
            f"orientation_law='uniform' draws over at most {MOST_ORIENTED} nodes, found {d}; use "
            "orientation_law='order'"
        )
    source, index_of_row = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
    skeletons = GraphPairs(pairs.truth, _undirected(source), pairs.truth_index, index_of_row)
    kinds = matched_kinds(matching, rows, pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        given, index = skeletons.estimate.contiguous, skeletons.estimate_index
        if law == "order":
            drawn = control_kernels().orient_graphs(given, d, index[:, None], keys, start, count)
        else:
            acyclic = np.flatnonzero(kinds != DIGRAPH)
            drawn = np.repeat(given[index], count, axis=0)
            drawn[np.repeat(kinds != DIGRAPH, count)] = _orient_uniformly(
                given, d, index[acyclic], rows[acyclic], keys[acyclic], start, count
            )
        return in_class(redirect(drawn, pairs, kinds, keys, start, count), d, kinds, count)

    orientations = Orientations(skeletons.estimate, index_of_row, kinds, by_order=law == "order")
    are_listed = orientations.listed & (kinds != PDAG)
    listed = ListedLaws(pairs, orientations.numbers, orientations.support, MOST_ORIENTATIONS, are_listed)

    def known(metric: Metric) -> ClosedForm | None:
        if metric.closed_form == "hypergeometric":
            return constant(metric(skeletons))
        return listed.law(metric, moments)

    def moments(metric: Metric) -> ClosedForm | None:
        return _directed_at_random(metric, skeletons, kinds, along_order=law == "order")

    return GraphControls(pairs, kinds, graphs, known)


def _directed_at_random(
    metric: Metric, skeletons: GraphPairs, kinds: NDArray[np.uint8], *, along_order: bool
) -> ClosedForm | None:
    """Return the moments of functions of directions, given the skeleton."""
    undirected = lose_directions(kinds)
    if undirected.all():
        return None
    if metric.closed_form == "linear":
        found = oriented(metric, skeletons, along_order=along_order, tossed=kinds == DIGRAPH)
    elif metric.closed_form == "reversal":
        found = ClosedForm(half_of_shared(metric, skeletons))
    else:
        return None
    return None if found is None else of_dags(found, undirected)


def _orient_uniformly(
    skeletons: Planes,
    d: int,
    index: NDArray[np.int64],
    rows: NDArray[np.int64],
    keys: NDArray[np.uint64],
    start: int,
    count: int,
) -> Planes:
    """Orient skeletons as the kernel `orient_uniformly` does; errors name a row of the table with too many edges."""
    drawn, stuck = control_kernels().orient_uniformly(skeletons, d, index, keys, start, count, MOST_TRIES)
    if stuck >= 0:
        raise ValueError(
            f"row {rows[stuck]}: no acyclic graph was found in {MOST_TRIES:,} random directions of its edges over {d} "
            "nodes; skeletons this dense are not oriented uniformly: use orientation_law='order'"
        )
    return np.asarray(drawn)
