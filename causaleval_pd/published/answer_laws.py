"""Laws of a printed accuracy: of yes and no shuffled among the questions, and of coins.

A metric is a share of n questions that were answered right. Answers of several classes have the law of coincidences
(`statistics.coincidences`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

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
    return max(float(scipy.stats.binom.sf(right - 1, n, 0.5)), SMALLEST_P) if right <= n else 0.0


def shuffled_mean(n: int, true_yes: int, answered_yes: int) -> float:
    """Return the mean accuracy of shuffled yes and no."""
    return (true_yes * answered_yes + (n - true_yes) * (n - answered_yes)) / n**2


def shuffled_tail(n: int, true_yes: int, answered_yes: int, right: int) -> float:
    """Return the probability that shuffled answers, so many of them yes, are right at least so often."""
    right_yes = math.ceil((right - n + true_yes + answered_yes) / 2)
    found = float(scipy.stats.hypergeom.sf(right_yes - 1, n, true_yes, answered_yes))
    return max(found, SMALLEST_P) if right_yes <= min(true_yes, answered_yes) else 0.0


class ShuffledRange(NamedTuple):
    """Least and largest tail over the numbers of yes among the answers, and the number with the largest."""

    low: float
    high: float
    answered_yes: int


def shuffled_range(n: int, true_yes: int, right: int) -> ShuffledRange:
    """Return the limits of the tail where the number of yes among the answers is not known."""
    answered = np.arange((n - true_yes + right) % 2, n + 1, 2)
    right_yes = (right - n + true_yes + answered) // 2
    possible = (np.maximum(0, true_yes + answered - n) <= right_yes) & (right_yes <= np.minimum(true_yes, answered))
    answered, right_yes = answered[possible], right_yes[possible]
    tails = np.maximum(scipy.stats.hypergeom.sf(right_yes - 1, n, true_yes, answered), SMALLEST_P)
    largest = int(np.flatnonzero(tails == tails.max())[-1])
    return ShuffledRange(float(tails.min()), float(tails[largest]), int(answered[largest]))
