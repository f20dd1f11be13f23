"""Combined strata against scipy and statsmodels, coverage of the mean skill, and what must not be combined."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.meta_analysis import combine_effects

import causaleval_pd as ce
from causaleval_pd.inference.meta_analysis import pool_skill


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("n == 100")
    # the estimates of other truths: no better than guessing
    guess = runs.assign(algorithm="shuffled", estimate=runs["estimate"].sample(frac=1, random_state=3).array)
    both = pd.concat([runs[runs["algorithm"] == "pc"], guess[runs["algorithm"] == "ges"]], ignore_index=True)
    return ce.cube(both, ["shd", "adjacency_f1"], by=["algorithm", "density"], n_draws=199, rng=7)


@pytest.mark.parametrize("combine", ["fisher", "stouffer"])
def test_p_values_are_combined_by_scipy(cube, combine):
    table = ce.meta_analysis(cube, "density", combine=combine)
    tests = ce.test_controls(cube)
    for row in table.itertuples():
        part = tests[(tests["algorithm"] == row.algorithm) & (tests["metric"] == row.metric)]
        weights = {"weights": np.sqrt(part["n_pairs"])} if combine == "stouffer" else {}
        expected = scipy_stats.combine_pvalues(part["p_value"], combine, **weights)
        assert (row.statistic, row.p_value) == pytest.approx(tuple(expected))
        assert row.n_strata == 3 and row.method == combine and row.null == "edges"
    found = table.set_index(["algorithm", "metric"])["p_value"]
    assert found["pc"].max() < 1e-3 < 0.01 < found["shuffled"].min()


def test_skill_is_pooled_by_statsmodels(cube):
    table = ce.meta_analysis(cube, "density", level=0.9)
    summary = ce.summary(cube, level=0.9)
    for row in table.itertuples():
        part = summary[(summary["algorithm"] == row.algorithm) & (summary["metric"] == row.metric)]
        error = (part["skill_high"] - part["skill_low"]) / 2 / scipy_stats.t.ppf(0.95, part["n_runs"] - 1)
        found = combine_effects(part["skill"].to_numpy(), error.to_numpy() ** 2, method_re="iterated", use_t=True)
        assert row.skill == pytest.approx(found.mean_effect_re)
        assert (row.ci_low, row.ci_high) == pytest.approx(tuple(found.conf_int(0.1)[3]))
        assert row.tau2 == pytest.approx(max(found.tau2, 0)) and row.q == pytest.approx(found.q)
        assert row.i2 == pytest.approx(max(found.i2, 0)) and row.n_effects == 3
        assert row.q_p_value == pytest.approx(scipy_stats.chi2.sf(found.q, 2))


def test_intervals_of_the_mean_skill_cover_it():
    rng = np.random.default_rng(2)
    n = np.full(6, 30)
    covered = 0
    for _ in range(400):
        error = rng.uniform(0.03, 0.1, 6)
        found = pool_skill(rng.normal(0.4, 0.1, 6) + rng.normal(size=6) * error, error, n, 0.9)
        covered += found.ci_low <= 0.4 <= found.ci_high
    assert abs(covered / 400 - 0.9) < 4 * np.sqrt(0.09 / 400)


def test_strata_without_a_standard_error_are_left_out_and_counted():
    skill, error, n = np.array([1.0, 0.4, 0.5, np.nan]), np.array([0.0, 0.1, 0.1, np.nan]), np.array([9, 9, 9, 0])
    assert pool_skill(skill, error, n, 0.95).n_effects == 2
    alone = pool_skill(skill[:2], error[:2], n[:2], 0.95)
    half = scipy_stats.t.ppf(0.975, 8) * 0.1
    assert alone[:3] == pytest.approx((0.4, 0.4 - half, 0.4 + half)) and np.isnan(alone.tau2)
    none = pool_skill(skill[:1], error[:1], n[:1], 0.95)
    assert none.n_effects == 0 and np.isnan(none.skill)


def test_several_null_models_have_rows_of_their_own():
    runs = ce.datasets.runs().query("n == 100 and algorithm == 'pc'")
    found = ce.cube(runs, ["shd"], by=["density"], null=["edges", "permutation"], n_draws=99, rng=1)
    table = ce.meta_analysis(found, "density")
    assert table["null"].tolist() == ["edges", "permutation"]
    one = ce.cube(runs, ["shd"], by=["density"], null="permutation", n_draws=99, rng=1)
    assert table["p_value"].iloc[1] == ce.meta_analysis(one, "density")["p_value"].iloc[0]


def test_strata_that_share_truths_are_not_combined():
    runs = ce.datasets.runs().query("density == 0.2 and algorithm == 'pc'")
    found = ce.cube(runs, ["shd"], by=["n"], n_draws=20, rng=1)
    with pytest.raises(
        ValueError, match=r"strata along 'n' have runs on the same truth \(20 truths\), so they are not"
    ):
        ce.meta_analysis(found, "n")


def test_settings_are_checked(cube):
    for settings, message in (
        ({"over": "densities"}, r"unknown dimension \(over\) 'densities'; did you mean 'density'"),
        ({"over": []}, "over= names no dimension"),
        ({"over": "density", "combine": "tippett"}, r"unknown method \(combine\) 'tippett'"),
        ({"over": "density", "metrics": "shdd"}, "unknown metric of this cube 'shdd'"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.meta_analysis(cube, **settings)
    for over in (pd.NA, np.int64(-7), np.array([1.5, 2.0]), pd.DataFrame()):
        with pytest.raises(TypeError, match="over must be the name of a stratum or a list of them, found"):
            ce.meta_analysis(cube, over)
    bare = ce.cube(ce.datasets.runs().query("n == 100"), ["shd"], by=["density", "algorithm"], n_draws=None)
    with pytest.raises(ValueError, match="no controls to measure skill against"):
        ce.meta_analysis(bare, "density")


def test_the_accessor_delegates(cube):
    pd.testing.assert_frame_equal(
        cube.ceval.meta_analysis("density", adjust="holm"), ce.meta_analysis(cube, "density", adjust="holm")
    )
