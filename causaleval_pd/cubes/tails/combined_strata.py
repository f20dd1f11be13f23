"""P-values of strata among all combinations of their clusters' draws, where no draw reached the statistic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import Metric
from ...statistics.arrays import BLOCK, SMALLEST_P
from ...statistics.direction import merit
from ...statistics.stratum_statistic import cluster_columns, mid_ranks, tied
from ...statistics.tails.combined_draws import combined_draws
from ..schema import COMBINED, COMBINED_AT_FLOOR, TAIL_METHODS, TAIL_STATISTICS
from ..strata import Grid
from .exact_strata import rows_of_strata

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: clusters of a stratum up to which draws are combined; more have too many combinations of values to be counted
MOST_CLUSTERS = 500
#: numbers of the methods in `schema.TAIL_METHODS`
_COMBINED, _AT_FLOOR = (TAIL_METHODS.index(x) for x in (COMBINED, COMBINED_AT_FLOOR))


def combinable(counted: Bools, clusters: Ints, grid: Grid) -> Bools:
    """Return which of the rows that are `counted` (n,) are in strata of several clusters that are not too many."""
    found = np.zeros(len(counted), bool)
    for rows in rows_of_strata(counted, grid):
        found[rows] = 1 < len(np.unique(clusters[rows])) <= MOST_CLUSTERS
    return found


def combine_draws(
    tails: dict[str, NDArray[Any]],
    metric: Metric,
    observed: Floats,
    draws: Floats,
    counted: Bools,
    clusters: Ints,
    grid: Grid,
    place: Ints,
) -> None:
    """Give strata whose statistic no draw reached, and which have no exact p-value, one by all combinations of draws.

    Parameters
    ----------
    tails : dict
        By name in `schema.TAIL_VARIABLES`, (n_strata,) each; changed in place.
    metric : Metric
        A metric with a direction.
    observed : (n,) float
        Its value of each row.
    draws : (n_places, R) float
        Those that the tests of the strata rest on: of each cluster drawn jointly, of clusters independently.
    counted : (n,) bool
        Rows that have such draws, of whole strata that are `combinable`.
    clusters : (n,) int
        Cluster of each row.
    grid : Grid
        The strata of the rows.
    place : (n,) int
        Where in `draws` those of each row that is counted are.
    """
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    width = draws.shape[1] + 1
    for together in _blocks(rows_of_strata(counted, grid), width):
        # in an order of their own, so that no digit depends on the order of the rows
        keys = [draws[place[together], 0], observed[together], clusters[together], grid.stratum[together]]
        found_of = []
        for rows in _pieces(together[np.lexsort(keys)], clusters, width):
            x = np.concatenate([merit(observed[rows, None], **aim), merit(draws[place[rows]], **aim)], axis=1)
            where = grid.stratum[rows], clusters[rows]
            scored, of = cluster_columns(x, *where, "standardized")
            some = _defined(x, *where) if np.isnan(x).any() else np.ones(scored.shape, bool)
            found_of.append((scored, of, cluster_columns(x, *where, "mean")[0], some))
        standardized, of, mean, defined = (np.concatenate(parts) for parts in zip(*found_of, strict=True))
        starts = np.flatnonzero(np.diff(of, prepend=-1)).tolist()
        for statistic in TAIL_STATISTICS:
            columns = {"standardized": standardized, "mean": mean}.get(statistic)
            columns = mid_ranks(standardized) if columns is None else columns
            for a, b in itertools.pairwise([*starts, len(of)]):
                stratum, mine = int(of[a]), columns[a:b]
                # of one cluster with values no draws combine
                if b - a > 1 and not tails[f"{statistic}_p_method"][stratum] and _reached_by_none(mine):
                    found, some = combined_draws(mine), defined[a:b]
                    # combinations without any value are left out, as draws are
                    p = np.nan if found is None else found.p / (1 - np.prod(1 - some.mean(axis=1)))
                    if found is not None and p < 1 / some.any(axis=0).sum():
                        tails[f"{statistic}_p"][stratum] = max(p, SMALLEST_P)
                        tails[f"{statistic}_p_method"][stratum] = _AT_FLOOR if found.at_floor else _COMBINED


def _defined(x: Floats, stratum: Ints, cluster: Ints) -> Bools:
    """Return in which columns every cluster has a value, in the order of `cluster_columns`."""
    some = np.where(np.isnan(x).all(axis=1, keepdims=True), np.nan, ~np.isnan(x))
    return np.asarray(cluster_columns(some, stratum, cluster, "mean")[0] > 0, bool)


def _reached_by_none(columns: Floats) -> bool:
    """Return whether no draw of all clusters reaches the observed sum."""
    observed, drawn = tied(columns.sum(axis=0))
    return bool((drawn < observed).all())


def _pieces(rows: Ints, clusters: Ints, width: int) -> Iterator[Ints]:
    """Cut rows that are sorted by stratum and cluster where a cluster begins, to a bounded number of values."""
    starts, most = np.flatnonzero(np.diff(clusters[rows], prepend=clusters[rows[0]] - 1)), max(1, BLOCK // width)
    cuts = [0]
    for start, stop in itertools.pairwise([*starts.tolist(), len(rows)]):
        if stop - cuts[-1] > most and start > cuts[-1]:
            cuts.append(start)
    yield from np.split(rows, cuts[1:])


def _blocks(strata: list[Ints], width: int) -> Iterator[Ints]:
    """Put the rows of strata together, to a bounded number of values where they are many."""
    found: list[Ints] = []
    for rows in strata:
        found.append(rows)
        if sum(map(len, found)) * width > BLOCK:
            yield np.concatenate(found)
            found = []
    if found:
        yield np.concatenate(found)
