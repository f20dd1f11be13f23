"""Tails and quantiles of Pearson's type III law, a shifted gamma law, from a skewness.

References
----------
.. [1] Johnson, N. L., Kotz, S., Balakrishnan, N. (1994). Continuous Univariate Distributions, volume 1, chapter 17.
   Wiley.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: skewness below which the law is taken as normal
NORMAL = 1e-6


def upper_tail(z: ArrayLike, skewness: ArrayLike) -> Floats:
    """Return P(Z >= z) for Z with mean 0, standard deviation 1 and the skewness, with broadcasting.

    Examples
    --------
    >>> upper_tail(2.0, [-1.0, 0.0, 1.0]).round(4).tolist()
    [0.0, 0.0228, 0.0424]
    """
    x, g = np.broadcast_arrays(np.asarray(z, np.float64), np.asarray(skewness, np.float64))
    flat = np.abs(g) < NORMAL
    shape = 4 / np.where(flat, 1.0, g) ** 2
    # both arms are one gamma law: of Z where it is skewed to the right, of -Z otherwise
    place = np.maximum(shape + np.sign(g) * x * np.sqrt(shape), 0.0)
    skewed = np.where(g > 0, scipy.special.gammaincc(shape, place), scipy.special.gammainc(shape, place))
    return np.asarray(np.where(flat, scipy.special.ndtr(-x), np.where(np.isnan(g), np.nan, skewed)))


def quantile(q: float, skewness: ArrayLike) -> Floats:
    """Return the q-quantile of the law with mean 0, standard deviation 1 and the skewness.

    Examples
    --------
    >>> quantile(0.975, [0.0, 1.0]).round(3).tolist()
    [1.96, 2.384]
    """
    g = np.asarray(skewness, np.float64)
    flat = np.abs(g) < NORMAL
    shape = 4 / np.where(flat, 1.0, g) ** 2
    right = (scipy.special.gammaincinv(shape, q) - shape) / np.sqrt(shape)
    left = (shape - scipy.special.gammainccinv(shape, q)) / np.sqrt(shape)
    return np.asarray(np.where(flat, scipy.special.ndtri(q), np.where(g > 0, right, left)))
