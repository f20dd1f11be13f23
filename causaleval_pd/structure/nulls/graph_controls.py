"""Controls that are graphs: which class and number of edges they match, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Conditional, Controls, Matching
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import KINDS
from ...graphs.pairs import GraphBatch, GraphPairs

#: rough bytes of a drawn control besides its planes: counts and the values of a few metrics
_COUNT_BYTES = 200

_DAG, _CPDAG = KINDS.index("dag"), KINDS.index("cpdag")


def no_closed_form(metric: Metric) -> ClosedForm | None:
    """Return None: every metric is simulated."""
    return None


@dataclass(frozen=True, eq=False)
class GraphControls(Controls):
    """Controls of the rows of one batch."""

    #: the observed pairs, one a row
    pairs: GraphPairs
    #: (n,): class of a row's controls
    kinds: NDArray[np.uint8]
    #: `graphs(start, count)` draws n * count graphs, a row's draws together
    graphs: Callable[[int, int], GraphBatch]
    #: `known(metric)` returns the closed form or None
    known: Callable[[Metric], ClosedForm | None] = no_closed_form
    #: further bytes that drawing one control takes
    scratch: int = 0
    #: nanoseconds that drawing takes for each node and edge, roughly
    pace: float = 20.0
    #: the controls that p rests on, where not these
    conditional: Conditional | None = None

    @property
    def tested(self) -> Conditional | None:
        """The controls that p rests on, where not these."""
        return self.conditional

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls by name, a row each."""
        return np.array(KINDS, object)[self.kinds]

    @property
    def cost(self) -> int:
        """Bytes of one control: its planes, counts, and what drawing it takes."""
        return 16 * self.pairs.truth.planes.shape[2] + _COUNT_BYTES + self.scratch

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control, in proportion to its nodes and edges."""
        return self.pace * self.pairs.size

    def draw(self, start: int, count: int) -> GraphPairs:
        """Pair draws start .. start + count - 1 of every row with its truth."""
        truth_index = np.repeat(self.pairs.truth_index, count)
        index = np.arange(len(truth_index), dtype=np.int64)
        return GraphPairs(self.pairs.truth, self.graphs(start, count), truth_index, index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact moments or law under the model, or None."""
        return self.known(metric)


def estimated_edges(pairs: GraphPairs) -> NDArray[np.int64]:
    """Return the number of edges of each pair's estimate."""
    return pairs.estimate.edge_counts.edges[pairs.estimate_index].astype(np.int64)


def matched_by_cpdags(matching: Matching, rows: NDArray[np.int64], pairs: GraphPairs) -> NDArray[np.bool_]:
    """Return which rows are matched by CPDAGs: as `control_kind` states, else where the estimate is not a DAG."""
    kinds = pairs.estimate.kinds[pairs.estimate_index]
    cpdag = np.asarray(kinds != _DAG)
    if matching.control_kind is None:
        return cpdag
    given = matching.control_kind[rows]
    for row, kind in zip(rows, given, strict=True):
        if not pd.isna(kind) and kind not in KINDS:
            raise ValueError(
                f"row {row}: control_kind is {kind!r}; expected one of {', '.join(KINDS)}, or the name of a column "
                "that holds these words"
            )
    stated = np.array([not pd.isna(kind) for kind in given], bool)
    return np.where(stated, given != "dag", cpdag)


def class_codes(cpdag: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the codes of the class CPDAG where `cpdag`, else DAG."""
    return np.where(cpdag, _CPDAG, _DAG).astype(np.uint8)


def in_class(planes: NDArray[np.uint64], n_nodes: int, cpdag: NDArray[np.bool_], count: int) -> GraphBatch:
    """Make graphs of drawn DAGs, (n * count, 2, W), or of the CPDAGs of their classes in the rows marked by `cpdag`."""
    mapped = np.repeat(cpdag, count)
    if mapped.any():
        planes = planes.copy()
        planes[mapped] = kernels().dag_to_cpdag(planes[mapped], n_nodes)[0]
    return GraphBatch(n_nodes, planes, class_codes(mapped))
