"""The field of lagged graphs: how the verbs coerce, align, identify and relabel them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import packed_column
from ...contract.checks import hint_alike, name_row
from ...contract.context import Context
from ...contract.field import Field, Relabelling, identify_cells, register_field
from ...contract.null import Controls, DrawnControls, Known, Matching, Null, custom_draws, no_closed_form
from ...contract.pairs import Batch
from .cells import KINDS, LaggedGraph, pack_cell
from .column import LaggedCells, as_lagged, coerce_lagged, is_lagged_column, lagged_column, unpack_lagged
from .pairs import LaggedBatch, LaggedPairs

__all__ = ["LAGGED"]

DEFAULT_METRICS = ("lagged_precision", "lagged_recall", "lagged_f1", "contemporaneous_shd", "window_shd")


def batches(truth: pd.Series | None, estimate: pd.Series, context: Context | None = None) -> Iterator[Batch]:
    """Align two packed columns by the names of variables; a batch has one number of variables, and the same lags."""
    estimates = unpack_lagged(estimate)
    truths = estimates if truth is None else unpack_lagged(truth)
    known = np.flatnonzero((truths.block >= 0) & (estimates.block >= 0))
    keys = truths.block[known] * len(estimates.blocks) + estimates.block[known]
    signatures: dict[tuple[Any, ...], list[int]] = {}
    for key in np.unique(keys).tolist():
        true, estimated = divmod(key, len(estimates.blocks))
        heads = truths.blocks[true].head, estimates.blocks[estimated].head
        if heads[0].nodes != heads[1].nodes:
            row = int(known[np.argmax(keys == key)])
            raise ValueError(f"{name_row(row, estimate.index)}: {different_nodes(heads[0].nodes, heads[1].nodes)}")
        signature = (len(heads[0].nodes), *((head.min_lag, head.max_lag, head.n_planes) for head in heads))
        signatures.setdefault(signature, []).append(key)
    for members in signatures.values():
        rows = known[np.isin(keys, members)].astype(np.int64)
        (graphs, truth_index), (others, estimate_index) = _joined(truths, rows), _joined(estimates, rows)
        yield Batch(rows, LaggedPairs(graphs, others, truth_index, estimate_index))


def _joined(cells: LaggedCells, rows: NDArray[np.int64]) -> tuple[LaggedBatch, NDArray[np.int64]]:
    """Return the graphs of rows whose blocks have as many variables and the same lags, and which one each row has."""
    used = np.unique(cells.block[rows])
    blocks = [cells.blocks[i] for i in used.tolist()]
    first = np.cumsum([0, *(len(block.codes) for block in blocks)])
    codes = blocks[0].codes if len(blocks) == 1 else np.concatenate([block.codes for block in blocks])
    kinds = np.concatenate([block.kinds for block in blocks])
    index = first[np.searchsorted(used, cells.block[rows])] + cells.place[rows]
    head = blocks[0].head
    return LaggedBatch(codes, kinds, head.min_lag, head.n_planes > 1), index.astype(np.int64)


def different_nodes(truth: tuple[str, ...], estimate: tuple[str, ...]) -> str:
    """Describe how two sets of variables differ, and how to mend it."""
    only = [sorted(set(a) - set(b)) for a, b in ((truth, estimate), (estimate, truth))]
    named = zip(("truth", "estimate"), only, strict=True)
    sides = "; ".join(f"only in the {side}: {names[:5]}" for side, names in named if names)
    return (
        f"truth has {len(truth)} variables, estimate {len(estimate)} ({sides}){hint_alike(*only)}; "
        "give both the same, e.g. by lagged_column(estimates, nodes=[...])"
    )


def pair(truth: Any, estimate: Any) -> LaggedPairs:
    """Align two single lagged graphs."""
    if estimate is None:
        raise TypeError("a metric of lagged graphs needs an estimate, found None")
    right = as_lagged(estimate)
    left = right if truth is None else as_lagged(truth)
    if left.nodes != right.nodes:
        raise ValueError(different_nodes(left.nodes, right.nodes))
    true, estimated = (lagged_column([graph]) for graph in (left, right))
    aligned: Any = next(iter(batches(true, estimated))).pairs
    return cast(LaggedPairs, aligned)


def labels(truths: pd.Series) -> NDArray[np.int64]:
    """Return one number per cell that stands for the names of its variables, 0 where missing."""
    cells = unpack_lagged(truths)
    names = identify_cells(pd.Series([repr(block.head.nodes) for block in cells.blocks], dtype=object))
    return np.append(names, 0)[cells.block]


def relabelled_cells(pairs: LaggedPairs, truths: pd.Series) -> pd.Series:
    """Pack the estimates of pairs over the variables of their truths."""
    cells, estimates = unpack_lagged(truths), pairs.estimate
    packed = (
        pack_cell(cells.blocks[block].head.nodes, estimates.codes[at], estimates.min_lag, int(estimates.kinds[at]))
        for block, at in zip(cells.block.tolist(), pairs.estimate_index.tolist(), strict=True)
    )
    return packed_column(packed, truths.index)


def samples() -> Iterator[pd.DataFrame]:
    """Make a table that needs every kernel of the field: those of graphs at lag 0."""
    cells = lagged_column(["A@-1 -> B; B -> C", "A -> B; C@-1 -> A"])
    yield pd.DataFrame({"truth": cells, "estimate": cells.iloc[::-1].array})


def lagged_controls(
    pairs: LaggedPairs,
    codes: Callable[[int, int], NDArray[np.uint8]],
    known: Known = no_closed_form,
    pace: float = 50.0,
) -> Controls:
    """Make controls of a batch: `codes(start, count)` draws n * count graphs, a row's draws together."""
    batch, index = pairs.estimate, pairs.estimate_index
    # a control takes its codes, and the words and places that drawing it needs
    n_places = int(np.prod(batch.codes.shape[1:]))

    def drawn(start: int, count: int) -> LaggedPairs:
        drawn_codes = codes(start, count)
        estimate = replace(batch, codes=drawn_codes, kinds=np.repeat(batch.kinds[index], count))
        every = np.arange(len(drawn_codes), dtype=np.int64)
        return LaggedPairs(pairs.truth, estimate, np.repeat(pairs.truth_index, count), every)

    kinds = np.array(KINDS, object)[batch.kinds[index]]
    return DrawnControls(pairs, kinds, drawn, known, 200 + 30 * n_places, 1000.0 + pace * n_places)


def refuse_control_kind(matching: Matching) -> None:
    """Refuse classes of controls that the user states: controls keep the class of the estimate."""
    if matching.control_kind is not None:
        raise ValueError("controls of lagged graphs have the class of the estimate; leave control_kind out")


#: draws one control for an estimate
DrawOne = Callable[[LaggedGraph, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model of a function that draws one control."""
    # `function(estimate, rng)` returns a lagged graph over the estimate's variables, in a form that `as_lagged` reads
    # without options, with the estimate's searched lags and class.

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        refuse_control_kind(matching)
        cells = matching.estimate.iloc[rows]

        def codes(start: int, count: int) -> NDArray[np.uint8]:
            drawn = custom_draws(function, map(LaggedGraph.from_bytes, cells), keys, start, count)
            return np.stack(
                [_read(control, estimate, name, partial(matching.where, rows[at])) for at, estimate, control in drawn]
            )

        return lagged_controls(pairs, codes, pace=3000.0)

    return Null(name, f"random lagged graphs drawn by the function {name}", controls)


def _read(found: Any, estimate: LaggedGraph, name: str, where: Callable[[], str]) -> NDArray[np.uint8]:
    """Read what the user's function returned for the estimate of a row."""
    try:
        control = as_lagged(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{where()}: null {name!r} returned {type(found).__name__}, which is not a lagged graph: {error}"
        ) from error
    if control.nodes != estimate.nodes or control.max_lag > estimate.max_lag or control.min_lag < estimate.min_lag:
        raise ValueError(
            f"{where()}: null {name!r} returned {control.to_string()!r}; a control has the variables and the lags of "
            f"the estimate, {list(estimate.nodes)[:10]} and {estimate.min_lag}..{estimate.max_lag}"
        )
    if KINDS.index(control.kind) > KINDS.index(estimate.kind):
        raise ValueError(f"{where()}: null {name!r} returned a {control.kind}, expected a {estimate.kind}")
    codes = np.zeros_like(estimate.codes)
    codes[: control.max_lag + 1] = control.codes
    return codes


LAGGED = register_field(
    Field(
        name="lagged",
        default_metrics=DEFAULT_METRICS,
        default_null="edges",
        holds=is_lagged_column,
        coerce=coerce_lagged,
        batches=batches,
        pair=pair,
        custom_null=custom_null,
        labels=labels,
        relabelling=Relabelling(relabelled_cells),
        samples=samples,
    )
)
