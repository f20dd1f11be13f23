"""Rows and their controls scored chunk by chunk: closed forms first, draws summarised as they stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .engine import CHUNK_BYTES, Engine, job_count, map_chunks
from .evaluate import Task, score
from .field import Batch, Pairs
from .metric import Metric
from .null import ClosedForm, Controls, Matcher
from .row_controls import EXACT, SIMULATED, Floats, Plan, RowControls, divide, summarise
from .stats import as_good

#: bytes of drawn controls (their number x what one takes) that are worth a unit of work of their own: 0.2 s and more
_WORK_BYTES = 256 * 2**20


class Chunk(NamedTuple):
    """Rows scored together: positions, class of their controls, summaries and raw draws (n, n_draws) by metric name."""

    rows: NDArray[np.int64]
    kind: NDArray[np.object_]
    summaries: dict[str, RowControls]
    draws: dict[str, Floats]


def control_chunks(
    task: Task,
    match: Matcher,
    keys: NDArray[np.uint64],
    how: Plan,
    index: pd.Index,
    *,
    progress: bool = False,
    engine: Engine = "serial",
    n_jobs: int | None = None,
) -> Iterator[Chunk]:
    """Score rows and their controls chunk by chunk; memory does not grow with the number of rows."""
    jobs = job_count(engine, n_jobs)
    work = []
    for batch in task.batches():
        size = _chunk_rows(batch, match, keys, how, len(task.metrics), jobs)
        work += [
            Batch(batch.rows[i : i + size], batch.pairs.take(np.arange(i, min(i + size, batch.pairs.n))))
            for i in range(0, batch.pairs.n, size)
        ]

    def run(batch: Batch) -> Chunk:
        controls = match(batch.rows, batch.pairs, keys[batch.rows])
        observed = {m.name: score(m, batch.pairs, how.invalid, rows=batch.rows, index=index) for m in task.metrics}
        closed = {m.name: None if how.method == "simulate" else controls.closed_form(m) for m in task.metrics}
        drawn = tuple(m for m in task.metrics if _needs_draws(closed[m.name], how))
        draws = simulate(drawn, controls, batch.pairs.n, how, 0, how.n_first)
        summaries = {
            m.name: summarise(m, observed[m.name], closed[m.name], draws.get(m.name), how) for m in task.metrics
        }
        if how.stop_after is not None:
            for m in drawn:
                counted = Stopped.start(m, observed[m.name], draws[m.name], how.stop_after)
                _continue(counted, m, match, batch, keys, how)
                summaries[m.name] = counted.into(summaries[m.name])
        return Chunk(batch.rows, controls.kind, summaries, draws if how.keep else {})

    weights = [len(batch.rows) for batch in work]
    yield from map_chunks(run, work, weights=weights, progress=progress, label="controls", engine=engine, n_jobs=n_jobs)


def _chunk_rows(batch: Batch, match: Matcher, keys: NDArray[np.uint64], how: Plan, n_metrics: int, jobs: int) -> int:
    """Return how many rows are scored at a time: a unit worth its overhead, of bounded size, for every job one."""
    fitting = max(1, CHUNK_BYTES // (how.n_first * 8 * (n_metrics + 2)))
    if jobs == 1 or batch.pairs.n == 0:
        return fitting
    cost = match(batch.rows[:1], batch.pairs.take(np.arange(1)), keys[batch.rows[:1]]).cost
    worth = max(1, _WORK_BYTES // (how.n_first * (cost + 8 * n_metrics)))
    share = -(-batch.pairs.n // jobs)
    return min(fitting, worth, max(share, worth // 8))


def _needs_draws(closed: ClosedForm | None, how: Plan) -> bool:
    """Tell whether an output of a metric must be simulated, or its draws were asked for."""
    return how.keep or (how.method in ("auto", "simulate") and (closed is None or closed.distribution is None))


def simulate(
    metrics: Sequence[Metric], controls: Controls, n: int, how: Plan, first: int = 0, n_draws: int | None = None
) -> dict[str, Floats]:
    """Score controls first, first + 1, ... of n rows, as (n, n_draws) by metric, a bounded number of graphs a time."""
    if not metrics:
        return {}
    total = how.n_draws if n_draws is None else n_draws
    values = {m.name: np.empty((n, total)) for m in metrics}
    step = max(1, CHUNK_BYTES // 4 // max(1, n * controls.cost))
    for start in range(0, total, step):
        count = min(step, total - start)
        pairs: Pairs = controls.draw(first + start, count)
        for m in metrics:
            if how.invalid == "raise" and pairs.refused(m.kinds, m.truth_kinds).any():
                raise ValueError(
                    f"{m.name} applies to {m.kinds_line()}, but controls of class "
                    f"{', '.join(sorted(set(controls.kind.tolist())))} were asked for; change control_kind="
                )
            values[m.name][:, start : start + count] = score(m, pairs, how.invalid, distinct=False).reshape(n, count)
    return values


@dataclass
class Stopped:
    """Draws counted until `stop_after` of them were as good as the observed value (Besag and Clifford 1991).

    Attributes
    ----------
    metric : Metric
        What is counted.
    observed : (n,) float
        Observed values.
    stop_after : int
        Number h of controls as good at which a row stops.
    hits, n : (n,) int
        Controls as good, and controls with a value, so far.
    active : (n,) bool
        Rows that go on.
    """

    metric: Metric
    observed: Floats
    stop_after: int
    hits: NDArray[np.int64]
    n: NDArray[np.int64]
    active: NDArray[np.bool_]

    @classmethod
    def start(cls, metric: Metric, observed: Floats, draws: Floats, stop_after: int) -> Stopped:
        """Count the first draws, (n, n_first)."""
        zeros = np.zeros(len(observed), np.int64)
        counted = cls(metric, observed, stop_after, zeros, zeros.copy(), ~np.isnan(observed))
        counted.count(np.flatnonzero(counted.active), draws[counted.active])
        return counted

    def count(self, rows: NDArray[np.int64], draws: Floats) -> None:
        """Count further draws of some rows; those after the one that stops a row do not count."""
        m = self.metric
        seen = self.observed[rows, None]
        hit = as_good(draws, seen, direction=m.direction, optimum=m.optimum)
        total = self.hits[rows, None] + np.cumsum(hit, axis=1)
        counts = (total - hit) < self.stop_after
        self.hits[rows] += (hit & counts).sum(axis=1)
        self.n[rows] += (~np.isnan(draws) & counts).sum(axis=1)
        self.active[rows] = self.hits[rows] < self.stop_after

    def into(self, summary: RowControls) -> RowControls:
        """Replace p by h / l where a row stopped at its l-th control, else by (b + 1) / (n + 1)."""
        n = self.n.astype(np.float64)
        known = (summary.p_method != EXACT) & (n > 0)
        stopped = self.hits >= self.stop_after
        p = np.where(stopped, divide(self.hits, n, known), divide(self.hits + 1, n + 1, known))
        # after h exceedances 1 / p is about normal with relative variance (1 - p) / h
        error = np.where(stopped, p * np.sqrt((1 - p) / self.stop_after), np.sqrt(p * (1 - p) / np.maximum(n, 1)))
        return summary._replace(
            p=np.where(known, p, summary.p),
            p_se=np.where(known, error, summary.p_se),
            n=np.where(known, n, summary.n),
            p_method=np.where(known, SIMULATED, summary.p_method).astype(np.int8),
        )


def _continue(
    counted: Stopped, metric: Metric, match: Matcher, batch: Batch, keys: NDArray[np.uint64], how: Plan
) -> None:
    """Draw on, in growing blocks, for the rows that have not stopped."""
    done = how.n_first
    while done < how.n_draws and counted.active.any():
        rows = np.flatnonzero(counted.active)
        places = batch.rows[rows]
        controls = match(places, batch.pairs.take(rows), keys[places])
        # a block at most as long as all before it, and of bounded size
        count = min(done, how.n_draws - done, max(1, CHUNK_BYTES // (8 * len(rows))))
        counted.count(rows, simulate([metric], controls, len(rows), how, done, count)[metric.name])
        done += count
