"""Formats of graphs, one module per tool: what a cell looks like and how it is read.

Every module of this folder declares its encodings (`contract.encoding`) as `ENCODINGS`; they are registered here. To
add a format, add its module here, and its test.
"""

from ...contract.encoding import register_encoding
from . import edge_list, graph_objects, graph_text, json_graphs, matrices, networkx_graph, own_cells

for _module in (edge_list, matrices, networkx_graph, graph_objects, graph_text, json_graphs, own_cells):
    for _encoding in _module.ENCODINGS:
        register_encoding(_encoding)
