"""P-values of strata by exact moments: against convolutions and many draws, and where there are none."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

SETTINGS = {"by": ["s"], "null": "permutation", "method": "moments", "n_draws": 9, "rng": 1, "tails": "exact"}


def random_dag(rng, d, n_edges):
    """Return a random DAG as a string."""
    order = rng.permutation(d)
    pairs = np.array(list(itertools.combinations(range(d), 2)))
    chosen = pairs[rng.choice(len(pairs), n_edges, replace=False)]
    return "; ".join([f"N{order[a]} -> N{order[b]}" for a, b in chosen] + [f"N{i}" for i in range(d)])


def make_runs(d, n=4, seed=1, share=0.5):
    """Return runs whose estimates agree with their truths in a share of the runs."""
    rng = np.random.default_rng(seed)
    truths = [random_dag(rng, d, d + i % 3) for i in range(n)]
    estimates = [t if i < share * n else random_dag(rng, d, d) for i, t in enumerate(truths)]
    return pd.DataFrame({"s": "x", "truth": truths, "estimate": estimates})


def by_moments(cube):
    return ce.test_controls(cube, method="moments").iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "share"), [("shd", 0.25), ("shd", 0.5), ("adjacency_tp", 0.5)])
def test_listed_laws_have_the_p_value_of_their_moments(metric, share):
    """Up to seven nodes the convolution is exact; the law of the moments is a little larger."""
    runs = make_runs(6, share=share)
    cube = ce.cube(runs, [metric], **SETTINGS)
    exact = ce.summary(cube).iloc[0]
    found = by_moments(cube)
    assert exact["p_method"] == "exact convolution" and found["p_method"] == "exact moments"
    assert 0.9 * exact["p_value"] < found["p_value"] < 2.5 * exact["p_value"] and not found["p_at_floor"]
    drawn = ce.cube(runs, [metric], **SETTINGS | {"method": "simulate", "n_draws": 20_000})
    assert np.log(by_moments(drawn)["p_value"] / found["p_value"]) == pytest.approx(0, abs=0.5)
    assert by_moments(drawn)["p_method"] == "moments"


@pytest.mark.slow
def test_unlisted_relabellings_need_no_draws():
    runs = make_runs(9, n=3, share=0)
    truths = runs["truth"].tolist()
    # half of the edges are right
    runs["estimate"] = ["; ".join(t.split("; ")[:5] + [f"N{i}" for i in range(9)]) for t in truths]
    few, many = (ce.cube(runs, ["shd"], **SETTINGS | x) for x in ({}, {"method": "simulate", "n_draws": 12_000}))
    found, drawn = by_moments(few), by_moments(many)
    assert found["p_method"] == "exact moments" and found["p_value"] < 1e-3
    assert np.log(found["p_value"] / drawn["p_value"]) == pytest.approx(0, abs=0.7)
    turned = ce.cube(runs[::-1], ["shd"], **SETTINGS | {"key": ["truth"]})
    assert by_moments(turned)["p_value"] == found["p_value"]


@pytest.mark.slow
def test_strata_without_exact_moments_take_those_of_the_draws():
    runs = make_runs(8, n=4)
    repeated = pd.concat([runs, runs.iloc[:1]], ignore_index=True)
    cases = [
        (ce.cube(repeated, ["shd"], **SETTINGS), {}),
        (ce.cube(runs, ["sid"], **SETTINGS), {}),
        (ce.cube(runs, ["shd"], **SETTINGS | {"tails": None}), {}),
        (ce.cube(runs, ["shd"], **SETTINGS).isel(replicate=slice(3)), {}),
        (ce.cube(runs, ["shd"], **SETTINGS), {"statistic": "rank"}),
        (ce.cube(runs.assign(estimate=[None, *runs["estimate"][1:]]), ["shd"], **SETTINGS), {"missing": "worst"}),
    ]
    for cube, settings in cases:
        with pytest.raises(ValueError, match="at least 10,000"):
            ce.test_controls(cube, method="moments", **settings)
    # the test by draws is as before
    table = ce.test_controls(cases[3][0].isel(replicate=slice(2)))
    assert table["p_method"].tolist() == ["simulated, combinations of draws"]


def test_estimates_of_few_relabellings_have_no_law_of_moments():
    """Two stars: their scores take fewer than five values."""
    star = "; ".join(f"N0 -> N{i}" for i in range(1, 9))
    other = "; ".join(f"N1 -> N{i}" for i in range(9) if i != 1)
    runs = pd.DataFrame({"s": "x", "truth": [star], "estimate": [other]})
    cube = ce.cube(runs, ["shd"], **SETTINGS | {"n_draws": 99})
    assert "shd_mean_p_moments" not in cube and ce.summary(cube)["p_method"].tolist() == ["exact convolution"]


@pytest.mark.slow
def test_perfect_runs_are_no_less_probable_than_one_relabelling_each():
    """The smooth law ends far below the probability of the best possible value."""
    runs = make_runs(12, n=2, share=1)
    cube = ce.cube(runs, ["shd"], **SETTINGS | {"n_draws": 99})
    least = 1 / math.factorial(12)
    assert by_moments(cube)["p_value"] >= least**2 * (1 - 1e-12)
    rows = ce.with_controls(runs, ["shd"], null="permutation", method="moments", columns="full")
    assert (rows["shd_p"] >= least * (1 - 1e-12)).all()
