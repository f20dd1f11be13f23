"""Relations that follow from the edges: ancestors, causal orders, Markov blankets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...contract.checks import check_number
from ...contract.confusion import Confusion, ConfusionFamily, Values, ratio
from ...contract.metric import metric
from ...graphs.pairs import GraphPairs

__all__ = [
    "ancestor_f1",
    "ancestor_precision",
    "ancestor_recall",
    "markov_blanket_f1",
    "markov_blanket_precision",
    "markov_blanket_recall",
    "top_order_divergence",
]


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
    spec={
        "field": "graph",
        "kinds": ("dag", "cpdag", "pdag", "digraph"),
        "closed_form": "ancestors",
        "instead": ("definite_ancestor_f1",),
        "costly": True,
    },
)

ancestor_precision = _ANCESTOR.metric("precision", gives=1)
ancestor_recall = _ANCESTOR.metric("recall", gives=1 / 3)
ancestor_f1 = _ANCESTOR.metric("f1", gives=1 / 2)


@metric(
    field="graph",
    kinds=("dag", "cpdag", "pdag", "digraph"),
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    long_name="order divergence",
    reference="10.48550/arXiv.2203.04413",
    closed_form="ancestors",
    costly=True,
)
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

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.top_order_divergence("A -> B; B -> C", "C -> B; B -> A")
    2.0
    >>> ce.top_order_divergence("A -> B; B -> C", "C -> B; A", undecided=0.5)
    1.5
    """
    check_number(undecided, "undecided", "[0, 1]")
    if normalised not in (False, True):
        raise ValueError(f"normalised must be False or True, found {normalised!r}")
    ancestors, edges = pairs.ancestors, pairs.counts.true_directed
    total = ancestors.opposed + undecided * (edges - ancestors.agreed - ancestors.opposed)
    return ratio(total, edges, math.nan) if normalised else np.asarray(total)


_BLANKET = replace(
    _ANCESTOR,
    prefix="markov_blanket",
    counts=_blankets,
    label="Markov blanket",
    positives="Markov blanket members",
    convention="The blanket of a node holds its neighbours and the other parents of its children; members are summed "
    "over the nodes before dividing.",
    example=("A -> B; C -> B", "A -> B; B -> C"),
    spec={"field": "graph", "kinds": ("dag", "cpdag", "pdag", "digraph"), "closed_form": "blankets"},
)

markov_blanket_precision = _BLANKET.metric("precision", gives=1)
markov_blanket_recall = _BLANKET.metric("recall", gives=2 / 3)
markov_blanket_f1 = _BLANKET.metric("f1", gives=4 / 5)
