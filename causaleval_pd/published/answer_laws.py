"""Laws of a printed accuracy: of answers shuffled among the questions, and of coins.

A metric is a share of n questions that were answered right; r_k of them have the class k as truth, c_k as answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from ..statistics.arrays import SMALLEST_P

#: questions up to which the law of several classes is computed in whole numbers
_MOST_EXACT = 300


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


def class_moments(truths: Sequence[int], answers: Sequence[int]) -> tuple[float, float]:
    """Return mean and variance of the number of right answers, shuffled among questions of several classes.

    Examples
    --------
    >>> [round(x, 4) for x in class_moments((2, 2, 3), (3, 3, 1))]
    [2.1429, 1.551]
    """
    r, c = np.asarray(truths, np.float64), np.asarray(answers, np.float64)
    n = r.sum()
    same = (r * c).sum()
    weights = (np.eye(len(r)) - c[:, None] / n - r[None, :] / n + same / n**2) ** 2
    return float(same / n), float((weights * r[:, None] * c[None, :]).sum() / (n - 1))


def class_tail(truths: Sequence[int], answers: Sequence[int], right: int) -> float:
    """Return the probability that shuffled answers of several classes are right at least so often.

    Exact from factorial moments in whole numbers up to 300 questions, normal with half a step beyond.

    Examples
    --------
    >>> round(class_tail((60, 30, 30), (50, 40, 30), 55), 6)
    0.009458
    """
    n = int(sum(truths))
    if right <= 0:
        return 1.0
    if n > _MOST_EXACT:
        mean, variance = class_moments(truths, answers)
        if not variance:
            return float(right <= mean + 1e-9)
        return max(float(stats.norm.sf((right - 0.5 - mean) / math.sqrt(variance))), SMALLEST_P)
    # ways to choose m right answers, over all classes
    chosen = [1]
    for r, c in zip(truths, answers, strict=True):
        own = [math.comb(r, j) * math.comb(c, j) * math.factorial(j) for j in range(min(r, c) + 1)]
        product = [0] * (len(chosen) + len(own) - 1)
        for i, x in enumerate(chosen):
            for j, y in enumerate(own):
                product[i + j] += x * y
        chosen = product
    moments = [math.factorial(n - m) * ways for m, ways in enumerate(chosen)]
    # P(H >= h) by inclusion and exclusion
    total = sum((-1) ** (m - right) * math.comb(m - 1, right - 1) * moments[m] for m in range(right, len(moments)))
    return max(total / math.factorial(n), SMALLEST_P) if total else 0.0
