"""Estimated graphs against truths that are known in part: the field, its metrics and its null models."""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing
from ...contract.checks import check_choice, name_row
from ...contract.confusion import Values, ratio
from ...contract.context import Context
from ...contract.field import Field, register_field
from ...contract.law import ClosedForm, ClosedFormRule, register_closed_form
from ...contract.metric import Metric, metric
from ...contract.null import Controls, DrawnControls, Matching, Null, register_null
from ...contract.options import with_options
from ...contract.pairs import ANY_KIND, Batch, Pairs
from ...graphs.column import coerce_graphs, is_graph_column
from ...graphs.kernels.planes import KINDS, a_kind, matrices_from_planes
from ...graphs.knowledge import Knowledge, arc_matrices, is_tetrad_knowledge
from ...graphs.pairs import GraphPairs
from ..structure.field import GRAPHS

__all__ = ["KNOWLEDGE", "forbidden_violated", "known_accuracy", "required_recall"]


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: known arcs of pairs, (n,) each: required and forbidden ones, required that the estimate has, forbidden that it has
Counts = tuple[Floats, Floats, Floats, Floats]


def agreement(undirected: str) -> float:
    """Return what an undirected edge at a known arc adds to the arcs that agree with knowledge."""
    check_choice(undirected, ("half", "match", "miss"), "undirected")
    return {"half": 0.5, "match": 1.0, "miss": 0.0}[undirected]


@dataclass(frozen=True, eq=False)
class KnowledgePairs(Pairs):
    """Pairs over estimates with the same number of nodes."""

    #: estimates, paired with themselves
    graphs: GraphPairs
    #: required, forbidden, (N, d, d): known arcs of the distinct truths
    required: Bools
    forbidden: Bools
    #: (n,): truth of each pair
    known_index: Ints

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.known_index)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every estimate."""
        return self.graphs.n_nodes

    @property
    def work(self) -> float:
        """Nanoseconds that a metric takes for one pair, roughly."""
        return 20.0 * self.n_nodes**2

    @property
    def lacking(self) -> NDArray[np.bool_] | None:  # type: ignore[override]
        """Which pairs have an estimate that could not be drawn."""
        return self.graphs.lacking

    def take(self, positions: NDArray[Any] | slice) -> KnowledgePairs:
        """Return the pairs at `positions`."""
        return replace(self, graphs=self.graphs.take(positions), known_index=self.known_index[positions])

    def unique(self) -> tuple[KnowledgePairs, Ints]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        same = np.stack([self.graphs.unique()[1], self.known_index], axis=1)
        _, first, inverse = np.unique(same, axis=0, return_index=True, return_inverse=True)
        return self.take(first), inverse.reshape(-1).astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have an estimate not in `kinds`; every truth is of the kind "knowledge"."""
        if truth_kinds is not None and "knowledge" not in truth_kinds:
            return np.ones(self.n, bool)
        return self.graphs.refused(kinds, ANY_KIND)

    def describe(self, position: int) -> str:
        """Name the class of the estimate at `position`."""
        return f"the estimate is {a_kind(self.graphs.estimate.kinds[self.graphs.estimate_index[position]])}"

    @cached_property
    def marks(self) -> Bools:
        """Marks of the estimates, (n, d, d): an undirected edge has both."""
        planes = self.graphs.estimate.planes[self.graphs.estimate_index]
        return matrices_from_planes(planes, self.n_nodes).astype(bool)

    def counts(self, undirected: str) -> Counts:
        """Count the known arcs that estimates have."""
        required, forbidden = self.required[self.known_index], self.forbidden[self.known_index]
        both = self.marks & self.marks.transpose(0, 2, 1)
        directed, agrees = self.marks & ~both, agreement(undirected)

        def total(arcs: Bools) -> Floats:
            return np.asarray(arcs.sum(axis=(1, 2)), np.float64)

        present = total(required & directed) + agrees * total(required & both)
        violated = total(forbidden & directed) + (1 - agrees) * total(forbidden & both)
        return total(required), total(forbidden), present, violated


def is_knowledge_column(cells: pd.Series) -> bool:
    """Return whether a column holds knowledge, as values or as their text."""
    known = cells.dropna()
    return len(known) > 0 and all(
        isinstance(x, Knowledge) or (isinstance(x, str) and (x.startswith('{"forbidden": [') or is_tetrad_knowledge(x)))
        for x in known
    )


def coerce_knowledge(cells: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return the text of each cell's knowledge."""
    texts: list[str | None] = []
    for row, cell in enumerate(cells.tolist()):
        try:
            texts.append(None if is_missing(cell) else _read(cell).to_json())
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name_row(row, cells.index, column)}: {error}") from None
    return pd.Series(texts, index=cells.index, name=cells.name, dtype="str")


def _read(cell: Any) -> Knowledge:
    if isinstance(cell, Knowledge):
        return cell
    return Knowledge.from_tetrad(cell) if is_tetrad_knowledge(cell) else Knowledge.from_json(cell)


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align knowledge with estimates by the names of nodes, one batch for each number of nodes."""
    codes, distinct = pd.factorize(truth)
    values = [Knowledge.from_json(text) for text in distinct.tolist()]
    for every, pairs in GRAPHS.batches(None, estimate, None):
        has_truth = codes[every] >= 0
        if not has_truth.any():
            continue
        rows, graphs = every[has_truth], cast(GraphPairs, pairs.take(has_truth))
        inputs: Any = graphs.truth.inputs
        keys = np.stack([codes[rows], inputs.node_set[graphs.truth_index]], axis=1)
        used, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        matrices = []
        for (code, number), at in zip(used.tolist(), first.tolist(), strict=True):
            known = values[code]
            try:
                matrices.append(arc_matrices(known, inputs.node_sets[number], known.required, known.known_absent))
            except ValueError as error:
                raise ValueError(f"{name_row(int(rows[at]), estimate.index)}: {error}") from None
        required, forbidden = np.stack(matrices, axis=1)
        yield Batch(rows, KnowledgePairs(graphs, required, forbidden, index.reshape(-1).astype(np.int64)))


def pair(truth: Any, estimate: Any) -> KnowledgePairs:
    """Align two single cells."""
    known = _read(truth)
    graphs: Any = GRAPHS.pair(None, estimate)
    [names] = graphs.truth.inputs.node_sets
    required, forbidden = arc_matrices(known, names, known.required, known.known_absent)
    return KnowledgePairs(graphs, required[None], forbidden[None], np.zeros(1, np.int64))


KNOWLEDGE = register_field(
    Field(
        name="knowledge",
        default_metrics=("required_recall", "forbidden_violated", "known_accuracy"),
        default_null="permutation",
        holds=is_graph_column,
        coerce=coerce_graphs,
        identify=GRAPHS.identify,
        batches=batches,
        pair=pair,
        truth_field=Field("knowledge", (), "", is_knowledge_column, coerce_knowledge, batches, pair),
    )
)

#: how an undirected edge at a known arc counts
Undirected = Literal["half", "match", "miss"]

register_closed_form(
    ClosedFormRule(
        "known_arcs",
        "knowledge",
        "Affine in the numbers of required and of forbidden arcs that the estimate has. The mean is exact under random "
        "DAGs and relabelling, where every ordered pair of nodes is equally likely to be an arc.",
    )
)
_OPTIONS = {
    "undirected": """undirected : {"half", "match", "miss"}
    How an undirected edge at a known one counts: as half right, as right (it is a required edge, and no forbidden one),
    or as wrong."""
}
_KNOWN: dict[str, Any] = {
    "field": "knowledge",
    "kinds": ("dag", "cpdag", "pdag", "digraph"),
    "truth_kinds": ("knowledge",),
    "range": (0, 1),
    "closed_form": "known_arcs",
}


@metric(**_KNOWN, direction="maximize", optimum=1, long_name="share of required edges")
@with_options(_OPTIONS)
def required_recall(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the required edges that the estimate has by the required edges.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.required_recall(ce.Knowledge(required=["A -> B", "B -> C"]), "A -> B; B -- C")
    0.75
    """
    required, _, present, _ = pairs.counts(undirected)
    return ratio(present, required, zero_division)


@metric(**_KNOWN, direction="minimize", optimum=0, long_name="share of forbidden edges")
@with_options(_OPTIONS)
def forbidden_violated(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the forbidden edges that the estimate has by the forbidden edges, those that tiers forbid among them.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.forbidden_violated(ce.Knowledge(tiers=[["A"], ["B", "C"]]), "A -> B; C -> A")
    0.5
    """
    _, forbidden, _, violated = pairs.counts(undirected)
    return ratio(violated, forbidden, zero_division)


@metric(**_KNOWN, direction="maximize", optimum=1, long_name="accuracy on known edges")
@with_options(_OPTIONS)
def known_accuracy(
    pairs: KnowledgePairs, *, undirected: Undirected = "half", zero_division: float = math.nan
) -> Values:
    """Divide the required edges that the estimate has, and the forbidden ones that it has not, by the number of both.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> known = ce.Knowledge(required=["A -> B"], forbidden=["B -> C", "C -> A"])
    >>> ce.known_accuracy(known, "A -> B; C -> A")
    0.6666666666666666
    """
    required, forbidden, present, violated = pairs.counts(undirected)
    return ratio(present + forbidden - violated, required + forbidden, zero_division)


def _of_graphs(model: Null) -> Null:
    """Return a null model of graphs as one of knowledge."""

    def alone(matching: Matching) -> Matching:
        return replace(matching, truth=matching.estimate)

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        graphs = model.controls(alone(matching), rows, pairs.graphs, keys)
        # rows whose controls have as many directed and undirected edges as the estimate, at places that are all equally
        # likely
        kinds = np.array(KINDS)[pairs.graphs.estimate.kinds[pairs.graphs.estimate_index]]
        directed = np.isin(kinds, ("dag", "digraph")) & (graphs.kind == kinds)
        exact = model.joint | (directed & bool(matching.options.get("permute", True)))

        def drawn(start: int, count: int) -> KnowledgePairs:
            known_index = np.repeat(pairs.known_index, count)
            return replace(pairs, graphs=graphs.draw(start, count), known_index=known_index)

        def known(metric: Metric) -> ClosedForm | None:
            if metric.closed_form != "known_arcs" or not exact.any():
                return None
            estimate, index = pairs.graphs.estimate, pairs.graphs.estimate_index
            edges, places = estimate.edge_counts, max(1, pairs.n_nodes * (pairs.n_nodes - 1))
            # chances that an ordered pair is an arc, and that it has a line
            arc, line = edges.directed[index] / places, 2 * (edges.undirected[index] / places)

            def expected(undirected: str) -> Counts:
                agrees, (required, forbidden, _, _) = agreement(undirected), pairs.counts(undirected)
                return required, forbidden, required * (arc + agrees * line), forbidden * (arc + (1 - agrees) * line)

            means = metric.function(SimpleNamespace(counts=expected), **metric.options)
            return ClosedForm(np.where(exact, np.asarray(means, np.float64), np.nan))

        cost = graphs.cost + 8 * pairs.n_nodes**2
        return DrawnControls(pairs, graphs.kind, drawn, known, cost, graphs.work)

    prepare: Any = model.prepare
    return replace(model, controls=controls, prepare=lambda matching: prepare(alone(matching)), published=None)


for _name in ("edges", "permutation"):
    register_null("knowledge", _of_graphs(GRAPHS.nulls[_name]))
