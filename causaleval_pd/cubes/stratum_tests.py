"""What the test of a stratum against its controls rests on: columns of its statistic, clusters, and how p is found.

A stratum that repeats a cluster is tested by its estimates relabelled by cluster, where the null model allows it, else
by twice the mean p of each cluster. Other strata are tested by the null model's own draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from ..statistics.arrays import BLOCK, moments, ratio
from ..statistics.clusters import cluster_count
from ..statistics.direction import better_side, score
from ..statistics.stratum_statistic import (
    Columns,
    Statistic,
    column_p_values,
    fisher,
    stratum_columns,
    twice_mean,
)
from ..tables.clusters import repeated_strata
from .reading import (
    cluster_ids,
    cluster_setting,
    draws_shared,
    has_draws,
    need_controls,
    relabelled_nulls,
    strata_dims,
    variable,
    whole,
)
from .schema import FAILED, NO_RUN
from .worst_case import cells, fill_failed

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class StratumTests(NamedTuple):
    """What the tests of one metric's strata rest on; sums over clusters, which add up."""

    #: the statistic of the runs and of every draw
    columns: Columns
    #: (n_strata,): number of clusters
    n_clusters: Ints
    #: (n_strata,): -2 times the sum of the logarithms of the clusters' p-values, and their number
    logs: Floats
    n_logs: Ints
    #: (n_strata,): which strata repeat a cluster, and which of these are tested by relabelled estimates
    repeated: Bools
    relabelled: Bools

    def merge(self, other: StratumTests) -> StratumTests:
        """Add other clusters of the same strata."""
        return StratumTests(
            self.columns + other.columns,
            self.n_clusters + other.n_clusters,
            self.logs + other.logs,
            self.n_logs + other.n_logs,
            self.repeated | other.repeated,
            self.relabelled | other.relabelled,
        )

    def take(self, strata: slice) -> StratumTests:
        """Return those of some strata."""
        return StratumTests(
            self.columns.take(strata),
            self.n_clusters[strata],
            self.logs[strata],
            self.n_logs[strata],
            self.repeated[strata],
            self.relabelled[strata],
        )

    @property
    def by_logs(self) -> Bools:
        """Which strata have a p-value of those of their runs."""
        return self.repeated & ~self.relabelled

    def p_values(self, direction: str, able: Bools) -> Floats:
        """Return the p-value of each stratum, NaN where it has none or is not `able` to have one."""
        return self.p_values_of(column_p_values(self.columns.values, alternative=better_side(direction)), able)

    def p_values_of(self, p: Floats, able: Bools) -> Floats:
        """Return the p-values of a test of the columns, and of other strata those of their runs."""
        p = np.where(self.by_logs, fisher(self.logs, self.n_logs), p)
        return np.where(self.columns.informed & able, p, np.nan)

    def p_methods(self, setting: str, able: Bools) -> NDArray[np.object_]:
        """Return how the p-value of each stratum is found, in words; None where it has none by design."""
        words = np.where(self.repeated, f"relabelling by {setting}", "simulated").astype(object)
        words[self.by_logs] = f"twice the mean p by {setting}"
        silent = ~self.columns.informed
        words[silent] = "none: no variation under the null"
        words[silent & ((self.n_clusters == 0) | (self.columns.defined[:, 0] == 0))] = "none: no run has a value"
        words[~able] = None
        return words


def stratum_tests(
    cube: xr.Dataset, metric: str, statistic: Statistic = "standardized", *, worst: bool = False
) -> StratumTests:
    """Return what the tests of the strata rest on.

    Parameters
    ----------
    cube : Dataset
        Read by `read_cube`, with controls of the metric.
    metric : str
        A metric with a direction.
    statistic : {"standardized", "mean", "rank"}
        As in `test_controls`.
    worst : bool
        Count failed runs: in the mean by the worst value; in the standardised statistic by its distance from the mean
        control, in units of the standard deviation of the stratum's mean times the square root of the number of
        clusters; in the ranks by the last rank; and by a p-value of 1.

    Returns
    -------
    StratumTests
        In the order of the strata.

    Raises
    ------
    ValueError
        If the cube lacks the draws that a test needs.
    """
    need_controls(cube, [metric])
    dims = strata_dims(cube)
    status = cells(cube["status"], dims)
    ids, counted = cells(cluster_ids(cube), dims), (status != NO_RUN) & (status != FAILED)
    stratum, _ = np.nonzero(counted)
    repeated = np.zeros(len(status), bool)
    twice = repeated_strata(ids[counted], stratum, np.ones(len(stratum), bool))
    repeated[: len(twice)] = twice
    # with shared draws there is no test
    relabelled = repeated & relabelled_nulls(cube, metric) & (not draws_shared(cube))

    def columns(which: Statistic) -> Columns:
        if has_draws(cube, metric):
            return _of_draws(cube, metric, which, ids, counted, relabelled)
        return _of_sums(cube, metric, which)

    n_clusters = cluster_count(np.where(counted, 1.0, np.nan), ids)
    logs, n_logs = _of_rows(cube, metric, ids, counted, status == FAILED if worst else None)
    found = columns(statistic)
    if worst and (status == FAILED).any():
        found = _with_failed(cube, metric, statistic, found, columns("mean"), n_clusters)
    return StratumTests(found, n_clusters, logs, n_logs, repeated, relabelled)


def _of_draws(
    cube: xr.Dataset, metric: str, statistic: Statistic, ids: Ints, counted: Bools, relabelled: Bools
) -> Columns:
    """Return the columns of the statistic from the draws that the cube keeps."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    observed = cells(cube[metric], dims)
    last = ("replicate", "draw")
    own = cells(variable(cube, metric, "control"), dims, last)
    joint, made = own, np.zeros(own.shape[:2], bool)
    if relabelled.any():
        made = relabelled[:, None] & _made(cube, metric, ids, counted, relabelled)
        joint = cells(variable(cube, metric, "relabelled"), dims, last)
    parts = []
    for block in _blocks(own.shape):
        drawn = np.where(made[block, :, None], joint[block], own[block])
        x = np.concatenate([observed[block, :, None], drawn], axis=2)
        at, place = np.nonzero(counted[block])
        x = score(x[at, place], direction=spec["direction"], optimum=spec["optimum"])
        parts.append(stratum_columns(x, at, ids[block][at, place], block.stop - block.start, statistic))
    return Columns.stack(parts)


def _made(cube: xr.Dataset, metric: str, ids: Ints, counted: Bools, relabelled: Bools) -> Bools:
    """Return which runs have relabelled estimates; refuse clusters that repeat but were not relabelled jointly."""
    made = np.zeros(ids.shape, bool)
    if f"{metric}_relabelled_defined" in cube:
        made = cells(variable(cube, metric, "relabelled_defined"), strata_dims(cube)) >= 0
    at, place = np.nonzero(counted & relabelled[:, None])
    _, of, n = np.unique(np.stack([at, ids[at, place]]), axis=1, return_inverse=True, return_counts=True)
    if (n[of.reshape(-1)] > 1)[~made[at, place]].any():
        raise ValueError(
            f"strata of this cube repeat a cluster ({cluster_setting(cube)}), but their estimates were not relabelled "
            "jointly, because the cubes which were put together did not repeat it; make one cube of all runs"
        )
    return made


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut strata into blocks of bounded memory."""
    step = max(1, BLOCK // max(1, math.prod(shape[1:])))
    for start in range(0, max(1, shape[0]), step):
        yield slice(start, min(start + step, shape[0]))


def _of_sums(cube: xr.Dataset, metric: str, statistic: Statistic) -> Columns:
    """Return the columns of the statistic from sums by stratum."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    whole(cube)
    n_rows, silent, n_clusters = (
        cells(variable(cube, metric, part), dims, ()) for part in ("runs_tested", "no_information", "clusters_tested")
    )
    values = score(cells(cube[metric], dims), direction=spec["direction"], optimum=spec["optimum"])
    known = ~np.isnan(values)
    parts = (variable(cube, metric, part) for part in ("tested_sum", "tested_count"))
    drawn, counts = (cells(part, dims, ("draw",)) for part in parts)
    defined = np.concatenate([known.sum(axis=1)[:, None], counts], axis=1).astype(np.float64)
    if statistic == "mean":
        with np.errstate(invalid="ignore"):  # infinities of both signs
            observed = np.where(known, values, 0.0).sum(axis=1)
        numbers = defined
    else:
        observed = cells(variable(cube, metric, statistic), dims, ())
        drawn = cells(variable(cube, metric, f"tested_{statistic}"), dims, ("draw",))
        numbers = np.repeat(n_clusters[:, None], defined.shape[1], axis=1).astype(np.float64)
    return Columns(np.concatenate([observed[:, None], drawn], axis=1), numbers, defined, n_rows, silent)


def _of_rows(cube: xr.Dataset, metric: str, ids: Ints, counted: Bools, failed: Bools | None) -> tuple[Floats, Ints]:
    """Combine the p-values of runs by cluster; runs without one count as 1, and `failed` runs where they are given."""
    dims = strata_dims(cube)
    p = cells(variable(cube, metric, "p"), dims) if f"{metric}_p" in cube else np.full(ids.shape, np.nan)
    none = np.isnan(np.where(counted, p, np.nan)).all(axis=1)
    used = counted if failed is None else counted | failed
    at, place = np.nonzero(used)
    filled = np.where(np.isnan(p) | ~counted, 1.0, p)
    logs, n = twice_mean(filled[at, place], at, ids[at, place], len(ids))
    return np.where(none, np.nan, logs), n


def _with_failed(
    cube: xr.Dataset, metric: str, statistic: Statistic, columns: Columns, means: Columns, n_clusters: Ints
) -> Columns:
    """Add failed runs to column 0, each as bad as it can be, and runs of no effect to the draws."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    failed = cells(cube["status"], dims) == FAILED
    worst = score(cells(fill_failed(cube, metric)[metric], dims), direction=spec["direction"], optimum=spec["optimum"])
    worst = np.where(failed, worst, np.nan)
    n = (~np.isnan(worst)).sum(axis=1)
    total = np.where(np.isnan(worst), 0.0, worst).sum(axis=1)
    sums, counts, defined = columns.sums.copy(), columns.counts.copy(), columns.defined.copy()
    defined[:, 0] += n
    if statistic == "mean":
        sums[:, 0] += total
        return columns._replace(sums=sums, counts=defined, defined=defined)
    counts += n[:, None]
    width = sums.shape[1]
    if statistic == "rank":
        last = 1.0 if spec["direction"] == "maximize" else float(width)
        sums += n[:, None] * (width + 1) / 2
        sums[:, 0] += n * (last - (width + 1) / 2)
        return columns._replace(sums=sums, counts=counts, defined=defined)
    _, centre, deviation = moments(means.values[:, 1:])
    spread = deviation * np.sqrt(n_clusters)
    away = ratio(total - n * centre, spread, empty=0.0)
    sums[:, 0] += np.where(np.isnan(away), 0.0, away)
    return columns._replace(sums=sums, counts=counts, defined=defined)
