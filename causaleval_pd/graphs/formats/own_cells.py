"""Cells of our own: edge strings (``"A -> B; B -- C; D"``, ``"A o-> B; B <-> C"``), `Graph` values and packed bytes."""

from __future__ import annotations

from collections.abc import Sequence

from ...contract.encoding import Edges, Encoding, Ends, register_encoding
from ..edge_marks import ARROW, CIRCLE, TAIL
from ..edge_strings import TEXT_OF_OBJECT, parse_edges, write_graph, write_mixed_graph, write_names
from ..graph import Graph
from ..packing.header import is_cell


def read_edge_string(text: str) -> Edges:
    """Read an edge string; ``{}`` is the graph without nodes."""
    names, arcs, doubtful, ends = parse_edges(text)
    return Edges(names if names or text.strip() == "{}" else None, arcs, True, doubtful, ends)


def write_edge_string(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as an edge string."""
    written = write_names(names)
    if any(CIRCLE in edge[2:] or edge[2:] == (ARROW, ARROW) for edge in ends):
        return write_mixed_graph(written, ends)
    arcs = [arc for i, j, at_i, at_j in ends for arc, mark in (((i, j), at_i), ((j, i), at_j)) if mark == TAIL]
    return write_graph(written, arcs)


def _is_likely_text(text: str) -> bool:
    return any(arrow in text for arrow in ("->", "<-", "--", " o-o ")) or bool(TEXT_OF_OBJECT.match(text))


EDGE_STRING = register_encoding(
    Encoding(
        name="edge string",
        tool="causaleval_pd",
        cells="edge string",
        meaning="A -> B and B <- A directed, A -- B undirected, A <-> B, A o-> B and A o-o B with latent confounders, "
        "chains A -> B -- C, isolated nodes as bare names",
        mark="an edge i -> j is the arrow between the names",
        example="'A -> B; B -- C; D'",
        read=read_edge_string,
        types=(str,),
        is_likely=_is_likely_text,
        write_text=write_edge_string,
    )
)

# ---- packed graphs -------------------------------------------------------------------------------------------------


def read_packed(cell: Graph | bytes) -> bytes:
    """Return the canonical bytes."""
    return cell.to_bytes() if isinstance(cell, Graph) else cell


def _is_likely_graph(cell: Graph | bytes) -> bool:
    return isinstance(cell, Graph) or is_cell(cell)


PACKED = register_encoding(
    Encoding(
        name="packed",
        tool="causaleval_pd",
        cells="Graph or packed bytes",
        meaning="a line of text, class and node names, then two bits a pair of nodes",
        mark="an edge i -> j is the bit of its pair in plane 0 if i < j, else in plane 1",
        example="ce.as_graph('A -> B'), ce.as_graph('A -> B').to_bytes()",
        read=read_packed,
        types=(Graph, bytes),
        is_likely=_is_likely_graph,
    )
)
