"""Limits of rates against statsmodels, and the chance that a size is called miscalibrated."""

from __future__ import annotations

import numpy as np
from statsmodels.stats.proportion import proportion_confint

from causaleval_pd.statistics.rates import rate_limits


def test_limits_are_those_of_statsmodels():
    for n in (1, 7, 400):
        count = np.arange(n + 1)
        for level in (0.9, 0.98):
            expected = proportion_confint(count, n, alpha=1 - level, method="beta")
            np.testing.assert_allclose(rate_limits(count, n, level), expected, atol=1e-12)
    assert np.isnan(rate_limits([0], [0])).all()
