"""Whether values differ by more than Monte Carlo errors, and intervals of skill whose control losses are simulated."""

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.monte_carlo import largest_variance, noise_alone, without_noise
from causaleval_pd.statistics.skill import skill_difference, skill_interval, skill_notes


def test_the_largest_variance_is_a_chi_squared_quantile():
    assert largest_variance(np.full(6, 0.5)) == pytest.approx(3 * stats.chi2.ppf(0.99, 5) / 5)
    assert largest_variance(np.array([0.5, 0.0, 0.0])) == pytest.approx(0.5 * stats.chi2.ppf(0.99, 1))
    assert largest_variance(np.zeros((2, 4))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("n", [3, 5, 20])
def test_noise_is_taken_for_variation_once_in_a_hundred(n):
    rng = np.random.default_rng(n)
    errors = rng.uniform(0.5, 2, (20_000, n))
    values = 3 + errors * rng.normal(size=errors.shape)
    assert (~noise_alone(values, errors)).mean() < 0.013
    assert (without_noise(values, errors).std(axis=1) < 1e-12).mean() > 0.987
    assert noise_alone(values + 20 * rng.normal(size=values.shape), errors).mean() < 0.05
    assert not noise_alone(values, np.zeros(errors.shape)).any()


def simulated(rng, ratio, draws):
    """Return losses, control losses that are means of draws, and the standard errors of these."""
    control = rng.uniform(4, 20, ratio.shape)
    error = 0.25 * control / np.sqrt(draws)
    return ratio * control, control + error * rng.normal(size=control.shape), error


@pytest.mark.parametrize("n", [5, 10, 20])
@pytest.mark.parametrize("draws", [19, 99, 1000])
def test_equal_shares_of_simulated_losses_have_no_interval(n, draws):
    rng = np.random.default_rng(n + draws)
    loss, control, error = simulated(rng, np.full((2000, n), 0.6), draws)
    found = skill_interval(loss, control, control_error=error)
    assert np.isnan(found.low).mean() > 0.98 and np.isnan(found.high).mean() > 0.98
    assert not np.isnan(skill_interval(loss, control).low).any(), "without errors all shares differ"
    assert "Monte Carlo error" in skill_notes(loss[0], control[0], control_error=error[0]).item()
    other = simulated(rng, np.full((2000, n), 0.8), draws)
    apart, same = skill_difference((loss, control, error), other), skill_difference(*[(loss, control, error)] * 2)
    assert np.isnan(apart.low).mean() > 0.98 and np.isnan(apart.p_value).mean() > 0.9
    assert (same.p_value == 1).mean() > 0.98


@pytest.mark.parametrize("draws", [19, 99, np.inf])
@pytest.mark.parametrize(("n", "least"), [(5, 0.95), (10, 0.96), (20, 0.92)])
def test_shares_that_are_equal_by_chance_are_refused_however_controls_are_found(n, least, draws):
    """A tenth of the truths has losses nine times as large, all others the same share: few samples show a disaster."""
    rng = np.random.default_rng(n)
    ratio = 0.6 / 1.8 * np.where(rng.random((4000, n)) < 0.1, 9.0, 1.0)
    loss, control, error = simulated(rng, ratio, draws)
    found = skill_interval(loss, control, control_error=error)
    shown = ~np.isnan(found.low)
    assert ((found.low <= 0.4) & (found.high >= 0.4))[shown].mean() > least
    assert shown.mean() == pytest.approx(1 - 0.9**n, abs=0.03)


@pytest.mark.parametrize("draws", [19, 99])
def test_intervals_of_varied_losses_stay(draws):
    rng = np.random.default_rng(draws)
    loss, control, error = simulated(rng, rng.gamma(2, 0.3, (2000, 10)), draws)
    with_errors, without = skill_interval(loss, control, control_error=error), skill_interval(loss, control)
    shown = ~np.isnan(with_errors.low)
    assert shown.mean() > 0.99
    np.testing.assert_array_equal(with_errors.low[shown], without.low[shown])
