"""Formats of graphs, one module per tool or kind of file: what a cell looks like and how it is read.

Every module of this folder declares its encodings (`contract.encoding`) as `ENCODINGS`; they are registered here, with
cells of our own: edge strings, `Graph` values and packed bytes. To add a format, add its module here, and its test.
"""

from ...contract.encoding import Encoding, register_encoding
from ..edge_strings import TEXT_OF_OBJECT, parse_edges, write_graph, write_names
from ..graph import Graph
from ..packing import FORMAT
from . import edge_list, graph_objects, graph_text, json_graphs, matrices

_OWN = (
    Encoding(
        name="edge string",
        tool="causaleval_pd",
        meaning="A -> B and B <- A directed, A -- B undirected, A <-> B, A o-> B and A o-o B with latent confounders, "
        "chains A -> B -- C, isolated nodes as bare names",
        mark="an edge i -> j is the arrow between the names",
        example="'A -> B; B -- C; D'",
        read=parse_edges,
        types=(str,),
        is_likely=lambda text: (
            any(arrow in text for arrow in ("->", "<-", "--", " o-o ")) or bool(TEXT_OF_OBJECT.match(text))
        ),
        write_text=lambda names, ends: write_graph(write_names(names), ends),
    ),
    Encoding(
        name="packed",
        tool="causaleval_pd",
        cells="Graph or packed bytes",
        meaning="a line of text, class and node names, then two bits per pair of nodes",
        mark="an edge i -> j is the bit of its pair in plane 0 if i < j, else in plane 1",
        example="ce.as_graph('A -> B'), ce.as_graph('A -> B').to_bytes()",
        read=lambda cell: cell.to_bytes() if isinstance(cell, Graph) else cell,
        types=(Graph, bytes),
        is_likely=lambda cell: isinstance(cell, Graph) or FORMAT.holds(cell),
    ),
)

_TOOLS = (edge_list, matrices, graph_objects, graph_text, json_graphs)
for _encoding in (*(encoding for tool in _TOOLS for encoding in tool.ENCODINGS), *_OWN):
    register_encoding(_encoding)
