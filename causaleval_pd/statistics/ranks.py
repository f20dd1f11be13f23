"""Rank values along the last axis; rounding errors neither break ties nor rank zeros."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats

ZeroMethod = Literal["wilcox", "pratt"]

_LAST = np.iinfo(np.int64).max


def rounded(values: ArrayLike) -> Floats:
    """Round values to 12 decimals before they are ranked, so that rounding errors neither break ties nor rank zeros."""
    values = np.asarray(values, np.float64)
    # from 1000 on, float64 has no 13th decimal to lose
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(np.abs(values) < 1000, np.round(values, 12), values)


def signed_ranks(difference: ArrayLike, *, zero_method: ZeroMethod = "wilcox") -> Floats:
    """Return the ranks of `|difference|` with the differences' signs, in ascending order of rank.

    Differences are rounded to 12 decimals before they are ranked; from 1000 on, neighbouring numbers tie. Zeros are
    left out before ranking ("wilcox"), or ranked and left out after ("pratt"); the rank of zeros and undefined
    differences is 0.

    Examples
    --------
    >>> signed_ranks([2.0, 0.0, -1.0, 2.0, np.nan])
    array([-1. ,  2.5,  2.5,  0. ,  0. ])
    """
    if zero_method not in ("wilcox", "pratt"):
        raise ValueError(f"zero_method must be 'wilcox' or 'pratt', found {zero_method!r}")
    values = rounded(difference)
    if values.size == 0:
        return np.zeros(values.shape)
    # the bits of positive floats are ordered as the numbers; the last bit makes room for the sign
    key = (np.abs(values).view(np.int64) & ~1) | (values > 0)
    left_out = np.isnan(values)
    if zero_method == "wilcox":
        left_out |= values == 0
    np.copyto(key, _LAST, where=left_out)
    key.sort(axis=-1)
    ranks = ranks_in_order(key >> 1)
    positive = (key & 1).astype(bool)
    np.negative(ranks, out=ranks, where=~positive)
    ranks[(key == _LAST) | (key <= 1)] = 0.0
    return ranks


def pooled_ranks(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Rank two independent samples (..., n) and (..., m) together, rounded as in `signed_ranks`.

    Returns the sum of the ranks of the first sample, and the sum of t^3 - t over groups of t tied values.

    Examples
    --------
    >>> total, ties = pooled_ranks([3.0, 5.0], [1.0, 3.0, np.nan])
    >>> float(total), float(ties)
    (6.5, 6.0)
    """
    values = np.concatenate([rounded(first), rounded(second)], axis=-1) + 0.0  # no negative zeros
    mine = np.arange(values.shape[-1]) < np.asarray(first).shape[-1]
    bits = values.view(np.int64)
    # negative floats are ordered against their bits; the last bit makes room for the sample
    key = ((bits ^ ((bits >> 63) & _LAST)) & ~1) | mine
    gone = np.isnan(values)
    np.copyto(key, _LAST, where=gone)
    key.sort(axis=-1)
    group, here = key >> 1, np.arange(values.shape[-1]) < (~gone).sum(axis=-1, keepdims=True)
    ranks = ranks_in_order(group)
    # members of a group of t ties lie (t - 1) / 2 to either side of their mean rank
    apart = np.where(here, np.arange(1, values.shape[-1] + 1) - ranks, 0.0)
    total = np.where(here & (key & 1 == 1), ranks, 0.0).sum(axis=-1)
    return total, 12 * (apart**2).sum(axis=-1)


def ranks_in_order(ordered: NDArray[Any]) -> Floats:
    """Return ranks from 1 on along the last axis of sorted numbers; equal ones share their mean rank."""
    first = np.ones(ordered.shape, bool)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=first[..., 1:])
    start = np.flatnonzero(first)
    n = ordered.shape[-1]
    if len(start) == ordered.size:
        return np.tile(np.arange(1.0, n + 1), (*ordered.shape[:-1], 1))
    count = np.diff(start, append=ordered.size)
    return np.repeat(start % n + (count + 1) / 2, count).reshape(ordered.shape)
