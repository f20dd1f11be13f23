"""The verbs that summarise and compare the strata of a dask table, without gathering its rows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, cast

import dask.dataframe as dd
import pandas as pd
from dask.delayed import delayed

from ..contract.checks import check_known
from ..contract.delegation import settings_of, takes_settings_of
from ..contract.field import get_field
from ..contract.null import NullLike, Nulls, WorstOf
from ..cubes.cube import cube as cube_table
from ..cubes.lazy.clusters import with_whole_clusters
from ..cubes.lazy.lazy_cube import cube
from ..cubes.lazy.partitions import (
    check_cells,
    check_draws,
    in_partition,
    looks_at_strata,
    need_key,
    sort_strata,
)
from ..cubes.lazy.partitions import cube_settings as cube_settings_of
from ..cubes.mergeable_sums import CubeSums, merge_sums, sum_cube, summarise_sums
from ..cubes.schema import metrics_of
from ..cubes.strata import By, strata_edges, stratum_entries
from ..cubes.summary import summary as summarise_cube
from ..execution.random_streams import RNGLike, resolve_seed
from ..inference.compare import compare as compare_cube
from ..inference.compared_values import On, check_dim
from ..inference.control_tests import test_controls as test_cube
from ..statistics.stratum_statistic import STATISTICS, Statistic
from ..tables.settings import Drawing
from ..tables.tasks import Metrics, select

#: parts of a tree reduction that are merged at a time
_SPLIT_EVERY = 8


@takes_settings_of(cube_table, without=("best_of", "keep_draws", "progress", "engine", "n_jobs"))
def summary(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
    statistic: Statistic = "mean",
    n_draws: int | None = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Score a dask table of runs and their controls, and summarise them by stratum, lazily.

    Every partition is added up by stratum, and the sums are merged in a tree: rows are never gathered. With controls
    the strata and clusters of all rows, some 16 bytes a row, are loaded now, and rows are brought together as for
    `causaleval_pd.dask.cube`: those of a stratum of up to 16,384 runs, and with tails=None those of one cluster and
    stratum alone. Several null models, one that looks at strata, and metrics with further dimensions take the way of
    `cube`.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    by, n_draws, null, rng
        As in `causaleval_pd.cube`.
    key
        As in `with_controls`.
    level, interval, statistic
        As in `causaleval_pd.summary`.
    **settings
        Further keywords of `causaleval_pd.cube`.

    Returns
    -------
    dask.dataframe.DataFrame
        As `causaleval_pd.summary` of the cube of the whole table, in one partition: p-values are identical, means
        agree to 1e-12, quantiles too, those of controls as long as a stratum has no more than 4096 different values.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.summary(["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> found.compute()[["algorithm", "n_runs", "mean", "skill"]].round(2)
      algorithm  n_runs   mean  skill
    0       ges     180  13.46   0.44
    1    lingam     180   6.87   0.71
    2        pc     180  13.29   0.41
    """
    check_draws(n_draws)
    Drawing(1 if n_draws is None else n_draws, level=level)
    check_known(interval, ["quantile", "mean_ci"], "interval")
    check_known(statistic, STATISTICS, "statistic")
    unsuited = {"best_of", "keep_draws", "progress", "engine", "n_jobs", "simultaneous"} & set(settings)
    if unsuited:
        raise ValueError(f"summary of a dask table has no setting {', '.join(sorted(unsuited))}; it keeps no rows")
    made = cube_settings_of(table, metrics, settings)
    if n_draws is not None:
        need_key(table, key)
    several = isinstance(null, (list, tuple, WorstOf)) or looks_at_strata(made["field"], null)
    chosen = select(get_field(made["field"]).default_metrics if metrics is None else metrics)
    if (n_draws is not None and several) or any(m.dims for m in chosen):
        whole = cube(table, metrics, by=by, n_draws=n_draws, null=null, rng=rng, key=key, **settings)
        return cast(dd.DataFrame, summarise_cube(whole, level=level, interval=interval, statistic=statistic))
    made |= {"n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key}
    table, made, shuffled = with_whole_clusters(table, by, made)
    made["by"] = by
    of_means = interval == "mean_ci"
    sum_part = delayed(partial(_sum_part, shuffled=shuffled))
    parts = [sum_part(part, metrics, made, i, statistic, of_means) for i, part in enumerate(table.to_delayed())]
    while len(parts) > 1:
        parts = [delayed(merge_sums)(parts[i : i + _SPLIT_EVERY]) for i in range(0, len(parts), _SPLIT_EVERY)]
    template = cube_table(table._meta, metrics, keep_draws=False, engine="serial", **made)
    how: dict[str, Any] = {"level": level, "interval": interval, "statistic": statistic}
    meta = summarise_cube(template, **how)
    found = [delayed(_ordered)(part, table._meta, by, how, meta) for part in parts]
    return dd.from_delayed(found, meta=meta, verify_meta=False)


@takes_settings_of(cube)
@takes_settings_of(compare_cube)
def compare(
    table: dd.DataFrame,
    dim: str,
    metrics: Metrics = None,
    *,
    by: By,
    keep: str | Sequence[str] | None = None,
    adjust: str | None = "auto",
    family: str | Sequence[str] | None = "metric",
    on: On = "metric",
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cluster: Hashable | None = "truth",
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Compare the levels of one dimension of a dask table of runs, over all strata of the others or in each, lazily.

    As `cube` and then `causaleval_pd.compare`; one block of strata of one metric is loaded at a time, which holds all
    strata that are pooled.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    dim : str
        The stratum whose levels are compared; one of `by`.
    by, n_draws, null, key, cluster
        As in `cube`; no controls are made for on="metric".
    keep : str or sequence of str, optional
        Strata of `by` that the result keeps, `by` of `causaleval_pd.compare`: default none, whose runs are pooled;
        "all" keeps all.
    rng : int, Generator or None
        Seed of the controls, and of tests that resample.
    metrics, adjust, family, on
        As in `causaleval_pd.compare`.
    cube_settings : mapping, optional
        Keywords of `causaleval_pd.cube` that `causaleval_pd.compare` has as well.
    **settings
        Further keywords of `causaleval_pd.compare` and of `cube`.

    Returns
    -------
    dask.dataframe.DataFrame
        As `causaleval_pd.compare` of the cube of the whole table, in one partition.

    Raises
    ------
    ValueError
        As `causaleval_pd.compare`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.compare("algorithm", ["shd"], by=["algorithm", "density"], keep="density")
    >>> len(found.compute())
    9
    """
    check_dim(dim)
    check_known(dim, list(strata_edges(by)), "dimension")
    drawn, seed = None if on == "metric" else n_draws, resolve_seed(rng)
    entries = list(stratum_entries(by))
    kept = [name for name, _ in entries] if keep == "all" else [keep] if isinstance(keep, str) else keep or []
    # dimensions are cut into chunks in this order, and a comparison looks at all levels of those that it does not keep
    last = sorted(entries, key=lambda entry: (entry[0] == dim, entry[0] not in kept))
    order = [name if edges is None else {name: edges} for name, edges in last]
    how, compared = settings_of(cube, settings, compare_cube, given=cube_settings, name="cube_settings")
    how = {"cluster": cluster} | how
    whole = cube(table, metrics, by=order, n_draws=drawn, null=null, rng=seed, key=key, **how)
    compared = {"by": keep, "adjust": adjust, "family": family, "on": on, "rng": seed} | compared
    return cast(dd.DataFrame, compare_cube(whole, dim, **compared))


def _sum_part(
    part: pd.DataFrame,
    metrics: Metrics,
    settings: dict[str, Any],
    number: int,
    statistic: Statistic,
    of_means: bool,
    *,
    shuffled: bool,
) -> CubeSums:
    with in_partition(number, shuffled=shuffled):
        check_cells(part, settings)
        made = cube_table(part, metrics, keep_draws=False, engine="serial", **settings)
        return sum_cube(made, statistic, by_cluster=of_means)


def _ordered(found: CubeSums, columns: pd.DataFrame, by: By, how: dict[str, Any], empty: pd.DataFrame) -> pd.DataFrame:
    table = summarise_sums(found, list(strata_edges(by)), **how)
    return sort_strata(table, columns, by, metrics_of(found.empty)) if len(table) else empty


@takes_settings_of(cube)
@takes_settings_of(test_cube)
def test_controls(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: int = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cluster: Hashable | None = "truth",
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Score a dask table of runs and their controls, and test in every stratum whether the runs beat them, lazily.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    metrics, by, n_draws, null, rng, key, cluster
        As in `causaleval_pd.cube`.
    cube_settings : mapping, optional
        Keywords of `causaleval_pd.cube` that `causaleval_pd.test_controls` has as well.
    **settings
        Further keywords of `causaleval_pd.test_controls` and of `cube`.

    Returns
    -------
    dask.dataframe.DataFrame
        As `causaleval_pd.test_controls` of the cube of the whole table, in one partition.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube` and `causaleval_pd.test_controls`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> len(runs.ceval.test_controls(["shd"], by=["algorithm"], n_draws=20, rng=7).compute())
    3
    """
    how, tested = settings_of(cube, settings, test_cube, given=cube_settings, name="cube_settings")
    how = {"cluster": cluster} | how
    made = cube(table, metrics, by=by, n_draws=n_draws, null=null, rng=rng, key=key, **how)
    return cast(dd.DataFrame, test_cube(made, **tested))


# pytest collects what is called test_...
test_controls.__test__ = False  # type: ignore[attr-defined]
