"""The null models of knowledge: those of graphs, whose controls are judged by the same knowledge."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, Null, register_null
from ..structure.field import GRAPHS
from ..structure.nulls import models  # noqa: F401
from .pairs import AGREES, Counts, KnowledgePairs


class _Expected(KnowledgePairs):
    """Stand in for pairs: expected counts where each ordered pair is an arc, or has a line, with given chances."""

    def __init__(self, pairs: KnowledgePairs, arc: NDArray[np.float64], line: NDArray[np.float64]) -> None:
        super().__init__(pairs.graphs, pairs.required, pairs.forbidden, pairs.known_index)
        object.__setattr__(self, "chances", (arc, line))

    def counts(self, undirected: str) -> Counts:
        """Return expected counts."""
        tally = super().counts(undirected)
        arc, line = self.__dict__["chances"]
        agrees = AGREES[undirected]
        return tally._replace(
            present=tally.required * (arc + agrees * line), violated=tally.forbidden * (arc + (1 - agrees) * line)
        )


def _of_graphs(model: Null) -> Null:
    """Return a null model of graphs as one of knowledge."""

    def alone(matching: Matching) -> Matching:
        return replace(matching, truth=matching.estimate)

    def prepare(matching: Matching) -> Any:
        return None if model.prepare is None else model.prepare(alone(matching))

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        graphs = model.controls(alone(matching), rows, pairs.graphs, keys)
        # rows whose controls have as many directed and undirected edges as the estimate, at places that are all equally
        # likely
        exact = np.ones(pairs.n, bool)
        if not model.joint:
            directed = np.isin(np.array(pairs.kinds), ("dag", "digraph"))
            exact = directed & (graphs.kind == pairs.kinds) & bool(matching.options.get("permute", True))

        def drawn(start: int, count: int) -> KnowledgePairs:
            estimates: Any = graphs.draw(start, count)
            of_estimates: KnowledgePairs = pairs.with_graphs(estimates, np.repeat(pairs.known_index, count))
            return of_estimates

        def known(metric: Metric) -> ClosedForm | None:
            if metric.closed_form != "known_arcs" or not exact.any():
                return None
            estimate, index = pairs.graphs.estimate, pairs.graphs.estimate_index
            edges, places = estimate.edge_counts, max(1, pairs.n_nodes * (pairs.n_nodes - 1))
            expected = _Expected(pairs, edges.directed[index] / places, 2 * (edges.undirected[index] / places))
            return ClosedForm(np.where(exact, np.asarray(metric(expected), np.float64), np.nan))

        cost = graphs.cost + 8 * pairs.n_nodes**2
        return DrawnControls(pairs, graphs.kind, drawn, known, cost, graphs.work)

    law = inspect.getdoc(model.controls)
    controls.__doc__ = f"{law}\n\nThe required and forbidden edges of the row stay as they are."

    preparation: Callable[[Matching], Any] | None = None if model.prepare is None else prepare
    return Null(
        model.name,
        model.long_name,
        controls,
        preparation,
        options=model.options,
        label_invariant=model.label_invariant,
        joint=model.joint,
    )


register_null("knowledge", _of_graphs(GRAPHS.nulls["edges"]))
register_null("knowledge", _of_graphs(GRAPHS.nulls["permutation"]))
