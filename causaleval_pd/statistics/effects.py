"""Effect sizes by name, and those of means in units of the standard deviation, with intervals, one a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import Estimate, mean_difference, moments, ratio, welch_moments
from .dominance import cliffs_delta, paired_cliffs_delta
from .rank_biserial import rank_biserial
from .walsh import hodges_lehmann, median_difference, shift_difference

Effect = Literal[
    "hodges_lehmann", "mean_difference", "median_difference", "rank_biserial", "cliffs_delta", "cohen_dz", "hedges_gz"
]


class EffectSize(NamedTuple):
    """An effect size of pairs and of independent samples.

    Parameters
    ----------
    paired : callable
        Takes the differences of pairs, or both members where `members`, and the level of the interval.
    independent : callable or None
        Takes both samples and the level.
    members : bool
        Whether `paired` takes both members.
    """

    paired: Callable[..., Estimate]
    independent: Callable[..., Estimate] | None
    members: bool = False


def cohen_dz(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return mean / standard deviation of paired differences, with the interval of the noncentral t distribution.

    NaN where the differences do not vary.

    References
    ----------
    Cumming and Finch (2001), 10.1177/0013164401614002.
    """
    n, mean, deviation = moments(difference)
    effect = ratio(mean, deviation)
    root, df = np.sqrt(np.maximum(n, 1)), np.maximum(n - 1, 1)
    # by absolute value, so that a - b and b - a have mirrored intervals
    size = np.abs(effect) * root
    near, far = (scipy.special.nctdtrinc(df, p, size) / root for p in ((1 + level) / 2, (1 - level) / 2))
    minus = effect < 0
    return Estimate(effect, np.where(minus, -far, near), np.where(minus, -near, far))


def hedges_gz(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return Cohen's dz times Hedges' factor, which removes its bias, with the interval of dz.

    dz is too large by 5 % at 16 pairs and by 25 % at 4. The interval is that of the quantity that both estimate. NaN
    below three pairs, where the factor does not exist.

    References
    ----------
    Hedges (1981), 10.3102/10769986006002107.

    Examples
    --------
    >>> differences = [1.0, 2.0, 4.0, -1.0, 3.0]
    >>> cohen_dz(differences).effect.round(3), hedges_gz(differences).effect.round(3)
    (np.float64(0.936), np.float64(0.747))
    """
    found = cohen_dz(difference, level)
    n = (~np.isnan(np.asarray(difference, np.float64))).sum(axis=-1)
    half = np.maximum(n - 1, 2) / 2
    factor = np.exp(scipy.special.gammaln(half) - scipy.special.gammaln(half - 0.5)) / np.sqrt(half)
    return Estimate(*(np.where(n < 3, np.nan, x) for x in (found.effect * factor, found.low, found.high)))


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the difference of the means of independent samples, mean(a) - mean(b), with Welch's interval.

    Limits are NaN where neither sample varies.
    """
    mean, error, df = welch_moments(a, b)
    error = np.where(error == 0, np.nan, error)
    half = scipy.special.stdtrit(df, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half)


EFFECTS: dict[str, EffectSize] = {
    "hodges_lehmann": EffectSize(hodges_lehmann, shift_difference),
    "mean_difference": EffectSize(mean_difference, welch_difference),
    "median_difference": EffectSize(median_difference, None),
    "rank_biserial": EffectSize(rank_biserial, cliffs_delta),
    "cliffs_delta": EffectSize(paired_cliffs_delta, cliffs_delta, members=True),
    "cohen_dz": EffectSize(cohen_dz, None),
    "hedges_gz": EffectSize(hedges_gz, None),
}
