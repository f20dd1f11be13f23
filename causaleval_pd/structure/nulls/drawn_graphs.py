"""Controls that are graphs drawn by a function of (first draw, number of draws)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import KINDS
from ...graphs.pairs import GraphBatch, GraphPairs

Planes = NDArray[np.uint64]

#: rough bytes of a drawn control besides its planes: counts and the values of a few metrics
COUNT_BYTES = 200

_DAG, _CPDAG = KINDS.index("dag"), KINDS.index("cpdag")


def nothing_known(metric: Metric) -> ClosedForm | None:
    """Know no closed form."""
    return None


@dataclass(frozen=True, eq=False)
class DrawnGraphs:
    """Controls of the rows of one batch.

    Attributes
    ----------
    pairs : GraphPairs
        The observed pairs, one a row.
    kinds : (n,) uint8
        Class of a row's controls.
    planes : callable
        `planes(start, count)` draws (n * count, 2, W), a row's draws together.
    known : callable
        `known(metric)` is the closed form or None.
    scratch : int
        Further bytes that drawing one control takes.
    pace : float
        Nanoseconds that drawing takes for each node and edge, roughly.
    """

    pairs: GraphPairs
    kinds: NDArray[np.uint8]
    planes: Callable[[int, int], Planes]
    known: Callable[[Metric], ClosedForm | None] = nothing_known
    scratch: int = 0
    pace: float = 20.0

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        return np.array(KINDS, object)[self.kinds]

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return 16 * self.pairs.truth.planes.shape[2] + COUNT_BYTES + self.scratch

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: the mean over the rows."""
        return self.pace * self.pairs.size

    def draw(self, start: int, count: int) -> GraphPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        truth_index = np.repeat(self.pairs.truth_index, count)
        graphs = GraphBatch(self.pairs.n_nodes, self.planes(start, count), np.repeat(self.kinds, count))
        return GraphPairs(self.pairs.truth, graphs, truth_index, np.arange(len(truth_index), dtype=np.int64))

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return what is known of the metric's null distribution, or None."""
        return self.known(metric)


def class_codes(cpdag: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Turn "is a CPDAG rather than a DAG" into classes."""
    return np.where(cpdag, _CPDAG, _DAG).astype(np.uint8)


def in_class(planes: Planes, n_nodes: int, cpdag: NDArray[np.bool_], count: int) -> Planes:
    """Replace the DAGs of the rows that are matched by CPDAGs, `count` draws a row, by the CPDAGs of their classes."""
    mapped = np.repeat(cpdag, count)
    if mapped.any():
        planes = planes.copy()
        planes[mapped] = kernels().dag_to_cpdag(planes[mapped], n_nodes)[0]
    return planes
