"""Shifts and their intervals: by hand, coverage with ties, agreement with the tests, small and infinite samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.paired_tests import paired_wilcoxon
from causaleval_pd.statistics.walsh import hodges_lehmann


def test_the_shift_is_the_median_of_pairwise_means():
    rng = np.random.default_rng(1)
    for n in (1, 2, 3, 7, 20):
        d = rng.normal(size=n)
        walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
        assert float(hodges_lehmann(d).effect) == pytest.approx(np.median(walsh))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [4, 6, 9, 15])
def test_without_ties_0_lies_outside_exactly_where_the_test_rejects(level, n):
    d = np.random.default_rng(n).normal(0.6, 1, (400, n))
    found = hodges_lehmann(d, level)
    inside = ~((found.low > 0) | (found.high < 0))
    np.testing.assert_array_equal(inside, paired_wilcoxon(d).p_value > 1 - level + 1e-12)


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
    assert np.isnan(hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0]).low)
    assert not np.isnan(hodges_lehmann([1.0, 2.0, 3.0, 4.0, 5.0], 0.9).low)
    assert np.isnan(hodges_lehmann([np.nan, np.nan]).effect)


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


def test_many_infinite_differences_of_both_signs_have_no_shift():
    values = np.r_[-np.inf, np.inf, np.zeros(2100)]
    assert np.isnan(hodges_lehmann(values)).all()
