"""What is known of random guesses beside a printed value, and the verdict on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..statistics.arrays import Floats
from ..statistics.direction import merit
from ..statistics.multiplicity import adjust
from ..statistics.words import BETTER, NOT_BETTER, UNDECIDED, verdicts

MEAN_METHODS = ("exact", "approximate", "simulated")
P_METHODS = (
    *("exact", "exact convolution", "normal", "Pearson III", "simulated", "t"),
    *("bound", "normal bound", "coin"),
)


class Printed(NamedTuple):
    """A printed value and the standard deviation of its runs, NaN without, with half units of their last digits."""

    value: float
    slack: float
    sd: float = math.nan
    sd_slack: float = 0.0
    #: whether the deviation may be a standard error
    unclear: bool = False
    #: how a distance is counted, which is then `scale` times the value of the metric
    convention: str = "any difference 1"
    scale: float = 1.0


class Guesses(NamedTuple):
    """Random guesses of a row for one metric; NaN and None where they are not known, for the reasons in `needed`."""

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    #: that of a known law
    p: float = math.nan
    p_se: float = math.nan
    #: limits of p, where values are rounded or only a bound is known
    p_low: float = math.nan
    p_high: float = math.nan
    #: that of the best estimate of the same size
    p_perfect: float = math.nan
    #: the worst mean that guesses can have
    easiest_mean: float = math.nan
    mean_method: str | None = None
    p_method: str | None = None
    needed: tuple[str, ...] = ()


def more_digits(metric: str, least: float, p: float, error: float = 0.0) -> tuple[str, ...]:
    """Name the digits that are missing, and what p is between without them, if that makes a difference."""
    if not (least < 0.95 * p and p - least > 2 * error):
        return ()
    return (f"more digits of {metric} (or digits=): rounding leaves p between {least:.2g} and {p:.2g}",)


def rescaled(guesses: Guesses, scale: float) -> Guesses:
    """Return guesses in the units in which a distance was printed."""
    if scale == 1:
        return guesses
    return guesses._replace(
        mean=scale * guesses.mean,
        low=scale * guesses.low,
        high=scale * guesses.high,
        easiest_mean=scale * guesses.easiest_mean,
    )


def best_of(guesses: Sequence[Guesses], n_settings: Sequence[int | None]) -> list[Guesses]:
    """Return guesses beside the best values of several settings: p is multiplied, whatever their dependence."""
    results = []
    for x, n in zip(guesses, n_settings, strict=True):
        if n is None:
            needed = ("n_settings, the number of settings tried (column 'n_settings')", *x.needed)
            results.append(x._replace(p=math.nan, p_high=math.nan, needed=needed))
        elif n > 1:
            p, high, perfect = (float(np.minimum(1.0, n * y)) for y in (x.p, x.p_high, x.p_perfect))
            needed = (*x.needed, "how the results of the settings depend on each other") if high > x.p_low else x.needed
            results.append(x._replace(p=p, p_high=high, p_perfect=perfect, needed=needed))
        else:
            results.append(x)
    return results


def judged(
    metric: Metric, printed: Sequence[Printed], guesses: Sequence[Guesses], alpha: float
) -> tuple[Floats, NDArray[np.object_]]:
    """Return p corrected for the number of rows by Holm's method, and the verdict on each row of a metric.

    A row is not called guessing because a bound of its p is large, nor better because rounding may have helped.
    """
    value = np.array([x.value for x in printed], np.float64)
    slack = np.array([x.slack for x in printed], np.float64)
    is_printed = ~np.isnan(value)
    limits = [
        np.where(is_printed, [unknown if math.isnan(p) else p for p in side], np.nan)
        for unknown, side in ((0.0, [x.p_low for x in guesses]), (1.0, [x.p_high for x in guesses]))
    ]
    low, high = (adjust(p, "holm") for p in limits)
    of_guesses = np.array([x.mean if math.isnan(x.easiest_mean) else x.easiest_mean for x in guesses], np.float64)
    merits = [merit(x, direction=metric.direction, optimum=metric.optimum) for x in (value, of_guesses)]
    with np.errstate(invalid="ignore"):  # rows without a value or a mean
        no_skill = np.asarray(merits[0] + slack <= merits[1])
    words = verdicts(np.where(no_skill & is_printed, 1.0, low), high, alpha)
    for i, x in enumerate(guesses):
        perfect = x.p_low if math.isnan(x.p_perfect) and value[i] == metric.optimum else x.p_perfect
        if words[i] != BETTER and perfect > alpha:
            words[i] = f"{UNDECIDED}: too small, the best estimate of this size has p = {perfect:.2g}"
        elif words[i] == UNDECIDED:
            words[i] = f"{UNDECIDED}: needs {'; '.join(x.needed)}"
        elif words[i] is not None:
            coin = " than a coin" if x.p_method == "coin" else ""
            # alone it would be better
            among = f" among {is_printed.sum()} rows" if words[i] == NOT_BETTER and x.p_high <= alpha else ""
            words[i] += coin + among
    return np.where([math.isnan(x.p_high) for x in guesses], np.nan, high), words
