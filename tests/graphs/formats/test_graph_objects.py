"""Graph objects of causal-learn, pywhy-graphs and ananke; the last two by their methods, as neither is a dependency."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
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


@pytest.mark.slow
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
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.search.ScoreBased.GES import ges

    result = fci(data, alpha=0.01, node_names=["a", "b", "c"], show_progress=False)
    assert as_graph(result) == as_graph(result[0]) == as_graph("a o-> b; c o-> b")
    assert graph_column([result, [("a", "b")], (("a", "b"),)]).graph.kind.tolist() == ["pag", "dag", "dag"]
    record = ges(data)
    assert as_graph(record) == as_graph(record["G"]) == as_graph("X1 -> X2 <- X3")
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("edges", "kind"),
    [
        ("X1 <-> X2; X2 <-> X3", "mixed"),
        ("X1 --- X2", "mixed"),
        ("X1 o-> X2; X3 o-> X2", "pag"),
    ],
)
def test_results_of_fci_are_pags_with_circles_or_without(edges: str, kind: str) -> None:
    graph = causal_learn(edges)
    column = graph_column([(graph, []), {"G": graph}])
    assert column.graph.kind[0] == kind
    assert column.graph.kind[1] == as_graph(edges.replace("---", "--")).kind
    marks = column.graph.to_numpy(encoding="causal-learn matrix")
    assert (marks[0] == marks[1]).all()


@pytest.mark.filterwarnings("ignore")
def test_results_of_fci_without_circles_are_compared_with_pags() -> None:
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    nodes = [GraphNode(name) for name in "ABCD"]
    empty, ring = GeneralGraph(nodes), GeneralGraph(nodes)
    ring.graph = np.roll(np.eye(4, dtype=int), 1, axis=0) + np.roll(np.eye(4, dtype=int), -1, axis=0)
    table = pd.DataFrame({"truth": ["A -> B; L -> B; L -> C; C -> D"] * 2, "estimate": [(empty, []), (ring, [])]})
    assert graph_column(table["estimate"]).graph.kind.tolist() == ["pag", "pag"]
    latent = {"latents": ["L"]}
    found = table.ceval.evaluate(["shd", "circle_fn"], context=latent)
    target = ce.graph_column(table["truth"]).graph.pag(latents=["L"])
    assert target.graph.to_strings()[0] == "A o-> B; C o-> B; C o-o D"
    assert found[["shd", "circle_fn"]].to_numpy().tolist() == [[3, 4], [4, 4]]


# ---- gCastle


class Tensor(np.ndarray):
    """A matrix with names, as those of gCastle 1.0.4."""

    __module__ = "castle.common.base"

    def __array_finalize__(self, obj: Any) -> None:
        if self.ndim == 2:
            self.index, self.columns = pd.RangeIndex(self.shape[0]), pd.RangeIndex(self.shape[1])


def castle_tensor(values: list[list[int]]) -> Tensor:
    found = np.array(values).view(Tensor)
    found.index = found.columns = pd.Index(["A", "B", "C"])
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([[0, 1, 0], [0, 0, 0], [0, 0, 0]], "A -> B; C"),
        ([[0, 1, 0], [1, 0, 1], [0, 0, 0]], "A -- B; B -> C"),
        ([[0, 0, -1], [0, 0, 1], [0, 0, 0]], "A -- C; B -> C"),
    ],
)
def test_results_of_gcastle(values: list[list[int]], expected: str) -> None:
    matrix = castle_tensor(values)
    learner = SimpleNamespace(causal_matrix=matrix)
    assert ce.as_graph(matrix) == ce.as_graph(learner) == ce.as_graph(expected)
    table = pd.DataFrame({"truth": [expected, expected], "estimate": [learner, matrix]})
    assert table.ceval.evaluate(["shd"])["shd"].tolist() == [0, 0]


def test_results_of_gcastle_refused() -> None:
    with pytest.raises(ValueError, match=r"^row 0 \(index 0\): found 2 in cell \('A', 'B'\) and 0 in cell"):
        ce.graph_column([castle_tensor([[0, 2, 0], [0, 0, 0], [0, 0, 0]])])
    with pytest.raises(TypeError, match="expected a graph"):
        ce.graph_column([SimpleNamespace(causal_matrix=None)])


# ---- lingam


def lingam_model(values: list[list[float]]) -> SimpleNamespace:
    return SimpleNamespace(adjacency_matrix_=np.array(values))


def test_models_of_lingam_are_graphs_without_weights_only() -> None:
    assert ce.as_graph(lingam_model([[0, 0], [1, 0]]), nodes=["A", "B"]) == ce.as_graph("A -> B")
    with pytest.raises(
        ValueError, match=r"a model with weights; pass its graph, as abs\(model.adjacency_matrix_\) > 0.3"
    ):
        ce.as_graph(lingam_model([[0, 0], [0.8, 0]]))
    table = pd.DataFrame({"truth": ["A -> B"], "estimate": [lingam_model([[0, 0], [0.8, 0]])]})
    with pytest.raises(ValueError, match=r"row 0 \(index 0\): found SimpleNamespace, a model with weights"):
        table.ceval.evaluate(["shd"])


def test_pairs_with_latent_confounders_of_lingam() -> None:
    weights = np.array([[0, np.nan, 0], [np.nan, 0, 0.02], [0, 0.9, 0]])
    with pytest.raises(ValueError, match=r"found nan in cell \('A', 'B'\), as lingam writes pairs with a latent conf"):
        ce.as_graph(weights, encoding="lingam", nodes=["A", "B", "C"])
    effects = abs(weights) > 0.3
    codes = effects + 2 * effects.T + 2 * np.isnan(weights)
    found = ce.as_graph(codes, encoding="bnmetrics", nodes=["A", "B", "C"])
    assert found == ce.as_graph("A <-> B; B -> C")


# ---- pywhy-graphs, dodiscover, ananke


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


class PAG(LikePywhy):
    __module__ = "pywhy_graphs.classes.pag"


class ADMG(LikePywhy):
    __module__ = "pywhy_graphs.classes.admg"


class DAG(ADMG):  # as that of ananke
    __module__ = "ananke.graphs.dag"


@pytest.mark.parametrize(
    ("graph", "kind"),
    [
        (PAG(), "pag"),
        (PAG(directed=[("A", "B")]), "mixed"),
        (PAG(directed=[("A", "B")], circle=[("B", "A")]), "mixed"),
        (ADMG(bidirected=[("A", "B")]), "admg"),
        (ADMG(directed=[("A", "B")]), "admg"),
        (ADMG(directed=[("A", "B"), ("B", "C"), ("C", "A")]), "mixed"),
        (DAG(directed=[("A", "B")]), "dag"),
        (LikePywhy(bidirected=[("A", "B")]), "mag"),
    ],
)
def test_classes_of_objects_name_those_of_graphs(graph: LikePywhy, kind: str) -> None:
    assert ce.as_graph(graph).kind == kind
    assert ce.as_graph(graph).edges == ce.as_graph(graph, kind="mixed").edges


def test_ananke() -> None:
    graph = SimpleNamespace(vertices={"A": 0, "B": 1, "C": 2}, di_edges=[("A", "B")], bi_edges=[("A", "B")])
    assert ce.as_graph(graph) == ce.as_graph("A -> B; A <-> B; C")
