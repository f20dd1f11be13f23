"""The summary of a cube: are runs better than guessing, and by how much; one row per stratum and metric."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_choice, check_known, check_number, counted, warn
from ..contract.field import FIELDS
from ..contract.metric import METRICS
from ..statistics.multiplicity import floors
from ..statistics.stratum_statistic import STATISTICS, Statistic
from ..tables.history import call, calls, remember
from .reading import asked_strata, cells, clusters_of_runs, cube_metrics, null_stratum, strata_dims
from .reshaped import read_cube, read_metric
from .schema import NO_RUN, SCORED, declare_columns, values_of
from .summary_columns import FURTHER, SHORT, Settings, summary_columns

Columns = Literal["short", "full"]
Missing = Literal["drop", "worst"]

declare_columns("summary", (*SHORT, *FURTHER))


def summary(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] | None = "all",
    columns: Columns = "short",
    adjust: str | None = None,
    missing: Missing = "drop",
    statistic: Statistic = "mean",
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
) -> pd.DataFrame:
    """Summarise the runs of each stratum: are they better than guessing, and by how much.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics. A failed run that has
        a value of such a column, say its run time, counts with this value.
    by : str or sequence of str, optional
        Strata that the table keeps; the runs of the others are pooled. Default "all"; None pools all. Null models and
        dimensions that a metric declares are never pooled.
    columns : {"short", "full"}
        Which columns the table has.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction over the rows of each metric; default none, so that `p_adjusted` is `p_value`. Of many
        strata of guesses, 5 % are then at most .05.
    missing : {"drop", "worst"}
        "worst" is a sensitivity analysis that counts failed runs as the worst value: the end of the metric's range away
        from the optimum where that is finite, else the worst value among the stratum's estimates and controls. The
        control of a failed run is the mean of the stratum's controls. In the test it counts against the runs alone: in
        the mean by the excess of the worst value over the mean control, in the ranks as last. Skill is that of the
        runs that have a value.
    statistic : {"mean", "rank"}
        What the test compares. "mean": the sum over runs of their excess, the metric less the mean of the run and all
        of its draws. "rank": the sum over clusters of the rank of their summed excess among its draws, which is blind
        to single strong runs, and to single disasters.
    level : float
        Probability of the intervals; a p of at most 1 - `level` is significant.
    interval : {"quantile", "mean_ci"}
        Whether `low`, `high` (full columns) hold the middle share `level` of the runs (and of their controls), or are
        limits for the mean: a t interval for the runs, by clusters where a stratum repeats them, and the reference
        interval of the mean over the draws for the controls.

    Returns
    -------
    DataFrame
        One row per stratum and metric. The strata, then `metric`, `n_runs`, `mean` (infinite where a value is),
        `control_mean`, `effect` (mean of the runs less their expected controls; of distances from the optimum for a
        metric that is best at it) with its t interval over clusters `ci_low`, `ci_high`, `skill` (1 - ratio of mean
        distances from the optimum: 0 is guessing, 1 is perfect), `p_value` (one-sided), `p_adjusted` and `verdict`:
        "better" (`p_adjusted` is significant, the interval of the effect on the good side of 0, or the effect the same
        in all clusters, at least five clusters), "not all guesses" (`p_adjusted` alone), "not better", "cannot be
        judged" (p is a bound; `note` names what decides), or, for cells that data judge without a truth,
        "uninformative" (even the best relabelling could not be significant). A column `note` is there if a row has
        something that changes its reading. A cube of several null models has rows for each, named in the column `null`.
        Without controls, as for carried columns, the columns from `control_mean` on are missing.

        With `columns="full"` also `n_scored` (runs with a value), `n_failed` and `n_undefined` (0/0), which add up to
        `n_runs`, `n_without_controls`, `n_clusters`, `undefined_share` (of the runs that did not fail),
        `infinite_share`, `low`, `high`, `control_low`, `control_high`, `control_mean_se` and `p_se` (Monte Carlo
        standard errors), `control_as_good_share` (share of controls at least as good as their run; not a p-value),
        `skill_low`, `skill_high`, `p_at_floor` (no draw and no combination of draws reached the statistic: `p_value` is
        an upper bound), `p_method` ("simulated", "relabelling by ...", with "combinations of draws"; "twice the mean p
        by ..."; or why there is no p), `n_draws`, `n_no_information` (runs that equal all their draws), `null` and
        `note`, which says all there is to say.

    Raises
    ------
    ValueError
        If a metric, stratum or setting is unknown.

    Warns
    -----
    UserWarning
        If runs failed or are undefined, or the draws are too few for any p-value to be significant after `adjust`.

    Notes
    -----
    Null hypothesis: the runs, taken together, are random guesses of the null model. Under it a cluster's runs and draws
    are exchangeable and clusters independent, so that all (R + 1)^g combinations of one of them for each of g clusters
    are equally likely. The p-value of a stratum of several clusters is (1 + b) / 100,000, where b of 99,999 random
    combinations are at least as good as the runs: it is valid, and at least 1e-5. The seed of the draws and the scores
    of the stratum name the random stream, so that the order of rows changes no digit. Of more than 16,384 clusters,
    16,384 groups are combined. A stratum of one cluster has the p-value (1 + #{draws at least as good}) / (R + 1), and
    so have strata under null models whose controls depend on the other runs.

    A small p does not say that the average over further truths is better than guessing: that is what the interval of
    `effect` says, and "better" needs both.

    Runs of different clusters are assumed independent; of runs of one cluster (the runs on one truth, unless the cube
    was made with another `cluster=`) nothing is assumed. A stratum that repeats a cluster is tested by relabelling:
    draw r exchanges the nodes of all estimates of a cluster in one random way. This is exact for every null model whose
    law does not depend on the names of nodes. Under other null models, and where strata that share clusters are pooled
    by `by=`, p is Fisher's combination of twice the mean p of the runs of each cluster, which is valid and has less
    power: make the cube with these strata by `cube(by=...)` for the test by relabelling.

    An undefined value (0/0, or a divergence that no data define) is left out of mean, effect and skill, and counts as
    the mean of its draws in the test. An infinite value makes the mean infinite and skill minus infinity; it has the
    last rank, and leaves the statistic "mean" without a p-value.

    The limits of skill come from a jackknife that leaves out one truth with all its runs at a time, on the log scale of
    the ratio of losses. With at least five truths they cover .94 to .96 (nominal .95) for losses up to a gamma law of
    shape 2, but .40 with five truths, .65 with ten and .83 with twenty where a tenth of them has losses nine times as
    large: a disaster that has not happened cannot be seen. There are no limits below five truths, where few truths
    outweigh the others, where fewer than two have a loss, or where all have the same share of losses.

    Do not use the test where guesses are shared between truths that share labels, as where columns stand in causal
    order: shuffle the columns, or name one cluster for all truths. The p-values of two algorithms do not compare the
    algorithms; `compare` does.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("algorithm == 'pc' and density == 0.2")
    >>> cube = ce.cube(runs, ["shd"], by=["algorithm", "n"], n_draws=100, rng=7)
    >>> cube.ceval.summary()[["n", "mean", "control_mean", "skill", "verdict"]].round(2)
          n  mean  control_mean  skill verdict
    0   100  6.45         14.31   0.55  better
    1   400  6.00         15.57   0.61  better
    2  1600  4.55         15.63   0.71  better
    """
    check_number(level, "level", "(0, 1)")
    check_choice(interval, ("quantile", "mean_ci"), "interval")
    check_choice(statistic, STATISTICS, "statistic")
    check_choice(columns, ("short", "full"), "columns")
    check_known(missing, ["drop", "worst"], "value of missing")
    how = Settings(statistic, adjust, missing, level, interval)
    table = full_summary(cube, metrics, how, by=by)
    _warn_of_lost(table)
    if adjust is not None:
        _warn_of_floors(table, adjust, 1 - level)
    if columns == "short":
        noted = [*SHORT, "note"] if table["__reading"].notna().any() else SHORT
        strata = [name for name in table if name not in (*SHORT, *FURTHER, "__reading")]
        nulls = ["null"] if "null" in table.columns[: list(table).index("metric")] else []
        table = table.assign(note=table["__reading"])[[*nulls, *strata, *noted]]
    return table.drop(columns="__reading", errors="ignore")


def full_summary(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    how: Settings | None = None,
    *,
    by: str | Sequence[str] | None = "all",
) -> pd.DataFrame:
    """Return the full summary of a cube, with the column `reading`: notes that change how a row reads."""
    how = Settings() if how is None else how
    cube = null_stratum(read_cube(cube))
    names = cube_metrics(cube, metrics)
    before = calls(cube.attrs)
    cube = pooled_strata(cube, by)
    made = call(
        "summary", {"metrics": names, "by": by if by is None or isinstance(by, str) else list(by)} | asdict(how)
    )
    history = [*before, made]
    tables = []
    for name in names:
        part = read_metric(cube, name)
        tables.append(with_floors(summary_columns(part, name, how), part, name, 1 - how.level))
    table = pd.concat(tables, ignore_index=True)
    nulls = ["null"] if "null" in strata_dims(cube) else []
    strata = [*nulls, *(name for name in table if name not in (*SHORT, *FURTHER, "__reading"))]
    further = [name for name in FURTHER if name not in nulls]
    table = table.loc[table["n_runs"] > 0, [*strata, *SHORT, *further, "__reading"]].reset_index(drop=True)
    return remember(_typed(table), history)


def pooled_strata(cube: xr.Dataset, by: str | Sequence[str] | None) -> xr.Dataset:
    """Return the cube with the strata that `by` names alone; the runs of the others are further replicates."""
    known = [dim for dim in strata_dims(cube) if dim != "null"]
    kept = asked_strata(by, known)
    for name in kept:
        check_known(name, known, "stratum (by)")
    gone = [dim for dim in known if dim not in kept]
    if not gone:
        return cube
    joint = [v for v in cube.data_vars if cube.variables[v].attrs.get("role") == "relabelled"]
    ran = cube["status"] != NO_RUN
    # estimates were relabelled jointly where all strata that are pooled repeat a cluster
    part = [v for v in joint if bool((cube[v].isnull().all("draw") & ran).any())]
    cube = cube.drop_vars(part)
    along = [name for name, x in cube.coords.items() if set(x.dims) & {*gone, "replicate"}]
    labels = [name for name in along if "replicate" not in cube[name].dims or cube[name].ndim == 1]
    wide = cube.drop_vars(labels).stack({"__run__": [*gone, "replicate"]}, create_index=False)
    runs = (wide["status"] != NO_RUN).any([dim for dim in wide["status"].dims if dim != "__run__"])
    wide = wide.isel(__run__=runs.to_numpy()).rename(__run__="replicate")
    return wide.assign_attrs(strata=json.dumps([dim for dim in strata_dims(cube) if dim not in gone]))


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    """Give words and numbers that may be missing their types."""
    words = ("p_method", "note", "verdict", "__reading", *(["null"] if table["null"].dtype == object else []))
    numbers = {name: table[name].to_numpy(np.int64) for name in ("n_clusters", "n_draws", "n_no_information")}
    return table.assign(
        **{name: pd.array(table[name].tolist(), dtype="str") for name in words},
        p_at_floor=table["p_at_floor"].astype("boolean"),
        **{name: pd.arrays.IntegerArray(n, n < 0) for name, n in numbers.items()},
    )


def _warn_of_floors(table: pd.DataFrame, adjust: str, alpha: float) -> None:
    """Warn where the draws are too few for any test of a metric to pass after the correction."""
    method = table["p_method"].fillna("")
    limited = method.str.contains("simulated|relabelling") & ~method.str.contains("combinations")
    least = (1 / (1 + table["n_draws"].astype("Float64"))).where(limited).to_numpy(np.float64, na_value=np.nan)
    families = table.groupby("metric", sort=False).ngroup().to_numpy(np.int64)
    bounds = floors(table["p_value"].to_numpy(np.float64), least, adjust, alpha, families)
    if bounds:
        worst = max(bounds, key=lambda x: x.draws_needed)
        warn(
            f"no test can pass at {alpha:.3g} with so few draws: the smallest p-value that they can give is "
            f"{worst.least:.3g}, which adjust={adjust!r} over {worst.n_tests} tests turns into "
            f"{worst.least_adjusted:.3g}; make the cube with n_draws={worst.draws_needed} or more, or n_draws='auto'",
        )


def _warn_of_lost(table: pd.DataFrame) -> None:
    """Warn of runs that failed or are undefined, once per call."""
    first = table[table["null"].isna() | (table["null"] == table["null"].iloc[:1].squeeze())] if len(table) else table
    lost = first.groupby("metric", sort=False)[["n_failed", "n_undefined"]].sum()
    failed = int(lost["n_failed"].max()) if len(lost) else 0
    words = [f"{counted(failed, 'run')} failed"] if failed else []
    words += [f"{name} is undefined in {counted(int(n), 'run')}" for name, n in lost["n_undefined"].items() if n]
    if words:
        warn(
            f"{', '.join(words)}: left out of means and skill; summary(columns='full') counts them by stratum",
        )


#: verdict where even the best relabelling of a stratum's estimates could not reach alpha
UNINFORMATIVE = "uninformative"


def has_floors(cube: xr.Dataset) -> bool:
    """Return whether a cube has the smallest p-values of its runs."""
    field = FIELDS.get(str(cube.attrs.get("field")))
    return field is not None and bool(field.floor) and field.floor in values_of(cube)


def cluster_floors(cube: xr.Dataset) -> list[pd.Series]:
    """Return the smallest p-value of each cluster's runs in each stratum, 0 where that of a run is not known."""
    dims = strata_dims(cube)
    ran = cells(cube["status"], dims) == SCORED
    floors = np.nan_to_num(cells(cube[FIELDS[str(cube.attrs["field"])].floor], dims))
    clusters = np.where(ran, clusters_of_runs(cube), 0)
    return [pd.Series(x[at != 0]).groupby(at[at != 0]).min() for x, at in zip(floors, clusters, strict=True)]


def with_floors(table: pd.DataFrame, cube: xr.Dataset, metric: str, alpha: float) -> pd.DataFrame:
    """Mark the verdicts of strata whose smallest possible p, the product of those of clusters, exceeds alpha."""
    known, joint = METRICS.get(metric), FIELDS[str(cube.attrs["field"])].joint_null if has_floors(cube) else None
    if joint is None or known is None or known.truth_kinds:
        return table
    floors = cluster_floors(cube)
    least = np.array([float(np.prod(x.to_numpy(np.float64))) if len(x) else 0.0 for x in floors])
    few = (least > alpha) & (table["null"] == joint.name).to_numpy(bool) & (table["n_runs"] > 0).to_numpy()
    return table.assign(verdict=table["verdict"].mask(few, UNINFORMATIVE))
