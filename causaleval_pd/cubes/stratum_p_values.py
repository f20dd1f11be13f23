"""P-values of strata: from draws, or where the cube has them from exact laws; which are at the floor of the draws."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .reading import strata_dims
from .schema import NO_RUN, TAIL_METHODS, TAIL_VARIABLES
from .worst_case import cells

Floats = NDArray[np.float64]


class StratumP(NamedTuple):
    """P-values of strata, (n_strata,) each.

    `at_floor` marks p-values that no draw reached, so that more draws may make them smaller: they are upper bounds.
    `method` is a position in `schema.TAIL_METHODS`, -1 where there is no p-value.
    """

    p: Floats
    se: Floats
    low: Floats
    high: Floats
    at_floor: NDArray[np.bool_]
    method: NDArray[np.int8]

    @property
    def floor_flags(self) -> pd.arrays.BooleanArray:
        """`at_floor` as a column that is missing where there is no p-value."""
        return pd.arrays.BooleanArray(self.at_floor, np.isnan(self.p))

    def where(self, kept: NDArray[np.bool_]) -> StratumP:
        """Drop the p-values of other strata."""
        p, se, low, high = (np.where(kept, x, np.nan) for x in (self.p, self.se, self.low, self.high))
        return StratumP(p, se, low, high, self.at_floor & kept, np.where(kept, self.method, -1).astype(np.int8))

    @property
    def words(self) -> Any:
        """`method` as a column of words."""
        return pd.array([TAIL_METHODS[code] if code >= 0 else None for code in self.method], dtype="str")


def from_draws(p: Floats, n_draws: NDArray[Any]) -> StratumP:
    """Describe p-values (b + 1) / (n + 1) of n draws."""
    n = np.where(n_draws > 0, n_draws, np.nan)
    nothing = np.full(len(p), np.nan)
    floor = np.nan_to_num(p * (n + 1), nan=np.inf) <= 1 + 1e-9
    method = np.where(np.isnan(p), -1, 0).astype(np.int8)
    return StratumP(p, np.sqrt(p * (1 - p) / n), nothing, nothing, floor, method)


def with_tails(
    found: StratumP,
    cube: xr.Dataset,
    metric: str,
    statistic: str = "mean",
    but: NDArray[np.bool_] | None = None,
) -> StratumP:
    """Replace p-values of draws by those that the cube has of whole strata, `but` those of some.

    They do not hold for strata of which runs were taken out since the cube was made.
    """
    dims = strata_dims(cube)
    names = [TAIL_VARIABLES[f"{statistic}_{part}"].name(metric) for part in ("p", "p_low", "p_high", "p_method")]
    if any(name not in cube or not set(cube[name].dims) <= set(dims) for name in names) or "n_runs" not in cube:
        return found
    p, low, high, method = (cells(_over(cube, cube[name], dims), dims, last=()) for name in names)
    here = (cells(cube["status"], dims) != NO_RUN).sum(axis=1)
    made = cells(_over(cube, cube["n_runs"], dims), dims, last=()) if set(cube["n_runs"].dims) <= set(dims) else -1
    used = (method > 0) & (here == made) & ~np.isnan(found.p)
    used = used if but is None else used & ~but
    return StratumP(
        np.where(used, p, found.p),
        np.where(used, 0.0, found.se),
        np.where(used, low, found.low),
        np.where(used, high, found.high),
        found.at_floor & ~used,
        np.where(used, method, found.method).astype(np.int8),
    )


def _over(cube: xr.Dataset, array: xr.DataArray, dims: list[str]) -> xr.DataArray:
    """Repeat an array along the strata that it lacks."""
    return array.expand_dims({dim: cube.sizes[dim] for dim in dims if dim not in array.dims})


def without_p(n_strata: int) -> StratumP:
    """Return missing p-values."""
    return from_draws(np.full(n_strata, math.nan), np.zeros(n_strata))
