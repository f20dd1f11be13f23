"""Adjacencies: functions of the skeletons alone, all with exact null distributions.

Counts are over unordered pairs of nodes: tp shared adjacencies, fp adjacencies of the estimate only, fn of the truth
only, tn of neither. The optimum of tp and tn depends on the truth, so they have no skill.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import metric
from ..graphs.pairs import GraphPairs
from .nulls.hypergeometric import hypergeometric_tail
from .ratio import f_score, ratio

Values = NDArray[np.float64]

_SKELETON: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "cpdag", "pdag"),
    "closed_form": "hypergeometric",
    "reference": "10.48550/arXiv.2412.10039",
}


@metric(
    **_SKELETON,
    long_name="shared adjacencies",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def adjacency_tp(pairs: GraphPairs) -> Values:
    """Count adjacencies of both graphs.

    Over unordered pairs of nodes; the number of shared adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_tp("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    2.0
    """
    return pairs.counts.tp


@metric(**_SKELETON, long_name="extra adjacencies", direction="minimize", range=(0, math.inf), optimum=0)
def adjacency_fp(pairs: GraphPairs) -> Values:
    """Count adjacencies of the estimate that the truth lacks.

    Over unordered pairs of nodes; the number of extra adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_fp("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    1.0
    """
    return pairs.counts.fp


@metric(**_SKELETON, long_name="missing adjacencies", direction="minimize", range=(0, math.inf), optimum=0)
def adjacency_fn(pairs: GraphPairs) -> Values:
    """Count adjacencies of the truth that the estimate lacks.

    Over unordered pairs of nodes; the number of missing adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_fn("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.0
    """
    return pairs.counts.fn


@metric(
    **_SKELETON,
    long_name="shared non-adjacencies",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def adjacency_tn(pairs: GraphPairs) -> Values:
    """Count pairs that are adjacent in neither graph.

    Over unordered pairs of nodes; the number of shared non-adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_tn("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    3.0
    """
    return pairs.counts.tn


@metric(**_SKELETON, long_name="adjacency precision", direction="maximize", range=(0, 1), optimum=1)
def adjacency_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's adjacencies that are true.

    tp / (tp + fp); 0/0 if the estimate has no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_precision("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.6666666666666666
    """
    counts = pairs.counts
    return ratio(counts.tp, counts.tp + counts.fp, zero_division)


@metric(**_SKELETON, long_name="adjacency recall", direction="maximize", range=(0, 1), optimum=1)
def adjacency_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's adjacencies that were found.

    tp / (tp + fn); 0/0 if the truth has no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_recall("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    1.0
    """
    counts = pairs.counts
    return ratio(counts.tp, counts.tp + counts.fn, zero_division)


@metric(**_SKELETON, long_name="adjacency negative predictive value", direction="maximize", range=(0, 1), optimum=1)
def adjacency_npv(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's non-adjacencies that are true.

    tn / (tn + fn); 0/0 if the estimate is complete.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_npv("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    1.0
    """
    counts = pairs.counts
    return ratio(counts.tn, counts.tn + counts.fn, zero_division)


@metric(**_SKELETON, long_name="adjacency specificity", direction="maximize", range=(0, 1), optimum=1)
def adjacency_specificity(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's non-adjacencies that were kept.

    tn / (tn + fp); 0/0 if the truth is complete.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_specificity("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.75
    """
    counts = pairs.counts
    return ratio(counts.tn, counts.tn + counts.fp, zero_division)


@metric(**_SKELETON, long_name="adjacency false discovery rate", direction="minimize", range=(0, 1), optimum=0)
def adjacency_fdr(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's adjacencies that are false.

    fp / (tp + fp) = 1 - precision; 0/0 if the estimate has no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_fdr("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.3333333333333333
    """
    counts = pairs.counts
    return ratio(counts.fp, counts.tp + counts.fp, zero_division)


@metric(**_SKELETON, long_name="adjacency false omission rate", direction="minimize", range=(0, 1), optimum=0)
def adjacency_for(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's non-adjacencies that are false.

    fn / (tn + fn) = 1 - negative predictive value; 0/0 if the estimate is complete.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_for("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.0
    """
    counts = pairs.counts
    return ratio(counts.fn, counts.tn + counts.fn, zero_division)


@metric(**_SKELETON, long_name="adjacency G1", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def adjacency_g1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Score non-adjacencies as F1 scores adjacencies.

    2 tn / (2 tn + fp + fn); 0/0 if both graphs are complete.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_g1("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.8571428571428571
    """
    counts = pairs.counts
    return ratio(2 * counts.tn, 2 * counts.tn + counts.fp + counts.fn, zero_division)


@metric(**_SKELETON, long_name="adjacency Jaccard index", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def adjacency_jaccard(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the adjacencies of either graph that both have.

    tp / (tp + fp + fn); 0/0 if neither graph has an edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_jaccard("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.6666666666666666
    """
    counts = pairs.counts
    return ratio(counts.tp, counts.tp + counts.fp + counts.fn, zero_division)


@metric(**_SKELETON, long_name="adjacency accuracy", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def adjacency_accuracy(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of pairs of nodes on whose adjacency both graphs agree.

    (tp + tn) / (tp + fp + fn + tn); 0/0 with fewer than two nodes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_accuracy("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.8333333333333334
    """
    counts = pairs.counts
    return ratio(counts.tp + counts.tn, counts.n_pairs, zero_division)


@metric(**_SKELETON, long_name="adjacency F1", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def adjacency_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of adjacency precision and recall.

    2 tp / (2 tp + fp + fn), also where precision or recall alone is 0/0; 0/0 only if neither graph has an edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_f1("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.8
    """
    counts = pairs.counts
    return f_score(counts.tp, counts.fp, counts.fn, 1.0, zero_division)


@metric(**_SKELETON, long_name="adjacency F-beta", direction="maximize", range=(0, 1), optimum=1)
def adjacency_f_beta(pairs: GraphPairs, *, beta: float = 0.5, zero_division: float = math.nan) -> Values:
    """Return the weighted harmonic mean of adjacency precision and recall.

    (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp); 0/0 only if neither graph has an edge.

    Parameters
    ----------
    pairs : GraphPairs or graph
        Aligned pairs, or the true graph followed by the estimated one.
    beta : float
        Recall counts beta times as much as precision.
    zero_division : float
        What 0/0 is.

    Returns
    -------
    (n,) ndarray or float
        One value a pair.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_f_beta("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D", beta=2)
    0.9090909090909091
    """
    counts = pairs.counts
    return f_score(counts.tp, counts.fp, counts.fn, beta, zero_division)


@metric(**_SKELETON, long_name="adjacency balanced accuracy", direction="maximize", range=(0, 1), optimum=1)
def adjacency_balanced_accuracy(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the mean of adjacency recall and specificity.

    (recall + specificity) / 2; 0/0 in either makes that half `zero_division`. Random guessing expects 1/2.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_balanced_accuracy("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.875
    """
    counts = pairs.counts
    recall = ratio(counts.tp, counts.tp + counts.fn, zero_division)
    return (recall + ratio(counts.tn, counts.tn + counts.fp, zero_division)) / 2


@metric(
    **_SKELETON,
    long_name="adjacency Matthews correlation",
    direction="maximize",
    range=(-1, 1),
    optimum=1,
    symmetric=True,
)
def adjacency_mcc(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Correlate the adjacencies of both graphs.

    (tp tn - fp fn) / sqrt((tp + fp)(tp + fn)(tn + fp)(tn + fn)); 0/0 if a graph is empty or complete. Random guessing
    expects 0.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.adjacency_mcc("A -> B; B -> C; D", "A -> B; C -> B; A -> C; D")
    0.7071067811865475
    """
    counts = pairs.counts
    rows = counts.true_edges * (counts.n_pairs - counts.true_edges)
    columns = counts.estimated_edges * (counts.n_pairs - counts.estimated_edges)
    product = counts.tp * counts.tn - counts.fp * counts.fn
    # one root a graph: the product of four margins of large graphs would lose digits
    return ratio(product, np.sqrt(rows) * np.sqrt(columns), zero_division)


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
