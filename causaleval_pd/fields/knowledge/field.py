"""The field of knowledge: truths that are known in part, estimates that are graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.field import Field, register_field
from ...contract.pairs import Batch
from ...graphs.column import coerce_graphs, is_graph_column
from ...graphs.knowledge import Knowledge, arc_matrices, is_tetrad_knowledge
from ...graphs.packing import unpack_column
from ..structure.field import GRAPHS
from .pairs import KnowledgePairs

__all__ = ["KNOWLEDGE"]


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
        if isinstance(cell, Knowledge):
            texts.append(cell.to_json())
        elif cell is None or (not isinstance(cell, str) and pd.api.types.is_scalar(cell) and pd.isna(cell)):
            texts.append(None)
        else:
            try:
                texts.append(_read(cell).to_json())
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name_row(row, cells.index, column)}: {error}") from None
    return pd.Series(texts, index=cells.index, name=cells.name, dtype="str")


def _read(text: Any) -> Knowledge:
    return Knowledge.from_tetrad(text) if is_tetrad_knowledge(text) else Knowledge.from_json(text)


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align knowledge with estimates by the names of nodes, one batch for each number of nodes."""
    column = unpack_column(estimate, column=estimate.name)
    codes, distinct = pd.factorize(truth)
    values = [Knowledge.from_json(text) for text in distinct.tolist()]
    for rows, pairs in GRAPHS.batches(None, estimate, None):
        some = np.flatnonzero(codes[rows] >= 0)
        if not len(some):
            continue
        keys = np.stack([codes[rows[some]], column.row_node_set[rows[some]]], axis=1)
        used, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        matrices = []
        for (code, number), at in zip(used.tolist(), first.tolist(), strict=True):
            try:
                known = values[code]
                nodes = column.node_sets[number]
                matrices.append(arc_matrices(known, nodes, known.required, known.known_absent))
            except ValueError as error:
                raise ValueError(f"{name_row(int(rows[some[at]]), estimate.index)}: {error}") from None
        required, forbidden = (np.stack([x[side] for x in matrices]) for side in (0, 1))
        graphs: Any = pairs.take(some)
        yield Batch(rows[some], KnowledgePairs(graphs, required, forbidden, index.reshape(-1).astype(np.int64)))


def pair(truth: Any, estimate: Any) -> KnowledgePairs:
    """Align two single cells."""
    known = truth if isinstance(truth, Knowledge) else _read(truth)
    graphs: Any = GRAPHS.pair(None, estimate)
    [names] = unpack_column(coerce_graphs(pd.Series([estimate], dtype=object))).node_sets
    required, forbidden = arc_matrices(known, names, known.required, known.known_absent)
    return KnowledgePairs(graphs, required[None], forbidden[None], np.zeros(1, np.int64))


#: how the truths are read
TRUTHS = Field(
    name="knowledge",
    default_metrics=(),
    default_null="",
    holds=is_knowledge_column,
    coerce=coerce_knowledge,
    batches=batches,
    pair=pair,
)


@dataclass(frozen=True)
class KnowledgeField(Field):
    """A field of graphs whose truths are knowledge."""

    @property
    def of_truth(self) -> Field:
        """Field of the truths."""
        return TRUTHS


KNOWLEDGE = register_field(
    KnowledgeField(
        name="knowledge",
        default_metrics=("required_recall", "forbidden_violated", "known_accuracy"),
        default_null="permutation",
        holds=is_graph_column,
        coerce=coerce_graphs,
        identify=GRAPHS.identify,
        batches=batches,
        pair=pair,
    )
)
