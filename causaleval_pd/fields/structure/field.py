"""The graph field: how the verbs coerce, align, identify and match graphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ...contract.checks import hint_alike, name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.pairs import Batch
from ...graphs.column import as_graph, coerce_graphs, graph_column, is_graph_column
from ...graphs.kernels.planes import KINDS, N_PLANES, matrices_from_planes
from ...graphs.packing import (
    Block,
    UnpackedColumn,
    contents,
    first_other_nodes,
    pack_column,
    shared_rows,
    unpack_array,
    unpack_column,
)
from ...graphs.pairs import GraphBatch, GraphPairs, Inputs
from .nulls.graph_controls import custom_null
from .targets import CONTEXT, PROJECTED_BY, Wanted, projected_batches, without_rows

__all__ = ["GRAPHS"]

DEFAULT_METRICS = ("shd", "adjacency_precision", "adjacency_recall", "orientation_precision", "orientation_recall")
USUAL_METRICS = (
    *("shd", "adjacency_precision", "adjacency_recall", "adjacency_f1"),
    *("orientation_precision", "orientation_recall", "orientation_f1"),
    *("arrowhead_precision", "arrowhead_recall", "arrowhead_f1", "directed_f1"),
    *("shd_cpdag", "sid", "sid_lower", "sid_upper", "parent_aid"),
)


def batches(truth: pd.Series | None, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns by node names, one batch per number of nodes; without truths by the estimates alone."""
    estimates = unpack_column(estimate, column=estimate.name, in_place=True)
    truths = estimates if truth is None else unpack_column(truth, column=truth.name, in_place=True)
    if truth is not None and context is not None and context.gives(PROJECTED_BY):
        wanted = Wanted(context, truths, estimates, lambda row: name_row(row, estimate.index))
        if wanted.projected.any():
            yield from projected_batches(truth, estimates, wanted)
            estimates = without_rows(estimates, wanted.projected)
    row = first_other_nodes(truths, estimates)
    if row is not None:
        node_lists = [list(side.node_sets[side.row_node_set[row]]) for side in (truths, estimates)]
        raise ValueError(f"{name_row(row, estimate.index)}: {different_nodes(*node_lists)}")
    for true, found, rows, truth_index, estimate_index in shared_rows(truths, estimates):
        inputs = Inputs(truths.node_sets, true.node_set, None if context is None else context.take(true.rows))
        batch = GraphBatch(true.n_nodes, true.planes, true.kinds, truths.checked, inputs=inputs)
        graphs = GraphBatch(found.n_nodes, found.planes, found.kinds, estimates.checked)
        yield Batch(rows, GraphPairs(batch, graphs, truth_index, estimate_index))


def labels(truths: pd.Series) -> NDArray[np.int64]:
    """Return one number per cell that stands for the names of its nodes, 0 where missing."""
    unpacked = unpack_column(truths, in_place=True)
    names = identify_cells(pd.Series([repr(names) for names in unpacked.node_sets], dtype=object))
    return np.append(names, 0)[unpacked.row_node_set]


def node_sides(truth: list[str], estimate: list[str]) -> str:
    """Describe how two node sets differ."""
    only = {"truth": sorted(set(truth) - set(estimate)), "estimate": sorted(set(estimate) - set(truth))}
    if len(truth) + len(estimate) <= 20:
        what = f"truth has nodes {truth}, estimate has {estimate}"
    else:
        sides = [f"only in the {side}: {names[:5]}" for side, names in only.items() if names]
        what = f"truth has {len(truth)} nodes, estimate {len(estimate)} ({'; '.join(sides)})"
    return what + hint_alike(*only.values())


def different_nodes(truth: list[str], estimate: list[str]) -> str:
    """Describe how two node sets differ, and how to mend it."""
    sides = node_sides(truth, estimate)
    if len(truth) == len(estimate) == 1:
        return f"{sides}; if the cells are answers, name a metric of answers, as in evaluate(['label_accuracy'])"
    if len(truth) == len(estimate):
        old, new = (min({*a} - {*b}, key=_natural) for a, b in ((estimate, truth), (truth, estimate)))
        mend = f"name the nodes alike, as by ce.graph_column(estimates, rename={{{old!r}: {new!r}, ...}})"
        return f"{sides}; {mend} where {old!r} is {new!r}"
    read = "give both the same nodes, e.g. by ce.graph_column({}, nodes=ce.graph_column({})) or rename="
    if set(estimate) < set(truth):
        latent = "name the others in context={'latents': [...]} if they are latent"
        return f"{sides}; {latent}, or {read.format('estimates', 'truths')}"
    if set(truth) < set(estimate):
        return f"{sides}; {read.format('truths', 'estimates')}"
    return f"{sides}; give both the same nodes, by rename= and nodes= of ce.graph_column"


def pair(truth: Any, estimate: Any) -> GraphPairs:
    """Align two single graphs."""
    if estimate is None:
        raise TypeError("a metric of graphs needs an estimate, found None")
    right = as_graph(estimate)
    left = right if truth is None else as_graph(truth)
    if left.nodes != right.nodes:
        raise ValueError(different_nodes(list(left.nodes), list(right.nodes)))
    columns = [unpack_array(pa.array([graph.to_bytes()], pa.large_binary()), str) for graph in (left, right)]
    columns[0] = columns[1] if truth is None else columns[0]
    *blocks, _, truth_index, estimate_index = shared_rows(*columns)[0]
    inputs = Inputs(columns[0].node_sets, blocks[0].node_set)
    true, estimated = (GraphBatch(block.n_nodes, block.planes, block.kinds, inputs=inputs) for block in blocks)
    return GraphPairs(true, estimated, truth_index, estimate_index)


def relabelled_cells(pairs: GraphPairs, truths: pd.Series) -> pd.Series:
    """Pack the estimates of pairs over the nodes of their truths, without latent ones."""
    n = pairs.n
    names = unpack_column(truths)
    node_sets, node_set = names.node_sets, names.row_node_set
    if pairs.truth.origins is not None:
        observed = pairs.truth.origins.observed[pairs.truth_index].tolist()
        seen = [tuple(node_sets[k][i] for i in kept) for k, kept in zip(node_set.tolist(), observed, strict=True)]
        numbers = {nodes: number for number, nodes in enumerate(dict.fromkeys(seen))}
        node_sets, node_set = tuple(numbers), np.array([numbers[nodes] for nodes in seen], np.int64)
    block = Block(
        pairs.estimate.n_nodes,
        np.arange(n, dtype=np.int64),
        pairs.estimate.planes[pairs.estimate_index],
        pairs.estimate.kinds[pairs.estimate_index],
        node_set,
    )
    return pack_column(UnpackedColumn(n, (block,), node_sets), index=truths.index)


def forward_edges(truths: pd.Series) -> tuple[int, int]:
    """Count the directed edges that point to a later node (X10 after X2), and all, of graphs without confounders."""
    forward = total = 0
    column = unpack_column(truths.drop_duplicates())
    for block in (x for x in column.blocks if x.planes.shape[1] == N_PLANES):
        for i, names in enumerate(column.node_sets):
            mine = block.planes[block.node_set == i]
            if not len(mine):
                continue
            order = [names.index(name) for name in sorted(names, key=_natural)]
            marks = matrices_from_planes(mine, block.n_nodes).astype(bool)[:, order][:, :, order]
            directed = marks & ~marks.transpose(0, 2, 1)
            forward, total = forward + int(np.triu(directed, 1).sum()), total + int(directed.sum())
    return forward, total


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a key that sorts numbers in names by their value."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", name)]


def samples() -> Iterator[pd.DataFrame]:
    """Make tables of DAGs and of CPDAGs, over few nodes and over more than a word has bits, and of mixed graphs."""
    for n_nodes in (4, 65):
        names = [str(i) for i in range(n_nodes)]
        chain, fork = ("; ".join(f"{i} -> {j}" for i, j in edges) for edges in (pairwise(names), product("0", "123")))
        dags = graph_column([chain, fork], nodes=names)
        for estimates in (dags, dags.graph.cpdag()):
            yield _with_data(pd.DataFrame({"truth": dags, "estimate": estimates}), names)
    latent = graph_column(["A -> C; B -> C; C -> D; L -> C; L -> D; M -> A; M -> B"]).graph
    for project in (latent.pag, latent.mag, latent.admg):
        mixed = project(latents=["L", "M"])
        yield _with_data(pd.DataFrame({"truth": mixed, "estimate": mixed}), list("ABCD"))


def _with_data(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Give a table the context of metrics that judge graphs by data: noise, without perturbed cases."""
    noise = np.random.default_rng(0).normal(size=(2 * len(names) + 20, len(names)))
    data = pd.DataFrame(noise, columns=names).assign(perturbed="")
    context = {"data": data, "targets": names[0], "perturbed": "perturbed"}
    table.attrs["context"] = context | {"coefficients": pd.DataFrame(0.0, index=names, columns=names)}
    return table


GRAPHS = register_field(
    Field(
        name="graph",
        default_metrics=DEFAULT_METRICS,
        usual_metrics=USUAL_METRICS,
        kinds=KINDS,
        default_null="edges",
        holds=is_graph_column,
        coerce=coerce_graphs,
        identify=partial(identify_cells, contents=contents),
        batches=batches,
        pair=pair,
        context=CONTEXT,
        custom_null=custom_null,
        labels=labels,
        without_truth=("separation_share", "bic"),
        floor="p_floor",
        relabelling=Relabelling(relabelled_cells, forward_edges),
        samples=samples,
    )
)
