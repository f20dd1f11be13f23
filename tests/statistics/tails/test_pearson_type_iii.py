"""Pearson's type III law, against scipy's and the normal law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.tails.pearson_type_iii import quantile, upper_tail


@pytest.mark.parametrize("skewness", [-2.6, -1.0, -0.3, -1e-4, 0.0, 1e-7, 1e-4, 0.3, 1.0, 2.6])
def test_tails_and_quantiles_are_those_of_scipy(skewness):
    z = np.array([-8.0, -2.0, -0.5, 0.0, 0.5, 2.0, 8.0])
    np.testing.assert_allclose(upper_tail(z, skewness), stats.pearson3.sf(z, skewness), rtol=1e-6, atol=1e-12)
    for q in (0.001, 0.025, 0.5, 0.975):
        assert quantile(q, skewness) == pytest.approx(stats.pearson3.ppf(q, skewness), rel=1e-5, abs=1e-6)


def test_an_unknown_skewness_has_no_tail():
    assert np.isnan(upper_tail([1.0, 2.0], [np.nan, 0.0])).tolist() == [True, False]
