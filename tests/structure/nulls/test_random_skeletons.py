"""Null models of random skeletons: what p-values under independent adjacency condition on."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

NODES = [f"X{i}" for i in range(8)]
PAIRS = list(itertools.combinations(range(8), 2))
METRICS = ["adjacency_f1", "shd", "orientation_precision"]
GIVEN = ", given the number of edges"


def graph(rng, n_edges):
    """Write a random DAG: uniform skeleton, uniform order."""
    order = rng.permutation(8)
    chosen = rng.choice(len(PAIRS), n_edges, replace=False)
    return "; ".join([*(f"X{order[PAIRS[k][0]]} -> X{order[PAIRS[k][1]]}" for k in chosen), *NODES])


def guesses(seed, n, density):
    """Truths of 10 edges and estimates whose pairs are adjacent independently."""
    rng = np.random.default_rng(seed)
    truths = [graph(rng, 10) for _ in range(n)]
    estimates = [graph(rng, rng.binomial(len(PAIRS), density)) for _ in range(n)]
    return pd.DataFrame({"truth": ce.graph_column(truths), "estimate": ce.graph_column(estimates)})


@pytest.mark.parametrize("how", [{}, {"method": "simulate"}])
def test_p_is_that_of_the_number_of_edges(how):
    runs = guesses(0, 30, 0.3)
    by_edges = ce.with_controls(runs, METRICS, null="edges", n_draws=199, rng=1, columns="full", **how)
    found = ce.with_controls(runs, METRICS, null="erdos_renyi", n_draws=199, rng=1, columns="full", **how)
    for name in METRICS:
        np.testing.assert_array_equal(found[f"{name}_p"], by_edges[f"{name}_p"])
        np.testing.assert_array_equal(found[f"{name}_p_se"], by_edges[f"{name}_p_se"])
        words = by_edges[f"{name}_p_method"].astype(str) + GIVEN
        assert found[f"{name}_p_method"].astype(str).tolist() == words.tolist()
        assert set(found[f"{name}_mean_method"]) == {"simulated"}
    # means and skill remain those of independent adjacency, whose numbers of edges vary
    width = (found["shd_control_high"] - found["shd_control_low"]).mean()
    assert width > (by_edges["shd_control_high"] - by_edges["shd_control_low"]).mean()


def test_empty_and_complete_skeletons_have_no_p():
    rng = np.random.default_rng(2)
    estimates = [graph(rng, m) for m in (0, 28, 1, 27)]
    runs = pd.DataFrame({"truth": [graph(rng, 10)] * 4, "estimate": estimates, "s": range(4)})
    for how in ({}, {"method": "simulate"}):
        found = ce.with_controls(runs, METRICS[:2], null="erdos_renyi", n_draws=50, rng=1, columns="full", **how)
        for name in METRICS[:2]:
            assert found[f"{name}_p"].isna().tolist() == [True, True, False, False]
            assert found[f"{name}_p_method"].isna().tolist() == [True, True, False, False]
            assert found[f"{name}_control_mean"].notna().all()
    cube = runs.ceval.cube(METRICS[:2], by=["s"], null="erdos_renyi", n_draws=50, rng=1)
    assert cube["shd_p"].isnull().to_numpy().ravel().tolist() == [True, True, False, False]
    assert cube["shd_p"].attrs["method"] == f"simulated{GIVEN}"


def test_published_numbers():
    given = {"n_edges": 9, "kind": "dag", "metrics": ["shd", "adjacency_f1"], "n_draws": 300, "rng": 5}
    truth = graph(np.random.default_rng(3), 10)
    observed = {"shd": 12.0, "adjacency_f1": 0.6}
    found = ce.control_distribution(truth, null="erdos_renyi", observed=observed, **given)
    by_edges = ce.control_distribution(truth, null="edges", observed=observed, **given)
    np.testing.assert_array_equal(found["p"], by_edges["p"])
    assert found["p_method"].tolist() == [f"simulated{GIVEN}", f"exact{GIVEN}"]


@pytest.mark.slow
@pytest.mark.parametrize("density", [0.15, 0.4])
def test_many_runs_keep_the_level(density):
    """Controls at the observed density rejected .32 and .20 of such strata at .05."""
    runs = guesses(int(100 * density), 60 * 400, density).assign(s=np.repeat(np.arange(60), 400))
    rows = ce.with_controls(runs.head(2000), ["adjacency_f1"], null="erdos_renyi", n_draws=99, rng=1)
    cube = runs.ceval.cube(["adjacency_f1"], by=["s"], null="erdos_renyi", n_draws=99, rng=1)
    for p in (rows["adjacency_f1_p"], cube.ceval.summary(columns="full")["p_value"]):
        for alpha in (0.05, 0.01):
            assert (p <= alpha).sum() <= stats.binom.ppf(0.999, len(p), alpha)
