"""The verbs on `dask.dataframe` tables: lazy by partitions, summarised without gathering rows.

Import this module (or `dask.dataframe` before the package) to have `.ceval` on dask's tables.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

try:
    import dask.dataframe as dd
except ImportError:
    raise ImportError("tables of dask need dask: pip install 'causaleval_pd[dask]'") from None
import numpy as np
import pandas as pd
import xarray as xr
from dask.base import compute
from dask.dataframe.extensions import register_dataframe_accessor
from dask.delayed import delayed

from .compare import compare as compare_cube
from .control_tests import COLUMNS, stack_tests
from .controls import check_settings
from .controls import with_controls as with_controls_table
from .cube import cube as cube_table
from .engine import RNGLike, resolve_seed
from .evaluate import Invalid, Metrics, select
from .evaluate import evaluate as evaluate_table
from .files import to_parquet
from .lazy_cube import cube
from .messages import check_known
from .null import NullLike
from .pairwise import RESAMPLED
from .partitions import (
    cells_of,
    check_cells,
    need_key,
    refuse_strata,
    settle_field,
    sort_strata,
    strata_edges,
    strata_names,
)
from .partitions import (
    cube_settings as cube_settings_of,
)
from .row_controls import Method, PRule
from .strata import By, strata_axes
from .tally import Tallies, add_up, summarise_tallies, tally_cube

#: parts of a tree reduction that are merged at a time
_SPLIT_EVERY = 8
_STRATUM = "__stratum__"


def evaluate(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
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
    metrics, truth, estimate, field, context, zero_division, invalid, overwrite
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
    settings = {
        "truth": truth,
        "estimate": estimate,
        "field": settle_field(table, metrics, truth, estimate, field),
        "context": context,
        "zero_division": zero_division,
        "invalid": invalid,
        "overwrite": overwrite,
    }
    return _by_partition(table, evaluate_table, metrics, settings)


def with_controls(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    permute: bool = True,
    method: Method = "auto",
    level: float = 0.95,
    p_rule: PRule = "add_one",
    stop_after: int | None = None,
    share_draws: bool = False,
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    overwrite: bool = False,
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
    metrics, n_draws, null, truth, estimate, control_kind, permute, method, level, p_rule, stop_after, share_draws
        As in `causaleval_pd.with_controls`.
    field, context, zero_division, invalid, overwrite
        As in `causaleval_pd.evaluate`.

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
    check_settings(n_draws, level, method, p_rule, stop_after)
    need_key(table, key)
    settings = {
        "n_draws": n_draws,
        "null": null,
        "rng": resolve_seed(rng),
        "truth": truth,
        "estimate": estimate,
        "key": key,
        "control_kind": control_kind,
        "permute": permute,
        "method": method,
        "level": level,
        "p_rule": p_rule,
        "stop_after": stop_after,
        "share_draws": share_draws,
        "field": settle_field(table, metrics, truth, estimate, field),
        "context": context,
        "zero_division": zero_division,
        "invalid": invalid,
        "overwrite": overwrite,
    }
    return _by_partition(table, with_controls_table, metrics, settings)


def summary(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    level: float = 0.95,
    interval: Literal["quantile", "mean_ci"] = "quantile",
    n_draws: int | None = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Score a dask table of runs and their controls, and summarise them by stratum.

    Every partition is added up by stratum, and the sums are merged in a tree: rows are never gathered.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    by, n_draws, null, rng
        As in `causaleval_pd.cube`, for one null model that looks at rows only, not at strata.
    key
        As in `with_controls`.
    level, interval
        As in `causaleval_pd.summary`.
    **settings
        Further keywords of `causaleval_pd.cube`.

    Returns
    -------
    DataFrame
        As `causaleval_pd.summary` of the cube of the whole table: p-values are identical, means agree to 1e-12,
        quantiles too, those of controls as long as a stratum has no more than 4096 different values.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube`; also for several null models, or one that draws from the stratum.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.summary(["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> found[["algorithm", "n_obs", "mean", "p_value"]].round(2)
      algorithm  n_obs   mean  p_value
    0       ges    180  13.46     0.01
    1    lingam    180   6.87     0.01
    2        pc    180  13.29     0.01
    """
    check_settings(n_draws, level, "auto", "add_one")
    check_known(interval, ["quantile", "mean_ci"], "interval")
    unsuited = {"keep_draws", "values", "replicate", "progress", "engine", "n_jobs"} & set(settings)
    if unsuited:
        raise ValueError(f"summary of a dask table has no setting {', '.join(sorted(unsuited))}; it keeps no rows")
    settings = cube_settings_of(table, metrics, settings)
    if n_draws is not None:
        need_key(table, key)
        refuse_strata(settings["field"], null)
    settings |= {"by": by, "n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key}
    parts = [delayed(_tally_part)(part, metrics, settings) for part in table.to_delayed()]
    while len(parts) > 1:
        parts = [delayed(add_up)(parts[i : i + _SPLIT_EVERY]) for i in range(0, len(parts), _SPLIT_EVERY)]
    [found] = compute(*parts)
    return _ordered(found, table._meta, by, level, interval)


def compare(
    table: dd.DataFrame,
    dim: str,
    *,
    by: By,
    metrics: Metrics = None,
    adjust: str | None = "holm",
    family: str | Sequence[str] | None = None,
    minus_controls: bool = False,
    n_draws: int = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    cube_settings: Mapping[str, Any] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Compare the levels of one dimension of a dask table of runs, in every stratum of the others.

    Rows are shuffled once, so that a partition has whole strata of the other dimensions, and compared there.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    dim : str
        The stratum whose levels are compared; one of `by`.
    by, n_draws, null, rng, key
        As in `summary`; controls are made for `minus_controls` only.
    metrics, adjust, family, minus_controls
        As in `causaleval_pd.compare`.
    cube_settings : mapping, optional
        Further keywords of `causaleval_pd.cube`.
    **settings
        Further keywords of `causaleval_pd.compare`.

    Returns
    -------
    DataFrame
        As `causaleval_pd.compare` of the cube of the whole table; p-values are adjusted over all rows.

    Raises
    ------
    ValueError
        As `causaleval_pd.compare`; also for tests that resample, whose resamples are those of a whole cube.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.compare("algorithm", by=["algorithm", "density"], metrics=["shd"], key="replicate")
    >>> len(found)
    9
    """
    check_known(dim, strata_names(by), "dimension")
    test = settings.get("test", "wilcoxon")
    if test in RESAMPLED or adjust == "nemenyi":
        raise ValueError(
            f"{test!r} with adjust={adjust!r} looks at a whole cube at a time, which a dask table is too large for; "
            "choose another test, or make a cube of the rows of interest, table.compute().ceval.cube(...)"
        )
    made = cube_settings_of(table, metrics, cube_settings or {})
    if minus_controls:
        need_key(table, key)
    drawn = n_draws if minus_controls else None
    made |= {"by": by, "n_draws": drawn, "null": null, "rng": resolve_seed(rng), "key": key}
    others = [{name: edges} if edges is not None else name for name, edges in strata_edges(by).items() if name != dim]
    marks = table.map_partitions(_stratum_marks, others, made, meta=pd.Series(dtype="uint64", name=_STRATUM))
    whole = table.assign(**{_STRATUM: marks}).shuffle(on=_STRATUM) if others else table.repartition(npartitions=1)
    how = {**settings, "minus_controls": minus_controls, "adjust": "none"}
    parts = [delayed(_compare_part)(part, dim, metrics, made, how) for part in whole.to_delayed()]
    tables = [part for part in compute(*parts) if len(part)]
    if not tables:
        raise ValueError(f"no stratum has runs of two levels of {dim!r}")
    names = [name for name in strata_names(by) if name != dim]
    stacked = sort_strata(pd.concat(tables, ignore_index=True), table._meta, others)
    return stack_tests([stacked.drop(columns="p_adjusted")], [*names, *COLUMNS, "resampling_seed"], adjust, family)


def _stratum_marks(part: pd.DataFrame, by: By, settings: Mapping[str, Any]) -> pd.Series:
    """Give rows of one stratum one number, the same in every partition."""
    own = cells_of(part, settings)
    levels = {}
    for axis in strata_axes(part, by, own):
        labels = axis.labels.astype(np.float64 if axis.labels.dtype.kind in "iuf" else str)
        levels[axis.name] = labels[axis.codes]
    return pd.Series(
        pd.util.hash_pandas_object(pd.DataFrame(levels), index=False).to_numpy(), part.index, name=_STRATUM
    )


def _compare_part(
    part: pd.DataFrame, dim: str, metrics: Metrics, made: dict[str, Any], how: dict[str, Any]
) -> pd.DataFrame:
    check_cells(part, made)
    found = cube_table(part.drop(columns=_STRATUM, errors="ignore"), metrics, keep_draws=False, engine="serial", **made)
    levels = found[dim].to_numpy()
    lacking = "reference" in how and how["reference"] is not None and how["reference"] not in levels
    return pd.DataFrame() if len(levels) < 2 or lacking else compare_cube(found, dim, **how)


def _by_partition(
    table: dd.DataFrame, verb: Callable[..., pd.DataFrame], metrics: Metrics, settings: dict[str, Any]
) -> dd.DataFrame:
    chosen = metrics if metrics is None else list(select(metrics, ()))
    meta = verb(table._meta, chosen, engine="serial", **settings)
    return table.map_partitions(_score_part, verb, chosen, settings, meta=meta)


def _score_part(
    part: pd.DataFrame,
    verb: Callable[..., pd.DataFrame],
    metrics: Metrics,
    settings: dict[str, Any],
    partition_info: dict[str, Any] | None = None,
) -> pd.DataFrame:
    check_cells(part, settings)
    try:
        return verb(part, metrics, engine="serial", **settings)
    except (ValueError, TypeError) as error:
        number = "" if partition_info is None else f" {partition_info['number']}"
        raise type(error)(f"partition{number}: {error}") from error


def _tally_part(part: pd.DataFrame, metrics: Metrics, settings: dict[str, Any]) -> Tallies:
    check_cells(part, settings)
    return tally_cube(cube_table(part, metrics, keep_draws=False, engine="serial", **settings))


def _ordered(found: Tallies, meta: pd.DataFrame, by: By, level: float, interval: str) -> pd.DataFrame:
    table = summarise_tallies(found, strata_names(by), level, interval)
    order = {name: i for i, name in enumerate(found.specs)}
    return sort_strata(table, meta, by, table["metric"].map(order)) if len(table) else table


@register_dataframe_accessor("ceval")
class DaskAccessor:
    """Verbs on a dask table of runs, `ddf.ceval`.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row; nothing is looked at before a verb is called.
    """

    def __init__(self, table: dd.DataFrame) -> None:
        self._table = table

    def evaluate(self, metrics: Metrics = None, **settings: Any) -> dd.DataFrame:
        """Call :func:`causaleval_pd.dask.evaluate` on this table."""
        return evaluate(self._table, metrics, **settings)

    def with_controls(self, metrics: Metrics = None, **settings: Any) -> dd.DataFrame:
        """Call :func:`causaleval_pd.dask.with_controls` on this table."""
        return with_controls(self._table, metrics, **settings)

    def summary(self, metrics: Metrics = None, *, by: By, **settings: Any) -> pd.DataFrame:
        """Call :func:`causaleval_pd.dask.summary` on this table."""
        return summary(self._table, metrics, by=by, **settings)

    def cube(self, metrics: Metrics = None, *, by: By, replicate: Hashable, **settings: Any) -> xr.Dataset:
        """Call :func:`causaleval_pd.dask.cube` on this table."""
        return cube(self._table, metrics, by=by, replicate=replicate, **settings)

    def compare(self, dim: str, *, by: By, **settings: Any) -> pd.DataFrame:
        """Call :func:`causaleval_pd.dask.compare` on this table."""
        return compare(self._table, dim, by=by, **settings)

    def to_parquet(self, path: str | os.PathLike[str], *, resume: bool = False, progress: bool = False) -> Path:
        """Call :func:`causaleval_pd.files.to_parquet` on this table."""
        return to_parquet(self._table, path, resume=resume, progress=progress)
