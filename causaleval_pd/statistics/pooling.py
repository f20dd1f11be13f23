"""The mean of several strata's skills, and a test that they are equal."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, moments, ratio
from .direction import TOLERANCE
from .monte_carlo import noise_alone
from .skill import FEWEST_CLUSTERS, FEWEST_EFFECTIVE, jackknife_limits, vary

#: strata from which on the mean has an interval, and truths of every stratum from which on their equality is tested
FEWEST_STRATA, FEWEST_TRUTHS = 3, 20


class PooledSkill(NamedTuple):
    """Mean skill over strata and its limits."""

    skill: float
    low: float
    high: float
    #: variance of skill between strata
    tau2: float
    #: strata that have information
    n_effects: int


def pool_skills(skill: ArrayLike, variance: ArrayLike, level: float = 0.95) -> PooledSkill:
    """Pool the skills of strata by a random-effects model whose weights come from the controls.

    Parameters
    ----------
    skill : (k,) array_like
        Skill of each stratum.
    variance : (k,) array_like
        Variance of each skill under random guessing, that is of its controls. It does not depend on the runs, so that
        perfect strata and strata of one run count, and weights are not correlated with skills.
    level : float
        Probability of the interval.

    Returns
    -------
    PooledSkill
        Paule and Mandel's variance between strata, the weighted mean, and Hartung and Knapp's limits with a factor of
        at least 1, at most 1. Their degrees of freedom are the number of strata less 1; where a few strata outweigh
        the others, so that Kish's effective number of strata is below half of that, they are the effective number less
        1, at least 1. Strata without skill or with variance 0, whose controls are all alike, have no information and
        are left out. Limits are NaN below three strata, and everything without any.

    References
    ----------
    Paule and Mandel (1982), 10.6028/jres.087.022; IntHout, Ioannidis and Borm (2014), 10.1186/1471-2288-14-25.

    Examples
    --------
    >>> found = pool_skills([1.0, 1.0, 1.0, -0.03], [0.008] * 4)
    >>> [round(x, 2) for x in found[:4]]
    [0.74, -0.08, 1.0, 0.26]
    """
    y, v, used = _informative(skill, variance)
    k = int(used.sum())
    if k == 0:
        return PooledSkill(math.nan, math.nan, math.nan, math.nan, 0)
    y, v = y[used], v[used]
    if k == 1:
        return PooledSkill(float(y[0]), math.nan, math.nan, math.nan, 1)
    tau2 = _variance_between(y, v)
    weights = 1 / (v + tau2)
    centre = float((weights * y).sum() / weights.sum())
    if k < FEWEST_STRATA:
        return PooledSkill(centre, math.nan, math.nan, tau2, k)
    scale = max(1.0, float((weights * (y - centre) ** 2).sum()) / (k - 1))
    # the variance between strata is not known well enough for strata that outweigh the others
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    freedom = k - 1 if effective >= k / 2 else max(1.0, effective - 1)
    reach = float(scipy.special.stdtrit(freedom, (1 + level) / 2)) * math.sqrt(scale / weights.sum())
    return PooledSkill(centre, centre - reach, min(centre + reach, 1.0), tau2, k)


def pool_shared_skills(
    loss: ArrayLike,
    control_loss: ArrayLike,
    variance: ArrayLike,
    level: float = 0.95,
    *,
    control_error: ArrayLike | None = None,
) -> PooledSkill:
    """Pool the skills of strata that share truths, as `pool_skills`, with limits of a jackknife over truths.

    Parameters
    ----------
    loss, control_loss : (k, n) array_like
        Sums of the losses and of the expected control losses of each stratum on each truth; NaN where absent.
    variance : (k,) array_like
        As in `pool_skills`.
    level : float
        Probability of the interval.
    control_error : (k, n) array_like, optional
        Monte Carlo standard errors of the control losses, where these are means of draws; default 0.

    Returns
    -------
    PooledSkill
        The limits hold the weights of strata fixed. They are NaN where `skill_interval` of the truths has none: below
        five truths, below an effective number of three, where fewer than two truths have a loss, and where all truths
        have the same share of losses, or shares that differ by no more than Monte Carlo errors do.

    Examples
    --------
    >>> losses = [[2.0, 3.0, 1.0, 2.0, 2.0, 4.0], [1.0, 2.0, 1.0, 3.0, 2.0, 3.0]]
    >>> found = pool_shared_skills(losses, [[6.0] * 6] * 2, [0.01, 0.01])
    >>> [round(x, 2) for x in found[:3]]
    [0.64, 0.45, 0.76]
    """
    losses, controls = (np.asarray(x, np.float64) for x in (loss, control_loss))
    gone = np.isnan(losses) | np.isnan(controls)
    losses, controls = np.where(gone, 0.0, losses), np.where(gone, 0.0, controls)
    top, bottom = losses.sum(axis=1), controls.sum(axis=1)
    skills = np.where((bottom > 0) & np.isfinite(top) & np.isfinite(bottom), 1 - ratio(top, bottom), np.nan)
    pooled = pool_skills(skills, variance, level)
    _, v, used = _informative(skills, variance)
    present = (~gone[used]).any(axis=0)
    if pooled.n_effects == 0:
        return pooled
    losses, controls, top, bottom = losses[used][:, present], controls[used][:, present], top[used], bottom[used]
    weights = 1 / (v[used] + (pooled.tau2 if pooled.n_effects > 1 else 0.0))
    # a stratum without the truth that is left out keeps its weight; one without other truths has none
    rest_bottom = bottom[:, None] - controls
    left = rest_bottom > TOLERANCE * bottom[:, None]
    rest = np.where(left, ratio(top[:, None] - losses, np.where(left, rest_bottom, 1.0)), 0.0)
    rest = ratio(weights @ rest, weights @ left)
    parts = (weights / weights.sum()) @ (controls / bottom[:, None])
    effective = 1 / (parts**2).sum()
    # by truth, Monte Carlo errors of the pooled share, relative to it
    errors = np.zeros(gone.shape) if control_error is None else np.where(gone, 0.0, np.nan_to_num(control_error))
    shares = (weights * top / bottom**2)[:, None] * errors[used][:, present]
    noise = np.sqrt((shares**2).sum(axis=0)) / np.where(weights @ (top / bottom) > 0, weights @ (top / bottom), np.inf)
    enough = len(parts) >= FEWEST_CLUSTERS and effective >= FEWEST_EFFECTIVE
    if not enough or ((losses > TOLERANCE).any(axis=0)).sum() < 2 or not vary(rest, noise):
        return pooled._replace(low=math.nan, high=math.nan)
    low, high = jackknife_limits(np.array(1 - pooled.skill), rest, np.array(effective), level)
    return pooled._replace(low=float(low), high=min(float(high), 1.0))


def _informative(skill: ArrayLike, variance: ArrayLike) -> tuple[Floats, Floats, Bools]:
    """Return skills, variances, and which strata have both."""
    y, v = (np.asarray(x, np.float64) for x in (skill, variance))
    return y, v, np.isfinite(y) & (v > 0) & np.isfinite(v)


def _variance_between(y: Floats, v: Floats) -> float:
    """Return Paule and Mandel's variance: with it, the weighted sum of squares is its expectation."""

    def excess(tau2: float) -> float:
        weights = 1 / (v + tau2)
        centre = (weights * y).sum() / weights.sum()
        return float((weights * (y - centre) ** 2).sum()) - (len(y) - 1)

    if excess(0.0) <= 0:
        return 0.0
    # the variance of the skills themselves is large enough
    return float(scipy.optimize.brentq(excess, 0.0, len(y) * float(np.var(y)) + 1e-12, xtol=1e-14))


def equal_skills(loss: Floats, control_loss: Floats, control_error: Floats | None = None) -> tuple[float, float]:
    """Test whether strata have the same skill by Welch's analysis of variance of linearised skills; approximate.

    Parameters
    ----------
    loss, control_loss : (k, n) ndarray
        Losses of the runs on each truth of each stratum and those expected of their controls, NaN where absent.
    control_error : (k, n) ndarray, optional
        Monte Carlo standard errors of the latter; default 0.

    Returns
    -------
    statistic, p_value : float
        NaN below two strata, where a stratum has fewer than 20 truths, where all are alike, as if perfect or but for
        Monte Carlo errors, and with an infinite loss.

    References
    ----------
    Welch (1951), 10.1093/biomet/38.3-4.330.
    """
    totals = [np.where(np.isnan(x), 0.0, x).sum(axis=1, keepdims=True) for x in (loss, control_loss)]
    here = totals[1][:, 0] > 0
    if here.sum() < 2 or not np.isfinite(totals).all():
        return math.nan, math.nan
    top, bottom = (x[here] for x in totals)
    numbers = (~np.isnan(loss[here])).sum(axis=1, keepdims=True)
    share = top / bottom
    values = 1 - share - (loss[here] - share * control_loss[here]) / (bottom / numbers)
    n, mean, deviation = moments(values)
    errors = np.zeros(values.shape) if control_error is None else np.nan_to_num(control_error[here])
    alone = noise_alone(values, errors * share / (bottom / numbers))
    if (n < FEWEST_TRUTHS).any() or not (deviation > 0).all() or alone.any():
        return math.nan, math.nan
    k, weights = len(n), n / deviation**2
    total = weights.sum()
    centre = (weights * mean).sum() / total
    spread = ((1 - weights / total) ** 2 / (n - 1)).sum()
    statistic = (weights * (mean - centre) ** 2).sum() / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    return float(statistic), float(scipy.special.fdtrc(k - 1, (k**2 - 1) / (3 * spread), statistic))
