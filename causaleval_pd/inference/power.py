"""Power: how many runs a study needs, and which effects a finished one could detect."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import ArrayLike

from ..contract.checks import check_known
from ..contract.history import call, calls, remember
from ..cubes.lazy_tables import tabulate, then
from ..cubes.reading import (
    cluster_setting,
    clusters_of_runs,
    cube_metrics,
    losses,
    need_controls,
    null_name,
    null_stratum,
    strata_dims,
    strata_table,
    tested,
)
from ..cubes.reshaped import read_cube
from ..cubes.schema import NO_RUN, declare_columns
from ..cubes.stratum_tests import StratumTests, draw_sums, stratum_tests
from ..cubes.worst_case import cells
from ..statistics.arrays import Floats, moments, ratio
from ..statistics.clusters import cluster_count, clustered_error
from .clusters import OF_CUBE, settle_cluster
from .compare import COLUMNS as COMPARE_COLUMNS
from .compare import compare
from .result_tables import check_own_draws, check_shares, in_order

Sided = Literal["two-sided", "one-sided"]

#: columns of the results, after the strata; `comparison_power` has the last four where a difference is given
CONTROL_POWER_COLUMNS = declare_columns(
    "control_power",
    (
        *(
            "metric",
            "n_runs",
            "n_pairs",
            "n_clusters",
            "control_loss",
            "sd_null",
            "sd",
            "skill",
            "n_clusters_needed",
            "n_needed",
            "power",
            "minimal_skill",
            "null",
        ),
    ),
)
COMPARISON_POWER_COLUMNS = declare_columns(
    "comparison_power",
    (
        *("metric", "comparison", "n_pairs", "n_clusters", "sd", "minimal_difference", "difference"),
        *("n_clusters_needed", "n_needed", "power"),
    ),
)


def control_power(
    cube: xr.Dataset,
    metrics: str | Sequence[str] | None = None,
    *,
    skill: float = 0.2,
    power: float = 0.8,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Estimate how many runs the randomisation test needs to detect a skill, and which skill a study can detect.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` with controls: a pilot study, or the finished one.
    metrics : str or sequence of str, optional
        Which of its metrics; default all.
    skill : float
        True skill that is to be detected, 1 - E[L] / E[L of controls] with L the distance from the optimum.
    power : float
        Probability with which it is to be detected.
    alpha : float
        Level of the one-sided test.

    Returns
    -------
    DataFrame
        A row a stratum and metric: the strata, `metric`, `n_runs`, `n_pairs` (runs with a value and controls),
        `n_clusters` (of these pairs, such as truths), `control_loss` (mean expected distance of controls from the
        optimum), `sd_null` (standard deviation of the mean of one draw over all runs, times the square root of the
        number of clusters), `sd` (the same of the runs' distances less those expected of their controls), `skill`,
        `n_clusters_needed`, `n_needed` (runs: as many clusters of the present mean size), `power` (of the present
        number of clusters to detect `skill`), and `minimal_skill` that this number detects with the power asked for;
        `null`.

    Raises
    ------
    ValueError
        If a metric is unknown, a number is out of range, the cube has no controls, too few draws for alpha or rows that
        share their draws; if a stratum repeats a cluster under a null model that cannot relabel estimates by cluster.

    Notes
    -----
    Normal approximation for the test of the mean (`statistic="mean"`): the mean of the runs of n clusters is compared
    with its distribution over draws, standard deviation `sd_null` / sqrt(n), while it varies by `sd` / sqrt(n).
    Clusters are those of the cube and independent; a stratum that repeats one is compared with estimates relabelled by
    cluster, as in `test_controls`, and its runs vary by the sums of their clusters [2]_. Where every run is a cluster,
    both numbers needed are equal. No p-value is below 1 / (n_draws + 1), so a cube with fewer than 1 / alpha - 1 draws
    is refused. The power to detect the observed effect is a function of the p-value [1]_ and is not given.

    References
    ----------
    .. [1] Hoenig, J. M., Heisey, D. M. (2001). The abuse of power. doi:10.1198/000313001300339897
    .. [2] Liang, K.-Y., Zeger, S. L. (1986). Longitudinal data analysis using generalized linear models.
       doi:10.1093/biomet/73.1.13

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=200, rng=7)
    >>> ce.control_power(found, skill=0.1)[["algorithm", "n_needed"]]
      algorithm  n_needed
    0       ges        11
    1    lingam        12
    2        pc         9
    """
    cube = read_cube(cube)
    names = cube_metrics(cube, metrics)
    check_shares(power=power, alpha=alpha, skill=skill)
    need_controls(cube, names, "to measure skill against")
    check_own_draws(cube, "the randomisation test has no valid reference")
    n_draws = int(cube.attrs["n_draws"])
    if 1 / (n_draws + 1) > alpha:
        raise ValueError(
            f"with n_draws={n_draws} no p-value is below {1 / (n_draws + 1):.3g}, so the test never rejects at "
            f"alpha={alpha:g}; make the cube with n_draws={math.ceil(1 / alpha - 1e-9) - 1} or more"
        )
    cube = null_stratum(cube)
    dims = strata_dims(cube)

    def rows(part: xr.Dataset, name: str) -> pd.DataFrame:
        return _control_power(part, name, skill, power, alpha)

    def finish(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return in_order(pd.concat(parts, ignore_index=True), CONTROL_POWER_COLUMNS)

    made = call("control_power", {"metrics": names, "skill": skill, "power": power, "alpha": alpha})
    return tabulate(cube, names, rows, finish, strata=dims, made=made)


def _control_power(part: xr.Dataset, name: str, skill: float, power: float, alpha: float) -> pd.DataFrame:
    """Return the rows of one metric, one a stratum; the parameters are those of `control_power`."""
    from statsmodels.stats.power import normal_power_het, normal_sample_size_one_tail

    dims = strata_dims(part)
    own, expected = losses(part, name)
    clusters, tests = clusters_of_runs(part), stratum_tests(part, name, combine=False)
    _refuse_unrelabelled(part, name, tests)
    n, _, spread = moments(own - expected)
    n_clusters, loss = cluster_count(own - expected, clusters), moments(expected)[1]
    size = n / np.maximum(n_clusters, 1)
    spread = np.where(size > 1, clustered_error(own - expected, clusters) * np.sqrt(n_clusters), spread)
    total, counts = draw_sums(part, name)
    runs_drawn = moments(np.where(counts > 0, counts, np.nan))[1]
    null = moments(ratio(total, counts))[2] * np.sqrt(runs_drawn / np.maximum(size, 1))
    usable = (n_clusters > 1) & (loss > 0) & np.isfinite(loss) & (null + spread > 0)
    loss, null, spread = (np.where(usable, x, np.nan) for x in (loss, null, spread))
    # runs that are all equally good have no spread: power is then the limit 0 or 1
    positive, units = np.maximum(spread, 1e-100), np.maximum(n_clusters, 1)
    needed = normal_sample_size_one_tail(skill * loss, power, alpha, null, spread)
    whole = np.maximum(np.ceil(needed - 1e-9), 2)
    table = strata_table(part).assign(
        metric=name,
        n_runs=(cells(part["status"], dims) != NO_RUN).sum(axis=1),
        n_pairs=n,
        n_clusters=n_clusters,
        control_loss=loss,
        sd_null=null,
        sd=spread,
        skill=skill,
        n_clusters_needed=_whole(whole),
        n_needed=_whole(whole * size),
        power=normal_power_het(skill * loss, units, alpha, null, positive, alternative="larger"),
        minimal_skill=(scipy.special.ndtri(1 - alpha) * null + scipy.special.ndtri(power) * spread)
        / (np.sqrt(units) * loss),
    )
    if "null" not in dims:
        table["null"] = null_name(part, name)
    return table[n > 0]


def _refuse_unrelabelled(part: xr.Dataset, name: str, tests: StratumTests) -> None:
    """Refuse strata whose test combines the p-values of clusters: it is not one of a mean and its draws."""
    wrong = tests.by_logs & tested(part, name)
    if not wrong.any():
        return
    row = strata_table(part)[wrong].iloc[0]
    stratum = ", ".join(f"{dim}={level!r}" for dim, level in row.to_dict().items()) or "the whole table"
    raise ValueError(
        f"control_power of {name!r} in {stratum}: runs share clusters ({cluster_setting(part)}) that the null model "
        f"{null_name(part, name)!r} cannot relabel jointly, so the power of their test cannot be estimated; select "
        "strata with one run a cluster, make the cube with another null model, or with cluster=None where runs are "
        "independent"
    )


def comparison_power(
    cube: xr.Dataset,
    dim: str,
    *,
    difference: float | Mapping[str, float] | None = None,
    metrics: str | Sequence[str] | None = None,
    reference: Hashable | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Sided = "two-sided",
    cluster: Hashable | None = OF_CUBE,
) -> pd.DataFrame:
    """Estimate the difference that a finished study could detect, and how many pairs a given difference needs.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`: a pilot study, or the finished one.
    dim : str
        The stratum whose levels are compared, such as "algorithm".
    difference : float or {metric: float}, optional
        True mean difference that is to be detected, in units of the metric.
    metrics, reference, cluster
        As in `compare`.
    power : float
        Probability with which it is to be detected.
    alpha : float
        Level of the test; divide it by the number of comparisons to allow for multiplicity.
    alternative : {"two-sided", "one-sided"}
        Of the paired t test.

    Returns
    -------
    DataFrame
        A row a stratum, metric and pair of levels: the other strata, `metric`, `comparison`, `n_pairs`, `n_clusters`
        (of pairs, such as truths, whose mean differences are the values of the test), `sd` (of these),
        `minimal_difference` that the present clusters detect with the power asked for, and, where `difference` is
        given, `difference`, `n_clusters_needed`, `n_needed` (pairs: as many clusters of the present mean size), and
        `power` (of the present number of clusters to detect it).

    Raises
    ------
    ValueError
        As `compare`; also if a number is out of range.

    Notes
    -----
    Paired t test, as of `statsmodels.stats.power.TTestPower`. In large samples Wilcoxon's test needs about 5 % more
    clusters where differences are normal, and at most 16 % more for any law [1]_; in small samples it can need far
    more, and with 5 clusters or fewer it cannot reject at .05 two-sided. NaN where there are fewer than two clusters or
    differences do not vary.

    References
    ----------
    .. [1] Hodges, J. L., Lehmann, E. L. (1956). The efficiency of some nonparametric competitors of the t-test.
       doi:10.1214/aoms/1177728261

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 100")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> table = ce.comparison_power(found, "algorithm", difference=1.0)
    >>> table[["comparison", "minimal_difference", "n_needed"]].round(2)
         comparison  minimal_difference  n_needed
    0  ges - lingam                1.89        67
    1      ges - pc                1.42        39
    2   lingam - pc                1.72        56
    """
    check_shares(power=power, alpha=alpha)
    check_known(alternative, ["two-sided", "one-sided"], "alternative")
    cube = read_cube(cube, controls=False)
    names = cube_metrics(cube, metrics)
    wanted = None if difference is None else _differences(difference, names)
    # compare() checks names and pairs, and decides which rows there are
    compared = compare(cube, dim, names, by="all", reference=reference, test="t", adjust=None, cluster=cluster)
    sides = "two-sided" if alternative == "two-sided" else "larger"

    settings = {"metrics": names, "difference": wanted, "power": power, "alpha": alpha, "alternative": alternative}
    grouped = settle_cluster(cube, cluster)

    def of_pairs(rows: pd.DataFrame) -> pd.DataFrame:
        table = _comparison_power(rows, wanted, power, alpha, sides)
        return remember(table, [*calls(rows.attrs), call("comparison_power", settings | {"cluster": grouped})])

    return then(compared, of_pairs)


def _differences(difference: float | Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Return the difference to detect of every metric that has one."""
    wanted = dict(difference) if isinstance(difference, Mapping) else dict.fromkeys(names, difference)
    for name, value in wanted.items():
        check_known(name, names, "metric compared (difference)")
        if not (isinstance(value, (int, float, np.number)) and 0 < value < np.inf):
            raise ValueError(f"difference must be a positive number in units of the metric, found {value!r} of {name}")
    return wanted


def _comparison_power(
    rows: pd.DataFrame, wanted: Mapping[str, float] | None, power: float, alpha: float, sides: str
) -> pd.DataFrame:
    """Return the table of `comparison_power` from that of `compare`: paired t tests with 95 % intervals.

    `wanted` are differences to detect by metric, `sides` the alternative as statsmodels calls it.
    """
    strata = [name for name in rows if name not in COMPARE_COLUMNS]
    table = rows[[*strata, "metric", "comparison", "n_pairs", "n_clusters"]].copy()
    # the t interval is the effect +- t(.975) sd / sqrt(n)
    n = table["n_clusters"].to_numpy(np.float64)
    half = (rows["ci_high"] - rows["ci_low"]).to_numpy(np.float64) / 2
    table["sd"] = half * np.sqrt(n) / scipy.special.stdtrit(np.maximum(n - 1, 1), 0.975)
    smallest = np.array([_detectable(int(x), power, alpha, sides) for x in n], np.float64)
    spread = np.where(table["sd"] > 0, table["sd"], np.nan)
    table["minimal_difference"] = smallest * spread
    if wanted is not None:
        table["difference"] = table["metric"].map(wanted).to_numpy(np.float64)
        size = table["difference"].to_numpy(np.float64) / spread
        needed = np.array([_pairs_needed(x, power, alpha, sides) for x in size], np.float64)
        table["n_clusters_needed"] = _whole(needed)
        table["n_needed"] = _whole(needed * table["n_pairs"].to_numpy(np.float64) / np.maximum(n, 1))
        table["power"] = _t_power(size, n, alpha, sides)
    return in_order(table, [name for name in COMPARISON_POWER_COLUMNS if name in table])


@lru_cache(maxsize=4096)
def _detectable(n: int, power: float, alpha: float, sides: str) -> float:
    """Return the mean in units of the standard deviation that n pairs detect."""
    from statsmodels.stats.power import TTestPower

    if n < 2:
        return np.nan
    return float(TTestPower().solve_power(None, nobs=n, alpha=alpha, power=power, alternative=sides))


def _pairs_needed(size: float, power: float, alpha: float, sides: str) -> float:
    """Return how many pairs detect a mean given in units of the standard deviation, at least two."""
    if np.isnan(size):
        return np.nan
    low, high = 2, 4
    while _t_power(size, high, alpha, sides) < power:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _t_power(size, middle, alpha, sides) >= power else (middle + 1, high)
    return low


def _t_power(size: ArrayLike, n: ArrayLike, alpha: float, sides: str) -> Floats:
    """Return the power of the paired t test; NaN for fewer than two pairs."""
    from statsmodels.stats.power import ttest_power

    n = np.asarray(n, np.float64)
    enough = np.where(n > 1, n, np.nan)
    return np.asarray(ttest_power(np.asarray(size, np.float64), enough, alpha, alternative=sides), np.float64)


def _whole(numbers: Floats) -> pd.arrays.IntegerArray:
    """Round up to whole numbers of runs, at least two; missing where undefined."""
    known = np.isfinite(numbers)
    whole = np.where(known, np.maximum(np.ceil(np.where(known, numbers, 0.0) - 1e-9), 2), 0).astype(np.int64)
    return pd.arrays.IntegerArray(whole, ~known)
