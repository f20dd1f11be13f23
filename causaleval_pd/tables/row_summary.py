"""Summarise each row's controls: mean, interval, p-value and skill, from closed forms or draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.law import CLOSED_FORMS, ClosedForm
from ..contract.metric import Metric
from ..statistics.arrays import SMALLEST_P, quantile_interval
from ..statistics.direction import as_good, better
from .settings import Drawing

Floats = NDArray[np.float64]

#: how a number was found, as results name it; -1 stands for nothing
METHODS = ["exact", "simulated"]
NONE, EXACT, SIMULATED, FURTHER = -1, 0, 1, 2
Codes = NDArray[np.int8]


class RowControls(NamedTuple):
    """Summaries of each row's controls, (n,) each."""

    observed: Floats
    mean: Floats
    #: Monte Carlo standard error, as `p_se`
    mean_se: Floats
    low: Floats
    high: Floats
    p: Floats
    p_se: Floats
    #: mean distance |control - optimum|
    loss: Floats
    #: share of controls at least as good as the observed value
    as_good: Floats
    #: share of controls strictly better than it
    better: Floats
    undefined: Floats
    #: number of draws that p rests on
    n: Floats
    #: positions in `METHODS`
    mean_method: Codes
    p_method: Codes


def summarise(
    metric: Metric, observed: Floats, closed: ClosedForm | None, draws: Floats | None, how: Drawing
) -> RowControls:
    """Summarise each row's controls, from closed forms first and draws for the rest."""
    n = len(observed)
    nothing, never = np.full(n, np.nan), np.full(n, NONE, np.int8)
    unknown = dict.fromkeys(RowControls._fields[1:-2], nothing)
    result = RowControls(observed=observed, **unknown, mean_method=never, p_method=never)
    if draws is not None:
        result = _from_draws(metric, observed, draws, how)
    if closed is None:
        return result
    exact = None if closed.distribution is None else _from_distribution(metric, observed, closed, how)
    if exact is not None and closed.listed is None:
        return exact
    other = _with_tails(_with_exact_mean(metric, result, closed), closed, how)
    if exact is None or closed.listed is None:
        return other
    return RowControls(*(np.where(closed.listed, exact[i], other[i]) for i in range(len(exact))))


def _with_exact_mean(metric: Metric, result: RowControls, closed: ClosedForm) -> RowControls:
    """Put exact means in the place of simulated ones."""
    known = ~np.isnan(closed.mean)
    # |control - optimum| has the mean's distance only where the optimum is an end of the range
    one_sided = metric.optimum in metric.range
    return result._replace(
        mean=np.where(known, closed.mean, result.mean),
        mean_se=np.where(known, 0.0, result.mean_se),
        loss=np.where(known & one_sided, np.abs(closed.mean - metric.optimum), result.loss),
        mean_method=np.where(known, EXACT, result.mean_method).astype(np.int8),
    )


def _with_tails(rows: RowControls, closed: ClosedForm, how: Drawing) -> RowControls:
    """Put p, limits and shares of tails that are not stored in the place of simulated ones."""
    if closed.tails is None:
        return rows
    tails = closed.tails(rows.observed, how.level)
    known = tails.method >= 0
    p = np.maximum(tails.p, SMALLEST_P)
    zero = np.zeros(len(p))
    limited = known & ~np.isnan(tails.low)
    rows = rows._replace(low=np.where(limited, tails.low, rows.low), high=np.where(limited, tails.high, rows.high))
    fields = {"p": p, "p_se": zero, "as_good": tails.p, "better": tails.strict}
    fields |= {"undefined": zero, "n": np.full(len(p), np.nan)}
    words = np.where(tails.method == 0, EXACT, tails.method + FURTHER - 1)
    method = np.where(known, words, rows.p_method).astype(np.int8)
    return rows._replace(
        **{name: np.where(known, values, getattr(rows, name)) for name, values in fields.items()}, p_method=method
    )


def _from_distribution(metric: Metric, observed: Floats, closed: ClosedForm, how: Drawing) -> RowControls:
    exact = closed.distribution
    if exact is None:  # pragma: no cover - callers check
        raise ValueError("no distribution")
    tail = (1 - how.level) / 2
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    scaled, seen = replace(exact, values=compared(metric, exact.values)), compared(metric, observed)
    p, strictly = scaled.probability(seen, **aim), scaled.probability(seen, **aim, strict=True)
    always = np.full(len(observed), EXACT, np.int8)
    return RowControls(
        observed=observed,
        mean=closed.mean,
        mean_se=np.where(np.isnan(closed.mean), np.nan, 0.0),
        low=exact.quantile(tail),
        high=exact.quantile(1 - tail),
        p=p,
        p_se=np.where(np.isnan(p), np.nan, 0.0),
        loss=exact.expectation(lambda x: np.abs(x - metric.optimum)),
        as_good=p,
        better=strictly,
        undefined=exact.undefined[exact.index],
        n=np.full(len(observed), np.nan),
        mean_method=always,
        p_method=always,
    )


def compared(metric: Metric, values: Floats) -> Floats:
    """Return what values are compared by: themselves, or their logarithms, of which that of 0 is -inf."""
    if not metric.log_scale:
        return values
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _from_draws(metric: Metric, observed: Floats, draws: Floats, how: Drawing) -> RowControls:
    defined = ~np.isnan(draws)
    n = defined.sum(axis=1).astype(np.float64)
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    scaled, seen = compared(metric, draws), compared(metric, observed)[:, None]
    b, strictly = as_good(scaled, seen, **aim).sum(axis=1), better(scaled, seen, **aim).sum(axis=1)
    known = ~np.isnan(observed) & (n > 0)
    share = divide(b, n, known)
    p = share if how.listed else divide(b + 1, n + 1, known)
    low, high = quantile_interval(draws, how.level)
    mean = row_means(draws)
    with np.errstate(invalid="ignore"):  # an infinite mean has no error
        error = np.sqrt(np.maximum(row_means((draws - mean[:, None]) ** 2), 0.0) / np.maximum(n - 1, 1))
    always = np.full(len(n), SIMULATED, np.int8)
    return RowControls(
        observed=observed,
        mean=mean,
        mean_se=np.where((n > 1) & np.isfinite(mean), error, np.nan),
        low=low,
        high=high,
        p=p,
        p_se=np.sqrt(p * (1 - p) / np.where(n > 0, n, np.nan)),
        loss=row_means(np.abs(draws - metric.optimum)) if math.isfinite(metric.optimum) else np.full(len(n), np.nan),
        as_good=share,
        better=divide(strictly, n, known),
        undefined=1 - n / draws.shape[1],
        n=n,
        mean_method=np.where(np.isnan(mean), NONE, always).astype(np.int8),
        p_method=np.where(np.isnan(p), NONE, always).astype(np.int8),
    )


def divide(a: NDArray[Any], b: Floats, where: NDArray[np.bool_]) -> Floats:
    """Return a / b, NaN elsewhere."""
    return np.divide(a, b, out=np.full(len(b), np.nan), where=where)


def row_means(values: Floats) -> Floats:
    """Return the mean of each row's defined values: NaN without any, infinite if one is infinite."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # infinities of both signs
        total = np.where(defined, values, 0.0).sum(axis=1)
    return divide(total, defined.sum(axis=1).astype(np.float64), np.asarray(defined.any(axis=1)))


def without_p(rows: RowControls) -> RowControls:
    """Drop p-values: the model is a point of reference, not a random guess."""
    nothing = np.full(len(rows.p), np.nan)
    never = np.full(len(rows.p), NONE, np.int8)
    return rows._replace(p=nothing, p_se=nothing, p_method=never)


def with_p_of_worse(rows: RowControls) -> RowControls:
    """Replace p by the probability of a control at least as bad as the observed value; there is no skill."""
    drawn = np.where(rows.p_method == SIMULATED, rows.n, 0.0)
    share = 1 - rows.better
    p = np.where(drawn > 0, (share * drawn + 1) / (drawn + 1), share)
    error = np.sqrt(p * (1 - p) / np.maximum(drawn, 1)) * (drawn > 0)
    return rows._replace(
        p=np.where(np.isnan(rows.p), np.nan, p), p_se=error, loss=np.full(len(p), np.nan), as_good=share
    )


def at_floor(rows: RowControls) -> NDArray[np.bool_]:
    """Return which rows have a p that is an upper bound: simulated, and no control reached it."""
    simulated = rows.p_method == SIMULATED
    return np.asarray(simulated & (np.where(simulated, rows.p * (rows.n + 1), np.inf) <= 1 + 1e-9))


def method_words(metric: Metric) -> list[str]:
    """Name how a p-value was found, by position in `METHODS` and after them."""
    return [*METHODS, *(() if metric.closed_form is None else CLOSED_FORMS[metric.closed_form].methods)]


def stack_rows(parts: Sequence[RowControls]) -> RowControls:
    """Put rows one below the other."""
    return parts[0] if len(parts) == 1 else RowControls(*(np.concatenate(field) for field in zip(*parts, strict=True)))


def spread(parts: list[RowControls], rows: NDArray[np.int64], n: int) -> RowControls:
    """Put chunks back to the rows of the table; rows without an estimate are missing."""
    filled = []
    for i, name in enumerate(RowControls._fields):
        values: NDArray[Any] = np.full(n, NONE, np.int8) if name.endswith("_method") else np.full(n, np.nan)
        if parts:
            values[rows] = np.concatenate([part[i] for part in parts])
        filled.append(values)
    return RowControls(*filled)


def skill(optimum: float, observed: Floats, control_loss: Floats) -> Floats:
    """Return 1 - |observed - optimum| / mean |control - optimum|; NaN where the latter is 0 or the optimum infinite."""
    if not math.isfinite(optimum):
        return np.full(len(observed), np.nan)
    positive = (control_loss > 1e-12) & np.isfinite(control_loss)
    ratio = np.divide(np.abs(observed - optimum), control_loss, out=np.full(len(observed), np.nan), where=positive)
    return np.asarray(1 - ratio)
