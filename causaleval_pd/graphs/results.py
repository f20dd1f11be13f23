"""Results for the rows of a column of graphs, made block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import name_row
from ..contract.encoding import CellError
from . import classes
from .graph import in_order
from .node_names import short
from .packing import Block, UnpackedColumn, unpack_column
from .pairs import MEND_CLASS, GraphBatch


def counts(series: pd.Series, count: Callable[[Block], NDArray[Any]]) -> pd.Series:
    """Return one whole number per row, counted block by block."""
    column = unpack_column(series)
    data = pd.arrays.IntegerArray(column.scatter([count(b) for b in column.blocks], 0, np.int64), column.missing)
    return pd.Series(data, index=series.index, name=series.name)


def check_classes(column: UnpackedColumn, series: pd.Series) -> None:
    """Refuse graphs that are not in the class that their cell declares."""
    for block in column.blocks:
        batch = GraphBatch(block.n_nodes, block.planes, block.kinds, column.checked)
        if batch.misdeclared.any():
            at = int(batch.misdeclared.argmax())
            where = name_row(int(block.rows[at]), series.index, series.name)
            reason = classes.explain_kind(block.planes[at], column.node_sets[block.node_set[at]], int(block.kinds[at]))
            raise ValueError(f"{where}: the graph {reason}; {MEND_CLASS}")


def stacked(
    series: pd.Series,
    column: UnpackedColumn,
    matrices: Callable[[Block], NDArray[Any]],
    nodes: Sequence[str] | None,
) -> NDArray[Any]:
    """Return one (d, d) matrix per row, made block by block, for graphs on the same nodes."""
    if not column.blocks:
        d = 0 if nodes is None else len(nodes)
        return np.full((column.n_rows, d, d), np.nan)
    if len(column.node_sets) > 1:
        ids = column.row_node_set
        first, other = int((ids >= 0).argmax()), int(((ids >= 0) & (ids != ids[ids >= 0][0])).argmax())
        raise ValueError(
            f"{name_row(other, series.index, series.name)}: found the nodes {short(column.node_sets[ids[other]])}, "
            f"but row {first} has {short(column.node_sets[ids[first]])}; take the rows of one node set at a time"
        )
    rows = np.concatenate([block.rows for block in column.blocks])
    start, made = 0, []
    try:
        for block in column.blocks:
            made.append(matrices(block))
            start += len(block.rows)
    except CellError as fault:
        row = int(rows[start + fault.position])
        raise ValueError(f"{name_row(row, series.index, series.name)}: {fault}") from None
    marks = in_order(np.concatenate(made), column.node_sets[0], nodes)
    if len(marks) < column.n_rows and marks.dtype.kind == "U":
        missing = int(np.setdiff1d(np.arange(column.n_rows), rows)[0])
        raise ValueError(
            f"{name_row(missing, series.index, series.name)}: the graph is missing, and arrays of strings have no "
            "missing values; take column.dropna()"
        )
    if len(marks) == column.n_rows:
        return marks if len(column.blocks) == 1 else marks[np.argsort(rows)]
    stack = np.full((column.n_rows, *marks.shape[1:]), np.nan)
    stack[rows] = marks
    return stack
