"""The shift of paired differences, with the interval that belongs to Wilcoxon's test.

References
----------
.. [1] Hodges, J. L., Lehmann, E. L. (1963). Estimates of location based on rank tests. doi:10.1214/aoms/1177704172
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import BLOCK, Estimate, Floats, rows_by_number
from .paired_tests import signed_rank_cdf

#: pairs up to which the signed-rank distribution is exact
_EXACT = 200
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
    found = np.full((3, len(flat)), np.nan)
    for rows, sample in rows_by_number(flat):
        limit = _signed_rank_limit(sample.shape[1], level)
        step = max(1, 2 * BLOCK // sample.shape[1] ** 2)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            found[:, rows[part]] = _shifts(sample[part], limit)
    return Estimate(*found.reshape(3, *shape))


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
    if n <= _EXACT:
        return int((signed_rank_cdf(n) <= tail + 1e-12).sum())
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(mean - 0.5 + deviation * float(scipy.special.ndtri(tail))) + 1)
