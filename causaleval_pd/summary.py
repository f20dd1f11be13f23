"""Reading a cube: its strata, its controls summed or pooled, and the summary table."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .blocks import tabulate
from .controls import check_settings
from .cube import FAILED, NO_RUN, SCORED
from .messages import check_known, check_type
from .row_controls import row_means
from .stats import as_good, mean_interval, quantile_interval, ratio_of_means, weighted_quantile


def strata_dims(cube: xr.Dataset) -> list[str]:
    """Return the strata that the cube still has, in order."""
    return [name for name in json.loads(_attr(cube, "strata")) if name in cube.dims]


def cube_metrics(cube: xr.Dataset, metrics: str | Sequence[str] | None = None) -> list[str]:
    """Return the cube's metrics, or check that the named ones are among them."""
    known = [name for name in json.loads(_attr(cube, "metrics")) if name in cube]
    if "replicate" not in cube.dims:
        raise ValueError("the cube has lost its dimension 'replicate'; select by a list, as in isel(replicate=[0])")
    if metrics is None:
        return known
    check_type(metrics, Iterable, "the names of metrics of the cube", "metrics")
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise ValueError(f"metrics names no metric; the cube has {', '.join(map(repr, known))}")
    for name in wanted:
        check_known(name, known, "metric of this cube")
    return wanted


def _attr(cube: xr.Dataset, name: str) -> str:
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if name not in cube.attrs:
        raise ValueError(f"this dataset has no attribute {name!r}: it was not made by cube(), or lost its attributes")
    return str(cube.attrs[name])


def null_stratum(cube: xr.Dataset) -> xr.Dataset:
    """Turn the null models of a cube, where it has several, into levels of a stratum `null`."""
    check_type(cube, xr.Dataset, "a Dataset made by cube()", "cube")
    if "null" not in cube.dims or "null" in strata_dims(cube):
        return cube
    alone = [name for name, variable in cube.data_vars.items() if "null" not in variable.dims]
    spread = cube.assign({name: cube[name].expand_dims(null=cube["null"]) for name in alone})
    return spread.assign_attrs(strata=json.dumps(["null", *strata_dims(cube)]))


def null_name(cube: xr.Dataset) -> str | None:
    """Return the name of the cube's null model, of the one that was selected, or of all."""
    if "null" in cube.coords and "null" not in cube.dims:
        return str(cube["null"].item())
    return cube.attrs.get("control_null")


def null_references(cube: xr.Dataset) -> list[str]:
    """Return the cube's null models that are points of reference rather than random guesses, and so give no test."""
    known = json.loads(cube.attrs.get("control_reference", "[]"))
    here = cube["null"].to_numpy().tolist() if "null" in cube.dims else [null_name(cube)]
    return [str(name) for name in here if name in known]


def _without_references(cube: xr.Dataset, p_value: xr.DataArray) -> xr.DataArray:
    """Forget p-values against points of reference."""
    references = null_references(cube)
    return p_value.where(~p_value["null"].isin(references) if "null" in p_value.dims else not references)


def has_controls(cube: xr.Dataset) -> bool:
    """Tell whether the cube was made with controls."""
    return int(_attr(cube, "n_draws")) > 0


def control_sums(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Sum a stratum's controls draw by draw, over the rows where they are defined.

    Rows count by their control, not by their estimate: only so are the estimates and each draw exchangeable under
    random guessing where a metric can be undefined.

    Returns
    -------
    sums, counts : DataArray
        Over strata and `draw`: sum of the controls' scores (the metric, or its distance from the optimum where closest
        to zero is best), and the number of rows with a defined control.

    Raises
    ------
    ValueError
        If the cube has no controls, or was cut along `replicate` and has no raw draws.
    """
    _need_controls(cube)
    if f"{metric}_control" in cube:
        spec = cube[metric].attrs
        draws = cube[f"{metric}_control"]
        scores = abs(draws - spec["optimum"]) if spec["direction"] == "zero" else draws
        return scores.sum("replicate"), scores.notnull().sum("replicate")
    _whole(cube)
    return cube[f"{metric}_control_sum"], cube[f"{metric}_control_count"]


def control_values(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return all control values of each stratum and how often each occurred, over strata and `bin`."""
    _need_controls(cube)
    if f"{metric}_control" in cube:
        draws = cube[f"{metric}_control"]
        kept = [dim for dim in draws.dims if dim not in ("replicate", "draw")]
        array = draws.transpose(*kept, "replicate", "draw").to_numpy()
        pooled = array.reshape(*array.shape[:-2], array.shape[-2] * array.shape[-1])
        values = xr.DataArray(pooled, {dim: draws[dim] for dim in kept}, [*kept, "bin"])
        return values, values.notnull().astype(np.float64)
    _whole(cube)
    names = {f"{metric}_bin": "bin"}
    return cube[f"{metric}_control_value"].rename(names), cube[f"{metric}_control_weight"].rename(names)


def _need_controls(cube: xr.Dataset) -> None:
    if not has_controls(cube):
        raise ValueError("the cube has no controls; make it by cube(..., n_draws=1000)")


def _whole(cube: xr.Dataset) -> None:
    here = (cube["status"] != NO_RUN).sum("replicate")
    if not bool((here == cube["n_obs"]).all()):
        raise ValueError(
            "the cube was cut along 'replicate', but its controls are sums over all replicates of a stratum; make the "
            "cube from the rows you want, or with keep_draws=True"
        )


def randomisation(cube: xr.Dataset, metric: str) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray]:
    """Compare each stratum's mean with the same mean over the controls of draw r, r = 1 .. R.

    Returns
    -------
    statistic, p_value, n_draws : DataArray
        Mean over the defined rows; (1 + draws as good or better) / (R + 1), NaN for a null model of reference; draws R
        with a defined mean.

    Raises
    ------
    ValueError
        If rows share their draws.
    """
    if draws_shared(cube):
        raise ValueError(
            "the rows of this cube share their draws, so the mean of a stratum has no valid randomisation test; make "
            "the cube without share_draws=True, or use its p-values of single rows"
        )
    spec = cube[metric].attrs
    sums, counts = control_sums(cube, metric)
    reference = (sums / counts.where(counts > 0)).transpose(..., "draw")
    observed = abs(cube[metric] - spec["optimum"]) if spec["direction"] == "zero" else cube[metric]
    statistic = observed.mean("replicate").transpose(*reference.dims[:-1])
    direction = "minimize" if spec["direction"] == "zero" else spec["direction"]
    hit = as_good(reference.to_numpy(), statistic.to_numpy()[..., None], direction=direction, optimum=0.0)
    drawn = reference.notnull().sum("draw")
    p_value = xr.DataArray((1 + hit.sum(axis=-1)) / (drawn + 1), dims=statistic.dims, coords=statistic.coords)
    p_value = _without_references(cube, p_value.where(statistic.notnull() & (drawn > 0)))
    return statistic, p_value, drawn


def draws_shared(cube: xr.Dataset) -> bool:
    """Tell whether rows met the same controls."""
    return bool(cube.attrs.get("draws_shared", 0))


def summary(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
) -> pd.DataFrame:
    """Summarise estimates and controls, one row a stratum and metric.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    level : float
        Probability of the intervals.
    interval : {"quantile", "mean_ci"}
        Whether `low`, `high` hold the middle share `level` of the runs (and of their controls), or are limits for the
        mean: a t interval for the runs, the reference interval of the mean over the draws for the controls.

    Returns
    -------
    DataFrame
        Strata, `metric`, `n_obs` (runs), `n_missing` (failed), `n_undefined` (scored, but 0/0), `n_without_controls`
        (with a value that counts in `mean`, but not in what is said of controls), `mean`, `low`, `high`,
        `control_mean`, `control_low`, `control_high`, `superiority_share` (share of pairs whose control is at least as
        good; no p-value), `p_value` (randomisation test of the stratum's mean), `skill` (1 - ratio of mean distances
        from the optimum) with the limits `skill_low`, `skill_high`; `control_mean_se` and `p_se`, the Monte Carlo
        standard errors of `control_mean` and `p_value`. Without controls the last ten are NaN. A cube of several null
        models has rows for each, named in the first column `null`.

    Raises
    ------
    ValueError
        If a metric is unknown, `level` or `interval` is none, or the cube was cut along `replicate` without raw draws.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.2")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm", "n"], n_draws=100, rng=7)
    >>> list(ce.summary(found).columns[:4])
    ['algorithm', 'n', 'metric', 'n_obs']
    """
    check_settings(None, level, "auto", "add_one")
    if interval not in ("quantile", "mean_ci"):
        raise ValueError(f"interval must be 'quantile' or 'mean_ci', found {interval!r}")
    cube = null_stratum(cube)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _summary(part, name, level, interval)

    return tabulate(cube, cube_metrics(cube, metrics), rows, _with_runs, strata=strata_dims(cube))


def _with_runs(parts: list[pd.DataFrame]) -> pd.DataFrame:
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    return table[table["n_obs"] > 0].reset_index(drop=True) if len(table) else table


def _summary(cube: xr.Dataset, name: str, level: float, interval: str) -> pd.DataFrame:
    dims = strata_dims(cube)

    def flat(array: xr.DataArray, *last: str) -> NDArray[Any]:
        values = array.transpose(*dims, *last).to_numpy()
        return values.reshape(math.prod(values.shape[: len(dims)]), *values.shape[len(dims) :])

    scores, status = flat(cube[name], "replicate"), flat(cube["status"], "replicate")
    table = strata_table(cube)
    table["metric"] = name
    table["n_obs"] = (status != NO_RUN).sum(axis=1)
    table["n_missing"] = (status == FAILED).sum(axis=1)
    table["n_undefined"] = ((status == SCORED) & np.isnan(scores)).sum(axis=1)
    drawn = flat(cube[f"{name}_control_mean"], "replicate") if has_controls(cube) else np.full(scores.shape, np.nan)
    table["n_without_controls"] = (~np.isnan(scores) & np.isnan(drawn)).sum(axis=1)
    table["mean"] = row_means(scores)
    limits = quantile_interval if interval == "quantile" else mean_interval
    table["low"], table["high"] = limits(scores, level)
    names = ["control_mean", "control_low", "control_high", "superiority_share", "p_value"]
    names += ["skill", "skill_low", "skill_high", "control_mean_se", "p_se"]
    table[names] = np.nan
    if not has_controls(cube):
        return table
    defined = ~np.isnan(scores)
    table["control_mean"] = row_means(np.where(defined, drawn, np.nan))
    tail = np.array([(1 - level) / 2, (1 + level) / 2])
    if interval == "quantile":
        values, weights = (flat(x, "bin") for x in control_values(cube, name))
        low, high = np.moveaxis(weighted_quantile(values, weights, tail), -1, 0)
    else:
        sums, counts = (flat(x, "draw") for x in control_sums(cube, name))
        means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        low, high = quantile_interval(means, level)
    table["control_low"], table["control_high"] = low, high
    table["superiority_share"] = row_means(flat(cube[f"{name}_as_good"], "replicate"))
    if not draws_shared(cube):
        _, p_value, n_draws = (flat(x) for x in randomisation(cube, name))
        table["p_value"] = p_value
        table["p_se"] = np.sqrt(p_value * (1 - p_value) / np.where(n_draws > 0, n_draws, np.nan))
        errors = np.where(defined, flat(cube[f"{name}_control_mean_se"], "replicate"), np.nan)
        # rows have draws of their own
        table["control_mean_se"] = np.sqrt(row_means(errors**2) / np.maximum((~np.isnan(errors)).sum(axis=1), 1))
    found = ratio_of_means(*losses(cube, name), level)
    table["skill"], table["skill_low"], table["skill_high"] = 1 - found.effect, 1 - found.high, 1 - found.low
    return table


def losses(cube: xr.Dataset, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distance of each run from the optimum and that expected of its controls, a row a stratum.

    NaN where either is undefined.
    """
    dims = strata_dims(cube)
    pairs = []
    for array in (abs(cube[name] - cube[name].attrs["optimum"]), cube[f"{name}_control_loss"]):
        values = array.transpose(*dims, "replicate").to_numpy()
        pairs.append(values.reshape(math.prod(values.shape[:-1]), values.shape[-1]))
    gone = np.isnan(pairs[0]) | np.isnan(pairs[1])
    return np.where(gone, np.nan, pairs[0]), np.where(gone, np.nan, pairs[1])


def strata_table(cube: xr.Dataset) -> pd.DataFrame:
    """Return the strata as a table, one row each, in the order of the cube's cells."""
    dims = strata_dims(cube)
    levels = [cube[dim].to_numpy() for dim in dims]
    if not levels:
        return pd.DataFrame(index=range(1))
    index = pd.MultiIndex.from_product([range(len(x)) for x in levels])
    table = {}
    for i, (dim, level) in enumerate(zip(dims, levels, strict=True)):
        column = pd.Series(level[index.get_level_values(i)])
        # words have one dtype, whether the cube was made or read
        table[dim] = column if level.dtype.kind in "iufbM" else column.astype("str")
    return pd.DataFrame(table)
