"""Adjacency matrices: arrays, sparse matrices and DataFrames, read through as_graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import causaleval_pd as ce
from causaleval_pd.graphs import AmbiguousEncodingError, as_graph, graph_column

ROW = {"encoding": "row->column"}


@pytest.mark.parametrize("dtype", [bool, int, np.int8, np.uint8, float, np.float32])
@pytest.mark.parametrize("form", [np.array, sp.csr_matrix, sp.coo_array, sp.csc_array, np.asfortranarray])
def test_matrices(form: Any, dtype: Any) -> None:
    matrix = form(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=dtype))
    nodes = ["c", "a", "b"]
    assert as_graph(matrix, nodes=nodes, encoding="row->column") == as_graph("c -> a; a -- b")
    assert as_graph(matrix, nodes=nodes, encoding="column->row") == as_graph("a -> c; a -- b")


def test_sparse_duplicates_and_stored_zeros() -> None:
    matrix = sp.coo_array(([1, 0, 0], ([0, 1, 0], [1, 0, 0])), shape=(2, 2))
    assert as_graph(matrix, nodes=["a", "b"], **ROW) == as_graph("a -> b")
    with pytest.raises(ValueError, match=r"found 2 in cell \('a', 'b'\), expected 0 or 1"):
        as_graph(sp.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(2, 2)), nodes=["a", "b"], **ROW)


def test_frames() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], index=["b", "a"], columns=["b", "a"])
    assert as_graph(frame, **ROW) == as_graph("b -> a")
    assert as_graph(frame, encoding="column->row") == as_graph("a -> b")
    assert as_graph(frame.loc[["a", "b"]], **ROW) == as_graph("b -> a")
    assert as_graph(frame, rename={"b": "x"}, **ROW) == as_graph("x -> a")
    assert as_graph(frame, nodes=["a", "b"], **ROW) == as_graph("b -> a")


@pytest.mark.parametrize("cell", [np.eye(2)[::-1], sp.csr_array(np.eye(2)[::-1]), pd.DataFrame(np.eye(2)[::-1])])
def test_matrices_need_an_encoding(cell: Any) -> None:
    with pytest.raises(
        AmbiguousEncodingError,
        match=r"of shape \(2, 2\), which can be read in 3 ways.*encoding='row->column'\) if .*, which reads '0 -- 1'",
    ):
        as_graph(cell, nodes=["a", "b"])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.zeros((2, 3)), r"found an array of shape \(2, 3\), expected a square adjacency matrix"),
        (np.zeros(3), r"found an array of shape \(3,\), expected a square"),
        (sp.csr_array((2, 3)), r"found an array of shape \(2, 3\), expected a square"),
        (pd.DataFrame(np.zeros((2, 3))), r"found a DataFrame of shape \(2, 3\), expected a square"),
        (np.zeros((3, 3)), r"found a matrix of 3 nodes, expected 2 as there are names \['a', 'b'\]"),
        (
            np.array([[0, 0.5], [0, 0]]),
            r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights",
        ),
        (
            sp.csr_array([[0, 0.5], [0, 0]]),
            r"found 0.5 in cell \('a', 'b'\), expected 0 or 1; threshold weights",
        ),
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
        (
            [[0, 0.9, 0.1], [0, 0, 0.7], [0.001, 0.02, 0]],
            r"abs\(W\) > 0.3: 2 edges; W != 0 would make 3 edges, 2 of",
        ),
        ([[0, 0.9, 0], [0, 0, -0.7], [0, 0, 0]], r"abs\(W\) > 0.3: 2 edges; W != 0 would make 2 edges"),
        ([[0, 9e-3, 0], [0, 0, 7e-3], [1e-9, 0, 0]], r"abs\(W\) > 0.002: 2 edges; W != 0 would make 3 edges"),
        ([[0, 90.0, 0], [0, 0, 70], [0.5, 0, 0]], r"abs\(W\) > 20: 2 edges; W != 0 would make 3 edges"),
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
    assert as_graph(np.matrix([[0, 1], [0, 0]]), **ROW) == as_graph("0 -> 1")
    with pytest.raises(ValueError, match=r"row 0 \(index 0\): found 0.5 in cell"):
        graph_column([np.matrix([[0, 0.5], [0, 0]])], **ROW)


def test_huge_sparse_matrices_are_refused_before_their_nodes_are_named() -> None:
    with pytest.raises(ValueError, match="found a matrix of 1000000000 nodes; at most 20000 are supported"):
        as_graph(sp.coo_array(([1], ([0], [1])), shape=(10**9, 10**9)), **ROW)


def test_frames_refused() -> None:
    frame = pd.DataFrame([[0, 1], [0, 0]], columns=["a", "b"])
    with pytest.raises(
        ValueError, match=r"rows \[0, 1\] and columns \['a', 'b'\], expected the same nodes; set frame.index"
    ):
        as_graph(frame, **ROW)
    twice = pd.DataFrame([[0, 1], [0, 0]], index=["a", "a"], columns=["a", "a"])
    with pytest.raises(ValueError, match="expected each node once"):
        as_graph(twice, **ROW)
    with pytest.raises(ValueError, match=r"found the nodes .* expected .*nodes=.*unknown"):
        as_graph(frame.set_axis(["a", "b"]), nodes=["a", "c"], **ROW)


def test_unnamed_matrices_are_numbered() -> None:
    assert as_graph(np.array([[0, 1], [0, 0]]), **ROW).to_string() == "0 -> 1"
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        as_graph(np.zeros((2, 3)), **ROW)


def test_unknown_encoding() -> None:
    message = (
        "unknown encoding 'pcalg'; did you mean 'column->row', 'pcalg amat.pag', 'pcalg amat.cpdag'. it is one of "
    )
    with pytest.raises(ValueError, match=message):
        as_graph(np.zeros((2, 2)), nodes=["a", "b"], encoding="pcalg")


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_of_numpy_are_arrays() -> None:
    cell = np.matrix([[0, 1], [0, 0]])
    assert ce.as_graph(cell, encoding="row->column", nodes=["A", "B"]) == ce.as_graph("A -> B")
    column = ce.graph_column([cell, np.asarray(cell), None], encoding="column->row", nodes=["A", "B"])
    assert column.graph.to_strings().tolist()[:2] == ["B -> A"] * 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([["0", "1"], ["0", "0"]], r"cell \('A', 'A'\) holds '0': read texts as numbers, as in matrix.astype\(float\)"),
        ([[0, "1,0"], [0, 0]], r"cell \('A', 'B'\) holds '1,0': read the file with decimal=','"),
        ([[0, None], [0, 0]], r"cell \('A', 'B'\) holds None: write 0 where there is no edge"),
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
