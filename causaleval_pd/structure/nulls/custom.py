"""Null models made of a user's function that draws one control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null
from ...graphs.column import as_graph
from ...graphs.graph import Graph
from ...graphs.kernels.planes import KINDS
from ...graphs.pairs import GraphBatch, GraphPairs
from .drawn_graphs import COUNT_BYTES, class_codes
from .random_graphs import control_classes

#: draws one control for an estimate
DrawOne = Callable[[Graph, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model of a function that draws one control.

    Parameters
    ----------
    function : callable
        `function(estimate, rng)` returns a graph over the estimate's nodes: a `Graph`, a networkx graph, an edge
        string, or a matrix (row -> column) in the order of `estimate.nodes`. It must draw from `rng` alone.
    name : str
        Name in results.

    Returns
    -------
    Null
        Its draw r depends on the seed, the row's key and r alone. A DAG is replaced by its CPDAG where the row is
        matched by CPDAGs.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        cpdag = control_classes(matching, rows, pairs)
        return CustomControls(function, name, pairs, rows, matching.estimate.iloc[rows], keys, cpdag)

    return Null(name, f"random graphs drawn by the function {name}", controls)


@dataclass(frozen=True, eq=False)
class CustomControls(Controls):
    """Controls of the rows of one batch, drawn one by one."""

    function: DrawOne
    name: str
    pairs: GraphPairs
    rows: NDArray[np.int64]
    estimates: pd.Series
    keys: NDArray[np.uint64]
    cpdag: NDArray[np.bool_]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls, a word a row."""
        return np.array(KINDS, object)[class_codes(self.cpdag)]

    @property
    def cost(self) -> int:
        """Bytes that one drawn control takes while it is scored."""
        return 16 * self.pairs.truth.planes.shape[2] + COUNT_BYTES

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly: it is a call of the user's function."""
        return 3e5

    def draw(self, start: int, count: int) -> GraphPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        graphs = []
        for row, cell, key, mapped in zip(self.rows, self.estimates, self.keys, self.cpdag, strict=True):
            estimate = Graph.from_bytes(cell)
            for r in range(start, start + count):
                # a counter-based generator: draw r needs none of the draws before it
                rng = np.random.Generator(np.random.Philox(key=int(key) + (r << 64)))
                control = self._checked(self.function(estimate, rng), estimate, int(row))
                graphs.append(control.cpdag() if mapped and control.kind == "dag" else control)
        kinds = np.array([KINDS.index(graph.kind) for graph in graphs], np.uint8)
        planes = np.stack([graph.planes for graph in graphs])
        truth_index = np.repeat(self.pairs.truth_index, count)
        every = np.arange(len(graphs), dtype=np.int64)
        return GraphPairs(self.pairs.truth, GraphBatch(self.pairs.n_nodes, planes, kinds), truth_index, every)

    def _checked(self, found: Any, estimate: Graph, row: int) -> Graph:
        """Read what the function returned."""
        matrix = isinstance(found, np.ndarray)
        try:
            control = as_graph(
                found,
                nodes=estimate.nodes if matrix or isinstance(found, str) else None,
                encoding="row->column" if matrix else None,
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"row {row}: null {self.name!r} returned {type(found).__name__}, which is no graph: {error}"
            ) from error
        if control.nodes != estimate.nodes:
            raise ValueError(
                f"row {row}: null {self.name!r} returned a graph over {list(control.nodes)[:10]}; a control has the "
                f"nodes of the estimate, {list(estimate.nodes)[:10]}"
            )
        return control

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return None: nothing is known of the function."""
        return None
