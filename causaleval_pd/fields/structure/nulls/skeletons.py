"""The null models `orientation`, `oracle_skeleton` and `skeleton`: random directions of fixed or random adjacencies.

`skeleton` shares as many adjacencies with the truth as the estimate does. Directions are acyclic, except that each edge
of a digraph's control is directed by a coin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_choice, check_whole, shown
from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Matching, Null
from ....graphs.column import as_graph
from ....graphs.kernels import control_kernels
from ....graphs.kernels.inputs import MOST_ORIENTED
from ....graphs.kernels.planes import DIGRAPH, KINDS, PDAG, planes_from_matrices
from ....graphs.mixed.marks import is_mixed
from ....graphs.pairs import GraphBatch, GraphPairs
from .graph_controls import (
    constant,
    controls_of_edges,
    estimated_edges,
    graph_controls,
    in_class,
    matched_kinds,
    redirect,
    several_numbers,
    warn_of_undirected,
)
from .latent import check_bidirected, latent_graphs
from .laws import half_of_shared, of_dags, oriented
from .listed import MOST_ORIENTATIONS, ListedLaws, have_lists, orientations

#: tries that a uniform orientation may take
MOST_TRIES = 200_000


def check_law(matching: Matching) -> str:
    """Return the law of random directions, after checking it."""
    check_bidirected(matching)
    law = matching.options["orientation_law"]
    check_choice(law, ("order", "uniform"), "orientation_law")
    return str(law)


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


def prepare_orientation(matching: Matching) -> str:
    """Return the law of random directions; warn of undirected graphs."""
    warn_of_undirected(matching)
    return check_law(matching)


def oracle_skeleton_controls(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]
) -> Controls:
    """Take the truth's skeleton and direct it at random.

    Law: as `orientation`, of the truth's skeleton. It uses the truth and is a point of reference: what perfect
    adjacencies with random directions score. It is not a null hypothesis, and has no p.
    """
    return _direct_skeletons(matching, rows, pairs, keys, of_truth=True)


def _direct_skeletons(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64], *, of_truth: bool
) -> Controls:
    if of_truth and matching.truth is None:
        raise ValueError("null 'oracle_skeleton' keeps the truth's skeleton, and truth=None names no truth")
    source, index = (pairs.truth, pairs.truth_index) if of_truth else (pairs.estimate, pairs.estimate_index)
    if is_mixed(pairs.estimate.planes):
        return latent_graphs(matching, rows, pairs, keys, source.planes[index], skeletons=True)
    law, d = matching.prepared, pairs.n_nodes
    if law == "uniform" and d > MOST_ORIENTED:
        raise ValueError(
            f"orientation_law='uniform' draws over at most {MOST_ORIENTED} nodes, found {d}; use "
            "orientation_law='order'"
        )
    edges = source.planes[:, 0] | source.planes[:, 1]
    undirected = GraphBatch(d, np.stack([edges, edges], axis=1), source.kinds)
    skeletons = GraphPairs(pairs.truth, undirected, pairs.truth_index, index)
    kinds = matched_kinds(matching, rows, pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        planes = undirected.contiguous
        if law == "order":
            drawn = control_kernels().orient_graphs(planes, d, index[:, None], keys, start, count)
        else:
            acyclic = np.flatnonzero(kinds != DIGRAPH)
            oriented_dags, stuck = control_kernels().orient_uniformly(
                planes, d, index[acyclic], keys[acyclic], start, count, MOST_TRIES
            )
            if stuck >= 0:
                raise ValueError(
                    f"row {rows[acyclic[stuck]]}: no acyclic graph was found in {MOST_TRIES:,} random directions of "
                    f"its edges over {d} nodes; skeletons this dense are not oriented uniformly: use "
                    "orientation_law='order'"
                )
            drawn = np.repeat(planes[index], count, axis=0)
            drawn[np.repeat(kinds != DIGRAPH, count)] = oriented_dags
        return in_class(redirect(drawn, pairs, kinds, keys, start, count), d, kinds, count)

    support, numbers = orientations(undirected, by_order=law == "order"), index * len(KINDS) + kinds
    listed = ListedLaws(pairs, numbers, support, MOST_ORIENTATIONS, have_lists(numbers, support) & (kinds != PDAG))

    def known(metric: Metric) -> ClosedForm | None:
        if metric.closed_form == "hypergeometric":
            return constant(metric(skeletons))
        return listed.law(metric, of_dags(moments, kinds))

    def moments(metric: Metric) -> ClosedForm | None:
        if metric.closed_form == "reversal":
            return half_of_shared(metric, skeletons)
        if metric.closed_form == "linear":
            return oriented(metric, skeletons, along_order=law == "order", tossed=kinds == DIGRAPH)
        return None

    return graph_controls(pairs, kinds, graphs, known)


#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0x8CB92BA72F3D8DD7)


def check_shared(matching: Matching) -> None:
    """Refuse a number of shared adjacencies beside estimates; warn of undirected graphs."""
    if matching.options["shared"] is not None and len(matching.estimate):
        raise ValueError(
            "null='skeleton' counts the shared adjacencies of estimates; shared= is for published numbers, as in "
            "ce.control_distribution"
        )
    warn_of_undirected(matching)


def skeleton_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Share as many adjacencies with the truth as the estimate does, and direct them at random.

    Law: of the truth's adjacencies a uniform set, as large as that which the estimate shares; of the other pairs of
    nodes a uniform set, so that the number of edges is the estimate's; directions along a uniform order of the nodes
    (those of a digraph by coins), then the graph is mapped to the estimate's class, as in `edges`. Given: class,
    numbers of edges and of shared adjacencies. Metrics of skeletons do not vary, so that their p is 1: what is left is
    what directions add.

    It uses the truth, and needs no more of an estimate than two numbers, so that it applies to published results.
    `orientation` keeps the very skeleton of an estimate at hand, and so its hubs. Graphs with latent confounders
    are refused.
    """
    kinds = matched_kinds(matching, rows, pairs)
    d, n_edges = pairs.n_nodes, estimated_edges(pairs)
    low, high = np.triu_indices(d, 1)
    in_truth = _adjacent(pairs.truth.planes, d)[pairs.truth_index]
    n_shared = (in_truth & _adjacent(pairs.estimate.planes, d)[pairs.estimate_index]).sum(axis=1)

    def graphs(start: int, count: int) -> GraphBatch:
        numbers = several_numbers(keys, start, count, len(low))
        chosen = np.zeros(numbers.shape, bool)
        for group, wanted in ((in_truth, n_shared), (~in_truth, n_edges - n_shared)):
            rank = np.argsort(np.argsort(np.where(group[:, None], numbers, 2.0), axis=-1), axis=-1)
            chosen |= group[:, None] & (rank < wanted[:, None, None])
        marks = np.zeros((len(keys) * count, d, d), bool)
        marks[:, low, high] = marks[:, high, low] = chosen.reshape(len(marks), -1)
        index = np.arange(len(marks)).reshape(len(keys), count)
        skeletons = planes_from_matrices(marks, np.arange(d))
        drawn = control_kernels().orient_graphs(skeletons, d, index, keys ^ _DIRECTIONS, start, count)
        return in_class(redirect(drawn, pairs, kinds, keys, start, count), d, kinds, count)

    arrows_only = (pairs.truth.edge_counts.undirected[pairs.truth_index] == 0).all()

    def known(metric: Metric) -> ClosedForm | None:
        if metric.closed_form == "hypergeometric":
            return constant(metric(pairs))
        return of_dags(moments, kinds)(metric)

    def moments(metric: Metric) -> ClosedForm | None:
        return half_of_shared(metric, pairs) if metric.closed_form == "reversal" and arrows_only else None

    return graph_controls(pairs, kinds, graphs, known, scratch=30 * d * d)


def _adjacent(planes: NDArray[np.uint64], d: int) -> NDArray[np.bool_]:
    """Return which pairs of nodes are adjacent in each graph, (graphs, pairs)."""
    words = np.ascontiguousarray(planes[:, 0] | planes[:, 1])
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[:, : d * (d - 1) // 2].astype(bool)


def published_skeleton(
    model: Null,
    truth: Any,
    key: NDArray[np.uint64],
    *,
    n_edges: int,
    kind: str,
    nodes: Sequence[str] | None,
    options: Mapping[str, Any],
) -> Controls:
    """Return the controls of one truth from an estimate's class and numbers of edges and of shared adjacencies."""
    graph = as_graph(truth, nodes=nodes)
    low, high = np.triu_indices(graph.n_nodes, 1)
    in_truth = _adjacent(graph.planes[None], graph.n_nodes)[0]
    shared = options["shared"]
    if shared is None:
        raise ValueError(
            "null='skeleton' needs the number of adjacencies that the estimate shares with the truth, as in "
            f"ce.null_model('skeleton', shared=3), found {shown(shared)}"
        )
    least, most = max(0, n_edges - int((~in_truth).sum())), min(n_edges, int(in_truth.sum()))
    check_whole(shared, f"shared of {n_edges} estimated and {in_truth.sum()} true edges", least, most)
    chosen = np.flatnonzero(in_truth)[:shared], np.flatnonzero(~in_truth)[: n_edges - shared]
    edges = np.concatenate(chosen)
    return controls_of_edges(model, graph, key, low[edges], high[edges], kind=kind, options={**options, "shared": None})
