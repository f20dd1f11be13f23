"""From a table of (truth, estimate) rows to the same table with one column per metric."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from .columns import add_columns, typed
from .history import call, calls, metric_settings, remember
from .scoring import score_rows
from .settings import Cells, Invalid
from .tasks import Metrics, read_tasks


def evaluate(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable | None = "truth",
    estimate: Hashable = "estimate",
    context: Mapping[str, Any] | None = None,
    invalid: Invalid = "raise",
    overwrite: bool = False,
) -> pd.DataFrame:
    """Add one column per metric to a table of runs.

    Parameters
    ----------
    table : DataFrame
        One run per row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set.
    truth, estimate : hashable
        Names of the columns that hold the true and the estimated cells. A missing estimate is a failed run: its metrics
        are missing and the row stays. `truth=None` for metrics that need no truth.
    context : mapping, optional
        What the field's metrics need besides the cells, by name (`{"data": frame}`): a constant, the name of a column,
        or `(column, mapping)` where the column names objects of the mapping.
    invalid : {"raise", "nan"}
        What happens to rows whose kind of cell a metric is not defined for.
    overwrite : bool
        Replace existing columns of the metrics' names.

    Returns
    -------
    DataFrame
        A new table: the rows, order, index and columns of `table`, the cells as they came, and the metrics. A metric
        with further dimensions has one column per coordinate, called `{metric}_{label}`.

    Raises
    ------
    ValueError
        If a column or metric is unknown, a column exists already, cells cannot be decoded or aligned, or a metric does
        not apply; the rows are named.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({"truth": ["A -> B; B -> C"] * 2, "estimate": ["A -> B; C", None]})
    >>> ce.evaluate(runs, ["shd", "adjacency_recall"])[["shd", "adjacency_recall"]]
       shd  adjacency_recall
    0  1.0               0.5
    1  NaN               NaN
    """
    read = Cells(truth, estimate, context=context)
    tasks, chosen = read_tasks(table, metrics, read)
    scores: dict[str, Any] = {}
    for task in tasks:
        scores |= score_rows(task, invalid, table.index)
    columns = {m.name: typed(scores[m.name], m) for m in chosen}
    result = add_columns(table, columns, overwrite=overwrite)
    settings = metric_settings(chosen) | read.settings() | {"field": [x.field.name for x in tasks], "invalid": invalid}
    return remember(result, [*calls(table.attrs), call("evaluate", settings)], table.attrs)
