"""Cliff's delta and Brunner and Munzel's test: definitions by loops, scipy, coverage and size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.dominance import brunner_munzel, cliffs_delta, paired_cliffs_delta


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


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_brunner_munzel_equals_scipy(alternative):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 9, (6, 13)).astype(float), rng.integers(2, 12, (6, 11)).astype(float)
    a[2, :3] = np.nan
    found = brunner_munzel(a, b, alternative=alternative)
    for i in range(6):
        theirs = scipy_stats.brunnermunzel(a[i][~np.isnan(a[i])], b[i], alternative=alternative)
        # their statistic is larger where the second sample is
        assert found.statistic[i] == pytest.approx(-theirs.statistic)
        assert found.p_value[i] == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    ("a", "b"), [([3.1, -4.0, 0.7, 9.0], [1.0, 0.2, 2.1, 1.7, 0.9]), ([1, 2, 2, 5], [2, 3, 2, 5, 6])]
)
def test_few_values_are_compared_with_all_their_splits(a, b, alternative):
    pooled = np.array([*a, *b], float)

    def t(first):
        apart = sorted(set(range(9)) - set(first))
        x, y = pooled[list(first)], pooled[apart]
        over = np.array([np.mean(np.sign(v - y)) for v in x])
        under = np.array([np.mean(np.sign(x - v)) for v in y])
        error = np.sqrt(over.var(ddof=1) / len(x) + under.var(ddof=1) / len(y))
        return np.inf * np.sign(over.mean()) if error == 0 else over.mean() / error

    found = brunner_munzel(a, b, alternative=alternative)
    every = np.array([t(x) for x in itertools.combinations(range(9), 4)])
    turned = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    assert found.p_value == pytest.approx(np.mean(turned(every) >= turned(every[0]) - 1e-9))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 5), (6, 6)])
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_brunner_munzel_holds_its_level_with_few_values(n, m, spread):
    rng = np.random.default_rng(n)
    p = brunner_munzel(rng.normal(0, spread, (1000, n)), rng.normal(0, 1, (1000, m))).p_value
    for alpha in (0.05, 0.01):
        assert (p <= alpha).mean() <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / 1000)


def test_brunner_munzel_has_both_limits_or_none():
    found = brunner_munzel([[2.0, np.nan], [2.0, 3.0], [5.0, 6.0]], [[1.0, np.nan], [1.0, np.nan], [1.0, 2.0]])
    assert np.isnan(found.low).tolist() == np.isnan(found.high).tolist() == [True, True, False]


def test_brunner_munzel_interval_does_not_contradict_its_test():
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.7, 1, (300, 12)), rng.normal(0, 3, (300, 12))
    a[:100, 5:] = b[:100, 6:] = np.nan
    found = brunner_munzel(a, b)
    outside = (found.low > 0) | (found.high < 0)
    assert (found.p_value[outside] < 0.05).all() and 0 < outside.sum() < 300
    assert found.low.min() >= -1 and found.high.max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 6, 10, 20])
@pytest.mark.parametrize("shift", [0.0, 1.0, 1.5, 2.0])
def test_brunner_munzel_interval_covers(n, shift):
    rng = np.random.default_rng(n)
    found = brunner_munzel(rng.normal(shift, 1, (800, n)), rng.normal(0, 1, (800, n)))
    true = 2 * scipy_stats.norm.cdf(shift / np.sqrt(2)) - 1
    assert ((found.low <= true) & (true <= found.high)).mean() > 0.93


def test_samples_that_do_not_overlap_get_the_p_value_of_the_closest_that_do():
    apart = brunner_munzel([[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    closest = brunner_munzel([3.0, 5.0, 6.0], [1.0, 2.0, 4.0])
    # two of the twenty ways to split six values
    assert apart.p_value.tolist() == [0.1, 0.1] and closest.p_value > 0.1
    np.testing.assert_allclose(apart.statistic, closest.statistic * np.array([1, -1]))
    assert apart.high[0] == 1 == -apart.low[1]
    assert apart.low[0] == pytest.approx(-apart.high[1]) and apart.low[0] < 0
    equal = brunner_munzel([2.0, 2.0], [2.0, 2.0])
    assert equal.p_value == 1 and np.isnan(equal.low)
    for few in (brunner_munzel([1.0], [2.0, 3.0]), brunner_munzel([np.nan] * 2, [2.0, 3.0])):
        assert np.isnan(few.p_value)


@pytest.mark.parametrize(("n", "m", "spread"), [(10, 10, 1.0), (10, 20, 3.0), (20, 10, 3.0)])
def test_brunner_munzel_keeps_its_level_with_unequal_variances(n, m, spread):
    rng = np.random.default_rng(11)
    a, b = rng.normal(0, spread, (3000, n)), rng.normal(0, 1, (3000, m))
    assert (brunner_munzel(a, b).p_value <= 0.05).mean() < 0.065


@pytest.mark.slow
def test_a_small_sample_is_compared_with_a_large_one_in_little_memory():
    rng = np.random.default_rng(6)
    few, many = rng.normal(size=5), rng.normal(size=3000)
    found, turned = brunner_munzel(few, many), brunner_munzel(many, few)
    assert found.low < cliffs_delta(few, many).effect < found.high
    # other random splits; Monte Carlo errors of p over 9,999 of them are below .005
    assert float(found.p_value) == pytest.approx(float(turned.p_value), abs=0.02)
    assert (found.low, found.high) == pytest.approx((-turned.high, -turned.low), abs=0.05)
