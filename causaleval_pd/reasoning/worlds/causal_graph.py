"""Directed acyclic graphs of named nodes: checked edges, topological order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...contract.checks import shown

if TYPE_CHECKING:
    import networkx as nx

#: (parent, child) of an edge; (cause, effect) of a question
Pair = tuple[str, str]


def read_edges(edges: Iterable[Pair]) -> tuple[Pair, ...]:
    """Return edges as pairs of strings; refuse anything but pairs, and repeated pairs."""
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise TypeError(f"edges must be a list of (parent, child) pairs, found {shown(edges)}")
    listed = list(edges)
    for edge in listed:
        if isinstance(edge, str) or not isinstance(edge, Sequence) or len(edge) != 2:
            raise TypeError(f"edges must be a list of (parent, child) pairs, found {shown(edge)} in it")
    read = tuple((str(parent), str(child)) for parent, child in listed)
    if repeated := [edge for edge, count in Counter(read).items() if count > 1]:
        raise ValueError(f"edges are given once, found more often {repeated}")
    return read


def acyclic_graph(edges: Iterable[Pair], nodes: Iterable[str]) -> nx.DiGraph[str]:
    """Return the graph of these edges and nodes; refuse a cycle."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph(list(edges))
    graph.add_nodes_from(nodes)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [parent for parent, _ in nx.find_cycle(graph)]
        raise ValueError(f"a world is acyclic, but its edges lead round {' -> '.join([*cycle, cycle[0]])}")
    return graph


def topological_order(graph: nx.DiGraph[str], nodes: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes with parents first, otherwise in their given order."""
    import networkx as nx

    place = {node: i for i, node in enumerate(nodes)}
    return tuple(nx.lexicographical_topological_sort(graph, key=lambda node: place[node]))
