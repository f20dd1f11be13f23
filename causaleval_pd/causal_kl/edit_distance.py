"""Edit distances between the DAGs of two networks, plain and weighted by the strength of the arcs in the truth.

References
----------
.. [1] O'Donnell, R., Korb, K., Allison, L. Causal KL: Evaluating causal discovery.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metric import metric
from .divergence import KINDS
from .gaussian import path_coefficients, prepare_gaussian
from .networks import DiscreteNetwork, GaussianNetwork
from .weights import Truth, prepare

Floats = NDArray[np.float64]


@metric(
    field="network",
    kinds=KINDS,
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    null="additive",
    long_name="edit distance",
    symmetric=True,
)
def edit_distance(pairs: Any) -> Floats:
    """Count the arcs to delete and to add; an arc to reverse counts twice.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> ce.edit_distance(truth, turned)
    2.0
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        values[group.rows] = len(group.truth.layout.arcs ^ group.layout.arcs)
    return values


def mutual_information(truth: Truth, a: int, b: int) -> float:
    """Return the mutual information of two nodes under the true law, in nats."""
    joint = truth.joint((a, b))
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


@metric(
    field="network",
    kinds=("discrete",),
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    null="additive",
    long_name="weighted edit distance, dependence",
    costly=True,
)
def wed_d(pairs: Any) -> Floats:
    """Edit distance whose arcs weigh the mutual information of their ends under the true law, in nats.

    WED_D = sum over arcs of one network alone of I(X_i; X_j). An arc to reverse counts twice, and an arc between ends
    that are independent in pairs (exclusive or) costs nothing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> empty = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> round(ce.wed_d(truth, empty), 4)
    0.6931
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        if isinstance(group.truth, DiscreteNetwork):
            truth = prepare(group.truth)
            arcs = sorted(truth.network.layout.arcs ^ group.layout.arcs)
            values[group.rows] = sum(mutual_information(truth, min(arc), max(arc)) for arc in arcs)
    return values


@metric(
    field="network",
    kinds=("gaussian",),
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    null="additive",
    long_name="weighted edit distance, paths",
    costly=True,
)
def wed_p(pairs: Any) -> Floats:
    """Edit distance of linear-Gaussian networks whose arcs weigh their squared standardised coefficient.

    WED_P = sum over arcs of one network alone of p_ij^2. A deleted arc has the coefficient of the truth. An added arc
    has none there; it gets the one that it has when the estimate's DAG is fitted to the true covariance (our choice,
    the definition being silent), so that the estimate's own parameters never matter.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [.6]}, {"A": 1, "B": .64})
    >>> empty = ce.GaussianNetwork({"A": [], "B": []}, {"A": [], "B": []}, {"A": 1, "B": 1})
    >>> round(ce.wed_p(truth, empty), 4)
    0.36
    """
    values = np.empty(pairs.n)
    for group in pairs.groups():
        if isinstance(group.truth, GaussianNetwork):
            truth = prepare_gaussian(group.truth)
            own, estimated = group.truth.layout, group.layout
            deleted, added = path_coefficients(truth, own), path_coefficients(truth, estimated)
            values[group.rows] = sum(deleted[arc] ** 2 for arc in sorted(own.arcs - estimated.arcs)) + sum(
                added[arc] ** 2 for arc in sorted(estimated.arcs - own.arcs)
            )
    return values
