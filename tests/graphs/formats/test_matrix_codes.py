"""Matrices of codes: the reading of each tool, what is refused, and which readings an undeclared matrix has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import causaleval_pd as ce

PAG = "pcalg amat.pag"
LEARN = "causal-learn matrix"


@pytest.mark.parametrize(
    ("encoding", "cells", "expected"),
    [
        # (cell (A, B), cell (B, A)); pcalg's documentation of amat.pag
        (PAG, (2, 3), "A -> B"),
        (PAG, (2, 1), "A o-> B"),
        (PAG, (2, 2), "A <-> B"),
        (PAG, (1, 1), "A o-o B"),
        (PAG, (1, 3), "B o-- A"),
        (PAG, (3, 3), "A -- B"),
        # endpoint codes of bnmetrics
        ("bnmetrics", (2, 1), "A -> B"),
        ("bnmetrics", (2, 3), "A o-> B"),
        ("bnmetrics", (3, 3), "A o-o B"),
        # GeneralGraph of causal-learn 0.1.4.8
        (LEARN, (-1, 1), "A -> B"),
        (LEARN, (2, 1), "A o-> B"),
        (LEARN, (1, 1), "A <-> B"),
        (LEARN, (2, 2), "A o-o B"),
        (LEARN, (-1, 2), "B o-- A"),
        (LEARN, (-1, -1), "A -- B"),
        (LEARN, (4, 5), "A -> B; A <-> B"),
        (LEARN, (5, 4), "B -> A; A <-> B"),
        ("Tetrad R matrix", (-1, 1), "A -> B"),
        ("Tetrad R matrix", (1, 1), "A <-> B"),
        ("MXM", (2, 3), "A -> B"),
        ("MXM", (1, 1), "A -- B"),
        # graph_to_numpy of pywhy-graphs 0.1.0
        ("pywhy-graphs matrix", (1, 0), "A -> B"),
        ("pywhy-graphs matrix", (1, 2), "A o-> B"),
        ("pywhy-graphs matrix", (2, 0), "B o-- A"),
        ("pywhy-graphs matrix", (21, 20), "A -> B; A <-> B"),
        ("pywhy-graphs matrix", (20, 20), "A <-> B"),
        ("pywhy-graphs matrix", (10, 10), "A -- B"),
        ("gadjid row->column", (1, 0), "A -> B"),
        ("gadjid row->column", (0, 2), "A -- B"),
        ("gadjid column->row", (1, 0), "B -> A"),
        ("gadjid column->row", (2, 2), "A -- B"),
        ("gCastle", (1, 1), "A -- B"),
        ("gCastle", (-1, 0), "A -- B"),
        ("gCastle", (1, 0), "A -> B"),
        ("pcalg amat.cpdag", (0, 1), "A -> B"),
        ("pcalg amat.cpdag", (1, 1), "A -- B"),
        ("lingam", (0, 1), "A -> B"),
    ],
)
def test_codes(encoding: str, cells: tuple[int, int], expected: str) -> None:
    matrix = np.array([[0, cells[0], 0], [cells[1], 0, 0], [0, 0, 0]])
    nodes, graph = (
        ["A", "B", "C"],
        ce.as_graph(
            expected + "; C", kind="mixed" if encoding == PAG and "o" not in expected[:5].replace("o--", "") else None
        ),
    )
    for cell in (matrix, matrix.astype(float), sp.csr_array(matrix), pd.DataFrame(matrix, nodes, nodes)):
        assert ce.as_graph(cell, nodes=nodes, encoding=encoding) == graph
    column = ce.graph_column([matrix, None, matrix.T], nodes=nodes, encoding=encoding)
    written = column.dropna().graph.to_numpy(encoding=encoding)
    assert ce.graph_column(written, nodes=nodes, encoding=encoding).tolist() == column.dropna().tolist()
    assert ce.as_graph(graph.to_numpy(encoding=encoding), nodes=nodes, encoding=encoding) == graph
    if encoding in (PAG, "bnmetrics", LEARN):
        assert (graph.to_numpy(encoding=encoding) == matrix).all()


@pytest.mark.parametrize(
    ("encoding", "cells", "message"),
    [
        (
            PAG,
            (2, 0),
            r"found 2 in cell \('A', 'B'\) and 0 in cell \('B', 'A'\), expected 0 no edge, 1 a circle, 2 an arr",
        ),
        (PAG, (2, -1), "found 2 in cell .* and -1 in"),
        (PAG, (2, 4), "found 2 in cell .* and 4 in"),
        ("bnmetrics", (0.5, 1), "found 0.5 in cell"),
        ("bnmetrics", (np.nan, 1), "found nan in cell"),
        (LEARN, (0, 1), r"found 0 in cell \('A', 'B'\) and 1 in cell"),
        (LEARN, (4, 4), "found 4 in cell .* and 4"),
        (LEARN, (3, 1), "found 3 in cell"),
        ("MXM", (2, 2), "expected 0 no edge, 1 in both cells an undirected edge"),
        ("pywhy-graphs matrix", (1, 1), "found 1 in cell .* and 1"),
        ("pywhy-graphs matrix", (11, 10), "found 11 in cell .* and 10"),
        ("gadjid row->column", (1, 1), "found 1 in cell .* and 1"),
        ("gCastle", (-1, 1), "found -1 in cell .* and 1"),
        ("lingam", (0.7, 0), "found 0.7 in cell .*threshold weights by their size"),
        ("tigramite", (2, 3), "encoding"),
    ],
)
def test_refused(encoding: str, cells: tuple[float, float], message: str) -> None:
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
        (
            [[0, 1], [0, 0]],
            ["in 2 ways", "'row->column') if", "reads '0 -> 1', as with", "'column->row') if", "'lingam'"],
        ),
        ([[0, -1], [1, 0]], ["only if its encoding is named", "'causal-learn matrix') if", "reads '0 -> 1'"]),
        ([[0, 0], [0, 0]], ["only if its encoding is named", "reads '0; 1'"]),
        (
            [[0, 0.3], [0, 0]],
            ["only if its encoding is named", "one of 'row->column', 'column->row'", "list_encodings()"],
        ),
    ],
)
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
        (np.array([["", "-->"], ["<--", ""]]), "0 -> 1"),
        (np.array([["", "o->"], ["<-o", ""]]), "0 o-> 1"),
        (np.array([["", "o-o"], ["o-o", ""]]), "0 o-o 1"),
        (np.array([["", "<->"], ["<->", ""]]), "0 <-> 1"),
        (np.array([["", "---"], ["---", ""]]), "0 -- 1"),
        (BOW, "0 -> 1; 0 <-> 1"),
        (BOW[:, :, None], "0 -> 1; 0 <-> 1"),
        (np.stack([BOW, np.full((2, 2), "")], axis=2), "0 -> 1; 0 <-> 1"),
    ],
)
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
