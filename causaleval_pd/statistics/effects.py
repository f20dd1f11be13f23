"""The effects of comparisons, with intervals, one a row."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .arrays import Estimate, welch_moments


def welch_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the difference of the means of independent samples, mean(a) - mean(b), with Welch's interval.

    Limits are NaN where neither sample varies.
    """
    mean, error, df = welch_moments(a, b)
    error = np.where(error == 0, np.nan, error)
    half = scipy.special.stdtrit(df, (1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half)
