"""Rank values along the last axis; rounding errors neither break ties nor rank zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Floats

_LAST = np.iinfo(np.int64).max


def rounded(values: ArrayLike) -> Floats:
    """Round values to 12 decimals before they are ranked, so that rounding errors neither break ties nor rank zeros."""
    values = np.asarray(values, np.float64)
    # from 1000 on, float64 has no 13th decimal to lose
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(np.abs(values) < 1000, np.round(values, 12), values)


def signed_ranks(difference: ArrayLike) -> Floats:
    """Return the ranks of `|difference|` with the differences' signs, in ascending order of rank.

    Zeros are left out before ranking; their rank, and that of undefined differences, is 0. From 1000 on, neighbouring
    numbers tie.
    """
    values = rounded(difference)
    if values.size == 0:
        return np.zeros(values.shape)
    # the bits of positive floats are ordered as the numbers; the last bit makes room for the sign
    key = (np.abs(values).view(np.int64) & ~1) | (values > 0)
    np.copyto(key, _LAST, where=np.isnan(values) | (values == 0))
    key.sort(axis=-1)
    ranks = ranks_in_order(key >> 1)
    positive = (key & 1).astype(bool)
    np.negative(ranks, out=ranks, where=~positive)
    ranks[key == _LAST] = 0.0
    return ranks


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
