"""Texts of tools: Tetrad, JSON, dagitty, DOT, GraphML, GML, model strings and networks; refusals name the line."""

import json
import warnings
from collections.abc import Callable

import networkx as nx
import pytest

import causaleval_pd as ce
from causaleval_pd import AmbiguousEncodingError
from causaleval_pd.graphs import as_graph, graph_column

TETRAD = """Graph Nodes:
X1;X2;blood pressure;X4

Graph Edges:
1. X1 --> X2 dd nl
2. X2 o-> blood pressure pd pl
3. X4 <-> X1 [X4 <-> X1]:0.97;[no edge]:0.03;
4. X4 o-- X2

Graph Attributes:
Score: -123.4
Ambiguous triples (i.e. list of triples for which there is ambiguous data about whether they are colliders or not):
"""
TETRAD_EDGES = "X1 -> X2; X2 o-> blood pressure; X4 <-> X1; X4 o-- X2"
GML = """Creator "x"
graph [
  directed 1
  node [ id 0 label "A" ]
  node [ id 1 label "B c" ]
  edge [ source 0 target 1 ]
]"""
BIF = """network unknown {
}
// a comment: probability ( C | A )
variable A {
  type discrete [ 2 ] { yes, no };
}
variable B {
  type discrete [ 2 ] { yes, no };
}
probability ( A ) {
  table 0.5, 0.5;
}
probability ( B | A ) {
  (yes) 0.1, 0.9;
  (no) 0.2, 0.8;
}
"""
GRAPHML = (
    '<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/>'
    '<key id="k" for="node" attr.name="name" attr.type="string"/><graph edgedefault="directed">{}</graph></graphml>'
)

WRAPPED = """{"graph": {"nodes": [{"name": "X"}, {"name": "Y"}, {"name": "Z"}], "edgesSet": [
{"node1": {"name": "X"}, "node2": {"name": "Y"}, "endpoint1": {"name": "Circle"}, "endpoint2": {"name": "Arrow"}}]}}"""
YED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d10" yfiles.type="edgegraphics"/>
<graph edgedefault="directed" id="G">
<node id="n0"><data key="d6"><y:ShapeNode><y:NodeLabel>Smoking</y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>Lung cancer</y:NodeLabel></y:ShapeNode></data></node>
<edge id="e0" source="n0" target="n1"><data key="d10"><y:PolyLineEdge><y:Arrows source="none" target="standard"/>
</y:PolyLineEdge></data></edge></graph></graphml>"""

READ = [
    ("Tetrad text", TETRAD, TETRAD_EDGES),
    ("Tetrad text", "Graph Nodes:\nX1,X2\nGraph Edges:\n1. X1 --- X2", "X1 -- X2"),
    ("Tetrad text", "Graph Nodes: A;B\n\nGraph Edges:\n", "A; B"),
    ("JSON", '{"nodes": ["A", "B"], "edges": [{"from": "A", "edge": "o->", "to": "B"}]}', "A o-> B"),
    (
        "JSON",
        '{"nodes": [{"name": "A"}, {"name": "B"}], "edgesSet": [{"node1": {"name": "A"}, "node2": {"name": "B"}, '
        '"endpoint1": {"name": "CIRCLE"}, "endpoint2": {"name": "ARROW"}}]}',
        "A o-> B",
    ),
    ("JSON", '{"directed": true, "nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}', "1 -> 2"),
    # of vis.js and d3: edges mean nodes by numbers
    ("JSON", '{"nodes": [{"id": 1, "label": "B"}, {"id": 2, "label": "A"}], "edges": [[1, 2]]}', "B -> A"),
    ("JSON", '{"nodes": [{"id": 0, "name": "B"}, {"id": 1, "name": "2"}], "links": [{"from": 0, "to": 1}]}', "B -> 2"),
    (
        "GraphML",
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="l" for="node" attr.name="label" '
        'attr.type="string"/><graph edgedefault="directed"><node id="0"><data key="l">B</data></node><node id="1">'
        '<data key="l">A</data></node><edge source="0" target="1"/></graph></graphml>',
        "B -> A",
    ),
    (
        "dagitty",
        'dag {\nbb="0,0,1,1"\nX [exposure,pos="0,1"]\nU [latent]\nX -> {Y Z} <- U [beta=0.3]\n}',
        "X -> Y; X -> Z; U -> Y; U -> Z",
    ),
    ("dagitty", "pag { A @-> B @-@ C; D @-- A }", "A o-> B o-o C; D o-- A"),
    ("dagitty", 'mag { "blood pressure" -> B; A <-> B }', "blood pressure -> B; A <-> B"),
    ("dagitty", "dag{A->B<-C}", "A -> B <- C"),
    ("dagitty", "pdag { A -- B /* later */ }", "A -- B"),
    ("DOT", 'digraph "g" { rankdir=LR; A -> B [label="yes"]; B -> {C; D} }', "A -> B; B -> C; B -> D"),
    ("DOT", "graph { A -- B; C }", "A -- B; C"),
    ("DOT", "digraph { edge [dir=none]; A -> B; edge [dir=back]; B -> C }", "A -- B; C -> B"),
    ("DOT", 'digraph { A -> B [dir=both, arrowtail=odot, arrowhead=normal] A -> C [dir="both"] }', "A o-> B; A <-> C"),
    ("DOT", 'strict digraph { 0 [label=X1]; 1 [label="X 2"]; 0 -> 1 }', "X1 -> X 2"),
    ("DOT", 'digraph { U [label="Unobserved"]; U -> A; U -> B }', "U -> A; U -> B"),
    ("DOT", "digraph { subgraph cluster_0 { A -> B } B -> C }", "A -> B; B -> C"),
    ("GML", GML, "A -> B c"),
    ("GML", 'graph[directed 1 node[ id "X" label "X"] node[id "Y" label "Y"] edge[source "X" target "Y"]]', "X -> Y"),
    ("GML", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]", "1 -- 2"),
    ("BIF", BIF, "A -> B"),
    ("edge table", "from,edge,to\nA,o->,B\nC,,\n", "A o-> B; C"),
    ("edge table", '"source","target"\n"A","B"\n"B","A"\n"C",\n', "A -- B; C"),
    ("JSON", '[["A", "B"], ["B", "C"]]', "A -> B; B -> C"), ("JSON", WRAPPED, "X o-> Y; Z"),
    ("JSON", '[{"from": "A", "edge": "<->", "to": "B"}]', "A <-> B"),
    ("JSON", ' [ {"source": "A", "target": "B"} ]', "A -> B"), ("model string", "[A][B|A]", "A -> B"),
    ("model string", "[A][B|A][C|A:B]", "A -> B; A -> C; B -> C"), ("model string", "[B|A][A]", "A -> B"),
    ("model string", "[A][B][C|A:B][D]", "A -> C; B -> C; D"), ("model string", " [IL-6][CRP|IL-6] ", "IL-6 -> CRP"),
    ("model string", "[blood pressure][stroke|blood pressure]", "blood pressure -> stroke"),
    ("GraphML", YED, "Smoking -> Lung cancer"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text", "expected"), READ)
def test_texts_are_recognised(encoding: str, text: str, expected: str) -> None:
    assert ce.as_graph(text) == ce.as_graph(text, encoding=encoding) == ce.as_graph(expected)
    crlf = text.replace("\n", "\r\n")
    assert ce.as_graph(crlf) == ce.as_graph(expected)
    column = graph_column([text, expected, None])
    assert column[0] == column[1]


def test_texts_of_networkx() -> None:
    graph = nx.DiGraph([("A", "B"), ("B", "C"), ("C", "B")])
    for text in ("\n".join(nx.generate_graphml(graph)), "\n".join(nx.generate_gml(graph))):
        assert ce.as_graph(text) == ce.as_graph(graph) == ce.as_graph("A -> B; B -- C")
    marked = ce.as_graph("A o-> B; B <-> C; C -> D; A o-o D; E; C o-- E")
    for write in (nx.generate_graphml, nx.generate_gml):
        for one in (marked, ce.as_graph("A -> B; C <-> B; C -> B; D")):
            assert ce.as_graph("\n".join(write(one.to_networkx()))) == one


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pag { A; B }", "pag"), ("pag { A -> B }", "mixed"), ("pag { A @-> C; B @-> C; C -> D }", "pag"),
        ("pag { A -> C; B -> C; C -> D; A @-@ B }", "mixed"), ("pag { A -> B; A <-> B }", "admg"),
        ("mag { A -> B }", "mag"), ("mag { A -> B; B -> C; C -> A }", "mixed"), ("dag { A -> B }", "dag"),
        ("dag { A <-> B }", "mag"), ("pdag { A -- B }", "cpdag"),
    ],
)  # fmt: skip
def test_the_heading_of_dagitty_names_the_class(text: str, kind: str) -> None:
    assert ce.as_graph(text).kind == kind
    assert ce.graph_column([None, text, "A -> B"]).graph.kind.tolist()[1:] == [kind, "dag"]
    if "->" in text and "@" not in text and "<->" not in text and text.count(";") < 2:
        assert ce.as_graph(text, kind="dag").kind == "dag"


def test_a_column_of_encodings() -> None:
    texts = ["A -> B", "dag { A -> B }", "digraph { A -> B }", None]
    words = ["edge string", "dagitty", "DOT", None]
    assert ce.graph_column(texts, encoding=words).nunique() == 1


REFUSED = [
    ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A --> B\n2. A --> C", "line 6: found the node 'C', which 'Graph Nodes:'"),
    ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A -> B", "line 5: found '1. A -> B', expected an edge as"),
    ("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A --> B\n2. B --> A",
     "line 6: found the edges 'B' <-- 'A' and 'B' --> 'A'"),
    ("Graph Nodes:\nA;A\n\nGraph Edges:", "line 2: found the node 'A' twice"),
    ("Graph Nodes:\nA;B\n", "no line 'Graph Edges:'; the text is cut off"),
    ("Graph Nodes:\nA;B\nGraph Edges:\n1. A --> A", "line 4: found an edge from 'A' to itself"),
    ("Graph Nodes:\nA;B\nGraph Edges:\n1. A *-> B", r"line 4: found '1. A \*-> B'"),
    ('{"nodes": ["A"],\n "edges": [}', "line 2: found no JSON"),
    ('{"nodes": ["A"], "edges": [{"from": "A", "edge": "->>", "to": "B"}]}', "edge 1: found the edge '->>'"),
    ('{"nodes": ["A"], "edges": [{"from": "A", "to": "B"}]}', "the node 'B', which is not among the nodes"),
    ("dag { A -> }", "line 1: found '}', expected the name of a node"),
    ("dag {\nA -> B", "line 2: found 'the end of the text', expected '}'"),
    ("dag {\nA -> B\nB -> A}", "line 3: found the edges 'B' <-- 'A' and 'B' --> 'A'"),
    ("dag { A => B }", "line 1: cannot read '> B }'|line 1: found '='"),
    ("dag { A -> B } dag { }", "expected nothing after the closing brace"),
    ("digraph { A -- B }", "line 1: found the edge '--' in a digraph"),
    ("digraph {\n A -> B [dir=both, arrowhead=box] }", "line 2: found arrowhead='box', expected one of"),
    ("digraph { A -> B [style=invis] }", "found an invisible edge"),
    ("digraph { A -> B <- C }", "found the edge '<-' in a digraph"),
    ('{"nodes": ["A"],\n "edges": [\n{"from": "A", "to": "A"}]}', "edge 1: found an edge from 'A' to itself"),
    ('{"edges": [{"from": "A", "to": "B"},\n\n{"from": "B", "to": "C"},\n[1]]}', r"edge 3: found \[1\], exp"),
    ('{"nodes": ["A",\n"A"], "edges": []}', "found the node 'A' twice"),
    ("from,edge,to\nA,->,B,C", "line 2: found 4 fields, the header has 3"),
    ("from,edge,to\nA,,B", "edge 1: found '', expected one of"),
    (GRAPHML.format('<node id="A"/><edge source="A" target="B"/>'), "found the node 'B', which is not among the nodes"),
    (GRAPHML.format('<node id="A"/><node id="A"/>'), "found the node 'A', expected a name that no other node has"),
    (GRAPHML.format('<node id="A"/><node/>'), "found the node None, expected a name that no other node has"),
    (GRAPHML.format('<node id="A"/><node id="B"/><edge source="A" target="B"><data key="w">0.5</data></edge>'),
     "found the weight 0.5 of the edge 'A', 'B'"),
    (GRAPHML.format("").replace(' edgedefault="directed"', ""), "found edgedefault=None, expected 'directed' or"),
    (GRAPHML.format("</graph><graph>"), "found 2 graphs in GraphML, expected one"),
    ('<!DOCTYPE x [<!ENTITY a "b">]>' + GRAPHML.format("&a;"), "found '<!DOCTYPE"),
    ("<?xml version='1.0'?><graphml>&a;</graphml>", "found no GraphML: undefined entity: line 1"),
    ("<graphml><graph>", "found no GraphML: no element found: line 1"),
    ("graph [\n node [ id 0 ]\n edge [ source 0 target 1 ] ]", "found no GML: edge #0 has undefined target 1"),
    ("graph [\n node [ id 0 ]\n node [ id 0 ] ]", "found no GML: node id 0 is duplicated"),
    ("graph [\n node [ id 0 label 1 label 2 ] ]", r"found \[1, 2\] in GML, expected one name of a node"),
    ("graph [ node [ id 0 ] ", r"found no GML: expected '\]', found EOF at"),
    (BIF.replace("B | A", "B | C"), "line 13: a table names the undeclared variables"),
    (BIF[:150], "line 8: expected the name of a state, found the end of the file"),
    ('[["A", "B"],\n["B"]]', r"edge 2: found \['B'\], expected an object"),
    ('<?xml version="1.0"?>\n<smile></smile>', r"found XML that is not GraphML; .*pyagrum.loadBN\(path\)"),
    ("[A][B|C]", r"row 1 \(index 1\): found the parent 'C' of 'B', which has no entry \[C\]"),
    ("[A|B][B|A]", "found the directed cycle .* in a model string, which describes a DAG"),
    ("[A|A][B]", "found the directed cycle A -> A"), ("[A][A|B][B]", "found the node 'A' twice"),
    ("[A][B|A:A]", "found a parent twice in"), ("[A][B|]", r"cannot read \[B\|\] in a model string"),
    ("[A][B:C]", r"cannot read \[B:C\]"), ("[A][]", r"cannot read \[\]"), ("[A][B|A|C]", r"cannot read"),
    ("['A', 'B'][C]", "cannot read"), ("[A]", r"found '\[A\]', expected letters"), ("[A][B|A", "expected letters"),
    (YED.replace('target="standard"', 'target="none"'), "the edge n0 - n1 of yEd with the arrows .* write an edge str"),
    (YED.replace('source="none"', 'source="standard"'), "the edge n0 - n1 of yEd with the arrows .* write an edge str"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_refused_with_the_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        ce.graph_column([None, text])
    assert str(error.value).startswith("row 1")


@pytest.mark.parametrize(
    "encoding", ["dagitty", "DOT", "edge table", "GraphML", "JSON", "model string", "Tetrad text", "edge string"]
)
def test_marks_and_names_that_a_text_cannot_hold_are_refused(encoding: str) -> None:
    for graph in (ce.as_graph("A o-> B"), ce.as_graph('"a;""b[" -> "c\td"')):
        try:
            text = graph.to_text(encoding)
        except ValueError as error:
            assert "cannot hold the node name" in str(error) or "only" in str(error)
        else:
            assert ce.as_graph(text, encoding=encoding) == graph
    with pytest.raises(ValueError, match="the encoding 'networkx' is not written as text; to_text writes "):
        graph.to_text("networkx")


@pytest.mark.parametrize("sign", ["-->", "<--", "---", "<->", "o->", "<-o", "o-o", "o--"])
def test_no_edge_of_tetrad_is_turned_or_lost(sign: str) -> None:
    """The readers of pywhy-graphs 0.1.0 and causal-learn 0.1.4.8 turn `-->` and lose `o--`."""
    graph = ce.as_graph(f"Graph Nodes:\nX;Y\n\nGraph Edges:\n1. X {sign} Y\n")
    assert graph == ce.as_graph(f"X {sign} Y")
    assert ce.as_graph(graph.to_text("Tetrad text")) == graph


def test_names_that_look_like_headings_of_tetrad() -> None:
    text = "Graph Nodes:\nA;rate:;B\n\nGraph Edges:\n1. A --> rate:\n2. rate: --> B\n\nGraph Attributes:\nBIC: 1.5\n"
    assert ce.as_graph(text) == ce.as_graph([("A", "rate:"), ("rate:", "B")])
    for name in ("rate:", "a: b", "1.", "BIC: 1", "Graph Nodes:", "Graph Edges:", "Graph Nodes: x"):
        graph = ce.as_graph([("A", name), (name, "B")])
        try:
            written = graph.to_text("Tetrad text")
        except ValueError as error:
            assert f"cannot hold the node name {name!r}" in str(error)
        else:
            assert ce.as_graph(written) == graph


LONG: list[Callable[[int], str]] = [
    lambda n: "dag { " + "A -> " * n + "B }", lambda n: "dag {" + "{" * n, lambda n: "dag { " + "{a} " * n,
    lambda n: "dag {" + "/*" * n, lambda n: "dag " + " " * n, lambda n: "digraph a" + " " * n, lambda n: "// a\n" * n,
    lambda n: "digraph {" + '"' * n,
    lambda n: "Graph Nodes:\nA;B\nGraph Edges:\n" + "1. A --> B\n" * n,
    lambda n: "Graph Nodes:\nA;B\nGraph Edges:\n1. A --> B " + "[A --> B]:0.9;" * n,
    lambda n: "Graph Nodes:\n" + ";" * n, lambda n: "graph [" + "a [ " * n, lambda n: "graph [" + "a [b= (c=" * n,
    lambda n: "Creator x " * n, lambda n: "<!-- -->" * n, lambda n: "network x {}\n" + "variable A {}\n" * n,
    lambda n: "network x {}\nvariable A {}\nprobability ( A | " + "A, " * n + " ) {}",
    lambda n: " //" * n, lambda n: '{"nodes": ' + "[" * n,
    lambda n: '{"edges": [' + '{"from": "A", "to": "B"},' * n + "1]}",
    lambda n: "<graphml>" + "<a>" * n, lambda n: "from,edge,to\n" + "A,->,B\n" * n + "A", lambda n: "from," * n,
]  # fmt: skip


@pytest.mark.parametrize("make", LONG)
def test_work_is_linear_in_the_length(make: Callable[[int], str], count_lines: Callable[..., int]) -> None:
    once, twice = (count_lines(ce.as_graph, make(n)) for n in (500, 1000))
    assert twice < 2 * once + 500


@pytest.mark.slow
@pytest.mark.parametrize("make", LONG)
def test_time_is_linear_in_the_length(make: Callable[[int], str]) -> None:
    """A pattern that reads the rest of the text at each piece would take longer than a test may."""
    n = 2_000_000 if len(make(2)) == len(make(1)) + 1 else 300_000
    with pytest.raises(ValueError, match=".") if make(n) else pytest.raises(TypeError):
        ce.as_graph(make(n))
        raise ValueError("read")


@pytest.mark.parametrize("text", ["network -> B", "net -> income", '"graph [a]" -> B', "comment -> B", "dag -> B"])
def test_names_of_edge_strings_may_begin_like_other_texts(text: str) -> None:
    graph = ce.as_graph(text)
    assert graph.n_edges == 1
    assert len(graph.nodes) == 2
    assert ce.as_graph(graph.to_string()) == graph


@pytest.mark.parametrize("name", ["graph", "node", "edge", "subgraph", "Graph", "digraph", "strict", "{", "[", "="])
@pytest.mark.parametrize("sign", ["->", "<-", "o-o", "<->", "o--"])
def test_words_of_dot_in_quotes_are_names(name: str, sign: str) -> None:
    graph = ce.as_graph(f'A {sign} "{name}"; B')
    assert ce.as_graph(graph.to_text("DOT")) == ce.as_graph(graph.to_text("DOT"), encoding="DOT") == graph
    alone = ce.as_graph(f'"{name}"; B')
    assert ce.as_graph(alone.to_text("DOT")) == alone


def test_words_of_dot_without_quotes_are_settings() -> None:
    text = "digraph { node [shape=box]; EDGE [dir=both]; subgraph cluster { A -> B } }"
    assert ce.as_graph(text) == ce.as_graph("A <-> B")


def test_a_subgraph_of_dagitty_is_a_node() -> None:
    graph = ce.as_graph("subgraph; B -> node")
    assert ce.as_graph(graph.to_text("dagitty")) == graph


@pytest.mark.parametrize(
    "text",
    [
        '"Graph Edges:" -> B; Z', '"Graph Nodes: A" <-> B', '"a~b" o-o ü x; Z', '"Y ~ b" o-o X', '"from,to"',
        '"from,to" -> B', '"source, target"; B',
    ],
)  # fmt: skip
def test_edge_strings_are_no_texts_of_other_tools(text: str) -> None:
    graph = ce.as_graph(text, encoding="edge string")
    written = graph.to_text("edge string")
    assert ce.as_graph(written) == ce.as_graph(written, encoding="edge string") == graph
    for encoding in ("JSON", "DOT", "GraphML"):
        assert ce.as_graph(graph.to_text(encoding)) == graph


def test_headings_of_tables_may_be_quoted() -> None:
    for heading in ("from,edge,to", '"from","edge","to"', 'from, "edge", to'):
        assert ce.as_graph(f"{heading}\nA,-->,B\n") == ce.as_graph("A -> B")


ODD_NAMES = ["Gr\u00f6\u00dfe", "A&B", 'say "no"', "x<y", "&amp;", "&#38;", "R&copyD", "\u03b2", "a;b", "\U0001f600"]


def written_by_networkx(graph, form):
    lines = {"GML": nx.generate_gml, "GraphML": nx.generate_graphml}[form](graph)
    return "\n".join(lines)


@pytest.mark.parametrize("form", ["GML", "GraphML"])
@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_that_networkx_escapes_come_back(form, name):
    graph = nx.DiGraph([(name, "B")])
    found = ce.as_graph(written_by_networkx(graph, form))
    assert found == ce.as_graph(graph)
    assert set(found.nodes) == {name, "B"}


def test_names_of_igraph_are_read():
    """The texts are those that python-igraph 1.0 writes for the arc Größe -> A&B."""
    gml = (
        'Creator "igraph version 1.0.0"\nVersion 1\ngraph\n[\n  directed 1\n  node\n  [\n    id 0\n    name '
        '"Gr\u00f6\u00dfe"\n  ]\n  node\n  [\n    id 1\n    name "A&amp;B"\n  ]\n  edge\n  [\n    source 0\n    '
        "target 1\n  ]\n]\n"
    )
    graphml = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '<key id="v_name" for="node" attr.name="name" attr.type="string"/>\n<graph id="G" edgedefault="directed">\n'
        '<node id="n0"><data key="v_name">Gr\u00f6\u00dfe</data></node>\n'
        '<node id="n1"><data key="v_name">A&amp;B</data></node>\n<edge source="n0" target="n1"/>\n</graph></graphml>\n'
    )
    expected = ce.as_graph(nx.DiGraph([("Gr\u00f6\u00dfe", "A&B")]))
    for text in (gml, graphml):
        assert ce.as_graph(text) == expected


def test_two_nodes_of_one_name_are_refused_in_every_form():
    nodes = "".join(f'<node id="n{i}"><data key="k">A</data></node>' for i in range(2))
    for text in ('graph [ directed 1 node [ id 0 name "A" ] node [ id 1 name "A" ] ]', GRAPHML.format(nodes)):
        with pytest.raises(ValueError, match="two nodes with one name"):
            ce.as_graph(text)


LINES = "Graph Nodes:\nA;B\n\nGraph Edges:\n1. A --> B"


@pytest.mark.parametrize("encoding", [None, "Tetrad text"])
@pytest.mark.parametrize("heading", ["Result:\n\n", "====\nFinal Resampling Search Result:\n====\n", "\n \n"])
def test_headings_before_the_text_of_tetrad(heading: str, encoding: str | None) -> None:
    assert ce.as_graph(heading + LINES, encoding=encoding).to_string() == "A -> B"


def test_latent_variables_of_tetrad_are_named_without_parentheses() -> None:
    found = ce.as_graph("Graph Nodes:\n(L 1);X;Y\n\nGraph Edges:\n1. (L 1) --> X\n2. Y <-- (L 1) nl\n")
    assert found.to_string() == "L 1 -> X; L 1 -> Y"
    with pytest.raises(ValueError, match=r"line 2: found the node 'L' twice"):
        ce.as_graph("Graph Nodes:\n(L);L\n\nGraph Edges:\n")


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("Tetrad text", "found 'A -> B', expected a line 'Graph Nodes:' or 'Graph Edges:'"),
        ("JSON", "line 1: found no JSON"),
        ("DOT", "line 1: found 'A -> B', expected 'digraph {' or 'graph {'"),
        ("dagitty", "line 1: found 'the end of the text', expected '{', which opens the graph"),
        ("GML", "found no GML: "),
        ("GraphML", "found no GraphML: "),
        ("BIF", "line 1: expected 'variable' or 'probability', found 'A'"),
        ("edge table", r"found a table with the columns \['A -> B'\], expected from, edge and to"),
        ("model string", "found 'A -> B', expected a model string"),
    ],
)
def test_the_reader_of_a_named_encoding_explains_what_is_wrong(encoding: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ce.as_graph("A -> B", encoding=encoding)


@pytest.mark.parametrize("attribute", ['label="0.31"', "weight=0.3", 'taillabel="12 %"'])
def test_numbers_of_edges_in_dot_are_refused(attribute: str) -> None:
    name = attribute.partition("=")[0]
    with pytest.raises(ValueError, match=f"found numbers in the attribute '{name}' of edges"):
        ce.as_graph(f"digraph {{ A -> B [{attribute}] }}")


def test_numbers_that_draw_are_not_read() -> None:
    drawn = 'digraph { edge [weight=1]; A -> B [penwidth=2, pos="0,1", arrowsize=.5]; B -> C [len=1.5] }'
    assert ce.as_graph(drawn).to_string() == "A -> B; B -> C"


@pytest.mark.parametrize("mark", ["# ", "## ", "#", "##\t", "#> "])
@pytest.mark.parametrize("text", [LINES, "A -> B", "digraph {\nA -> B\n}", "[A][B|A]", '{"edges": [["A", "B"]]}'])
def test_comment_marks_before_every_line_are_no_part_of_a_text(text: str, mark: str) -> None:
    printed = "\n".join(mark.rstrip() if not line else mark + line for line in text.splitlines())
    assert ce.as_graph(printed).to_string() == "A -> B"


PRINTED = """
  Bayesian network learned via Score-based methods

  model:
   [A][B|A]
   [C|A:B]
  nodes:                                 3
  arcs:                                  3
"""


def test_a_printed_network_of_bnlearn() -> None:
    assert ce.as_graph(PRINTED).to_string() == "A -> B; A -> C; B -> C"
    with pytest.raises(ValueError, match=r"found the model \[partially directed graph\], which has no model string"):
        ce.as_graph("  model:\n   [partially directed graph]\n  nodes: 3\n")


@pytest.mark.parametrize("suffix", [".xdsl", ".dsl", ".uai", ".net", ".xmlbif"])
def test_files_of_networks_lead_to_a_reader(suffix: str, tmp_path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("a network", encoding="utf-8")
    reader = "pyagrum.loadBN" if suffix in (".xdsl", ".dsl", ".uai") else r"pgmpy.readwrite.\w+Reader"
    with pytest.raises(ValueError, match=rf"read it by {reader}\(path\).*\[ce.as_network\(network\).graph"):
        ce.read_graphs(path)
    with pytest.raises(ValueError, match=rf"read it by {reader}\(path\).*give the network"):
        ce.as_network(path)


def test_the_advice_for_files_of_networks_reads_them(tmp_path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    path = str(tmp_path / "a.xdsl")
    pyagrum.fastBN("A->B<-C").saveXDSL(path)
    network = pyagrum.loadBN(path)
    assert ce.graph_column([ce.as_network(network).graph]).graph.to_strings().tolist() == ["A -> B; C -> B"]


@pytest.mark.parametrize("cell", ["A -> B; B -> A", nx.DiGraph([("A", "B"), ("B", "A")])])
def test_the_advice_for_two_cycles_keeps_them(cell) -> None:
    with pytest.raises(ValueError, match=r"two-cycles, as lagged_column\(\['A@-1 -> B; B@-1 -> A'\]"):
        ce.as_graph(cell, kind="digraph")
    truth = ce.lagged_column(["A@-1 -> B; B@-1 -> A"])
    runs = ce.evaluate(truth.to_frame("truth").assign(estimate=ce.lagged_column(["A@-1 -> B; B"])), ["summary_f1"])
    assert runs["summary_f1"].tolist() == [pytest.approx(2 / 3)]


@pytest.mark.parametrize("edges", ["edges", "links"])
@pytest.mark.parametrize("graph", [nx.DiGraph([("A", "B"), ("C", "B")]), nx.Graph([("A", "B")]), nx.empty_graph("AB")])
def test_objects_of_json_are_read_as_their_text(graph, edges):
    with warnings.catch_warnings():
        # releases differ in the name of the list
        warnings.simplefilter("ignore", FutureWarning)
        found = nx.node_link_data(graph)
    found[edges] = found.pop("links" if "links" in found else "edges")
    assert ce.as_graph(found) == ce.as_graph(json.dumps(found)) == ce.as_graph(graph)
    assert ce.as_graph({"nodes": ["A", "B"], edges: [["A", "B"]]}) == ce.as_graph("A -> B")


def test_a_mapping_with_nodes_named_nodes_and_edges_is_no_object_of_json():
    assert ce.as_graph({"nodes": ["edges"], "edges": []}, encoding="children") == ce.as_graph("nodes -> edges")


def test_mappings_are_read_as_named():
    families = {"A": [], "B": ["A"], "C": {"A", "B"}}
    assert ce.as_graph(families, encoding="parents") == ce.as_graph("A -> B; A -> C; B -> C")
    assert ce.as_graph(families, encoding="children") == ce.as_graph("B -> A; C -> A; C -> B")
    assert ce.as_graph('{"B": ["A"], "D": []}', encoding="parents") == ce.as_graph("A -> B; D")
    undirected = nx.to_dict_of_lists(nx.Graph([("A", "B")]))
    assert ce.as_graph(undirected, encoding="children") == ce.as_graph("A -- B")


@pytest.mark.parametrize(
    ("cell", "encoding", "error", "message"),
    [
        ({"B": ["A"]}, None, AmbiguousEncodingError, "'parents'.*reads 'A -> B'.*'children'.*reads 'B -> A'"),
        ({"B": "A"}, "parents", ValueError, "found 'A' for the node 'B', expected a list of nodes"),
        ({1: [2]}, "parents", TypeError, "found the node 1 of type int, expected a string"),
        ({"A": ["A"]}, "parents", ValueError, "from 'A' to itself"),
        ([{"source": "A", "target": "B"}], None, TypeError, r"make a table, as pd.DataFrame\(edges, "),
        ({"nodes": [{"id": "A"}], "links": [{"source": "A", "target": "Z"}]}, None, ValueError,
         "edge 1: found an edge of the node 'Z', which is not among the nodes"),
    ],
)  # fmt: skip
def test_other_mappings_are_refused(cell, encoding, error, message):
    with pytest.raises(error, match=message):
        ce.as_graph(cell, encoding=encoding)


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_names_nodes_by_their_id_whatever_else_they_have(directed):
    graph = (nx.DiGraph if directed else nx.Graph)([(0, 1)])
    nx.set_node_attributes(graph, {0: "A", 1: "B"}, "name")
    nx.set_node_attributes(graph, {0: "x", 1: "y"}, "label")
    data = nx.node_link_data(graph)
    assert ce.as_graph(json.dumps(data)) == ce.as_graph(data) == ce.as_graph(graph)


@pytest.mark.parametrize(
    ("ordinals", "expected"), [((0, 1), "A -> B"), ((1, 1), "A <-> B"), ((2, 1), "A o-> B"), ((0, 0), "A -- B")]
)
def test_ordinals_of_endpoints_of_tetrad(ordinals, expected):
    ends = {f"endpoint{k}": {"ordinal": ordinal} for k, ordinal in enumerate(ordinals, 1)}
    edge = {"node1": {"name": "A"}, "node2": {"name": "B"}} | ends
    graph = {"nodes": [{"name": "A"}, {"name": "B"}], "edgesSet": [edge]}
    for cell in (graph, {"graph": graph}, json.dumps(graph), json.dumps({"graph": graph})):
        assert ce.as_graph(cell).to_string() == expected
    edge["endpoint1"] = {"ordinal": 4}
    with pytest.raises(ValueError, match="edge 1: found the endpoints .*expected TAIL, .* or their ordinals"):
        ce.as_graph(graph)


@pytest.mark.parametrize("text", ["[o -> A][B]", "[o->A][B]", "[A--B][C|A--B]", "[A <- B][C]", "[A o-o B][C]"])
@pytest.mark.parametrize("encoding", [None, "model string", "row->column"])
def test_arrows_in_names_of_a_model_string_are_ambiguous(text: str, encoding: str | None) -> None:
    with pytest.raises(AmbiguousEncodingError, match="is a model string or an edge string; quote names") as error:
        as_graph(text, encoding=encoding)
    if text == "[o -> A][B]":
        assert """the model string is '"o -> A"; B'""" in str(error.value)
    assert as_graph('"[o" -> "A][B]"').nodes == ("A][B]", "[o")
    assert as_graph('"o -> A"; B').nodes == ("B", "o -> A")


def test_edges_between_names_in_brackets_are_read_back() -> None:
    graph = as_graph('"[o" -> "A][B]"')
    assert graph.nodes == ("A][B]", "[o")
    assert as_graph(graph.to_string()) == graph


@pytest.mark.parametrize("breaks", ["\n", " ", ""])
def test_a_network_may_stand_in_one_line(breaks):
    parts = [
        "network n { }", "variable A { type discrete [ 2 ] { a, b }; }", "variable B { type discrete [ 2 ] { a, b }; }",
        "probability ( A ) { table 0.5, 0.5; }", "probability ( B | A ) { (a) 0.1, 0.9; (b) 0.2, 0.8; }",
    ]  # fmt: skip
    text = breaks.join(parts)
    assert ce.as_graph(text) == ce.as_graph("A -> B")
