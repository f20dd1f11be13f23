"""Families of counts and ratios: adjacencies, ancestors and Markov blankets, orientations."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ...contract.checks import check_number
from ...contract.confusion import Confusion, ConfusionFamily, Values, ratio
from ...contract.metric import metric
from ...contract.options import with_call
from ...graphs.kernels.planes import KINDS, PLAIN_KINDS
from ...graphs.pairs import GraphPairs
from .nulls.laws import tails_and_misfit

__all__ = [
    "adjacency_accuracy", "adjacency_balanced_accuracy", "adjacency_f1", "adjacency_f_beta", "adjacency_fdr",
    "adjacency_fn", "adjacency_for", "adjacency_fp", "adjacency_g1", "adjacency_jaccard", "adjacency_mcc",
    "adjacency_npv", "adjacency_precision", "adjacency_recall", "adjacency_specificity", "adjacency_tn",
    "adjacency_tp", "ancestor_f1", "ancestor_precision", "ancestor_recall", "markov_blanket_f1",
    "markov_blanket_precision", "markov_blanket_recall", "orientation_f1", "orientation_fdr", "orientation_fn",
    "orientation_for", "orientation_fp", "orientation_g1", "orientation_npv", "orientation_precision",
    "orientation_recall", "orientation_specificity", "orientation_tn", "orientation_tp", "skeleton_p",
    "top_order_divergence",
]  # fmt: skip

_SKELETON: dict[str, Any] = {
    "field": "graph",
    "kinds": KINDS,
    "closed_form": "hypergeometric",
    "reference": "10.48550/arXiv.2412.10039",
}
_PLAIN: dict[str, Any] = {"field": "graph", "kinds": PLAIN_KINDS}
_OF_ANCESTORS: dict[str, Any] = {**_PLAIN, "closed_form": "ancestors", "costly": True}


def share_of(count: Values, whole: Any, normalised: bool) -> Values:
    """Divide a count if `normalised`; 0/0 is NaN."""
    if normalised not in (False, True):
        raise ValueError(f"normalised must be False or True, found {normalised!r}")
    return ratio(count, whole, math.nan) if normalised else count


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


@metric(**_SKELETON, direction="minimize", range=(0, 1), optimum=0, long_name="skeleton p-value", symmetric=True)
@with_call('"A -> B; C", "A -> B; C"', 0.3333333333333333)
def skeleton_p(pairs: GraphPairs) -> Values:
    """Test exactly whether a random skeleton of the estimate's size shares as many adjacencies.

    P(X >= tp) for X hypergeometric with M = d (d - 1) / 2 node pairs, the truth's and the estimate's adjacencies.
    """
    counts = pairs.counts
    return tails_and_misfit(counts.tp, counts.n_pairs, counts.true_edges, counts.estimated_edges)[0]


def _ancestors(pairs: GraphPairs) -> Confusion:
    return Confusion(pairs.ancestors.both, pairs.ancestors.true, pairs.ancestors.estimated)


def _blankets(pairs: GraphPairs) -> Confusion:
    return pairs.blankets


_ANCESTOR = ConfusionFamily(
    "ancestor",
    _ancestors,
    label="ancestor",
    positives="(ancestor, descendant) pairs",
    convention="An ancestor reaches its descendant along directed edges; undirected edges lead nowhere.",
    example=("A -> B; B -> C", "A -> C; B"),
    spec={**_OF_ANCESTORS, "instead": ("definite_ancestor_f1",)},
)

ancestor_precision = _ANCESTOR.metric("precision", gives=1)
ancestor_recall = _ANCESTOR.metric("recall", gives=1 / 3)
ancestor_f1 = _ANCESTOR.metric("f1", gives=1 / 2)


@metric(
    **_OF_ANCESTORS,
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    long_name="order divergence",
    reference="10.48550/arXiv.2203.04413",
)
@with_call('"A -> B; B -> C", "C -> B; A", undecided=0.5', 1.5)
def top_order_divergence(pairs: GraphPairs, *, undecided: float = 0.0, normalised: bool = False) -> Values:
    """Count the directed edges of the truth that point against the estimate's causal order.

    An estimate that orders all nodes, as a complete DAG does, has the divergence of its order. Others leave pairs of
    nodes unordered: an edge whose head is an ancestor of its tail in the estimate is against every order that the
    estimate allows; one whose ends the estimate leaves unordered, or has on a cycle, counts as `undecided`.

    Parameters
    ----------
    undecided : float
        Cost of an edge between nodes that the estimate leaves unordered, from 0 (default) to 1.
    normalised : bool
        Divide by the directed edges of the truth; 0/0 is NaN.
    """
    check_number(undecided, "undecided", "[0, 1]")
    ancestors, edges = pairs.ancestors, pairs.counts.true_directed
    return share_of(ancestors.opposed + undecided * (edges - ancestors.agreed - ancestors.opposed), edges, normalised)


_BLANKET = replace(
    _ANCESTOR,
    prefix="markov_blanket",
    counts=_blankets,
    label="Markov blanket",
    positives="Markov blanket members",
    convention="The blanket of a node holds its neighbours and the other parents of its children; members are summed "
    "over the nodes before dividing.",
    example=("A -> B; C -> B", "A -> B; B -> C"),
    spec={**_PLAIN, "closed_form": "blankets"},
)

markov_blanket_precision = _BLANKET.metric("precision", gives=1)
markov_blanket_recall = _BLANKET.metric("recall", gives=2 / 3)
markov_blanket_f1 = _BLANKET.metric("f1", gives=4 / 5)


# arrowheads are positives, tails negatives; missing and extra adjacencies do not count, for these see `ends`


def shared_endpoints(pairs: GraphPairs) -> Confusion:
    """Compare both endpoints of every shared adjacency: a right direction gives tp and tn, a reversed one fp and fn."""
    c = pairs.counts
    right, turned = c.same_direction, c.reversed
    return Confusion(right, right + turned + c.lost_direction, right + turned + c.added_direction, 2 * c.tp)


_ORIENTATION = ConfusionFamily(
    "orientation",
    shared_endpoints,
    label="orientation",
    positives="arrowheads on shared adjacencies",
    negatives="tails on shared adjacencies",
    convention="Conditional on shared adjacencies: both endpoints of each are compared.",
    example=("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C"),
    spec={**_PLAIN, "closed_form": "linear", "reference": _SKELETON["reference"]},
)
_ORIENTED = replace(
    _ORIENTATION,
    convention=f"{_ORIENTATION.convention} For a DAG against a DAG every wrong direction is one fp and one fn.",
    spec={**_ORIENTATION.spec, "closed_form": "reversal"},
)

orientation_tp = _ORIENTATION.metric("tp", gives=1, long_name="right arrowheads of shared adjacencies")
orientation_fp = _ORIENTATION.metric("fp", gives=1, long_name="wrong arrowheads of shared adjacencies")
orientation_fn = _ORIENTATION.metric("fn", gives=2, long_name="missed arrowheads of shared adjacencies")
orientation_tn = _ORIENTATION.metric("tn", gives=2, long_name="right tails of shared adjacencies")
orientation_precision = _ORIENTED.metric("precision", gives=1 / 2)
orientation_recall = _ORIENTED.metric("recall", gives=1 / 3)
orientation_f1 = _ORIENTED.metric("f1", gives=2 / 5)
orientation_npv = _ORIENTED.metric("npv", gives=1 / 2)
orientation_specificity = _ORIENTED.metric("specificity", gives=2 / 3)
orientation_fdr = _ORIENTED.metric("fdr", gives=1 / 2)
orientation_for = _ORIENTED.metric("for", gives=1 / 2)
orientation_g1 = _ORIENTED.metric("g1", gives=4 / 7)
