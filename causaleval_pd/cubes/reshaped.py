"""Cubes that xarray's methods have reshaped: read as `cube` makes them, or refused with the way to do it.

`read_cube` looks at names, dimensions and labels, so that every verb sees one form of a cube. `check_metric` looks at
the values of one metric, of a block of a lazy cube too. The rules:

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

from ..contract.alike import check_labels
from ..contract.checks import check_type, check_whole, shown
from .reading import cube_metrics, has_controls, lost_attribute, null_name, strata_dims
from .schema import (
    CUBE_VARIABLES,
    DRAW_VARIABLES,
    FAILED,
    METRIC_VARIABLES,
    NO_RUN,
    SCORED,
    TAIL_METHODS,
    TAIL_STATISTICS,
    check_numbers,
    declared,
    metrics_of,
    result_columns,
    values_of,
)


def read_cube(cube: xr.Dataset, *, controls: bool = True) -> xr.Dataset:
    """Return the cube in the form in which `cube` makes it.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`, then perhaps selected, reindexed, renamed, stacked or put together by xarray.
    controls : bool
        Whether the controls are read too, and so must be whole.

    Returns
    -------
    Dataset
        Its attributes `strata` and `metrics` name what it holds, and its variables are called as `schema` declares.

    Raises
    ------
    ValueError
        If it is not a cube, lacks `status` or `replicate`, labels repeat, or its controls were cut.
    """
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    cube = _named(_unstacked(_with_attributes(cube)))
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
    if {"draw", "bin"} & set(cube["status"].dims):
        raise ValueError("the runs of this cube have a dimension 'draw', which belongs to controls; keep them apart")
    cube = _filled(_with_strata(_with_null_model(cube)))
    _check_labels(cube)
    return _with_whole_controls(cube) if controls and has_controls(cube) else cube


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
    return {
        name: np.asarray(v.fill, cube.variables[name].dtype)[()]
        for name, v in declared(cube).items()
        if cube.variables[name].dtype.kind == "f" or not np.isnan(v.fill)
    }


def _unstacked(cube: xr.Dataset) -> xr.Dataset:
    """Give stacked dimensions their own form; cells that are missing then hold no run."""
    stacked = [dim for dim, index in cube.indexes.items() if dim in cube.dims and isinstance(index, pd.MultiIndex)]
    for dim in stacked:
        cube = cube.unstack(dim, fill_value=fills(cube))
    return cube


def _named(cube: xr.Dataset) -> xr.Dataset:
    """Call every metric by the name that its variable has, and its other variables after it."""
    made, found = metrics_of(cube), dict[str, list[str]]()
    for name in cube.data_vars:
        x = cube.variables[name]
        if x.attrs.get("role") == "metric" or name in made:
            found.setdefault(str(x.attrs.get("metric", name)), []).append(str(name))
    present = {}
    for origin, names in found.items():
        if origin not in names and len(names) > 1:
            raise ValueError(f"variables {names} both come from the metric {origin!r}; keep one of them")
        present[origin] = origin if origin in names else names[0]
    places = {name: made.index(word) for origin, name in present.items() for word in (origin, name) if word in made}
    order = sorted(present.values(), key=lambda name: places.get(name, len(made)))
    words: dict[Hashable, Hashable] = {}
    for name in cube.data_vars:
        x = cube.variables[name]
        own, part = x.attrs.get("metric"), x.attrs.get("part")
        if own in present and part in METRIC_VARIABLES:
            words[name] = METRIC_VARIABLES[part].name(present[own])
            if part == "control_value":
                words |= {dim: f"{present[own]}_bin" for dim in x.dims if str(dim).endswith("_bin")}
    words = {old: new for old, new in words.items() if new != old}
    # a variable of the user's own keeps its name
    words = {old: new for old, new in words.items() if new not in cube.variables or new in words}
    return cube.rename(words).assign_attrs(metrics=json.dumps(order))


def _with_null_model(cube: xr.Dataset) -> xr.Dataset:
    """Give the cube the label of its null model again, where one of several was selected without it."""
    for metric in metrics_of(cube) if "null" not in cube.coords else []:
        attrs, marks = cube.variables[metric].attrs, METRIC_VARIABLES["settings"].name(metric)
        nulls, settings = str(attrs.get("control_null", "")).split(", "), np.atleast_1d(attrs.get("settings", []))
        if marks in cube and len(nulls) == len(settings) > 1:
            places = np.flatnonzero(np.isin(settings, cube.variables[marks].to_numpy()))
            if len(places) == 1:
                return cube.assign_coords(null=nulls[places[0]])
    return cube


def _with_strata(cube: xr.Dataset) -> xr.Dataset:
    """Take all dimensions of the runs for strata; a metric that lacks one has the same values along it."""
    named, runs = json.loads(cube.attrs["strata"]), cube["status"]
    dims = [str(dim) for dim in runs.dims if dim != "replicate"]
    lost = [name for name in named if name not in cube.dims and name not in cube.coords]
    if len(lost) > len(set(dims) - set(named)) and not _has_values_of_runs(cube):
        raise ValueError(
            f"the cube has lost its stratum {lost[0]!r}: values over several strata, as of mean() or max(), are not "
            f"those of runs; keep the label of a selected stratum, as in isel({lost[0]}=0), or make the cube without it"
        )
    for dim in dims:
        if dim in result_columns() - {"null"}:
            raise ValueError(
                f"the dimension {dim!r} has the name of a column of the tables that are made of a cube; rename it, "
                f"e.g. cube.rename({{{dim!r}: 'my_{dim}'}})"
            )
    if lost or not set(dims) <= set(named):
        gone = [name for name in named if name in cube.coords and not cube[name].ndim]
        cube = cube.assign_attrs(strata=json.dumps([*dims, *gone]))
    spread = {}
    for name, variable in declared(cube).items():
        lacking = [dim for dim in dims if dim not in cube.variables[name].dims]
        if lacking and variable.merge == "place":
            spread[name] = cube[name].expand_dims({dim: cube[dim] for dim in lacking})
    return cube.assign(spread) if spread else cube


def _has_values_of_runs(cube: xr.Dataset) -> bool:
    """Return whether states and metrics are those of runs, as of one stratum whose label was dropped, not means."""
    if cube["status"].dtype.kind not in "iu":
        return False
    metrics = metrics_of(cube)
    for metric in metrics:
        marks, values = METRIC_VARIABLES["defined"].name(metric), cube.variables[metric]
        numbers = xr.apply_ufunc(check_numbers, values, dask="parallelized", output_dtypes=[np.int16])
        if marks not in cube or not bool((numbers == cube.variables[marks]).all()):
            return False
    return bool(metrics)


def _filled(cube: xr.Dataset) -> xr.Dataset:
    """Mark missing states, truths and counts as those of cells without a run."""
    words: dict[str, Any] = {name: v.fill for name, v in CUBE_VARIABLES.items() if name in cube}
    words |= {
        v.name(metric): v.fill
        for metric in metrics_of(cube)
        for v in METRIC_VARIABLES.values()
        if v.name(metric) in cube and not np.isnan(v.fill)
    }
    gone = {name: fill for name, fill in words.items() if cube.variables[name].dtype.kind == "f"}
    return cube.assign({name: cube[name].fillna(fill).variable for name, fill in gone.items()})


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


def _with_whole_controls(cube: xr.Dataset) -> xr.Dataset:
    """Refuse draws that were cut, of which the summaries of rows know nothing, and sums along other dimensions."""
    n_draws, seed = int(cube.attrs["n_draws"]), cube.attrs.get("control_seed", "...")
    again = f"make the cube by cube(..., n_draws=..., rng={seed}): its draws are the first of these"
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
            if name not in cube:
                continue
            dims, last = set(cube.variables[name].dims), {*variable.dims(metric)[-1:]} - {"replicate"}
            if "draw" in last and "draw" not in dims:
                if other := sorted(map(str, dims - allowed)):
                    raise ValueError(f"{name} has a dimension {other[0]!r} in place of 'draw'; keep the name 'draw'")
                if n_draws > 1:
                    raise ValueError(f"a single draw of the cube was selected; {again}")
                whole[name] = cube[name].expand_dims("draw", -1)
            extra = dims - allowed if variable.merge == "place" else dims & {"replicate"}
            if extra - last:
                raise ValueError(
                    f"the controls of {metric} are sums over all replicates of a stratum, which cannot follow what was "
                    "done along 'replicate'; make the cube from the rows you want, or with keep_draws=True"
                )
    return cube.assign(whole) if whole else cube


def check_metric(cube: xr.Dataset, metric: str) -> xr.Dataset:
    """Check the values of a metric against the states of the runs, and count them by the rules of this file.

    Parameters
    ----------
    cube : Dataset
        Read by `read_cube`, or a block of it.
    metric : str
        A metric, or a column that the cube carries.

    Returns
    -------
    Dataset
        Cells without a run have no value. Runs with a value of the metric are scored.

    Raises
    ------
    ValueError
        If values, draws or states were blanked, filled or changed one by one, or strata come from cubes of different
        settings.
    """
    # variables of one dataset share their labels: without coordinates, no operation aligns them again
    status, value, carried = cube.variables["status"], cube.variables[metric], metric in values_of(cube)
    if status.dtype.kind not in "iuf":
        raise ValueError(f"status holds the states of runs (0, 1, 2), found the type {status.dtype}; keep it as it was")
    wrong = (status != NO_RUN) & (status != SCORED) & (status != FAILED)
    if bool(wrong.any()):
        found = status.to_numpy()[wrong.to_numpy()][0]
        raise ValueError(f"status holds {found:g}, which is not a state of a run (0, 1, 2); select or reindex the cube")
    _check_types(cube, metric)
    if not carried:
        _check_settings(cube, metric)
    run = status != NO_RUN
    if bool((value.notnull() & ~run).any()):
        cube = _blanked(cube, metric, run)
    defined = cube.variables[metric].notnull()
    if not carried:
        _check_defined(cube, metric, defined, run)
        cube = _with_p_values(cube, metric)
        _check_value_table(cube, metric)
    return cube.assign(status=cube["status"].where(~defined, SCORED).astype(np.int8))


def _blanked(cube: xr.Dataset, metric: str, run: xr.Variable) -> xr.Dataset:
    """Take values out of cells without a run: `reindex` or `fillna` may have filled them."""
    names = [v.name(metric) for v in METRIC_VARIABLES.values() if v.merge == "place" and v.name(metric) in cube]
    return cube.assign({x: cube[x].where(run) for x in names if cube.variables[x].dtype.kind == "f"})


def _check_types(cube: xr.Dataset, metric: str) -> None:
    """Refuse variables that no longer hold numbers."""
    for name in (metric, *CUBE_VARIABLES, *(v.name(metric) for v in METRIC_VARIABLES.values())):
        if name in cube and cube.variables[name].dtype.kind not in "iuf":
            raise ValueError(f"{name} holds numbers, found the type {cube.variables[name].dtype}; keep it as it was")


def _check_settings(cube: xr.Dataset, metric: str) -> None:
    name, made = METRIC_VARIABLES["settings"].name(metric), cube.variables[metric].attrs.get("settings")
    if name not in cube:
        return
    marks = cube.variables[name]
    if made is None:  # lost where attributes of several cubes differed
        made = [mark for mark in np.unique(marks.to_numpy()) if mark][:1]
    unscored = (cube.variables["status"] != NO_RUN) & (marks == 0)
    if bool(unscored.any()):
        place = _first_place(cube, unscored)
        raise ValueError(
            f"{metric} was not computed at {place}, where there are runs: the cubes that were put together have "
            "different metrics; make all by the same, or select those that they share, as in cube.drop_vars("
            f"{metric!r})"
        )
    other = (marks != 0) & ~cube[name].isin(np.atleast_1d(made)).variable
    if bool(other.any()):
        raise ValueError(
            f"{metric} at {_first_place(cube, other)} was made with other settings than in the first of the cubes that "
            "were put together: another seed, null model, number of draws or convention; causaleval_pd.concat names "
            "what differs, and puts null models side by side by dim='null' (arithmetic and astype on a whole cube "
            "change its record of settings: change single variables)"
        )


def _first_place(cube: xr.Dataset, mask: xr.Variable) -> str:
    """Name the labels at the first place of a mask."""
    at = np.argwhere(mask.to_numpy())[0]
    return ", ".join(f"{dim} {cube[dim].to_numpy()[i]}" for dim, i in zip(mask.dims, at, strict=True))


def _check_defined(cube: xr.Dataset, metric: str, defined: xr.Variable, run: xr.Variable) -> None:
    """Refuse values and draws that were blanked or filled while their runs stayed."""
    marks = METRIC_VARIABLES["defined"].name(metric)
    if marks in cube:
        had = (cube.variables[marks] != 0) & run
        values = cube.variables[metric]
        numbers = xr.apply_ufunc(check_numbers, values, dask="parallelized", output_dtypes=[np.int16])
        gone, new = int((had & ~defined).sum()), int((defined & ~had).sum())
        other = int((had & defined & (cube.variables[marks] != numbers)).sum())
        if gone:
            raise ValueError(
                f"{metric} was blanked in {gone} runs, which would count as undefined; take runs out of the whole "
                f"cube, as in cube.where(cube.{metric} < 5)"
            )
        if new:
            raise ValueError(
                f"{metric} was filled in {new} runs that had no value, but their controls were not; count failed runs "
                "as the worst by missing='worst', and 0/0 as a number by cube(..., zero_division=)"
            )
        if other:
            raise ValueError(
                f"{metric} was changed in {other} runs, as by mean(), coarsen(), interp() or arithmetic, so that its "
                "values are no longer those of runs; select runs, or change values in the table before cube()"
            )
    draws, counts = (METRIC_VARIABLES[part].name(metric) for part in ("control", "control_defined"))
    whole = draws in cube and cube.sizes.get("draw") == int(cube.attrs["n_draws"])
    if whole and counts in cube:
        changed = run & (cube.variables[draws].notnull().sum("draw") != cube.variables[counts])
        if bool(changed.any()):
            raise ValueError(
                f"draws of {metric} were blanked or filled in {int(changed.sum())} runs, but the means and p-values of "
                "runs rest on them as they were; select runs by their status, or of the whole cube by where()"
            )


def _with_p_values(cube: xr.Dataset, metric: str) -> xr.Dataset:
    """Refuse p-values of strata that were changed; take zeros of `fillna` out again where there was none."""
    blanked: dict[str, xr.DataArray] = {}
    for statistic in TAIL_STATISTICS:
        names = [METRIC_VARIABLES[f"{statistic}_{part}"].name(metric) for part in ("p", "p_low", "p_high", "p_method")]
        if any(name not in cube for name in names):
            continue
        p, low, high, method = (cube.variables[name] for name in names)
        filled = (method == 0) & (p == 0)
        without_limits = filled | ((low == 0) & (high == 0) & (p > 0))
        wrong = (
            (p < 0) | (p > 1) | (((low > p) | (high < p)) & ~without_limits) | ((method == 0) & p.notnull() & ~filled)
        )
        if bool((wrong | (method < 0) | (method >= len(TAIL_METHODS))).any()):
            raise ValueError(
                f"p-values of strata were changed ({names[0]}), as by round(), fillna() or arithmetic; keep them as "
                "they were, or leave them out by drop_vars"
            )
        if bool(without_limits.any()):
            gone = (filled, without_limits, without_limits)
            blanked |= {name: cube[name].where(~mask) for name, mask in zip(names, gone, strict=False)}
    return cube.assign(blanked) if blanked else cube


def _check_value_table(cube: xr.Dataset, metric: str) -> None:
    """Refuse a table of the controls' values of which some were cut."""
    weights, counts = (METRIC_VARIABLES[part].name(metric) for part in ("control_weight", "control_count"))
    bins = METRIC_VARIABLES["control_weight"].dims(metric)[-1]
    if not (weights in cube and counts in cube):
        return
    held, counted = cube.variables[weights], cube.variables[counts]
    if bins in held.dims and "draw" in counted.dims and bool((abs(held.sum(bins) - counted.sum("draw")) > 0.5).any()):
        raise ValueError(
            f"the values of the controls of {metric} were cut along {bins!r}, but their quantiles rest on all; keep "
            "the whole dimension"
        )


def describe_cube(cube: xr.Dataset) -> str:
    """Describe a dataset in a line: its metrics, strata, runs and controls, or that it is not a cube."""
    if not {"strata", "metrics"} <= set(cube.attrs) or "status" not in cube:
        return "a dataset that was not made by cube()"
    try:
        cube = read_cube(cube, controls=False)
    except ValueError as error:
        return f"a cube that cannot be read: {error}"
    strata = ", ".join(f"{dim} ({cube.sizes[dim]})" for dim in strata_dims(cube)) or "no strata"
    # those of a lazy cube are not counted for a repr
    runs = "" if cube["status"].chunks else f", {int((cube['status'] != NO_RUN).sum())} runs"
    n_draws = int(cube.attrs.get("n_draws", 0))
    controls = f"{n_draws} controls each ({null_name(cube)})" if n_draws else "without controls"
    return f"a cube of {', '.join(cube_metrics(cube))} by {strata}{runs}, {controls}"
