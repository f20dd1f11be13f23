"""From a table of (truth, estimate) rows to the same table with one column a metric."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .context import Context, resolve_context
from .engine import Engine, map_chunks
from .field import FIELDS, Batch, Field, PairError, Pairs, get_field
from .messages import check_type, name_row, nearest
from .metric import Metric, get_metric, metric_set, tweak
from .work_units import BLOCK_ROWS, Unit, work_units

Invalid = Literal["raise", "nan"]
Metrics = str | Metric | Iterable[str | Metric] | None


class Task(NamedTuple):
    """Metrics of one field, the canonical columns they apply to, and the rows' extra inputs."""

    field: Field
    metrics: tuple[Metric, ...]
    truth: pd.Series
    estimate: pd.Series
    context: Context | None = None

    def batches(self) -> Iterable[Batch]:
        """Align the rows' cells."""
        return self.field.batches(self.truth, self.estimate, self.context)


def evaluate(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    overwrite: bool = False,
    engine: Engine = None,
    n_jobs: int | None = None,
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
        are missing and the row stays.
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
    engine : {"serial", "threads", "dask"}, optional
        Where the work is done; results are the same. By default threads where the work takes about a second or more,
        as nodes, edges, metrics and draws tell, else serial. "dask" uses the current `distributed.Client`; without
        one, the work stays in this process, on threads.
    n_jobs : int, optional
        Number of chunks worked on at a time; default one a core, or one a thread of the cluster's workers.

    Returns
    -------
    DataFrame
        A new table: the rows, order and index of `table`, its two cell columns in canonical form, and the metrics.

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
    tasks, cells = plan(
        table, metrics, truth=truth, estimate=estimate, field=field, context=context, zero_division=zero_division
    )
    result = with_cells(table, cells)
    columns: dict[str, Any] = {}
    for task in tasks:
        scores = score_rows(task, invalid, table.index, engine, n_jobs)
        columns |= {m.name: typed(scores[m.name], m) for m in task.metrics}
    names = [m.name for m in select(metrics, tasks)]
    return add_columns(result, {name: columns[name] for name in names}, overwrite=overwrite)


def select(metrics: Metrics, tasks: Sequence[Task]) -> tuple[Metric, ...]:
    """Return the metrics of a call in the user's order."""
    if metrics is None:
        return tuple(m for task in tasks for m in task.metrics)
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise TypeError(f"metrics must be names or metrics, found {type(metrics).__name__}: {metrics!r}")
    return metric_set(*([metrics] if isinstance(metrics, (str, Metric)) else metrics))


def plan(
    table: pd.DataFrame,
    metrics: Metrics,
    *,
    truth: Hashable,
    estimate: Hashable,
    field: str | None,
    context: Mapping[str, Any] | None,
    zero_division: float,
) -> tuple[list[Task], dict[Hashable, pd.Series]]:
    """Check the columns, settle the field, coerce the cells, fix 0/0; one task a field that the metrics belong to.

    Without metrics that is one of the cells' own field.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas DataFrame, found {type(table).__name__}")
    cells = {name: column(table, name, role) for name, role in ((truth, "truth"), (estimate, "estimate"))}
    if truth == estimate:
        raise ValueError(f"truth and estimate are the same column {truth!r}")
    chosen = None if metrics is None else select(metrics, ())
    own = cells_field(list(cells.values()), chosen, field)
    cells = {name: own.coerce(values, str(name)) for name, values in cells.items()}
    if chosen is None:
        chosen = tuple(get_metric(name) for name in own.default_metrics)
    names = list(dict.fromkeys(m.field for m in chosen)) or [own.name]
    inputs = resolve_context(table, context, {name: get_field(name).context for name in names})
    tasks = []
    for name in names:
        seen = {c: values if name == own.name else own.views[name](values) for c, values in cells.items()}
        mine = tuple(bind_zero_division(m, zero_division) for m in chosen if m.field == name)
        extra = inputs if get_field(name).context else None
        tasks.append(Task(get_field(name), mine, seen[truth], seen[estimate], extra))
    return tasks, cells


def column(table: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return one column of the table, or say which ones there are."""
    check_type(name, Hashable, "the name of one column", role)
    if name not in table.columns:
        raise ValueError(
            f"the table has no column {name!r} ({role}); {nearest(name, table.columns)}its columns are "
            f"{list(table.columns)}; name it by {role}="
        )
    found = table[name]
    if isinstance(found, pd.DataFrame):
        raise ValueError(f"the table has {found.shape[1]} columns called {name!r}; column names must be unique")
    return cast(pd.Series, found)


def cells_field(cells: Sequence[pd.Series], metrics: Sequence[Metric] | None, name: str | None) -> Field:
    """Settle the field of the cells from the user's word, the metrics and the cells, in this order."""
    wanted = set() if metrics is None else {m.field for m in metrics}
    able = [f for f in FIELDS.values() if wanted <= {f.name, *f.views}]
    if name is not None:
        chosen = get_field(name)
        if chosen not in able:
            raise ValueError(f"metrics of {sorted(wanted)} do not apply to cells of field {name!r}")
        return chosen
    if not able:
        raise ValueError(
            f"metrics of the fields {sorted(wanted)} cannot be computed on the same cells; ask for one field's metrics "
            "at a time: list_metrics() names each metric's field"
        )
    holding = [f for f in able if all(f.holds(c) for c in cells)]
    if len(holding) > 1:
        holding = [f for f in holding if {f.name} == wanted] or holding
    if len(holding) == 1:
        return holding[0]
    if not holding:
        # its coercion says what is wrong with the cells
        some = [f for f in able if any(f.holds(c) for c in cells)]
        return next((f for f in able if {f.name} == wanted), [*some, *able][0])
    raise ValueError(f"the cells may be of the fields {[f.name for f in holding]}; say which by field=")


def score_rows(
    task: Task, invalid: Invalid, index: pd.Index, engine: Engine = "serial", n_jobs: int | None = None
) -> dict[str, NDArray[np.float64]]:
    """Compute the metrics of a task for every row, NaN where a cell is missing."""
    values = {m.name: np.full(len(index), np.nan) for m in task.metrics}
    batches = list(task.batches())
    costs = [scoring_work(task.metrics, batch.pairs) for batch in batches]
    units = work_units(batches, costs, [BLOCK_ROWS] * len(batches))

    def run(unit: Unit) -> list[list[NDArray[np.float64]]]:
        return [[score(m, part.pairs, invalid, rows=part.rows, index=index) for m in task.metrics] for part in unit]

    for unit, found in zip(units, map_chunks(run, units, engine=engine, n_jobs=n_jobs), strict=True):
        for part, scores in zip(unit, found, strict=True):
            for m, scored in zip(task.metrics, scores, strict=True):
                values[m.name][part.rows] = scored
    return values


def scoring_work(metrics: Iterable[Metric], pairs: Pairs) -> float:
    """Return the nanoseconds that scoring one of the pairs takes, roughly."""
    return sum((pairs.work * (100 if m.costly else 1) for m in metrics), 1.0)


def score(
    metric: Metric,
    pairs: Pairs,
    invalid: Invalid,
    *,
    rows: NDArray[np.int64] | None = None,
    index: pd.Index | None = None,
    distinct: bool = True,
) -> NDArray[np.float64]:
    """Compute `metric` for every pair, NaN or an error for the pairs that it does not apply to.

    Costly metrics are computed once a distinct pair, unless `distinct` is False: looking for equals among random graphs
    costs more than it saves.
    """
    if invalid not in ("raise", "nan"):
        raise ValueError(f"invalid must be 'raise' or 'nan', found {invalid!r}")
    refused = pairs.refused(metric.kinds, metric.truth_kinds)
    if refused.any():
        if invalid == "raise":
            raise ValueError(_refusal(metric, pairs, np.flatnonzero(refused), rows, index))
        return _score_others(metric, pairs, refused, distinct=distinct)
    scored, inverse = pairs.unique() if metric.costly and distinct else (pairs, np.arange(pairs.n))
    try:
        return np.asarray(metric(scored), np.float64)[inverse]
    except PairError as error:
        failed = np.isin(inverse, error.positions)
        if invalid == "raise":
            where = _name_rows(np.flatnonzero(failed), rows, index)
            raise ValueError(
                f"{metric.name}: {where}: {error.reason}; or leave these rows out, or pass invalid='nan'"
            ) from error
        return _score_others(metric, pairs, failed, distinct=distinct)


def _score_others(metric: Metric, pairs: Pairs, without: NDArray[np.bool_], *, distinct: bool) -> NDArray[np.float64]:
    """Compute `metric` for all pairs but some, which become NaN."""
    values = np.full(pairs.n, np.nan)
    others = np.flatnonzero(~without)
    if len(others):
        values[others] = score(metric, pairs.take(others), "nan", distinct=distinct)
    return values


def bind_zero_division(metric: Metric, value: float) -> Metric:
    """Fix what 0/0 is, unless the metric has no 0/0 or a tweak has said already."""
    return (
        metric if not metric.zero_division or "zero_division" in metric.options else tweak(metric, zero_division=value)
    )


def _refusal(
    metric: Metric, pairs: Pairs, at: NDArray[np.int64], rows: NDArray[np.int64] | None, index: pd.Index | None
) -> str:
    """Say which rows hold cells that a metric is not defined for."""
    named = [
        f"{_name_rows(at[k : k + 1], rows, index)}, where {pairs.describe(i)}" for k, i in enumerate(at[:3].tolist())
    ]
    more = f"; and {len(at) - 3} more rows" if len(at) > 3 else ""
    return (
        f"{metric.name} applies to {metric.kinds_line()}, not to {'; '.join(named)}{more}; "
        "leave these rows out, or pass invalid='nan'"
    )


def _name_rows(at: NDArray[np.int64], rows: NDArray[np.int64] | None, index: pd.Index | None) -> str:
    """Name the rows of pairs, the first three of many."""
    named = [name_row(int(i if rows is None else rows[i]), index) for i in at[:3].tolist()]
    return ", ".join(named) + (f" and {len(at) - 3} more rows" if len(at) > 3 else "")


def typed(values: NDArray[np.float64], metric: Metric) -> Any:
    """Give a metric's column the type that its spec declares."""
    if metric.dtype == "float64":
        return values
    missing = np.isnan(values)
    codes = np.where(missing, -1, values).astype(int)
    if metric.dtype == "boolean":
        return pd.arrays.BooleanArray(codes == 1, missing)
    return pd.Categorical.from_codes(codes, categories=pd.Index(metric.dtype))


def with_cells(table: pd.DataFrame, cells: dict[Hashable, pd.Series]) -> pd.DataFrame:
    """Return a new table whose cell columns are canonical."""
    result = table.copy(deep=False)
    for name, values in cells.items():
        result[name] = values.array
    return result


def add_columns(table: pd.DataFrame, columns: dict[str, Any], *, overwrite: bool) -> pd.DataFrame:
    """Append columns to a table of our own; existing names are an error unless `overwrite`."""
    taken = [name for name in columns if name in table.columns]
    if taken and not overwrite:
        raise ValueError(
            f"the table already has the columns {taken}; pass overwrite=True, or rename metrics by tweak(name=)"
        )
    added = pd.DataFrame(columns, index=table.index, copy=False)
    return pd.concat([table.drop(columns=taken), added], axis=1)
