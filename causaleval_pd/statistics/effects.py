"""Effect sizes of paired and independent samples with their intervals, one a row along the last axis."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import Estimate, Floats, moments, ratio, welch_moments
from .ranks import rounded, signed_ranks

_ENDS: tuple[Literal["min", "max"], ...] = ("min", "max")


def cohen_dz(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return mean / standard deviation of paired differences, with the interval of the noncentral t distribution.

    NaN where the differences do not vary.

    References
    ----------
    Cumming and Finch (2001), 10.1177/0013164401614002.
    """
    n, mean, deviation = moments(difference)
    effect = ratio(mean, deviation)
    root, df = np.sqrt(np.maximum(n, 1)), np.maximum(n - 1, 1)
    # by absolute value, so that a - b and b - a have mirrored intervals
    size = np.abs(effect) * root
    near, far = (scipy.special.nctdtrinc(df, p, size) / root for p in ((1 + level) / 2, (1 - level) / 2))
    minus = effect < 0
    return Estimate(effect, np.where(minus, -far, near), np.where(minus, -near, far))


def rank_biserial(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the matched-pairs rank-biserial correlation, (W+ - W-) / (W+ + W-) without zeros; 0 if all are zero.

    The interval is symmetric on Fisher's z scale, with the null variance of the signed ranks, and NaN where the
    effect is -1 or 1.

    References
    ----------
    Kerby (2014), 10.2466/11.IT.3.1.
    """
    ranks = signed_ranks(difference)
    found = ~np.isnan(np.asarray(difference, np.float64)).all(axis=-1)
    total = np.abs(ranks).sum(axis=-1)
    effect = np.where(found, ratio(ranks.sum(axis=-1), total, empty=0.0), np.nan)
    return _fisher(effect, ratio(np.sqrt((ranks**2).sum(axis=-1)), total), level)


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the difference of the means of independent samples, mean(a) - mean(b), with Welch's interval."""
    mean, error, df = welch_moments(a, b)
    half = scipy.special.stdtrit(df, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half)


def cliffs_delta(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return P(A > B) - P(A < B) of independent samples.

    The interval rests on the unbiased variance of delta, not on that under the null, and is asymmetric so that it stays
    within -1 and 1. NaN where a sample has fewer than two values.

    References
    ----------
    Cliff (1993), 10.1037/0033-2909.114.3.494; Feng and Cliff (2004), 10.22237/jmasm/1099268160.
    """
    delta, mine, theirs, same = _dominance(a, b)
    n, m = ((~np.isnan(x)).sum(axis=-1).astype(np.float64) for x in (mine, theirs))
    rows, columns = (_squares(x, delta) for x in (mine, theirs))
    within = n * m - same - n * m * delta**2
    variance = ratio(m**2 * rows + n**2 * columns - within, n * m * (n - 1) * (m - 1))
    least = ratio(1 - delta**2, n * m - 1)
    return _asymmetric(delta, np.maximum(variance, least), level)


def paired_cliffs_delta(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return P(A > B) - P(A < B) over all members of two paired samples, with an interval that allows for the pairing.

    Pairs with an undefined member are left out. The variance is that of the sums of both members' dominance.

    References
    ----------
    Cliff (1993), 10.1037/0033-2909.114.3.494; Feng and Cliff (2004), 10.22237/jmasm/1099268160.
    """
    a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    gone = np.isnan(a) | np.isnan(b)
    delta, mine, theirs, _ = _dominance(np.where(gone, np.nan, a), np.where(gone, np.nan, b))
    n, _, deviation = moments(mine + theirs)
    return _asymmetric(delta, deviation**2 / np.maximum(n, 1), level)


def _dominance(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    """Return delta, the mean dominance of each value of a over b and of a over each value of b, and equal pairs."""
    first, second = rounded(a), rounded(b)
    n, m = ((~np.isnan(x)).sum(axis=-1, keepdims=True).astype(np.float64) for x in (first, second))
    both = np.concatenate([first, second], axis=-1)
    below, same = np.zeros(both.shape), np.zeros(both.shape)
    if both.size:
        # ranks among all minus ranks among its own are the number of others below, or at most as large
        lower, upper = (_ranks(both, x) - np.concatenate([_ranks(first, x), _ranks(second, x)], -1) for x in _ENDS)
        below, same = (lower + upper) / 2, upper - lower
    split = first.shape[-1]
    mine = np.where(np.isnan(first), np.nan, ratio(2 * below[..., :split], m) - 1)
    theirs = np.where(np.isnan(second), np.nan, 1 - ratio(2 * below[..., split:], n))
    pairs = np.where(np.isnan(first), 0.0, same[..., :split]).sum(axis=-1)
    return moments(mine)[1], mine, theirs, pairs


def _ranks(values: Floats, ends: Literal["min", "max"]) -> Floats:
    """Rank, with the lowest or highest rank for ties, and undefined values last."""
    top = np.finfo(np.float64).max
    ordered = np.where(np.isnan(values), np.inf, np.clip(values, -top, top))
    return np.asarray(scipy.stats.rankdata(ordered, ends, axis=-1) if values.size else ordered, np.float64)


def _squares(values: Floats, centre: Floats) -> Floats:
    """Return the sum of squared distances of the defined values from the centre."""
    apart = values - centre[..., None]
    return np.where(np.isnan(apart), 0.0, apart**2).sum(axis=-1)


def _asymmetric(delta: Floats, variance: Floats, level: float) -> Estimate:
    """Return the interval of Feng and Cliff, which cannot leave [-1, 1]."""
    z = scipy.special.ndtri((1 + level) / 2)
    spread = z * np.sqrt(variance)
    inside = np.abs(delta) < 1
    half = spread * np.sqrt((1 - delta**2) ** 2 + spread**2)
    centre, width = delta - delta**3, 1 - delta**2 + spread**2
    low, high = (ratio(np.where(inside, centre + x, np.nan), width) for x in (-half, half))
    return Estimate(delta, low, high)


def _fisher(effect: Floats, error: Floats, level: float) -> Estimate:
    """Return the interval that is symmetric on Fisher's z scale."""
    inside = np.abs(effect) < 1
    centre = np.arctanh(np.where(inside, effect, np.nan))
    half = scipy.special.ndtri((1 + level) / 2) * error
    return Estimate(effect, np.tanh(centre - half), np.tanh(centre + half))
