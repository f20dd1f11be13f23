"""Skill, 1 - sum of losses / sum of losses expected of controls: its interval, and the difference of two skills.

Losses and control losses (..., n) are sums by cluster, such as a truth; NaN where absent.

References
----------
.. [1] Efron, B., Stein, C. (1981). The jackknife estimate of variance. doi:10.1214/aos/1176345462
.. [2] Kish, L. (1965). Survey sampling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import Bools, Estimate, Floats, ratio
from .direction import TOLERANCE
from .monte_carlo import FEW_ERRORS, NOISE_ALONE, largest_variance
from .paired_tests import Alternative, check_alternative

#: clusters below which there is no interval, and effective number of clusters (Kish)
FEWEST_CLUSTERS, FEWEST_EFFECTIVE = 5, 3
#: clusters from which on a rare large loss has probably been seen
MANY_CLUSTERS = 50
#: losses and expected control losses by cluster, and the Monte Carlo errors of the latter where there are any
Sums = tuple[ArrayLike, ...]


def skill_interval(
    loss: ArrayLike,
    control_loss: ArrayLike,
    level: float = 0.95,
    *,
    control_error: ArrayLike | None = None,
) -> Estimate:
    """Return skill and its interval by a delete-one-cluster jackknife [1]_ of log(losses / control losses).

    Skill is NaN where the controls have no loss or infinite ones, and minus infinity where only the runs have infinite
    ones. Limits are NaN then, below five clusters, below an effective number of three (Kish [2]_: control losses are
    the weights), where fewer than two clusters have a loss, as where all runs are perfect, and where all clusters have
    the same share of losses, or shares that differ by no more than Monte Carlo errors do. They assume that no rare
    large losses are missing from the sample. `control_error` holds Monte Carlo standard errors; default 0, which is
    exact.
    """
    support = _support(loss, control_loss, control_error)
    share, rest = _shares(support)
    low, high = jackknife_limits(share, rest, support.effective, level)
    shown = _shown(support, rest)
    return Estimate(1 - share, np.where(shown, low, np.nan), np.where(shown, high, np.nan))


def skill_notes(
    loss: ArrayLike, control_loss: ArrayLike, *, control_error: ArrayLike | None = None
) -> NDArray[np.object_]:
    """Return why skill has no interval, or what the interval assumes, (...); None where there is nothing to note."""
    support = _support(loss, control_loss, control_error)
    rest = _shares(support)[1]
    words = {
        "no skill: the controls have infinite losses": (support.n_clusters > 0) & np.isposinf(support.control_loss),
        "no interval: infinite losses": (support.n_clusters > 0) & np.isposinf(support.loss),
        "no skill: the controls have no loss": (support.n_clusters > 0) & ~support.usable,
        "skill 1, no interval: no run has a loss": support.usable & (support.n_lossy == 0),
        f"no interval: fewer than {FEWEST_CLUSTERS} clusters": support.usable & (support.n_clusters < FEWEST_CLUSTERS),
        "no interval: fewer than 2 clusters have a loss": support.usable & (support.n_lossy < 2),
        "no interval: few clusters outweigh the others": support.usable & (support.effective < FEWEST_EFFECTIVE),
        "no interval: no variation": support.usable & ~vary(rest),
        f"no interval: {NOISE_ALONE}": support.usable & ~vary(rest, support.relative_errors),
        f"assumes no rare large losses: fewer than {MANY_CLUSTERS} clusters": support.usable
        & (support.n_clusters < MANY_CLUSTERS),
    }
    return np.select(list(words.values()), [np.array(word, object) for word in words], np.array(None, object))


class _Support(NamedTuple):
    """What supports an interval of skill; sums over the clusters (...) of losses and controls (..., n)."""

    losses: Floats
    controls: Floats
    loss: Floats
    control_loss: Floats
    usable: Bools
    n_clusters: NDArray[np.int64]
    n_lossy: NDArray[np.int64]
    #: effective number of clusters
    effective: Floats
    #: (..., n): Monte Carlo errors of the controls, as shares of the sum of their losses
    relative_errors: Floats

    @property
    def known(self) -> Bools:
        """Where the losses of the controls are finite."""
        return np.asarray(np.isfinite(self.control_loss), bool)


def _support(loss: ArrayLike, control_loss: ArrayLike, control_error: ArrayLike | None = None) -> _Support:
    losses, controls = _pairs(loss, control_loss)
    top, bottom = (np.where(np.isnan(x), 0.0, x).sum(axis=-1) for x in (losses, controls))
    usable = (bottom > TOLERANCE) & np.isfinite(top) & np.isfinite(bottom)
    with np.errstate(invalid="ignore"):
        effective = ratio(bottom**2, np.where(np.isnan(controls), 0.0, controls**2).sum(axis=-1))
    n, lossy = (~np.isnan(losses)).sum(axis=-1), (losses > TOLERANCE).sum(axis=-1)
    errors = _relative_errors(controls, control_error)
    return _Support(losses, controls, top, bottom, usable, n, lossy, effective, errors)


def _relative_errors(controls: Floats, control_error: ArrayLike | None) -> Floats:
    """Return the Monte Carlo errors of control losses (..., n) as shares of their sum; 0 where none is known."""
    if control_error is None:
        return np.zeros(controls.shape)
    gone = np.isnan(controls) | np.isinf(controls)
    errors = np.where(gone, 0.0, np.nan_to_num(np.broadcast_to(np.asarray(control_error, np.float64), controls.shape)))
    total = np.where(gone, 0.0, controls).sum(axis=-1, keepdims=True)
    return np.asarray(errors / np.where(total > TOLERANCE, total, np.inf), np.float64)


def _shares(support: _Support) -> tuple[Floats, Floats]:
    """Return the share of losses (...), and the same without each cluster (..., n)."""
    share = np.where(support.usable, ratio(support.loss, np.where(support.usable, support.control_loss, 1.0)), np.nan)
    # an infinite loss against finite ones: no interval, and skill is minus infinity
    share = np.where(np.isposinf(support.loss) & (support.control_loss > TOLERANCE) & support.known, np.inf, share)
    with np.errstate(invalid="ignore"):  # losses of a metric without a finite optimum, which is not usable
        rest_top, rest_bottom = (
            support.loss[..., None] - support.losses,
            support.control_loss[..., None] - support.controls,
        )
    rest = np.where(rest_bottom > TOLERANCE, ratio(rest_top, np.where(rest_bottom > TOLERANCE, rest_bottom, 1)), np.nan)
    return share, np.where(np.isnan(support.losses) | ~support.usable[..., None], np.nan, rest)


def _shown(support: _Support, rest: Floats) -> Bools:
    """Return where skill has an interval, from the shares of losses without each cluster."""
    enough = (support.n_clusters >= FEWEST_CLUSTERS) & (support.effective >= FEWEST_EFFECTIVE)
    varied = vary(rest, support.relative_errors)
    return np.asarray(support.usable & enough & (support.n_lossy >= 2) & varied, bool)


def vary(rest: Floats, relative_errors: ArrayLike = 0.0) -> Bools:
    """Return whether shares of losses without each cluster (..., n), NaN where absent, differ beyond their errors.

    Equal shares show no error, which does not mean that the error is 0. Errors are those by Monte Carlo.
    """
    gone = np.isnan(rest)
    high = np.where(gone, -np.inf, rest).max(axis=-1, initial=-np.inf)
    low = np.where(gone, np.inf, rest).min(axis=-1, initial=np.inf)
    with np.errstate(invalid="ignore"):  # infinite losses
        differ = np.asarray(high - low > TOLERANCE * np.maximum(1.0, np.abs(high)), bool)
    noise = np.broadcast_to(np.asarray(relative_errors, np.float64), rest.shape) ** 2
    if not noise.any():
        return differ
    number = (~gone).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        values, log_scale = _log_scaled(rest)
        share = np.where(log_scale, 1.0, _mean(values, number))
        return np.asarray(differ & (_jackknife_error(values, number) ** 2 > share**2 * largest_variance(noise)), bool)


def _log_scaled(rest: Floats) -> tuple[Floats, Bools]:
    """Return the logarithms of shares without each cluster where all are positive, else the shares, and which."""
    log_scale = np.nanmin(np.where(np.isnan(rest), np.inf, rest), axis=-1, initial=np.inf) > TOLERANCE
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(log_scale[..., None], np.log(np.where(rest > TOLERANCE, rest, 1.0)), rest)
    return np.where(np.isnan(rest), np.nan, values), np.asarray(log_scale, bool)


def jackknife_limits(share: Floats, rest: Floats, effective: Floats, level: float) -> tuple[Floats, Floats]:
    """Return limits of 1 - share (...) from the shares without each cluster (..., n), by logarithms of positive ones.

    `effective` is the effective number of clusters, one more than the degrees of freedom.
    """
    values, log_scale = _log_scaled(rest)
    error = _jackknife_error(values, (~np.isnan(rest)).sum(axis=-1))
    reach = scipy.special.stdtrit(np.maximum(1.0, effective - 1), (1 + level) / 2) * error
    with np.errstate(invalid="ignore", over="ignore"):
        low = np.where(log_scale, 1 - share * np.exp(reach), 1 - share - reach)
        high = np.where(log_scale, 1 - share * np.exp(-reach), 1 - share + reach)
    return low, high


class SkillDifference(NamedTuple):
    """Difference of two skills on the same clusters, one per row."""

    #: t on n - 1 degrees of freedom
    statistic: Floats
    p_value: Floats
    effect: Floats
    low: Floats
    high: Floats
    #: largest share of the jackknife variance that one cluster has
    largest_share: Floats


def skill_difference(
    first: Sums,
    second: Sums,
    *,
    alternative: Alternative = "two-sided",
    shift: float = 0.0,
    level: float = 0.95,
) -> SkillDifference:
    """Compare the skills of two levels on the same truths by a delete-one-truth jackknife [1]_, against `shift`.

    Clusters with a missing value are left out. The difference is NaN where the controls of either level have no loss,
    or a loss is infinite. Statistic, p and limits are NaN then, below five clusters, and where the difference does not
    vary, or by no more than Monte Carlo errors do; p is 1 then where it equals `shift`, but for such errors.
    """
    check_alternative(alternative)
    effect, values, gone = _differences(first, second)
    number = (~gone).sum(axis=-1)
    error = _jackknife_error(values, number)
    enough = number >= FEWEST_CLUSTERS
    df = np.maximum(number - 1, 1).astype(np.float64)
    noise = _noise_of_difference(first, second, gone)
    still = (error <= TOLERANCE) | (error**2 <= largest_variance(noise))
    same = still & (np.abs(effect - shift) <= TOLERANCE + FEW_ERRORS * np.sqrt(noise.sum(axis=-1)))
    t = np.where(same, 0.0, np.where(still, np.nan, ratio(effect - shift, error)))
    tail = {"two-sided": -np.abs(t), "less": t, "greater": -t}[alternative]
    p = np.where(same, 1.0, scipy.special.stdtr(df, tail) * (2 if alternative == "two-sided" else 1))
    # equal losses in all clusters show no error, which does not mean that the error is 0
    half = np.where(still, np.nan, scipy.special.stdtrit(df, (1 + level) / 2) * error)
    squares = (values - _mean(values, number)[..., None]) ** 2
    total = np.where(gone, 0.0, squares).sum(axis=-1)
    share = ratio(np.where(gone, 0.0, squares).max(axis=-1, initial=0.0), total)
    t, p, half = (np.where(enough, x, np.nan) for x in (t, p, half))
    return SkillDifference(t, p, effect, effect - half, effect + half, share)


def _differences(first: Sums, second: Sums) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the difference of two skills (...), the same without each cluster (..., n), and absent clusters."""
    sides = [_pairs(*side[:2]) for side in (first, second)]
    gone = np.isnan(sides[0][0]) | np.isnan(sides[1][0])
    whole, left_out = [], []
    beyond = _infinite(sides, gone)
    for losses, controls in sides:
        a, b = (np.where(gone | beyond, 0.0, x) for x in (losses, controls))
        top, bottom = a.sum(axis=-1), b.sum(axis=-1)
        rest = bottom[..., None] - b
        whole.append(np.where(bottom > TOLERANCE, ratio(top, bottom), np.nan))
        left_out.append(np.where(rest > TOLERANCE, ratio(top[..., None] - a, np.where(rest > 0, rest, 1.0)), np.nan))
    return whole[1] - whole[0], np.where(gone, np.nan, left_out[1] - left_out[0]), gone


def _noise_of_difference(first: Sums, second: Sums, gone: Bools) -> Floats:
    """Return the Monte Carlo variance of a difference of skills that comes from each cluster (..., n)."""
    noise = np.zeros(gone.shape)
    for side in (first, second):
        losses, controls = (np.where(gone, 0.0, x) for x in _pairs(*side[:2]))
        errors = _relative_errors(np.where(gone, np.nan, controls), side[2] if len(side) > 2 else None)
        total = controls.sum(axis=-1)
        with np.errstate(invalid="ignore"):  # infinite losses
            share = ratio(losses.sum(axis=-1), np.where(total > TOLERANCE, total, np.nan))
        noise = noise + (np.where(np.isfinite(share), share, 0.0)[..., None] * errors) ** 2
    return noise


def _infinite(sides: list[tuple[Floats, Floats]], gone: Bools) -> Bools:
    """Return which rows (..., 1) have an infinite loss, and so no difference."""
    masks = [np.isinf(x) & ~gone for side in sides for x in side]
    return np.asarray(np.any(masks, axis=(0, -1)), bool)[..., None]


def _pairs(loss: ArrayLike, control_loss: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays, NaN where either is."""
    a, b = np.broadcast_arrays(np.asarray(loss, np.float64), np.asarray(control_loss, np.float64))
    gone = np.isnan(a) | np.isnan(b)
    return np.where(gone, np.nan, a), np.where(gone, np.nan, b)


def _mean(values: Floats, number: ArrayLike) -> Floats:
    """Return the mean of the values that are not NaN."""
    return np.where(np.isnan(values), 0.0, values).sum(axis=-1) / np.maximum(number, 1)


def _jackknife_error(values: Floats, number: ArrayLike) -> Floats:
    """Return the standard error of a statistic from its values without each cluster; NaN marks absent clusters."""
    n = np.asarray(number)
    squares = (values - _mean(values, n)[..., None]) ** 2
    return np.sqrt((n - 1) / np.maximum(n, 1) * np.where(np.isnan(values), 0.0, squares).sum(axis=-1))
