"""Edge strings as cells: ``"A -> B; B -- C; D"``, ``"A o-> B; B <-> C"``."""

from __future__ import annotations

from ...contract.encoding import Edges, Encoding, register_encoding
from ..edge_strings import TEXT_OF_OBJECT, parse_edges


def read_edge_string(text: str) -> Edges:
    """Read an edge string; blank text names no nodes, ``{}`` is the graph without nodes."""
    names, arcs, doubtful, ends = parse_edges(text)
    return Edges(names if names or text.strip() == "{}" else None, arcs, True, doubtful, ends)


def _is_likely(text: str) -> bool:
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
        is_likely=_is_likely,
    )
)
