"""Steps of statistics that are sums of weighted counts: the gap between values that they can take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: weights whose common divisor is smaller than this share of the largest have none
_LEAST = 1e-4


def common_step(weights: Floats) -> Floats:
    """Return the largest number of which each row's weights (n, w) are whole multiples, 0 if no such number exists.

    Weights of 0 and missing ones do not count.
    """
    sizes = np.abs(np.nan_to_num(weights))
    largest = sizes.max(axis=1, initial=0.0)
    step = np.zeros(len(sizes))
    for size in sizes.T:
        a, b = np.maximum(step, size), np.minimum(step, size)
        while True:
            going = b > 1e-9 * largest
            if not going.any():
                break
            divisor = np.where(going, b, 1.0)
            # the remainder nearest to 0, so that rounding errors do not pass for a divisor
            rest = np.abs(a - divisor * np.round(a / divisor))
            a, b = np.where(going, b, a), np.where(going, rest, b)
        step = a
    return np.where(step > _LEAST * largest, step, 0.0)
