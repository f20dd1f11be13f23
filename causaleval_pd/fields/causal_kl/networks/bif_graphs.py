"""The graphs of networks in BIF as cells of graph columns; their probabilities are read, and left out."""

from __future__ import annotations

import re

from ....contract.encoding import Edges, Encoding, register_encoding
from .bif import read_bif

_NETWORK = re.compile(r"(?>(?:\s|//[^\n]*\n|/\*.*?\*/)*)network\b[^{};\n<>-]*+\s*+\{", re.S)


def read_graph(text: str) -> Edges:
    """Read the graph of a Bayesian network."""
    structure = read_bif(text).structure
    if not structure.nodes:
        raise ValueError("found a network without variables")
    return Edges.from_arcs(structure.nodes, sorted(structure.arcs))


BIF = register_encoding(
    Encoding(
        name="BIF",
        tool="bnlearn, pgmpy, pyagrum",
        cells="BIF",
        meaning="the graph of a Bayesian network: probability ( C | A, B ) the node C with the parents A and B",
        mark="an edge i -> j is the i behind the bar of j",
        example="'network n {} variable A { type discrete [ 2 ] { y, n }; } probability ( A ) { table 0.5, 0.5; }'",
        read=read_graph,
        types=(str,),
        recognise=lambda text: bool(_NETWORK.match(text)),
        # a column of such texts is one of networks
        is_likely=lambda text: False,
    )
)
