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
from ...graphs.pairs import GraphBatch
from .edge_moments import exchangeable
from .enumeration import enumerated
from .graph_controls import GraphControls, class_codes, estimated_edges, in_class, matched_by_cpdags
from .published import published_controls


def dags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw uniformly among the labelled DAGs with the estimate's number of edges, mapped to its class."""
    d, n_edges = pairs.n_nodes, estimated_edges(pairs)
    cpdag = matched_by_cpdags(matching, rows, pairs)
    check_counted(d)

    def graphs(start: int, count: int) -> GraphBatch:
        return in_class(control_kernels().draw_dags(d, n_edges, keys, start, count), d, cpdag, count)

    @cache
    def support(number: int) -> tuple[GraphBatch, float]:
        dags = all_dags(d, number // 2)
        return in_class(dags, d, np.full(1, number % 2 == 1), len(dags)), 1 / len(dags)

    def known(metric: Metric) -> ClosedForm | None:
        if d <= MOST_LISTED:
            return enumerated(metric, pairs, 2 * n_edges + cpdag, support)
        return exchangeable(metric, pairs, cpdag)

    return GraphControls(pairs, class_codes(cpdag), graphs, known)


register_null(
    "graph",
    Null(
        "dags",
        "uniformly random labelled DAGs with the estimate's number of edges",
        dags_controls,
        published=published_controls,
    ),
)
