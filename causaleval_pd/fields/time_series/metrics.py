"""Metrics of lagged graphs: links at lags, arcs of summary graphs, links at lag 0, and how far lags are off."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_whole
from ...contract.confusion import Confusion, ConfusionFamily, Values, ratio
from ...contract.law import ClosedFormRule, Value, register_closed_form
from ...contract.metric import Metric, metric, tweak
from ...contract.options import with_example, with_options
from ...graphs.kernels.planes import row_chunks
from ..structure.distances import shd
from ..structure.families import (
    adjacency_f1,
    adjacency_precision,
    adjacency_recall,
    orientation_f1,
    orientation_precision,
    orientation_recall,
)
from .cells import KINDS
from .pairs import LaggedPairs, Lags, Links, Universe

__all__ = [
    "contemporaneous_adjacency_f1",
    "contemporaneous_adjacency_precision",
    "contemporaneous_adjacency_recall",
    "contemporaneous_orientation_f1",
    "contemporaneous_orientation_precision",
    "contemporaneous_orientation_recall",
    "contemporaneous_shd",
    "lag_error",
    "lagged_f1",
    "lagged_fn",
    "lagged_fp",
    "lagged_hamming",
    "lagged_precision",
    "lagged_recall",
    "lagged_tp",
    "lagged_true_beyond",
    "summary_f1",
    "summary_fn",
    "summary_fp",
    "summary_hamming",
    "summary_precision",
    "summary_recall",
    "summary_tp",
    "window_shd",
]

#: both, true, estimated and total, on which metrics are probed
_COUNTS = np.array([(0, 3, 2, 12), (1, 3, 2, 12), (2, 3, 2, 12), (2, 2, 5, 20), (0, 0, 1, 6), (1, 4, 1, 30)], float)


class KnownLinks:
    """Stands in for `LaggedPairs` of a metric of one universe's counts, and remembers its universe and lags."""

    def __init__(self, counts: Confusion) -> None:
        self._counts = counts
        self.asked: set[tuple[Universe, Lags | int]] = set()

    def confusion(self, universe: Universe, lags: Lags | int = "union") -> Confusion:
        """Return the counts."""
        self.asked.add((universe, lags))
        return self._counts

    def differing(self, universe: Universe, lags: Lags | int = "union") -> NDArray[np.float64]:
        """Return the number of links of one graph only."""
        counts = self.confusion(universe, lags)
        return counts.fp + counts.fn


def evaluate(metric: Metric, counts: Confusion) -> NDArray[np.float64]:
    """Return the values of a metric at counts in place of pairs."""
    whole = metric if metric.component is None else metric.component.whole
    return np.asarray(whole.function(KnownLinks(counts), **metric.options), np.float64)


def asked_for(metric: Metric) -> tuple[Universe, Lags] | None:
    """Return the universe and the lags that a metric compares; None where it compares several, or one lag alone."""
    probe = KnownLinks(Confusion(*_COUNTS[:1].T))
    metric.function(probe, **metric.options)
    if len(probe.asked) != 1:
        return None
    [(universe, lags)] = probe.asked
    return (universe, lags) if isinstance(lags, str) else None


def _probe(value: Value) -> str | None:
    """Check that a metric is a function of the counts of one universe."""
    probe = KnownLinks(Confusion(*_COUNTS.T))
    together = value(probe)
    if len(probe.asked) != 1:
        return "it does not compare one universe of links (pairs.confusion)"
    if together.shape != (len(_COUNTS),):
        return f"it gives an array of shape {together.shape} for {len(_COUNTS)} pairs; expected one value per pair"
    alone = np.concatenate([value(KnownLinks(Confusion(*counts[:, None]))) for counts in _COUNTS])
    differing = ~np.isclose(alone, together, rtol=1e-9, atol=1e-9, equal_nan=True)
    if not differing.any():
        return None
    i = int(differing.argmax())
    return f"at {_COUNTS[i].tolist()} links it is {alone[i]:g} alone and {together[i]:g} among other pairs"


def _rule(name: str, explanation: str, probe: Callable[[Value], str | None] | None = None) -> ClosedFormRule:
    return register_closed_form(ClosedFormRule(name, "lagged", explanation, probe))


LINKS = _rule(
    "links",
    "A function of the confusion counts of one universe of links. Null models compute the law of the counts.",
    _probe,
)
AT_LAG_0 = _rule(
    "links_at_lag_0",
    "A metric of graphs, of the links at lag 0. Its law is that of the null model of graphs of the same name.",
)
WINDOW = _rule(
    "window",
    "The sum of the lagged links that differ and of the distance at lag 0. Its mean is the sum of their means.",
)
LAG_DISTANCE = _rule(
    "lag_distance",
    "A mean over pairs of variables of the mean distance of estimated lags from true ones. Random lags give its mean "
    "and variance.",
)

#: of metrics of all classes, and of distances
_SPEC: dict[str, Any] = {"field": "lagged", "kinds": KINDS}
_DISTANCE: dict[str, Any] = {**_SPEC, "direction": "minimize", "range": (0, math.inf), "optimum": 0}

#: the metric of graphs that a metric of links at lag 0 computes, by name
GRAPH_METRICS: dict[str, Metric] = {}


def of_graphs(metric: Metric) -> Metric:
    """Return the metric of graphs that a metric of links at lag 0 computes, with its options."""
    graph_metric = GRAPH_METRICS[metric.function.__name__]
    return replace(graph_metric, options={**graph_metric.options, **metric.options})


_OF_TEXTS = """>>> import causaleval_pd as ce
>>> ce.{name}("{truth}", "{estimate}")
{gives!r}"""


def _at_lag_0(graph_metric: Metric, gives: float, long_name: str = "") -> Metric:
    """Make and register a metric of graphs of the links at lag 0, which `gives` this value for its example."""

    def function(pairs: LaggedPairs, **options: Any) -> Values:
        graphs = pairs.at_lag_0
        return np.full(pairs.n, np.nan) if graphs is None else graph_metric.function(graphs, **options)

    name = f"contemporaneous_{graph_metric.name}"
    signature = inspect.signature(graph_metric.function)
    parameters = [one for one in signature.parameters.values() if one.name in ("pairs", "zero_division")]
    vars(function)["__signature__"] = signature.replace(parameters=parameters)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"Compute {graph_metric.long_name} of the graphs of links at lag 0.\n\nAs `{graph_metric.name}`; undefined "
        "where lag 0 was not searched. Compare an estimate that stands for a\nclass of graphs, as that of PCMCI+, with "
        "`truth.lagged.lagged_cpdag()`."
    )
    GRAPH_METRICS[name] = graph_metric
    truth, estimate = "X -> Y; Y -> Z; Y@-1 -> Z", "X -> Y; Z -> Y; X -- Z"
    declare = metric(
        field="lagged",
        # arrowheads of latent confounders are not orientations
        kinds=KINDS if "mag" in graph_metric.kinds else ("ts_dag", "ts_pdag"),
        direction=graph_metric.direction,
        range=graph_metric.range,
        optimum=graph_metric.optimum,
        symmetric=graph_metric.symmetric,
        closed_form=AT_LAG_0.name,
        long_name=long_name or f"contemporaneous {graph_metric.long_name}",
    )
    return declare(with_example(_OF_TEXTS, truth=truth, estimate=estimate, gives=float(gives))(function))


contemporaneous_adjacency_precision = _at_lag_0(adjacency_precision, 2 / 3)
contemporaneous_adjacency_recall = _at_lag_0(adjacency_recall, 1)
contemporaneous_adjacency_f1 = _at_lag_0(adjacency_f1, 0.8)
contemporaneous_orientation_precision = _at_lag_0(orientation_precision, 0.5)
contemporaneous_orientation_recall = _at_lag_0(orientation_recall, 0.5)
contemporaneous_orientation_f1 = _at_lag_0(orientation_f1, 0.5)
contemporaneous_shd = _at_lag_0(shd, 2, "structural Hamming distance at lag 0")


@metric(**_DISTANCE, symmetric=True, closed_form=WINDOW.name, long_name="structural Hamming distance over all lags")
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


def lag_sets(pairs: LaggedPairs) -> list[NDArray[np.bool_]]:
    """Return which lags from 1 link two variables in the truth and in the estimate, (n, lags, d, d), and which both."""
    sides = []
    for batch, index in ((pairs.truth, pairs.truth_index), (pairs.estimate, pairs.estimate_index)):
        wide = np.zeros((pairs.n, pairs.max_lag, pairs.n_nodes, pairs.n_nodes), np.bool_)
        wide[:, : batch.max_lag] = (batch.codes[index, 1:] > 0) & ~np.eye(pairs.n_nodes, dtype=np.bool_)
        sides.append(wide)
    return [*sides, np.asarray(sides[0].any(axis=1) & sides[1].any(axis=1))]


def nearest(lags: NDArray[np.bool_]) -> Values:
    """Return the distance of each lag from the nearest of a set of lags (n, lags, d, d); infinite of an empty set."""
    every = np.arange(lags.shape[1])
    steps = np.abs(every[:, None] - every)[:, :, None, None]
    return np.asarray(np.where(lags[:, None], steps, np.inf).min(axis=2, initial=np.inf))


@metric(**_DISTANCE, closed_form=LAG_DISTANCE.name, long_name="lag error")
def lag_error(pairs: LaggedPairs) -> Values:
    """Return the mean distance of estimated lags from the nearest true lag.

    The mean is over the estimated lags of a pair of variables, cause and effect, and then over the pairs that both
    graphs link at lags from 1; without such pairs it is undefined. Links at lag 0 and of a variable on itself are left
    out. Missing and extra links do not count: read it beside `summary_f1`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lag_error("X@-1 -> Y; X@-4 -> Z", "X@-1 -> Y; X@-2 -> Y; X@-2 -> Z")
    1.25
    """
    errors = np.full(pairs.n, np.nan)
    for part in row_chunks(pairs.n, 20 * (pairs.max_lag + 1) ** 2 * pairs.n_nodes**2):
        true, estimated, shared = lag_sets(pairs.take(part))
        away = np.where(estimated & shared[:, None], nearest(true), 0.0).sum(axis=1)
        distances = away / np.maximum(estimated.sum(axis=1), 1)
        errors[part] = ratio(distances.sum(axis=(1, 2)), shared.sum(axis=(1, 2)), math.nan)
    return errors


_LAGS = {
    "lags": """lags : {"union", "truth", "estimate", "shared"} or int
    Lags that are compared: 1 to the largest of either graph, of the truth, of the estimate, or of both; or one lag
    alone. With "union" true links beyond the estimate's lags are missing ones, and estimated links beyond the truth's
    are extra ones.""",
    "links": """links : {"cross", "self", "all", "adjacent"}
    Links that are compared: between two variables, of a variable on itself, or both; with "adjacent" those between two
    whatever their marks. Most series are autocorrelated, so that links of a variable on itself are easily found.""",
}
_ARCS = {
    "links": """links : {"cross", "all"}
    Arcs that are compared: between two variables, or those of a variable to itself too."""
}
_EXAMPLE = ("X@-1 -> Y; X@-2 -> Z; Y@-1 -> Y; Y -> Z", "X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-1 -> X; Z -> Y")


def _of_lags(links: Links, lags: Lags | int) -> tuple[Links, Lags | int]:
    """Check the options of metrics of lagged links."""
    check_choice(links, get_args(Links), "links")
    if isinstance(lags, str):
        check_choice(lags, get_args(Lags), "lags")
    else:
        check_whole(lags, "lags", least=1)
    return links, lags


def _of_arcs(links: Any) -> Universe:
    check_choice(links, ("cross", "all"), "links")
    return "summary" if links == "cross" else "summary_self"


def _lagged(pairs: LaggedPairs, *, lags: Lags | int = "union", links: Links = "cross") -> Confusion:
    return pairs.confusion(*_of_lags(links, lags))


def _summary(pairs: LaggedPairs, *, links: Literal["cross", "all"] = "cross") -> Confusion:
    return pairs.confusion(_of_arcs(links))


_LAGGED = ConfusionFamily(
    "lagged",
    _lagged,
    label="lagged link",
    positives="links at lags from 1 between two variables",
    convention="Counts are over (cause, lag, effect) of two variables, lags from 1; a link counts as shared if its "
    "marks are the same.",
    example=_EXAMPLE,
    spec={**_SPEC, "closed_form": LINKS.name},
    options=_LAGS,
)
lagged_tp = _LAGGED.metric("tp", gives=1, long_name="shared lagged links")
lagged_fp = _LAGGED.metric("fp", gives=1, long_name="extra lagged links")
lagged_fn = _LAGGED.metric("fn", gives=1, long_name="missing lagged links")
lagged_precision = _LAGGED.metric("precision", gives=0.5)
lagged_recall = _LAGGED.metric("recall", gives=0.5)
lagged_f1 = _LAGGED.metric("f1", gives=0.5)

_SUMMARY = ConfusionFamily(
    "summary",
    _summary,
    label="summary arc",
    positives="arcs of the summary graph",
    convention="An arc leads from one variable to another if a directed link does at any lag, 0 included. Counts are "
    "over ordered pairs of two variables, so that opposite arcs are two; undirected links are not arcs.",
    example=_EXAMPLE,
    spec={**_SPEC, "closed_form": LINKS.name},
    options=_ARCS,
)
summary_tp = _SUMMARY.metric("tp", gives=2, long_name="shared summary arcs")
summary_fp = _SUMMARY.metric("fp", gives=1, long_name="extra summary arcs")
summary_fn = _SUMMARY.metric("fn", gives=1, long_name="missing summary arcs")
summary_precision = _SUMMARY.metric("precision", gives=2 / 3)
summary_recall = _SUMMARY.metric("recall", gives=2 / 3)
summary_f1 = _SUMMARY.metric("f1", gives=2 / 3)


@metric(**_DISTANCE, closed_form=LINKS.name, long_name="lagged links that differ")
@with_options(_LAGS)
@with_example(_OF_TEXTS, truth=_EXAMPLE[0], estimate=_EXAMPLE[1], gives=2.0)
def lagged_hamming(pairs: LaggedPairs, *, lags: Lags | int = "union", links: Links = "cross") -> Values:
    """Count the places of lagged links where truth and estimate differ.

    Missing and extra ones cost 1 each. Two different links in one place count once.
    """
    return pairs.differing(*_of_lags(links, lags))


#: over lags of all links, which `window_shd` adds to the distance at lag 0
ALL_HAMMING = tweak(lagged_hamming, links="all")


@metric(**_DISTANCE, closed_form=LINKS.name, symmetric=True, long_name="summary arcs that differ")
@with_options(_ARCS)
@with_example(_OF_TEXTS, truth=_EXAMPLE[0], estimate=_EXAMPLE[1], gives=2.0)
def summary_hamming(pairs: LaggedPairs, *, links: Literal["cross", "all"] = "cross") -> Values:
    """Count the places of summary arcs where truth and estimate differ.

    Missing and extra ones cost 1 each.
    """
    return pairs.differing(_of_arcs(links))


@metric(**_SPEC, direction=None, range=(0, math.inf), long_name="true links at lags that the estimate did not search")
def lagged_true_beyond(pairs: LaggedPairs) -> Values:
    """Count the true links at lags beyond the largest that the estimate searched.

    With `lags="union"` these are missing links of every estimate with as few lags; `lags="estimate"` leaves them out.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lagged_true_beyond("X@-1 -> Y; X@-3 -> Y", "lags 0..2: X@-1 -> Y")
    1.0
    """
    return np.asarray(pairs.link_counts("all").true[:, pairs.estimate.max_lag + 1 :].sum(axis=1), np.float64)
