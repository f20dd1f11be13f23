"""Tails of sums of independent variables, against sums over all combinations and known powers; steps of such sums."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from causaleval_pd.statistics.tails import GRID, common_step, hypergeometric_law, hypergeometric_weights, tail_of_sum


def by_enumeration(laws, observed):
    """Sum the probabilities of all combinations, in exact arithmetic; ties to 1e-9 count."""
    total = Fraction(0)
    for combination in itertools.product(*(zip(*law, strict=True) for law in laws)):
        if sum(value for value, _ in combination) >= observed - 1e-9:
            total += math.prod(Fraction(float(weight)) for _, weight in combination)
    return float(total)


def hypergeometric(n_pairs, true, estimated, value=lambda k: float(k)):
    """Return the law of a function of the number of shared edges."""
    low, high = max(0, true + estimated - n_pairs), min(true, estimated)
    support = range(low, high + 1)
    total = math.comb(n_pairs, estimated)
    weights = [math.comb(true, k) * math.comb(n_pairs - true, estimated - k) / total for k in support]
    return np.array([value(k) for k in support]), np.array(weights)


@pytest.mark.parametrize("case", [(45, 8, 10), (10, 10, 3), (6, 5, 4), (3, 0, 2), (0, 0, 0), (500, 250, 200)])
def test_hypergeometric_laws_are_those_of_binomial_coefficients(case):
    support, weights = hypergeometric_law(*case)
    values, chances = hypergeometric(*case)
    assert support.tolist() == values.tolist()
    np.testing.assert_allclose(weights, chances, rtol=1e-12)


def test_laws_of_shorter_support_are_padded_without_weight():
    n, true, estimated = (np.array(x)[:, None] for x in ((45, 6, 45), (8, 5, 8), (10, 4, 2)))
    support, weights = hypergeometric_weights(n, true, estimated)
    for i, case in enumerate([(45, 8, 10), (6, 5, 4), (45, 8, 2)]):
        known, chances = hypergeometric_law(*case)
        assert support[i, : len(known)].tolist() == known.tolist() and (support[i, len(known) :] == known[-1]).all()
        assert weights[i, : len(known)].tolist() == chances.tolist() and not weights[i, len(known) :].any()


@pytest.mark.slow
def test_a_lattice_is_exact_far_out():
    laws = [hypergeometric(45, m, 10) for m in (8, 12, 10, 7)]
    for observed in (37.0, 36.0, 30.0, 20.0, 9.0, 0.0):
        tail = tail_of_sum(laws, observed)
        assert tail.upper == tail.lower
        assert tail.upper == pytest.approx(by_enumeration(laws, observed), rel=1e-12)
    assert tail_of_sum(laws, 37.5).upper == 0.0


def test_five_perfect_runs_give_the_product_of_their_p_values():
    law = hypergeometric(28, 8, 8)
    law = law[0], law[1]
    single = tail_of_sum([law], 8.0).upper
    assert single == pytest.approx(1 / math.comb(28, 8), rel=1e-12)
    assert tail_of_sum([law] * 5, 40.0).upper == pytest.approx(single**5, rel=1e-12)
    # beyond the range in which a Fourier transform has digits
    assert tail_of_sum([law] * 40, 320.0).upper == pytest.approx(single**40, rel=1e-11)


@pytest.mark.parametrize("size", [1e2, 1e4, -1e6])
def test_values_that_are_large_beside_their_distances(size):
    rng = np.random.default_rng(1)
    laws = [(size + np.append(0, -rng.random(6)), np.full(7, 1 / 7)) for _ in range(4)]
    for below in (0.3, 0.6, 1.5):
        observed = sum(values.max() for values, _ in laws) - below
        tail = tail_of_sum(laws, observed)
        # each of the four values ties within 1e-9 of the largest size
        ties = 4 * 1e-9 * abs(observed)
        assert by_enumeration(laws, observed) <= tail.upper * (1 + 1e-9)
        assert tail.lower <= by_enumeration(laws, observed - ties) * (1 + 1e-9)
        assert tail.upper < 1.05 * by_enumeration(laws, observed - ties) + 1e-3


def test_other_scores_lie_between_the_bounds():
    """F1 at different numbers of edges has no common step; the bounds hold the exact tail and are close to it."""
    margins = [(8, 10), (12, 7), (9, 9), (5, 13)]
    laws = [hypergeometric(45, t, e, lambda k, t=t, e=e: 2 * k / (t + e)) for t, e in margins]
    values = [law[0] for law in laws]
    for shared in ((8, 7, 9, 5), (6, 6, 7, 4), (5, 4, 5, 3), (2, 2, 2, 1)):
        observed = sum(2 * k / (t + e) for k, (t, e) in zip(shared, margins, strict=True))
        exact = by_enumeration(laws, observed)
        tail = tail_of_sum(laws, observed)
        assert tail.lower * (1 - 1e-12) <= exact <= tail.upper * (1 + 1e-12)
        assert tail.upper <= exact * 1.05
    best = sum(v.max() for v in values)
    assert tail_of_sum(laws, best).upper == pytest.approx(by_enumeration(laws, best), rel=1e-12)


def test_few_steps_are_a_rough_grid_and_ties_count():
    thirds = np.array([0.0, 1 / 3, 2 / 3, 1.0]), np.array([0.4, 0.3, 0.2, 0.1])
    # 1/3 + 2/3 is not 1 in floating point, but ties with it
    assert tail_of_sum([thirds] * 2, 2 / 3 + 2 / 3).upper == pytest.approx(
        0.2**2 + 2 * 0.1 * 0.3 + 2 * 0.1 * 0.2 + 0.01
    )
    irrational = np.array([0.0, math.sqrt(2), math.e]), np.array([0.5, 0.3, 0.2])
    tail = tail_of_sum([irrational] * 3, 2 * math.sqrt(2))
    assert tail.lower <= by_enumeration([irrational] * 3, 2 * math.sqrt(2)) <= tail.upper
    assert GRID == 2**14


def test_finer_grids_bring_the_bounds_together_where_many_scores_add_up():
    law = hypergeometric(190, 20, 17, lambda k: 2 * k / 37)
    other = hypergeometric(190, 20, 23, lambda k: 2 * k / (43 + 1e-3))
    tail = tail_of_sum([law] * 30 + [other] * 30, 60 * 0.15)
    assert 1e-12 < tail.lower <= tail.upper <= 1.3 * tail.lower < 1e-2


def test_constants_negative_values_and_the_whole_range():
    fixed = np.array([-3.0]), np.array([1.0])
    coin = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    assert tail_of_sum([fixed], -3.0).upper == 1.0 and tail_of_sum([fixed], -2.9).upper == 0.0
    assert tail_of_sum([fixed, coin, coin], -5.0).upper == 1.0
    assert tail_of_sum([fixed, coin, coin], -1.0).upper == 0.25
    assert tail_of_sum([fixed, coin, coin], -100.0).upper == pytest.approx(1.0)
    assert math.isnan(tail_of_sum([], 0.0).upper) and math.isnan(tail_of_sum([coin], math.nan).upper)


def test_a_sum_that_takes_too_much_work_is_refused():
    rng = np.random.default_rng(1)
    law = np.sort(rng.random(500)), np.full(500, 1 / 500)
    assert tail_of_sum([law] * 3, 1.0, most_work=1e6) is None
    assert tail_of_sum([law] * 3, 1.0) is not None


@pytest.mark.parametrize(
    ("weights", "step"),
    [([-2, -1], 1), ([2, -4, 6], 2), ([0, 0], 0), ([2 / 17, 6 / 17], 2 / 17), ([np.nan, 3], 3), ([1, np.sqrt(2)], 0)],
)
def test_steps_divide_every_weight(weights, step):
    found = common_step(np.array([weights, weights[::-1]], float))
    np.testing.assert_allclose(found, step, atol=1e-12)
