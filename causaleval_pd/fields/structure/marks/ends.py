"""Marks at the ends of edges: arrowheads, tails and circles over ordered pairs of nodes; types of edges; directed ones.

An end (u, v) is the mark at v of the edge between u and v. "None" is a mark too, so that missing and extra adjacencies
count; with ``slots="shared"`` they do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ....contract.checks import check_known
from ....contract.confusion import Confusion, ConfusionFamily, Values
from ....contract.metric import metric
from ....graphs.edge_types import ONE_WAY, reversed_type
from ....graphs.kernels.planes import MARKED_KINDS
from ....graphs.pairs import GraphPairs

__all__ = [
    "arrowhead_f1", "arrowhead_fn", "arrowhead_fp", "arrowhead_mcc", "arrowhead_precision", "arrowhead_recall",
    "arrowhead_specificity", "arrowhead_tn", "arrowhead_tp",
    "bidirected_f1", "bidirected_fn", "bidirected_fp", "bidirected_precision", "bidirected_recall", "bidirected_tp",
    "circle_f1", "circle_fn", "circle_fp", "circle_mcc", "circle_precision", "circle_recall", "circle_specificity",
    "circle_tn", "circle_tp",
    "directed_f1", "directed_fn", "directed_fp", "directed_precision", "directed_recall", "directed_tp",
    "edge_confusion",
    "tail_f1", "tail_fn", "tail_fp", "tail_mcc", "tail_precision", "tail_recall", "tail_specificity", "tail_tn",
    "tail_tp",
]  # fmt: skip

Slots = Literal["all", "shared"]
Circle = Literal["mark", "unknown", "half"]

_OPTIONS = {
    "slots": """slots : {"all", "shared"}
    Over all d (d - 1) ends of pairs of nodes, where an end without edge has no mark, or over the ends of adjacencies
    that both graphs have.""",
    "circle": """circle : {"mark", "unknown", "half"}
    How a circle compares with a tail or an arrowhead: as another mark; ends where the truth has a circle are left out,
    because no data decide their mark; or as half agreement.""",
}


def shared_marks(pairs: GraphPairs, mark: str, slots: str, circle: str) -> Confusion:
    """Compare one mark, tails, arrows or circles, over the ends of pairs of nodes."""
    check_known(slots, ("all", "shared"), "slots")
    check_known(circle, ("mark", "unknown", "half"), "circle")
    types, where = pairs.edge_types, "_on_shared" if slots == "shared" else ""
    total = 2 * (types.tp if slots == "shared" else types.n_pairs)
    true, estimated, both, at_circle, missed_by_circle = (
        getattr(types, name)
        for name in (
            f"true_{mark}{where}",
            f"estimated_{mark}{where}",
            f"both_{mark}",
            f"{mark}_at_circle",
            f"{mark}_missed_by_circle",
        )
    )
    if circle == "unknown":
        estimated = estimated - at_circle
        total = total - getattr(types, f"true_circles{where}")
    elif circle == "half":
        # half of such an end is shared, the other half stays a positive of the graph that has the mark
        both = both + (at_circle + missed_by_circle) / 2
        true, estimated = true + at_circle / 2, estimated + missed_by_circle / 2
    return Confusion(both, true, estimated, total)


def _counts_of(mark: str) -> Callable[..., Confusion]:
    def counts(pairs: GraphPairs, *, slots: Slots = "all", circle: Circle = "mark") -> Confusion:
        return shared_marks(pairs, mark, slots, circle)

    return counts


def shared_circles(pairs: GraphPairs, *, slots: Slots = "all") -> Confusion:
    """Compare circles over the ends of pairs of nodes."""
    return shared_marks(pairs, "circles", slots, "mark")


def _shared_bidirected(pairs: GraphPairs) -> Confusion:
    types = pairs.edge_types
    return Confusion(types.both_bidirected, types.true_bidirected, types.estimated_bidirected)


_SPEC: dict[str, Any] = {"field": "graph", "kinds": MARKED_KINDS, "closed_form": "linear"}
_DIRECTED = ("A -> B; B -> C; A -> C", "A -> B; C -> B; A -- C")
_MIXED = ("A o-> B; B <-> C; D o-> C", "A o-> B; B <-o C; B -> D")

_ARROWHEAD = ConfusionFamily(
    "arrowhead",
    _counts_of("arrows"),
    label="arrowhead",
    positives="arrowheads",
    negatives="ends without arrowhead",
    convention="Over both ends of all pairs of nodes. In graphs of directed and undirected edges arrowheads are the "
    "heads of directed edges.",
    example=_DIRECTED,
    spec=_SPEC,
    options=_OPTIONS,
)
_TAIL = replace(
    _ARROWHEAD,
    prefix="tail",
    counts=_counts_of("tails"),
    label="tail",
    positives="tails",
    negatives="ends without tail",
    convention="Over both ends of all pairs of nodes. An undirected edge has two tails, a directed one has one.",
)
_CIRCLE = replace(
    _ARROWHEAD,
    prefix="circle",
    counts=shared_circles,
    label="circle",
    positives="circles",
    negatives="ends without circle",
    convention="Over both ends of all pairs of nodes. A circle of a PAG is a mark on which the graphs of the class "
    "differ.",
    example=_MIXED,
    options={"slots": _OPTIONS["slots"]},
)
_BIDIRECTED = replace(
    _ARROWHEAD,
    prefix="bidirected",
    counts=_shared_bidirected,
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


#: types of edges of an ordered pair of nodes: the mark here plus four times the mark there
_CODES = {
    "none": 0,
    "->": 1 + 4 * 2,
    "<-": 2 + 4 * 1,
    "<->": 2 + 4 * 2,
    "o->": 3 + 4 * 2,
    "<-o": 2 + 4 * 3,
    "o-o": 3 + 4 * 3,
    "--": 1 + 4 * 1,
    "--o": 1 + 4 * 3,
    "o--": 3 + 4 * 1,
    "->&<->": 0 + 4 * 2,
    "<-&<->": 2 + 4 * 0,
}
TYPES = tuple(_CODES)


@metric(
    field="graph",
    kinds=MARKED_KINDS,
    direction=None,
    range=(0, math.inf),
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
    place = {code: i for i, code in enumerate(_CODES.values())}
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
    label="directed",
    positives="directed edges",
    convention="Unconditional, over ordered pairs of nodes: a directed edge -> counts where it stands, other edges "
    "never.",
    example=_DIRECTED,
    spec=_SPEC,
)

directed_tp = _ARROWS.metric("tp", gives=1, long_name="right directed edges")
directed_fp = _ARROWS.metric("fp", gives=1, long_name="wrong or extra directed edges")
directed_fn = _ARROWS.metric("fn", gives=2, long_name="missed directed edges")
directed_precision = _ARROWS.metric("precision", gives=1 / 2)
directed_recall = _ARROWS.metric("recall", gives=1 / 3)
directed_f1 = _ARROWS.metric("f1", gives=2 / 5)
