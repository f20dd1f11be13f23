"""All pairs of treatments compared at once by the largest t under sign flips.

References
----------
.. [1] Westfall, P. H., Young, S. S. (1993). Resampling-based multiple testing. Wiley.
.. [2] Winkler, A. M. et al. (2014). Permutation inference for the general linear model.
   doi:10.1016/j.neuroimage.2014.01.060
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Floats, paired_difference
from .direction import TOLERANCE
from .paired_tests import Alternative, check_alternative

#: blocks up to which all sign vectors are taken
EXACT_BLOCKS = 12
#: random sign vectors of more blocks
RESAMPLES = 9999
#: by how much equal sums may differ by rounding
_SLACK = 1e-10


class MaxT(NamedTuple):
    """Comparisons of pairs of treatments, (..., c)."""

    #: t of the paired differences
    statistic: Floats
    #: p-value of the pair by itself
    p_value: Floats
    #: p-value adjusted for all comparisons of the row
    p_adjusted: Floats
    #: simultaneous limits of the mean differences
    low: Floats
    high: Floats


def max_t(
    values: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> MaxT:
    """Compare treatments of blocks (..., n, k) pair by pair, with p-values adjusted by the largest t [1]_ [2]_.

    Blocks with an undefined value are left out, and a treatment without any value of its row. NaN where a treatment or
    all blocks are missing, and for pairs with an infinite difference; limits also below three blocks, and where all
    differences are equal.

    Notes
    -----
    One sign vector flips the differences of all pairs of treatments at once. A pair's t depends on no other treatment;
    these enter only the maximum, which makes p larger, so that a pair keeps its level whatever the others do. The null
    hypothesis of a pair is that its differences are symmetric about 0, the alternative that their mean is not 0 or lies
    on the named side. Assumption: blocks are independent. Not for skewed differences in few blocks.

    The limits are mean -+ q s, where q is the quantile of the largest t of the centred differences under the same
    flips; they are widened to 0 where the two-sided adjusted p-value is above 1 - level. So 0 can be within limits
    where p is small, and never the other way round. Flips of up to 12 blocks are exact.
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
    values = np.asarray(values, np.float64)
    shape = values.shape[:-2]
    flat = values.reshape(math.prod(shape), *values.shape[-2:])
    result = np.full((5, len(flat), len(first)), np.nan)
    for row, blocks in enumerate(flat):
        here = ~np.isnan(blocks)
        there = here.any(axis=0)
        whole = (here | ~there).all(axis=1) & there.any()
        known = there[first] & there[second]
        if whole.any() and known.any():
            apart = paired_difference(blocks[whole][:, first[known]], blocks[whole][:, second[known]])
            result[:, row, known] = _largest(apart, alternative, level, seed)
    return MaxT(*result.reshape(5, *shape, len(first)))


def joint_max_t(
    differences: Sequence[ArrayLike],
    blocks: Sequence[ArrayLike],
    *,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> MaxT:
    """Correct comparisons that have blocks in common, such as those of several strata, by their largest t; see `max_t`.

    One random sign flips all differences of a block, over comparisons. Limits are also NaN where a comparison has too
    few blocks for any at this level.

    Notes
    -----
    The null hypothesis of a comparison is that its differences are symmetric about 0, the alternative that their mean
    is not 0 or lies on the named side. Assumption: blocks are independent, also over comparisons; differences of one
    block may depend on each other. Not for skewed differences in few blocks.

    Comparisons of different numbers of blocks are on one scale: the sum of the signed differences in units of its
    standard deviation under sign flips, which is at most sqrt(n) for n blocks.
    """
    check_alternative(alternative)
    seed = int(np.random.default_rng(rng).integers(2**63))
    sizes = [len(np.asarray(x)) for x in blocks]
    place, labels = pd.factorize(np.concatenate([np.zeros(0, np.int64), *map(np.asarray, blocks)]))
    apart = np.full((len(labels), len(sizes)), np.nan)
    if apart.size:
        apart[place, np.repeat(np.arange(len(sizes)), sizes)] = np.concatenate(list(map(np.asarray, differences)))
    return MaxT(*_largest(apart, alternative, level, seed))


def _largest(apart: Floats, alternative: Alternative, level: float, seed: int) -> Floats:
    """Return t, p, adjusted p and limits, (5, c), of differences (n, c), NaN in blocks that a comparison lacks."""
    result = np.full((5, apart.shape[1]), np.nan)
    usable = (~np.isnan(apart)).any(axis=0) & ~np.isinf(apart).any(axis=0)
    if not usable.any():
        return result
    here = ~np.isnan(apart[:, usable])
    apart = np.where(here, apart[:, usable], 0.0)
    n = here.sum(axis=0)
    mean = apart.sum(axis=0) / n
    centred = np.where(here, apart - mean, 0.0)
    seen = _scaled(np.ones((1, len(apart))), apart)
    observed = _signed(seen, alternative)[0]
    single, largest, two_sided, total = *np.zeros((3, apart.shape[1])), 0
    spread: list[Floats] = []
    for signs in _signs(len(apart), seed):
        for vectors in np.array_split(signs, math.ceil(signs.shape[0] * apart.shape[1] / BLOCK)):
            scaled = _scaled(vectors, apart)
            flipped = _signed(scaled, alternative)
            single += (flipped >= observed - _SLACK).sum(axis=0)
            largest += (flipped.max(axis=1)[:, None] >= observed - _SLACK).sum(axis=0)
            two_sided += (np.abs(scaled).max(axis=1)[:, None] >= np.abs(seen[0]) - _SLACK).sum(axis=0)
            spread.append(np.abs(_scaled(vectors, centred)).max(axis=1))
            total += len(vectors)
    quantile = _as_t(np.quantile(np.concatenate(spread), level, method="higher"), n)
    error = np.sqrt((centred**2).sum(axis=0) / np.maximum(n - 1, 1) / n)
    bounded = (n > 2) & np.isfinite(quantile) & (error > TOLERANCE * np.abs(apart).max(axis=0))
    half = np.where(bounded, np.where(bounded, quantile, 0.0) * error, np.nan)
    # a mean of 0 that the two-sided test does not reject is within the limits
    kept = (two_sided / total > 1 - level) & bounded
    low, high = (np.where(kept, end(x, 0.0), x) for x, end in ((mean - half, np.minimum), (mean + half, np.maximum)))
    result[:, usable] = _as_t(seen[0], n), single / total, largest / total, low, high
    return result


def _scaled(signs: Floats, apart: Floats) -> Floats:
    """Return sum(e d) / sqrt(sum d^2), which increases with t and is 0 where all differences are 0; (vectors, c)."""
    scale = np.sqrt((apart**2).sum(axis=0))
    total = signs @ apart
    return np.divide(total, scale, out=np.zeros(total.shape), where=scale > 0)


def _signed(scaled: Floats, alternative: Alternative) -> Floats:
    """Turn the scaled sum so that large values are evidence."""
    return {"two-sided": np.abs(scaled), "less": -scaled, "greater": scaled}[alternative]


def _as_t(scaled: ArrayLike, n: NDArray[np.int64]) -> Floats:
    """Return Student's t for such a sum of n differences; infinite where they do not vary."""
    r = np.clip(np.asarray(scaled, np.float64) / np.sqrt(n), -1.0, 1.0)
    rest = np.where(1 - r**2 > TOLERANCE, 1 - r**2, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(r == 0, 0.0, r * np.sqrt(np.maximum(n - 1, 0)) / np.sqrt(rest))


def _signs(n: int, seed: int) -> Iterator[Floats]:
    """Yield sign vectors (vectors, n): all of them up to 12 blocks, else the identity and random ones."""
    if n <= EXACT_BLOCKS:
        yield _as_signs((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return
    yield np.ones((1, n))
    # the stream belongs to the seed and the number of blocks
    rng, step = np.random.default_rng([seed, n]), max(1, BLOCK // n)
    for start in range(0, RESAMPLES, step):
        yield _as_signs(rng.integers(0, 2, (min(step, RESAMPLES - start), n), dtype=np.int8))


def _as_signs(bits: NDArray[Any]) -> Floats:
    """Turn 0 and 1 into signs."""
    return np.asarray(2.0 * bits - 1.0, np.float64)
