"""Pooled skills: the mean by statsmodels, coverage, strata without information; Welch's test against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.oneway import anova_oneway

from causaleval_pd.statistics.pooling import equal_skills, pool_skills


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
