"""Laws of a printed accuracy: of yes and no shuffled among the questions, and of coins.

A metric is a share of n questions that were answered right. Answers of several classes have the law of coincidences
(`statistics.coincidences`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy import stats

from ..statistics.arrays import SMALLEST_P


class RightAnswers(NamedTuple):
    """Least and largest number of right answers that rounds to a printed share."""

    least: int
    most: int


def right_answers(accuracy: float, slack: float, n: int) -> RightAnswers | None:
    """Return the numbers of right answers that a printed accuracy can have, None if no whole number gives it."""
    least, most = math.ceil(n * (accuracy - slack) - 1e-6), math.floor(n * (accuracy + slack) + 1e-6)
    return RightAnswers(max(least, 0), min(most, n)) if least <= most else None


def questions_of(accuracy: float, error: float, *, sample: bool = True) -> float:
    """Return the number of questions that a printed standard error implies, n - 1 under its root if `sample`."""
    return accuracy * (1 - accuracy) / error**2 + sample


def coin_tail(n: int, right: int) -> float:
    """Return the probability that fair coins are right at least so often."""
    return max(float(stats.binom.sf(right - 1, n, 0.5)), SMALLEST_P) if right <= n else 0.0


def shuffled_mean(n: int, true_yes: int, answered_yes: int) -> float:
    """Return the mean accuracy of shuffled yes and no."""
    return (true_yes * answered_yes + (n - true_yes) * (n - answered_yes)) / n**2


def shuffled_tail(n: int, true_yes: int, answered_yes: int, right: int) -> float:
    """Return the probability that shuffled answers, so many of them yes, are right at least so often.

    Examples
    --------
    >>> round(shuffled_tail(100, 70, 91, 75), 6)
    0.002807
    """
    right_yes = math.ceil((right - n + true_yes + answered_yes) / 2)
    found = float(stats.hypergeom.sf(right_yes - 1, n, true_yes, answered_yes))
    return max(found, SMALLEST_P) if right_yes <= min(true_yes, answered_yes) else 0.0


def worst_shuffled(n: int, true_yes: int, right: int) -> tuple[float, int]:
    """Return the largest tail over the numbers of yes that can have so many right answers, and that number.

    Examples
    --------
    >>> p, answered_yes = worst_shuffled(100, 70, 72)
    >>> round(p, 5), answered_yes
    (0.08788, 98)
    """
    parity = (n - true_yes + right) % 2
    possible = []
    for answered in range(parity, n + 1, 2):
        right_yes = (right - n + true_yes + answered) // 2
        if max(0, true_yes + answered - n) <= right_yes <= min(true_yes, answered):
            possible.append((shuffled_tail(n, true_yes, answered, right), answered))
    return max(possible)
