"""Laws of printed accuracies, and of means of AUROC and average precision, where answers or scores are shuffled.

A metric of answers is a share of n questions that were answered right; answers of several classes have the law of
coincidences (`statistics.coincidences`). A ranking has N candidates, of which K are true; scores are shuffled among the
candidates. Means are those of independent rankings.

.. [1] Mann, H. B., & Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger
   than the other. doi:10.1214/aoms/1177730491
.. [2] Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. doi:10.2307/2282952
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from ..statistics.arrays import SMALLEST_P
from ..statistics.tails import tail_of_sum


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
    tail = float(scipy.stats.hypergeom.sf(right_yes - 1, n, true_yes, answered_yes))
    return max(tail, SMALLEST_P) if right_yes <= min(true_yes, answered_yes) else 0.0


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


Floats = NDArray[np.float64]
#: candidates and true ones of a ranking
Size = tuple[int, int]

#: cells of the table from which the law of one AUROC is counted
_MOST_CELLS = 3e7
#: orders that are listed for the law of one average precision
_MOST_ORDERS = 20_000
#: rankings whose laws are convolved
_MOST_CONVOLVED = 200
#: multiplications that a convolution may take
_MOST_WORK = 1e8
#: rankings from which on the normal law without ties holds for ties as well
NORMAL_FROM = 30
#: steps between 0 and 1 to which the terms of average precision are rounded, and fewer ones for many candidates
_STEPS, _FEWEST_STEPS = 20_000, 2000
#: skewness of a mean from which on the Pearson III law is too light by more than some percent
_SKEWED = 0.6
#: steps x candidates x true ones that this may take, some seconds
_MOST_STEPS = 2e9


class Moments(NamedTuple):
    """Mean, variance and skewness."""

    mean: float
    variance: float
    skewness: float


class Tail(NamedTuple):
    """Probability of a value or a better one, and how it was found."""

    p: float
    method: str


@cache
def auroc_law(n: int, k: int) -> tuple[Floats, Floats]:
    """Return the values of AUROC without ties, and their probabilities: the law of Mann and Whitney [1]_."""
    pairs = k * (n - k)
    ways = np.zeros((k + 1, pairs + 1))
    ways[0, 0] = 1.0
    for i in range(n):
        further = np.zeros_like(ways)
        further[1:] = ways[:-1]
        # a false candidate is below all true ones before it
        for above in range(max(0, k - (n - i) + 1), min(i, k) + 1):
            further[above, above:] += ways[above, : pairs + 1 - above]
        ways = further / further.sum()
    return np.arange(pairs + 1) / pairs, ways[k] / ways[k].sum()


def auroc_variance(sizes: Sequence[Size], ties: Sequence[Sequence[int]] | None = None) -> float:
    """Return the variance of the mean AUROC of rankings; `ties` are the sizes of the groups of equal scores of each."""
    total = 0.0
    for i, (n, k) in enumerate(sizes):
        tied = 0.0 if ties is None else sum(t**3 - t for t in ties[i]) / (n * (n - 1))
        total += (n + 1 - tied) / (12 * k * (n - k))
    return total / len(sizes) ** 2


def auroc_tail(sizes: Sequence[Size], value: float) -> Tail:
    """Return P(mean AUROC >= value) without ties: convolved, or normal where that takes too much work."""
    cells = max(n * k * k * (n - k) for n, k in sizes)
    if len(sizes) <= _MOST_CONVOLVED and cells <= _MOST_CELLS:
        tail = _convolved([auroc_law(*size) for size in sizes], value)
        if tail is not None:
            return tail
    return Tail(auroc_normal(sizes, value), "normal")


def _convolved(laws: Sequence[tuple[Floats, Floats]], value: float) -> Tail | None:
    """Return P(mean >= value) of independent values, None if it takes too much work."""
    tail = tail_of_sum(laws, len(laws) * value, most_work=_MOST_WORK)
    if tail is None:
        return None
    return Tail(float(min(max(tail.upper, 0.0), 1.0)), "exact" if len(laws) == 1 else "exact convolution")


def auroc_normal(sizes: Sequence[Size], value: float) -> float:
    """Return P(mean AUROC >= value) by the normal law without ties."""
    return max(float(scipy.stats.norm.sf((value - 0.5) / math.sqrt(auroc_variance(sizes)))), SMALLEST_P)


def auroc_bound(sizes: Sequence[Size], value: float) -> float:
    """Bound P(mean AUROC >= value), whatever ties there are: the lesser bound of Bernstein and Hoeffding [2]_."""
    above = value - 0.5
    if above <= 0:
        return 1.0
    n = len(sizes)
    variance = auroc_variance(sizes) * n
    bernstein = math.exp(-n * above**2 / (2 * variance + above / 3))
    hoeffding = math.exp(-2 * (above * n) ** 2 / sum(1 / min(k, size - k) for size, k in sizes))
    return max(min(bernstein, hoeffding), SMALLEST_P)


def precision_moments(n: int, k: int) -> Moments:
    """Return mean, variance and skewness of average precision without ties."""
    # sums of powers over all orders, by the number of true candidates so far
    powers = np.zeros((4, k + 1))
    powers[0, 0] = 1.0
    hits = np.arange(k + 1)
    for i in range(n):
        chance = (k - hits) / (n - i)
        gain = (hits + 1) / ((i + 1) * k)
        zeroth, first, second, third = powers * chance
        hit = [
            zeroth,
            first + gain * zeroth,
            second + 2 * gain * first + gain**2 * zeroth,
            third + 3 * gain * second + 3 * gain**2 * first + gain**3 * zeroth,
        ]
        powers = powers * (1 - chance)
        powers[:, 1:] += np.array(hit)[:, :-1]
    _, mean, square, cube = powers[:, k]
    variance = float(square - mean**2)
    if variance <= 1e-15:
        return Moments(float(mean), 0.0, 0.0)
    return Moments(float(mean), variance, float((cube - 3 * mean * square + 2 * mean**3) / variance**1.5))


def mean_precision_moments(sizes: Sequence[Size]) -> Moments:
    """Return mean, variance and skewness of the mean average precision of rankings."""
    each = {size: precision_moments(*size) for size in set(sizes)}
    n = len(sizes)
    variance = sum(each[size].variance for size in sizes) / n**2
    third = sum(each[size].skewness * each[size].variance ** 1.5 for size in sizes) / n**3
    mean = sum(each[size].mean for size in sizes) / n
    return Moments(mean, variance, third / variance**1.5 if variance else 0.0)


@cache
def precision_law(n: int, k: int) -> tuple[Floats, Floats]:
    """Return the values of average precision of all orders without ties, and their probabilities."""
    ranks = np.array(list(combinations(range(1, n + 1), k)), np.float64)
    values, counts = np.unique((np.arange(1, k + 1) / ranks).mean(1).round(12), return_counts=True)
    return values, counts / counts.sum()


def precision_tail(sizes: Sequence[Size], value: float, *, lower: bool = False) -> Tail:
    """Return P(mean average precision >= value) without ties, where it is not known its upper or its lower bound.

    Small rankings are listed and convolved. Of large ones the terms are rounded up (down) to steps; means whose law is
    nearly symmetric have the Pearson III law of the first three moments.
    """
    if len(sizes) <= _MOST_CONVOLVED and all(math.comb(*size) <= _MOST_ORDERS for size in sizes):
        tail = _convolved([precision_law(*size) for size in sizes], value)
        if tail is not None:
            return tail
    moments = mean_precision_moments(sizes)
    if not moments.variance:
        return Tail(float(moments.mean >= value - 1e-9), "exact")
    work = max(map(math.prod, sizes))
    steps = min(_STEPS, int(_MOST_STEPS / work))
    if steps >= _FEWEST_STEPS and (len(sizes) == 1 or moments.skewness > _SKEWED) and len(sizes) <= _MOST_CONVOLVED:
        return Tail(_precision_bound(sizes, value, steps, lower), "bound")
    law = scipy.stats.pearson3(moments.skewness, moments.mean, math.sqrt(moments.variance))
    return Tail(max(float(law.sf(value)), SMALLEST_P), "Pearson III")


def _precision_bound(sizes: Sequence[Size], value: float, steps: int, lower: bool) -> float:
    """Bound P(mean average precision >= value) by laws whose terms are rounded to steps."""
    if len(sizes) == 1:
        law = _rounded_law(*sizes[0], steps, lower)
    else:
        # the sum of independent rankings; transforms have rounding errors of some 1e-15
        length = steps * len(sizes) + 1
        spectrum = np.ones(length // 2 + 1, np.complex128)
        for size in set(sizes):
            spectrum *= np.fft.rfft(_rounded_law(*size, steps, lower), length) ** sizes.count(size)
        law = np.fft.irfft(spectrum, length) + (-1e-14 if lower else 1e-14)
    end = math.ceil(value * steps * len(sizes) - 1e-6)
    return min(max(float(law[end:].sum()), SMALLEST_P), 1.0)


@lru_cache(maxsize=256)
def _rounded_law(n: int, k: int, steps: int, lower: bool) -> Floats:
    """Return the probabilities of average precision at multiples of 1/steps, each of its terms rounded up or down."""
    law = np.zeros((k + 1, steps + 1))
    law[0, 0] = 1.0
    for i in range(n):
        further = np.zeros_like(law)
        for hits in range(max(0, k - (n - i)), min(i, k) + 1):
            chance = (k - hits) / (n - i)
            further[hits] += (1 - chance) * law[hits]
            if chance > 0:
                gain = (hits + 1) / ((i + 1) * k) * steps
                step = min(math.floor(gain + 1e-9) if lower else math.ceil(gain - 1e-9), steps)
                further[hits + 1, step:] += chance * law[hits, : steps + 1 - step]
                # the last cell holds all sums that rounding has put beyond 1
                further[hits + 1, -1] += chance * law[hits, steps + 1 - step :].sum()
        law = further
    return law[k]
