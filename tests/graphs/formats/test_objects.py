"""Graph objects of networkx, causal-learn, gCastle and lingam; those of pywhy-graphs and ananke by their methods."""

import json
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import Graph, as_graph, graph_column


def edge(graph: nx.Graph, u: Any, v: Any, **attributes: Any) -> nx.Graph:
    graph.add_edge(u, v, **attributes)
    return graph


def test_networkx_classes() -> None:
    arcs = [("b", "a"), ("b", "c")]
    assert as_graph(nx.DiGraph(arcs)) == as_graph(nx.MultiDiGraph(arcs)) == as_graph("b -> a; b -> c")
    assert as_graph(nx.Graph(arcs)) == as_graph(nx.MultiGraph(arcs)) == as_graph("a -- b -- c")
    for kind in (nx.DiGraph, nx.MultiDiGraph):
        assert as_graph(kind([*arcs, ("a", "b")])) == as_graph("b -- a; b -> c")


def test_networkx_isolated_nodes_and_node_order() -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(["z", "m", "a"])
    graph.add_edge("m", "a")
    assert as_graph(graph) == as_graph("m -> a; z")
    assert as_graph(nx.DiGraph()) == as_graph("{}")
    assert as_graph(nx.DiGraph([(0, 10), (np.int64(2), 10)])).nodes == ("0", "10", "2")


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
        ({"a": "-", "b": ">"}, "a -> b"), ({"a": ">", "b": "-"}, "b -> a"), ({"a": "-", "b": "-"}, "a -- b"),
        ({"a": ">", "b": ">"}, "a <-> b"), ({"a": "o", "b": ">"}, "a o-> b"), ({"a": "o", "b": "o"}, "a o-o b"),
    ],
)  # fmt: skip
def test_networkx_marks_of_pgmpy(marks: dict[str, str], expected: str) -> None:
    assert as_graph(edge(nx.Graph(), "a", "b", marks=marks)) == as_graph(expected)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"type": "bidirected"}, "a <-> b"), ({"type": "bi"}, "a <-> b"), ({"edge_type": "o->"}, "a o-> b"),
        ({"kind": "<-o"}, "b o-> a"), ({"dir": "both"}, "a <-> b"),
        ({"dir": "both", "arrowtail": "odot", "arrowhead": "normal"}, "a o-> b"),
        ({"sourceEndpoint": "circle", "targetEndpoint": "circle"}, "a o-o b"),
        ({"sourceEndpoint": "none", "targetEndpoint": "arrow"}, "a -> b"),
    ],
)  # fmt: skip
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
        (nx.DiGraph([(("a", 1), "b")]), r"found the node \('a', 1\) of type tuple, .*; relabel nodes by rename="),
        (nx.DiGraph([(1, "1")]), "has the node name '1' twice"),
        (edge(nx.DiGraph(), "a", "b", kind="confounded"), "kind='confounded', expected .* or marks at both ends"),
        (edge(nx.DiGraph(), "a", "b", type="circle"), "type='circle', expected .* or marks at both ends"),
        (edge(nx.DiGraph(), "a", "b", arrowhead="odot"), "arrowtail=None and arrowhead='odot', expected both"),
        (edge(nx.DiGraph(), "a", "b", type="activation"), "type='activation', expected 'directed', 'undirected' or"),
        (edge(nx.DiGraph(), "a", "b", type=3), "type=3, expected .*; delete another attribute"),
        (nx.MultiDiGraph([("a", "b"), ("a", "b")]), "found 2 parallel edges between 'a' and 'b', expected one"),
        (edge(nx.Graph(), "a", "b", marks={"a": "x", "b": ">"}),
         "found the marks .* of the edge 'a', 'b', expected '-', '>' and 'o'"),
        (edge(nx.Graph(), "a", "b", type="directed"),
         "in an undirected networkx graph, which keeps no direction; use a"),
        (edge(nx.DiGraph([("a", "b")]), "b", "a", type="undirected"),
         "different types or directions: found the edges .*, expected one edge between two nodes"),
        (edge(edge(nx.DiGraph(), "a", "b", type="directed"), "b", "a", type="directed"),
         "different types or directions: found the edges 'b' <-- 'a' and 'b' --> 'a', expected one edge"),
        (edge(edge(nx.MultiDiGraph(), "a", "b", type="directed"), "a", "b", type="undirected"),
         "different types or directions: found the edges .*, expected one edge between two nodes"),
    ],
)  # fmt: skip
def test_networkx_refused(graph: nx.Graph, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        as_graph(graph)


def test_labels_that_equal_others_are_not_taken_for_them() -> None:
    for label in (True, 1.0):
        for cells in ([[(label, 2)]], [[(1, 2)], [(label, 2)]], [nx.DiGraph([(1, 2)]), nx.DiGraph([(label, 2)])]):
            message = f"found the node {label!r} of type {type(label).__name__}, expected a string"
            with pytest.raises(TypeError, match=f"row {len(cells) - 1} .*: {message}"):
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
    [
        ("X1 --> X2; X3 --- X1", "X1 -> X2; X1 -- X3"), ("X3 --> X1; X2 --> X1", "X3 -> X1; X2 -> X1"),
        ("X3 --> X2; X1 <-> X2", "X3 -> X2; X1 <-> X2"), ("X1 o-> X2", "X1 o-> X2"), ("X1 o-o X2", "X1 o-o X2"),
        ("X1 <-o X2; X3 o-> X1", "X2 o-> X1; X3 o-> X1"),
    ],
)  # fmt: skip
def test_causal_learn_graphs(edges: str, expected: str) -> None:
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

    message = r"row 0 \(index 0\): found .* in cell \('a', 'b'\) and 1.0 in cell \('b', 'a'\), expected 0 no"
    with pytest.raises(ValueError, match=message):
        graph_column([LikeCausalLearn()])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("edges", "kind"), [("X1 <-> X2; X2 <-> X3", "mixed"), ("X1 --- X2", "mixed"), ("X1 o-> X2; X3 o-> X2", "pag")]
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


def lingam_model(values: list[list[float]]) -> SimpleNamespace:
    return SimpleNamespace(adjacency_matrix_=np.array(values))


def test_models_of_lingam_are_graphs_without_weights_only() -> None:
    assert ce.as_graph(lingam_model([[0, 0], [1, 0]]), nodes=["A", "B"]) == ce.as_graph("A -> B")
    message = r"a model with weights; pass its graph, as abs\(model.adjacency_matrix_\) > 0.3"
    with pytest.raises(ValueError, match=message):
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
        (PAG(), "pag"), (PAG(directed=[("A", "B")]), "mixed"),
        (PAG(directed=[("A", "B")], circle=[("B", "A")]), "mixed"),
        (ADMG(bidirected=[("A", "B")]), "admg"), (ADMG(directed=[("A", "B")]), "admg"),
        (ADMG(directed=[("A", "B"), ("B", "C"), ("C", "A")]), "mixed"),
        (DAG(directed=[("A", "B")]), "dag"), (LikePywhy(bidirected=[("A", "B")]), "mag"),
    ],
)  # fmt: skip
def test_classes_of_objects_name_those_of_graphs(graph: LikePywhy, kind: str) -> None:
    assert ce.as_graph(graph).kind == kind
    assert ce.as_graph(graph).edges == ce.as_graph(graph, kind="mixed").edges


def test_ananke() -> None:
    graph = SimpleNamespace(vertices={"A": 0, "B": 1, "C": 2}, di_edges=[("A", "B")], bi_edges=[("A", "B")])
    assert ce.as_graph(graph) == ce.as_graph("A -> B; A <-> B; C")


@pytest.mark.parametrize("encoding", ["causal-learn", "lingam result", "pywhy-graphs", "ananke"])
def test_texts_beside_objects_of_a_named_encoding_are_read_as_texts(encoding):
    assert ce.as_graph("A -> B", encoding=encoding) == ce.as_graph("A -> B")
    with pytest.raises(ValueError, match="an edge needs a node name"):
        ce.as_graph("A ->", encoding=encoding)
