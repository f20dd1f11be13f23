"""Friedman's test and what follows it, against scipy, enumeration and the tables of the literature."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.friedman import critical_difference, friedman


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("k", [3, 5])
def test_friedman_equals_scipy_row_by_row(whole, k):
    rng = np.random.default_rng(k)
    values = rng.integers(0, 6, (40, 12, k)).astype(float) if whole else rng.normal(size=(40, 12, k))
    values[rng.random(values.shape) < 0.03] = np.nan
    found = friedman(values)
    for i, blocks in enumerate(values):
        kept = blocks[~np.isnan(blocks).any(axis=1)]
        expected = scipy_stats.friedmanchisquare(*kept.T)
        np.testing.assert_allclose([found.statistic[i], found.p_value[i]], [expected.statistic, expected.pvalue])
        np.testing.assert_allclose(found.mean_rank[i], scipy_stats.rankdata(kept, axis=1).mean(axis=0))
        assert found.n_blocks[i] == len(kept) and found.n_levels[i] == k


@pytest.mark.parametrize("whole", [True, False])
def test_two_treatments_are_the_exact_sign_test(whole):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 4, (40, 9, 2)).astype(float) if whole else rng.normal(size=(40, 9, 2))
    for blocks, p in zip(values, friedman(values).p_value, strict=True):
        first, second = int((blocks[:, 0] > blocks[:, 1]).sum()), int((blocks[:, 0] < blocks[:, 1]).sum())
        expected = scipy_stats.binomtest(first, first + second).pvalue if first + second else 1.0
        assert p == pytest.approx(expected)


def test_a_treatment_without_values_is_left_out():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, 8, 4))
    values[0, :, 2] = np.nan
    found = friedman(values)
    assert found.n_levels.tolist() == [3, 4]
    assert found.p_value[0] == pytest.approx(friedman(values[0][:, [0, 1, 3]]).p_value)
    assert np.isnan(found.mean_rank[0, 2])


def test_nothing_to_rank():
    for values in (np.full((2, 5, 3), np.nan), np.empty((2, 0, 3)), np.ones((2, 4, 1))):
        found = friedman(values)
        assert np.isnan(found.statistic).all() and np.isnan(found.p_value).all()
    equal = friedman(np.ones((4, 3)))
    assert equal.p_value == 1 and equal.statistic == 0


def test_critical_differences_of_the_literature():
    # Demsar (2006), table 5: q(.05) = 1.960, 2.343, 2.569, 2.728 and q(.10) = 1.645, 2.052, 2.291, 2.459 for k = 2 .. 5
    k = np.arange(2, 6)
    for level, q in ((0.95, [1.960, 2.343, 2.569, 2.728]), (0.9, [1.645, 2.052, 2.291, 2.459])):
        found = critical_difference(k, 14, level) / np.sqrt(k * (k + 1) / (6 * 14))
        np.testing.assert_allclose(found, q, atol=1.01e-3)
    assert np.isnan(critical_difference([1, 3], [5, 0])).all()
    # a difference as large as the critical one has Nemenyi's p-value of 1 - level
    z = critical_difference(4, 40) / np.sqrt(4 * 5 / (6 * 40))
    assert scipy_stats.studentized_range.sf(z * np.sqrt(2), 4, np.inf) == pytest.approx(0.05)
