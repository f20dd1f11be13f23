"""Bayesian models of differences: numbers of other programs, symmetry, and limits that are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.statistics.bayesian import hierarchical_posterior, signed_rank_posterior

KNOWN = Path(__file__).parents[1] / "known_answers"
SIGNED_RANK = pd.read_csv(KNOWN / "bayesian_signed_rank.csv.gz")
HIERARCHICAL = pd.read_csv(KNOWN / "bayesian_hierarchical.csv.gz")


def numbers(words):
    return np.array(words.split(), float)


@pytest.mark.parametrize("case", SIGNED_RANK.to_dict("records"), ids=lambda x: f"n={len(x['differences'].split())}")
def test_signed_rank_probabilities_are_those_of_baycomp(case):
    found = signed_rank_posterior(numbers(case["differences"]), case["rope"], n_resamples=20_000, rng=1)
    theirs = [case["p_second_larger"], case["p_equivalent"], case["p_first_larger"]]
    # 4 standard errors of 20,000 draws
    np.testing.assert_allclose(found, theirs, atol=4 * np.sqrt(0.25 / 20_000))


def strata(words):
    values = [numbers(part) for part in words.split("|")]
    return [x.mean() for x in values], [x.std(ddof=1) for x in values], [len(x) for x in values]


@pytest.mark.slow
@pytest.mark.parametrize("case", HIERARCHICAL.to_dict("records"), ids=lambda x: f"q={x['differences'].count('|') + 1}")
def test_hierarchical_probabilities_are_those_of_a_sampler(case):
    found = hierarchical_posterior(*strata(case["differences"]), case["rope"])
    theirs = [case["p_first_smaller"], case["p_equivalent"], case["p_first_larger"]]
    np.testing.assert_allclose(found, theirs, atol=0.005 + 3 * case["mc_error"])


@pytest.mark.slow
def test_probabilities_are_mirrored_and_add_up():
    rng = np.random.default_rng(3)
    values = rng.normal(0.3, 1, (5, 12))
    there, back = (signed_rank_posterior(sign * values, 0.2, rng=1) for sign in (1, -1))
    np.testing.assert_allclose(there, back[:, ::-1])
    np.testing.assert_allclose(there.sum(axis=1), 1)
    means, deviations, n = rng.normal(size=6), rng.uniform(0.5, 2, 6), np.array([3, 4, 5, 9, 12, 20])
    there, back = (hierarchical_posterior(sign * means, deviations, n, 0.3) for sign in (1, -1))
    np.testing.assert_allclose(there, back[::-1], atol=1e-9)
    assert there.sum() == pytest.approx(1)


@pytest.mark.slow
def test_models_do_not_depend_on_the_unit():
    rng = np.random.default_rng(4)
    values = rng.normal(0.3, 1, 9)
    np.testing.assert_allclose(
        signed_rank_posterior(values, 0.2, rng=1), signed_rank_posterior(1000 * values, 200, rng=1)
    )
    means, deviations = rng.normal(size=5), rng.uniform(0.5, 2, 5)
    one, other = (hierarchical_posterior(k * means, k * deviations, [6] * 5, k * 0.4) for k in (1, 1e-3))
    np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.slow
def test_clear_cases():
    tight = [[0.1, -0.2, 0.05, 0.15, -0.1, 0.0, 0.1, -0.05]]
    assert signed_rank_posterior(tight, 1.0, rng=1)[0, 1] == 1
    assert signed_rank_posterior(np.array(tight) + 5, 1.0, rng=1)[0, 2] == 1
    np.testing.assert_allclose(signed_rank_posterior([[1.0, -1.0] * 6], 0.0, rng=1)[0], [0.5, 0, 0.5], atol=0.03)
    assert hierarchical_posterior([5.0, 5.2, 4.9, 5.1], [0.3] * 4, [10] * 4, 1.0)[2] > 0.99
    assert hierarchical_posterior([0.0, 0.1, -0.1, 0.05], [0.3] * 4, [10] * 4, 1.0)[1] > 0.99


def test_differences_at_the_limits_are_equivalent():
    ones = np.ones(10)
    assert signed_rank_posterior(ones, 1.0, rng=1).tolist() == [0, 1, 0]
    assert signed_rank_posterior(np.zeros(10), 0.0, rng=1).tolist() == [0.5, 0, 0.5]
    assert signed_rank_posterior(np.zeros(10), 1e-6, rng=1).tolist() == [0, 1, 0]
    # sums of tenths that differ from the limit by rounding lie on it, whatever the unit
    for unit in (1e-6, 1.0, 1e6):
        assert signed_rank_posterior(np.full(10, 0.1 + 0.2) * unit, 0.3 * unit, rng=1).tolist() == [0, 1, 0]
        assert signed_rank_posterior(np.full(10, -0.1 - 0.2) * unit, 0.3 * unit, rng=1).tolist() == [0, 1, 0]


def test_nothing_is_undefined():
    found = signed_rank_posterior([[np.nan, np.nan], [np.inf, 1.0], [1.0, np.nan]], 0.1, rng=1)
    assert np.isnan(found[:2]).all() and found[2].sum() == 1
    for given in (([1.0], [1.0], [5]), ([], [], []), ([0.0, 0.0], [0.0, 0.0], [5, 5])):
        assert np.isnan(hierarchical_posterior(*given, 0.1)).all()


@pytest.mark.slow
def test_strata_without_variation_borrow_the_least_deviation():
    still = hierarchical_posterior([1.0, 1.2, 0.9], [0.0, 0.4, 0.5], [8, 8, 8], 0.3)
    given = hierarchical_posterior([1.0, 1.2, 0.9], [0.4, 0.4, 0.5], [8, 8, 8], 0.3)
    np.testing.assert_array_equal(still, given)


def test_seeds_decide_and_rows_do_not():
    values = np.random.default_rng(1).normal(0.2, 1, (4, 8))
    first = signed_rank_posterior(values, 0.1, n_resamples=200, rng=1)
    np.testing.assert_array_equal(first, signed_rank_posterior(values, 0.1, n_resamples=200, rng=1))
    np.testing.assert_array_equal(first[2], signed_rank_posterior(values[2], 0.1, n_resamples=200, rng=1))
    assert (first != signed_rank_posterior(values, 0.1, n_resamples=200, rng=2)).any()
