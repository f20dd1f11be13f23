"""The summary of a cube: runs and controls, one row a stratum and metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_choice, check_number
from ..contract.history import call, calls, remember
from ..statistics.stratum_statistic import STATISTICS, Statistic
from .composite_nulls import worst_members
from .reading import (
    cube_metrics,
    null_stratum,
    strata_table,
)
from .reshaped import read_cube, read_metric
from .schema import declare_columns
from .stratum_sums import SHARES, summary_columns
from .verdicts import with_verdicts

#: columns of the result, after the strata; printed tables show the first and the last
COLUMNS = declare_columns(
    "summary",
    (
        *("metric", "n_runs", "n_scored", "n_failed", "n_undefined", "n_clusters", "mean", "low", "high"),
        *("n_without_controls", *SHARES, "control_mean_se", "p_se", "ci_level", "p_method", "p_at_floor", "note"),
        *("control_mean", "control_low", "control_high", "superiority_share", "skill_low", "skill_high"),
        *("p_value", "skill"),
    ),
)


def summary(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
    statistic: Statistic = "mean",
) -> pd.DataFrame:
    """Summarise estimates and controls, one row a stratum and metric.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics. A failed run that has
        a value of such a column, say its run time, counts with this value.
    level : float
        Probability of the intervals.
    interval : {"quantile", "mean_ci"}
        Whether `low`, `high` hold the middle share `level` of the runs (and of their controls), or are limits
        for the mean: a t interval for the runs, by clusters where a stratum repeats them, and the reference
        interval of the mean over the draws for the controls. The draws are those of the test: estimates
        relabelled by cluster in a stratum that repeats one. Where `p_method` is twice a mean p, no joint draws
        exist; the interval then takes the controls of runs as independent and is too narrow.
    statistic : {"mean", "rank"}
        What `p_value` compares with the draws, as in `test_controls`.

    Returns
    -------
    DataFrame
        Strata, `metric`, `n_runs`, and of these `n_scored` (with a value of the metric, so that they count in `mean`),
        `n_failed` (failed and without a value) and `n_undefined` (0/0), which add up to `n_runs`; `n_without_controls`
        (scored runs without controls), `undefined_share` (of the runs that did not fail), `infinite_share` (of the
        scored runs), `mean` (infinite where a value is, NaN where values of both signs are), `low`, `high`,
        `control_mean`, `control_low`, `control_high`, `superiority_share` (share of pairs whose control is at least as
        good; not a p-value), `p_value` (as of `test_controls`), `skill` (1 - ratio of mean distances from the optimum)
        with the limits `skill_low`, `skill_high` and `ci_level`, their level, missing without limits; `control_mean_se`
        and `p_se`, the Monte Carlo standard errors of `control_mean` and `p_value`; `p_at_floor`, `p_method` and
        `n_clusters`, as in
        `test_controls`; `note`, how many values are undefined, why skill, or the mean under "mean_ci", has no interval,
        or what the interval of skill assumes. Without controls, as for carried columns, those from `control_mean` on
        are missing. A cube of several null models has rows for each, named in the first column `null`. A composite one
        (`ce.worst_of`) has the rows of the member with the largest p, which `control_null` names. Dimensions that a
        metric declares are columns after the strata, missing in the rows of other metrics. A cube of metrics that need
        no truth and of the null model that relabels estimates has the column `verdict`: "uninformative" (even the best
        relabelling cannot reach p <= 1 - level), "better than permuted" (p <= 1 - level) or "not better than permuted".

    Raises
    ------
    ValueError
        If a metric is unknown, or `level` or `interval` is invalid.

    Notes
    -----
    Undefined values (0/0, or a divergence that no data define) are left out of mean and skill, and count as the mean of
    their draws in `p_value`; `note` has their number. An infinite value makes the mean infinite and skill minus
    infinity, and infinite controls leave skill undefined; `p_value` stays defined, since infinite values lie beyond all
    finite ones there: by the range of the finite values of a run and its draws.

    The limits of skill come from a jackknife that leaves out one truth with all its runs at a time, on the log scale of
    the ratio of losses. With at least five truths they cover .94 to .96 (nominal .95) for losses up to a gamma law of
    shape 2, but .40 with five truths, .65 with ten and .83 with twenty where a tenth of them has losses nine times as
    large: a disaster that has not happened cannot be seen. There are no limits below five truths, where few truths
    outweigh the others, where fewer than two have a loss, or where all have the same share of losses, or shares that
    differ by no more than the Monte Carlo errors of drawn controls make them. With `share_draws=True` these errors are
    alike in all truths, and are added.

    The interval of the mean leaves out one cluster at a time as well, with Kish's effective number of clusters less one
    as degrees of freedom. It covers .95 for normal clusters of equal size and .946 or more for unequal ones; .91 for
    five clusters of means as skewed as a gamma law of shape 2. Runs are taken as independent under `cluster=None`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.2")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm", "n"], n_draws=100, rng=7)
    >>> list(ce.summary(found).columns[:4])
    ['algorithm', 'n', 'metric', 'n_runs']
    """
    check_number(level, "level", "(0, 1)")
    check_choice(interval, ("quantile", "mean_ci"), "interval")
    check_choice(statistic, STATISTICS, "statistic")
    cube = null_stratum(read_cube(cube))
    names = cube_metrics(cube, metrics)
    settings = {"metrics": names, "level": level, "interval": interval, "statistic": statistic}
    rows = [_summary(read_metric(cube, name), name, level, interval, statistic) for name in names]
    table = stack_summaries([worst_members(cube, part) for part in rows])
    return remember(table, [*calls(cube.attrs), call("summary", settings)])


def _summary(cube: xr.Dataset, metric: str, level: float, interval: str, statistic: Statistic) -> pd.DataFrame:
    """Return the rows of one metric, also of strata without runs."""
    columns = summary_columns(cube, metric, level=level, interval=interval, statistic=statistic)
    return with_verdicts(typed_columns(strata_table(cube, metric=metric, **columns)), cube, metric, level)


def typed_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Give words and numbers that may be missing their types."""
    n = table["n_clusters"].to_numpy(np.int64)
    words = {name: pd.array(table[name].tolist(), dtype="str") for name in ("p_method", "note")}
    at_floor = table["p_at_floor"].astype("boolean")
    return table.assign(**words, p_at_floor=at_floor, n_clusters=pd.arrays.IntegerArray(n, n < 0))


def stack_summaries(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Put the rows of several metrics together, without strata that have no runs."""
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    verdict = [name for name in table.columns if name == "verdict"]
    strata = [name for name in table.columns if name not in (*COLUMNS, *verdict)]
    return table.loc[table["n_runs"] > 0, [*strata, *COLUMNS, *verdict]].reset_index(drop=True)
