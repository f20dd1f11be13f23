"""Orientation given adjacency: both endpoints of every adjacency that truth and estimate share.

Arrowheads are positives, tails negatives. Missing and extra adjacencies do not count; for these see `marks.ends`.
"""

from __future__ import annotations

from dataclasses import replace

from ...contract.confusion import Confusion, ConfusionFamily
from ...graphs.pairs import GraphPairs

__all__ = [
    "orientation_f1", "orientation_fdr", "orientation_fn", "orientation_for", "orientation_fp", "orientation_g1",
    "orientation_npv", "orientation_precision", "orientation_recall", "orientation_specificity", "orientation_tn",
    "orientation_tp",
]  # fmt: skip


def shared_endpoints(pairs: GraphPairs) -> Confusion:
    """Compare both endpoints of every shared adjacency: a right direction gives tp and tn, a reversed one fp and fn."""
    c = pairs.counts
    right, turned = c.same_direction, c.reversed
    return Confusion(right, right + turned + c.lost_direction, right + turned + c.added_direction, 2 * c.tp)


_COUNTS = ConfusionFamily(
    "orientation",
    shared_endpoints,
    label="orientation",
    positives="arrowheads on shared adjacencies",
    negatives="tails on shared adjacencies",
    convention="Conditional on shared adjacencies: both endpoints of each are compared.",
    example=("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C"),
    spec={
        "field": "graph",
        "kinds": ("dag", "cpdag", "pdag", "digraph"),
        "closed_form": "linear",
        "reference": "10.48550/arXiv.2412.10039",
    },
)
_RATIOS = replace(
    _COUNTS,
    convention=f"{_COUNTS.convention} For a DAG against a DAG every wrong direction is one fp and one fn.",
    spec={**_COUNTS.spec, "closed_form": "reversal"},
)

orientation_tp = _COUNTS.metric("tp", gives=1, long_name="right arrowheads of shared adjacencies")
orientation_fp = _COUNTS.metric("fp", gives=1, long_name="wrong arrowheads of shared adjacencies")
orientation_fn = _COUNTS.metric("fn", gives=2, long_name="missed arrowheads of shared adjacencies")
orientation_tn = _COUNTS.metric("tn", gives=2, long_name="right tails of shared adjacencies")
orientation_precision = _RATIOS.metric("precision", gives=1 / 2)
orientation_recall = _RATIOS.metric("recall", gives=1 / 3)
orientation_f1 = _RATIOS.metric("f1", gives=2 / 5)
orientation_npv = _RATIOS.metric("npv", gives=1 / 2)
orientation_specificity = _RATIOS.metric("specificity", gives=2 / 3)
orientation_fdr = _RATIOS.metric("fdr", gives=1 / 2)
orientation_for = _RATIOS.metric("for", gives=1 / 2)
orientation_g1 = _RATIOS.metric("g1", gives=4 / 7)
