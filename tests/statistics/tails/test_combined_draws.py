"""P-values among all combinations of draws: by enumeration, exactly valid, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causaleval_pd.statistics.tails import combined_draws as rooms
from causaleval_pd.statistics.tails.combined_draws import combined_draws


def by_enumeration(columns):
    sums = np.array([sum(x) for x in itertools.product(*columns.tolist())])
    return (sums >= columns[:, 0].sum() - 1e-9).mean()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_p_is_the_share_of_all_combinations(seed, whole):
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 5, (4, 8)).astype(float) if whole else rng.normal(size=(4, 8))
    columns[:, 0] += 1
    exact = by_enumeration(columns)
    found = combined_draws(columns)
    assert exact - 1e-12 <= found.p <= exact * (1 + 1e-9 if whole else 1.05)
    turned = combined_draws(columns[::-1])
    assert turned == found and combined_draws(columns[:, [0, *range(7, 0, -1)]]) == found


def test_the_observed_combination_counts_and_is_the_least_value():
    columns = np.array([[9.0, 1.0, 2.0], [9.0, 0.0, 1.0], [9.0, 3.0, 3.0]])
    found = combined_draws(columns)
    assert found.p == pytest.approx(3.0**-3) and found.at_floor
    # a draw of each cluster that is as good
    columns[:, 2] = 9.0
    found = combined_draws(columns)
    assert found.p == pytest.approx((2 / 3) ** 3) and not found.at_floor


def test_p_is_valid_however_few_the_draws():
    """Skewed exchangeable columns of clusters with unequal scales."""
    rng = np.random.default_rng(5)
    n, scales = 600, np.array([[1.0], [3.0], [0.5]])
    p = np.array([combined_draws(scales * rng.exponential(size=(3, 10))).p for _ in range(n)])
    for alpha in (0.01, 0.05, 0.2):
        assert alpha / 3 < (p <= alpha).mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / n)


def test_many_values_are_rounded_towards_a_larger_p(monkeypatch):
    rng = np.random.default_rng(6)
    columns = rng.normal(size=(4, 400))
    columns[:, 0] = 1.5
    exact = combined_draws(columns).p
    monkeypatch.setattr(rooms, "MOST_WORK", 60 * 2 * 4 * (rooms.GRID + 1))
    rounded = combined_draws(columns).p
    assert exact < rounded < 1.6 * exact
    monkeypatch.setattr(rooms, "MOST_WORK", 10 * 2 * 4 * (rooms.GRID + 1))
    assert combined_draws(columns) is None


def test_undefined_columns_have_no_p_value():
    assert combined_draws([[1.0, np.nan], [1.0, 2.0]]) is None and combined_draws(np.empty((0, 5))) is None
