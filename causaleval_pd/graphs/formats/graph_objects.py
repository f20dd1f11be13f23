"""Graph objects of causal-learn, gCastle, lingam, pywhy-graphs and ananke as cells, by methods and attributes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...contract.encoding import Edges, Encoding, Matrix
from ..edge_marks import MarkedEdges, explain_matrix
from ..kernels.planes import ARROW, CIRCLE, TAIL
from .matrices import CAUSAL_LEARN_MATRIX, GCASTLE, LINGAM, read_matrix
from .networkx_graph import named_class

_CAUSAL_LEARN_MARK = "an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i)"


def _endpoints(cell: Any) -> Any:
    """Return the endpoint matrix of a graph of causal-learn with the names of its nodes, None for any other object."""
    graph = getattr(cell, "G", cell)
    matrix = getattr(graph, "graph", None)
    if not isinstance(matrix, np.ndarray):
        return None
    nodes = getattr(graph, "nodes", None)
    if isinstance(nodes, (list, tuple)):
        # not get_node_names(): that of causal-learn's Dag returns methods
        return Matrix(tuple(node.get_name() if hasattr(node, "get_name") else node for node in nodes), matrix)
    names = getattr(graph, "get_node_names", None)
    return Matrix(tuple(names()), matrix) if callable(names) else None


def _graph_of_result(cell: Any) -> Any:
    """Return the graph of what FCI and GES return: a tuple with the graph first, a dict with the graph as "G"."""
    return cell.get("G") if isinstance(cell, dict) else cell[0] if cell else None


def _read_result(cell: Any) -> Any:
    """Read the graph of what FCI and GES return; that of a tuple, by FCI, is a PAG also without circles."""
    matrix = _endpoints(_graph_of_result(cell))
    return matrix if isinstance(cell, dict) else matrix._replace(kind="pag")


def _castle_matrix(cell: Any) -> Any:
    """Return the matrix of a learner of gCastle or one that it returned, None for any other object."""
    matrix = getattr(cell, "causal_matrix", None)
    if isinstance(matrix, np.ndarray):
        return matrix
    is_castle = isinstance(cell, np.ndarray) and type(cell).__module__.partition(".")[0] == "castle"
    return cell if is_castle else None


def _lingam_matrix(cell: Any) -> Any:
    """Return the matrix of a fitted model of lingam, None for any other object."""
    matrix = getattr(cell, "adjacency_matrix_", None)
    return matrix if isinstance(matrix, np.ndarray) and matrix.ndim == 2 else None


def _read_lingam(cell: Any) -> Matrix:
    """Read the matrix of a model; weights are refused, as it is for the user to cut them."""
    matrix = _lingam_matrix(cell)
    if not np.isin(matrix, (0, 1)).all():
        raise ValueError(
            f"found {type(cell).__name__}, a model with weights; pass its graph, as abs(model.adjacency_matrix_) > 0.3 "
            "with encoding='lingam' and nodes= the names of the columns"
        )
    return read_matrix(matrix)


_TYPES = {"directed", "bidirected", "undirected", "circle"}


def read_pywhy(cell: Any) -> Edges:
    """Read a graph of pywhy-graphs: a directed edge is an arrow at its target, a circle edge a circle there."""
    graphs = dict(cell.get_graphs())
    edges = MarkedEdges(tuple(cell.nodes))
    unknown = next((name for name, graph in graphs.items() if name not in _TYPES and graph.number_of_edges()), None)
    if unknown is not None:
        raise ValueError(f"found edges of the type {unknown!r}, expected {', '.join(sorted(_TYPES))}")
    heads: dict[tuple[Any, Any], int] = {}
    for name, mark in (("directed", ARROW), ("circle", CIRCLE)):
        for u, v in graphs[name].edges() if name in graphs else ():
            if heads.setdefault((u, v), mark) != mark:
                raise ValueError(f"found an arrow and a circle at {v!r} of the edge {u!r}, {v!r}")
    for (u, v), mark in heads.items():
        if mark == ARROW and heads.get((v, u)) == ARROW:
            raise ValueError(f"found arrows {u!r} -> {v!r} and {v!r} -> {u!r}; a bidirected edge is of its own type")
        edges.add(u, v, heads.get((v, u), TAIL), mark)
    for name, mark in (("bidirected", ARROW), ("undirected", TAIL)):
        for u, v in graphs[name].edges() if name in graphs else ():
            edges.add(u, v, mark, mark)
    return edges.found()._replace(kind=named_class(cell))


def _read_ananke(cell: Any) -> Edges:
    edges = MarkedEdges(tuple(cell.vertices))
    for name, marks in (("di_edges", (TAIL, ARROW)), ("bi_edges", (ARROW, ARROW)), ("ud_edges", (TAIL, TAIL))):
        for edge in getattr(cell, name, ()):
            edges.add(edge[0], edge[1], *marks)
    return edges.found()._replace(kind=named_class(cell))


ENCODINGS = (
    Encoding(
        name="causal-learn",
        tool="causal-learn",
        meaning="-1 a tail, 1 an arrow, 2 a circle, at the row's node; 4 with 5 both '->' and '<->'",
        mark=_CAUSAL_LEARN_MARK,
        example="causallearn.search.ConstraintBased.PC.pc(data)",
        read=_endpoints,
        recognise=lambda cell: _endpoints(cell) is not None,
        codes=CAUSAL_LEARN_MATRIX.codes,
        explain=partial(explain_matrix, CAUSAL_LEARN_MATRIX),
    ),
    Encoding(
        name="causal-learn result",
        tool="causal-learn (fci, ges)",
        meaning="as causal-learn, of the graph in it; that of fci is a PAG, or mixed",
        mark=_CAUSAL_LEARN_MARK,
        example="causallearn.search.ConstraintBased.FCI.fci(data)",
        read=_read_result,
        types=(tuple, dict),
        recognise=lambda cell: _endpoints(_graph_of_result(cell)) is not None,
        codes=CAUSAL_LEARN_MATRIX.codes,
        explain=partial(explain_matrix, CAUSAL_LEARN_MATRIX),
    ),
    Encoding(
        name="gCastle result",
        tool="gCastle",
        meaning="as gCastle, of the learner's causal_matrix or of that matrix with its names",
        mark=GCASTLE.mark,
        example="castle.algorithms.PC() after learn(data)",
        read=lambda cell: read_matrix(_castle_matrix(cell)),
        recognise=lambda cell: _castle_matrix(cell) is not None,
        codes=GCASTLE.codes,
        explain=partial(explain_matrix, GCASTLE),
    ),
    Encoding(
        name="lingam result",
        tool="lingam, causal-learn's LiNGAM",
        meaning="as lingam, of the model's adjacency_matrix_; one with weights is refused",
        mark=LINGAM.mark,
        example="lingam.DirectLiNGAM() after fit(data)",
        read=_read_lingam,
        recognise=lambda cell: _lingam_matrix(cell) is not None,
        codes=LINGAM.codes,
        explain=LINGAM.explain,
    ),
    Encoding(
        name="pywhy-graphs",
        tool="pywhy-graphs, dodiscover",
        meaning="edges of the types directed, circle, bidirected and undirected; no arrow or circle is a tail",
        mark="an edge i -> j is the directed edge (i, j) without a circle edge (j, i)",
        example="pywhy_graphs.PAG()",
        read=read_pywhy,
        recognise=lambda cell: callable(getattr(type(cell), "get_graphs", None)) and hasattr(type(cell), "nodes"),
    ),
    Encoding(
        name="ananke",
        tool="ananke",
        meaning="di_edges directed, bi_edges bidirected, ud_edges undirected",
        mark="an edge i -> j is (i, j) in di_edges",
        example="ananke.graphs.ADMG(vertices, di_edges, bi_edges)",
        read=_read_ananke,
        recognise=lambda cell: (
            isinstance(getattr(cell, "vertices", None), dict)
            and isinstance(getattr(cell, "di_edges", None), (list, set))
        ),
    ),
)
