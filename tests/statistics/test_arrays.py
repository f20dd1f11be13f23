"""Moments, ratios, quantiles, intervals and ranks on arrays."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics import arrays


@pytest.fixture
def ragged():
    """Rows of 0 to 29 whole numbers with ties and zeros, NaN in between."""
    rng = np.random.default_rng(3)
    values = rng.integers(-4, 6, (60, 29)).astype(float)
    values[rng.random(values.shape) < rng.random((60, 1))] = np.nan
    values[0] = np.nan
    return values


def test_differences_of_ties_are_exactly_zero():
    found = arrays.paired_difference(
        [0.1 + 0.2, 1e6 + 1e-8, np.inf, -np.inf, np.nan, 3.0], [0.3, 1e6, np.inf, 2.0, 1.0, 1.0]
    )
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.0, -np.inf, np.nan, 2.0])


def test_moments_of_ragged_rows(ragged):
    n, mean, deviation = arrays.moments(ragged)
    for row, count, average, spread in zip(ragged, n, mean, deviation, strict=True):
        values = row[~np.isnan(row)]
        assert count == len(values)
        np.testing.assert_allclose(average, values.mean() if count else np.nan)
        np.testing.assert_allclose(spread, values.std(ddof=1) if count > 1 else np.nan, atol=1e-12)


def test_moments_of_rounding_error_and_infinity():
    n, mean, deviation = arrays.moments([[0.1 + 0.2, 0.3, 0.3], [1.0, np.inf, 2.0]])
    assert n.tolist() == [3, 3]
    assert deviation[0] == 0.0
    assert np.isnan(mean[1]) and np.isnan(deviation[1])


def test_quantiles_equal_numpy_row_by_row(ragged):
    q = [0.0, 0.025, 0.5, 0.9, 1.0]
    found = arrays.quantiles(ragged, q)
    assert np.isnan(found[0]).all()
    for row, mine in zip(ragged[1:], found[1:], strict=True):
        values = row[~np.isnan(row)]
        np.testing.assert_allclose(mine, np.quantile(values, q) if len(values) else np.nan, rtol=1e-14)
    low, high = arrays.quantile_interval(ragged, 0.95)
    np.testing.assert_allclose(low, arrays.quantiles(ragged, [0.025])[:, 0])
    np.testing.assert_allclose(high, arrays.quantiles(ragged, [0.975])[:, 0])


def test_quantiles_by_row_and_at_infinite_ends():
    found = arrays.quantiles([[0.0, 10.0], [0.0, 20.0]], [[0.1], [0.5]])
    np.testing.assert_allclose(found, [[1.0], [10.0]])
    ends = arrays.quantiles([-np.inf, 0.0, np.inf], [0.0, 0.25, 0.5, 0.75, 1.0])
    assert ends.tolist() == [-np.inf, -np.inf, 0.0, np.inf, np.inf]
    assert np.isnan(arrays.quantiles(np.empty((2, 0)), [0.5])).all()


def test_welchs_interval_is_that_of_scipy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(1, 2, (4, 9)), rng.normal(0, 1, (4, 6))
    found = arrays.welch_difference(a, b, 0.9)
    expected = scipy_stats.ttest_ind(a, b, axis=1, equal_var=False).confidence_interval(0.9)
    np.testing.assert_allclose(found.effect, a.mean(axis=1) - b.mean(axis=1))
    np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high])


def test_samples_that_do_not_vary_have_no_limits():
    found = arrays.welch_difference([2.0, 2.0], [1.0, 1.0])
    assert float(found.effect) == 1 and np.isnan([found.low, found.high]).all()


def test_signed_ranks_and_zeros():
    values = [3.0, 0.0, -1.0, 0.3, 0.1 + 0.2, np.nan]
    assert arrays.signed_ranks(values).tolist() == [1.5, 1.5, -3, 4, 0, 0]
    assert sorted(arrays.signed_ranks([np.inf, -np.inf, 1.0])) == [-2.5, 1.0, 2.5]


def test_rounding_spares_large_values():
    values = [1e300, -np.inf, 0.1 + 0.2, 1234.5678901234567]
    assert arrays.rounded(values).tolist() == [1e300, -np.inf, 0.3, 1234.5678901234567]


@pytest.mark.parametrize("whole", [True, False])
def test_signed_ranks_equal_scipy_row_by_row(whole):
    rng = np.random.default_rng(5)
    values = rng.integers(-4, 6, (40, 17)).astype(float) if whole else rng.normal(size=(40, 17))
    values[rng.random(values.shape) < 0.2] = np.nan
    for row, found in zip(values, arrays.signed_ranks(values), strict=True):
        kept = row[~np.isnan(row)]
        kept = kept[kept != 0]
        expected = np.sign(kept) * scipy_stats.rankdata(np.abs(kept))
        assert sorted(found[found != 0]) == sorted(expected[expected != 0])


def test_ranks_of_nothing():
    assert arrays.signed_ranks(np.empty((3, 0))).shape == (3, 0)
    assert arrays.signed_ranks(np.full((2, 3), np.nan)).tolist() == [[0.0] * 3] * 2
    assert arrays.signed_ranks(np.zeros(3)).tolist() == [0.0] * 3


def test_padding_changes_no_bit():
    values = np.random.default_rng(1).random((3, 17))
    padded = np.pad(values, [(0, 0), (0, 40)])
    np.testing.assert_array_equal(arrays.padded_sum(values), arrays.padded_sum(padded))
    np.testing.assert_array_equal(arrays.padded_sum(np.empty((2, 0))), [0.0, 0.0])
