"""Graphs of Python's tools as cells, by methods and attributes.

Of networkx, in any class, with marks of pgmpy, and the texts that it reads, GraphML and GML; of causal-learn, gCastle,
lingam, pywhy-graphs and ananke.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...contract.encoding import Edges, Encoding, Ends, Matrix, Pair
from ..edge_marks import (
    MARK_OF_WORD,
    MARKS_OF_DIR,
    MARKS_OF_NAME,
    MarkedEdges,
    explain_matrix,
    forward,
    refuse_marks,
    refuse_names,
)
from ..kernels.planes import ARROW, CIRCLE, TAIL
from ..weights import explain_weights, refuse_numbers
from .matrices import CAUSAL_LEARN_MATRIX, GCASTLE, LINGAM, read_matrix

#: attributes that declare the marks at the source and the target of an edge, or both by one word, in the order of trust
_KEYS_OF_ENDS = (("sourceEndpoint", "targetEndpoint"), ("arrowtail", "arrowhead"))
_KEYS = (*_KEYS_OF_ENDS, ("type",), ("kind",), ("edge_type",), ("dir",))
_WORDS = MARKS_OF_NAME | dict.fromkeys(("bi", "bi-directed", "bidirectional"), (ARROW, ARROW))
_ENDPOINTS = MARK_OF_WORD | {"normal": ARROW, "odot": CIRCLE}
_MARKS = {"-": TAIL, ">": ARROW, "o": CIRCLE}

#: tools whose classes of objects name classes of graphs, and these by name; a DAG may be a subclass of ADMG, and a PAG
#: without circles is compared with the PAG of a truth, though it may be a MAG too
_TOOLS = ("pgmpy", "pywhy_graphs", "ananke")
_CLASSES = {"MAG": "mag", "PAG": "pag", "ADMG": "admg", "DAG": None}

#: larger numbers may not fit a float
_HUGE = 1e300


def named_class(graph: Any) -> str | None:
    """Return the class of graphs that the class of an object of pgmpy, pywhy-graphs or ananke names."""
    names = (x.__name__ for x in type(graph).__mro__ if x.__module__.partition(".")[0] in _TOOLS)
    return next((_CLASSES[name] for name in names if name in _CLASSES), None)


def read_networkx(graph: Any) -> Edges:
    """Read a networkx graph of any class; two arcs of a pair are undirected unless attributes declare their marks."""
    labels = tuple(graph.nodes)
    edges = MarkedEdges(labels)
    position = edges.position
    arcs: list[Pair] = []
    typed: Ends = []
    attributed: list[Mapping[str, Any]] = []
    multigraph = graph.is_multigraph()
    for u, neighbours in graph.adjacency():
        for v, data in neighbours.items():
            arc, every = (position[u], position[v]), [data]
            if multigraph:  # whose keys may be types
                every = [edge if isinstance(key, int) else {"type": key, **edge} for key, edge in data.items()]
            declared = [_typed_marks(graph, u, v, edge) if edge else None for edge in every]
            if len(every) > 1 and not any(declared):
                raise ValueError(
                    f"found {len(every)} parallel edges between {u!r} and {v!r}, expected one; make the graph simple, "
                    "as in nx.DiGraph(graph)"
                )
            for marks, edge in zip(declared, every, strict=True):
                if edge:
                    attributed.append(edge)
                if marks is None:
                    refuse_marks(edge, ("weight",), "type")
                    arcs.append(arc)
                else:
                    typed.append((*arc, *marks))
    # texts are what drawings need
    numbered = ({key: x for key, x in edge.items() if not isinstance(x, str)} for edge in attributed)
    refuse_numbers(numbered, ("weight", "marks"))
    if any("weight" in edge for edge in attributed):
        _refuse_weights(graph)
    content = Edges.from_arcs(labels, arcs)
    if typed:
        try:
            for s, t, *both in [*content.ends, *typed]:
                edges.add(labels[s], labels[t], *both)
        except ValueError as fault:
            raise ValueError(f"found edges of different types or directions: {fault}") from None
        content = edges.found()
    return content._replace(kind=named_class(graph))


def _refuse_weights(graph: Any) -> None:
    """Refuse weights other than 1, as in a matrix."""
    edges = [(u, v, data["weight"]) for u, v, data in graph.edges(data=True) if data.get("weight") is not None]
    for u, v, weight in edges:
        if not isinstance(weight, (int, float, np.integer, np.floating, np.bool_)):
            raise TypeError(f"found the weight {weight!r} of the edge {u!r}, {v!r}, expected no weight or 1")
    odd = next((edge for edge in edges if edge[2] != 1), None)
    if odd is None:
        return
    position = {label: i for i, label in enumerate(graph.nodes)}
    source, target = ([position[edge[end]] for edge in edges] for end in (0, 1))
    mend = explain_weights(
        source, target, [weight if abs(weight) < _HUGE else math.inf for _, _, weight in edges], "weight"
    )
    raise ValueError(
        f"found the weight {odd[2]} of the edge {odd[0]!r}, {odd[1]!r}, expected no weight or 1; {mend}; if every edge "
        "counts, nx.set_edge_attributes(graph, 1, 'weight')"
    )


def _typed_marks(graph: Any, u: Any, v: Any, attributes: Mapping[str, Any]) -> Pair | None:
    """Return the marks at u and v that edge attributes declare, or None without such attributes."""
    by_node = attributes.get("marks")
    if isinstance(by_node, dict) and set(by_node) == {u, v}:
        if not all(isinstance(mark, str) and mark in _MARKS for mark in by_node.values()):
            raise ValueError(f"found the marks {by_node!r} of the edge {u!r}, {v!r}, expected '-', '>' and 'o'")
        return _MARKS[by_node[u]], _MARKS[by_node[v]]
    for keys in _KEYS:
        words = [attributes.get(key) for key in keys]
        if not any(word is not None for word in words):
            continue
        start = f"found the edge {u!r}, {v!r} with " + " and ".join(map("{}={!r}".format, keys, words))
        plain = [word.strip("'\" ").lower() if isinstance(word, str) else "" for word in words]
        if len(keys) == 1:
            marks = (MARKS_OF_DIR if keys == ("dir",) else _WORDS).get(plain[0])
            expected = (
                "'directed', 'undirected' or 'bidirected', or marks at both ends, as 'o->'; delete another attribute"
            )
        else:
            marks = (_ENDPOINTS[plain[0]], _ENDPOINTS[plain[1]]) if {*plain} <= {*_ENDPOINTS} else None
            expected = f"both to be one of {', '.join(_ENDPOINTS)}"
        if marks is None:
            raise ValueError(f"{start}, expected {expected}")
        if marks[0] != marks[1] and not graph.is_directed():
            raise ValueError(f"{start} in an undirected networkx graph, which keeps no direction; use a DiGraph")
        return marks
    return None


def is_networkx(cell: Any) -> bool:
    """Return whether a cell is a graph of networkx; if networkx is not imported, it is not."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(cell, networkx.Graph)


_GRAPHML = re.compile(r"\s*+(?:<\?xml[^>]*\?>\s*+)?(?>(?:<!--.*?-->\s*+)*)<graphml[\s>]", re.S)
_GML = re.compile(
    r"(?>(?:\s|#[^\n]*\n|(?:Creator|Version|comment)\s++(?:\"[^\"]*\"|[^\s\"]++))*)graph\s*+\[\s*+"
    r"(?:(?:directed|multigraph|id)\s*+\d|(?:node|edge)\s*+\[|(?:name|label|comment|creator)\s*+\")",
    re.I,
)
_WORD_OF_MARK = {TAIL: "tail", ARROW: "arrow", CIRCLE: "circle"}
#: ids that igraph and Gephi write for nodes whose names are data
_NUMBERED = re.compile(r"n?\d++")
#: the namespace of what yEd draws: labels name its nodes
_YED = "http://www.yworks.com/xml/graphml"
#: letters of a fault of networkx, which may repeat the text
_MOST_SHOWN = 200


def read_graphml(text: str) -> Edges:
    """Read GraphML; an edge may have the data sourceEndpoint and targetEndpoint, or type."""
    import networkx as nx

    try:
        _check_graphml(ElementTree.fromstring(text).findall("{*}graph"))
        graph = nx.parse_graphml(text)
    except (ElementTree.ParseError, nx.NetworkXError) as fault:
        raise ValueError(f"found no GraphML: {fault}") from None
    names = nx.get_node_attributes(graph, "label" if _YED in text else "name") or nx.get_node_attributes(graph, "label")
    if len(names) == len(graph) and all(map(_NUMBERED.fullmatch, names)):
        return _read_renamed(graph, names, "GraphML")
    return read_networkx(graph)


def _check_graphml(graphs: Sequence[ElementTree.Element]) -> None:
    """Refuse what networkx reads without a word: several graphs, no direction, odd nodes, and other arrows of yEd."""
    if len(graphs) != 1:
        raise ValueError(f"found {len(graphs)} graphs in GraphML, expected one")
    graph = graphs[0]
    if graph.get("edgedefault") not in ("directed", "undirected"):
        raise ValueError(f"found edgedefault={graph.get('edgedefault')!r}, expected 'directed' or 'undirected'")
    names = set[str | None]()
    for node in graph.iterfind("{*}node"):
        name = node.get("id")
        if not name or name in names:
            raise ValueError(f"found the node {name!r:.60}, expected a name that no other node has")
        names.add(name)
    for edge in graph.iterfind("{*}edge"):
        nodes = [edge.get(key) for key in ("source", "target")]
        absent = [name for name in nodes if name not in names]
        if absent:
            raise ValueError(f"found the node {absent[0]!r:.60}, which is not among the nodes")
        for arrows in edge.iterfind(f".//{{{_YED}}}Arrows"):
            ends = arrows.get("source", "none"), arrows.get("target", "none")
            if ends[0] != "none" or ends[1] == "none":
                raise ValueError(
                    f"found the edge {nodes[0]} - {nodes[1]} of yEd with the arrows {ends[0]!r:.30} at its source and "
                    f"{ends[1]!r:.30} at its target, expected 'none' and an arrow; write an edge string, as 'A -- B'"
                )


def _read_renamed(graph: Any, names: Mapping[Hashable, Any], what: str) -> Edges:
    """Read a graph of networkx under names that its nodes have as attributes."""
    import networkx as nx

    if len({*names.values()}) < len(names):
        raise ValueError(f"found two nodes with one name in {what}; give each a name of its own")
    return read_networkx(nx.relabel_nodes(graph, names))


def write_graphml(names: Sequence[str], ends: Ends) -> str:
    """Write a graph as GraphML; marks are the data sourceEndpoint and targetEndpoint."""
    import networkx as nx

    refuse_names(names, re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]").search, "GraphML")
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for i, j, at_i, at_j in sorted(map(forward, ends)):
        # a bidirected edge beside a directed one, which is the first, is an arc the other way
        ends_of = (names[j], names[i]) if graph.has_edge(names[i], names[j]) else (names[i], names[j])
        graph.add_edge(*ends_of, sourceEndpoint=_WORD_OF_MARK[at_i], targetEndpoint=_WORD_OF_MARK[at_j])
    return "\n".join(nx.generate_graphml(graph))


def read_gml(text: str) -> Edges:
    """Read GML; the label names a node, else its name, which igraph writes, else its id."""
    import networkx as nx

    try:
        graph = nx.parse_gml(text, label="id")
    except (nx.NetworkXError, RecursionError) as fault:
        raise ValueError(f"found no GML: {fault}"[:_MOST_SHOWN]) from None
    nodes = {node: data.get("label", data.get("name", node)) for node, data in graph.nodes(data=True)}
    odd = next((name for name in nodes.values() if not isinstance(name, (str, int, float))), None)
    if odd is not None:
        raise ValueError(f"found {odd!r:.60} in GML, expected one name of a node")
    return _read_renamed(graph, {node: str(name) for node, name in nodes.items()}, "GML")


_CAUSAL_LEARN_MARK = "an edge i -> j is the -1 in cell (i, j) with the 1 in cell (j, i)"


def _endpoints(cell: Any) -> Any:
    """Return the endpoint matrix of causal-learn's graph with node names, of FCI's tuple or GES's dict; else None."""
    result = cell
    if isinstance(cell, (tuple, dict)):
        result = cell.get("G") if isinstance(cell, dict) else next(iter(cell), None)
    graph = getattr(result, "G", result)
    matrix = getattr(graph, "graph", None)
    if not isinstance(matrix, np.ndarray):
        return None
    nodes = getattr(graph, "nodes", None)
    # FCI's graph is a PAG also without circles
    kind = "pag" if isinstance(cell, tuple) else None
    if isinstance(nodes, (list, tuple)):
        # not get_node_names(): that of causal-learn's Dag returns methods
        return Matrix(tuple(node.get_name() if hasattr(node, "get_name") else node for node in nodes), matrix, kind)
    names = getattr(graph, "get_node_names", None)
    return Matrix(tuple(names()), matrix, kind) if callable(names) else None


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
        name="networkx",
        tool="networkx, pgmpy",
        meaning="both arcs of a pair, an edge of an undirected graph, or type='undirected' an undirected edge; "
        "type='bidirected' or 'o->', marks={u: 'o', v: '>'}, or sourceEndpoint and targetEndpoint",
        mark="an edge i -> j is the arc (i, j)",
        example="nx.DiGraph([('A', 'B')])",
        read=read_networkx,
        recognise=is_networkx,
    ),
    Encoding(
        name="GraphML",
        tool="networkx, causaliq, yEd",
        meaning="sourceEndpoint and targetEndpoint (none, arrow, circle), or type; both arcs of a pair undirected",
        mark="an edge i -> j has source i and target j",
        example="'\\n'.join(nx.generate_graphml(graph))",
        read=read_graphml,
        types=(str,),
        recognise=lambda text: bool(_GRAPHML.match(text)),
        write_text=write_graphml,
    ),
    Encoding(
        name="GML",
        tool="networkx, DoWhy, igraph",
        meaning="directed 1 a directed graph, both arcs of a pair an undirected edge; label or name names a node",
        mark="an edge i -> j has source i and target j",
        example="'\\n'.join(nx.generate_gml(graph))",
        read=read_gml,
        types=(str,),
        recognise=lambda text: bool(_GML.match(text)),
    ),
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
        read=_endpoints,
        types=(tuple, dict),
        recognise=lambda cell: _endpoints(cell) is not None,
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
