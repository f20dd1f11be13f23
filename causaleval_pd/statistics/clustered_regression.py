"""Linear regression with a random mean of every cluster, and standard errors that leave out one cluster at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

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


def clustered_fit(design: Floats, response: Floats, cluster: ArrayLike, ratio: float) -> Fit:
    """Return coefficients with standard errors by a delete-one-cluster jackknife.

    Parameters
    ----------
    design : (n, k) ndarray
        Columns of full rank.
    response : (n,) ndarray
        Values to explain.
    cluster : (n,) array_like
        Cluster of each row.
    ratio : float
        Variance of the clusters over that of the residuals, which sets the weights.

    Returns
    -------
    Fit
        Coefficients, errors and degrees of freedom. Errors stay valid if rows of a cluster depend on each other in
        another way than the ratio describes. The effective number of clusters is that of equal clusters with the same
        variation of their shares in the variance of the coefficient.

    References
    ----------
    Bell and McCaffrey (2002), Bias reduction in standard errors for linear regression with multi-stage samples; Efron
    and Stein (1981), 10.1214/aos/1176345462.

    Examples
    --------
    >>> import numpy as np
    >>> design = np.array([[1.0, 0.0], [1.0, 1.0]] * 4)
    >>> response = np.array([1.0, 2.0, 3.0, 5.0, 2.0, 2.5, 0.0, 1.5])
    >>> found = clustered_fit(design, response, np.repeat(np.arange(4), 2), 0.7)
    >>> found.estimate.round(2), found.error.round(3), found.df  # of the second: mean difference and its paired error
    (array([1.5 , 1.25]), array([0.645, 0.323]), array([3., 3.]))
    """
    parts = _sums(design, response, cluster)
    information, moment, _ = _weighted(parts, ratio)
    whole, right = information.sum(axis=0), moment.sum(axis=0)
    inverse = np.linalg.inv(whole)
    estimate = inverse @ right
    left_out = np.array([_without(whole - a, right - b) for a, b in zip(information, moment, strict=True)])
    count = len(parts.size)
    error = np.sqrt((count - 1) / count * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    least = _ROUNDING * np.sqrt((response**2).sum() / (design**2).sum(axis=0))
    error = np.where(error <= least, 0.0, error)
    shares = np.einsum("ij,gjk,ki->gi", inverse, information, inverse)
    effective = shares.sum(axis=0) ** 2 / (shares**2).sum(axis=0)
    return Fit(estimate, error, np.maximum(1.0, effective - 1))


class Variances(NamedTuple):
    """Variances of the random part of a mixed model."""

    cluster: float
    residual: float
    #: whether the optimiser ended
    converged: bool


def reml_variances(design: Floats, response: Floats, cluster: ArrayLike) -> Variances:
    """Estimate the variance of the means of clusters and that of residuals by restricted maximum likelihood.

    Parameters as in `clustered_fit`. The likelihood is that of one ratio of both variances, which is searched from
    e^-12 to e^12; 0 where that is at least as likely.

    References
    ----------
    Patterson and Thompson (1971), 10.1093/biomet/58.3.545.

    Examples
    --------
    >>> import numpy as np
    >>> response = np.array([1.0, 2.0, 6.0, 5.0, 9.0, 9.5, 3.0, 4.0])
    >>> found = reml_variances(np.ones((8, 1)), response, np.repeat(np.arange(4), 2))
    >>> round(found.cluster, 3), round(found.residual, 3)  # of an analysis of variance: mean squares 21.865 and .406
    (10.729, 0.406)
    """
    parts = _sums(design, response, cluster)
    freedom = len(response) - design.shape[1]

    def deviance(log_ratio: float) -> tuple[float, float]:
        ratio = float(np.exp(log_ratio))
        information, moment, squares = _weighted(parts, ratio)
        whole, right = information.sum(axis=0), moment.sum(axis=0)
        residual = max(float(squares - right @ np.linalg.solve(whole, right)), np.finfo(np.float64).tiny) / freedom
        determinants = np.log1p(ratio * parts.size).sum() + np.linalg.slogdet(whole)[1]
        return float(freedom * np.log(residual) + determinants), residual

    steps = np.linspace(-12, 12, 49)
    best = int(np.argmin([deviance(x)[0] for x in steps]))
    ends = steps[max(best - 1, 0)], steps[min(best + 1, len(steps) - 1)]
    search = scipy.optimize.minimize_scalar(lambda x: deviance(x)[0], bounds=ends, method="bounded")
    none = deviance(-np.inf)
    if none[0] <= float(search.fun):
        return Variances(0.0, none[1], True)
    residual = deviance(float(search.x))[1]
    return Variances(float(np.exp(search.x)) * residual, residual, bool(search.success))


class _Sums(NamedTuple):
    """Sums over the rows of every cluster."""

    size: Floats
    products: Floats
    columns: Floats
    moments: Floats
    total: Floats
    squares: float


def _sums(design: Floats, response: Floats, cluster: ArrayLike) -> _Sums:
    """Add up what the likelihood and the coefficients need of every cluster."""
    place = np.unique(np.asarray(cluster), return_inverse=True)[1]
    groups = [np.flatnonzero(place == g) for g in range(int(place.max()) + 1)]
    rows = [(design[x], response[x]) for x in groups]
    return _Sums(
        np.array([float(len(y)) for _, y in rows]),
        np.array([x.T @ x for x, _ in rows]),
        np.array([x.sum(axis=0) for x, _ in rows]),
        np.array([x.T @ y for x, y in rows]),
        np.array([y.sum() for _, y in rows]),
        float(response @ response),
    )


def _weighted(parts: _Sums, ratio: float) -> tuple[Floats, Floats, float]:
    """Return the information and moment of every cluster and the sum of squares, weighted by the ratio of variances."""
    share = ratio / (1 + ratio * parts.size)
    information = parts.products - share[:, None, None] * parts.columns[:, :, None] * parts.columns[:, None, :]
    moment = parts.moments - share[:, None] * parts.columns * parts.total[:, None]
    return information, moment, parts.squares - float((share * parts.total**2).sum())


def _without(information: NDArray[np.float64], moment: Floats) -> Floats:
    """Return the coefficients of the other clusters; NaN for those that these do not determine."""
    scale = np.sqrt(np.maximum(np.diag(information), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    absent = values <= _ABSENT * max(float(values.max()), 1.0)
    kept = vectors[:, ~absent]
    found = kept @ ((kept.T @ (moment / scale)) / values[~absent])
    lost = (np.abs(vectors[:, absent]) > 1e-6).any(axis=1)
    return np.where(lost, np.nan, found / scale)
