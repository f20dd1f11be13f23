"""Linear regression of rows that depend on each other in clusters: errors by leaving out one cluster at a time.

References
----------
.. [1] Bell, R. M., McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
   samples.
.. [2] Efron, B., Stein, C. (1981). The jackknife estimate of variance. doi:10.1214/aos/1176345462
"""

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
    """Return least squares coefficients with delete-one-cluster jackknife errors (CRV3 [1]_ [2]_).

    The design (n, k) has full rank. The effective number of clusters is that of equal clusters with the same variation
    of their shares in the variance of the coefficient.
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
