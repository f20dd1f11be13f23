"""Lists of scored edges, graphs with a number an edge, and shares of bootstrap samples, as columns of scores."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

NODES = ["A", "B", "C"]
#: rows are sources
MATRIX = np.array([[0, 0.9, 0.2], [0, 0, 0.4], [0.1, 0, 0]])
ARCS = [(NODES[i], NODES[j], float(MATRIX[i, j])) for i, j in np.argwhere(MATRIX).tolist()]
EXPECTED = ce.score_column([MATRIX], nodes=NODES, encoding="row->column")


def digraph(name="weight"):
    graph = nx.DiGraph()
    graph.add_nodes_from(NODES[::-1])
    graph.add_edges_from((a, b, {name: score}) for a, b, score in ARCS)
    return graph


@pytest.mark.parametrize(
    "cell",
    [
        pd.DataFrame(ARCS, columns=["from", "to", "strength"]),
        pd.DataFrame(ARCS, columns=["TF", "target", "importance"]),
        pd.DataFrame(ARCS, columns=["regulatoryGene", "targetGene", "weight"]),
        pd.DataFrame(ARCS, columns=["Cause", "Effect", "Score"]).astype({"Score": str}),
        pd.DataFrame(ARCS, columns=["source", "target", "probability"]).sample(frac=1, random_state=1),
        digraph(),
        digraph("confidence"),
    ],
)
def test_lists_are_their_matrices(cell):
    assert ce.score_column([cell], nodes=NODES).equals(EXPECTED)


def test_strength_and_direction_are_the_share_of_an_arc():
    """The table of bnlearn's boot.strength has each pair both ways: share of the edge, and of its direction."""
    rows = [("A", "B", 0.9, 0.8), ("B", "A", 0.9, 0.2), ("A", "C", 0.5, 1.0), ("C", "A", 0.5, 0.0)]
    table = pd.DataFrame(rows, columns=["from", "to", "strength", "direction"])
    column = ce.score_column([table])
    np.testing.assert_allclose(column.score.to_numpy()[0], [[0, 0.72, 0.5], [0.18, 0, 0], [0, 0, 0]])
    assert column.score.kind.tolist() == ["probability"]


@pytest.mark.parametrize("headings", [["Gene1", "Gene2", "EdgeWeight"], ["TF", "target", "confidence"]])
def test_lists_of_gene_networks(headings):
    """Ranked edges of BEELINE and DREAM5."""
    table = pd.DataFrame([("G1", "G2", 0.7), ("G2", "G3", 0.2)], columns=headings)
    assert ce.score_column([table]).score.to_numpy()[0].tolist() == [[0, 0.7, 0], [0, 0, 0.2], [0, 0, 0]]


def test_a_list_without_headings_is_told_how_to_get_them():
    """Files of GENIE3 and ARACNE have none; the advice gives the scores."""
    table = pd.DataFrame([("G1", "G2", 0.7), ("G2", "G3", 0.2)])
    with pytest.raises(ValueError, match=r"row 0 .*table.set_axis\(\['from', 'to', 'score'\], axis=1\)"):
        ce.score_column([table])
    mended = table.set_axis(["from", "to", "score"], axis=1)
    assert ce.score_column([mended]).score.to_numpy()[0, 0, 1] == 0.7


SIGNED = {
    "matrix": (np.array([[0, 1.5], [-0.7, 0]]), {"encoding": "row->column"}),
    "table": (pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "weight": [1.5, -0.7]}), {}),
    "networkx": (nx.DiGraph([("A", "B", {"weight": 1.5}), ("B", "A", {"weight": -0.7})]), {}),
}


@pytest.mark.parametrize("form", SIGNED)
def test_scores_of_both_signs_need_a_kind(form):
    """Whether -0.7 is a strong edge or an unlikely one is not in the numbers."""
    cell, how = SIGNED[form]
    with pytest.raises(
        ce.AmbiguousEncodingError, match=r"row 0 .*scores of both signs; pass kind='weight' to score_col"
    ):
        ce.score_column([cell], **how)
    truth = "B -> A" if form != "matrix" else "1 -> 0"
    for kind, first in (("weight", 0.0), ("score", 0.0)):
        column = ce.score_column([cell], kind=kind, **how)
        assert column.score.kind.tolist() == [kind] and ce.auroc(truth, column.iloc[0]) == first


def test_a_node_without_scores_is_named_by_nodes():
    table = pd.DataFrame([("A", "B", 0.9)], columns=["from", "to", "score"])
    assert ce.score_column([table], nodes=NODES).score.to_numpy()[0].sum() == 0.9
    with pytest.raises(ValueError, match="the list has the node 'B', which is not among"):
        ce.score_column([table], nodes=["A", "X"])


def test_scores_of_unordered_pairs():
    table = pd.DataFrame([("A", "B", 0.9), ("C", "A", 0.3)], columns=["source", "target", "mi"])
    [found] = ce.score_column([table], symmetric=True).score.to_numpy()
    assert np.array_equal(found, [[0, 0.9, 0.3], [0.9, 0, 0], [0.3, 0, 0]])
    graph = nx.Graph([("A", "B", {"mi": 0.9}), ("C", "A", {"mi": 0.3})])
    assert ce.score_column([graph]).score.to_numpy()[0].tolist() == found.tolist()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"strength": [0.9], "lift": [0.6]}, {}, r"keep one, as in table\[\['from', 'to', 'strength'\]\]"),
        ({"strength": [0.9], "direction": [6]}, {}, "edge 1: found 6 in the column 'direction'.*shares from 0 to 1"),
        ({"tool": ["pc"]}, {}, "without numbers; make it a column of graphs by graph_column"),
        ({"p_value": [0.01]}, {}, r"turn them, as by table.assign\(score=1 - table\['p_value'\]\)"),
        ({"score": [-2.0]}, {"kind": "score", "nodes": NODES}, "score -2 below 0 in a list that lacks some pairs"),
        ({"from": ["A", "A"], "to": ["B", "B"], "score": [1, 2]}, {}, "edge 2: found A -> B twice"),
    ],
)
def test_lists_that_are_not_read(columns, options, message):
    with pytest.raises(ValueError, match=f"^row 0 .*{message}"):
        ce.score_column([pd.DataFrame({"from": ["A"] * 1, "to": ["B"] * 1} | columns)], **options)


def test_multigraphs_and_graphs_without_numbers():
    with pytest.raises(ValueError, match=r"found a multigraph; .* make it a DiGraph"):
        ce.score_column([nx.MultiDiGraph([("A", "B")])])
    with pytest.raises(ValueError, match="without numbers; make it a column of graphs by graph_column"):
        ce.score_column([nx.DiGraph([("A", "B")])])


def tetrad(*edges, nodes="A;B;C"):
    lines = "\n".join(f"{k}. {edge}" for k, edge in enumerate(edges, 1))
    return f"Final Resampling Search Result:\n\nGraph Nodes:\n{nodes}\n\nGraph Edges:\n{lines}\n"


def test_shares_of_types_of_edges_of_tetrad():
    cell = tetrad("A --> B [A --> B]:0.7;[A <-- B]:0.2;[no edge]:0.1;", "B --- C [B --- C]:0.5;[B <-> C]:0.1;")
    # an undirected edge is half an edge either way
    [found] = ce.score_column([cell], nodes=NODES[::-1]).score.to_numpy()
    assert np.allclose(np.nan_to_num(found), [[0, 0.7, 0], [0.2, 0, 0.25], [0, 0.25, 0]])


def test_shares_with_circles_are_of_adjacencies():
    cell = tetrad("A o-> B [A o-> B]:0.6;[A --> B]:0.3;[no edge]:0.1;", nodes="A;B")
    [found] = ce.score_column([cell]).score.to_numpy()
    assert np.allclose(np.nan_to_num(found), [[0, 0.9], [0.9, 0]])


def test_a_text_of_tetrad_without_shares():
    with pytest.raises(ValueError, match=r"without shares of bootstrap samples.* make it a column by graph_column"):
        ce.score_column([tetrad("A --> B")])
