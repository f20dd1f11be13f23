"""The Graph value."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references.declared import declared

from causaleval_pd.contract.checks import face
from causaleval_pd.graphs import KINDS, Graph, as_graph

# names of which something shows, and no two of which look alike, which graphs refuse
NAMES = st.text(st.characters(exclude_characters="\0\ufeff", exclude_categories=("Cs",)), min_size=1, max_size=6)
NAMES = NAMES.filter(face)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Random graphs over random node names."""
    names = draw(st.lists(NAMES, max_size=6, unique_by=face))
    arcs = []
    for i in range(len(names)):
        for j in range(i):
            mark = draw(st.integers(0, 3))
            arcs += [(names[i], names[j])] * (mark & 1) + [(names[j], names[i])] * (mark >> 1)
    return as_graph(arcs, nodes=names)


@pytest.mark.slow
@settings(deadline=None)  # the first call compiles
@given(graphs())
def test_round_trips(graph: Graph) -> None:
    assert Graph.from_bytes(graph.to_bytes()) == graph
    assert as_graph(graph.to_bytes()) == graph
    assert as_graph(graph) == graph
    assert as_graph(graph.to_string()) == graph
    assert as_graph(graph.to_networkx()) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert copy.deepcopy(graph) == graph
    nodes = list(graph.nodes)[::-1]
    for encoding in ("row->column", "column->row"):
        assert as_graph(graph.to_numpy(nodes, encoding), nodes=nodes, encoding=encoding) == graph


@pytest.mark.slow
@settings(deadline=None)
@given(graphs(), graphs())
def test_equal_graphs_have_equal_bytes_and_hashes(left: Graph, right: Graph) -> None:
    same = (left.nodes, left.kind) == (right.nodes, right.kind) and np.array_equal(left.to_numpy(), right.to_numpy())
    assert (left == right) == (left.to_bytes() == right.to_bytes()) == same
    again = Graph.from_bytes(left.to_bytes())
    assert hash(again) == hash(left)
    assert len({left, again}) == 1


def test_graphs_on_other_nodes_or_of_another_class_differ() -> None:
    graph = as_graph("A -> B; C")
    assert graph != as_graph("A -> B")
    assert graph != as_graph("A -> B; D")
    assert as_graph("A -- B", kind="cpdag") != as_graph("A -- B", kind="pdag")
    assert graph != "A -> B; C"


def test_facts() -> None:
    graph = as_graph("B -> A; B -- C; D")
    assert graph.nodes == ("A", "B", "C", "D")
    assert (graph.kind, graph.n_nodes, graph.n_edges, graph.n_undirected) == ("pdag", 4, 2, 1)
    assert graph.edges == ("B -> A", "B -- C")
    assert graph.to_string() == "B -> A; B -- C; D"
    assert repr(graph) == "Graph('B -> A; B -- C; D', kind='pdag')"
    assert graph.is_acyclic
    assert not as_graph("A -> B -> C -> A").is_acyclic
    assert KINDS == ("dag", "cpdag", "pdag", "digraph", "mag", "pag", "admg", "skeleton", "mixed")


def test_code_points_order_nodes() -> None:
    assert as_graph("X10; X2; é; Z; a").nodes == ("X10", "X2", "Z", "a", "é")


def test_repr_is_one_short_line() -> None:
    graph = as_graph([(f"node {i}", "line\nend") for i in range(40)])
    assert "\n" not in repr(graph)
    assert len(repr(graph)) < 130


@pytest.mark.parametrize(("text", "nodes"), [("{}", ()), (" {}\n", ()), ("A", ("A",)), ("A; B", ("A", "B"))])
def test_empty_graphs(text: str, nodes: tuple[str, ...]) -> None:
    graph = as_graph(text)
    assert (graph.nodes, graph.n_edges, graph.edges, graph.kind) == (nodes, 0, (), "dag")
    assert graph.to_string() == text.strip()
    assert graph.to_numpy().shape == (len(nodes), len(nodes))
    assert graph.cpdag().kind == graph.skeleton().kind == "cpdag"
    assert Graph.from_bytes(graph.to_bytes()) == graph


def test_to_numpy_says_which_way() -> None:
    graph = as_graph("B -> A; B -- C")
    assert graph.to_numpy().tolist() == [[0, 0, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.to_numpy(["B", "A", "C"]).tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert graph.to_numpy(encoding="column->row").tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    assert graph.to_numpy().dtype == np.int8
    with pytest.raises(ValueError, match=r"unknown encoding 'ij'; it is one of .*column->row, .*row->column"):
        graph.to_numpy(encoding="ij")
    message = r"nodes must hold the names \['A', 'B', 'C'\] in any order, found \['A', 'B'\]"
    with pytest.raises(ValueError, match=message):
        graph.to_numpy(["A", "B"])


def test_to_networkx() -> None:
    graph = as_graph("B -> A; B -- C; D").to_networkx()
    assert isinstance(graph, nx.DiGraph)
    assert list(graph.nodes) == ["A", "B", "C", "D"]
    assert set(graph.edges) == {("B", "A"), ("B", "C"), ("C", "B")}


def test_skeleton_and_cpdag() -> None:
    collider = as_graph("A -> B <- C; B -> D")
    assert collider.cpdag() == as_graph("A -> B <- C; B -> D", kind="cpdag")
    assert as_graph("A -> B -> C").cpdag() == as_graph("A -- B -- C", kind="cpdag")
    assert collider.skeleton() == as_graph("A -- B; B -- C; B -- D", kind="cpdag")
    assert as_graph("A -> B; A -> C; B -> D; C -> D").skeleton().kind == "pdag"
    assert as_graph("A -- B -> C").cpdag() == as_graph("A -- B -- C")
    with pytest.raises(
        ValueError, match=r"^Graph\(.* C -> A', kind='digraph'\): the graph is a digraph, which has no CPDAG, because"
    ):
        as_graph("A -> B -> C -> A").cpdag()


def test_frozen() -> None:
    graph = as_graph("A -> B")
    with pytest.raises(FrozenInstanceError):
        graph.kind = "pdag"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        graph.planes[0, 0] = 0
    planes = np.array([[1], [0]], dtype=np.uint64)
    made = Graph(("A", "B"), "dag", planes)
    planes[:] = 0
    assert made == graph
    with pytest.raises(ValueError, match="read-only"):
        pickle.loads(pickle.dumps(graph)).planes[0, 0] = 0


@pytest.mark.parametrize(
    ("nodes", "kind", "planes", "message"),
    [
        (("B", "A"), "dag", [[0], [0]], r"out of code-point order \('B' before 'A'\)"),
        (("A", "A"), "dag", [[0], [0]], "has the node name 'A' twice"),
        (("", "A"), "dag", [[0], [0]], "has the node name ''"),
        (("A", "B\0"), "dag", [[0], [0]], r"has the node name 'B\\x00'"),
        (("A", "\ud800"), "dag", [[0], [0]], r"'\\ud800', which is not valid Unicode text"),
        (("A", "B"), "dg", [[0], [0]], "unknown kind 'dg'; graph classes are dag, cpdag, pdag, digraph, mag, pag"),
        (("A", "B"), "mag", [[0], [0]], r"planes of a mag of 2 nodes have the shape \(4, 1\), found \(2, 1\)"),
        (("A", "B"), "mixed", [[1], [0], [0], [0]], "a mark at one end only"),
        (("A", "B"), "dag", [[0, 0], [0, 0]], r"planes of a dag of 2 nodes have the shape \(2, 1\), found \(2, 2\)"),
        (("A", "B"), "dag", [[2], [0]], "planes of 2 nodes have bits set beyond the last pair"),
        (("A", "B"), "dag", [[1], [1]], "is declared a dag, but has the undirected edge A -- B"),
        (("A", "B"), "cpdag", [[1], [0]], "is declared a cpdag, but has A -> B where the CPDAG"),
    ],
)
def test_bad_parts(nodes: tuple[str, ...], kind: str, planes: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Graph(nodes, kind, np.array(planes, dtype=np.uint64))


def test_too_many_nodes() -> None:
    with pytest.raises(ValueError, match="has 20001 nodes; at most 20000 are supported"):
        as_graph([], nodes=range(20_001))


def test_from_bytes_refuses() -> None:
    raw = declared("A -> B -> C -> A", 0)
    with pytest.raises(ValueError, match="declared a dag, but has the directed cycle A -> B -> C -> A"):
        Graph.from_bytes(raw)
    with pytest.raises(ValueError, match="cell: found 8 bytes"):
        Graph.from_bytes(b"12345678")
    with pytest.raises(TypeError, match="expected the bytes of a packed graph, found str"):
        Graph.from_bytes("A -> B")  # type: ignore[arg-type]
