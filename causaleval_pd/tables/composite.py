"""Composite null models: of each row, the member with the largest p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd


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
        has no p, because that might be the largest; its other columns are those of the first member.
    """
    p = np.stack([np.asarray(columns[f"{metric}_p"], np.float64) for columns in members])
    lacking = np.isnan(p).any(axis=0)
    worst = np.where(lacking, 0, np.nan_to_num(p).argmax(axis=0))
    result = {name: _choose([columns[name] for columns in members], worst) for name in members[0]}
    result[metric] = members[0][metric]
    result[f"{metric}_p"] = np.where(lacking, np.nan, result[f"{metric}_p"])
    result[f"{metric}_p_se"] = np.where(lacking, np.nan, result[f"{metric}_p_se"])
    result[f"{metric}_p_at_floor"][lacking] = pd.NA
    words = result[f"{metric}_p_method"]
    result[f"{metric}_p_method"] = pd.Categorical.from_codes(np.where(lacking, -1, words.codes), words.categories)
    result[f"{metric}_control_null"] = pd.array(np.array(names, object)[worst], dtype="str")
    return result


def _choose(columns: Sequence[Any], worst: Any) -> Any:
    """Take each row from the column of its number."""
    every = np.arange(len(worst))
    if isinstance(columns[0], pd.Categorical):
        words = list(dict.fromkeys(word for column in columns for word in column.categories))
        chosen = np.stack([column.astype(object) for column in columns])[worst, every]
        return pd.Categorical(chosen, words)
    chosen = np.stack([np.asarray(column) for column in columns])[worst, every]
    kind = getattr(columns[0], "dtype", None)
    return pd.array(chosen, dtype=kind) if isinstance(kind, pd.api.extensions.ExtensionDtype) else chosen
