"""Model strings of bnlearn, read through as_graph and graph_column."""

from __future__ import annotations

import pytest

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
        ("[A]", r"found '\[A\]', which may be a node or an edge in another notation"),
        ("[A][B|A", "may be a node"),
    ],
)
def test_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph_column([text])
