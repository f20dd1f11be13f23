"""Defects of readers and writers in released packages: what they return, and what is read here."""

from __future__ import annotations

import numpy as np
import pytest

import causaleval_pd as ce


def test_an_edge_with_a_circle_and_a_tail_is_kept() -> None:
    # causal-learn 0.1.4.8: GeneralGraph.add_edge(X o-- Y) leaves the endpoints (0, 0), and txt2generalgraph no edge
    text = "Graph Nodes:\nX;Y\n\nGraph Edges:\n1. X o-- Y\n"
    for cell in (text, "X o-- Y", "pag { X @-- Y }"):
        assert ce.as_graph(cell).edges == ("X o-- Y",)
    graph = ce.as_graph("X o-- Y")
    assert graph.to_numpy(encoding="causal-learn matrix").tolist() == [[0, 2], [-1, 0]]
    with pytest.raises(ValueError, match="found 0 in cell .* and 1 in cell"):
        ce.as_graph(np.array([[0, 0], [1, 0]]), encoding="causal-learn matrix")


@pytest.mark.parametrize("sign", ["-->", "<--", "---", "<->", "o->", "<-o", "o-o", "o--"])
def test_no_edge_of_tetrad_is_turned_or_lost(sign: str) -> None:
    # pywhy-graphs 0.1.0: tetrad_to_graph reads X --> Y as Y -> X, and o-o is written without its mark
    text = f"Graph Nodes:\nX;Y\n\nGraph Edges:\n1. X {sign} Y\n"
    graph = ce.as_graph(text)
    assert graph == ce.as_graph(f"X {sign} Y")
    assert ce.as_graph(graph.to_text("Tetrad text")) == graph


def test_nodes_of_tetrad_may_be_separated_by_commas() -> None:
    # causal-learn 0.1.4.8: txt2generalgraph raises a KeyError
    assert ce.as_graph("Graph Nodes:\nX,Y\n\nGraph Edges:\n1. X --> Y\n") == ce.as_graph("X -> Y")


def test_bidirected_and_undirected_edges_of_pags_are_written() -> None:
    # pywhy-graphs 0.1.0: graph_to_numpy writes zeros; graph_to_pcalg writes -1, which is no code of pcalg
    graph = ce.as_graph("X <-> Y; Y o-> Z")
    assert graph.to_numpy(encoding="pywhy-graphs matrix")[0, 1] == 20
    assert set(ce.as_graph("X -> Y").to_numpy(encoding="pcalg amat.pag").ravel().tolist()) == {0, 2, 3}
    with pytest.raises(ValueError, match="found 1 in cell .* and -1"):
        ce.as_graph(np.array([[0, 1], [-1, 0]]), encoding="pcalg amat.pag")


def test_edges_with_circles_are_different_edges() -> None:
    # bnmetrics 0.2.2 takes all of them for one type
    cells = [np.array([[0, a], [b, 0]]) for a, b in ((2, 3), (3, 3), (3, 2), (3, 1))]
    assert ce.graph_column(cells, encoding="bnmetrics").nunique() == 4


def test_matrices_of_any_integers_are_read() -> None:
    # gadjid 0.1.0 takes int8 only, and panics at graphs that are not simple
    for dtype in (np.int8, np.int64, float, bool):
        assert ce.as_graph(np.array([[0, 1], [0, 0]], dtype), encoding="gadjid row->column") == ce.as_graph("0 -> 1")
    with pytest.raises(ValueError, match="found 1 in cell .* and 1"):
        ce.as_graph(np.array([[0, 1], [1, 0]], np.int8), encoding="gadjid row->column")


def test_undirected_edges_are_one_edge() -> None:
    # gCastle 1.0.4 counts both cells of an undirected edge as true positives of one
    column = ce.graph_column([np.array([[0, 1], [1, 0]])], encoding="gCastle")
    assert column.graph.n_edges.tolist() == column.graph.n_undirected.tolist() == [1]
