"""Yes-counts by arm, and what missing answers could make of them."""

from __future__ import annotations

import numpy as np

from .answer_arms import Arms, Floats
from .standard_errors import Estimator
from .yes_counts import QUANTITIES, Terms, estimates


def count_terms(arms: Arms, quantity: str, estimator: Estimator) -> Terms:
    """Count yes by arm; for paired quantities over the samples answered in both arms."""
    bits = arms.answer
    known = ~np.isnan(bits)
    paired = quantity == "monotonicity_violation" or (quantity == "pns" and estimator == "paired")
    if paired:
        known = known & known.all(axis=1, keepdims=True)
    yes = known & (bits == 1)
    n1, yes1, n0, yes0 = (arms.total(x).astype(np.int64) for x in (known[:, 0], yes[:, 0], known[:, 1], yes[:, 1]))
    both = arms.total(yes.all(axis=1)).astype(np.int64) if paired else np.full(len(arms.groups), -1, np.int64)
    return Terms(np.full(len(arms.groups), QUANTITIES.index(quantity), np.int64), n1, yes1, n0, yes0, both)


def missing_bounds(arms: Arms, quantity: str, estimator: Estimator) -> tuple[Floats, Floats]:
    """Return the estimate if every missing answer were the least, and the most, favourable to a large value."""
    bounds = []
    for low in (True, False):
        # a large value has yes in arm 1 and no in arm 0, and the other way round for violations
        fill = np.array([0.0, 1.0]) if low else np.array([1.0, 0.0])
        fill = fill[::-1] if quantity in ("monotonicity_violation", "p_do0", "p_given0") else fill
        filled = np.where(np.isnan(arms.answer) & arms.asked, fill, arms.answer)
        full = Arms(arms.groups, arms.group, arms.sample, filled, arms.truth, arms.asked)
        bounds.append(estimates(count_terms(full, quantity, estimator)))
    return bounds[0], bounds[1]
