"""Edge lists and edge strings as cells, and cells that are refused, read through as_graph."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from causaleval_pd.graphs import as_graph

ALL_CELLS = ".*model string, .*edge list, .*networkx, .*edge string, Graph or packed bytes, .*or missing"


def test_edge_lists() -> None:
    assert as_graph([("a", "b"), ("b", "c"), ("c", "b")]) == as_graph("a -> b -- c")
    assert as_graph([(0, 1)]) == as_graph("0 -> 1")
    assert as_graph({("a", "b")}) == as_graph((("a", "b"),)) == as_graph("a -> b")
    assert as_graph([("a", "b")], nodes=["c", "b", "a"]) == as_graph("a -> b; c")
    assert as_graph([], nodes=["a", "b"]) == as_graph("a; b")


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        (
            [[0, 1], [0, 0]],
            TypeError,
            r"found \[0, 1\] in a list, expected \(source, target\) tuples; make nested lists a numpy",
        ),
        (("a", "b"), TypeError, r"found 'a' in a tuple, expected \(source, target\) tuples"),
        ([("a", "b", "->")], TypeError, r"found \('a', 'b', '->'\) in a list"),
        ([("a", "a")], ValueError, "found an edge from 'a' to itself"),
        ([], ValueError, r"found \[\], which names no nodes; pass nodes="),
        ("", ValueError, r"found '', which names no nodes; pass nodes=, write a graph without edges as bare names"),
        ({"a": ["b"]}, ValueError, "found a dict, which can be read in 2 ways"),
        (3, TypeError, f"found builtins.int, expected a graph: {ALL_CELLS}"),
        (0.5, TypeError, "found builtins.float, expected a graph"),
        (None, ValueError, "expected a graph, found None"),
        (float("nan"), ValueError, "expected a graph, found nan"),
        ("A @-> B", ValueError, "graph: found the edge mark '@->'; edges are written"),
    ],
)
def test_refused(cell: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_graph(cell)


def test_nodes_complete_strings() -> None:
    assert as_graph("a -> b", nodes=["c", "a", "b"]) == as_graph("a -> b; c")
    assert as_graph("", nodes=["a"]) == as_graph("{}", nodes=["a"]) == as_graph("a")
    with pytest.raises(
        ValueError, match=r"found the nodes \['a', 'b'\], expected \['a', 'c'\] \(nodes=\): unknown \['b'\]"
    ):
        as_graph("a -> b", nodes=["a", "c"])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"from": ["A", "B"], "edge": ["o->", "<->"], "to": ["B", "C"]}, "A o-> B <-> C"),
        ({"from": ["A", "B", "C"], "to": ["B", "C", "B"]}, "A -> B -- C"),
        ({"ID": [1, 2], "Variable 1": ["A", "C"], "Dependency": ["->", "-"], "Variable 2": ["B", "B"]}, "A -> B -- C"),
        ({"source": ["A"], "target": ["B"], "weight": [1.0]}, "A -> B"),
        ({"Source": ["A"], "Target": ["B"], "Type": ["Undirected"]}, "A -- B"),
    ],
)
def test_edge_tables(table: dict[str, list[Any]], expected: str) -> None:
    assert as_graph(pd.DataFrame(table)) == as_graph(expected)
    assert as_graph(pd.DataFrame(table), nodes=["A", "B", "C", "D"]).nodes == ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"from": ["A", "B"], "edge": ["->", "*->"], "to": ["B", "C"]}, r"edge 2: found '\*->', expected one of"),
        ({"from": ["A", "B"], "edge": ["->", "->"], "to": ["B", "A"]}, "edge 2: found the edges 'B' <-- 'A' and"),
        ({"from": ["A"], "to": ["B"], "weight": [0.4]}, "found weights of edges, expected 1; threshold weights"),
        ({"from": ["A"], "to": ["B"], "lag": [1]}, "found edges with a lag"),
        ({"from": [None], "to": ["B"]}, "found the node None"),
        ({"from": ["A", "B"], "edge": ["->", "->"], "to": ["B", None]}, "found the node (nan|None) of type"),
        ({"from": ["A", "B"], "edge": ["->", None], "to": ["B", "C"]}, r"edge 2: found (nan|None), expected one of"),
    ],
)
def test_edge_tables_refused(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        as_graph(pd.DataFrame(table))


@pytest.mark.parametrize(("line", "n"), [("B,-->", 2), ("B,-->,C,1", 4)])
def test_lines_of_csv_have_the_fields_of_the_header(line: str, n: int) -> None:
    assert as_graph("from,edge,to\nA,-->,B\nC,,\n") == as_graph("A -> B; C")
    with pytest.raises(ValueError, match=f"line 3: found {n} fields, the header has 3"):
        as_graph(f"from,edge,to\nA,-->,B\n{line}\n")
