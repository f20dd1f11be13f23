"""Moments, ratios, ranks, quantiles and intervals on arrays along their last axis.

NaN marks undefined and absent values, which never count; a row without enough values gives NaN without a warning.
Rounding errors neither break ties nor rank zeros.

References
----------
.. [1] Hyndman, R. J., Fan, Y. (1996). Sample quantiles in statistical packages.
   doi:10.1080/00031305.1996.10473566
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .direction import TOLERANCE

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: exact p-values are at least this: smaller ones underflow to 0, whose logarithm combinations of p-values need
SMALLEST_P = float(np.finfo(np.float64).tiny)
#: numbers that a block of working memory may hold
BLOCK = 4_000_000


class Estimate(NamedTuple):
    """An effect and the limits of its confidence interval."""

    effect: Floats
    low: Floats
    high: Floats


def paired_difference(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return a - b, exactly 0 where they tie (within `TOLERANCE`, and equal infinities); NaN where either is."""
    first, second = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    difference = np.subtract(first, second, out=np.zeros(first.shape), where=first != second)
    scale = np.where(np.isfinite(first), np.maximum(1.0, np.abs(first)), 1.0)
    return np.where(np.abs(difference) <= TOLERANCE * scale, 0.0, difference)


def moments(values: ArrayLike) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return number, mean and standard deviation (divisor n - 1, 0 where it is rounding error) of the defined values.

    The mean is NaN for no values or an infinite one, the deviation also for one value.
    """
    values = np.asarray(values, np.float64)
    defined = ~np.isnan(values)
    n = defined.sum(axis=-1)
    usable = (n > 0) & ~np.isinf(values).any(axis=-1)
    kept = np.where(defined & usable[..., None], values, 0.0)
    mean = kept.sum(axis=-1) / np.maximum(n, 1)
    apart = np.subtract(kept, mean[..., None], out=np.zeros_like(kept), where=defined & usable[..., None])
    deviation = np.sqrt((apart**2).sum(axis=-1) / np.maximum(n - 1, 1))
    noise = TOLERANCE * np.abs(kept).max(axis=-1, initial=0.0)
    deviation = np.where(deviation <= noise, 0.0, deviation)
    return n, np.where(usable, mean, np.nan), np.where(usable & (n > 1), deviation, np.nan)


def quantiles(values: ArrayLike, q: ArrayLike) -> Floats:
    """Return quantiles (..., k) of the defined values (..., n), linear between order statistics (R's type 7 [1]_).

    `q` is (k,) or (..., k).
    """
    ordered = np.sort(np.asarray(values, np.float64), axis=-1)  # NaN last
    q = np.asarray(q, np.float64)
    q = np.broadcast_to(q, (*ordered.shape[:-1], q.shape[-1]))
    if ordered.shape[-1] == 0:
        return np.full(q.shape, np.nan)
    last = np.maximum((~np.isnan(ordered)).sum(axis=-1) - 1, 0)[..., None]
    place = q * last
    below = np.floor(place).astype(np.int64)
    low = np.take_along_axis(ordered, below, axis=-1)
    high = np.take_along_axis(ordered, np.minimum(below + 1, last), axis=-1)
    return _between(low, high, place - below)


def _between(low: Floats, high: Floats, share: Floats) -> Floats:
    """Interpolate, without a warning at infinite ends."""
    inside = np.isfinite(low) & (share > 0)
    gap = np.subtract(high, low, out=np.zeros(low.shape), where=inside)
    return low + np.multiply(share, gap, out=np.zeros(low.shape), where=inside)


def quantile_interval(values: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the limits of the middle share `level` of the values (R's type 7)."""
    limits = quantiles(values, [(1 - level) / 2, (1 + level) / 2])
    return limits[..., 0], limits[..., 1]


def mean_difference(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the mean of paired differences and its t interval, NaN where they do not vary (width 0 would mislead)."""
    n, mean, deviation = moments(difference)
    deviation = np.where(deviation == 0, np.nan, deviation)
    half = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * deviation / np.sqrt(np.maximum(n, 1))
    return Estimate(mean, mean - half, mean + half)


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return mean(a) - mean(b) of independent samples with Welch's interval, NaN where neither sample varies."""
    mean, error, df = welch_moments(a, b)
    error = np.where(error == 0, np.nan, error)
    half = scipy.special.stdtrit(df, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half)


def welch_moments(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return difference of means, its standard error and Welch's degrees of freedom."""
    (n, mean, deviation), (m, other, spread) = moments(a), moments(b)
    first, second = deviation**2 / np.maximum(n, 1), spread**2 / np.maximum(m, 1)
    weight = first**2 / np.maximum(n - 1, 1) + second**2 / np.maximum(m - 1, 1)
    return mean - other, np.sqrt(first + second), ratio((first + second) ** 2, weight, empty=1.0)


def rows_by_number(values: Floats) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Yield positions and values, without gaps, of the rows (rows, n) that have the same number of values."""
    gone = np.isnan(values)
    number = (~gone).sum(axis=1)
    order = np.argsort(gone, axis=1, kind="stable")
    for n in np.unique(number[number > 0]).tolist():
        rows = np.flatnonzero(number == n)
        yield rows, np.take_along_axis(values[rows], order[rows], axis=1)[:, :n]


def ratio(a: Any, b: Any, *, empty: float = np.nan) -> Floats:
    """Return a / b, and `empty` where b is 0."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        a, b = np.broadcast_arrays(a, b)
    with np.errstate(invalid="ignore"):  # two infinities have no ratio
        return np.asarray(np.divide(a, b, out=np.full(a.shape, empty), where=b != 0), np.float64)


def padded_sum(values: Floats) -> Floats:
    """Sum each row from left to right, so that padding changes no bit: `sum` groups terms by number."""
    if values.shape[1] == 0:
        return np.zeros(len(values))
    return np.cumsum(values, axis=1)[:, -1]


_LAST = np.iinfo(np.int64).max


def rounded(values: ArrayLike) -> Floats:
    """Round values to 12 decimals before they are ranked, so that rounding errors neither break ties nor rank zeros."""
    values = np.asarray(values, np.float64)
    # from 1000 on, float64 has no 13th decimal to lose
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(np.abs(values) < 1000, np.round(values, 12), values)


def signed_ranks(difference: ArrayLike) -> Floats:
    """Return the ranks of `|difference|` with the differences' signs, in ascending order of rank.

    Zeros are left out before ranking; their rank, and that of undefined differences, is 0. From 1000 on, neighbouring
    numbers tie.
    """
    values = rounded(difference)
    if values.size == 0:
        return np.zeros(values.shape)
    # the bits of positive floats are ordered as the numbers; the last bit makes room for the sign
    key = (np.abs(values).view(np.int64) & ~1) | (values > 0)
    np.copyto(key, _LAST, where=np.isnan(values) | (values == 0))
    key.sort(axis=-1)
    ranks = ranks_in_order(key >> 1)
    positive = (key & 1).astype(bool)
    np.negative(ranks, out=ranks, where=~positive)
    ranks[key == _LAST] = 0.0
    return ranks


def ranks_in_order(ordered: NDArray[Any]) -> Floats:
    """Return ranks from 1 on along the last axis of sorted numbers; equal ones share their mean rank."""
    first = np.ones(ordered.shape, bool)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=first[..., 1:])
    start = np.flatnonzero(first)
    n = ordered.shape[-1]
    if len(start) == ordered.size:
        return np.tile(np.arange(1.0, n + 1), (*ordered.shape[:-1], 1))
    count = np.diff(start, append=ordered.size)
    return np.repeat(start % n + (count + 1) / 2, count).reshape(ordered.shape)
