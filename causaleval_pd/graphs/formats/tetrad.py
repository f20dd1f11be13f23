"""Text of Tetrad as cells: a line of nodes, then a numbered edge a line; py-tetrad and causal-learn write it too."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, MARKS, MARKS_OF_SIGN, SIGNS, TAIL, MarkedEdges, forward
from .graph_files import parse_xml

_NODES = re.compile(r"Graph Nodes:(.*)")
_EDGES = re.compile(r"Graph Edges:\s*$")
_NUMBER = re.compile(r"\d+\.$")
#: what follows the nodes of an edge: how certain it is, and shares of bootstrap samples
_ATTRIBUTE = re.compile(r"(?:dd|nl|pd|pl)$|\[|\S*:|-?\d")


def is_tetrad(text: str) -> bool:
    """Return whether a text has Tetrad's heading of nodes or edges."""
    return bool(re.match(r"\s*Graph (?:Nodes|Edges):", text))


def read_tetrad(text: str) -> Edges:
    """Read Tetrad's text; attributes of edges and sections after them are no part of the graph."""
    edges, section, names = MarkedEdges(), "", frozenset[str]()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        heading = _NODES.match(stripped)
        if heading is not None or section == "nodes":
            section = "nodes"
            listed = heading.group(1) if heading is not None else stripped
            if _EDGES.match(stripped):
                section, names = "edges", frozenset(map(str, edges.position))
            elif listed.strip():
                _read_nodes(listed, edges, number)
        elif _EDGES.match(stripped):
            section, names = "edges", frozenset(map(str, edges.position))
        elif section == "edges" and stripped:
            if ":" in stripped and not {*MARKS} & {*stripped.split()}:
                # attributes of the graph, ambiguous triples
                section = "other"
                continue
            _read_edge(stripped, edges, names, number)
        elif stripped and not section:
            raise ValueError(f"line {number}: found {stripped[:60]!r}, expected 'Graph Nodes:' or 'Graph Edges:'")
    if section not in ("edges", "other"):
        raise ValueError("found no line 'Graph Edges:'; the text is cut off")
    return edges.found(is_open=not names)


def _read_nodes(listed: str, edges: MarkedEdges, number: int) -> None:
    for name in re.split(r";" if ";" in listed else r",", listed.strip().rstrip(";,")):
        if name.strip() in edges.position:
            raise ValueError(f"line {number}: found the node {name.strip()!r} twice")
        edges.node(name.strip())


def _read_edge(line: str, edges: MarkedEdges, names: frozenset[str], number: int) -> None:
    """Read an edge, as in `1. X o-> Y dd nl`."""
    words = line.split()
    if _NUMBER.match(words[0]) and len(words) > 1 and words[1] not in MARKS:
        words = words[1:]
    at = next((k for k, word in enumerate(words) if word in MARKS), None)
    if not at or at == len(words) - 1:
        raise ValueError(
            f"line {number}: found {line[:60]!r}, expected an edge as '1. X --> Y', with one of {', '.join(MARKS)}"
        )
    left, rest = " ".join(words[:at]), words[at + 1 :]
    right = rest[0]
    if names:
        most = 1 + max(name.count(" ") for name in names)
        right = next((" ".join(rest[:k]) for k in range(most, 0, -1) if " ".join(rest[:k]) in names), right)
        unknown = next((name for name in (left, right) if name not in names), None)
        if unknown is not None:
            raise ValueError(f"line {number}: found the node {unknown[:60]!r}, which 'Graph Nodes:' does not list")
    after = rest[right.count(" ") + 1 :]
    if after and not _ATTRIBUTE.match(after[0]):
        raise ValueError(f"line {number}: found {after[0][:60]!r} after the edge {left} {words[at]} {right}")
    try:
        edges.add(left, right, *MARKS[words[at]])
    except ValueError as fault:
        raise ValueError(f"line {number}: {fault}") from None


def _reads_otherwise(name: str) -> bool:
    """Return whether a name holds a mark or a heading, or begins as the number of an edge."""
    return bool({*MARKS} & {*name.split()} or _NODES.match(name) or _EDGES.match(name))


def write_tetrad(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as Tetrad's text."""
    odd = next((x for x in names if re.search(r"[;,\n\r]", x) or x != " ".join(x.split()) or _reads_otherwise(x)), None)
    if odd is not None:
        raise ValueError(f"Tetrad's text cannot hold the node name {odd!r}; rename the node")
    lines = [
        f"{k}. {names[i]} {SIGNS[at_i, at_j]} {names[j]}"
        for k, (i, j, at_i, at_j) in enumerate(sorted(map(forward, ends)), 1)
    ]
    return "\n".join(["Graph Nodes:", ";".join(names), "", "Graph Edges:", *lines]) + "\n"


TETRAD = register_encoding(
    Encoding(
        name="Tetrad text",
        tool="Tetrad, py-tetrad, causal-learn",
        cells="Tetrad text",
        meaning="--> directed, --- undirected, <-> bidirected, o->, o-o and o-- with circles",
        mark="an edge i -> j is '1. i --> j' below 'Graph Edges:'",
        example="'Graph Nodes:\\nA;B\\n\\nGraph Edges:\\n1. A --> B'",
        read=read_tetrad,
        types=(str,),
        recognise=is_tetrad,
        write_text=write_tetrad,
    )
)

# ---- XML -----------------------------------------------------------------------------------------------------------

_XML = re.compile(r"\s*+(?:<\?xml[^>]*\?>\s*+)?(?:<!--.*?-->\s*+)*+<graph\s*+>\s*+<variables\b", re.S)


def read_tetrad_xml(text: str) -> Edges:
    """Read Tetrad's XML: a list of variables, and edges as in its text."""
    root, lines = parse_xml(text, "XML of Tetrad")
    edges = MarkedEdges()
    for variable in root.iterfind("variables/variable"):
        name = (variable.text or "").strip()
        if not name or name in edges.position:
            raise ValueError(f"line {lines[variable]}: found {name!r:.60}, expected a name that no other variable has")
        edges.node(name)
    names = frozenset(map(str, edges.position))
    for edge in root.iterfind("edges/edge"):
        _read_edge((edge.text or "").strip(), edges, names, lines[edge])
    return edges.found()


TETRAD_XML = register_encoding(
    Encoding(
        name="Tetrad XML",
        tool="Tetrad",
        cells="Tetrad XML",
        meaning="variables, then edges with the marks of Tetrad's text",
        mark="an edge i -> j is <edge>i --&gt; j</edge>",
        example="'<graph><variables><variable>A</variable></variables><edges/></graph>'",
        read=read_tetrad_xml,
        types=(str,),
        recognise=lambda text: bool(_XML.match(text)),
    )
)

# ---- JSON ----------------------------------------------------------------------------------------------------------

_ENDPOINTS = {"tail": TAIL, "arrow": ARROW, "circle": CIRCLE, "none": TAIL}
_EDGE_KEYS = "edges|edgesSet|links"
_GAP = re.compile(r"[\s,]*+")


def is_json(text: str) -> bool:
    """Return whether a text begins as a JSON object with edges."""
    return text.lstrip()[:1] == "{" and bool(re.search(rf'"(?:nodes|{_EDGE_KEYS})"\s*:', text[:100_000]))


def read_json(text: str) -> Edges:
    """Read a JSON object with nodes and edges, in the ways of Tetrad, caugi and networkx."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as fault:
        raise ValueError(f"line {fault.lineno}: found no JSON: {fault.msg}") from None
    except RecursionError:
        raise ValueError("found JSON that is nested too deeply") from None
    edges_of = next((found[key] for key in _EDGE_KEYS.split("|") if key in found), None)
    if not isinstance(edges_of, list) or not isinstance(found.get("nodes", []), list):
        raise ValueError("found a JSON object without lists of nodes and edges")
    edges = MarkedEdges()
    for k, node in enumerate(found.get("nodes", [])):
        try:
            name = _json_name(node)
            if name in edges.position:
                raise ValueError(f"found the node {name!r} twice")
        except ValueError as fault:
            raise ValueError(f"{_line_of(text, 'nodes', k, node)}{fault}") from None
        edges.node(name)
    n_nodes = len(edges.position)
    for k, edge in enumerate(edges_of):
        try:
            edges.add(*_json_edge(edge, found.get("directed", True)))
            if n_nodes and len(edges.position) > n_nodes:
                absent = list(edges.position)[n_nodes]
                raise ValueError(f"found an edge of the node {absent!r}, which is not among the nodes")
        except ValueError as fault:
            raise ValueError(f"{_line_of(text, _EDGE_KEYS, k, edge)}edge {k + 1}: {fault}") from None
    return edges.found(is_open=not n_nodes)


def _line_of(text: str, keys: str, k: int, value: Any) -> str:
    """Return the line of the value in place `k` of a list in JSON, for messages; none if it is not where it seems."""
    decoder, heading = json.JSONDecoder(), re.search(rf'"(?:{keys})"\s*:\s*\[', text)
    at, start, found = (heading.end() if heading is not None else len(text)), 0, None
    for _ in range(k + 1):
        gap = _GAP.match(text, at)
        start = at if gap is None else gap.end()
        try:
            found, at = decoder.raw_decode(text, start)
        except json.JSONDecodeError:
            return ""
    return f"line {text.count(chr(10), 0, start) + 1}: " if found == value else ""


def _json_name(node: Any) -> str:
    if isinstance(node, dict):
        node = next((node[key] for key in ("name", "id", "label") if key in node), node)
    if isinstance(node, int) and not isinstance(node, bool):
        node = str(node)
    if not isinstance(node, str):
        raise ValueError(f"found the node {node!r:.60}, expected a name")
    return node


def _json_edge(edge: Any, directed: Any) -> tuple[str, str, int, int]:
    if not isinstance(edge, dict):
        raise ValueError(f"found {edge!r:.60}, expected an object")
    for first, second in (("from", "to"), ("node1", "node2"), ("source", "target")):
        if first in edge and second in edge:
            break
    else:
        raise ValueError(f"found the keys {sorted(edge)!r:.60}, expected from and to, or source and target")
    a, b = _json_name(edge[first]), _json_name(edge[second])
    if "endpoint1" in edge and "endpoint2" in edge:
        ends = [_json_name(edge[key]).lower() for key in ("endpoint1", "endpoint2")]
        if not {*ends} <= {*_ENDPOINTS}:
            raise ValueError(f"found the endpoints {ends!r:.60}, expected TAIL, ARROW or CIRCLE")
        return a, b, _ENDPOINTS[ends[0]], _ENDPOINTS[ends[1]]
    if "weight" in edge and edge["weight"] != 1:
        raise ValueError(f"found the weight {edge['weight']!r:.60}; cut weights by size, and write edges without")
    sign = next((edge[key] for key in ("edge", "type") if key in edge), "-->" if directed else "---")
    sign = (
        {"directed": "-->", "undirected": "---", "bidirected": "<->"}.get(sign, sign) if isinstance(sign, str) else ""
    )
    if sign not in MARKS_OF_SIGN:
        raise ValueError(f"found the edge {sign!r:.60}, expected one of {', '.join(MARKS)}")
    return a, b, *MARKS_OF_SIGN[sign]


def write_json(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as a JSON object with nodes, and edges as caugi has them."""
    edges = [
        {"from": names[i], "edge": SIGNS[at_i, at_j], "to": names[j]} for i, j, at_i, at_j in sorted(map(forward, ends))
    ]
    return json.dumps({"nodes": list(names), "edges": edges}, ensure_ascii=False)


JSON = register_encoding(
    Encoding(
        name="JSON",
        tool="Tetrad, caugi, networkx (node_link_data)",
        cells="JSON",
        meaning="edges with from, edge (-->, ---, <->, o->, o-o, o--) and to; node1, node2, endpoint1, endpoint2; or "
        "source and target",
        mark="an edge i -> j has from i and to j, or source i and target j",
        example='\'{"nodes": ["A", "B"], "edges": [{"from": "A", "edge": "o->", "to": "B"}]}\'',
        read=read_json,
        types=(str,),
        recognise=is_json,
        write_text=write_json,
    )
)
