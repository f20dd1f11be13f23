"""Control draws of a stratum added up: what summaries and tests need of them, in bounded memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..statistics.direction import score
from ..statistics.stratum_statistic import cluster_ranks, cluster_starts, excess, largest, without_rounding

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: distinct control values of a stratum that are stored exactly; more are averaged within as many bins
MAX_VALUES = 4096


class OpenCluster(NamedTuple):
    """Some rows of a cluster."""

    #: (n_draws + 1,): their excess, added up, and the largest of it
    excess: Floats
    scale: float
    #: rows so far, and in all
    n: int
    size: int

    def __add__(self, other: object) -> OpenCluster:
        """Add further rows."""
        if not isinstance(other, OpenCluster):
            return NotImplemented
        with np.errstate(invalid="ignore"):  # infinities of both signs
            summed = self.excess + other.excess
        return OpenCluster(summed, max(self.scale, other.scale), self.n + other.n, self.size)


class ClusterSums(NamedTuple):
    """What the statistics of one metric in one stratum are made of, added up over its clusters.

    Columns are those of the runs (0) and of every draw of their controls. A cluster stays open until all its rows are
    there: only its whole sum has a rank.
    """

    #: mean, rank, (n_draws + 1,): sums over complete clusters
    mean: Floats
    rank: Floats
    #: (3,): numbers of rows, of those without information, and of those outside all their draws, which do not vary
    n: Ints
    open: dict[int, OpenCluster]

    @classmethod
    def of(cls, n: Ints, clusters: dict[int, OpenCluster]) -> ClusterSums:
        """Add up the clusters that are complete."""
        done = [x for x in clusters.values() if x.n == x.size]
        left = {cluster: x for cluster, x in clusters.items() if x.n < x.size}
        if not done:
            nothing = np.zeros(len(next(iter(left.values())).excess) if left else 0)
            return cls(nothing, nothing, n, left)
        scales = np.array([x.scale for x in done])
        columns = without_rounding(np.stack([x.excess for x in done]), scales)
        with np.errstate(invalid="ignore"):  # infinities of both signs
            return cls(columns.sum(axis=0), cluster_ranks(columns, scales).sum(axis=0), n, left)

    def merge(self, other: ClusterSums) -> ClusterSums:
        """Add the sums of other rows."""
        both = {x: self.open[x] + other.open[x] for x in self.open if x in other.open}
        apart = {x: found for x, found in (self.open | other.open).items() if x not in both}
        joined = ClusterSums.of(np.zeros(3, np.int64), both) if both else None
        sums = [part for part in (self, other, joined) if part is not None]
        with np.errstate(invalid="ignore"):  # infinities of both signs
            mean = np.sum([part.mean for part in sums], axis=0)
        return ClusterSums(
            mean,
            np.sum([part.rank for part in sums], axis=0),
            np.sum([part.n for part in sums], axis=0),
            apart | (joined.open if joined else {}),
        )


class ClusterRows(NamedTuple):
    """The clusters of rows.

    Attributes
    ----------
    clusters, sizes : (n,) int
        Cluster of each row, and the number of its rows in the row's stratum.
    """

    clusters: Ints
    sizes: Ints

    def take(self, rows: Any) -> ClusterRows:
        """Return those of some rows."""
        return ClusterRows(self.clusters[rows], self.sizes[rows])


def cluster_sizes(strata: Ints, clusters: Ints, rows: Ints) -> ClusterRows:
    """Count the rows of each cluster in each stratum, among those named; rows of size 0 are not among them."""
    sizes = np.zeros(len(clusters), np.int64)
    if len(rows):
        _, of, n = np.unique(np.stack([strata[rows], clusters[rows]]), axis=1, return_inverse=True, return_counts=True)
        sizes[rows] = n[of.reshape(-1)]
    return ClusterRows(clusters, sizes)


def add_clusters(x: Floats, strata: Ints, rows: ClusterRows) -> dict[int, ClusterSums]:
    """Add up rows by stratum and cluster, by which they are sorted.

    Parameters
    ----------
    x : (n, n_draws + 1) ndarray
        Scores of runs and of draws; a row that is undefined in all columns does not count.
    strata : (n,) ndarray of int
        Stratum of each row.
    rows : ClusterRows
        Their clusters.

    Returns
    -------
    dict
        By stratum.
    """
    if not len(x):
        return {}
    known = np.asarray(~np.isnan(x).all(axis=1))
    values, informed, outside = excess(x)
    starts = cluster_starts(strata, rows.clusters)
    scales, n = np.maximum.reduceat(largest(values), starts), np.diff(starts, append=len(x))
    with np.errstate(invalid="ignore"):  # infinities of both signs
        sums = np.add.reduceat(values, starts, axis=0)
    first = np.flatnonzero(np.diff(strata[starts], prepend=-1))
    found = {}
    for a, b in itertools.pairwise([*first.tolist(), len(starts)]):
        mine = slice(starts[a], starts[b] if b < len(starts) else len(x))
        counts = np.array([some[mine].sum() for some in (known, known & ~informed, outside)], np.int64)
        clusters = {
            int(rows.clusters[starts[i]]): OpenCluster(sums[i], float(scales[i]), int(n[i]), int(rows.sizes[starts[i]]))
            for i in range(a, b)
        }
        found[int(strata[starts[a]])] = ClusterSums.of(counts, clusters)
    return found


class StratumDraws(NamedTuple):
    """Draws of one metric in one stratum, added up over rows."""

    #: sums, counts, (n_draws,): sum of each draw's scores over the rows where it is defined, and their number
    sums: Floats
    counts: NDArray[np.int64]
    #: how often each control value occurred
    values: pd.Series
    #: what its statistics are made of, where they are asked for
    clusters: ClusterSums | None = None

    def merge(self, other: StratumDraws) -> StratumDraws:
        """Add the draws of other rows."""
        sums, counts = self.sums + other.sums, self.counts + other.counts
        mine, others = self.clusters, other.clusters
        clusters = mine.merge(others) if mine is not None and others is not None else mine or others
        return StratumDraws(sums, counts, add_values(self.values, other.values), clusters)


def add_strata(
    metric: Metric,
    strata: NDArray[np.int64],
    draws: Floats,
    into: dict[int, StratumDraws],
    observed: Floats | None = None,
    rows: ClusterRows | None = None,
    *,
    pooled: bool = True,
) -> dict[int, StratumDraws]:
    """Add the draws of some rows, (n, n_draws), to those of their strata, which are in ascending order.

    With `rows` the columns of the `observed` values (n,) and of the draws are added up by cluster, too. Control values
    are counted only if `pooled`.
    """
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    scores = score(draws, **aim)
    of_clusters: dict[int, ClusterSums] = {}
    if rows is not None and observed is not None:
        counted = rows.sizes > 0
        x = np.concatenate([score(observed, **aim)[counted, None], scores[counted]], axis=1)
        of_clusters = add_clusters(x, strata[counted], rows.take(counted))
    starts = np.flatnonzero(np.diff(strata, prepend=-1)).tolist()
    for start, stop in itertools.pairwise([*starts, len(strata)]):
        mine = scores[start:stop]
        values, numbers = np.unique(draws[start:stop] if pooled else draws[:0], return_counts=True)
        known = ~np.isnan(values)
        table = coarsen(pd.Series(numbers[known].astype(np.float64), index=values[known]))
        number = int(strata[start])
        total, known = np.nansum(mine, axis=0), (~np.isnan(mine)).sum(axis=0)
        found = StratumDraws(total, known, table, of_clusters.get(number))
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
