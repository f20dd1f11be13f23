"""Compare values of a metric by its direction and optimum."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: values this close are equal, relative to the larger of 1 and the observed value
TOLERANCE = 1e-12


def score(values: ArrayLike, *, direction: str | None, optimum: float) -> Floats:
    """Return what is averaged and ranked: the metric, or |metric - optimum| where closest to the optimum is best."""
    scores = np.asarray(values, np.float64)
    return np.abs(scores - optimum) if direction == "zero" else scores


def merit(values: ArrayLike, *, direction: str | None, optimum: float) -> Floats:
    """Return scores of which the largest is best: those of `score`, with the other sign where small ones are good."""
    scores = score(values, direction=direction, optimum=optimum)
    return scores if direction == "maximize" else -scores


def better_side(direction: str | None) -> Literal["greater", "less"]:
    """Return on which side of the scores of controls better ones are, as tests name their alternative."""
    return "greater" if direction == "maximize" else "less"


def as_good(control: ArrayLike, observed: ArrayLike, *, direction: str | None, optimum: float) -> Bools:
    """Return which controls are at least as good as the observed value, by `score`; False where either is NaN.

    Values within `1e-12 max(1, |observed|)` tie, and ties are as good.
    """
    drawn, seen, slack, small = _ordered(control, observed, direction, optimum)
    return np.asarray(drawn <= seen + slack if small else drawn >= seen - slack)


def better(control: ArrayLike, observed: ArrayLike, *, direction: str | None, optimum: float) -> Bools:
    """Return which controls are strictly better than the observed value, beyond a tie; see `as_good`."""
    drawn, seen, slack, small = _ordered(control, observed, direction, optimum)
    return np.asarray(drawn < seen - slack if small else drawn > seen + slack)


def _ordered(
    control: ArrayLike, observed: ArrayLike, direction: str | None, optimum: float
) -> tuple[Floats, Floats, Floats, bool]:
    """Return scores, the width of a tie, and whether small scores are good."""
    if direction not in ("minimize", "maximize", "zero"):
        raise ValueError(f"direction must be 'minimize', 'maximize' or 'zero' to order values, found {direction!r}")
    drawn = score(control, direction=direction, optimum=optimum)
    seen = score(observed, direction=direction, optimum=optimum)
    slack = np.where(np.isfinite(seen), TOLERANCE * np.maximum(1.0, np.abs(seen)), 0.0)
    return drawn, seen, slack, direction != "maximize"
