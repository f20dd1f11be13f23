"""The null model `dags`: DAGs drawn uniformly among all labelled ones with the estimate's number of edges."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matcher, Matching
from ...graphs.dags import MOST_LISTED, all_dags
from ...graphs.kernels import control_kernels
from ...graphs.kernels.dag_counts import check_counted
from ...graphs.pairs import GraphBatch
from .closed_forms import enumerated, exchangeable
from .drawn_graphs import DrawnGraphs, class_codes, in_class
from .random_graphs import control_classes, estimated_edges

Planes = NDArray[np.uint64]


def match_dags(matching: Matching) -> Matcher:
    """Draw uniformly among the labelled DAGs with the estimate's number of edges, mapped to its class."""

    def match(rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        d, n_edges = pairs.n_nodes, estimated_edges(pairs)
        cpdag = control_classes(matching, rows, pairs)
        check_counted(d)

        def planes(start: int, count: int) -> Planes:
            drawn = control_kernels().draw_dags(d, n_edges, keys, start, count)
            return in_class(drawn, d, cpdag, count)

        @cache
        def support(number: int) -> tuple[GraphBatch, float]:
            graphs = all_dags(d, number // 2)
            mapped = np.full(1, number % 2 == 1)
            kinds = np.repeat(class_codes(mapped), len(graphs))
            return GraphBatch(d, in_class(graphs, d, mapped, len(graphs)), kinds), 1 / len(graphs)

        def known(metric: Metric) -> ClosedForm | None:
            if d <= MOST_LISTED:
                return enumerated(metric, pairs, 2 * n_edges + cpdag, support)
            return exchangeable(metric, pairs, cpdag)

        return DrawnGraphs(pairs, class_codes(cpdag), planes, known)

    return match
