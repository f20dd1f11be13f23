"""Cubes that xarray's methods have reshaped: read as `cube` makes them, or refused with the way to do it.

`read_cube` looks at names, dimensions, labels and what tells runs apart, so that every verb sees one form of a cube, in
memory. `read_metric` looks at the values of one metric. The rules:

- A cell whose `status` is 0 or missing holds no run, whatever else stands there.
- A run with a value of a metric is scored. Of the others, failed runs are failed and the rest are undefined.
- A variable belongs to the metric that its attributes name, whatever it is called.
- Every dimension of `status` besides `replicate` is a stratum, whatever it is called.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_type, check_whole, shown
from ..tables.columns import check_labels
from .reading import (
    cube_metrics,
    has_controls,
    identity,
    lost_attribute,
    metric_strata,
    null_name,
    strata_dims,
    with_wide_identities,
)
from .schema import (
    DRAW_VARIABLES,
    FAILED,
    IDENTITIES,
    METRIC_VARIABLES,
    NO_RUN,
    SCORED,
    declared,
    metrics_of,
    read_nulls,
    values_of,
    with_stratum_names,
)

_ARITHMETIC = (
    "Arithmetic with a whole cube changes its variable 'status' too: compute with metrics alone, as in cube['shd'] * 2"
)


def read_cube(cube: xr.Dataset, *, controls: bool = True, load: bool = True) -> xr.Dataset:
    """Return the cube in the form in which `cube` makes it."""
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    cube = _named(_unstacked(with_stratum_names(_with_attributes(_with_coordinates(cube)))))
    if "status" not in cube:
        raise ValueError(
            "the dataset lacks the cube's variable 'status'; keep the whole cube and name metrics in the call, as in "
            f"summary({next(iter(metrics_of(cube)), 'shd')!r})"
        )
    if "replicate" not in cube["status"].dims:
        raise ValueError(
            "the cube has lost its dimension 'replicate'; select by a list, as in isel(replicate=[0]), "
            "and keep its name"
        )
    if "draw" in cube["status"].dims:
        raise ValueError("the runs of this cube have a dimension 'draw', which belongs to controls; keep them apart")
    cube = _filled(_with_strata(_with_label_of_null(cube)))
    _check_labels(cube)
    if load and is_lazy(cube):
        draws = [v.name(metric) for metric in metrics_of(cube) for v in DRAW_VARIABLES.values()]
        cube = (cube if controls else cube.drop_vars([name for name in draws if name in cube])).compute()
    _check_states(cube)
    return _with_whole_controls(cube) if controls and has_controls(cube) else cube


def is_lazy(cube: xr.Dataset) -> bool:
    """Return whether the cube is backed by dask."""
    return any(x.chunks is not None for x in cube.variables.values())


def _with_coordinates(cube: xr.Dataset) -> xr.Dataset:
    """Take what tells runs apart for coordinates, where `reset_coords` made variables of it."""
    return cube.set_coords([name for name in IDENTITIES if name in cube.data_vars])


def _with_attributes(cube: xr.Dataset) -> xr.Dataset:
    """Check the attributes by which a cube is read."""
    for name in ("strata", "metrics", "n_draws"):
        if name not in cube.attrs:
            raise ValueError(lost_attribute(name))
    for name in ("strata", "metrics"):
        try:
            words = json.loads(cube.attrs[name])
        except (TypeError, ValueError):
            words = None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise ValueError(
                f"the attribute {name!r} of a cube is a JSON list of names, found {shown(cube.attrs[name])}; keep it "
                "as it was"
            )
    made = cube.attrs["n_draws"]
    n_draws = check_whole(int(made) if isinstance(made, str) and made.isdecimal() else made, "the attribute 'n_draws'")
    drawn = [name for name in cube.data_vars if cube.variables[name].attrs.get("role") == "control"]
    if drawn and not n_draws:
        raise ValueError(f"the attribute 'n_draws' is 0, but the cube has controls ({drawn[0]}); keep it as it was")
    return cube.assign_attrs(n_draws=n_draws)


def fills(cube: xr.Dataset) -> dict[Hashable, Any]:
    """Return the value of a cell without a run, of every variable."""
    known = declared(cube) | {name: IDENTITIES[str(name)] for name in cube.coords if name in IDENTITIES}
    return {
        name: v.fill if v.dtype == "object" else np.asarray(v.fill, cube.variables[name].dtype)[()]
        for name, v in known.items()
        if cube.variables[name].dtype.kind not in "iub" or not np.isnan(float(v.fill))
    }


def _unstacked(cube: xr.Dataset) -> xr.Dataset:
    """Give stacked dimensions their own form; cells that are missing then hold no run."""
    stacked = [dim for dim, index in cube.indexes.items() if dim in cube.dims and isinstance(index, pd.MultiIndex)]
    for dim in stacked:
        cube = cube.unstack(dim, fill_value=fills(cube))
    return cube


def _named(cube: xr.Dataset) -> xr.Dataset:
    """Call every metric by the name that its variable has, and its other variables after it."""
    made, origins = metrics_of(cube), dict[str, list[str]]()
    for name in cube.data_vars:
        x = cube.variables[name]
        if x.attrs.get("role") == "metric" or name in made:
            origins.setdefault(str(x.attrs.get("metric", name)), []).append(str(name))
    present = {}
    for origin, names in origins.items():
        if origin not in names and len(names) > 1:
            raise ValueError(f"variables {names} both come from the metric {origin!r}; keep one of them")
        present[origin] = origin if origin in names else names[0]
    places = {name: made.index(word) for origin, name in present.items() for word in (origin, name) if word in made}
    order = sorted(present.values(), key=lambda name: places.get(name, len(made)))
    words: dict[Hashable, Hashable] = {}
    for name in cube.data_vars:
        x = cube.variables[name]
        metric, part = x.attrs.get("metric"), x.attrs.get("part")
        if metric in present and part in METRIC_VARIABLES:
            words[name] = METRIC_VARIABLES[part].name(present[metric])
    words = {old: new for old, new in words.items() if new != old}
    # a variable of the user's own keeps its name
    words = {old: new for old, new in words.items() if new not in cube.variables or new in words}
    return cube.rename(words).assign_attrs(metrics=json.dumps(order))


def _with_label_of_null(cube: xr.Dataset) -> xr.Dataset:
    """Refuse a cube of one of several null models that was selected without its label."""
    for metric in metrics_of(cube) if "null" not in cube.coords else []:
        nulls = read_nulls(str(cube.variables[metric].attrs.get("control_null", ""))) if metric in cube else []
        if len(nulls) > 1 and METRIC_VARIABLES["control_mean"].name(metric) in cube:
            raise ValueError(
                f"one of the null models {', '.join(nulls)} was selected without its label; keep it, as in "
                f"sel(null={nulls[0]!r})"
            )
    return cube


def _with_strata(cube: xr.Dataset) -> xr.Dataset:
    """Take all dimensions of the runs for strata; a metric that lacks one has the same values along it."""
    named, runs = json.loads(cube.attrs["strata"]), cube["status"]
    dims = [str(dim) for dim in runs.dims if dim != "replicate"]
    lost = [name for name in named if name not in cube.dims and name not in cube.coords]
    if len(lost) > len(set(dims) - set(named)) and "truth_id" not in cube.coords:
        raise ValueError(
            f"the cube has lost its stratum {lost[0]!r}: values over several strata, as of mean() or max(), are not "
            f"those of runs; keep the label of a selected stratum, as in isel({lost[0]}=0), or make the cube without it"
        )
    if lost or not set(dims) <= set(named):
        gone = [name for name in named if name in cube.coords and not cube[name].ndim]
        cube = cube.assign_attrs(strata=json.dumps([*dims, *gone]))
    spread = {}
    for name in cube.data_vars:
        lacking = [dim for dim in dims if dim not in cube.variables[name].dims]
        if lacking:
            spread[name] = cube[name].expand_dims({dim: cube[dim] for dim in lacking})
    cube = cube.assign(spread) if spread else cube
    return with_wide_identities(cube)


def _filled(cube: xr.Dataset) -> xr.Dataset:
    """Mark missing states and identities as those of cells without a run."""
    filled: dict[Hashable, Any] = {}
    if cube["status"].dtype.kind == "f":
        filled["status"] = cube["status"].fillna(NO_RUN).variable
    for name in IDENTITIES:
        if name in cube.coords and cube[name].dtype.kind in "fO":
            kind = IDENTITIES[name].dtype
            values = cube[name].fillna(IDENTITIES[name].fill)
            if kind == "int64" and bool((values != np.floor(values)).any()):
                raise ValueError(
                    f"{name} holds fractions, as after mean(), coarsen() or interp(), so that the values of this cube "
                    "are no longer those of runs; select runs, or change values in the table before cube()"
                )
            filled[name] = values.astype(kind).variable
    return cube.assign(filled) if filled else cube


def _check_labels(cube: xr.Dataset) -> None:
    """Refuse labels that repeat: strata could not be told apart, and runs might be counted twice."""
    for dim in [*strata_dims(cube), "replicate"]:
        index = cube.indexes.get(dim, pd.RangeIndex(cube.sizes[dim]))
        if not index.is_unique:
            label = index[index.duplicated()][0]
            raise ValueError(
                f"the label {label} of {dim!r} occurs twice, so runs may be counted twice; put cubes together by "
                f"causaleval_pd.concat, or give labels of their own by assign_coords({dim}=...)"
            )
        check_labels(index.to_series(), dim, "cube")


def _check_states(cube: xr.Dataset) -> None:
    """Refuse a cube whose runs have lost their states or what tells them apart."""
    status = cube.variables["status"]
    if status.dtype.kind not in "iuf":
        raise ValueError(f"status holds the states of runs (0, 1, 2), found the type {status.dtype}; keep it as it was")
    if cube["status"].chunks is None:
        wrong = (status != NO_RUN) & (status != SCORED) & (status != FAILED)
        if bool(wrong.any()):
            state = status.to_numpy()[wrong.to_numpy()][0]
            raise ValueError(
                f"status holds {state:g}, which is not a state of a run (0, 1, 2); select or reindex the cube. "
                f"{_ARITHMETIC}"
            )
    identity(cube, "truth_id")


def _with_whole_controls(cube: xr.Dataset) -> xr.Dataset:
    """Refuse draws that were cut, of which the summaries of rows know nothing, and strata with other draws."""
    n_draws, again = int(cube.attrs["n_draws"]), "make the cube by cube(..., n_draws=...): its draws are the first ones"
    _check_settings(cube)
    if "draw" in cube.dims and cube.sizes["draw"] != n_draws:
        raise ValueError(
            f"the cube has {cube.sizes['draw']} of its {n_draws} draws, but the controls' means and p-values of runs "
            f"rest on all; {again}"
        )
    labels = cube.indexes.get("draw")  # older cubes have none
    if labels is not None and not labels.is_unique:
        raise ValueError(
            f"draw {labels[labels.duplicated()][0]} of the cube occurs twice, but the controls' means and p-values of "
            f"runs rest on every draw once; {again}"
        )
    if labels is not None and not labels.is_monotonic_increasing:
        cube = cube.sortby("draw")
    whole: dict[Hashable, Any] = {}
    for metric in metrics_of(cube):
        allowed = {"replicate", "null", *cube["status"].dims, *(cube.variables[metric].dims if metric in cube else ())}
        for variable in DRAW_VARIABLES.values():
            name = variable.name(metric)
            if name not in cube or "draw" in cube.variables[name].dims:
                continue
            if other := sorted(map(str, {*cube.variables[name].dims} - allowed)):
                raise ValueError(f"{name} has a dimension {other[0]!r} in place of 'draw'; keep the name 'draw'")
            if n_draws > 1:
                raise ValueError(f"a single draw of the cube was selected; {again}")
            whole[name] = cube[name].expand_dims("draw", -1)
    return cube.assign(whole) if whole else cube


def _check_settings(cube: xr.Dataset) -> None:
    """Refuse strata whose draws are of other numbers or null models, as of cubes that xarray put together."""
    ran = cube["status"] != NO_RUN
    identity(cube, "control_seed")
    for name in ("control_draws", "control_null"):
        if name not in cube.coords:
            continue
        values = pd.unique(cube[name].transpose(*ran.dims).to_numpy()[ran.to_numpy()])
        if len(values) > 1:
            raise ValueError(
                f"strata of this cube differ in the {IDENTITIES[name].long_name}, {shown(values[0])} and "
                f"{shown(values[1])}: cubes that are put together need the same; causaleval_pd.concat puts null models "
                "side by side by dim='null'"
            )
        stated = read_nulls(str(cube.attrs.get("control_null", "[]")))
        if name == "control_null" and len(values) and len(stated) == 1 and stated[0] != values[0]:
            raise ValueError(
                f"the runs of this cube have the null model {values[0]!r}, but its attributes name {stated[0]!r}, as "
                "in a part of cubes that xarray put together; take the part before they are put together"
            )


def read_metric(cube: xr.Dataset, metric: str) -> xr.Dataset:
    """Return a cube of one metric or carried column, whose own dimensions are strata, by the rules of this file."""
    cube = metric_strata(cube, metric)
    for name in (metric, *(v.name(metric) for v in METRIC_VARIABLES.values())):
        if name in cube and cube.variables[name].dtype.kind not in "iuf":
            raise ValueError(f"{name} holds numbers, found the type {cube.variables[name].dtype}; keep it as it was")
    # variables of one dataset share their labels: without coordinates, no operation aligns them again
    run, value = cube.variables["status"] != NO_RUN, cube.variables[metric]
    if bool((value.notnull() & ~run).any()):
        # `reindex` or `fillna` filled cells without a run
        names = [v.name(metric) for v in METRIC_VARIABLES.values() if v.name(metric) in cube]
        cube = cube.assign({x: cube[x].where(run) for x in names if cube.variables[x].dtype.kind == "f"})
        value = cube.variables[metric]
    filled = 0 if metric in values_of(cube) else int((value.notnull() & (cube.variables["status"] == FAILED)).sum())
    if filled:
        raise ValueError(
            f"{metric} was filled in {filled} runs that failed, but their controls were not; count failed runs as the "
            f"worst by missing='worst', and 0/0 as a number by ce.set_options(zero_division=). {_ARITHMETIC}"
        )
    return cube.assign(status=cube["status"].where(~value.notnull(), SCORED).astype(np.int8))


def describe_cube(cube: xr.Dataset) -> str:
    """Describe a dataset in a line: its metrics, strata, runs and controls, or that it is not a cube."""
    if not {"strata", "metrics"} <= set(cube.attrs) or "status" not in cube:
        return "a dataset that was not made by cube()"
    try:
        cube = read_cube(cube, controls=False, load=False)
    except ValueError as error:
        return f"a cube that cannot be read: {error}"
    strata = ", ".join(f"{dim} ({cube.sizes[dim]})" for dim in strata_dims(cube)) or "no strata"
    # those of a lazy cube are not counted for a repr
    runs = "" if cube["status"].chunks else f", {int((cube['status'] != NO_RUN).sum())} runs"
    n_draws = int(cube.attrs.get("n_draws", 0))
    controls = f"{n_draws} controls each ({null_name(cube)})" if n_draws else "without controls"
    return f"a cube of {', '.join(cube_metrics(cube))} by {strata}{runs}, {controls}"
