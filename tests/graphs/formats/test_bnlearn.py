"""Model strings of bnlearn, read through as_graph and graph_column."""

from __future__ import annotations

import pytest

import causaleval_pd as ce
from causaleval_pd import AmbiguousEncodingError
from causaleval_pd.graphs import as_graph, graph_column, is_graph_column


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[A][B|A]", "A -> B"),
        ("[A][B|A][C|A:B]", "A -> B; A -> C; B -> C"),
        ("[A][B][C|A:B][D]", "A -> C; B -> C; D"),
        (" [IL-6][CRP|IL-6] ", "IL-6 -> CRP"),
        ("[B|A][A]", "A -> B"),
        ("[blood pressure][stroke|blood pressure]", "blood pressure -> stroke"),
    ],
)
def test_model_strings(text: str, expected: str) -> None:
    assert as_graph(text) == as_graph(expected)
    assert as_graph(text, encoding="model string") == as_graph(expected)
    assert is_graph_column(graph_column([text, None]).graph.to_strings())


def test_columns_of_model_strings_are_graphs() -> None:
    column = graph_column(["[A][B|A]", "A -> B", None])
    assert column[0] == column[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[A][B|C]", r"row 0 \(index 0\): found the parent 'C' of 'B', which has no entry \[C\]"),
        ("[A|B][B|A]", "found the directed cycle .* in a model string, which describes a DAG"),
        ("[A|A][B]", "found the directed cycle A -> A"),
        ("[A][A|B][B]", "found the node 'A' twice"),
        ("[A][B|A:A]", "found a parent twice in"),
        ("[A][B|]", r"cannot read \[B\|\] in a model string"),
        ("[A][B:C]", r"cannot read \[B:C\]"),
        ("[A][]", r"cannot read \[\]"),
        ("[A][B|A|C]", r"cannot read"),
        ("['A', 'B'][C]", "cannot read"),
        ("[A]", r"found '\[A\]', expected letters"),
        ("[A][B|A", "expected letters"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph_column([text])


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
        "network n { }",
        "variable A { type discrete [ 2 ] { a, b }; }",
        "variable B { type discrete [ 2 ] { a, b }; }",
        "probability ( A ) { table 0.5, 0.5; }",
        "probability ( B | A ) { (a) 0.1, 0.9; (b) 0.2, 0.8; }",
    ]
    text = breaks.join(parts)
    assert ce.as_graph(text) == ce.as_graph("A -> B")
