"""Pooled skills: the mean by statsmodels, coverage, strata without information; Welch's test against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.oneway import anova_oneway

from causaleval_pd.statistics.pooling import equal_skills, pool_shared_skills, pool_skills
from causaleval_pd.statistics.skill import skill_interval


def test_the_mean_and_the_variance_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    for k in (2, 3, 8):
        variance = rng.uniform(0.001, 0.02, k)
        skill = rng.normal(0.3, 0.2, k)
        found = combine_effects(skill, variance, method_re="iterated")
        mine = pool_skills(skill, variance)
        assert mine.tau2 == pytest.approx(max(found.tau2, 0), abs=1e-8) and mine.n_effects == k
        assert mine.skill == pytest.approx(found.mean_effect_re, abs=1e-6)
        assert np.isnan(mine.low) == (k == 2)


def test_a_known_answer():
    found = pool_skills([1.0, 1.0, 1.0, -0.03], [0.008] * 4)
    assert found[:3] == pytest.approx((0.742, -0.077, 1), abs=1e-3)
    perfect = pool_skills([1.0] * 4, [0.008] * 4)
    assert perfect[:4] == pytest.approx((1, 0.858, 1, 0), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(4, 5), (6, 2), (6, 20), (12, 5)])
@pytest.mark.parametrize(("law", "least"), [("normal", 0.92), ("exponential", 0.86)])
def test_the_mean_skill_is_covered(k, n, law, least):
    rng = np.random.default_rng(k * n)
    for between in (0.0, 0.2):
        covered = 0
        for _ in range(400):
            mean = 0.7 - between * rng.normal(size=(k, 1))
            loss = mean + 0.2 * rng.normal(size=(k, n)) if law == "normal" else mean * rng.exponential(size=(k, n))
            found = pool_skills(1 - loss.mean(axis=1), np.full(k, 0.04 / n))
            covered += found.low <= 0.3 <= found.high
        assert covered / 400 > least


@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("between", [0.05, 0.1, 0.3])
def test_the_mean_skill_is_covered_where_a_stratum_outweighs_the_others(k, between):
    rng = np.random.default_rng(k)
    variance = np.array([1e-4, *[0.02] * (k - 1)])
    covered = 0
    for _ in range(400):
        found = pool_skills(0.3 + rng.normal(size=k) * np.sqrt(variance + between**2), variance)
        covered += found.low <= 0.3 <= found.high
    assert covered / 400 > 0.91


def test_strata_that_a_few_outweigh_have_fewer_degrees_of_freedom():
    def reach(variance):
        return 0.3 - pool_skills([0.3] * len(variance), variance).low

    # weights 4, 2, 1, 1 are 64 / 22 effective strata, more than half of four
    assert reach([0.01, 0.02, 0.04, 0.04]) == pytest.approx(stats.t.ppf(0.975, 3) / np.sqrt(200))
    # weights 10, 2, 1, 1, 1, 1 are 256 / 108
    assert reach([0.1, 0.5, 1, 1, 1, 1]) == pytest.approx(stats.t.ppf(0.975, 256 / 108 - 1) / 4)
    # one weight dominates: one degree of freedom
    assert reach([1e-6, 1.0, 1.0]) == pytest.approx(stats.t.ppf(0.975, 1) * 1e-3, rel=1e-4)


def test_strata_without_information_are_left_out():
    skill = [0.4, 0.5, np.nan, 0.9]
    assert pool_skills(skill, [0.01, 0.01, 0.01, 0.0]).n_effects == 2
    assert pool_skills(skill[:1], [0.01])[:1] == (0.4,)
    nothing = pool_skills([0.4], [0.0])
    assert nothing.n_effects == 0 and np.isnan(nothing.skill)


def test_equality_of_skills_is_welchs_test_of_linearised_skills():
    rng = np.random.default_rng(2)
    control = rng.uniform(4, 9, (3, 25))
    loss = control * rng.gamma(3, 0.2, control.shape) * np.array([[1.0], [0.9], [0.5]])
    ratio = loss.sum(axis=1) / control.sum(axis=1)
    values = [1 - r - (x - r * c) / c.mean() for x, c, r in zip(loss, control, ratio, strict=True)]
    expected = anova_oneway(values, use_var="unequal")
    assert equal_skills(loss, control) == pytest.approx((expected.statistic, expected.pvalue))


def test_equality_is_not_tested_where_the_test_fails():
    rng = np.random.default_rng(3)
    control = rng.uniform(4, 9, (3, 25))
    loss = control * rng.gamma(3, 0.2, control.shape)
    assert not np.isnan(equal_skills(loss, control)[1])
    perfect = loss.copy()
    perfect[1] = 0
    few = np.where(np.arange(25) < 19, loss, np.nan)
    for wrong in (perfect, few, loss[:1]):
        assert np.isnan(equal_skills(wrong, control[: len(wrong)])).all()
    p = [equal_skills(c * rng.gamma(2, 0.3, c.shape), c)[1] for c in rng.uniform(4, 9, (300, 5, 40))]
    assert (np.array(p) <= 0.05).sum() <= stats.binom.ppf(0.9999, 300, 0.08)


def test_strata_that_share_truths_are_pooled_by_leaving_out_truths():
    rng = np.random.default_rng(4)
    control = rng.uniform(4, 9, (3, 12))
    loss = control * rng.gamma(3, 0.2, (3, 12))
    loss[2, 7:] = np.nan
    variance = [0.02, 0.01, 0.03]

    def pooled(kept):
        gone = np.isnan(loss[:, kept])
        top, bottom = (np.where(gone, 0, x[:, kept]).sum(axis=1) for x in (loss, control))
        return np.average(top / bottom, weights=1 / (np.array(variance) + found.tau2))

    found = pool_shared_skills(loss, control, variance)
    alone = pool_skills(
        [1 - np.nansum(a) / b[~np.isnan(a)].sum() for a, b in zip(loss, control, strict=True)], variance
    )
    assert found.skill == pytest.approx(alone.skill) and found.tau2 == pytest.approx(alone.tau2)
    left = np.log([pooled(np.arange(12) != g) for g in range(12)])
    error = np.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum())
    assert np.log((1 - found.low) / (1 - found.high)) / 2 / error == pytest.approx(stats.t.ppf(0.975, 11), rel=0.1)
    assert np.sqrt((1 - found.low) * (1 - found.high)) == pytest.approx(1 - found.skill)
    few = pool_shared_skills(loss[:, :4], control[:, :4], variance)
    assert np.isnan(few.low) and few.n_effects == 3
    one = pool_shared_skills(loss[:1], control[:1], variance[:1])
    np.testing.assert_allclose(one[:3], skill_interval(loss[0], control[0]))


@pytest.mark.slow
def test_strata_that_repeat_the_same_losses_have_the_interval_of_one():
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(300):
        control = rng.uniform(4, 9, (1, 10))
        loss = np.repeat(control * rng.gamma(2, 0.3, (1, 10)), 4, axis=0)
        found = pool_shared_skills(loss, np.repeat(control, 4, axis=0), [0.02] * 4)
        np.testing.assert_allclose(found[:3], skill_interval(loss[0], control[0]))
        covered.append(found.low <= 0.4 <= found.high)
    assert np.mean(covered) > 0.9


def test_infinite_losses_are_left_out():
    rng = np.random.default_rng(1)
    losses, controls = rng.gamma(2, 1, (4, 8)), rng.uniform(4, 9, (4, 8))
    wanted = pool_shared_skills(losses[2:], controls[2:], [0.01] * 2)
    losses[0, 0], controls[1, 1] = np.inf, np.inf
    assert pool_shared_skills(losses, controls, [0.01] * 4) == wanted and wanted.n_effects == 2
