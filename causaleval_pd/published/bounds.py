"""Bounds of p for printed distances and directed counts where the true graph or single runs are not known.

The skeleton of a control of the null model "edges" is uniform among those with as many edges, whatever its directions:
the number of adjacencies that it shares with the truth is hypergeometric, and bounds every count of directions [1]_.

.. [1] Petersen, A. H. (2025). Are you doing better than random guessing? doi:10.48550/arXiv.2412.10039
.. [2] Hoeffding, W. (1956). On the distribution of the number of successes in independent trials. Annals of
   Mathematical Statistics 27, 713-721. doi:10.1214/aoms/1177728178
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..contract.metric import Metric
from ..statistics.arrays import SMALLEST_P, Floats
from ..statistics.tails import tail_of_sum
from .guesses import Printed
from .printed_rows import Row


class Convention(NamedTuple):
    """What a structural Hamming distance charges: at least and at most for an edge of one graph, at most if shared."""

    least: int
    most: int
    shared: int


CONVENTIONS = {
    "any difference 1": Convention(1, 1, 1),
    "reversal 2": Convention(1, 1, 2),
    "cdt": Convention(1, 2, 2),
    "tetrad": Convention(1, 2, 1),
    "skeleton": Convention(1, 1, 0),
}
#: what a message calls them
CONVENTION_WORDS = {
    "any difference 1": "each pair of nodes that differs costs 1",
    "reversal 2": "a reversed edge costs 2",
    "cdt": "differing entries of the adjacency matrices count",
    "tetrad": "an absent directed edge costs 2 (Tetrad)",
    "skeleton": "directions are ignored",
}


#: options of `shd` with which it follows a convention, and what multiplies its value
CONVENTION_OPTIONS: dict[str, tuple[dict[str, Any], float]] = {
    "any difference 1": ({}, 1.0),
    "reversal 2": ({"reversal_cost": 2.0}, 1.0),
    "cdt": ({"reversal_cost": 2.0, "absent_undirected_cost": 2.0}, 1.0),
    "tetrad": ({"reversal_cost": 0.5, "undirected_cost": 0.5, "absent_undirected_cost": 0.5}, 2.0),
    "skeleton": ({"reversal_cost": 0.0, "undirected_cost": 0.0}, 1.0),
}


class Bounds(NamedTuple):
    """Least and largest p of guessing, arrays of the shape of the input."""

    low: Floats
    high: Floats


def share_at_least(n_pairs: ArrayLike, true: ArrayLike, estimated: ArrayLike, shared: ArrayLike) -> Floats:
    """Return the probability that a random skeleton shares at least so many adjacencies with the truth."""
    pairs, mt, me, both = (np.asarray(x, np.float64) for x in (n_pairs, true, estimated, shared))
    tail = scipy.stats.hypergeom.sf(np.ceil(both - 1e-9) - 1, pairs, mt, me)
    # a tail that underflows is the smallest number, an impossible one is 0
    possible = np.minimum(mt, me) >= both - 1e-9
    return np.where(possible, np.clip(tail, SMALLEST_P, 1.0), 0.0)


def largest_shd(true: ArrayLike, estimated: ArrayLike, shared: ArrayLike, convention: str) -> Floats:
    """Return the largest distance of two graphs that share adjacencies."""
    costs = CONVENTIONS[convention]
    mt, me, both = (np.asarray(x, np.float64) for x in (true, estimated, shared))
    return np.asarray(costs.most * (mt + me - 2 * both) + costs.shared * both)


def expected_shd(n_pairs: ArrayLike, true: ArrayLike, estimated: ArrayLike, convention: str) -> tuple[Floats, Floats]:
    """Return the least and the largest mean that the distance of a random graph can have."""
    costs = CONVENTIONS[convention]
    pairs, mt, me = (np.asarray(x, np.float64) for x in (n_pairs, true, estimated))
    shared = mt * me / np.maximum(pairs, 1)
    once = mt + me - 2 * shared
    return costs.least * once, costs.most * once + costs.shared * shared


def shd_bounds(
    n_pairs: ArrayLike,
    true: ArrayLike,
    estimated: ArrayLike,
    shd: ArrayLike,
    convention: str = "any difference 1",
    *,
    uniform_order: bool = False,
) -> Bounds:
    """Bound the probability that a random graph is as near to a truth of which only the number of edges is known."""
    costs = CONVENTIONS[convention]
    both = np.asarray(true, np.float64) + np.asarray(estimated, np.float64)
    distance = np.asarray(shd, np.float64)
    if uniform_order and convention == "any difference 1":
        return _halved(n_pairs, true, estimated, both - distance, 1)
    high = share_at_least(n_pairs, true, estimated, (costs.least * both - distance) / (2 * costs.least))
    gain = 2 * costs.most - costs.shared
    if gain:
        low = share_at_least(n_pairs, true, estimated, (costs.most * both - distance) / gain)
    else:
        low = (distance >= costs.most * both).astype(np.float64)
    return Bounds(low, high)


def directed_bounds(
    n_pairs: ArrayLike, true: ArrayLike, estimated: ArrayLike, right: ArrayLike, *, uniform_order: bool = False
) -> Bounds:
    """Bound the probability that a random graph has at least so many right directions; parameters of `shd_bounds`."""
    if uniform_order:
        return _halved(n_pairs, true, estimated, right, 0)
    none = np.asarray(right, np.float64) <= 0
    return Bounds(np.where(none, 1.0, 0.0), share_at_least(n_pairs, true, estimated, right))


def _halved(n_pairs: ArrayLike, true: ArrayLike, estimated: ArrayLike, needed: ArrayLike, shared: int) -> Bounds:
    """Bound P(right directions >= needed - shared * A), where reversing all shared directions changes no law."""
    arrays = (np.asarray(x, np.float64) for x in (n_pairs, true, estimated, needed))
    pairs, mt, me, rest = (x[..., None] for x in np.broadcast_arrays(*arrays))
    a = np.arange(int(np.minimum(mt, me).max()) + 1)
    weights = scipy.stats.hypergeom.pmf(a, pairs, mt, me)
    least = np.ceil(rest - shared * a - 1e-9)
    high = np.where(least <= a / 2, 1.0, np.where(least <= a, 0.5, 0.0))
    low = np.where(least <= 0, 1.0, np.where(least <= a / 2, 0.5, 0.0))
    return Bounds(*(np.minimum((weights * x).sum(-1), 1.0) for x in (low, high)))


def total_at_least(n_pairs: int, true: int, total: int, shared: float) -> float:
    """Bound the probability that runs share so many adjacencies in sum, from the total of their edges alone.

    The sum is one of Bernoulli variables with a known mean, and no such sum has a larger tail beyond its mean plus one
    than the binomial law of that mean [2]_. Each run has `n_pairs` pairs of nodes and `true` edges.
    """
    if total == 0 or n_pairs == 0:
        return float(shared <= 0)
    least, chance = math.ceil(shared - 1e-9), true / n_pairs
    if least < chance * total + 1:
        return 1.0
    if least > total:
        return 0.0
    return max(float(scipy.stats.binom.sf(least - 1, total, chance)), SMALLEST_P)


def mean_shd_bound(
    n_pairs: int,
    true: int,
    estimated: tuple[float, float],
    n_runs: int,
    shd: tuple[float, float],
    convention: str = "any difference 1",
) -> float:
    """Bound p of a mean distance of runs with one number of true edges."""
    least = CONVENTIONS[convention].least
    largest = math.floor(n_runs * (shd[0] + shd[1]) + 1e-9)
    return max(
        total_at_least(
            n_pairs, true, total, math.ceil((least * (n_runs * true + total) - largest) / (2 * least) - 1e-9)
        )
        for total in _totals(n_runs, *estimated)
    )


def mean_directed_bound(
    n_pairs: int, true: int, estimated: tuple[float, float], n_runs: int, right: tuple[float, float]
) -> float:
    """Bound p of a mean number of right directions (or shared adjacencies); parameters of `mean_shd_bound`."""
    least = math.ceil(n_runs * (right[0] - right[1]) - 1e-9)
    return max(total_at_least(n_pairs, true, total, least) for total in _totals(n_runs, *estimated))


def _totals(n_runs: int, mean: float, slack: float) -> range:
    """Return the totals that a printed mean may have; at least the nearest one."""
    first, last = math.ceil(n_runs * (mean - slack) - 1e-9), math.floor(n_runs * (mean + slack) + 1e-9)
    near = round(n_runs * mean)
    return range(max(min(first, near), 0), max(last, near) + 1)


#: counts of directions that need a shared adjacency each, and shares of the true or the estimated edges that they make
_COUNTS = ("directed_tp", "arrowhead_tp", "orientation_tp", "adjacency_tp")
_OF_TRUE = ("directed_recall", "adjacency_recall")
_OF_ESTIMATED = ("directed_precision",)


class Limits(NamedTuple):
    """Limits of p, and the worst mean that guesses can have (NaN if not known)."""

    low: float
    high: float
    easiest_mean: float = math.nan


def limits_of(row: Row, metric: Metric, printed: Printed) -> Limits | None:
    """Return what the shared adjacencies alone say of a printed value; None where they say nothing."""
    known = row.true is not None and row.estimated is not None and row.n_runs is not None
    simple = row.kind != "digraph" and (row.truth is None or row.truth.kind in ("dag", "cpdag", "pdag"))
    if math.isnan(printed.value) or not (known and simple):
        return None
    if metric.name == "shd" or (metric.name in ("skeleton_hd", "shd_cpdag") and not metric.options):
        convention = "skeleton" if metric.name == "skeleton_hd" else printed.convention
        scale = printed.scale
        printed = printed._replace(value=scale * printed.value, slack=scale * printed.slack)
        of_row = _distance_of_runs if row.runs is not None else _mean_distance
        limits = of_row(row, printed, convention)
        return None if limits is None else limits._replace(easiest_mean=limits.easiest_mean / scale)
    return None if metric.options.keys() - {"zero_division"} else _count_limits(row, metric, printed)


def _count_limits(row: Row, metric: Metric, printed: Printed) -> Limits | None:
    """Return the limits of a count, or of its share of the true or estimated edges."""
    true, estimated = row.true, row.estimated
    if true is None or estimated is None or row.n_runs is None:
        return None
    directed = row.kind == "dag" and (row.truth is None or row.truth.kind == "dag")
    per_run: Floats | float
    if metric.name in _COUNTS:
        per_run = 1.0
    elif metric.name == "adjacency_recall" or (metric.name in _OF_TRUE and directed):
        per_run = np.asarray(true.numbers)
    elif metric.name in _OF_ESTIMATED and directed and row.n_runs == 1:
        per_run = np.asarray(estimated.numbers)
    else:
        return None
    if np.ptp(per_run) > 0 or (metric.name in _OF_TRUE and true.mean):
        return None
    scale = float(np.max(per_run))
    right = (scale * printed.value, scale * printed.slack)
    if row.runs is not None:
        return _counts_of_runs(row, right, half=directed and not metric.name.startswith("adjacency"))
    if true.mean or len(set(true.numbers)) > 1:
        return None
    mean = (estimated.average, estimated.slack)
    return Limits(0.0, mean_directed_bound(row.n_pairs, int(true.numbers[0]), mean, row.n_runs, right))


def _distance_of_runs(row: Row, printed: Printed, convention: str) -> Limits:
    """Return the limits of a distance, or mean distance, of runs with known numbers of edges."""
    runs = np.array(row.runs, np.float64)
    total = len(runs) * (printed.value + printed.slack), len(runs) * (printed.value - printed.slack)
    ends = [expected_shd(row.n_pairs, runs[:, 0], runs[:, 1], convention)[1].mean()]
    if len(runs) == 1:
        half = convention == "any difference 1" and row.kind == "dag"
        largest, least = (math.floor(x + 1e-9) if i == 0 else math.ceil(x - 1e-9) for i, x in enumerate(total))
        # the largest distance that rounds to the printed one has the largest p
        true, estimated = runs[0]
        high = shd_bounds(row.n_pairs, true, estimated, largest, convention, uniform_order=half).high
        low = shd_bounds(row.n_pairs, true, estimated, least, convention, uniform_order=half).low
        return Limits(float(low), float(high), float(ends[0]))
    costs, both = CONVENTIONS[convention], float(runs.sum())
    shared = math.ceil((costs.least * both - math.floor(total[0] + 1e-9)) / (2 * costs.least) - 1e-9)
    gain = 2 * costs.most - costs.shared
    least_p = 0.0
    if gain:
        least_p = _total_tail(row, math.ceil((costs.most * both - math.ceil(total[1] - 1e-9)) / gain - 1e-9))
    return Limits(least_p, _total_tail(row, shared), float(ends[0]))


def _counts_of_runs(row: Row, right: tuple[float, float], *, half: bool) -> Limits:
    """Return the limits of a count of right directions of runs with known numbers of edges."""
    runs = row.runs or []
    if len(runs) == 1:
        limits = [
            directed_bounds(row.n_pairs, *runs[0], math.ceil(x - 1e-9), uniform_order=half)
            for x in (right[0] - right[1], right[0] + right[1])
        ]
        return Limits(float(limits[1].low), float(limits[0].high))
    return Limits(0.0, _total_tail(row, math.ceil(len(runs) * (right[0] - right[1]) - 1e-9)))


def _total_tail(row: Row, shared: int) -> float:
    """Return the probability that random skeletons of all runs share so many adjacencies in sum."""
    laws = []
    for mt, me in row.runs or []:
        values = np.arange(max(0, mt + me - row.n_pairs), min(mt, me) + 1)
        laws.append((values.astype(np.float64), scipy.stats.hypergeom.pmf(values, row.n_pairs, mt, me)))
    tail = tail_of_sum(laws, shared)
    if tail is None or shared <= sum(x[0][0] for x in laws):
        return 1.0
    return float(min(max(tail.upper, SMALLEST_P), 1.0)) if shared <= sum(x[0][-1] for x in laws) else 0.0


def _mean_distance(row: Row, printed: Printed, convention: str) -> Limits | None:
    """Return the limits of a mean distance whose runs have one number of true edges, and a known mean of estimated."""
    if row.true is None or row.estimated is None or row.n_runs is None:
        return None
    if row.true.mean or len(set(row.true.numbers)) > 1:
        return None
    true = int(row.true.numbers[0])
    mean, slack = row.estimated.average, row.estimated.slack
    value = (printed.value, printed.slack)
    high = mean_shd_bound(row.n_pairs, true, (mean, slack), row.n_runs, value, convention)
    # the largest mean distance is linear in the number of edges: an end of the rounded one has it
    ends = [float(expected_shd(row.n_pairs, true, x, convention)[1]) for x in (mean - slack, mean + slack)]
    return Limits(0.0, high, max(ends))
