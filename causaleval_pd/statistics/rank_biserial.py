"""The matched-pairs rank-biserial correlation, with an interval that covers close to -1 and 1 and in small samples."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import BLOCK, Estimate, Floats, ratio, rows_by_number
from .ranks import rounded, signed_ranks

#: nonzero differences below which there is no interval
FEWEST_NONZERO = 5
#: sums up to this are 0 when they are rounded
_ROUNDING = 5e-13
#: means of normal differences of variance 1, whose correlations lie between -1 and 1
_SHIFTS = np.arange(0.0, 8.01, 0.02)


class _Law(NamedTuple):
    """Moments of the correlation of n normal differences, over their means in ascending order."""

    #: what the correlation estimates, P(D1 + D2 > 0) - P(D1 + D2 < 0)
    true: Floats
    mean: Floats
    deviation: Floats


def rank_biserial(difference: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the matched-pairs rank-biserial correlation, (W+ - W-) / (W+ + W-) without zeros; 0 if all are zero.

    Parameters
    ----------
    difference : (..., n) array_like
        Paired differences, NaN where absent.
    level : float
        Probability of the interval.

    Returns
    -------
    Estimate
        The correlation, and limits of P(D1 + D2 > 0) - P(D1 + D2 < 0) for two differences that are not 0, which it
        estimates. Limits are NaN below five nonzero differences.

    Notes
    -----
    The limits are the true values whose correlation lies t standard deviations from the one observed: a score interval,
    which has width also where the correlation is -1 or 1. Mean and deviation are exact for normal differences; where
    the sample's own deviation is larger, the limits are wider in proportion.

    References
    ----------
    Kerby (2014), 10.2466/11.IT.3.1; the idea of the interval is that of Newcombe (2006), 10.1002/sim.2324.

    Examples
    --------
    >>> found = rank_biserial([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> float(found.effect), float(found.low.round(2)), float(found.high)
    (1.0, -0.16, 1.0)
    """
    values = rounded(difference)
    shape = values.shape[:-1]
    flat = values.reshape(math.prod(shape), values.shape[-1])
    ranks = signed_ranks(flat)
    some = ~np.isnan(flat).all(axis=-1)
    effect = np.where(some, ratio(ranks.sum(axis=-1), np.abs(ranks).sum(axis=-1), empty=0.0), np.nan)
    low, high = np.full(len(flat), np.nan), np.full(len(flat), np.nan)
    for rows, sample in rows_by_number(np.where(flat == 0, np.nan, flat)):
        n = sample.shape[1]
        if n < FEWEST_NONZERO:
            continue
        law, t = _normal_law(n), float(scipy.special.stdtrit(n - 1, (1 + level) / 2))
        step = max(1, BLOCK // n**2)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            reach = t * _stretch(sample[start : start + step], effect[part], law)
            low[part] = [_lower(law, r, width) for r, width in zip(effect[part], reach, strict=True)]
            high[part] = [-_lower(law, -r, width) for r, width in zip(effect[part], reach, strict=True)]
    return Estimate(*(x.reshape(shape) for x in (effect, low, high)))


def _normal_law(n: int) -> _Law:
    """Return the moments for n normal differences: the correlation is a sum over their n (n + 1) / 2 Walsh averages."""
    above, pair = scipy.special.ndtr(_SHIFTS), scipy.special.ndtr(math.sqrt(2) * _SHIFTS)
    # P(D1 + D2 > 0 and D1 + D3 > 0), and P(D1 > 0 and D1 + D2 > 0)
    two_pairs = pair - 2 * scipy.special.owens_t(math.sqrt(2) * _SHIFTS, math.sqrt(1 / 3))
    value_and_pair = (pair + above**2) / 2
    total = n * (n + 1) / 2
    mean = 2 * (n * above + n * (n - 1) / 2 * pair) / total - 1
    variance = n * above * (1 - above) + n * (n - 1) / 2 * pair * (1 - pair)
    variance += n * (n - 1) * ((n - 2) * (two_pairs - pair**2) + 2 * (value_and_pair - above * pair))
    deviation = 2 * np.sqrt(np.maximum(variance, 0.0)) / total
    true = 2 * pair - 1
    return _Law(*(np.concatenate([sign * x[:0:-1], x]) for sign, x in ((-1, true), (-1, mean), (1, deviation))))


def _stretch(sample: Floats, effect: Floats, law: _Law) -> Floats:
    """Return by how much the deviation of samples (rows, n) exceeds that of normal differences; 1 where it does not."""
    n = sample.shape[1]
    if n**2 <= BLOCK:
        with np.errstate(invalid="ignore"):  # infinite values of both signs tie
            signs = np.sign(np.nan_to_num(rounded(sample[:, :, None] + sample[:, None, :]), posinf=1.0, neginf=-1.0))
        signs = signs.sum(axis=2)
    else:
        signs = np.array([_signs_with_others(row) for row in sample])
    own = (signs - np.sign(sample)) / (n - 1)
    deviation = 2 * own.std(axis=1, ddof=1) / math.sqrt(n)
    normal = np.interp(effect, law.mean, law.deviation)
    inside = (np.abs(effect) < 1) & (normal > 0)
    return np.maximum(1.0, np.divide(deviation, normal, out=np.ones(len(effect)), where=inside))


def _signs_with_others(row: Floats) -> Floats:
    """Return for each value how many values it makes a positive sum with, minus those it makes a negative one with."""
    ordered = np.sort(row)
    negative, most = np.searchsorted(ordered, -row - _ROUNDING), np.searchsorted(ordered, -row + _ROUNDING, "right")
    return (len(row) - most - negative).astype(np.float64)


def _lower(law: _Law, effect: float, reach: float) -> float:
    """Return the least true value whose correlation would be within `reach` deviations below the observed one."""
    upper = law.mean + reach * law.deviation
    place = int(np.argmax(upper >= effect))
    if place == 0:
        return -1.0 if upper[0] >= effect else 1.0
    share = (effect - upper[place - 1]) / (upper[place] - upper[place - 1])
    return float(law.true[place - 1] + share * (law.true[place] - law.true[place - 1]))
