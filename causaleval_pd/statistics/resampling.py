"""Paired tests by random signs and by the bootstrap, a test a row along the last axis; NaN for absent values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Floats, moments, quantiles
from .direction import TOLERANCE
from .paired_tests import Alternative, Outcome, check_alternative

#: pairs below which the bootstrap's p-value is at least that of the t test
_FEW = 10


class BootstrapOutcome(NamedTuple):
    """Mean, p-value and limits of the mean, one a row."""

    statistic: Floats
    p_value: Floats
    low: Floats
    high: Floats


def sign_flip(
    difference: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9999,
    cluster: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> Outcome:
    """Test paired differences for symmetry about 0 by the mean over random signs (permutation of the pairs' members).

    Parameters
    ----------
    difference : (..., n) array_like
        Paired differences.
    alternative : {"two-sided", "less", "greater"}
        Side on which the mean is expected to lie.
    n_resamples : int
        Number of random sign vectors.
    cluster : (..., n) array_like of int, optional
        Group that each pair belongs to, such as its truth; the pairs of a group change sign together.
    rng : int, Generator or None
        Source of randomness.

    Returns
    -------
    Outcome
        Mean difference; p over all sign vectors if these are at most `n_resamples`, else (b + 1) / (n_resamples + 1).

    Raises
    ------
    ValueError
        If `alternative` is unknown.

    Notes
    -----
    Rows of equal size share their sign vectors: each p-value is valid by itself, but p-values are not independent of
    each other. The p-value of a row does not depend on the other rows.

    Examples
    --------
    >>> float(sign_flip([1.0, 2.0, 3.0, 4.0]).p_value)
    0.125
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    values = np.asarray(difference, np.float64)
    _, mean, _ = moments(values)
    p = np.full(mean.size, np.nan)
    for rows, sample, _ in _by_size(*_clusters(values, cluster), np.ones(mean.size, bool), n_resamples):
        n = sample.shape[1]
        exact = n < 63 and 2**n <= n_resamples
        observed = sample.sum(axis=1)
        slack = TOLERANCE * np.abs(sample).sum(axis=1)
        count = np.zeros(len(rows))
        blocks = iter([_all_signs(n)]) if exact else _resamples(_random_signs, n, n_resamples, seed)
        for signs in blocks:
            count += _count(sample @ signs.T, observed[:, None], slack, alternative)
        p[rows] = count / 2**n if exact else (count + 1) / (n_resamples + 1)
    return Outcome(mean, p.reshape(mean.shape))


def bootstrap_mean(
    difference: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9999,
    level: float = 0.95,
    cluster: ArrayLike | None = None,
    rng: int | np.random.Generator | None = None,
) -> BootstrapOutcome:
    """Test whether the mean of paired differences is 0, and bound it, by resampling pairs or groups of pairs.

    Parameters
    ----------
    difference : (..., n) array_like
        Paired differences.
    alternative : {"two-sided", "less", "greater"}
        Side on which the mean is expected to lie.
    n_resamples : int
        Number of resamples.
    level : float
        Probability of the interval.
    cluster : (..., n) array_like of int, optional
        Group that each pair belongs to, such as its truth. Groups are resampled whole, because their pairs
        are not independent.
    rng : int, Generator or None
        Source of randomness.

    Returns
    -------
    BootstrapOutcome
        Mean, p-value and limits; p is NaN for fewer than two pairs (or groups) or values that do not vary, unless all
        are 0 (p = 1).

    Raises
    ------
    ValueError
        If `alternative` is unknown.

    Notes
    -----
    The limits are bias-corrected and accelerated (BCa). The p-value compares t = mean / s with the studentised, centred
    resamples t* = (mean* - mean) / s*: p = (#{t* at least as extreme} + 1) / (n_resamples + 1). Centred means without
    studentising reject far too often in small samples. With fewer than ten pairs (or groups), whose resamples are too
    much alike, p is at least that of Student's t. A resample without variation counts as extreme, which keeps p of
    two or three pairs large. Rows of equal size share their resamples, as in `sign_flip`.

    References
    ----------
    Efron (1987), 10.1080/01621459.1987.10478410; Hall and Wilson (1991), 10.2307/2532163.
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    values = np.asarray(difference, np.float64)
    _, mean, deviation = moments(values)
    flat, spread = mean.reshape(-1), deviation.reshape(-1)
    p, low, high = np.full(flat.size, np.nan), np.full(flat.size, np.nan), np.full(flat.size, np.nan)
    still = spread == 0
    low[still], high[still] = flat[still], flat[still]
    p[still & (np.abs(flat) <= TOLERANCE)] = 1.0
    sums, sizes = _clusters(values, cluster)
    for rows, total, size in _by_size(sums, sizes, spread > 0, n_resamples):
        if total.shape[1] > 1:
            p[rows], low[rows], high[rows] = _bootstrap(total, size, n_resamples, seed, level, alternative)
    return BootstrapOutcome(mean, *(x.reshape(mean.shape) for x in (p, low, high)))


def _bootstrap(
    total: Floats, size: Floats, n_resamples: int, seed: int, level: float, alternative: Alternative
) -> tuple[Floats, Floats, Floats]:
    """Return p-value and BCa limits of the mean of samples that vary.

    Parameters
    ----------
    total, size : (rows, n) ndarray
        Sum and number of the values of each group.
    n_resamples, seed : int
        Number of resamples and seed of their stream.
    level : float
        Probability of the interval.
    alternative : {"two-sided", "less", "greater"}
        Side on which the mean is expected to lie.

    Returns
    -------
    p_value, low, high : (rows,) ndarray
        p-values and limits.
    """
    n = total.shape[1]
    whole = size.sum(axis=1)
    mean = total.sum(axis=1) / whole
    # the mean of a resample less the mean is a ratio of sums of these and of sizes
    apart = total - mean[:, None] * size
    squares, crossed, sized = apart**2, apart * size, size**2
    noise = TOLERANCE * np.abs(total).max(axis=1)
    error = np.sqrt(squares.sum(axis=1))
    varies = error > noise * np.sqrt(n)
    t = np.divide(mean * whole, error, out=np.full(len(mean), np.nan), where=varies)
    slack = TOLERANCE * np.abs(total / size).max(axis=1)
    means = np.empty((len(total), n_resamples))  # centred
    count = np.zeros(len(total))
    done = 0
    for weights in _resamples(_random_weights, n, n_resamples, seed):
        drawn_size = size @ weights.T
        drawn = (apart @ weights.T) / drawn_size
        spread = squares @ weights.T - 2 * drawn * (crossed @ weights.T) + drawn**2 * (sized @ weights.T)
        bound = np.where(varies, t, 0.0)[:, None] * np.sqrt(np.maximum(spread, 0.0)) / drawn_size
        means[:, done : done + len(weights)] = drawn
        done += len(weights)
        count += _count(drawn, bound, slack, alternative)
    # a mean* equal to the mean counts half for the bias; shares of 0 and 1 have no normal quantile
    below = (means < -slack[:, None]).mean(axis=1) / 2 + (means <= slack[:, None]).mean(axis=1) / 2
    bias = scipy.special.ndtri(np.clip(below, 0.5 / n_resamples, 1 - 0.5 / n_resamples))
    left_out = -apart / (whole[:, None] - size)  # mean without a group, less the mean
    left_out = left_out.mean(axis=1, keepdims=True) - left_out
    scale = 6 * (left_out**2).sum(axis=1) ** 1.5
    acceleration = np.divide((left_out**3).sum(axis=1), scale, out=np.zeros(len(mean)), where=varies)
    z = bias[:, None] + scipy.special.ndtri([(1 - level) / 2, (1 + level) / 2])
    place = scipy.special.ndtr(bias[:, None] + z / (1 - acceleration[:, None] * z))
    limits = mean[:, None] + quantiles(means, place)
    p = np.where(varies, (count + 1) / (n_resamples + 1), np.nan)
    if n < _FEW:
        tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative] * math.sqrt((n - 1) / n)
        p = np.maximum(p, scipy.special.stdtr(n - 1, tail) * (2 if alternative == "two-sided" else 1))
    return p, limits[:, 0], limits[:, 1]


def _clusters(values: Floats, cluster: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return the sum of the values of each group of a row, NaN beyond the last group, and their number."""
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    gone = np.isnan(flat)
    if cluster is None:
        return flat, np.where(gone, 0.0, 1.0)
    groups = np.broadcast_to(np.asarray(cluster), values.shape).reshape(flat.shape)
    order = np.argsort(np.where(gone, np.iinfo(np.int64).max, groups), axis=1, kind="stable")
    groups, ordered = np.take_along_axis(groups, order, axis=1), np.take_along_axis(flat, order, axis=1)
    here = ~np.isnan(ordered)
    first = here.copy()
    first[:, 1:] &= groups[:, 1:] != groups[:, :-1]
    place = np.arange(len(flat))[:, None] * flat.shape[1] + np.maximum(np.cumsum(first, axis=1) - 1, 0)

    def by_group(weights: Floats) -> Floats:
        total = np.bincount(place.reshape(-1), weights.reshape(-1), flat.size)
        return np.asarray(total.reshape(flat.shape), np.float64)

    sizes = by_group(here.astype(np.float64))
    return np.where(sizes > 0, by_group(np.where(here, ordered, 0.0)), np.nan), sizes


def _by_size(
    sums: Floats, sizes: Floats, wanted: NDArray[np.bool_], n_resamples: int
) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """Yield the wanted rows in blocks of rows with the same number of groups.

    Parameters
    ----------
    sums, sizes : (rows, n) ndarray
        Sum and number of the values of each group, NaN and 0 for gaps.
    wanted : (rows,) ndarray of bool
        Rows to yield; those without a value or with an infinite one are left out.
    n_resamples : int
        Number of resamples, which bounds a block.

    Yields
    ------
    rows, sums, sizes : ndarray
        Positions of the rows, and their sums and sizes without gaps.
    """
    wanted = wanted.reshape(-1)
    gone = np.isnan(sums)
    n = np.where(wanted & ~np.isinf(sums).any(axis=1), (~gone).sum(axis=1), 0)
    order = np.argsort(gone, axis=1, kind="stable")
    step = max(1, BLOCK // n_resamples)
    for number in np.unique(n[n > 0]):
        rows = np.flatnonzero(n == number)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            total, size = (np.take_along_axis(x[part], order[part], axis=1)[:, :number] for x in (sums, sizes))
            yield part, total, size


def _resamples(
    draw: Callable[[np.random.Generator, int, int], Floats], n: int, n_resamples: int, seed: int
) -> Iterator[Floats]:
    """Draw (resamples, n) in blocks; the stream belongs to the seed and the sample size."""
    rng = np.random.default_rng([seed, n])
    step = max(1, BLOCK // n)
    for start in range(0, n_resamples, step):
        yield draw(rng, min(step, n_resamples - start), n)


def _random_signs(rng: np.random.Generator, count: int, n: int) -> Floats:
    """Draw random sign vectors, (count, n)."""
    return np.asarray(2.0 * rng.integers(0, 2, (count, n), dtype=np.int8) - 1.0, np.float64)


def _random_weights(rng: np.random.Generator, count: int, n: int) -> Floats:
    """Draw bootstrap samples as numbers of times that each value is drawn, (count, n)."""
    return np.asarray(rng.multinomial(n, np.full(n, 1 / n), count), np.float64)


def _all_signs(n: int) -> Floats:
    """Return all sign vectors, (2**n, n)."""
    return np.asarray(2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1.0, np.float64)


def _count(drawn: Floats, bound: Floats, slack: Floats, alternative: Alternative) -> NDArray[np.int64]:
    """Count the resamples of each row that are as extreme as their bounds."""
    if alternative == "two-sided":
        hit = np.abs(drawn) >= np.abs(bound) - slack[:, None]
    else:
        hit = drawn >= bound - slack[:, None] if alternative == "greater" else drawn <= bound + slack[:, None]
    return np.asarray(hit.sum(axis=1), np.int64)
