"""Score the rows of a task: units of work, distinct pairs, refusals that name rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice, name_row, warn
from ..contract.metric import Metric
from ..contract.pairs import Batch, PairError, Pairs
from ..execution.engines import Unit, map_chunks, stop_if_unwanted, work_units
from .settings import Invalid
from .tasks import Task

Values = NDArray[np.float64]

#: rows that are scored at once: what metrics share about them stays in the cache
PART_ROWS = 60_000
_COMPARED = 1 << 14


def score_rows(task: Task, invalid: Invalid, index: pd.Index) -> dict[str, NDArray[np.float64]]:
    """Compute the metrics of a task for every row of the table with this index, NaN where a cell is missing."""
    batches = list(task.batches())
    check_kinds(task.metrics, batches, invalid, index)
    warn_of_rows(task.metrics, batches, index)
    costs = [scoring_work(task.metrics, batch.pairs) for batch in batches]
    units = work_units(batches, costs, [len(index)] * len(batches))

    def run(unit: Unit) -> list[list[Values]]:
        return [_score_parts(task.metrics, batch, invalid, index) for batch in unit]

    weights = [sum(len(batch.rows) for batch in unit) for unit in units]
    unit_scores = map_chunks(run, units, weights=weights, label="metrics")
    if len(units) == len(batches) == 1 and _are_all(batches[0].rows, len(index)):
        [values] = next(iter(unit_scores))
    else:
        values = [np.full(len(index), np.nan) for _ in task.metrics]
        for unit, scored in zip(units, unit_scores, strict=True):
            for batch, columns in zip(unit, scored, strict=True):
                rows = _as_slice(batch.rows)
                for column, scores in zip(values, columns, strict=True):
                    column[rows] = scores
    return {m.name: column for m, column in zip(task.metrics, values, strict=True)}


def _score_parts(metrics: Sequence[Metric], batch: Batch, invalid: Invalid, index: pd.Index) -> list[Values]:
    """Score the pairs of a batch part by part, so that what metrics share about a part stays in the cache."""
    n, first = len(batch.rows), 0
    columns = [np.empty(0)] * len(metrics)
    for pairs in batch.pairs.parts(PART_ROWS):
        rows = batch.rows[first : first + pairs.n]
        for i, m in enumerate(metrics):
            columns[i] = _add_scores(columns[i], score(m, pairs, invalid, rows=rows, index=index), pairs, first, n)
        first += pairs.n
    # two metrics may be one count, but columns do not share memory
    seen = [any(column is other for other in columns[:i]) for i, column in enumerate(columns)]
    return [column.copy() if again else column for column, again in zip(columns, seen, strict=True)]


def _add_scores(column: Values, scores: Values, part: Pairs, first: int, n: int) -> Values:
    """Lay the scores of a part out among those of n pairs; counts may stand there already, in its `out`."""
    rows = slice(first, first + part.n)
    for whole in part.out:
        if scores.base is whole and (first == 0 or column is whole) and _same_memory(scores, whole[rows]):
            return whole
    if first == 0 or any(column is whole for whole in part.out):
        before, column = column, np.empty(n)
        column[:first] = before[:first]
    column[rows] = scores
    return column


def _same_memory(one: Values, other: Values) -> bool:
    """Return whether two arrays are views of the same numbers."""
    place, there = one.__array_interface__, other.__array_interface__
    return all(place[key] == there[key] for key in ("data", "shape", "strides", "typestr"))


def _are_all(rows: NDArray[np.int64], n: int) -> bool:
    """Return whether these are the rows 0 to n - 1 in order; some at a time are compared, which stay in the cache."""
    parts = (rows[start : start + _COMPARED] - start for start in range(0, n, _COMPARED))
    return len(rows) == n and all(np.array_equal(part, np.arange(len(part))) for part in parts)


def _as_slice(rows: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Return successive rows as a slice, to which numpy copies faster than to positions."""
    if not len(rows):
        return rows
    first = int(rows[0])
    successive = np.array_equal(rows, np.arange(first, first + len(rows)))
    return slice(first, first + len(rows)) if successive else rows


def check_kinds(
    metrics: Iterable[Metric],
    batches: Sequence[Batch],
    invalid: Invalid,
    index: pd.Index,
    mend: str = "leave these rows out, or pass invalid='nan'",
) -> None:
    """Refuse rows whose cells a metric is not defined for: name some, count all, and name metrics that take them."""
    check_choice(invalid, ("raise", "nan"), "invalid")
    for m in metrics if invalid == "raise" else ():
        refusals = [np.flatnonzero(m.refused(batch.pairs)) for batch in batches]
        if not any(map(len, refusals)):
            continue
        refused = [batch.pairs.take(at) for batch, at in zip(batches, refusals, strict=True) if len(at)]
        rows = np.concatenate([batch.rows[at] for batch, at in zip(batches, refusals, strict=True)])
        places = [(pairs, i) for pairs in refused for i in range(pairs.n)]
        why: dict[str, list[str]] = {}  # rows by reason
        for k in np.argsort(rows)[:3].tolist():
            why.setdefault(places[k][0].describe(places[k][1]), []).append(name_row(int(rows[k]), index))
        first = [f"{', '.join(named)}, where {reason}" for reason, named in why.items()]
        more = f"; and {len(rows) - 3} more rows" if len(rows) > 3 else ""
        other = m.what_applies(refused)
        raise ValueError(
            f"{m.name} applies to {m.kinds_line()}, not to {'; '.join(first)}{more} ({len(rows)} of {len(index)} rows)"
            f"{other}; {'or ' if other else ''}{mend}"
        )


def warn_of_rows(metrics: Sequence[Metric], batches: Sequence[Batch], index: pd.Index) -> None:
    """Warn of rows whose values mean something else than users may think: count all, and name some."""
    noted: dict[tuple[str, str, bool], list[NDArray[np.int64]]] = {}
    for batch in batches:
        for remark in batch.pairs.remarks(metrics):
            key = remark.what, remark.then, remark.if_others_differ
            noted.setdefault(key, []).append(batch.rows[remark.positions])
    n_scored = sum(len(batch.rows) for batch in batches)
    for (what, then, if_others_differ), parts in noted.items():
        rows = np.sort(np.concatenate(parts))
        if not len(rows) or (if_others_differ and len(rows) == n_scored):
            continue
        where = _name_rows(np.arange(len(rows)), rows, index)
        warn(f"{len(rows)} of {len(index)} estimates {what} ({where}): {then}")


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
    """Compute `metric` for every pair; NaN, or an error where `invalid` says so, for pairs that it does not apply to.

    Costly metrics are computed once per distinct pair, unless `distinct` is False: looking for equals among random
    graphs costs more than it saves. Callers check kinds.
    """

    def compute(some: Pairs) -> NDArray[np.float64]:
        scored, inverse = some.unique() if metric.costly and distinct else (some, None)
        try:
            values = _call(metric, scored)
            return values if inverse is None else values[inverse]
        except PairError as error:
            failed = np.isin(np.arange(some.n) if inverse is None else inverse, error.positions)
            if invalid == "raise" and some is pairs:
                where = _name_rows(np.flatnonzero(failed), rows, index)
                raise ValueError(
                    f"{metric.name}: {where}: {error.reason}; or leave these rows out, or pass invalid='nan'"
                ) from error
            raise PairError(np.flatnonzero(failed), error.reason) from error

    return metric.of_taken(pairs, compute)[0]


def _call(metric: Metric, pairs: Pairs) -> NDArray[np.float64]:
    """Call a metric, a costly one in slices, between which an interrupt is obeyed; metrics share the slices."""
    stop_if_unwanted()
    step = pairs.at_once if metric.costly else pairs.n
    if pairs.n <= step:
        return np.asarray(metric(pairs), np.float64)
    starts = range(0, pairs.n, step)
    slices = pairs.remember("slices", lambda: [pairs.take(slice(i, min(i + step, pairs.n))) for i in starts])
    values, failed = [], []
    for start, part in zip(starts, slices, strict=True):
        stop_if_unwanted()
        try:
            values.append(np.asarray(metric(part), np.float64))
        except PairError as error:
            failed.append((start + error.positions, error.reason))
    if failed:
        raise PairError(np.concatenate([positions for positions, _ in failed]), failed[0][1])
    return np.concatenate(values)


def _name_rows(at: NDArray[np.int64], rows: NDArray[np.int64] | None, index: pd.Index | None) -> str:
    """Name the rows of pairs, the first three of many."""
    # several controls of one row are named once
    places = pd.unique(at if rows is None else rows[at])
    named = [name_row(int(place), index) for place in places[:3].tolist()]
    return ", ".join(named) + (f" and {len(places) - 3} more rows" if len(places) > 3 else "")
