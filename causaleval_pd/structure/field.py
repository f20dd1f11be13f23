"""The graph field: how the verbs coerce, align, identify and match graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ..contract.checks import name_row
from ..contract.context import Context
from ..contract.field import Field, register_field
from ..contract.pairs import Batch
from ..graphs.column import as_graph, coerce_graphs, is_graph_column
from ..graphs.packed import unpack_column
from ..graphs.pairs import GraphBatch, GraphPairs
from ..graphs.unpacked import first_other_nodes, shared_rows
from .nulls.models import NULLS, custom_null

DEFAULT_METRICS = ("shd", "adjacency_precision", "adjacency_recall", "orientation_precision", "orientation_recall")


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns by node names, one batch a number of nodes."""
    unpacked = [unpack_column(cells, column=cells.name) for cells in (truth, estimate)]
    row = first_other_nodes(*unpacked)
    if row is not None:
        found = [list(side.node_sets[side.row_node_set[row]]) for side in unpacked]
        raise ValueError(f"{name_row(row, truth.index)}: {different_nodes(*found)}")
    for true, estimated, rows, truth_index, estimate_index in shared_rows(*unpacked):
        sides = [GraphBatch(block.n_nodes, block.planes, block.kinds) for block in (true, estimated)]
        yield Batch(rows, GraphPairs(sides[0], sides[1], truth_index, estimate_index))


def different_nodes(truth: list[str], estimate: list[str]) -> str:
    """Say how two node sets differ, and how to mend it."""
    only = [sorted(set(a) - set(b)) for a, b in ((truth, estimate), (estimate, truth))]
    if len(truth) + len(estimate) <= 20:
        what = f"truth has nodes {truth}, estimate has {estimate}"
    else:
        sides = [
            f"only in the {side}: {names[:5]}" for side, names in zip(("truth", "estimate"), only, strict=True) if names
        ]
        what = f"truth has {len(truth)} nodes, estimate {len(estimate)} ({'; '.join(sides)})"
    return f"{what}; give both the same nodes, e.g. by ce.graph_column(estimates, nodes=truths) or rename="


def pair(truth: Any, estimate: Any) -> GraphPairs:
    """Align two single graphs."""
    if truth is None or estimate is None:
        raise TypeError("a metric of graphs needs a truth and an estimate, found None")
    left, right = as_graph(truth), as_graph(estimate)
    if left.nodes != right.nodes:
        raise ValueError(different_nodes(list(left.nodes), list(right.nodes)))
    columns = [unpack_column(pd.Series([graph.to_bytes()], dtype=object)) for graph in (left, right)]
    true, estimated, _, truth_index, estimate_index = shared_rows(*columns)[0]
    sides = [GraphBatch(block.n_nodes, block.planes, block.kinds) for block in (true, estimated)]
    return GraphPairs(sides[0], sides[1], truth_index, estimate_index)


def identify(cells: pd.Series) -> NDArray[np.int64]:
    """Give graphs numbers by their bytes: equal graphs agree in every table; 0 where missing."""
    codes, distinct = pd.factorize(cells)
    # a list of Arrow's own: the iterator of pandas takes longer than the hashes
    digests = [hashlib.blake2b(cell, digest_size=8).digest() for cell in pa.array(distinct.array).to_pylist()]
    numbers = np.frombuffer(b"".join(digests), np.int64)
    return np.append(np.where(numbers == 0, 1, numbers), 0)[codes]


def missing(cells: pd.Series) -> NDArray[np.bool_]:
    """Tell which cells hold no graph."""
    return cells.isna().to_numpy(bool)


GRAPHS = register_field(
    Field(
        name="graph",
        default_metrics=DEFAULT_METRICS,
        default_null="edges",
        holds=is_graph_column,
        coerce=coerce_graphs,
        batches=batches,
        missing=missing,
        pair=pair,
        identify=identify,
        nulls=NULLS,
        custom_null=custom_null,
    )
)
