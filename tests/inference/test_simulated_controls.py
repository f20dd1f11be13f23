"""Runs that differ by the Monte Carlo error of their controls alone have no interval, and no difference."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture(scope="module", params=[19, 200])
def cube(request):
    """One CPDAG estimated ten times alike by each of two algorithms, whose controls are drawn by run."""
    truth, one, other = (
        ce.graph_column([text]).graph.cpdag().iloc[0]
        for text in (
            "A -> B; B -> C; C -> D; D -> E; E -> F; B -> F; G -> H",
            "A -> C; C -> D; B -> D; E -> F; A -> G; F -> H; C -> H",
            "A -> E; E -> D; C -> B; F -> G; G -> H; D -> H; A -> H",
        )
    )
    runs = pd.concat(
        [pd.DataFrame({"truth": [truth] * 10, "estimate": [x] * 10, "a": a}) for a, x in (("x", one), ("y", other))]
    )
    runs["run"] = np.tile(np.arange(10), 2)
    return runs.ceval.cube(
        ["shd"], by=["a"], n_draws=request.param, rng=5, cluster=None, replicate="run", key=["a", "run"]
    )


def test_controls_are_simulated(cube):
    errors = cube["shd_control_mean_se"]
    assert (errors > 0).all() and cube["shd_control_mean"].std() > 0


@pytest.mark.slow
def test_summary_and_test_have_no_interval(cube):
    found = cube.ceval.summary(columns="full")
    assert found["skill"].notna().all() and found[["skill_low", "skill_high", "ci_low", "ci_high"]].isna().all(
        axis=None
    )
    assert found["note"].str.contains("no variation beyond the controls' Monte Carlo error").all()
    assert found["effect"].notna().all()


@pytest.mark.slow
def test_comparisons_have_no_interval(cube):
    skill = cube.ceval.compare("a", on="skill", columns="full").iloc[0]
    assert np.isnan(skill["ci_low"]) and (np.isnan(skill["p_value"]) or skill["p_value"] == 1)
    assert skill["note"] == "no variation beyond the controls' Monte Carlo error"
    means = (cube["shd"] - cube["shd_control_mean"]).mean("replicate").to_numpy()
    for test in ("t", "wilcoxon"):
        excess = cube.ceval.compare("a", on="excess", test=test, columns="full").iloc[0]
        assert np.isnan([excess["ci_low"], excess["ci_high"]]).all() and skill["note"] in excess["note"]
        assert excess["effect"] == pytest.approx(means[0] - means[1], abs=0.5)


@pytest.mark.slow
def test_a_level_compared_with_itself_is_no_better(cube):
    twice = cube.sel(a=["x", "x"]).assign_coords(a=["x", "z"])
    # controls of their own
    mean = twice["shd_control_mean"].copy()
    mean[dict(a=1)] = mean.isel(a=1).to_numpy()[::-1]
    twice = twice.assign(shd_control_mean=mean, shd_control_loss=mean)
    for on, test in (("skill", "jackknife"), ("excess", "wilcoxon"), ("excess", "t")):
        assert twice.ceval.compare("a", on=on, test=test, columns="full")["p_value"].tolist() == [1.0]


def test_a_model_of_such_runs_is_refused(cube):
    for response in ("skill", "excess"):
        with pytest.raises(ValueError, match="but for the Monte Carlo error of the controls"):
            cube.ceval.model(f"{response} ~ a")
