"""Networkx graphs, read through as_graph."""

from __future__ import annotations

import json
from typing import Any

import networkx as nx
import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import as_graph, graph_column


def edge(graph: nx.Graph, u: Any, v: Any, **attributes: Any) -> nx.Graph:
    graph.add_edge(u, v, **attributes)
    return graph


def test_networkx_classes() -> None:
    arcs = [("b", "a"), ("b", "c")]
    assert as_graph(nx.DiGraph(arcs)) == as_graph(nx.MultiDiGraph(arcs)) == as_graph("b -> a; b -> c")
    assert as_graph(nx.Graph(arcs)) == as_graph(nx.MultiGraph(arcs)) == as_graph("a -- b -- c")
    assert as_graph(nx.MultiDiGraph([*arcs, ("a", "b")])) == as_graph("b -- a; b -> c")


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
    graph = edge(nx.DiGraph(), "a", "b", colour="red", weight=1, kind=None)
    assert as_graph(edge(graph, "b", "c", type="directed", weight=1.0)) == as_graph("a -> b -> c")


def test_networkx_arrows_by_attribute() -> None:
    graph = edge(edge(nx.DiGraph(), "a", "b", type="-->"), "b", "a", type="<--")
    assert as_graph(graph) == as_graph(edge(nx.DiGraph(), "b", "a", type="<--")) == as_graph("a -> b")
    assert as_graph(edge(nx.DiGraph(), "a", "b", dir="none")) == as_graph("a -- b")
    assert as_graph(edge(nx.DiGraph(), "a", "b", dir='"back"')) == as_graph("b -> a")
    several = edge(edge(nx.MultiDiGraph(), "a", "b", key="directed"), "b", "c", key="undirected")
    assert as_graph(several) == as_graph("a -> b -- c")


@pytest.mark.parametrize("graph", [nx.DiGraph, nx.Graph, nx.MultiDiGraph])
def test_networkx_weights_are_refused_as_in_a_matrix(graph: Any) -> None:
    weighted = edge(edge(graph(), "a", "b", weight=0.8), "b", "c", weight=0.001)
    with pytest.raises(ValueError, match=r"row 0 .*the weight 0.8 of the edge 'a', 'b', .*\(weight\) > 0.3: 1 edge;"):
        graph_column([weighted])
    nx.set_edge_attributes(weighted, 1, "weight")
    assert as_graph(weighted).n_edges == 2
    with pytest.raises(TypeError, match="found the weight 'big' of the edge 'a', 'b'"):
        as_graph(edge(graph(), "a", "b", weight="big"))
    with pytest.raises(ValueError, match="expected no weight or 1; drop missing and infinite weights"):
        as_graph(edge(graph(), "a", "b", weight=float("nan")))


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ({"a": "-", "b": ">"}, "a -> b"),
        ({"a": ">", "b": "-"}, "b -> a"),
        ({"a": "-", "b": "-"}, "a -- b"),
        ({"a": ">", "b": ">"}, "a <-> b"),
        ({"a": "o", "b": ">"}, "a o-> b"),
        ({"a": "o", "b": "o"}, "a o-o b"),
    ],
)
def test_networkx_marks_of_pgmpy(marks: dict[str, str], expected: str) -> None:
    assert as_graph(edge(nx.Graph(), "a", "b", marks=marks)) == as_graph(expected)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"type": "bidirected"}, "a <-> b"),
        ({"type": "bi"}, "a <-> b"),
        ({"edge_type": "o->"}, "a o-> b"),
        ({"kind": "<-o"}, "b o-> a"),
        ({"dir": "both"}, "a <-> b"),
        ({"dir": "both", "arrowtail": "odot", "arrowhead": "normal"}, "a o-> b"),
        ({"sourceEndpoint": "circle", "targetEndpoint": "circle"}, "a o-o b"),
        ({"sourceEndpoint": "none", "targetEndpoint": "arrow"}, "a -> b"),
    ],
)
def test_attributes_declare_marks(attributes: dict[str, str], expected: str) -> None:
    assert as_graph(edge(nx.DiGraph(), "a", "b", **attributes)) == as_graph(expected)
    graph = edge(nx.MultiDiGraph(), "a", "b", **attributes)
    if expected == "a <-> b":
        graph.add_edge("b", "a", **attributes)
        graph.add_edge("a", "b", type="directed")
        assert as_graph(graph) == as_graph("a -> b; a <-> b")


def test_admgs_of_pgmpy() -> None:
    from pgmpy import base

    if hasattr(base, "ADMG"):  # since pgmpy 1.1
        admg = base.ADMG(directed_ebunch=[("a", "b")], bidirected_ebunch=[("a", "b"), ("b", "c")])
        assert as_graph(admg) == as_graph("a -> b; a <-> b; b <-> c")
        assert as_graph(base.MAG([("a", "b", "-", ">"), ("b", "c", ">", ">")])) == as_graph("a -> b; b <-> c")
        assert as_graph(base.MAG([("a", "b", "-", ">")])).kind == "mag"
        assert as_graph(base.ADMG(bidirected_ebunch=[("a", "b")])).kind == "admg"
    pdag = base.PDAG(directed_ebunch=[("a", "b")], undirected_ebunch=[("b", "c")])
    assert as_graph(pdag) == as_graph("a -> b; b -- c")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([("a", "a")]), "found an edge from 'a' to itself; graphs have no self loops"),
        (edge(nx.DiGraph(), "a", "b", kind="confounded"), "kind='confounded', which names no marks at both ends"),
        (edge(nx.DiGraph(), "a", "b", type="circle"), "type='circle', which names no marks at both ends"),
        (edge(nx.DiGraph(), "a", "b", arrowhead="odot"), "arrowtail=None and arrowhead='odot', expected both"),
        (edge(nx.DiGraph(), "a", "b", type="activation"), "type='activation', expected 'directed', 'undirected' or"),
        (edge(nx.DiGraph(), "a", "b", type=3), "type=3, expected .*; delete the attribute"),
        (nx.MultiDiGraph([("a", "b"), ("a", "b")]), "found 2 parallel edges between 'a' and 'b', expected one"),
        (
            edge(nx.Graph(), "a", "b", marks={"a": "x", "b": ">"}),
            "found the marks .* of the edge 'a', 'b', expected '-', '>' and 'o'",
        ),
        (
            edge(nx.Graph(), "a", "b", type="directed"),
            "in an undirected networkx graph, which keeps no direction; use a",
        ),
        (
            edge(nx.DiGraph([("a", "b")]), "b", "a", type="undirected"),
            "different types or directions: found the edges .*, expected one edge between two nodes",
        ),
        (
            edge(edge(nx.DiGraph(), "a", "b", type="directed"), "b", "a", type="directed"),
            "different types or directions: found the edges 'b' <-- 'a' and 'b' --> 'a', expected one edge",
        ),
        (
            edge(edge(nx.MultiDiGraph(), "a", "b", type="directed"), "a", "b", type="undirected"),
            "different types or directions: found the edges .*, expected one edge between two nodes",
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


def test_labels_that_equal_others_are_not_taken_for_them() -> None:
    for label in (True, 1.0):
        for cells in ([[(label, 2)]], [[(1, 2)], [(label, 2)]], [nx.DiGraph([(1, 2)]), nx.DiGraph([(label, 2)])]):
            message = (
                rf"row {len(cells) - 1} .*: found the node {label!r} of type {type(label).__name__}, expected a string"
            )
            with pytest.raises(TypeError, match=message):
                graph_column(cells)
    with pytest.raises(TypeError, match="found the node True of type bool"):
        as_graph([(1, 2), (True, 3)])
    assert as_graph([(1, np.int64(2)), (np.int64(1), 3)]) == as_graph("1 -> 2; 1 -> 3")
    with pytest.raises(TypeError, match=r"found the node \['a'\] of type list, expected a string"):
        as_graph([(["a"], "b")])


def test_rename() -> None:
    graph = nx.DiGraph([(0, ("a", 1))])
    assert as_graph(graph, rename={0: "x", ("a", 1): "y"}) == as_graph("x -> y")
    assert as_graph("a -> b", rename={"a": "c"}) == as_graph("c -> b")
    assert as_graph(as_graph("a -> b; c"), rename={"a": "z"}) == as_graph("z -> b; c")
    with pytest.raises(ValueError, match="has the node name 'b' twice"):
        as_graph("a -> b", rename={"a": "b"})
    with pytest.raises(TypeError, match="rename must be a mapping of labels to node names, found list"):
        as_graph("a -> b", rename=["a"])  # type: ignore[arg-type]


@pytest.mark.parametrize("keys", [("sourceEndpoint", "targetEndpoint"), ("arrowtail", "arrowhead")])
def test_ends_that_differ_need_a_graph_that_keeps_directions(keys):
    circle, arrow = ("circle", "arrow") if keys[0] == "sourceEndpoint" else ("odot", "normal")
    edge = ("A", "B", dict(zip(keys, (circle, arrow), strict=True)))
    assert str(ce.as_graph(nx.DiGraph([edge]))) == str(ce.as_graph("A o-> B"))
    with pytest.raises(ValueError, match="in an undirected networkx graph, which keeps no direction; use a DiGraph"):
        ce.as_graph(nx.Graph([edge]))
    alike = ("A", "B", dict(zip(keys, (circle, circle), strict=True)))
    assert ce.as_graph(nx.Graph([alike])) == ce.as_graph("A o-o B")


@pytest.mark.parametrize("form", ["object", "GraphML", "GML", "JSON"])
@pytest.mark.parametrize("name", ["strength", "probability", "count", "p_value"])
@pytest.mark.parametrize("values", [(0.9, 0.02), (7, 2), (0, 1), (0.9, 0.9)])
def test_numbers_of_edges_that_nobody_asked_for_are_refused(form: str, name: str, values: tuple[float, float]) -> None:
    def written(values: tuple[float, float]) -> Any:
        graph = nx.DiGraph([("A", "B", {name: values[0]}), ("B", "C", {name: values[1]})])
        if form == "object":
            return graph
        if form == "JSON":
            return json.dumps(nx.node_link_data(graph))
        lines = {"GraphML": nx.generate_graphml, "GML": nx.generate_gml}[form](graph)
        return "\n".join(lines)

    with pytest.raises(ValueError, match=f"found numbers in the attribute '{name}' of edges .*leave the attribute out"):
        as_graph(written(values))
    for same in ((1, 1), (0, 0)):
        assert as_graph(written(same)) == as_graph("A -> B -> C")


def test_attributes_of_drawings_are_no_numbers_of_edges() -> None:
    graph = nx.DiGraph([("A", "B", {"penwidth": 2.5, "label": "0.3", "bold": True}), ("B", "C", {"penwidth": 1})])
    assert as_graph(graph) == as_graph("A -> B -> C")
