"""Adjacency matrices and matrices of codes: the reading of each tool, refusals, what an undeclared matrix may be."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import causaleval_pd as ce
from causaleval_pd.graphs import AmbiguousEncodingError, as_graph, graph_column
from causaleval_pd.graphs.weights import advised_threshold, explain_weights, unread_numbers

ROW = {"encoding": "row->column"}


@pytest.mark.parametrize("dtype", [bool, int, np.int8, np.uint8, float, np.float32])
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.coo_array, sp.csc_array, np.asfortranarray])
def test_matrices(form: Any, dtype: Any) -> None:
    matrix = form(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=dtype))
    nodes = ["c", "a", "b"]
    assert as_graph(matrix, nodes=nodes, encoding="row->column") == as_graph("c -> a; a -- b")
    assert as_graph(matrix, nodes=nodes, encoding="column->row") == as_graph("a -> c; a -- b")
    assert as_graph(matrix, encoding="row->column").to_string() == "0 -> 1; 1 -- 2"


def test_sparse_duplicates_and_stored_zeros() -> None:
    matrix = sp.coo_array(([1, 0, 0], ([0, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert as_graph(matrix, nodes=["a", "b"], **ROW) == as_graph("a -> b")


@pytest.mark.parametrize("values", [[1, 1], [1, -1]])
@pytest.mark.parametrize("form", [sp.coo_array, sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_duplicates_are_added_up(form: Any, values: list[int]) -> None:
    """As scipy does in `toarray`, also where a matrix of compressed rows or columns has them."""
    places = ([0, 0], [1, 1]) if form is sp.coo_array else ([1, 1], [0, 2, 2])
    if form is sp.csc_array:
        places = ([0, 0], [0, 0, 2])
    matrix = form((values, places) if form is sp.coo_array else (values, *places), shape=(2, 2))
    assert matrix.nnz == 2
    if sum(values) == 0:
        assert as_graph(matrix, nodes=["a", "b"], **ROW) == as_graph("a; b")
    else:
        with pytest.raises(ValueError, match=r"found 2 in cell \('a', 'b'\), expected 0 or 1"):
            as_graph(matrix, nodes=["a", "b"], **ROW)
    assert matrix.nnz == 2, "inputs are not changed"


def test_frames() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["b", "a"], columns=["b", "a"])
    assert as_graph(frame, **ROW) == as_graph("b -> a")
    assert as_graph(frame, encoding="column->row") == as_graph("a -> b")
    assert as_graph(frame.loc[["a", "b"]], **ROW) == as_graph("b -> a")
    assert as_graph(frame, rename={"b": "x"}, **ROW) == as_graph("x -> a")
    assert as_graph(frame, nodes=["a", "b"], **ROW) == as_graph("b -> a")


@pytest.mark.parametrize("cell", [np.eye(2)[::-1], sp.csr_array(np.eye(2)[::-1]), pd.DataFrame(np.eye(2)[::-1])])
def test_matrices_need_an_encoding(cell: Any) -> None:
    message = r"of shape \(2, 2\), which can be read in 3 ways.*encoding='row->column'\) if .*, which reads '0 -- 1'"
    with pytest.raises(AmbiguousEncodingError, match=message):
        as_graph(cell, nodes=["a", "b"])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.zeros((2, 3)), r"found an array of shape \(2, 3\), expected a square adjacency matrix"),
        (np.zeros(3), r"found an array of shape \(3,\), expected a square"),
        (sp.csr_array((2, 3)), r"found an array of shape \(2, 3\), expected a square"),
        (pd.DataFrame(np.zeros((2, 3))), r"found a DataFrame of shape \(2, 3\), expected a square"),
        (np.zeros((3, 3)), r"found a matrix of 3 nodes, expected 2 as there are names \['a', 'b'\]"),
        (np.array([[0, 0.5], [0, 0]]), r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights"),
        (sp.csr_array([[0, 0.5], [0, 0]]), r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights"),
        (np.array([[0, np.nan], [0, 0]]), r"found nan in cell \('a', 'b'\), expected 0 or 1; drop missing"),
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


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 0.9, 0.1], [0, 0, 0.7], [0.001, 0.02, 0]], r"abs\(W\) > 0.3: 2 edges; W != 0 would make 3 edges, 2 of"),
        ([[0, 0.9, 0], [0, 0, -0.7], [0, 0, 0]], r"abs\(W\) > 0.3: 2 edges; W != 0 would make 2 edges"),
        ([[0, 9e-3, 0], [0, 0, 7e-3], [1e-9, 0, 0]], r"abs\(W\) > 0.003: 2 edges; W != 0 would make 3 edges"),
        ([[0, 90.0, 0], [0, 0, 70], [0.5, 0, 0]], r"abs\(W\) > 30: 2 edges; W != 0 would make 3 edges"),
        ([[0, np.inf, 0], [0, 0, 70], [0.5, 0, 0]], "drop missing and infinite weights"),
    ],
)
@pytest.mark.parametrize("form", [np.array, sp.csr_array, pd.DataFrame])
def test_advised_thresholds(matrix: Any, message: str, form: Any) -> None:
    with pytest.raises(ValueError, match=message):
        as_graph(form(np.array(matrix)), **ROW)


class Tensor(np.ndarray):
    """An array with labels of its rows and columns, as gCastle's."""

    def __array_finalize__(self, obj: Any) -> None:
        if self.ndim == 2:
            self.index, self.columns = pd.RangeIndex(self.shape[0]), pd.RangeIndex(self.shape[1])


def tensor(values: Any, labels: Any) -> Tensor:
    found = np.array(values).view(Tensor)
    found.index = found.columns = pd.Index(labels)
    return found


def test_arrays_with_labels() -> None:
    named = tensor([[0, 1], [0, 0]], ["b", "a"])
    assert as_graph(named, **ROW) == as_graph("b -> a")
    assert as_graph(named, nodes=["a", "b"], **ROW) == as_graph("b -> a")
    assert as_graph(named, encoding="column->row") == as_graph("a -> b")
    plain = named > 0
    assert as_graph(plain, nodes=["x", "y"], **ROW) == as_graph("x -> y")
    named.index = pd.Index(["a", "c"])
    with pytest.raises(ValueError, match=r"found a Tensor with rows \['a', 'c'\] and columns \['b', 'a'\]"):
        as_graph(named, **ROW)


def test_masked_arrays() -> None:
    values = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    masked = np.ma.masked_array(values, mask=values > 5)
    assert as_graph(masked, nodes=list("abc"), **ROW) == as_graph("a -> b -> c")
    masked[0, 1] = np.ma.masked
    with pytest.raises(ValueError, match=r"row 1 .* a masked value in cell \(0, 1\) .*matrix.filled\(0\)"):
        graph_column([None, masked], nodes=list("abc"), **ROW)
    assert as_graph(masked.filled(0), nodes=list("abc"), **ROW) == as_graph("a; b -> c")
    assert graph_column([np.ma.masked, "a"]).isna().tolist() == [True, False]
    # an array of strings, as tigramite's, of which all edges are masked
    links = np.ma.masked_array([["", "-->"], ["<--", ""]], mask=[[False, True], [True, False]])
    with pytest.raises(ValueError, match=r"row 0 .* masked value in cell \(0, 1\) .*expected a mark; .*filled\(''\)"):
        graph_column([links], nodes=["a", "b"])


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "int64[pyarrow]", "bool[pyarrow]"])
def test_nullable_types(dtype: str) -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["a", "b"], columns=["a", "b"]).astype(dtype)
    assert as_graph(frame, **ROW) == as_graph("a -> b")
    marks = pd.DataFrame([[0, 2], [3, 0]], index=["a", "b"], columns=["a", "b"]).astype("Int64")
    assert as_graph(marks, encoding="pcalg amat.pag") == as_graph("a -> b", kind="mixed")
    frame.loc["a", "b"] = pd.NA
    with pytest.raises(ValueError, match=r"a missing value in cell \('a', 'b'\) of a DataFrame.*fillna\(0\)"):
        as_graph(frame, **ROW)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrix_subclass() -> None:
    cell = np.matrix([[0, 1], [0, 0]])
    assert as_graph(cell, nodes=["A", "B"], **ROW) == as_graph("A -> B")
    column = graph_column([cell, np.asarray(cell), None], encoding="column->row", nodes=["A", "B"])
    assert column.graph.to_strings().tolist()[:2] == ["B -> A"] * 2
    with pytest.raises(ValueError, match=r"row 0 \(index 0\): found 0.5 in cell"):
        graph_column([np.matrix([[0, 0.5], [0, 0]])], **ROW)


def test_huge_sparse_matrices_are_refused_before_their_nodes_are_named() -> None:
    with pytest.raises(ValueError, match="found a matrix of 1000000000 nodes; at most 20000 are supported"):
        as_graph(sp.coo_array(([1], ([0], [1])), shape=(10**9, 10**9)), **ROW)


def test_frames_refused() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], columns=["a", "b"])
    message = r"rows \[0, 1\] and columns \['a', 'b'\], expected the same nodes; set frame.index"
    with pytest.raises(ValueError, match=message):
        as_graph(frame, **ROW)
    twice = pd.DataFrame([[0, 1], [0, 0]], index=["a", "a"], columns=["a", "a"])
    with pytest.raises(ValueError, match="expected each node once"):
        as_graph(twice, **ROW)
    with pytest.raises(ValueError, match=r"found the nodes .* expected .*nodes=.*unknown"):
        as_graph(frame.set_axis(["a", "b"]), nodes=["a", "c"], **ROW)


def test_unknown_encoding() -> None:
    names = "'column->row', 'pcalg amat.pag', 'pcalg amat.cpdag'"
    with pytest.raises(ValueError, match=f"unknown encoding 'pcalg'; did you mean {names}. it is one of "):
        as_graph(np.zeros((2, 2)), nodes=["a", "b"], encoding="pcalg")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["0", "1"], ["0", "0"]], r"cell \('A', 'A'\) holds '0': read texts as numbers, as in matrix.astype\(float\)"),
        ([[0, "1,0"], [0, 0]], r"cell \('A', 'B'\) holds '1,0': read texts as numbers, .* with decimal=','"),
        ([[0, None], [0, 0]], r"cell \('A', 'B'\) holds None: write 1 for an edge, 0 for none"),
        ([[0, "yes"], [0, 0]], r"cell \('A', 'B'\) holds 'yes': write 1 for an edge, 0 for none"),
        ([[0, 1], [0, 0]], r"its cells are numbers: pass matrix.astype\(float\)"),
    ],
)
def test_matrices_of_objects_name_the_cell(values, message):
    frame = pd.DataFrame(values, list("AB"), list("AB"), dtype=object)
    with pytest.raises(ValueError, match=r"row 0 .*found a matrix of dtype object, .*" + message):
        graph_column([frame], encoding="row->column")
    message = message.replace("'A', 'A'", "0, 0").replace("'A', 'B'", "0, 1")
    with pytest.raises(ValueError, match=message):
        graph_column([frame.to_numpy()], encoding="row->column")


def test_a_table_whose_first_column_holds_names():
    frame = pd.DataFrame({"Unnamed: 0": ["A", "B"], "A": [0, 0], "B": [1, 0]})
    with pytest.raises(ValueError, match=r"shape \(2, 3\), expected a square .*; read it with index_col=0"):
        graph_column([frame], encoding="row->column")


PAG = "pcalg amat.pag"
LEARN = "causal-learn matrix"


#: what each encoding reads in the cells (A, B) and (B, A)
CODES = {
    PAG: {  # pcalg's documentation of amat.pag
        **{(2, 3): "A -> B", (2, 1): "A o-> B", (2, 2): "A <-> B"},
        **{(1, 1): "A o-o B", (1, 3): "B o-- A", (3, 3): "A -- B"},
    },
    "bnmetrics": {(2, 1): "A -> B", (2, 3): "A o-> B", (3, 3): "A o-o B"},
    LEARN: {  # GeneralGraph of causal-learn 0.1.4.8
        **{(-1, 1): "A -> B", (2, 1): "A o-> B", (1, 1): "A <-> B", (2, 2): "A o-o B"},
        **{(-1, 2): "B o-- A", (-1, -1): "A -- B", (4, 5): "A -> B; A <-> B", (5, 4): "B -> A; A <-> B"},
    },
    "Tetrad R matrix": {(-1, 1): "A -> B", (1, 1): "A <-> B"},
    "MXM": {(2, 3): "A -> B", (1, 1): "A -- B"},
    "pywhy-graphs matrix": {  # graph_to_numpy of pywhy-graphs 0.1.0
        **{(1, 0): "A -> B", (1, 2): "A o-> B", (2, 0): "B o-- A"},
        **{(21, 20): "A -> B; A <-> B", (20, 20): "A <-> B", (10, 10): "A -- B"},
    },
    "gadjid row->column": {(1, 0): "A -> B", (0, 2): "A -- B"},
    "gadjid column->row": {(1, 0): "B -> A", (2, 2): "A -- B"},
    "gCastle": {(1, 1): "A -- B", (-1, 0): "A -- B", (1, 0): "A -> B"},
    "pcalg amat.cpdag": {(0, 1): "A -> B", (1, 1): "A -- B"},
    "lingam": {(0, 1): "A -> B"},
}


@pytest.mark.parametrize(
    ("encoding", "cells", "expected"), [(name, *one) for name, cells in CODES.items() for one in cells.items()]
)
def test_codes(encoding: str, cells: tuple[int, int], expected: str) -> None:
    matrix = np.array([[0, cells[0], 0], [cells[1], 0, 0], [0, 0, 0]])
    nodes = ["A", "B", "C"]
    kind = "mixed" if encoding == PAG and "o" not in expected[:5].replace("o--", "") else None
    graph = ce.as_graph(f"{expected}; C", kind=kind)
    for cell in (matrix, matrix.astype(float), sp.csr_array(matrix), pd.DataFrame(matrix, nodes, nodes)):
        assert ce.as_graph(cell, nodes=nodes, encoding=encoding) == graph
    column = ce.graph_column([matrix, None, matrix.T], nodes=nodes, encoding=encoding)
    written = column.dropna().graph.to_numpy(encoding=encoding)
    assert ce.graph_column(written, nodes=nodes, encoding=encoding).tolist() == column.dropna().tolist()
    assert ce.as_graph(graph.to_numpy(encoding=encoding), nodes=nodes, encoding=encoding) == graph
    # what is written in one of two ways that are read
    if (encoding, cells) not in [("gCastle", (-1, 0)), ("gadjid row->column", (0, 2))]:
        assert (graph.to_numpy(encoding=encoding) == matrix).all()


@pytest.mark.parametrize(
    ("encoding", "cells", "message"),
    [
        (PAG, (2, 0), r"found 2 in cell \('A', 'B'\) and 0 in cell \('B', 'A'\), expected 0 no edge, 1 a circle, 2 an"),
        (PAG, (2, -1), "found 2 in cell .* and -1 in"), (PAG, (2, 4), "found 2 in cell .* and 4 in"),
        (PAG, (1, -1), "found 1 in cell .* and -1"),  # as graph_to_pcalg of pywhy-graphs 0.1.0 writes
        ("bnmetrics", (0.5, 1), "found 0.5 in cell"), ("bnmetrics", (np.nan, 1), "found nan in cell"),
        (LEARN, (0, 1), r"found 0 in cell \('A', 'B'\) and 1 in cell"), (LEARN, (4, 4), "found 4 in cell .* and 4"),
        (LEARN, (3, 1), "found 3 in cell"), ("MXM", (2, 2), "expected 0 no edge, 1 in both cells an undirected edge"),
        ("pywhy-graphs matrix", (1, 1), "found 1 in cell .* and 1"), ("gCastle", (-1, 1), "found -1 in cell .* and 1"),
        ("pywhy-graphs matrix", (11, 10), "found 11 in cell .* and 10"), ("tigramite", (2, 3), "encoding"),
        ("gadjid row->column", (1, 1), "found 1 in cell .* and 1"),
        ("lingam", (0.7, 0), "found 0.7 in cell .*threshold weights by their size"),
    ],
)  # fmt: skip
def test_codes_refused(encoding: str, cells: tuple[float, float], message: str) -> None:
    matrix = np.array([[0, cells[0]], [cells[1], 0]])
    with pytest.raises(ValueError, match=message) as error:
        ce.graph_column([None, matrix], nodes=["A", "B"], encoding=encoding)
    assert "row 1" in str(error.value)


def test_self_loops() -> None:
    with pytest.raises(ValueError, match="an edge from 'A' to itself"):
        ce.as_graph(np.array([[2, 0], [0, 0]]), nodes=["A", "B"], encoding=PAG)


def test_wrong_declarations_of_circles_and_tails_are_legal_so_that_none_is_guessed() -> None:
    cell = np.array([[0, 2], [3, 0]])
    assert ce.as_graph(cell, encoding="bnmetrics") == ce.as_graph("0 o-> 1")
    assert ce.as_graph(cell, encoding=PAG, kind="dag") == ce.as_graph("0 -> 1")
    with pytest.raises(ce.AmbiguousEncodingError, match="in 2 ways") as error:
        ce.as_graph(cell)
    for part in ("'pcalg amat.pag'", "'bnmetrics'", "reads '0 -> 1', as with 'MXM'", "reads '0 o-> 1'"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ([[0, 1], [0, 0]],
         ["in 2 ways", "'row->column') if", "reads '0 -> 1', as with", "'column->row') if", "'lingam'"]),
        ([[0, -1], [1, 0]], ["only if its encoding is named", "'causal-learn matrix') if", "reads '0 -> 1'"]),
        ([[0, 0], [0, 0]], ["only if its encoding is named", "reads '0; 1'"]),
        ([[0, 0.3], [0, 0]],
         ["only if its encoding is named", "one of 'row->column', 'column->row'", "list_encodings()"]),
    ],
)  # fmt: skip
def test_undeclared_matrices_list_what_each_encoding_reads(cell: Any, parts: list[str]) -> None:
    with pytest.raises(ce.AmbiguousEncodingError) as error:
        ce.graph_column([np.array(cell)])
    assert [part for part in parts if part not in str(error.value)] == []


def test_graphs_of_marks_that_an_encoding_lacks_are_not_written() -> None:
    column = ce.graph_column(["A -> B", "A <-> B"])
    for encoding, message in (
        ("row->column", r"^row 1 .*cannot hold the marks .* to_numpy\(encoding='pcalg amat.pag'\)"),
        ("MXM", r"^row 1 .*'MXM' has no codes for an edge with an arrow and an arrow"),
        ("dagitty", "the encoding 'dagitty' has no matrices; to_numpy writes 'row->column'"),
    ):
        with pytest.raises(ValueError, match=message):
            column.graph.to_numpy(encoding=encoding)
    with pytest.raises(ValueError, match="has no codes for a pair of nodes with '->' and '<->'"):
        ce.as_graph("A -> B; A <-> B").to_numpy(encoding=PAG)
    with pytest.raises(ValueError, match="unknown encoding 'pcalg'"):
        column.graph.to_numpy(encoding="pcalg")


BOW = np.array([["", "+->"], ["<-+", ""]])


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (np.array([["", "-->"], ["<--", ""]]), "0 -> 1"), (np.array([["", "o->"], ["<-o", ""]]), "0 o-> 1"),
        (np.array([["", "o-o"], ["o-o", ""]]), "0 o-o 1"), (np.array([["", "<->"], ["<->", ""]]), "0 <-> 1"),
        (np.array([["", "---"], ["---", ""]]), "0 -- 1"), (BOW, "0 -> 1; 0 <-> 1"),
        (BOW[:, :, None], "0 -> 1; 0 <-> 1"),
        (np.stack([BOW, np.full((2, 2), "")], axis=2), "0 -> 1; 0 <-> 1"),
    ],
)  # fmt: skip
def test_strings_of_tigramite(cell: Any, expected: str) -> None:
    assert ce.as_graph(cell) == ce.as_graph(cell, encoding="tigramite") == ce.as_graph(expected)
    written = ce.graph_column([cell]).graph.to_numpy(encoding="tigramite")
    assert (written[0] == (cell if cell.ndim == 2 else cell[:, :, 0])).all()


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.array([["", "-->"], ["", ""]]), r"found '-->' in cell \(0, 1\) and '' in cell \(1, 0\); .*mirrored"),
        (np.array([["", "x-x"], ["x-x", ""]]), "found 'x-x' in cell .*conflict of orientations"),
        (np.array([["", "-?>"], ["<?-", ""]]), "found '-.>' in cell"),
        (np.array([["-->", ""], ["", ""]]), "itself|mirrored"),
        (np.stack([np.full((2, 2), ""), BOW], axis=2), r"found links at lags; .* take graph\[:, :, 0\]"),
        (np.full((2, 2, 2, 2), ""), r"found an array \(N, N, T, T\)"),
        (np.full((2, 3), ""), r"shape \(2, 3\), expected"),
    ],
)
def test_strings_of_tigramite_refused(cell: Any, message: str) -> None:
    with pytest.raises(ValueError, match="row 0.*" + message):
        ce.graph_column([cell], nodes=["A", "B"])


def test_missing_graphs_have_no_strings() -> None:
    with pytest.raises(ValueError, match=r"row 1 .*the graph is missing, .* column.dropna"):
        ce.graph_column(["A -> B", None]).graph.to_numpy(encoding="tigramite")


def test_codes_of_pags_name_the_class() -> None:
    legal = ce.as_graph("A o-> C <-o B; C -> D")
    assert ce.as_graph(legal.to_numpy(encoding=PAG), nodes=legal.nodes, encoding=PAG) == legal
    for kind in ("dag", "mag", "cpdag"):
        graph = ce.as_graph("A -> C <- B", kind=kind)
        matrix = graph.to_numpy(encoding=PAG)
        assert ce.as_graph(matrix, nodes=graph.nodes, encoding=PAG).kind == "mixed", "its PAG has circles"
        assert ce.as_graph(matrix, nodes=graph.nodes, encoding=PAG, kind=kind) == graph
    assert ce.graph_column([np.zeros((2, 2), int), None], encoding=PAG).graph.kind.tolist()[0] == "pag"


@pytest.mark.parametrize(
    ("encoding", "values", "expected"),
    [
        ("pcalg amat.cpdag", [[0, 1, 0], [1, 0, 0], [0, 1, 0]], "X -- Y; Y -> Z"),
        ("pcalg amat.pag", [[0, 2, 0], [1, 0, 2], [0, 3, 0]], "X o-> Y; Y -> Z"),
        ("row->column", [[0, 1, 0], [0, 0, 1], [0, 0, 0]], "X -> Y; Y -> Z"),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_matrices_as_they_come_from_r(encoding: str, values: list[list[int]], expected: str, dtype: Any) -> None:
    """R hands on columns in order, numbers as floats, and names beside the array."""
    names = [np.str_(name) for name in "XYZ"]
    array = np.asfortranarray(np.array(values, dtype))
    array.flags.writeable = False
    frame = pd.DataFrame(array, index=names, columns=names)
    assert ce.as_graph(array, encoding=encoding, nodes=names) == ce.as_graph(expected)
    assert ce.as_graph(frame, encoding=encoding) == ce.as_graph(expected)


def test_the_threshold_is_the_usual_one_or_in_proportion():
    assert advised_threshold([1.2, 0.8, 0.1, 0.02]) == 0.3
    assert advised_threshold([0.02, 0.015, 0.0001]) == 0.006


def test_a_threshold_is_advised_with_the_edges_that_it_leaves():
    assert explain_weights([0, 1, 2], [1, 2, 1], [0.9, 0.7, 0.004]) == (
        "threshold weights by their size, as in abs(W) > 0.3: 2 edges; W != 0 would make 2 edges, 1 of them undirected"
    )


def test_columns_of_numbers_may_be_printed_as_text():
    table = pd.DataFrame({"from": ["A", "B"], "to": ["B", "C"], "p": ["<0.001", ""], "tool": ["pc", "ges"]})
    assert unread_numbers(table, ["from", "to"]) == ["p"]
