"""Control draws of a stratum added up: what summaries and tests need of them, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..statistics.direction import score

Floats = NDArray[np.float64]

#: distinct control values of a stratum that are stored exactly; more are averaged within as many bins
MAX_VALUES = 4096


class StratumDraws(NamedTuple):
    """Draws of one metric in one stratum, added up over rows."""

    #: sums, counts, (n_draws,): sum of each draw's scores over the rows where it is defined, and their number
    sums: Floats
    counts: NDArray[np.int64]
    #: how often each control value occurred
    values: pd.Series

    def merge(self, other: StratumDraws) -> StratumDraws:
        """Add the draws of other rows."""
        return StratumDraws(self.sums + other.sums, self.counts + other.counts, add_values(self.values, other.values))


def add_strata(
    metric: Metric, strata: NDArray[np.int64], draws: Floats, into: dict[int, StratumDraws]
) -> dict[int, StratumDraws]:
    """Add the draws of some rows, (n, n_draws), to those of their strata, which are in ascending order."""
    scores = score(draws, direction=metric.direction, optimum=metric.optimum)
    starts = np.flatnonzero(np.diff(strata, prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(strata)], strict=True):
        mine = scores[start:stop]
        values, numbers = np.unique(draws[start:stop], return_counts=True)
        known = ~np.isnan(values)
        table = coarsen(pd.Series(numbers[known].astype(np.float64), index=values[known]))
        found = StratumDraws(np.nansum(mine, axis=0), (~np.isnan(mine)).sum(axis=0), table)
        number = int(strata[start])
        into[number] = into[number].merge(found) if number in into else found
    return into


def value_table(values: Floats, weights: Floats) -> pd.Series:
    """Return the value table of padded arrays."""
    used = weights > 0
    return pd.Series(weights[used], index=values[used])


def pad_tables(tables: Sequence[pd.Series]) -> tuple[Floats, Floats]:
    """Return values and weights of value tables, padded to one length by NaN and 0."""
    width = max((len(table) for table in tables), default=0)
    values, weights = np.full((len(tables), width), np.nan), np.zeros((len(tables), width))
    for i, table in enumerate(tables):
        values[i, : len(table)] = table.index.to_numpy(np.float64)
        weights[i, : len(table)] = table.to_numpy(np.float64)
    return values, weights


def add_values(a: pd.Series, b: pd.Series) -> pd.Series:
    """Merge two value tables."""
    return coarsen(a.add(b, fill_value=0))


def coarsen(table: pd.Series) -> pd.Series:
    """Average neighbouring values of a value table that has become too long."""
    limit = MAX_VALUES
    table = table.sort_index()
    if len(table) <= limit:
        return table
    values, weights = table.index.to_numpy(np.float64), table.to_numpy(np.float64)
    bins = np.minimum((np.cumsum(weights) - weights / 2) / weights.sum() * limit, limit - 1).astype(int)
    weight = np.bincount(bins, weights, minlength=limit)
    value = np.bincount(bins, weights * values, minlength=limit)
    used = weight > 0
    return pd.Series(weight[used], index=value[used] / weight[used])
