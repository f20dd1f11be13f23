"""Verdicts on estimates that data judge: whether they are better than relabelled ones, if that can be seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.field import FIELDS
from ..contract.metric import METRICS
from .reading import clusters_of_runs, strata_dims
from .schema import SCORED, declare_columns, values_of
from .worst_case import cells

Floats = NDArray[np.float64]

UNINFORMATIVE, BETTER, NOT_BETTER = "uninformative", "better than permuted", "not better than permuted"
COLUMNS = declare_columns("verdict", ("verdict",))


def with_verdicts(table: pd.DataFrame, cube: xr.Dataset, metric: str, level: float) -> pd.DataFrame:
    """Add the column `verdict` to the strata of a metric where the cube has the smallest p-values of its runs.

    A stratum's smallest p-value is the product over independent clusters of the smallest of their runs'.
    """
    field = FIELDS.get(str(cube.attrs.get("field")))
    if field is None or not field.floor or field.floor not in values_of(cube):
        return table
    known, joint = METRICS.get(metric), field.joint_null
    p, dims = table["p_value"].to_numpy(np.float64), strata_dims(cube)
    ran = cells(cube["status"], dims) == SCORED
    least = _least(cells(cube[field.floor], dims), np.where(ran, clusters_of_runs(cube), 0))
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


def _least(floors: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Return the smallest p-value of each stratum, of (n_strata, n_runs); 0 where that of a run is not known."""
    found = np.empty(len(floors))
    for at, (values, ids) in enumerate(zip(floors, clusters, strict=True)):
        here = ids != 0
        by_cluster = pd.Series(np.nan_to_num(values[here])).groupby(ids[here]).min()
        found[at] = np.prod(by_cluster.to_numpy(np.float64)) if len(by_cluster) else 0.0
    return found
