"""Weights of runs: answers to some questions count more than others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import name_row
from ..contract.field import Field
from ..tables.columns import numbers
from .schema import METRIC_VARIABLES, values_of

#: column of a table of answers, and coordinate of a cube of them
COLUMN, WEIGHT = "weight", "run_weight"
#: parts of a metric that are distances, and those that weights leave alone; the others are values of the metric
_DISTANCES, _ALONE = ("control_mean_se", "control_loss"), ("p", "chosen")


def read_weights(table: pd.DataFrame, field: Field, used: Sequence[Hashable]) -> NDArray[np.float64] | None:
    """Return the column `weight` of a table of answers; None without one, or where it is `used` for something else."""
    if not field.unit or COLUMN not in table.columns or COLUMN in used:
        return None
    weights = numbers(table, COLUMN, COLUMN)
    wrong = ~((weights > 0) & np.isfinite(weights))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"{name_row(row, table.index)}: found the weight {weights[row]:g}, expected a positive number; leave "
            "answers that do not count out of the table, or give the column another name if it holds no weights"
        )
    return weights


def weighted(part: xr.Dataset, metric: str, missing: str = "drop") -> xr.Dataset:
    """Return a cube of one metric in which runs of equal weight stand for those of its own weights.

    A run of the weight w lies w times as far from the optimum, so that means of a stratum are weighted means, and so
    are losses, effects and the sums that tests rest on. Weights have the mean 1 in each stratum.
    """
    if WEIGHT not in part.coords or metric in values_of(part):
        return part
    optimum = float(part[metric].attrs["optimum"])
    if not np.isfinite(optimum):
        raise ValueError(f"{metric} has no finite optimum, so that runs have no weights; drop the column {COLUMN!r}")
    if missing == "worst":
        raise ValueError(f"missing='worst' counts all failed runs alike; drop the column {COLUMN!r} before cube()")
    weights = part[WEIGHT].where(part[metric].notnull())
    weights = weights / weights.mean("replicate")
    changed = {}
    for variable in METRIC_VARIABLES.values():
        name = variable.name(metric)
        if name in part and variable.part not in _ALONE:
            values = part[name]
            middle = 0.0 if variable.part in _DISTANCES else optimum
            moved = (middle + weights * (values - middle)).transpose(*values.dims)
            changed[name] = values.copy(data=moved.to_numpy())
    return part.assign(changed)
