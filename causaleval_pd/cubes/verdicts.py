"""Verdicts on estimates that data judge: whether they are better than relabelled ones, if that can be seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.field import FIELDS
from ..contract.metric import METRICS
from .reading import clusters_of_runs, strata_dims
from .schema import SCORED, declare_columns, values_of
from .worst_case import cells

UNINFORMATIVE, BETTER, NOT_BETTER = "uninformative", "better than permuted", "not better than permuted"
COLUMNS = declare_columns("verdict", ("verdict",))


def has_verdicts(cube: xr.Dataset) -> bool:
    """Return whether a cube has the smallest p-values of its runs."""
    field = FIELDS.get(str(cube.attrs.get("field")))
    return field is not None and bool(field.floor) and field.floor in values_of(cube)


def cluster_floors(cube: xr.Dataset) -> list[pd.Series]:
    """Return the smallest p-value of each cluster's runs in each stratum, 0 where that of a run is not known."""
    dims = strata_dims(cube)
    ran = cells(cube["status"], dims) == SCORED
    floors = np.nan_to_num(cells(cube[FIELDS[str(cube.attrs["field"])].floor], dims))
    clusters = np.where(ran, clusters_of_runs(cube), 0)
    return [pd.Series(x[at != 0]).groupby(at[at != 0]).min() for x, at in zip(floors, clusters, strict=True)]


def with_verdicts(table: pd.DataFrame, cube: xr.Dataset, metric: str, level: float) -> pd.DataFrame:
    """Add the column `verdict` to the strata of a metric where the cube has the smallest p-values of its runs.

    A stratum's smallest p-value is the product over independent clusters of the smallest of their runs'.
    """
    if not has_verdicts(cube):
        return table
    known, joint = METRICS.get(metric), FIELDS[str(cube.attrs["field"])].joint_null
    p = table["p_value"].to_numpy(np.float64)
    floors = cluster_floors(cube)
    least = [float(np.prod(found.to_numpy(np.float64))) if len(found) else 0.0 for found in floors]
    words: list[str | None] = [BETTER if one else NOT_BETTER for one in (p <= 1 - level).tolist()]
    null = str(cube[metric].attrs.get("control_null"))
    nulls = table["null"].tolist() if "null" in table else [null] * len(table)
    for row, name in enumerate(nulls):
        if known is None or known.truth_kinds or joint is None or name != joint.name:
            words[row] = None
        elif least[row] > 1 - level:
            words[row] = UNINFORMATIVE
        elif np.isnan(p[row]):
            words[row] = None
    return table.assign(verdict=pd.array(words, dtype="str"))
