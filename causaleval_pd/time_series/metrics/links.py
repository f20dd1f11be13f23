"""Links at lags, and arcs of summary graphs: confusion counts over the links that `links=` names."""

from __future__ import annotations

import math
from typing import Any, Literal, cast, get_args

import numpy as np

from ...contract.checks import check_choice, check_whole
from ...contract.confusion import Confusion, Values
from ...contract.confusion_family import ConfusionFamily
from ...contract.metric import metric
from ...contract.metric_sets import tweak
from ..cells.marks import KINDS
from ..closed_forms import LINKS
from ..pairs import LaggedPairs, Lags, Links, Universe

__all__ = [
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
]

_SPEC: dict[str, Any] = {"field": "lagged", "kinds": KINDS, "closed_form": LINKS.name}
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
    Arcs that are compared: between two variables, or those of a variable to itself too.""",
}
_EXAMPLE = (
    "X@-1 -> Y; X@-2 -> Z; Y@-1 -> Y; Y -> Z",
    "X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-1 -> X; Z -> Y",
)


def _of_lags(links: Any, lags: Any) -> Universe:
    """Check the options of metrics of lagged links."""
    check_choice(links, get_args(Links), "links")
    if isinstance(lags, str):
        check_choice(lags, get_args(Lags), "lags")
    else:
        check_whole(lags, "lags", least=1)
    return cast(Universe, links)


def _of_arcs(links: Any) -> Universe:
    check_choice(links, ("cross", "all"), "links")
    return "summary" if links == "cross" else "summary_self"


def _lagged(pairs: LaggedPairs, *, lags: Lags | int = "union", links: Links = "cross") -> Confusion:
    return pairs.confusion(_of_lags(links, lags), lags)


def _summary(pairs: LaggedPairs, *, links: Literal["cross", "all"] = "cross") -> Confusion:
    return pairs.confusion(_of_arcs(links))


_LAGGED = ConfusionFamily(
    "lagged",
    _lagged,
    module=__name__,
    label="lagged link",
    positives="links at lags from 1 between two variables",
    convention="Counts are over (cause, lag, effect) of two variables, lags from 1; a link counts as shared if its "
    "marks are the same.",
    example=_EXAMPLE,
    spec=_SPEC,
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
    module=__name__,
    label="summary arc",
    positives="arcs of the summary graph",
    convention="An arc leads from one variable to another if a directed link does at any lag, 0 included. Counts are "
    "over ordered pairs of two variables, so that opposite arcs are two; undirected links are not arcs.",
    example=_EXAMPLE,
    spec=_SPEC,
    options=_ARCS,
)
summary_tp = _SUMMARY.metric("tp", gives=2, long_name="shared summary arcs")
summary_fp = _SUMMARY.metric("fp", gives=1, long_name="extra summary arcs")
summary_fn = _SUMMARY.metric("fn", gives=1, long_name="missing summary arcs")
summary_precision = _SUMMARY.metric("precision", gives=2 / 3)
summary_recall = _SUMMARY.metric("recall", gives=2 / 3)
summary_f1 = _SUMMARY.metric("f1", gives=2 / 3)

_MISTAKES: dict[str, Any] = {**_SPEC, "direction": "minimize", "range": (0, math.inf), "optimum": 0}


@metric(**_MISTAKES, long_name="lagged links that differ")
def lagged_hamming(pairs: LaggedPairs, *, lags: Lags | int = "union", links: Links = "cross") -> Values:
    """Count the places of lagged links where truth and estimate differ.

    Missing and extra ones cost 1 each. Two different links in one place count once.

    Parameters
    ----------
    lags : {"union", "truth", "estimate", "shared"} or int
        Lags that are compared, as in `lagged_f1`.
    links : {"cross", "self", "all", "adjacent"}
        Links that are compared, as in `lagged_f1`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = "X@-1 -> Y; X@-2 -> Z; Y@-1 -> Y; Y -> Z"
    >>> ce.lagged_hamming(truth, "X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-1 -> X; Z -> Y")
    2.0
    """
    return pairs.differing(_of_lags(links, lags), lags)


#: over lags of all links, which `window_shd` adds to the distance at lag 0
ALL_HAMMING = tweak(lagged_hamming, links="all")


@metric(**_MISTAKES, symmetric=True, long_name="summary arcs that differ")
def summary_hamming(pairs: LaggedPairs, *, links: Literal["cross", "all"] = "cross") -> Values:
    """Count the places of summary arcs where truth and estimate differ.

    Missing and extra ones cost 1 each.

    Parameters
    ----------
    links : {"cross", "all"}
        Arcs that are compared, as in `summary_f1`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = "X@-1 -> Y; X@-2 -> Z; Y@-1 -> Y; Y -> Z"
    >>> ce.summary_hamming(truth, "X@-1 -> Y; X@-1 -> Z; Y@-1 -> Y; X@-1 -> X; Z -> Y")
    2.0
    """
    return pairs.differing(_of_arcs(links))


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
