"""One cell of each foreign format, read through as_graph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from causaleval_pd.graphs import AmbiguousEncodingError, Graph, as_graph

ROW = {"encoding": "row->column"}
ALL_CELLS = (
    "causal-learn, edge list, edge string, numpy / scipy / DataFrame adjacency, networkx, Graph or packed bytes, "
    "or missing"
)


def edge(graph: nx.Graph, u: Any, v: Any, **attributes: Any) -> nx.Graph:
    graph.add_edge(u, v, **attributes)
    return graph


# ---------------------------------------------------------------------------------------------------------------------
# networkx


def test_networkx_classes() -> None:
    arcs = [("b", "a"), ("b", "c")]
    assert as_graph(nx.DiGraph(arcs)) == as_graph(nx.MultiDiGraph(arcs)) == as_graph("b -> a; b -> c")
    assert as_graph(nx.Graph(arcs)) == as_graph(nx.MultiGraph(arcs)) == as_graph("a -- b -- c")
    assert as_graph(nx.MultiDiGraph([*arcs, ("b", "a")])) == as_graph("b -> a; b -> c")


def test_networkx_isolated_nodes_and_node_order() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(["z", "m", "a"])
    graph.add_edge("m", "a")
    assert as_graph(graph) == as_graph("m -> a; z")
    assert as_graph(nx.DiGraph()) == as_graph("{}")


def test_networkx_integer_labels_become_names() -> None:
    assert as_graph(nx.DiGraph([(0, 10), (np.int64(2), 10)])).nodes == ("0", "10", "2")


def test_networkx_opposite_arcs_are_undirected() -> None:
    assert as_graph(nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])) == as_graph("a -- b -> c")


@pytest.mark.parametrize("key", ["type", "kind", "edge_type"])
@pytest.mark.parametrize("word", ["undirected", "Undirected", "---"])
def test_networkx_undirected_by_attribute(key: str, word: str) -> None:
    graph = edge(nx.DiGraph([("b", "c")]), "a", "b", **{key: word})
    assert as_graph(graph) == as_graph("a -- b -> c")
    assert as_graph(nx.MultiDiGraph(graph)) == as_graph("a -- b -> c")
    both = edge(graph.copy(), "b", "a", **{key: word})
    assert as_graph(both) == as_graph("a -- b -> c")


def test_networkx_other_attributes_say_nothing() -> None:
    graph = edge(nx.DiGraph(), "a", "b", weight=0.3, type="activation", kind=None)
    assert as_graph(edge(graph, "b", "c", type="directed")) == as_graph("a -> b -> c")


@pytest.mark.parametrize(
    ("marks", "expected"),
    [({"a": "-", "b": ">"}, "a -> b"), ({"a": ">", "b": "-"}, "b -> a"), ({"a": "-", "b": "-"}, "a -- b")],
)
def test_networkx_marks_of_pgmpy(marks: dict[str, str], expected: str) -> None:
    assert as_graph(edge(nx.Graph(), "a", "b", marks=marks)) == as_graph(expected)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([("a", "a")]), "found an edge from 'a' to itself; graphs have no self loops"),
        (edge(nx.DiGraph(), "a", "b", type="bidirected"), "type='bidirected'; mixed marks are not supported yet"),
        (
            edge(nx.Graph(), "a", "b", marks={"a": "o", "b": ">"}),
            "found the marks .*; mixed marks are not supported yet",
        ),
        (
            edge(nx.Graph(), "a", "b", type="directed"),
            "in an undirected networkx graph, which keeps no direction; use a",
        ),
        (
            edge(nx.DiGraph([("a", "b")]), "b", "a", type="undirected"),
            "different types or directions between 'a' and 'b'",
        ),
        (
            edge(edge(nx.DiGraph(), "a", "b", type="directed"), "b", "a", type="directed"),
            "different types or directions between 'a' and 'b', expected one edge",
        ),
        (
            edge(edge(nx.MultiDiGraph(), "a", "b", type="directed"), "a", "b", type="undirected"),
            "different types or directions between 'a' and 'b'",
        ),
    ],
)
def test_networkx_refused(graph: nx.Graph, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_graph(graph)


def test_networkx_labels_refused() -> None:
    with pytest.raises(
        TypeError, match=r"found the node \('a', 1\) of type tuple, expected a string; relabel nodes by rename="
    ):
        as_graph(nx.DiGraph([(("a", 1), "b")]))
    with pytest.raises(ValueError, match="has the node name '1' twice"):
        as_graph(nx.DiGraph([(1, "1")]))


def test_rename() -> None:
    graph = nx.DiGraph([(0, ("a", 1))])
    assert as_graph(graph, rename={0: "x", ("a", 1): "y"}) == as_graph("x -> y")
    assert as_graph("a -> b", rename={"a": "c"}) == as_graph("c -> b")
    assert as_graph(as_graph("a -> b; c"), rename={"a": "z"}) == as_graph("z -> b; c")
    with pytest.raises(ValueError, match="has the node name 'b' twice"):
        as_graph("a -> b", rename={"a": "b"})
    with pytest.raises(TypeError, match="rename must be a mapping of labels to node names, found list"):
        as_graph("a -> b", rename=["a"])  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------------
# matrices


@pytest.mark.parametrize("dtype", [bool, int, np.int8, np.uint8, float, np.float32])
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.coo_array, sp.csc_array, np.asfortranarray])
def test_matrices(form: Any, dtype: Any) -> None:
    matrix = form(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=dtype))
    nodes = ["c", "a", "b"]
    assert as_graph(matrix, nodes=nodes, encoding="row->column") == as_graph("c -> a; a -- b")
    assert as_graph(matrix, nodes=nodes, encoding="column->row") == as_graph("a -> c; a -- b")


def test_sparse_duplicates_and_stored_zeros() -> None:
    matrix = sp.coo_array(([1, 0, 0], ([0, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert as_graph(matrix, nodes=["a", "b"], **ROW) == as_graph("a -> b")
    with pytest.raises(ValueError, match=r"found 2 in cell \('a', 'b'\), expected 0 or 1"):
        as_graph(sp.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2)), nodes=["a", "b"], **ROW)


def test_frames() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["b", "a"], columns=["b", "a"])
    assert as_graph(frame, **ROW) == as_graph("b -> a")
    assert as_graph(frame, encoding="column->row") == as_graph("a -> b")
    assert as_graph(frame.loc[["a", "b"]], **ROW) == as_graph("b -> a")
    assert as_graph(frame, rename={"b": "x"}, **ROW) == as_graph("x -> a")
    assert as_graph(frame, nodes=["a", "b"], **ROW) == as_graph("b -> a")


@pytest.mark.parametrize("cell", [np.eye(2)[::-1], sp.csr_array(np.eye(2)[::-1]), pd.DataFrame(np.eye(2)[::-1])])
def test_matrices_need_an_encoding(cell: Any) -> None:
    with pytest.raises(
        AmbiguousEncodingError, match=r"of shape \(2, 2\), which can be read in two ways.*encoding='row->column'"
    ):
        as_graph(cell, nodes=["a", "b"])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.zeros((2, 3)), r"found an array of shape \(2, 3\), expected a square adjacency matrix"),
        (np.zeros(3), r"found an array of shape \(3,\), expected a square"),
        (sp.csr_array((2, 3)), r"found an array of shape \(2, 3\), expected a square"),
        (pd.DataFrame(np.zeros((2, 3))), r"found a DataFrame of shape \(2, 3\), expected a square"),
        (np.zeros((3, 3)), r"found a matrix of 3 nodes, expected 2 as there are names \['a', 'b'\]"),
        (np.array([[0, 0.5], [0, 0]]), r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights first"),
        (sp.csr_array([[0, 0.5], [0, 0]]), r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights first"),
        (np.array([[0, np.nan], [0, 0]]), r"found nan in cell \('a', 'b'\), expected 0 or 1; drop missing weights"),
        (np.array([[0, 1], [-1, 0]]), r"found -1 in cell \('b', 'a'\), expected 0 or 1; decode endpoint codes first"),
        (np.array([[0, 2], [3, 0]]), r"found 2 in cell \('a', 'b'\), .*decode endpoint codes first"),
        (np.array([[0, 0], [0, 1]]), "found an edge from 'b' to itself; graphs have no self loops"),
        (sp.csr_array([[0, 0], [0, 1]]), "found an edge from 'b' to itself; graphs have no self loops"),
        (np.array([["0", "1"], ["0", "0"]]), "found a matrix of dtype <U1, expected zeros and ones"),
        (np.array([[0, 1j], [0, 0]]), "found a matrix of dtype complex128"),
    ],
)
def test_matrices_refused(cell: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_graph(cell, nodes=["a", "b"], **ROW)


def test_frames_refused() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], columns=["a", "b"])
    with pytest.raises(
        ValueError, match=r"rows \[0, 1\] and columns \['a', 'b'\], expected the same nodes; set frame.index"
    ):
        as_graph(frame, **ROW)
    twice = pd.DataFrame([[0, 1], [0, 0]], index=["a", "a"], columns=["a", "a"])
    with pytest.raises(ValueError, match="expected each node once"):
        as_graph(twice, **ROW)
    with pytest.raises(ValueError, match=r"found the nodes .* expected .*nodes=.*unknown"):
        as_graph(frame.set_axis(["a", "b"]), nodes=["a", "c"], **ROW)


def test_unnamed_matrices_are_numbered() -> None:
    assert as_graph(np.array([[0, 1], [0, 0]]), **ROW).to_string() == "0 -> 1"
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        as_graph(np.zeros((2, 3)), **ROW)


def test_unknown_encoding() -> None:
    message = "unknown encoding 'pcalg'; it is one of causal-learn, column->row, edge list, .*, row->column"
    with pytest.raises(ValueError, match=message):
        as_graph(np.zeros((2, 2)), nodes=["a", "b"], encoding="pcalg")


# ---------------------------------------------------------------------------------------------------------------------
# edge lists and the rest


def test_edge_lists() -> None:
    assert as_graph([("a", "b"), ("b", "c"), ("c", "b")]) == as_graph("a -> b -- c")
    assert as_graph([(0, 1)]) == as_graph("0 -> 1")
    assert as_graph({("a", "b")}) == as_graph((("a", "b"),)) == as_graph("a -> b")
    assert as_graph([("a", "b")], nodes=["c", "b", "a"]) == as_graph("a -> b; c")
    assert as_graph([], nodes=["a", "b"]) == as_graph("a; b")


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        (
            [[0, 1], [0, 0]],
            TypeError,
            r"found \[0, 1\] in a list, expected \(source, target\) tuples; make nested lists a numpy",
        ),
        (("a", "b"), TypeError, r"found 'a' in a tuple, expected \(source, target\) tuples"),
        ([("a", "b", "->")], TypeError, r"found \('a', 'b', '->'\) in a list"),
        ([("a", "a")], ValueError, "found an edge from 'a' to itself"),
        ([], ValueError, r"found \[\], which names no nodes; pass nodes="),
        ("", ValueError, r"found '', which names no nodes; pass nodes=, write a graph without edges as bare names"),
        ({"a": ["b"]}, TypeError, f"found builtins.dict, expected a graph: {ALL_CELLS}"),
        (3, TypeError, "found builtins.int, expected a graph"),
        (0.5, TypeError, "found builtins.float, expected a graph"),
        (None, ValueError, "expected a graph, found None"),
        (float("nan"), ValueError, "expected a graph, found nan"),
        ("A <-> B", ValueError, "graph: found the edge mark '<->'; mixed marks are not supported yet"),
    ],
)
def test_refused(cell: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_graph(cell)


def test_nodes_complete_strings() -> None:
    assert as_graph("a -> b", nodes=["c", "a", "b"]) == as_graph("a -> b; c")
    assert as_graph("", nodes=["a"]) == as_graph("{}", nodes=["a"]) == as_graph("a")
    with pytest.raises(
        ValueError, match=r"found the nodes \['a', 'b'\], expected \['a', 'c'\] \(nodes=\): unknown \['b'\]"
    ):
        as_graph("a -> b", nodes=["a", "c"])


# ---------------------------------------------------------------------------------------------------------------------
# causal-learn


def causal_learn(edges: str) -> Any:
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    ends = {"-": Endpoint.TAIL, ">": Endpoint.ARROW, "<": Endpoint.ARROW, "o": Endpoint.CIRCLE}
    nodes = {name: GraphNode(name) for name in ("X3", "X1", "X2")}
    graph = GeneralGraph(list(nodes.values()))
    for one in edges.split(";"):
        left, mark, right = one.split()
        graph.add_edge(Edge(nodes[left], nodes[right], ends[mark[0]], ends[mark[2]]))
    return graph


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("edges", "expected"),
    [("X1 --> X2; X3 --- X1", "X1 -> X2; X1 -- X3"), ("X3 --> X1; X2 --> X1", "X3 -> X1; X2 -> X1")],
)
def test_causal_learn_graphs(edges: str, expected: str) -> None:
    assert as_graph(causal_learn(edges)) == as_graph(expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("edges", "mark"), [("X3 --> X2; X1 <-> X2", "X1 <-> X2"), ("X1 o-> X2", "X1 o-> X2"), ("X1 o-o X2", "X1 o-o X2")]
)
def test_causal_learn_mixed_marks_refused(edges: str, mark: str) -> None:
    with pytest.raises(ValueError, match=f"found the edge {mark} .*; mixed marks are not supported yet"):
        as_graph(causal_learn(edges))


@pytest.mark.filterwarnings("ignore")
def test_causal_learn_results() -> None:
    from causallearn.graph.Dag import Dag
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.search.ConstraintBased.PC import pc

    rng = np.random.default_rng(0)
    a, c = rng.normal(size=(2, 500))
    data = np.column_stack([a, a + c + 0.5 * rng.normal(size=500), c])
    found = as_graph(pc(data, 0.01, node_names=["a", "b", "c"], show_progress=False))
    assert found == as_graph("a -> b <- c")
    nodes = [GraphNode(name) for name in ("p", "q")]
    dag = Dag(nodes)
    dag.add_directed_edge(nodes[1], nodes[0])
    assert as_graph(dag) == as_graph("q -> p")


@pytest.mark.filterwarnings("ignore")
def test_causal_learn_round_trip() -> None:
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    rng = np.random.default_rng(5)
    for _ in range(30):
        names = [f"X{i}" for i in rng.permutation(12)]
        matrix = np.triu(rng.integers(0, 3, (12, 12)), 1)
        nodes = [GraphNode(name) for name in names]
        graph, arcs = GeneralGraph(nodes), []
        for i, j in zip(*np.nonzero(matrix), strict=True):
            undirected = bool(matrix[i, j] == 2)
            graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, Endpoint.TAIL if undirected else Endpoint.ARROW))
            arcs += [(names[i], names[j])] + [(names[j], names[i])] * undirected
        assert as_graph(graph) == as_graph(arcs, nodes=names)


def test_a_graph_subclass_is_not_needed() -> None:
    class Lookalike:
        graph = np.array([[0, -1], [1, 0]])
        nodes = ("a", "b")

    assert as_graph(Lookalike()) == as_graph("a -> b")
    assert isinstance(as_graph(Lookalike()), Graph)
