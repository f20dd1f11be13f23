"""Whether values differ by more than the Monte Carlo errors of the numbers that they were computed from."""

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
    """Return the largest variance that the estimated variance of a sum may have by Monte Carlo errors alone.

    Parameters
    ----------
    variances : (..., n) ndarray
        Variances of the independent Monte Carlo errors of the n terms of a sum.

    Returns
    -------
    (...) ndarray
        The sum of the variances times a quantile of the chi-squared law divided by its degrees of freedom, which are
        their effective number [1]_ less one; 0 where nothing was simulated.

    References
    ----------
    .. [1] Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components.
       doi:10.2307/3002019

    Examples
    --------
    >>> largest_variance([[0.1, 0.1, 0.1, 0.1, 0.1], [0.0, 0.0, 0.0, 0.0, 0.0]]).round(2).tolist()
    [1.66, 0.0]
    """
    squares = np.asarray(variances, np.float64)
    total = squares.sum(axis=-1)
    df = np.maximum(ratio(total**2, (squares**2).sum(axis=-1), empty=2.0) - 1, 1.0)
    return np.asarray(total * 2 * scipy.special.gammaincinv(df / 2, _SURE) / df, np.float64)


def noise_alone(values: Floats, errors: Floats) -> Bools:
    """Return whether the values of a row (..., n) differ by no more than their Monte Carlo standard errors explain.

    Parameters
    ----------
    values : (..., n) ndarray
        Values, NaN where absent.
    errors : (..., n) ndarray
        Standard errors of independent Monte Carlo errors; 0 where exact.

    Examples
    --------
    >>> noise_alone(np.array([[1.0, 1.2, 0.9], [1.0, 7.0, 3.0], [1.0, 1.0, 1.0]]), np.array([[0.1], [0.1], [0.0]]))
    array([ True, False, False])
    """
    known = np.isfinite(values)
    n, _, deviation = moments(values)
    noise = np.where(known, np.broadcast_to(errors, values.shape), 0.0) ** 2
    with np.errstate(invalid="ignore"):
        found = (n > 1) & (deviation**2 * n <= largest_variance(noise)) & noise.any(axis=-1)
    return np.asarray(found, bool)


def without_noise(values: Floats, errors: Floats) -> Floats:
    """Replace values that differ by `noise_alone` by their mean, and by 0 where that is within a few of its errors.

    Parameters
    ----------
    values, errors : (..., n) ndarray
        As in `noise_alone`.

    Examples
    --------
    >>> without_noise(np.array([[0.1, -0.1, np.nan], [5.1, 4.9, np.nan]]), np.array([[0.1]])).tolist()
    [[0.0, 0.0, nan], [5.0, 5.0, nan]]
    """
    alone = noise_alone(values, errors)
    if not alone.any():
        return values
    known = ~np.isnan(values)
    n, mean, _ = moments(values)
    total = np.sqrt((np.where(known, np.broadcast_to(errors, values.shape), 0.0) ** 2).sum(axis=-1))
    mean = np.where(np.abs(mean) * n <= FEW_ERRORS * total, 0.0, mean)
    return np.where(alone[..., None] & known, mean[..., None], values)
