"""Comparisons of skills on arrays: sums by cluster, failed runs, and why there is no result."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.schema import FAILED, SCORED
from causaleval_pd.inference.pairwise import Comparison, Levels, Losses, compare_skills
from causaleval_pd.inference.statistical_test import TESTS

FIRST, SECOND = np.array([0]), np.array([1])


def settings(name="jackknife", **given):
    known = {"claim": "two-sided", "level": 0.95, "adjust": "holm"} | given
    return Comparison(TESTS.find(name), **known)


@pytest.fixture
def study():
    """Two strata of two levels on seven truths with two runs each, one of them failed."""
    rng = np.random.default_rng(5)
    expected = rng.uniform(4, 9, (2, 2, 14))
    own = expected * rng.gamma(3, 0.2, expected.shape)
    status = np.full(own.shape, SCORED, np.int8)
    status[0, 1, 3], own[0, 1, 3] = FAILED, np.nan
    cluster = np.broadcast_to(np.repeat(np.arange(1, 8), 2), own.shape)
    return Losses(own, expected, np.zeros(own.shape)), Levels(own, status, "maximize", 0.1, cluster)


@pytest.mark.parametrize(("differences", "share"), [([4, -2, -2, 0, 0, 0], 16 / 24), ([3, -3, 1, -1, 0, 0], 9 / 20)])
def test_a_result_that_one_cluster_carries_is_noted(differences, share):
    own = 5 + np.array([[differences, [0] * 6]], float)
    expected, status = np.full(own.shape, 10.0), np.full(own.shape, SCORED, np.int8)
    losses, levels = Losses(own, expected, np.zeros(own.shape)), Levels(own, status, "maximize", 0.1, None)
    [note] = compare_skills(losses, levels, FIRST, SECOND, settings())["note"]
    assert (note == "carried by one cluster: it has more than half of the variance") == (share > 0.5)


def test_margins_are_differences_of_skill(study):
    losses, levels = study
    equal = compare_skills(losses, levels._replace(margin=0.9), FIRST, SECOND, settings(claim="equivalent"))
    assert (equal["p_value"] < 0.05).all()
    narrow = compare_skills(losses, levels._replace(margin=1e-9), FIRST, SECOND, settings(claim="equivalent"))
    sides = [compare_skills(losses, levels, FIRST, SECOND, settings(claim=x))["p_value"] for x in ("greater", "less")]
    np.testing.assert_allclose(narrow["p_value"], np.maximum(*sides), rtol=1e-6)


def test_skills_that_do_not_differ_in_any_run_have_no_interval():
    truths = ["A -> B; B -> C; D", "A -> B; C -> D", "B -> D; C; A", "A -> C; B -> C; D", "D -> A; B; C"]
    runs = pd.DataFrame({"algorithm": ["x"] * 5 + ["y"] * 5, "truth": truths * 2, "estimate": truths * 2})
    found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=9, rng=7)
    [row] = found.ceval.compare("algorithm", on="skill", columns="full").to_dict("records")
    assert row["effect"] == 0 and row["p_value"] == 1 and row["note"].startswith("no variation")
    assert np.isnan(row["ci_low"]) and np.isnan(row["ci_high"]) and np.isnan(row["ci_level"])
    margins = found.ceval.compare("algorithm", on="skill", alternative="equivalent", margin=0.1, columns="full")
    assert margins["p_value"].isna().all() and margins["note"].str.startswith("no variation").all()


def test_infinite_losses_are_named(study):
    losses, levels = study
    losses.own[0, 0, 2] = np.inf
    found = compare_skills(losses, levels, FIRST, SECOND, settings())
    assert np.isnan(found["effect"]).tolist() == np.isnan(found["p_value"]).tolist() == [True, False]
    assert found["note"].tolist() == ["no result: infinite losses", None]
