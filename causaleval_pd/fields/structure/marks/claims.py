"""What the marks of an estimate claim about the graph that generated the data: ancestors and latent confounders.

The truth is an acyclic graph, whose latent nodes the verbs take by ``context={"latents": ...}``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from ....contract.checks import check_known
from ....contract.confusion import Confusion
from ....contract.confusion_family import ConfusionFamily
from ....graphs.pairs import GraphPairs

__all__ = [
    "arrow_claim_f1",
    "arrow_claim_fn",
    "arrow_claim_fp",
    "arrow_claim_precision",
    "arrow_claim_recall",
    "arrow_claim_tp",
    "latent_f1",
    "latent_fn",
    "latent_fp",
    "latent_precision",
    "latent_recall",
    "latent_tp",
    "tail_claim_f1",
    "tail_claim_fn",
    "tail_claim_fp",
    "tail_claim_precision",
    "tail_claim_recall",
    "tail_claim_tp",
]

Among = Literal["all", "adjacent"]
Confounded = Literal["projection", "ancestor"]

_AMONG = """among : {"all", "adjacent"}
    Which true positives can be missed: all, also where the estimate has no edge, or those whose nodes are adjacent in
    the estimate, which changes with the estimate."""
_OPTIONS = {
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
    found, adjacent = pairs.claims, _check_among(among)
    others = found.adjacent_others if adjacent else pairs.n_nodes * (pairs.n_nodes - 1) - found.ancestors
    return Confusion(found.right_heads, others, found.heads)


def right_tails(pairs: GraphPairs, *, among: Among = "all") -> Confusion:
    """Compare tails with ancestors."""
    found, adjacent = pairs.claims, _check_among(among)
    return Confusion(found.right_tails, found.adjacent_ancestors if adjacent else found.ancestors, found.tails)


def right_confounders(pairs: GraphPairs, *, confounded: Confounded = "projection", among: Among = "all") -> Confusion:
    """Compare bidirected edges with confounded pairs of nodes."""
    check_known(confounded, ("projection", "ancestor"), "confounded")
    found, adjacent = pairs.claims, _check_among(among)
    if confounded == "projection":
        true = found.adjacent_confounded if adjacent else found.confounded
        return Confusion(found.bidirected_confounded, true, found.bidirected)
    return Confusion(found.bidirected_common, found.adjacent_common if adjacent else found.common, found.bidirected)


_SPEC: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "mag", "pag", "mixed"),
    "truth_kinds": ("dag", "mag", "admg"),
    "symmetric": False,
    "closed_form": "claims",
}

_ARROW = ConfusionFamily(
    "arrow_claim",
    right_heads,
    module=__name__,
    label="arrow claim",
    positives="right arrowheads",
    convention="An arrowhead at B of `A *-> B` claims that B is not an ancestor of A, and is right iff that holds in "
    "the true graph, latent nodes included.",
    example=("A -> B; B -> C", "A <-> B; B -> C"),
    spec=_SPEC,
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
    spec={**_SPEC, "kinds": ("mag", "pag", "admg", "mixed"), "truth_kinds": ("dag", "admg")},
    options=_OPTIONS,
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
