"""Distances: edges that must change, effects that an estimate identifies wrongly, separations that do not hold."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_known, check_number
from ...contract.confusion import Values, ratio
from ...contract.metric import metric
from ...contract.options import Convention, with_call, with_options
from ...contract.pairs import PairError
from ...graphs.edge_types import EdgeTypes
from ...graphs.kernels.planes import KINDS, MARKED_KINDS
from ...graphs.pairs import GraphPairs
from .families import share_of

__all__ = [
    "adjustment_distance", "ancestor_aid", "oset_aid", "parent_aid", "separation_ancestor", "separation_parent",
    "separation_zl", "shd", "shd_cpdag", "sid", "sid_bounds_exact", "sid_lower", "sid_upper", "skeleton_hd",
]  # fmt: skip

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
        for side, mark in product(("true", "estimated"), ("tails", "arrows")):
            total = total + getattr(types, f"{side}_{mark}") - getattr(types, f"{side}_{mark}_on_shared")
    return np.asarray(total)


_COUNT: dict[str, Any] = {"field": "graph", "direction": "minimize", "range": (0, math.inf), "optimum": 0}
_DISTANCE: dict[str, Any] = {**_COUNT, "reference": "10.1007/s10994-006-6889-7"}


@metric(**_DISTANCE, kinds=MARKED_KINDS, long_name="structural Hamming distance", symmetric=True, closed_form="linear")
@with_call('"A -> B; B -> C", "B -> A; A -- C", reversal_cost=2', 4.0)
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
    check_number(reversal_cost, "reversal_cost", "[0, inf)")
    check_number(undirected_cost, "undirected_cost", "[0, inf)")
    check_number(absent_undirected_cost, "absent_undirected_cost", "[0, inf)")
    if (reversal_cost, undirected_cost, absent_undirected_cost) != (1, 1, 1):
        if cost != "any" or pairs.is_mixed:
            raise PairError(
                np.arange(pairs.n),
                "reversal_cost, undirected_cost and absent_undirected_cost apply to graphs of directed and undirected "
                "edges, and without cost=; of other graphs cost= chooses a convention",
            )
        total = _direction_costs(c, reversal_cost, undirected_cost, absent_undirected_cost)
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


def _direction_costs(c: Any, reversal_cost: float, undirected_cost: float, absent_undirected_cost: float) -> Values:
    """Sum costs by the directions of edges, which are directed or undirected."""
    total = c.fn + c.fp + reversal_cost * c.reversed + undirected_cost * (c.lost_direction + c.added_direction)
    if absent_undirected_cost != 1:
        missing = (c.true_edges - c.true_directed) - (c.both_undirected + c.added_direction)
        extra = (c.estimated_edges - c.estimated_directed) - (c.both_undirected + c.lost_direction)
        total = total + (absent_undirected_cost - 1) * (missing + extra)
    return np.asarray(total)


@metric(**_DISTANCE, kinds=KINDS, long_name="skeleton Hamming distance", symmetric=True, closed_form="hypergeometric")
@with_call('"A -> B; B -> C", "B -> A; A -- C"', 2.0)
def skeleton_hd(pairs: GraphPairs) -> Values:
    """Count the pairs of nodes that are adjacent in one graph only, fp + fn of the adjacencies."""
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
@with_call('"A -> B; B -> C", "C -> B; B -> A"', 0.0)
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
    """
    check_choice(pdag, ("refuse", "as_is"), "pdag")
    return np.asarray(shd.function(pairs.cpdags))


Beyond = Literal["raise", "local"]

_WRONG: dict[str, Any] = {**_COUNT, "costly": True}
_SID: dict[str, Any] = {**_WRONG, "reference": "10.1162/NECO_a_00708"}
_BOUND: dict[str, Any] = {
    **_SID,
    "kinds": ("dag", "cpdag"),
    "truth_kinds": ("dag",),
    "conventions": [Convention("beyond", "local", ("pdag", "digraph"), "bounds that need not be attained")],
    "instead": ("parent_aid",),
}
_AID: dict[str, Any] = {
    **_WRONG,
    "kinds": ("dag", "cpdag"),
    "instead": ("sid_lower", "sid_upper", "adjustment_distance"),
    "reference": "10.48550/arXiv.2402.08616",
}
_OF_EFFECTS = {
    "normalised": """normalised : bool
    Divide by d (d - 1).""",
    "max_parent_sets": """max_parent_sets : int
    Limit on the pairs (node, parents) of an undirected component: with k nodes, a complete one has k 2^(k-1), a
    tree 3 k - 2.""",
    "beyond": """beyond : {"raise", "local"}
    How to treat a component over that limit, and an estimate that is not a valid CPDAG: refuse it with an error that
    names the rows; or return bounds that need not be attained, where each node of such a component may have any of its
    undirected neighbours as parents. `sid_bounds_exact` marks these rows.""",
}

#: largest `max_parent_sets`; more would take gigabytes
_MOST_PARENT_SETS = 10_000_000


def share_of_pairs(count: Values, pairs: GraphPairs, normalised: bool) -> Values:
    """Divide a count of ordered pairs of nodes by d (d - 1) if `normalised`; 0/0 is NaN."""
    return share_of(count, pairs.n_nodes * (pairs.n_nodes - 1), normalised)


@metric(
    **_SID,
    kinds=("dag",),
    long_name="structural intervention distance",
    instead=("sid_lower", "sid_upper", "parent_aid", "adjustment_distance"),
)
@with_options(_OF_EFFECTS)
@with_call('"A -> B; A -> C; B -> C", "B -> A; A -> C; B -> C"', 4.0)
def sid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which adjusting for the estimate's parents gives a wrong effect.

    For a treatment t and an outcome y the estimate implies "no effect" if y is a parent of t, and else adjusts for the
    parents of t. It is wrong if y is a descendant of t in the truth, or the parents are not a valid adjustment set.
    Only DAGs have one value; a CPDAG has `sid_lower` and `sid_upper`, or `parent_aid`.
    """
    return share_of_pairs(pairs.adjustment_mistakes("parent"), pairs, normalised)


def _found(pairs: GraphPairs, max_parent_sets: int) -> NDArray[np.int64]:
    if isinstance(max_parent_sets, bool) or max_parent_sets not in range(1, _MOST_PARENT_SETS + 1):
        raise ValueError(
            f"max_parent_sets must be a whole number from 1 to {_MOST_PARENT_SETS}, found {max_parent_sets!r}"
        )
    return pairs.sid_bounds(int(max_parent_sets))


def _bounds(pairs: GraphPairs, column: int, max_parent_sets: int, beyond: str, normalised: bool) -> Values:
    check_choice(beyond, ("raise", "local"), "beyond")
    if beyond == "raise" and pairs.refused(("dag", "cpdag")).any():
        # `Metric` refuses these cells, but takes pairs as they come
        raise PairError(
            np.flatnonzero(pairs.refused(("dag", "cpdag"))),
            "the estimate is not a valid CPDAG, so its equivalence class cannot be enumerated; pass beyond='local' for "
            "bounds that need not be attained",
        )
    bounds = _found(pairs, max_parent_sets)
    if beyond == "raise" and bounds[:, 2].any():
        raise PairError(
            np.flatnonzero(bounds[:, 2]),
            f"an undirected component of the estimate has more than {max_parent_sets} parent sets; raise "
            "max_parent_sets, or pass beyond='local' for bounds that need not be attained",
        )
    return share_of_pairs(bounds[:, column].astype(np.float64), pairs, normalised)


@metric(**_BOUND, long_name="SID, lower bound over the class")
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "A -- B; B -- C"', 0.0)
def sid_lower(
    pairs: GraphPairs, *, normalised: bool = False, max_parent_sets: int = 100_000, beyond: Beyond = "raise"
) -> Values:
    """Return the smallest SID of a DAG of the estimate's class.

    It is exact without listing the class: undirected components are oriented independently, and a component
    whose source is chosen falls into smaller ones. On a DAG it is `sid`.
    """
    return _bounds(pairs, 0, max_parent_sets, beyond, normalised)


@metric(**_BOUND, long_name="SID, upper bound over the class")
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "A -- B; B -- C"', 6.0)
def sid_upper(
    pairs: GraphPairs, *, normalised: bool = False, max_parent_sets: int = 100_000, beyond: Beyond = "raise"
) -> Values:
    """Return the largest SID of a DAG of the estimate's class; exact, as `sid_lower`."""
    return _bounds(pairs, 1, max_parent_sets, beyond, normalised)


@metric(
    field="graph",
    kinds=("dag", "cpdag", "pdag", "digraph"),
    truth_kinds=("dag",),
    direction=None,
    range=(0, 1),
    long_name="SID bounds are attained",
    instead=("parent_aid",),
    reference="10.1162/NECO_a_00708",
    costly=True,
    dtype="boolean",
)
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "A -- B; B -- C", max_parent_sets=6', 0.0)
def sid_bounds_exact(pairs: GraphPairs, *, max_parent_sets: int = 100_000) -> Values:
    """Check whether DAGs of the class attain `sid_lower` and `sid_upper`.

    False where an undirected component is over the limit or the estimate is not a valid CPDAG, so that
    `beyond="local"` bounds node by node.
    """
    oriented = _found(pairs, max_parent_sets)[:, 2] == 0
    return np.asarray(oriented & ~pairs.refused(("dag", "cpdag")), np.float64)


@metric(**_AID, long_name="parent adjustment identification distance")
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "A -- B; B -- C"', 6.0)
def parent_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's parents identify the effect wrongly.

    For a treatment t and an outcome y the estimate implies: no effect, if y is a parent of t; not identified by
    adjustment, if a possibly causal path from t to y begins with an undirected edge; else adjustment for the parents of
    t. Each answer is checked in the truth. Between DAGs this is `sid`; for a CPDAG it may lie outside `sid_lower` and
    `sid_upper`, since an effect that the estimate does not identify but the truth does counts as wrong.
    """
    return share_of_pairs(pairs.adjustment_mistakes("parent"), pairs, normalised)


@metric(**_AID, long_name="ancestor adjustment identification distance")
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "C -> B; B -> A"', 6.0)
def ancestor_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's ancestors identify the effect wrongly.

    As `parent_aid`, with "no effect" where y is not a possible descendant of t, and else adjustment for the ancestors
    of t. It is 0 between DAGs if truth and estimate have the same ancestors and the estimate lacks no edge.
    """
    return share_of_pairs(pairs.adjustment_mistakes("ancestor"), pairs, normalised)


@metric(**_AID, long_name="optimal adjustment identification distance")
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C", "A -> B; A -> C"', 1.0)
def oset_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's optimal set identifies the effect wrongly.

    As `ancestor_aid`, with the set of smallest asymptotic variance: the parents of the nodes on causal paths from t to
    y, without possible descendants of t.
    """
    return share_of_pairs(pairs.adjustment_mistakes("optimal"), pairs, normalised)


@metric(
    **_WRONG,
    kinds=("dag", "mag", "pag", "admg"),
    instead=("parent_aid", "sid_lower", "sid_upper"),
    reference="10.48550/arXiv.1606.06903",
    long_name="adjustment distance",
)
@with_options(_OF_EFFECTS)
@with_call('"A -> B; B -> C; B <-> C", "A -> B; B -> C"', 1.0)
def adjustment_distance(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which a graph with latent confounders identifies the effect wrongly.

    By the generalised adjustment criterion the estimate implies for a treatment t and an outcome y: no effect, if y is
    not a possible descendant of t; adjustment, if every possibly directed path from t to y begins with an edge that no
    latent node confounds (in a MAG or PAG a visible edge) and a valid set exists; else not identified by adjustment.
    The set has the possible ancestors of t and y, except possible descendants of nodes on these paths; it is valid if
    any set is.

    "No effect" is wrong if t is an ancestor of y in the truth, and a set if it is not valid there. "Not identified" is
    wrong if the truth's MAG, PAG or ADMG (whichever the estimate is) identifies the effect, also as none.

    The truth is a DAG, with its latent nodes in ``context={"latents": ...}``, or an ADMG. A MAG or PAG as truth stands
    for many models: there an answer is right if it is for all of them. The distance to a PAG depends on its equivalence
    class alone. Between DAGs the distance differs from `ancestor_aid` by the choice of the set.
    """
    return share_of_pairs(pairs.latent_adjustment_mistakes(), pairs, normalised)


Part = Literal["markov", "faithfulness", "symmetric"]

_SEPARATION: dict[str, Any] = {**_WRONG, "reference": "10.48550/arXiv.2402.04952"}
_INSTEAD = ("separation_ancestor", "markov_blanket_f1", "v_structure_f1")
_OF_SEPARATIONS = {
    "part": """part : {"markov", "faithfulness", "symmetric"}
    Separations of the estimate that fail in the truth, so that the estimate is not Markov; separations of the truth
    that fail in the estimate, so that the estimate is not faithful; or the mean of both.""",
    "normalised": """normalised : bool
    Divide by the number of pairs of nodes.""",
}


def _distance(pairs: GraphPairs, separator: str, part: str, normalised: bool) -> Values:
    check_choice(part, ("markov", "faithfulness", "symmetric"), "part")
    sides = {"markov": [pairs], "faithfulness": [pairs.swapped], "symmetric": [pairs, pairs.swapped]}[part]
    ordered = np.mean([side.separation_mistakes(separator) for side in sides], axis=0)
    return share_of_pairs(ordered if normalised else ordered / 2, pairs, normalised)


@metric(**_SEPARATION, kinds=("dag", "cpdag"), instead=_INSTEAD, long_name="parent separation distance")
@with_options(_OF_SEPARATIONS)
@with_call('"A -> B; B -> C", "A; B; C"', 3.0)
def separation_parent(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by their parents but the other does not.

    Two nodes that are not adjacent in the estimate are separated there by the parents of both (in a CPDAG the possible
    parents). The pair is wrong if the truth connects them given this set. In graphs with latent confounders parents do
    not separate: there it is `separation_ancestor`.
    """
    return _distance(pairs, "parent", part, normalised)


@metric(
    **_SEPARATION,
    kinds=("dag", "cpdag", "mag", "pag", "admg"),
    instead=_INSTEAD[1:],
    long_name="ancestor separation distance",
)
@with_options(_OF_SEPARATIONS)
@with_call('"A <-> B", "A; B"', 1.0)
def separation_ancestor(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by their ancestors but the other does not.

    As `separation_parent`, with the ancestors of both nodes (in a CPDAG or PAG the possible ancestors) in the parents'
    place. In graphs with latent confounders, separation is m-separation (doi:10.1214/aos/1031689015): the possible
    ancestors separate all nodes that are not adjacent in a PAG, so that the distance depends on the equivalence class
    alone. An ADMG stands for its MAG, since some of its nodes that are not adjacent have no separating set.
    """
    return _distance(pairs, "ancestor", part, normalised)


@metric(**_SEPARATION, kinds=("dag", "cpdag", "mag", "admg"), instead=_INSTEAD, long_name="minimal separation distance")
@with_options(_OF_SEPARATIONS)
@with_call('"A -> B; B -> C", "A -> B; C -> B"', 1.0)
def separation_zl(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by a minimal set but the other does not.

    As `separation_parent`, with the minimal separator of van der Zander and Liskiewicz (doi:10.24963/ijcai.2019/256)
    that lies nearest to the first node: its neighbours in the moral graph of the ancestors of both nodes, as far as the
    second node reaches them without passing another one. Both orders of the two nodes count, each as half a pair. In a
    MAG, and an ADMG, which stands for its MAG, neighbours in the moral graph are nodes that a path joins all of whose
    inner nodes are colliders. A PAG has no single set: its graphs differ.
    """
    return _distance(pairs, "nearest", part, normalised)
