"""Edge strings: what is read, what is refused, and that writing reads back."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.graphs import as_graph, graph_column
from causaleval_pd.graphs.edge_strings import (
    TEXT_OF_OBJECT,
    explain_doubt,
    parse_edges,
    write_graph,
    write_mixed_graph,
    write_name,
    write_names,
)

NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1, max_size=8)
JOINED = st.text("AB- |", min_size=1, max_size=4)
SYNTAX = st.text("-<>;'\"{},ao*@ \n\t=→", min_size=1, max_size=6)
TRICKY = st.sampled_from(
    [
        "nan",
        "None",
        "b'x'",
        "Graph(x",
        "[[0",
        "<x y",
        "DiGraph with 2 nodes",
        "a o-o b",
        "a *",
        "@ b",
        "a -o b",
        "\u2028",
    ]
)


def edges(text: str) -> tuple[list[str], set[tuple[str, str]]]:
    names, arcs, doubtful, ends = parse_edges(text)
    assert not doubtful
    assert ends is None
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
        ("Crohn's -> p", ["Crohn's", "p"], {("Crohn's", "p")}),
        ("o -> b; o--c", ["o", "b", "c"], {("o", "b"), ("o", "c"), ("c", "o")}),
        ("X(t-1) -> X(t)", ["X(t-1)", "X(t)"], {("X(t-1)", "X(t)")}),
        ("A -> B; A -> B", ["A", "B"], {("A", "B")}),
        ("gene x->gene y; x-> B", ["gene x", "gene y", "x", "B"], {("gene x", "gene y"), ("x", "B")}),
        ('"A ?"-> B', ["A ?", "B"], {("A ?", "B")}),
        ("X 1-> X 2", ["X 1", "X 2"], {("X 1", "X 2")}),
        ("A -- B; B -- A", ["A", "B"], {("A", "B"), ("B", "A")}),
        ("{}", [], set()),
        (" {} ", [], set()),
        ("", [], set()),
    ],
)
def test_reads(text: str, nodes: list[str], arcs: set[tuple[str, str]]) -> None:
    assert edges(text) == (nodes, arcs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A -> A", "an edge from 'A' to itself; graphs have no self loops"),
        ("A -> B; B -> A", "between 'B' and 'A' is written twice with different marks"),
        ("A -> B; A -- B", "written twice with different marks; an undirected edge is A -- B"),
        ("A+B<->C", "metrics of the field 'formula'"),
        ("A<->B", "without blanks around it; a configurational model .* 'A <-> B'"),
        ("A + B <-> C", r"'<->' and the name 'A \+ B'; a configurational model"),
        ("A <-> B*c", r"'<->' and the name 'B\*c'; a configurational model"),
        ("A o-> B; A o-o B", "written twice with different marks"),
        ("A <-> B; A -- B", "only '->' and '<->' stand side by side"),
        ("A <-> B; A -> B; B -> A", "only '->' and '<->' stand side by side"),
        ("A o-o A", "an edge from 'A' to itself"),
        ("A o- B", "found the edge mark 'o-'; edges are written with .* those of mixed graphs with '<->', 'o->'"),
        ("A -o B", "found the edge mark '-o'"),
        ("A *-> B", r"found the edge mark '\*->'"),
        ("A <-* B", r"found the edge mark '<-\*'"),
        ("A *-* B", r"found the edge mark '\*-\*'"),
        ("A @-> B", "found the edge mark '@->'"),
        ("A ?-> B", r"mark '\?->'; .*if '\?' belongs to the node 'A \?', write blanks around the arrow"),
        ("A x-> B", "mark 'x->'; .*if 'x' belongs to the node 'A x'"),
        ("A <-x B", "mark '<-x'"),
        ("A <-O B; C", "mark '<-O'"),
        ("A --? B", r"mark '--\?'"),
        ("A +-> B", r"mark '\+->'"),
        ("A -- B; B \u2194 C", "found the edge mark '\u2194'"),
        ("o-> B o-o", "an edge needs a node name at both ends"),
        ("A -> B, C -> D", "found ',' in the name 'B, C'; edges are written with .* separated by ';'"),
        ("dag { A -> B }", "found '{' in the name 'dag { A'"),
        ("A - B", "found ' - ' in the name 'A - B'"),
        ("A => B", "found ' => ' in the name"),
        ("A → B", "found '→' in the name"),
        ("A ->> B", "found '>' in the name '> B'"),
        ("A <<- B", "found '<' in the name 'A <'"),
        ("-> B", "an edge needs a node name at both ends"),
        ("A ->", "an edge needs a node name at both ends"),
        ("A -> -> B", "an edge needs a node name at both ends"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ -> ; abcdefghijklmnopqrstuvwxyz",
            "cannot read 'JKLMNOPQRSTUVWXYZ -> ; abcdefghijklmnopq': an edge needs",
        ),
        (f"<object {'x' * 51}>", f"found the text '<object {'x' * 51}>', which"),
        (f"<object {'x' * 52}>", rf"found the text '<object {'x' * 49}\.\.\.', which"),
        ("'A' B -> C", "expected an arrow or ';' after the quoted name 'A'"),
        ("'A -> B", 'found "\'" in the name'),
        ("   A  B\nA  0  1", "found '  ' in the name"),
        ("b'\\xce\\x01\\x00'", "an object turned into when dask, CSV or astype"),
        ("DiGraph with 4 nodes and 3 edges", "an object turned into"),
        ("Graph('A -> B', kind='dag')", "an object turned into"),
        ("<networkx.classes.digraph.DiGraph object at 0x7f>", "an object turned into"),
        ("[[0 1]\n [0 0]]", "an object turned into"),
        ("[('A', 'B')]", "an object turned into"),
        ("Graph Nodes:\nX1;X2\n\nGraph Edges:\n1. X1 --> X2", "an object turned into"),
        ("nan", "an object turned into"),
        ("<NA>", "an object turned into"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_edges(text)


def test_a_name_may_start_like_the_text_of_an_object_when_quoted() -> None:
    assert edges('"nan"') == (["nan"], set())
    assert edges("nan -> B") == (["nan", "B"], {("nan", "B")})
    assert not TEXT_OF_OBJECT.match(write_name("Graph(x"))


@pytest.mark.parametrize("name", ["IL-6", "heart rate", "X(t-1)", "p53", "Crohn's", "a.b_c", "β"])
def test_plain_names_are_written_bare(name: str) -> None:
    assert write_name(name) == name


@pytest.mark.slow
@given(st.lists(NAMES | SYNTAX | TRICKY | JOINED, max_size=5, unique=True), st.data())
def test_writing_reads_back(names: list[str], data: st.DataObject) -> None:
    names = sorted(names)
    arcs = []
    for i in range(len(names)):
        for j in range(i):
            mark = data.draw(st.integers(0, 3))
            arcs += [(i, j)] * (mark & 1) + [(j, i)] * (mark >> 1)
    text = write_graph(write_names(names), arcs)
    found, found_arcs = edges(text)
    assert sorted(found) == names
    assert found_arcs == {(names[s], names[t]) for s, t in arcs}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("A <-> B", "A <-> B"),
        ("B <--> A", "A <-> B"),
        ("A o-> B <-o C", "A o-> B; C o-> B"),
        ("A o--> B; B o---o C", "A o-> B; B o-o C"),
        ("A o-- B; C --o D", "A o-- B; D o-- C"),
        ("A -> B o-o C --- D; E", "A -> B; B o-o C; C -- D; E"),
        ("B <- A; A <-> B", "A -> B; A <-> B"),
        ("o <-> p; o -> q", "o <-> p; o -> q"),
        ("o <-o o1", "o1 o-> o"),
        ("o-cresol o-> m-cresol", "o-cresol o-> m-cresol"),
        ("foo -> b; foo <-> a", "a <-> foo; foo -> b"),
        ("'a+b' <-> c", '"a+b" <-> c'),
    ],
)
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
    text = write_mixed_graph(write_names(names), ends)
    found, arcs, _, read = parse_edges(text)
    assert sorted(found) == names
    if any(3 in edge[2:] or edge[2:] == (2, 2) for edge in ends):
        known = [(names.index(found[i]), names.index(found[j]), a, b) for i, j, a, b in read]
        assert {(i, j, a, b) if i < j else (j, i, b, a) for i, j, a, b in known} == set(ends)
    else:
        expected = {arc for i, j, a, b in ends for arc, mark in (((i, j), a), ((j, i), b)) if mark == 1}
        assert {(names.index(found[s]), names.index(found[t])) for s, t in arcs} == expected


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        ("A-B", ["A-B"]),
        ("A B", ["A B"]),
        ("X2|X1", ["X2|X1"]),
        ("A\u2013B", ["A\u2013B"]),
        ("A>B", ["A>B"]),
        ("A=B; C", ["A=B"]),
        ("A+B", ["A+B"]),
        ("[A]", ["[A]"]),
        ("A -> B; C-D", ["C-D"]),
        ("A\ufe63B; C\uff0dD", ["A\ufe63B", "C\uff0dD"]),
        ("A -> B; B-C -> D; C", ["B-C"]),
        ("IL-6 -> CRP; TNF-a", ["TNF-a"]),
        ("IL-6 -> CRP", []),
        ("blood pressure -> stroke", []),
        ("IL-6; IL-6 -> CRP", []),
        ("age>65 -> death; TP53|7157 -- death", []),
        ("A -> B; C", []),
        ("A.1; B_2; C:3; \u03b2", []),
        ("'A-B'; \"A B\"", []),
        ("A->B->C", []),
        ("A->B B->C", ["B B"]),
        ("A->B C--D E<-F", ["B C", "D E"]),
        ("smoking -> blood pressure -> stroke", []),
        ("smoking ->blood pressure-> stroke", ["blood pressure"]),
        ("smoking-> blood pressure->stroke", []),
        ("smoking->'blood pressure'->stroke", []),
        ("digraph", ["digraph"]),
        ("network ", ["network"]),
        ("dag; Graph", []),
        ('"dag"', []),
        ("dag -> B", []),
    ],
)
def test_doubtful_names(text: str, doubtful: list[str]) -> None:
    assert list(parse_edges(text).doubtful) == doubtful


@pytest.mark.parametrize(
    "text", ["\u2014", "\u2013", "?", "...", "*", "\u2205", "A\u2014B", "A \u2013 B", "A -B", "A \u21d2 B", "* -> B"]
)
def test_names_without_a_word_and_other_dashes_and_arrows_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="in the name"):
        parse_edges(text)


@pytest.mark.parametrize("text", ["'' -> A; '' -- A", '""', "''", "A -> ''", '"" -- ""'])
def test_empty_names_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="found an empty name in quotes"):
        parse_edges(text)


@pytest.mark.parametrize("name", ["A-B", "A B", "X2|X1", "X(t-1)", "a+b"])
def test_doubtful_names_are_quoted_where_they_stand_alone(name: str) -> None:
    assert write_graph(write_names([name, "z"]), []) == f'"{name}"; z'
    assert write_graph(write_names([name, "z"]), [(0, 1)]) == f"{name} -> z"
    assert write_names(["A", "A-B", "B"]) == ["A", '"A-B"', "B"]


def test_order_of_a_written_graph() -> None:
    assert write_graph(["A", "B", "C", "D"], [(2, 1), (1, 0), (0, 1)]) == "A -- B; C -> B; D"
    assert write_graph([], []) == "{}"
    assert write_graph(["A", "B"], []) == "A; B"


def seconds(text: str) -> float:
    """CPU time to read a text, the least of some tries, whether or not it is a graph."""
    least = float("inf")
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(ValueError):
            as_graph(text)
        least = min(least, time.process_time() - start)
    return least


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
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
        lambda n: "".join(
            f"[{i:0{n // 60}}]" if i % 2 else f"[{i:0{n // 60}}|{i - 1:0{n // 60}}]" for i in range(1, 40)
        ),
        lambda n: "[A]" + f"[B|{':'.join(f'X{i:0100}' for i in range(n // 100))}]",
        lambda n: "[[0 1]\n [" + "0 1 " * n + "]]",
        lambda n: "Graph named '" + "x" * n,
        lambda n: "dag { " + "A -> B " * n + "}",
        lambda n: "=" * n + " " + "~|" * n,
    ],
)
def test_time_is_linear_in_the_length(make: Callable[[int], str]) -> None:
    n = 20_000
    while (once := seconds(make(n))) < 0.01 and n < 2_000_000:
        n *= 2
    # 16 times if it were quadratic; less than a hundredth of a second measures nothing but memory
    assert seconds(make(4 * n)) < 10 * max(once, 0.01)


@pytest.mark.parametrize("text", ["Ao->B; A -> C", "A -> C; B<-oA", "A; Ao--B", "C -> A <- B; D--oA"])
def test_a_circle_without_a_blank_is_doubtful_beside_the_node_without_it(text: str) -> None:
    name = "oA" if "oA" in text else "Ao"
    assert parse_edges(text).doubtful == (name,)
    assert f"the node {name!r} at an arrow and a node of this name without its 'o'" in explain_doubt(name)


@pytest.mark.parametrize("text", ["Ao->B", "Ao -> B; A", '"Ao"->B; A', "o->B", "Ao <- B; A", "A o-> B; A -> C"])
def test_names_may_end_in_o(text: str) -> None:
    assert parse_edges(text).doubtful == ()


@pytest.mark.parametrize("mark", ["<-o->", "->o->", "--o--", "->o-o"])
def test_a_mark_with_a_circle_inside_is_no_chain_by_a_node_o(mark: str) -> None:
    with pytest.raises(ValueError, match=f"found the edge mark '{mark}'; .* write blanks around the arrows of a node"):
        parse_edges(f"A {mark} B")


@pytest.mark.parametrize("text", ["A <- o -> B", "A<-o->B", 'A <-"o"-> B'])
def test_a_node_may_be_named_o(text: str) -> None:
    assert parse_edges(text).nodes == ("A", "o", "B")


@pytest.mark.parametrize(
    "text",
    [
        "A --&gt; B",
        "A &lt;-- B",
        "A -> B&nbsp;",
        "A -> B; C &#8594; D",
        "\ufeffA -> B",
        "A -> B\u200b; B -> C",
        "A -> B\u2028B -> C",
        "A -> B\x85B -> C",
    ],
)
def test_characters_that_do_not_show_are_no_part_of_a_bare_name(text):
    with pytest.raises(ValueError, match=r"row 0 .*found '.*' in the name"):
        graph_column([text])


def test_quoted_names_keep_characters_that_do_not_show():
    texts = ['"A&gt;" -> "B\u200b"']
    column = graph_column(texts)
    assert (graph_column(column.graph.to_strings()) == column).all()
    persian = "\u0645\u06cc\u200c\u0631\u0648 -> R&D"
    assert graph_column([persian]).graph.to_strings().tolist() == [persian]


@pytest.mark.parametrize(
    "text",
    [
        *("A -> B<br>B -> C", "A -> B<br/>B -> C", "<b>A</b> -> B", "A -> B\uff1b B -> C", "A -> B\u037e B -> C"),
        *(
            "\u201cA\u201d -> \u201cB\u201d",
            "\u2018A\u2019 -> B",
            "\u00abA\u00bb -> B",
            "`A` -> `B`",
            "A -> B\u3001C -> D",
        ),
    ],
)
def test_tags_and_signs_of_other_keyboards_are_no_part_of_a_bare_name(text):
    with pytest.raises(ValueError, match=r"row 0 .*found '.*' in the name .* is quoted"):
        graph_column([text])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("A -> B [0.5]", "B [0.5]"), ("A -> B (0.5)", "B (0.5)"), ("A -> B 0.5", "B 0.5"), ("A -> B: 1", "B: 1")),
        *(("A -> B [weight=2]", "B [weight=2]"), ("edge: A -> B", "edge: A"), ("A -> B |0.5", "B |0.5")),
        *(("A -> B # sure", "B # sure"), ("A -> B // sure", "B // sure"), ("(A -> B)", "(A"), ("A -> B)", "B)")),
        *(("1. A -> B", "1. A"), ("2) A -> B", "2) A"), ("* A -> B", "* A"), ("\u2022 A -> B", "\u2022 A")),
        *(("**A** -> B", "**A**"), ("A + B -> C", "A + B"), ("A & B -> C", "A & B"), ("A -> B / C -> D", "B / C")),
        *(("A -> B and C -> D", "B and C"), ("A -> B. C -> D", "B. C"), ("A -> B\\nC -> D", "B\\nC")),
    ],
)
def test_weights_comments_and_other_separators_make_a_name_doubtful(text, name):
    with pytest.raises(ValueError, match=f"row 0 .*found {re.escape(repr(name))}, which may be "):
        graph_column([text])
    column = graph_column([text], nodes=list(parse_edges(text).nodes))
    assert (graph_column(column.graph.to_strings()) == column).all()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "CD4+ -> IL-6",
            "income (USD) -> temp [C]",
            "A[0] -> B[1]",
            "PC 1 -> PC 2",
            "oil and gas -> sea",
            "gene #1 -> p",
        ),
        *(
            "X(t-1) -> X(t)",
            "St. John -> sea",
            "Income..USD. -> p",
            "$\\nu$ -> $\\beta$",
            "5' UTR -> R&D",
            "a/b -> c:d",
        ),
    ],
)
def test_names_of_columns_are_read_without_quotes(text):
    assert graph_column([text]).graph.to_strings().tolist() == [text]
