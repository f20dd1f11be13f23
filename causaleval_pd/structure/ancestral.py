"""What follows from the edges: ancestors, causal orders, Markov blankets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.checks import check_number
from ..contract.metric import metric
from ..graphs.pairs import GraphPairs
from .ratio import f_score, ratio

Values = NDArray[np.float64]

_SHARE: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "cpdag", "pdag"),
    "direction": "maximize",
    "range": (0, 1),
    "optimum": 1,
}
_ANCESTORS: dict[str, Any] = {**_SHARE, "costly": True, "closed_form": "ancestors"}
_BLANKETS: dict[str, Any] = {**_SHARE, "closed_form": "blankets"}


@metric(**_ANCESTORS, long_name="ancestor precision")
def ancestor_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's (ancestor, descendant) pairs that the truth has.

    An ancestor reaches its descendant along directed edges; undirected edges lead nowhere. 0/0 if the estimate has no
    directed edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ancestor_precision("A -> B; B -> C", "A -> C; C -> B")
    0.6666666666666666
    """
    return ratio(pairs.ancestors.both, pairs.ancestors.estimated, zero_division)


@metric(**_ANCESTORS, long_name="ancestor recall")
def ancestor_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's (ancestor, descendant) pairs that the estimate has.

    0/0 if the truth has no directed edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ancestor_recall("A -> B; B -> C", "A -> C; B")
    0.3333333333333333
    """
    return ratio(pairs.ancestors.both, pairs.ancestors.true, zero_division)


@metric(**_ANCESTORS, long_name="ancestor F1", symmetric=True)
def ancestor_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of ancestor precision and recall.

    2 tp / (2 tp + fp + fn); 0/0 if neither graph has a directed edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ancestor_f1("A -> B; B -> C", "A -> C; B")
    0.5
    """
    found = pairs.ancestors
    return f_score(found.both, found.estimated - found.both, found.true - found.both, 1.0, zero_division)


@metric(
    field="graph",
    kinds=("dag", "cpdag", "pdag"),
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
    estimate allows; one whose ends the estimate does not order, or has on a cycle, counts as `undecided`.

    Parameters
    ----------
    pairs : GraphPairs or graph
        Aligned pairs, or the true graph followed by the estimated one.
    undecided : float
        Cost of an edge between nodes that the estimate leaves unordered, from 0 (default) to 1.
    normalised : bool
        Divide by the directed edges of the truth; 0/0 is NaN.

    Returns
    -------
    (n,) ndarray or float
        Edges against the order, or their share.

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
    found, edges = pairs.ancestors, pairs.counts.true_directed
    total = found.opposed + undecided * (edges - found.agreed - found.opposed)
    return ratio(total, edges, math.nan) if normalised else np.asarray(total)


@metric(**_BLANKETS, long_name="Markov blanket precision")
def markov_blanket_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the members of the estimate's Markov blankets that are members in the truth.

    The blanket of a node are its neighbours and the other parents of its children; members are summed over the nodes
    before dividing. 0/0 if the estimate has no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.markov_blanket_precision("A -> B; B -> C", "A -> B; C -> B")
    0.6666666666666666
    """
    return ratio(pairs.blankets.both, pairs.blankets.estimated, zero_division)


@metric(**_BLANKETS, long_name="Markov blanket recall")
def markov_blanket_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the members of the truth's Markov blankets that are members in the estimate.

    0/0 if the truth has no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.markov_blanket_recall("A -> B; C -> B", "A -> B; B -> C")
    0.6666666666666666
    """
    return ratio(pairs.blankets.both, pairs.blankets.true, zero_division)


@metric(**_BLANKETS, long_name="Markov blanket F1", symmetric=True)
def markov_blanket_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of Markov blanket precision and recall.

    0/0 if neither graph has an edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.markov_blanket_f1("A -> B; C -> B", "A -> B; B -> C")
    0.8
    """
    found = pairs.blankets
    return f_score(found.both, found.estimated - found.both, found.true - found.both, 1.0, zero_division)
