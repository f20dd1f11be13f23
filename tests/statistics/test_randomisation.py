"""The randomisation test against counting, ties and gaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.convolution import tail_of_sum
from causaleval_pd.statistics.randomisation import moments_test, randomisation_test


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


def test_moments_are_near_exact_tails_and_never_below_the_level():
    """Sums of 20 hypergeometric counts: p by moments of 10,000 draws against the exact tail."""
    rng = np.random.default_rng(1)
    support = np.arange(9.0)
    law = support, scipy_stats.hypergeom(28, 8, 8).pmf(support)
    drawn = rng.hypergeometric(8, 20, 8, (20, 10_000)).sum(axis=0).astype(float)
    for observed in (52.0, 58.0, 64.0, 70.0):
        exact = tail_of_sum([law] * 20, observed).upper
        found = moments_test([observed], drawn[None]).p_value[0]
        assert 0.7 < found / exact < 4
        turned = moments_test([-observed], -drawn[None], alternative="less").p_value[0]
        assert turned == pytest.approx(found)


def test_moments_are_refused_where_they_do_not_hold():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"10,000 of them, found 9,999"):
        moments_test([1.0], rng.normal(size=(1, 9_999)))
    coins = rng.integers(0, 2, (1, 10_000)).astype(float)
    skewed = rng.exponential(size=(1, 10_000)).round(2)
    both = moments_test([1.0, 12.0], np.concatenate([coins, skewed])).p_value
    assert np.isnan(both).all() and np.isnan(moments_test([np.nan], coins).p_value[0])
    assert moments_test([3.0], skewed).p_value[0] == pytest.approx(np.exp(-3), rel=0.2)
