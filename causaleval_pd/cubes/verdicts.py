"""Estimates that data judge without a truth: whether any of them could be better than relabelled ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.field import FIELDS
from ..contract.metric import METRICS
from .reading import clusters_of_runs, strata_dims
from .schema import SCORED, values_of
from .worst_case import cells

#: verdict where even the best relabelling of a stratum's estimates could not reach alpha
UNINFORMATIVE = "uninformative"


def has_floors(cube: xr.Dataset) -> bool:
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


def with_floors(table: pd.DataFrame, cube: xr.Dataset, metric: str, alpha: float) -> pd.DataFrame:
    """Mark the verdicts of strata whose smallest possible p, the product of those of clusters, exceeds alpha."""
    known, joint = METRICS.get(metric), FIELDS[str(cube.attrs["field"])].joint_null if has_floors(cube) else None
    if joint is None or known is None or known.truth_kinds:
        return table
    floors = cluster_floors(cube)
    least = np.array([float(np.prod(x.to_numpy(np.float64))) if len(x) else 0.0 for x in floors])
    few = (least > alpha) & (table["null"] == joint.name).to_numpy(bool) & (table["n_runs"] > 0).to_numpy()
    return table.assign(verdict=table["verdict"].mask(few, UNINFORMATIVE))
