"""Reading a cube: its strata, its controls summed or pooled, and the summary table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_number
from ..statistics.arrays import mean_interval, quantile_interval, ratio_of_means, weighted_quantile
from ..tables.row_summary import row_means
from .lazy_tables import tabulate
from .reading import (
    control_sums,
    control_values,
    cube_metrics,
    draws_shared,
    has_controls,
    losses,
    null_stratum,
    randomisation,
    strata_dims,
    strata_table,
)
from .schema import FAILED, NO_RUN, SCORED


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
    check_number(level, "level", "(0, 1)")
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
