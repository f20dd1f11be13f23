"""The law of coincidences: how many places two decks of labelled cards agree in after one of them is shuffled.

References
----------
.. [1] Riordan, J. (1958). An introduction to combinatorial analysis, chapter 7. Wiley.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import SMALLEST_P, Floats

#: cards up to which the law is computed in whole numbers
MOST_EXACT = 300


def coincidence_moments(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """Return mean and variance of the number of coincidences of two decks with these numbers of each label."""
    r, c = np.asarray(first, np.float64), np.asarray(second, np.float64)
    n = max(float(r.sum()), 1.0)
    same = float(r @ c)
    # rows are labels of the first deck, columns those of the second
    deviation = np.eye(len(r)) - c[:, None] / n - r[None, :] / n + same / n**2
    return same / n, float((np.outer(r, c) * deviation**2).sum()) / max(n - 1, 1.0)


def coincidence_law(first: Sequence[int], second: Sequence[int]) -> Floats:
    """Return the probabilities of 0, 1, ... coincidences up to the largest possible number, from whole numbers [1]_."""
    n = sum(first)
    # coefficient m: ways to choose m coincidences, over all labels (the rook polynomial)
    ways = [1]
    for r, c in zip(first, second, strict=True):
        factor = [math.comb(r, j) * math.comb(c, j) * math.factorial(j) for j in range(min(r, c) + 1)]
        product = [0] * (len(ways) + len(factor) - 1)
        for i, a in enumerate(ways):
            for j, b in enumerate(factor):
                product[i + j] += a * b
        ways = product
    placed = [x * math.factorial(n - m) for m, x in enumerate(ways)]
    whole = math.factorial(n)
    law = [
        sum((-1) ** (m - h) * math.comb(m, h) * placed[m] for m in range(h, len(placed))) / whole
        for h in range(len(placed))
    ]
    return np.asarray(law, np.float64)


def coincidence_tail(count: int, first: ArrayLike, second: ArrayLike) -> float:
    """Return the probability of at least `count` coincidences in all of k pairs of decks (k, labels), shuffled apart.

    Exact up to 300 cards, else by the normal law of the same mean and variance, half a step below. A probability below
    the smallest normal number, 2e-308, is that number; what cannot be has 0.
    """
    decks = [np.asarray(side, np.int64) for side in (first, second)]
    if count <= 0:
        return 1.0
    if count > np.minimum(*decks).sum():
        return 0.0
    if decks[0].sum(axis=1).max(initial=0) > MOST_EXACT:
        mean, variance = np.sum([coincidence_moments(r, c) for r, c in zip(*decks, strict=True)], axis=0)
        if variance > 0:
            return max(float(scipy.stats.norm.sf((count - 0.5 - mean) / np.sqrt(variance))), SMALLEST_P)
        return float(count <= mean + 0.5)
    law = np.ones(1)
    for r, c in zip(*(side.tolist() for side in decks), strict=True):
        law = np.convolve(law, coincidence_law(r, c))
    return min(1.0, max(float(law[count:].sum()), SMALLEST_P))
