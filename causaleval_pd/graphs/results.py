"""Results for the rows of a column of graphs, made block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.encoding import CellError
from . import classes
from .node_names import short
from .packing import Block, UnpackedColumn


def check_classes(column: UnpackedColumn, where: Callable[[int], str]) -> None:
    """Refuse graphs that are not in the class that their cell declares."""
    for block in column.blocks:
        wrong = classes.misdeclared(block.planes, block.n_nodes, block.kinds, column.checked)
        if wrong.any():
            at = int(wrong.argmax())
            reason = classes.explain_kind(block.planes[at], column.node_sets[block.node_set[at]], int(block.kinds[at]))
            raise ValueError(f"{where(int(block.rows[at]))}: the graph {reason}; {classes.MEND_CLASS}")


def stacked(
    column: UnpackedColumn,
    where: Callable[[int], str],
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
            f"{where(other)}: found the nodes {short(column.node_sets[ids[other]])}, "
            f"but row {first} has {short(column.node_sets[ids[first]])}; take the rows of one node set at a time"
        )
    rows = np.concatenate([block.rows for block in column.blocks])
    start, made = 0, []
    try:
        for block in column.blocks:
            made.append(matrices(block))
            start += len(block.rows)
    except CellError as fault:
        raise ValueError(f"{where(int(rows[start + fault.position]))}: {fault}") from None
    marks = _in_order(np.concatenate(made), column.node_sets[0], nodes)
    if len(marks) < column.n_rows and marks.dtype.kind == "U":
        missing = int(np.setdiff1d(np.arange(column.n_rows), rows)[0])
        raise ValueError(
            f"{where(missing)}: the graph is missing, and arrays of strings have no "
            "missing values; take column.dropna()"
        )
    if len(marks) == column.n_rows:
        return marks if len(column.blocks) == 1 else marks[np.argsort(rows)]
    stack = np.full((column.n_rows, *marks.shape[1:]), np.nan)
    stack[rows] = marks
    return stack


def _in_order(matrices: NDArray[Any], names: Sequence[str], nodes: Sequence[str] | None) -> NDArray[Any]:
    """Rearrange (N, d, d) matrices over `names` to the order of `nodes`."""
    if nodes is None:
        return matrices
    order = list(nodes)
    if sorted(order) != list(names):
        raise ValueError(f"nodes must hold the names {list(names)} in any order, found {order}")
    position = {name: i for i, name in enumerate(names)}
    at = np.array([position[name] for name in order], dtype=np.int64)
    return np.ascontiguousarray(matrices[:, at[:, None], at])
