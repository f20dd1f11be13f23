"""V-structures: unshielded colliders i *-> k <-* j, i and j not adjacent; in plain graphs of directed edges."""

from __future__ import annotations

from ...contract.confusion import Confusion, ConfusionFamily
from ...graphs.kernels.planes import MARKED_KINDS
from ...graphs.pairs import GraphPairs

__all__ = [
    "v_structure_f1", "v_structure_fn", "v_structure_fp", "v_structure_precision", "v_structure_recall",
    "v_structure_tp",
]  # fmt: skip


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
