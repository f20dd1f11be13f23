"""P-values of strata by random combinations of their clusters' draws, of a cube that does not keep these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import Metric
from ...statistics.arrays import BLOCK
from ...statistics.direction import score
from ...statistics.stratum_statistic import COMBINATIONS, stratum_columns
from ..schema import COMBINED, COMBINED_AT_FLOOR, TAIL_METHODS, TAIL_STATISTICS
from ..strata import Grid
from ..stratum_tests import combined_p_values
from .exact_strata import rows_of_strata

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: numbers of the methods in `schema.TAIL_METHODS`
_COMBINED, _AT_FLOOR = (TAIL_METHODS.index(x) for x in (COMBINED, COMBINED_AT_FLOOR))


def combinable(counted: Bools, clusters: Ints, grid: Grid) -> Bools:
    """Return which of the rows that are `counted` (n,) are in strata of several clusters."""
    found = np.zeros(len(counted), bool)
    for rows in rows_of_strata(counted, grid):
        found[rows] = len(np.unique(clusters[rows])) > 1
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
    seed: int,
) -> None:
    """Give strata without an exact p-value one by random combinations of draws.

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
    seed : int
        That of the draws.
    """
    for rows in _blocks(rows_of_strata(counted, grid), draws.shape[1] + 1):
        x = np.concatenate([observed[rows, None], draws[place[rows]]], axis=1)
        x = score(x, direction=metric.direction, optimum=metric.optimum)
        strata, at = np.unique(grid.stratum[rows], return_inverse=True)
        every = np.ones(len(strata), bool)
        for statistic in TAIL_STATISTICS:
            columns, of_clusters = stratum_columns(x, at, clusters[rows], len(strata), statistic)
            p = combined_p_values(columns, of_clusters, seed, str(metric.direction), every)
            new = ~np.isnan(p) & (tails[f"{statistic}_p_method"][strata] == 0)
            tails[f"{statistic}_p"][strata[new]] = p[new]
            at_floor = p[new] * (COMBINATIONS + 1) < 1.5
            tails[f"{statistic}_p_method"][strata[new]] = np.where(at_floor, _AT_FLOOR, _COMBINED)


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
