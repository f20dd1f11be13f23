"""Sortability: how well a score of the variables, such as their variance, follows the causal order.

References
----------
Reisach, Seiler, Weichwald (2021), arXiv:2102.13647; Reisach, Tami, Seiler, Chambaz, Weichwald (2023), arXiv:2303.18211.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice

Floats = NDArray[np.float64]

MEASURES = ("paths", "adjacent_pairs")


def order_alignment(
    arcs: NDArray[np.bool_], scores: Floats, *, measure: str = "paths", tolerance: float = 0.0
) -> float:
    """Return the share of ordered pairs of a DAG, cause before effect, in which the score increases."""
    check_choice(measure, MEASURES, "measure")
    difference = scores[None, :] - scores[:, None]
    points = ((difference >= -tolerance).astype(float) + (difference > tolerance)) / 2
    reached, total, number = arcs.astype(bool), 0.0, 0
    for _ in range(max(1, len(arcs) - 1) if measure == "paths" else 1):
        if not reached.any():
            break
        total, number = total + points[reached].sum(), number + int(reached.sum())
        reached = reached @ arcs.astype(bool)
    return float(total / number) if number else float("nan")


def explained_share(correlation: Floats) -> Floats:
    """Return the share of each variable's variance that a linear regression (of least norm) on all others explains."""
    d = len(correlation)
    if np.linalg.eigvalsh(correlation)[0] > 1e-12:
        return np.asarray(1 - 1 / np.diag(np.linalg.inv(correlation)))
    return np.array([share_of(correlation, j, [i for i in range(d) if i != j]) for j in range(d)])


def share_of(correlation: Floats, node: int, given: list[int]) -> float:
    """Return the share of a variable's variance that a linear regression on `given` explains; 0 for none."""
    if not given:
        return 0.0
    known, with_node = correlation[np.ix_(given, given)], correlation[given, node]
    return float(np.clip(with_node @ np.linalg.lstsq(known, with_node, rcond=None)[0], 0.0, 1.0))


def explained_by_parents(correlation: Floats, arcs: NDArray[np.bool_]) -> Floats:
    """Return the share of each variable's variance that a linear regression on its parents explains; 0 for roots."""
    return np.array([share_of(correlation, j, np.flatnonzero(arcs[:, j]).tolist()) for j in range(len(arcs))])
