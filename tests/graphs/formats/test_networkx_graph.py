"""Networkx graphs, read through as_graph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from causaleval_pd.graphs import as_graph


def edge(graph: nx.Graph, u: Any, v: Any, **attributes: Any) -> nx.Graph:
    graph.add_edge(u, v, **attributes)
    return graph


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
