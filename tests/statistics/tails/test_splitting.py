"""Multilevel splitting against exact tails, its limits and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from causaleval_pd.statistics.tails.convolution import tail_of_sum
from causaleval_pd.statistics.tails.splitting import splitting


class Matches:
    """The number of fixed points of a random permutation of d things."""

    def __init__(self, d):
        self.d = d

    def start(self, n, rng):
        return rng.permuted(np.tile(np.arange(self.d), (n, 1)), axis=1)

    def propose(self, states, rng):
        moved, n = states.copy(), np.arange(len(states))
        i, j = rng.integers(self.d, size=(2, len(states)))
        moved[n, i], moved[n, j] = states[n, j], states[n, i]
        return moved

    def score(self, states):
        return (states == np.arange(self.d)).sum(axis=1).astype(float)

    def law(self):
        """Return the law of the number of fixed points: k of them with probability D(d - k) / (k! (d - k)!)."""
        derangements = [1, 0]
        for k in range(2, self.d + 1):
            derangements.append((k - 1) * (derangements[-1] + derangements[-2]))
        chances = [derangements[self.d - k] / math.factorial(k) / math.factorial(self.d - k) for k in range(self.d + 1)]
        return np.arange(self.d + 1.0), np.array(chances)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "n", "observed"), [(8, 1, 8.0), (10, 1, 10.0), (7, 3, 17.0)])
def test_tails_are_those_of_exact_laws(d, n, observed):
    """1 / 8!, 1 / 10!, and a sum of three, each over three sets of repeats."""
    parts = [Matches(d)] * n
    exact = tail_of_sum([parts[0].law()] * n, observed).upper
    found = [splitting(parts, observed, np.random.default_rng(seed)) for seed in range(3)]
    assert all(x.reached and x.error < 0.5 for x in found)
    mean = np.mean([x.estimate for x in found])
    assert abs(mean / exact - 1) < 4 * np.mean([x.error for x in found]) / math.sqrt(3)
    assert sum(x.low <= exact <= x.high for x in found) >= 2
    for x in found:
        assert x.p == pytest.approx(x.estimate * (1 + x.error) ** 2) and x.low < x.estimate < x.high
        # t with 7 degrees of freedom
        assert x.high / x.estimate == pytest.approx(math.exp(2.3646 * x.error), rel=1e-4)


def test_equal_streams_give_equal_results_and_common_tails_are_shares():
    first, second = (splitting([Matches(6)], 2.0, np.random.default_rng(5)) for _ in range(2))
    assert first == second and first.p == pytest.approx(tail_of_sum([Matches(6).law()], 2.0).upper, rel=0.1)
    sure = splitting([Matches(6)], -1.0, np.random.default_rng(5))
    assert (sure.p, sure.low, sure.high, sure.error) == (1.0, 1.0, 1.0, 0.0)


def test_a_limit_gives_an_upper_bound():
    exact = 1 / math.factorial(10)
    for limit in ({"most_scores": 2e5}, {"least": 1e-3}):
        found = splitting([Matches(10)], 10.0, np.random.default_rng(2), **limit)
        assert not found.reached and exact < found.low < found.p < 0.05


@pytest.mark.slow
def test_what_no_particle_reaches_is_a_bound():
    beyond = splitting([Matches(5)], 6.0, np.random.default_rng(2))
    assert not beyond.reached and 1 / 120 < beyond.p < 0.02

    class Lottery(Matches):
        """Scores that no step leads to."""

        def score(self, states):
            return (super().score(states) == self.d).astype(float)

    lost = splitting([Lottery(12)], 1.0, np.random.default_rng(2))
    assert not lost.reached and lost.p == 1.0


def test_undefined_scores_are_the_worst():
    class Partly(Matches):
        def score(self, states):
            return np.where(states[:, 0] == 0, np.nan, super().score(states))

    found = splitting([Partly(4)], 2.0, np.random.default_rng(3))
    # permutations of 4 that move the first, with two or more fixed points: 3 of 24
    assert found.p == pytest.approx(3 / 24, rel=0.2)
