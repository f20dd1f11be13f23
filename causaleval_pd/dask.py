"""The verbs on `dask.dataframe` tables: lazy by partitions, summarised without gathering rows.

Import this module (or `dask.dataframe` before the package) to have `.ceval` on dask's tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NoReturn, cast

try:
    import dask.dataframe as dd
except ImportError:
    raise ImportError("tables of dask need dask: pip install 'causaleval_pd[dask]'") from None
import pandas as pd
from dask.dataframe.extensions import register_dataframe_accessor
from dask.delayed import delayed

from .accessors import FrameAccessor
from .contract.checks import check_known
from .contract.delegation import method, settings_of, takes_settings_of
from .contract.field import get_field
from .contract.null import NullLike, Nulls, WorstOf
from .cubes.cube import cube as cube_table
from .cubes.lazy.clusters import with_whole_clusters
from .cubes.lazy.lazy_cube import cube
from .cubes.lazy.partitions import (
    check_cells,
    check_draws,
    in_partition,
    looks_at_strata,
    need_key,
    settle_field,
    sort_strata,
)
from .cubes.lazy.partitions import cube_settings as cube_settings_of
from .cubes.mergeable_sums import CubeSums, merge_sums, sum_cube, summarise_sums
from .cubes.schema import metrics_of
from .cubes.strata import By, strata_edges
from .cubes.summary import summary as summarise_cube
from .execution.files import to_parquet
from .execution.random_streams import RNGLike, resolve_seed
from .inference.compare import compare as compare_cube
from .inference.compared_values import On
from .inference.control_tests import test_controls as test_cube
from .statistics.stratum_statistic import STATISTICS, Statistic
from .tables.controls import with_controls as with_controls_table
from .tables.evaluate import evaluate as evaluate_table
from .tables.settings import Drawing, Invalid
from .tables.several_truths import Over
from .tables.tasks import Metrics, select

#: parts of a tree reduction that are merged at a time
_SPLIT_EVERY = 8


def evaluate(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable | list[Hashable] = "truth",
    estimate: Hashable = "estimate",
    over_truths: Over | None = None,
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    overwrite: bool = False,
) -> dd.DataFrame:
    """Add one column a metric to a dask table of runs, lazily.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row. Cells are packed by `ce.graph_column` before they reach dask, which turns objects into their
        printed text.
    metrics, truth, estimate, over_truths, field, context, zero_division, invalid, overwrite
        As in `causaleval_pd.evaluate`.

    Returns
    -------
    dask.dataframe.DataFrame
        What `causaleval_pd.evaluate` gives for the whole table, in the same partitions.

    Raises
    ------
    ValueError
        As `causaleval_pd.evaluate`: what the columns show at once, what single rows show when they are computed.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> runs.ceval.evaluate(["shd"])["shd"].mean().compute().round(2)
    np.float64(11.21)
    """
    settings: dict[str, Any] = {"truth": truth, "estimate": estimate, "over_truths": over_truths, "context": context}
    settings |= {"zero_division": zero_division, "invalid": invalid, "overwrite": overwrite}
    settings["field"] = settle_field(table, metrics, truth, estimate, field)
    return _by_partition(table, evaluate_table, metrics, settings)


@takes_settings_of(with_controls_table, without=("best_of", "progress", "engine", "n_jobs"))
def with_controls(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    truth: Hashable | list[Hashable] = "truth",
    estimate: Hashable = "estimate",
    key: Hashable | Sequence[Hashable] | None = None,
    field: str | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Add the metrics and what matched controls score to a dask table of runs, lazily.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    key : hashable or sequence of hashable, optional
        Columns that name a row's random stream. Needed where the divisions of the table are unknown: only then is the
        index known to tell rows apart. Keys must differ over the whole table; repeats are seen within a partition.
    rng : int, Generator or None
        Seed, settled here and now, so that a computation that is repeated gives the same.
    metrics, n_draws, null, truth, estimate, field
        As in `causaleval_pd.with_controls`.
    **settings
        Further keywords of `causaleval_pd.with_controls`, but for `best_of`, `progress`, `engine` and `n_jobs`.

    Returns
    -------
    dask.dataframe.DataFrame
        What `causaleval_pd.with_controls` gives for the whole table, bit by bit, in the same partitions.

    Raises
    ------
    ValueError
        As `causaleval_pd.with_controls`; also where a key is needed.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> scored = runs.ceval.with_controls(["shd"], n_draws=100, rng=7)
    >>> (scored["shd_p"] < 0.05).mean().compute().round(2)
    np.float64(0.91)
    """
    unsuited = sorted({"progress", "engine", "n_jobs"} & set(settings))
    if "best_of" in settings:
        raise TypeError("with_controls of a dask table has no keyword best_of: candidates may lie in other partitions")
    if unsuited:
        raise TypeError(f"with_controls of a dask table has no keyword {', '.join(unsuited)}: dask does the work")
    check_draws(n_draws)
    need_key(table, key)
    settings |= {"n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key}
    settings |= {"truth": truth, "estimate": estimate}
    settings["field"] = settle_field(table, metrics, truth, estimate, field)
    return _by_partition(table, with_controls_table, metrics, settings)


@takes_settings_of(cube_table, without=("best_of", "keep_draws", "tails", "progress", "engine", "n_jobs"))
def summary(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
    statistic: Statistic = "standardized",
    n_draws: int | None = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Score a dask table of runs and their controls, and summarise them by stratum, lazily.

    Every partition is added up by stratum, and the sums are merged in a tree: rows are never gathered. With controls
    the strata and clusters of all rows, some 16 bytes a row, are loaded now; where rows of one cluster and stratum lie
    in several partitions, rows are shuffled by cluster. Several null models, one that looks at strata, and metrics with
    further dimensions take the way of `cube`, which shuffles rows.

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
        As `causaleval_pd.summary` of the cube of the whole table made with `tails=None`, because p-values rest on
        draws alone; in one partition: p-values are identical, means
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
    >>> found.compute()[["algorithm", "n_runs", "mean", "p_value"]].round(2)
      algorithm  n_runs   mean  p_value
    0       ges    180  13.46     0.01
    1    lingam    180   6.87     0.01
    2        pc    180  13.29     0.01
    """
    check_draws(n_draws)
    Drawing(1 if n_draws is None else n_draws, level=level)
    check_known(interval, ["quantile", "mean_ci"], "interval")
    check_known(statistic, STATISTICS, "statistic")
    unsuited = {"best_of", "keep_draws", "tails", "progress", "engine", "n_jobs", "simultaneous"} & set(settings)
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
    made |= {"n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key, "tails": None}
    table, made = with_whole_clusters(table, by, made)
    made["by"] = by
    of_means = interval == "mean_ci"
    parts = [
        delayed(_sum_part)(part, metrics, made, i, statistic, of_means) for i, part in enumerate(table.to_delayed())
    ]
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
    *,
    by: By,
    metrics: Metrics = None,
    adjust: str | None = "auto",
    family: str | Sequence[str] | None = None,
    on: On = "metric",
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cluster: Hashable | None = "truth",
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dd.DataFrame:
    """Compare the levels of one dimension of a dask table of runs, in every stratum of the others, lazily.

    As `cube` and then `causaleval_pd.compare`; one block of strata of one metric is loaded at a time.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    dim : str
        The stratum whose levels are compared; one of `by`.
    by, n_draws, null, key, cluster
        As in `cube`; no controls are made for on="metric".
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
        As `causaleval_pd.compare` of the cube of the whole table, in one partition; p-values are adjusted over all
        rows.

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
    >>> found = runs.ceval.compare("algorithm", by=["algorithm", "density"], metrics=["shd"])
    >>> len(found.compute())
    9
    """
    check_known(dim, list(strata_edges(by)), "dimension")
    drawn, seed = None if on == "metric" else n_draws, resolve_seed(rng)
    # dimensions are cut into chunks in the order of `by`, and a comparison looks at all levels of one
    last = sorted(strata_edges(by).items(), key=lambda entry: entry[0] == dim)
    order = [name if edges is None else {name: edges} for name, edges in last]
    how, compared = settings_of(cube, settings, compare_cube, given=cube_settings, name="cube_settings")
    how = {"cluster": cluster} | how
    whole = cube(table, metrics, by=order, n_draws=drawn, null=null, rng=seed, key=key, **how)
    compared = {"adjust": adjust, "family": family, "on": on, "rng": seed} | compared
    return cast(dd.DataFrame, compare_cube(whole, dim, **compared))


def _by_partition(
    table: dd.DataFrame, verb: Callable[..., pd.DataFrame], metrics: Metrics, settings: dict[str, Any]
) -> dd.DataFrame:
    chosen = metrics if metrics is None else list(select(metrics))
    meta = verb(table._meta, chosen, engine="serial", **settings)
    return table.map_partitions(_score_part, verb, chosen, settings, meta=meta)


def _score_part(
    part: pd.DataFrame,
    verb: Callable[..., pd.DataFrame],
    metrics: Metrics,
    settings: dict[str, Any],
    partition_info: dict[str, Any] | None = None,
) -> pd.DataFrame:
    with in_partition(None if partition_info is None else partition_info["number"]):
        check_cells(part, settings)
        return verb(part, metrics, engine="serial", **settings)


def _sum_part(
    part: pd.DataFrame, metrics: Metrics, settings: dict[str, Any], number: int, statistic: Statistic, of_means: bool
) -> CubeSums:
    with in_partition(number):
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


@register_dataframe_accessor("ceval")
class DaskAccessor:
    """Verbs on a dask table of runs, `ddf.ceval`: those of `df.ceval`, lazy, and `to_parquet`.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row; nothing is read before a verb is called.
    """

    def __init__(self, table: dd.DataFrame) -> None:
        self._object = table

    def __repr__(self) -> str:
        names = ", ".join(map(str, self._object.columns))
        return (
            f"<lazy verbs on a dask table of runs in {self._object.npartitions} partitions (columns: {names}): "
            "evaluate, with_controls, cube; summary, test_controls, compare; to_parquet>"
        )

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse verbs of pandas tables that need all rows, such as `pool`, by name."""
        if not name.startswith("_") and hasattr(FrameAccessor, name):
            raise AttributeError(
                f"a dask table has no verb {name!r}, which needs all rows; use table.compute().ceval.{name}(...), or "
                "table.map_partitions where each partition has all rows that belong together"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    evaluate = method(evaluate)
    with_controls = method(with_controls)  # type: ignore[arg-type]
    cube = method(cube)  # type: ignore[arg-type]
    summary = method(summary)  # type: ignore[arg-type]
    test_controls = method(test_controls)  # type: ignore[arg-type]
    compare = method(compare)  # type: ignore[arg-type]
    to_parquet = method(to_parquet)
