"""Whether values differ by more than the Monte Carlo errors of the numbers that they were computed from.

References
----------
.. [1] Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
   doi:10.2307/3002019
"""

from __future__ import annotations

import numpy as np
import scipy

from .arrays import Bools, Floats, moments, ratio

#: why there is no interval where such values do not differ by more
NOISE_ALONE = "no variation beyond the controls' Monte Carlo error"
#: Monte Carlo errors by which a number may differ from another one as if it were equal
FEW_ERRORS = 4
#: probability that the variance of Monte Carlo errors alone stays below its limit
_SURE = 0.99


def largest_variance(variances: Floats) -> Floats:
    """Return the largest variance (...) that the estimated variance of a sum may have by Monte Carlo errors alone.

    The sum of the variances (..., n) of independent errors times a quantile of the chi-squared law divided by its
    degrees of freedom, which are their effective number [1]_ less one; 0 where nothing was simulated.
    """
    squares = np.asarray(variances, np.float64)
    total = squares.sum(axis=-1)
    df = np.maximum(ratio(total**2, (squares**2).sum(axis=-1), empty=2.0) - 1, 1.0)
    return np.asarray(total * 2 * scipy.special.gammaincinv(df / 2, _SURE) / df, np.float64)


def noise_alone(values: Floats, errors: Floats) -> Bools:
    """Return whether values (..., n) differ by no more than Monte Carlo standard errors, 0 where exact, explain."""
    known = np.isfinite(values)
    n, _, deviation = moments(values)
    noise = np.where(known, np.broadcast_to(errors, values.shape), 0.0) ** 2
    with np.errstate(invalid="ignore"):
        explained = (n > 1) & (deviation**2 * n <= largest_variance(noise)) & noise.any(axis=-1)
    return np.asarray(explained, bool)


def without_noise(values: Floats, errors: Floats) -> Floats:
    """Replace values that differ by `noise_alone` by their mean, and by 0 where that is within a few of its errors."""
    alone = noise_alone(values, errors)
    if not alone.any():
        return values
    known = ~np.isnan(values)
    n, mean, _ = moments(values)
    total = np.sqrt((np.where(known, np.broadcast_to(errors, values.shape), 0.0) ** 2).sum(axis=-1))
    mean = np.where(np.abs(mean) * n <= FEW_ERRORS * total, 0.0, mean)
    return np.where(alone[..., None] & known, mean[..., None], values)
