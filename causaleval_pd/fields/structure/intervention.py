"""Interventional distances: how many effects of one node on another an estimate identifies wrongly."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.confusion import Values, ratio
from ...contract.metric import metric
from ...contract.options import Convention, with_options
from ...contract.pairs import PairError
from ...graphs.pairs import GraphPairs

__all__ = [
    "adjustment_distance",
    "ancestor_aid",
    "oset_aid",
    "parent_aid",
    "sid",
    "sid_bounds_exact",
    "sid_lower",
    "sid_upper",
]

Beyond = Literal["raise", "local"]

_WRONG: dict[str, Any] = {
    "field": "graph",
    "direction": "minimize",
    "range": (0, math.inf),
    "optimum": 0,
    "costly": True,
}
_ANY_KIND = ("dag", "cpdag", "pdag", "digraph")
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
_OPTIONS = {
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
    if normalised not in (False, True):
        raise ValueError(f"normalised must be False or True, found {normalised!r}")
    return ratio(count, pairs.n_nodes * (pairs.n_nodes - 1), math.nan) if normalised else count


@metric(
    **_SID,
    kinds=("dag",),
    long_name="structural intervention distance",
    instead=("sid_lower", "sid_upper", "parent_aid", "adjustment_distance"),
)
@with_options(_OPTIONS)
def sid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which adjusting for the estimate's parents gives a wrong effect.

    For a treatment t and an outcome y the estimate implies "no effect" if y is a parent of t, and else adjusts for the
    parents of t. It is wrong if y is a descendant of t in the truth, or the parents are not a valid adjustment set.
    Only DAGs have one value; a CPDAG has `sid_lower` and `sid_upper`, or `parent_aid`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = "A -> B; A -> C; A -> D; B -> C; B -> D"
    >>> ce.sid(truth, truth + "; C -> D"), ce.sid(truth, "B -> A; A -> C; A -> D; B -> C; B -> D")
    (0.0, 6.0)
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
@with_options(_OPTIONS)
def sid_lower(
    pairs: GraphPairs, *, normalised: bool = False, max_parent_sets: int = 100_000, beyond: Beyond = "raise"
) -> Values:
    """Return the smallest SID of a DAG of the estimate's class.

    It is exact without listing the class: undirected components are oriented independently, and a component
    whose source is chosen falls into smaller ones. On a DAG it is `sid`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.sid_lower("A -> B; B -> C", "A -- B; B -- C"), ce.sid_upper("A -> B; B -> C", "A -- B; B -- C")
    (0.0, 6.0)
    """
    return _bounds(pairs, 0, max_parent_sets, beyond, normalised)


@metric(**_BOUND, long_name="SID, upper bound over the class")
@with_options(_OPTIONS)
def sid_upper(
    pairs: GraphPairs, *, normalised: bool = False, max_parent_sets: int = 100_000, beyond: Beyond = "raise"
) -> Values:
    """Return the largest SID of a DAG of the estimate's class.

    Exact, as `sid_lower`. On a DAG it is `sid`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.sid_upper("A -> B; C", "A -- B; C"), ce.sid("A -> B; C", "B -> A; C")
    (2.0, 2.0)
    """
    return _bounds(pairs, 1, max_parent_sets, beyond, normalised)


@metric(
    field="graph",
    kinds=_ANY_KIND,
    truth_kinds=("dag",),
    direction=None,
    range=(0, 1),
    long_name="SID bounds are attained",
    instead=("parent_aid",),
    reference="10.1162/NECO_a_00708",
    costly=True,
    dtype="boolean",
)
@with_options(_OPTIONS)
def sid_bounds_exact(pairs: GraphPairs, *, max_parent_sets: int = 100_000) -> Values:
    """Check whether DAGs of the class attain `sid_lower` and `sid_upper`.

    False where an undirected component is over the limit or the estimate is not a valid CPDAG, so that
    `beyond="local"` bounds node by node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.sid_bounds_exact("A -> B; B -> C", "A -- B; B -- C")
    1.0
    >>> ce.sid_bounds_exact("A -> B; B -> C", "A -- B; B -- C", max_parent_sets=6)
    0.0
    """
    oriented = _found(pairs, max_parent_sets)[:, 2] == 0
    return np.asarray(oriented & ~pairs.refused(("dag", "cpdag")), np.float64)


@metric(**_AID, long_name="parent adjustment identification distance")
@with_options(_OPTIONS)
def parent_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's parents identify the effect wrongly.

    For a treatment t and an outcome y the estimate implies: no effect, if y is a parent of t; not identified by
    adjustment, if a possibly causal path from t to y begins with an undirected edge; else adjustment for the parents of
    t. Each answer is checked in the truth. Between DAGs this is `sid`; for a CPDAG it may lie outside `sid_lower` and
    `sid_upper`, since an effect that the estimate does not identify but the truth does counts as wrong.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.parent_aid("A -> B; B -> C", "A -> B; A -> C"), ce.parent_aid("A -> B; B -> C", "A -- B; B -- C")
    (1.0, 6.0)
    """
    return share_of_pairs(pairs.adjustment_mistakes("parent"), pairs, normalised)


@metric(**_AID, long_name="ancestor adjustment identification distance")
@with_options(_OPTIONS)
def ancestor_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's ancestors identify the effect wrongly.

    As `parent_aid`, with "no effect" where y is not a possible descendant of t, and else adjustment for the ancestors
    of t. It is 0 between DAGs if truth and estimate have the same ancestors and the estimate lacks no edge.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ancestor_aid("A -> B; B -> C", "A -> B; A -> C"), ce.ancestor_aid("A -> B; B -> C", "C -> B; B -> A")
    (1.0, 6.0)
    """
    return share_of_pairs(pairs.adjustment_mistakes("ancestor"), pairs, normalised)


@metric(**_AID, long_name="optimal adjustment identification distance")
@with_options(_OPTIONS)
def oset_aid(pairs: GraphPairs, *, normalised: bool = False) -> Values:
    """Count the ordered pairs of nodes for which the estimate's optimal set identifies the effect wrongly.

    As `ancestor_aid`, with the set of smallest asymptotic variance: the parents of the nodes on causal paths from t to
    y, without possible descendants of t.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.oset_aid("A -> B; B -> C", "A -> B; A -> C"), ce.oset_aid("A -> B; B -> C", "A -> B; B -> C; A -> C")
    (1.0, 0.0)
    """
    return share_of_pairs(pairs.adjustment_mistakes("optimal"), pairs, normalised)


@metric(
    **_WRONG,
    kinds=("dag", "mag", "pag", "admg"),
    instead=("parent_aid", "sid_lower", "sid_upper"),
    reference="10.48550/arXiv.1606.06903",
    long_name="adjustment distance",
)
@with_options(_OPTIONS)
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

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = "A -> B; B -> C; B <-> C"
    >>> confounded = ce.as_graph("A <-> B; B <-> C", kind="admg")
    >>> ce.adjustment_distance(truth, "A -> B; B -> C"), ce.adjustment_distance(truth, confounded)
    (1.0, 3.0)
    """
    return share_of_pairs(pairs.latent_adjustment_mistakes(), pairs, normalised)
