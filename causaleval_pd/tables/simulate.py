"""Rows and their controls scored unit by unit: closed forms first, draws summarised as they stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.law import ClosedForm
from ..contract.metric import Metric
from ..contract.null import Controls, Matcher
from ..contract.pairs import Batch, Pairs
from ..execution.engines import BLOCK_ROWS, CHUNK_BYTES, Unit, map_chunks, own_pairs, stop_if_unwanted, work_units
from .row_summary import Floats, RowControls, stack_rows, summarise
from .scoring import check_kinds, score, scoring_work, warn_of_rows
from .settings import Drawing
from .tasks import Task

#: nanoseconds that it takes to summarise one value of a control, and to find the closed forms of one row
_SUMMARY_WORK, _CLOSED_WORK = 50.0, 2000.0


class Chunk(NamedTuple):
    """Rows scored together: positions, class of their controls, and by metric name summaries and the draws to keep."""

    rows: NDArray[np.int64]
    kind: NDArray[np.object_]
    summaries: dict[str, RowControls]
    draws: dict[str, Floats]


@dataclass(frozen=True)
class _Job:
    """What the rows of every unit are scored by."""

    task: Task
    match: Matcher
    keys: NDArray[np.uint64]
    how: Drawing
    index: pd.Index
    #: scores of all rows by metric, where they are known
    observed: Mapping[str, Floats] | None

    def controls(self, batch: Batch) -> Controls:
        """Match controls to rows."""
        return self.match(batch.rows, batch.pairs, self.keys[batch.rows])


def control_chunks(
    task: Task,
    match: Matcher,
    keys: NDArray[np.uint64],
    how: Drawing,
    index: pd.Index,
    wanted: NDArray[np.bool_] | None = None,
    observed: Mapping[str, Floats] | None = None,
) -> Iterator[Chunk]:
    """Score rows and their controls chunk by chunk; memory grows neither with the number of rows nor of draws.

    `match` makes the controls of a batch of rows: a null model prepared for the task. `keys` name random streams, and
    `index` rows in messages. Rows outside `wanted` (n,) are left out; scores that are `observed` are not computed
    again.
    """
    batches = list(_wanted(task, wanted))
    job = _Job(task, match, keys, how, index, observed)
    if observed is None:
        check_kinds(task.metrics, batches, how.invalid, index)
        warn_of_rows(task.metrics, batches, index)
    costs = [_row_costs(job, batch) for batch in batches]
    units = work_units(batches, [work for work, _ in costs], [rows for _, rows in costs])

    def run(unit: Unit) -> Chunk:
        return _joined([_score(job, block) for block in own_pairs(unit)])

    weights = [sum(len(block.rows) for block in unit) for unit in units]
    yield from map_chunks(run, units, weights=weights, label="controls")


def _wanted(task: Task, wanted: NDArray[np.bool_] | None) -> Iterator[Batch]:
    """Yield the batches of the rows that are scored."""
    for batch in task.batches():
        if wanted is None:
            yield batch
        elif wanted[batch.rows].any():
            some = np.flatnonzero(wanted[batch.rows])
            yield Batch(batch.rows[some], batch.pairs.take(some))


def _row_costs(job: _Job, batch: Batch) -> tuple[float, int]:
    """Estimate the cost of a row and its controls (ns), and the block size, from up to 16 rows."""
    n = len(batch.rows)
    some = np.unique(np.linspace(0, n - 1, min(n, 16)).astype(np.int64))
    few = Batch(batch.rows[some], batch.pairs.take(some))
    controls = job.controls(few)
    drawn = [m for m in job.task.metrics if job.how.keep or _needs_draws(_closed_form(controls, m, job.how), job.how)]
    once = scoring_work(job.task.metrics, few.pairs) + _CLOSED_WORK * len(job.task.metrics)
    each = controls.work + scoring_work(drawn, few.pairs) + _SUMMARY_WORK * len(drawn) if drawn else 0.0
    return once + job.how.n_draws * each, _block_rows(job.how, len(drawn))


def _block_rows(how: Drawing, n_drawn: int) -> int:
    """Return the block size in rows: quantiles need all draws of a row, so the more draws, the fewer rows."""
    return min(BLOCK_ROWS, max(1, CHUNK_BYTES // max(1, 8 * how.n_draws * n_drawn)))


def _score(job: _Job, batch: Batch) -> Chunk:
    """Score rows and their controls."""
    task, how = job.task, job.how
    controls = job.controls(batch)
    observed = {m.name: _observed(job, batch, m) for m in task.metrics}
    closed = {m.name: _closed_form(controls, m, how) if how.summarise else None for m in task.metrics}
    drawn = tuple(m for m in task.metrics if _needs_draws(closed[m.name], how))
    most = _block_rows(how, len(drawn))
    if len(batch.rows) > most:
        # more is drawn here than for the rows by which the cost was estimated
        starts = range(0, len(batch.rows), most)
        blocks = [Batch(batch.rows[i : i + most], batch.pairs.take(slice(i, i + most))) for i in starts]
        return _joined([_score(job, block) for block in blocks])
    draws = simulate(drawn, controls, len(batch.rows), how, rows=batch.rows, index=job.index)
    summaries = {}
    if how.summarise:
        row_summaries = (summarise(m, observed[m.name], closed[m.name], draws.get(m.name), how) for m in task.metrics)
        summaries = dict(zip((m.name for m in task.metrics), row_summaries, strict=True))
    kept = {name: values[:, : how.keep] for name, values in draws.items()} if how.keep else {}
    return Chunk(batch.rows, controls.kind, summaries, kept)


def _observed(job: _Job, batch: Batch, metric: Metric) -> Floats:
    """Return the scores of rows themselves."""
    if job.observed is not None:
        return job.observed[metric.name][batch.rows]
    return score(metric, batch.pairs, job.how.invalid, rows=batch.rows, index=job.index)


def _joined(parts: list[Chunk]) -> Chunk:
    """Put the blocks of a unit together."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return Chunk(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.kind for part in parts]),
        {name: stack_rows([part.summaries[name] for part in parts]) for name in first.summaries},
        {name: np.concatenate([part.draws[name] for part in parts]) for name in first.draws},
    )


def _closed_form(controls: Controls, metric: Metric, how: Drawing) -> ClosedForm | None:
    return None if how.method == "simulate" else controls.closed_form(metric)


def _needs_draws(closed: ClosedForm | None, how: Drawing) -> bool:
    """Return whether an output of a metric must be simulated, or its draws were asked for."""
    return how.keep > 0 or (how.draws and (closed is None or closed.drawn))


def simulate(
    metrics: Sequence[Metric],
    controls: Controls,
    n: int,
    how: Drawing,
    *,
    rows: NDArray[np.int64] | None = None,
    index: pd.Index | None = None,
) -> dict[str, Floats]:
    """Score the controls of n rows, as (n, n_draws) by metric, some at a time; errors name `rows` by `index`."""
    if not metrics:
        return {}
    values = {m.name: np.empty((n, how.n_draws)) for m in metrics}
    step = max(1, CHUNK_BYTES // max(1, n * controls.cost))
    for start in range(0, how.n_draws, step):
        stop_if_unwanted()
        count = min(step, how.n_draws - start)
        pairs: Pairs = controls.draw(start, count)
        if pairs.undrawn and how.invalid == "raise":
            raise ValueError(f"{pairs.undrawn}; or pass invalid='nan'")
        for m in metrics:
            if how.invalid == "raise" and m.refused(pairs).any():
                raise ValueError(
                    f"{m.name} applies to {m.kinds_line()}, but controls of class "
                    f"{', '.join(sorted(set(controls.kind.tolist())))} were asked for; change control_kind="
                )
            of_draws = None if rows is None else np.repeat(rows, count)
            scores = score(m, pairs, how.invalid, rows=of_draws, index=index, distinct=False)
            if pairs.lacking is not None:
                scores = np.where(pairs.lacking, np.nan, scores)
            values[m.name][:, start : start + count] = scores.reshape(n, count)
    return values
