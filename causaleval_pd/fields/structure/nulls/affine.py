"""Affine functions of counts: the weight of one unit of each count, and a check that units add up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: multiples of the units at which sums are checked, for up to five counts
_MULTIPLES = ((2, 0, 0, 0, 0), (1, 3, 2, 4, 5), (7, 1, 4, 2, 9))


def affine_units(at: Callable[..., Floats], n: int) -> tuple[Floats, list[Floats]]:
    """Return the value of `at` where all n counts are 0, and what one unit of each count adds."""
    none = at(*[0.0] * n)
    return none, [at(*unit) - none for unit in np.eye(n).tolist()]


def first_misfit(
    at: Callable[..., Floats], none: Floats, units: list[Floats]
) -> tuple[tuple[int, ...], Floats, Floats] | None:
    """Return counts where `at` differs from the sum of its units, its value and that sum; None if it is affine."""
    for multiples in _MULTIPLES:
        counts = multiples[: len(units)]
        expected = none + sum(k * unit for k, unit in zip(counts, units, strict=True))
        found = at(*counts)
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True):
            return counts, found, expected
    return None
