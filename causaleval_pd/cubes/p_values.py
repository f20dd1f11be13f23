"""P-values of strata: from draws, or where the cube has them from exact laws; which are at the floor of the draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..statistics.stratum_statistic import COMBINATIONS, Statistic
from .reading import cluster_setting, strata_dims, tested
from .schema import COMBINED, COMBINED_AT_FLOOR, FLOOR_METHODS, NO_RUN, TAIL_METHODS, TAIL_VARIABLES
from .stratum_tests import StratumTests, stratum_tests
from .worst_case import cells

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: p below which no smaller one matters: no family of tests needs less
NEGLIGIBLE_P = 1e-12


class StratumP(NamedTuple):
    """P-values of strata, (n_strata,) each.

    `at_floor` marks p-values that no draw reached, so that more draws may make them smaller: they are upper bounds.
    `low` and `high` are limits of p-values that do not rest on draws; `method` holds words, None without a p-value.
    """

    p: Floats
    se: Floats
    low: Floats
    high: Floats
    at_floor: Bools
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
    nothing = np.full(len(p), np.nan)
    return StratumP(p, np.sqrt(p * (1 - p) / n), nothing, nothing, floor, tests.p_methods(cluster, able))


class StratumTails(NamedTuple):
    """P-values of strata that do not rest on draws, with their limits, (n_strata,) each; the method 0 where none is."""

    p: Floats
    low: Floats
    high: Floats
    #: numbers in `schema.TAIL_METHODS`
    method: Ints

    def take(self, strata: slice) -> StratumTails:
        """Return those of some strata."""
        return StratumTails(self.p[strata], self.low[strata], self.high[strata], self.method[strata])

    def merge(self, other: StratumTails) -> StratumTails:
        """Take each from the part of the runs that has one: that with all runs of the stratum."""
        mine = self.method > 0
        p, low, high = (np.where(mine, x, y) for x, y in zip(self[:3], other[:3], strict=True))
        return StratumTails(p, low, high, np.where(mine, self.method, other.method))

    def replace(self, found: StratumP, but: Bools | None = None) -> StratumP:
        """Replace p-values of draws, `but` those of some strata."""
        used = (self.method > 0) & ~np.isnan(found.p)
        used = used if but is None else used & ~but
        words = np.array(TAIL_METHODS, object)[self.method]
        floor = np.isin(words, FLOOR_METHODS)
        combined = np.isin(words, [COMBINED, COMBINED_AT_FLOOR])
        se = np.where(combined, np.sqrt(self.p * (1 - self.p) / COMBINATIONS), np.where(self.method == 1, 0.0, np.nan))
        # how the draws were made still holds
        pairs = zip(found.method.tolist(), words.tolist(), strict=True)
        words = np.array([f"{x}, {COMBINED}" if y.startswith(COMBINED) else y for x, y in pairs], object)
        return StratumP(
            np.where(used, self.p, found.p),
            np.where(used, se, found.se),
            np.where(used, self.low, found.low),
            np.where(used, self.high, found.high),
            np.where(used, floor, found.at_floor),
            np.where(used, words, found.method),
        )


def stratum_tails(cube: xr.Dataset, metric: str, statistic: Statistic) -> StratumTails | None:
    """Return the p-values of whole strata that a cube has besides those of draws; None where it has no such variables.

    They do not hold for strata of which runs were taken out since the cube was made.
    """
    kept = _of_strata(cube, metric, statistic, ("p", "p_low", "p_high", "p_method"))
    if kept is None:
        return None
    (p, low, high, method), whole = kept
    return StratumTails(p, low, high, np.where(whole, method, 0).astype(np.int64))


def with_tails(
    found: StratumP, cube: xr.Dataset, metric: str, statistic: Statistic, but: Bools | None = None
) -> StratumP:
    """Replace p-values of draws by those that the cube has of whole strata, `but` those of some."""
    tails = stratum_tails(cube, metric, statistic)
    return found if tails is None else tails.replace(found, but)


def _of_strata(
    cube: xr.Dataset, metric: str, statistic: Statistic, parts: Sequence[str]
) -> tuple[list[Floats], Bools] | None:
    """Return what the cube has of whole strata, and which strata still have the runs that it was made of."""
    dims = strata_dims(cube)
    if not {f"{statistic}_{part}" for part in parts} <= set(TAIL_VARIABLES):
        return None
    needed = [*(TAIL_VARIABLES[f"{statistic}_{part}"].name(metric) for part in parts), "n_runs"]
    arrays = [_along_runs(cube, cube[name]) if name in cube else None for name in needed]
    if any(array is None or not set(array.dims) <= set(dims) for array in arrays):
        return None
    *found, made = (cells(_over(cube, array, dims), dims, last=()) for array in arrays if array is not None)
    return found, (cells(cube["status"], dims) != NO_RUN).sum(axis=1) == made


def _along_runs(cube: xr.Dataset, array: xr.DataArray) -> xr.DataArray:
    """Return one value a stratum of an array that stack() or where() repeated for its runs; NaN if they differ."""
    if "replicate" not in array.dims:
        return array
    of_runs = array.where(cube["status"] != NO_RUN)
    most = of_runs.max("replicate")
    return most.where(most == of_runs.min("replicate"))


def _over(cube: xr.Dataset, array: xr.DataArray, dims: list[str]) -> xr.DataArray:
    """Repeat an array along the strata that it lacks."""
    return array.expand_dims({dim: cube.sizes[dim] for dim in dims if dim not in array.dims})


def stratum_p(cube: xr.Dataset, metric: str, statistic: Statistic = "mean") -> StratumP:
    """Return the p-values of the strata's tests; NaN where their null model is a point of reference."""
    tests, able = stratum_tests(cube, metric, statistic), tested(cube, metric)
    p = tests.p_values(str(cube[metric].attrs["direction"]), able)
    return with_tails(of_draws(tests, p, cluster_setting(cube), able), cube, metric, statistic)
