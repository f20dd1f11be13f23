"""Composite null models: of each row, the member with the largest p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def worst_rows(metric: str, members: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """Take the columns of a metric from the member with the largest p of each row, and name it.

    Parameters
    ----------
    metric : str
        Name of the metric.
    members : sequence of mappings
        The metric's columns under each member.
    names : sequence of str
        Names of the members.

    Returns
    -------
    dict
        The columns and `m_control_null`. Among equal p the first member counts. A row that lacks a p under one member
        has no p, because that might be the largest; its columns that do not describe p are those of the first member.
    """
    worst, of_p = largest_p([np.asarray(columns[f"{metric}_p"], np.float64) for columns in members])
    result = {
        name: _choose([columns[name] for columns in members], of_p if name.startswith(f"{metric}_p") else worst)
        for name in members[0]
    }
    result[metric] = members[0][metric]
    result[f"{metric}_control_null"] = pd.array(np.array(names, object)[worst], dtype="str")
    return result


def largest_p(p: Sequence[NDArray[np.float64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the member with the largest p of each row, and the member whose p is the row's.

    Both are the first member with the largest p. Where members lack a p, the first one is that of the row, and the p is
    that of the first member that lacks it.

    Examples
    --------
    >>> worst, of_p = largest_p([np.array([0.1, 0.3, 0.3]), np.array([0.2, 0.3, np.nan])])
    >>> worst.tolist(), of_p.tolist()
    ([1, 0, 0], [1, 0, 1])
    """
    stacked = np.stack(p)
    lacking = np.isnan(stacked)
    of_p = np.where(lacking, np.inf, stacked).argmax(axis=0)
    return np.where(lacking.any(axis=0), 0, of_p), of_p


def _choose(columns: Sequence[Any], chosen: Any) -> Any:
    """Take each row from the column of its number."""
    every = np.arange(len(chosen))
    if isinstance(columns[0], pd.Categorical):
        words = list(dict.fromkeys(word for column in columns for word in column.categories))
        return pd.Categorical(np.stack([column.astype(object) for column in columns])[chosen, every], words)
    found = np.stack([np.asarray(column) for column in columns])[chosen, every]
    kind = getattr(columns[0], "dtype", None)
    return pd.array(found, dtype=kind) if isinstance(kind, pd.api.extensions.ExtensionDtype) else found
