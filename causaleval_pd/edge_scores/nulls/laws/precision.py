"""Laws of the precision of the first candidates where labels are shuffled: hypergeometric."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .ties import Ties

Floats = NDArray[np.float64]


@lru_cache(maxsize=4096)
def hypergeometric(n: int, k: int, m: int) -> tuple[NDArray[np.int64], Floats]:
    """Return how many of m candidates may be true, of K among N, and the probabilities.

    Examples
    --------
    >>> counts, chances = hypergeometric(4, 2, 2)
    >>> counts.tolist(), chances.round(3).tolist()
    ([0, 1, 2], [0.167, 0.667, 0.167])
    """
    low, high = max(0, k - (n - m)), min(k, m)
    counts = np.arange(low, high + 1)
    mode = min(max((m + 1) * (k + 1) // (n + 2), low), high)
    weights = np.ones(len(counts))
    for a in range(mode, high):
        weights[a + 1 - low] = weights[a - low] * ((m - a) * (k - a) / ((a + 1) * (n - m - k + a + 1)))
    for a in range(mode, low, -1):
        weights[a - 1 - low] = weights[a - low] * (a * (n - m - k + a) / ((m - a + 1) * (k - a + 1)))
    return counts, weights / weights.sum()


@lru_cache(maxsize=4096)
def precision_law(n: int, k: int, first: int, above: int, tied: int) -> tuple[Floats, Floats]:
    """Return values and probabilities of the precision of the `first` candidates.

    Of these, `above` rank above the group of `tied` candidates at the cut, of which a share counts.
    """
    share = (first - above) / tied
    if share == 1:
        counts, chances = hypergeometric(n, k, first)
        return counts / first, chances
    values, weights = [], []
    for right, chance in zip(*hypergeometric(n, k, above), strict=True):
        more, given = hypergeometric(n - above, k - int(right), tied)
        values.append((right + more * share) / first)
        weights.append(chance * given)
    return np.concatenate(values), np.concatenate(weights)


def cut_at(ties: Ties, first: int) -> tuple[int, int]:
    """Return how many candidates rank above the group in which the cut after `first` falls, and its size."""
    ends = np.cumsum(ties.sizes)
    group = int(np.searchsorted(ends, first))
    size = int(ties.sizes[group])
    return int(ends[group]) - size, size
