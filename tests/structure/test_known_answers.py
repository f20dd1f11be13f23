"""Every metric against numbers that other programs computed, and against peers on fresh graphs."""

import pathlib
import warnings

import gadjid
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.graphs.kernels import comparison as kernels
from causaleval_pd.graphs.kernels.planes import matrices_from_planes, planes_from_matrices

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"

DIRECT = {
    "tp": "adjacency_tp", "fp": "adjacency_fp", "fn": "adjacency_fn", "tn": "adjacency_tn", "m_true": "true_edges",
    "m_est": "estimated_edges", "n_undirected": "estimated_undirected", "adj_precision": "adjacency_precision",
    "adj_recall": "adjacency_recall", "adj_f1": "adjacency_f1", "adj_npv": "adjacency_npv",
    "adj_specificity": "adjacency_specificity", "shd": "shd", "ori_tp": "orientation_tp", "ori_fp": "orientation_fp",
    "ori_fn": "orientation_fn", "ori_tn": "orientation_tn", "ori_precision": "orientation_precision",
    "ori_recall": "orientation_recall", "ori_f1": "orientation_f1", "ori_npv": "orientation_npv",
    "ori_specificity": "orientation_specificity", "n_vstruct_both": "v_structure_tp",
    "vstruct_recovered": "v_structure_recall",
}  # fmt: skip
CONVENTIONS = {
    "shd_rev2": {"reversal_cost": 2},
    "shd_hamming": {"reversal_cost": 2, "absent_undirected_cost": 2},
    "shd_und0": {"undirected_cost": 0},
}


AID = {"parent_aid": gadjid.parent_aid, "ancestor_aid": gadjid.ancestor_aid, "oset_aid": gadjid.oset_aid}


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


#: what programs call SHD, and the convention that gives it; missing where a program refuses the graphs
PEERS = {
    "causal_learn": "shd", "cdt_single": "shd", "cdt": "shd_hamming", "gcastle": "shd_und0", "pgmpy": "shd",
    "pgmpy_double": "shd_rev2",
}  # fmt: skip


@pytest.mark.parametrize("program", PEERS)
def test_conventions_of_programs(pairs, scored, program):
    peers = pd.read_csv(KNOWN / "shd_conventions.csv.gz").set_index("id")[program]
    theirs = peers.reindex(pairs["id"]).to_numpy()
    assert np.isfinite(theirs).sum() > 100
    known = np.isfinite(theirs)
    ours = scored[PEERS[program]] if PEERS[program] in scored else scored["shd"]
    np.testing.assert_array_equal(ours.to_numpy()[known], theirs[known])


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


def test_intervention_distances_of_the_pairs(pairs):
    scored = ce.evaluate(pairs[["truth", "estimate"]], ["sid", *AID], invalid="nan")
    dags = pairs["sid"].notna()
    assert dags.sum() > 100
    np.testing.assert_array_equal(scored.loc[dags, "sid"], pairs.loc[dags, "sid"])
    for name in AID:
        known = pairs[f"{name}_count"].notna()
        assert known.sum() > 200
        np.testing.assert_array_equal(scored.loc[known, name], pairs.loc[known, f"{name}_count"])
        shares = ce.evaluate(pairs.loc[known, ["truth", "estimate"]], [ce.tweak(name, normalised=True)])[name]
        np.testing.assert_allclose(shares, pairs.loc[known, name])


def test_intervention_distances_of_classes(pairs):
    known = pairs["parent_aid_cpdag_count"].notna()
    classes = pd.DataFrame({c: pairs.loc[known, c].graph.cpdag() for c in ("truth", "estimate")})
    assert (classes["truth"].graph.kind == "cpdag").sum() > 100
    scored = ce.evaluate(classes, list(AID))
    for name in AID:
        np.testing.assert_array_equal(scored[name], pairs.loc[known, f"{name}_cpdag_count"])


@pytest.mark.parametrize("source", ["bf", "R"])
def test_bounds_of_the_sid(pairs, source):
    known = pairs[f"sid_lower_{source}"].notna() & pairs["kind"].isin(["dag", "cpdag"])
    assert known.sum() > 100
    names = ["sid_lower", "sid_upper", "sid_bounds_exact"]
    scored = ce.evaluate(pairs.loc[known, ["truth", "estimate"]], names)
    for side in ("lower", "upper"):
        np.testing.assert_array_equal(scored[f"sid_{side}"], pairs.loc[known, f"sid_{side}_{source}"])
    assert scored["sid_bounds_exact"].all()


def test_separation_distances():
    table = pd.read_csv(KNOWN / "separation.csv.gz", dtype={"truth": "str", "estimate": "str"})
    cells = table.assign(**{c: ce.graph_column(table[c]) for c in ("truth", "estimate")})
    for name in ("parent", "zl"):
        for column, part in ((name, "markov"), (f"{name}_symmetric", "symmetric")):
            metric = ce.tweak(f"separation_{name}", normalised=True, part=part, name="found")
            np.testing.assert_allclose(ce.evaluate(cells, [metric])["found"], table[column], atol=1e-12)


@pytest.mark.slow
def test_rows_of_the_published_table():
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    nodes = [str(i) for i in range(10)]
    names = {
        "nedges": "estimated_edges", "shd": "shd", "vstructp": "v_structure_recall",
        "ori_prec": "orientation_precision", "ori_rec": "orientation_recall", "adj_prec": "adjacency_precision",
        "adj_rec": "adjacency_recall",
    }  # fmt: skip
    for side in ("pc", "nc"):
        cells = {c: ce.graph_column(table[c], nodes=nodes) for c in ("truth", side)}
        with ce.set_options(zero_division=1):
            found = ce.evaluate(pd.DataFrame(cells), list(names.values()), estimate=side)
        for theirs, ours in names.items():
            np.testing.assert_allclose(found[ours], table[f"{side}_{theirs}"], atol=1e-12, err_msg=f"{side} {ours}")


@pytest.mark.slow
@pytest.mark.parametrize(("side", "apart"), [("pc", 25), ("nc", 2)])
def test_bounds_of_the_published_table(side, apart):
    """The R package orients components of up to 8 nodes as a whole, others node by node, which gives wider bounds."""
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    cells = {c: ce.graph_column(table[c], nodes=[str(i) for i in range(10)]) for c in ("truth", side)}
    names = [ce.tweak(f"sid_{bound}", beyond="local") for bound in ("lower", "upper")]
    found = ce.evaluate(pd.DataFrame(cells), [*names, "sid_bounds_exact"], estimate=side)
    lower, upper = table[f"{side}_sid_lower_correct"], table[f"{side}_sid_upper_correct"]
    same = (found["sid_lower"] == lower) & (found["sid_upper"] == upper)
    assert (~same).sum() == apart
    assert (found["sid_lower"] >= lower).all()
    assert (found["sid_upper"] <= upper).all()
    np.testing.assert_array_equal(found["sid_bounds_exact"], cells[side].graph.kind.isin(["dag", "cpdag"]))


def _fresh(d, m, seed, n=60):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**60, 2).astype(np.uint64)
    truth = kernels.draw_graphs(d, [[m]], [False], keys[:1], 0, n)
    estimate = kernels.draw_graphs(d, rng.integers(1, min(2 * m, d * (d - 1) // 2 + 1), (1, n)), [True], keys[1:], 0, n)
    return [matrices_from_planes(planes, d).astype(np.int8) for planes in (truth, estimate)]


def _as_gadjid(marks):
    """Code matrices as gadjid does: 1 for row -> column, a single 2 for an undirected edge."""
    undirected = marks & marks.transpose(0, 2, 1)
    return np.where(undirected, np.triu(np.full_like(marks, 2)), marks).astype(np.int8)


@pytest.mark.parametrize(("d", "m"), [(4, 4), (9, 14), (15, 30)])
def test_gadjid_agrees_on_fresh_graphs(d, m):
    truth, estimate = _fresh(d, m, seed=d)
    columns = [ce.graph_column(x, encoding="row->column") for x in (truth, estimate)]
    ours = ce.evaluate(pd.DataFrame({"truth": columns[0], "estimate": columns[1]}), ["shd", *AID])
    coded = list(zip(truth, _as_gadjid(estimate), strict=True))
    assert ours["shd"].tolist() == [gadjid.shd(t, e)[1] for t, e in coded]
    for name, peer in AID.items():
        assert ours[name].tolist() == [peer(t, e, edge_direction="from row to column")[1] for t, e in coded]


def _class_members(marks):
    """All DAGs of a CPDAG, by trying every direction of its undirected edges."""
    i, j = np.nonzero(np.triu(marks & marks.T))
    choices = (np.arange(2 ** len(i))[:, None] >> np.arange(len(i))) & 1
    dags = np.repeat((marks & ~marks.T)[None], len(choices), axis=0)
    dags[:, i, j], dags[:, j, i] = choices == 0, choices == 1
    planes = planes_from_matrices(dags, np.arange(len(marks)))
    acyclic = kernels.is_acyclic(planes, len(marks))
    [wanted] = planes_from_matrices(marks[None], np.arange(len(marks)))
    classes, _ = kernels.dag_to_cpdag(planes, len(marks))
    return dags[acyclic & (classes == wanted).all(axis=(1, 2))]


@pytest.mark.slow
@pytest.mark.parametrize(("d", "m"), [(4, 3), (5, 5), (6, 9), (7, 6), (6, 15)])
def test_bounds_by_going_through_the_class(d, m):
    truth, estimate = _fresh(d, m, seed=d + m, n=25)
    columns = [ce.graph_column(x, encoding="row->column") for x in (truth, estimate)]
    ours = ce.evaluate(pd.DataFrame({"truth": columns[0], "estimate": columns[1]}), ["sid_lower", "sid_upper"])
    sizes = []
    for row, (t, e) in enumerate(zip(truth, estimate.astype(bool), strict=True)):
        members = _class_members(e).astype(np.int8)
        found = [gadjid.sid(t, member, edge_direction="from row to column")[1] for member in members]
        assert ours.iloc[row, 2:].tolist() == [min(found), max(found)]
        sizes.append(len(members))
    assert max(sizes) > 2


@pytest.mark.slow
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
