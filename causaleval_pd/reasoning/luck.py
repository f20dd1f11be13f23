"""What chance alone does to a PNS: exact laws of perfect and random reasoners, and of decisions, by sample size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..null import Distribution
from .laws import Law
from .validity import share_tests

Floats = NDArray[np.float64]


def random_reasoner(truth: ArrayLike, n: int, *, p_yes: float = 0.5, delta: float = 0.1) -> pd.DataFrame:
    """Say in closed form what random answers score on a PNS: its law does not depend on the truth.

    Answers are yes with probability q in either arm, so the estimated PNS of n samples is Binomial(n, q (1 - q)) / n.

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
        quantiles of the relative absolute error), p_valid (probability of passing for valid by luck).

    Raises
    ------
    ValueError
        If n is less than 1, or a probability is none.

    Examples
    --------
    >>> from causaleval_pd.reasoning import random_reasoner
    >>> random_reasoner([0.05, 0.25], n=1000).round(3)
       truth  expected  rae_low  rae_median  rae_high  p_valid
    0   0.05      0.25    3.560       4.000     4.460    0.000
    1   0.25      0.25    0.004       0.036     0.108    0.938
    """
    true = _probabilities(truth, n)
    if not 0 <= p_yes <= 1:
        raise ValueError(f"p_yes must be a probability from 0 to 1, found {p_yes!r}")
    return _table(true, np.full(len(true), p_yes * (1 - p_yes)), n, delta)


def perfect_reasoner(truth: ArrayLike, n: int, *, delta: float = 0.1) -> pd.DataFrame:
    """Say in closed form what a reasoner without error scores on a PNS by n samples: no more than sampling allows.

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
        As of `random_reasoner`.

    Raises
    ------
    ValueError
        If n is less than 1, or a truth is no probability.

    Examples
    --------
    >>> from causaleval_pd.reasoning import perfect_reasoner
    >>> perfect_reasoner([0.01, 0.25], n=1000)["p_valid"].round(3).tolist()
    [0.366, 0.938]
    """
    true = _probabilities(truth, n)
    return _table(true, true, n, delta)


def decision_power(
    truth: ArrayLike, share: ArrayLike, n: int, *, delta: float = 0.1, floor: float = 0.01, level: float = 0.95
) -> pd.DataFrame:
    """Say how probable each decision of `judge` is, for a reasoner whose answers have the PNS `share`.

    Parameters
    ----------
    truth, share : array_like of float
        True PNS of the world, and PNS of the reasoner's answers; they broadcast.
    n : int
        Samples, independent.
    delta, floor, level
        As in `judge`.

    Returns
    -------
    DataFrame
        A row a pair of numbers: truth, share, valid, invalid, undecided (probabilities).

    Raises
    ------
    ValueError
        If n is less than 1, or a number is no probability.

    Examples
    --------
    >>> from causaleval_pd.reasoning import decision_power
    >>> decision_power(0.2, [0.2, 0.25], n=5000).round(2)
       truth  share  valid  invalid  undecided
    0    0.2   0.20   0.94      0.0       0.06
    1    0.2   0.25   0.00      1.0       0.00
    """
    true, own = np.broadcast_arrays(_probabilities(truth, n), _probabilities(share, n))
    counts, weights = _counts(own, n)
    tolerance = np.broadcast_to((delta * np.maximum(true, floor))[:, None], counts.shape)
    beyond, within = share_tests(counts.astype(np.float64), np.float64(n), true[:, None], tolerance)
    valid = (within <= 1 - level) * weights
    invalid = ((within > 1 - level) & (beyond <= 1 - level)) * weights
    table = pd.DataFrame({"truth": true, "share": own, "valid": valid.sum(axis=1), "invalid": invalid.sum(axis=1)})
    return table.assign(undecided=(1 - table["valid"] - table["invalid"]).clip(lower=0.0))


def _probabilities(values: ArrayLike, n: int) -> Floats:
    if isinstance(n, bool) or int(n) != n or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, found {n!r}")
    found = np.atleast_1d(np.asarray(values, np.float64))
    if not ((found >= 0) & (found <= 1)).all():
        raise ValueError("a PNS must be a probability from 0 to 1")
    return found


def _counts(share: Floats, n: int) -> tuple[NDArray[np.int64], Floats]:
    """Return counts of Binomial(n, share) that have weight, and their weights."""
    ones = np.ones(len(share))
    counts, cumulative = Law(0 * ones, ones / n, 0 * ones, 0 * ones, n * ones, share * ones).support()
    return counts, np.diff(cumulative, prepend=0.0, axis=1)


def _table(truth: Floats, share: Floats, n: int, delta: float) -> pd.DataFrame:
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
            # a tie with the threshold passes: 1e-12 absorbs the rounding of the quotient
            "p_valid": (weights * (rae <= delta + 1e-12)).sum(axis=1),
        }
    )
