"""Differences of means and standardised ones: known answers and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.arrays import mean_difference
from causaleval_pd.statistics.effects import cohen_dz, hedges_gz, welch_difference

ABSENT = np.full((2, 3), np.nan)


def test_cohen_dz_interval_inverts_the_noncentral_t():
    values = np.array([1.0, 2.0, 4.0, -1.0, 3.0])
    found = cohen_dz(values)
    t = values.mean() / values.std(ddof=1) * np.sqrt(5)
    assert found.effect == pytest.approx(values.mean() / values.std(ddof=1))
    tails = scipy_stats.nct.cdf(t, 4, np.sqrt(5) * np.array([found.low, found.high]))
    np.testing.assert_allclose(tails, [0.975, 0.025], atol=1e-6)
    mirrored = cohen_dz(-values)
    assert (mirrored.effect, mirrored.low, mirrored.high) == (-found.effect, -found.high, -found.low)
    still = cohen_dz([[2.0, 2.0, 2.0], [1.0, np.nan, np.nan], [np.nan] * 3])
    assert np.isnan(still.effect).all() and np.isnan(still.low).all()


def test_welch_interval_equals_scipy():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(4, 6)), rng.normal(1, 3, (4, 9))
    a[0, 2:4] = np.nan
    b[2, :5] = np.nan
    found = welch_difference(a, b, 0.9)
    for i in range(4):
        x, y = a[i][~np.isnan(a[i])], b[i][~np.isnan(b[i])]
        expected = scipy_stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.9)
        np.testing.assert_allclose([found.low[i], found.high[i]], expected)
        assert found.effect[i] == pytest.approx(x.mean() - y.mean())


@pytest.mark.parametrize("function", [mean_difference, cohen_dz, hedges_gz])
def test_effects_of_nothing_are_undefined(function):
    for values in (ABSENT, np.empty((2, 0))):
        found = function(values)
        assert all(x.shape == (2,) and np.isnan(x).all() for x in found)


def test_unpaired_effects_of_nothing_are_undefined():
    found = welch_difference(ABSENT, np.ones((2, 4)))
    assert all(np.isnan(x).all() for x in found)


def test_means_of_values_that_do_not_vary_are_not_bounded():
    still = welch_difference([1.0, 1.0], [3.0, 3.0, 3.0])
    assert still.effect == -2 and np.isnan(still.low) and np.isnan(still.high)
    one = welch_difference([1.0, 1.0], [3.0, 3.0, 4.0])
    assert one.low < one.effect < one.high


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4, 10])
def test_hedges_factor_removes_the_bias_of_dz(n):
    values = np.random.default_rng(n).normal(0.8, 1.0, (40_000, n))
    dz, gz = cohen_dz(values[:200]), hedges_gz(values)
    np.testing.assert_array_equal(dz.low, gz.low[:200])
    spread = gz.effect.std() / np.sqrt(len(values))
    assert abs(gz.effect.mean() - 0.8) < 4 * spread < cohen_dz(values[:1000]).effect.mean() - 0.8 + 4 * spread
    two = hedges_gz([1.0, 2.0])
    assert np.isnan(two.effect) and np.isnan(two.low)
