"""Exact p-values of strata: by enumeration, by products of p-values, and where there is none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.law import Distribution
from causaleval_pd.cubes.tails.exact_strata import RowLaws, without_tails

SIMULATED = "simulated, combinations of draws"


def random_dag(rng, d, n_edges):
    """Return a random DAG as a string."""
    order = rng.permutation(d)
    pairs = np.array(list(itertools.combinations(range(d), 2)))
    chosen = pairs[rng.choice(len(pairs), n_edges, replace=False)]
    return "; ".join([f"N{order[a]} -> N{order[b]}" for a, b in chosen] + [f"N{i}" for i in range(d)])


def relabelled(graph, d):
    """Return a graph with its nodes in all orders."""
    found = []
    for order in itertools.permutations(range(d)):
        words = [word.split(" -> ") for word in graph.split("; ") if "->" in word]
        edges = [" -> ".join(f"N{order[int(node[1:])]}" for node in edge) for edge in words]
        found.append("; ".join(edges + [f"N{i}" for i in range(d)]))
    return found


def by_enumeration(runs, metric, direction):
    """Return P(sum of relabelled scores as good as observed) over all combinations."""
    scores, observed = [], 0.0
    for truth, estimate in zip(runs["truth"], runs["estimate"], strict=True):
        every = relabelled(estimate, 4)
        table = ce.evaluate(pd.DataFrame({"truth": [truth] * len(every), "estimate": every}), [metric])
        values = table[metric].to_numpy()
        scores.append(values)
        own = ce.evaluate(pd.DataFrame({"truth": [truth], "estimate": [estimate]}), [metric])[metric].iloc[0]
        observed += own
    sums = scores[0]
    for other in scores[1:]:
        sums = (sums[:, None] + other).reshape(-1)
    as_good = sums <= observed + 1e-9 if direction == "minimize" else sums >= observed - 1e-9
    return as_good.mean()


def make_runs(seed, n=3, d=4, edges=(3, 4, 3, 2, 5), noise=1):
    rng = np.random.default_rng(seed)
    truths = [random_dag(rng, d, edges[i % 5]) for i in range(n)]
    estimates = [t if i >= noise else random_dag(rng, d, edges[i % 5]) for i, t in enumerate(truths)]
    return pd.DataFrame({"s": "x", "truth": truths, "estimate": estimates})


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("metric", "direction"), [("shd", "minimize"), ("adjacency_f1", "maximize")])
def test_listed_controls_are_convolved(seed, metric, direction):
    runs = make_runs(seed)
    exact = by_enumeration(runs, metric, direction)
    cube = ce.cube(runs, [metric], by=["s"], null="permutation", n_draws=9, rng=1, tails="exact")
    found = ce.test_controls(cube).iloc[0]
    assert found["p_method"] == "exact convolution" and not found["p_at_floor"]
    assert found["p_low"] * (1 - 1e-9) <= exact <= found["p_value"] * (1 + 1e-9)
    assert found["p_value"] <= exact * 1.05
    if metric == "shd":
        assert found["p_value"] == pytest.approx(exact, rel=1e-10)


@pytest.mark.slow
def test_five_perfect_runs_pass_far_below_the_floor_of_the_draws():
    runs = make_runs(3, n=5, d=9, edges=(9,) * 5, noise=0)
    cube = ce.cube(runs, ["adjacency_tp", "adjacency_f1", "shd"], by=["s"], n_draws=19, rng=1, tails="exact")
    table = ce.summary(cube).set_index("metric")
    single = 1 / math.comb(36, 9)
    assert table.loc["adjacency_tp", "p_value"] == pytest.approx(single**5, rel=1e-10)
    # margins differ in no row, so that F1 has a lattice as well
    assert table.loc["adjacency_f1", "p_value"] == pytest.approx(single**5, rel=1e-10)
    assert table["p_method"].tolist() == ["exact convolution"] * 2 + ["simulated, combinations of draws"]
    assert table["p_at_floor"].tolist() == [False, False, True] and table["p_se"].iloc[0] == 0
    assert table.loc["shd", "p_value"] == pytest.approx(1e-5)


@pytest.mark.slow
def test_the_order_of_rows_and_other_rows_change_no_bit():
    runs = make_runs(4, n=6, d=8, edges=(6, 9, 8, 7, 10), noise=3)
    settings = {"by": ["s"], "n_draws": 9, "rng": 1, "key": ["truth"], "tails": "exact"}
    p = ce.summary(ce.cube(runs, ["adjacency_f1"], **settings))["p_value"].iloc[0]
    turned = ce.summary(ce.cube(runs[::-1], ["adjacency_f1"], **settings))["p_value"].iloc[0]
    more = pd.concat([runs.assign(s="a", estimate=runs["truth"].to_numpy()[::-1]), runs])
    more["place"] = range(12)
    several = ce.cube(more, ["adjacency_f1"], **settings | {"key": ["place"]})
    assert p == turned == ce.summary(several)["p_value"].iloc[1] > 0


@pytest.mark.slow
def test_strata_that_repeat_a_truth_or_lack_a_law_are_simulated():
    runs = make_runs(5, n=4, d=8, edges=(8,) * 5)
    again = pd.concat([runs, runs.iloc[:1]], ignore_index=True)
    cube = ce.cube(again, ["adjacency_tp"], by=["s"], n_draws=9, rng=1, tails="exact")
    assert ce.summary(cube)["p_method"].iloc[0].startswith("relabelling by truth")
    # without an edge precision is 0/0
    undefined = runs.assign(estimate=["; ".join(f"N{i}" for i in range(8)), *runs["estimate"][1:]])
    cube = ce.cube(undefined, ["adjacency_precision", "adjacency_tp"], by=["s"], n_draws=9, rng=1, tails="exact")
    assert ce.summary(cube)["p_method"].tolist() == [SIMULATED, "exact convolution"]
    assert not ce.summary(cube, statistic="rank")["p_method"].str.contains("exact").any()
    for settings, words in (({"tails": None}, "simulated"), ({"method": "simulate"}, SIMULATED)):
        drawn = ce.summary(ce.cube(runs, ["adjacency_tp"], by=["s"], n_draws=9, rng=1, **{"tails": "exact"} | settings))
        assert drawn["p_method"].tolist() == [words]
    shared = ce.summary(ce.cube(runs, ["adjacency_tp"], by=["s"], n_draws=9, rng=1, share_draws=True))
    assert shared["p_value"].isna().all() and shared["p_method"].isna().all()


@pytest.mark.slow
def test_failed_runs_are_left_out_unless_they_count_as_the_worst():
    runs = make_runs(6, n=4, d=8, edges=(8,) * 5)
    runs.loc[3, "estimate"] = None
    cube = ce.cube(runs, ["adjacency_tp"], by=["s"], n_draws=9, rng=1, tails="exact")
    without = ce.cube(runs.iloc[:3], ["adjacency_tp"], by=["s"], n_draws=9, rng=1, tails="exact")
    first, second = (ce.test_controls(x).iloc[0] for x in (cube, without))
    assert first["p_method"] == "exact convolution" and first["p_value"] == second["p_value"]
    assert ce.test_controls(cube, missing="worst")["p_method"].tolist() == ["simulated"]


def test_laws_are_kept_once():
    values = np.array([[0.0, 1.0], [np.nan, 2.0]])
    law = Distribution.of(np.array([0, 1, 0]), values, np.full((2, 2), 0.5))
    laws = RowLaws(4)
    laws.add(np.array([3, 0, 1]), law)
    assert laws.number.tolist() == [1, 0, -1, 0]
    assert [law.values.tolist() for law in laws.laws] == [[0.0, 1.0], [2.0]]
    assert [law.undefined for law in laws.laws] == [0.0, 0.5]
    nothing = without_tails(2)
    assert set(nothing) == {f"{x}_p{y}" for x in ("mean", "rank") for y in ("", "_low", "_high", "_method")}
    assert nothing["mean_p_method"].tolist() == [0, 0] and np.isnan(nothing["mean_p"]).all()


@pytest.mark.slow
def test_probabilities_below_all_numbers_are_not_zero():
    runs = make_runs(3, n=18, d=14, edges=(20,) * 5, noise=0)
    cube = ce.cube(runs, ["adjacency_tp"], by=["s"], n_draws=9, rng=1, tails="exact")
    found = ce.test_controls(cube).iloc[0]
    assert 0 < found["p_value"] < 1e-300 and found["p_low"] <= found["p_value"]
    pooled = ce.meta_analysis(cube, "s", combine="stouffer")
    assert np.isfinite(pooled["statistic"].iloc[0]) and pooled["p_value"].notna().all()
