"""P-values of strata by random combinations of draws: cases by hand, exact laws, orders of rows, and where none are."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.tails import combined_strata
from causaleval_pd.statistics import stratum_statistic
from causaleval_pd.statistics.stratum_statistic import STATISTICS

COMBINED = "simulated, combinations of draws"
HOW = {"by": ["s"], "null": "permutation", "rng": 1, "method": "simulate"}
LEAST = pytest.approx(1e-5, rel=1e-9)


def random_dag(rng, d, n_edges):
    order, pairs = rng.permutation(d), list(itertools.combinations(range(d), 2))
    chosen = [pairs[k] for k in rng.choice(len(pairs), n_edges, replace=False)]
    return "; ".join([f"N{order[a]} -> N{order[b]}" for a, b in chosen] + [f"N{i}" for i in range(d)])


@pytest.fixture(scope="module")
def runs():
    """Six truths of six nodes, of which three were found."""
    rng = np.random.default_rng(3)
    truths = [random_dag(rng, 6, 7) for _ in range(6)]
    estimates = [t if i % 2 else random_dag(rng, 6, 7) for i, t in enumerate(truths)]
    return pd.DataFrame({"s": "x", "truth": truths, "estimate": estimates})


def colliders(hub, edges):
    """Return a graph over A .. G whose hub is its i-th node, h in `edges`, where o0 .. o5 are the others."""
    others = [node for node in "ABCDEFG" if node != "ABCDEFG"[hub]]
    words = {f"o{i}": node for i, node in enumerate(others)} | {"h": "ABCDEFG"[hub]}
    return " ".join(words.get(word, word) for word in edges.replace(";", " ;").split()).replace(" ;", ";")


@pytest.mark.slow
@pytest.mark.parametrize("keep", [True, False])
def test_one_run_outside_draws_that_do_not_vary_does_not_outvote_eleven_perfect_ones(keep):
    truth = "X1 o-o X2; X1 o-o X6; X1 o-o X7; X2 o-o X6; X2 o-o X7; X5 o-> X4; X6 o-o X7; X7 o-> X4; X3"
    bad = "X1 o-o X2; X4 <-> X7; X5 o-> X4; X6 -> X1; X6 -> X2; X6 o-> X7; X7 -> X1; X7 -> X2; X3"
    two, three = "o0 o-> h; o1 o-> h; o2 o-> o3; o4 o-> o3; o5", "o0 o-> h; o2 o-> h; o4 o-> h; o1 o-> o3; o5 o-> o3"
    perfect = [colliders(i, two) for i in range(7)] + [colliders(i, three) for i in range(4)]
    table = pd.DataFrame({"s": "x", "truth": [*perfect, truth], "estimate": [*perfect, bad]})
    how = {"by": ["s"], "null": "orientation", "control_kind": "pag", "n_draws": 500, "rng": 1, "keep_draws": keep}
    cube = ce.cube(table, ["arrowhead_f1", "shd"], **how)
    for statistic in STATISTICS:
        found = ce.test_controls(cube, statistic=statistic).set_index("metric")
        assert found["effect"].tolist() == [pytest.approx(0.52, abs=0.02), pytest.approx(-2.4, abs=0.05)]
        note = "1 run lies outside all of its draws, which do not vary"
        assert found["note"].str.contains(note, regex=False).all()
        assert ce.summary(cube, statistic=statistic)["note"].str.contains(note, regex=False).all()
        if statistic == "mean":
            assert found["p_value"].tolist() == [LEAST, LEAST] and found["p_at_floor"].all()


def test_undefined_draws_count_as_the_mean_of_their_run():
    """Six of twelve estimates have one edge, whose direction has no value in most draws."""
    rng = np.random.default_rng(3)
    pairs = list(itertools.permutations("ABCDE", 2))[:6]
    single = [f"{a} -> {b}; " + "; ".join(node for node in "ABCDE" if node not in (a, b)) for a, b in pairs]

    def complete():
        return "; ".join(f"{a} -> {b}" for a, b in itertools.combinations(rng.permutation(list("ABCDE")), 2))

    guesses = [complete() for _ in range(6)]
    table = pd.DataFrame({"s": "x", "truth": single + [complete() for _ in range(6)], "estimate": single + guesses})
    cube = ce.cube(table, ["orientation_f1"], by=["s"], null="edges", n_draws=999, rng=1)
    assert float(np.isnan(cube["orientation_f1_control"]).mean()) == pytest.approx(0.45, abs=0.02)
    assert ce.test_controls(cube)["p_value"].item() <= 1e-3
    pc = ce.datasets.runs().query("algorithm == 'pc' and density == 0.2 and n == 100")
    cube = ce.cube(pc, ["orientation_f1"], by=["algorithm"], n_draws=999, rng=1)
    assert ce.test_controls(cube)["p_value"].item() < 0.006


@pytest.mark.slow
def test_the_least_p_does_not_depend_on_the_number_of_draws_nor_on_the_order_of_rows():
    table = ce.datasets.runs().query("density == 0.2 and n == 100 and algorithm == 'pc'").reset_index(drop=True)
    perfect = table.assign(estimate=table["truth"])
    for n_draws in (19, 99, 999):
        cube = ce.cube(perfect, ["shd"], by=["algorithm"], n_draws=n_draws, rng=1)
        for found in (ce.test_controls(cube), ce.summary(cube)):
            assert found["p_value"].item() == LEAST and found["p_at_floor"].item()
            for shown in (found, found.drop(columns="p_at_floor"), found[["algorithm", "metric", "p_value"]]):
                assert "≤ 1e\N{MINUS SIGN}5" in ce.style(shown).to_html()
    how = {"by": ["algorithm"], "n_draws": 99, "key": ["replicate"]}
    p = [
        ce.summary(ce.cube(x, ["shd", "orientation_f1"], rng=1, **how))["p_value"].tolist()
        for x in (table, table[::-1], table.sample(frac=1, random_state=4))
    ]
    assert p[0] == p[1] == p[2]


@pytest.mark.slow
def test_p_moves_with_the_seed_by_no_more_than_its_error():
    table = ce.datasets.runs().query("density == 0.4 and n == 100 and algorithm == 'pc' and replicate < 8")
    how = {"by": ["algorithm"], "n_draws": 4000}
    p = [ce.test_controls(ce.cube(table, ["orientation_f1"], rng=k, **how))["p_value"].item() for k in range(6)]
    assert np.std(p) < 4 * np.sqrt(np.mean(p) * (1 - np.mean(p)) / 4000)


@pytest.mark.slow
def test_small_p_is_never_on_the_wrong_side_of_the_effect(monkeypatch):
    monkeypatch.setattr(stratum_statistic, "COMBINATIONS", 1999)
    rng = np.random.default_rng(12)
    graphs = [random_dag(rng, 5, 4) for _ in range(3000)]
    some = rng.random(1500) < 0.25
    estimates = np.where(some, graphs[::2], graphs[1::2])
    table = pd.DataFrame({"s": np.arange(1500) // 3, "truth": graphs[::2], "estimate": estimates})
    cube = ce.cube(table, ["shd", "orientation_f1"], **HOW | {"n_draws": 39})
    found = ce.test_controls(cube)
    assert len(found) == 1000 and (found["p_value"] <= 0.05).sum() > 50
    good = found["effect"] * np.where(found["metric"] == "shd", -1, 1)
    assert (good[found["p_value"] <= 0.05] > 0).all()


@pytest.mark.slow
def test_p_is_near_the_exact_one_below_the_floor_of_the_draws(runs):
    runs = runs.assign(estimate=[*runs["estimate"][:2], *runs["estimate"][:2], *runs["estimate"][4:]])
    exact = ce.summary(ce.cube(runs, ["shd"], n_draws=9, **HOW | {"method": "auto", "tails": "exact"})).iloc[0]
    found = ce.test_controls(ce.cube(runs, ["shd"], n_draws=999, **HOW)).iloc[0]
    assert exact["p_method"] == "exact convolution" and found["p_method"] == COMBINED
    assert np.log(found["p_value"] / exact["p_value"]) == pytest.approx(0, abs=0.5)
    assert np.isnan(found["p_low"]) and not found["p_at_floor"]
    drawn = ce.test_controls(ce.cube(runs, ["shd"], n_draws=9, tails=None, **HOW)).iloc[0]
    assert drawn["p_value"] >= 1 / 10 and drawn["p_method"] == "simulated"


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_kept_and_summed_draws_and_any_order_of_rows_give_the_same(runs, statistic):
    how = HOW | {"n_draws": 99, "key": ["truth"]}
    first = ce.summary(ce.cube(runs, ["shd", "adjacency_f1"], **how), statistic=statistic)
    assert set(first["p_method"]) == {COMBINED}
    for table, settings in ((runs, {"keep_draws": False}), (runs[::-1], {}), (runs, {"engine": "threads"})):
        found = ce.summary(ce.cube(table, ["shd", "adjacency_f1"], **how | settings), statistic=statistic)
        for column in ("p_value", "p_se", "p_method", "p_at_floor", "note"):
            pd.testing.assert_series_equal(found[column], first[column], check_exact=True)


@pytest.mark.slow
def test_perfect_runs_end_at_the_least_p(runs):
    runs = runs.assign(estimate=runs["truth"])
    twice = pd.concat([runs, runs], ignore_index=True).assign(run=range(12))
    for table, words in ((runs, COMBINED), (twice, "relabelling by truth, combinations of draws")):
        found = ce.test_controls(ce.cube(table, ["shd"], n_draws=19, **HOW), adjust="holm").iloc[0]
        assert found["p_method"] == words and found["n_clusters"] == 6 and found["p_at_floor"]
        assert found["p_value"] == LEAST
        assert found["note"].endswith("p <= 1e-05, the least of 99,999 combinations of draws")


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_strata_in_pieces_have_the_same_p(runs, statistic, monkeypatch):
    twice = pd.concat([runs, runs.assign(estimate=runs["truth"])], ignore_index=True).assign(run=range(12))
    more = pd.concat([twice, twice.assign(s="y", run=range(12, 24))], ignore_index=True)
    how = HOW | {"n_draws": 29, "key": "run", "keep_draws": False}
    whole = ce.summary(ce.cube(more, ["shd"], **how), statistic=statistic)
    assert whole["p_method"].tolist() == ["relabelling by truth, combinations of draws"] * 2
    monkeypatch.setattr(combined_strata, "BLOCK", 30)
    pd.testing.assert_frame_equal(ce.summary(ce.cube(more, ["shd"], **how), statistic=statistic), whole)


@pytest.mark.slow
def test_one_cluster_and_dependent_controls_keep_the_draws_and_cut_runs_do_not(runs):
    runs = runs.assign(estimate=runs["truth"])
    one = pd.concat([runs.iloc[:1]] * 4, ignore_index=True).assign(run=range(4))
    found = ce.summary(ce.cube(one, ["shd"], n_draws=19, **HOW)).iloc[0]
    assert found["p_method"] == "relabelling by truth" and found["p_value"] == 1 / 20 and found["p_at_floor"]
    by_stratum = ce.summary(ce.cube(runs, ["shd"], n_draws=19, **HOW | {"null": "stratum"})).iloc[0]
    assert by_stratum["p_method"] == "simulated"
    cube = ce.cube(runs, ["shd"], n_draws=19, **HOW)
    cut = ce.summary(cube.isel(replicate=slice(4)))
    assert cut["p_method"].tolist() == [COMBINED]
    few = ce.cube(runs.iloc[:4], ["shd"], n_draws=19, **HOW)
    assert cut["p_value"].tolist() == ce.summary(few)["p_value"].tolist()
    worst = ce.cube(runs.assign(estimate=[None, *runs["estimate"][1:]]), ["shd"], n_draws=19, **HOW)
    assert ce.test_controls(worst)["p_method"].tolist() == [COMBINED]
    assert ce.test_controls(worst, missing="worst")["p_method"].tolist() == ["simulated"]


def test_answers_drawn_with_the_share_of_the_other_answers_keep_the_draws():
    truth = pd.Series([True, True, False, False] * 4)
    answers = pd.DataFrame({"s": "x", "truth": truth, "estimate": truth})
    how = {"by": ["s"], "field": "answer", "n_draws": 19, "rng": 1, "method": "simulate"}
    shared = ce.test_controls(ce.cube(answers, ["answer_accuracy"], null="permute_answers", **how)).iloc[0]
    assert shared["p_method"] == "simulated" and shared["p_value"] == 1 / 20 and shared["p_at_floor"]
    coins = ce.test_controls(ce.cube(answers, ["answer_accuracy"], null="random_answers", **how)).iloc[0]
    assert coins["p_method"] == COMBINED and coins["p_value"] < 1e-3


def test_infinite_values_have_no_mean_and_the_reason(make_cube):
    values, draws = np.array([[1.0, np.inf, 0.0]]), np.ones((1, 3, 19)) * [[2], [3], [1]]
    draws[..., 0] = 0.5
    cube = make_cube({"a": [0]}, {"m": (values, "minimize", draws)})
    table = ce.test_controls(cube)
    assert np.isnan(table["p_value"].item()) and "infinite values; statistic='rank'" in table["note"].item()
    assert table["p_method"].item() == "none: infinite values"
    ranked = ce.test_controls(cube, statistic="rank")
    assert ranked["p_value"].notna().all() and not ranked["note"].fillna("").str.contains("infinite values;").any()
