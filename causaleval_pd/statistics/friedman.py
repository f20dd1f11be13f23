"""Friedman's test of several treatments on the same blocks, and Nemenyi's critical difference, one test per row.

References
----------
.. [1] Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of variance.
   doi:10.1080/01621459.1937.10503522
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import Bools, Floats, ratio, rounded


class Friedman(NamedTuple):
    """Friedman's test, one per row."""

    #: statistic, p_value, (...): Friedman's chi-squared and its p-value
    statistic: Floats
    p_value: Floats
    #: (..., k): mean rank of each treatment, the smallest value of a block having rank 1
    mean_rank: Floats
    #: n_blocks, n_levels, (...): complete blocks, and treatments with any value
    n_blocks: NDArray[np.int64]
    n_levels: NDArray[np.int64]


def friedman(values: ArrayLike) -> Friedman:
    """Test whether the k treatments of n blocks (..., n, k) are exchangeable, by the ranks within blocks [1]_.

    Blocks with an undefined value are left out, and a treatment without any value of its row. Corrected for ties, as
    `scipy.stats.friedmanchisquare`; with two treatments p is that of the exact sign test, which is larger than that of
    the chi-squared distribution. Blocks that are all equal give p = 1; NaN without blocks or with fewer than two
    treatments.

    Notes
    -----
    Null hypothesis: within a block every order of the treatments is equally probable. Alternative: some treatments tend
    to rank higher. Assumption: blocks are independent. Not to name which treatments differ, for which p would count the
    others' differences (`max_t`), nor for blocks that depend on each other.
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
    statistic, p = (np.where(usable, x, np.nan) for x in (statistic, p))
    return Friedman(statistic, p, mean_rank, n, k)


def critical_difference(n_levels: ArrayLike, n_blocks: ArrayLike, level: float = 0.95) -> Floats:
    """Return Nemenyi's critical difference of mean ranks without ties; NaN below two treatments or one block."""
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
