"""Orientation given adjacency: both endpoints of every adjacency that truth and estimate share.

Arrowheads are positives, tails negatives. Missing and extra adjacencies do not count; for these see `directions`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import metric
from ..graphs.pairs import GraphPairs
from .ratio import f_score, ratio

Values = NDArray[np.float64]

_CONDITIONAL: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "cpdag", "pdag"),
    "reference": "10.48550/arXiv.2412.10039",
}


class Endpoints(NamedTuple):
    """Confusion of endpoints: arrowheads are positive."""

    tp: Values
    fp: Values
    fn: Values
    tn: Values


def shared_endpoints(pairs: GraphPairs) -> Endpoints:
    """Compare both endpoints of every shared adjacency.

    A right direction gives tp and tn, a reversed one fp and fn, an undirected estimate of a directed edge fn and tn, a
    directed estimate of an undirected edge fp and tn, undirected in both two tn.
    """
    c = pairs.counts
    return Endpoints(
        tp=c.same_direction,
        fp=c.reversed + c.added_direction,
        fn=c.reversed + c.lost_direction,
        tn=c.same_direction + c.lost_direction + c.added_direction + 2 * c.both_undirected,
    )


@metric(
    **_CONDITIONAL,
    closed_form="linear",
    long_name="right arrowheads of shared adjacencies",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def orientation_tp(pairs: GraphPairs) -> Values:
    """Count the right arrowheads of shared adjacencies.

    Conditional on shared adjacencies: both endpoints of each are compared.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_tp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return shared_endpoints(pairs).tp


@metric(
    **_CONDITIONAL,
    closed_form="linear",
    long_name="wrong arrowheads of shared adjacencies",
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
)
def orientation_fp(pairs: GraphPairs) -> Values:
    """Count the wrong arrowheads of shared adjacencies.

    Conditional on shared adjacencies: both endpoints of each are compared.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_fp("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    1.0
    """
    return shared_endpoints(pairs).fp


@metric(
    **_CONDITIONAL,
    closed_form="linear",
    long_name="missed arrowheads of shared adjacencies",
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
)
def orientation_fn(pairs: GraphPairs) -> Values:
    """Count the missed arrowheads of shared adjacencies.

    Conditional on shared adjacencies: both endpoints of each are compared.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_fn("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    2.0
    """
    return shared_endpoints(pairs).fn


@metric(
    **_CONDITIONAL,
    closed_form="linear",
    long_name="right tails of shared adjacencies",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def orientation_tn(pairs: GraphPairs) -> Values:
    """Count the right tails of shared adjacencies.

    Conditional on shared adjacencies: both endpoints of each are compared.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_tn("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    2.0
    """
    return shared_endpoints(pairs).tn


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation precision",
    direction="maximize",
    range=(0, 1),
    optimum=1,
)
def orientation_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's arrowheads on shared adjacencies that are right.

    tp / (tp + fp), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_precision("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fp, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation recall",
    direction="maximize",
    range=(0, 1),
    optimum=1,
)
def orientation_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's arrowheads on shared adjacencies that were found.

    tp / (tp + fn), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_recall("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.3333333333333333
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.tp, ends.tp + ends.fn, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation F1",
    direction="maximize",
    range=(0, 1),
    optimum=1,
    symmetric=True,
)
def orientation_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of orientation precision and recall.

    2 tp / (2 tp + fp + fn), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a
    DAG every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_f1("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.4
    """
    ends = shared_endpoints(pairs)
    return f_score(ends.tp, ends.fp, ends.fn, 1.0, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation negative predictive value",
    direction="maximize",
    range=(0, 1),
    optimum=1,
)
def orientation_npv(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's tails on shared adjacencies that are right.

    tn / (tn + fn), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_npv("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.tn, ends.tn + ends.fn, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation specificity",
    direction="maximize",
    range=(0, 1),
    optimum=1,
)
def orientation_specificity(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's tails on shared adjacencies that were found.

    tn / (tn + fp), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_specificity("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.6666666666666666
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.tn, ends.tn + ends.fp, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation false discovery rate",
    direction="minimize",
    range=(0, 1),
    optimum=0,
)
def orientation_fdr(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's arrowheads on shared adjacencies that are wrong.

    fp / (tp + fp), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_fdr("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.fp, ends.tp + ends.fp, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation false omission rate",
    direction="minimize",
    range=(0, 1),
    optimum=0,
)
def orientation_for(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's tails on shared adjacencies that are wrong.

    fn / (tn + fn), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a DAG
    every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_for("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5
    """
    ends = shared_endpoints(pairs)
    return ratio(ends.fn, ends.tn + ends.fn, zero_division)


@metric(
    **_CONDITIONAL,
    closed_form="reversal",
    long_name="orientation G1",
    direction="maximize",
    range=(0, 1),
    optimum=1,
    symmetric=True,
)
def orientation_g1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Score tails as F1 scores arrowheads.

    2 tn / (2 tn + fp + fn), conditional on shared adjacencies; 0/0 in particular if there are none. For a DAG against a
    DAG every wrong direction is one fp and one fn.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.orientation_g1("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
    0.5714285714285714
    """
    ends = shared_endpoints(pairs)
    return ratio(2 * ends.tn, 2 * ends.tn + ends.fp + ends.fn, zero_division)
