"""`Graph` values and the canonical bytes of packed columns as cells."""

from __future__ import annotations

from ...contract.encoding import Encoding, register_encoding
from ..graph import Graph
from ..header import is_cell


def read_packed(cell: Graph | bytes) -> bytes:
    """Return the canonical bytes."""
    return cell.to_bytes() if isinstance(cell, Graph) else cell


def _is_likely(cell: Graph | bytes) -> bool:
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
        is_likely=_is_likely,
    )
)
