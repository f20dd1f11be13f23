"""Notes of comparisons: why there is no interval, or what it rests on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .arrays import Estimate, Floats, moments

Notes = NDArray[np.object_]
#: note of an effect that is the same in every cluster
NO_VARIATION = "no variation"
#: note of a mean of infinite values
INFINITE = "no interval: infinite values"


def joined(*notes: Iterable[str | None]) -> list[str | None]:
    """Join the notes of every row, without those with which another one begins; None without any."""
    rows = ([x for x in row if x and not pd.isna(x)] for row in zip(*notes, strict=True))
    return ["; ".join(x for x in row if not any(y != x and y.startswith(x) for y in row)) or None for row in rows]


def interval_notes(estimate: Estimate, values: Floats, level: float) -> Notes:
    """Return for every row why an effect has no interval, or is one point; `values` (rows, n) hold one cluster each."""
    n, _, deviation = moments(values)
    ordered = np.sort(values, axis=1)
    ties = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    infinite = np.isinf(values).any(axis=1)
    absent = (n > 0) & np.isnan(estimate.low)
    few = (n < 2) | (2.0 ** (1 - n) > 1 - level)
    notes = np.full(len(values), None, object)
    with np.errstate(invalid="ignore"):
        notes[(estimate.low == estimate.high) & (n > 1)] = "ties: the interval is one point"
    notes[absent] = "too few clusters for an interval"
    notes[absent & ~few & ties] = "too many equal differences for an interval"
    notes[absent & (n > 1) & (deviation == 0)] = NO_VARIATION
    notes[infinite] = np.where(absent, INFINITE, "infinite values rank beyond all others")[infinite]
    return notes


def sample_notes(estimate: Estimate, a: Floats, b: Floats) -> Notes:
    """Return for every row of two independent samples why an effect has no interval."""
    (n, _, mine), (m, _, theirs) = moments(a), moments(b)
    absent = (n > 0) & (m > 0) & np.isnan(estimate.low)
    notes = np.full(len(n), None, object)
    notes[absent] = "too few runs, or values that do not overlap, for an interval"
    notes[absent & (mine == 0) & (theirs == 0)] = NO_VARIATION
    infinite = (np.isinf(a).any(axis=1) | np.isinf(b).any(axis=1)) & (n > 0) & (m > 0)
    notes[infinite] = np.where(absent, INFINITE, "infinite values rank beyond all others")[infinite]
    return notes
