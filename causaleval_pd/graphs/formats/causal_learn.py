"""Graphs of causal-learn as cells: CausalGraph, GeneralGraph, Dag and objects that look like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.encoding import CellError, Encoding, Labels, Matrix, register_encoding
from ..edge_strings import write_name

_ENDS = {-1: "--", 1: "<>", 2: "oo"}  # on the left and on the right of an edge


def _names_and_endpoints(cell: Any) -> tuple[Labels, NDArray[Any]] | None:
    """Return names and endpoint matrix of a graph, None for any other object."""
    graph = getattr(cell, "G", cell)
    matrix = getattr(graph, "graph", None)
    if not isinstance(matrix, np.ndarray):
        return None
    nodes = getattr(graph, "nodes", None)
    if isinstance(nodes, (list, tuple)):
        # not get_node_names(): that of causal-learn's Dag returns methods
        return tuple(node.get_name() if hasattr(node, "get_name") else node for node in nodes), matrix
    names = getattr(graph, "get_node_names", None)
    return (tuple(names()), matrix) if callable(names) else None


def read_causal_learn(cell: Any) -> Matrix:
    """Read the endpoint matrix, which holds the mark at the *row* node: -1 a tail, 1 an arrow, 2 a circle."""
    found = _names_and_endpoints(cell)
    if found is None:
        raise TypeError(f"found {type(cell).__name__}, expected a graph of causal-learn")
    return Matrix(*found)


def decode_endpoints(stack: NDArray[Any], names: Sequence[str]) -> NDArray[np.bool_] | NDArray[np.uint8]:
    """Return the marks of a stack of endpoint matrices; refuse edges without a known mark at both ends."""
    other = stack.transpose(0, 2, 1)
    odd = ~(np.isin(stack, (-1, 1, 2)) & np.isin(other, (-1, 1, 2)) | ((stack == 0) & (other == 0)))
    if odd.any():
        at, i, j = (int(x) for x in np.argwhere(odd)[0])
        here, there = (value.item() for value in (stack[at, i, j], stack[at, j, i]))
        mark = f"{_ENDS.get(here, '??')[0]}-{_ENDS.get(there, '??')[1]}"
        raise CellError(
            at,
            f"found the edge {write_name(names[i])} {mark} {write_name(names[j])} (endpoints {here:g}, {there:g}); "
            "marks are -1 a tail, 1 an arrow and 2 a circle, at both ends of an edge",
        )
    if ((stack == 2) | ((stack == 1) & (other == 1))).any():
        # the mark at the column's node
        return np.select([other == -1, other == 1, other == 2], [1, 2, 3], 0).astype(np.uint8)
    # a tail at i is what i -> j and i -- j have in common
    return np.asarray(stack == -1)


CAUSAL_LEARN = register_encoding(
    Encoding(
        name="causal-learn",
        tool="causal-learn",
        cells="causal-learn",
        meaning="-1 a tail, 1 an arrow, 2 a circle, at the row's node",
        mark="an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i)",
        example="causallearn.search.ConstraintBased.PC.pc(data)",
        read=read_causal_learn,
        recognise=lambda cell: _names_and_endpoints(cell) is not None,
        decode=decode_endpoints,
    )
)
