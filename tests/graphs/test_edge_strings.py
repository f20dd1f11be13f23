"""Edge strings: what is read, what is refused, and that writing reads back."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.graphs import as_graph, graph_column
from causaleval_pd.graphs.edge_strings import TEXT_OF_OBJECT, parse_edges, write_graph, write_name, write_names

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=8)
JOINED = st.text("AB- |", min_size=1, max_size=4)
SYNTAX = st.text("-<>;'\"{},ao*@ \n\t=→", min_size=1, max_size=6)
TRICKY = st.sampled_from(
    [
        "nan", "None", "b'x'", "Graph(x", "[[0", "<x y", "DiGraph with 2 nodes", "a o-o b", "a *", "@ b", "a -o b",
        "\u2028",
    ]
)  # fmt: skip


def edges(text: str) -> tuple[list[str], set[tuple[str, str]]]:
    found = parse_edges(text)
    names = found.labels or ()
    assert all({*marks} <= {1, 2} and marks != [2, 2] for _, _, *marks in found.ends)
    arcs = [(i, j) for i, j, at_i, _ in found.ends if at_i == 1] + [(j, i) for i, j, _, at_j in found.ends if at_j == 1]
    return list(names), {(names[s], names[t]) for s, t in arcs}


@pytest.mark.parametrize(
    ("text", "nodes", "arcs"),
    [
        ("a->b;c--d", ["a", "b", "c", "d"], {("a", "b"), ("c", "d"), ("d", "c")}),
        ("A -> B -> C", ["A", "B", "C"], {("A", "B"), ("B", "C")}),
        ("A <- B -- C", ["A", "B", "C"], {("B", "A"), ("B", "C"), ("C", "B")}),
        ("  A ;; B;\n C->A ;", ["A", "B", "C"], {("C", "A")}),
        ("A->B\nB->C\r\nD", ["A", "B", "C", "D"], {("A", "B"), ("B", "C")}),
        ("A-->B; B---C; C<--D", ["A", "B", "C", "D"], {("A", "B"), ("B", "C"), ("C", "B"), ("D", "C")}),
        ("IL-6 -> heart rate", ["IL-6", "heart rate"], {("IL-6", "heart rate")}),
        ("'a -> b' -> \"c;d\"", ["a -> b", "c;d"], {("a -> b", "c;d")}),
        ('\'it\'\'s\' -> "say ""hi"""', ["it's", 'say "hi"'], {("it's", 'say "hi"')}),
        ("A.1 -> X_1@-2; IL-6; IL-6->B", ["A.1", "X_1@-2", "IL-6", "B"], {("A.1", "X_1@-2"), ("IL-6", "B")}),
        ("o -> b; o--c", ["o", "b", "c"], {("o", "b"), ("o", "c"), ("c", "o")}),
        ("A -> B; A -> B", ["A", "B"], {("A", "B")}),
        ("gene x -> gene y; x-> B", ["gene x", "gene y", "x", "B"], {("gene x", "gene y"), ("x", "B")}),
        ('"A ?"-> B', ["A ?", "B"], {("A ?", "B")}), ("X 1 -> X 2", ["X 1", "X 2"], {("X 1", "X 2")}),
        ("A -- B; B -- A", ["A", "B"], {("A", "B"), ("B", "A")}), ("{}", [], set()), (" {} ", [], set()),
        ("", [], set()),
    ],
)  # fmt: skip
def test_reads(text: str, nodes: list[str], arcs: set[tuple[str, str]]) -> None:
    assert edges(text) == (nodes, arcs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A -> A", "an edge from 'A' to itself; graphs have no self loops"),
        ("A -> B; B -> A", "found the edges 'B' <-- 'A' and 'B' --> 'A', expected one edge between two nodes"),
        ("A -> B; A -- B", "found the edges 'A' --> 'B' and 'A' --- 'B', expected one edge"),
        ("A+B<->C", "metrics of the field 'formula'"),
        ("A<->B", "without blanks around it; a configurational model .* 'A <-> B'"),
        ("A + B <-> C", r"'<->' and the name 'A \+ B'; a configurational model"),
        ("A <-> B*c", r"'<->' and the name 'B\*c'; a configurational model"),
        ("A o-> B; A o-o B", "expected one edge between two nodes"),
        ("A <-> B; A -- B", "expected one edge between two nodes, or '->' and '<->'"),
        ("A <-> B; A -> B; B -> A", "expected one edge between two nodes, or '->' and '<->'"),
        ("A o-o A", "an edge from 'A' to itself"),
        ("A o- B", "found 'A o- B', expected letters.*; edges are written with .* those of mixed graphs with"),
        ("A -o B", "found 'A -o B', expected letters"), ("A *-> B", "found 'A \\*', expected letters"),
        ("A <-* B", "found '\\* B', expected"), ("A *-* B", "found 'A \\*-\\* B', expected"),
        ("A @-> B", "found 'A @', expected"), ("A ?-> B", "found 'A \\?', expected"),
        ("A x-> B", "found 'A x', which between two arrows, or beside one without blanks, may be two nodes"),
        ("A <-x B", "found 'x B', which between"), ("A <-O B; C", "found 'O B', which between"),
        ("A --? B", "found '\\? B', expected"), ("A +-> B", "found 'A \\+', expected"),
        ("A -- B; B ↔ C", "found 'A -- B; B ↔ C', which has another arrow"),
        ("o-> B o-o", "an edge needs a node name at both ends"),
        ("A -> B, C -> D", "found 'A -> B, C -> D', which has commas; .* with ';' or a line end between them"),
        ("dag { A -> B }", "found 'dag { A -> B }', which has braces"),
        ("A - B", "found 'A - B', expected"), ("A => B", "found 'A => B', which has another arrow"),
        ("A → B", "found 'A → B', which has another arrow"), ("A ->> B", "found '> B', expected"),
        ("A <<- B", "found 'A <', expected"), ("-> B", "an edge needs a node name at both ends"),
        ("A ->", "an edge needs a node name at both ends"), ("A -> -> B", "an edge needs a node name at both ends"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZ -> ; abcdefghijklmnopqrstuvwxyz",
         "cannot read 'KLMNOPQRSTUVWXYZ -> ; abcdefghijklmnopqr': an edge needs"),
        (f"<object {'x' * 51}>", f"found the text '<object {'x' * 51}>', which"),
        (f"<object {'x' * 52}>", rf"found the text '<object {'x' * 49}\.\.\.', which"),
        ("'A' B -> C", "expected an arrow or ';' after the quoted name 'A'"),
        ("'A -> B", 'found "\'A", whose quote is not closed'), ("   A  B\nA  0  1", "which has no edge"),
        ("b'\\xce\\x01\\x00'", "an object turned into when dask, CSV or astype"),
        ("DiGraph with 4 nodes and 3 edges", "an object turned into"),
        ("Graph('A -> B', kind='dag')", "an object turned into"),
        ("<networkx.classes.digraph.DiGraph object at 0x7f>", "an object turned into"),
        ("[[0 1]\n [0 0]]", "an object turned into"), ("[('A', 'B')]", "a list of edges written as text"),
        ("Graph Nodes:\nX1;X2\n\nGraph Edges:\n1. X1 --> X2", "an object turned into"),
        ("nan", "an object turned into"), ("<NA>", "an object turned into"),
    ],
)  # fmt: skip
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_edges(text)


def test_a_name_may_start_like_the_text_of_an_object_when_quoted() -> None:
    assert edges('"nan"') == (["nan"], set())
    assert edges("nan -> B") == (["nan", "B"], {("nan", "B")})
    assert not TEXT_OF_OBJECT.match(write_name("Graph(x"))


@pytest.mark.parametrize("name", ["IL-6", "heart rate", "X@-1", "p53", "1", "PC 1", "a.b_c", "Income..USD.", "β"])
def test_plain_names_are_written_bare(name: str) -> None:
    assert write_name(name) == name
    assert edges(f"{name} -> Z") == ([name, "Z"], {(name, "Z")})


ODD = ["X(t-1)", "Crohn's", "CD4+", "income (USD)", "A[0]", "a/b", "c:d", "R&D", "age>65", "St. John", "B 0.5", "1. A"]
ODD += ["a  b", "A \u2013 B", "B #1", "-", "\u2205", "...", "e\u200b", "a -b", "[A]", "A|B", "A=B", "`A`", "<b>A</b>"]


@pytest.mark.parametrize("name", ODD)
def test_other_names_are_quoted_or_refused_with_quotes_around_them(name: str) -> None:
    assert write_name(name) == f'"{name}"'
    for text in (f"Z <- {name}", name):
        with pytest.raises(ValueError, match=re.escape(f'quote the name of a node: "{name}"')) as error:
            graph_column([text], nodes=None)
        assert str(error.value).startswith(f"row 0 (index 0): found {name!r}, ")
    assert as_graph(f'Z <- "{name}"') == as_graph([(name, "Z")])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"A": ["B", "C"], "B": []}', "is a mapping as text; pass json.loads(text), or ast.literal_eval(text)"),
        ("{'A': ['B']}", "is a mapping as text; pass json.loads(text), or ast.literal_eval(text)"),
        ("A \u2192 B", "has another arrow; replace it, as by text.replace"),
        ("B \u2190 A", "has another arrow"),
        ("A -- B; B \u2194 C", "has another arrow; replace it, as by text.replace('\u2194', '<->')"),
        ("A => B", "has another arrow"),
        ("A->B, B->C", "has commas; edges are written as 'A -> B', with ';'"),
        ("The graph is: A -> B", "has words and ':' before its edges"),
        ("A{1} -> B", "has braces"),
        ("A,B\nB,C", "make them a table by pd.read_csv(io.StringIO(text), names=['from', 'to'], sep=',')"),
        ("A\tB", "has pairs of nodes; if they are edges from the first node to the second, make them a table"),
        ("A B\nB C", "make them a table by pd.read_csv(io.StringIO(text), names=['from', 'to'], sep=' ')"),
        ("A B {}\nB C {'weight': 1}", "has no edge"),
        ("#x.py\n# GMT Sat\n#\nA B C\nB\n", "has no edge"),
        ("No edges", "is a remark or the message of a failed run; write a failed run as a missing value (None), and"),
        ("Error: singular matrix", "is a remark or the message of a failed run; write a failed run as a missing"),
        ("LinAlgError: x", "is a remark or the message of a failed run"),
        ("PC failed to converge", "is a remark or the message of a failed run"),
        ("/knowledge\naddtemporal\n1 A B", "is a knowledge file of Tetrad"),
        ("A, B, C", "has no edge"),
        (";A;B\nA;0;1\nB;0;0", "has no edge and '0' twice, as matrices and tables have; read it from"),
        ("A;B\nB;C", "has no edge and 'B' twice, as matrices and tables have"),
        ("0;1\n0;0", "has no edge and '0' twice"),
        ('["A -> B", "B -> C"]', "is a list of texts as text; join them, as by '; '.join(ast.literal_eval(text))"),
        ("['A -> B']", "is a list of texts as text"),
    ],
)
def test_texts_of_another_kind_are_no_names(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        graph_column([text])
    assert str(error.value).startswith(f"row 0 (index 0): found {text!r}, which ")
    assert "quote the name" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["A causes B", "Y ~ X + Z", "graph TD\nA --> B", "- A -> B\n- B -> C", "1. A -> B\n2. B -> C", "* A -> B"],
)
def test_other_notations_are_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"^row 0 .*; quote the name of a node: .*; edges are written with '->'"):
        graph_column([text])


@pytest.mark.parametrize("text", ['"X -> Y', "Y; 'X", "'X -> Y; Z", 'Y -> "X', '"X@-1 -> Y'])
def test_a_quote_that_is_not_closed_may_be_part_of_the_name(text: str) -> None:
    """Both advised names are read: the one in whole quotes, and the one that begins with a quote."""
    name = re.search("[\"'][X@1-]+", text)[0]  # type: ignore[index]
    with pytest.raises(ValueError, match="whose quote is not closed; close it: ") as error:
        graph_column([text])
    found = re.fullmatch(r".*close it: (.*), or quote a name that begins with one: ([^;]*)", str(error.value))
    assert found is not None
    assert [as_graph(advised).nodes for advised in found.groups()] == [(name[1:],), (name,)]


def test_quoted_names_hold_what_other_texts_have() -> None:
    with pytest.raises(ValueError, match=r'quote the name of a node: "c\(t\)"'):
        parse_edges('"A => b, no: {1}" -> c(t)')


@pytest.mark.parametrize("name", ["A-B", "A B", "TNF-a"])
def test_names_alone_that_may_be_edges_are_quoted(name: str) -> None:
    with pytest.raises(ValueError, match=f"found '{name}', which alone may be an edge in another notation"):
        parse_edges(f"A -> B; {name}")
    assert parse_edges(f"{name}; A -> {name}").labels == (name, "A")
    assert as_graph(f'"{name}"; z').to_string() == f'"{name}"; z'
    assert as_graph(f"{name} -> z").to_string() == f"{name} -> z"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A->B B->C", "B B"), ("A -> B C -> D", "B C"), ("A -> B and C -> D", "B and C"),
        ("A -> blood pressure -> C", "blood pressure"), ("gene x->B", "gene x"), ("B->gene x", "gene x"),
    ],
)  # fmt: skip
def test_names_that_may_be_two_are_quoted(text: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"found '{name}', which between two arrows, or beside one without blanks"):
        parse_edges(text)
    assert name in (parse_edges(text.replace(name, f'"{name}"')).labels or ())


@pytest.mark.slow
@given(st.lists(NAMES | SYNTAX | TRICKY | JOINED, max_size=5, unique=True), st.data())
def test_writing_reads_back(names: list[str], data: st.DataObject) -> None:
    names = sorted(names)
    arcs = []
    for i in range(len(names)):
        for j in range(i):
            mark = data.draw(st.integers(0, 3))
            arcs += [(i, j)] * (mark & 1) + [(j, i)] * (mark >> 1)
    known = set(arcs)
    ends = [(i, j, 1, 1 if (j, i) in known else 2) for i, j in known if i < j or (j, i) not in known]
    text = write_graph(write_names(names), ends)
    found, found_arcs = edges(text)
    assert sorted(found) == names
    assert found_arcs == {(names[s], names[t]) for s, t in arcs}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("A <-> B", "A <-> B"), ("B <--> A", "A <-> B"), ("A o-> B <-o C", "A o-> B; C o-> B"),
        ("A o--> B; B o---o C", "A o-> B; B o-o C"), ("A o-- B; C --o D", "A o-- B; D o-- C"),
        ("A -> B o-o C --- D; E", "A -> B; B o-o C; C -- D; E"), ("B <- A; A <-> B", "A -> B; A <-> B"),
        ("o <-> p; o -> q", "o <-> p; o -> q"), ("o <-o o1", "o1 o-> o"),
        ("o-cresol o-> m-cresol", "o-cresol o-> m-cresol"), ("foo -> b; foo <-> a", "a <-> foo; foo -> b"),
        ("'a+b' <-> c", '"a+b" <-> c'),
    ],
)  # fmt: skip
def test_mixed_marks(text: str, written: str) -> None:
    graph = as_graph(text)
    assert graph.to_string() == written
    assert as_graph(graph.to_string(), kind=graph.kind) == graph


@given(st.lists(NAMES | SYNTAX | TRICKY | JOINED, max_size=5, unique=True), st.data())
def test_writing_mixed_graphs_reads_back(names: list[str], data: st.DataObject) -> None:
    names = sorted(names)
    codes = st.sampled_from([None, (1, 2), (2, 1), (2, 2), (1, 1), (1, 3), (3, 1), (2, 3), (3, 2), (3, 3)])
    drawn = [(i, j, data.draw(codes)) for j in range(len(names)) for i in range(j)]
    ends = [(i, j, *marks) for i, j, marks in drawn if marks]
    text = write_graph(write_names(names), ends)
    found = parse_edges(text)
    labels = [str(name) for name in found.labels or ()]
    assert sorted(labels) == names
    known = [(names.index(labels[i]), names.index(labels[j]), a, b) for i, j, a, b in found.ends]
    assert {(i, j, a, b) if i < j else (j, i, b, a) for i, j, a, b in known} == set(ends)


@pytest.mark.parametrize("text", ["'' -> A; '' -- A", '""', "''", "A -> ''", '"" -- ""'])
def test_empty_names_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="found an empty name in quotes"):
        parse_edges(text)


def test_order_of_a_written_graph() -> None:
    assert write_graph(["A", "B", "C", "D"], [(2, 1, 1, 2), (1, 0, 1, 1)]) == "A -- B; C -> B; D"
    assert write_graph([], []) == "{}"
    assert write_graph(["A", "B"], []) == "A; B"


LONG: list[Callable[[int], str]] = [
    lambda n: " -> ".join(f"X{i}" for i in range(n // 10)),
    lambda n: "; ".join(f"X{i % 90} -- Y{i}" for i in range(n // 10)),
    lambda n: "; ".join(f"'node {i}'" for i in range(n // 10)),
    lambda n: "; ".join(f"A-{i} -> B {i}" for i in range(n // 10)),
    lambda n: "A" + " " * n + "-> B",
    lambda n: "A -> " + "x" * n,
    lambda n: "A -> " + "x " * n + "!",
    lambda n: "a-" * n + "!",
    lambda n: "-" * n,
    lambda n: "<" * n + "->" * n,
    lambda n: '"' * n,
    lambda n: '"' + "a;" * n,
    lambda n: "'" * (n + 1),
    lambda n: ";" * n + "\n" * n,
    lambda n: " " * n,
    lambda n: "[" * n,
    lambda n: "[a] " * n,
    lambda n: "[a]" * n + "x",
    # a packed graph grows with the square of its nodes, so that only their names grow
    lambda n: "".join(f"[{i:0{n // 60}}]" if i % 2 else f"[{i:0{n // 60}}|{i - 1:0{n // 60}}]" for i in range(1, 40)),
    lambda n: "[A]" + f"[B|{':'.join(f'X{i:0100}' for i in range(n // 100))}]",
    lambda n: "[[0 1]\n [" + "0 1 " * n + "]]",
    lambda n: "Graph named '" + "x" * n,
    lambda n: "dag { " + "A -> B " * n + "}",
    lambda n: "=" * n + " " + "~|" * n,
]


@pytest.mark.parametrize("make", LONG)
def test_work_is_linear_in_the_length(make: Callable[[int], str], count_lines: Callable[..., int]) -> None:
    once, twice = (count_lines(as_graph, make(n)) for n in (2000, 4000))
    assert twice < 2 * once + 500


def outcome(text: str) -> str:
    """Return how the message begins that refuses a text, or nothing if it is read."""
    try:
        as_graph(text)
    except ValueError as error:
        return str(error)[:20]
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("make", LONG)
def test_time_is_linear_in_the_length(make: Callable[[int], str]) -> None:
    """A pattern that reads the rest of the text at each piece would take longer than a test may."""
    n = 1000 * 1_000_000 // len(make(1000))
    assert outcome(make(n)) in (outcome(make(1000)), "graph: the graph has")


@pytest.mark.parametrize("text", ["Ao->B", "Ao -> B; A", '"Ao"->B; A', "o->B", "Ao <- B; A", "A->oB"])
def test_names_may_begin_and_end_in_o(text: str) -> None:
    assert [edge[2:] for edge in parse_edges(text).ends] in ([(1, 2)], [(2, 1)])


@pytest.mark.parametrize("mark", ["<-o->", "->o->", "--o--"])
def test_a_mark_with_a_circle_inside_is_no_chain_by_a_node_o(mark: str) -> None:
    with pytest.raises(ValueError, match=f"found the edge mark '{mark}'; .* write blanks around the arrows of a node"):
        parse_edges(f"A {mark} B")


@pytest.mark.parametrize("text", ["A <- o -> B", 'A <-"o"-> B'])
def test_a_node_may_be_named_o(text: str) -> None:
    assert parse_edges(text).labels == ("A", "o", "B")


@pytest.mark.parametrize(
    "text",
    [
        "A --&gt; B", "A &lt;-- B", "A -> B&nbsp;", "A -> B; C &#8594; D", "A -> B\u200b; B -> C", "A -> B\u2028B -> C",
        "A -> B\x85B -> C",
    ],
)  # fmt: skip
def test_characters_that_do_not_show_are_no_part_of_a_bare_name(text):
    with pytest.raises(ValueError, match=r"row 0 .*found '.*', expected letters"):
        graph_column([text])


def test_quoted_names_keep_characters_that_do_not_show():
    texts = ['"A&gt;" -> "B\u200b"']
    column = graph_column(texts)
    assert (graph_column(column.graph.to_strings()) == column).all()


@pytest.mark.parametrize("text", ["runs/estimate.csv", " asia.bif ", "graph.GML", "C:\\runs\\graph.txt"])
def test_names_of_files_are_no_nodes(text):
    for read in (as_graph, ce.as_lagged):
        with pytest.raises(ValueError, match="the name of a file: a path is a pathlib.Path, and ce.read_graphs"):
            read(text)
    quoted = as_graph('"estimate.csv"')
    assert quoted.nodes == ("estimate.csv",) and as_graph(quoted.to_string()) == quoted
    assert as_graph("estimate.csv -> B").nodes == ("B", "estimate.csv")
