"""Friedman's test of several treatments on the same blocks, and comparisons of their mean ranks, a test a row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Bools, Floats, ratio
from .paired_tests import Alternative, check_alternative
from .ranks import rounded

#: blocks up to which differences of mean ranks have exact p-values, and treatments
EXACT_BLOCKS, EXACT_LEVELS = 30, 30
#: rounding error of a p-value that is summed from cosines
_LEAST = 1e-14


class Friedman(NamedTuple):
    """Friedman's test, one a row."""

    #: statistic, p_value, (...): Friedman's chi-squared and its p-value
    statistic: Floats
    p_value: Floats
    #: (..., k): mean rank of each treatment, the smallest value of a block having rank 1
    mean_rank: Floats
    #: n_blocks, n_levels, (...): complete blocks, and treatments with any value
    n_blocks: NDArray[np.int64]
    n_levels: NDArray[np.int64]
    #: (...): variance of the difference of two mean ranks under the null hypothesis
    spread: Floats


def friedman(values: ArrayLike) -> Friedman:
    """Test whether the treatments of blocks are exchangeable, by the ranks within blocks.

    Parameters
    ----------
    values : (..., n, k) array_like
        n blocks of k treatments. Blocks with an undefined value are left out; a treatment without any value is left out
        of its row.

    Returns
    -------
    Friedman
        The test as `scipy.stats.friedmanchisquare`, corrected for ties; with two treatments p is that of the exact
        sign test, which is larger than that of the chi-squared distribution. Blocks that are all equal give p = 1; NaN
        without blocks or with fewer than two treatments.

    Notes
    -----
    Null hypothesis: within a block every order of the treatments is equally probable. Alternative: some treatments tend
    to rank higher. Assumption: blocks are independent. Not to name which treatments differ, for which p would count the
    others' differences (`max_t`), nor for blocks that depend on each other.

    References
    ----------
    Friedman (1937), 10.1080/01621459.1937.10503522.

    Examples
    --------
    >>> found = friedman([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [1.0, 3.0, 2.0], [4.0, 5.0, 6.0]])
    >>> found.mean_rank, round(float(found.p_value), 4)
    (array([1.  , 2.25, 2.75]), 0.0388)
    """
    ranks, complete, there = _block_ranks(values)
    n, k = complete.sum(axis=-1), there.sum(axis=-1)
    centre = ((k + 1) / 2)[..., None]
    sums = ranks.sum(axis=-2)
    inside = complete[..., None] & there[..., None, :]
    within = np.where(inside, (ranks - centre[..., None]) ** 2, 0.0).sum(axis=(-1, -2))
    between = np.where(there, (sums - n[..., None] * centre) ** 2, 0.0).sum(axis=-1)
    usable = (n > 0) & (k > 1)
    statistic = ratio((k - 1) * between, within, empty=0.0)
    p = scipy.special.chdtrc(np.maximum(k - 1, 1), statistic)
    if (k == 2).any():
        # whole numbers: blocks that differ, and of these the fewer
        differ = np.rint(2 * within)
        fewer = np.rint((differ - np.sqrt(statistic * differ)) / 2)
        p = np.where(k == 2, np.minimum(1.0, 2 * scipy.special.bdtr(fewer, differ.astype(np.int64), 0.5)), p)
    p = np.where(within > 0, p, 1.0)
    mean_rank = np.where(there & usable[..., None], ratio(sums, n[..., None]), np.nan)
    spread = np.where(usable, ratio(2 * within, (k - 1) * n.astype(np.float64) ** 2), np.nan)
    statistic, p = (np.where(usable, x, np.nan) for x in (statistic, p))
    return Friedman(statistic, p, mean_rank, n, k, spread)


def rank_differences(
    values: ArrayLike, first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided"
) -> tuple[Floats, Floats, Floats]:
    """Compare treatments by their mean ranks, given the ranks within every block.

    Parameters
    ----------
    values : (..., n, k) array_like
        As in `friedman`.
    first, second : (c,) array_like of int
        Treatments of each comparison.
    alternative : {"two-sided", "less", "greater"}
        Whether the first is expected to rank lower or higher than the second.

    Returns
    -------
    difference, p_value, nemenyi : (..., c) ndarray
        Difference of mean ranks; its p-value, exact up to 30 blocks and normal beyond; and Nemenyi's two-sided p-value,
        adjusted for all pairs of treatments: that of the studentised range, and at least the exact one.

    Notes
    -----
    Null hypothesis of all comparisons: every order of all treatments of a block is equally probable. Alternative: two
    treatments differ in mean rank, or the first lies on the named side. Assumption: blocks are independent. Not where
    other treatments differ, which changes the p-value of a pair (`max_t` keeps its level there).

    References
    ----------
    Nemenyi (1963), Distribution-free multiple comparisons; Eisinga et al. (2017), 10.1186/s12859-017-1486-2; Demšar
    (2006), https://jmlr.org/papers/v7/demsar06a.html.

    Examples
    --------
    >>> blocks = [[1.0, 2.0, 3.0]] * 4
    >>> [x.round(4).tolist() for x in rank_differences(blocks, [0], [2])]
    [[-2.0], [0.0015], [0.013]]
    """
    check_alternative(alternative)
    first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
    values = np.asarray(values, np.float64)
    found = friedman(values)
    shape = (*found.statistic.shape, len(first))
    flat = values.reshape(math.prod(shape[:-1]), *values.shape[-2:])
    means = found.mean_rank.reshape(len(flat), -1)
    difference = means[:, first] - means[:, second]
    spread = found.spread.reshape(-1)
    n, k = (np.asarray(x).reshape(-1) for x in (found.n_blocks, found.n_levels))
    z = ratio(difference, np.sqrt(spread)[:, None], empty=0.0)
    z = np.where(np.isnan(difference), np.nan, z)
    tail = {"two-sided": -np.abs(z), "less": z, "greater": -z}[alternative]
    p = scipy.special.ndtr(tail)
    exact = (n > 0) & (n <= EXACT_BLOCKS) & (k > 1) & (k <= EXACT_LEVELS)
    rows = np.flatnonzero(exact)
    if len(rows):
        small = {"two-sided": -np.abs(difference), "less": difference, "greater": -difference}[alternative]
        p[rows] = _exact(flat[rows], np.rint(2 * small[rows] * n[rows, None]), np.isnan(difference[rows]))
    p = np.where(np.isnan(difference), np.nan, np.minimum(1.0, p * (2 if alternative == "two-sided" else 1)))
    both = p if alternative == "two-sided" else np.minimum(1.0, 2 * np.minimum(p, 1 - p))
    nemenyi = np.maximum(_studentised(np.abs(z), k), both)
    return difference.reshape(shape), p.reshape(shape), nemenyi.reshape(shape)


def critical_difference(n_levels: ArrayLike, n_blocks: ArrayLike, level: float = 0.95) -> Floats:
    """Return Nemenyi's critical difference of mean ranks, for blocks without ties.

    Parameters
    ----------
    n_levels, n_blocks : array_like of int
        Treatments and complete blocks.
    level : float
        1 minus the familywise error.

    Returns
    -------
    ndarray
        NaN for fewer than two treatments or without blocks.

    Examples
    --------
    >>> round(float(critical_difference(4, 14)), 2)
    1.25
    """
    k, n = np.broadcast_arrays(np.asarray(n_levels, np.int64), np.asarray(n_blocks, np.int64))
    quantile = np.full(k.shape, np.nan)
    for size in np.unique(k[k > 1]):
        quantile[k == size] = scipy.stats.studentized_range.ppf(level, int(size), np.inf)
    return quantile * np.sqrt(ratio(k * (k + 1), 12 * n))


def _block_ranks(values: ArrayLike) -> tuple[Floats, Bools, Bools]:
    """Return ranks within complete blocks, 0 elsewhere; the complete blocks; and the treatments with any value."""
    values = rounded(values)
    here: Bools = ~np.isnan(values)
    there: Bools = np.any(here, axis=-2)
    complete: Bools = np.all(here | ~there[..., None, :], axis=-1) & np.any(there, axis=-1, keepdims=True)
    if not values.size:
        return np.zeros(values.shape), complete, there
    top = np.finfo(np.float64).max
    ordered = np.where(here, np.clip(values, -top, top), np.inf)
    ranks: Floats = np.where(complete[..., None] & here, scipy.stats.rankdata(ordered, axis=-1), 0.0)
    return ranks, complete, there


def _exact(values: Floats, doubled: Floats, undefined: Bools) -> Floats:
    """Return P(D <= d) for doubled differences D of rank sums, over all permutations of the ranks within blocks.

    A block's difference has the same distribution for every pair of treatments, symmetric about 0; their
    characteristic functions are real, and that of the sum is their product.
    """
    p = np.full(doubled.shape, np.nan)
    for rows, ranked, n in _same_blocks(*_block_ranks(values)):
        reach = 2 * (ranked.shape[-1] - 1) * n
        step = max(1, BLOCK // ((2 * reach + 1) * n))
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            below = np.cumsum(_sum_of_differences(ranked[start : start + step], reach), axis=1)
            place = np.where(undefined[part], 0.0, doubled[part]).astype(np.int64) + reach
            p[part] = np.clip(np.take_along_axis(below, place, axis=1), _LEAST, 1.0)
    return p


def _sum_of_differences(ranked: Floats, reach: int) -> Floats:
    """Return P(D = d), d = -reach .. reach, of rows of ranks within blocks."""
    n_rows, n, k = ranked.shape
    size = 2 * reach + 1
    patterns, kind = np.unique(np.sort(ranked, axis=-1).reshape(-1, k), axis=0, return_inverse=True)
    kind = kind.reshape(n_rows, n)
    apart = np.rint(2 * (patterns[:, :, None] - patterns[:, None, :])).astype(np.int64)[:, ~np.eye(k, dtype=bool)]
    mass = np.zeros((len(patterns), size))
    np.add.at(mass, (np.arange(len(patterns))[:, None], apart % size), 1 / (k * (k - 1)))
    factors = np.fft.rfft(mass, axis=1).real
    product = np.ones((n_rows, factors.shape[1]))
    for block in range(n):
        product *= factors[kind[:, block]]
    return np.asarray(np.fft.fftshift(np.fft.irfft(product, size, axis=1), axes=1), np.float64)


def _same_blocks(ranks: Floats, complete: Bools, there: Bools) -> Iterator[tuple[NDArray[np.int64], Floats, int]]:
    """Group rows by their numbers of blocks and treatments; give positions and ranks without gaps."""
    sizes = np.stack([complete.sum(axis=1), there.sum(axis=1)], axis=1)
    for n, k in np.unique(sizes, axis=0).tolist():
        rows = np.flatnonzero((sizes == (n, k)).all(axis=1))
        inside = complete[rows][:, :, None] & there[rows][:, None, :]
        yield rows, ranks[rows][inside].reshape(len(rows), n, k), n


def _studentised(z: Floats, k: NDArray[np.int64]) -> Floats:
    """Return P(range of k standard normals >= z sqrt 2); the same numbers are integrated once."""
    p = np.full(z.shape, np.nan)
    for size in np.unique(k[k > 1]):
        rows = np.flatnonzero(k == size)
        seen, place = np.unique(np.round(z[rows], 12), return_inverse=True)
        found = np.full(len(seen), np.nan)
        defined = ~np.isnan(seen)
        found[defined] = scipy.stats.studentized_range.sf(seen[defined] * math.sqrt(2), int(size), np.inf)
        p[rows] = found[place].reshape(len(rows), -1)
    return p
