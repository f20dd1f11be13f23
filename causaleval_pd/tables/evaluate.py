"""From a table of (truth, estimate) rows to the same table with one column a metric."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..contract.history import call, calls, metric_settings, remember
from .columns import add_columns, typed
from .scoring import score_rows
from .settings import Cells, Invalid
from .several_truths import Over, OverTruths
from .several_truths import over_truths as over_truths_of
from .tasks import Metrics, Task, read_tasks


def evaluate(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable | list[Hashable] | None = "truth",
    estimate: Hashable = "estimate",
    over_truths: Over | None = None,
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    overwrite: bool = False,
) -> pd.DataFrame:
    """Add one column a metric to a table of runs.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set.
    truth, estimate : hashable
        Names of the columns that hold the true and the estimated cells. A missing estimate is a failed run: its metrics
        are missing and the row stays. `truth=None` for metrics that need no truth; a list of columns where several
        truths are accepted.
    over_truths : {"best", "mean", "worst"}, optional
        How a metric is aggregated over the accepted truths that a row has; needed where `truth` is a list. The column
        `{metric}_truth` names the truth by which it is best, the first among equals.
    field : str, optional
        Field of the cells; needed only where neither the metrics nor the cells settle it.
    context : mapping, optional
        What the field's metrics need besides the cells, by name (`{"data": frame}`): a constant, the name of a column,
        or `(column, mapping)` where the column names objects of the mapping.
    zero_division : float
        What 0/0 is, for the metrics that can be 0/0; default NaN.
    invalid : {"raise", "nan"}
        What happens to rows whose kind of cell a metric is not defined for.
    overwrite : bool
        Replace existing columns of the metrics' names.

    Returns
    -------
    DataFrame
        A new table: the rows, order, index and columns of `table`, the cells as they came, and the metrics. A metric
        with further dimensions has a column a coordinate, called `{metric}_{label}`.

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
    read = Cells(truth, estimate, field, context, zero_division, over_truths)
    tasks, chosen = read_tasks(table, metrics, read)
    scores: dict[str, Any] = {}
    for task in tasks:
        scores |= score_rows(task, invalid, table.index)
    columns = {m.name: typed(scores[m.name], m) for m in chosen}
    columns |= best_truths(tasks, read.truth, invalid, table.index)
    result = add_columns(table, columns, overwrite=overwrite)
    settings = metric_settings(chosen) | read.settings() | {"field": [x.field.name for x in tasks], "invalid": invalid}
    return remember(result, [*calls(table.attrs), call("evaluate", settings)], table.attrs)


def best_truths(tasks: Sequence[Task], names: Any, invalid: Invalid, index: pd.Index) -> dict[str, pd.Categorical]:
    """Return a column for each metric over several truths: which of them is best, missing where none is defined."""
    found = {}
    for task in tasks:
        metrics = [m for m in task.metrics if isinstance(m, OverTruths) and m.base.direction is not None]
        numbers = tuple(over_truths_of(m.base, "number") for m in metrics)
        for name, number in score_rows(task._replace(metrics=numbers), invalid, index).items() if numbers else ():
            codes = np.where(np.isnan(number), -1, number).astype(int)
            found[f"{name}_truth"] = pd.Categorical.from_codes(codes, categories=pd.Index(list(names), dtype=object))
    return found
