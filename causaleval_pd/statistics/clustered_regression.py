"""Linear regression of rows that depend on each other in clusters: errors by leaving out one cluster at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats

#: relative size below which a direction of the design is absent
_ABSENT = 1e-9
#: size of an error, relative to the response, below which it is rounding
_ROUNDING = 1e-12


class Fit(NamedTuple):
    """Coefficients (k,) of a regression."""

    estimate: Floats
    #: NaN for coefficients that one cluster alone carries, 0 for those that are the same whichever cluster is left out
    error: Floats
    #: degrees of freedom: the effective number of clusters minus 1
    df: Floats


def clustered_fit(design: Floats, response: Floats, cluster: ArrayLike) -> Fit:
    """Return least squares coefficients with standard errors by a delete-one-cluster jackknife (CRV3).

    Parameters
    ----------
    design : (n, k) ndarray
        Columns of full rank.
    response : (n,) ndarray
        Values to explain.
    cluster : (n,) array_like
        Cluster of each row.

    Returns
    -------
    Fit
        Coefficients, errors and degrees of freedom. The effective number of clusters is that of equal clusters with the
        same variation of their shares in the variance of the coefficient.

    References
    ----------
    Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples; Efron
    and Stein (1981), 10.1214/aos/1176345462.

    Examples
    --------
    >>> import numpy as np
    >>> design = np.array([[1.0, 0.0], [1.0, 1.0]] * 4)
    >>> response = np.array([1.0, 2.0, 3.0, 5.0, 2.0, 2.5, 0.0, 1.5])
    >>> fit = clustered_fit(design, response, np.repeat(np.arange(4), 2))
    >>> fit.estimate.round(2), fit.error.round(3), fit.df  # of the second: mean difference and its paired error
    (array([1.5 , 1.25]), array([0.645, 0.323]), array([3., 3.]))
    """
    place = np.unique(np.asarray(cluster), return_inverse=True)[1]
    members = [place == g for g in range(int(place.max()) + 1)]
    information = np.array([design[rows].T @ design[rows] for rows in members])
    moment = np.array([design[rows].T @ response[rows] for rows in members])
    whole, right = information.sum(axis=0), moment.sum(axis=0)
    inverse = np.linalg.inv(whole)
    left_out = np.array([_without(whole - a, right - b) for a, b in zip(information, moment, strict=True)])
    error = np.sqrt((len(members) - 1) / len(members) * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    least = _ROUNDING * np.sqrt((response**2).sum() / (design**2).sum(axis=0))
    shares = np.einsum("ij,gjk,ki->gi", inverse, information, inverse)
    effective = shares.sum(axis=0) ** 2 / (shares**2).sum(axis=0)
    return Fit(inverse @ right, np.where(error <= least, 0.0, error), np.maximum(1.0, effective - 1))


def _without(information: Floats, moment: Floats) -> Floats:
    """Return the coefficients of the other clusters; NaN for those that these do not determine."""
    scale = np.sqrt(np.maximum(np.diag(information), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    absent = values <= _ABSENT * max(float(values.max()), 1.0)
    kept = vectors[:, ~absent]
    coefficients = kept @ ((kept.T @ (moment / scale)) / values[~absent])
    lost = (np.abs(vectors[:, absent]) > 1e-6).any(axis=1)
    return np.where(lost, np.nan, coefficients / scale)
