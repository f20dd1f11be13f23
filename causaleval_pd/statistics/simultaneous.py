"""Intervals that hold all their true values at once: the level that each of them needs."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import BLOCK, Floats, ratio

#: estimates times clusters of which correlations are computed
MOST_NUMBERS = 4 * BLOCK
#: estimates whose correlations give the share by which all are shrunk
_MOST_PAIRED = 2000


def sidak_level(level: float, k: int) -> float:
    """Return the level of single intervals that suffices for k estimates, however they are related.

    Examples
    --------
    >>> round(sidak_level(0.95, 3), 3)
    0.983
    """
    return float(level ** (1 / max(1, k)))


def single_level(
    influence: Floats,
    level: float = 0.95,
    *,
    n_resamples: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> float:
    """Return the level of single intervals at which the intervals of all estimates hold their true values together.

    Parameters
    ----------
    influence : (k, G) ndarray
        What each of G clusters, such as truths, contributes to each of k estimates: its value minus their mean, or a
        jackknife value minus their mean. NaN where a cluster is not among those of the estimate. A cluster has the same
        column for all estimates.
    level : float
        Probability that all intervals hold their true values.
    n_resamples : int
        Number of random multipliers of each cluster.
    rng : int, Generator or None
        Source of randomness.

    Returns
    -------
    float
        From `level` for estimates that move together to Šidák's, `sidak_level`, for estimates that are not related.
        Estimates whose clusters contribute nothing do not count.

    Notes
    -----
    A draw multiplies the contributions of a cluster to all estimates by the same normal number. The largest absolute
    value of the k standardised sums has the quantile q, and the level is P(|N| <= q) of one normal number N: each
    interval keeps the quantiles of its own distribution, such as t with its own degrees of freedom. Few clusters show
    correlations that are not there, which would make q too small: correlations are shrunk towards 0 by the estimated
    share of noise in their squares [1]_. No correlation needs more than Šidák's level [2]_.

    References
    ----------
    .. [1] Schäfer, J., Strimmer, K. (2005). A shrinkage approach to large-scale covariance matrix estimation.
       doi:10.2202/1544-6115.1175
    .. [2] Šidák, Z. (1967). Rectangular confidence regions for the means of multivariate normal distributions.
       doi:10.1080/01621459.1967.10482935

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.kron(np.eye(3), [1.0, -2.0, 3.0, -2.0, 1.0, -1.0])  # three estimates without common clusters
    >>> level = single_level(np.where(apart == 0, np.nan, apart), rng=1)
    >>> round(level, 3), round(0.95 ** (1 / 3), 3)
    (0.983, 0.983)
    """
    here = ~np.isnan(influence)
    length = np.sqrt((np.where(here, influence, 0.0) ** 2).sum(axis=1))
    some = length > 0
    if some.sum() < 2:
        return level
    here = here[some]
    unit = np.where(here, influence[some], 0.0) / length[some, None]
    noise = _share_of_noise(unit, here)
    draw = np.random.default_rng(rng)
    k, clusters = unit.shape
    largest: list[Floats] = []
    step = max(1, BLOCK // max(k, clusters))
    for start in range(0, n_resamples, step):
        count = min(step, n_resamples - start)
        together = draw.standard_normal((count, clusters)) @ unit.T
        alone = draw.standard_normal((count, k))
        largest.append(np.abs(np.sqrt(1 - noise) * together + np.sqrt(noise) * alone).max(axis=1))
    quantile = np.quantile(np.concatenate(largest), level, method="higher")
    return max(level, float(2 * scipy.special.ndtr(quantile) - 1))


def _share_of_noise(unit: Floats, here: NDArray[np.bool_]) -> float:
    """Return the share of the squared correlations of estimates with common clusters that few clusters explain."""
    rows = np.unique(np.linspace(0, len(unit) - 1, min(len(unit), _MOST_PAIRED)).astype(np.int64))
    unit, here = unit[rows], here[rows]
    shared = here.astype(np.float64) @ here.T
    related = (shared > 1) & ~np.eye(len(rows), dtype=bool)
    squares = np.minimum((unit @ unit.T)[related] ** 2, 1.0)
    variance = (1 - squares) ** 2 / (shared[related] - 1)
    return float(np.clip(ratio(variance.sum(), squares.sum(), empty=1.0), 0.0, 1.0))


def contributions(values: Floats, centre: ArrayLike, *, ranks: bool) -> Floats:
    """Return what each value contributes to the mean, or to the rank-based centre, of its row.

    Parameters
    ----------
    values : (k, n) ndarray
        Values, NaN where absent.
    centre : (k,) array_like
        The estimate of each row: its mean, or a centre that ranks give.
    ranks : bool
        Whether the estimate goes by the signs of Walsh averages, as Hodges and Lehmann's.

    Returns
    -------
    (k, n) ndarray
        The distance from the centre, NaN in rows with an infinite value; by ranks, the mean sign of the Walsh averages
        of a value, 0 for one of two infinities. Each row has mean 0.

    Examples
    --------
    >>> contributions(np.array([[1.0, 2.0, 6.0]]), [3.0], ranks=False)
    array([[-2., -1.,  3.]])
    """
    with np.errstate(invalid="ignore"):  # infinities of both signs
        apart = values - np.asarray(centre, np.float64)[:, None]
        if ranks:
            for row, own in enumerate(apart):
                known = ~np.isnan(own)
                apart[row, known] = np.nan_to_num(np.sign(own[known, None] + own[known])).sum(axis=1)
        else:
            apart[np.isinf(apart).any(axis=1)] = np.nan
    number = (~np.isnan(apart)).sum(axis=1, keepdims=True)
    mean = ratio(np.where(np.isnan(apart), 0.0, apart).sum(axis=1, keepdims=True), number)
    return np.asarray(apart - mean, np.float64)
