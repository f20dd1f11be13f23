"""Placebo studies: wrong independence is found, the default keeps its level, and results do not depend on engines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

D, EDGES = 8, 8
NODES = [f"X{i}" for i in range(D)]


def guesses(rng, n):
    """Random DAGs as matrices, row -> column."""
    first, second = np.triu_indices(D, 1)
    found = np.zeros((n, D, D), np.int8)
    for matrix in found:
        order, chosen = rng.permutation(D), rng.choice(len(first), EDGES, replace=False)
        matrix[order[first[chosen]], order[second[chosen]]] = 1
    return found


def column(matrices):
    return ce.graph_column(matrices, encoding="row->column", nodes=NODES)


def constant(rng, n_truths=1, n_runs=20):
    """Runs whose guess is constant on a truth."""
    truth, estimate = (column(np.repeat(guesses(rng, n_truths), n_runs, axis=0)) for _ in range(2))
    return pd.DataFrame({"truth": truth, "estimate": estimate, "s": 0})


def redrawn(rng, n_runs=20, changed=2):
    """Runs on one truth, some edges of whose guess change from run to run."""
    order, pairs = rng.permutation(D), np.triu_indices(D, 1)
    base = rng.choice(len(pairs[0]), EDGES, replace=False)
    rest = np.setdiff1d(np.arange(len(pairs[0])), base)
    found = np.zeros((n_runs, D, D), np.int8)
    for matrix in found:
        chosen = np.append(rng.choice(base, EDGES - changed, replace=False), rng.choice(rest, changed, replace=False))
        matrix[order[pairs[0][chosen]], order[pairs[1][chosen]]] = 1
    return pd.DataFrame(
        {"truth": column(np.repeat(guesses(rng, 1), n_runs, axis=0)), "estimate": column(found), "s": 0}
    )


DESIGNS = {
    "1 truth x 20, constant": lambda rng: constant(rng),
    "1 truth x 20, 2 of 8 redrawn": redrawn,
    "4 truths x 5, constant": lambda rng: constant(rng, 4, 5),
}


def study(runs, n_placebos=60, **settings):
    given = {"by": ["s"], "n_placebos": n_placebos, "n_draws": 99, "rng": 3, "alpha": 0.05, "skill": None} | settings
    return runs.ceval.size_and_power(["shd"], **given).set_index("method")


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_wrong_independence_is_found_and_the_default_keeps_its_level(design):
    runs = DESIGNS[design](np.random.default_rng(1))
    before, after = study(runs, cluster=None), study(runs)
    assert before.loc["randomisation", "verdict"] == "miscalibrated" and before.loc["randomisation", "size"] > 0.15
    interval = before.loc["skill interval"]
    # runs that are all alike have no interval
    assert interval["verdict"] == "miscalibrated" if design != "1 truth x 20, constant" else interval["n_placebos"] == 0
    assert after.loc["randomisation", "verdict"] == "by construction" and after.loc["randomisation", "size"] <= 0.15
    # fewer than five clusters have no interval
    assert after.loc["skill interval", "n_placebos"] == 0 and pd.isna(after.loc["skill interval", "verdict"])


@pytest.fixture(scope="module")
def runs():
    return ce.datasets.runs().query("density == 0.2 and n == 100 and replicate < 6")


def small(runs, **settings):
    given = {"metrics": "shd", "by": ["algorithm"], "n_placebos": 5, "n_draws": 19, "rng": 5} | settings
    return runs.ceval.size_and_power(**given)


@pytest.fixture(scope="module")
def found(runs):
    both = ["shd", "adjacency_f1"]
    return small(runs, metrics=both, adjust="holm", methods=["randomisation", "wilcoxon"])


@pytest.mark.slow
def test_a_row_a_stratum_metric_method_and_level(found):
    assert found.columns.tolist() == [
        *(
            "algorithm",
            "metric",
            "method",
            "n_pairs",
            "n_clusters",
            "alpha",
            "size",
            "size_low",
            "size_high",
            "verdict",
        ),
        *("skill", "power", "n_placebos", "null"),
    ]
    methods = ["randomisation", "wilcoxon", "randomisation (holm)", "wilcoxon (holm)"]
    inner = found.dropna(subset="metric")
    assert (
        inner.groupby(["algorithm", "metric"])["method"].agg(set).map(sorted).tolist()
        == [sorted([*methods, "skill interval"])] * 6
    )
    assert inner["alpha"].value_counts().to_dict() == {0.05: 24 + 6, 0.01: 24}
    families = found[found["metric"].isna()]
    assert families["method"].tolist() == ["randomisation (holm)", "wilcoxon (holm)"] * 2
    assert families["algorithm"].isna().all() and (found["n_placebos"] <= 5).all()
    assert not found["verdict"].eq("calibrated").any()
    tests = inner[inner["method"] != "skill interval"]
    assert (tests["size_low"] <= tests["size"]).all() and (tests["size"] <= tests["size_high"]).all()


@pytest.mark.slow
def test_sizes_are_those_of_placebos_by_hand(runs, found):
    """Rejection by rejection cannot be compared (streams differ); rates over many placebos can."""
    p = [
        ce.test_controls(ce.cube(runs.ceval.placebo(rng=s), ["shd"], by=["algorithm"], n_draws=19, rng=s))["p_value"]
        for s in range(15)
    ]
    table = small(runs, n_placebos=15, skill=None, alpha=0.5).query("method == 'randomisation'")
    assert table["size"].mean() == pytest.approx(np.mean(np.stack(p) <= 0.5), abs=0.25)


@pytest.mark.slow
def test_skill_is_found(runs):
    table = small(runs, n_placebos=8, skill=0.7, alpha=0.05).query("method == 'randomisation'")
    assert (table["power"] > 0.8).all() and (table["size"] < 0.5).all()
    assert small(runs, skill=None, n_placebos=1)["power"].isna().all()


@pytest.mark.slow
def test_results_do_not_depend_on_the_engine_or_the_order_of_rows(runs):
    runs = runs.query("algorithm != 'pc'")
    first = small(runs, n_placebos=3)
    pd.testing.assert_frame_equal(first, small(runs, n_placebos=3, engine="threads", n_jobs=2))
    mixed = small(runs.sample(frac=1, random_state=1), n_placebos=3)
    pd.testing.assert_frame_equal(first, mixed)


def test_several_nulls_have_rows_of_their_own(runs):
    table = small(runs, null=["edges", "permutation"], n_placebos=2)
    assert table["null"].unique().tolist() == ["edges", "permutation"] and len(table) == 2 * 3 * 3


@pytest.mark.slow
def test_the_mean_skill_of_placebos_is_covered(runs):
    table = small(ce.datasets.runs().query("density == 0.2 and n == 100"), n_placebos=8, skill=None)
    missed = table[table["method"] == "skill interval"]
    assert (missed["n_placebos"] == 8).all() and (missed["size"] <= 0.25).all() and (missed["alpha"] == 0.05).all()


def test_wrong_settings_are_refused(runs):
    for settings, message in (
        ({"n_placebos": 0}, "n_placebos"),
        ({"alpha": [0.05, 1.0]}, "alpha must lie between"),
        ({"skill": 1.0}, "skill must lie between"),
        ({"level": 0.0}, "level must lie between"),
        ({"methods": "wilcox"}, "unknown method 'wilcox'"),
        ({"joint": "none"}, "joint must be"),
        ({"by": ["nothing"]}, "nothing"),
    ):
        with pytest.raises(ValueError, match=message):
            small(runs, **settings)


@pytest.mark.slow
def test_the_call_is_remembered(found):
    made = found.attrs["causaleval_pd_history"][-1]
    assert (made["verb"], made["seed"], made["adjust"]) == ("size_and_power", 5, "holm")
    assert made["metrics"] == found["metric"].dropna().unique().tolist()
    assert made["null"] == ["edges"] and made["zero_division"] == "nan" and "control_kind" in made


def test_levels_below_the_least_p_value_are_named():
    table = constant(np.random.default_rng(1), n_truths=5, n_runs=2)
    how = {"by": ["s"], "n_draws": 39, "n_placebos": 8, "rng": 1, "skill": None, "methods": ["randomisation", "t"]}
    how["tails"] = None
    found = table.ceval.size_and_power(["shd"], **how)
    words = found.set_index(["method", "alpha"])["verdict"]
    assert words["randomisation", 0.01] == "too few draws" and words["randomisation", 0.05] == "by construction"
    assert words["t"].isna().all(), "its p-values do not depend on the number of draws"


@pytest.mark.slow
def test_levels_that_combinations_of_draws_reach_are_not_out_of_reach():
    table = constant(np.random.default_rng(1), n_truths=12, n_runs=1)
    how = {"by": ["s"], "n_draws": 39, "n_placebos": 8, "rng": 1, "skill": 0.5, "alpha": 0.01}
    for tails, out_of_reach in (("exact", False), (None, True)):
        found = table.ceval.size_and_power(["shd"], tails=tails, **how).set_index("method").loc["randomisation"]
        assert (found["power"] == 0) == out_of_reach
        assert (found["verdict"] == "too few draws") is out_of_reach
