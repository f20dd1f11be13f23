"""Laws of right answers agree with all shuffles of few questions and with their specification."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causaleval_pd.published.answer_laws import (
    coin_tail,
    questions_of,
    right_answers,
    shuffled_mean,
    shuffled_range,
    shuffled_tail,
)


def shuffles(truths: tuple[int, ...], answers: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of right answers of all different orders of the answers."""
    truth = np.repeat(range(len(truths)), truths)
    given = set(itertools.permutations(np.repeat(range(len(answers)), answers).tolist()))
    return np.array([(truth == order).sum() for order in given])


def test_sixty_of_a_hundred():
    """Case 23: the coin, and the least favourable number of yes."""
    assert coin_tail(100, 60) == pytest.approx(0.02844, abs=1e-5)
    limits = shuffled_range(100, 50, 60)
    assert (limits.high, limits.answered_yes) == (pytest.approx(0.03567, abs=1e-5), 50)


@pytest.mark.parametrize(
    ("n", "yes", "right", "p", "answered"),
    [
        (100, 70, 69, 1, 99),
        (100, 70, 70, 1, 100),
        (100, 70, 72, 0.08788, 98),
        (100, 70, 75, 0.002807, 91),
        (100, 70, 80, 5.14e-6, 84),
        (1160, 178, 982, 1, 0),
        (1160, 178, 990, 3.4e-7, 10),
    ],
)
def test_unbalanced_truths(n, yes, right, p, answered):
    """Cases 24 and 25: all-yes and all-no answers have the accuracy of the majority."""
    limits = shuffled_range(n, yes, right)
    assert limits.high == pytest.approx(p, rel=0.02) and limits.answered_yes == answered


@pytest.mark.parametrize(("right", "coin"), [(99, 0.3058), (92, 0.6942), (94, 0.5861), (109, 0.0249), (107, 0.0475)])
def test_printed_errors_give_the_number_of_questions(right, coin):
    """Case 26: 190 questions."""
    share = right / 190
    error = (share * (1 - share) / 189) ** 0.5
    assert questions_of(share, error) == pytest.approx(190)
    assert coin_tail(190, right) == pytest.approx(coin, abs=1e-4)


@pytest.mark.parametrize(("right", "p"), [(109, 0.0295), (107, 0.0551)])
def test_balanced_questions_raise_p(right, p):
    """Case 26, with 95 yes."""
    assert shuffled_range(190, 95, right).high == pytest.approx(p, abs=1e-4)


@pytest.mark.parametrize(("yes", "answered"), [(2, 3), (0, 2), (5, 1)])
def test_two_classes_are_hypergeometric(yes, answered):
    listed = shuffles((yes, 5 - yes), (answered, 5 - answered))
    assert shuffled_mean(5, yes, answered) == pytest.approx(listed.mean() / 5)
    for right in range(6):
        assert shuffled_tail(5, yes, answered, right) == pytest.approx((listed >= right).mean())


def test_accuracies_that_no_count_gives():
    assert right_answers(0.521, 0.0005, 190) == (99, 99)
    assert right_answers(0.523, 0.0005, 190) is None
    assert right_answers(0.5, 0.05, 10) == (5, 5)
