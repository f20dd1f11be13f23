"""What graphs look like elsewhere: one cell of each format to node labels and arcs.

An arc (source, target) is a mark source -> target, as positions in the labels; an undirected edge is two arcs. Faults
are raised without the row, which the caller knows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..edge_strings import write_name
from ..graph import Graph

Labels = tuple[Hashable, ...]
Arcs = list[tuple[int, int]]
Fault = tuple[int, str]  # position in a stack, message

_EDGE_TYPE_KEYS = ("type", "kind", "edge_type")
_DIRECTED = {"directed", "->", "-->"}
_UNDIRECTED = {"undirected", "--", "---"}
_MIXED = {"bidirected", "circle", "<->", "o->", "<-o", "o-o", "o--", "--o"}


class AmbiguousEncodingError(ValueError):
    """A matrix can be read in two ways, and nobody said which one is meant.

    Examples
    --------
    >>> import numpy as np
    >>> import causaleval_pd as ce
    >>> matrix = np.array([[0, 1], [0, 0]])
    >>> try:
    ...     ce.as_graph(matrix)
    ... except ce.AmbiguousEncodingError:
    ...     print(ce.as_graph(matrix, encoding="row->column"))
    Graph('0 -> 1', kind='dag')
    """


def cell_format(cell: Any) -> str:
    """Return the format of a cell; TypeError if it is none that is known."""
    if cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, (float, np.floating)) and np.isnan(cell)):
        return "missing"
    for types, name in _TYPES:
        if isinstance(cell, types):
            return name
    if hasattr(cell, "tocoo"):
        return "sparse"
    if causal_learn_graph(cell) is not None:
        return "causal-learn"
    raise TypeError(
        f"found {type(cell).__module__}.{type(cell).__qualname__}, expected a graph: networkx, numpy / scipy / "
        "DataFrame adjacency, edge string, edge list, causal-learn, Graph, packed bytes, or missing"
    )


_TYPES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "string"),
    ((bytes, Graph), "packed"),
    (nx.Graph, "networkx"),
    (np.ndarray, "matrix"),
    (pd.DataFrame, "frame"),
    ((list, tuple, set, frozenset), "edges"),
)


def read_edge_list(cell: Sequence[Any]) -> tuple[Labels, Arcs]:
    """Read (source, target) tuples; both directions make an undirected edge."""
    position: dict[Hashable, int] = {}
    arcs = []
    for edge in cell:
        if not isinstance(edge, tuple) or len(edge) != 2:
            mend = (
                "write edges as one text, as 'A -> B; B -> C'"
                if isinstance(edge, str)
                else "make nested lists a numpy array and say encoding="
            )
            raise TypeError(f"found {edge!r} in a {type(cell).__name__}, expected (source, target) tuples; {mend}")
        source = position.setdefault(edge[0], len(position))
        target = position.setdefault(edge[1], len(position))
        if source == target:
            raise ValueError(_self_loop(edge[0]))
        arcs.append((source, target))
    return tuple(position), arcs


def read_networkx(graph: nx.Graph[Any]) -> tuple[Labels, Arcs]:
    """Read a networkx graph of any class.

    Two arcs between the same nodes, an edge of an undirected graph, and an edge whose attribute type, kind or edge_type
    is "undirected" are undirected; pgmpy's ``marks`` attribute is understood.
    """
    labels = tuple(graph.nodes)
    position = {label: i for i, label in enumerate(labels)}
    arcs: Arcs = []
    typed: dict[tuple[int, int], set[tuple[tuple[int, int], ...]]] = {}
    multigraph = graph.is_multigraph()
    for u, neighbours in graph.adjacency():
        s = position[u]
        for v, data in neighbours.items():
            t = position[v]
            if s == t:
                raise ValueError(_self_loop(u))
            for attributes in data.values() if multigraph else (data,):
                marks = _typed_marks(graph, u, v, attributes) if attributes else None
                if marks is None:
                    arcs.append((s, t))
                else:
                    found = tuple((position[a], position[b]) for a, b in marks)
                    typed.setdefault((min(s, t), max(s, t)), set()).add(tuple(sorted(found)))
    plain = set(arcs) if typed else set()
    for pair, found_marks in typed.items():
        found_marks |= {(arc,) for arc in (pair, pair[::-1]) if arc in plain}
        if len(found_marks) > 1:
            a, b = (labels[i] for i in pair)
            raise ValueError(f"found edges of different types or directions between {a!r} and {b!r}, expected one edge")
        arcs.extend(arc for both in found_marks for arc in both)
    return labels, arcs


def _typed_marks(graph: nx.Graph[Any], u: Any, v: Any, attributes: dict[str, Any]) -> list[tuple[Any, Any]] | None:
    """Return the arcs that edge attributes ask for, None if they say nothing about marks."""
    marks = attributes.get("marks")
    if isinstance(marks, dict) and set(marks) == {u, v}:
        if marks[u] == "-" and marks[v] in ("-", ">"):
            return [(u, v), (v, u)] if marks[v] == "-" else [(u, v)]
        if (marks[u], marks[v]) == (">", "-"):
            return [(v, u)]
        raise ValueError(
            f"found the marks {marks!r}; mixed marks are not supported yet, only directed and undirected edges"
        )
    for key in _EDGE_TYPE_KEYS:
        word = attributes.get(key)
        if not isinstance(word, str):
            continue
        if word.lower() in _UNDIRECTED:
            return [(u, v), (v, u)]
        if word.lower() in _MIXED:
            raise ValueError(
                f"found the edge {u!r}, {v!r} with {key}={word!r}; mixed marks are not supported yet, only directed "
                "and undirected edges"
            )
        if word.lower() in _DIRECTED:
            if not graph.is_directed():
                raise ValueError(
                    f"found the edge {u!r}, {v!r} with {key}={word!r} in an undirected networkx graph, which keeps no "
                    "direction; use a DiGraph"
                )
            return [(u, v)]
    return None


def _self_loop(label: Any) -> str:
    return f"found an edge from {label!r} to itself; graphs have no self loops"


def frame_matrix(frame: pd.DataFrame) -> tuple[Labels, NDArray[Any]]:
    """Return labels and matrix of a DataFrame whose index and columns name the nodes, in the order of the columns."""
    if frame.shape[0] != frame.shape[1]:
        raise ValueError(f"found a DataFrame of shape {frame.shape}, expected a square adjacency matrix")
    rows, columns = list(frame.index), list(frame.columns)
    if set(rows) != set(columns):
        raise ValueError(
            f"found a DataFrame with rows {short(rows)} and columns {short(columns)}, expected the same nodes; "
            "set frame.index = frame.columns if the rows are in the order of the columns"
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"found a DataFrame with columns {short(columns)}, expected each node once")
    return tuple(columns), (frame if rows == columns else frame.reindex(index=columns)).to_numpy()


def check_matrix(matrix: Any) -> None:
    """Refuse matrices that are not square or not of numbers."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"found an array of shape {matrix.shape}, expected a square adjacency matrix")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"found a matrix of dtype {matrix.dtype}, expected zeros and ones (bool, integer or float)")


def matrix_fault(stack: NDArray[Any], names: Sequence[str]) -> Fault | None:
    """Return the first matrix of a stack that is no 0/1 matrix with a zero diagonal, and what is wrong with it."""
    odd = (stack != 0) & (stack != 1)
    if odd.any():
        at, i, j = (int(x) for x in np.argwhere(odd)[0])
        value = stack[at, i, j].item()
        mend = "drop missing weights" if math.isnan(value) else "threshold weights first, as in (W != 0)"
        if isinstance(value, int) or value in (-1, 2, 3):
            mend = "decode endpoint codes first"
        return at, f"found {value} in cell ({names[i]!r}, {names[j]!r}), expected 0 or 1; {mend}"
    return _diagonal_fault(stack, names)


def sparse_arcs(cell: Any, names: Sequence[str]) -> Arcs:
    """Return (row, column) of the ones of a scipy sparse matrix."""
    matrix = cell.tocsr().tocoo()  # adds up duplicate entries
    arcs = []
    for i, j, value in zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True):
        if value not in (0, 1):
            raise ValueError(
                f"found {value} in cell ({names[i]!r}, {names[j]!r}), expected 0 or 1; threshold weights first"
            )
        if value and i == j:
            raise ValueError(_self_loop(names[i]))
        if value:
            arcs.append((i, j))
    return arcs


def causal_learn_graph(cell: Any) -> tuple[Labels, NDArray[Any]] | None:
    """Return names and endpoint matrix of a causal-learn CausalGraph or GeneralGraph, None for anything else.

    The matrix holds the mark at the *row* node: -1 a tail, 1 an arrow, 2 a circle.
    """
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


def causal_learn_fault(stack: NDArray[Any], names: Sequence[str]) -> Fault | None:
    """Return the first endpoint matrix of a stack with an edge that is neither directed nor undirected."""
    fault = _diagonal_fault(stack, names)
    other = stack.transpose(0, 2, 1)
    valid = ((stack == -1) & ((other == 1) | (other == -1))) | ((stack == 1) & (other == -1))
    odd = ~(valid | ((stack == 0) & (other == 0)))
    if odd.any():
        at, i, j = (int(x) for x in np.argwhere(odd)[0])
        if fault is None or at <= fault[0]:
            ends = {-1: "--", 1: "<>", 2: "oo"}
            here, there = (int(stack[at, i, j]), int(stack[at, j, i]))
            mark = f"{ends.get(here, '??')[0]}-{ends.get(there, '??')[1]}"
            return at, (
                f"found the edge {write_name(names[i])} {mark} {write_name(names[j])} (endpoints {here}, {there}); "
                "mixed marks are not supported yet, only directed and undirected edges"
            )
    return fault


def _diagonal_fault(stack: NDArray[Any], names: Sequence[str]) -> Fault | None:
    loops = np.argwhere(np.einsum("nii->ni", stack) != 0)
    return (int(loops[0, 0]), _self_loop(names[loops[0, 1]])) if len(loops) else None


def short(labels: Sequence[Any]) -> str:
    """Write a list of labels for a message."""
    return repr(list(labels)) if len(labels) <= 6 else f"[{', '.join(map(repr, labels[:5]))}, ... {len(labels)} in all]"
