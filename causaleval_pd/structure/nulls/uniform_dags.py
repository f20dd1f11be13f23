"""The null model `dags`: DAGs drawn uniformly among all labelled ones with the estimate's number of edges."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.dags import MOST_LISTED, all_dags
from ...graphs.kernels import control_kernels
from ...graphs.kernels.dag_counts import check_counted
from ...graphs.kernels.planes import CPDAG, DAG
from ...graphs.pairs import GraphBatch
from .edge_moments import exchangeable
from .enumeration import enumerated
from .graph_controls import GraphControls, estimated_edges, in_class, matched_kinds, refuse_digraphs
from .published import published_controls


def dags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw uniformly among the labelled DAGs with the estimate's number of edges, mapped to its class."""
    d, n_edges = pairs.n_nodes, estimated_edges(pairs)
    kinds = matched_kinds(matching, rows, pairs)
    refuse_digraphs(kinds, rows, "null='dags' draws DAGs")
    cpdag = kinds == CPDAG
    check_counted(d)

    def graphs(start: int, count: int) -> GraphBatch:
        return in_class(control_kernels().draw_dags(d, n_edges, keys, start, count), d, kinds, count)

    @cache
    def support(number: int) -> tuple[GraphBatch, float]:
        dags = all_dags(d, number // 2)
        return in_class(dags, d, np.array([CPDAG if number % 2 else DAG], np.uint8), len(dags)), 1 / len(dags)

    def known(metric: Metric) -> ClosedForm | None:
        if d <= MOST_LISTED:
            return enumerated(metric, pairs, 2 * n_edges + cpdag, support)
        return exchangeable(metric, pairs, cpdag)

    return GraphControls(pairs, kinds, graphs, known)


register_null(
    "graph",
    Null(
        "dags",
        "uniformly random labelled DAGs with the estimate's number of edges",
        dags_controls,
        published=published_controls,
        label_invariant=True,
    ),
)
