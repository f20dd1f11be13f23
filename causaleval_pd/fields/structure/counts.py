"""Sizes and densities, descriptions of a row to stratify by, and v-structures.

V-structures are unshielded colliders i *-> k <-* j, i and j not adjacent; in plain graphs of directed edges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...contract.confusion import Confusion, ConfusionFamily, Values, ratio
from ...contract.metric import metric
from ...contract.options import with_call
from ...graphs.kernels.planes import KINDS, MARKED_KINDS
from ...graphs.pairs import GraphPairs

__all__ = [
    "estimated_density", "estimated_edges", "estimated_undirected", "n_nodes", "true_density", "true_edges",
    "true_undirected", "v_structure_f1", "v_structure_fn", "v_structure_fp", "v_structure_precision",
    "v_structure_recall", "v_structure_tp",
]  # fmt: skip

_SIZE: dict[str, Any] = {"field": "graph", "kinds": KINDS, "direction": None, "range": (0, math.inf)}
_SHARE: dict[str, Any] = {**_SIZE, "range": (0, 1)}


@metric(**_SIZE, long_name="nodes", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 3.0)
def n_nodes(pairs: GraphPairs) -> Values:
    """Count the nodes, which truth and estimate share."""
    return np.full(pairs.n, float(pairs.n_nodes))


@metric(**_SIZE, long_name="edges of the truth", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 1.0)
def true_edges(pairs: GraphPairs) -> Values:
    """Count the adjacencies of the truth; an undirected edge counts once."""
    return pairs.counts.true_edges


@metric(**_SIZE, long_name="edges of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 2.0)
def estimated_edges(pairs: GraphPairs) -> Values:
    """Count the adjacencies of the estimate; an undirected edge counts once."""
    return pairs.counts.estimated_edges


@metric(**{**_SIZE, "kinds": MARKED_KINDS}, long_name="undirected edges of the truth", of_truth=True)
@with_call('"A -- B; C", "A -> B; C"', 1.0)
def true_undirected(pairs: GraphPairs) -> Values:
    """Count the undirected edges of the truth; a DAG has none."""
    return pairs.truth.edge_counts.undirected[pairs.truth_index]


@metric(**{**_SIZE, "kinds": MARKED_KINDS}, long_name="undirected edges of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 1.0)
def estimated_undirected(pairs: GraphPairs) -> Values:
    """Count the undirected edges of the estimate; a DAG has none."""
    return pairs.estimate.edge_counts.undirected[pairs.estimate_index]


@metric(**_SHARE, long_name="density of the truth", of_truth=True)
@with_call('"A -> B; C", "A; B; C"', 0.3333333333333333)
def true_density(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are adjacent in the truth, edges / (d (d - 1) / 2); NaN for a single node."""
    return ratio(pairs.counts.true_edges, pairs.counts.n_pairs, math.nan)


@metric(**_SHARE, long_name="density of the estimate")
@with_call('"A -> B; C", "A -- B; B -> C"', 0.6666666666666666)
def estimated_density(pairs: GraphPairs) -> Values:
    """Share of the pairs of nodes that are adjacent in the estimate, edges / (d (d - 1) / 2); NaN for a single node."""
    return ratio(pairs.counts.estimated_edges, pairs.counts.n_pairs, math.nan)


def _counts(pairs: GraphPairs) -> Confusion:
    return pairs.v_structures


_V_STRUCTURE = ConfusionFamily(
    "v_structure",
    _counts,
    label="v-structure",
    positives="v-structures",
    convention="A triple counts where it is an unshielded collider, with arrowheads at its middle node; a tail or "
    "circle there breaks it, an edge between its ends shields it.",
    example=("A -> C; B -> C; D -> C; E", "A -> C; B -> C; D; E -> C"),
    spec={
        "field": "graph",
        "kinds": MARKED_KINDS,
        "closed_form": "v_structures",
        "reference": "10.48550/arXiv.2412.10039",
    },
)

v_structure_tp = _V_STRUCTURE.metric("tp", gives=1, long_name="shared v-structures")
v_structure_fp = _V_STRUCTURE.metric("fp", gives=2, long_name="extra v-structures")
v_structure_fn = _V_STRUCTURE.metric("fn", gives=2, long_name="missed v-structures")
v_structure_precision = _V_STRUCTURE.metric("precision", gives=1 / 3)
v_structure_recall = _V_STRUCTURE.metric(
    "recall",
    gives=1 / 3,
    note="This is the source's proportion of v-structures, which is 1 there where the truth has none. Extra "
    "v-structures of the estimate cost nothing.",
)
v_structure_f1 = _V_STRUCTURE.metric("f1", gives=1 / 3)
