"""Total effects of linear models: of a known one, and as a graph estimates them from data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..causal_kl.networks.network import GaussianNetwork

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
    found = np.zeros(arcs.shape)
    for i in range(d):
        parents = arcs[:, :, i]
        for rows, chosen in _by_number(parents):
            given = np.hstack([np.full((len(rows), 1), i), chosen])
            inner = covariance[given[:, :, None], given[:, None, :]]
            first = np.zeros((len(rows), given.shape[1], 1))
            first[:, 0] = 1
            weights = np.linalg.solve(inner, first)[:, :, 0]
            found[rows, i] = np.einsum("nk,nkd->nd", weights, covariance[given])
        found[:, i][parents] = 0
        found[:, i, i] = 0
    return found


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
