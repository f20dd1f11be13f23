"""Infinite and undefined values stay visible in summaries, and tests say how they treat them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, metastatic, sample
from causaleval_pd.statistics.skill import skill_interval, skill_notes

JOINT = {"estimator": "joint"}
TRUTH = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})


def estimate(first, second=(0.2, 0.8)):
    return ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [first, second]})


#: networks whose divergence is infinite, undefined or small
INFINITE, UNDEFINED, GOOD, WORSE = (estimate(x) for x in ((1, 0), (np.nan, np.nan), (0.85, 0.15), (0.6, 0.4)))


@pytest.mark.slow
def test_networks_that_exclude_what_is_true_have_infinite_means():
    truth = metastatic()
    cases = {r: sample(truth, 12, rng=r) for r in range(6)}
    runs = pd.DataFrame({"truth": [truth] * 6, "data": list(cases), "arm": "x"})
    runs["estimate"] = [from_data(truth.graph, c, "uniform rows", states=truth) for c in cases.values()]
    context = {"data": ("data", cases), "estimator": "uniform rows"}
    cube = runs.ceval.cube(["ckl1"], by=["arm"], n_draws=20, rng=1, context=context, cluster=None)
    row = cube.ceval.summary(columns="full").iloc[0]
    found = runs.ceval.evaluate(["ckl1"])["ckl1"]
    assert row["infinite_share"] == np.isinf(found).mean() > 0
    assert row["undefined_share"] == 0 and row["mean"] == np.inf
    assert not row["skill"] > -np.inf
    assert "infinite" in row["note"] and row["control_mean"] == np.inf
    limits = cube.ceval.summary(interval="mean_ci", columns="full").iloc[0]
    assert np.isnan(limits["low"]) and "mean without interval: infinite values" in limits["note"]


def test_undefined_runs_are_noted():
    runs = pd.DataFrame({"truth": [TRUTH] * 3, "estimate": [TRUTH, UNDEFINED, TRUTH], "arm": "x"})
    cube = runs.ceval.cube(["kl"], by=["arm"], n_draws=20, rng=1, context=JOINT)
    row = cube.ceval.summary(columns="full").iloc[0]
    assert row["mean"] == 0 and row["n_undefined"] == 1 and row["undefined_share"] == pytest.approx(1 / 3)
    assert row["infinite_share"] == 0 and row["note"].startswith("1 of 3 values undefined, left out")
    # the p-value rests on the two others too
    assert row["n_scored"] == 2


def test_an_infinite_run_has_skill_minus_infinity():
    runs = pd.DataFrame({"truth": [TRUTH] * 4, "estimate": [GOOD, INFINITE, WORSE, GOOD], "arm": "x"})
    cube = runs.ceval.cube(["ckl3"], by=["arm"], n_draws=20, rng=1, context=JOINT, cluster=None)
    row = cube.ceval.summary(columns="full").iloc[0]
    assert row["mean"] == np.inf and row["infinite_share"] == 0.25 and np.isfinite(row["control_mean"])
    assert row["skill"] == -np.inf and np.isnan(row["skill_low"]) and "no interval: infinite losses" in row["note"]
    assert np.isnan(row["p_value"]) and "infinite values; statistic='rank'" in row["note"]
    assert 0 < cube.ceval.summary(statistic="rank", columns="full")["p_value"].item() <= 1
    lazy = pd.DataFrame({name: runs[name] for name in runs})
    assert lazy.ceval.with_controls(["ckl3"], rng=1, context=JOINT)["ckl3_skill"].tolist()[1] == -np.inf


def test_skills_of_infinite_losses():
    loss, control = [1.0, np.inf, 1.0, 2.0, 1.0, 1.0], [3.0] * 6
    found = skill_interval(loss, control)
    assert found.effect == -np.inf and np.isnan(found.low) and np.isnan(found.high)
    assert skill_notes(loss, control).item() == "no interval: infinite losses"
    assert np.isnan(skill_interval(control, loss).effect)
    assert skill_notes(control, loss).item() == "no skill: the controls have infinite losses"


@pytest.mark.slow
def test_ranks_put_infinite_values_last_and_leave_out_undefined_ones():
    low, high = [GOOD, GOOD, TRUTH, WORSE, TRUTH], [INFINITE, WORSE, INFINITE, UNDEFINED, INFINITE]
    runs = pd.DataFrame({"truth": [TRUTH] * 10, "estimate": low + high, "arm": ["a"] * 5 + ["b"] * 5})
    cube = runs.assign(run=[0, 1, 2, 3, 4] * 2).ceval.cube(
        ["kl"], by=["arm"], n_draws=None, replicate="run", cluster=None
    )
    summary = cube.ceval.summary(columns="full").set_index("arm")
    assert summary.loc["b", "mean"] == np.inf and 0 < summary.loc["a", "mean"] < 1
    assert summary.loc["b", "infinite_share"] == 0.75 and summary.loc["b", "undefined_share"] == 0.2
    # four pairs can have a p of .125
    found = cube.ceval.compare("arm", test="wilcoxon", level=0.8, columns="full").iloc[0]
    assert found["n_pairs"] == 4 and found["n_undefined"] == 1 and found["p_value"] == 0.125
    assert "infinite values" in found["note"]
    other = cube.ceval.compare("arm", columns="full").iloc[0]
    assert other["n_undefined"] == 1 and "infinite values" in other["note"]
