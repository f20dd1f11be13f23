"""The null model `skeleton`: as many adjacencies shared with the truth as the estimate has, and random directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_whole, shown
from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, Matching, Null, register_null
from ....execution.random_streams import uniforms
from ....graphs.column import as_graph
from ....graphs.kernels import control_kernels
from ....graphs.kernels.planes import planes_from_marks
from ....graphs.pairs import GraphBatch
from .edge_moments import half_of_shared, of_dags
from .graph_controls import (
    GraphControls,
    constant,
    estimated_edges,
    in_class,
    lose_directions,
    matched_kinds,
    redirect,
    warn_of_undirected,
)
from .published import controls_of_edges

#: sets the stream of directions apart from that of skeletons
_DIRECTIONS = np.uint64(0x8CB92BA72F3D8DD7)


def _prepared(matching: Matching) -> None:
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
        numbers = _numbers(keys, start, count, len(low))
        chosen = np.zeros(numbers.shape, bool)
        for group, wanted in ((in_truth, n_shared), (~in_truth, n_edges - n_shared)):
            rank = np.argsort(np.argsort(np.where(group[:, None], numbers, 2.0), axis=-1), axis=-1)
            chosen |= group[:, None] & (rank < wanted[:, None, None])
        marks = np.zeros((len(keys) * count, d, d), bool)
        marks[:, low, high] = marks[:, high, low] = chosen.reshape(len(marks), -1)
        index = np.arange(len(marks)).reshape(len(keys), count)
        skeletons = planes_from_marks(marks, np.arange(d))
        drawn = control_kernels().orient_graphs(skeletons, d, index, keys ^ _DIRECTIONS, start, count)
        return in_class(redirect(drawn, pairs, kinds, keys, start, count), d, kinds, count)

    undirected = lose_directions(kinds)
    arrows_only = (pairs.truth.edge_counts.undirected[pairs.truth_index] == 0).all()

    def known(metric: Metric) -> ClosedForm | None:
        if metric.closed_form == "hypergeometric":
            return constant(metric(pairs))
        if metric.closed_form == "reversal" and arrows_only and not undirected.all():
            return of_dags(ClosedForm(half_of_shared(metric, pairs)), undirected)
        return None

    return GraphControls(pairs, kinds, graphs, known, scratch=30 * d * d)


def _adjacent(planes: NDArray[np.uint64], d: int) -> NDArray[np.bool_]:
    """Return which pairs of nodes are adjacent in each graph, (graphs, pairs)."""
    words = np.ascontiguousarray(planes[:, 0] | planes[:, 1])
    return np.unpackbits(words.view(np.uint8), axis=-1, bitorder="little")[:, : d * (d - 1) // 2].astype(bool)


def _numbers(keys: NDArray[np.uint64], start: int, count: int, width: int) -> NDArray[np.float64]:
    """Return `width` numbers in [0, 1) for each draw of each row, (n, count, width)."""
    streams = keys[:, None] + np.arange(1, width + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    drawn = uniforms(streams.reshape(-1), start, count).reshape(len(keys), width, count)
    return np.ascontiguousarray(drawn.transpose(0, 2, 1))


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


register_null(
    "graph",
    Null(
        "skeleton",
        "random graphs that share as many adjacencies with the truth as the estimate",
        skeleton_controls,
        prepare=_prepared,
        published=published_skeleton,
        options={"shared": None},
    ),
)
