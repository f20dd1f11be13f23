"""Effects of chance on a PNS: exact laws of perfect and random reasoners, required sample sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from ...contract.checks import check_number, check_whole, shown
from ...contract.law import Distribution
from .validity import meets
from .yes_counts import Floats, binomial_shares

__all__ = ["perfect_reasoner", "random_reasoner", "required_samples"]


def random_reasoner(truth: ArrayLike, n: int, *, p_yes: float = 0.5, delta: float = 0.1) -> pd.DataFrame:
    """Compute in closed form how random answers score on a PNS; the law does not depend on the truth.

    Answers are yes with probability q in both arms, so the estimated PNS of n samples is Binomial(n, q (1 - q)) / n.

    Parameters
    ----------
    truth : array_like of float
        True PNS.
    n : int
        Samples.
    p_yes : float
        Probability q of yes.
    delta : float
        Largest relative absolute error that counts as valid.

    Returns
    -------
    DataFrame
        A row a truth: truth, expected (mean of the estimated PNS), rae_low, rae_median, rae_high (5, 50 and 95 %
        quantiles of the relative absolute error), p_valid (probability of counting as valid by chance).

    Raises
    ------
    ValueError
        If n is less than 1, or a probability is outside [0, 1].

    Examples
    --------
    >>> from causaleval_pd.reasoning import random_reasoner
    >>> random_reasoner([0.05, 0.25], n=1000).round(3)
       truth  expected  rae_low  rae_median  rae_high  p_valid
    0   0.05      0.25    3.560       4.000     4.460    0.000
    1   0.25      0.25    0.004       0.036     0.108    0.938
    """
    true = _probabilities(truth, n)
    return _table(true, np.full(len(true), _random_share(p_yes)), n, delta)


def perfect_reasoner(truth: ArrayLike, n: int, *, delta: float = 0.1) -> pd.DataFrame:
    """Compute in closed form how a reasoner without error scores on a PNS with n samples.

    The estimated PNS is Binomial(n, truth) / n.

    Parameters
    ----------
    truth : array_like of float
        True PNS.
    n : int
        Samples.
    delta : float
        Largest relative absolute error that counts as valid.

    Returns
    -------
    DataFrame
        As for `random_reasoner`.

    Raises
    ------
    ValueError
        If n is less than 1, or a truth is outside [0, 1].

    Examples
    --------
    >>> from causaleval_pd.reasoning import perfect_reasoner
    >>> perfect_reasoner([0.01, 0.25], n=1000)["p_valid"].round(3).tolist()
    [0.366, 0.938]
    """
    true = _probabilities(truth, n)
    return _table(true, true, n, delta)


def _random_share(p_yes: float) -> float:
    """Return the PNS of random answers."""
    check_number(p_yes, "p_yes", "[0, 1]")
    return p_yes * (1 - p_yes)


def _probabilities(values: ArrayLike, n: int) -> Floats:
    check_whole(n, "n", 1)
    try:
        found = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"a PNS must be a probability from 0 to 1, found {shown(values)}") from None
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("a PNS must be a probability from 0 to 1")
    return found


def _counts(share: Floats, n: Any) -> tuple[NDArray[np.int64], Floats]:
    """Return the counts of Binomial(n, share) with positive weight, and their weights."""
    counts, cumulative = binomial_shares(np.broadcast_to(np.asarray(n, np.float64), share.shape), share).support()
    return counts, np.diff(cumulative, prepend=0.0, axis=1)


def _table(truth: Floats, share: Floats, n: int, delta: float) -> pd.DataFrame:
    check_number(delta, "delta", "[0, inf)")
    counts, weights = _counts(share, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        rae = np.abs(counts / n - truth[:, None]) / truth[:, None]
    exact = Distribution.of(np.arange(len(truth)), rae, weights)
    return pd.DataFrame(
        {
            "truth": truth,
            "expected": share,
            "rae_low": exact.quantile(0.05),
            "rae_median": exact.quantile(0.5),
            "rae_high": exact.quantile(0.95),
            "p_valid": (weights * meets(rae, delta)).sum(axis=1),
        }
    )


def error_quantiles(truth: Floats, share: Floats, n: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """Return the central interval of probability `level` of |Binomial(n, share) / n - truth|, for each row."""
    counts, weights = _counts(share, n)
    errors = np.abs(counts / np.asarray(n, np.float64)[:, None] - truth[:, None])
    order = np.argsort(errors, axis=1)
    errors, reached = np.take_along_axis(errors, order, 1), np.cumsum(np.take_along_axis(weights, order, 1), axis=1)
    low, high = (np.argmax(reached >= q - 1e-12, axis=1) for q in ((1 - level) / 2, (1 + level) / 2))
    return errors[np.arange(len(truth)), low], errors[np.arange(len(truth)), high]


def required_samples(pns: ArrayLike, relative_error: float = 0.1, *, level: float = 0.95) -> Any:
    """Compute the number of samples that estimate a PNS to a given relative error.

    n is the least integer with z * sqrt(PNS (1 - PNS) / n) <= relative_error * PNS.

    Parameters
    ----------
    pns : float or array
        True probability.
    relative_error : float
        Half-width of the interval as a share of the PNS.
    level : float
        Probability that the error stays within.

    Returns
    -------
    float or array
        Number of samples; infinite where PNS is 0.

    Examples
    --------
    >>> from causaleval_pd.reasoning import required_samples
    >>> required_samples([0.21, 0.027]).tolist()
    [1446.0, 13844.0]
    """
    try:
        p = np.asarray(pns, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"pns must be probabilities from 0 to 1, found {shown(pns)}") from None
    if np.any((p < 0) | (p > 1)):
        raise ValueError("pns must be probabilities from 0 to 1")
    check_number(relative_error, "relative_error", "(0, inf)")
    check_number(level, "level", "(0, 1)")
    z = scipy.special.ndtri(0.5 + level / 2)
    with np.errstate(divide="ignore"):
        n = np.ceil((z / relative_error) ** 2 * (1 - p) / p)
    return n if n.ndim else float(n)
