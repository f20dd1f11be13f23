"""Texts of GraphML and GML as cells, with the marks of their edges where they declare them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, MARKS_OF_SIGN, TAIL, MarkedEdges, forward
from ..weights import refuse_numbers

_ENDPOINTS = {"tail": TAIL, "none": TAIL, "arrow": ARROW, "circle": CIRCLE}
_WORDS = {TAIL: "tail", ARROW: "arrow", CIRCLE: "circle"}
_TYPES = {"directed": (TAIL, ARROW), "undirected": (TAIL, TAIL), "bidirected": (ARROW, ARROW)} | MARKS_OF_SIGN

_XML = re.compile(r"\s*+(?:<\?xml[^>]*\?>\s*+)?(?:<!--.*?-->\s*+)*+<graphml[\s>]", re.S)
_GML = re.compile(
    r"(?:\s|#[^\n]*\n|(?:Creator|Version|comment)\s++(?:\"[^\"]*\"|[^\s\"]++))*+graph\s*+\[\s*+"
    r"(?:(?:directed|multigraph|id)\s*+\d|(?:node|edge)\s*+\[|(?:name|label|comment|creator)\s*+\")",
    re.I,
)
_GML_TOKEN = re.compile(r'(?P<blank>\s+|#[^\n]*)|"(?P<string>[^"]*)"|(?P<mark>[\[\]])|(?P<word>[^\s\[\]"]+)')
#: a character reference, which has a semicolon; without one it is text
_REFERENCE = re.compile(r"&(?:[0-9A-Za-z]+|#(?:[0-9]+|x[0-9A-Fa-f]+));")
#: ids that igraph writes for nodes whose names are data
_NUMBERED = re.compile(r"n\d++")
_DEEPEST = 50
#: data of edges that are read
_READ = ("source", "target", "weight", "sourceEndpoint", "targetEndpoint", "type", "label")

#: an edge of a file: its place for messages, source and target, data by key, and whether it is directed
Arc = tuple[str, Any, Any, dict[Any, str], bool]
Lines = dict[Element, int]


def parse_xml(text: str, what: str) -> tuple[Element, Lines]:
    r"""Return the root of a text in XML, tags without their namespace, and the line of each element.

    Parameters
    ----------
    text : str
        The text.
    what : str
        What is expected, for messages.

    Returns
    -------
    root : Element
        The root.
    lines : dict
        The line in which each element begins, from 1.

    Raises
    ------
    ValueError
        If the text is not well-formed, or declares entities; names the line.

    Examples
    --------
    >>> root, lines = parse_xml("<graph>\n<node id='A'/></graph>", "a graph")
    >>> lines[root[0]], root[0].get("id")
    (2, 'A')
    """
    builder, lines = TreeBuilder(), Lines()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(_local(tag), attributes)] = parser.CurrentLineNumber

    def refuse(*_: Any) -> NoReturn:
        raise ValueError(f"line {parser.CurrentLineNumber}: found entities in {what}, which are not read")

    parser.StartElementHandler, parser.CharacterDataHandler = start, builder.data
    parser.EndElementHandler = lambda tag: builder.end(_local(tag))
    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as fault:
        raise ValueError(f"line {fault.lineno}: found no {what}: {fault}") from None
    return builder.close(), lines


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def read_graphml(text: str) -> Edges:
    """Read GraphML; an edge may have the data sourceEndpoint and targetEndpoint, or type."""
    root, lines = parse_xml(text, "GraphML")
    keys = {key.get("id"): key.get("attr.name") for key in root.iterfind("key")}
    graph = _only_graph(root, "GraphML")
    directed = graph.get("edgedefault", "directed") != "undirected"
    edges = MarkedEdges()
    for node in graph.iterfind("node"):
        name = node.get("id")
        if not name or name in edges.position:
            raise ValueError(f"line {lines[node]}: found the node {name!r:.60}, expected a name that no other node has")
        edges.node(name)
    arcs: list[Arc] = []
    for edge in graph.iterfind("edge"):
        data = {keys.get(x.get("key"), x.get("key")): (x.text or "").strip() for x in edge.iterfind("data")}
        given = {"true": True, "false": False}.get(edge.get("directed", ""), directed)
        arcs.append((f"line {lines[edge]}", edge.get("source"), edge.get("target"), data, given))
    found = _read_edges(edges, arcs)
    return found._replace(labels=_names_of_igraph(graph, keys) or found.labels)


def _names_of_igraph(graph: Element, keys: Mapping[str | None, str | None]) -> tuple[str, ...] | None:
    """Return the names that igraph writes as data of the nodes n0, n1, ...; None for other graphs."""
    names = []
    for node in graph.iterfind("node"):
        name = next((x.text for x in node.iterfind("data") if keys.get(x.get("key")) == "name"), None)
        if not name or not _NUMBERED.fullmatch(node.get("id", "")):
            return None
        names.append(name)
    if len({*names}) < len(names):
        raise ValueError("found two nodes with one name in GraphML; give each a name of its own")
    return tuple(names)


def _only_graph(root: Element, what: str) -> Element:
    graphs = root.findall("graph")
    if len(graphs) != 1:
        raise ValueError(f"found {len(graphs)} graphs in {what}, expected one")
    return graphs[0]


def _read_edges(edges: MarkedEdges, arcs: Sequence[Arc]) -> Edges:
    """Add edges with their data; without data, the edges of both directions are an undirected one."""
    refuse_numbers((data for _, _, _, data, _ in arcs), _READ)
    plain = {(a, b) for _, a, b, data, directed in arcs if directed and not _declares_marks(data)}
    for where, a, b, data, directed in arcs:
        for name in (a, b):
            if name not in edges.position:
                raise ValueError(f"{where}: found the node {name!r:.60}, which is not among the nodes")
        both = (TAIL, TAIL) if not directed or (b, a) in plain else (TAIL, ARROW)
        try:
            edges.add(a, b, *(_marks_of(data) or both))
        except ValueError as fault:
            raise ValueError(f"{where}: {fault}") from None
    return edges.found()


def _declares_marks(data: dict[Any, str]) -> bool:
    return any(key in data for key in ("sourceEndpoint", "targetEndpoint", "type"))


def _marks_of(data: dict[Any, str]) -> tuple[int, int] | None:
    """Return the marks that the data of an edge declare, at its source and target."""
    if "weight" in data and data["weight"] not in ("1", "1.0"):
        raise ValueError(f"found the weight {data['weight'][:60]}; cut weights by size, and write edges without")
    if "sourceEndpoint" in data or "targetEndpoint" in data:
        source, target = (data.get(key, "").lower() for key in ("sourceEndpoint", "targetEndpoint"))
        if source not in _ENDPOINTS or target not in _ENDPOINTS:
            raise ValueError(f"found the endpoints {source[:60]!r} and {target[:60]!r}, expected tail, arrow or circle")
        return _ENDPOINTS[source], _ENDPOINTS[target]
    if "type" in data:
        if data["type"] not in _TYPES:
            raise ValueError(f"found the type {data['type'][:60]!r}, expected one of {', '.join(_TYPES)}")
        return _TYPES[data["type"]]
    return None


def write_graphml(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as GraphML; marks are the data sourceEndpoint and targetEndpoint."""
    odd = next((x for x in names if re.search(r"[\x00-\x1f\x7f\ufffe\uffff]", x)), None)
    if odd is not None:
        raise ValueError(f"GraphML cannot hold the node name {odd!r}; rename the node")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        '<key id="sourceEndpoint" for="edge" attr.name="sourceEndpoint" attr.type="string"/>',
        '<key id="targetEndpoint" for="edge" attr.name="targetEndpoint" attr.type="string"/>',
        '<graph edgedefault="directed">',
        *(f"<node id={quoteattr(name)}/>" for name in names),
    ]
    for i, j, a, b in sorted(map(forward, ends)):
        data = "".join(
            f'<data key="{key}">{escape(_WORDS[mark])}</data>'
            for key, mark in (("sourceEndpoint", a), ("targetEndpoint", b))
        )
        lines.append(f"<edge source={quoteattr(names[i])} target={quoteattr(names[j])}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>"])


def read_gml(text: str) -> Edges:
    """Read GML; the label names a node, else its name, which igraph writes, else its id."""
    nodes: dict[str, str] = {}
    found: list[tuple[int, dict[str, str]]] = []
    directed, n_graphs = False, 0
    for path, line, fields in _gml_lists(text):
        if path == ("graph",):
            n_graphs += 1
            if n_graphs > 1:
                raise ValueError(f"line {line}: found a second graph; a file holds one")
            directed = fields.get("directed", "0") == "1"
        elif path == ("graph", "node"):
            if "id" not in fields or fields["id"] in nodes:
                raise ValueError(f"line {line}: found a node without an id that no other node has")
            nodes[fields["id"]] = fields.get("label", fields.get("name", fields["id"]))
        elif path == ("graph", "edge"):
            found.append((line, fields))
    if len({*nodes.values()}) < len(nodes):
        raise ValueError("found two nodes with one label in GML; labels name the nodes")
    arcs: list[Arc] = []
    for line, fields in found:
        for key in ("source", "target"):
            if fields.get(key) not in nodes:
                raise ValueError(f"line {line}: found the {key} {fields.get(key)!r:.60}, which is not among the nodes")
        a, b = nodes[fields["source"]], nodes[fields["target"]]
        arcs.append((f"line {line}", a, b, dict[Any, str](fields), directed))
    return _read_edges(MarkedEdges(list(nodes.values())), arcs)


def _gml_value(token: re.Match[str]) -> str:
    """Return a value, with the characters of a text that are written by their numbers or names."""
    if token.lastgroup != "string":
        return token.group()
    return _REFERENCE.sub(lambda found: html.unescape(found.group()), token.group("string"))


def _gml_lists(text: str) -> Iterator[tuple[tuple[str, ...], int, dict[str, str]]]:
    """Yield the lists of a GML text as they close: the keys that lead to one, its line, and its values by key."""
    open_lists: list[tuple[str, int, dict[str, str]]] = []
    key, line, at = "", 1, 0
    while at < len(text):
        token = _GML_TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"line {line}: cannot read {text[at : at + 20]!r}")
        at = token.end()
        line += token.group().count("\n")
        if token.lastgroup == "blank":
            continue
        if token.lastgroup == "mark" and token.group() == "[":
            if not key or len(open_lists) >= _DEEPEST:
                raise ValueError(f"line {line}: found '[', expected a key before it, nested at most {_DEEPEST} deep")
            open_lists.append((key, line, {}))
            key = ""
        elif token.lastgroup == "mark":
            if key or not open_lists:
                raise ValueError(f"line {line}: found ']', expected a key with a value")
            path = tuple(name for name, _, _ in open_lists)
            yield path, *open_lists.pop()[1:]
        elif key:
            if open_lists:
                open_lists[-1][2].setdefault(key, _gml_value(token))
            key = ""
        elif token.lastgroup == "word":
            key = token.group()
        else:
            raise ValueError(f"line {line}: found {token.group()[:60]!r}, expected a key")
    if key or open_lists:
        raise ValueError(f"line {line}: found the end of the text, expected ']'")


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
        recognise=lambda text: bool(_XML.match(text)),
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
