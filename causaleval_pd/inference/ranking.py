"""Rank the levels of a dimension on the same truths, and test the ranks by Friedman's test, by stratum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from ..contract.checks import check_known, check_number
from ..cubes.reading import cube_metrics, strata_columns, strata_dims, strata_table
from ..cubes.reshaped import read_cube, read_metric
from ..cubes.schema import FAILED, NO_RUN, declare_columns
from ..statistics.friedman import critical_difference, friedman
from ..statistics.multiplicity import adjust as adjusted
from ..tables.history import call, calls, remember
from .compared_values import compared_stratum, compared_values, kept_strata
from .pairwise import blocks_of_clusters, complete_blocks, refuse_unpaired
from .result_tables import Missing, check_missing

#: columns of the result, after the strata; the dimension that is ranked follows `metric`
COLUMNS = declare_columns(
    "rank_test",
    (
        *("metric", "mean_rank", "statistic", "p_value", "p_adjusted", "critical_difference"),
        *("n_blocks", "n_levels", "n_runs", "n_failed", "n_undefined"),
    ),
)


def rank_test(
    cube: xr.Dataset,
    dim: str,
    metrics: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    adjust: str | None = None,
    level: float = 0.95,
    missing: Missing = "drop",
) -> pd.DataFrame:
    """Rank the levels of one dimension on each truth, and test whether their ranks differ.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    dim : str
        The stratum whose levels are ranked, such as "algorithm".
    metrics : str or sequence of str, optional
        Which of its metrics and of the columns that it carries (`values=`); default all metrics.
    by : str or sequence of str, optional
        Strata that the table keeps, as in `compare`. Default is to pool all: each truth (cluster) ranks the levels by
        their means over the strata that all of them have. "all" ranks in each stratum.
    adjust : {"holm", "bh", "by", "bonferroni", "none"} or None
        Multiplicity correction over the tests returned, one per stratum and metric.
    level : float
        1 minus the probability that any levels which are equal differ by the critical difference.
    missing : {"drop", "worst"}
        Leave out blocks in which a level failed, or count failed runs as the worst value, as in `compare`.

    Returns
    -------
    DataFrame
        One row per stratum kept, metric and level: these strata, `metric`, `dim`, `mean_rank` (1 is best; the smallest
        value where the metric has no direction), then the same for all levels of a stratum: `statistic` and `p_value`
        of Friedman's test, `p_adjusted`, `critical_difference` of Nemenyi (mean ranks that differ by more differ
        significantly, in any pair), `n_blocks` (truths, or other clusters of the cube, on which every level has a
        value), `n_levels`; and the level's `n_runs` and, of these, `n_failed` and `n_undefined`.

    Raises
    ------
    ValueError
        If a name is unknown, `dim` has fewer than two levels, or runs of one replicate have different truths.

    Notes
    -----
    Null hypothesis: the levels are exchangeable within every block, so that their mean ranks differ by chance.
    Alternative: at least one level ranks lower or higher than another. Blocks are assumed independent; p is that of the
    chi-squared distribution, exact with two levels. Do not use it to ask which levels differ, which `compare` tests, or
    by how much: ranks show no size. With fewer than about five blocks it has little power.

    Infinite values rank beyond all finite ones and tie with each other. A block in which a level has no value is left
    out, so that `n_blocks` falls short of the number of truths.

    A level without any run or value in a stratum is left out there. Pairs of levels are compared by
    `compare(test="max_t")`. The critical difference is that of blocks without ties.

    References
    ----------
    .. [1] Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of
       variance. doi:10.1080/01621459.1937.10503522
    .. [2] Demšar, J. (2006). Statistical comparisons of classifiers over multiple data sets.
       https://jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> runs = ce.datasets.runs().query("density == 0.2 and n == 400")
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=None)
    >>> ce.rank_test(found, "algorithm")[["algorithm", "mean_rank", "n_blocks"]]
      algorithm  mean_rank  n_blocks
    0       ges      2.200        20
    1    lingam      1.175        20
    2        pc      2.625        20
    """
    dim = compared_stratum(dim)
    check_missing(missing)
    cube = read_cube(cube, controls=missing == "worst")
    names = cube_metrics(cube, metrics)
    dims = strata_dims(cube)
    check_known(dim, dims, "dimension")
    check_number(level, "level", "(0, 1)")
    if cube.sizes[dim] < 2:
        raise ValueError(f"{dim!r} has {cube.sizes[dim]} level, and ranks need two")
    kept = kept_strata(by, [name for name in strata_columns(cube, names) if name != dim], dim)
    pooled = [name for name in dims if name not in (dim, "null", *kept)]
    rows = [_rows(read_metric(cube, name), name, dim, pooled, level, missing) for name in names]
    settings = {"metrics": names, "dim": dim, "by": kept, "adjust": adjust, "level": level, "missing": missing}
    return remember(_finish(rows, dim, adjust), [*calls(cube.attrs), call("rank_test", settings)])


def _rows(part: xr.Dataset, name: str, dim: str, pooled: Sequence[str], level: float, missing: Missing) -> pd.DataFrame:
    """Return the rows of one metric, in the order of the strata and then of the levels; see `rank_test`."""
    n_levels = part.sizes[dim]
    pairs = np.triu_indices(n_levels, 1)
    compared = compared_values(part, name, dim, *pairs, on="metric", missing=missing, margin=0.0, pooled=pooled)
    levels, strata = compared.levels, compared.strata
    test = friedman(blocks_of_clusters(complete_blocks(levels), levels.cluster))
    ranks = test.mean_rank
    if levels.direction == "maximize":
        ranks = test.n_levels[:, None] + 1 - ranks

    words = strata_table(xr.Dataset(coords={dim: part[dim]}, attrs=part.attrs))[dim]
    runs = levels.status != NO_RUN
    here = runs.any(axis=2)
    row = np.repeat(np.arange(len(strata)), n_levels)
    table = strata.loc[row].reset_index(drop=True).assign(metric=name)
    table[dim] = np.tile(words.array, len(strata))
    table = table.assign(
        mean_rank=ranks.reshape(-1),
        statistic=test.statistic[row],
        p_value=test.p_value[row],
        critical_difference=critical_difference(test.n_levels, test.n_blocks, level)[row],
        n_blocks=test.n_blocks[row],
        n_levels=test.n_levels[row],
        n_runs=runs.sum(axis=2).reshape(-1),
        n_failed=(levels.status == FAILED).sum(axis=2).reshape(-1),
        n_undefined=(runs & (levels.status != FAILED) & np.isnan(levels.scores)).sum(axis=2).reshape(-1),
        # whether the stratum has several levels, and any two of them a replicate in common
        __several=(here.sum(axis=1) > 1)[row],
        __shared=(runs.sum(axis=1) > 1).any(axis=1)[row],
    )
    return table[here.reshape(-1)]


def _finish(parts: list[pd.DataFrame], dim: str, adjust: str | None) -> pd.DataFrame:
    """Stack the metrics' rows and adjust the p-values, one per stratum and metric."""
    table = pd.concat(parts, ignore_index=True)
    if table["__several"].any() and not table["__shared"].any():
        refuse_unpaired(dim)
    table = table.drop(columns=["__several", "__shared"])
    strata = [name for name in table if name not in COLUMNS and name != dim]
    tests = table.groupby([*strata, "metric"], dropna=False, sort=False)
    first = tests["p_value"].first().to_numpy(np.float64)
    table["p_adjusted"] = adjusted(first, adjust)[tests.ngroup().to_numpy()]
    return table[[*strata, "metric", dim, *COLUMNS[1:]]]
