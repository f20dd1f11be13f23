"""Cliff's delta, the dominance of one sample over another: its intervals, and Brunner and Munzel's test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Estimate, Floats, moments, ratio, welch_moments
from .paired_tests import Alternative, BoundedOutcome, check_alternative, t_test
from .ranks import rounded

#: values of a sample from which Welch's degrees of freedom serve; ways to split fewer that are listed, else drawn
ENOUGH, MOST_LISTED, N_DRAWN = 10, 20_000, 9_999

_ENDS: tuple[Literal["min", "max"], ...] = ("min", "max")


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


def brunner_munzel(
    a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided", level: float = 0.95
) -> BoundedOutcome:
    """Test whether values of one of two independent samples tend to be larger, whatever their variances.

    Parameters
    ----------
    a, b : (..., n), (..., m) array_like
        The samples, NaN where absent.
    alternative : {"two-sided", "less", "greater"}
        Whether values of `a` are expected to be smaller or larger.
    level : float
        Probability of the interval.

    Returns
    -------
    BoundedOutcome
        t of the dominance of the values of both samples with Welch's degrees of freedom (the negative of
        `scipy.stats.brunnermunzel`, which is larger where `b` is), p, and limits of Cliff's delta. All are NaN where a
        sample has fewer than two values. Where one has fewer than ten, p and the limits are those of t among all ways
        to split the values into two such samples, or 9,999 of them, always the same, where there are more than 20,000.
        Samples that do not overlap have no variance; they get t of the closest samples that do: the extreme values that
        face each other are exchanged. So do their p, from ten values of each on.

    Raises
    ------
    ValueError
        If `alternative` is unknown.

    Notes
    -----
    Null hypothesis: a value of either sample is as often the larger. Alternative: it is not, or values of `a` tend to
    the named side. Assumption: all values are independent; variances and shapes may differ. Not for runs on the same
    truths, which are pairs, nor for a sample of one value.

    The limits are symmetric on Fisher's z scale. Limits on the scale of delta would agree with p, but cover .79 of .95
    for large effects with six values each. So these can hold 0 where p is below .05, and never the other way round.

    References
    ----------
    Brunner and Munzel (2000), 10.1002/(SICI)1521-4036(200001)42:1<17::AID-BIMJ17>3.0.CO;2-U; for few values Neubert and
    Brunner (2007), 10.1016/j.csda.2006.05.024.

    Examples
    --------
    >>> found = brunner_munzel([4.0, 5.0, 5.0, 7.0, 9.0], [1.0, 2.0, 4.0, 4.0, 6.0])
    >>> float(found.p_value.round(3)), float(found.low.round(2)), float(found.high.round(2))
    (0.079, -0.86, 0.99)
    """
    check_alternative(alternative)
    first, second = rounded(a), rounded(b)
    apart = np.abs(_dominance(first, second)[0]) == 1
    first[apart], second[apart] = _overlapping(first[apart], second[apart])
    delta, mine, theirs, _ = _dominance(first, second)
    _, error, df = welch_moments(mine, theirs)
    statistic, p_value = t_test(delta, error, df, alternative)
    n, m = ((~np.isnan(x)).sum(axis=-1) for x in (first, second))
    inside = (np.abs(delta) < 1) & (error > 0)
    rest = np.where(inside, 1 - delta**2, np.nan)
    error = np.maximum(error, np.sqrt(ratio(rest, n * m - 1)))
    p_value, quantile = np.array(p_value), np.array(scipy.special.stdtrit(df, (1 + level) / 2))
    for row in np.argwhere((np.minimum(n, m) >= 2) & (np.minimum(n, m) < ENOUGH)):
        at = tuple(row.tolist())
        p_value[at], quantile[at] = _among_splits(_defined(a, at), _defined(b, at), alternative, level)
    half = quantile * error / rest
    centre = np.arctanh(np.where(inside, delta, 0.0))
    low, high = np.tanh(centre - half), np.tanh(centre + half)
    known = ~np.isnan(low)
    low, high = np.where(known & apart & (delta < 0), -1.0, low), np.where(known & apart & (delta > 0), 1.0, high)
    return BoundedOutcome(statistic, p_value, low, high)


def _defined(values: ArrayLike, at: tuple[int, ...]) -> Floats:
    """Return the defined values of a sample."""
    found = rounded(values)[at]
    return np.asarray(found[~np.isnan(found)], np.float64)


def _among_splits(a: Floats, b: Floats, alternative: Alternative, level: float) -> tuple[float, float]:
    """Return p among the ways to split the values of both samples, and the size of t that this many exceed."""
    ranks = scipy.stats.rankdata(np.concatenate([a, b]))
    found = [_moments_of_splits(ranks, few, len(a), len(b)) for few in _splits(len(a), len(b))]
    delta, error = (np.concatenate(x) for x in zip(*found, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        # samples that do not overlap have no error; neither have equal values, which are as usual as can be
        t = np.where((error < 1e-12) & (np.abs(delta) < 1e-12), 0.0, delta / np.where(error < 1e-12, 0.0, error))
    seen = {"two-sided": np.abs(t), "greater": t, "less": -t}[alternative]
    least = seen[0] - 1e-9 * max(1.0, abs(seen[0])) if np.isfinite(seen[0]) else seen[0]
    ordered = np.sort(np.abs(t))
    return float((seen >= least).mean()), float(ordered[math.ceil(level * len(ordered)) - 1])


def _moments_of_splits(ranks: Floats, few: NDArray[np.int64], n: int, m: int) -> tuple[Floats, Floats]:
    """Return delta and its standard error if the positions `few`, a split a row, were the smaller sample."""
    lesser, rows = few.shape[1], np.arange(len(few))[:, None]
    # how many values of the smaller sample, and of the other, each value exceeds, minus those that exceed it
    over_few = np.zeros((len(few), len(ranks)))
    for place in range(lesser):
        over_few += np.sign(ranks - ranks[few[:, [place]]])
    over_many = 2 * ranks - 1 - len(ranks) - over_few
    # the mean dominance of each value over the other sample, for values of the smaller sample and of the other
    mine, theirs = over_many / max(n, m), -over_few / lesser
    delta = mine[rows, few].mean(axis=1, keepdims=True)
    in_few = np.zeros(over_few.shape, bool)
    in_few[rows, few] = True
    error = 0.0
    for values, inside, size in ((mine, in_few, lesser), (theirs, ~in_few, max(n, m))):
        error = error + np.where(inside, (values - delta) ** 2, 0.0).sum(axis=1) / size / max(1, size - 1)
    return (delta if n <= m else -delta)[:, 0], np.sqrt(error)


def _splits(n: int, m: int) -> Iterator[NDArray[np.int64]]:
    """Yield which of n + m values are in the smaller sample, positions, a split a row; the first is the given one."""
    size = n + m
    if math.comb(size, n) <= MOST_LISTED:
        listed = np.array(list(itertools.combinations(range(size), min(n, m))))
        yield listed if n <= m else listed[::-1]
        return
    rng = np.random.default_rng(0)
    step = max(1, BLOCK // 4 // size)
    for start in range(0, N_DRAWN + 1, step):
        chosen = np.argsort(rng.random((min(step, N_DRAWN + 1 - start), size)), axis=1)
        if not start:
            chosen[0] = np.arange(size)
        yield chosen[:, :n] if n <= m else chosen[:, n:]


def _overlapping(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Exchange the extreme values that face each other in samples (..., n) and (..., m) that do not overlap."""
    first, second = a.copy(), b.copy()
    for row in np.ndindex(a.shape[:-1]):
        ends = (np.nanargmin, np.nanargmax) if np.nanmin(a[row]) > np.nanmax(b[row]) else (np.nanargmax, np.nanargmin)
        i, j = ends[0](a[row]), ends[1](b[row])
        first[row][i], second[row][j] = b[row][j], a[row][i]
    return first, second


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
