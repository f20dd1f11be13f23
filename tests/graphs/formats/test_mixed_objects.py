"""Objects of pywhy-graphs and ananke, by their methods: neither is a dependency."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import pytest

import causaleval_pd as ce


class LikePywhy:
    """A graph as those of pywhy-graphs 0.1.0: a networkx graph a type of edge."""

    def __init__(self, **edges: list[tuple[str, str]]) -> None:
        types = {"directed": nx.DiGraph, "circle": nx.DiGraph, "bidirected": nx.Graph, "undirected": nx.Graph}
        self.graphs = {name: types.get(name, nx.Graph)(found) for name, found in edges.items()}

    @property
    def nodes(self) -> list[str]:
        return ["A", "B", "C"]

    def get_graphs(self) -> dict[str, Any]:
        return self.graphs


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"directed": [("A", "B")]}, "A -> B; C"),
        ({"directed": [("A", "B")], "circle": [("B", "A")]}, "A o-> B; C"),
        ({"circle": [("B", "A"), ("A", "B")]}, "A o-o B; C"),
        ({"circle": [("B", "A")]}, "A o-- B; C"),
        ({"directed": [("A", "B")], "bidirected": [("A", "B"), ("B", "C")]}, "A -> B; A <-> B; B <-> C"),
        ({"directed": [("A", "B")], "undirected": [("B", "C")]}, "A -> B; B -- C"),
    ],
)
def test_pywhy_graphs(edges: dict[str, list[tuple[str, str]]], expected: str) -> None:
    assert ce.as_graph(LikePywhy(**edges)) == ce.as_graph(expected)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (
            {"directed": [("A", "B"), ("B", "A")]},
            "found arrows 'A' -> 'B' and 'B' -> 'A'; a bidirected edge is of its own",
        ),
        ({"directed": [("A", "B")], "circle": [("A", "B")]}, "found an arrow and a circle at 'B'"),
        ({"lagged": [("A", "B")]}, "found edges of the type 'lagged'"),
        ({"directed": [("A", "B")], "undirected": [("A", "B")]}, "found the edges 'A' --> 'B' and 'A' --- 'B'"),
    ],
)
def test_pywhy_graphs_refused(edges: dict[str, list[tuple[str, str]]], message: str) -> None:
    with pytest.raises(ValueError, match=r"^row 0 .*" + message):
        ce.graph_column([LikePywhy(**edges)])


def test_ananke() -> None:
    graph = SimpleNamespace(vertices={"A": 0, "B": 1, "C": 2}, di_edges=[("A", "B")], bi_edges=[("A", "B")])
    assert ce.as_graph(graph) == ce.as_graph("A -> B; A <-> B; C")
