"""P-values of strata among all combinations of draws: against exact laws, by clusters, and where there are none."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.tails import combined_strata

COMBINED = "simulated, combinations of draws"
HOW = {"by": ["s"], "null": "permutation", "rng": 1, "method": "simulate"}


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


@pytest.mark.parametrize("statistic", ["standardized", "mean"])
def test_p_is_near_the_exact_one_far_below_the_floor(runs, statistic):
    exact = ce.summary(ce.cube(runs, ["shd"], n_draws=9, **HOW | {"method": "auto"}), statistic=statistic).iloc[0]
    found = ce.test_controls(ce.cube(runs, ["shd"], n_draws=499, **HOW), statistic=statistic).iloc[0]
    assert exact["p_method"] == "exact convolution" and exact["p_value"] < 1e-4
    assert found["p_method"] == COMBINED and np.log(found["p_value"] / exact["p_value"]) == pytest.approx(0, abs=1)
    assert np.isnan(found["p_low"]) and not found["p_at_floor"]
    drawn = ce.test_controls(ce.cube(runs, ["shd"], n_draws=499, tails=None, **HOW), statistic=statistic).iloc[0]
    assert drawn["p_value"] == 1 / 500 and drawn["p_at_floor"] and drawn["p_method"] == "simulated"


@pytest.mark.parametrize("statistic", ["standardized", "mean", "rank"])
def test_kept_and_summed_draws_and_any_order_of_rows_give_the_same(runs, statistic):
    how = HOW | {"n_draws": 99, "key": ["truth"]}
    first = ce.summary(ce.cube(runs, ["shd", "adjacency_f1"], **how), statistic=statistic)
    for table, settings in ((runs, {"keep_draws": False}), (runs[::-1], {}), (runs, {"engine": "threads"})):
        found = ce.summary(ce.cube(table, ["shd", "adjacency_f1"], **how | settings), statistic=statistic)
        assert found["p_value"].tolist() == first["p_value"].tolist()
        assert found["p_method"].tolist() == first["p_method"].tolist()
    # ranks do not show how far the runs are from their draws
    assert set(first["p_method"]) == {COMBINED if statistic != "rank" else "simulated"}


def test_perfect_runs_end_at_the_floor_of_their_clusters(runs):
    runs = runs.assign(estimate=runs["truth"])
    twice = pd.concat([runs, runs], ignore_index=True).assign(run=range(12))
    for table, words in ((runs, COMBINED), (twice, "relabelling by truth, combinations of draws")):
        found = ce.test_controls(ce.cube(table, ["shd"], n_draws=19, **HOW), adjust="holm").iloc[0]
        assert found["p_method"] == words and found["n_clusters"] == 6 and found["p_at_floor"]
        # some relabellings leave a graph as it is
        assert 20.0**-6 * (1 - 1e-9) <= found["p_value"] < 1e-6
        assert found["note"].endswith("the least that combinations of these draws give")


@pytest.mark.parametrize("statistic", ["standardized", "mean", "rank"])
def test_strata_in_pieces_have_the_same_p_and_those_of_many_clusters_rest_on_draws(runs, statistic, monkeypatch):
    twice = pd.concat([runs, runs.assign(estimate=runs["truth"])], ignore_index=True).assign(run=range(12))
    how = HOW | {"n_draws": 29, "key": "run"}
    whole = ce.summary(ce.cube(twice, ["shd"], **how), statistic=statistic)
    assert whole["p_method"].tolist() == ["relabelling by truth, combinations of draws"]
    # two rows of 30 numbers at a time, and less than the rows of a cluster
    for block in (60, 30):
        monkeypatch.setattr(combined_strata, "BLOCK", block)
        pieces = ce.summary(ce.cube(twice, ["shd"], **how), statistic=statistic)
        pd.testing.assert_frame_equal(pieces, whole, check_exact=True)
    monkeypatch.setattr(combined_strata, "MOST_CLUSTERS", 5)
    many = ce.summary(ce.cube(twice, ["shd"], **how), statistic=statistic)
    assert many["p_method"].tolist() == ["relabelling by truth"] and many["p_value"].tolist() == [1 / 30]


def test_combinations_without_any_value_are_left_out():
    """One edge, of seven among ten nodes: its direction is undefined in most draws."""
    chains = [[f"N{i} -> N{i + 1}" for i in range(first, first + 7)] for first in (0, 2)]
    truths, nodes = ["; ".join(chain) for chain in chains], "; ".join(f"N{i}" for i in range(10))
    runs = pd.DataFrame({"s": "x", "truth": truths, "estimate": [chain[0] for chain in chains]}) + {
        "s": "",
        "truth": "; " + nodes,
        "estimate": "; " + nodes,
    }
    how = HOW | {"n_draws": 99, "keep_draws": True}
    compared = 0
    for seed in range(8):
        cube = ce.cube(runs, ["orientation_precision"], **how | {"rng": seed})
        found = ce.test_controls(cube).iloc[0]
        drawn = cube["orientation_precision_control"].isel(s=0).transpose("replicate", "draw").to_numpy()
        columns = np.concatenate([np.ones((2, 1)), drawn], axis=1)
        known = ~np.isnan(columns)
        centred = np.where(known, columns - np.nanmean(columns, axis=1, keepdims=True), 0)
        z = centred / np.maximum(centred.std(axis=1, keepdims=True), 1e-9)
        sums = z[0][:, None] + z[1]
        as_good = (sums >= sums[0, 0] - 1e-9).sum() / (known[0][:, None] | known[1]).sum()
        if found["p_method"] == COMBINED:
            compared += 1
            assert found["p_value"] == pytest.approx(as_good)
    assert compared


def test_one_cluster_dependent_controls_and_cut_runs_keep_the_draws(runs):
    runs = runs.assign(estimate=runs["truth"])
    one = pd.concat([runs.iloc[:1]] * 4, ignore_index=True).assign(run=range(4))
    found = ce.summary(ce.cube(one, ["shd"], n_draws=19, **HOW)).iloc[0]
    assert found["p_method"] == "relabelling by truth" and found["p_value"] == 1 / 20 and found["p_at_floor"]
    by_stratum = ce.summary(ce.cube(runs, ["shd"], n_draws=19, **HOW | {"null": "stratum"})).iloc[0]
    assert by_stratum["p_method"] == "simulated"
    cube = ce.cube(runs, ["shd"], n_draws=19, **HOW)
    assert ce.summary(cube.isel(replicate=slice(4)))["p_method"].tolist() == ["simulated"]
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


def test_p_values_that_a_draw_reached_are_as_they_were():
    rng = np.random.default_rng(8)
    graphs = [random_dag(rng, 6, 7) for _ in range(80)]
    runs = pd.DataFrame({"s": np.repeat(np.arange(20), 2), "truth": graphs[::2], "estimate": graphs[1::2]})
    found, drawn = (
        ce.test_controls(ce.cube(runs, ["shd"], n_draws=9, **HOW | settings)) for settings in ({}, {"tails": None})
    )
    reached = ~drawn["p_at_floor"].to_numpy(bool)
    assert reached.sum() > 10 and found["p_value"][reached].tolist() == drawn["p_value"][reached].tolist()
    assert (found["p_value"] <= drawn["p_value"]).all()
