"""Networkx graphs as cells, of any class; those of pgmpy with their ``marks`` included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ...contract.encoding import Arcs, Edges, Encoding, register_encoding

if TYPE_CHECKING:
    import networkx as nx

_EDGE_TYPE_KEYS = ("type", "kind", "edge_type")
_DIRECTED = {"directed", "->", "-->"}
_UNDIRECTED = {"undirected", "--", "---"}
_MIXED = {"bidirected", "circle", "<->", "o->", "<-o", "o-o", "o--", "--o"}


def read_networkx(graph: nx.Graph[Any]) -> Edges:
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
    return Edges(labels, arcs)


def _typed_marks(graph: nx.Graph[Any], u: Any, v: Any, attributes: dict[str, Any]) -> list[tuple[Any, Any]] | None:
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


def is_networkx(cell: Any) -> bool:
    """Return whether a cell is a graph of networkx; without networkx imported, there are none."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(cell, networkx.Graph)


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
