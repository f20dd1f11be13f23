"""The graph field: how the verbs coerce, align, identify and match graphs.

Estimates over observed nodes are compared with a projection of the truth in the class of the estimate: `context=` gives
the latent nodes of the truths, the class of the projections and how undirected edges are read. The truths stay beside
their projections, for metrics of true ancestors and confounders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice, hint_alike, name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.pairs import Batch
from ...graphs.classes import Latents, check_latents, projected, read_latents
from ...graphs.column import as_graph, coerce_graphs, graph_column, is_graph_column
from ...graphs.edge_types import Origins
from ...graphs.kernels.planes import ADMG, DAG, KINDS, MAG, MIXED, PAG, SKELETON, TAIL, a_kind, matrices_from_planes
from ...graphs.mixed.marks import is_mixed, lift, where
from ...graphs.packing import (
    Block,
    UnpackedColumn,
    contents,
    first_other_nodes,
    join_by_key,
    pack_column,
    shared_rows,
    unpack_column,
)
from ...graphs.pairs import GraphBatch, GraphPairs, Inputs
from .nulls.graph_controls import custom_null

__all__ = ["GRAPHS"]


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


Ints = NDArray[np.int64]

#: inputs that choose what estimates over observed nodes are compared with
PROJECTED_BY = ("latents", "target", "undirected")
TARGETS = {"mag": MAG, "pag": PAG, "admg": ADMG}

#: the projection that an estimate of a class is compared with; graphs without latent confounders have none
_TARGET_OF = {MAG: MAG, PAG: PAG, MIXED: PAG, ADMG: ADMG, SKELETON: MAG}
_AS_IT_IS = -1


class Wanted:
    """What the context asks for in each row: latent nodes, the class to project to, how -- is read."""

    def __init__(
        self, context: Context, truths: UnpackedColumn, estimates: UnpackedColumn, where: Callable[[int], str]
    ) -> None:
        self.where, self.context = where, context
        requests = []
        for number, values in enumerate(context.values):
            try:
                requests.append(_read_input(values))
            except (TypeError, ValueError) as error:
                row = int((context.codes == number).argmax())
                raise type(error)(f"{where(row)}: {error}") from None
        self.latents: Latents = [requests[code][0] for code in context.codes.tolist()]
        target = np.array([goal for _, goal, _ in requests], np.int64)[context.codes]
        self.circled = np.array([circled for _, _, circled in requests], bool)[context.codes]
        kinds = estimates.scatter([block.kinds for block in estimates.blocks], -1, np.int64)
        kinds[truths.missing] = -1
        #: class that each row's truth is projected to, -1 where it is compared as it is or a cell is missing
        by_kind = np.array([*(_TARGET_OF.get(kind, _AS_IT_IS) for kind in range(len(KINDS))), _AS_IT_IS], np.int64)
        self.goals = np.where(target >= 0, target, by_kind[kinds])
        self.goals[kinds < 0] = _AS_IT_IS
        #: which rows compare the estimate with a projection of the truth
        self.projected: NDArray[np.bool_] = self.goals != _AS_IT_IS
        for row in np.flatnonzero(~self.projected & (kinds >= 0)).tolist():
            latents = self.latents[row]
            if latents:
                check_latents(latents, truths.node_sets[truths.row_node_set[row]], where, row)
                raise ValueError(
                    f"{where(row)}: the estimate is {a_kind(int(kinds[row]))} and the truth has the latent nodes "
                    f"{sorted(latents)}; add 'target': 'pag' to the context to compare the marks of "
                    "the estimate with those of the truth's PAG, where -- is two tails, which is not o-o; "
                    "'undirected': 'circle' reads -- as o-o"
                )


def _read_input(values: Mapping[str, Any]) -> tuple[frozenset[str], int, bool]:
    """Return the latent nodes, the class of the projection and whether -- is read as o-o, of one context."""
    latents = values.get("latents", ())
    if isinstance(latents, str):
        # a cell of a column of text; a constant text is the name of no column
        if latents == "[]" or latents.startswith(("['", '["')):
            raise ValueError(
                f"context 'latents': found the text {latents!r}, a list that dask or a file turned into text; write "
                "the names with ; between them, as in runs['hidden'].str.join(';') of a column of lists"
            )
        latents = [name.strip() for name in latents.split(";") if name.strip()]
    if isinstance(latents, (pd.Series, pd.DataFrame)) or (
        isinstance(latents, (list, tuple)) and any(isinstance(one, (list, tuple, set, frozenset)) for one in latents)
    ):
        raise ValueError(
            f"context 'latents' must be a list of node names for all rows, or the name of a column, found a "
            f"{type(latents).__name__} of lists; put one list per row into a column of the table and pass its name, as "
            "in context={'latents': 'hidden'}"
        )
    if isinstance(latents, Iterable):
        latents = list(latents)
        if any(not isinstance(one, str) for one in latents):
            raise TypeError(
                f"context 'latents' is the names of the latent nodes of all truths, or a column with one list of "
                f"names per row: context={{'latents': 'column'}}; found {latents[:3]}"
            )
    [names] = read_latents(latents, 1)
    target, undirected = values.get("target"), values.get("undirected", "tail")
    check_choice(target, (None, *TARGETS), "context 'target'")
    check_choice(undirected, ("tail", "circle"), "context 'undirected'")
    return names or frozenset(), _AS_IT_IS if target is None else TARGETS[target], undirected == "circle"


def projected_batches(truth: pd.Series, estimates: UnpackedColumn, wanted: Wanted) -> Iterator[Batch]:
    """Align estimates with the projections of their truths, one batch per number of nodes and class of truths."""
    goals, used = wanted.goals, np.flatnonzero(wanted.projected)
    estimates = _as_marks(without_rows(estimates, ~wanted.projected), wanted)
    # each distinct truth is projected once
    cells = pd.factorize(truth.iloc[used])[0]
    keys = np.stack([cells, wanted.context.codes[used], goals[used]], axis=1)
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    distinct, number = used[first], number.reshape(-1)
    column = unpack_column(truth.iloc[distinct].reset_index(drop=True))
    latents = [wanted.latents[row] for row in distinct.tolist()]
    of_row = np.full(len(goals), -1, np.int64)
    of_row[used] = number
    for goal in np.unique(goals[distinct]).tolist():
        chosen = [names if goals[row] == goal else None for names, row in zip(latents, distinct.tolist(), strict=True)]
        graphs = projected(column, chosen, lambda number: wanted.where(int(distinct[number])), goal)
        for block in graphs.blocks:
            inputs = Inputs(graphs.node_sets, block.node_set, wanted.context.take(distinct[block.rows]))
            yield from _batches_of(block, inputs, column, latents, estimates, of_row, wanted)


def _batches_of(
    block: Block,
    inputs: Inputs,
    truths: UnpackedColumn,
    latents: Latents,
    estimates: UnpackedColumn,
    of_row: Ints,
    wanted: Wanted,
) -> Iterator[Batch]:
    """Pair the projections of a block with the estimates of their rows, by the truths' number of nodes."""
    place = np.full(truths.n_rows, -1, np.int64)
    names = [inputs.node_sets[i] for i in block.node_set.tolist()]
    for true in truths.blocks:
        # the truths of this block whose projections are in that one
        mine = np.flatnonzero(np.isin(block.rows, true.rows))
        if not len(mine):
            continue
        at = np.searchsorted(true.rows, block.rows[mine])
        rows = block.rows[mine].tolist()
        observed = [
            [i for i, name in enumerate(truths.node_sets[true.node_set[k]]) if name not in (latents[row] or ())]
            for k, row in zip(at.tolist(), rows, strict=True)
        ]
        seen = np.array(observed, np.int64).reshape(len(mine), block.n_nodes)
        origins = Origins(true.n_nodes, true.planes[at], true.kinds[at], seen)
        planes, kinds = block.planes[mine], block.kinds[mine]
        batch = GraphBatch(block.n_nodes, planes, kinds, origins=origins, inputs=inputs.take(mine))
        place[:] = -1
        place[block.rows[mine]] = np.arange(len(mine))
        for other in estimates.blocks:
            numbers = of_row[other.rows]
            here = np.where(numbers >= 0, place[numbers], -1)
            pairs = np.flatnonzero(here >= 0)
            if not len(pairs):
                continue
            for k in pairs.tolist():
                row, observed_names = int(other.rows[k]), names[mine[here[k]]]
                estimated_names = estimates.node_sets[other.node_set[k]]
                if observed_names != estimated_names:
                    difference = _other_nodes(observed_names, estimated_names, wanted.latents[row] or ())
                    raise ValueError(f"{wanted.where(row)}: {difference}")
            graphs = GraphBatch(other.n_nodes, other.planes, other.kinds, estimates.checked)
            yield Batch(other.rows[pairs], GraphPairs(batch, graphs, here[pairs], pairs))


def _other_nodes(true: tuple[str, ...], estimated: tuple[str, ...], hidden: Container[str]) -> str:
    """Describe how the nodes of an estimate differ from the observed ones of the truth, and how to mend it."""
    latent = [name for name in estimated if name in hidden]
    if latent:
        return (
            f"the estimate has the node {latent[0]!r}, which is latent in the truth; leave it out of the estimate, or "
            "of the latents"
        )
    more, fewer = sorted(set(estimated) - set(true)), sorted(set(true) - set(estimated))
    differences = [f"lacks the observed nodes {fewer[:5]} of the truth"] if fewer else []
    differences += [f"has the nodes {more[:5]}, which the truth has not"] if more else []
    return (
        f"the estimate {' and '.join(differences)}; name the latent nodes in context={{'latents': [...]}}, or give "
        "both the same observed nodes"
    )


def _as_marks(estimates: UnpackedColumn, wanted: Wanted) -> UnpackedColumn:
    """Return estimates without latent confounders that are compared with a projection as mixed graphs."""
    blocks = []
    for block in estimates.blocks:
        marked = block
        if not is_mixed(block.planes):
            planes = lift(block.planes)
            lines = np.where(wanted.circled[block.rows][:, None], where(planes, TAIL, TAIL), np.uint64(0))
            planes[:, [1, 3]] |= lines[:, None]  # the high bits of the code 3, a circle
            kinds = np.where(block.kinds == DAG, MAG, MIXED).astype(np.uint8)
            marked = replace(block, planes=planes, kinds=kinds)
        blocks.append(marked)
    return replace(
        estimates, blocks=join_by_key(blocks), checked=None if estimates.checked is None else set(estimates.checked)
    )


def without_rows(column: UnpackedColumn, rows: NDArray[np.bool_]) -> UnpackedColumn:
    """Return a column whose rows are missing where `rows` is true."""
    parts = [(block, np.flatnonzero(~rows[block.rows])) for block in column.blocks]
    blocks = tuple(block if len(kept) == len(block.rows) else block.take(kept) for block, kept in parts if len(kept))
    return replace(column, blocks=blocks)


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
    first = np.zeros(1, np.int64)
    inputs = Inputs((left.nodes,), first)
    true, estimated = (
        GraphBatch(x.n_nodes, x.planes[None], np.array([KINDS.index(x.kind)], np.uint8), inputs=inputs)
        for x in (left, right)
    )
    return GraphPairs(estimated if truth is None else true, estimated, first, first)


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
    graphs = pairs.estimate.take(pairs.estimate_index)
    block = Block(graphs.n_nodes, np.arange(n, dtype=np.int64), graphs.planes, graphs.kinds, node_set)
    return pack_column(UnpackedColumn(n, (block,), node_sets), index=truths.index)


def forward_edges(truths: pd.Series) -> tuple[int, int]:
    """Count the directed edges that point to a later node (X10 after X2), and all, of graphs without confounders."""
    forward = total = 0
    column = unpack_column(truths.drop_duplicates())
    for block in (x for x in column.blocks if not is_mixed(x.planes)):
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
        default_metrics=(
            "shd",
            "adjacency_precision",
            "adjacency_recall",
            "orientation_precision",
            "orientation_recall",
        ),
        usual_metrics=(
            *("shd", "adjacency_precision", "adjacency_recall", "adjacency_f1"),
            *("orientation_precision", "orientation_recall", "orientation_f1"),
            *("arrowhead_precision", "arrowhead_recall", "arrowhead_f1", "directed_f1"),
            *("shd_cpdag", "sid", "sid_lower", "sid_upper", "parent_aid"),
        ),
        kinds=KINDS,
        default_null="edges",
        holds=is_graph_column,
        coerce=coerce_graphs,
        identify=partial(identify_cells, contents=contents),
        batches=batches,
        pair=pair,
        # the others judge graphs besides a truth
        context=(*PROJECTED_BY, "data", "test", "alpha", "missing", "targets", "perturbed", "coefficients"),
        custom_null=custom_null,
        labels=labels,
        without_truth=("separation_share", "bic"),
        floor="p_floor",
        relabelling=Relabelling(relabelled_cells, forward_edges),
        samples=samples,
    )
)
