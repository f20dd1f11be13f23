"""graph_column: mixes of formats, names, classes, what columns can do in pandas, and messages that name the row."""

import gc
import itertools
import re
import weakref
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from references.declared import declared

import causaleval_pd as ce
from causaleval_pd.graphs import AmbiguousEncodingError, Graph, as_graph, graph_column
from causaleval_pd.graphs.column import coerce_graphs, is_graph_column
from causaleval_pd.graphs.packing import COLUMN_DTYPE

ROW = {"encoding": "row->column"}


def graphs(column: pd.Series) -> list[Graph | None]:
    assert column.dtype == COLUMN_DTYPE
    return [None if cell is pd.NA else Graph.from_bytes(cell) for cell in column]


def expected(texts: list[str | None], **options: Any) -> list[Graph | None]:
    return [None if text is None else as_graph(text, **options) for text in texts]


def test_any_mix_in_one_column() -> None:
    matrix = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    cells = ["a -> b; c", None, nx.DiGraph([("c", "b"), ("b", "a")]), matrix, sp.csr_array(matrix), float("nan"), pd.NA]
    cells += [pd.DataFrame(matrix, list("cab"), list("cab")), [("b", "a")]]
    cells += [as_graph("a--b;c"), as_graph("a->b;c").to_bytes()]
    column = graph_column(cells, nodes=["a", "b", "c"], **ROW)
    texts = ["a -> b; c", None, "c -> b -> a", "a -> b -- c", "a -> b -- c", None, None, "c -> a -- b", "b -> a; c"]
    assert graphs(column) == expected([*texts, "a -- b; c", "a -> b; c"])
    assert column.index.equals(pd.RangeIndex(11))
    assert column.isna().tolist() == [text is None for text in texts] + [False, False]


def test_graphs_of_several_sizes_keep_their_rows() -> None:
    texts = ["a -> b", "{}", "a -> b -> c", None, "x", "b -- a", "a -> c <- b; d"]
    assert graphs(graph_column(texts)) == expected(texts)


def test_stack_of_matrices() -> None:
    rng = np.random.default_rng(0)
    stack = rng.random((40, 7, 7)) < 0.3
    stack[:, np.arange(7), np.arange(7)] = False
    nodes = [f"v{i}" for i in rng.permutation(7)]
    column = graph_column(stack, nodes=nodes, **ROW)
    for graph, matrix in zip(graphs(column), stack, strict=True):
        np.testing.assert_array_equal(graph.to_numpy(nodes), matrix)
    swapped = graph_column(list(stack.astype(float)), nodes=nodes, encoding="column->row")
    transposed = graph_column(stack.transpose(0, 2, 1), nodes=nodes, **ROW)
    pd.testing.assert_series_equal(swapped, transposed)


def test_mixed_shapes_and_names_of_matrices() -> None:
    cells = [np.eye(2)[::-1], np.zeros((1, 1)), np.eye(2, k=1), np.zeros((0, 0))]
    column = graph_column(cells, nodes=[["b", "a"], ["z"], ["b", "a"], []], **ROW)
    assert graphs(column) == expected(["a -- b", "z", "b -> a", "{}"])


@pytest.mark.parametrize("values", [[], pd.Series([], dtype=object), np.zeros((0, 3, 3)), iter([])])
def test_empty(values: Any) -> None:
    column = graph_column(values, nodes=["a", "b", "c"], **ROW)
    assert column.dtype == COLUMN_DTYPE
    assert len(column) == 0


def test_index_and_name() -> None:
    series = pd.Series(["a -> b", None], index=["x", "y"], name="truth")
    column = graph_column(series)
    assert (column.index.tolist(), column.name) == (["x", "y"], "truth")
    assert graph_column(series, index=[3, 4]).index.tolist() == [3, 4]
    assert graph_column(graph_column(series), index=[3, 4]).index.tolist() == [3, 4]
    assert graph_column(["a", "b"], index=series.index).index.tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="index has 1 labels, values has 2 rows"):
        graph_column(series, index=[1])


@pytest.mark.parametrize("values", [pd.Series(["a -> b", None]), pd.Series(["a -> b", None], dtype=object)])
def test_input_is_not_changed(values: pd.Series) -> None:
    before = values.copy()
    matrix = np.array([[0, 1], [0, 0]])
    matrix.flags.writeable = False
    graph = nx.DiGraph([("a", "b")])
    graph_column(values)
    graph_column([matrix, graph], nodes=["a", "b"], **ROW)
    pd.testing.assert_series_equal(values, before)
    assert dict(graph.edges) == {("a", "b"): {}}


def test_nodes_one_a_row_and_packed() -> None:
    truth = graph_column(["a -> b; c", "x -- y", None])
    by_row = [["c", "b", "a"], ["y", "x"], None]
    for nodes in (by_row, truth, pd.Series(by_row)):
        column = graph_column(["b -> a", "{}", "p -> q"], nodes=nodes)
        assert graphs(column) == expected(["b -> a; c", "x; y", "p -> q"])
    column = graph_column([np.eye(3, k=1), np.eye(2, k=1), None], nodes=truth, **ROW)
    assert graphs(column) == expected(["a -> b -> c", "x -> y", None])
    column = graph_column([np.eye(3, k=1), np.eye(2, k=1), None], nodes=by_row, **ROW)
    assert graphs(column) == expected(["c -> b -> a", "y -> x", None])


def test_matrix_named_by_a_packed_column_in_unlikely_order() -> None:
    names = [f"X{i}" for i in range(1, 11)]
    truth = graph_column(["; ".join(names)])
    message = r"row 0 .*which lists \['X1', 'X10', 'X2', .*pass the names in its order"
    with pytest.raises(AmbiguousEncodingError, match=message):
        graph_column([np.eye(10, k=1)], nodes=truth, **ROW)
    column = graph_column([np.eye(10, k=1)], nodes=names, **ROW)
    assert graphs(column) == expected([" -> ".join(names)])
    assert graphs(graph_column([nx.path_graph(names, nx.DiGraph)], nodes=truth)) == graphs(column)


def test_named_objects_must_have_the_nodes() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["a", "b"], columns=["a", "b"])
    for cell in (nx.DiGraph([("a", "b")]), as_graph("a -> b"), as_graph("a -> b").to_bytes(), frame):
        message = r"^row 1 \(index 1\): found the nodes \['a', 'b'\], expected .*absent \['c'\]"
        with pytest.raises(ValueError, match=message):
            graph_column([None, cell], nodes=["a", "b", "c"], **ROW)
        column = graph_column([cell], nodes=["b", "z"], rename={"a": "z"}, **ROW)
        assert graphs(column) == expected(["z -> b"])
    with pytest.raises(ValueError, match=r"^row 1 \(index 1\): found the nodes .*unknown \['c'\], absent \['d'\]"):
        graph_column(graph_column(["a; d", "a; c"]), nodes=["a", "d"])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"nodes": ["a", "b", "a"]}, ValueError, "nodes: has the node name 'a' twice"),
        ({"nodes": [["a"], ["b", "b"]]}, ValueError, "nodes, row 1: has the node name 'b' twice"),
        ({"nodes": [["a"]]}, ValueError, "nodes has 1 rows, values has 2"),
        ({"nodes": "ab"}, TypeError, "nodes must be a list of names, one list per row, or a packed column, found 'ab'"),
        ({"nodes": 3}, TypeError, "nodes must be a list of names"),
        ({"nodes": [["a"], "b"]}, TypeError, "nodes, row 1: found 'b', expected a list of node names"),
        ({"nodes": pd.Series(["a -> b", "b"])}, TypeError, r"a Series of strings; .*column by graph_column\(nodes\)"),
        ({"nodes": [["a"], [0.5]]}, TypeError, "found the node 0.5 of type float, expected a string"),
        ({"nodes": graph_column(["b", "a"], index=[1, 0])}, ValueError, "a Series whose index differs from that of"),
        *(({"nodes": nodes}, TypeError, "set, which has no order; pass a list")
          for nodes in ({"A", "B"}, frozenset("AB"), [{"A", "B"}] * 2)),
        ({"kind": "dg"}, ValueError,
         "unknown kind 'dg'; graph classes are dag, cpdag, pdag, digraph, mag, pag, admg, skeleton, mixed"),
        ({"kind": ["dag"]}, ValueError, "kind has 1 rows, values has 2"),
        ({"kind": pd.Series(["dag", "pdag"], index=[1, 0])}, ValueError, "kind is a Series whose index differs"),
        (ROW | {"nodes": {"A", "B"}}, TypeError, "set, which has no order; pass a list"),
        ({"encoding": ["row->column", None]}, AmbiguousEncodingError, r"row 1 \(index 1\): found an ndarray"),
        ({"encoding": ["row->column", "row"]}, ValueError, r"row 1 \(index 1\): unknown encoding 'row'"),
        ({"encoding": ["row->column", 3]}, TypeError, r"row 1 \(index 1\): encoding must be the name of an encoding"),
        ({"encoding": ["row->column"]}, ValueError, "encoding has 1 rows, values has 2"),
        ({"encoding": 3}, TypeError, "encoding must be the name of an encoding, or one per row"),
        ({"encoding": pd.Series(["row->column"] * 2, index=[5, 6])}, ValueError, "encoding is a Series whose index d"),
    ],
)  # fmt: skip
def test_settings_are_refused(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    cells = [np.zeros((2, 2))] * 2 if "encoding" in settings else ["a", "b"]
    with pytest.raises(error, match=message):
        graph_column(pd.Series(cells), **({"nodes": ["a", "b"]} if "encoding" in settings else {}) | settings)


def test_inferred_kinds() -> None:
    column = graph_column(["a -> b", "a -- b", "a -> b -- c", "a -> b -> c -> a", "a; b", "a -> b <- c"])
    assert [graph.kind for graph in graphs(column)] == ["dag", "cpdag", "pdag", "digraph", "dag", "dag"]


def test_declared_kinds() -> None:
    column = graph_column(["a -> b <- c", "a; b", None], kind="cpdag")
    assert [graph and graph.kind for graph in graphs(column)] == ["cpdag", "cpdag", None]
    column = graph_column(["a -> b", "a -- b", None, "a -> b"], kind=["pdag", None, "dag", "dag"])
    assert [graph and graph.kind for graph in graphs(column)] == ["pdag", "cpdag", None, "dag"]


def test_packed_cells_keep_their_kind_unless_one_is_declared() -> None:
    cells = [as_graph("a -> b <- c", kind="cpdag"), as_graph("a -- b", kind="pdag").to_bytes()]
    for values in (cells, graph_column(cells)):
        assert [graph.kind for graph in graphs(graph_column(values))] == ["cpdag", "pdag"]
        assert [graph.kind for graph in graphs(graph_column(values, kind="cpdag"))] == ["cpdag", "cpdag"]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("a -- b", "dag", "the graph is declared a dag, but has the undirected edge a -- b"),
        ("a -> b -> c -> a", "dag",
         "the graph is declared a dag, but has the directed cycle a -> b -> c -> a; mend the graph"),
        ("a -> b", "cpdag",
         "the graph is declared a cpdag, but has a -> b where the CPDAG of its equivalence class has a -- b"),
        ("a -- b -- c -- d -- a", "cpdag", "the graph is declared a cpdag, but no DAG has its skeleton"),
    ],
)  # fmt: skip
def test_graph_that_is_not_in_its_class(text: str, kind: str, message: str) -> None:
    for value in (text, as_graph(text)):
        values = pd.Series([as_graph("a; b; c; d; e; f"), None, value, value], name="g", index=list("wxyz"))
        with pytest.raises(ValueError, match=rf"^column 'g', row 2 \(index 'y'\): {message}"):
            graph_column(values, kind=[None, None, kind, kind])


def test_class_of_packed_cells_is_checked() -> None:
    raw = declared("a -> b -> c -> a", 0)
    for values in ([raw], pd.Series([raw], dtype=COLUMN_DTYPE)):
        message = r"row 0 \(index 0\): the graph is declared a dag, but has the directed cycle"
        with pytest.raises(ValueError, match=message):
            graph_column(values)


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ("a -> a", ValueError, "found an edge from 'a' to itself; graphs have no self loops"),
        (nx.DiGraph([("a", "a")]), ValueError, "found an edge from 'a' to itself"),
        (np.eye(3), ValueError, "found an edge from 'a' to itself"),
        (np.eye(3, k=1) / 2, ValueError, r"found 0.5 in cell \('a', 'b'\), expected 0 or 1"),
        (np.zeros((2, 3)), ValueError, r"found an array of shape \(2, 3\), expected a square adjacency matrix"),
        (np.zeros((2, 2)), ValueError, r"found a matrix of 2 nodes, expected 3 as there are names \['a', 'b', 'c'\]"),
        (nx.DiGraph([("a", "d")]), ValueError, r"found the nodes \['a', 'd'\], expected \['a', 'b', 'c'\]"),
        (b"nonsense" * 4, ValueError, "found 32 bytes starting with b'nonsense', not a packed graph"),
        ("[[0, 1], [0, 0]]", ValueError, r"found the text .*, which is a matrix written as text; .*json.loads"),
        ("b'\\xce\\x01'", ValueError, "found the text .*, which an object turned into when dask, CSV or astype"),
        (object(), TypeError, "found builtins.object, expected a graph: .*model string.* BIF"),
        (17, TypeError, "found builtins.int, expected a graph"),
    ],
)
def test_messages_name_the_row(cell: Any, error: type[Exception], message: str) -> None:
    index = pd.MultiIndex.from_tuples([("pc", 0.1), ("pc", 0.2), ("ges", 0.1)])
    values = pd.Series([None, None, None], index=index, name="estimate", dtype=object)
    values.iloc[0] = "a -> b"
    values.iat[1] = cell
    with pytest.raises(error, match=rf"^column 'estimate', row 1 \(index \('pc', 0.2\)\): {message}"):
        graph_column(values, nodes=["a", "b", "c"], **ROW)


def test_missing_encoding() -> None:
    message = r"^row 1 .*: found an ndarray of shape \(2, 2\), .* only if its encoding is named; .*encoding='row->col"
    with pytest.raises(AmbiguousEncodingError, match=message):
        graph_column([None, np.zeros((2, 2))], nodes=["a", "b"])
    assert issubclass(AmbiguousEncodingError, ValueError)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((3, 3)), r"found one array of shape \(3, 3\); wrap one in a list"),
        ("a -> b", "values must be a Series, list or array of graphs, found str; wrap one in a list"),
        (nx.DiGraph(), "found DiGraph; wrap one in a list"),
        (pd.DataFrame(), "found DataFrame; wrap one in a list"),
        ({"a": 1}, "found dict; wrap one in a list"),
        (None, "found NoneType; wrap one in a list"),
    ],
)
def test_values_that_are_no_column(values: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        graph_column(values)


@pytest.fixture
def column() -> pd.Series:
    texts = ["a -> b; c", "b -> a; c", None, "c; b <- a", "a -> b", "a -> b; d", None]
    return graph_column(texts, index=list("tuvwxyz")).rename("g")


def test_equality(column: pd.Series) -> None:
    assert (column == column.iloc[0]).tolist() == [True, False, pd.NA, True, False, False, pd.NA]
    assert column.nunique() == 4
    assert len(column.drop_duplicates()) == 5


def test_factorize(column: pd.Series) -> None:
    codes, unique = pd.factorize(column)
    assert codes.tolist() == [0, 1, -1, 0, 2, 3, -1]
    assert unique[0] == column.iloc[0]


def test_groupby_and_merge(column: pd.Series) -> None:
    table = pd.DataFrame({"g": column, "n": range(7)})
    sums = table.groupby("g", sort=True)["n"].sum()
    assert sums[column.iloc[0]] == 3
    assert len(sums) == 4
    other = pd.DataFrame({"g": graph_column(["a -> b; c", "a -- b"]), "m": [1, 2]})
    merged = table.merge(other, on="g")
    assert merged["n"].tolist() == [0, 3]
    assert merged["g"].dtype == COLUMN_DTYPE


def test_parquet(column: pd.Series, tmp_path: Path) -> None:
    column.to_frame().to_parquet(tmp_path / "g.parquet")
    pd.testing.assert_series_equal(pd.read_parquet(tmp_path / "g.parquet")["g"], column)


def test_csv_is_refused_with_its_cause(column: pd.Series, tmp_path: Path) -> None:
    column.to_frame().to_csv(tmp_path / "g.csv")
    back = pd.read_csv(tmp_path / "g.csv")["g"]
    assert is_graph_column(back)
    message = r"column 'g', row 0 .*turned into when dask, CSV or astype.*Parquet, not CSV.*graph.to_strings\(\)"
    with pytest.raises(ValueError, match=message):
        coerce_graphs(back)


@pytest.mark.filterwarnings("ignore")
def test_dask(column: pd.Series) -> None:
    import dask.dataframe as dd

    frame = pd.DataFrame({"g": column.to_numpy(), "plain": [nx.DiGraph([(1, 2)])] * 7}).assign(g=column.array)
    back = dd.from_pandas(frame, npartitions=2).compute()
    assert back["g"].dtype == COLUMN_DTYPE
    assert back["g"].tolist() == column.tolist()
    message = r"column 'plain', row 0 .*'DiGraph with 2 nodes and 1 edges', which an object"
    with pytest.raises(ValueError, match=message):
        coerce_graphs(back["plain"])


def test_coerce_passes_packed_columns() -> None:
    column = graph_column(["a -> b", None])
    assert coerce_graphs(column) is column
    plain = column.astype(pd.ArrowDtype(pa.binary()))
    pd.testing.assert_series_equal(coerce_graphs(plain), column)


def test_coerce_reads_what_is_unambiguous() -> None:
    cells = [nx.DiGraph([("a", "b")]), "a -> b", [("a", "b")], as_graph("a -> b"), None]
    cells += [as_graph("a -> b").to_bytes(), "a; b"]
    series = pd.Series(cells, index=range(10, 17), name="truth")
    column = coerce_graphs(series, "truth")
    assert graphs(column) == expected(["a -> b"] * 4 + [None, "a -> b", "a; b"])
    assert column.index.equals(series.index)
    assert column.name == "truth"
    assert graphs(coerce_graphs(pd.Series([None, float("nan")], dtype=object))) == [None, None]
    assert coerce_graphs(pd.Series([], dtype=object)).dtype == COLUMN_DTYPE
    categories = coerce_graphs(pd.Series(["a -> b", None, "a -> b"]).astype("category"))
    assert graphs(categories) == expected(["a -> b", None, "a -> b"])


@pytest.mark.parametrize(
    "cell", [np.zeros((2, 2)), sp.csr_array((2, 2)), pd.DataFrame(np.zeros((2, 2)), list("ab"), list("ab"))]
)
def test_coerce_refuses_matrices(cell: Any) -> None:
    series = pd.Series([None, cell], index=["x", "y"], dtype=object)
    message = r"^column 'est', row 1 \(index 'y'\): .*with graph_column\(\.\.\., encoding="
    with pytest.raises(AmbiguousEncodingError, match=message):
        coerce_graphs(series, "est")
    with pytest.raises(TypeError, match=r"column 'est', row 0 \(index 0\): found builtins.float, expected a graph"):
        coerce_graphs(pd.Series([0.5, 1.0]), "est")


@pytest.mark.parametrize(
    ("cells", "answer"),
    [
        ([None, "a -> b"], True), (["a; b", "a <- b"], True), (["a--b"], True), (["b'\\xce\\x01'"], True),
        (["DiGraph with 2 nodes and 1 edges"], True), ([nx.DiGraph()], True), ([None, np.zeros((2, 2))], True),
        ([sp.csr_array((2, 2))], True), ([pd.DataFrame(np.zeros((2, 2)))], True), ([[("a", "b")]], True),
        ([as_graph("a")], True), ([as_graph("a").to_bytes()], True), ([], False), ([None], False),
        (["pc", "ges"], False), (["A*B + C <=> D"], False), ([b"other bytes"], False), ([[1, 2]], False),
        ([np.zeros(3)], False), ([{"a": 1}], False), ([0.5], False), ([True], False),
    ],
)  # fmt: skip
def test_is_graph_column(cells: list[Any], answer: bool) -> None:
    assert is_graph_column(pd.Series(cells, dtype=object)) is answer
    if cells and isinstance(cells[-1], str):
        assert is_graph_column(pd.Series(cells)) is answer


def test_is_graph_column_by_dtype() -> None:
    assert is_graph_column(graph_column([None]))
    assert is_graph_column(graph_column([None, "a -> b"]))
    assert not is_graph_column(pd.Series([b"other"], dtype=COLUMN_DTYPE))
    assert not is_graph_column(pd.Series([1.0]))
    assert is_graph_column(pd.Series(["a -> b", None]).astype("category"))
    assert not is_graph_column(pd.Series(["pc", None]).astype("category"))


def test_encodings_one_a_row() -> None:
    matrix = np.array([[0, 1], [0, 0]])
    cells = pd.Series([matrix, matrix, "A -> B", None, nx.DiGraph([("A", "B")]), matrix], index=list("uvwxyz"))
    named = ["row->column", "column->row", None, "row->column", float("nan"), "column->row"]
    written = ["A -> B", "B -> A", "A -> B", None, "A -> B", "B -> A"]
    for encoding in (named, pd.Series(named, index=cells.index), np.array(named, object), tuple(named)):
        column = graph_column(cells, nodes=["A", "B"], encoding=encoding)
        assert graphs(column) == expected(written)
    table = pd.DataFrame({"graph": cells, "tool": named})
    column = graph_column(table["graph"], nodes=["A", "B"], encoding=table["tool"])
    assert graphs(column) == expected(written)


def test_cells_are_let_go_once_they_are_read() -> None:
    matrix = np.array([[0, 1], [0, 0]])
    alive = weakref.ref(matrix)
    gc.disable()
    try:
        graph_column([matrix, "0 -> 1"], **ROW)
        del matrix
        assert alive() is None, "without a search for cycles"
    finally:
        gc.enable()


def test_any_iterable_of_cells_is_a_column():
    cells = {"a": "A -> B", "b": "A; B"}
    expected = ce.graph_column(list(cells.values()))
    arrow = pa.array(list(cells.values()))
    packed = pa.array(expected.tolist(), type=pa.large_binary())
    for values in (cells.values(), arrow, pa.chunked_array([arrow]), packed):
        pd.testing.assert_series_equal(ce.graph_column(values), expected)


@pytest.mark.parametrize("blank", ["", " ", "\n", " \t\r\n", "\xa0", ";", " ;\n;"])
@pytest.mark.parametrize(
    "settings", [{}, {"nodes": ["A", "B"]}, {"encoding": "row->column"}, {"kind": "dag", "nodes": ["A", "B"]}]
)
def test_a_blank_text_is_no_graph(blank: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^row 1 \(index 1\): found the blank text .* failed run as a missing value"):
        graph_column(["A -> B", blank] if "encoding" not in settings else [np.eye(2, k=1), blank], **settings)
    with pytest.raises(ValueError, match="column 'estimate', row 0 .*found the blank text"):
        pd.DataFrame({"truth": ["A -> B"], "estimate": [blank]}).ceval.evaluate(["shd"])
    # as the message says
    assert str(graph_column(["{}"], nodes=["A", "B"]).graph.to_strings()[0]) == "A; B"
    assert graph_column([None], nodes=["A", "B"]).isna().all()


def with_names(names):
    """The graph first -> second of cells of each kind that brings names, and of names given beside."""
    matrix = np.eye(len(names), k=1, dtype=int)
    frame = pd.DataFrame(matrix, names, names)
    edges = list(itertools.pairwise(names))
    return [
        lambda: graph_column([matrix], nodes=names, encoding="row->column"),
        lambda: graph_column([frame], encoding="row->column"),
        lambda: graph_column([nx.DiGraph(edges)]),
        lambda: graph_column([edges]),
        lambda: graph_column([{b: [a] for a, b in edges}], encoding="parents"),
        lambda: graph_column(["; ".join(f'"{a}" -> "{b}"' for a, b in edges)]),
        lambda: graph_column([pd.DataFrame(edges, columns=["from", "to"])]),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["A", "B", "A "], r"may be one: 'A' and 'A ' look alike, but differ in blanks; give them one name"),
        (["A", "B", "A\u00a0"], r"'A' and 'A\\xa0' look alike"),
        (["\u00e9", "B", "e\u0301"], r"'e\\u0301' and '\\xe9' look alike, but differ in Unicode's normal form"),
        (["A", "\ufeffB"], r"found the node '\\ufeffB'; the byte order mark .* encoding='utf-8-sig'"),
        (["A", "\u00a0"], r"the node name '\\xa0', of which nothing shows"),
    ],
)
def test_names_that_look_alike_are_refused_in_one_graph(names, message):
    for read in with_names(names):
        with pytest.raises(ValueError, match=message):
            read()


@pytest.mark.parametrize(("name", "other"), [("\u00e9", "e\u0301"), ("A", "A "), ("IL-6", "IL\u20106")])
def test_messages_of_other_nodes_name_those_that_look_alike(name, other):
    truth, estimate = (graph_column([f'"{x}" -> B']) for x in (name, other))
    message = rf"{re.escape(ascii(name))} and {re.escape(ascii(other))} look alike, but differ in"
    with pytest.raises(ValueError, match=message):
        ce.evaluate(pd.DataFrame({"truth": truth, "estimate": estimate}), ["shd"])
    with pytest.raises(ValueError, match="look alike, but differ in"):
        graph_column([f'"{other}" -> B'], nodes=[name, "B"])
    scores = ce.score_column([pd.DataFrame(np.ones((2, 2)), [other, "B"], [other, "B"])])
    with pytest.raises(ValueError, match=message):
        ce.evaluate(pd.DataFrame({"truth": truth, "estimate": scores}), ["average_precision"])


@pytest.mark.parametrize(
    "text", ["\ufefffrom,to\nA,B\n", "\ufeffdag { A -> B }", "\ufeffflowchart TD\n A --> B", '\ufeff{"A": []}']
)
def test_texts_that_begin_with_a_byte_order_mark(text):
    with pytest.raises(ValueError, match=r"row 0.*byte order mark '\\ufeff' .* encoding='utf-8-sig'"):
        graph_column([text])
