"""Links at lags, and arcs of summary graphs: confusion counts over universes that the first part of a name states."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np

from ...contract.checks import check_choice
from ...contract.confusion import Confusion, Values
from ...contract.confusion_family import ConfusionFamily
from ...contract.metric import Metric, metric
from ..cells.marks import KINDS
from ..closed_forms import LINKS
from ..pairs import LaggedPairs, Lags, Universe

__all__ = [
    "lagged_adjacency_f1",
    "lagged_adjacency_fn",
    "lagged_adjacency_fp",
    "lagged_adjacency_hamming",
    "lagged_adjacency_precision",
    "lagged_adjacency_recall",
    "lagged_adjacency_tp",
    "lagged_all_f1",
    "lagged_all_fn",
    "lagged_all_fp",
    "lagged_all_hamming",
    "lagged_all_precision",
    "lagged_all_recall",
    "lagged_all_tp",
    "lagged_f1",
    "lagged_fn",
    "lagged_fp",
    "lagged_hamming",
    "lagged_precision",
    "lagged_recall",
    "lagged_self_f1",
    "lagged_self_fn",
    "lagged_self_fp",
    "lagged_self_hamming",
    "lagged_self_precision",
    "lagged_self_recall",
    "lagged_self_tp",
    "lagged_tp",
    "lagged_true_beyond",
    "summary_f1",
    "summary_fn",
    "summary_fp",
    "summary_hamming",
    "summary_precision",
    "summary_recall",
    "summary_self_f1",
    "summary_self_fn",
    "summary_self_fp",
    "summary_self_hamming",
    "summary_self_precision",
    "summary_self_recall",
    "summary_self_tp",
    "summary_tp",
]

_SPEC: dict[str, Any] = {"field": "lagged", "kinds": KINDS, "closed_form": LINKS.name}
_LAGS = {
    "lags": """lags : {"union", "truth", "estimate", "shared"}
    Lags that are compared: 1 to the largest of either graph, of the truth, of the estimate, or of both. With "union"
    true links beyond the estimate's lags are missing ones, and estimated links beyond the truth's are extra ones."""
}
_EXAMPLE = (
    "X@-1 -> Y; X@-2 -> Z; Y@-1 -> Y; Y -> Z",
    "X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-1 -> X; Z -> Y",
)


def _family(
    prefix: str, universe: Universe, label: str, positives: str, convention: str, *, lagged: bool = True
) -> ConfusionFamily:
    """Make the family of a universe of lagged links, or of arcs of summary graphs, which have no lags to choose."""

    def links(pairs: LaggedPairs, *, lags: Lags = "union") -> Confusion:
        check_choice(lags, get_args(Lags), "lags")
        return pairs.confusion(universe, lags)

    def arcs(pairs: LaggedPairs) -> Confusion:
        return pairs.confusion(universe)

    return ConfusionFamily(
        prefix,
        links if lagged else arcs,
        module=__name__,
        label=label,
        positives=positives,
        convention=convention,
        example=_EXAMPLE,
        spec=_SPEC,
        options=_LAGS if lagged else {},
    )


def _hamming(prefix: str, universe: Universe, things: str, gives: float, *, lagged: bool = True) -> Metric:
    """Make and register the number of places of a universe where truth and estimate differ."""

    def differing(pairs: LaggedPairs, *, lags: Lags = "union") -> Values:
        check_choice(lags, get_args(Lags), "lags")
        return pairs.differing(universe, lags)

    def different_arcs(pairs: LaggedPairs) -> Values:
        return pairs.differing(universe)

    function = differing if lagged else different_arcs
    function.__name__ = function.__qualname__ = f"{prefix}_hamming"
    entries = f"Parameters\n----------\n{_LAGS['lags']}\n\n" if lagged else ""
    more = " Two different links in one place count once." if lagged else ""
    truth, estimate = _EXAMPLE
    function.__doc__ = (
        f"Count the places of {things} where truth and estimate differ.\n\nMissing and extra ones cost 1 each.{more}"
        f"\n\n{entries}Examples\n--------\n>>> import causaleval_pd as ce\n"
        f'>>> truth = "{truth}"\n>>> ce.{prefix}_hamming(truth, "{estimate}")\n{float(gives)!r}'
    )
    declare = metric(
        **_SPEC,
        direction="minimize",
        range=(0, math.inf),
        optimum=0,
        symmetric=not lagged,
        long_name=f"{things} that differ",
    )
    return declare(function)


_LAGGED = _family(
    "lagged",
    "cross",
    "lagged link",
    "links at lags from 1 between two variables",
    "Counts are over (cause, lag, effect) of two variables, lags from 1; a link counts as shared if its marks "
    "are the same.",
)
lagged_tp = _LAGGED.metric("tp", gives=1, long_name="shared lagged links")
lagged_fp = _LAGGED.metric("fp", gives=1, long_name="extra lagged links")
lagged_fn = _LAGGED.metric("fn", gives=1, long_name="missing lagged links")
lagged_precision = _LAGGED.metric("precision", gives=0.5)
lagged_recall = _LAGGED.metric("recall", gives=0.5)
lagged_f1 = _LAGGED.metric("f1", gives=0.5)
lagged_hamming = _hamming("lagged", "cross", "lagged links", 2)

_LAGGED_SELF = _family(
    "lagged_self",
    "self",
    "lagged self-link",
    "links of a variable on itself",
    "Counts are over (variable, lag), lags from 1.",
)
lagged_self_tp = _LAGGED_SELF.metric("tp", gives=1, long_name="shared self-links")
lagged_self_fp = _LAGGED_SELF.metric("fp", gives=1, long_name="extra self-links")
lagged_self_fn = _LAGGED_SELF.metric("fn", gives=0, long_name="missing self-links")
lagged_self_precision = _LAGGED_SELF.metric("precision", gives=0.5)
lagged_self_recall = _LAGGED_SELF.metric("recall", gives=1)
lagged_self_f1 = _LAGGED_SELF.metric("f1", gives=2 / 3)
lagged_self_hamming = _hamming("lagged_self", "self", "self-links", 1)

_LAGGED_ALL = _family(
    "lagged_all",
    "all",
    "lagged link or self-link",
    "links at lags from 1",
    "Counts are over (cause, lag, effect), lags from 1, those of a variable on itself included: where most "
    "variables are autocorrelated the numbers are much higher than those of links between two variables.",
)
lagged_all_tp = _LAGGED_ALL.metric("tp", gives=2, long_name="shared lagged links and self-links")
lagged_all_fp = _LAGGED_ALL.metric("fp", gives=2, long_name="extra lagged links and self-links")
lagged_all_fn = _LAGGED_ALL.metric("fn", gives=1, long_name="missing lagged links and self-links")
lagged_all_precision = _LAGGED_ALL.metric("precision", gives=0.5)
lagged_all_recall = _LAGGED_ALL.metric("recall", gives=2 / 3)
lagged_all_f1 = _LAGGED_ALL.metric("f1", gives=4 / 7)
lagged_all_hamming = _hamming("lagged_all", "all", "lagged links and self-links", 3)

_LAGGED_ADJACENCY = _family(
    "lagged_adjacency",
    "adjacent",
    "lagged adjacency",
    "lagged adjacencies",
    "Counts are over (cause, lag, effect) of two variables, lags from 1, whatever the marks of links: those of "
    "`lagged_...` where all links are directed.",
)
lagged_adjacency_tp = _LAGGED_ADJACENCY.metric("tp", gives=1, long_name="shared lagged adjacencies")
lagged_adjacency_fp = _LAGGED_ADJACENCY.metric("fp", gives=1, long_name="extra lagged adjacencies")
lagged_adjacency_fn = _LAGGED_ADJACENCY.metric("fn", gives=1, long_name="missing lagged adjacencies")
lagged_adjacency_precision = _LAGGED_ADJACENCY.metric("precision", gives=0.5)
lagged_adjacency_recall = _LAGGED_ADJACENCY.metric("recall", gives=0.5)
lagged_adjacency_f1 = _LAGGED_ADJACENCY.metric("f1", gives=0.5)
lagged_adjacency_hamming = _hamming("lagged_adjacency", "adjacent", "lagged adjacencies", 2)

_SUMMARY = _family(
    "summary",
    "summary",
    "summary arc",
    "arcs of the summary graph",
    "An arc leads from one variable to another if a directed link does at any lag, 0 included. Counts are over "
    "ordered pairs of two variables, so that opposite arcs are two; undirected links are not arcs.",
    lagged=False,
)
summary_tp = _SUMMARY.metric("tp", gives=2, long_name="shared summary arcs")
summary_fp = _SUMMARY.metric("fp", gives=1, long_name="extra summary arcs")
summary_fn = _SUMMARY.metric("fn", gives=1, long_name="missing summary arcs")
summary_precision = _SUMMARY.metric("precision", gives=2 / 3)
summary_recall = _SUMMARY.metric("recall", gives=2 / 3)
summary_f1 = _SUMMARY.metric("f1", gives=2 / 3)
summary_hamming = _hamming("summary", "summary", "summary arcs", 2, lagged=False)

_SUMMARY_SELF = _family(
    "summary_self",
    "summary_self",
    "summary arc or self-loop",
    "arcs of the summary graph",
    "As `summary_...`, with arcs of a variable to itself.",
    lagged=False,
)
summary_self_tp = _SUMMARY_SELF.metric("tp", gives=3, long_name="shared summary arcs and self-loops")
summary_self_fp = _SUMMARY_SELF.metric("fp", gives=2, long_name="extra summary arcs and self-loops")
summary_self_fn = _SUMMARY_SELF.metric("fn", gives=1, long_name="missing summary arcs and self-loops")
summary_self_precision = _SUMMARY_SELF.metric("precision", gives=3 / 5)
summary_self_recall = _SUMMARY_SELF.metric("recall", gives=3 / 4)
summary_self_f1 = _SUMMARY_SELF.metric("f1", gives=2 / 3)
summary_self_hamming = _hamming("summary_self", "summary_self", "summary arcs and self-loops", 3, lagged=False)


@metric(
    field="lagged",
    kinds=KINDS,
    direction=None,
    range=(0, math.inf),
    long_name="true links at lags that the estimate did not search",
)
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
