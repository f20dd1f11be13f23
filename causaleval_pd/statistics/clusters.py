"""Groups of values that are not independent, such as the runs on one truth: sums, means, and linear regression.

Errors of the regression come from leaving out one cluster at a time.

References
----------
.. [1] MacKinnon, J. G., White, H. (1985). Some heteroskedasticity-consistent covariance matrix estimators with
   improved finite sample properties. doi:10.1016/0304-4076(85)90158-7
.. [2] Kish, L. (1965). Survey sampling.
.. [3] Bell, R. M., McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
   samples.
.. [4] Efron, B., Stein, C. (1981). The jackknife estimate of variance. doi:10.1214/aos/1176345462
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import Estimate, Floats, mean_difference
from .direction import TOLERANCE


def cluster_sums(values: ArrayLike, cluster: ArrayLike) -> tuple[Floats, Floats]:
    """Return the sum of the values (NaN where absent) of each cluster, and their number, (..., n).

    Clusters stand in the order of their first values; beyond the last one sums are NaN and sizes 0.
    """
    values = np.asarray(values, np.float64)
    flat = values.reshape(math.prod(values.shape[:-1]), values.shape[-1])
    groups = np.broadcast_to(np.asarray(cluster), values.shape).reshape(flat.shape)
    order = np.argsort(np.where(np.isnan(flat), np.iinfo(np.int64).max, groups), axis=1, kind="stable")
    groups, ordered = np.take_along_axis(groups, order, axis=1), np.take_along_axis(flat, order, axis=1)
    here = ~np.isnan(ordered)
    first = here.copy()
    first[:, 1:] &= groups[:, 1:] != groups[:, :-1]
    # clusters take places by the columns of their first values
    rank = np.argsort(np.argsort(np.where(first, order, flat.shape[1]), axis=1, kind="stable"), axis=1, kind="stable")
    start = np.maximum.accumulate(np.where(first, np.arange(flat.shape[1]), 0), axis=1)
    place = np.arange(len(flat))[:, None] * flat.shape[1] + np.take_along_axis(rank, start, axis=1)

    def by_cluster(weights: Floats) -> Floats:
        total = np.bincount(place.reshape(-1), weights.reshape(-1), flat.size)
        return np.asarray(total.reshape(flat.shape), np.float64)

    sizes = by_cluster(here.astype(np.float64))
    sums = np.where(sizes > 0, by_cluster(np.where(here, ordered, 0.0)), np.nan)
    return sums.reshape(values.shape), sizes.reshape(values.shape)


def cluster_count(values: ArrayLike, cluster: ArrayLike | None) -> NDArray[np.int64]:
    """Return the number of clusters with a value, (...); without clusters, the number of values."""
    here = ~np.isnan(np.asarray(values, np.float64)) if cluster is None else cluster_sums(values, cluster)[1] > 0
    return np.asarray(here.sum(axis=-1), np.int64)


def cluster_means(values: ArrayLike, cluster: ArrayLike | None) -> Floats:
    """Return the mean of each cluster, (..., n), NaN beyond the last one; the values themselves without clusters."""
    if cluster is None:
        return np.asarray(values, np.float64)
    sums, sizes = cluster_sums(values, cluster)
    return np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)


def clustered_mean(values: ArrayLike, cluster: ArrayLike, level: float) -> Estimate:
    """Return the mean of the values (..., n) with a jackknife t interval [1]_ for independent clusters of values.

    It has one degree of freedom fewer than the effective number of clusters [2]_, and is that of `mean_difference`
    where every value is a cluster. Limits are NaN for one cluster and where clusters do not differ.

    With normal values it covers .95 of .95 for clusters of equal size and at least .946 for unequal ones, more than .98
    where one of few clusters has most values; with skewed values (gamma, shape 2) .91 and more. Liang and Zeger's error
    with one degree of freedom fewer than clusters covers .81 to .90 for clusters of 12, 4, 2, 1 and 1 values.
    """
    values = np.asarray(values, np.float64)
    simple = mean_difference(values, level)
    sums, sizes = cluster_sums(values, cluster)
    low, high = cluster_limits(sums, sizes, level)
    repeated = (sizes > 1).any(axis=-1)
    return Estimate(simple.effect, np.where(repeated, low, simple.low), np.where(repeated, high, simple.high))


def cluster_limits(sums: ArrayLike, sizes: ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Return the limits of `clustered_mean` from the sums and sizes that `cluster_sums` returns."""
    sizes = np.asarray(sizes, np.float64)
    sums = np.where(sizes > 0, np.asarray(sums, np.float64), 0.0)
    error, effective = jackknife_error(sums, sizes)
    usable = np.isfinite(error)
    sums = np.where(usable[..., None], sums, 0.0)
    mean = sums.sum(axis=-1) / np.maximum(sizes.sum(axis=-1), 1.0)
    noise = TOLERANCE * np.abs(sums / np.maximum(sizes, 1.0)).max(axis=-1, initial=0.0)
    reach = scipy.special.stdtrit(np.maximum(effective - 1, 1.0), (1 + level) / 2) * error
    shown = usable & (error > noise)
    return np.where(shown, mean - reach, np.nan), np.where(shown, mean + reach, np.nan)


def jackknife_error(sums: ArrayLike, sizes: ArrayLike) -> tuple[Floats, Floats]:
    """Return the error of the mean by leaving out one cluster at a time, and Kish's effective number of clusters [2]_.

    The error is NaN for one cluster and where a value is infinite; the number is (sum of sizes)^2 / sum of sizes^2.
    """
    sizes = np.asarray(sizes, np.float64)
    here = sizes > 0
    sums = np.where(here, np.asarray(sums, np.float64), 0.0)
    usable = np.isfinite(sums).all(axis=-1) & (here.sum(axis=-1) > 1)
    sums = np.where(usable[..., None], sums, 0.0)
    number, n = np.maximum(here.sum(axis=-1), 1), np.maximum(sizes.sum(axis=-1), 1.0)
    mean = sums.sum(axis=-1) / n
    # by how much the mean changes without each cluster
    left = np.where(here & usable[..., None], n[..., None] - sizes, 1.0)
    change = np.where(here, (mean[..., None] * sizes - sums) / left, 0.0)
    apart = np.where(here, change - (change.sum(axis=-1) / number)[..., None], 0.0)
    error = np.sqrt((number - 1) / number * (apart**2).sum(axis=-1))
    effective = n**2 / np.maximum((sizes**2).sum(axis=-1), 1.0)
    return np.asarray(np.where(usable, error, np.nan)), np.asarray(effective)


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
    """Return least squares coefficients with delete-one-cluster jackknife errors (CRV3 [3]_ [4]_).

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
