"""Every metric against numbers that other programs computed, and against peers on fresh graphs."""

from __future__ import annotations

import pathlib
import warnings

import gadjid
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs import kernels
from causaleval_pd.graphs.planes import marks_from_planes

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"

DIRECT = {
    "tp": "adjacency_tp",
    "fp": "adjacency_fp",
    "fn": "adjacency_fn",
    "tn": "adjacency_tn",
    "m_true": "true_edges",
    "m_est": "estimated_edges",
    "n_undirected": "estimated_undirected",
    "adj_precision": "adjacency_precision",
    "adj_recall": "adjacency_recall",
    "adj_f1": "adjacency_f1",
    "adj_npv": "adjacency_npv",
    "adj_specificity": "adjacency_specificity",
    "shd": "shd",
    "ori_tp": "orientation_tp",
    "ori_fp": "orientation_fp",
    "ori_fn": "orientation_fn",
    "ori_tn": "orientation_tn",
    "ori_precision": "orientation_precision",
    "ori_recall": "orientation_recall",
    "ori_f1": "orientation_f1",
    "ori_npv": "orientation_npv",
    "ori_specificity": "orientation_specificity",
    "n_vstruct_both": "v_structure_tp",
    "vstruct_recovered": "v_structure_recall",
}
CONVENTIONS = {
    "shd_rev2": {"reversal_cost": 2},
    "shd_hamming": {"reversal_cost": 2, "absent_undirected_cost": 2},
    "shd_und0": {"undirected_cost": 0},
}


@pytest.fixture(scope="module")
def pairs():
    table = pd.read_csv(KNOWN / "pairs.csv.gz", dtype={"truth": "str", "estimate": "str"})
    nodes = [[str(i) for i in range(d)] for d in table["d"]]
    cells = {c: ce.graph_column(table[c].fillna("{}"), nodes=nodes) for c in ("truth", "estimate")}
    return table.assign(**cells)


@pytest.fixture(scope="module")
def scored(pairs):
    table = pairs[["truth", "estimate", "kind"]]
    tweaks = [ce.tweak("shd", name=name, **options) for name, options in CONVENTIONS.items()]
    extra = ["v_structure_fp", "v_structure_fn", "v_structure_precision"]
    return ce.evaluate(table, [*DIRECT.values(), *tweaks, *extra, "shd_cpdag"], invalid="nan")


@pytest.mark.parametrize("column", DIRECT)
def test_columns_of_the_pairs(pairs, scored, column):
    np.testing.assert_allclose(scored[DIRECT[column]], pairs[column], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("column", CONVENTIONS)
def test_conventions_of_the_shd(pairs, scored, column):
    np.testing.assert_allclose(scored[column], pairs[column], rtol=1e-12)


def test_v_structures(pairs, scored):
    np.testing.assert_allclose(scored["v_structure_tp"] + scored["v_structure_fn"], pairs["n_vstruct_true"])
    np.testing.assert_allclose(scored["v_structure_tp"] + scored["v_structure_fp"], pairs["n_vstruct_est"])
    some = pairs["n_vstruct_est"] > 0
    ratio = pairs["n_vstruct_both"] / pairs["n_vstruct_est"]
    np.testing.assert_allclose(scored.loc[some, "v_structure_precision"], ratio[some])
    assert scored.loc[~some, "v_structure_precision"].isna().all()


def test_shd_of_equivalence_classes(pairs, scored):
    classes = pairs["shd_cpdag"].notna()
    assert classes.sum() > 200
    np.testing.assert_allclose(scored.loc[classes, "shd_cpdag"], pairs.loc[classes, "shd_cpdag"])
    refused = scored["estimate"].graph.kind == "pdag"
    assert scored.loc[refused, "shd_cpdag"].isna().all()


def test_classes_of_the_pairs(pairs):
    kinds = pairs["estimate"].graph.kind.astype(str)
    dags = pairs["kind"] == "dag"
    assert (kinds[dags] == "dag").all()
    cpdags = pairs["kind"] == "cpdag"
    assert kinds[cpdags].isin(["cpdag", "dag"]).all()
    valid = pairs["kind"].eq("pdag") & pairs["valid_cpdag"].eq(1)
    assert kinds[valid].isin(["cpdag", "dag"]).all()
    broken = pairs["kind"].eq("pdag") & pairs["valid_cpdag"].eq(0) & (pairs["n_undirected"] > 0)
    assert (kinds[broken] == "pdag").all()


def test_rows_of_the_published_table():
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    nodes = [str(i) for i in range(10)]
    names = {
        "nedges": "estimated_edges",
        "shd": "shd",
        "vstructp": "v_structure_recall",
        "ori_prec": "orientation_precision",
        "ori_rec": "orientation_recall",
        "adj_prec": "adjacency_precision",
        "adj_rec": "adjacency_recall",
    }
    for side in ("pc", "nc"):
        cells = {c: ce.graph_column(table[c], nodes=nodes) for c in ("truth", side)}
        found = ce.evaluate(pd.DataFrame(cells), list(names.values()), estimate=side, zero_division=1)
        for theirs, ours in names.items():
            np.testing.assert_allclose(found[ours], table[f"{side}_{theirs}"], atol=1e-12, err_msg=f"{side} {ours}")


def _fresh(d, m, seed, n=60):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**60, 2).astype(np.uint64)
    truth = kernels.draw_graphs(d, [[m]], [False], keys[:1], 0, n)
    estimate = kernels.draw_graphs(d, rng.integers(1, min(2 * m, d * (d - 1) // 2 + 1), (1, n)), [True], keys[1:], 0, n)
    return [marks_from_planes(planes, d).astype(np.int8) for planes in (truth, estimate)]


@pytest.mark.parametrize(("d", "m"), [(4, 4), (9, 14), (15, 30)])
def test_gadjid_has_the_same_shd(d, m):
    truth, estimate = _fresh(d, m, seed=d)
    columns = [ce.graph_column(x, encoding="row->column") for x in (truth, estimate)]
    ours = ce.evaluate(pd.DataFrame({"truth": columns[0], "estimate": columns[1]}), ["shd"])["shd"]
    # gadjid writes an undirected edge as one 2
    coded = np.where(estimate & estimate.transpose(0, 2, 1), np.triu(np.full_like(estimate, 2)), estimate)
    theirs = [gadjid.shd(t, e.astype(np.int8))[1] for t, e in zip(truth, coded, strict=True)]
    assert ours.tolist() == theirs


def test_causal_learn_agrees_where_its_conventions_do():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from causallearn.graph.AdjacencyConfusion import AdjacencyConfusion
        from causallearn.graph.ArrowConfusion import ArrowConfusion
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
        from causallearn.graph.SHD import SHD

    def build(marks):
        nodes = [GraphNode(f"X{i}") for i in range(len(marks))]
        graph = GeneralGraph(nodes)
        for i, j in zip(*np.nonzero(marks), strict=True):
            if not marks[j, i]:
                graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, Endpoint.ARROW))
            elif i < j:
                graph.add_edge(Edge(nodes[i], nodes[j], Endpoint.TAIL, Endpoint.TAIL))
        return graph

    truth, estimate = _fresh(7, 9, seed=1, n=25)
    for t, e in zip(truth, estimate, strict=True):
        left, right = build(t), build(e)
        assert ce.shd(left, right) == SHD(left, right).get_shd()
        adjacency, arrow = AdjacencyConfusion(left, right), ArrowConfusion(left, right)
        for part in ("tp", "fp", "fn", "tn"):
            ours = ce.get_metric(f"adjacency_{part}")(left, right)
            assert ours == getattr(adjacency, f"get_adj_{part}")()
        for part in ("tp", "fp", "fn"):
            ours = ce.get_metric(f"orientation_{part}")(left, right)
            assert ours == getattr(arrow, f"get_arrows_{part}_ce")()


def test_defects_of_other_tools_are_not_ours():
    # rates above 1 from undirected estimates; division by zero for empty graphs
    assert ce.adjacency_recall("A -> B", "A -- B") == 1
    assert ce.adjacency_precision("A -> B", "A -- B") == 1
    assert ce.adjacency_specificity("A -> B; B -> C", "A -> C; C -> B") == 0
    assert np.isnan(ce.adjacency_precision("A -> B", "A; B"))
    assert np.isnan(ce.adjacency_recall("A; B", "A -> B"))
    assert ce.arrowhead_tn("A -> B; C", "A -> B; C") == 5  # six slots without the diagonal
    assert ce.adjacency_f1("A -> B; C -> D; E", "A -> B; E -> D; C; A -> E; A -> D; A -> C") == pytest.approx(2 / 7)
    # precision and recall of orientation differ once an edge is undirected
    assert ce.orientation_precision("A -> B; B -> C", "A -> B; B -- C") == 1
    assert ce.orientation_recall("A -> B; B -> C", "A -> B; B -- C") == 0.5
