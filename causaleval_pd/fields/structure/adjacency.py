"""Adjacencies: functions of the skeletons alone, all with exact null distributions."""

from __future__ import annotations

from typing import Any

from ...contract.confusion import Confusion, ConfusionFamily, Values
from ...contract.metric import metric
from ...graphs.kernels.planes import KINDS
from ...graphs.pairs import GraphPairs
from .nulls.laws import hypergeometric_tail

__all__ = [
    "adjacency_accuracy", "adjacency_balanced_accuracy", "adjacency_f1", "adjacency_f_beta", "adjacency_fdr",
    "adjacency_fn", "adjacency_for", "adjacency_fp", "adjacency_g1", "adjacency_jaccard", "adjacency_mcc",
    "adjacency_npv", "adjacency_precision", "adjacency_recall", "adjacency_specificity", "adjacency_tn",
    "adjacency_tp",
    "skeleton_p",
]  # fmt: skip

_SKELETON: dict[str, Any] = {
    "field": "graph",
    "kinds": KINDS,
    "closed_form": "hypergeometric",
    "reference": "10.48550/arXiv.2412.10039",
}


def shared_adjacencies(pairs: GraphPairs) -> Confusion:
    """Compare adjacencies over unordered pairs of nodes."""
    c = pairs.counts
    return Confusion(c.tp, c.true_edges, c.estimated_edges, c.n_pairs)


_ADJACENCY = ConfusionFamily(
    "adjacency",
    shared_adjacencies,
    label="adjacency",
    positives="adjacencies",
    negatives="non-adjacent pairs",
    convention="Counts are over unordered pairs of nodes, whatever the marks of their edges.",
    example=("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D"),
    spec=_SKELETON,
)

adjacency_tp = _ADJACENCY.metric("tp", gives=2, long_name="shared adjacencies")
adjacency_fp = _ADJACENCY.metric("fp", gives=1, long_name="extra adjacencies")
adjacency_fn = _ADJACENCY.metric("fn", gives=0, long_name="missing adjacencies")
adjacency_tn = _ADJACENCY.metric("tn", gives=3, long_name="shared non-adjacencies")
adjacency_precision = _ADJACENCY.metric("precision", gives=2 / 3)
adjacency_recall = _ADJACENCY.metric("recall", gives=1)
adjacency_npv = _ADJACENCY.metric("npv", gives=1)
adjacency_specificity = _ADJACENCY.metric("specificity", gives=3 / 4)
adjacency_fdr = _ADJACENCY.metric("fdr", gives=1 / 3)
adjacency_for = _ADJACENCY.metric("for", gives=0)
adjacency_g1 = _ADJACENCY.metric("g1", gives=6 / 7)
adjacency_jaccard = _ADJACENCY.metric("jaccard", gives=2 / 3)
adjacency_accuracy = _ADJACENCY.metric("accuracy", gives=5 / 6)
adjacency_f1 = _ADJACENCY.metric("f1", gives=4 / 5)
adjacency_f_beta = _ADJACENCY.metric("f_beta", gives=10 / 11, example="beta=2")
adjacency_balanced_accuracy = _ADJACENCY.metric("balanced_accuracy", gives=7 / 8)
adjacency_mcc = _ADJACENCY.metric("mcc", gives=0.7071067811865475)


@metric(
    **_SKELETON,
    direction="minimize",
    range=(0, 1),
    optimum=0,
    long_name="skeleton p-value",
    symmetric=True,
)
def skeleton_p(pairs: GraphPairs) -> Values:
    """Test exactly whether a random skeleton of the estimate's size shares as many adjacencies.

    P(X >= tp) for X hypergeometric with M = d (d - 1) / 2 node pairs, the truth's and the estimate's adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> round(ce.skeleton_p("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D"), 12)
    0.2
    """
    counts = pairs.counts
    return hypergeometric_tail(counts.tp, counts.n_pairs, counts.true_edges, counts.estimated_edges)
