"""What the marks of an estimate claim about the graph that generated the data: ancestors, visible edges, confounders.

The truth is an acyclic graph, whose latent nodes the verbs take by ``context={"latents": ...}``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_known
from ....contract.confusion import Confusion, ConfusionFamily, Values
from ....contract.metric import metric
from ....contract.options import with_options
from ....graphs.kernels.planes import row_chunks
from ....graphs.mixed.relations import DEFINITE, NOT, POSSIBLE, ancestors, visible_edges
from ....graphs.pairs import GraphPairs

__all__ = [
    "ancestor_confusion",
    "arrow_claim_f1", "arrow_claim_fn", "arrow_claim_fp", "arrow_claim_precision", "arrow_claim_recall",
    "arrow_claim_tp",
    "definite_ancestor_f1", "definite_ancestor_npv", "definite_ancestor_precision", "definite_ancestor_recall",
    "definite_ancestor_specificity",
    "estimated_visible",
    "latent_f1", "latent_fn", "latent_fp", "latent_precision", "latent_recall", "latent_tp",
    "possible_ancestor_f1", "possible_ancestor_npv", "possible_ancestor_precision", "possible_ancestor_recall",
    "possible_ancestor_specificity",
    "tail_claim_f1", "tail_claim_fn", "tail_claim_fp", "tail_claim_precision", "tail_claim_recall", "tail_claim_tp",
    "visible_fp", "visible_precision", "visible_tp",
]  # fmt: skip

Definite = Literal["exact", "path"]

_OPTIONS = {
    "definite": """definite : {"exact", "path"}
    Which nodes of a PAG are definite ancestors: those in all graphs of the class, that is with a directed path or two
    uncovered possibly directed paths whose first nodes are not adjacent; or those with a directed path alone."""
}
_SPEC: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "mag", "pag", "admg", "mixed"),
    "truth_kinds": ("dag", "mag", "admg"),
    "costly": True,
    "symmetric": False,
}


def ancestor_classes(pairs: GraphPairs, definite: Definite) -> NDArray[np.float64]:
    """Count ordered pairs (u, v), (n, 2, 3): u an ancestor of v in the true graph or not; definite, possible or not."""
    check_known(definite, ("exact", "path"), "definite")

    def count() -> NDArray[np.float64]:
        true = pairs.truth.known_origins.relations.ancestor
        used, place = np.unique(pairs.estimate_index, return_inverse=True)
        counts = np.empty((pairs.n, 2, 3))
        for part in row_chunks(pairs.n, 40 * pairs.n_nodes**2):
            some, at = np.unique(place[part], return_inverse=True)
            claimed = ancestors(pairs.estimate.planes[used[some]], pairs.n_nodes, definite)[at]
            above = true[pairs.truth_index[part]]
            for column, code in enumerate((DEFINITE, POSSIBLE, NOT)):
                mine = claimed == code
                counts[part, 0, column] = (mine & above).sum(axis=(1, 2))
                counts[part, 1, column] = mine.sum(axis=(1, 2)) - counts[part, 0, column]
        counts[:, 1, 2] -= pairs.n_nodes  # the diagonal
        return counts

    return np.asarray(pairs.remember(("ancestor_classes", definite), count))


def _share(found: NDArray[np.float64], columns: int) -> Confusion:
    """Compare true ancestors with the pairs in the first columns."""
    claimed = found[:, :, :columns].sum(axis=2)
    return Confusion(claimed[:, 0], found[:, 0].sum(axis=1), claimed.sum(axis=1), found.sum(axis=(1, 2)))


def definite_ancestors(pairs: GraphPairs, *, definite: Definite = "exact") -> Confusion:
    """Compare the ancestors of the true graph with the definite ones of the estimate."""
    return _share(ancestor_classes(pairs, definite), 1)


def possible_ancestors(pairs: GraphPairs, *, definite: Definite = "exact") -> Confusion:
    """Compare the ancestors of the true graph with the definite and possible ones of the estimate."""
    return _share(ancestor_classes(pairs, definite), 2)


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
    definite_ancestors,
    label="definite ancestor",
    positives="(ancestor, descendant) pairs",
    negatives="other ordered pairs",
    convention="The true graph has latent nodes too; the estimate's ancestors are those that its marks decide.",
    example=("A -> B; B -> C; A -> C", "A <-> B; B -> C; A <-> C"),
    spec={**_SPEC, "closed_form": "ancestor_classes"},
    options=_OPTIONS,
)
_POSSIBLE = replace(
    _DEFINITE,
    prefix="possible_ancestor",
    counts=possible_ancestors,
    label="possible ancestor",
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
    spec={**_SPEC, "kinds": ("mag", "pag"), "truth_kinds": ("dag", "admg"), "reference": "10.5555/1390681.1442780"},
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
    **_SPEC,
    direction=None,
    range=(0, math.inf),
    long_name="ordered pairs by ancestry",
    dims={"true": ("ancestor", "other"), "estimated": ("definite", "possible", "none")},
)
@with_options(_OPTIONS)
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


@metric(
    field="graph",
    kinds=("mag", "pag"),
    truth_kinds=(),
    direction=None,
    range=(0, math.inf),
    long_name="visible edges of the estimate",
    costly=True,
)
def estimated_visible(pairs: GraphPairs) -> Values:
    """Count the visible edges A -> B of the estimate, for which the marks rule out a latent confounder.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.estimated_visible(None, "A o-> C; B o-> C; C -> D")
    1.0
    """
    return np.asarray(visible(pairs).estimated)


Among = Literal["all", "adjacent"]
Confounded = Literal["projection", "ancestor"]

_AMONG = """among : {"all", "adjacent"}
    Which true positives can be missed: all, also where the estimate has no edge, or those whose nodes are adjacent in
    the estimate, which changes with the estimate."""
_CLAIM_OPTIONS = {
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
    claims, adjacent = pairs.claims, _check_among(among)
    if confounded == "projection":
        true = claims.adjacent_confounded if adjacent else claims.confounded
        return Confusion(claims.bidirected_confounded, true, claims.bidirected)
    return Confusion(claims.bidirected_common, claims.adjacent_common if adjacent else claims.common, claims.bidirected)


_CLAIM_SPEC: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "mag", "pag", "mixed"),
    "truth_kinds": ("dag", "mag", "admg"),
    "symmetric": False,
    "closed_form": "claims",
}

_ARROW = ConfusionFamily(
    "arrow_claim",
    right_heads,
    label="arrow claim",
    positives="right arrowheads",
    convention="An arrowhead at B of `A *-> B` claims that B is not an ancestor of A, and is right iff that holds in "
    "the true graph, latent nodes included.",
    example=("A -> B; B -> C", "A <-> B; B -> C"),
    spec=_CLAIM_SPEC,
    options={"among": _AMONG},
)
_TAIL = replace(
    _ARROW,
    prefix="tail_claim",
    counts=right_tails,
    label="tail claim",
    positives="right tails",
    convention="A tail at A of `A -* B` claims that A is an ancestor of B, and is right iff that holds in the true "
    "graph, latent nodes included.",
    example=("A -> B; B -> C; A -> C", "A <-> B; B -> C; C <-> A"),
)
_LATENT = replace(
    _ARROW,
    prefix="latent",
    counts=right_confounders,
    label="latent confounder",
    positives="confounded pairs",
    convention="A <-> B in the estimate claims that a latent node confounds A and B.",
    example=("A -> B; A <-> B; B -> C; C <-> D", "A -> B; A <-> B; B <-> C; C -> D"),
    spec={**_CLAIM_SPEC, "kinds": ("mag", "pag", "admg", "mixed"), "truth_kinds": ("dag", "admg")},
    options=_CLAIM_OPTIONS,
)

arrow_claim_tp = _ARROW.metric("tp", gives=2, long_name="right arrowheads against the true graph")
arrow_claim_fp = _ARROW.metric("fp", gives=1, long_name="wrong arrowheads against the true graph")
arrow_claim_fn = _ARROW.metric("fn", gives=1, long_name="missed arrowheads against the true graph")
arrow_claim_precision = _ARROW.metric("precision", gives=2 / 3)
arrow_claim_recall = _ARROW.metric("recall", gives=2 / 3)
arrow_claim_f1 = _ARROW.metric("f1", gives=2 / 3)

tail_claim_tp = _TAIL.metric("tp", gives=1, long_name="right tails against the true graph")
tail_claim_fp = _TAIL.metric("fp", gives=0, long_name="wrong tails against the true graph")
tail_claim_fn = _TAIL.metric("fn", gives=2, long_name="missed tails against the true graph")
tail_claim_precision = _TAIL.metric("precision", gives=1)
tail_claim_recall = _TAIL.metric("recall", gives=1 / 3)
tail_claim_f1 = _TAIL.metric("f1", gives=1 / 2)

latent_tp = _LATENT.metric("tp", gives=1, long_name="right bidirected edges against the true graph")
latent_fp = _LATENT.metric("fp", gives=1, long_name="bidirected edges without latent confounder")
latent_fn = _LATENT.metric("fn", gives=1, long_name="latent confounders without bidirected edge")
latent_precision = _LATENT.metric("precision", gives=1 / 2)
latent_recall = _LATENT.metric("recall", gives=1 / 2)
latent_f1 = _LATENT.metric("f1", gives=1 / 2)
