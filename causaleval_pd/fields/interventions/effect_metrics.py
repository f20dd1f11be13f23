"""Metrics of total effects: what a graph makes of the data, against a known linear model."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.metric import metric
from ...graphs.kernels.planes import marks_from_planes
from ...graphs.pairs import GraphPairs
from ..baselines.data_matrix import check_regular, complete_data, correlations, read_data
from .row_inputs import groups
from .total_effects import adjusted_effects, effects_of_weights, fitted_effects, read_weights

__all__ = ["total_effect_mae", "total_effect_rmse", "total_effect_scaled"]

Values = NDArray[np.float64]
#: how total effects are estimated with a graph
EffectEstimator = Literal["adjustment", "sem"]

_HINT = (
    "context={'data': frame, 'coefficients': weights}, where the weights are a GaussianNetwork, or a table with the "
    "sources as index and the targets as columns"
)
_ERROR: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag",),
    "truth_kinds": (),
    "direction": "minimize",
    "range": (0, math.inf),
    "optimum": 0,
    "costly": True,
}


class Known(NamedTuple):
    """True total effects, (d, d), and the covariance matrix of the data."""

    effects: Values
    covariance: Values


@metric(**_ERROR, long_name="mean absolute error of total effects")
def total_effect_mae(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Values:
    """Average the absolute errors of the total effects over all ordered pairs of nodes.

    True effects are those of the linear model in the context, (I - W)^-1 - I; the estimate's are linear regressions on
    the data in the context.

    Parameters
    ----------
    pairs : GraphPairs
        Estimates with `context={"data": frame, "coefficients": weights}`.
    estimator : {"adjustment", "sem"}
        "adjustment" regresses j on i and the estimated parents of i, and takes 0 for these parents, as SID and the
        adjustment distances judge graphs; "sem" traces the paths of the linear model that is fitted to the graph.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> data = pd.DataFrame({"A": [-1.0, 1, -1, 1], "B": [-3.0, 1, -1, 3]})
    >>> model = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [2]}, {"A": 1, "B": 1})
    >>> runs = pd.DataFrame({"estimate": ["A -> B", "A; B", "B -> A"]})
    >>> context = {"data": data, "coefficients": model}
    >>> ce.evaluate(runs, ["total_effect_mae"], truth=None, context=context)["total_effect_mae"].tolist()
    [0.0, 0.2, 1.2]
    """
    return np.asarray(np.abs(_errors(pairs, "total_effect_mae", estimator)).mean(axis=1))


@metric(**_ERROR, long_name="root mean squared error of total effects")
def total_effect_rmse(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Values:
    """Take the root of the mean squared error of the total effects over all ordered pairs of nodes.

    Parameters
    ----------
    pairs : GraphPairs
        Estimates with `context={"data": frame, "coefficients": weights}`, as of `total_effect_mae`.
    estimator : {"adjustment", "sem"}
        As of `total_effect_mae`.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> data = pd.DataFrame({"A": [-1.0, 1, -1, 1], "B": [-3.0, 1, -1, 3]})
    >>> model = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [2]}, {"A": 1, "B": 1})
    >>> runs = pd.DataFrame({"estimate": ["A -> B"]})
    >>> context = {"data": data, "coefficients": model}
    >>> ce.evaluate(runs, ["total_effect_rmse"], truth=None, context=context)["total_effect_rmse"].item()
    0.0
    """
    return np.asarray(np.sqrt((_errors(pairs, "total_effect_rmse", estimator) ** 2).mean(axis=1)))


@metric(**_ERROR, long_name="mean absolute error of standardised total effects")
def total_effect_scaled(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Values:
    """Average the absolute errors of the total effects of i on j in units of sd(j) / sd(i), which has no scale.

    Parameters
    ----------
    pairs : GraphPairs
        Estimates with `context={"data": frame, "coefficients": weights}`, as of `total_effect_mae`.
    estimator : {"adjustment", "sem"}
        As of `total_effect_mae`.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> data = pd.DataFrame({"A": [-1.0, 1, -1, 1], "B": [-30.0, 10, -10, 30]})
    >>> model = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [20]}, {"A": 1, "B": 1})
    >>> runs = pd.DataFrame({"estimate": ["A -> B"]})
    >>> context = {"data": data, "coefficients": model}
    >>> ce.evaluate(runs, ["total_effect_scaled"], truth=None, context=context)["total_effect_scaled"].item()
    0.0
    """
    return np.asarray(np.abs(_errors(pairs, "total_effect_scaled", estimator, scaled=True)).mean(axis=1))


def _errors(pairs: GraphPairs, name: str, estimator: str, *, scaled: bool = False) -> Values:
    """Return the errors of the total effects, (n, d (d - 1))."""
    check_choice(estimator, ("adjustment", "sem"), "estimator")
    d = pairs.n_nodes
    found = np.full((pairs.n, max(1, d * (d - 1))), np.nan)
    if d < 2:
        return found
    estimate = adjusted_effects if estimator == "adjustment" else fitted_effects
    off = ~np.eye(d, dtype=bool)
    for group in groups(pairs, name, ["data", "coefficients"], _HINT):
        given = complete_data(group.values, group.nodes), group.values["coefficients"], group.nodes
        known: Known = group.compute("effects", partial(_read, *given))
        arcs = marks_from_planes(pairs.estimate.planes[pairs.estimate_index[group.rows]], d).astype(bool)
        error = estimate(known.covariance, arcs) - known.effects
        if scaled:
            sd = np.sqrt(np.diag(known.covariance))
            error = error * (sd[:, None] / sd[None, :])
        found[group.rows] = error[:, off]
    return found


def _read(data: Any, coefficients: Any, nodes: tuple[str, ...]) -> Known:
    matrix = read_data(data, nodes)
    n, d = matrix.values.shape
    if n <= d:
        raise ValueError(f"data has {n} cases, too few for a regression on {d - 1} variables: it needs more than {d}")
    check_regular(correlations(matrix), nodes)
    return Known(effects_of_weights(read_weights(coefficients, nodes)), np.cov(matrix.values.T))
