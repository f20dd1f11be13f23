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
    DRAW_VARIABLES,
    FAILED,
    IDENTITIES,
    METRIC,
    METRIC_VARIABLES,
    ROW_VARIABLES,
    SCORED,
    STATUS,
    Variable,
    write_nulls,
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
    variables = {"status": _placed(STATUS, np.where(runs.failed, FAILED, SCORED), grid)}
    for name, values in runs.carried.items():
        variables[name] = _placed(CARRIED, values, grid, name, name, direction=runs.directions[name])
    groups: dict[str, list[MetricScores]] = {}
    for metric_scores in scores:
        whole = metric_scores.metric if metric_scores.metric.component is None else metric_scores.metric.component.whole
        groups.setdefault(whole.name, []).append(metric_scores)
    cube_attrs = {
        "strata": json.dumps(list(grid.strata_dims)),
        "metrics": json.dumps(list(groups)),
        "field": runs.tasks[0].field.name,
    }
    for group in groups.values():
        made = _of_metric if group[0].metric.component is None else _of_components
        variables |= made(group, grid)
    # a default null model may differ from metric to metric
    models = zip(*(metric_scores.nulls for metric_scores in scores), strict=True)
    nulls = [", ".join(dict.fromkeys(by_metric.null for by_metric in model)) for model in models]
    coordinates: dict[str, Any] = {"replicate": grid.replicates}
    if len(nulls) > 1:
        coordinates["null"] = np.array(nulls, dtype=object)
    coordinates |= _own_coordinates(
        [metric_scores.metric.component for metric_scores in scores if metric_scores.metric.component]
    )
    for axis in grid.axes:
        coordinates[axis.name] = axis.labels
        coordinates |= {name: (axis.name, array) for name, array in axis.extra.items()}
    # the null model belongs to the metric; the cube names it where all metrics have the same
    named = {_null_names(metric_scores) for metric_scores in scores if metric_scores.nulls}
    null = {"control_null": named.pop()} if len(named) == 1 else {}
    if nulls:
        coordinates["draw"] = np.arange(int(attrs["n_draws"]))
    coordinates |= _identities(runs, grid, nulls, attrs)
    if "status" in grid.strata_dims:
        variables["run_status"] = variables.pop("status")
    return xr.Dataset(variables, coordinates, cube_attrs | attrs | null)


def _identities(runs: Runs, grid: Grid, nulls: Sequence[str], attrs: Mapping[str, Any]) -> dict[str, Made]:
    """Return the coordinates that tell runs and their controls apart."""
    values: dict[str, Any] = {"truth_id": short_ids(runs.truth_id)}
    if runs.clusters.setting not in (BY_TRUTH, SINGLE):
        values["cluster_id"] = short_ids(runs.clusters.ids)
    if runs.weights is not None:
        values["run_weight"] = runs.weights
    if runs.candidates is not None:
        values["n_candidates"] = np.bincount(runs.candidates.group)
    placed = {name: _placed(IDENTITIES[name], x, grid) for name, x in values.items()}
    same = {"control_seed": attrs["control_seed"], "control_draws": attrs["n_draws"]} if nulls else {}
    same |= {"control_null": nulls[0]} if len(nulls) == 1 else {}
    for name, value in same.items():  # also of cells without a run, so that parts of tables agree
        placed[name] = _shaped(IDENTITIES[name], np.full(grid.n_cells, value, IDENTITIES[name].dtype), grid)
    return placed


def short_ids(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return identities of 52 bits, which stay exact where xarray turns integers into floats; 0 stays 0."""
    return np.where(ids == 0, 0, (ids.view(np.uint64) >> np.uint64(12)).astype(np.int64) + 1)


def _of_metric(group: Sequence[MetricScores], grid: Grid) -> dict[str, Made]:
    """Return the variables of a metric, the only one of its group."""
    [scores] = group
    name, label = scores.metric.name, scores.metric.long_name
    nulls = [control.null for control in scores.nulls]
    spec = metric_attrs(scores.metric) | ({"control_null": _null_names(scores)} if nulls else {})
    variables = {name: _placed(METRIC, scores.observed, grid, name, label, **spec)}
    if scores.chosen is not None:
        variables[CHOSEN.name(name)] = _placed(CHOSEN, scores.chosen, grid, name, label)
    for part, row in ROW_VARIABLES.items() if nulls else ():
        layers = [
            _placed(row, x.rows[part], grid, name, label, **({"method": x.methods[part]} if part in x.methods else {}))
            for x in scores.nulls
        ]
        variables[row.name(name)] = _stacked(layers, nulls)
    drawn = {"control": [x.draws for x in scores.nulls]} if nulls else {}
    if scores.relabelled is not None:
        drawn["relabelled"] = [scores.relabelled]
    for part, draws in drawn.items():
        variable = DRAW_VARIABLES[part]
        variables[variable.name(name)] = _stacked([_shaped(variable, x, grid, name, label) for x in draws], nulls)
    return variables


def _of_components(group: Sequence[MetricScores], grid: Grid) -> dict[str, Made]:
    """Return the variables of a metric with further dimensions: those of its components, side by side."""
    component = group[0].metric.component
    if component is None:
        raise ValueError(f"{group[0].metric.name} is not a component of a metric")
    whole, sizes = component.whole, [len(labels) for labels in component.labels]
    made = [_of_metric([member], grid) for member in group]
    variables = {}
    for variable in METRIC_VARIABLES.values():
        if variable.name(group[0].metric.name) not in made[0]:
            continue
        layers = [one[variable.name(member.metric.name)] for one, member in zip(made, group, strict=True)]
        dims, first, attrs = layers[0]
        # their own dimensions follow the strata and replicates
        last = variable.over[1:]
        after = first.ndim - len(last)
        stacked = np.stack([array for _, array, _ in layers], axis=after)
        shape = (*stacked.shape[:after], *sizes, *stacked.shape[after + 1 :])
        variables[variable.name(whole.name)] = (
            (*dims[:after], *whole.dims, *last),
            stacked.reshape(shape),
            attrs | variable.describe(whole.long_name, whole.name),
        )
    return variables


def _own_coordinates(components: Sequence[Component]) -> dict[str, Any]:
    """Return the labels of the metrics' own dimensions; metrics that share a dimension must share its labels."""
    labels_of: dict[str, tuple[str | int, ...]] = {}
    for component in components:
        for dim, labels in zip(component.whole.dims, component.labels, strict=True):
            if labels_of.setdefault(dim, labels) != labels:
                raise ValueError(
                    f"metrics of one cube have a dimension {dim!r} with different labels, {list(labels_of[dim])} and "
                    f"{list(labels)}; make a cube of each"
                )
    words = {dim for dim, labels in labels_of.items() if any(isinstance(x, str) for x in labels)}
    return {dim: np.array(labels, dtype=object if dim in words else np.int64) for dim, labels in labels_of.items()}


def _null_names(scores: MetricScores) -> str:
    return write_nulls([control.null for control in scores.nulls])


def _placed(
    variable: Variable, rows: NDArray[Any], grid: Grid, metric: str = "", label: str = "", **attrs: Any
) -> Made:
    """Place one value per row, or one per coordinate of the metric's own dimensions, in the cells of the cube."""
    cells = np.full((grid.n_cells, *rows.shape[1:]), variable.fill, variable.dtype)
    cells[grid.cell] = rows
    return _shaped(variable, cells, grid, metric, label, **attrs)


def _shaped(
    variable: Variable, values: NDArray[Any], grid: Grid, metric: str = "", label: str = "", **attrs: Any
) -> Made:
    """Give the dimensions of the cube to an array whose first axis runs over cells."""
    shape = (*grid.strata_shape, len(grid.replicates), *values.shape[1:])
    return (*grid.strata_dims, *variable.over), values.reshape(shape), variable.describe(label, metric) | attrs


def _stacked(layers: list[Made], nulls: Sequence[str]) -> Made:
    """Lay a variable of several null models side by side."""
    if len(layers) == 1:
        return layers[0]
    dims, _, attrs = layers[0]
    if "method" in attrs:
        methods = [f"{null}: {layer[2]['method']}" for null, layer in zip(nulls, layers, strict=True)]
        attrs = attrs | {"method": "; ".join(methods)}
    return ("null", *dims), np.stack([array for _, array, _ in layers]), attrs
