"""Directed edges over all ordered pairs of nodes, so that missing and extra adjacencies count.

For orientation given a shared adjacency see `orientation`, for arrowheads `marks.ends`.
"""

from __future__ import annotations

from ...contract.confusion import Confusion, ConfusionFamily
from ...graphs.kernels.planes import MARKED_KINDS
from ...graphs.pairs import GraphPairs

__all__ = [
    "directed_f1",
    "directed_fn",
    "directed_fp",
    "directed_precision",
    "directed_recall",
    "directed_tp",
]


def shared_directed(pairs: GraphPairs) -> Confusion:
    """Compare directed edges over all ordered pairs of nodes."""
    c = pairs.counts
    return Confusion(c.same_direction, c.true_directed, c.estimated_directed, 2 * c.n_pairs)


_DIRECTED = ConfusionFamily(
    "directed",
    shared_directed,
    module=__name__,
    label="directed",
    positives="directed edges",
    convention="Unconditional, over ordered pairs of nodes: a directed edge -> counts where it stands, other edges "
    "never.",
    example=("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C"),
    spec={"field": "graph", "kinds": MARKED_KINDS, "closed_form": "linear"},
)

directed_tp = _DIRECTED.metric("tp", gives=1, long_name="right directed edges")
directed_fp = _DIRECTED.metric("fp", gives=1, long_name="wrong or extra directed edges")
directed_fn = _DIRECTED.metric("fn", gives=2, long_name="missed directed edges")
directed_precision = _DIRECTED.metric("precision", gives=1 / 2)
directed_recall = _DIRECTED.metric("recall", gives=1 / 3)
directed_f1 = _DIRECTED.metric("f1", gives=2 / 5)
