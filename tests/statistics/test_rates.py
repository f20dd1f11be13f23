"""Limits of rates against statsmodels, and the chance that a size is called miscalibrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from causaleval_pd.statistics.rates import judge_rates, rate_limits


def test_limits_are_those_of_statsmodels():
    for n in (1, 7, 400):
        count = np.arange(n + 1)
        for level in (0.9, 0.98):
            expected = proportion_confint(count, n, alpha=1 - level, method="beta")
            np.testing.assert_allclose(rate_limits(count, n, level), expected, atol=1e-12)
    assert np.isnan(rate_limits([0], [0])).all() and judge_rates(0, 0, 0.05).item() is None


@pytest.mark.parametrize(("size", "chance"), [(0.05, 0.007), (0.075, 0.38), (0.1, 0.93), (0.15, 1.0)])
def test_the_chance_of_a_flag_in_400_tables(size, chance):
    count = np.arange(401)
    flagged = judge_rates(count, 400, 0.05) == "miscalibrated"
    assert stats.binom.pmf(count, 400, size) @ flagged == pytest.approx(chance, abs=0.005)
