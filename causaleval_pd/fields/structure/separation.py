"""Separation distances: how many separations of one graph do not hold in the other."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ...contract.checks import check_choice
from ...contract.confusion import Values
from ...contract.metric import metric
from ...contract.options import with_options
from ...graphs.pairs import GraphPairs
from .intervention import share_of_pairs

__all__ = ["separation_ancestor", "separation_parent", "separation_zl"]

Part = Literal["markov", "faithfulness", "symmetric"]

_SEPARATION: dict[str, Any] = {
    "field": "graph",
    "direction": "minimize",
    "range": (0, math.inf),
    "optimum": 0,
    "reference": "10.48550/arXiv.2402.04952",
    "costly": True,
}
_INSTEAD = ("markov_blanket_f1", "v_structure_f1")
_OPTIONS = {
    "part": """part : {"markov", "faithfulness", "symmetric"}
    Separations of the estimate that fail in the truth, so that the estimate is not Markov; separations of the truth
    that fail in the estimate, so that the estimate is not faithful; or the mean of both.""",
    "normalised": """normalised : bool
    Divide by the number of pairs of nodes.""",
}


def _distance(pairs: GraphPairs, separator: str, part: str, normalised: bool) -> Values:
    check_choice(part, ("markov", "faithfulness", "symmetric"), "part")
    mistakes = []
    if part != "faithfulness":
        mistakes.append(pairs.separation_mistakes(separator))
    if part != "markov":
        mistakes.append(pairs.swapped.separation_mistakes(separator))
    ordered = np.mean(mistakes, axis=0)
    return share_of_pairs(ordered if normalised else ordered / 2, pairs, normalised)


@metric(
    **_SEPARATION,
    kinds=("dag", "cpdag"),
    instead=("separation_ancestor", *_INSTEAD),
    long_name="parent separation distance",
)
@with_options(_OPTIONS)
def separation_parent(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by their parents but the other does not.

    Two nodes that are not adjacent in the estimate are separated there by the parents of both (in a CPDAG the possible
    parents). The pair is wrong if the truth connects them given this set. In graphs with latent confounders parents do
    not separate: there it is `separation_ancestor`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.separation_parent("A -> B; B -> C", "A -> B; C -> B"), ce.separation_parent("A -> B; B -> C", "A; B; C")
    (1.0, 3.0)
    >>> ce.separation_parent("A; B; C", "A -> B; B -> C", part="faithfulness")
    3.0
    """
    return _distance(pairs, "parent", part, normalised)


@metric(
    **_SEPARATION,
    kinds=("dag", "cpdag", "mag", "pag", "admg"),
    instead=_INSTEAD,
    long_name="ancestor separation distance",
)
@with_options(_OPTIONS)
def separation_ancestor(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by their ancestors but the other does not.

    As `separation_parent`, with the ancestors of both nodes (in a CPDAG or PAG the possible ancestors) in the parents'
    place. In graphs with latent confounders, separation is m-separation (doi:10.1214/aos/1031689015): the possible
    ancestors separate all nodes that are not adjacent in a PAG, so that the distance depends on the equivalence class
    alone. An ADMG stands for its MAG, since some of its nodes that are not adjacent have no separating set.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.separation_ancestor("A -> B; B -> C; C -> D", "A -> B; B -> C; C -> D; A -> D")
    0.0
    >>> ce.separation_ancestor("A -> B; B -> C; A -> C; D", "A -> B; B -> C; D")
    1.0
    >>> ce.separation_ancestor("A o-> B; C o-> B; D", "A o-> B; C o-> B; D"), ce.separation_ancestor("A <-> B", "A; B")
    (0.0, 1.0)
    """
    return _distance(pairs, "ancestor", part, normalised)


@metric(
    **_SEPARATION,
    kinds=("dag", "cpdag", "mag", "admg"),
    instead=("separation_ancestor", *_INSTEAD),
    long_name="minimal separation distance",
)
@with_options(_OPTIONS)
def separation_zl(pairs: GraphPairs, *, part: Part = "markov", normalised: bool = False) -> Values:
    """Count the pairs of nodes that one graph separates by a minimal set but the other does not.

    As `separation_parent`, with the minimal separator of van der Zander and Liskiewicz (doi:10.24963/ijcai.2019/256)
    that lies nearest to the first node: its neighbours in the moral graph of the ancestors of both nodes, as far as the
    second node reaches them without passing another one. Both orders of the two nodes count, each as half a pair. In a
    MAG, and an ADMG, which stands for its MAG, neighbours in the moral graph are nodes that a path joins all of whose
    inner nodes are colliders. A PAG has no single set: its graphs differ.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.separation_zl("A -> B; B -> C", "A -> B; C -> B"), ce.separation_zl("A -> B; B -> C", "C -> B; B -> A")
    (1.0, 0.0)
    """
    return _distance(pairs, "nearest", part, normalised)
