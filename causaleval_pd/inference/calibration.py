"""Size and power of the tests against controls in a study whose runs guess as its null model does, by simulation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_whole
from ..contract.history import call
from ..contract.statistical_test import StatisticalTest, find_test, offered
from ..cubes.lazy_tables import tabulate
from ..cubes.reading import (
    cluster_ids,
    cube_metrics,
    draws_shared,
    has_controls,
    has_draws,
    losses,
    need_controls,
    null_name,
    null_references,
    null_stratum,
    strata_columns,
    strata_dims,
    strata_table,
    variable,
)
from ..cubes.reshaped import read_cube
from ..cubes.stratum_tests import stratum_tests
from ..cubes.worst_case import cells
from ..statistics.arrays import BLOCK, Bools, Floats, moments, paired_difference, ratio
from ..statistics.clusters import cluster_count, cluster_means
from ..statistics.direction import better_side, score
from ..statistics.paired_tests import Alternative
from ..statistics.rates import MISCALIBRATED, judge_rates, rate_limits
from .result_tables import check_shares, in_order
from .statistical_tests import MOMENTS

Ints = NDArray[np.int64]

#: verdict on a test that ranks draws among draws
BY_CONSTRUCTION = "by construction"
#: columns of the result, after the strata
COLUMNS = (
    *("metric", "method", "n_pairs", "n_clusters", "alpha", "size", "size_low", "size_high", "verdict"),
    *("skill", "power", "n_tables", "null"),
)


def size_and_power(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    methods: str | Sequence[str] | None = None,
    alpha: float = 0.05,
    skill: float = 0.2,
    n_tables: int = 1000,
) -> pd.DataFrame:
    """Estimate size and power of the tests against controls in this study.

    Draws of the controls take the place of the estimates, one after the other: every rejection is then a wrong one.
    The number of runs, their truths and their ties are those of the study.

    Parameters
    ----------
    cube : Dataset
        Made by `cube(..., keep_draws=True)`.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    methods : str or sequence of str, optional
        Methods of `test_controls`; default all that `list_tests("test_controls")` names but "moments",
        whose purpose are p-values that no number of tables can check.
    alpha : float
        Level of the tests.
    skill : float
        Skill whose detection is the power: the draws come nearer to the optimum by this share of the controls' mean
        distance from it.
    n_tables : int
        How many draws take the place of the estimates, at most all.

    Returns
    -------
    DataFrame
        A row a stratum, metric and method: the strata, `metric`, `method`, `n_pairs` (runs) and `n_clusters` with a
        value, `alpha`, `size` (share of rejections without skill), `size_low`, `size_high` (Clopper and Pearson's 95 %
        limits), `verdict`, `skill`, `power` (share of rejections with it), `n_tables`, `null`. `verdict` is
        "miscalibrated" if the lower limit of probability .99 exceeds alpha, "conservative" if the upper one is below
        it, "by construction" for tests that rank a draw among draws, and else missing: no simulation shows that a test
        is calibrated.

    Raises
    ------
    ValueError
        If a name is unknown, a number is out of range, or the cube keeps no draws or has shared ones.

    Notes
    -----
    The randomisation test is that of the mean of the metric here (`test_controls(statistic="mean")`).

    The size is that among runs which guess as the null model does: each run's draw takes the place of its estimate. In
    strata that repeat a cluster these are the estimates relabelled by cluster, and paired tests take the mean of each
    cluster, as `test_controls` does; where p is twice a mean p there is nothing to simulate. It cannot show that runs
    of different clusters depend on one another, or that the null model does not describe how an algorithm guesses;
    `size_and_power` of the table of runs relabels the study's own estimates and shows both. A test is conservative
    mostly because there are few runs or draws: with R draws the randomisation test has no p-value below 1 / (R + 1),
    and its level holds by construction, as it ranks draws among draws. Each table is compared with one draw fewer than
    the study.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=200, rng=7, keep_draws=True)
    >>> ce.size_and_power(found, methods="wilcoxon")[["size", "size_low", "size_high"]].round(3).values.tolist()
    [[0.065, 0.035, 0.109]]
    """
    if methods is None:
        chosen = [test for test in offered("test_controls") if test is not MOMENTS]
    else:
        named = [methods] if isinstance(methods, str) else methods
        chosen = [find_test(name, "test_controls", "method") for name in named]
    if MOMENTS in chosen:
        raise ValueError("method='moments' is for p-values that no number of tables can check; leave it out")
    check_shares(alpha=alpha, skill=skill)
    check_whole(n_tables, "n_tables", 1)
    cube = read_cube(cube)
    names = cube_metrics(cube, metrics)
    cube = null_stratum(cube)
    taken = [dim for dim in strata_columns(cube, names) if dim in COLUMNS and dim != "null"]
    if taken:
        raise ValueError(f"the table has a column {taken[0]!r}, as a stratum is called; rename it by cube.rename")

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        tables = [_rates(part, name, test, alpha, skill, int(n_tables)) for test in chosen]
        # a stratum's methods side by side
        return pd.concat(tables).sort_index(kind="stable")

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return in_order(pd.concat(parts, ignore_index=True), COLUMNS)

    settings = {"metrics": names, "methods": [test.name for test in chosen], "alpha": alpha, "skill": skill}
    made = call("size_and_power", settings | {"n_tables": n_tables})
    return tabulate(cube, names, rows, finish, strata=strata_dims(cube), made=made)


def _rates(
    cube: xr.Dataset, name: str, test: StatisticalTest, alpha: float, skill: float, n_tables: int
) -> pd.DataFrame:
    """Return the rows of one metric and test, one a stratum; the parameters are those of `size_and_power`."""
    dims, spec = strata_dims(cube), cube[name].attrs
    _check_draws(cube, name)
    study = stratum_tests(cube, name, combine=False)
    draws = _draws(cube, name, study.relabelled)
    clusters = np.where(study.repeated[:, None], cells(cluster_ids(cube), dims), np.arange(draws.shape[1]))
    if test.design == "draws":
        # twice the mean p of a cluster is not a rank among draws
        draws = np.where(study.by_logs[:, None, None], np.nan, draws)
    tables = min(n_tables, draws.shape[2])
    loss = moments(losses(cube, name)[1])[1]
    better = np.where(np.isfinite(loss), skill * loss, np.nan) * (1 if spec["direction"] == "maximize" else -1)
    alternative = better_side(spec["direction"])

    def p_values(shift: Floats) -> Floats:
        if test.design == "draws":
            return _among_draws(draws, shift, tables, test, alternative)
        return _paired(draws, clusters, shift, tables, test, alternative)

    count, defined = _rejections(p_values(np.zeros(len(draws))), alpha)
    found, _ = _rejections(p_values(better), alpha)

    table = strata_table(cube)
    table["null"] = table["null"] if "null" in dims else null_name(cube, name)
    reference = table["null"].isin(null_references(cube, name)).to_numpy(bool)
    defined = np.where(reference, 0, defined)
    size, power = ratio(count, defined), ratio(found, defined)
    low, high = rate_limits(count, defined)
    table = table.assign(
        metric=name,
        method=test.name,
        n_pairs=(~np.isnan(cells(cube[name], dims))).sum(axis=1),
        n_clusters=cluster_count(cells(cube[name], dims), cells(cluster_ids(cube), dims)),
        alpha=alpha,
        size=size,
        size_low=low,
        size_high=high,
        verdict=_verdict(count, defined, alpha, test),
        skill=skill,
        power=power,
        n_tables=tables,
    )
    return table[table["n_pairs"] > 0]


def _rejections(p: Floats, alpha: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of rejections, and of tables that have a p-value, by stratum."""
    return (p <= alpha).sum(axis=1), (~np.isnan(p)).sum(axis=1)


def _verdict(count: NDArray[np.int64], defined: NDArray[np.int64], alpha: float, test: StatisticalTest) -> pd.Series:
    """Return what the size of a test shows; missing where it shows nothing."""
    words = judge_rates(count, defined, alpha)
    if test.design == "draws":
        words = np.where((words != MISCALIBRATED) & (defined > 0), BY_CONSTRUCTION, words)
    return pd.Series(words.tolist(), dtype="str")


def _check_draws(cube: xr.Dataset, name: str) -> None:
    """Refuse cubes whose draws cannot stand for the estimates of a study."""
    if not has_controls(cube):
        raise ValueError("the cube has no controls; make it by cube(..., n_draws=1000, keep_draws=True)")
    need_controls(cube, [name])
    if draws_shared(cube):
        raise ValueError("the rows of this cube share their draws, so no draw can stand for the estimates of a study")
    if not has_draws(cube, name) or cube.sizes.get("draw", 0) < 2:
        raise ValueError(
            f"the cube keeps no draws of {name} that could stand for the estimates; make it by cube(..., "
            "keep_draws=True) with at least 2 draws"
        )


def _draws(cube: xr.Dataset, name: str, relabelled: Bools) -> Floats:
    """Return the scores of the kept draws, (strata, runs, draws); NaN where the run has no value.

    Those of `relabelled` strata are the study's estimates, relabelled by cluster.
    """
    dims = strata_dims(cube)
    values = cells(variable(cube, name, "control"), dims, last=("replicate", "draw"))
    if relabelled.any():
        joint = cells(variable(cube, name, "relabelled"), dims, last=("replicate", "draw"))
        made = cells(variable(cube, name, "relabelled_defined"), dims) >= 0
        values = np.where((relabelled[:, None] & made)[:, :, None], joint, values)
    defined = ~np.isnan(cells(cube[name], dims))
    found = score(values, direction=cube[name].attrs["direction"], optimum=cube[name].attrs["optimum"])
    return np.where(defined[:, :, None], found, np.nan)


def _among_draws(draws: Floats, shift: Floats, tables: int, test: StatisticalTest, alternative: Alternative) -> Floats:
    """Return p-values (strata, tables) of the means of draws (s, n, r) among the means of all others; NaN if undefined.

    The first `tables` draws take the place of estimates, with `shift` (s,) added.
    """
    mean = moments(np.moveaxis(draws, 2, 1))[1]
    found = np.full((len(mean), tables), np.nan)
    step = max(1, BLOCK // max(1, mean.size))
    for start in range(0, tables, step):
        own = mean[:, start : min(start + step, tables)]
        others = np.repeat(mean[:, None, :], own.shape[1], axis=1)
        itself = np.arange(own.shape[1])
        others[:, itself, start + itself] = np.nan
        tested = test.function(own + shift[:, None], others, alternative=alternative)
        found[:, start : start + own.shape[1]] = tested[1]
    return found


def _paired(
    draws: Floats, clusters: Ints, shift: Floats, tables: int, test: StatisticalTest, alternative: Alternative
) -> Floats:
    """Return p-values (strata, tables) of draws, each paired with the draw that follows it; see `_among_draws`.

    The runs of a cluster (s, n) count by their mean.
    """
    n = draws.shape[2]
    own = draws[:, :, :tables] + shift[:, None, None]
    pairs = paired_difference(own, draws[:, :, (np.arange(tables) + 1) % n])
    means = cluster_means(np.moveaxis(pairs, 2, 1), clusters[:, None, :])
    flat = means.reshape(-1, pairs.shape[1])
    p = test.function(flat, alternative=alternative)[1]
    return np.asarray(p, np.float64).reshape(len(draws), tables)
