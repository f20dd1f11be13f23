"""Graphs of causal-learn, read through as_graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from causaleval_pd.graphs import Graph, as_graph, graph_column


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
    ("edges", "expected"),
    [
        ("X3 --> X2; X1 <-> X2", "X3 -> X2; X1 <-> X2"),
        ("X1 o-> X2", "X1 o-> X2"),
        ("X1 o-o X2", "X1 o-o X2"),
        ("X1 <-o X2; X3 o-> X1", "X2 o-> X1; X3 o-> X1"),
    ],
)
def test_causal_learn_graphs_with_latent_confounders(edges: str, expected: str) -> None:
    assert as_graph(causal_learn(edges)) == as_graph(expected, nodes=["X1", "X2", "X3"])


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


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 1e300, 7.5])
def test_endpoints_of_no_meaning_are_refused(value: float) -> None:
    class LikeCausalLearn:
        def __init__(self) -> None:
            self.nodes, self.graph = ["a", "b"], np.array([[0.0, value], [1.0, 0.0]])

    with pytest.raises(
        ValueError,
        match=r"row 0 \(index 0\): found .* in cell \(\'a\', \'b\'\) and 1.0 in cell \(\'b\', \'a\'\), expected 0 no",
    ):
        graph_column([LikeCausalLearn()])
