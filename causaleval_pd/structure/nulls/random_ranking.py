"""Expected scores of random rankings of candidate edges: average precision and the area under the ROC curve.

Candidates are N node pairs (or ordered pairs) of which K are true edges; under the null model all orders of the
candidates are equally likely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import shown

__all__ = ["auroc_moments", "expected_average_precision", "tie_sum"]

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """Mean and variance of a score under random ranking."""

    mean: Floats
    variance: Floats


def _numbers(given: ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, found {shown(given)}") from None


def _checked(true_edges: ArrayLike, candidates: ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.broadcast_arrays(_numbers(true_edges, "true_edges"), _numbers(candidates, "candidates"))
    bad = ~((k >= 0) & (k <= n) & (k == np.floor(k)) & (n == np.floor(n)))
    if bad.any():
        i = int(np.flatnonzero(bad.ravel())[0])
        raise ValueError(
            f"true_edges must be whole numbers from 0 to candidates, found {k.ravel()[i]:g} of {n.ravel()[i]:g}"
        )
    return k, n


def expected_average_precision(true_edges: ArrayLike, candidates: ArrayLike) -> Floats:
    """Return the exact mean of average precision under random ranking without ties.

    (H_N + (K - 1) / (N - 1) (N - H_N)) / N with N candidates, K of them true, and H_N = 1 + 1/2 + ... + 1/N. It exceeds
    K / N, the precision of a random choice, most for few candidates.

    Parameters
    ----------
    true_edges : array_like of int
        True edges K among the candidates.
    candidates : array_like of int
        Candidates N; broadcast with `true_edges`.

    Returns
    -------
    ndarray
        NaN without true edges.

    Raises
    ------
    ValueError
        If numbers do not fit.

    References
    ----------
    Bestgen, Y. (2015). Exact expected average precision of the random baseline for system evaluation.
    doi:10.1515/pralin-2015-0007

    Examples
    --------
    >>> expected_average_precision(1, [1, 2, 10]).round(4).tolist()
    [1.0, 0.75, 0.2929]
    """
    k, n = _checked(true_edges, candidates)
    harmonic = scipy.special.digamma(n + 1) + np.euler_gamma
    slope = np.divide(k - 1, n - 1, out=np.zeros_like(n), where=n > 1)
    mean = np.divide(harmonic + slope * (n - harmonic), n, out=np.full(n.shape, np.nan), where=k > 0)
    return np.asarray(mean)


def auroc_moments(true_edges: ArrayLike, candidates: ArrayLike, ties: ArrayLike | None = None) -> Moments:
    """Return the exact mean and variance of the area under the ROC curve under random ranking.

    The area is Mann and Whitney's U / (K (N - K)): its mean is 1/2 and its variance (N + 1 - T) / (12 K (N - K)), where
    T = sum (t^3 - t) / (N (N - 1)) over groups of t tied candidates.

    Parameters
    ----------
    true_edges, candidates : array_like of int
        As in `expected_average_precision`.
    ties : array_like, optional
        sum (t^3 - t) over the groups of tied scores, see `tie_sum`; default no ties.

    Returns
    -------
    Moments
        NaN without true or without false candidates.

    Raises
    ------
    ValueError
        If numbers do not fit.

    References
    ----------
    Mann, H. B., Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger than
    the other. doi:10.1214/aoms/1177730491

    Examples
    --------
    >>> found = auroc_moments(4, 10)
    >>> float(found.mean), float(found.variance.round(4))
    (0.5, 0.0382)
    """
    k, n = _checked(true_edges, candidates)
    tied = np.zeros_like(n) if ties is None else np.broadcast_to(_numbers(ties, "ties"), n.shape)
    product = k * (n - k)
    defined = product > 0
    shrink = np.divide(tied, n * (n - 1), out=np.zeros_like(n), where=n > 1)
    variance = np.divide(n + 1 - shrink, 12 * product, out=np.full(n.shape, np.nan), where=defined)
    return Moments(np.where(defined, 0.5, np.nan), variance)


def tie_sum(scores: ArrayLike) -> Floats:
    """Return sum (t^3 - t) over the groups of equal values along the last axis.

    Parameters
    ----------
    scores : (..., n) array_like
        Scores of the candidates.

    Returns
    -------
    (...) ndarray
        0 without ties.

    Examples
    --------
    >>> tie_sum([[3.0, 1.0, 3.0, 3.0], [1.0, 2.0, 3.0, 4.0]]).tolist()
    [24.0, 0.0]
    """
    ordered = np.sort(np.atleast_1d(_numbers(scores, "scores")), axis=-1)
    if not ordered.size:
        return np.zeros(ordered.shape[:-1])
    flat = ordered.reshape(-1, ordered.shape[-1])
    new = np.ones(flat.shape, bool)
    new[:, 1:] = flat[:, 1:] != flat[:, :-1]
    group = np.cumsum(new, axis=1) - 1 + np.arange(len(flat))[:, None] * flat.shape[1]
    sizes = np.bincount(group.ravel(), minlength=flat.size).reshape(flat.shape).astype(np.float64)
    return np.asarray((sizes**3 - sizes).sum(axis=1).reshape(ordered.shape[:-1]))
