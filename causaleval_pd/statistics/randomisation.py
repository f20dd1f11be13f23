"""An observed mean among the same means over draws of its controls: the share of draws, or their moments' law."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .direction import as_good
from .paired_tests import Outcome
from .tails.lattice import common_step
from .tails.pearson_type_iii import upper_tail

#: draws from which on their skewness is known well enough
LEAST_DRAWS = 10_000
#: least number of values of a statistic whose p is taken from moments
_LEAST_VALUES = 5
#: p below which a skewness beyond 1 is too far from the moments' law
_FAR_OUT = 1e-3
#: values whose common step is looked for
_MOST_VALUES = 2000


def randomisation_test(
    observed: ArrayLike, drawn: ArrayLike, *, alternative: Literal["less", "greater"] = "greater"
) -> Outcome:
    """Test whether an observed value (...) is exchangeable with its draws (..., n) under the null model.

    The observed value, such as the mean of a stratum, is expected on the side `alternative`. p is (1 + #{draws at least
    as extreme}) / (n + 1) over the defined draws; NaN without an observed value or a draw. Values within `1e-12 max(1,
    |observed|)` tie, and ties count as extreme.

    Notes
    -----
    Null hypothesis: the observed value is one more draw of the null model. Alternative: it tends to the named side.
    Assumption: the observed value and its draws are exchangeable under the null model, so draws of dependent runs must
    be drawn jointly. Not for draws of another model, such as other margins: their distance from the observed value
    is no evidence.

    Examples
    --------
    >>> float(randomisation_test(3.0, [1.0, 2.0, 4.0]).p_value)
    0.5
    """
    if alternative not in ("less", "greater"):
        raise ValueError(f"alternative must be 'less' or 'greater', found {alternative!r}")
    observed, drawn = np.asarray(observed, np.float64), np.asarray(drawn, np.float64)
    direction = "maximize" if alternative == "greater" else "minimize"
    extreme = as_good(drawn, observed[..., None], direction=direction, optimum=0.0).sum(axis=-1)
    n = (~np.isnan(drawn)).sum(axis=-1)
    return Outcome(observed, np.where(np.isnan(observed) | (n == 0), np.nan, (1 + extreme) / (n + 1)))


def moments_test(
    observed: ArrayLike, drawn: ArrayLike, *, alternative: Literal["less", "greater"] = "greater"
) -> Outcome:
    """Test an observed value (n,) by Pearson's type III law with the mean, variance and skewness of its draws (n, R).

    The observed value stands half a step nearer to the mean, because a draw may tie with it. p is approximate, usually
    too large far out; NaN for a statistic of fewer than five values, and below .001 where the skewness is beyond 1.

    Raises
    ------
    ValueError
        If there are fewer than 10,000 draws, whose skewness is too uncertain.

    Notes
    -----
    Null hypothesis, alternative and assumption are those of `randomisation_test`; besides, the draws have a law near
    Pearson's type III. Not for few values, or for lattices of few steps, whose tails have no such law.

    Examples
    --------
    >>> import numpy as np
    >>> drawn = np.random.default_rng(7).normal(size=(1, 10_000))
    >>> float(moments_test([5.0], drawn).p_value[0]) < 1e-6
    True
    """
    observed, drawn = np.asarray(observed, np.float64), np.asarray(drawn, np.float64)
    sign = 1.0 if alternative == "greater" else -1.0
    p = np.full(len(observed), np.nan)
    for i, (value, draws) in enumerate(zip(sign * observed, sign * drawn, strict=True)):
        known = draws[~np.isnan(draws)]
        if np.isnan(value) or not len(known):
            continue
        if len(known) < LEAST_DRAWS:
            raise ValueError(
                f"method='moments' takes the skewness of the statistic from its draws and needs at least "
                f"{LEAST_DRAWS:,} of them, found {len(known):,}; make the cube by cube(..., n_draws={LEAST_DRAWS})"
            )
        p[i] = _moments_p(value, known)
    return Outcome(observed, p)


def _moments_p(value: float, draws: NDArray[np.float64]) -> float:
    """Return P(statistic >= value) by the moments of its draws."""
    distinct = np.unique(draws.round(9))
    deviation = float(draws.std())
    if len(distinct) < _LEAST_VALUES or not np.isfinite(deviation) or deviation == 0:
        return float("nan")
    mean = float(draws.mean())
    skewness = float(((draws - mean) ** 3).mean() / deviation**3)
    gaps = np.append(distinct - distinct[0], value - distinct[0])[None]
    step = float(common_step(gaps)[0]) if len(distinct) <= _MOST_VALUES else 0.0
    p = float(upper_tail((value - step / 2 - mean) / deviation, skewness))
    return float("nan") if p == 0 or (p < _FAR_OUT and abs(skewness) > 1) else p
