"""Names of nodes that look alike: refused in one graph, named where two graphs have other nodes."""

from __future__ import annotations

import itertools
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import graph_column


def with_names(names):
    """The graph first -> second of cells of each kind that brings names, and of names given beside."""
    matrix = np.eye(len(names), k=1, dtype=int)
    frame = pd.DataFrame(matrix, names, names)
    edges = list(itertools.pairwise(names))
    return [
        lambda: graph_column([matrix], nodes=names, encoding="row->column"),
        lambda: graph_column([frame], encoding="row->column"),
        lambda: graph_column([nx.DiGraph(edges)]),
        lambda: graph_column([edges]),
        lambda: graph_column([{b: [a] for a, b in edges}], encoding="parents"),
        lambda: graph_column(["; ".join(f'"{a}" -> "{b}"' for a, b in edges)]),
        lambda: graph_column([pd.DataFrame(edges, columns=["from", "to"])]),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["A", "B", "A "], r"may be one: 'A' and 'A ' look alike, but differ in blanks; give them one name"),
        (["A", "B", "A\u00a0"], r"'A' and 'A\\xa0' look alike"),
        (["\u00e9", "B", "e\u0301"], r"'e\\u0301' and '\\xe9' look alike, but differ in Unicode's normal form"),
        (["A", "\ufeffB"], r"found the node '\\ufeffB'; the byte order mark .* encoding='utf-8-sig'"),
        (["A", "\u00a0"], r"the node name '\\xa0', of which nothing shows"),
    ],
)
def test_names_that_look_alike_are_refused_in_one_graph(names, message):
    for read in with_names(names):
        with pytest.raises(ValueError, match=message):
            read()


@pytest.mark.parametrize(("name", "other"), [("\u00e9", "e\u0301"), ("A", "A "), ("IL-6", "IL\u20106")])
def test_messages_of_other_nodes_name_those_that_look_alike(name, other):
    truth, estimate = (graph_column([f'"{x}" -> B']) for x in (name, other))
    message = rf"{re.escape(ascii(name))} and {re.escape(ascii(other))} look alike, but differ in"
    with pytest.raises(ValueError, match=message):
        ce.evaluate(pd.DataFrame({"truth": truth, "estimate": estimate}), ["shd"])
    with pytest.raises(ValueError, match="look alike, but differ in"):
        graph_column([f'"{other}" -> B'], nodes=[name, "B"])
    scores = ce.score_column([pd.DataFrame(np.ones((2, 2)), [other, "B"], [other, "B"])])
    with pytest.raises(ValueError, match=message):
        ce.evaluate(pd.DataFrame({"truth": truth, "estimate": scores}), ["average_precision"])


@pytest.mark.parametrize(
    "text", ["\ufefffrom,to\nA,B\n", "\ufeffdag { A -> B }", "\ufeffflowchart TD\n A --> B", '\ufeff{"A": []}']
)
def test_texts_that_begin_with_a_byte_order_mark(text):
    with pytest.raises(ValueError, match=r"row 0.*byte order mark '\\ufeff' .* encoding='utf-8-sig'"):
        graph_column([text])
