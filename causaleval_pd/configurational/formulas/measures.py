"""Measures of sufficiency and necessity: eight forms of consistency and coverage, from counts or memberships [1]_ [2]_.

References
----------
.. [1] De Souter, L. (2024). Evaluating Boolean relationships in Configurational Comparative Methods. Journal of
   Causal Inference 12. doi:10.1515/jci-2023-0014
.. [2] De Souter, L., Baumgartner, M. (2025). New sufficiency and necessity measures for model building with Coincidence
   Analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known, shown

#: the eight measures, in the order of `ratios`
MEASURES = (
    "consistency",
    "coverage",
    "contrapositive_consistency",
    "contrapositive_coverage",
    "prevalence_adjusted_consistency",
    "antecedent_adjusted_coverage",
    "antecedent_adjusted_contrapositive_consistency",
    "prevalence_adjusted_contrapositive_coverage",
)
#: their short names in the literature
SHORT_NAMES = ("con", "cov", "Ccon", "Ccov", "PAcon", "AAcov", "AACcon", "PACcov")


def read_measures(given: Any) -> tuple[str, str]:
    """Return a pair of measures, of sufficiency and of necessity, by their full names.

    Examples
    --------
    >>> read_measures(("PAcon", "PACcov"))
    ('prevalence_adjusted_consistency', 'prevalence_adjusted_contrapositive_coverage')
    """
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise TypeError(
            "measures must be a measure of sufficiency and one of necessity, as ('PAcon', 'PACcov'), found "
            f"{shown(given)}"
        )
    return read_measure(given[0], "consistency"), read_measure(given[1], "coverage")


def read_measure(given: str, family: str) -> str:
    """Return the full name of a measure of a family, "consistency" or "coverage", from its full or short name."""
    names = {short: name for short, name in zip(SHORT_NAMES, MEASURES, strict=True) if name.endswith(family)}
    check_known(given, [*names.values(), *names], f"{family} measure")
    return names.get(given, given)


def short_name(name: str) -> str:
    """Return the short name of a measure.

    Examples
    --------
    >>> short_name("prevalence_adjusted_consistency")
    'PAcon'
    """
    return SHORT_NAMES[MEASURES.index(name)]


def ratios(a: Any, b: Any, c: Any, d: Any, left: Any, outcome: Any, n: Any) -> list[Any]:
    """Compute the eight measures, in the order of `MEASURES` and NaN for 0/0.

    a, b, c and d are the cases (sums of memberships) with left-hand side and outcome, with the left-hand side only,
    with the outcome only, and with neither; `left` and `outcome` those with either, of `n` cases.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        prevalence = np.true_divide(outcome, n - outcome)
        antecedent = np.true_divide(left, n - left)
        return [
            np.true_divide(a, a + b),
            np.true_divide(a, a + c),
            np.true_divide(d, d + b),
            np.true_divide(d, d + c),
            a / (a + prevalence * b),
            a / (a + antecedent * c),
            d / (d + b / antecedent),
            d / (d + c / prevalence),
        ]


def of_memberships(left: NDArray[np.float64], outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the eight measures, in the order of `MEASURES` and NaN for 0/0, from the memberships of n cases.

    The arrays have the shape (..., n) and the result (..., 8).
    """
    p, y = left, outcome
    # a case that is partly in all four cells would be counted in each: its common part is not evidence for any of them
    common = np.minimum(np.minimum(p, 1 - p), np.minimum(y, 1 - y)).sum(axis=-1)
    a = np.minimum(p, y).sum(axis=-1)
    b = np.minimum(p, 1 - y).sum(axis=-1) - common
    c = np.minimum(1 - p, y).sum(axis=-1) - common
    d = np.minimum(1 - p, 1 - y).sum(axis=-1)
    return np.stack(ratios(a, b, c, d, p.sum(axis=-1), y.sum(axis=-1), p.shape[-1]), axis=-1)
