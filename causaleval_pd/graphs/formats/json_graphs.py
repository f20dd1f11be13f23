"""Graphs as JSON, and mappings from nodes to their parents or children."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any

from ...contract.encoding import Edges, Encoding, Ends
from ..edge_marks import MARK_OF_WORD, MARKS, MARKS_OF_NAME, SIGNS, MarkedEdges, forward, refuse_marks
from ..weights import refuse_numbers

#: keys of the nodes of an edge, of the marks at them, and of all that is read of it
_NODE_KEYS, _END_KEYS = (("from", "to"), ("node1", "node2"), ("source", "target")), ("endpoint1", "endpoint2")
_READ = (*chain(*_NODE_KEYS), *_END_KEYS, "edge", "type", "weight")
#: of Tetrad's endpoints
_ORDINALS = {0: "tail", 1: "arrow", 2: "circle"}
_EDGE_KEYS = ("edges", "edgesSet", "links")
_NAME_KEYS = ("name", "id", "label")
_ARRAY = re.compile(r'\s*+\[\s*+(?:\[\s*+"|\{\s*+")')


def is_json(cell: Any) -> bool:
    """Return whether a text begins as a JSON object with edges or an array of edges, or a mapping is such an object."""
    if isinstance(cell, Mapping) and not isinstance(cell, Set):
        # a mapping from nodes to lists of nodes may have a node named "edges", but lists no mapping and no list
        lists = _parts_of(cell)[:2]
        return all(isinstance(x, list) for x in lists) and any(isinstance(x, (Mapping, list)) for x in chain(*lists))
    if not isinstance(cell, str):
        return False
    if cell.lstrip()[:1] == "{":
        return bool(re.search(rf'"(?:nodes|{"|".join(_EDGE_KEYS)})"\s*:', cell[:100_000]))
    return bool(_ARRAY.match(cell))


def _parts_of(content: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return the nodes and the edges of an object, or of Tetrad's graph in it, and whether edges are directed."""
    graph = content.get("graph")
    if isinstance(graph, Mapping) and "edgesSet" in graph:
        content = graph
    edges = next((content[key] for key in _EDGE_KEYS if key in content), None)
    return content.get("nodes", []), edges, content.get("directed", True)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as fault:
        raise ValueError(f"line {fault.lineno}: found no JSON: {fault.msg}") from None
    except RecursionError:
        raise ValueError("found JSON that is nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of two values with one key the first would be lost."""
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise ValueError(f"found the key {key!r:.60} twice in an object")
        mapping[key] = value
    return mapping


def read_json(cell: Any) -> Edges:
    """Read a JSON object with nodes and edges, in the ways of Tetrad, caugi and networkx, or an array of edges."""
    content = _parsed(cell) if isinstance(cell, str) else dict(cell)
    content = {"edges": content} if isinstance(content, list) else content
    nodes, edges_of, directed = _parts_of(content)
    if not isinstance(edges_of, list) or not isinstance(nodes, list):
        raise ValueError("found a JSON object without lists of nodes and edges")
    # networkx writes whether a graph is one of several edges per pair, and means a node by its id
    by_id = "multigraph" in content
    edges, named = MarkedEdges(), dict[str, str]()
    for node in nodes:
        name = _json_name(node, ("id",) if by_id else _NAME_KEYS)
        if not by_id and isinstance(node, dict) and isinstance(node.get("id"), int):
            # edges mean a node by its number, as vis.js writes them
            name = named[str(node["id"])] = _json_name(node, ("name", "label", "id"))
        if name in edges.position:
            raise ValueError(f"found the node {name!r} twice")
        edges.node(name)
    refuse_numbers((edge for edge in edges_of if isinstance(edge, dict)), _READ)
    for k, edge in enumerate(edges_of, 1):
        try:
            a, b, *marks = _json_edge(edge, directed)
            absent = [name for name in (named.get(a, a), named.get(b, b)) if nodes and name not in edges.position]
            if absent:
                raise ValueError(f"found an edge of the node {absent[0]!r}, which is not among the nodes")
            edges.add(named.get(a, a), named.get(b, b), *marks)
        except ValueError as fault:
            raise ValueError(f"edge {k}: {fault}") from None
    return edges.found(is_open=not nodes)


def _json_name(node: Any, keys: Sequence[str] = _NAME_KEYS) -> str:
    if isinstance(node, dict):
        node = next((node[key] for key in keys if key in node), node)
    if isinstance(node, int) and not isinstance(node, bool):
        node = str(node)
    if not isinstance(node, str):
        raise ValueError(f"found the node {node!r:.60}, expected a name")
    return node


def _json_edge(edge: Any, directed: Any) -> tuple[str, str, int, int]:
    if isinstance(edge, list) and len(edge) == 2:
        return _json_name(edge[0]), _json_name(edge[1]), *MARKS["-->" if directed else "---"]
    if not isinstance(edge, dict):
        raise ValueError(f"found {edge!r:.60}, expected an object, or source and target")
    nodes = next((keys for keys in _NODE_KEYS if keys[0] in edge and keys[1] in edge), None)
    if nodes is None:
        raise ValueError(f"found the keys {sorted(edge)!r:.60}, expected from and to, or source and target")
    a, b = _json_name(edge[nodes[0]]), _json_name(edge[nodes[1]])
    if "endpoint1" in edge and "endpoint2" in edge:
        at_a, at_b = ends = [_endpoint(edge[key]) for key in _END_KEYS]
        if not {*ends} <= {*MARK_OF_WORD}:
            raise ValueError(f"found the endpoints {ends!r:.60}, expected TAIL, ARROW or CIRCLE, or their ordinals")
        return a, b, MARK_OF_WORD[at_a], MARK_OF_WORD[at_b]
    if "weight" in edge and edge["weight"] != 1:
        raise ValueError(f"found the weight {edge['weight']!r:.60}; cut weights by size, and write edges without")
    if "edge" not in edge and "type" not in edge:
        refuse_marks(edge, nodes, "edge")
    sign = next((edge[key] for key in ("edge", "type") if key in edge), "-->" if directed else "---")
    marks = MARKS_OF_NAME.get(sign) if isinstance(sign, str) else None
    if marks is None:
        raise ValueError(f"found the edge {sign!r:.60}, expected one of {', '.join(MARKS)}")
    return a, b, *marks


def _endpoint(value: Any) -> str:
    """Return the word of an endpoint, of which Tetrad has also written the ordinal."""
    if isinstance(value, dict):
        ordinal = value.get("ordinal")
        value = value.get("name", _ORDINALS.get(ordinal, value) if isinstance(ordinal, int) else value)
    return value.lower() if isinstance(value, str) else str(value)


def write_json(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as a JSON object with nodes, and edges as caugi has them."""
    edges = [{"from": names[i], "edge": SIGNS[a, b], "to": names[j]} for i, j, a, b in sorted(map(forward, ends))]
    return json.dumps({"nodes": list(names), "edges": edges}, ensure_ascii=False)


def is_mapping(cell: Any) -> bool:
    """Return whether a cell is a mapping from nodes to lists of nodes, or begins as one in JSON."""
    if isinstance(cell, str):
        return cell.lstrip()[:1] == "{" and not is_json(cell)
    return isinstance(cell, Mapping) and not (isinstance(cell, Set) or is_json(cell))


def _read_mapping(cell: Any, lists_parents: bool) -> Edges:
    """Read the nodes that each node lists; two that list each other have an undirected edge."""
    mapping = _parsed(cell) if isinstance(cell, str) else cell
    position: dict[str, int] = {}
    arcs = []
    for node, listed in mapping.items():
        if not isinstance(listed, (list, tuple, set, frozenset)):
            raise ValueError(f"found {listed!r:.60} for the node {node!r}, expected a list of nodes")
        for name in (node, *listed):
            if not isinstance(name, str):
                raise TypeError(f"found the node {name!r:.60} of type {type(name).__name__}, expected a string")
        here, *others = [position.setdefault(name, len(position)) for name in (node, *listed)]
        arcs += [(there, here) if lists_parents else (here, there) for there in others]
    return Edges.from_arcs(tuple(position) or None, arcs, is_open=True)


ENCODINGS = (
    Encoding(
        name="JSON",
        tool="Tetrad, caugi, networkx (node_link_data)",
        cells="JSON, or what Python reads from it",
        meaning="edges with from, edge (-->, ---, <->, o->, o-o, o--) and to; node1, node2, endpoint1, endpoint2; or "
        "source and target; an array of such edges or of [source, target]",
        mark="an edge i -> j has from i and to j, or source i and target j",
        example='\'{"nodes": ["A", "B"], "edges": [{"from": "A", "edge": "o->", "to": "B"}]}\'',
        read=read_json,
        types=(str, Mapping),
        recognise=is_json,
        write_text=write_json,
    ),
    *(
        Encoding(
            name=name,
            tool=tool,
            cells=f"mapping of nodes to their {name}",
            meaning=f"each node lists its {name}; two that list each other have an undirected edge",
            mark=f"an edge i -> j is {mark}",
            example=example,
            read=partial(_read_mapping, lists_parents=name == "parents"),
            types=(Mapping, str),
            recognise=is_mapping,
            by_name=True,
        )
        for name, tool, mark, example in (
            ("parents", "Python", "i in the list of j", "{'A': [], 'B': ['A']}"),
            ("children", "networkx (to_dict_of_lists), Python", "j in the list of i", "{'A': ['B'], 'B': []}"),
        )
    ),
)
