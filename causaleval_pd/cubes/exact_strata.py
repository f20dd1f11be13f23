"""Exact p-values of strata whose rows all have exact laws: the law of their sum, by convolution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.law import Distribution
from ..contract.metric import Metric
from ..statistics.convolution import Law, tail_of_sum
from ..statistics.direction import score
from .runs import Runs
from .schema import TAIL_METHODS, TAIL_STATISTICS
from .strata import Grid

Floats = NDArray[np.float64]
#: number of the method in `schema.TAIL_METHODS`
_CONVOLVED = TAIL_METHODS.index("exact convolution")


class StratumTails(NamedTuple):
    """P-values of strata that do not rest on draws, (n_strata,) each."""

    p: Floats
    low: Floats
    high: Floats
    method: NDArray[np.int8]

    @classmethod
    def nothing(cls, n_strata: int) -> StratumTails:
        """Return the tails of strata that have none."""
        p, low, high = np.full((3, n_strata), np.nan)
        return cls(p, low, high, np.zeros(n_strata, np.int8))

    def variables(self, statistic: str) -> dict[str, NDArray[Any]]:
        """Name the tails of a statistic as `schema.TAIL_VARIABLES` does."""
        parts = ("p", "p_low", "p_high", "p_method")
        found = (self.p, self.low, self.high, self.method)
        return {f"{statistic}_{part}": values for part, values in zip(parts, found, strict=True)}


def without_tails(n_strata: int) -> dict[str, NDArray[Any]]:
    """Return the variables of strata without tails."""
    nothing = StratumTails.nothing(n_strata)
    return {name: values for statistic in TAIL_STATISTICS for name, values in nothing.variables(statistic).items()}


class RowLaws:
    """Exact laws of a metric of the rows of a table, each distinct law kept once."""

    def __init__(self, n: int) -> None:
        #: (n,): number of each row's law, -1 without one
        self.number = np.full(n, -1, np.int64)
        self.laws: list[Law] = []

    def add(self, rows: NDArray[np.int64], distribution: Distribution) -> None:
        """Add the laws of some rows; a law by which the metric may be undefined is left out."""
        used, place = np.unique(distribution.index, return_inverse=True)
        whole = distribution.undefined[used] <= 0
        numbers = np.where(whole, len(self.laws) + np.cumsum(whole) - 1, -1)
        for at in used[whole]:
            kept = distribution.weights[at] > 0
            self.laws.append((distribution.values[at][kept], distribution.weights[at][kept]))
        self.number[rows] = numbers[place]


def exact_strata(
    metric: Metric,
    observed: Floats,
    laws: RowLaws,
    runs: Runs,
    grid: Grid,
) -> StratumTails:
    """Return exact p-values of the strata's means, where every run has an exact law.

    Parameters
    ----------
    metric : Metric
        A metric with a direction.
    observed : (n,) float
        Its value of each row.
    laws : RowLaws
        Exact laws of the rows.
    runs, grid : Runs, Grid
        The rows and their strata. Rows of one truth are not independent, so a stratum that repeats a truth has no
        convolution.
    """
    found = StratumTails.nothing(grid.n_strata)
    sign = 1.0 if metric.direction == "maximize" else -1.0

    def signed(values: Floats) -> Floats:
        """Return scores of which the largest is best."""
        return sign * score(values, direction=metric.direction, optimum=metric.optimum)

    # in an order of their own, so that no digit depends on the order of the rows
    order = {number: (law[0].tobytes(), law[1].tobytes()) for number, law in enumerate(laws.laws)}
    values, rows = signed(observed), np.flatnonzero(~runs.failed)
    rows = rows[np.argsort(grid.stratum[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(grid.stratum[rows], prepend=-1))
    for mine in np.split(rows, starts[1:]) if len(rows) else ():
        numbers = laws.number[mine]
        if (numbers < 0).any() or np.isnan(values[mine]).any() or len(np.unique(runs.truth_id[mine])) < len(mine):
            continue
        chosen = [laws.laws[number] for number in sorted(numbers.tolist(), key=order.__getitem__)]
        tail = tail_of_sum([(signed(law), weights) for law, weights in chosen], float(np.sort(values[mine]).sum()))
        if tail is not None:
            at = grid.stratum[mine[0]]
            found.p[at] = found.high[at] = min(tail.upper, 1.0)
            found.low[at], found.method[at] = min(tail.lower, 1.0), _CONVOLVED
    return found
