"""Put a cube together: values of rows in its cells, sums of strata, null models side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..contract.metric import Component, Metric
from ..tables.clusters import BY_TRUTH, SINGLE
from .runs import Runs
from .schema import (
    CARRIED,
    CHOSEN,
    CUBE_VARIABLES,
    DRAW_VARIABLES,
    FAILED,
    METRIC,
    METRIC_VARIABLES,
    ROW_VARIABLES,
    SCORED,
    TAIL_VARIABLES,
    Variable,
    check_numbers,
    settings_number,
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
    """Return the cube of runs and of their scores and controls; several null models are a dimension `null`."""
    variables = _of_runs(runs, grid)
    groups: dict[str, list[MetricScores]] = {}
    for found in scores:
        whole = found.metric if found.metric.component is None else found.metric.component.whole
        groups.setdefault(whole.name, []).append(found)
    own = {
        "strata": json.dumps(list(grid.strata_dims)),
        "metrics": json.dumps(list(groups)),
        "field": runs.tasks[0].field.name,
    }
    for group in groups.values():
        made = _of_metric if group[0].metric.component is None else _of_components
        variables |= made(group, grid, own | attrs)
    # a default null model may differ from metric to metric
    models = zip(*(found.nulls for found in scores), strict=True)
    nulls = [", ".join(dict.fromkeys(by_metric.null for by_metric in model)) for model in models]
    coordinates: dict[str, Any] = {"replicate": grid.replicates}
    if len(nulls) > 1:
        coordinates["null"] = np.array(nulls, dtype=object)
    coordinates |= _own_coordinates([found.metric.component for found in scores if found.metric.component])
    for axis in grid.axes:
        coordinates[axis.name] = axis.labels
        coordinates |= {name: (axis.name, array) for name, array in axis.extra.items()}
    # the null model belongs to the metric; the cube names it where all metrics have the same
    named = {_null_names(found) for found in scores if found.nulls}
    null = {"control_null": named.pop()} if len(named) == 1 else {}
    if any("draw" in dims for dims, _, _ in variables.values()):
        coordinates["draw"] = np.arange(int(attrs["n_draws"]))
    return xr.Dataset(variables, coordinates, own | attrs | null)


def _of_runs(runs: Runs, grid: Grid) -> dict[str, Made]:
    """Return the variables that a cube has besides its metrics."""
    status, identity, n_runs = (CUBE_VARIABLES[name] for name in ("status", "truth_id", "n_runs"))
    named = runs.clusters.setting not in (BY_TRUTH, SINGLE)
    of_column = {"cluster_id": _placed(CUBE_VARIABLES["cluster_id"], runs.clusters.ids, grid)} if named else {}
    candidates = {}
    if runs.candidates is not None:
        sizes = np.bincount(runs.candidates.group)
        candidates = {"n_candidates": _placed(CUBE_VARIABLES["n_candidates"], sizes, grid)}
    return {
        "status": _placed(status, np.where(runs.failed, FAILED, SCORED), grid),
        "truth_id": _placed(identity, runs.truth_id, grid),
        **of_column,
        **candidates,
        "n_runs": _shaped(n_runs, np.bincount(grid.stratum, minlength=grid.n_strata), grid),
        **{
            name: _placed(CARRIED, values, grid, name, name, direction=runs.directions[name])
            for name, values in runs.carried.items()
        },
    }


def _of_metric(group: Sequence[MetricScores], grid: Grid, cube: Mapping[str, Any]) -> dict[str, Made]:
    """Return the variables of a metric, the only one of its group; `cube` has the attributes of the cube."""
    [scores] = group
    name, label = scores.metric.name, scores.metric.long_name
    spec = metric_attrs(scores.metric)
    nulls = [found.null for found in scores.nulls]
    numbers = [settings_number(cube, {**spec, "control_null": null}) for null in nulls or [""]]
    spec |= {"control_null": _null_names(scores)} if nulls else {}
    spec["settings"] = numbers if len(numbers) > 1 else numbers[0]
    variables = {name: _placed(METRIC, scores.observed, grid, name, label, **spec)}
    if scores.chosen is not None:
        variables[CHOSEN.name(name)] = _placed(CHOSEN, scores.chosen, grid, name, label)
    defined = METRIC_VARIABLES["defined"]
    variables[defined.name(name)] = _placed(defined, check_numbers(scores.observed), grid, name, label)
    variables[METRIC_VARIABLES["settings"].name(name)] = _settings(scores.metric, numbers, grid)
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
    for part in scores.nulls[0].tails if nulls else ():
        tail = TAIL_VARIABLES[part]
        layers = [_shaped(tail, x.tails[part], grid, name, label) for x in scores.nulls]
        variables[tail.name(name)] = _stacked(layers, nulls, tail.fill)
    for part, cells in scores.relabelled.items():
        joint = DRAW_VARIABLES[part]
        variables[joint.name(name)] = _shaped(joint, cells, grid, name, label)
    return variables


def _settings(metric: Metric, numbers: Sequence[int], grid: Grid) -> Made:
    """Return the numbers of a metric's settings under each null model, in the strata that have runs."""
    variable, filled = METRIC_VARIABLES["settings"], np.bincount(grid.stratum, minlength=grid.n_strata) > 0
    layers = [
        _shaped(variable, np.where(filled, number, variable.fill), grid, metric.name, metric.long_name)
        for number in numbers
    ]
    dims, first, attrs = layers[0]
    return (dims, first, attrs) if len(layers) == 1 else (("null", *dims), np.stack([x for _, x, _ in layers]), attrs)


def _of_components(group: Sequence[MetricScores], grid: Grid, cube: Mapping[str, Any]) -> dict[str, Made]:
    """Return the variables of a metric with further dimensions: those of its components, side by side."""
    component = group[0].metric.component
    if component is None:
        raise ValueError(f"{group[0].metric.name} is not a component of a metric")
    whole, sizes = component.whole, [len(labels) for labels in component.labels]
    made = [_of_metric([found], grid, cube) for found in group]
    variables = {}
    for variable in METRIC_VARIABLES.values():
        if variable.name(group[0].metric.name) not in made[0]:
            continue
        layers = [one[variable.name(found.metric.name)] for one, found in zip(made, group, strict=True)]
        dims, first, attrs = layers[0]
        if variable.part == "settings":
            variables[variable.name(whole.name)] = dims, first, attrs | variable.describe(whole.long_name, whole.name)
            continue
        arrays = [array for _, array, _ in layers]
        # their own dimensions follow the strata and replicates; value tables may differ in length
        last = [dim for dim in variable.dims(whole.name) if dim != "replicate"]
        after = first.ndim - len(last)
        if variable.merge == "value_table":
            width = max(array.shape[-1] for array in arrays)
            arrays = [_padded(array, width, variable.fill) for array in arrays]
        stacked = np.stack(arrays, axis=after)
        shape = (*stacked.shape[:after], *sizes, *stacked.shape[after + 1 :])
        variables[variable.name(whole.name)] = (
            (*dims[:after], *whole.dims, *last),
            stacked.reshape(shape),
            attrs | variable.describe(whole.long_name, whole.name),
        )
    return variables


def _own_coordinates(components: Sequence[Component]) -> dict[str, Any]:
    """Return the labels of the metrics' own dimensions; metrics that share a dimension must share its labels."""
    found: dict[str, tuple[str | int, ...]] = {}
    for component in components:
        for dim, labels in zip(component.whole.dims, component.labels, strict=True):
            if found.setdefault(dim, labels) != labels:
                raise ValueError(
                    f"metrics of one cube have a dimension {dim!r} with different labels, {list(found[dim])} and "
                    f"{list(labels)}; make a cube of each"
                )
    words = {dim for dim, labels in found.items() if any(isinstance(x, str) for x in labels)}
    return {dim: np.array(labels, dtype=object if dim in words else np.int64) for dim, labels in found.items()}


def _padded(array: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    """Pad the last axis of a value table."""
    return np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])], constant_values=fill)


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
    return (*grid.strata_dims, *variable.dims(metric)), values.reshape(shape), variable.describe(label, metric) | attrs


def _stacked(layers: list[Made], nulls: Sequence[str], fill: float) -> Made:
    """Lay a variable of several null models side by side; value tables of different lengths are padded."""
    if len(layers) == 1:
        return layers[0]
    dims, _, attrs = layers[0]
    arrays = [array for _, array, _ in layers]
    if len({array.shape for array in arrays}) > 1:
        width = max(array.shape[-1] for array in arrays)
        arrays = [_padded(array, width, fill) for array in arrays]
    if "method" in attrs:
        methods = [f"{null}: {layer[2]['method']}" for null, layer in zip(nulls, layers, strict=True)]
        attrs = attrs | {"method": "; ".join(methods)}
    return ("null", *dims), np.stack(arrays), attrs
