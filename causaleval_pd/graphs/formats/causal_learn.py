"""Graphs of causal-learn as cells: CausalGraph, GeneralGraph, Dag and objects that look like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.encoding import Encoding, Labels, Matrix, register_encoding
from .matrix_codes import CAUSAL_LEARN_MATRIX


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


CAUSAL_LEARN = register_encoding(
    Encoding(
        name="causal-learn",
        tool="causal-learn",
        cells="causal-learn",
        meaning="-1 a tail, 1 an arrow, 2 a circle, at the row's node; 4 with 5 both '->' and '<->'",
        mark="an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i)",
        example="causallearn.search.ConstraintBased.PC.pc(data)",
        read=read_causal_learn,
        recognise=lambda cell: _names_and_endpoints(cell) is not None,
        decode=CAUSAL_LEARN_MATRIX.decode,
    )
)
