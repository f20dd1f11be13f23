"""Limits of p of printed distances and directed counts where the true graph or single runs are not known."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from ..contract.metric import Metric
from ..statistics.arrays import SMALLEST_P, Floats
from ..statistics.tails.convolution import tail_of_sum
from .guesses import Printed
from .printed_rows import Row
from .skeleton_bounds import (
    CONVENTIONS,
    directed_bounds,
    expected_shd,
    mean_directed_bound,
    mean_shd_bound,
    shd_bounds,
)

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
