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

_RATIO: dict[str, Any] = {
    "field": "lagged",
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
    "closed_form": AT_LAG_0.name,
}
_ANY: dict[str, Any] = {"kinds": KINDS}
_PLAIN: dict[str, Any] = {"kinds": ("ts_dag", "ts_pdag")}


def _of_graphs(name: str, pairs: LaggedPairs, **options: Any) -> Values:
    """Compute a metric of graphs of the links at lag 0, NaN where either graph was not searched there."""
    graphs = pairs.at_lag_0
    if graphs is None:
        return np.full(pairs.n, np.nan)
    return np.asarray(GRAPH_METRICS[name].function(graphs, **options), np.float64)


@metric(**_RATIO, **_ANY, long_name="contemporaneous adjacency precision")
def contemporaneous_adjacency_precision(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's adjacencies at lag 0 that the truth has.

    As `adjacency_precision` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_adjacency_precision("X -> Y; Y@-1 -> Z", "X -- Y; Y -> Z")
    0.5
    """
    return _of_graphs("contemporaneous_adjacency_precision", pairs, zero_division=zero_division)


@metric(**_RATIO, **_ANY, long_name="contemporaneous adjacency recall")
def contemporaneous_adjacency_recall(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's adjacencies at lag 0 that the estimate has.

    As `adjacency_recall` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_adjacency_recall("X -> Y; Y@-1 -> Z", "X -- Y; Y -> Z")
    1.0
    """
    return _of_graphs("contemporaneous_adjacency_recall", pairs, zero_division=zero_division)


@metric(**_RATIO, **_ANY, symmetric=True, long_name="contemporaneous adjacency F1")
def contemporaneous_adjacency_f1(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of precision and recall of adjacencies at lag 0.

    As `adjacency_f1` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.contemporaneous_adjacency_f1("X -> Y; Y@-1 -> Z", "X -- Y; Y -> Z"), 3)
    0.667
    """
    return _of_graphs("contemporaneous_adjacency_f1", pairs, zero_division=zero_division)


@metric(**_RATIO, **_PLAIN, long_name="contemporaneous orientation precision")
def contemporaneous_orientation_precision(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's arrowheads on shared adjacencies at lag 0 that the truth has.

    As `orientation_precision` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_orientation_precision("X -> Y; Y -> Z", "X -> Y; Z -> Y")
    0.5
    """
    return _of_graphs("contemporaneous_orientation_precision", pairs, zero_division=zero_division)


@metric(**_RATIO, **_PLAIN, long_name="contemporaneous orientation recall")
def contemporaneous_orientation_recall(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's arrowheads on shared adjacencies at lag 0 that the estimate has.

    As `orientation_recall` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_orientation_recall("X -> Y; Y -> Z", "X -> Y; Y -- Z")
    0.5
    """
    return _of_graphs("contemporaneous_orientation_recall", pairs, zero_division=zero_division)


@metric(**_RATIO, **_PLAIN, symmetric=True, long_name="contemporaneous orientation F1")
def contemporaneous_orientation_f1(pairs: LaggedPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of precision and recall of arrowheads on shared adjacencies at lag 0.

    As `orientation_f1` of the graphs of contemporaneous links; undefined where lag 0 was not searched.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.contemporaneous_orientation_f1("X -> Y; Y -> Z", "X -> Y; Z -> Y")
    0.5
    """
    return _of_graphs("contemporaneous_orientation_f1", pairs, zero_division=zero_division)


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
    return _of_graphs("contemporaneous_shd", pairs)


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
    """Count the links that differ over all lags, each link once: `lagged_all_hamming` plus `contemporaneous_shd`.

    Links at lags that one graph did not search are missing or extra, also at lag 0.

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
