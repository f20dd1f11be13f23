"""Shifts and their intervals: by hand, coverage with ties, agreement with the tests, small and infinite samples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.paired_tests import mann_whitney, paired_wilcoxon, sign_test
from causaleval_pd.statistics.walsh import hodges_lehmann, median_difference, shift_difference


def test_the_shift_is_the_median_of_pairwise_means():
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 20):
        d = rng.normal(size=n)
        walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
        assert float(hodges_lehmann(d).effect) == pytest.approx(np.median(walsh))
        other = rng.normal(size=n + 2)
        expected = np.median([x - y for x, y in itertools.product(d, other)])
        assert float(shift_difference(d, other).effect) == pytest.approx(expected)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [4, 6, 9, 15])
def test_without_ties_0_lies_outside_exactly_where_the_test_rejects(level, n):
    d = np.random.default_rng(n).normal(0.6, 1, (400, n))
    for bounds, test in ((hodges_lehmann, paired_wilcoxon), (median_difference, sign_test)):
        found = bounds(d, level)
        inside = ~((found.low > 0) | (found.high < 0))
        np.testing.assert_array_equal(inside, test(d).p_value > 1 - level + 1e-12)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 7), (12, 20), (30, 25)])
def test_independent_limits_agree_with_mann_whitney(n, m):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.8, 1, (300, n)), rng.normal(size=(300, m))
    found = shift_difference(a, b)
    inside = ~((found.low > 0) | (found.high < 0))
    agree = inside == (mann_whitney(a, b).p_value > 0.05)
    # beyond exact sizes both are normal approximations
    assert agree.all() if max(n, m) <= 8 else agree.mean() > 0.98


@pytest.mark.parametrize("n", [6, 10, 20, 50])
@pytest.mark.parametrize("law", ["normal", "rounded", "wide", "zeros"])
def test_closed_limits_cover_with_ties(n, law):
    rng = np.random.default_rng(7)
    draw = rng.normal(size=(1500, n))
    d = {
        "normal": draw,
        "rounded": np.round(draw),
        "wide": np.round(3 * draw),
        "zeros": np.where(rng.random(draw.shape) < 0.7, 0.0, draw),
    }[law]
    found = hodges_lehmann(d)
    covered = ((found.low <= 0) & (found.high >= 0)).mean()
    assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1500)


def test_small_samples_have_no_limits():
    assert np.isnan(hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0]).low) and np.isnan(median_difference([1.0] * 5).high)
    assert not np.isnan(hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0], 0.9).low)
    assert np.isnan(shift_difference([1.0, 2.0], [3.0]).low)
    assert np.isnan(hodges_lehmann([np.nan, np.nan]).effect) and np.isnan(shift_difference([np.nan], [1.0]).effect)


def test_infinite_differences():
    found = hodges_lehmann([[np.inf, 1, 2, 3, 4, 5, 6], [np.inf, -np.inf, 1, 2, 3, 4, 5]])
    assert found.effect[0] == pytest.approx(4) and np.isnan(found.effect[1])


def test_large_samples_use_the_normal_law():
    d = np.random.default_rng(3).normal(0.1, 1, (5, 260))
    found = hodges_lehmann(d)
    for row, low, high in zip(d, found.low, found.high, strict=True):
        p = [
            stats.wilcoxon(row - c, correction=False).pvalue for c in (low - 0.01, low + 0.01, high - 0.01, high + 0.01)
        ]
        assert p[0] < 0.05 < p[1] and p[3] < 0.05 < p[2]


LAWS = {
    "normal": lambda rng, n: rng.normal(0.1, 1, n),
    "ties": lambda rng, n: rng.integers(-3, 5, n) / 4,
    "one value": lambda rng, n: np.full(n, 0.1),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
    "mostly minus infinite": lambda rng, n: np.where(rng.random(n) < 0.8, -np.inf, rng.normal(size=n)),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_shifts_of_many_pairs_are_found_without_all_pairwise_means(law):
    rng = np.random.default_rng(4)
    # 2,100 pairs have 2.2 million pairwise means, more than are sorted
    values = LAWS[law](rng, 2100)
    first, second = np.triu_indices(len(values))
    means = np.sort((values[first] + values[second]) / 2)
    found = hodges_lehmann(values)
    middle = means[len(means) // 2 - 1 : len(means) // 2 + 1]
    assert found.effect == pytest.approx(middle[0] if middle[0] == middle[1] else middle.mean(), abs=1e-14)
    statistic = len(means) / 2 - 1.959964 * np.sqrt(len(means) * (2 * 2100 + 1) / 12)
    place = np.floor(statistic - 0.5).astype(int) + 1
    assert (found.low, found.high) == pytest.approx((means[place - 1], means[-place]), abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_shifts_of_two_large_samples_are_found_without_all_differences(law):
    rng = np.random.default_rng(4)
    a, b = LAWS[law](rng, 1500), rng.normal(size=1501).round(1)
    apart = np.sort((a[:, None] - b).ravel())
    found = shift_difference(a, b)
    assert found.effect == pytest.approx(
        np.median(apart) if np.isfinite(a).all() else apart[apart.size // 2], abs=1e-14
    )
    deviation = np.sqrt(a.size * b.size * (a.size + b.size + 1) / 12)
    place = np.floor(a.size * b.size / 2 - 0.5 - 1.959964 * deviation).astype(int) + 1
    assert (found.low, found.high) == pytest.approx((apart[place - 1], apart[-place]), abs=1e-14)


def test_many_infinite_differences_of_both_signs_have_no_shift():
    values = np.r_[-np.inf, np.inf, np.zeros(2100)]
    assert np.isnan(hodges_lehmann(values)).all()
