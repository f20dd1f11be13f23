"""Baselines: what simple rules make of the data, beside chance and the algorithms.

Chance is an estimate without information. Sort-and-regress uses information that is only the scale of the variables;
thresholded correlations use no directions. Each baseline is a function `f(data, rng) -> Graph`, and `with_baselines`
adds their estimates to a table of runs.
"""

from __future__ import annotations

# metrics register themselves
from . import sortability as _sortability
from .rules import (
    complete,
    correlation_threshold,
    empty,
    partial_correlation_threshold,
    r2_sort_regress,
    random_sort_regress,
    var_sort_regress,
)

__all__ = [
    "complete",
    "correlation_threshold",
    "empty",
    "partial_correlation_threshold",
    "r2_sort_regress",
    "random_sort_regress",
    "var_sort_regress",
]
