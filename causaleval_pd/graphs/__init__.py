"""Graphs as values and as columns of canonical bytes."""

from .column import as_graph, coerce_graphs, graph_column, is_graph_column
from .formats.formats import AmbiguousEncodingError
from .graph import KINDS, Graph

__all__ = ["KINDS", "AmbiguousEncodingError", "Graph", "as_graph", "coerce_graphs", "graph_column", "is_graph_column"]
