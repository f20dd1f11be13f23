"""Families of counts and ratios: adjacencies, ancestors, Markov blankets, orientations, marks and what they claim.

Marks claim something about the graph that generated the data, an acyclic one, whose latent nodes the verbs take by
``context={"latents": ...}``. An end (u, v) is the mark at v of the edge between u and v. "None" is a mark too, so that
missing and extra adjacencies count; with ``slots="shared"`` they do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_known, check_number
from ...contract.confusion import Confusion, ConfusionFamily, Values, ratio
from ...contract.metric import metric
from ...contract.options import with_call, with_options
from ...graphs.edge_types import ONE_WAY, reversed_type
from ...graphs.kernels.planes import KINDS, MARKED_KINDS, PLAIN_KINDS, row_chunks
from ...graphs.mixed.paths import DEFINITE, NOT, POSSIBLE, ancestors, visible_edges
from ...graphs.pairs import GraphPairs
from .nulls.laws import tails_and_misfit

__all__ = [
    "adjacency_accuracy", "adjacency_balanced_accuracy", "adjacency_f1", "adjacency_f_beta", "adjacency_fdr",
    "adjacency_fn", "adjacency_for", "adjacency_fp", "adjacency_g1", "adjacency_jaccard", "adjacency_mcc",
    "adjacency_npv", "adjacency_precision", "adjacency_recall", "adjacency_specificity", "adjacency_tn",
    "adjacency_tp", "ancestor_confusion", "ancestor_f1", "ancestor_precision", "ancestor_recall", "arrow_claim_f1",
    "arrow_claim_fn", "arrow_claim_fp", "arrow_claim_precision", "arrow_claim_recall", "arrow_claim_tp",
    "arrowhead_f1", "arrowhead_fn", "arrowhead_fp", "arrowhead_mcc", "arrowhead_precision", "arrowhead_recall",
    "arrowhead_specificity", "arrowhead_tn", "arrowhead_tp", "bidirected_f1", "bidirected_fn", "bidirected_fp",
    "bidirected_precision", "bidirected_recall", "bidirected_tp", "circle_f1", "circle_fn", "circle_fp", "circle_mcc",
    "circle_precision", "circle_recall", "circle_specificity", "circle_tn", "circle_tp", "definite_ancestor_f1",
    "definite_ancestor_npv", "definite_ancestor_precision", "definite_ancestor_recall",
    "definite_ancestor_specificity", "directed_f1", "directed_fn", "directed_fp", "directed_precision",
    "directed_recall", "directed_tp", "edge_confusion", "estimated_visible", "latent_f1", "latent_fn", "latent_fp",
    "latent_precision", "latent_recall", "latent_tp", "markov_blanket_f1", "markov_blanket_precision",
    "markov_blanket_recall", "orientation_f1", "orientation_fdr", "orientation_fn", "orientation_for",
    "orientation_fp", "orientation_g1", "orientation_npv", "orientation_precision", "orientation_recall",
    "orientation_specificity", "orientation_tn", "orientation_tp", "possible_ancestor_f1", "possible_ancestor_npv",
    "possible_ancestor_precision", "possible_ancestor_recall", "possible_ancestor_specificity", "skeleton_p",
    "tail_claim_f1", "tail_claim_fn", "tail_claim_fp", "tail_claim_precision", "tail_claim_recall", "tail_claim_tp",
    "tail_f1", "tail_fn", "tail_fp", "tail_mcc", "tail_precision", "tail_recall", "tail_specificity", "tail_tn",
    "tail_tp", "top_order_divergence", "visible_fp", "visible_precision", "visible_tp",
]  # fmt: skip

#: Petersen (2025)
_GUESSING = "10.48550/arXiv.2412.10039"
_SKELETON: dict[str, Any] = {"field": "graph", "kinds": KINDS, "closed_form": "hypergeometric", "reference": _GUESSING}
_PLAIN: dict[str, Any] = {"field": "graph", "kinds": PLAIN_KINDS}
#: of numbers of pairs of nodes, none of which is best
_PAIRS: dict[str, Any] = {"field": "graph", "direction": None, "range": (0, math.inf)}
_PLAIN_ANCESTRY: dict[str, Any] = {**_PLAIN, "closed_form": "ancestors", "costly": True}


def share_of(count: Values, whole: Any, normalised: bool) -> Values:
    """Divide a count if `normalised`; 0/0 is NaN."""
    if normalised not in (False, True):
        raise ValueError(f"normalised must be False or True, found {normalised!r}")
    return ratio(count, whole, math.nan) if normalised else count


def _counted(source: str, *names: str) -> Callable[[GraphPairs], Confusion]:
    """Return the function that compares by counts of pairs: positives of both, truth and estimate, and the total."""

    def counts(pairs: GraphPairs) -> Confusion:
        return Confusion(*(getattr(getattr(pairs, source), name) for name in names))

    return counts


_ADJACENCY = ConfusionFamily(
    "adjacency",
    _counted("counts", "tp", "true_edges", "estimated_edges", "n_pairs"),
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


_ANCESTOR = ConfusionFamily(
    "ancestor",
    _counted("ancestors", "both", "true", "estimated"),
    positives="(ancestor, descendant) pairs",
    convention="An ancestor reaches its descendant along directed edges; undirected edges lead nowhere.",
    example=("A -> B; B -> C", "A -> C; B"),
    spec={**_PLAIN_ANCESTRY, "instead": ("definite_ancestor_f1",)},
)

ancestor_precision = _ANCESTOR.metric("precision", gives=1)
ancestor_recall = _ANCESTOR.metric("recall", gives=1 / 3)
ancestor_f1 = _ANCESTOR.metric("f1", gives=1 / 2)


@metric(
    **_PLAIN_ANCESTRY,
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
    counts=_counted("blankets", "both", "true", "estimated"),
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


def _shared_endpoints(pairs: GraphPairs) -> Confusion:
    """Compare both endpoints of every shared adjacency: a right direction gives tp and tn, a reversed one fp and fn."""
    c = pairs.counts
    right, turned = c.same_direction, c.reversed
    return Confusion(right, right + turned + c.lost_direction, right + turned + c.added_direction, 2 * c.tp)


_ORIENTATION = ConfusionFamily(
    "orientation",
    _shared_endpoints,
    positives="arrowheads on shared adjacencies",
    negatives="tails on shared adjacencies",
    convention="Conditional on shared adjacencies: both endpoints of each are compared.",
    example=("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C"),
    spec={**_PLAIN, "closed_form": "linear", "reference": _GUESSING},
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


Definite = Literal["exact", "path"]

_OF_DEFINITE = {
    "definite": """definite : {"exact", "path"}
    Which nodes of a PAG are definite ancestors: those in all graphs of the class, that is with a directed path or two
    uncovered possibly directed paths whose first nodes are not adjacent; or those with a directed path alone."""
}
#: of claims about the graph that generated the data
_TRUE: dict[str, Any] = {"field": "graph", "truth_kinds": ("dag", "mag", "admg"), "symmetric": False}
_ANCESTRY: dict[str, Any] = {**_TRUE, "kinds": ("dag", "mag", "pag", "admg", "mixed"), "costly": True}


def ancestor_classes(pairs: GraphPairs, definite: Definite) -> NDArray[np.float64]:
    """Count ordered pairs (u, v), (n, 2, 3): u an ancestor of v in the true graph or not; definite, possible or not."""
    check_known(definite, ("exact", "path"), "definite")

    def count() -> NDArray[np.float64]:
        true = pairs.truth.known_origins.relations.ancestor
        counts = np.empty((pairs.n, 2, 3))
        for part in row_chunks(pairs.n, 40 * pairs.n_nodes**2):
            used, place = np.unique(pairs.estimate_index[part], return_inverse=True)
            claimed = ancestors(pairs.estimate.planes[used], pairs.n_nodes, definite)[place]
            above = true[pairs.truth_index[part]]
            for column, code in enumerate((DEFINITE, POSSIBLE, NOT)):
                mine = claimed == code
                counts[part, 0, column] = (mine & above).sum(axis=(1, 2))
                counts[part, 1, column] = mine.sum(axis=(1, 2)) - counts[part, 0, column]
        counts[:, 1, 2] -= pairs.n_nodes  # the diagonal
        return counts

    return np.asarray(pairs.remember(("ancestor_classes", definite), count))


def _claimed_ancestors(n_classes: int) -> Callable[..., Confusion]:
    """Return the function that compares true ancestors with the definite, or definite and possible, ones."""

    def counts(pairs: GraphPairs, *, definite: Definite = "exact") -> Confusion:
        classes = ancestor_classes(pairs, definite)
        claimed = classes[:, :, :n_classes].sum(axis=2)
        return Confusion(claimed[:, 0], classes[:, 0].sum(axis=1), claimed.sum(axis=1), classes.sum(axis=(1, 2)))

    return counts


def visible(pairs: GraphPairs) -> Confusion:
    """Compare visible edges with pairs that no latent node confounds."""

    def count() -> tuple[Values, Values]:
        confounded = pairs.truth.known_origins.relations.confounded
        seen, right = np.empty(pairs.n), np.empty(pairs.n)
        for part in row_chunks(pairs.n, 20 * pairs.n_nodes**2):
            used, place = np.unique(pairs.estimate_index[part], return_inverse=True)
            edges = visible_edges(pairs.estimate.planes[used], pairs.n_nodes)[place]
            seen[part] = edges.sum(axis=(1, 2))
            right[part] = (edges & ~confounded[pairs.truth_index[part]]).sum(axis=(1, 2))
        return right, seen

    right, seen = pairs.remember("visible", count)
    return Confusion(right, np.full(pairs.n, np.nan), seen)


_DEFINITE = ConfusionFamily(
    "definite_ancestor",
    _claimed_ancestors(1),
    positives="(ancestor, descendant) pairs",
    negatives="other ordered pairs",
    convention="The true graph has latent nodes too; the estimate's ancestors are those that its marks decide.",
    example=("A -> B; B -> C; A -> C", "A <-> B; B -> C; A <-> C"),
    spec={**_ANCESTRY, "closed_form": "ancestor_classes"},
    options=_OF_DEFINITE,
)
_POSSIBLE = replace(
    _DEFINITE,
    prefix="possible_ancestor",
    counts=_claimed_ancestors(2),
    convention="The true graph has latent nodes too; the estimate's ancestors are those that its marks allow, with a "
    "possibly directed path: no arrowhead points back and no tail forward.",
)
_VISIBLE = ConfusionFamily(
    "visible",
    visible,
    label="visible edge",
    positives="visible edges without latent confounder",
    convention="An edge A -> B of a MAG or PAG is visible if no graph that the marks allow has a latent confounder of "
    "A and B; it is right if the true graph has none, that is no A <-> B in its projection to an acyclic directed "
    "mixed graph.",
    example=("A -> C; B -> C; C -> D", "A -> C; B <-> C; C -> D"),
    spec={**_ANCESTRY, "kinds": ("mag", "pag"), "truth_kinds": ("dag", "admg"), "reference": "10.5555/1390681.1442780"},
)

definite_ancestor_precision = _DEFINITE.metric("precision", gives=1)
definite_ancestor_recall = _DEFINITE.metric("recall", gives=1 / 3)
definite_ancestor_f1 = _DEFINITE.metric("f1", gives=1 / 2)
definite_ancestor_npv = _DEFINITE.metric("npv", gives=3 / 5)
definite_ancestor_specificity = _DEFINITE.metric("specificity", gives=1)
possible_ancestor_precision = _POSSIBLE.metric("precision", gives=1)
possible_ancestor_recall = _POSSIBLE.metric("recall", gives=1 / 3)
possible_ancestor_f1 = _POSSIBLE.metric("f1", gives=1 / 2)
possible_ancestor_npv = _POSSIBLE.metric("npv", gives=3 / 5)
possible_ancestor_specificity = _POSSIBLE.metric("specificity", gives=1)

visible_tp = _VISIBLE.metric("tp", gives=1, long_name="visible edges without latent confounder")
visible_fp = _VISIBLE.metric("fp", gives=0, long_name="visible edges with a latent confounder")
visible_precision = _VISIBLE.metric("precision", gives=1)


@metric(
    **{**_ANCESTRY, **_PAIRS},
    long_name="ordered pairs by ancestry",
    dims={"true": ("ancestor", "other"), "estimated": ("definite", "possible", "none")},
)
@with_options(_OF_DEFINITE)
def ancestor_confusion(pairs: GraphPairs, *, definite: Definite = "exact") -> Values:
    """Count the ordered pairs of nodes by ancestry in the true graph and in the estimate.

    A node of the true graph is an ancestor of another or not; in the estimate it is a definite, a possible or no
    ancestor.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.ancestor_confusion("A -> B; B -> C; A -> C", "A <-> B; B -> C; A <-> C").tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]
    """
    return ancestor_classes(pairs, definite)


@metric(**_PAIRS, kinds=("mag", "pag"), truth_kinds=(), long_name="visible edges of the estimate", costly=True)
@with_call('None, "A o-> C; B o-> C; C -> D"', 1.0)
def estimated_visible(pairs: GraphPairs) -> Values:
    """Count the visible edges A -> B of the estimate, for which the marks rule out a latent confounder."""
    return np.asarray(visible(pairs).estimated)


Among = Literal["all", "adjacent"]
Confounded = Literal["projection", "ancestor"]

_AMONG = """among : {"all", "adjacent"}
    Which true positives can be missed: all, also where the estimate has no edge, or those whose nodes are adjacent in
    the estimate, which changes with the estimate."""
_OF_CLAIMS = {
    "confounded": """confounded : {"projection", "ancestor"}
    Which pairs of nodes are confounded: those with <-> in the projection of the truth to an acyclic directed mixed
    graph, that is with a latent node from which paths of latent nodes lead to both; or those with a latent ancestor in
    common.""",
    "among": _AMONG,
}


def _check_among(among: str) -> bool:
    check_known(among, ("all", "adjacent"), "among")
    return among == "adjacent"


def right_heads(pairs: GraphPairs, *, among: Among = "all") -> Confusion:
    """Compare arrowheads with the nodes that are not ancestors."""
    claims, adjacent = pairs.claims, _check_among(among)
    others = claims.adjacent_others if adjacent else pairs.n_nodes * (pairs.n_nodes - 1) - claims.ancestors
    return Confusion(claims.right_heads, others, claims.heads)


def right_tails(pairs: GraphPairs, *, among: Among = "all") -> Confusion:
    """Compare tails with ancestors."""
    claims, adjacent = pairs.claims, _check_among(among)
    return Confusion(claims.right_tails, claims.adjacent_ancestors if adjacent else claims.ancestors, claims.tails)


def right_confounders(pairs: GraphPairs, *, confounded: Confounded = "projection", among: Among = "all") -> Confusion:
    """Compare bidirected edges with confounded pairs of nodes."""
    check_known(confounded, ("projection", "ancestor"), "confounded")
    claims, what = pairs.claims, "confounded" if confounded == "projection" else "common"
    true = getattr(claims, f"adjacent_{what}" if _check_among(among) else what)
    return Confusion(getattr(claims, f"bidirected_{what}"), true, claims.bidirected)


_CLAIM: dict[str, Any] = {**_TRUE, "kinds": ("dag", "mag", "pag", "mixed"), "closed_form": "claims"}

_ARROW_CLAIM = ConfusionFamily(
    "arrow_claim",
    right_heads,
    positives="right arrowheads",
    convention="An arrowhead at B of `A *-> B` claims that B is not an ancestor of A, and is right iff that holds in "
    "the true graph, latent nodes included.",
    example=("A -> B; B -> C", "A <-> B; B -> C"),
    spec=_CLAIM,
    options={"among": _AMONG},
)
_TAIL_CLAIM = replace(
    _ARROW_CLAIM,
    prefix="tail_claim",
    counts=right_tails,
    positives="right tails",
    convention="A tail at A of `A -* B` claims that A is an ancestor of B, and is right iff that holds in the true "
    "graph, latent nodes included.",
    example=("A -> B; B -> C; A -> C", "A <-> B; B -> C; C <-> A"),
)
_LATENT = replace(
    _ARROW_CLAIM,
    prefix="latent",
    counts=right_confounders,
    label="latent confounder",
    positives="confounded pairs",
    convention="A <-> B in the estimate claims that a latent node confounds A and B.",
    example=("A -> B; A <-> B; B -> C; C <-> D", "A -> B; A <-> B; B <-> C; C -> D"),
    spec={**_CLAIM, "kinds": ("mag", "pag", "admg", "mixed"), "truth_kinds": ("dag", "admg")},
    options=_OF_CLAIMS,
)

arrow_claim_tp = _ARROW_CLAIM.metric("tp", gives=2, long_name="right arrowheads against the true graph")
arrow_claim_fp = _ARROW_CLAIM.metric("fp", gives=1, long_name="wrong arrowheads against the true graph")
arrow_claim_fn = _ARROW_CLAIM.metric("fn", gives=1, long_name="missed arrowheads against the true graph")
arrow_claim_precision = _ARROW_CLAIM.metric("precision", gives=2 / 3)
arrow_claim_recall = _ARROW_CLAIM.metric("recall", gives=2 / 3)
arrow_claim_f1 = _ARROW_CLAIM.metric("f1", gives=2 / 3)

tail_claim_tp = _TAIL_CLAIM.metric("tp", gives=1, long_name="right tails against the true graph")
tail_claim_fp = _TAIL_CLAIM.metric("fp", gives=0, long_name="wrong tails against the true graph")
tail_claim_fn = _TAIL_CLAIM.metric("fn", gives=2, long_name="missed tails against the true graph")
tail_claim_precision = _TAIL_CLAIM.metric("precision", gives=1)
tail_claim_recall = _TAIL_CLAIM.metric("recall", gives=1 / 3)
tail_claim_f1 = _TAIL_CLAIM.metric("f1", gives=1 / 2)

latent_tp = _LATENT.metric("tp", gives=1, long_name="right bidirected edges against the true graph")
latent_fp = _LATENT.metric("fp", gives=1, long_name="bidirected edges without latent confounder")
latent_fn = _LATENT.metric("fn", gives=1, long_name="latent confounders without bidirected edge")
latent_precision = _LATENT.metric("precision", gives=1 / 2)
latent_recall = _LATENT.metric("recall", gives=1 / 2)
latent_f1 = _LATENT.metric("f1", gives=1 / 2)


Slots = Literal["all", "shared"]
Circle = Literal["mark", "unknown", "half"]

_OF_MARKS = {
    "slots": """slots : {"all", "shared"}
    Over all d (d - 1) ends of pairs of nodes, where an end without edge has no mark, or over the ends of adjacencies
    that both graphs have.""",
    "circle": """circle : {"mark", "unknown", "half"}
    How a circle compares with a tail or an arrowhead: as another mark; ends where the truth has a circle are left out,
    because no data decide their mark; or as half agreement.""",
}


def _shared(mark: str) -> Callable[..., Confusion]:
    """Return the function that compares one mark, tails, arrows or circles, over the ends of pairs of nodes."""

    def counts(pairs: GraphPairs, *, slots: Slots = "all", circle: Circle = "mark") -> Confusion:
        check_known(slots, ("all", "shared"), "slots")
        check_known(circle, ("mark", "unknown", "half"), "circle")
        types, where = pairs.edge_types, "_on_shared" if slots == "shared" else ""
        total = 2 * (types.tp if slots == "shared" else types.n_pairs)
        names = (f"true_{mark}{where}", f"estimated_{mark}{where}", f"both_{mark}")
        circled = (f"{mark}_at_circle", f"{mark}_missed_by_circle")
        true, estimated, both, at_circle, missed_by_circle = (getattr(types, name) for name in (*names, *circled))
        if circle == "unknown":
            estimated = estimated - at_circle
            total = total - getattr(types, f"true_circles{where}")
        elif circle == "half":
            # half of such an end is shared, the other half stays a positive of the graph that has the mark
            both = both + (at_circle + missed_by_circle) / 2
            true, estimated = true + at_circle / 2, estimated + missed_by_circle / 2
        return Confusion(both, true, estimated, total)

    return counts


def _shared_circles(pairs: GraphPairs, *, slots: Slots = "all") -> Confusion:
    return _shared("circles")(pairs, slots=slots)


_MARKED: dict[str, Any] = {"field": "graph", "kinds": MARKED_KINDS, "closed_form": "linear"}
_DIRECTED = ("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
_MIXED = ("A o-> B; B <-> C; D o-> C", "A o-> B; B <-o C; B -> D")

_ARROWHEAD = ConfusionFamily(
    "arrowhead",
    _shared("arrows"),
    positives="arrowheads",
    negatives="ends without arrowhead",
    convention="Over both ends of all pairs of nodes. In graphs of directed and undirected edges arrowheads are the "
    "heads of directed edges.",
    example=_DIRECTED,
    spec=_MARKED,
    options=_OF_MARKS,
)
_TAIL = replace(
    _ARROWHEAD,
    prefix="tail",
    counts=_shared("tails"),
    positives="tails",
    negatives="ends without tail",
    convention="Over both ends of all pairs of nodes. An undirected edge has two tails, a directed one has one.",
)
_CIRCLE = replace(
    _ARROWHEAD,
    prefix="circle",
    counts=_shared_circles,
    positives="circles",
    negatives="ends without circle",
    convention="Over both ends of all pairs of nodes. A circle of a PAG is a mark on which the graphs of the class "
    "differ.",
    example=_MIXED,
    options={"slots": _OF_MARKS["slots"]},
)
_BIDIRECTED = replace(
    _ARROWHEAD,
    prefix="bidirected",
    counts=_counted("edge_types", "both_bidirected", "true_bidirected", "estimated_bidirected"),
    label="bidirected edge",
    positives="bidirected edges",
    negatives="",
    convention="Over pairs of nodes; in an ADMG such an edge counts beside a directed one too.",
    example=("A -> B; B <-> C; C <-> D", "A <-> B; B <-> C; C -> D"),
    options={},
)

arrowhead_tp = _ARROWHEAD.metric("tp", gives=1, long_name="right arrowheads")
arrowhead_fp = _ARROWHEAD.metric("fp", gives=1, long_name="wrong or extra arrowheads")
arrowhead_fn = _ARROWHEAD.metric("fn", gives=2, long_name="missed arrowheads")
arrowhead_tn = _ARROWHEAD.metric("tn", gives=2, long_name="slots without arrowhead in both")
arrowhead_precision = _ARROWHEAD.metric("precision", gives=1 / 2)
arrowhead_recall = _ARROWHEAD.metric("recall", gives=1 / 3)
arrowhead_specificity = _ARROWHEAD.metric("specificity", gives=2 / 3)
arrowhead_f1 = _ARROWHEAD.metric("f1", gives=2 / 5)
arrowhead_mcc = _ARROWHEAD.metric("mcc", gives=0)

tail_tp = _TAIL.metric("tp", gives=2, long_name="right tails")
tail_fp = _TAIL.metric("fp", gives=2, long_name="wrong or extra tails")
tail_fn = _TAIL.metric("fn", gives=1, long_name="missed tails")
tail_tn = _TAIL.metric("tn", gives=1, long_name="ends without tail in both")
tail_precision = _TAIL.metric("precision", gives=1 / 2)
tail_recall = _TAIL.metric("recall", gives=2 / 3)
tail_specificity = _TAIL.metric("specificity", gives=1 / 3)
tail_f1 = _TAIL.metric("f1", gives=4 / 7)
tail_mcc = _TAIL.metric("mcc", gives=0)

circle_tp = _CIRCLE.metric("tp", gives=1, long_name="right circles")
circle_fp = _CIRCLE.metric("fp", gives=1, long_name="wrong or extra circles")
circle_fn = _CIRCLE.metric("fn", gives=1, long_name="missed circles")
circle_tn = _CIRCLE.metric("tn", gives=9, long_name="ends without circle in both")
circle_precision = _CIRCLE.metric("precision", gives=1 / 2)
circle_recall = _CIRCLE.metric("recall", gives=1 / 2)
circle_specificity = _CIRCLE.metric("specificity", gives=9 / 10)
circle_f1 = _CIRCLE.metric("f1", gives=1 / 2)
circle_mcc = _CIRCLE.metric("mcc", gives=0.3999999999999999)

bidirected_tp = _BIDIRECTED.metric("tp", gives=1, long_name="right bidirected edges")
bidirected_fp = _BIDIRECTED.metric("fp", gives=1, long_name="wrong or extra bidirected edges")
bidirected_fn = _BIDIRECTED.metric("fn", gives=1, long_name="missed bidirected edges")
bidirected_precision = _BIDIRECTED.metric("precision", gives=1 / 2)
bidirected_recall = _BIDIRECTED.metric("recall", gives=1 / 2)
bidirected_f1 = _BIDIRECTED.metric("f1", gives=1 / 2)


#: types of edges of an ordered pair of nodes
TYPES = ("none", "->", "<-", "<->", "o->", "<-o", "o-o", "--", "--o", "o--", "->&<->", "<-&<->")
#: the mark here, 1 for a tail, 2 an arrowhead, 3 a circle, plus four times the mark there
_CODES = (0, 9, 6, 10, 11, 14, 15, 5, 13, 7, 8, 2)


@metric(
    **_PAIRS,
    kinds=MARKED_KINDS,
    long_name="pairs of nodes by types of edges",
    dims={"true_edge": TYPES, "estimated_edge": TYPES},
)
def edge_confusion(pairs: GraphPairs, *, seen: Literal["from_truth", "from_first"] = "from_truth") -> Values:
    """Count the pairs of nodes by the type of the true edge and that of the estimated one.

    ``->&<->`` is a pair with both edges, as ADMGs have.

    Parameters
    ----------
    seen : {"from_truth", "from_first"}
        From which end an edge is written. "from_truth": the true edge points forward, so that ``->`` against ``<-`` is
        a reversal, and the rows ``<-``, ``<-o``, ``o--`` are 0; where it is the same from both ends, or missing,
        the estimated edge points forward. "from_first": from the node whose name comes first in code-point order.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> table = ce.edge_confusion("A -> B; B <-> C; D", "B -> A; C -> B; D")
    >>> labels = ce.edge_confusion.dims["true_edge"]
    >>> int(table[labels.index("->"), labels.index("<-")]), int(table[labels.index("<->"), labels.index("->")])
    (1, 1)
    """
    check_known(seen, ("from_truth", "from_first"), "value of seen")
    types = pairs.edge_types
    table = np.zeros((pairs.n, len(TYPES), len(TYPES)))
    place = {code: i for i, code in enumerate(_CODES)}
    for (true, estimated), number in {**types.cells, (0, 0): types.tn}.items():
        row, column = true, estimated
        if seen == "from_truth" and true not in (0, *ONE_WAY):
            row, column = reversed_type(true), reversed_type(estimated)
        elif seen == "from_truth" and true == reversed_type(true) and estimated not in (0, *ONE_WAY):
            column = reversed_type(estimated)
        table[:, place[row], place[column]] += number
    return table


def shared_directed(pairs: GraphPairs) -> Confusion:
    """Compare directed edges over all ordered pairs of nodes."""
    c = pairs.counts
    return Confusion(c.same_direction, c.true_directed, c.estimated_directed, 2 * c.n_pairs)


_ARROWS = ConfusionFamily(
    "directed",
    shared_directed,
    positives="directed edges",
    convention="Unconditional, over ordered pairs of nodes: a directed edge -> counts where it stands, other edges "
    "never.",
    example=_DIRECTED,
    spec=_MARKED,
)

directed_tp = _ARROWS.metric("tp", gives=1, long_name="right directed edges")
directed_fp = _ARROWS.metric("fp", gives=1, long_name="wrong or extra directed edges")
directed_fn = _ARROWS.metric("fn", gives=2, long_name="missed directed edges")
directed_precision = _ARROWS.metric("precision", gives=1 / 2)
directed_recall = _ARROWS.metric("recall", gives=1 / 3)
directed_f1 = _ARROWS.metric("f1", gives=2 / 5)
