"""Total effects of linear models, of a known one and as a graph estimates them from data, and metrics of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.metric import metric
from ...contract.options import with_example, with_options
from ...graphs.kernels.planes import matrices_from_planes
from ...graphs.pairs import GraphPairs
from ..baselines.rules import check_regular, complete_data, correlations, read_data
from ..causal_kl.cells import GaussianNetwork
from .row_inputs import groups

__all__ = ["total_effect_mae", "total_effect_rmse", "total_effect_scaled"]

#: how total effects are estimated with a graph
EffectEstimator = Literal["adjustment", "sem"]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]


def read_weights(given: Any, nodes: tuple[str, ...]) -> Floats:
    """Read the coefficients of a linear model, (d, d), the weight of i -> j in cell (i, j)."""
    if isinstance(given, GaussianNetwork):
        weights: Mapping[str, Any] = given.coefficients
        table = pd.DataFrame(0.0, index=list(given.nodes), columns=list(given.nodes))
        for name, parents in given.parents.items():
            table.loc[sorted(parents), name] = weights[name]
    elif isinstance(given, pd.DataFrame):
        table = given
    else:
        raise TypeError(
            "coefficients must be a GaussianNetwork, or a DataFrame with sources as index and targets as columns; "
            f"found {type(given).__name__}"
        )
    for labels, side in ((table.index, "index"), (table.columns, "columns")):
        if sorted(labels.tolist(), key=str) != sorted(nodes):
            raise ValueError(
                f"the {side} of coefficients holds {labels.tolist()[:10]}, expected the nodes {list(nodes)[:10]}"
            )
    try:
        values = table.loc[list(nodes), list(nodes)].to_numpy(np.float64)
    except (TypeError, ValueError):
        raise ValueError("coefficients must be numbers, 0 where there is no edge") from None
    if not np.isfinite(values).all():
        raise ValueError("coefficients must be finite numbers, 0 where there is no edge")
    left = values != 0
    for _ in nodes:
        left = left & left.any(axis=0)[:, None]  # an arc stays if its source has a parent
    if left.any():
        raise ValueError("the arcs of coefficients have a directed cycle, so that total effects are not defined")
    return values


def effects_of_weights(weights: Floats) -> Floats:
    """Return the total effects (..., d, d) of linear models: (I - W)^-1 - I."""
    same = np.eye(weights.shape[-1])
    return np.asarray(np.linalg.inv(same - weights) - same)


def adjusted_effects(covariance: Floats, arcs: Marks) -> Floats:
    """Estimate total effects of i on j by regression of j on i and the parents of i; 0 if j is one of these."""
    d = len(covariance)
    effects = np.zeros(arcs.shape)
    for i in range(d):
        parents = arcs[:, :, i]
        for rows, chosen in _by_number(parents):
            regressors = np.hstack([np.full((len(rows), 1), i), chosen])
            inner = covariance[regressors[:, :, None], regressors[:, None, :]]
            first = np.zeros((len(rows), regressors.shape[1], 1))
            first[:, 0] = 1
            weights = np.linalg.solve(inner, first)[:, :, 0]
            effects[rows, i] = np.einsum("nk,nkd->nd", weights, covariance[regressors])
        effects[:, i][parents] = 0
        effects[:, i, i] = 0
    return effects


def fitted_effects(covariance: Floats, arcs: Marks) -> Floats:
    """Estimate total effects by path tracing in the linear model that is fitted to each DAG; as `adjusted_effects`."""
    weights = np.zeros(arcs.shape)
    for j in range(len(covariance)):
        for rows, chosen in _by_number(arcs[:, :, j]):
            if chosen.shape[1]:
                inner = covariance[chosen[:, :, None], chosen[:, None, :]]
                weights[rows[:, None], chosen, j] = np.linalg.solve(inner, covariance[chosen, j][:, :, None])[:, :, 0]
    return effects_of_weights(weights)


def _by_number(parents: Marks) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows that have the same number of parents, with the positions of these, (n, k)."""
    numbers = parents.sum(axis=1)
    groups = []
    for k in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == k)
        groups.append((rows, np.nonzero(parents[rows])[1].reshape(len(rows), k)))
    return groups


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
_OPTIONS = {
    "pairs": """pairs : GraphPairs
    Estimates with `context={"data": frame, "coefficients": weights}`.""",
    "estimator": """estimator : {"adjustment", "sem"}
    "adjustment" regresses j on i and the estimated parents of i, and takes 0 for these parents, as SID and the
    adjustment distances judge graphs; "sem" traces the paths of the linear model that is fitted to the graph.""",
}
_EXAMPLE = """>>> import pandas as pd
>>> import causaleval_pd as ce
>>> data = pd.DataFrame({{"A": [-1.0, 1, -1, 1], "B": {b}}})
>>> model = ce.GaussianNetwork({{"A": [], "B": ["A"]}}, {{"B": [{slope}]}}, {{"A": 1, "B": 1}})
>>> runs = pd.DataFrame({{"estimate": ["A -> B", "A; B", "B -> A"]}})
>>> context = {{"data": data, "coefficients": model}}
>>> ce.evaluate(runs, ["{name}"], truth=None, context=context)["{name}"].round(6).tolist()
{values}"""


class Known(NamedTuple):
    """True total effects, (d, d), and the covariance matrix of the data."""

    effects: Floats
    covariance: Floats


@metric(**_ERROR, long_name="mean absolute error of total effects")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, b=[-3.0, 1, -1, 3], slope=2, values="[0.0, 0.2, 1.2]")
def total_effect_mae(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Average the absolute errors of the total effects over all ordered pairs of nodes.

    True effects are those of the linear model in the context, (I - W)^-1 - I; the estimate's are linear regressions on
    the data in the context.
    """
    return np.asarray(np.abs(_errors(pairs, "total_effect_mae", estimator)).mean(axis=1))


@metric(**_ERROR, long_name="root mean squared error of total effects")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, b=[-3.0, 1, -1, 3], slope=2, values="[0.0, 0.282843, 1.442221]")
def total_effect_rmse(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Take the root of the mean squared error of the total effects over all ordered pairs of nodes."""
    return np.asarray(np.sqrt((_errors(pairs, "total_effect_rmse", estimator) ** 2).mean(axis=1)))


@metric(**_ERROR, long_name="mean absolute error of standardised total effects")
@with_options(_OPTIONS)
@with_example(_EXAMPLE, b=[-30.0, 10, -10, 30], slope=20, values="[0.0, 0.447214, 0.894427]")
def total_effect_scaled(pairs: GraphPairs, *, estimator: EffectEstimator = "adjustment") -> Floats:
    """Average the absolute errors of the total effects of i on j in units of sd(j) / sd(i), which has no scale."""
    return np.asarray(np.abs(_errors(pairs, "total_effect_scaled", estimator, scaled=True)).mean(axis=1))


def _errors(pairs: GraphPairs, name: str, estimator: str, *, scaled: bool = False) -> Floats:
    """Return the errors of the total effects, (n, d (d - 1))."""
    check_choice(estimator, ("adjustment", "sem"), "estimator")
    d = pairs.n_nodes
    errors = np.full((pairs.n, max(1, d * (d - 1))), np.nan)
    if d < 2:
        return errors
    estimate = adjusted_effects if estimator == "adjustment" else fitted_effects
    off = ~np.eye(d, dtype=bool)
    for group in groups(pairs, name, ["data", "coefficients"], _HINT):
        inputs = complete_data(group.values, group.nodes), group.values["coefficients"], group.nodes
        known: Known = group.compute("effects", partial(_read, *inputs))
        arcs = matrices_from_planes(pairs.estimate.planes[pairs.estimate_index[group.rows]], d).astype(bool)
        error = estimate(known.covariance, arcs) - known.effects
        if scaled:
            sd = np.sqrt(np.diag(known.covariance))
            error = error * (sd[:, None] / sd[None, :])
        errors[group.rows] = error[:, off]
    return errors


def _read(data: Any, coefficients: Any, nodes: tuple[str, ...]) -> Known:
    matrix = read_data(data, nodes)
    n, d = matrix.values.shape
    if n <= d:
        raise ValueError(f"data has {n} cases, too few for a regression on {d - 1} variables: it needs more than {d}")
    check_regular(correlations(matrix), nodes)
    return Known(effects_of_weights(read_weights(coefficients, nodes)), np.cov(matrix.values.T))
