"""Random signs and the bootstrap: enumeration, agreement with scipy, streams, and size under the null."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest
from scipy import stats as scipy_stats

import causaleval_pd.statistics.resampling as resampling
from causaleval_pd.statistics.resampling import bootstrap_mean, sign_flip

#: scipy's keyword for a seed; older releases have another
SEED = {"rng" if "rng" in inspect.signature(scipy_stats.bootstrap).parameters else "random_state": 2}
SIDES = ["two-sided", "less", "greater"]
BOTH = [sign_flip, bootstrap_mean]


@pytest.fixture
def ragged():
    rng = np.random.default_rng(1)
    values = rng.integers(-4, 7, (30, 10)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    values[0] = np.nan
    return values


@pytest.mark.parametrize("alternative", SIDES)
def test_short_rows_equal_enumeration(ragged, alternative):
    found = sign_flip(ragged, alternative=alternative, n_resamples=1024)
    for row, p in zip(ragged, found.p_value, strict=True):
        values = row[~np.isnan(row)]
        if len(values) == 0:
            assert np.isnan(p)
            continue
        sums = np.array([np.dot(values, signs) for signs in itertools.product([-1, 1], repeat=len(values))])
        hit = {
            "two-sided": np.abs(sums) >= abs(values.sum()),
            "less": sums <= values.sum(),
            "greater": sums >= values.sum(),
        }[alternative]
        assert p == hit.mean()


@pytest.mark.parametrize("alternative", SIDES)
def test_random_signs_agree_with_the_exact_p_value(ragged, alternative):
    exact = sign_flip(ragged[1:], alternative=alternative, n_resamples=1024).p_value
    drawn = sign_flip(ragged[1:, :], alternative=alternative, n_resamples=1000, rng=3).p_value
    long = (~np.isnan(ragged[1:])).sum(axis=1) == 10
    np.testing.assert_array_equal(drawn[~long], exact[~long])
    assert (np.abs(drawn - exact) < 5 * 0.5 / np.sqrt(1000)).all()
    assert (drawn[long] >= 1 / 1001).all()


def test_ties_of_sums_count_in_spite_of_rounding():
    values = np.array([0.1, 0.2, -0.3, 0.1, 0.2, 0.3])
    assert sign_flip(values, n_resamples=100, rng=1).p_value == sign_flip(values * 10, n_resamples=100, rng=1).p_value
    assert sign_flip(values).p_value == sign_flip(np.round(values * 10)).p_value


def test_smallest_p_value_counts_the_observed_signs():
    found = sign_flip(np.arange(1.0, 41.0), n_resamples=200, rng=1)
    assert found.p_value == 1 / 201
    assert found.statistic == 20.5


@pytest.mark.parametrize("test", BOTH)
def test_rows_do_not_depend_on_other_rows_or_blocks(ragged, test, monkeypatch):
    longer = np.random.default_rng(2).normal(0.3, 1, (6, 25))
    whole = test(longer, n_resamples=500, rng=9)
    for i in range(6):
        alone = test(longer[i], n_resamples=500, rng=9)
        np.testing.assert_allclose([x[()] for x in alone], [x[i] for x in whole], rtol=1e-12)
    monkeypatch.setattr(resampling, "BLOCK", 700)
    for x, y in zip(test(longer, n_resamples=500, rng=9), whole, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)
    gaps = np.insert(longer, 3, np.nan, axis=1)
    for x, y in zip(test(gaps, n_resamples=500, rng=9), whole, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("test", BOTH)
def test_seeds_decide(test):
    values = np.random.default_rng(2).normal(0.3, 1, (3, 25))
    assert (test(values, rng=1).p_value == test(values, rng=1).p_value).all()
    assert (test(values, rng=1).p_value != test(values, rng=2).p_value).any()
    generator = np.random.default_rng(1)
    assert (test(values, rng=generator).p_value != test(values, rng=generator).p_value).any()


@pytest.mark.parametrize("test", BOTH)
def test_degenerate_rows(test):
    values = np.array([[0.0] * 4, [2.0, np.nan, np.nan, np.nan], [np.nan] * 4, [np.inf, 1.0, 2.0, 3.0]])
    found = test(values, n_resamples=99, rng=0)
    one = np.nan if test is bootstrap_mean else 1.0
    np.testing.assert_array_equal(found.p_value, [1.0, one, np.nan, np.nan])
    assert np.isnan(test(np.empty((2, 0))).p_value).all()


@pytest.mark.parametrize("value", [0.0, 0.1, -1.0])
def test_equal_differences_have_no_limits(value):
    # that eight answers are right by both does not show that two reasoners are equally good
    found = sign_flip([[value] * 8, [value] * 7 + [value + 1.0]])
    assert found.p_value[0] == (1.0 if value == 0 else 2 / 2**8)
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.low[1] <= found.statistic[1] <= found.high[1]


def test_bootstrap_of_values_that_do_not_vary():
    found = bootstrap_mean(np.array([[2.0, 2.0, 2.0], [0.0, 0.0, np.nan]]), n_resamples=99, rng=0)
    np.testing.assert_array_equal(found.p_value, [np.nan, 1.0])
    assert np.isnan(found.low).all() and np.isnan(found.high).all()


@pytest.mark.parametrize("n", [5, 7, 30])
def test_bootstrap_interval_holds_what_its_test_does_not_reject(n):
    values = np.random.default_rng(4).exponential(size=(200, n)) - 1
    found = bootstrap_mean(values, n_resamples=499, level=0.9, rng=1)
    np.testing.assert_array_equal(found.p_value > 0.1, (found.low < 0) & (found.high > 0))
    inside = bootstrap_mean(values - (found.high[:, None] - 1e-6), n_resamples=499, rng=1).p_value
    outside = bootstrap_mean(values - (found.high[:, None] + 1e-6), n_resamples=499, rng=1).p_value
    assert (inside > 0.1).all() and (outside <= 0.1).all()


def test_bootstrap_has_no_interval_of_few_pairs_or_where_resamples_do_not_vary():
    few = bootstrap_mean([1.0, 2.0, 4.0, 3.0], n_resamples=999, rng=1)
    zeros = bootstrap_mean([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], n_resamples=999, rng=1)
    for found in (few, zeros):
        assert np.isnan(found.low) and np.isnan(found.high) and found.p_value > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("law", "least"), [("normal", 0.94), ("exponential", 0.90), ("rounded", 0.94)])
def test_bootstrap_interval_covers(law, least):
    rng = np.random.default_rng(3)
    for n in (5, 10, 20):
        shape = (1500, n)
        values = {
            "normal": rng.normal(size=shape),
            "exponential": rng.exponential(size=shape) - 1,
            "rounded": np.round(rng.normal(scale=2, size=shape)),
        }[law]
        found = bootstrap_mean(values, n_resamples=999, rng=1)
        known = ~np.isnan(found.low)
        assert ((found.low <= 0) & (found.high >= 0))[known].mean() > least - 0.01


@pytest.mark.slow
@pytest.mark.parametrize("alternative", SIDES)
def test_bootstrap_p_value_agrees_with_a_loop(alternative):
    values = np.random.default_rng(5).exponential(size=12) - 0.6
    rng = np.random.default_rng(6)
    t = values.mean() / values.std()
    drawn = []
    for _ in range(4000):
        again = rng.choice(values, len(values))
        drawn.append((again.mean() - values.mean()) / again.std())
    drawn = np.array(drawn)
    share = {
        "two-sided": np.abs(drawn) >= abs(t),
        "less": drawn <= t,
        "greater": drawn >= t,
    }[alternative].mean()
    found = bootstrap_mean(values, alternative=alternative, n_resamples=20_000, rng=1)
    assert abs(found.p_value - share) < 0.03


@pytest.mark.parametrize("test", BOTH)
@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_size_is_not_exceeded(test, n):
    values = np.random.default_rng(n).normal(size=(1500, n))
    p = test(values, n_resamples=399, rng=1).p_value
    for size in (0.01, 0.05, 0.1):
        # shared resamples: the rows are dependent, but only through them
        assert (p <= size).mean() <= size + 4 * np.sqrt(size * (1 - size) / len(p))


@pytest.mark.parametrize("test", BOTH)
def test_unknown_sides_are_refused(test):
    with pytest.raises(ValueError, match="alternative must be 'two-sided', 'less' or 'greater', found 'upper'"):
        test(np.ones((1, 3)), alternative="upper")
