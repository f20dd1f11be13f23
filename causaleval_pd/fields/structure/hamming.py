"""Hamming distances: how many edges must change to turn the estimate into the truth."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import numpy as np

from ...contract.checks import check_choice, check_known, check_number
from ...contract.confusion import Values, ratio
from ...contract.metric import metric
from ...contract.options import Convention
from ...contract.pairs import PairError
from ...graphs.edge_types import EdgeTypes
from ...graphs.kernels.planes import KINDS, MARKED_KINDS
from ...graphs.pairs import GraphPairs

__all__ = ["shd", "shd_cpdag", "skeleton_hd"]

Cost = Literal["any", "marks", "marks+edge", "information", "sep_distances", "bnmetrics"]

#: what an edge of one graph costs by the conventions that count the ends of shared edges
_ABSENT = {"marks": 2, "marks+edge": 3, "information": 1, "sep_distances": 1}


def _mark_costs(types: EdgeTypes, cost: str, circle_cost: float) -> Values:
    """Sum the costs of a convention other than "any"."""
    if cost == "bnmetrics":
        return np.asarray(types.different - types.unlike_circle_edges)
    total = types.other_marks + _ABSENT[cost] * (types.fn + types.fp)
    if circle_cost != 1:
        total = total + (circle_cost - 1) * types.one_circle
    if cost == "information":
        total = total + types.true_tails - types.true_tails_on_shared
        total = total + types.estimated_tails - types.estimated_tails_on_shared
        total = total + types.true_arrows - types.true_arrows_on_shared
        total = total + types.estimated_arrows - types.estimated_arrows_on_shared
    return np.asarray(total)


_DISTANCE: dict[str, Any] = {
    "field": "graph",
    "direction": "minimize",
    "range": (0, math.inf),
    "optimum": 0,
    "reference": "10.1007/s10994-006-6889-7",
}


@metric(**_DISTANCE, kinds=MARKED_KINDS, long_name="structural Hamming distance", symmetric=True, closed_form="linear")
def shd(
    pairs: GraphPairs,
    *,
    reversal_cost: float = 1.0,
    undirected_cost: float = 1.0,
    absent_undirected_cost: float = 1.0,
    cost: Cost = "any",
    circle_cost: float = 1.0,
    normalised: bool | Literal["pairs", "ordered_pairs", "true_edges"] = False,
) -> Values:
    """Sum the costs of the pairs of nodes whose edges differ.

    A missing or extra directed edge costs 1. The conventions in use differ in the other costs:

    =====================================================  =============  ===============  ======================
    convention                                             reversal_cost  undirected_cost  absent_undirected_cost
    =====================================================  =============  ===============  ======================
    any difference costs 1 (pcalg, causal-learn, gadjid)   1              1                1
    a reversal costs 2 (SID package)                       2              1                1
    entries of the matrices that differ (cdt)              2              1                2
    undirected agrees with directed (NOTEARS, gCastle)     1              0                1
    =====================================================  =============  ===============  ======================

    Of graphs with circles and bidirected edges the conventions differ in what they count:

    ===============  ==================================================================  =============  ============
    cost             counts                                                              none, A o-> B  A <-o B, o->
    ===============  ==================================================================  =============  ============
    "any"            pairs of nodes with another edge                                    1              1
    "marks"          ends with another mark, none being a mark                           2              2
    "marks+edge"     these, and 1 more for an edge of one graph (GetPAGSHD in Matlab)    3              2
    "information"    ends of shared edges with another mark; an edge of one graph costs  2              2
                     1, and 1 for each end that is not a circle (pagSHD in R)
    "sep_distances"  ends of shared edges with another mark; an edge of one graph        1              2
                     costs 1 (SHD_MAGs of sep-distances)
    "bnmetrics"      pairs of nodes with another edge, all edges with a circle being     1              0
                     alike (bnmetrics)
    ===============  ==================================================================  =============  ============

    Parameters
    ----------
    reversal_cost : float
        Cost of an edge that points the other way.
    undirected_cost : float
        Cost of an edge that is directed in one graph and undirected in the other.
    absent_undirected_cost : float
        Cost of an undirected edge that the other graph lacks.
    cost : {"any", "marks", "marks+edge", "information", "sep_distances", "bnmetrics"}
        What is counted, see above. The three costs before apply to "any" and to graphs of directed and undirected edges
        alone.
    circle_cost : float
        Cost of a circle against a tail or an arrowhead of a shared edge, where ends are counted; 1/2 in the wSHD of
        GetPAGSHD.
    normalised : bool or {"pairs", "ordered_pairs", "true_edges"}
        Divide by the number of pairs of nodes d (d - 1) / 2 (also `True`), by d (d - 1), or by the edges of the truth;
        0/0 is NaN.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.shd("A -> B; B -> C", "B -> A; A -- C")
    3.0
    >>> ce.shd("A -> B; B -> C", "B -> A; A -- C", reversal_cost=2, absent_undirected_cost=2)
    5.0
    >>> ce.shd("A o-> B; B <-> C", "A <-o B; C"), ce.shd("A o-> B; B <-> C", "A <-o B; C", cost="information")
    (2.0, 5.0)
    """
    check_known(cost, get_args(Cost), "cost")
    check_number(circle_cost, "circle_cost", "[0, inf)")
    if circle_cost != 1 and cost not in _ABSENT:
        raise ValueError(
            f"circle_cost applies where ends are counted, that is with cost {', '.join(map(repr, _ABSENT))}; found "
            f"cost={cost!r}"
        )
    if isinstance(normalised, np.bool_):
        normalised = bool(normalised)
    c = pairs.counts
    costs = (reversal_cost, undirected_cost, absent_undirected_cost)
    for value, name in zip(costs, ("reversal_cost", "undirected_cost", "absent_undirected_cost"), strict=True):
        check_number(value, name, "[0, inf)")
    if costs != (1, 1, 1):
        total = _plain_costs(pairs, *costs, cost)
    elif cost == "any" and normalised is False:
        return c.different
    else:
        total = c.different if cost == "any" else _mark_costs(pairs.edge_types, cost, circle_cost)
    if normalised is False:
        return np.asarray(total)
    sizes = {True: c.n_pairs, "pairs": c.n_pairs, "ordered_pairs": 2 * c.n_pairs, "true_edges": c.true_edges}
    if normalised not in sizes:
        raise ValueError(
            f"normalised must be False, True, 'pairs', 'ordered_pairs' or 'true_edges', found {normalised!r}"
        )
    return ratio(total, sizes[normalised], math.nan)


def _plain_costs(
    pairs: GraphPairs, reversal_cost: float, undirected_cost: float, absent_undirected_cost: float, cost: Cost
) -> Values:
    """Sum costs by the directions of edges, of graphs whose edges are directed or undirected."""
    if cost != "any" or pairs.is_mixed:
        raise PairError(
            np.arange(pairs.n),
            "reversal_cost, undirected_cost and absent_undirected_cost apply to graphs of directed and undirected "
            "edges, and without cost=; of other graphs cost= chooses a convention",
        )
    c = pairs.counts
    total = c.fn + c.fp
    for value, counts in ((reversal_cost, c.reversed), (undirected_cost, c.lost_direction + c.added_direction)):
        total += counts if value == 1 else value * counts
    if absent_undirected_cost != 1:
        missing = (c.true_edges - c.true_directed) - (c.both_undirected + c.added_direction)
        extra = (c.estimated_edges - c.estimated_directed) - (c.both_undirected + c.lost_direction)
        total = total + (absent_undirected_cost - 1) * (missing + extra)
    return np.asarray(total)


@metric(**_DISTANCE, kinds=KINDS, long_name="skeleton Hamming distance", symmetric=True, closed_form="hypergeometric")
def skeleton_hd(pairs: GraphPairs) -> Values:
    """Count the pairs of nodes that are adjacent in one graph only.

    fp + fn of the adjacencies.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.skeleton_hd("A -> B; B -> C", "B -> A; A -- C")
    2.0
    """
    return np.asarray(pairs.counts.fp + pairs.counts.fn)


@metric(
    **_DISTANCE,
    kinds=("dag", "cpdag"),
    conventions=[Convention("pdag", "as_is", ("pdag", "digraph"), "PDAGs are compared as they are")],
    instead=("shd",),
    long_name="SHD of equivalence classes",
    symmetric=True,
    closed_form="cpdag_linear",
)
def shd_cpdag(pairs: GraphPairs, *, pdag: Literal["refuse", "as_is"] = "refuse") -> Values:
    """Compare the CPDAGs of both graphs by the structural Hamming distance, any difference costing 1.

    A DAG is replaced by its CPDAG, a CPDAG stays; the distance is 0 exactly for equivalent graphs. What PC returns is
    often not a valid CPDAG but a PDAG: the conventions in use differ in how they treat it.

    =======================================================  =========
    convention                                               pdag
    =======================================================  =========
    a PDAG has no equivalence class, so it is an error       "refuse"
    compared as it is (pcalg, causal-learn)                  "as_is"
    =======================================================  =========

    `column.graph.cpdag()` completes the PDAGs that have a consistent extension.

    Parameters
    ----------
    pdag : {"refuse", "as_is"}
        How to treat a PDAG that is not a CPDAG, and a directed graph with a cycle.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.shd_cpdag("A -> B; B -> C", "C -> B; B -> A"), ce.shd("A -> B; B -> C", "C -> B; B -> A")
    (0.0, 2.0)
    >>> ce.shd_cpdag("A -> B; B -> C", "A -> B; B -- C", pdag="as_is")
    1.0
    """
    check_choice(pdag, ("refuse", "as_is"), "pdag")
    return np.asarray(shd.function(pairs.cpdags))
