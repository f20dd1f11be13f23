"""Links at lag 0: metrics of graphs, of the graphs of contemporaneous links; and the distance over all lags."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...contract.confusion import Values
from ...contract.metric import Metric, metric
from ...structure.adjacency import adjacency_f1, adjacency_precision, adjacency_recall
from ...structure.hamming import shd
from ...structure.orientation import orientation_f1, orientation_precision, orientation_recall
from ..cells.marks import KINDS
from ..closed_forms import AT_LAG_0, WINDOW
from ..pairs import LaggedPairs

__all__ = [
    "contemporaneous_adjacency_f1",
    "contemporaneous_adjacency_precision",
    "contemporaneous_adjacency_recall",
    "contemporaneous_orientation_f1",
    "contemporaneous_orientation_precision",
    "contemporaneous_orientation_recall",
    "contemporaneous_shd",
    "window_shd",
]

#: the metric of graphs that a metric of links at lag 0 computes, by name
GRAPH_METRICS: dict[str, Metric] = {
    "contemporaneous_adjacency_f1": adjacency_f1,
    "contemporaneous_adjacency_precision": adjacency_precision,
    "contemporaneous_adjacency_recall": adjacency_recall,
    "contemporaneous_orientation_f1": orientation_f1,
    "contemporaneous_orientation_precision": orientation_precision,
    "contemporaneous_orientation_recall": orientation_recall,
    "contemporaneous_shd": shd,
}


def _of_graphs(graph_metric: Metric, pairs: LaggedPairs, **options: Any) -> Values:
    """Compute a metric of graphs of the links at lag 0, NaN where either graph was not searched there."""
    graphs = pairs.at_lag_0
    if graphs is None:
        return np.full(pairs.n, np.nan)
    return np.asarray(graph_metric.function(graphs, **options), np.float64)


def _ratio(name: str, summary: str, example: tuple[str, str], gives: float) -> Metric:
    """Make and register a ratio of links at lag 0; `summary` and the value of the example go into its docstring."""
    graph_metric = GRAPH_METRICS[name]

    def function(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
        return _of_graphs(graph_metric, pairs, zero_division=zero_division)

    function.__name__ = function.__qualname__ = name
    truth, estimate = example
    function.__doc__ = (
        f"{summary}\n\nAs `{graph_metric.name}` of the graphs of contemporaneous links; undefined where lag 0 was not "
        f"searched.\n\nExamples\n--------\n>>> import causaleval_pd as ce\n"
        f'>>> ce.{name}("{truth}", "{estimate}")\n{float(gives)!r}'
    )
    declare = metric(
        field="lagged",
        # arrowheads of latent confounders are not orientations
        kinds=KINDS if "mag" in graph_metric.kinds else ("ts_dag", "ts_pdag"),
        direction="maximize",
        range=(0, 1),
        optimum=1,
        symmetric=graph_metric.symmetric,
        closed_form=AT_LAG_0.name,
        long_name=f"contemporaneous {graph_metric.long_name}",
    )
    return declare(function)


_EDGES = ("X -> Y; Y@-1 -> Z", "X -- Y; Y -> Z")
contemporaneous_adjacency_precision = _ratio(
    "contemporaneous_adjacency_precision",
    "Share of the estimate's adjacencies at lag 0 that the truth has.",
    _EDGES,
    0.5,
)
contemporaneous_adjacency_recall = _ratio(
    "contemporaneous_adjacency_recall", "Share of the truth's adjacencies at lag 0 that the estimate has.", _EDGES, 1
)
contemporaneous_adjacency_f1 = _ratio(
    "contemporaneous_adjacency_f1",
    "Return the harmonic mean of precision and recall of adjacencies at lag 0.",
    _EDGES,
    2 / 3,
)
contemporaneous_orientation_precision = _ratio(
    "contemporaneous_orientation_precision",
    "Share of the estimate's arrowheads on shared adjacencies at lag 0 that the truth has.",
    ("X -> Y; Y -> Z", "X -> Y; Z -> Y"),
    0.5,
)
contemporaneous_orientation_recall = _ratio(
    "contemporaneous_orientation_recall",
    "Share of the truth's arrowheads on shared adjacencies at lag 0 that the estimate has.",
    ("X -> Y; Y -> Z", "X -> Y; Y -- Z"),
    0.5,
)
contemporaneous_orientation_f1 = _ratio(
    "contemporaneous_orientation_f1",
    "Return the harmonic mean of precision and recall of arrowheads on shared adjacencies at lag 0.",
    ("X -> Y; Y -> Z", "X -> Y; Z -> Y"),
    0.5,
)


@metric(
    field="lagged",
    kinds=KINDS,
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    symmetric=True,
    closed_form=AT_LAG_0.name,
    long_name="structural Hamming distance at lag 0",
)
def contemporaneous_shd(pairs: LaggedPairs) -> Values:
    """Count the pairs of variables whose links at lag 0 differ.

    As `shd` of the graphs of contemporaneous links; undefined where lag 0 was not searched. Compare an estimate that
    stands for a class of graphs, as that of PCMCI+, with `truth.lagged.lagged_cpdag()`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_shd("X -> Y; Y@-1 -> Z", "X -- Y; Y -> Z")
    2.0
    """
    return _of_graphs(shd, pairs)


@metric(
    field="lagged",
    kinds=KINDS,
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    symmetric=True,
    closed_form=WINDOW.name,
    long_name="structural Hamming distance over all lags",
)
def window_shd(pairs: LaggedPairs) -> Values:
    """Count the links that differ over all lags, each link once.

    It is `lagged_hamming` with `links="all"` plus `contemporaneous_shd`. Links at lags that one graph did not search
    are missing or extra, also at lag 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.window_shd("X@-1 -> Y; X@-1 -> X; Y -> Z", "X@-2 -> Y; X@-1 -> X; Z -> Y")
    3.0
    """
    graphs = pairs.at_lag_0
    if graphs is not None:
        at_lag_0 = np.asarray(shd.function(graphs), np.float64)
    else:
        # where a graph was not searched at lag 0 all links of the other differ
        sides = ((pairs.truth, pairs.truth_index), (pairs.estimate, pairs.estimate_index))
        at_lag_0 = sum((x.codes[:, 0] > 0).sum(axis=(1, 2))[index] / 2 for x, index in sides) + np.zeros(pairs.n)
    return pairs.differing("all") + at_lag_0
