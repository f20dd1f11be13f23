"""Pooled ensembles: probabilities, consensus, instability by definition, and the figure of probabilities."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

TRUTH = "A -> B; B -> C; D"


def members(estimates, **more):
    return pd.DataFrame({"run": "r", "truth": TRUTH, "estimate": estimates}).assign(**more)


def test_probabilities_are_weighted_shares():
    runs = members(["A -> B; C; D", "B -> A; C; D", "A -- B; C; D", "A; B; C; D"], w=[1, 2, 3, 4])
    for undirected, forward, backward in (("half", 0.25, 0.35), ("both", 0.4, 0.5), ("none", 0.1, 0.2)):
        pooled = runs.ceval.pool("run", weight="w", undirected=undirected)
        edges = pooled["estimate"].score.to_frame()
        found = edges.set_index(["source", "target"])["score"]
        assert found["A", "B"] == pytest.approx(forward) and found["B", "A"] == pytest.approx(backward)
    assert pooled["weight_sum"][0] == 10 and pooled["effective_size"][0] == pytest.approx(100 / 30)
    logs = runs.assign(w=np.log(runs["w"]) - 2000)
    same = logs.ceval.pool("run", log_weight="w")
    turned = runs.iloc[::-1].ceval.pool("run", weight="w")
    assert (
        same["estimate"].iloc[0] == turned["estimate"].iloc[0] == runs.ceval.pool("run", weight="w")["estimate"].iloc[0]
    )


def scores(pooled):
    return pooled["estimate"].score.to_frame().set_index(["source", "target"])["score"]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        ("A -- B; B -- C; D", {"AB": 1 / 3, "BA": 2 / 3}),  # three DAGs
        ("A -- B; A -- C; A -- D", {"AB": 3 / 4, "BA": 1 / 4, "BC": 0}),
        ("A -- B; B -- C; C -- D", {"AB": 1 / 4, "BC": 2 / 4, "CD": 3 / 4, "AD": 0}),
        ("A -> B; C -> B; D", {"AB": 1, "BA": 0, "AC": 0}),
    ],
)
def test_undirected_edges_by_the_shares_of_their_class(estimate, expected):
    found = scores(members([estimate]).ceval.pool("run", undirected="class"))
    assert {pair: found[tuple(pair)] for pair in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_shares_of_every_class_over_four_nodes_are_those_of_its_dags():
    pairs = list(itertools.combinations("ABCD", 2))
    texts = []
    for signs in itertools.product(("", " -> ", " <- "), repeat=6):
        edges = [a + sign + b for (a, b), sign in zip(pairs, signs, strict=True) if sign]
        texts.append("; ".join([*edges, *"ABCD"]))
    dags = ce.graph_column(texts)
    dags = dags[(dags.graph.kind == "dag").to_numpy()].reset_index(drop=True)
    classes = dags.graph.cpdag()
    table = pd.DataFrame({"class": pd.factorize(classes)[0], "truth": dags[0], "estimate": dags, "cpdag": classes})
    assert (len(table), table["class"].nunique()) == (543, 185)
    listed = table.ceval.pool("class")["estimate"].score.to_frame()
    counted = table.groupby("class").head(1).ceval.pool("class", estimate="cpdag", undirected="class")
    counted = counted["estimate"].score.to_frame()
    np.testing.assert_allclose(counted["score"], listed["score"], atol=1e-11)
    # p(i -> j) + p(j -> i) = p(adjacent), also of members of several classes
    mixed = table.assign(run=1).head(90).ceval.pool("run", estimate="cpdag", undirected="class")
    half = table.assign(run=1).head(90).ceval.pool("run", estimate="cpdag")
    both = [scores(x).unstack(fill_value=0) for x in (mixed, half)]
    np.testing.assert_allclose(both[0] + both[0].T, both[1] + both[1].T, atol=1e-11)


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        ("A -> B; B -- C; D", r"column 'estimate', row 2 \(index 'z'\): the estimate is a pdag .* \.graph\.cpdag\(\)"),
        ("A o-o B; C; D", r"row 2 \(index 'z'\): the estimate is a pag .*undirected='half'"),
    ],
)
def test_members_without_a_class_are_refused_by_row(estimate, message):
    table = members(["A -- B; C; D", None, estimate]).set_axis(list("xyz"))
    with pytest.raises(ValueError, match=message):
        table.ceval.pool("run", undirected="class")


def test_classes_too_large_to_count_are_refused_by_row():
    names = [f"X{i}" for i in range(70)]
    edges = [f"{a} -- {b}" for a, b in itertools.combinations(names, 2) if (a, b) != ("X0", "X69")]
    table = pd.DataFrame({"run": 1, "estimate": ["; ".join(edges)]})
    with pytest.raises(ValueError, match=r"row 0 .*: a component of 70 nodes and 2414 .* too many members"):
        table.ceval.pool("run", truth=None, undirected="class")


@pytest.mark.parametrize(
    ("estimates", "rule", "expected"),
    [
        (["A -> B; C; D", "A -> B; C; D", "A; B; C; D"], "threshold", "A -> B; C; D"),
        (["A -> B; C; D", "B -> A; C; D"], "threshold", "A -- B; C; D"),
        (["A -> B; C; D", "A; B; C; D"], "threshold", "A; B; C; D"),
        (["A -> B; C; D", "B -> A; C; D", "A; B; C; D", "A; B; C; D"], "pairwise", "A; B; C; D"),
        (["A <-> B; C; D", "A <-> B; C; D", "A -> B; C; D"], "threshold", "A <-> B; C; D"),
        (["A o-> B; C; D", "A o-o B; C; D", "A; B; C -> D"], "threshold", None),
        (["A -> B; B -> C; D", "B -> C; C -> A; D", "C -> A; A -> B; D"], "acyclic", "A -> B; B -> C; A -> C; D"),
    ],
)
def test_consensus(estimates, rule, expected):
    pooled = members(estimates).ceval.pool("run", rule=rule)
    found = pooled["consensus"].iloc[0]
    if expected is None:
        assert pooled["consensus"].graph.kind[0] == "skeleton"
        assert pooled["consensus"].graph.to_strings()[0] == "A -- B; C; D"
    else:
        assert found == ce.as_graph(expected).to_bytes()


def test_a_majority_of_dags_may_be_a_cycle():
    runs = members(["A -> B; B -> C; D", "B -> C; C -> A; D", "C -> A; A -> B; D"])
    assert runs.ceval.pool("run")["consensus"].isna().all()
    broken = runs.ceval.pool("run", cyclic="break")["consensus"]
    assert broken.graph.kind.tolist() == ["dag"] and broken.graph.n_edges.tolist() == [3]


def test_instability_is_how_often_two_members_disagree():
    rng = np.random.default_rng(5)
    signs = ["A -> B", "B -> A", "A -- B", "A; B"]
    chosen = rng.integers(0, 4, (7, 2))
    texts = [f"{signs[a]}; {signs[b].replace('A', 'C').replace('B', 'D')}" for a, b in chosen]
    pooled = members(texts).ceval.pool("run")
    pairs = list(itertools.combinations(range(7), 2))
    types = np.mean([(chosen[i] != chosen[j]).sum() / 6 for i, j in pairs])
    there = np.mean([((chosen[i] == 3) != (chosen[j] == 3)).sum() / 6 for i, j in pairs])
    assert pooled["instability"][0] == pytest.approx(types)
    assert pooled["adjacency_instability"][0] == pytest.approx(there)
    assert members(texts[:1]).ceval.pool("run")["instability"].isna().all()


def test_kinds_of_members_are_counted():
    assert members(["A -> B; C; D", "A -- B; C; D", "A -> B; B -> C; D"]).ceval.pool("run")["member_kinds"][0] == (
        "dag: 2, cpdag: 1"
    )


def test_shuffled_pairs_do_not_serve_ensembles():
    pooled = members(["A -> B; B -> C; D", "A -> B; C; D"]).ceval.pool("run")
    scored = pooled.ceval.with_controls(["auroc"], n_draws=19, rng=1)
    assert scored["control_kind"].tolist() == ["relabelled"]
    with pytest.raises(ValueError, match="no joint law as random graphs; use null='permutation'"):
        pooled.ceval.with_controls(["auroc"], n_draws=19, rng=1, null="random_scores")


def test_true_edges_are_framed():
    names = [f"a rather long name of node {i}" for i in range(6)]
    text = "; ".join(f"{a} -> {b}" for a, b in itertools.pairwise(names))
    graphs = ce.graph_column([text, "; ".join(f'"{name}"' for name in names)])
    runs = pd.DataFrame({"run": 1, "truth": text, "estimate": graphs})
    pooled = runs.ceval.pool("run")
    ax = ce.plot.edge_probabilities(pooled["estimate"][0], pooled["truth"][0])
    assert sum(patch.get_gid() == "frame" for patch in ax.patches) == 10  # a frame is two rectangles
    with pytest.raises(TypeError, match="shows one cell"):
        ce.plot.edge_probabilities(pooled["estimate"], pooled["truth"])
    with pytest.raises(ValueError, match="the truth has the nodes"):
        ce.plot.edge_probabilities(pooled["estimate"][0], "A -> B")
    weights = ce.score_column([np.array([[0, 3.0], [0, 0]])], encoding="row->column")
    with pytest.raises(ValueError, match="the cell holds weights, expected probabilities"):
        ce.plot.edge_probabilities(weights[0])
    plt.close("all")


def test_calibration_points_are_the_bins_of_all_rows():
    rng, d, names = np.random.default_rng(3), 6, list("ABCDEF")
    q = rng.random((40, d, d))
    truths = []
    for matrix in q:
        true = np.triu(rng.random((d, d)) < matrix, 1)  # calibrated above the diagonal, never true below
        edges = [f"{names[i]} -> {names[j]}" for i, j in np.argwhere(true)]
        truths.append("; ".join([*edges, *names]))
    table = pd.DataFrame({"truth": truths, "estimate": ce.score_column(q, nodes=names, encoding="row->column")})
    points = ce.edge_scores.calibration_points(table)
    assert points["n_candidates"].sum() == 40 * 30 and (points["share_true"] < points["low"]).mean() > 0.5
    upper = np.where(np.triu(np.ones((d, d), bool), 1), q, np.nan)
    fair = table.assign(estimate=ce.score_column(upper, nodes=names, encoding="row->column"))
    points = ce.edge_scores.calibration_points(fair, strategy="quantile", bins=8)
    assert points["n_candidates"].sum() == 40 * 15
    inside = (points["low"] <= points["share_true"]) & (points["share_true"] <= points["high"])
    assert inside.sum() >= 7
    alone = ce.edge_scores.calibration_points(table.head(1))
    gaps = alone["n_candidates"] * (alone["mean_probability"] - alone["share_true"]).abs()
    assert gaps.sum() / 30 == pytest.approx(ce.calibration_error(truths[0], table["estimate"].iloc[0]))
    weights = table.assign(estimate=ce.score_column(q * 5, nodes=names, encoding="row->column"))
    with pytest.raises(ValueError, match="row 0: calibration is of probabilities"):
        ce.plot.calibration(weights)


def test_limits_of_a_bin_are_those_of_a_binomial_law():
    from scipy import stats

    names = ["A", "B", "C"]
    cells = ce.score_column([np.full((3, 3), 0.3)] * 50, nodes=names, encoding="row->column", symmetric=False)
    table = pd.DataFrame({"truth": "A -> B; C", "estimate": cells})
    [low], [high] = (ce.edge_scores.calibration_points(table)[x].tolist() for x in ("low", "high"))
    assert low == stats.binom.ppf(0.025, 300, 0.3) / 300 and high == stats.binom.ppf(0.975, 300, 0.3) / 300
