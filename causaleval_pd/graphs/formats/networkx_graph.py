"""Networkx graphs as cells, of any class; those of pgmpy with their ``marks`` included."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contract.encoding import Arcs, Edges, Encoding, register_encoding
from ..weights import explain_weights

if TYPE_CHECKING:
    import networkx as nx

_EDGE_TYPE_KEYS = ("type", "kind", "edge_type")
_DIRECTED = {"directed", "->", "-->"}
_UNDIRECTED = {"undirected", "--", "---"}
_REVERSED = {"<-", "<--"}
_MIXED = {"bidirected", "bi", "confounded", "circle", "<->", "o->", "<-o", "o-o", "o--", "--o", "-o", "o-"}
_MIXED |= {"bi-directed", "latent", "bidirectional", "partially_directed"}
# the attribute that graphviz and readers of DOT use
_DIR = {"forward": "directed", "none": "undirected", "back": "<-", "both": "<->"}

#: larger numbers may not fit a float
_HUGE = 1e300

Marks = list[tuple[Any, Any]]


def read_networkx(graph: nx.Graph[Any]) -> Edges:
    """Read a networkx graph of any class.

    Two arcs between the same nodes, an edge of an undirected graph, and an edge whose attribute type, kind or edge_type
    is "undirected" are undirected; pgmpy's ``marks`` and graphviz's ``dir`` are understood. Other words of these
    attributes, parallel edges and weights other than 1 are refused.
    """
    labels = tuple(graph.nodes)
    position = {label: i for i, label in enumerate(labels)}
    arcs: Arcs = []
    typed: dict[tuple[int, int], set[tuple[tuple[int, int], ...]]] = {}
    weights: list[Any] = []
    multigraph = graph.is_multigraph()
    for u, neighbours in graph.adjacency():
        s = position[u]
        for v, data in neighbours.items():
            t = position[v]
            if not (data or multigraph):
                arcs.append((s, t))
                continue
            every = [_with_key(key, found) for key, found in data.items()] if multigraph else [data]
            declared = [_typed_marks(graph, u, v, attributes) if attributes else None for attributes in every]
            if len(every) > 1 and not any(marks is not None for marks in declared):
                raise ValueError(
                    f"found {len(every)} parallel edges between {u!r} and {v!r}, expected one; make the graph simple, "
                    "as in nx.DiGraph(graph)"
                )
            weights.extend(attributes["weight"] for attributes in every if "weight" in attributes)
            for marks in declared:
                if marks is None:
                    arcs.append((s, t))
                else:
                    found = tuple((position[a], position[b]) for a, b in marks)
                    typed.setdefault((min(s, t), max(s, t)), set()).add(tuple(sorted(found)))
    if any(type(weight) is not int or weight != 1 for weight in weights):
        _refuse_weights(graph)
    plain = set(arcs) if typed else set()
    for pair, found_marks in typed.items():
        found_marks |= {(arc,) for arc in (pair, pair[::-1]) if arc in plain}
        if len(found_marks) > 1:
            a, b = (labels[i] for i in pair)
            raise ValueError(f"found edges of different types or directions between {a!r} and {b!r}, expected one edge")
        arcs.extend(arc for both in found_marks for arc in both)
    return Edges(labels, arcs)


def _with_key(key: Any, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of an edge of a multigraph, whose key may be its type."""
    return attributes if isinstance(key, int) else {"type": key, **attributes}


def _refuse_weights(graph: nx.Graph[Any]) -> None:
    """Refuse weights other than 1, as in a matrix."""
    position = {label: i for i, label in enumerate(graph.nodes)}
    found = [(u, v, data["weight"]) for u, v, data in graph.edges(data=True) if data.get("weight") is not None]
    for u, v, weight in found:
        if not isinstance(weight, (int, float, np.integer, np.floating, np.bool_)):
            raise TypeError(f"found the weight {weight!r} of the edge {u!r}, {v!r}, expected no weight or 1")
    odd = next(((u, v, weight) for u, v, weight in found if weight != 1), None)
    if odd is None:
        return
    source, target = ([position[edge[end]] for edge in found] for end in (0, 1))
    mend = explain_weights(
        source, target, [weight if abs(weight) < _HUGE else math.inf for _, _, weight in found], "weight"
    )
    raise ValueError(
        f"found the weight {odd[2]} of the edge {odd[0]!r}, {odd[1]!r}, expected no weight or 1; {mend}; if every edge "
        "counts, nx.set_edge_attributes(graph, 1, 'weight')"
    )


def _typed_marks(graph: nx.Graph[Any], u: Any, v: Any, attributes: Mapping[str, Any]) -> Marks | None:
    """Return the arcs that edge attributes declare, None if they declare no marks."""
    marks = attributes.get("marks")
    if isinstance(marks, dict) and set(marks) == {u, v}:
        if marks[u] == "-" and marks[v] in ("-", ">"):
            return [(u, v), (v, u)] if marks[v] == "-" else [(u, v)]
        if (marks[u], marks[v]) == (">", "-"):
            return [(v, u)]
        raise ValueError(
            f"found the marks {marks!r}; mixed marks are not supported yet, only directed and undirected edges"
        )
    for key in (*_EDGE_TYPE_KEYS, "dir"):
        word = attributes.get(key)
        if word is not None:
            return _marks_of_word(graph, u, v, key, word)
    return None


def is_networkx(cell: Any) -> bool:
    """Return whether a cell is a graph of networkx; without networkx imported, there are none."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(cell, networkx.Graph)


def _marks_of_word(graph: nx.Graph[Any], u: Any, v: Any, key: str, word: Any) -> Marks:
    """Return the arcs of an edge whose type an attribute declares."""
    plain = word.strip("'\" ").lower() if isinstance(word, str) else ""
    meaning = _DIR.get(plain, "") if key == "dir" else plain
    found = f"found the edge {u!r}, {v!r} with {key}={word!r}"
    if meaning in _UNDIRECTED:
        return [(u, v), (v, u)]
    if meaning in _MIXED:
        raise ValueError(f"{found}; mixed marks are not supported yet, only directed and undirected edges")
    if meaning not in _DIRECTED | _REVERSED:
        raise ValueError(
            f"{found}, expected 'directed' or 'undirected'; delete the attribute where it is no type of mark"
        )
    if not graph.is_directed():
        raise ValueError(f"{found} in an undirected networkx graph, which keeps no direction; use a DiGraph")
    return [(u, v)] if meaning in _DIRECTED else [(v, u)]


NETWORKX = register_encoding(
    Encoding(
        name="networkx",
        tool="networkx, pgmpy",
        cells="networkx",
        meaning="both arcs of a pair, an edge of an undirected graph, or type='undirected' an undirected edge",
        mark="an edge i -> j is the arc (i, j)",
        example="nx.DiGraph([('A', 'B')])",
        read=read_networkx,
        recognise=is_networkx,
    )
)
