"""Scores of edges as cells and columns; lists of edges with scores."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.cells import packed_column
from causaleval_pd.fields.edge_scores.cells import type_cells

NAMES = ["B", "A", "C"]
WEIGHTS = np.array([[0, 1.5, 0], [0, 0, -0.7], [0.2, 0, 0]])  # B -> A 1.5, A -> C -0.7, C -> B 0.2


def weights(**settings):
    return ce.score_column([WEIGHTS, None], nodes=NAMES, encoding="row->column", kind="weight", **settings)


def test_names_and_directions_survive():
    found = weights().score.to_frame()
    scored = {(a, b): x for a, b, x in found[["source", "target", "score"]].itertuples(index=False) if x}
    assert scored == {("B", "A"): 1.5, ("A", "C"): -0.7, ("C", "B"): 0.2}
    turned = ce.score_column([WEIGHTS.T], nodes=NAMES, encoding="column->row", kind="weight")
    assert turned[0] == weights()[0]
    frame = pd.DataFrame(WEIGHTS, NAMES, NAMES)[["A", "C", "B"]]
    assert ce.score_column([frame], encoding="row->column", kind="weight")[0] == weights()[0]
    np.testing.assert_array_equal(weights().score.to_numpy(nodes=NAMES)[0], WEIGHTS)
    np.testing.assert_array_equal(weights().score.to_numpy(nodes=NAMES, encoding="column->row")[0], WEIGHTS.T)


def test_cells_print_what_they_are():
    assert weights()[0].startswith(b"weights, 3 nodes ")
    assert ce.score_column([3 - 3 * np.eye(2)])[0].startswith(b"weights, 2 nodes, symmetric ")


def test_accessor_on_the_index():
    column = weights(index=["a", "b"])
    assert column.score.kind.tolist() == ["weight", None]
    assert column.score.nodes["a"] == ("A", "B", "C")
    assert column.score.n_scored.tolist() == [6, pd.NA]
    assert column.score.threshold(0.5).index.tolist() == ["a", "b"]
    assert column.score.threshold(0.5).graph.to_strings()["a"] == "A -> C; B -> A"
    assert column.score.threshold(0.5, magnitude=False).graph.to_strings()["a"] == "B -> A; C"


def test_top_k_takes_a_column_and_keeps_ties():
    column = ce.score_column([WEIGHTS, WEIGHTS], nodes=NAMES, encoding="row->column", kind="weight")
    found = column.score.top_k(pd.Series([1, 2])).graph.to_strings().tolist()
    assert found == ["B -> A; C", "A -> C; B -> A"]
    assert column.score.top_k(4).graph.to_networkx()[0].number_of_edges() == 6, "three zeros tie"
    with pytest.raises(ValueError, match=r"row 1 .*asked for the 7 largest of 6"):
        column.score.top_k([1, 7])
    with pytest.raises(ValueError, match="whole number from 0, found 1.5"):
        column.score.top_k(1.5)


def test_a_larger_direction_orients():
    column = ce.score_column([[[0, 0.9, 0.5], [0.6, 0, 0], [0.5, 0, 0]]], nodes=["A", "B", "C"], encoding="row->column")
    assert column.score.threshold(0.4).graph.to_strings()[0] == "A -- B; A -- C"
    assert column.score.threshold(0.4, orient="larger").graph.to_strings()[0] == "A -> B; A -- C"


def test_symmetric_scores_need_no_encoding():
    column = ce.score_column([[[0, 0.9], [0.9, 0]]], nodes=["A", "B"])
    assert column.score.symmetric[0]
    assert column.score.to_frame()[["source", "target", "score"]].values.tolist() == [["A", "B", 0.9]]
    assert column.score.top_k(1).graph.to_strings()[0] == "A -- B"
    assert not ce.score_column([[[0, 0.9], [0.9, 0]]], symmetric=False).score.symmetric[0]


def test_what_is_not_scored_is_not_zero():
    column = ce.score_column([[[0, np.nan], [0.0, 0]]], nodes=["A", "B"], encoding="row->column")
    assert column.score.n_scored.tolist() == [1]
    assert np.isnan(column.score.to_numpy()[0, 0, 1])
    assert not column.score.symmetric[0], "NaN is not 0"
    both = ce.score_column([[[0, np.nan], [np.nan, 0]]])
    assert both.score.symmetric[0] and both.score.n_scored[0] == 0
    assert both.score.threshold(-1).graph.to_strings()[0] == "0; 1"


def test_equal_scores_are_equal_cells():
    zeros = [np.zeros((2, 2)), -np.zeros((2, 2)), np.zeros((2, 2), int)]
    assert ce.score_column(zeros).nunique() == 1
    single = ce.score_column([np.zeros((2, 2), np.float32)])
    assert single[0] != ce.score_column(zeros)[0], "rounded scores are recorded"


@pytest.mark.parametrize(
    ("cell", "settings", "message"),
    [
        ([[0, 1], [2, 0]], {}, "differ by direction.*row->column"),
        ([[0, 1], [2, 0]], {"symmetric": True, "encoding": "row->column"}, "not symmetric: 1 from 'A' to 'B', 2 back"),
        ([[0, np.inf], [1, 0]], {"encoding": "row->column"}, r"score inf in the pair \('A', 'B'\)"),
        ([[0, 1.5], [1.5, 0]], {"kind": "probability"}, r"probability 1.5 in the pair \('A', 'B'\)"),
        ([[0, -0.5], [-0.5, 0]], {"kind": "probability"}, "probability -0.5"),
        ([[0, 1, 2]], {}, "square matrix, found shape"),
        ([[0, 1], [2]], {}, "square matrix|lists of unequal"),
        (np.zeros((3, 3)), {}, "3 rows, but there are 2 nodes"),
        (b"other bytes", {}, "not packed scores"),
        (pd.DataFrame([[0, 1], [1, 0]], ["A", "B"], ["A", "X"]), {}, "must name the same nodes"),
    ],
)
def test_faults_name_row_and_pair(cell, settings, message):
    with pytest.raises(ValueError, match=message) as error:
        ce.score_column([None, cell], nodes=["A", "B"], **settings)
    assert "row 1" in str(error.value)


REFUSED = {
    "array": (lambda: ce.score_column(np.zeros((2, 2))), TypeError, r"found one array of shape \(2, 2\)"),
    "table": (lambda: ce.score_column(pd.DataFrame()), TypeError, "of matrices, found DataFrame; wrap one in a list"),
    "encoding": (lambda: ce.score_column([MATRIX], encoding="rows"), ValueError, "unknown encoding of scores 'rows'"),
    "kind": (lambda: ce.score_column([MATRIX], kind="types"), ValueError, "unknown kind of scores 'types'"),
    "numbers": (lambda: pd.Series([1.0]).score, AttributeError, "make one with score_column"),
    "side": (lambda: weights().score.threshold(0.5, orient="left"), ValueError, "orient must be"),
    "word": (lambda: weights().score.threshold(0.5, magnitude="yes"), TypeError, "magnitude must be True or False"),
    "lists": (lambda: weights().score.top_k([[2], 1]), ValueError, "k must be a whole number from 0"),
    "index": (lambda: ce.score_column([WEIGHTS], encoding="row->column", index=3), TypeError, "index must hold one la"),
    "missing": (lambda: ce.auroc("A -> B; C", pd.NA), TypeError, "found a missing cell"),
    "NaN": (lambda: ce.relative_frobenius(weights()[0], np.nan), TypeError, "found a missing cell"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_arguments_are_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()


def test_cells_of_types_of_edge():
    planes = np.array([[[0, 0.5, 0], [0.25, 0, 0], [0, 0, 0]], [[0, 0.25, 0], [0.25, 0, 0], [0, 0, 0]]])
    column = packed_column([type_cells(NAMES, planes)])
    assert column.score.kind[0] == "types" and column[0].startswith(b"edge types, 3 nodes")
    assert column.score.to_numpy(nodes=NAMES)[0, 0, 1] == 0.5 + 0.25 / 2
    assert column.score.to_numpy(nodes=NAMES, plane="directed")[0, 1, 0] == 0.25
    with pytest.raises(ValueError, match="and not 'bidirected'"):
        column.score.to_numpy(plane="bidirected")
    first = column.score.to_frame().iloc[0]
    assert (first["source"], first["target"], first["directed"], first["undirected"]) == ("A", "B", 0.25, 0.25)
    with pytest.raises(ValueError, match="not symmetric"):
        type_cells(NAMES, np.stack([planes[0], planes[0]]))


def test_damaged_cells_are_refused():
    raw = weights()[0]
    for damaged in (raw[:-8], raw[:40], raw[:34] + b"\x07" + raw[35:], raw[:48] + b"\xff" + raw[49:]):
        column = packed_column([damaged], name="estimate")
        with pytest.raises(ValueError, match="column 'estimate', row 0|not packed|row 0"):
            column.score.to_numpy()


def test_cells_of_the_other_field_are_named():
    scores = ce.score_column([[[0, 0.5], [0.5, 0]]], nodes=["A", "B"])
    graphs = ce.graph_column(["A -> B"])
    message = r"these are scores of edges: make graphs of them, as column\.score\.threshold"
    with pytest.raises(ValueError, match=message):
        pd.DataFrame({"truth": graphs, "estimate": scores}).ceval.evaluate(["shd"])
    with pytest.raises(ValueError, match="found a packed graph.*score_column"):
        pd.DataFrame({"truth": graphs, "estimate": graphs}).ceval.evaluate(["auroc"])


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
        # ranked edges of BEELINE and DREAM5
        pd.DataFrame(ARCS, columns=["Gene1", "Gene2", "EdgeWeight"]),
        pd.DataFrame(ARCS, columns=["TF", "target", "confidence"]),
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


def test_a_list_without_headings_is_told_how_to_get_them():
    """Files of GENIE3 and ARACNE have none; the advice gives the scores."""
    table = pd.DataFrame([("G1", "G2", 0.7), ("G2", "G3", 0.2)])
    with pytest.raises(ValueError, match=r"row 0 .*from 0 to 1 .*table.rename\(columns={0: 'from', 1: 'to'}\)"):
        ce.score_column([table])
    mended = table.rename(columns={0: "from", 1: "to"})
    assert ce.score_column([mended]).score.to_numpy()[0, 0, 1] == 0.7
    # the advice names the columns as they stand, so that who follows it sees the direction
    turned = pd.DataFrame({"weight": [0.9], "dst": ["B"], "src": ["A"]})
    with pytest.raises(ValueError, match=r"edges from 'dst' to 'src' name these"):
        ce.score_column([turned])
    with pytest.raises(
        ValueError, match=r"make the column of its nodes the index, as by pd.read_csv\(path, index_col=0"
    ):
        ce.score_column([pd.DataFrame({"Unnamed: 0": ["A", "B"], "A": [0, 0.2], "B": [0.7, 0]})])


SIGNED = {
    "matrix": (np.array([[0, 1.5], [-0.7, 0]]), {"encoding": "row->column"}),
    "table": (pd.DataFrame({"from": ["A", "B"], "to": ["B", "A"], "weight": [1.5, -0.7]}), {}),
    "networkx": (nx.DiGraph([("A", "B", {"weight": 1.5}), ("B", "A", {"weight": -0.7})]), {}),
}


@pytest.mark.parametrize("form", SIGNED)
def test_scores_of_both_signs_need_a_kind(form):
    """Whether -0.7 is a strong edge or an unlikely one is not in the numbers."""
    cell, how = SIGNED[form]
    message = r"row 0 .*scores of both signs; pass kind='weight' to score_col"
    with pytest.raises(ce.AmbiguousEncodingError, match=message):
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


def tetrad(*edges, nodes="A;B;C"):
    lines = "\n".join(f"{k}. {edge}" for k, edge in enumerate(edges, 1))
    return f"Final Resampling Search Result:\n\nGraph Nodes:\n{nodes}\n\nGraph Edges:\n{lines}\n"


def test_shares_of_types_of_edges_of_tetrad():
    cell = tetrad("A --> B [A --> B]:0.7;[A <-- B]:0.2;[no edge]:0.1;", "B --- C [B --- C]:0.5;[B <-> C]:0.1;")
    # an undirected edge is half an edge either way
    [found] = ce.score_column([cell], nodes=NODES[::-1]).score.to_numpy()
    assert np.allclose(np.nan_to_num(found), [[0, 0.7, 0], [0.2, 0, 0.25], [0, 0.25, 0]])
    # those with circles are shares of adjacencies
    cell = tetrad("A o-> B [A o-> B]:0.6;[A --> B]:0.3;[no edge]:0.1;", nodes="A;B")
    [found] = ce.score_column([cell]).score.to_numpy()
    assert np.allclose(np.nan_to_num(found), [[0, 0.9], [0.9, 0]])


def listed(**columns):
    return pd.DataFrame({"from": ["A"], "to": ["B"]} | columns)


@pytest.mark.parametrize(
    ("cell", "options", "message"),
    [
        *((cell, {}, "") for cell in ("A -> B", {"A": 1}, 3.5, [["x", "y"], ["y", "x"]], [[0, 1j], [1j, 0]])),
        (listed(score=[1], edge=["<->"]), {}, "edge 1: found '<->' in the column 'edge'; a score is of an arrow"),
        (listed(score=[1], directed=[False]), {}, "edge 1: found False in the column 'directed'; .* once each way"),
        (listed(strength=[0.9], lift=[0.6]), {}, r"and the nodes, as in table\[\['from', 'to', 'strength'\]\]"),
        (pd.DataFrame({"from": "A", "to": ["B", "C"], "n": 50, "gain": [0.6, 0.3]}), {}, r"\['from', 'to', 'gain'\]\]"),
        (listed(run=[3], strength=[0.6]), {}, r"as in table\[\['from', 'to', 'strength'\]\]"),
        (listed(strength=[0.9], direction=[6]), {}, "edge 1: found 6 in the column 'direction'.*shares from 0 to 1"),
        (listed(tool=["pc"]), {}, "without numbers; make it a column of graphs by graph_column"),
        (listed(p_value=[0.01]), {}, r"turn them, as by table.assign\(score=1 - table\['p_value'\]\)"),
        (listed(score=pd.Series([10**400], dtype=object)), {}, r"has the score inf in the pair \('A', 'B'\)"),
        (listed(score=[-2.0]), {"kind": "score", "nodes": NODES}, "score -2 below 0 in a list that lacks some pairs"),
        (pd.DataFrame({"from": ["A", "A"], "to": ["B", "B"], "score": [1, 2]}), {}, "edge 2: found A -> B twice"),
        (nx.MultiDiGraph([("A", "B")]), {}, r"found a multigraph; .* make it a DiGraph"),
        (nx.DiGraph([("A", "B")]), {}, "without numbers; make it a column of graphs by graph_column"),
        (tetrad("A --> B"), {}, r"without shares of bootstrap samples.* make it a column by graph_column"),
    ],
)  # fmt: skip
def test_cells_without_scores_are_refused(cell, options, message):
    with pytest.raises(ValueError if message else TypeError, match=f"row 0.*{message}"):
        ce.score_column([cell], **options)


@pytest.mark.parametrize("name", [
    "p", "P", "q", "pval", "p_val", "p.value", "P-Value", "pValue", "PVALUE", "pvalues", "padj", "p_adj", "adj.P.Val",
    "qvalue", "q_val", "FDR", "fdr_bh", "granger_pvalue", "p_value_granger", "P>|t|", "P>|z|", "Pr(>|t|)", "Pr(>|z|)",
    "Pr(>F)", "granger_p", "grangerP", "p_raw", "uncorrected_p", "p-unc", "p_matrix", "p(chi2)", "ssr_ftest_p",
    "DESeq_padj", "log10_pval", "p_bonferroni", "negbin_pval",
])  # fmt: skip
def test_columns_of_p_values_are_refused_by_their_names(name):
    with pytest.raises(ValueError, match="the p-values .*; turn them, .* or rename the column if larger numbers are"):
        ce.score_column([listed(**{name: [0.01]})])


@pytest.mark.parametrize("name", [
    "prob", "probability", "posterior", "posterior_prob", "p_link", "p_edge", "P(edge)", "Pr(A->B)", "p_adjacent",
    "pip", "pcorr", "PageRank", "shap_values", "top_value", "importance", "weight", "1-p", "1 - p_value", "-log10(p)",
    "neg_log10_p", "one_minus_p", "q50", "precision", "TP", "kappa", "mi", "t", "z", "F",
])  # fmt: skip
def test_names_of_scores_are_no_names_of_p_values(name):
    assert ce.score_column([listed(**{name: [0.5]})]).score.to_numpy()[0, 0, 1] == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "probability"}, "packed as 'weight', expected 'probability' .kind="),
        ({"symmetric": True}, "packed as scores of ordered pairs, and symmetric=True"),
        ({"nodes": ["A", "B"]}, r"packed over the nodes \['A', 'B', 'C'\], expected \['A', 'B'\] .nodes="),
        ({"nodes": ["A", "B", "X"]}, "packed over the nodes"),
    ],
)
def test_packed_scores_do_not_take_other_options(options, message):
    with pytest.raises(ValueError, match=f"row 0 .*{message}.*; make the scores anew"):
        ce.score_column(weights(), **options)
    with pytest.raises(ValueError, match="packed as scores of unordered pairs, and symmetric=False"):
        ce.score_column(ce.score_column([np.ones((2, 2))]), symmetric=False)


def test_packed_scores_take_the_options_that_they_have():
    same = ce.score_column(weights(), nodes=["C", "A", "B"], kind="weight", symmetric=False, encoding="row->column")
    assert same.equals(weights()) and ce.score_column(weights()).equals(weights())
    types = packed_column([type_cells(NAMES, np.full((2, 3, 3), 0.25))])
    assert ce.score_column(types, kind="probability").equals(types)
    # tables of weights take packed scores of another kind, also beside matrices
    [chances] = ce.score_column([np.full((2, 2), 0.5)])
    table = pd.DataFrame({"truth": [chances] * 2, "estimate": [chances, np.full((2, 2), 0.5)]}, dtype=object)
    assert ce.mean_squared_weight_error(chances, chances) == 0
    table["truth"] = ce.score_column(table["truth"])
    assert table.ceval.evaluate(["mean_squared_weight_error"])["mean_squared_weight_error"].tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["Float64", "Float32", "Int64", "double[pyarrow]"])
def test_missing_numbers_are_pairs_without_a_score(dtype):
    plain = pd.DataFrame([[0, np.nan, 1], [1, 0, 0], [0, 1, 0]], NODES[:3], NODES[:3])
    column = ce.score_column(
        [plain.astype(dtype), plain.astype(object).where(plain.notna(), None)], encoding="row->column"
    )
    assert column.score.n_scored.tolist() == [5, 5]
    assert column.equals(ce.score_column([plain, plain], encoding="row->column"))


def test_edges_whose_ends_are_no_names_are_told_how_to_get_them():
    table = pd.DataFrame({"source": ["A", "B"], "target": ["B", None], "w": [0.3, 0.4]})
    with pytest.raises(
        TypeError,
        match=r"row 0 .*a missing name of a node \((nan|None)\); name every node, or leave",
    ):
        ce.score_column([table])
    with pytest.raises(TypeError, match=r"the node 0\.5 of type float, expected a string; write names as text$"):
        ce.score_column([table.assign(target=0.5)])
    levels = table.dropna().set_index(["source", "target"])
    with pytest.raises(ValueError, match=r"row 0 .*index .*\['source', 'target'\]; .* table\.reset_index\(\)"):
        ce.score_column([levels])
    assert ce.score_column([levels.reset_index()]).score.to_numpy()[0, 0, 1] == 0.3
