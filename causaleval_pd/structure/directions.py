"""Directed edges and arrowheads over all ordered pairs of nodes, so that missing and extra adjacencies count.

For orientation given a shared adjacency see `orientation`.
"""

from __future__ import annotations

from dataclasses import replace

from ..contract.confusion import Confusion
from ..contract.confusion_family import ConfusionFamily
from ..graphs.pairs import GraphPairs

__all__ = [
    "arrowhead_f1",
    "arrowhead_fn",
    "arrowhead_fp",
    "arrowhead_precision",
    "arrowhead_recall",
    "arrowhead_tn",
    "arrowhead_tp",
    "directed_f1",
    "directed_fn",
    "directed_fp",
    "directed_precision",
    "directed_recall",
    "directed_tp",
]


def all_endpoints(pairs: GraphPairs) -> Confusion:
    """Compare arrowheads over all ordered pairs of nodes."""
    c = pairs.counts
    return Confusion(c.same_direction, c.true_directed, c.estimated_directed, 2 * c.n_pairs)


_DIRECTED = ConfusionFamily(
    "directed",
    all_endpoints,
    module=__name__,
    label="directed",
    positives="directed edges",
    convention="Unconditional, over ordered pairs of nodes: a directed edge counts where it stands, undirected edges "
    "never.",
    example=("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C"),
    spec={"field": "graph", "kinds": ("dag", "cpdag", "pdag", "digraph"), "closed_form": "linear"},
)

directed_tp = _DIRECTED.metric("tp", gives=1, long_name="right directed edges")
directed_fp = _DIRECTED.metric("fp", gives=1, long_name="wrong or extra directed edges")
directed_fn = _DIRECTED.metric("fn", gives=2, long_name="missed directed edges")
directed_precision = _DIRECTED.metric("precision", gives=1 / 2)
directed_recall = _DIRECTED.metric("recall", gives=1 / 3)
directed_f1 = _DIRECTED.metric("f1", gives=2 / 5)

_ARROWHEAD = replace(
    _DIRECTED,
    prefix="arrowhead",
    label="arrowhead",
    positives="arrowheads",
    negatives="endpoint slots without arrowhead",
    convention="Unconditional, over the d (d - 1) endpoint slots. In graphs without bidirected edges arrowheads are "
    "the heads of directed edges.",
)

arrowhead_tp = _ARROWHEAD.metric("tp", gives=1, long_name="right arrowheads")
arrowhead_fp = _ARROWHEAD.metric("fp", gives=1, long_name="wrong or extra arrowheads")
arrowhead_fn = _ARROWHEAD.metric("fn", gives=2, long_name="missed arrowheads")
arrowhead_tn = _ARROWHEAD.metric("tn", gives=2, long_name="slots without arrowhead in both")
arrowhead_precision = _ARROWHEAD.metric("precision", gives=1 / 2)
arrowhead_recall = _ARROWHEAD.metric("recall", gives=1 / 3)
arrowhead_f1 = _ARROWHEAD.metric("f1", gives=2 / 5)
