"""Put a cube together: values of rows in its cells, sums of strata, null models side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..contract.metric import Metric
from .runs import Runs
from .schema import (
    CARRIED,
    CUBE_VARIABLES,
    DRAW_VARIABLES,
    FAILED,
    METRIC,
    ROW_VARIABLES,
    SCORED,
    Variable,
)
from .scores import MetricScores
from .strata import Grid

#: dimensions, values and attributes of a variable
Made = tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]


def metric_attrs(metric: Metric) -> dict[str, Any]:
    """Return a metric's spec as attributes that netCDF and Zarr can store."""
    return {
        "direction": metric.direction or "none",
        "valid_range": list(metric.range),
        "optimum": metric.optimum,
        "references": metric.reference,
        "options": json.dumps({k: v for k, v in metric.options.items() if k != "zero_division"}, default=str),
    }


def assemble(runs: Runs, grid: Grid, scores: Sequence[MetricScores], attrs: dict[str, Any]) -> xr.Dataset:
    """Return the cube.

    Parameters
    ----------
    runs : Runs
        The rows.
    grid : Grid
        Their places.
    scores : sequence of MetricScores
        Their scores, and those of their controls.
    attrs : dict
        Attributes of the settings and the controls.

    Returns
    -------
    Dataset
        With a dimension `null` where there are several null models.
    """
    variables = _of_runs(runs, grid)
    for found in scores:
        variables |= _of_metric(found, grid)
    nulls = [by_null.null for by_null in scores[-1].nulls] if scores else []
    coordinates: dict[str, Any] = {"replicate": grid.replicates}
    if len(nulls) > 1:
        coordinates["null"] = np.array(nulls, dtype=object)
    for axis in grid.axes:
        coordinates[axis.name] = axis.labels
        coordinates |= {name: (axis.name, array) for name, array in axis.extra.items()}
    own = {
        "strata": json.dumps(list(grid.strata_dims)),
        "metrics": json.dumps([found.metric.name for found in scores]),
        "field": runs.tasks[0].field.name,
    }
    # the null model belongs to the metric; the cube names it where all metrics have the same
    named = {_null_names(found) for found in scores if found.nulls}
    null = {"control_null": named.pop()} if len(named) == 1 else {}
    return xr.Dataset(variables, coordinates, own | attrs | null)


def _of_runs(runs: Runs, grid: Grid) -> dict[str, Made]:
    """Return the variables that a cube has besides its metrics."""
    truth_id = np.zeros(len(runs.failed), np.int64) if runs.truth_id is None else runs.truth_id
    status, identity, n_obs = (CUBE_VARIABLES[name] for name in ("status", "truth_id", "n_obs"))
    return {
        "status": _placed(status, np.where(runs.failed, FAILED, SCORED), grid),
        "truth_id": _placed(identity, truth_id, grid),
        "n_obs": _shaped(n_obs, np.bincount(grid.stratum, minlength=grid.n_strata), grid),
        **{name: _placed(CARRIED, values, grid, name, name) for name, values in runs.carried.items()},
    }


def _of_metric(scores: MetricScores, grid: Grid) -> dict[str, Made]:
    """Return the variables of a metric."""
    name, label = scores.metric.name, scores.metric.long_name
    spec = metric_attrs(scores.metric) | ({"control_null": _null_names(scores)} if scores.nulls else {})
    variables = {name: _placed(METRIC, scores.observed, grid, name, label, **spec)}
    nulls = [found.null for found in scores.nulls]
    for part, row in ROW_VARIABLES.items() if nulls else ():
        layers = [
            _placed(row, x.rows[part], grid, name, label, **({"method": x.methods[part]} if part in x.methods else {}))
            for x in scores.nulls
        ]
        variables[row.name(name)] = _stacked(layers, nulls, row.fill)
    for part in scores.nulls[0].draws if nulls else ():
        drawn = DRAW_VARIABLES[part]
        layers = [_shaped(drawn, x.draws[part], grid, name, label) for x in scores.nulls]
        variables[drawn.name(name)] = _stacked(layers, nulls, drawn.fill)
    return variables


def _null_names(scores: MetricScores) -> str:
    return ", ".join(found.null for found in scores.nulls)


def _placed(
    variable: Variable, rows: NDArray[Any], grid: Grid, metric: str = "", label: str = "", **attrs: Any
) -> Made:
    """Place a value a row, or one a coordinate of the metric's own dimensions, in the cells of the cube."""
    cells = np.full((grid.n_cells, *rows.shape[1:]), variable.fill, variable.dtype)
    cells[grid.cell] = rows
    return _shaped(variable, cells, grid, metric, label, **attrs)


def _shaped(
    variable: Variable, values: NDArray[Any], grid: Grid, metric: str = "", label: str = "", **attrs: Any
) -> Made:
    """Give the dimensions of the cube to an array whose first axis runs over cells, or over strata."""
    replicates = [len(grid.replicates)] if "replicate" in variable.over else []
    shape = (*grid.strata_shape, *replicates, *values.shape[1:])
    return (*grid.strata_dims, *variable.dims(metric)), values.reshape(shape), variable.describe(label) | attrs


def _stacked(layers: list[Made], nulls: Sequence[str], fill: float) -> Made:
    """Lay a variable of several null models side by side; value tables of different lengths are padded."""
    if len(layers) == 1:
        return layers[0]
    dims, _, attrs = layers[0]
    width = max(array.shape[-1] for _, array, _ in layers)
    padded = []
    for _, array, _ in layers:
        room = [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])]
        padded.append(np.pad(array, room, constant_values=fill))
    if "method" in attrs:
        methods = [f"{null}: {layer[2]['method']}" for null, layer in zip(nulls, layers, strict=True)]
        attrs = attrs | {"method": "; ".join(methods)}
    return ("null", *dims), np.stack(padded), attrs
