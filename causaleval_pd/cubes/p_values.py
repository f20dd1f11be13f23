"""P-values of strata, and which are at the floor of the draws or of their combinations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..statistics.stratum_statistic import COMBINATIONS, Statistic
from .reading import cluster_setting, tested
from .stratum_tests import StratumTests, stratum_tests

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: what a p-value is that no combination of draws reached
LEAST_OF_COMBINATIONS = f"the least of {COMBINATIONS:,} combinations of draws"


class StratumP(NamedTuple):
    """P-values of strata, (n_strata,) each."""

    p: Floats
    se: Floats
    #: p-values that no draw reached: upper bounds, which more draws may make smaller
    at_floor: Bools
    #: words, None without a p-value
    method: NDArray[np.object_]

    @property
    def floor_flags(self) -> pd.arrays.BooleanArray:
        """`at_floor` as a column that is missing for strata without a p-value."""
        return pd.arrays.BooleanArray(self.at_floor, np.isnan(self.p))


def of_draws(tests: StratumTests, p: Floats, cluster: str, able: Bools) -> StratumP:
    """Describe p-values (b + 1) / (n + 1) of n draws or combinations, of the strata that are `able` to have one."""
    n_draws = tests.columns.sums.shape[1] - 1
    n = np.where(tests.by_logs, np.nan, np.where(np.isnan(tests.combined), n_draws, COMBINATIONS))
    floor = np.nan_to_num(p * (n + 1), nan=np.inf) <= 1 + 1e-9
    return StratumP(p, np.sqrt(p * (1 - p) / n), floor, tests.p_methods(cluster, able))


def stratum_p(cube: xr.Dataset, metric: str, statistic: Statistic = "mean") -> StratumP:
    """Return the p-values of the strata's tests; NaN where their null model is a point of reference."""
    tests, able = stratum_tests(cube, metric, statistic), tested(cube, metric)
    p = tests.p_values(str(cube[metric].attrs["direction"]), able)
    return of_draws(tests, p, cluster_setting(cube), able)
