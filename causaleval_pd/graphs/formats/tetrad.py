"""Text of Tetrad as cells: a line of nodes, then a numbered edge a line; py-tetrad and causal-learn write it too."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import MARKS, SIGNS, MarkedEdges, forward

_NODES = re.compile(r"Graph Nodes:(.*)")
_EDGES = re.compile(r"Graph Edges:\s*$")
_NUMBER = re.compile(r"\d+\.$")
#: what follows the nodes of an edge: how certain it is, and shares of bootstrap samples
_ATTRIBUTE = re.compile(r"(?:dd|nl|pd|pl)$|\[|\S*:|-?\d")


def is_tetrad(text: str) -> bool:
    """Return whether a text has Tetrad's heading of nodes or edges."""
    return bool(re.match(r"\s*Graph (?:Nodes|Edges):", text))


def read_tetrad(text: str) -> Edges:
    """Read Tetrad's text; attributes of edges and sections after them are not part of the graph."""
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
