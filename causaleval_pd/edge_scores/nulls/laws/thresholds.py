"""Laws of the best value over thresholds where labels are shuffled: paths that cross a line."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .ties import Ties, steps, transition_table

Floats = NDArray[np.float64]

#: steps up to which a whole law is computed, and up to which one p-value is
_MOST_STEPS, _MOST_OF_ONE = 100_000_000, 20_000_000


def _crossings(ties: Ties, gain: Floats, cost: Floats, level: Floats, *, from_start: bool) -> Floats:
    """Return P(gain A - cost n >= level at some threshold), a value a level."""
    from .law_kernels import crossings

    table = transition_table(ties)
    found = np.empty(len(level))
    room = np.empty(ties.k + 1), np.empty(ties.k + 1)
    given = table.sizes, ties.n, ties.k, table.starts, table.weights
    crossings(*given, gain, cost, level, from_start, *room, found)
    return found


def f1_tails(ties: Ties, values: Floats) -> Floats:
    """Return P(largest F1 >= each value).

    Examples
    --------
    >>> from causaleval_pd.edge_scores.nulls.laws.ties import Ties
    >>> f1_tails(Ties(2, 1, b""), np.array([1.0, 2 / 3])).tolist()
    [0.5, 1.0]
    """
    # F1 = 2 A / (n + K) >= x is 2 A - x n >= x K
    return _crossings(ties, np.full(len(values), 2.0), values, values * ties.k, from_start=False)


def hamming_tails(ties: Ties, values: Floats) -> Floats:
    """Return P(smallest Hamming distance <= each value)."""
    ones = np.ones(len(values))
    return _crossings(ties, 2 * ones, ones, ties.k - values, from_start=True)


def can_cross(ties: Ties) -> bool:
    """Return whether a single p-value takes little work."""
    return steps(ties) <= _MOST_OF_ONE


def _attainable(ties: Ties) -> Floats:
    """Return the values that the largest F1 can take."""
    ends = np.cumsum(ties.sizes)
    found = [np.empty(0)]
    for n in ends.tolist():
        right = np.arange(max(1, ties.k - (ties.n - n)), min(n, ties.k) + 1)
        found.append(2 * right / (n + ties.k))
    values: Floats = np.unique(np.round(np.concatenate(found), 14)).astype(np.float64)
    # the whole list is one of the thresholds
    return values[values >= 2 * ties.k / (ties.n + ties.k) - 1e-12]


def _law(values: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Return values with their probabilities from the probabilities of being at least them, ascending."""
    return values, np.maximum(tails - np.append(tails[1:], 0.0), 0.0)


@lru_cache(maxsize=256)
def f1_law(ties: Ties) -> tuple[Floats, Floats] | None:
    """Return the values of the largest F1 and their probabilities, or None where that takes long."""
    if ties.k == 0:
        return None
    values = _attainable(ties)
    if len(values) * steps(ties) > _MOST_STEPS:
        return None
    return _law(values, f1_tails(ties, values))


@lru_cache(maxsize=256)
def hamming_law(ties: Ties) -> tuple[Floats, Floats] | None:
    """Return the values of the smallest Hamming distance and their probabilities, or None where that takes long."""
    values = np.arange(ties.k + 1, dtype=np.float64)
    if len(values) * steps(ties) > _MOST_STEPS:
        return None
    below = hamming_tails(ties, values)
    return values, np.maximum(below - np.concatenate([[0.0], below[:-1]]), 0.0)
