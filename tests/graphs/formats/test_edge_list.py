"""Edge lists and edge strings as cells, and cells that are refused, read through as_graph."""

import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import as_graph

ALL_CELLS = ".*edge list, .*networkx, .*model string, .*edge string, Graph or packed bytes, .*or missing"


def test_edge_lists() -> None:
    assert as_graph([("a", "b"), ("b", "c"), ("c", "b")]) == as_graph("a -> b -- c")
    assert as_graph([(0, 1)]) == as_graph("0 -> 1")
    assert as_graph({("a", "b")}) == as_graph((("a", "b"),)) == as_graph("a -> b")
    assert as_graph([("a", "b")], nodes=["c", "b", "a"]) == as_graph("a -> b; c")
    assert as_graph([], nodes=["a", "b"]) == as_graph("a; b")


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ([[0, 1], [0, 0]], TypeError,
         r"found \[0, 1\] in a list, expected \(source, target\) tuples; .* of nested lists of numbers an array"),
        (("a", "b"), TypeError, r"found 'a' in a tuple, expected \(source, target\) tuples"),
        ([("a", "b", "->")], TypeError,
         r"found \('a', 'b', '->'\) in a list.*columns=\['from', 'to', 'weight'\]\), with 'edge'"),
        ([("a", "->", "b")], TypeError,
         r"found \('a', '->', 'b'\) in a list.*columns=\['from', 'to', 'weight'\]\), with 'edge'"),
        ([["a", "b"]], TypeError, r"found \['a', 'b'\] in a list.*; make edges tuples"),
        ([("a", "b", {})], TypeError, "found .'a', 'b', {}.*, expected .source, target. tuples"),
        (nx.DiGraph([("a", "b")]).edges, TypeError, "found networkx.*OutEdgeView, expected a graph"),
        (nx.Graph([("a", "b")]).edges, TypeError, "found networkx.*EdgeView, expected a graph"),
        ([("a", "a")], ValueError, "found an edge from 'a' to itself"),
        ([], ValueError, r"found \[\], which names no nodes; pass nodes="),
        ("", ValueError, r"found the blank text '', which may be a graph without edges or a failed run; write a graph"),
        ({"a": ["b"]}, ValueError, "found a dict, which can be read in 2 ways"),
        (3, TypeError, f"found builtins.int, expected a graph: {ALL_CELLS}"),
        (0.5, TypeError, "found builtins.float, expected a graph"),
        (None, ValueError, "expected a graph, found None"),
        (float("nan"), ValueError, "expected a graph, found nan"),
        ("A @-> B", ValueError, "graph: found 'A @', expected letters"),
        (pd.DataFrame([("A", "B")]), ValueError, r"of edges the columns \[0, 1\] are called 'from' and 'to'"),
        ([("A", "B", 0.3)], TypeError, r"found .'A', 'B', 0.3. .* make a table, as pd.DataFrame\(edges, "),
    ],
)  # fmt: skip
def test_refused(cell: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        as_graph(cell)


def test_nodes_complete_strings() -> None:
    assert as_graph("a -> b", nodes=["c", "a", "b"]) == as_graph("a -> b; c")
    assert as_graph([], nodes=["a"]) == as_graph("{}", nodes=["a"]) == as_graph("a")
    message = r"found the nodes \['a', 'b'\], expected \['a', 'c'\] \(nodes=\): unknown \['b'\]"
    with pytest.raises(ValueError, match=message):
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
        ({"from": ["A"], "to": ["B"], "sign": ["-"]}, r"found the signs '-' in .* table\[table\['sign'\] == '-'\]"),
        ({"from": ["A", "B"], "to": ["B", "A"], "edge": ["+", "-"]}, "found the signs '\\+', '-' in the column 'edge'"),
        ({"from": ["A"], "to": ["B"], "edge": [True]}, "found True in the column 'edge', .* where 1 is an edge"),
        ({"from": ["A", "B"], "to": ["B", "C"], "dataset": ["x", "y"]}, "found 2 values in the column 'dataset'"),
        ({"from": ["A", "B"], "edge": ["->"] * 2, "to": ["B", "C"], "seed": [3, 4]}, "2 values in the column 'seed'"),
        ({"from": ["A", "B"], "to": ["B", "C"], "ID": [7, 7], "run": ["1", "2"]}, "2 values in the column 'run'"),
        ({"from": ["A", "B"], "edge": ["->", "->"], "to": ["B", None]}, r"a node without a name \((nan|None)\)"),
        ({"from": ["A", "B"], "edge": ["->", None], "to": ["B", "C"]}, r"edge 2: found (nan|None), expected one of"),
    ],
)
def test_edge_tables_refused(table: dict[str, list[Any]], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        as_graph(pd.DataFrame(table))


BOOTSTRAP = pd.DataFrame(
    [("A", "B", 0.98, 0.9), ("B", "A", 0.98, 0.1), ("B", "C", 0.95, 0.8), ("C", "B", 0.95, 0.2), ("A", "C", 0.02, 0.5)],
    columns=["from", "to", "strength", "direction"],
)
NUMBERS = {
    "numbers": [0.9, 0.2], "counts": [7, 2], "flags": [True, False], "texts": ["0.9", "0.2"],
    "decimal commas": ["0,9", "0,2"], "printed p-values": ["<0.001", "0.2 *"], "with a gap": [0.9, None],
    "texts with a gap": ["0.9", "NA"], "objects": pd.Series([0.9, 2], dtype=object),
    "beyond floats": pd.Series([10**400, 2], dtype=object), "arrow": pd.Series([0.9, 0.2], dtype="Float64"),
}  # fmt: skip
COLUMNS = [
    "strength", "direction", "probability", "score", "count", "effect", "coef", "p_value", "importance", "Lag", "x",
]  # fmt: skip


def tables(column: str, values: Any) -> list[pd.DataFrame]:
    """Return tables of two edges by the names of the columns of several tools."""
    words = ("from to edge", "source target type", "node1 node2 edge", "cause effect edge")
    ends = [word.split() for word in words]
    made = [pd.DataFrame({a: ["A", "B"], b: ["B", "C"]}) for a, b, _ in ends]
    made += [table.assign(**{mark: ["-->", "---"]}) for table, (_, _, mark) in zip(made, ends, strict=True)]
    return [table.assign(**{column: pd.Series(values)}) for table in made if column not in table]


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("column", COLUMNS)
def test_numbers_that_nobody_asked_for_are_refused(column: str, values: Any) -> None:
    for table in tables(column, values):
        with pytest.raises(ValueError, match=f"found numbers in the column '{column}' .*drop the column .*table.loc"):
            as_graph(table)
        with pytest.raises(ValueError, match=f"found numbers in the column '{column}'"):
            as_graph(table.to_csv(index=False))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("ID", [1, 2]), ("", [0, 1]), ("Unnamed: 0", [1, 2]), ("strength", [1.0, 1.0]), ("tool", ["pc", None]),
        ("id", ["e1", "e2"]), ("note", ["directed", "->"]), ("data", [["x"], {}]),
        ("x", [None] * 2),
    ],
)  # fmt: skip
def test_numbers_of_rows_ones_and_words_are_no_weights(column: str, values: Any) -> None:
    for table in tables(column, values):
        expected = "A -> B -- C" if len(table.columns) == 4 else "A -> B -> C"
        assert as_graph(table) == as_graph(expected)


def test_the_advice_for_numbers_makes_graphs_and_scores(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="columns 'strength', 'direction'") as error:
        ce.shd("A -> B; B -> C", BOOTSTRAP)
    message = str(error.value)
    kept = eval(re.search(r"table\.loc\[.*?\]\]", message)[0], {"table": BOOTSTRAP})
    assert ce.shd("A -> B; B -> C", kept) == 0
    scope = {"score_column": ce.score_column, "table": BOOTSTRAP, "nodes": ["A", "B", "C"]}
    [matrix] = eval(re.search(r"score_column\(.*\)", message)[0], scope).score.to_numpy()
    assert matrix[0, 1] == 0.98 * 0.9 and matrix[2, 0] == 0
    for end, sep in ((".csv", ","), (".tsv", "\t"), (".txt", ";")):
        BOOTSTRAP.to_csv(tmp_path / f"edges{end}", index=False, sep=sep)
        with pytest.raises(ValueError, match=f"file edges{end}: found numbers in the columns 'strength', 'direction'"):
            ce.read_graphs(tmp_path / f"edges{end}")


@pytest.mark.parametrize("column", ["strength", "probability", "score", "effect", "count"])
def test_tables_of_links_keep_no_other_numbers(column: str, tmp_path: Path) -> None:
    links = pd.DataFrame({"source": ["X", "Y"], "target": ["Y", "X"], "lag": [1, 2], column: [0.9, 0.01]})
    links.to_csv(tmp_path / "links.csv", index=False)
    for cell in (links, links.to_dict("list"), tmp_path / "links.csv"):
        message = f"found numbers in the column '{column}' of a table of links .*threshold="
        with pytest.raises(ValueError, match=message):
            ce.lagged_column([cell])
    kept = ce.lagged_column([links.rename(columns={column: "weight"})], threshold=0.5)
    assert kept.lagged.to_strings().tolist() == ["lags 0..2: X@-1 -> Y"]
    assert ce.lagged_column([links.drop(columns=column)]).lagged.n_links.tolist() == [2]


LINKS = pd.DataFrame({"source": ["X", "Y", "X"], "target": ["Y", "Z", "Z"], "lag": [1, 0, 2]})


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("run", [1, 1, 2], "found 2 values in the column 'run'.*make one graph of each group"),
        ("tool", ["PCMCI", "VAR", "VAR"], r"found 2 values in the column 'tool' \(first 'PCMCI', 'VAR'\)"),
        ("sign", ["+", "-", "+"], r"found the signs '\+', '-' in the column 'sign'"),
        ("edge", ["->", "<->", "->"], "edge 2: found '<->' in the column 'edge', which is not read; rename .* 'link'"),
        ("edge", ["<->", "<->", "<->"], "edge 1: found '<->' in the column 'edge'"),
        ("link", [1, 0, 1], r"found 1 in the column 'link'.*as table\[table\['link'\] == 1\]"),
        ("rank", [1, 2, 3], r"found numbers in the column 'rank'.*or keep the first ranks, as table\[.* <= 2\]"),
    ],
)
def test_tables_of_links_are_refused_as_tables_of_edges_are(
    column: str, values: list[Any], message: str, tmp_path: Path
) -> None:
    table = LINKS.assign(**{column: values})
    table.to_csv(tmp_path / "links.csv", index=False)
    for cell in (table, table.to_dict("list"), tmp_path / "links.csv"):
        with pytest.raises(ValueError, match=message):
            ce.lagged_column([cell])
    if column in ("run", "tool"):
        parts = ce.lagged_column([g.drop(columns=column) for _, g in table.groupby(column)])
        assert parts.lagged.n_links.sum() == 3
    if column == "rank":
        assert ce.lagged_column([table[table["rank"] <= 2].drop(columns="rank")]).lagged.n_links.tolist() == [2]


def test_columns_of_links_that_divide_nothing_are_left_out() -> None:
    for column, values in {"edge": ["->"] * 3, "note": ["x"] * 3, "row": [1, 2, 3]}.items():
        assert ce.lagged_column([LINKS.assign(**{column: values})]).lagged.n_links.tolist() == [3]


@pytest.mark.parametrize(("line", "n"), [("B,-->", 2), ("B,-->,C,1", 4)])
def test_lines_of_csv_have_the_fields_of_the_header(line: str, n: int) -> None:
    assert as_graph("from,edge,to\nA,-->,B\nC,,\n") == as_graph("A -> B; C")
    with pytest.raises(ValueError, match=f"line 3: found {n} fields, the header has 3"):
        as_graph(f"from,edge,to\nA,-->,B\n{line}\n")


@pytest.mark.parametrize(
    "columns",
    [("Cause", "Effect"), ("parent", "child"), ("FROM", "To"), ("TF", "target"), ("regulatoryGene", "targetGene")],
)
def test_columns_of_tools_name_the_nodes(columns: tuple[str, str], tmp_path: Path) -> None:
    table = pd.DataFrame([("A", "B"), ("B", "C")], columns=columns)
    assert ce.as_graph(table).to_string() == "A -> B; B -> C"
    table.to_csv(tmp_path / "edges.csv", index=False)
    assert ce.read_graphs(tmp_path / "edges.csv").graph.to_strings().tolist() == ["A -> B; B -> C"]
    with pytest.raises(ValueError, match="found numbers in the column 'share'"):
        ce.as_graph(table.assign(share=[0.2, 0.9]))


@pytest.mark.parametrize("text", ['  "from" "to"\n"1" "A" "B"\n"2" "B" "C"\n', "from to\nA B\nB C\n"])
def test_tables_as_r_prints_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text(text, encoding="utf-8")
    assert ce.read_graphs(tmp_path / "edges.txt").graph.to_strings().tolist() == ["A -> B; B -> C"]
    (tmp_path / "edges.txt").write_text(text.replace("A", "A 1 2"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: found \d fields, the header has 2"):
        ce.read_graphs(tmp_path / "edges.txt")


OTHER_EDGES = [
    ("kind_of_edge", "undirected"), ("mark", "<->"), ("direction", "<-"),
    ("directed", False), ("bidirected", True), ("arrows", "from"),
    ("source_mark", "o"), ("targetMark", "tail"), ("to_mark", "circle"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), OTHER_EDGES)
@pytest.mark.parametrize(
    "cell",
    [
        lambda name, value: pd.DataFrame({"from": ["A"], "to": ["B"], name: [value]}),
        lambda name, value: json.dumps([{"from": "A", "to": "B", name: value}]),
        lambda name, value: nx.DiGraph([("A", "B", {name: value})]),
    ],
)
def test_what_says_that_an_edge_is_no_arrow_is_not_left_out(cell: Any, name: str, value: Any) -> None:
    found = re.escape(f"found {value!r} in the ")
    with pytest.raises(ValueError, match=rf"{found}\w+ '{name}'.*, which is not read; .*('edge'|its 'type')"):
        as_graph(cell(name, value))
    for plain in ("->", {"directed": True, "source_mark": "tail", "targetMark": "arrow"}.get(name, "to")):
        assert as_graph(cell(name, plain)).to_string() == "A -> B"


def test_a_minus_is_the_sign_of_an_effect() -> None:
    assert as_graph(nx.DiGraph([("A", "B", {"sign": "-"})])).to_string() == "A -> B"


@pytest.mark.parametrize("names", [("endpoint1", "endpoint2"), ("sourceEndpoint", "targetEndpoint")])
def test_marks_at_ends_are_not_left_out_of_tables(names: tuple[str, str]) -> None:
    table = pd.DataFrame({"node1": ["A", "B"], "node2": ["B", "C"]})
    with pytest.raises(ValueError, match=rf"edge 2: found 'CIRCLE' in the column '{names[0]}', which is not read"):
        as_graph(table.assign(**dict(zip(names, (["TAIL", "CIRCLE"], ["ARROW", "ARROW"]), strict=True))))
