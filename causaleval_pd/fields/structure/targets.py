"""What estimates over observed nodes are compared with: a projection of the truth in the class of the estimate.

`context=` of the verbs gives the latent nodes of the truths, the class of the projections and how undirected edges are
read. The truths stay beside their projections, for metrics of true ancestors and confounders.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.context import Context
from ...contract.pairs import Batch
from ...graphs.edge_types import Origins
from ...graphs.kernels.planes import ADMG, DAG, KINDS, MAG, MIXED, N_PLANES, PAG, SKELETON, TAIL, a_kind
from ...graphs.mixed.marks import lift, where
from ...graphs.packing import Block, UnpackedColumn, join_by_key, unpack_column
from ...graphs.pairs import GraphBatch, GraphPairs, Inputs
from ...graphs.projections import Latents, projected, read_latents

Ints = NDArray[np.int64]

#: inputs that choose what estimates over observed nodes are compared with
PROJECTED_BY = ("latents", "target", "undirected")
#: inputs by which graphs are judged besides a truth
JUDGED_BY = ("data", "test", "alpha", "missing", "targets", "perturbed", "coefficients")
#: inputs that the verbs take by `context=`
CONTEXT = (*PROJECTED_BY, *JUDGED_BY)
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
            if self.latents[row]:
                raise ValueError(
                    f"{where(row)}: the estimate is {a_kind(int(kinds[row]))} and the truth has the latent nodes "
                    f"{sorted(self.latents[row] or ())}; add 'target': 'pag' to the context to compare the marks of "
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
                f"context 'latents' is the names of the latent nodes of all truths, or a column with a list of names a "
                f"row: context={{'latents': 'column'}}; found {latents[:3]}"
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
        if block.planes.shape[1] == N_PLANES:
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
