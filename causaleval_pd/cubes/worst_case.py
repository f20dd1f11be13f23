"""Values of a cube by stratum, and failed runs counted as the worst result, for tests of how much they matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import xarray as xr
from numpy.typing import NDArray

from .reading import control_values, has_controls
from .schema import FAILED


def cells(array: xr.DataArray, dims: Sequence[str], last: Sequence[str] = ("replicate",)) -> NDArray[Any]:
    """Return the values with the strata as one leading axis."""
    values = array.transpose(*dims, *last).to_numpy()
    return values.reshape(math.prod(values.shape[: len(dims)]), *values.shape[len(dims) :])


def fill_failed(cube: xr.Dataset, name: str, pool: Sequence[str] = ()) -> xr.Dataset:
    """Give failed runs the worst value of a metric, which must have a direction; NaN without values.

    It is the end of the metric's range away from its optimum; where that is infinite, the worst value among the
    stratum's estimates and controls, over the dimensions `pool` together.
    """
    spec = cube[name].attrs
    direction, optimum = spec["direction"], float(spec["optimum"])
    if direction not in ("minimize", "maximize", "zero"):
        raise ValueError(f"{name} has no direction, so failed runs have no worst value; use missing='drop'")
    low, high = (float(x) for x in spec["valid_range"])
    farthest = max(low, high, key=lambda end: abs(end - optimum))
    worst: float | xr.DataArray = {"minimize": high, "maximize": low, "zero": farthest}[direction]
    if not math.isfinite(worst):
        sign = -1.0 if direction == "maximize" else 1.0

        def loss(values: xr.DataArray) -> xr.DataArray:
            return abs(values - optimum) if direction == "zero" else sign * values

        found = loss(cube[name]).max(["replicate", *pool])
        if has_controls(cube, name):
            values = control_values(cube, name)
            if values.sizes["__value__"]:
                nulls = ["null"] if "null" in values.dims and "null" not in cube[name].dims else []
                other = loss(values).max(["__value__", *pool, *nulls])
                found = found.where(~(other > found), other)
        worst = optimum + found if direction == "zero" else sign * found
    return cube.assign({name: cube[name].where(cube["status"] != FAILED, worst).assign_attrs(spec)})
