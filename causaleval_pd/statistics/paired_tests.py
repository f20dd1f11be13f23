"""Tests of paired samples on arrays, one per row (a row along the last axis is one sample), and the shift they show.

Rows may hold different numbers of values, with NaN for the rest. An undefined result is NaN: no value at all, or a t
test of values that do not vary. Pairs that are all equal give p = 1. `alternative` is the side on which differences are
expected.

References
----------
.. [1] Wilcoxon, F. (1945). Individual comparisons by ranking methods. doi:10.2307/3001968
.. [2] McNemar, Q. (1947). Note on the sampling error of the difference between correlated proportions or percentages.
   doi:10.1007/BF02295996
.. [3] Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the
   binomial. doi:10.1093/biomet/26.4.404
.. [4] Welch, B. L. (1947). The generalization of "Student's" problem when several different population variances are
   involved. doi:10.1093/biomet/34.1-2.28
.. [5] Hodges, J. L., Lehmann, E. L. (1963). Estimates of location based on rank tests. doi:10.1214/aoms/1177704172
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Estimate, Floats, moments, rows_by_number, signed_ranks, welch_moments
from .direction import TOLERANCE

#: pairs up to which the signed-rank distribution is exact
_EXACT_INTERVAL = 200
#: sums of pairs up to which all are sorted; of more, those at four places are searched
_SORTED = 2**21


def hodges_lehmann(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the median of the Walsh averages of paired differences [1]_ with the interval of Wilcoxon's test.

    Zeros count. Limits are closed: Walsh averages whose ranks the untied signed-rank distribution gives. Ties make the
    interval wider than necessary. Limits are NaN where n is too small for the level (below 6 pairs at .95), and all is
    NaN without pairs or with infinite differences of both signs.
    """
    values = np.asarray(difference, np.float64)
    shape = values.shape[:-1]
    flat = values.reshape(math.prod(shape), values.shape[-1])
    estimates = np.full((3, len(flat)), np.nan)
    for rows, sample in rows_by_number(flat):
        limit = _signed_rank_limit(sample.shape[1], level)
        step = max(1, 2 * BLOCK // sample.shape[1] ** 2)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            estimates[:, rows[part]] = _shifts(sample[part], limit)
    return Estimate(*estimates.reshape(3, *shape))


def _shifts(sample: Floats, limit: int) -> tuple[Floats, Floats, Floats]:
    """Return what `_middle_and_limits` does for the Walsh averages of rows with the same number of values."""
    n = sample.shape[1]
    if n * (n + 1) // 2 > _SORTED:
        middle, low, high = np.transpose([_searched(row, limit) for row in np.sort(sample, axis=1)]) / 2
        return middle, low, high
    first, second = np.triu_indices(n)
    with np.errstate(invalid="ignore"):
        walsh = np.sort((sample[:, first] + sample[:, second]) / 2, axis=1)
    return _middle_and_limits(walsh, limit)


def _middle_and_limits(ordered: Floats, place: int) -> tuple[Floats, Floats, Floats]:
    """Return the median of sorted rows, and the values at `place` from both ends; NaN limits for place 0."""
    undefined = np.isnan(ordered).any(axis=1)
    n = ordered.shape[1]
    low, high = ordered[:, (n - 1) // 2], ordered[:, n // 2]
    with np.errstate(invalid="ignore"):
        middle = np.where(low == high, low, (low + high) / 2)
    ends = (ordered[:, place - 1], ordered[:, n - place]) if place else (np.full(len(ordered), np.nan),) * 2
    middle, lower, upper = (np.where(undefined, np.nan, x) for x in (middle, *ends))
    return middle, lower, upper


def _searched(ordered: Floats, limit: int) -> tuple[float, float, float]:
    """Return what `_middle_and_limits` does for the sums x[i] + x[j], i <= j, of sorted values without making all."""
    if ordered[0] == -np.inf and ordered[-1] == np.inf:
        return np.nan, np.nan, np.nan
    n = len(ordered) * (len(ordered) + 1) // 2
    lower, upper = (_at_place(ordered, place) for place in ((n - 1) // 2, n // 2))
    middle = lower if lower == upper else (lower + upper) / 2
    if not limit:
        return middle, np.nan, np.nan
    low, high = (_at_place(ordered, place) for place in (limit - 1, n - limit))
    return middle, low, high


def _at_place(ordered: Floats, place: int) -> float:
    """Return the sum x[i] + x[j], i <= j, of sorted values at a place of the sums' order."""
    # infinite sums, of one sign only, stand at one end
    x = ordered[np.isfinite(ordered)]
    finite = len(x) * (len(x) + 1) // 2
    if ordered[0] == -np.inf:
        place -= len(ordered) * (len(ordered) + 1) // 2 - finite
    if not 0 <= place < finite:
        return np.inf if place >= 0 else -np.inf
    # the sums between `below` and `above`, positions of j for each i, hold the place
    start = np.arange(len(x))
    below, above = start, np.full(len(x), len(x))
    low, high = 2 * x[0], 2 * x[-1]
    while (above - below).sum() > _SORTED and low < (middle := low / 2 + high / 2) < high:
        ends = np.maximum(np.searchsorted(x, middle - x, side="right"), start)
        if (ends - start).sum() > place:
            high, above = middle, ends
        else:
            low, below = middle, ends
    number = above - below
    i = np.flatnonzero(number)
    if number.sum() > _SORTED:  # equal up to rounding
        return float(x[i[0]] + x[below[i[0]]])
    i = np.repeat(i, number[i])
    j = np.arange(len(i)) + np.repeat(below - np.cumsum(number) + number, number)
    rest = place - int((below - start).sum())
    return float(np.partition(x[i] + x[j], rest)[rest])


def _signed_rank_limit(n: int, level: float) -> int:
    """Return how many values of the untied signed-rank statistic have a lower tail of at most (1 - level) / 2."""
    tail = (1 - level) / 2
    if n <= _EXACT_INTERVAL:
        return int((signed_rank_cdf(n) <= tail + 1e-12).sum())
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(mean - 0.5 + deviation * float(scipy.special.ndtri(tail))) + 1)


Alternative = Literal["two-sided", "less", "greater"]

#: pairs up to which the signed-rank test is exact: without ties, and with ties
_EXACT, _EXACT_TIED = 50, 25


class Outcome(NamedTuple):
    """Test statistic and p-value, one per row."""

    statistic: Floats
    p_value: Floats


class BoundedOutcome(NamedTuple):
    """Test statistic, p-value and limits of the mean, one per row."""

    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats


def check_alternative(alternative: str) -> None:
    """Refuse an unknown alternative."""
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError(f"alternative must be 'two-sided', 'less' or 'greater', found {alternative!r}")


def paired_wilcoxon(difference: ArrayLike, *, alternative: Alternative = "two-sided") -> Outcome:
    """Test paired differences for symmetry about 0 by their signed ranks [1]_; zeros are left out.

    The statistic is scipy's: the sum of positive ranks, two-sided the smaller of the sums of either sign.

    Notes
    -----
    Null hypothesis: differences are distributed symmetrically about 0. Alternative: their pseudomedian is not 0, or
    lies on the named side. Assumptions: differences are independent and have the same symmetric law. Not for skewed
    differences, whose mean and median may be 0 where this test rejects, nor for dependent ones.

    Exact up to 50 nonzero differences without ties and up to 25 with ties, given the tied ranks; beyond that the normal
    approximation with the variance of the tied ranks and no continuity correction, as in `scipy.stats.wilcoxon`.
    """
    check_alternative(alternative)
    ranks = signed_ranks(difference)
    shape = ranks.shape[:-1]
    ranks = ranks.reshape(math.prod(shape), ranks.shape[-1])
    undefined = np.isnan(np.asarray(difference, np.float64)).all(axis=-1).reshape(-1)
    plus, total = np.maximum(ranks, 0.0).sum(axis=1), np.abs(ranks).sum(axis=1)
    # small is evidence; positive and negative sums have the same null distribution
    small = {"two-sided": np.minimum(plus, total - plus), "less": plus, "greater": total - plus}[alternative]
    squares = (ranks**2).sum(axis=1)
    n = (ranks != 0).sum(axis=1)

    deviation = np.sqrt(squares / 4)
    p = scipy.special.ndtr(np.divide(small - total / 2, deviation, out=np.zeros(len(n)), where=n > 0))
    untied = (np.abs(squares - n * (n + 1) * (2 * n + 1) / 6) < 0.25) & (np.abs(total - n * (n + 1) / 2) < 0.25)
    for size in np.unique(n[untied & (n <= _EXACT)]):
        rows = untied & (n == size)
        p[rows] = signed_rank_cdf(int(size))[small[rows].astype(np.int64)]
    tied = np.flatnonzero(~untied & (n <= _EXACT_TIED))
    doubled = np.rint(2 * np.abs(ranks[tied])).astype(np.int64)
    p[tied] = _tied_cdf(doubled, np.rint(2 * small[tied]).astype(np.int64))
    p = np.minimum(1.0, p * (2 if alternative == "two-sided" else 1))

    statistic = small if alternative == "two-sided" else plus
    p = np.where(undefined, np.nan, np.where(n == 0, 1.0, p))
    return Outcome(np.where(undefined, np.nan, statistic).reshape(shape), p.reshape(shape))


@lru_cache(maxsize=64)
def signed_rank_cdf(n: int) -> Floats:
    """Return P(W <= k), k = 0 .. n (n + 1) / 2, for the sum W of a random subset of 1 .. n."""
    weights = np.ones(1)
    for rank in range(1, n + 1):
        nothing = np.zeros(rank)
        weights = (np.concatenate([weights, nothing]) + np.concatenate([nothing, weights])) / 2
    return np.cumsum(weights)


def _tied_cdf(ranks: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    """Return P(W <= k) for the sum W of a random subset of each row's ranks (whole numbers, padded with 0)."""
    ranks = -np.sort(-ranks, axis=1)[:, :_EXACT_TIED]
    total = ranks.sum(axis=1)
    # by symmetry only the smaller side of the distribution is ever summed
    upper = 2 * k >= total
    limit = np.where(upper, total - k - 1, k)
    result = np.zeros(len(k))
    step = max(1, BLOCK // (int(limit.max(initial=0)) + 1))
    for start in range(0, len(k), step):
        rows = slice(start, start + step)
        sums = np.arange(max(1, int(limit[rows].max(initial=0)) + 1))
        weights = np.zeros((len(limit[rows]), len(sums)))
        weights[:, 0] = 1.0
        for rank in ranks[rows].T:
            origin = sums - rank[:, None]
            shifted = np.where(origin >= 0, np.take_along_axis(weights, np.maximum(origin, 0), axis=1), 0.0)
            weights = (weights + shifted) / 2
        below = np.where(sums <= limit[rows, None], weights, 0.0).sum(axis=1)
        result[rows] = np.where(upper[rows], 1 - below, below)
    return result


def mcnemar(difference: ArrayLike, *, alternative: Alternative = "two-sided", level: float = 0.95) -> BoundedOutcome:
    """Test whether the pairs of 0/1 values that differ are as often (1, 0) as (0, 1): McNemar's exact test [2]_.

    The statistic is the number of pairs (1, 0). The mean difference is q (2 s - 1), where q is the share of pairs that
    differ, and s that of (1, 0) among these. Its limits are the ends of this product over Clopper and Pearson's
    interval of s, and their limits of q that each fail with probability 1 - level. They exclude 0 where the two-sided
    test rejects and nowhere else. By enumeration up to 100 pairs they cover at least .95 of .95, on average .98.

    Notes
    -----
    Null hypothesis: (1, 0) and (0, 1) are equally probable. Alternative: they are not, or (1, 0) is more probable
    ("greater") or less. Assumption: pairs are independent. Not for values other than 0 and 1, nor for dependent pairs,
    such as replicates.
    """
    check_alternative(alternative)
    values = np.asarray(difference, np.float64)
    known = ~np.isnan(values)
    other = known & ~np.isin(values, (-1.0, 0.0, 1.0))
    if other.any():
        raise ValueError(f"McNemar's test compares 0/1 values, found a difference of {values[other][0]:g}")
    plus, minus = (values > 0).sum(axis=-1), (values < 0).sum(axis=-1)
    n, differ = known.sum(axis=-1), plus + minus
    small = {"two-sided": np.minimum(plus, minus), "less": plus, "greater": minus}[alternative]
    p = np.minimum(1.0, scipy.special.bdtr(small, differ, 0.5) * (2 if alternative == "two-sided" else 1))
    p = np.where(differ == 0, 1.0, p)
    statistic, p_value = (np.where(n == 0, np.nan, x) for x in (plus, p))
    shares = rate_limits(plus, differ, level)
    # where no pair differs, the share of (1, 0) among those that would is unknown
    share_low, share_high = (np.where(differ > 0, 2 * x - 1, end) for x, end in zip(shares, (-1, 1), strict=True))
    least, most = rate_limits(differ, n, max(2 * level - 1, 0.0))
    low = np.where(share_low < 0, most, least) * share_low
    high = np.where(share_high > 0, most, least) * share_high
    return BoundedOutcome(statistic, p_value, low, high)


def rate_limits(count: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's limits [3]_ of the rate of `count` among n; NaN where n is 0."""
    k, m = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(n, np.float64))
    tail = (1 - level) / 2
    low, high = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0, k < m
    low[some] = scipy.special.betaincinv(k[some], m[some] - k[some] + 1, tail)
    high[rest] = scipy.special.betaincinv(k[rest] + 1, m[rest] - k[rest], 1 - tail)
    return np.where(m > 0, low, np.nan), np.where(m > 0, high, np.nan)


def paired_t(difference: ArrayLike, *, alternative: Alternative = "two-sided") -> Outcome:
    """Test whether the mean of paired differences is 0 by Student's t with n - 1 degrees of freedom.

    NaN where the differences do not vary, unless all are 0 (p = 1).

    Notes
    -----
    Null hypothesis: the mean difference is 0. Alternative: it is not, or lies on the named side. Assumptions:
    differences are independent, and their mean is about normal. Not for few differences with a heavy tail, nor for
    dependent ones.
    """
    n, mean, deviation = moments(difference)
    return t_test(mean, deviation / np.sqrt(np.maximum(n, 1)), np.maximum(n - 1, 1).astype(np.float64), alternative)


def welch_t(a: ArrayLike, b: ArrayLike, *, alternative: Alternative = "two-sided") -> Outcome:
    """Test whether independent samples have the same mean by Welch's t [4]_; NaN rules as in `paired_t`.

    Notes
    -----
    Null hypothesis: the means are equal. Alternative: they are not, or that of `a` lies on the named side. Assumptions:
    all values are independent, and both means are about normal; variances may differ. Not for runs on the same truths,
    which are pairs (`paired_t`), nor for few values with a heavy tail.
    """
    return t_test(*welch_moments(a, b), alternative)


def t_test(mean: Floats, error: Floats, df: Floats, alternative: Alternative) -> Outcome:
    """Return the t test of means with their standard errors; t is 0 and p is 1 where mean and error are 0."""
    check_alternative(alternative)
    t = np.divide(mean, error, out=np.full(np.shape(mean), np.nan), where=error > 0)
    none = (error == 0) & (np.abs(mean) <= TOLERANCE)
    t = np.where(none, 0.0, t)
    tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative]
    p = scipy.special.stdtr(df, tail) * (2 if alternative == "two-sided" else 1)
    return Outcome(t, np.where(none, 1.0, p))
