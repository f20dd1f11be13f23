"""The null models of knowledge: those of graphs, whose controls are judged by the same knowledge."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ..structure.field import GRAPHS
from ..structure.nulls import models  # noqa: F401
from .pairs import AGREES, Counts, KnowledgePairs


@dataclass(frozen=True, eq=False)
class KnowledgeControls(Controls):
    """Random graphs beside the knowledge of their rows."""

    #: the observed pairs
    pairs: KnowledgePairs
    #: controls of the estimates
    graphs: Controls
    #: (n,): rows whose controls have as many directed and undirected edges as the estimate, at places that are all
    #: equally likely
    exact: NDArray[np.bool_]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls."""
        return self.graphs.kind

    @property
    def cost(self) -> int:
        """Bytes of one control."""
        return self.graphs.cost + 8 * self.pairs.n_nodes**2

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control."""
        return self.graphs.work

    def draw(self, start: int, count: int) -> KnowledgePairs:
        """Pair draws start .. start + count - 1 of every row with its knowledge."""
        drawn: Any = self.graphs.draw(start, count)
        return self.pairs.with_graphs(drawn, np.repeat(self.pairs.known_index, count))

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the exact mean of a metric of known arcs, NaN for rows where it is not known."""
        if metric.closed_form != "known_arcs" or not self.exact.any():
            return None
        graphs, d = self.pairs.graphs, self.pairs.n_nodes
        edges = graphs.estimate.edge_counts
        arcs, lines = (x[graphs.estimate_index] / max(1, d * (d - 1)) for x in (edges.directed, edges.undirected))
        found = np.asarray(metric(_Expected(self.pairs, arcs, 2 * lines)), np.float64)
        return ClosedForm(np.where(self.exact, found, np.nan))


class _Expected(KnowledgePairs):
    """Stand in for pairs: expected counts where each ordered pair is an arc, or has a line, with given chances."""

    def __init__(self, pairs: KnowledgePairs, arc: NDArray[np.float64], line: NDArray[np.float64]) -> None:
        super().__init__(pairs.graphs, pairs.required, pairs.forbidden, pairs.known_index)
        object.__setattr__(self, "chances", (arc, line))

    def counts(self, undirected: str) -> Counts:
        """Return expected counts."""
        found = super().counts(undirected)
        arc, line = self.__dict__["chances"]
        agrees = AGREES[undirected]
        return found._replace(
            present=found.required * (arc + agrees * line), violated=found.forbidden * (arc + (1 - agrees) * line)
        )


def _of_graphs(model: Null) -> Null:
    """Return a null model of graphs as one of knowledge."""

    def alone(matching: Matching) -> Matching:
        return replace(matching, truth=matching.estimate)

    def prepare(matching: Matching) -> Any:
        return None if model.prepare is None else model.prepare(alone(matching))

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        drawn = model.controls(alone(matching), rows, pairs.graphs, keys)
        exact = np.ones(pairs.n, bool)
        if not model.joint:
            directed = np.isin(np.array(pairs.kinds), ("dag", "digraph"))
            exact = directed & (drawn.kind == pairs.kinds) & bool(matching.options.get("permute", True))
        return KnowledgeControls(pairs, drawn, exact)

    law = inspect.getdoc(model.controls)
    controls.__doc__ = f"{law}\n\nThe required and forbidden edges of the row stay as they are."

    given: Callable[[Matching], Any] | None = None if model.prepare is None else prepare
    return Null(
        model.name,
        model.long_name,
        controls,
        given,
        options=model.options,
        label_invariant=model.label_invariant,
        joint=model.joint,
    )


register_null("knowledge", _of_graphs(GRAPHS.nulls["edges"]))
register_null("knowledge", _of_graphs(GRAPHS.nulls["permutation"]))
