"""Differences of means of independent samples against scipy."""

from __future__ import annotations

import numpy as np
from scipy import stats as scipy_stats

from causaleval_pd.statistics.effects import welch_difference


def test_the_interval_is_that_of_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 2, (4, 9)), rng.normal(0, 1, (4, 6))
    found = welch_difference(a, b, 0.9)
    expected = scipy_stats.ttest_ind(a, b, axis=1, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(found.effect, a.mean(axis=1) - b.mean(axis=1))
    np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high])


def test_samples_that_do_not_vary_have_no_limits():
    found = welch_difference([2.0, 2.0], [1.0, 1.0])
    assert float(found.effect) == 1 and np.isnan([found.low, found.high]).all()
