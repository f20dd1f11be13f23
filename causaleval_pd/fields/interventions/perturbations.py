"""Data under perturbations: how the values of each node change where another one is perturbed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_type, nearest
from ..baselines.data_matrix import read_data

Floats = NDArray[np.float64]


class Shifts(NamedTuple):
    """Changes of each node (column) under perturbation of each other one (row), NaN where a node is not perturbed."""

    #: (d, d): Wasserstein-1 distance between observational values of the node and those under perturbation
    distance: Floats
    #: (d, d): two-sided p-value of Mann and Whitney's test of the same samples
    p: Floats


def read_shifts(data: Any, label: Any, nodes: tuple[str, ...]) -> Shifts:
    """Compare the cases of each perturbation with the observational ones."""
    check_type(data, pd.DataFrame, "a DataFrame with one case per row", "data")
    check_type(label, str, "the name of a column of the data", "perturbed")
    if label not in data.columns or label in nodes:
        what = "is a node" if label in nodes else "is not a column of the data"
        raise ValueError(
            f"perturbed={label!r} {what}; {nearest(label, data.columns)}name the column of the data that "
            "names the perturbed node of each case"
        )
    values = read_data(data, nodes).values
    labels = data[label].astype(object).where(data[label].notna(), "").to_numpy()
    other = [x for x in dict.fromkeys(labels.tolist()) if x != "" and x not in nodes]
    if other:
        raise ValueError(
            f"column {label!r} of data holds {other[0]!r}, which is not a node ({(labels == other[0]).sum()} cases); "
            "make the label of observational cases missing, and leave out cases in which other nodes are perturbed"
        )
    base = values[labels == ""]
    if not len(base):
        raise ValueError(f"column {label!r} of data is missing in no case, so that no case is observational")
    d = len(nodes)
    distance, p = np.full((d, d), np.nan), np.full((d, d), np.nan)
    for i, name in enumerate(nodes):
        changed = values[labels == name]
        if len(changed):
            distance[i], p[i] = wasserstein(base, changed), _mann_whitney(base, changed)
    np.fill_diagonal(distance, np.nan)
    np.fill_diagonal(p, np.nan)
    return Shifts(distance, p)


def wasserstein(one: Floats, other: Floats) -> Floats:
    """Return the Wasserstein-1 distance between the samples in each column."""
    values = np.concatenate([one, other])
    order = np.argsort(values, axis=0, kind="stable")
    gaps = np.diff(np.take_along_axis(values, order, axis=0), axis=0)
    first = np.cumsum(order < len(one), axis=0)[:-1]
    rank = np.arange(1, len(values))[:, None]
    return np.asarray((np.abs(first / len(one) - (rank - first) / len(other)) * gaps).sum(axis=0))


def _mann_whitney(one: Floats, other: Floats) -> Floats:
    # scipy.stats is imported where it is used
    from scipy import stats

    values = np.sort(np.concatenate([one, other]), axis=0)
    tied = (values[1:] == values[:-1]).any(axis=0)
    found = np.ones(values.shape[1])
    # columns with and without ties apart: a tie in any column of a call makes scipy approximate the p-values of all
    for columns in (tied, ~tied):
        if columns.any():
            with np.errstate(divide="ignore", invalid="ignore"):
                found[columns] = stats.mannwhitneyu(one[:, columns], other[:, columns], axis=0).pvalue
    # equal constants differ in nothing
    return np.where(np.isnan(found), 1.0, found)
