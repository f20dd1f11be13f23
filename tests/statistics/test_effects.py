"""Effect sizes: known answers, definitions by loops, coverage of their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.arrays import mean_difference
from causaleval_pd.statistics.effects import (
    cliffs_delta,
    cohen_dz,
    paired_cliffs_delta,
    rank_biserial,
    welch_difference,
)

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


def test_rank_biserial_known_answers():
    # Kerby's simple difference: favourable ranks 1 + 3 + 4 + 5 of 15, unfavourable 2
    found = rank_biserial(
        [[1.0, -2.0, 3.0, 4.0, 5.0], [0.0, 0.0, np.nan, np.nan, np.nan], [np.nan] * 5, [1, 2, 3, 4, 5]]
    )
    np.testing.assert_allclose(found.effect, [11 / 15, 0.0, np.nan, 1.0])
    assert found.low[0] < 11 / 15 < found.high[0] <= 1
    assert np.isnan(found.low[1:]).all()


def test_cliffs_delta_counts_pairs():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 5, (20, 7)).astype(float), rng.integers(0, 5, (20, 9)).astype(float)
    a[rng.random(a.shape) < 0.3] = np.nan
    b[rng.random(b.shape) < 0.3] = np.nan
    a[0] = np.nan
    with np.errstate(invalid="ignore"):
        signs = np.sign(a[:, :, None] - b[:, None, :])
    found = cliffs_delta(a, b)
    expected = [np.nanmean(x) if (~np.isnan(x)).any() else np.nan for x in signs]
    np.testing.assert_allclose(found.effect, expected, atol=1e-12)
    inside = np.abs(found.effect) < 1
    assert (found.low[inside] < found.effect[inside]).all() and (found.high[inside] > found.effect[inside]).all()


def test_rank_biserial_interval_is_symmetric_on_fishers_scale():
    found = rank_biserial([1.0, -2.0, 3.0, 4.0, 5.0])
    half = scipy_stats.norm.ppf(0.975) * np.sqrt(55) / 15
    limits = np.arctanh([found.low, found.high]) - np.arctanh(found.effect)
    np.testing.assert_allclose(limits, [-half, half])


@pytest.mark.parametrize("whole", [True, False])
def test_cliffs_delta_has_cliffs_unbiased_variance(whole):
    rng = np.random.default_rng(4)
    a = rng.integers(0, 6, 8).astype(float) if whole else rng.normal(size=8)
    b = rng.integers(0, 7, 11).astype(float) if whole else rng.normal(0.5, 1, 11)
    signs = np.sign(a[:, None] - b[None, :])
    n, m, d = 8, 11, signs.mean()
    rows, columns = ((signs.mean(axis=1) - d) ** 2).sum(), ((signs.mean(axis=0) - d) ** 2).sum()
    variance = (m**2 * rows + n**2 * columns - ((signs - d) ** 2).sum()) / (n * m * (n - 1) * (m - 1))
    z = scipy_stats.norm.ppf(0.95)
    half = z * np.sqrt(variance) * np.sqrt((1 - d**2) ** 2 + z**2 * variance)
    limits = np.array([d - d**3 - half, d - d**3 + half]) / (1 - d**2 + z**2 * variance)
    found = cliffs_delta(a, b, 0.9)
    np.testing.assert_allclose([found.effect, found.low, found.high], [d, *limits])


def test_paired_delta_counts_all_members_and_pairs_its_variance():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 6, (2, 9)).astype(float)
    signs = np.sign(a[:, None] - b[None, :])
    found = paired_cliffs_delta(np.append(a, np.nan), np.append(b, 3.0))
    assert found.effect == pytest.approx(signs.mean())
    d, variance = signs.mean(), np.var(signs.mean(axis=1) + signs.mean(axis=0), ddof=1) / 9
    z = scipy_stats.norm.ppf(0.975)
    half = z * np.sqrt(variance) * np.sqrt((1 - d**2) ** 2 + z**2 * variance)
    np.testing.assert_allclose(found.high, (d - d**3 + half) / (1 - d**2 + z**2 * variance))


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_intervals_of_delta_cover_the_true_effect(correlation):
    rng = np.random.default_rng(9)
    draws = rng.multivariate_normal([0.6, 0.0], [[1, correlation], [correlation, 1]], (2000, 30))
    truth = 2 * scipy_stats.norm.cdf(0.6 / np.sqrt(2)) - 1
    paired = paired_cliffs_delta(draws[..., 0], draws[..., 1])
    covered = ((paired.low <= truth) & (truth <= paired.high)).mean()
    assert 0.93 < covered < 0.97
    independent = cliffs_delta(draws[..., 0], draws[..., 1])
    covered = ((independent.low <= truth) & (truth <= independent.high)).mean()
    # taking pairs for independent samples wastes what they have in common
    assert 0.93 < covered < 0.97 if correlation == 0 else covered > 0.98


def test_delta_without_spread_has_no_interval():
    for function in (cliffs_delta, paired_cliffs_delta):
        found = function([3.0, 4.0, 5.0], [0.0, 1.0, 2.0])
        assert found.effect == 1 and np.isnan(found.low) and np.isnan(found.high)


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


@pytest.mark.parametrize("function", [mean_difference, cohen_dz, rank_biserial])
def test_effects_of_nothing_are_undefined(function):
    for values in (ABSENT, np.empty((2, 0))):
        found = function(values)
        assert all(x.shape == (2,) and np.isnan(x).all() for x in found)


@pytest.mark.parametrize("function", [welch_difference, cliffs_delta])
def test_unpaired_effects_of_nothing_are_undefined(function):
    found = function(ABSENT, np.ones((2, 4)))
    assert all(np.isnan(x).all() for x in found)
