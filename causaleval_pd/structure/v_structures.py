"""V-structures: unshielded colliders i -> k <- j, i and j not adjacent, made of directed edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import metric
from ..graphs.pairs import GraphPairs
from .ratio import f_score, ratio

Values = NDArray[np.float64]

_COLLIDERS: dict[str, Any] = {
    "field": "graph",
    "kinds": ("dag", "cpdag", "pdag"),
    "reference": "10.48550/arXiv.2412.10039",
    "closed_form": "v_structures",
}


@metric(
    **_COLLIDERS,
    long_name="shared v-structures",
    direction="maximize",
    range=(0, math.inf),
    optimum=math.inf,
    symmetric=True,
)
def v_structure_tp(pairs: GraphPairs) -> Values:
    """Count v-structures of both graphs.

    A triple counts where it is an unshielded collider in both.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_tp("A -> C; B -> C", "A -> C; B -> C")
    1.0
    """
    return pairs.v_structures.both


@metric(**_COLLIDERS, long_name="extra v-structures", direction="minimize", range=(0, math.inf), optimum=0)
def v_structure_fp(pairs: GraphPairs) -> Values:
    """Count v-structures of the estimate that the truth lacks.

    A shielded collider of the truth is no v-structure.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_fp("A -> C; B -> C; A -> B", "A -> C; B -> C")
    1.0
    """
    return np.asarray(pairs.v_structures.estimated - pairs.v_structures.both)


@metric(**_COLLIDERS, long_name="missed v-structures", direction="minimize", range=(0, math.inf), optimum=0)
def v_structure_fn(pairs: GraphPairs) -> Values:
    """Count v-structures of the truth that the estimate lacks.

    An undirected or reversed edge breaks the collider.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_fn("A -> C; B -> C", "A -> C; C -> B")
    1.0
    """
    return np.asarray(pairs.v_structures.true - pairs.v_structures.both)


@metric(**_COLLIDERS, long_name="v-structure precision", direction="maximize", range=(0, 1), optimum=1)
def v_structure_precision(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the estimate's v-structures that the truth has.

    tp / (tp + fp); 0/0 if the estimate has none.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_precision("A -> C; B -> C; D", "A -> C; B -> C; D -> C")
    0.3333333333333333
    """
    return ratio(pairs.v_structures.both, pairs.v_structures.estimated, zero_division)


@metric(**_COLLIDERS, long_name="v-structure recall", direction="maximize", range=(0, 1), optimum=1)
def v_structure_recall(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Share of the truth's v-structures that were recovered.

    tp / (tp + fn), the source's proportion of v-structures; 0/0, which is 1 there, if the truth has none. Extra
    v-structures of the estimate cost nothing.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_recall("A -> C; B -> C; D -> C", "A -> C; B -> C; D")
    0.3333333333333333
    """
    return ratio(pairs.v_structures.both, pairs.v_structures.true, zero_division)


@metric(**_COLLIDERS, long_name="v-structure F1", direction="maximize", range=(0, 1), optimum=1, symmetric=True)
def v_structure_f1(pairs: GraphPairs, *, zero_division: float = math.nan) -> Values:
    """Return the harmonic mean of v-structure precision and recall.

    2 tp / (2 tp + fp + fn); 0/0 if neither graph has one.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.v_structure_f1("A -> C; B -> C; D -> C", "A -> C; B -> C; D")
    0.5
    """
    v = pairs.v_structures
    return f_score(v.both, v.estimated - v.both, v.true - v.both, 1.0, zero_division)
