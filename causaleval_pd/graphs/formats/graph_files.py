"""Texts of GraphML and GML as cells, read and written by networkx, with the marks of edges that declare them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, TAIL, forward
from .networkx_graph import read_networkx

_GRAPHML = re.compile(r"\s*+(?:<\?xml[^>]*\?>\s*+)?(?>(?:<!--.*?-->\s*+)*)<graphml[\s>]", re.S)
_GML = re.compile(
    r"(?>(?:\s|#[^\n]*\n|(?:Creator|Version|comment)\s++(?:\"[^\"]*\"|[^\s\"]++))*)graph\s*+\[\s*+"
    r"(?:(?:directed|multigraph|id)\s*+\d|(?:node|edge)\s*+\[|(?:name|label|comment|creator)\s*+\")",
    re.I,
)
_WORDS = {TAIL: "tail", ARROW: "arrow", CIRCLE: "circle"}
#: ids that igraph writes for nodes whose names are data
_NUMBERED = re.compile(r"n\d++")
#: letters of a fault of networkx, which may repeat the text
_MOST_SHOWN = 200


def read_graphml(text: str) -> Edges:
    """Read GraphML; an edge may have the data sourceEndpoint and targetEndpoint, or type."""
    import networkx as nx

    try:
        graphs = ElementTree.fromstring(text).findall("{*}graph")
        _check_graphml(graphs)
        graph = nx.parse_graphml(text)
    except (ElementTree.ParseError, nx.NetworkXError) as fault:
        raise ValueError(f"found no GraphML: {fault}") from None
    names = nx.get_node_attributes(graph, "name")
    if len(names) == len(graph) and all(map(_NUMBERED.fullmatch, names)):
        return _read_renamed(graph, names, "GraphML")
    return read_networkx(graph)


def _check_graphml(graphs: Sequence[ElementTree.Element]) -> None:
    """Refuse what networkx reads without a word: several graphs, no direction, nodes found twice or not at all."""
    if len(graphs) != 1:
        raise ValueError(f"found {len(graphs)} graphs in GraphML, expected one")
    graph = graphs[0]
    if graph.get("edgedefault") not in ("directed", "undirected"):
        raise ValueError(f"found edgedefault={graph.get('edgedefault')!r}, expected 'directed' or 'undirected'")
    names = set[str | None]()
    for node in graph.iterfind("{*}node"):
        name = node.get("id")
        if not name or name in names:
            raise ValueError(f"found the node {name!r:.60}, expected a name that no other node has")
        names.add(name)
    for edge in graph.iterfind("{*}edge"):
        for key in ("source", "target"):
            if edge.get(key) not in names:
                raise ValueError(f"found the node {edge.get(key)!r:.60}, which is not among the nodes")


def _read_renamed(graph: Any, names: Mapping[Hashable, Any], what: str) -> Edges:
    """Read a graph of networkx under names that its nodes have as attributes."""
    import networkx as nx

    if len({*names.values()}) < len(names):
        raise ValueError(f"found two nodes with one name in {what}; give each a name of its own")
    return read_networkx(nx.relabel_nodes(graph, names))


def write_graphml(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as GraphML; marks are the data sourceEndpoint and targetEndpoint."""
    import networkx as nx

    odd = next((x for x in names if re.search(r"[\x00-\x1f\x7f\ufffe\uffff]", x)), None)
    if odd is not None:
        raise ValueError(f"GraphML cannot hold the node name {odd!r}; rename the node")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for i, j, at_i, at_j in sorted(map(forward, ends)):
        # a bidirected edge beside a directed one, which is the first, is an arc the other way
        ends_of = (names[j], names[i]) if graph.has_edge(names[i], names[j]) else (names[i], names[j])
        graph.add_edge(*ends_of, sourceEndpoint=_WORDS[at_i], targetEndpoint=_WORDS[at_j])
    return "\n".join(nx.generate_graphml(graph))


def read_gml(text: str) -> Edges:
    """Read GML; the label names a node, else its name, which igraph writes, else its id."""
    import networkx as nx

    try:
        graph = nx.parse_gml(text, label="id")
    except (nx.NetworkXError, RecursionError) as fault:
        raise ValueError(f"found no GML: {fault}"[:_MOST_SHOWN]) from None
    nodes = {node: data.get("label", data.get("name", node)) for node, data in graph.nodes(data=True)}
    odd = next((name for name in nodes.values() if not isinstance(name, (str, int, float))), None)
    if odd is not None:
        raise ValueError(f"found {odd!r:.60} in GML, expected one name of a node")
    return _read_renamed(graph, {node: str(name) for node, name in nodes.items()}, "GML")


GRAPHML = register_encoding(
    Encoding(
        name="GraphML",
        tool="networkx, causaliq, yEd",
        cells="GraphML",
        meaning="sourceEndpoint and targetEndpoint (none, arrow, circle), or type; both arcs of a pair undirected",
        mark="an edge i -> j has source i and target j",
        example="'\\n'.join(nx.generate_graphml(graph))",
        read=read_graphml,
        types=(str,),
        recognise=lambda text: bool(_GRAPHML.match(text)),
        write_text=write_graphml,
    )
)

GML = register_encoding(
    Encoding(
        name="GML",
        tool="networkx, DoWhy, igraph",
        cells="GML",
        meaning="directed 1 a directed graph, both arcs of a pair an undirected edge; label or name names a node",
        mark="an edge i -> j has source i and target j",
        example="'\\n'.join(nx.generate_gml(graph))",
        read=read_gml,
        types=(str,),
        recognise=lambda text: bool(_GML.match(text)),
    )
)
