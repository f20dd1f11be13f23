"""Simultaneous levels: Šidák's where estimates are not related, the single one where they are the same, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from causaleval_pd.statistics.simultaneous import contributions, single_level


def centred(values):
    return values - values.mean(axis=1, keepdims=True)


def test_estimates_that_are_the_same_need_the_single_level():
    values = centred(np.random.default_rng(1).normal(size=(1, 30)))
    same = single_level(np.repeat(values, 12, axis=0), 0.9, rng=1)
    assert same == pytest.approx(0.9, abs=0.01)
    # multiples of an estimate are the same estimate
    assert single_level(values * np.arange(1.0, 13.0)[:, None], 0.9, rng=1) == pytest.approx(same)


def test_estimates_of_other_clusters_need_sidaks_level():
    values = centred(np.random.default_rng(2).normal(size=(10, 8)))
    apart = np.full((10, 80), np.nan)
    for row in range(10):
        apart[row, 8 * row : 8 * row + 8] = values[row]
    assert single_level(apart, rng=3) == pytest.approx(0.95**0.1, abs=0.001)


def test_seeds_decide_and_estimates_without_variation_do_not_count():
    values = centred(np.random.default_rng(4).normal(size=(6, 12)))
    first = single_level(values, rng=5)
    assert first == single_level(values, rng=5) != single_level(values, rng=6)
    assert first == single_level(np.concatenate([values, np.zeros((3, 12))]), rng=5)
    assert single_level(values[:1]) == single_level(np.zeros((4, 5))) == single_level(np.zeros((0, 0))) == 0.95


def test_contributions_are_those_of_the_mean_or_of_walsh_averages():
    values = np.array([[1.0, 2.0, 6.0, np.nan], [3.0, np.nan, np.nan, np.nan]])
    np.testing.assert_allclose(contributions(values, [3.0, 3.0], ranks=False)[0], [-2.0, -1.0, 3.0, np.nan])
    ranked = contributions(values, [3.0, 3.0], ranks=True)
    # signs of d_i + d_j for distances -2, -1, 3: rows sum to -1, -1, 3
    np.testing.assert_allclose(ranked[0], np.array([-1.0, -1.0, 3.0, np.nan]) - 1 / 3)
    assert ranked[1, 0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("design", ["shared truths", "related strata", "other truths"])
@pytest.mark.parametrize("n", [5, 10])
def test_thirty_intervals_cover_together(design, n):
    rng, k, repeats = np.random.default_rng(n), 30, 300
    covered, single = 0, 0
    for repeat in range(repeats):
        values = rng.normal(size=(k, n))
        if design == "related strata":
            values = (values + rng.normal(size=(1, n))) / np.sqrt(2)
        error = values.std(axis=1, ddof=1) / np.sqrt(n)
        t = np.abs(values.mean(axis=1)) / error
        own = centred(values)
        if design == "other truths":
            own = np.where(np.kron(np.eye(k), np.ones(n)) > 0, np.tile(own, k), np.nan)
        level = single_level(own, n_resamples=999, rng=repeat)
        covered += (t <= special.stdtrit(n - 1, (1 + level) / 2)).all()
        single += (t <= special.stdtrit(n - 1, 0.975)).all()
    assert covered / repeats > 0.91  # 3 standard errors below .95
    assert single / repeats < 0.7
