"""Ratios of counts, with 0/0 as the caller wants it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import check_number


def ratio(numerator: Any, denominator: Any, zero_division: float) -> NDArray[np.float64]:
    """Return numerator / denominator, `zero_division` where the denominator is 0."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    return np.divide(top, bottom, out=np.full(top.shape, float(zero_division)), where=bottom != 0)


def f_score(tp: Any, fp: Any, fn: Any, beta: float, zero_division: float) -> NDArray[np.float64]:
    """Return (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp)."""
    check_number(beta, "beta", "(0, inf)")
    weight = 1 + beta**2
    return ratio(weight * tp, weight * tp + beta**2 * fn + fp, zero_division)
