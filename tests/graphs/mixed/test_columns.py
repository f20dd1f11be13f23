"""Columns of mixed graphs: kinds, packing, text, projections with latents=, ancestors."""

import io
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from references.declared import declared

import causaleval_pd as ce
from causaleval_pd.graphs import KINDS, Graph

TEXTS = [
    "A -> B; B <-> C",  # mag
    "A o-> B; C o-> B",  # pag
    None,
    "A -> B; A <-> B; C",  # admg: two edges of one pair
    "A -> B; B -> C; A <-> C",  # admg: an almost directed cycle
    "A o-- B; C",  # mixed
    "A -> B; B o-o C; C -> A",  # mixed
    "A -> B; C",  # dag
    "A o-o B",  # pag on other nodes
    "A -- B; B <-> C",  # mixed
    "A <-> B; B -> C; C -> A",  # admg: B -> C -> A, A <-> B
]
KINDS_OF_TEXTS = ["mag", "pag", np.nan, "admg", "admg", "mixed", "mixed", "dag", "pag", "mixed", "admg"]


@pytest.fixture
def column() -> pd.Series:
    return ce.graph_column(pd.Series(TEXTS, index=list("abcdefghijk"), name="estimate"))


def test_kinds_are_inferred(column: pd.Series) -> None:
    assert column.graph.kind.astype(object).tolist() == KINDS_OF_TEXTS


def test_text_reads_back(column: pd.Series) -> None:
    strings = column.graph.to_strings()
    assert strings.tolist()[:2] == ["A -> B; B <-> C", "A o-> B; C o-> B"]
    pd.testing.assert_series_equal(ce.graph_column(strings), column)
    pd.testing.assert_series_equal(ce.graph_column(strings, kind=column.graph.kind), column)


def test_columns_are_packed_and_unpacked(column: pd.Series) -> None:
    values = column.graph.to_graphs()
    assert [graph and graph.kind for graph in values] == [None if kind is np.nan else kind for kind in KINDS_OF_TEXTS]
    pd.testing.assert_series_equal(ce.graph_column(values), column)
    pd.testing.assert_series_equal(ce.graph_column(column), column)
    pd.testing.assert_series_equal(ce.graph_column(column.tolist(), index=column.index).rename("estimate"), column)
    renamed = ce.graph_column(column, rename={"A": "Z"})
    assert renamed.graph.to_strings().iloc[0] == "B <-> C; Z -> B"
    assert renamed.graph.kind.tolist() == column.graph.kind.tolist()
    pd.testing.assert_series_equal(ce.graph_column(renamed, rename={"Z": "A"}), column)
    memory = io.BytesIO()
    column.to_frame().to_parquet(memory)
    assert (
        pd.read_parquet(memory, dtype_backend="pyarrow")["estimate"]
        .graph.to_strings()
        .equals(column.graph.to_strings())
    )
    for graph in values.dropna():
        assert Graph.from_bytes(graph.to_bytes()) == graph == pickle.loads(pickle.dumps(graph))
        assert ce.as_graph(graph) == graph
        assert hash(ce.as_graph(graph)) == hash(graph)


def test_cells_of_one_length_and_several_kinds() -> None:
    """Four planes with short names are as long as two planes with long ones."""
    texts = ["A -> B", "A <-> B", "a_long_name_1 -> b_long_2", "a_long_name_1 o-o b_long_2", "A o-> B"]
    column = ce.graph_column(texts)
    lengths = column.map(len)
    assert lengths[0] != lengths[1]
    assert column.graph.to_strings().tolist() == texts
    long = ce.graph_column(["a" * 17 + " -> b", "a <-> b" + "b" * 2])
    assert len(set(long.map(len))) == 1
    assert long.graph.kind.tolist() == ["dag", "mag"]


def test_numbers(column: pd.Series) -> None:
    found = pd.DataFrame({name: getattr(column.graph, name) for name in ("n_edges", "n_undirected", "n_bidirected")})
    assert found["n_edges"].tolist() == [2, 2, pd.NA, 2, 3, 1, 3, 1, 1, 2, 3]
    assert found["n_undirected"].tolist() == [0, 0, pd.NA, 0, 0, 0, 0, 0, 0, 1, 0]
    assert found["n_bidirected"].tolist() == [1, 0, pd.NA, 1, 1, 0, 0, 0, 0, 1, 1]
    assert column.graph.v_structures().tolist() == [1, 1, pd.NA, 0, 0, 0, 0, 0, 0, 0, 0]
    assert column.graph.is_acyclic.all()
    for row, graph in column.graph.to_graphs().dropna().items():
        assert (graph.n_edges, graph.n_undirected, graph.n_bidirected) == tuple(found.loc[row])
        assert len(graph.edges) == graph.n_edges
        assert graph.skeleton() == column[[row]].graph.skeleton().graph.to_graphs().iloc[0]
    skeletons = column.graph.skeleton()
    assert skeletons.graph.kind.tolist()[:2] == ["skeleton", "skeleton"]
    assert skeletons.graph.to_strings().iloc[4] == "A -- B; A -- C; B -- C"
    assert repr(ce.as_graph("A o-o B")) == "Graph('A o-o B', kind='pag')"


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("A -- B", "mag", "has the undirected edge A -- B, which stands for selection bias"),
        ("A o-> B", "mag", "has the edge A o-> B, and a MAG has no circles"),
        ("A -> B -> C -> A", "mag", "has the directed cycle A -> B -> C -> A"),
        ("A -> B -> C; C <-> A", "mag", "has the almost directed cycle A <-> C, A -> B -> C"),
        ("A <-> B <-> C <-> D; B -> D; C -> A", "mag",
         "is not maximal: A and D have the inducing path A <-> B, B <-> C, C <-> D"),
        ("A -> B; A <-> B", "mag", "has the two edges A -> B and A <-> B"),
        ("A o-- B", "pag", "has the edge A o-- B, which stands for selection bias"),
        ("A -- B", "pag", "has the edge A -- B, which"),
        ("A o-o B o-o C o-o D o-o A", "pag", "has circle edges that are not chordal: A o-o"),
        ("A -> B o-o C -> A", "pag", "with its circles oriented it has the directed cycle"),
        ("A -> B", "pag", "has A -> B where the PAG of its equivalence class has A o-o B"),
        ("A o-> B; B o-o C", "pag", "has"),
        ("A -> B -> A; A <-> C", "admg", "expected one edge between two nodes"),
        ("A -> B -> C -> A; A <-> B", "admg", "has the directed cycle"),
        ("A o-> B", "admg", "has the edge A o-> B"),
        ("A -> B", "skeleton", "has the edge A -> B, which has marks; take its skeleton[(][)]"),
        ("A -> B; A <-> B", "mixed", "has the two edges"),
        ("A <-> B", "dag", "is declared a dag, but has the edge A <-> B; declare it a mag, pag, admg or mixed"),
        ("A o-o B; C -> D", "pdag", "is declared a pdag, but has the edge A o-o B"),
    ],
)  # fmt: skip
def test_declared_kinds_are_checked_with_the_row_and_the_reason(text: str, kind: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"row 1.*: .*{reason}"):
        ce.graph_column(["A", text], kind=[None, kind])
    with pytest.raises(ValueError, match=f"graph: .*{reason}"):
        ce.as_graph(text, kind=kind)


def test_faults_name_the_reasons(column: pd.Series) -> None:
    found = column.graph.faults("pag")
    assert found.isna().tolist() == [kind in ("pag", np.nan) for kind in KINDS_OF_TEXTS]
    assert found["f"] == "has the edge A o-- B, which stands for selection bias"
    for kind in KINDS:
        reasons = column.graph.faults(kind)
        for text, reason in zip(TEXTS, reasons, strict=True):
            if text is not None and pd.notna(reason):
                with pytest.raises(ValueError, match="declare"):
                    ce.as_graph(text, kind=kind)
            elif text is not None:
                assert ce.as_graph(text, kind=kind).kind == kind
    with pytest.raises(ValueError, match="kind must be 'dag', 'cpdag', "):
        column.graph.faults("DAG")


def test_graphs_may_be_declared_wider_and_narrower() -> None:
    for kind in ("mag", "admg", "mixed"):
        graph = ce.as_graph("A -> B -> C", kind=kind)
        assert (graph.kind, graph.planes.shape[0]) == (kind, 4)
        assert ce.as_graph(graph, kind="dag") == ce.as_graph("A -> B -> C")
    column = ce.graph_column(["A -> B", "A <-> B"], kind="mag")
    assert ce.graph_column(column, kind="admg").graph.kind.tolist() == ["admg", "admg"]
    with pytest.raises(ValueError, match="row 1 .*: the graph is declared a dag, but has the edge A <-> B"):
        ce.graph_column(column, kind="dag")
    assert ce.as_graph("{}", kind="pag").n_nodes == 0


def test_latents_are_names_or_one_list_a_row() -> None:
    dags = ce.graph_column(["A -> B; L -> B; L -> C", "A -> L -> B; C", None], index=["x", "y", "z"])
    whole = dags.graph.mag(latents=["L"])
    assert whole.graph.to_strings().tolist() == ["A -> B; B <-> C", "A -> B; C", np.nan]
    by_row = dags.graph.mag(latents=pd.Series([["L"], [], None], index=dags.index))
    assert by_row.graph.to_strings().tolist() == ["A -> B; B <-> C", "A -> L; L -> B; C", np.nan]
    assert dags.graph.pag(latents=[["L", "A"], None, []]).graph.to_strings().tolist() == ["B o-o C", np.nan, np.nan]
    assert (dags.graph.mag().dropna() == dags.graph.mag(latents=[]).dropna()).all()
    assert dags.graph.mag(latents=[["A", "B", "C", "L"], ["A"], []]).graph.to_strings().tolist()[0] == "{}"


@pytest.mark.parametrize(
    ("latents", "error", "message"),
    [
        (["Q"], ValueError,
         r"row 0 \(index 'x'\).*: latents names 'Q', which is not a node of the graph; its nodes are"),
        ([["L"], ["Q"]], ValueError, r"row 1 \(index 'y'\).*: latents names 'Q'"),
        ([0.5, 2], TypeError, "latents, row 0: found 0.5, expected a list of node names"),
        (["L", "L"], ValueError, "latents: has the node name 'L' twice"),
        ([["L"]], ValueError, "latents has 1 rows, the column has 2"),
        ("L", TypeError, "latents must be a list of node names, or one list per row, found 'L'"),
        ([["L"], 3], TypeError, "latents, row 1: found 3"),
        ([["L"], [0.5]], TypeError, "latents, row 1: found the node 0.5 of type float, expected a string"),
        ([["L"], [3]], ValueError, "row 1 .*: latents names '3', which is not a node"),
        (pd.Series(["L", "L"], index=["x", "y"]), TypeError, r"a Series of strings; pass list\(latents\)"),
        (pd.Series([["L"], ["L"]]), ValueError, "a Series whose index differs"),
    ],
)  # fmt: skip
def test_wrong_latents_are_refused(latents: object, error: type[Exception], message: str) -> None:
    dags = ce.graph_column(["A -> B; L -> B", "L -> B; L -> A"], index=["x", "y"])
    for convert in (dags.graph.mag, dags.graph.pag, dags.graph.admg):
        with pytest.raises(error, match=message):
            convert(latents=latents)


def test_classes_that_have_no_projection_are_refused() -> None:
    for text, kind in (
        ("A -- B", "pdag"),
        ("A o-- B", "mixed graph"),
        ("A -> B -> A2 -> A", "digraph"),
        ("A -- B", "skeleton"),
    ):
        column = ce.graph_column(["A", text], kind=[None, kind.split()[0]])
        for convert in (column.graph.mag, column.graph.pag, column.graph.admg):
            with pytest.raises(ValueError, match=f"row 1.*: the graph is a {kind}, expected a dag, admg, mag or pag"):
                convert()
    pag = ce.graph_column(["A o-> B; C o-> B"])
    with pytest.raises(ValueError, match="the graph is a pag, and latents= applies to a dag, admg or mag"):
        pag.graph.mag(latents=["A"])
    cpdag = ce.graph_column(["A -- B; B -- C"])
    assert cpdag.graph.pag().graph.to_strings().tolist() == ["A o-o B; B o-o C"]
    with pytest.raises(ValueError, match=r"the graph is a cpdag, expected .*; take its pag\(\)"):
        cpdag.graph.mag()
    with pytest.raises(ValueError, match="the graph is not ancestral: it has the directed cycle"):
        ce.graph_column(["A -> B -> C -> A"]).graph.maximal()


def test_pags_of_dags_and_of_their_cpdags_are_the_same() -> None:
    dags = ce.graph_column(["A -> B; C -> B; B -> D", "A -> B -> C", "A -> B; A -> C; B -> C; B -> D"])
    assert (dags.graph.pag() == dags.graph.cpdag().graph.pag()).all()
    assert dags.graph.pag().graph.to_strings().iloc[0] == "A o-> B; B -> D; C o-> B"


def test_markov_equivalence_is_equality_of_pags() -> None:
    mags = ce.graph_column(["A <-> B; B -> C; A <-> C", "A -> B; A -> C; B -> C", "A -> B; B -> C"], kind="mag")
    pags = mags.graph.pag()
    assert pags[0] == pags[1] != pags[2]


def test_ancestors() -> None:
    column = ce.graph_column(["A -> B; B <-> C", "A o-> B; B -> C", None, "A -> B -> C"])
    found = column.graph.ancestors()
    assert found.shape == (4, 3, 3)
    assert np.isnan(found[2]).all()
    assert found[0].tolist() == [[0, 2, 0], [0, 0, 0], [0, 0, 0]]
    assert found[3].tolist() == [[0, 2, 2], [0, 0, 2], [0, 0, 0]]
    assert column.graph.kind.tolist()[1] == "mixed"
    assert found[1].tolist() == [[0, 1, 1], [0, 0, 2], [0, 0, 0]]
    turned = column.iloc[[0, 3]].graph.ancestors(nodes=["C", "B", "A"])
    assert turned.dtype == np.int8
    assert turned[1].tolist() == [[0, 0, 0], [2, 0, 0], [2, 2, 0]]
    bow = ce.graph_column(["A -> B; A <-> B; B -> C"]).graph.ancestors()
    assert bow[0].tolist() == [[0, 2, 2], [0, 0, 2], [0, 0, 0]]
    diamond = ce.graph_column(["A o-o B; B o-o C; C o-o D; D o-o A; A o-o C"], kind="mixed")
    assert (diamond.graph.ancestors(definite="path") < 2).all()
    with pytest.raises(ValueError, match="the graph is a cpdag, whose undirected edges are neither tails nor circles"):
        ce.graph_column(["A -- B"]).graph.ancestors()
    with pytest.raises(ValueError, match="definite must be 'exact' or 'path'"):
        column.graph.ancestors(definite="both")


def test_visible_edges() -> None:
    column = ce.graph_column(["A o-> B; B -> C; D o-> B", "A -> B; B <-> C", None])
    assert column.graph.visible_edges().tolist() == [1, 0, pd.NA]
    with pytest.raises(ValueError, match="the graph is an admg; edges are visible in a mag or a pag"):
        ce.graph_column(["A -> B; A <-> B"]).graph.visible_edges()


def test_cells_of_a_foreign_file_are_checked_before_they_are_relied_on() -> None:
    good = ce.as_graph("A o-> B; C o-> B")
    bad = declared("A -> B; B o-o C; C -> A", KINDS.index("pag"))
    column = pd.Series([good.to_bytes(), bad]).astype(ce.graph_column([None]).dtype)
    with pytest.raises(ValueError, match=r"row 1 .*: the graph is declared a pag, but is not the PAG of any MAG"):
        column.graph.mag()
    half = bytearray(ce.as_graph("A <-> B").to_bytes())
    planes = np.frombuffer(bytes(half), np.uint64).copy()
    planes[-4:] = [1, 0, 0, 0]  # one pair, and as many edges
    with pytest.raises(ValueError, match="an edge with a mark at one end only; the cell is damaged"):
        ce.graph_column([planes.tobytes()])
    plain = declared("A -> B", KINDS.index("mag"))
    with pytest.raises(ValueError, match="found 2 planes of marks; graphs of class mag have 4"):
        ce.graph_column([plain])
    two = ce.graph_column(["A -> B", "B -> A"])
    cells = [two[0], plain]
    with pytest.raises(ValueError, match="row 1.*: found 2 planes of marks"):
        ce.graph_column(pd.Series(cells).astype(two.dtype))


@pytest.mark.slow
def test_large_graphs_are_held_as_mixed_and_refused_by_name_elsewhere() -> None:
    d = 2_001
    text = "; ".join(f"n{i} o-> n{i + 1}" for i in range(d - 1))
    with pytest.raises(ValueError, match="found graphs of 2001 nodes .* declare such graphs kind='mixed'"):
        ce.as_graph(text)
    with pytest.raises(ValueError, match=r"row 1 \(index 1\): found graphs of 2001 nodes"):
        ce.graph_column(["A o-o B", text])
    dagitty = "pag {" + text.replace("o->", "@->") + "}"
    with pytest.raises(ValueError, match=r"row 0 \(index 0\): found graphs of 2001 nodes"):
        ce.graph_column([dagitty])
    graph = ce.as_graph(text, kind="mixed")
    assert ce.as_graph(dagitty, kind="mixed") == graph
    assert (graph.n_edges, graph.edges[0]) == (d - 1, "n0 o-> n1")
    assert graph.skeleton().kind == "skeleton"


def test_plain_networkx_graphs_may_be_declared_mixed_kinds() -> None:
    assert ce.as_graph(nx.DiGraph([("A", "B")]), kind="mag").to_string() == "A -> B"
    assert ce.as_graph(nx.Graph([("A", "B")]), kind="skeleton").to_string() == "A -- B"
