"""The field of edge scores: how the verbs coerce, align and identify score cells and the graphs they are judged by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import is_missing, packed_column
from ...contract.checks import name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, register_field
from ...contract.pairs import Batch, StoredPairs
from ...graphs.column import as_graph, graph_column
from ...graphs.kernels.planes import matrices_from_planes
from ...graphs.mixed.marks import is_mixed, plane_halves
from ...graphs.packing import unpack_column as unpack_graphs
from ..structure.field import labels as graph_labels
from ..structure.field import node_sides
from .cells import (
    SINGLE,
    SYMMETRIC,
    ScoreBlock,
    ScoreColumn,
    coerce_scores,
    is_score_column,
    pack_scores,
    score_column,
    unpack_column,
)
from .pairs import ScorePairs, Truths

__all__ = ["SCORES"]

DEFAULT_METRICS = ("auroc", "average_precision", "precision_at_k", "max_f1")


def true_marks(planes: NDArray[np.uint64], n_nodes: int) -> NDArray[np.bool_]:
    """Return the marks i -> j of graphs, (N, d, d); undirected edges, and all of mixed graphs, have both ways."""
    if not is_mixed(planes):
        return np.asarray(matrices_from_planes(planes, n_nodes), np.bool_)
    halves = [matrices_from_planes(half, n_nodes) for half in plane_halves(planes)]
    return np.asarray(np.logical_or.reduce([half | half.transpose(0, 2, 1) for half in halves]), np.bool_)


def batches(truth: pd.Series, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align a column of graphs with one of scores by node names."""
    codes, distinct = pd.factorize(truth)
    graphs = unpack_graphs(pd.Series(distinct), column=truth.name)
    blocks = []
    for x in graphs.blocks:
        marks = true_marks(x.planes, x.n_nodes)
        blocks.append(ScoreBlock(x.rows, Truths(x.n_nodes, marks, x.kinds, graphs.node_sets, x.node_set), x.node_set))
    truths = ScoreColumn(codes, tuple(blocks), graphs.node_sets)
    yield from aligned(truths, unpack_column(estimate), estimate.index, ScorePairs)


def aligned(
    truths: ScoreColumn, estimates: ScoreColumn, index: pd.Index, make: Callable[..., StoredPairs]
) -> Iterator[Batch]:
    """Align two columns, one batch for each number of nodes and planes; refuse rows over different nodes."""
    rows = np.flatnonzero((truths.codes >= 0) & (estimates.codes >= 0))
    known: dict[tuple[str, ...], int] = {}
    sets = [x.node_set[x.codes[rows]] for x in (truths, estimates)]
    numbers = [
        np.array([known.setdefault(names, len(known)) for names in x.node_sets] or [0], np.int64)[at]
        for x, at in zip((truths, estimates), sets, strict=True)
    ]
    other_nodes = np.flatnonzero(numbers[0] != numbers[1])
    if len(other_nodes):
        at = int(other_nodes[0])
        node_lists = [list(x.node_sets[codes[at]]) for x, codes in zip((truths, estimates), sets, strict=True)]
        raise ValueError(f"{name_row(int(rows[at]), index)}: {node_sides(*node_lists)}; {_one_node_set(*node_lists)}")
    for block, other in itertools.product(truths.blocks, estimates.blocks):
        if block.scores.n_nodes == other.scores.n_nodes:
            true, estimated = truths.places(block)[rows], estimates.places(other)[rows]
            some = np.flatnonzero((true >= 0) & (estimated >= 0))
            if len(some):
                yield Batch(rows[some], make(block.scores, other.scores, true[some], estimated[some]))


def _one_node_set(truth: list[str], estimate: list[str]) -> str:
    """Return how to give truths and scores the same nodes."""
    if len(truth) == len(estimate):
        return "make the scores with ce.score_column(..., nodes=ce.graph_column(truths))"
    whole = (
        "make the truths over all nodes, by ce.graph_column(runs['truth'], nodes=names), of packed ones by "
        "ce.graph_column(runs['truth'].graph.to_strings(), nodes=names)"
    )
    if {*truth} < {*estimate}:
        return whole
    more = f", or {whole}" if {*estimate} - {*truth} else ""
    return (
        "make the scores anew over the nodes of the truth, of lists by ce.score_column(lists, nodes=nodes), of "
        f"matrices by frame.reindex(index=nodes, columns=nodes), whose new pairs are not scored{more}"
    )


def pair(truth: Any, estimate: Any) -> ScorePairs:
    """Align a graph and a score cell, or a DataFrame of symmetric scores."""
    if is_missing(truth) or is_missing(estimate):
        raise TypeError("a metric of scores needs a truth and an estimate, found a missing cell")
    cells = [as_graph(truth).to_bytes(), score_column([estimate])[0]]
    graphs, scores = (packed_column([cell]) for cell in cells)
    [(_, pairs)] = batches(graphs, scores)
    return cast(ScorePairs, pairs)


def relabelled_cells(pairs: ScorePairs, truths: pd.Series) -> pd.Series:
    """Pack the estimates of pairs over the nodes of their truths."""
    packed_cells: list[bytes | None] = []
    scores = pairs.estimate
    for t, e in zip(pairs.truth_index.tolist(), pairs.estimate_index.tolist(), strict=True):
        nodes = pairs.truth.node_sets[pairs.truth.node_set[t]]
        flags = SYMMETRIC * int(scores.symmetric[e]) | SINGLE * int(scores.single[e])
        packed_cells.append(pack_scores(nodes, scores.planes[e], int(scores.kinds[e]), flags))
    return packed_column(packed_cells, truths.index, truths.name)


def samples() -> Iterator[pd.DataFrame]:
    """Make a table of weights of a DAG and of other scores, with ties and without."""
    weights = np.triu(np.arange(49.0).reshape(7, 7), 1)
    matrices = [weights, weights + weights.T, weights + 2 * weights.T]
    names = [str(i) for i in range(7)]
    truths = graph_column(["; ".join(f"{i} -> {i + 1}" for i in range(6))] * 3, nodes=names)
    estimates = score_column(matrices, nodes=names, encoding="row->column")
    yield pd.DataFrame({"truth": truths, "estimate": estimates})


SCORES = register_field(
    Field(
        name="scores",
        default_metrics=DEFAULT_METRICS,
        default_null="by_support",
        holds=is_score_column,
        coerce=coerce_scores,
        batches=batches,
        pair=pair,
        truth_field="graph",
        labels=graph_labels,
        relabelling=Relabelling(relabelled_cells),
        samples=samples,
    )
)
SCORES.nulls.other_names({"shuffle": ["ranking"], "edges": ["random_scores"]})
