"""Exact tails of sums of independent discrete variables, by direct convolution; steps of sums; hypergeometric laws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import SMALLEST_P, padded_sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: values of a variable, and their probabilities, which sum to 1
Law = tuple[Floats, Floats]

#: steps between the largest possible sum and the observed one, where values have no common step
GRID = 2**14
#: steps of a common lattice up to which the law is convolved on it
_LONGEST = 2**20
#: ratio of the bounds from which on a finer grid is tried, unless the upper one is negligible for any family of tests
_CLOSE, _NEGLIGIBLE = 1.05, 1e-20
#: distances among which a common step is looked for
_LONGEST_LIST = 10_000
#: sums closer than this share of their scale tie
_TIE = 1e-9
#: multiplications that a sum may take, some seconds; a longer one is refused
MOST_WORK = 2_000_000_000


class Tail(NamedTuple):
    """Bounds of a tail probability, equal where the values have a common step."""

    upper: float
    lower: float


def tail_of_sum(laws: Sequence[Law], observed: float, *, most_work: float = MOST_WORK) -> Tail | None:
    """Return bounds of P(X_1 + .. + X_n >= observed) for independent discrete variables, None beyond `most_work`.

    Each value is replaced by its distance from the largest one of its law. Distances with a common step are convolved
    as whole numbers, which is exact. Others are put on a grid of `GRID` steps between the largest sum and the observed
    one, once rounded down, for the upper bound, and once rounded up, for the lower one; where these differ by more than
    5 %, grids that are 8 and 64 times as fine follow, while the work allows. Distances beyond the observed one are
    dropped, because no other can make up for them. Terms are not negative and are added one by one, so that small tails
    keep a relative accuracy of about 1e-14; a Fourier transform would lose all digits below 1e-16.
    """
    if not laws or np.isnan(observed):
        return Tail(np.nan, np.nan)
    largest = np.array([values.max() for values, _ in laws])
    scale = max(1.0, abs(observed), float(np.abs(largest).max()))
    reach = float(largest.sum() - observed)
    within = max(reach, 0.0) + _TIE * scale
    near = [_near(values, weights, top, within) for (values, weights), top in zip(laws, largest, strict=True)]
    if reach <= _TIE * scale:
        chance = float(np.prod([weights.sum() for _, weights in near])) if reach >= -_TIE * scale else 0.0
        return Tail(chance, chance)
    step = _step(near, _TIE * scale)
    n_steps = reach / step if step else np.inf
    if n_steps <= _LONGEST:
        if not _affordable(near, n_steps, most_work):
            return None
        whole = int(np.floor(n_steps + 1e-6))
        chance = _below([(np.rint(apart / step), weights) for apart, weights in near], whole)
        return Tail(chance, chance)
    grid, tail = GRID, None
    while (tail is None or (_wide(tail) and grid <= 64 * GRID)) and _affordable(near, 2 * grid, most_work):
        scaled = [(apart / reach * grid, weights) for apart, weights in near]
        slack = grid * _TIE * scale / reach
        # where values are large beside their distances, the slack is more than a step
        near_by = [(np.maximum(apart - slack, 0.0), weights) for apart, weights in scaled]
        upper = _below([(np.floor(apart), weights) for apart, weights in near_by], grid)
        lower = _below([(np.ceil(apart), weights) for apart, weights in near_by], grid)
        tail, grid = Tail(upper, min(lower, upper)), 8 * grid
    return tail


def _wide(tail: Tail) -> bool:
    """Return whether the bounds are so far apart that a finer grid is worth its work."""
    return tail.upper > _CLOSE * tail.lower and tail.upper > _NEGLIGIBLE


def _near(values: Floats, weights: Floats, largest: float, reach: float) -> Law:
    """Return the distances from the largest value, up to `reach`, and their probabilities."""
    apart = largest - values
    used = (apart <= reach) & (weights > 0)
    return np.maximum(apart[used], 0.0), weights[used]


def _step(laws: Sequence[Law], noise: float) -> float:
    """Return the largest number of which all distances are whole multiples, 0 if no such number exists."""
    distances = np.unique(np.concatenate([apart for apart, _ in laws]))
    distances = distances[distances > noise]
    if not len(distances):
        return np.inf
    return float(common_step(distances[None])[0]) if len(distances) <= _LONGEST_LIST else 0.0


def _affordable(laws: Sequence[Law], length: float, most_work: float) -> bool:
    return sum(len(weights) for _, weights in laws) * (length + 1) <= most_work


def _below(laws: Sequence[Law], most: int) -> float:
    """Return P(sum <= most) for laws of whole numbers that are not negative."""
    law = np.zeros(most + 1)
    law[0] = 1.0
    reached = 0
    for distances, weights in laws:
        places, inverse = np.unique(distances.astype(np.int64), return_inverse=True)
        chances = np.bincount(inverse, weights, len(places))
        here = places <= most
        added = np.zeros(most + 1)
        for place, chance in zip(places[here].tolist(), chances[here].tolist(), strict=True):
            stop = min(reached, most - place) + 1
            added[place : place + stop] += chance * law[:stop]
        reached = min(most, reached + int(places[here].max(initial=0)))
        law = added
    return float(law.sum())


#: weights whose common divisor is smaller than this share of the largest have none
_LEAST = 1e-4


def common_step(weights: Floats) -> Floats:
    """Return the largest number of which each row's weights (n, w) are whole multiples, 0 if no such number exists.

    Weights of 0 and missing ones do not count.
    """
    sizes = np.abs(np.nan_to_num(weights))
    largest = sizes.max(axis=1, initial=0.0)
    step = np.zeros(len(sizes))
    for size in sizes.T:
        a, b = np.maximum(step, size), np.minimum(step, size)
        while True:
            going = b > 1e-9 * largest
            if not going.any():
                break
            divisor = np.where(going, b, 1.0)
            # the remainder nearest to 0, so that rounding errors do not pass for a divisor
            rest = np.abs(a - divisor * np.round(a / divisor))
            a, b = np.where(going, b, a), np.where(going, rest, b)
        step = a
    return np.where(step > _LEAST * largest, step, 0.0)


def hypergeometric_weights(n_pairs: Ints, true_edges: Ints, estimated_edges: Ints) -> tuple[Ints, Floats]:
    """Return support and probabilities (u, s), to some 1e-14 relative, of hypergeometric laws of (u, 1) margins."""
    low = np.maximum(0, true_edges + estimated_edges - n_pairs)
    high = np.minimum(true_edges, estimated_edges)
    steps = np.arange(int((high - low).max(initial=0)) + 1)
    support = np.minimum(low + steps, high)
    inside = low + steps <= high
    k = support.astype(np.float64)
    rising = np.log(np.maximum((true_edges - k) * (estimated_edges - k), 1.0))
    falling = np.log((k + 1) * np.maximum(n_pairs - true_edges - estimated_edges + k + 1, 1.0))
    logs = np.zeros(support.shape)
    logs[:, 1:] = np.cumsum((rising - falling)[:, :-1], axis=1)
    logs = np.where(inside, logs, -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    # what is possible has a probability, though it may be too small for a number
    return support, np.where(inside, np.maximum(weights / padded_sum(weights)[:, None], SMALLEST_P), 0.0)


@lru_cache(maxsize=4096)
def hypergeometric_law(n: int, marked: int, drawn: int) -> tuple[Ints, Floats]:
    """Return the numbers of marked ones among some drawn of n that are possible, and their probabilities."""
    support, weights = hypergeometric_weights(*(np.array([[x]], np.int64) for x in (n, marked, drawn)))
    return support[0], weights[0]
