"""The null model `dags`: DAGs drawn uniformly among all labelled ones with the estimate's number of edges."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.dags import MOST_LISTED, all_dags
from ...graphs.kernels import control_kernels
from ...graphs.kernels.dag_counts import check_counted
from ...graphs.kernels.planes import CPDAG, DAG, PDAG
from ...graphs.pairs import GraphBatch
from .edge_moments import exchangeable
from .graph_controls import (
    GraphControls,
    estimated_edges,
    in_class,
    lose_directions,
    matched_kinds,
    redirect,
    refuse_digraphs,
    warn_of_undirected,
)
from .listed.laws import Listed, ListedLaws, merged
from .listed.random_graphs import MOST_GRAPHS
from .published import published_controls


@lru_cache(maxsize=64)
def listed_dags(n_nodes: int, n_edges: int, *, mapped: bool) -> Listed:
    """Return all DAGs with a number of edges, or their CPDAGs if `mapped`, and the probability of each."""
    dags = all_dags(n_nodes, n_edges)
    if not mapped:
        return GraphBatch(n_nodes, dags, np.full(len(dags), DAG, np.uint8)), 1 / len(dags)
    planes, weights = merged(in_class(dags, n_nodes, np.array([CPDAG], np.uint8), len(dags)).planes, 1 / len(dags))
    return GraphBatch(n_nodes, planes, np.full(len(planes), CPDAG, np.uint8)), weights


def dags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw uniformly among the labelled DAGs with the estimate's number of edges, mapped to its class.

    Law: all labelled DAGs with that number of edges are equally likely, which favours skeletons with many acyclic
    orientations over those of `edges`. Given: nodes, class and number of edges. Up to five nodes all DAGs and CPDAGs
    are listed; up to 400 they are drawn.

    Not valid for guesses of another shape where the truth has that shape, as `edges`; digraphs are refused.
    """
    d, n_edges = pairs.n_nodes, estimated_edges(pairs)
    kinds = matched_kinds(matching, rows, pairs)
    refuse_digraphs(kinds, rows, "null='dags' draws DAGs")
    cpdag, few = kinds == CPDAG, (kinds != PDAG) & (d <= MOST_LISTED)
    check_counted(d)

    def graphs(start: int, count: int) -> GraphBatch:
        drawn = control_kernels().draw_dags(d, n_edges, keys, start, count)
        return in_class(redirect(drawn, pairs, kinds, keys, start, count), d, kinds, count)

    def support(number: int) -> Listed:
        return listed_dags(d, number // 2, mapped=bool(number % 2))

    listed = ListedLaws(pairs, 2 * n_edges + cpdag, support, MOST_GRAPHS, few)

    def known(metric: Metric) -> ClosedForm | None:
        return listed.law(metric, lambda metric: exchangeable(metric, pairs, lose_directions(kinds)))

    return GraphControls(pairs, kinds, graphs, known)


register_null(
    "graph",
    Null(
        "dags",
        "uniformly random labelled DAGs with the estimate's number of edges",
        dags_controls,
        prepare=warn_of_undirected,
        published=published_controls,
        label_invariant=True,
    ),
)
