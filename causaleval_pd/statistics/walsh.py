"""Shifts as medians of differences, with the intervals that belong to the sign and rank tests."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Estimate, Floats, rows_by_number
from .paired_tests import signed_rank_cdf

#: pairs up to which the signed-rank distribution is exact, and values of a sample up to which that of U is
_EXACT, _EXACT_SAMPLE = 200, 20
#: sums of pairs up to which all are sorted; of more, those at four places are searched
_SORTED = 2**21


def hodges_lehmann(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the median of the Walsh averages of paired differences, with the interval of Wilcoxon's test.

    Parameters
    ----------
    difference : (..., n) array_like
        Paired differences, NaN where absent; zeros count.
    level : float
        Probability of the interval.

    Returns
    -------
    Estimate
        The shift, which is the centre of symmetric differences and their pseudo-median otherwise, and closed limits:
        Walsh averages whose ranks the untied signed-rank distribution gives. Ties make the interval wider than
        necessary. Limits are NaN where n is too small for the level (below 6 pairs at .95), and all is NaN without
        pairs or with infinite differences of both signs.

    References
    ----------
    Hodges and Lehmann (1963), 10.1214/aoms/1177704172.

    Examples
    --------
    >>> found = hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> float(found.effect), float(found.low), float(found.high)
    (3.5, 1.0, 6.0)
    """

    def of(sample: Floats) -> tuple[Floats, Floats, Floats]:
        n = sample.shape[1]
        limit = _signed_rank_limit(n, level)
        if n * (n + 1) // 2 > _SORTED:
            ordered, least = np.sort(sample, axis=1), np.arange(n)
            found = [_searched(row, row, least, limit) for row in ordered]
            return _halves(*np.transpose(found))
        first, second = np.triu_indices(n)
        with np.errstate(invalid="ignore"):
            walsh = np.sort((sample[:, first] + sample[:, second]) / 2, axis=1)
        return _middle_and_limits(walsh, limit)

    return _row_by_row(difference, of)


def _row_by_row(difference: ArrayLike, of: Callable[[Floats], tuple[Floats, Floats, Floats]]) -> Estimate:
    """Return the estimates that `of` makes of rows with the same number of values, in blocks of bounded memory."""
    values = np.asarray(difference, np.float64)
    shape = values.shape[:-1]
    flat = values.reshape(math.prod(shape), values.shape[-1])
    found = np.full((3, len(flat)), np.nan)
    for rows, sample in rows_by_number(flat):
        step = max(1, 2 * BLOCK // sample.shape[1] ** 2)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            found[:, rows[part]] = of(sample[part])
    return Estimate(*found.reshape(3, *shape))


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


def _halves(*sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the averages of pairs from their sums."""
    middle, low, high = (x / 2 for x in sums)
    return middle, low, high


def _searched(first: Floats, second: Floats, least: NDArray[np.int64], limit: int) -> tuple[float, float, float]:
    """Return what `_middle_and_limits` does for the sums first[i] + second[j], j >= least[i], without making them all.

    Both samples are sorted.
    """
    if min(first[0], second[0]) == -np.inf and max(first[-1], second[-1]) == np.inf:
        return np.nan, np.nan, np.nan
    n = int((len(second) - least).sum())
    lower, upper = (_at_place(first, second, least, place) for place in ((n - 1) // 2, n // 2))
    middle = lower if lower == upper else (lower + upper) / 2
    if not limit:
        return middle, np.nan, np.nan
    low, high = (_at_place(first, second, least, place) for place in (limit - 1, n - limit))
    return middle, low, high


def _at_place(first: Floats, second: Floats, least: NDArray[np.int64], place: int) -> float:
    """Return the sum first[i] + second[j], j >= least[i], at a place of their order."""
    # infinite sums, of one sign only, stand at one end
    down, up = ((x == -np.inf).sum() for x in (first, second))
    inner = first[down : len(first) - (first == np.inf).sum()]
    outer = second[up : len(second) - (second == np.inf).sum()]
    start = np.clip(least[down : down + len(inner)] - up, 0, len(outer))
    finite = int((len(outer) - start).sum())
    if down or up:
        place -= int((len(second) - least).sum()) - finite
    if not 0 <= place < finite:
        return np.inf if place >= 0 else -np.inf
    # the sums between `below` and `above`, positions in `outer` for each i, hold the place
    below, above = start, np.full(len(inner), len(outer))
    low, high = inner[0] + outer[0], inner[-1] + outer[-1]
    while (above - below).sum() > _SORTED and low < (middle := low / 2 + high / 2) < high:
        ends = np.maximum(np.searchsorted(outer, middle - inner, side="right"), start)
        if (ends - start).sum() > place:
            high, above = middle, ends
        else:
            low, below = middle, ends
    number = above - below
    i = np.flatnonzero(number)
    if number.sum() > _SORTED:  # equal up to rounding
        return float(inner[i[0]] + outer[below[i[0]]])
    i = np.repeat(i, number[i])
    j = np.arange(len(i)) + np.repeat(below - np.cumsum(number) + number, number)
    rest = place - int((below - start).sum())
    return float(np.partition(inner[i] + outer[j], rest)[rest])


def _signed_rank_limit(n: int, level: float) -> int:
    """Return how many values of the untied signed-rank statistic have a lower tail of at most (1 - level) / 2."""
    tail = (1 - level) / 2
    if n <= _EXACT:
        return int((signed_rank_cdf(n) <= tail + 1e-12).sum())
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return max(0, math.floor(mean - 0.5 + deviation * float(scipy.special.ndtri(tail))) + 1)
