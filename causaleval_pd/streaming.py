"""Rows and their controls scored chunk by chunk: closed forms first, draws summarised as they stream."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .engine import CHUNK_BYTES, map_chunks
from .evaluate import Invalid, Task, score
from .field import Batch, Pairs
from .metric import Metric
from .null import ClosedForm, Controls, Matcher
from .stats import as_good, better, quantile_interval

Method = Literal["auto", "exact", "simulate"]
PRule = Literal["add_one", "share"]
Floats = NDArray[np.float64]


class RowControls(NamedTuple):
    """What the controls say of each row, a float64 array each unless noted.

    `loss` is the mean distance |control - optimum|; `as_good` and `better` are the shares of controls at least as good
    as and strictly better than the observed value; the last two (bool) tell whether mean and p are exact.
    """

    observed: Floats
    mean: Floats
    low: Floats
    high: Floats
    p: Floats
    p_se: Floats
    loss: Floats
    as_good: Floats
    better: Floats
    undefined: Floats
    mean_exact: NDArray[np.bool_]
    p_exact: NDArray[np.bool_]


class Chunk(NamedTuple):
    """Rows scored together: positions, class of their controls, summaries and raw draws (n, n_draws) by metric name."""

    rows: NDArray[np.int64]
    kind: NDArray[np.object_]
    summaries: dict[str, RowControls]
    draws: dict[str, Floats]


class Plan(NamedTuple):
    """How controls are made and summarised; the same for every chunk."""

    n_draws: int
    method: Method
    level: float
    p_rule: PRule
    invalid: Invalid
    keep: bool


def control_chunks(
    task: Task,
    match: Matcher,
    keys: NDArray[np.uint64],
    how: Plan,
    index: pd.Index,
    *,
    progress: bool = False,
) -> Iterator[Chunk]:
    """Score rows and their controls chunk by chunk; memory does not grow with the number of rows."""
    per_row = how.n_draws * 8 * (len(task.metrics) + 2)
    size = max(1, CHUNK_BYTES // per_row)
    work = [
        Batch(batch.rows[i : i + size], batch.pairs.take(np.arange(i, min(i + size, batch.pairs.n))))
        for batch in task.batches()
        for i in range(0, batch.pairs.n, size)
    ]

    def run(batch: Batch) -> Chunk:
        controls = match(batch.rows, batch.pairs, keys[batch.rows])
        observed = {m.name: score(m, batch.pairs, how.invalid, rows=batch.rows, index=index) for m in task.metrics}
        closed = {m.name: None if how.method == "simulate" else controls.closed_form(m) for m in task.metrics}
        drawn = tuple(m for m in task.metrics if _needs_draws(closed[m.name], how))
        draws = simulate(drawn, controls, batch.pairs.n, how)
        summaries = {
            m.name: summarise(m, observed[m.name], closed[m.name], draws.get(m.name), how) for m in task.metrics
        }
        return Chunk(batch.rows, controls.kind, summaries, draws if how.keep else {})

    yield from map_chunks(run, work, weights=[len(b.rows) for b in work], progress=progress, label="controls")


def _needs_draws(closed: ClosedForm | None, how: Plan) -> bool:
    """Tell whether an output of a metric must be simulated, or its draws were asked for."""
    return how.keep or (how.method != "exact" and (closed is None or closed.distribution is None))


def simulate(metrics: Sequence[Metric], controls: Controls, n: int, how: Plan) -> dict[str, Floats]:
    """Score `n_draws` controls of n rows, as (n, n_draws) by metric, a bounded number of graphs at a time."""
    if not metrics:
        return {}
    values = {m.name: np.empty((n, how.n_draws)) for m in metrics}
    step = max(1, CHUNK_BYTES // 4 // max(1, n * controls.cost))
    for start in range(0, how.n_draws, step):
        count = min(step, how.n_draws - start)
        pairs: Pairs = controls.draw(start, count)
        for m in metrics:
            if how.invalid == "raise" and pairs.refused(m.kinds).any():
                raise ValueError(
                    f"{m.name} applies to {' and '.join(m.kinds)}, but controls of class "
                    f"{', '.join(sorted(set(controls.kind.tolist())))} were asked for; change control_kind="
                )
            values[m.name][:, start : start + count] = score(m, pairs, how.invalid).reshape(n, count)
    return values


def summarise(
    metric: Metric, observed: Floats, closed: ClosedForm | None, draws: Floats | None, how: Plan
) -> RowControls:
    """Say what the controls say of each row, from closed forms first and draws for the rest."""
    n = len(observed)
    nothing = np.full(n, np.nan)
    never = np.zeros(n, bool)
    unknown = dict.fromkeys(RowControls._fields[1:-2], nothing)
    result = RowControls(observed=observed, **unknown, mean_exact=never, p_exact=never)
    if draws is not None:
        result = _from_draws(metric, observed, draws, how)
    if closed is None:
        return result
    if closed.distribution is not None:
        return _from_distribution(metric, observed, closed, how)
    known = ~np.isnan(closed.mean)
    mean = np.where(known, closed.mean, result.mean)
    # |control - optimum| has the mean's distance only where the optimum is an end of the range
    one_sided = metric.optimum in metric.range
    loss = np.where(known & one_sided, np.abs(closed.mean - metric.optimum), result.loss)
    return result._replace(mean=mean, loss=loss, mean_exact=known)


def _from_distribution(metric: Metric, observed: Floats, closed: ClosedForm, how: Plan) -> RowControls:
    exact = closed.distribution
    if exact is None:  # pragma: no cover - callers check
        raise ValueError("no distribution")
    tail = (1 - how.level) / 2
    as_good_share = exact.probability(observed, metric)
    always = np.ones(len(observed), bool)
    return RowControls(
        observed=observed,
        mean=closed.mean,
        low=exact.quantile(tail),
        high=exact.quantile(1 - tail),
        p=as_good_share,
        p_se=np.where(np.isnan(as_good_share), np.nan, 0.0),
        loss=exact.expectation(lambda x: np.abs(x - metric.optimum)),
        as_good=as_good_share,
        better=exact.probability(observed, metric, strict=True),
        undefined=exact.undefined[exact.index],
        mean_exact=always,
        p_exact=always,
    )


def _from_draws(metric: Metric, observed: Floats, draws: Floats, how: Plan) -> RowControls:
    defined = ~np.isnan(draws)
    n = defined.sum(axis=1).astype(np.float64)
    b = as_good(draws, observed[:, None], direction=metric.direction, optimum=metric.optimum).sum(axis=1)
    strictly = better(draws, observed[:, None], direction=metric.direction, optimum=metric.optimum).sum(axis=1)
    known = ~np.isnan(observed) & (n > 0)
    share = _divide(b, n, known)
    p = _divide(b + 1, n + 1, known) if how.p_rule == "add_one" else share
    low, high = quantile_interval(draws, how.level)
    return RowControls(
        observed=observed,
        mean=row_means(draws),
        low=low,
        high=high,
        p=p,
        p_se=np.sqrt(p * (1 - p) / np.where(n > 0, n, np.nan)),
        loss=row_means(np.abs(draws - metric.optimum)) if math.isfinite(metric.optimum) else np.full(len(n), np.nan),
        as_good=share,
        better=_divide(strictly, n, known),
        undefined=1 - n / draws.shape[1],
        mean_exact=np.zeros(len(n), bool),
        p_exact=np.zeros(len(n), bool),
    )


def _divide(a: NDArray[Any], b: Floats, where: NDArray[np.bool_]) -> Floats:
    return np.divide(a, b, out=np.full(len(b), np.nan), where=where)


def row_means(values: Floats) -> Floats:
    """Return the mean of each row's defined values: NaN where there is none, or where one is infinite."""
    defined = ~np.isnan(values)
    infinite = np.asarray(np.isinf(values).any(axis=1))
    total = np.where(defined & ~infinite[:, None], values, 0.0).sum(axis=1)
    return _divide(total, defined.sum(axis=1).astype(np.float64), np.asarray(defined.any(axis=1)) & ~infinite)


def spread(parts: list[RowControls], rows: NDArray[np.int64], n: int) -> RowControls:
    """Put chunks back to the rows of the table; rows without an estimate are missing."""
    filled = []
    for i, name in enumerate(RowControls._fields):
        values: NDArray[Any] = np.zeros(n, bool) if name.endswith("_exact") else np.full(n, np.nan)
        if parts:
            values[rows] = np.concatenate([part[i] for part in parts])
        filled.append(values)
    return RowControls(*filled)


def skill(metric: Metric, observed: Floats, control_loss: Floats) -> Floats:
    """Return 1 - |observed - optimum| / mean |control - optimum|; NaN where the latter is 0 or the optimum infinite."""
    if not math.isfinite(metric.optimum):
        return np.full(len(observed), np.nan)
    positive = (control_loss > 1e-12) & np.isfinite(control_loss)
    ratio = np.divide(
        np.abs(observed - metric.optimum), control_loss, out=np.full(len(observed), np.nan), where=positive
    )
    return np.asarray(1 - ratio)
