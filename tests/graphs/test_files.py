"""Graphs in files: matrices, tables and texts of tools; errors name the file and the line."""

import gzip
import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import causaleval_pd as ce
from causaleval_pd.graphs.files import MAX_BYTES

SETTINGS: list[dict[str, Any]] = [
    {}, {"encoding": "row->column"}, {"nodes": ["A", "B"]}, {"nodes": ["A", "B"], "kind": "dag"},
]  # fmt: skip
SUFFIXES = [".txt", ".csv", ".tsv", ".json", ".dot", ".gml", ".graphml", ".bif", ".npy", ".mtx", ""]
ASIA = "0 0 0 0 0 0 -1 0\n0 0 0 0 0 -1 0 0\n0 0 0 -1 -1 0 0 0\n0 0 -1 0 0 -1 0 0\n0 0 -1 0 0 0 0 -1\n0 1 0 1 0 0 0 0\n"
ASIA += "-1 0 0 0 0 0 0 0\n0 0 0 0 -1 0 0 0\n"
GML = 'graph [ directed 1 node [ id 0 label "A" ] node [ id 1 label "B" ] edge [ source 0 target 1 ] ]'
LINES_OF_GML = "\n".join(nx.generate_gml(nx.DiGraph([("A", "B")])))


@pytest.mark.parametrize(
    ("name", "text", "encoding", "expected"),
    [
        ("a.txt", "0 2\r\n1 0\r\n", "pcalg amat.pag", "A o-> B"), ("a.csv", "A,B\n0,1\n0,0\n", "row->column", "A -> B"),
        ("a.csv", '"","A","B"\n"A",0,2\n"B",3,0\n', "MXM", "A -> B"),
        ("a.csv", "B;A\n0;1\n0;0\n", "row->column", "B -> A"),
        ("a.tsv", "\tB\tA\nA\t1\t0\nB\t0\t0\n", "row->column", "A -> B"),
        ("a.txt", "A B\n0 1\n1 0\n", "row->column", "A -- B"), ("a.csv", "from,edge,to\nA,o->,B\n", None, "A o-> B"),
        ("a.csv", "ID,Variable 1,Dependency,Variable 2\n1,A,->,B\n", None, "A -> B"),
        ("a.csv", "source,target,weight\nA,B,1\n", None, "A -> B"),
        ("a.dot", "digraph { A -> B }", None, "A -> B"), ("a.csv", "from,edge,to\nA,,\nB,,\n", None, "A; B"),
        ("a.csv", "A -> B\n", None, "A -> B"), ("a.gml", GML, None, "A -> B"),
        ("a.gml", LINES_OF_GML, None, "A -> B"), ("a.txt", LINES_OF_GML, "GML", "A -> B"),
        ("a.txt", f'Creator "igraph"\nVersion 1\n{LINES_OF_GML}', None, "A -> B"),
        ("a.csv", LINES_OF_GML.replace("graph [", "graph\n["), None, "A -> B"),
        ("a.csv", "source;target\nA;B\n", None, "A -> B"), ("a.dag", "dag { A <-> B }\n", None, "A <-> B"),
        ("a.txt", "A -> B\n", None, "A -> B"),
        ("a.txt", "\ufeffGraph Nodes:\nA;B\n\nGraph Edges:\n1. A --> B\n", None, "A -> B"),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, name: str, text: str, encoding: str | None, expected: str) -> None:
    Path(tmp_path, name).write_text(text, encoding="utf-8")
    column = ce.read_graphs(tmp_path / name, encoding=encoding, nodes=["A", "B"])
    assert column.index.tolist() == [name]
    assert column.index.name == "file"
    assert column[name] == ce.graph_column([expected])[0]


def test_matrices_of_numpy_and_matrix_market(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([[0, 1], [0, 0]]))
    mmwrite(tmp_path / "b.mtx", sp.coo_array(np.array([[0, 1], [0, 0]])))
    column = ce.read_graphs(f"{tmp_path}/*", encoding="row->column")
    assert column.graph.to_strings().to_dict() == {"a.npy": "0 -> 1", "b.mtx": "0 -> 1"}


def test_stored_results_of_causal_learn(tmp_path: Path) -> None:
    Path(tmp_path, "asia.pc.txt").write_text(ASIA, encoding="utf-8")
    nodes = [f"X{i}" for i in range(1, 9)]
    pc = ce.read_graphs(f"{tmp_path}/*.pc.txt", encoding="causal-learn matrix", nodes=nodes)
    assert pc.graph.to_strings()["asia.pc.txt"] == "X1 -- X7; X2 -> X6; X3 -- X4; X3 -- X5; X4 -> X6; X5 -- X8"
    assert pc.graph.kind["asia.pc.txt"] == "cpdag"


def test_one_encoding_and_list_of_nodes_a_file(tmp_path: Path) -> None:
    for name, text in (("b.txt", "0 1\n0 0"), ("a.txt", "0 2\n3 0"), ("c.txt", "X -> Y")):
        Path(tmp_path, name).write_text(text, encoding="utf-8")
    column = ce.read_graphs(
        [tmp_path / "b.txt", tmp_path / "a.txt", tmp_path / "c.txt"],
        encoding=["row->column", "bnmetrics", None],
        nodes=[["A", "B"], ["C", "D"], None],
    )
    assert column.graph.to_strings().to_dict() == {"b.txt": "A -> B", "a.txt": "C o-> D", "c.txt": "X -> Y"}


def test_files_of_one_name_are_named_by_their_paths(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        Path(tmp_path, folder).mkdir()
        Path(tmp_path, folder, "g.txt").write_text("A -> B", encoding="utf-8")
    assert ce.read_graphs(f"{tmp_path}/*/g.txt").index.tolist() == [f"{tmp_path}/{x}/g.txt" for x in ("one", "two")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n0 x\n", "line 2: found 'x', expected a number"),
        ("0 1\n0\n", "line 2: found 1 numbers, the first row has 2"),
        ("0 1\n0 0\n1 1\n", "line 3: found more than 2 rows"),
        ("0 1 0\n0 0 0\n", "found 2 rows of 3 numbers, expected a square matrix"),
        ("A,B,C\n0,1,0\n0,0,0\n", "found 2 rows of 3 numbers"),
        ("from,to\nA,B\nC\n", "line 3: found 1 fields, the header has 2"),
        ("from,edge,to\nA,?,B\n", "edge 1: found '.', expected one of"),
        ("0 1\n0 0\n", "which can be read in 2 ways; .*encoding='row->column'"),
        ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A ?-> B\n", "line 5: found '1. A .-> B'"),
        ("dag {\n A -> B\n", "line 3: found 'the end of the text'"),
        ("0 5\n1 0\n", "only if its encoding is named"),
        ("A,B\n0,\n0,0\n",
         "line 2: found an empty cell, expected a number in column 'B'; write 0 where there is no edge"),
        (",A,B\nA,,1\nB,0,0\n", "line 2: found an empty cell, expected a number in column 'A'"),
        ("0,0\n0,\n", "line 2: found an empty cell, expected a number in column 2"),
        (";A;B\nA;0,0;1,0\nB;0;0\n",
         "line 2: found '0,0', .* in column 'A'; write a point for the decimal comma, as '0.0'"),
        ("A B\n0 0,5\n0 0\n", "line 2: found '0,5', expected a number in column 'B'; write a point"),
        ("0,0;1,0\n0;0\n", "line 1: found '0,0', expected a number in column 1; write a point"),
        ("A,B\nFALSE,TRUE\nFALSE,FALSE\n", "line 2: found 'FALSE', .* in column 'A'; write 1 for true and 0 for false"),
        ("A,B,\n0,1,\n0,0,\n", "line 2: ends with a separator; delete it at the end of all lines"),
        ("1,0\n0,1\n0,0\n", "line 3: found more than 2 rows .* if line 1 holds names, write ones that are not numbers"),
        ("# by me\n# today\nA,B\n0,1\n0,0\n", "line 1: found the comment '# by me' before a matrix"),
        ("from,to\nA,B\n,C\n", "edge 2: found the node '' in the column 'from', expected a name"),
        ("from;to;weight\nA;B;0,5\n", "line 2: found '0,5' in the column 'weight', expected a number; write a point"),
        ("from,to,weight\nA,B,1\nB,C,\n", "line 3: found '' in the column 'weight', expected a number"),
    ],
)  # fmt: skip
def test_errors_name_the_file_and_the_line(tmp_path: Path, text: str, message: str) -> None:
    Path(tmp_path, "good.txt").write_text("A -> B", encoding="utf-8")
    Path(tmp_path, "odd.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^file odd\.txt: .*" + message):
        ce.read_graphs(f"{tmp_path}/*.txt")


@pytest.mark.parametrize("text", ["Left,Right\nA,B\n", "A,B\n0,100%\n0,0\n", "# by me\nA\n", "A;B", ";;", ",\n,"])
def test_tables_of_something_else_are_no_edge_strings(tmp_path: Path, text: str) -> None:
    Path(tmp_path, "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^file a.csv: line 1: found .*(expected names of nodes|before a)"):
        ce.read_graphs(tmp_path / "a.csv", encoding="row->column")


def test_blank_lines_and_names_with_separators_in_a_matrix(tmp_path: Path) -> None:
    Path(tmp_path, "a.csv").write_text('"a,b";B\n\n0;1\n\n0;0\n', encoding="utf-8")
    found = ce.read_graphs(tmp_path / "a.csv", encoding="row->column")
    assert found.graph.nodes.iloc[0] == ("B", "a,b")


GRAPH = ce.as_graph("A -> B; B -> C; D")
NETWORK = """network unknown {
}
variable A { type discrete [ 2 ] { a, b }; }
variable B { type discrete [ 2 ] { a, b }; }
probability ( A ) { table 0.5, 0.5; }
probability ( B | A ) { (a) 0.5, 0.5; (b) 0.2, 0.8; }
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.dot", GRAPH.to_text("DOT")), ("a.graphml", GRAPH.to_text("GraphML")), ("a.json", GRAPH.to_text("JSON")),
        ("a.txt", GRAPH.to_text("dagitty")), ("a.gml", GML), ("a.bif", NETWORK),
    ],
)  # fmt: skip
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = Path(tmp_path, name)
    path.write_text(text, encoding="utf-8")
    whole = ce.read_graphs(path).iloc[0]
    # a file without a letter is a failed run
    for cut in range(1, len(text)):
        path.write_text(text[:cut], encoding="utf-8")
        try:
            found = ce.read_graphs(path)
        except (ValueError, TypeError) as error:
            assert str(error).startswith(f"file {name}: ")
        else:
            # the last table of a network is no part of its graph, and a word alone is the name of a node
            assert found.iloc[0] == whole or (name == "a.txt" and found.graph.nodes.iloc[0] == (text[:cut].strip(),))


@pytest.mark.parametrize("junk", ["hello", "A -> B", "hello world"])
@pytest.mark.parametrize("suffix", [".dot", ".gv", ".gml", ".graphml", ".json", ".bif"])
def test_junk_in_a_file_of_a_tool_is_no_edge_string(tmp_path: Path, suffix: str, junk: str) -> None:
    Path(tmp_path, "a" + suffix).write_text(junk, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^file a\{suffix}: "):
        ce.read_graphs(tmp_path / ("a" + suffix))


def test_files_that_are_no_text(tmp_path: Path) -> None:
    Path(tmp_path, "a.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"^file a\.txt: byte 0 is not valid UTF-8"):
        ce.read_graphs(tmp_path / "a.txt")
    Path(tmp_path, "b.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match=r"^file b\.npy: "):
        ce.read_graphs(tmp_path / "b.npy")
    with open(tmp_path / "b.npy", "wb") as file:
        header = {"descr": "<i8", "fortran_order": False, "shape": (10**8, 10**8)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(ValueError, match=r"^file b\.npy: is cut short, or not that of a matrix"):
        ce.read_graphs(tmp_path / "b.npy")
    np.save(tmp_path / "c.npy", np.array([object()], dtype=object))
    with pytest.raises(ValueError, match=r"^file c\.npy: .*allow_pickle=False"):
        ce.read_graphs(tmp_path / "c.npy")
    Path(tmp_path, "e.pkl").write_bytes(pickle.dumps(np.eye(2)))
    with pytest.raises(ValueError, match=r"^file e\.pkl: is a pickle of Python; load it by pickle.load"):
        ce.read_graphs(tmp_path / "e.pkl")
    np.savez(tmp_path / "e.npz", a=np.eye(2))
    with pytest.raises(ValueError, match=r"^file e\.npz: is an archive, .* np.load\(path\)"):
        ce.read_graphs(tmp_path / "e.npz")
    nx.write_pajek(nx.DiGraph([("A", "B")]), tmp_path / "e.net")
    with pytest.raises(ValueError, match=r"^file e\.net: is Pajek's; read it by nx.DiGraph\(nx.read_pajek\(path\)\)"):
        ce.read_graphs(tmp_path / "e.net")
    assert ce.as_graph(nx.DiGraph(nx.read_pajek(tmp_path / "e.net"))).to_string() == "A -> B"
    Path(tmp_path, "e.json").write_text('{"A": ["B"], "B": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"^file e\.json: .* a mapping as text; pass json.loads"):
        ce.read_graphs(tmp_path / "e.json")
    with Path(tmp_path, "d.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ValueError, match=r"^file d\.txt: has \d+ bytes; at most"):
        ce.read_graphs(tmp_path / "d.txt")


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file matches path .*\*\.dot"):
        ce.read_graphs(f"{tmp_path}/*.dot")
    with pytest.raises(FileNotFoundError, match="no file matches path .*absent.dot"):
        ce.read_graphs([tmp_path / "absent.dot"])
    with pytest.raises(ValueError, match="is a folder; name its files by a pattern"):
        ce.read_graphs(tmp_path)
    with pytest.raises(TypeError, match="path must be a file, a pattern, or a list of files, found 3"):
        ce.read_graphs(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="path, item 0: found 97, expected the path of a file"):
        ce.read_graphs(b"a.dot")  # type: ignore[arg-type]
    assert isinstance(ce.read_graphs([]), pd.Series)


@pytest.mark.slow
def test_texts_that_are_read_again_are_not_kept_without_bound(tmp_path: Path) -> None:
    edges = "\n".join(f"{k}. A --> B " + "[A --> B]:0.9;" * 70_000 for k in range(1, 3))
    for k in range(9):
        Path(tmp_path, f"{k}.txt").write_text(f"Graph Nodes:\nA;B\n\nGraph Edges:\n{edges}\n", encoding="utf-8")
    assert ce.read_graphs(f"{tmp_path}/*.txt").nunique() == 1


def test_lists_of_what_is_no_file(tmp_path: Path) -> None:
    packed = tmp_path / "a.txt"
    packed.write_bytes(gzip.compress(b"A -> B"))
    with pytest.raises(ValueError, match=r"file a.txt: is compressed by gzip; decompress it"):
        ce.read_graphs([packed])
    with pytest.raises(ValueError, match="is a folder; name its files by a pattern"):
        ce.read_graphs([packed, tmp_path])
    for wrong in (None, 3, b"a.txt"):
        with pytest.raises(TypeError, match=f"path, item 1: found {wrong!r}, expected the path of a file"):
            ce.read_graphs([packed, wrong])  # type: ignore[list-item]


@pytest.mark.parametrize(("mark", "name"), [("--", "type"), ("undirected", "kind"), ("<-", "arrow"), ("o->", "x")])
def test_marks_in_a_column_of_another_name(tmp_path: Path, mark: str, name: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"from,to,{name}\nA,B,->\nB,C,{mark}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"file a.csv: edge 2: found '{mark}' in the column '{name}'.*'edge'"):
        ce.read_graphs(file)
    file.write_text(f"from,to,{name}\nA,B,->\nB,C,directed\n", encoding="utf-8")
    assert ce.read_graphs(file).graph.to_strings().tolist() == ["A -> B; B -> C"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.mtx", "%%MatrixMarket matrix array integer general\n99999999 99999999\n1\n",
         "matrix of 99999999 nodes; at"),
        ("a.json", '{"nodes": ["A", "B"], "edges": [["A", "B"]], "edges": []}', "found the key 'edges' twice"),
        ("a.gml", 'graph [ node [ id 0 label "A" ] ]\ngraph [ ]', "found no GML: input contains more than one graph"),
    ],
)  # fmt: skip
def test_what_would_be_lost_or_beyond_memory_is_refused(tmp_path, name, text, message):
    Path(tmp_path, name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^file {name}: .*{message}"):
        ce.read_graphs(tmp_path / name, encoding="row->column" if name.endswith("mtx") else None)


@pytest.mark.parametrize("content", ["", " \n\t\n", "\ufeff", "\r\n" * 100])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_an_empty_file_is_a_failed_run(tmp_path: Path, content: str, suffix: str, settings: dict[str, Any]) -> None:
    Path(tmp_path, f"b{suffix}").write_text(content, encoding="utf-8")
    pd.DataFrame([[0, 1], [0, 0]], columns=["A", "B"]).to_csv(tmp_path / "a.csv2", index=False)
    settings = {"encoding": "row->column"} | settings
    for path in (tmp_path / "*", [tmp_path / "a.csv2", tmp_path / f"b{suffix}"]):
        with pytest.warns(UserWarning, match=rf"^1 of 2 files are empty and read as missing .*: b{suffix}; a graph"):
            found = ce.read_graphs(path, **settings)
        assert found.graph.to_strings().fillna("").tolist() == ["A -> B", ""]


def test_empty_files_are_counted(tmp_path: Path) -> None:
    for seed in range(10):
        Path(tmp_path, f"{seed}.txt").write_text("A -> B" if seed in (3, 4) else "", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"^8 of 10 files are empty .*: 0.txt, 1.txt, 2.txt, 5.txt, 6.txt, ...; a"):
        estimates = ce.read_graphs(tmp_path / "*.txt")
    runs = pd.DataFrame({"truth": "A -> B", "estimate": estimates, "tool": "pc"})
    summary = runs.ceval.cube(["shd"], by=["tool"], n_draws=None).ceval.summary(columns="full")
    assert summary[["n_failed", "n_scored"]].to_numpy().tolist() == [[8, 2]]
    with pytest.warns(UserWarning, match="^8 of 8 files are empty"):
        assert ce.read_graphs([tmp_path / f"{i}.txt" for i in (0, 1, 2, 5, 6, 7, 8, 9)]).isna().all()


@pytest.mark.parametrize(
    "text",
    [
        "1,2,3\n0,1,0\n0,0,1\n0,0,0\n",
        ",1,2,3\n1,0,1,0\n2,0,0,1\n3,0,0,0\n",
        '"1" "2" "3"\n"1" 0 1 0\n"2" 0 0 1\n"3" 0 0 0\n',
    ],
)
def test_names_of_nodes_may_be_numbers(tmp_path: Path, text: str) -> None:
    Path(tmp_path, "a.csv").write_text(text, encoding="utf-8")
    found = ce.read_graphs(tmp_path / "a.csv", encoding="row->column")
    assert found.graph.to_strings().tolist() == ["1 -> 2; 2 -> 3"]


def test_a_table_of_edges_without_rows(tmp_path: Path) -> None:
    Path(tmp_path, "a.csv").write_text("from,to\n", encoding="utf-8")
    assert ce.read_graphs(tmp_path / "a.csv", nodes=["A", "B"]).graph.to_strings().tolist() == ["A; B"]
    with pytest.raises(ValueError, match="found a table without edges, which names no nodes; pass nodes="):
        ce.read_graphs(tmp_path / "a.csv")
