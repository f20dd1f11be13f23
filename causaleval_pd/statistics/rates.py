"""Rates of errors among simulated tables: exact limits, and whether they contradict the level of a test."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import Floats

#: probability with which a test that keeps its level is not called miscalibrated
CERTAINTY = 0.99
MISCALIBRATED, CONSERVATIVE = "miscalibrated", "conservative"


def rate_limits(count: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's limits of a rate; NaN where n is 0.

    Parameters
    ----------
    count, n : (...) array_like
        Number of errors, among how many tables.
    level : float
        Probability of the interval.

    References
    ----------
    Clopper and Pearson (1934), 10.1093/biomet/26.4.404.

    Examples
    --------
    >>> [round(float(x), 3) for x in rate_limits(18, 400)]
    [0.027, 0.07]
    """
    k, m = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(n, np.float64))
    tail = (1 - level) / 2
    low, high = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0, k < m
    low[some] = scipy.special.betaincinv(k[some], m[some] - k[some] + 1, tail)
    high[rest] = scipy.special.betaincinv(k[rest] + 1, m[rest] - k[rest], 1 - tail)
    return np.where(m > 0, low, np.nan), np.where(m > 0, high, np.nan)
