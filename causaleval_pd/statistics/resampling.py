"""Paired tests by random signs and by the bootstrap, a test a row along the last axis; NaN for absent values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Floats, moments, rows_by_number
from .direction import TOLERANCE
from .paired_tests import Alternative, BoundedOutcome, check_alternative

#: pairs below which the bootstrap is at least as careful as the t test, and below which it has no interval
_FEW, FEWEST_PAIRS = 10, 5


def sign_flip(
    difference: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9999,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> BoundedOutcome:
    """Test paired differences for symmetry about 0 by the mean over random signs (permutation of the pairs' members).

    Parameters
    ----------
    difference : (..., n) array_like
        Paired differences.
    alternative : {"two-sided", "less", "greater"}
        Side on which the mean is expected to lie.
    n_resamples : int
        Number of random sign vectors.
    level : float
        Probability of the interval.
    rng : int, Generator or None
        Source of randomness.

    Returns
    -------
    BoundedOutcome
        Mean difference; p over all sign vectors if these are at most `n_resamples`, else (b + 1) / (n_resamples + 1);
        and the centres of symmetry that the two-sided test does not reject, NaN where it can reject none (below 6
        pairs at .95) and where all pairs differ by the same value.

    Raises
    ------
    ValueError
        If `alternative` is unknown.

    Notes
    -----
    Null hypothesis: differences are distributed symmetrically about 0. Alternative: their mean is not 0, or lies on the
    named side. Assumption: differences are independent; their laws may differ. Not for skewed differences, nor for
    dependent ones, whose signs cannot flip apart.

    A centre c is rejected where few means of flipped pairs are at most c (Hartigan's typical values), so that limits
    are order statistics of these means. Equal values would reject every other centre, as if ten answers that two
    reasoners both got right showed that they are equally good; they have no limits. Rows of equal size share their sign
    vectors: each p-value is valid by itself, but p-values are not independent of each other. The p-value of a row does
    not depend on the other rows.

    References
    ----------
    Fisher (1935), The design of experiments; Hartigan (1969), 10.1080/01621459.1969.10501057.

    Examples
    --------
    >>> float(sign_flip([1.0, 2.0, 3.0, 4.0]).p_value)
    0.125
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    values = np.asarray(difference, np.float64)
    _, mean, _ = moments(values)
    p, low, high = (np.full(mean.size, np.nan) for _ in range(3))
    for rows, sample in _by_size(values, np.ones(mean.size, bool), n_resamples):
        n = sample.shape[1]
        exact = n < 63 and 2**n <= n_resamples
        observed = sample.sum(axis=1)
        slack = TOLERANCE * np.abs(sample).sum(axis=1)
        count, typical = np.zeros(len(rows)), []
        for signs in iter([all_signs(n)]) if exact else resamples(random_signs, n, n_resamples, seed):
            flipped = sample @ signs.T
            count += _count(flipped, observed[:, None], slack, alternative)
            n_flipped = (n - signs.sum(axis=1)) / 2
            some = n_flipped > 0
            typical.append((observed[:, None] - flipped[:, some]) / 2 / n_flipped[some])
        total = 2**n if exact else n_resamples + 1
        p[rows] = (count + (not exact)) / total
        place = int((1 - level) / 2 * total + TOLERANCE)
        if place:
            ordered = np.concatenate(typical, axis=1)
            ordered.partition([place - 1, ordered.shape[1] - place], axis=1)
            varies = np.ptp(sample, axis=1) > TOLERANCE * np.abs(sample).max(axis=1)
            low[rows], high[rows] = np.where(varies, [ordered[:, place - 1], ordered[:, -place]], np.nan)
    return BoundedOutcome(mean, *(x.reshape(mean.shape) for x in (p, low, high)))


def bootstrap_mean(
    difference: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9999,
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> BoundedOutcome:
    """Test whether the mean of paired differences is 0, and bound it, by resampling pairs.

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
    rng : int, Generator or None
        Source of randomness.

    Returns
    -------
    BoundedOutcome
        Mean, p-value and limits. p is NaN for fewer than two pairs or values that do not vary, unless all are 0
        (p = 1). Limits are NaN below five pairs, and where too many resamples do not vary to bound the mean, as where
        most values are equal.

    Raises
    ------
    ValueError
        If `alternative` is unknown.

    Notes
    -----
    Null hypothesis: the mean difference is 0. Alternative: it is not, or lies on the named side. Assumption:
    differences are independent draws of one law with a variance. Not for very few differences, nor for dependent ones.

    The p-value compares t = mean / s with the studentised, centred resamples t* = (mean* - mean) / s*:
    p = (#{t* at least as extreme} + 1) / (n_resamples + 1). The limits are mean -+ q s, where q is the quantile of
    |t*|: the means that the two-sided test does not reject. Centred means without studentising reject far too often in
    small samples. With fewer than ten pairs, whose resamples are too much alike, p is at least that of Student's t and
    the interval holds that of t. A resample without variation counts as extreme, which keeps p of two or three pairs
    large. Rows of equal size share their resamples, as in `sign_flip`.

    References
    ----------
    Hall and Wilson (1991), 10.2307/2532163; Hall (1988), 10.1214/aos/1176350933.
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    values = np.asarray(difference, np.float64)
    _, mean, deviation = moments(values)
    flat, spread = mean.reshape(-1), deviation.reshape(-1)
    p, low, high = np.full(flat.size, np.nan), np.full(flat.size, np.nan), np.full(flat.size, np.nan)
    p[(spread == 0) & (np.abs(flat) <= TOLERANCE)] = 1.0
    for rows, sample in _by_size(values, spread > 0, n_resamples):
        if sample.shape[1] > 1:
            p[rows], low[rows], high[rows] = _bootstrap(sample, n_resamples, seed, level, alternative)
    return BoundedOutcome(mean, *(x.reshape(mean.shape) for x in (p, low, high)))


def _bootstrap(
    sample: Floats, n_resamples: int, seed: int, level: float, alternative: Alternative
) -> tuple[Floats, Floats, Floats]:
    """Return p-value and limits of the mean of samples (rows, n) that vary; see `bootstrap_mean`."""
    n = sample.shape[1]
    mean = sample.mean(axis=1)
    apart = sample - mean[:, None]
    squares = apart**2
    noise = TOLERANCE * np.abs(sample).max(axis=1)
    error = np.sqrt(squares.sum(axis=1))
    varies = error > noise * np.sqrt(n)
    t = np.divide(mean * n, error, out=np.full(len(mean), np.nan), where=varies)
    sizes = np.empty((len(sample), n_resamples))  # of t*
    count = np.zeros(len(sample))
    done = 0
    for weights in resamples(_random_weights, n, n_resamples, seed):
        drawn = (apart @ weights.T) / n
        spread = np.sqrt(np.maximum(squares @ weights.T - n * drawn**2, 0.0)) / n
        count += _count(drawn, np.where(varies, t, 0.0)[:, None] * spread, noise, alternative)
        moves = spread > noise[:, None]
        size = np.divide(np.abs(drawn), spread, out=np.full(drawn.shape, np.inf), where=moves)
        sizes[:, done : done + len(weights)] = size
        done += len(weights)
    p = np.where(varies, (count + 1) / (n_resamples + 1), np.nan)
    place = int((1 - level) * (n_resamples + 1) + TOLERANCE)
    half = np.full(len(sample), np.inf)
    if place and n >= FEWEST_PAIRS:
        sizes.partition(n_resamples - place, axis=1)
        half = sizes[:, n_resamples - place] * error / n
    if n < _FEW:
        scale = math.sqrt((n - 1) / n)
        tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative] * scale
        p = np.maximum(p, scipy.special.stdtr(n - 1, tail) * (2 if alternative == "two-sided" else 1))
        half = np.maximum(half, scipy.special.stdtrit(n - 1, (1 + level) / 2) * error / n / scale)
    half = np.where(np.isfinite(half) & varies, half, np.nan)
    return p, mean - half, mean + half


def _by_size(values: Floats, wanted: NDArray[np.bool_], n_resamples: int) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Yield positions and values, without gaps, of wanted rows with the same number of values, in bounded blocks.

    Rows without a value or with an infinite one are left out.
    """
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    used = np.flatnonzero(wanted.reshape(-1) & ~np.isinf(flat).any(axis=1))
    step = max(1, BLOCK // n_resamples)
    for rows, sample in rows_by_number(flat[used]):
        for start in range(0, len(rows), step):
            yield used[rows[start : start + step]], sample[start : start + step]


def resamples(
    draw: Callable[[np.random.Generator, int, int], Floats], n: int, n_resamples: int, seed: int
) -> Iterator[Floats]:
    """Draw (resamples, n) in blocks; the stream belongs to the seed and the sample size."""
    rng = np.random.default_rng([seed, n])
    step = max(1, BLOCK // n)
    for start in range(0, n_resamples, step):
        yield draw(rng, min(step, n_resamples - start), n)


def random_signs(rng: np.random.Generator, count: int, n: int) -> Floats:
    """Draw random sign vectors, (count, n)."""
    return np.asarray(2.0 * rng.integers(0, 2, (count, n), dtype=np.int8) - 1.0, np.float64)


def _random_weights(rng: np.random.Generator, count: int, n: int) -> Floats:
    """Draw bootstrap samples as numbers of times that each value is drawn, (count, n)."""
    return np.asarray(rng.multinomial(n, np.full(n, 1 / n), count), np.float64)


def all_signs(n: int) -> Floats:
    """Return all sign vectors, (2**n, n)."""
    return np.asarray(2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1) - 1.0, np.float64)


def _count(drawn: Floats, bound: Floats, slack: Floats, alternative: Alternative) -> NDArray[np.int64]:
    """Count the resamples of each row that are as extreme as their bounds."""
    if alternative == "two-sided":
        hit = np.abs(drawn) >= np.abs(bound) - slack[:, None]
    else:
        hit = drawn >= bound - slack[:, None] if alternative == "greater" else drawn <= bound + slack[:, None]
    return np.asarray(hit.sum(axis=1), np.int64)
