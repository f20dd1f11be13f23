"""Types of edges: how often each type of the truth became which type in the estimate."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ....contract.checks import check_known
from ....contract.confusion import Values
from ....contract.metric import metric
from ....graphs.edge_types import ONE_WAY, reversed_type
from ....graphs.pairs import GraphPairs
from .ends import MARKED

__all__ = ["edge_confusion"]

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
    kinds=MARKED,
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
