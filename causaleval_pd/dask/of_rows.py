"""The verbs that score each row of a dask table, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import dask.dataframe as dd
import pandas as pd

from ..contract.options import takes_settings_of
from ..cubes.lazy.partitions import (
    check_cells,
    check_draws,
    in_partition,
    keywords,
    need_key,
    refuse_estimated,
    settle,
)
from ..execution.options import serially
from ..execution.random_streams import RNGLike, resolve_seed
from ..tables.controls import with_controls as with_controls_table
from ..tables.evaluate import evaluate as evaluate_table
from ..tables.settings import Invalid, NullLike
from ..tables.tasks import Metrics


def evaluate(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    context: Mapping[str, Any] | None = None,
    invalid: Invalid = "raise",
    overwrite: bool = False,
) -> dd.DataFrame:
    """Add one column per metric to a dask table of runs, lazily.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run per row. Cells are packed by `ce.graph_column` before they reach dask, which turns objects into their
        printed text.
    metrics, truth, estimate, context, invalid, overwrite
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
    settings: dict[str, Any] = {"truth": truth, "estimate": estimate, "context": context}
    settings |= {"invalid": invalid, "overwrite": overwrite}
    return _by_partition(table, evaluate_table, metrics, settings)


@takes_settings_of(with_controls_table, without=("best_of",))
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
    **settings: Any,
) -> dd.DataFrame:
    """Add the metrics and what matched controls score to a dask table of runs, lazily.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run per row.
    key : hashable or sequence of hashable, optional
        Columns that name a row's random stream. Needed where the divisions of the table are unknown: only then is the
        index known to tell rows apart. Keys must differ over the whole table; repeats are seen within a partition.
    rng : int, Generator or None
        Seed, settled here and now, so that a computation that is repeated gives the same.
    metrics, n_draws, null, truth, estimate
        As in `causaleval_pd.with_controls`.
    **settings
        Further keywords of `causaleval_pd.with_controls`, but for `best_of`.

    Returns
    -------
    dask.dataframe.DataFrame
        What `causaleval_pd.with_controls` gives for the whole table, bit by bit, in the same partitions.

    Raises
    ------
    ValueError
        As `causaleval_pd.with_controls`; also where a key is needed, and for null models that are estimated from other
        rows, such as `"permute_answers"`.

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
    if "best_of" in settings:
        raise TypeError("with_controls of a dask table has no keyword best_of: candidates may lie in other partitions")
    check_draws(n_draws)
    need_key(table, key)
    settings |= {"n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key}
    settings |= {"truth": truth, "estimate": estimate}
    return _by_partition(table, with_controls_table, metrics, settings)


def _by_partition(
    table: dd.DataFrame, verb: Callable[..., pd.DataFrame], metrics: Metrics, settings: dict[str, Any]
) -> dd.DataFrame:
    chosen, settings = settle(table, metrics, settings)
    refuse_estimated(settings["field"], settings.get("null"))
    with serially():
        meta = verb(table._meta, chosen, **keywords(settings))
    return table.map_partitions(_score_part, verb, chosen, settings, meta=meta)


def _score_part(
    part: pd.DataFrame,
    verb: Callable[..., pd.DataFrame],
    metrics: Metrics,
    settings: dict[str, Any],
    partition_info: dict[str, Any] | None = None,
) -> pd.DataFrame:
    with in_partition(settings, None if partition_info is None else partition_info["number"]):
        check_cells(part, settings)
        return verb(part, metrics, **keywords(settings))
