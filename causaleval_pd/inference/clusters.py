"""Which runs of a comparison depend on each other: those of a cluster of the cube."""

from __future__ import annotations

import numpy as np
import xarray as xr

from ..cubes.reading import cluster_ids, cluster_setting
from ..tables.clusters import BY_TRUTH, SINGLE


def run_groups(cube: xr.Dataset) -> xr.DataArray | None:
    """Return the cluster of every run as a number, the same one for the whole cube; None where all are independent."""
    return None if cluster_setting(cube) == SINGLE else cluster_ids(cube).astype(np.int64)


def words_of_clusters(cube: xr.Dataset, single: str) -> str:
    """Return what the clusters of a cube are called; `single` where every run is one."""
    setting = cluster_setting(cube)
    named = {BY_TRUTH: "truths", SINGLE: single}
    return named.get(setting) or f"clusters by {setting.removeprefix('column ')}"
