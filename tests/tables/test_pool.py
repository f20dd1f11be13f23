"""Ensembles as rows: expected metrics, weights, joint controls and their level, refusals."""

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

TRUTH = "A -> B; B -> C; D"


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(3)
    found = ce.datasets.runs().query("algorithm in ['pc', 'ges']").head(60)
    return found.drop(columns="algorithm").assign(
        w=rng.random(len(found)), run=np.arange(len(found)) // 5, truth=found["truth"].iloc[0]
    )


def test_expected_metrics_are_weighted_means(runs):
    scored = runs.ceval.evaluate(["shd", "adjacency_f1"])
    pooled = runs.ceval.pool("run", ["shd", "adjacency_f1"], weight="w")
    for name in ("shd", "adjacency_f1"):
        for row, (_, group) in zip(pooled.itertuples(), scored.groupby("run"), strict=True):
            mean = np.average(group[name], weights=group["w"])
            spread = np.sqrt(np.average((group[name] - mean) ** 2, weights=group["w"]))
            assert getattr(row, f"e_{name}") == pytest.approx(mean)
            assert getattr(row, f"sd_{name}") == pytest.approx(spread)


def test_members_that_agree_have_no_spread(runs):
    agreed = runs.assign(estimate=runs.groupby("run")["estimate"].transform("first"))
    pooled = agreed.assign(w=0.1 + agreed["w"]).ceval.pool("run", ["shd", "adjacency_f1"], weight="w")
    assert (pooled[["sd_shd", "sd_adjacency_f1"]] == 0).all(axis=None)


@pytest.mark.slow
def test_draws_relabel_all_members_alike(runs):
    """With one member per run they are those of the null model `permutation`; copies of a member change nothing."""
    one = runs.groupby("run").head(1)
    copied = pd.concat([one, one, one]).reset_index(drop=True)
    how = {"n_draws": 99, "rng": 7}
    first, second = one.ceval.pool("run", ["shd"], **how), copied.ceval.pool("run", ["shd"], **how)
    assert second["n_members"].eq(3).all()
    for column in ("e_shd_control_mean", "e_shd_control_low", "e_shd_p", "e_shd_skill"):
        np.testing.assert_allclose(first[column], second[column])
    shuffled = copied.sample(frac=1, random_state=1).ceval.pool("run", ["shd"], **how).sort_values("run")
    np.testing.assert_allclose(shuffled["e_shd_control_mean"], first.sort_values("run")["e_shd_control_mean"])
    exact = one.ceval.with_controls(["shd"], null="permutation", n_draws=9, rng=1)
    pooled = one.ceval.pool("run", ["shd"], n_draws=2000, rng=1)
    np.testing.assert_allclose(pooled["e_shd_control_mean"], exact["shd_control_mean"], rtol=0.05)


@pytest.mark.slow
def test_all_relabellings_of_few_nodes_are_listed():
    """Exact p: the share of all joint relabellings of the members that are as good on average."""
    members = ["A -> B; B -> C; D", "A -> B; C; D", "A -> C; B -> C; D"]
    table = pd.DataFrame({"run": 1, "truth": TRUTH, "estimate": members, "w": [1.0, 2.0, 1.0]})
    found = table.ceval.pool("run", ["shd", "adjacency_f1"], weight="w", n_draws=5, rng=1)
    means = []
    for order in itertools.permutations("ABCD"):
        names = dict(zip("ABCD", order, strict=True))
        turned = table.assign(estimate=["".join(names.get(x, x) for x in text) for text in members])
        scored = turned.ceval.evaluate(["shd", "adjacency_f1"])[["shd", "adjacency_f1"]].fillna(0)
        means.append(np.average(scored, axis=0, weights=table["w"]))
    means = np.array(means)
    assert found["pool_draws"][0] == 24
    assert found["e_shd_control_mean"][0] == pytest.approx(means[:, 0].mean())
    assert found["e_shd_p"][0] == pytest.approx((means[:, 0] <= found["e_shd"][0] + 1e-9).mean())
    assert found["e_adjacency_f1_p"][0] == pytest.approx((means[:, 1] >= found["e_adjacency_f1"][0] - 1e-9).mean())


@pytest.mark.slow
def test_the_level_holds_for_ensembles_of_one_random_graph():
    """Independent controls of members would reject a third of these at .05."""
    rng, d = np.random.default_rng(11), 7
    names = [f"X{i}" for i in range(d)]

    def dag(m):
        order = rng.permutation(d)
        pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
        return [(names[order[i]], names[order[j]]) for i, j in (pairs[k] for k in rng.choice(len(pairs), m, False))]

    def text(edges):
        return "; ".join([f"{a} -> {b}" for a, b in edges] + names)

    rows = []
    for run in range(200):
        truth, guess = dag(8), dag(8)
        rows += [(run, text(truth), text([e for e in guess if rng.random() > 0.1])) for _ in range(10)]
    table = pd.DataFrame(rows, columns=["run", "truth", "estimate"])
    p = table.ceval.pool("run", ["shd"], n_draws=99, rng=5)["e_shd_p"]
    assert (p <= 0.05).mean() < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)
    scores = table.ceval.pool("run").ceval.with_controls(["auroc"], n_draws=99, rng=5)
    assert (scores["auroc_p"] <= 0.05).mean() < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 200)


def test_failed_members_are_counted():
    table = pd.DataFrame({"run": [1, 1, 2], "truth": TRUTH, "estimate": ["A -> B; C; D", None, None]})
    pooled = table.ceval.pool("run", ["shd"])
    assert pooled["n_members"].tolist() == [1, 0] and pooled["n_failed"].tolist() == [1, 1]
    assert pooled["estimate"].isna().tolist() == pooled["consensus"].isna().tolist() == [False, True]
    assert pooled["e_shd"].tolist()[0] == 1 and np.isnan(pooled["e_shd"][1])
    assert pooled["effective_size"].tolist() == [1, 0]
    # nothing is asked of the weights of failed members
    weighted = table.assign(w=[2.0, -1.0, np.nan]).ceval.pool("run", ["shd"], weight="w")
    assert weighted["weight_sum"].tolist() == [2, 0] and weighted["e_shd"].equals(pooled["e_shd"])


def test_failed_members_count_as_empty_graphs_where_this_is_asked():
    table = pd.DataFrame({"run": [1, 1, 1, 2], "truth": TRUTH, "estimate": ["A -> B; C; D", None, TRUTH, None]})
    empty = table.assign(estimate=table["estimate"].fillna("A; B; C; D"))
    found = table.ceval.pool("run", ["shd"], failed="empty", n_draws=40, rng=1)
    wanted = empty.ceval.pool("run", ["shd"], n_draws=40, rng=1)
    assert found["n_members"].tolist() == [3, 1] and found["n_failed"].tolist() == [1, 1]
    names = [name for name in wanted if name != "n_failed"]
    pd.testing.assert_frame_equal(found[names], wanted[names])
    # without a truth a run of failures alone has no nodes
    alone = table.drop(columns="truth").ceval.pool("run", truth=None, failed="empty")
    assert alone["n_members"].tolist() == [3, 0] and alone["estimate"].isna().tolist() == [False, True]


def test_the_one_truth_of_members_of_several_classes():
    chain = "A -> B; B -> C; D"
    table = pd.DataFrame({"run": [1, 1, 1], "truth": chain, "estimate": [chain, "A -- B; B -- C; D", None]})
    mapped = table.assign(truth="A -- B; B -- C; D")
    pool = {"by": "run", "metrics": ["shd"], "n_draws": 9, "rng": 1}
    plain, dag = table.ceval.pool(**pool), table.ceval.pool(**pool, class_of_truth="dag")
    assert "class_of_truth" not in plain and dag["class_of_truth"].tolist() == ["dag"]
    pd.testing.assert_frame_equal(dag.drop(columns="class_of_truth"), plain)
    cpdag, wanted = table.ceval.pool(**pool, class_of_truth="cpdag"), mapped.ceval.pool(**pool)
    names = [name for name in wanted if name != "truth"]
    pd.testing.assert_frame_equal(cpdag[names], wanted[names])
    assert cpdag["e_shd"].tolist() == [1.0] and cpdag["truth"].tolist() == [chain]
    made = cpdag.attrs["causaleval_pd_history"][-1]
    assert made["class_of_truth"] == "cpdag" and made["seed"] == 1
    again = mapped.ceval.pool(**pool, class_of_truth="cpdag")
    pd.testing.assert_frame_equal(again[names], wanted[names])
    with pytest.raises(ValueError, match=r"column 'truth', row 0 .*: the truth is a cpdag, and class_of_truth='dag'"):
        mapped.ceval.pool(**pool, class_of_truth="dag")
    with pytest.raises(ValueError, match="sid applies to dag, .* map truths and estimates to one class first"):
        table.ceval.pool("run", ["sid"])


@pytest.mark.parametrize("null", ["permutation", "ranking", "by_support", "calibrated"])
def test_pooled_rows_take_null_models_that_have_a_law_of_ensembles(runs, null):
    pooled = runs.ceval.pool("run")
    metric = "brier" if null == "calibrated" else "auroc"
    found = pooled.ceval.with_controls([metric], null=null, n_draws=20, rng=1)
    assert found[f"{metric}_p"].between(0, 1).all()
    if null in ("permutation", "by_support"):
        assert found["control_kind"].eq("relabelled").all()


def test_null_models_without_a_law_of_ensembles_are_refused(runs):
    pooled = runs.ceval.pool("run")
    for null, message in (
        ("random_scores", "members have no joint law as random graphs.*test the consensus"),
        *((name, f"unknown null '{name}' for field 'scores'") for name in ("edges", "degree", "orientation")),
        (lambda estimate, rng: estimate, "takes no function as null"),
    ):
        with pytest.raises(ValueError, match=message):
            pooled.ceval.with_controls(["auroc"], null=null, n_draws=5, rng=1)


def test_several_columns_name_a_run():
    table = pd.DataFrame({"a": list("xyxy"), "b": [2, 2, 1, 2], "truth": TRUTH, "estimate": ["A -> B; C; D"] * 4})
    pooled = table.ceval.pool(["a", "b"])
    assert pooled[["a", "b"]].values.tolist() == [["x", 2], ["y", 2], ["x", 1]]
    assert pooled["n_members"].tolist() == [1, 2, 1]
    assert table.columns.tolist() == ["a", "b", "truth", "estimate"]


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"truth": [TRUTH, "A -> B; C; D"]}, {}, r"row 0 .* and row 1 .* are of one run, but have different truths"),
        ({"w": [1, -1.0]}, {"weight": "w"}, r"row 1 .*: weight='w' is -1.0, expected a finite number from 0"),
        ({"w": [1, np.inf]}, {"weight": "w"}, "weight='w' is inf"),
        ({"w": [1, np.nan]}, {"log_weight": "w"}, "log_weight='w' is nan"),
        ({"w": [0, 0.0]}, {"weight": "w"}, "the weights of the run with run 1 sum to 0"),
        ({"run": [1, None]}, {}, r"row 1 .*: by='run' has no value"),
        ({}, {"rule": "mean"}, "unknown rule of a consensus 'mean'"),
        ({}, {"undirected": "share"}, "unknown value of undirected 'share'"),
        ({}, {"class_of_truth": "pag"}, "unknown class_of_truth 'pag'"),
        ({"truth": None}, {"class_of_truth": "dag"}, "truth=None names none"),
        ({}, {"by": []}, "by names no column"),
        ({}, {"by": "ran"}, "no column 'ran'"),
        ({}, {"weight": "run", "log_weight": "run"}, "give one"),
        ({"estimate": ["A -> B; C; D", "A -> B; C; E"], "truth": None}, {"metrics": ()}, "have different nodes"),
    ],
)
def test_refused(change, settings, message):
    table = pd.DataFrame({"run": [1, 1], "truth": TRUTH, "estimate": ["A -> B; C; D"] * 2}).assign(**change)
    if change.get("truth", "") is None:
        settings = settings | {"truth": None}
        table = table.drop(columns="truth")
    by = settings.pop("by", "run")
    with pytest.raises(ValueError, match=message):
        table.ceval.pool(by, **settings)


MEMBERS = pd.DataFrame({"run": [1] * 4, "estimate": ["A -> B", "B -> A", "A -> B", None], "truth": "A -> B"})


@pytest.mark.parametrize("name", ["algorithm", "learner", "scale"])
def test_two_algorithms_in_a_run_are_refused_by_name(name):
    members = MEMBERS.assign(**{name: ["pc", "pc", "ges", "ges"]})
    message = rf"run 1 has members of 2 values of '{name}' \('pc', 'ges'\); name the column in by=\['run', '{name}'\]"
    for table in (members, members.astype({name: "category"})):
        with pytest.raises(ValueError, match=message):
            table.ceval.pool("run", ["shd"])
    assert members.ceval.pool(["run", name], ["shd"])["n_members"].tolist() == [2, 1]
    assert members.drop(columns=name).ceval.pool("run", ["shd"])["n_members"].tolist() == [3]


@pytest.mark.parametrize(
    "column",
    [
        {"seed": [1, 2, 3, 4]},
        {"file": ["a.txt", "b.txt", "c.txt", "d.txt"]},
        {"status": ["ok", "ok", "ok", "timeout"]},
        {"algorithm": ["pc"] * 4},
        {"alternative": ["A -> B", "A -> B", "B -> A", "B -> A"]},
    ],
)
def test_columns_that_tell_members_apart_are_pooled(column):
    assert MEMBERS.assign(**column).ceval.pool("run", ["shd"])["n_members"].tolist() == [3]
