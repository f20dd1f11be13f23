"""Graphs as values and as columns of canonical bytes."""

from ..contract.encoding import AmbiguousEncodingError
from .column import as_graph, coerce_graphs, graph_column, is_graph_column
from .graph import Graph
from .kernels.planes import KINDS

__all__ = ["KINDS", "AmbiguousEncodingError", "Graph", "as_graph", "coerce_graphs", "graph_column", "is_graph_column"]
