"""Ancestors as far as the marks of an estimate decide them, and its visible edges, against the true graph."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_known
from ....contract.confusion import Confusion, Values
from ....contract.confusion_family import ConfusionFamily
from ....contract.metric import metric
from ....graphs.kernels.planes import row_chunks
from ....graphs.mixed.relations import DEFINITE, NOT, POSSIBLE, ancestors, visible_edges
from ....graphs.pairs import GraphPairs

__all__ = [
    "ancestor_confusion",
    "definite_ancestor_f1",
    "definite_ancestor_npv",
    "definite_ancestor_precision",
    "definite_ancestor_recall",
    "definite_ancestor_specificity",
    "estimated_visible",
    "possible_ancestor_f1",
    "possible_ancestor_npv",
    "possible_ancestor_precision",
    "possible_ancestor_recall",
    "possible_ancestor_specificity",
    "visible_fp",
    "visible_precision",
    "visible_tp",
]

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
        found = np.empty((pairs.n, 2, 3))
        for part in row_chunks(pairs.n, 40 * pairs.n_nodes**2):
            some, at = np.unique(place[part], return_inverse=True)
            claimed = ancestors(pairs.estimate.planes[used[some]], pairs.n_nodes, definite)[at]
            above = true[pairs.truth_index[part]]
            for column, code in enumerate((DEFINITE, POSSIBLE, NOT)):
                mine = claimed == code
                found[part, 0, column] = (mine & above).sum(axis=(1, 2))
                found[part, 1, column] = mine.sum(axis=(1, 2)) - found[part, 0, column]
        found[:, 1, 2] -= pairs.n_nodes  # the diagonal
        return found

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
    module=__name__,
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
    module=__name__,
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
def ancestor_confusion(pairs: GraphPairs, *, definite: Definite = "exact") -> Values:
    """Count the ordered pairs of nodes by ancestry in the true graph and in the estimate.

    A node of the true graph is an ancestor of another or not; in the estimate it is a definite, a possible or no
    ancestor.

    Parameters
    ----------
    definite : {"exact", "path"}
        Which nodes of a PAG are definite ancestors: those in all graphs of the class, that is with a directed path or
        two uncovered possibly directed paths whose first nodes are not adjacent; or those with a directed path alone.

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
