"""Bytes of graphs that declare a class which they need not have."""

import causaleval_pd as ce
from causaleval_pd.graphs.kernels.planes import KINDS
from causaleval_pd.graphs.packing import TEXT_WORDS, cell_text, contents

TEXT_BYTES = 8 * TEXT_WORDS


def declared(graph: str, kind: int) -> bytes:
    """Return the packed bytes of a graph, made to declare a class."""
    one = ce.graph_column([graph], kind=None if "o-" not in graph else "mixed")
    raw = bytearray(one.iloc[0])
    raw[TEXT_BYTES + 2] = kind
    raw[:TEXT_BYTES] = cell_text(kind, int(one.graph.n_nodes.item()), int(one.graph.n_edges.item()))
    return bytes(raw)


def declared_kind(raw: bytes) -> str:
    return KINDS[contents(raw)[2]]
