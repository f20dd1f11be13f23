"""Exact p-values of strata whose rows all have exact laws: the law of their sum, by convolution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.law import Distribution
from ...contract.metric import Metric
from ...statistics.arrays import SMALLEST_P
from ...statistics.direction import merit
from ...statistics.tails.convolution import Law, tail_of_sum
from ..schema import LAW_STATISTICS, TAIL_METHODS, TAIL_STATISTICS
from ..strata import Grid

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: number of the method in `schema.TAIL_METHODS`
_CONVOLVED = TAIL_METHODS.index("exact convolution")
#: multiplications that the convolution of a stratum may take, about a second
MOST_WORK = 1e9
#: runs of a stratum up to which its p-value may rest on more than draws: partitions of a table keep it whole
MOST_RUNS = 2**14


class RowLaw(NamedTuple):
    """The exact law of a metric: its defined values, their probabilities, and that of being undefined."""

    values: Floats
    weights: Floats
    undefined: float


class RowLaws:
    """Exact laws of a metric of the rows of a table, each distinct law kept once."""

    def __init__(self, n: int) -> None:
        #: (n,): number of each row's law, -1 without one
        self.number = np.full(n, -1, np.int64)
        self.laws: list[RowLaw] = []

    def add(self, rows: NDArray[np.int64], distribution: Distribution) -> None:
        """Add the laws of some rows."""
        used, place = np.unique(distribution.index, return_inverse=True)
        self.number[rows] = len(self.laws) + place
        for at in used:
            kept = distribution.weights[at] > 0
            values, weights = distribution.values[at][kept], distribution.weights[at][kept]
            self.laws.append(RowLaw(values, weights, float(distribution.undefined[at])))


def without_tails(n_strata: int) -> dict[str, NDArray[Any]]:
    """Return the variables of strata without p-values of their own, named as `schema.TAIL_VARIABLES`."""
    found: dict[str, NDArray[Any]] = {}
    for statistic in TAIL_STATISTICS:
        found |= {f"{statistic}_{part}": np.full(n_strata, np.nan) for part in ("p", "p_low", "p_high")}
        found[f"{statistic}_p_method"] = np.zeros(n_strata, np.int8)
    return found


def exact_strata(
    metric: Metric, observed: Floats, laws: RowLaws, counted: Bools, grid: Grid
) -> dict[str, NDArray[Any]]:
    """Return exact p-values of strata whose runs are independent and all have exact laws.

    Parameters
    ----------
    metric : Metric
        A metric with a direction.
    observed : (n,) float
        Its value of each row.
    laws : RowLaws
        Exact laws of the rows.
    counted : (n,) bool
        Runs that are neither failed nor in strata that repeat a cluster.
    grid : Grid
        The strata of the rows.

    Returns
    -------
    dict
        By name in `schema.TAIL_VARIABLES`, (n_strata,) each.
    """
    found = without_tails(grid.n_strata)
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    # in an order of their own, so that no digit depends on the order of the rows
    order = [(law.values.tobytes(), law.weights.tobytes(), law.undefined) for law in laws.laws]
    scored = [law._replace(values=merit(law.values, **aim)) for law in laws.laws]
    scores = merit(observed, **aim)
    for mine in rows_of_strata(counted, grid):
        numbers = laws.number[mine]
        if (numbers < 0).any():
            continue
        chosen = sorted(zip(numbers.tolist(), scores[mine].tolist(), strict=True), key=lambda x: (order[x[0]], x[1]))
        runs = [(scored[number], value) for number, value in chosen]
        for statistic in LAW_STATISTICS:
            summed = _standardized(runs) if statistic == "standardized" else _mean(runs)
            tail = None if summed is None else tail_of_sum(*summed, most_work=MOST_WORK)
            if tail is not None:
                at = grid.stratum[mine[0]]
                upper = min(max(tail.upper, SMALLEST_P), 1.0)
                found[f"{statistic}_p"][at] = found[f"{statistic}_p_high"][at] = upper
                found[f"{statistic}_p_low"][at] = min(tail.lower, 1.0)
                found[f"{statistic}_p_method"][at] = _CONVOLVED
    return found


def rows_of_strata(counted: Bools, grid: Grid) -> list[NDArray[np.int64]]:
    """Return the rows that count of each stratum that has any, in the order of the strata."""
    rows = np.flatnonzero(counted)
    rows = rows[np.argsort(grid.stratum[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(grid.stratum[rows], prepend=-1))
    return np.split(rows, starts[1:]) if len(rows) else []


def _mean(runs: list[tuple[RowLaw, float]]) -> tuple[list[Law], float] | None:
    """Return the laws of the scores, and their observed sum; None where a score may be undefined or infinite."""
    if any(law.undefined > 0 or not np.isfinite(law.values).all() or not np.isfinite(value) for law, value in runs):
        return None
    return [(law.values, law.weights) for law, _ in runs], sum(value for _, value in runs)


def _standardized(runs: list[tuple[RowLaw, float]]) -> tuple[list[Law], float] | None:
    """Return the laws of the standardised scores, in which undefined ones are 0, and their observed sum.

    None where no run has a score that varies, or one may be infinite.
    """
    laws, total = [], 0.0
    for law, value in runs:
        if not len(law.values):
            continue
        if not np.isfinite(law.values).all():
            return None
        mean = float(law.weights @ law.values)
        deviation = float(np.sqrt(law.weights @ (law.values - mean) ** 2))
        if not np.isfinite(deviation):
            return None
        if deviation > 1e-9 * max(1.0, abs(mean)):
            z, chances = (law.values - mean) / deviation, law.weights
            if law.undefined > 0:
                z, chances = np.append(z, 0.0), np.append(chances * (1 - law.undefined), law.undefined)
            laws.append((z, chances))
            total += 0.0 if np.isnan(value) else (value - mean) / deviation
    return (laws, total) if laws else None
