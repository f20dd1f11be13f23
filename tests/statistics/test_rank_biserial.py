"""The rank-biserial correlation: known answers, and the coverage of its interval close to 1 and in small samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.rank_biserial import rank_biserial


def test_known_answers():
    # Kerby's simple difference: favourable ranks 1 + 3 + 4 + 5 of 15, unfavourable 2
    found = rank_biserial(
        [[1.0, -2.0, 3.0, 4.0, 5.0], [0.0, 0.0, np.nan, np.nan, np.nan], [np.nan] * 5, [1, 2, 3, 4, 0]]
    )
    np.testing.assert_allclose(found.effect, [11 / 15, 0.0, np.nan, 1.0])
    assert -1 <= found.low[0] < 11 / 15 < found.high[0] <= 1
    # fewer than five differences that are not 0
    assert np.isnan(found.low[1:]).all() and np.isnan(found.high[1:]).all()


def test_intervals_are_mirrored_and_hold_the_correlation():
    values = np.random.default_rng(1).integers(-6, 9, (300, 9)).astype(float)
    found, mirrored = rank_biserial(values), rank_biserial(-values)
    np.testing.assert_allclose(found.low, -mirrored.high)
    known = ~np.isnan(found.low)
    assert known.sum() > 290
    assert (found.low <= found.effect)[known].all() and (found.effect <= found.high)[known].all()


def test_perfect_correlations_have_an_interval_that_narrows_with_their_number():
    low = [float(rank_biserial(np.arange(1.0, n + 1)).low) for n in (5, 10, 20, 100)]
    assert low == sorted(low) and low[0] < 0 and 0.9 < low[-1] < 1
    assert rank_biserial(np.arange(1.0, 8.0)).high == 1


def test_nothing_is_undefined():
    for values in (np.full((2, 3), np.nan), np.empty((2, 0))):
        assert all(x.shape == (2,) and np.isnan(x).all() for x in rank_biserial(values))


LAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "t, 3 df": lambda rng, shape: rng.standard_t(3, shape),
    "exponential": lambda rng, shape: 1 - rng.exponential(size=shape),
    "rounded": lambda rng, shape: np.round(rng.normal(scale=2, size=shape)) / 2,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shift", [0.0, 1.0, 1.5])
def test_interval_covers(law, shift):
    rng = np.random.default_rng(7)
    draw = lambda shape: np.round(LAWS[law](rng, shape) + shift, 9)  # noqa: E731
    first, second = draw(400_000), draw(400_000)
    some = (first != 0) & (second != 0)
    true = np.sign(first + second)[some].mean()
    for n in (5, 10, 30):
        found = rank_biserial(draw((600, n)))
        known = ~np.isnan(found.low)
        covered = ((found.low <= true + 1e-9) & (true - 1e-9 <= found.high))[known].mean()
        assert covered > 0.915, (n, covered)  # 4 standard errors below .95


@pytest.mark.slow
def test_normal_samples_have_the_exact_moments_that_the_limits_use():
    # the law of the correlation of 6 normal differences with mean 1: two thirds of its samples lie within the limits
    # of probability 2/3 that the true value gives
    true = 2 * scipy_stats.norm.cdf(np.sqrt(2)) - 1
    found = rank_biserial(np.random.default_rng(2).normal(1, 1, (4000, 40)), 0.8)
    covered = ((found.low <= true) & (true <= found.high)).mean()
    assert 0.775 < covered < 0.84


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_many_pairs_have_the_interval_of_all_their_sums(scale, monkeypatch):
    values = ((np.random.default_rng(5).standard_t(3, 2100) + 0.1) * scale).round(1)
    found = rank_biserial(values)
    monkeypatch.setattr("causaleval_pd.statistics.rank_biserial.BLOCK", 10**7)
    np.testing.assert_allclose(rank_biserial(values), found, atol=1e-12)


def test_a_hundred_thousand_pairs_fit_into_memory():
    values = np.random.default_rng(5).normal(0.01, 1, 100_000)
    found = rank_biserial(values)
    assert found.low < found.effect < found.high
    assert found.high - found.low == pytest.approx(4 * 1.96 / np.sqrt(3 * 100_000), rel=0.05)


def test_infinite_differences_of_both_signs_tie():
    finite = rank_biserial([9.0, -9.0, 9.0, 3.0, 1.0, 2.0, -1.0, 4.0, 5.0, 6.0])
    infinite = rank_biserial([np.inf, -np.inf, np.inf, 3.0, 1.0, 2.0, -1.0, 4.0, 5.0, 6.0])
    np.testing.assert_allclose(infinite, finite)
    assert infinite.low < infinite.effect < infinite.high
