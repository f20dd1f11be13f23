"""The randomisation test against counting, ties and gaps."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.statistics.randomisation import randomisation_test


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_p_values_count_draws_at_least_as_extreme(alternative):
    rng = np.random.default_rng(1)
    observed, drawn = rng.integers(0, 6, 40).astype(float), rng.integers(0, 6, (40, 25)).astype(float)
    drawn[rng.random(drawn.shape) < 0.2] = np.nan
    found = randomisation_test(observed, drawn, alternative=alternative)
    np.testing.assert_array_equal(found.statistic, observed)
    for value, draws, p in zip(observed, drawn, found.p_value, strict=True):
        known = draws[~np.isnan(draws)]
        extreme = (known >= value) if alternative == "greater" else (known <= value)
        assert p == (1 + extreme.sum()) / (1 + len(known))


def test_ties_count_in_spite_of_rounding():
    assert randomisation_test(0.1 + 0.2, [0.3, 0.1], alternative="greater").p_value == 2 / 3


def test_nothing_is_undefined():
    found = randomisation_test([np.nan, 1.0], [[1.0, 2.0], [np.nan, np.nan]])
    assert np.isnan(found.p_value).all()


def test_two_sided_tests_are_refused():
    with pytest.raises(ValueError, match="alternative must be 'less' or 'greater', found 'two-sided'"):
        randomisation_test(1.0, [1.0, 2.0], alternative="two-sided")
