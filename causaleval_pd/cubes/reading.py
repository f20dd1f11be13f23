"""Read a cube: its strata, metrics, variables and null models, and its controls summed or pooled by stratum."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type
from ..contract.metric import METRICS
from ..statistics.clusters import cluster_sums
from ..statistics.direction import as_good
from ..tables.clusters import BY_TRUTH, SINGLE
from .schema import (
    DRAW_VARIABLES,
    FAILED,
    IDENTITIES,
    METRIC_VARIABLES,
    RESERVED,
    metrics_of,
    read_nulls,
    stratum_name,
    values_of,
    variable_name,
)


def strata_dims(cube: xr.Dataset) -> list[str]:
    """Return the strata that the cube still has, in order."""
    return [name for name in json.loads(_attr(cube, "strata")) if name in cube.dims]


def cube_metrics(cube: xr.Dataset, metrics: str | Sequence[str] | None = None) -> list[str]:
    """Return the cube's metrics, or without any its columns; or check that the named ones are among these."""
    _attr(cube, "metrics")
    known, carried = [name for name in metrics_of(cube) if name in cube], values_of(cube)
    if metrics is None:
        return _whole_attributes(cube, known) or carried
    check_type(metrics, Iterable, "the names of metrics of the cube", "metrics")
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise ValueError(f"metrics names no metric; the cube has {', '.join(map(repr, [*known, *carried]))}")
    for name in wanted:
        check_known(name, [*known, *carried], "metric of this cube", METRICS.suggest(name, [*known, *carried]))
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"metrics names {next(x for x in wanted if wanted.count(x) > 1)!r} twice; name it once")
    return _whole_attributes(cube, wanted)


def _whole_attributes(cube: xr.Dataset, names: list[str]) -> list[str]:
    """Refuse metrics that have lost the attributes by which they are read."""
    for name in names:
        lost = [x for x in ("direction", "optimum") if x not in cube.variables[name].attrs]
        if lost and name not in values_of(cube):
            raise ValueError(
                f"{name} has lost its attributes ({', '.join(lost)}); keep them, as by xr.set_options(keep_attrs=True)"
            )
    return names


def need_controls(cube: xr.Dataset, names: Sequence[str], why: str = "") -> None:
    """Refuse cubes without controls, and columns that it carries, which have none; `why` states the need."""
    for name in names:
        if name in values_of(cube):
            raise ValueError(
                f"{name!r} is a column that the cube carries, not a metric of estimates, so it has no controls; use "
                "summary, compare or rank_test"
            )
    if not has_controls(cube):
        raise ValueError(f"the cube has no controls{why and ' '}{why}; make it by cube(..., n_draws=1000)")


def _attr(cube: xr.Dataset, name: str) -> str:
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if name not in cube.attrs:
        raise ValueError(lost_attribute(name))
    return str(cube.attrs[name])


def lost_attribute(name: str) -> str:
    """Return the error of a dataset without an attribute of cubes, which xarray drops where merged cubes differ."""
    return (
        f"this dataset has no attribute {name!r}: it was not made by cube(), or lost its attributes; put cubes "
        "together by causaleval_pd.concat, and name metrics of the same runs in one call, as in cube(['shd', 'sid'])"
    )


def null_stratum(cube: xr.Dataset) -> xr.Dataset:
    """Turn the null models of a cube, where it has several, into levels of a stratum `null`."""
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if "null" not in cube.dims or "null" in strata_dims(cube):
        return cube
    alone = [name for name in cube.data_vars if "null" not in cube.variables[name].dims]
    spread = cube.assign({name: cube[name].expand_dims(null=cube["null"]) for name in alone})
    # strata that the cube was cut to stay named
    return with_wide_identities(spread).assign_attrs(strata=json.dumps(["null", *json.loads(_attr(cube, "strata"))]))


def with_wide_identities(cube: xr.Dataset) -> xr.Dataset:
    """Give what tells runs apart all dimensions of the runs."""
    names = [name for name in IDENTITIES if name in cube.coords and name not in cube.dims]
    return cube.assign_coords({name: cube[name].broadcast_like(cube["status"]).variable for name in names})


def own_dims(cube: xr.Dataset, metric: str) -> list[str]:
    """Return the dimensions that a metric declares, besides those of every cube."""
    common = {*strata_dims(cube), *RESERVED}
    return [str(dim) for dim in cube[metric].dims if dim not in common]


def strata_columns(cube: xr.Dataset, metrics: Sequence[str]) -> list[str]:
    """Return the columns that name strata in a table of these metrics: the strata, then the metrics' own dimensions."""
    metric_dims = [dim for metric in metrics for dim in own_dims(cube, metric)]
    return list(dict.fromkeys([*strata_dims(cube), *metric_dims]))


def metric_strata(cube: xr.Dataset, metric: str) -> xr.Dataset:
    """Turn the dimensions that a metric declares, if any, into further strata, of a cube that has this metric alone."""
    metric_dims = own_dims(cube, metric)
    if not metric_dims:
        return cube
    others = [v.name(x) for x in metrics_of(cube) if x != metric for v in METRIC_VARIABLES.values()]
    alone = cube.drop_vars([name for name in others if name in cube])
    spread = {
        name: alone[name].expand_dims({dim: alone[dim] for dim in metric_dims if dim not in alone.variables[name].dims})
        for name in alone.data_vars
    }
    return with_wide_identities(alone.assign(spread)).assign_attrs(
        strata=json.dumps([*json.loads(_attr(cube, "strata")), *metric_dims])
    )


def variable(cube: xr.Dataset, metric: str, part: str = "") -> xr.DataArray:
    """Return a metric's variable, or a part that `schema.METRIC_VARIABLES` declares, as "control_mean"."""
    name = variable_name(metric, part)
    if name not in cube and part in DRAW_VARIABLES:
        raise ValueError(
            f"the cube has lost {name!r}, draws that its summary and tests rest on; keep it, or make a smaller cube, "
            "as by cube(..., n_draws=199)"
        )
    if name not in cube:
        raise ValueError(f"the cube lacks its variable {name!r}; keep it, or make the cube anew")
    return cube[name]


def identity(cube: xr.Dataset, name: str) -> xr.DataArray:
    """Return a coordinate of runs that `schema.IDENTITIES` declares, as "truth_id"."""
    if name not in cube.coords:
        raise ValueError(f"the cube has lost its coordinate {name!r}; keep it, or make the cube anew")
    return cube[name]


def seeds(cube: xr.Dataset) -> list[int]:
    """Return the seeds of the draws: none without controls, several where cubes of several were put together."""
    if "control_seed" not in cube.coords:
        return []
    values = np.asarray(cube["control_seed"])
    if values.shape == cube["status"].shape:
        values = cube["control_seed"].transpose(*cube["status"].dims).to_numpy()[cube["status"].to_numpy() > 0]
    return sorted({int(seed) for seed in np.ravel(values)})


def stratum_seeds(cube: xr.Dataset) -> NDArray[np.int64]:
    """Return the seed of the draws of each stratum, (n_strata,); 0 without runs."""
    dims = strata_dims(cube)
    array, status = identity(cube, "control_seed"), cube["status"].transpose(*dims, "replicate")
    run_seeds = array.broadcast_like(status).transpose(*dims, "replicate").where(status > 0, 0).to_numpy()
    return np.asarray(
        run_seeds.reshape(math.prod(run_seeds.shape[:-1]), run_seeds.shape[-1]).max(axis=1, initial=0), np.int64
    )


def null_name(cube: xr.Dataset, metric: str | None = None) -> str | None:
    """Return the name of a metric's null model, of the one that was selected, or of all.

    Without `metric`, metrics of different null models are named: `"dags (edit_distance); edges (shd)"`.
    """
    if "null" in cube.coords and "null" not in cube.dims:
        return str(cube["null"].item())
    if metric is not None and "control_null" in cube[metric].attrs:
        return ", ".join(nulls_of(cube, metric))
    if "control_null" in cube.attrs:
        return ", ".join(read_nulls(str(cube.attrs["control_null"])))
    by_null: dict[str, list[str]] = {}
    for name in cube_metrics(cube):
        if "control_null" in cube[name].attrs:
            by_null.setdefault(", ".join(nulls_of(cube, name)), []).append(name)
    if len(by_null) <= 1:
        return next(iter(by_null), None)
    return "; ".join(f"{null} ({', '.join(names)})" for null, names in by_null.items())


def nulls_of(cube: xr.Dataset, metric: str) -> list[str]:
    """Return the null models of a metric; those of its attribute unless some were selected."""
    made = read_nulls(str(cube[metric].attrs["control_null"]))
    return made if "null" not in cube.dims or len(made) == cube.sizes["null"] else cube["null"].to_numpy().tolist()


def null_references(cube: xr.Dataset, metric: str | None = None) -> list[str]:
    """Return the null models, of a metric or of all, that are points of reference and so give no test."""
    known = json.loads(cube.attrs.get("control_reference", "[]"))
    if "null" in cube.dims:
        here = cube["null"].to_numpy().tolist()
    else:
        here = [null_name(cube, name) for name in (cube_metrics(cube) if metric is None else [metric])]
    return [str(name) for name in dict.fromkeys(here) if name in known]


def asked_strata(by: str | Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the strata that a verb's `by` names, all that are `known` for "all"; their names are not checked."""
    if isinstance(by, str) and by == "all":
        return list(known)
    check_type(by, (str, Sequence, type(None)), "the names of strata, or 'all'", "by")
    return [stratum_name(name) for name in ([] if by is None else [by] if isinstance(by, str) else by)]


def tested(cube: xr.Dataset, metric: str) -> NDArray[np.bool_]:
    """Return which strata have a randomisation test: not those of a point of reference."""
    dims, references = strata_dims(cube), null_references(cube, metric)
    if "null" in dims:
        return ~strata_table(cube)["null"].isin(references).to_numpy()
    return np.full(math.prod(cube.sizes[dim] for dim in dims), not references)


def has_controls(cube: xr.Dataset, metric: str | None = None) -> bool:
    """Return whether the cube was made with controls; those of a metric, not of a column that it carries."""
    return int(_attr(cube, "n_draws")) > 0 and metric not in values_of(cube)


def control_values(cube: xr.Dataset, metric: str) -> xr.DataArray:
    """Return all control values of each stratum, over strata and `__value__`."""
    need_controls(cube, [metric])
    draws = variable(cube, metric, "control")
    kept = [dim for dim in draws.dims if dim not in ("replicate", "draw")]
    array = draws.transpose(*kept, "replicate", "draw").to_numpy()
    pooled = array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])
    return xr.DataArray(pooled, {dim: draws[dim] for dim in kept}, [*kept, "__value__"])


def as_good_shares(cube: xr.Dataset, metric: str) -> NDArray[np.float64]:
    """Return the share of each run's controls that are at least as good, one row per stratum; NaN where undefined."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    aim = {"direction": spec["direction"], "optimum": float(spec["optimum"])}
    observed = cube[metric].transpose(*dims, "replicate").to_numpy()
    draws = variable(cube, metric, "control").transpose(*dims, "replicate", "draw").to_numpy()
    number = (~np.isnan(draws)).sum(axis=-1)
    shares = as_good(draws, observed[..., None], **aim).sum(axis=-1) / np.maximum(number, 1)
    shares = np.where((number > 0) & ~np.isnan(observed), shares, np.nan)
    return shares.reshape(math.prod(shares.shape[:-1]), shares.shape[-1])


def cluster_setting(cube: xr.Dataset) -> str:
    """Return by what runs depend on each other: "truth", "none", or "column" and its name."""
    return str(cube.attrs.get("control_cluster", SINGLE))


def cluster_ids(cube: xr.Dataset) -> xr.DataArray:
    """Return the number of each run's cluster; every run has its own where runs are independent."""
    setting, status = cluster_setting(cube), cube["status"]
    if setting == SINGLE:
        dims = [*strata_dims(cube), "replicate"]
        shape = [cube.sizes[dim] for dim in dims]
        numbers = np.broadcast_to(np.arange(1, shape[-1] + 1), shape)
        return xr.DataArray(numbers, {dim: status[dim] for dim in dims if dim in status.coords}, dims)
    return identity(cube, "truth_id" if setting == BY_TRUTH else "cluster_id")


def relabelled_nulls(cube: xr.Dataset, metric: str) -> NDArray[np.bool_]:
    """Return which strata have a null model under which estimates can be relabelled by cluster."""
    return _of_nulls(cube, metric, "control_relabelled")


def combined_nulls(cube: xr.Dataset, metric: str) -> NDArray[np.bool_]:
    """Return which strata have a null model that draws clusters independently, so that their draws can be combined."""
    return _of_nulls(cube, metric, "control_combined")


def _of_nulls(cube: xr.Dataset, metric: str, attribute: str) -> NDArray[np.bool_]:
    """Return which strata have a null model that an attribute of the cube lists."""
    known, dims = json.loads(cube.attrs.get(attribute, "[]")), strata_dims(cube)
    if "null" in dims:
        return strata_table(cube)["null"].isin(known).to_numpy()
    return np.full(math.prod(cube.sizes[dim] for dim in dims), null_name(cube, metric) in known)


def losses(cube: xr.Dataset, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distances from the optimum, of runs and expected of controls, a row per stratum; NaN without both."""
    dims = strata_dims(cube)
    pairs = []
    for array in (abs(cube[name] - cube[name].attrs["optimum"]), variable(cube, name, "control_loss")):
        values = array.transpose(*dims, "replicate").to_numpy()
        pairs.append(values.reshape(math.prod(values.shape[:-1]), values.shape[-1]))
    gone = np.isnan(pairs[0]) | np.isnan(pairs[1])
    return np.where(gone, np.nan, pairs[0]), np.where(gone, np.nan, pairs[1])


def control_errors(cube: xr.Dataset, name: str) -> xr.DataArray:
    """Return the Monte Carlo standard error of what is expected of each run's controls; 0 where none is known."""
    error_name = variable_name(name, "control_mean_se")
    return cube[error_name].fillna(0.0) if error_name in cube else xr.zeros_like(cube[name], np.float64)


def loss_errors(cube: xr.Dataset, name: str) -> NDArray[np.float64]:
    """Return the Monte Carlo standard errors of the losses expected of controls, as `losses`; NaN where these are.

    They are those of the controls' means, which are at least as large, and add up over the runs of a cluster, which may
    have the same draws.
    """
    gone = np.isnan(losses(cube, name)[1])
    errors = control_errors(cube, name).transpose(*strata_dims(cube), "replicate").to_numpy()
    return np.where(gone, np.nan, errors.reshape(gone.shape))


def clusters_of_runs(cube: xr.Dataset) -> NDArray[np.int64]:
    """Return the number of each run's cluster, one row per stratum; runs of several strata may share one."""
    if cluster_setting(cube) == SINGLE:
        shape = [cube.sizes[dim] for dim in (*strata_dims(cube), "replicate")]
        return np.arange(1, math.prod(shape) + 1).reshape(math.prod(shape[:-1]), shape[-1])
    ids = cluster_ids(cube).transpose(*strata_dims(cube), "replicate").to_numpy()
    return ids.reshape(math.prod(ids.shape[:-1]), ids.shape[-1])


def cluster_losses(cube: xr.Dataset, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the losses as `losses` does, summed by cluster: runs on one truth are not independent."""
    run_losses, expected = losses(cube, name)
    clusters = clusters_of_runs(cube)
    return cluster_sums(run_losses, clusters)[0], cluster_sums(expected, clusters)[0]


def strata_table(cube: xr.Dataset, **columns: Any) -> pd.DataFrame:
    """Return the strata as a table, one row each, in the order of the cube's cells, with further columns."""
    dims = strata_dims(cube)
    levels = [cube[dim].to_numpy() for dim in dims]
    shape = [len(x) for x in levels]
    table: dict[str, Any] = {}
    for dim, level, at in zip(dims, levels, np.indices(shape), strict=True):
        column = pd.Series(level[at.reshape(-1)])
        # words have one dtype, whether the cube was made or read
        table[dim] = column if level.dtype.kind in "iufbM" else column.astype("str")
    return pd.DataFrame(table | columns, index=pd.RangeIndex(math.prod(shape)))


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

        max_loss = loss(cube[name]).max(["replicate", *pool])
        if has_controls(cube, name):
            values = control_values(cube, name)
            if values.sizes["__value__"]:
                nulls = ["null"] if "null" in values.dims and "null" not in cube[name].dims else []
                other = loss(values).max(["__value__", *pool, *nulls])
                max_loss = max_loss.where(~(other > max_loss), other)
        worst = optimum + max_loss if direction == "zero" else sign * max_loss
    return cube.assign({name: cube[name].where(cube["status"] != FAILED, worst).assign_attrs(spec)})
