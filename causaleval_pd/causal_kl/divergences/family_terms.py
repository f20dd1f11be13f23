"""The term of one family in a divergence: all terms of a network add up to its value.

The terms depend on the truth, the node, its parents in the estimate and its parameters there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..laws.elimination import Scope
from ..laws.family_laws import laws_of
from ..laws.gaussian_moments import GaussianMoments, moments_of
from ..networks.network import DiscreteNetwork, GaussianNetwork, Network
from ..networks.pairs import row_sums

Floats = NDArray[np.float64]


def discrete_sums(weight: Floats, parameters: Floats) -> Floats:
    """Return the expected log probability of each row of parameters (m, n), by the weights (n,) of their entries."""
    reached = weight > 0
    with np.errstate(divide="ignore"):
        logs = np.log(parameters[:, reached])
    return row_sums(logs * weight[reached])


def gaussian_terms(truth: GaussianMoments, law: str, i: int, parents: Scope, values: Floats) -> Floats:
    """Return the terms of a node for rows of (intercept, coefficients.., variance)."""
    at, weights, variance = list(parents), values[:, 1:-1], values[:, -1]
    shift = truth.means[i] - values[:, 0] - row_sums(weights * truth.means[at])
    if law == "ckl3":
        # the node follows from its true parents; all others have their joint law
        difference = np.tile(truth.weights[i], (len(values), 1))
        difference[:, at] -= weights
        spread = truth.variances[i] + _quadratic(difference, truth.covariance)
    else:
        used = [i, *at]
        difference = np.concatenate([np.ones((len(values), 1)), -weights], axis=1)
        spread = _quadratic(difference, truth.moments(law, i)[np.ix_(used, used)])
    return np.asarray((np.log(variance / truth.variances[i]) - 1 + (spread + shift**2) / variance) / 2)


def _quadratic(rows: Floats, matrix: Floats) -> Floats:
    """Return r' M r for each row r, each summed on its own."""
    return row_sums(row_sums(rows[:, None, :] * matrix) * rows)


def own_term(truth: Network, law: str) -> float:
    """Return what is added to the terms of all families."""
    return laws_of(truth).own_log_probability(law) if isinstance(truth, DiscreteNetwork) else 0.0


def family_term(truth: Network, law: str, i: int, parents: Scope, parameters: Floats) -> float:
    """Return the term of a node whose parameters given these parents are a table or (intercept, .., variance)."""
    rows = parameters.reshape(1, -1)
    if isinstance(truth, GaussianNetwork):
        return float(gaussian_terms(moments_of(truth), law, i, parents, rows)[0])
    if not isinstance(truth, DiscreteNetwork):
        raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(truth).__name__}")
    return -float(discrete_sums(laws_of(truth).family_law(law, i, parents).reshape(-1), rows)[0])
