"""Graphs as values and as columns of canonical bytes."""

from ..contract.encoding import AmbiguousEncodingError
from .column import as_graph, graph_column
from .graph import Graph
from .kernels.planes import KINDS

__all__ = ["KINDS", "AmbiguousEncodingError", "Graph", "as_graph", "graph_column"]
