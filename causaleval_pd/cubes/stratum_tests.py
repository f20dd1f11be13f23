"""What the test of a stratum against its controls rests on: columns of its statistic, clusters, and how p is found.

A stratum that repeats a cluster is tested by its estimates relabelled by cluster, where the null model allows it, else
by twice the mean p of each cluster. Other strata are tested by the null model's own draws. Where the draws of clusters
are independent, p counts random combinations of them, else draw r of all clusters together, r = 1 .. R.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..statistics.arrays import BLOCK, moments
from ..statistics.clusters import cluster_count
from ..statistics.direction import better_side, score
from ..statistics.stratum_statistic import (
    COMBINATIONS,
    SLACK,
    Clusters,
    Columns,
    Statistic,
    column_p_values,
    combined_p,
    combined_sums,
    fisher,
    stratum_columns,
    twice_mean,
)
from ..tables.clusters import repeated_strata
from .reading import (
    cells,
    cluster_ids,
    combined_nulls,
    fill_failed,
    need_controls,
    relabelled_nulls,
    strata_dims,
    stratum_seeds,
    variable,
)
from .schema import FAILED, NO_RUN, variable_name

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


class StratumTests(NamedTuple):
    """What the tests of one metric's strata rest on."""

    #: the statistic of the runs and of every draw
    columns: Columns
    #: (n_strata,): p-values of random combinations of the clusters' draws, NaN for strata without
    combined: Floats
    #: (n_strata,): number of clusters
    n_clusters: Ints
    #: (n_strata,): -2 times the sum of the logarithms of the clusters' p-values, and their number
    logs: Floats
    n_logs: Ints
    #: (n_strata,): which strata repeat a cluster, and which of these are tested by relabelled estimates
    repeated: Bools
    relabelled: Bools

    @property
    def by_logs(self) -> Bools:
        """Which strata have a p-value of those of their runs."""
        return self.repeated & ~self.relabelled

    @property
    def infinite(self) -> Bools:
        """Which strata have no p-value because of an infinite score."""
        return self.columns.infinite & ~self.by_logs

    def p_values(self, direction: str, able: Bools) -> Floats:
        """Return the p-value of each stratum, NaN where it has none or is not `able` to have one."""
        side_by_side = column_p_values(self.columns.values, alternative=better_side(direction))
        return self.p_values_of(np.where(np.isnan(self.combined), side_by_side, self.combined), able)

    def p_values_of(self, p: Floats, able: Bools) -> Floats:
        """Return the p-values of a test of the columns, and of other strata those of their runs."""
        p = np.where(self.by_logs, fisher(self.logs, self.n_logs), p)
        return np.where(self.columns.informed & able & ~self.infinite, p, np.nan)

    def clearly_worse(self, direction: str, able: Bools, alpha: float) -> Bools:
        """Return which strata are worse than their draws, corrected for the number of strata."""
        other_side: Literal["greater", "less"] = "less" if better_side(direction) == "greater" else "greater"
        tested = self.columns.informed & able & ~self.infinite & ~self.by_logs
        return tested & (column_p_values(self.columns.values, alternative=other_side) * tested.sum() <= alpha)

    def p_methods(self, setting: str, able: Bools) -> NDArray[np.object_]:
        """Return how the p-value of each stratum is found, in words; None where it has none by design."""
        words = np.where(self.repeated, f"relabelling by {setting}", "simulated").astype(object)
        words = np.where(np.isnan(self.combined), words, words + ", combinations of draws")
        words[self.by_logs] = f"twice the mean p by {setting}"
        words[self.infinite] = "none: infinite values"
        silent = ~self.columns.informed
        words[silent] = "none: no variation under the null"
        words[silent & ((self.n_clusters == 0) | (self.columns.defined[:, 0] == 0))] = "none: no run has a value"
        words[~able] = None
        return words

    def notes(self, able: Bools) -> list[str | None]:
        """Return what there is to note about the test of each stratum."""
        remarks: list[str | None] = []
        for infinite, n in zip((self.infinite & able).tolist(), self.columns.n_outside.tolist(), strict=True):
            runs = "1 run lies outside all of its draws" if n == 1 else f"{n} runs lie outside all of their draws"
            words = ["no p: infinite values; summary(statistic='rank') ranks them last"] if infinite else []
            remarks.append("; ".join([*words, *([f"{runs}, which do not vary"] if n else [])]) or None)
        return remarks


def stratum_tests(
    cube: xr.Dataset, metric: str, statistic: Statistic = "mean", *, worst: bool = False, combine: bool = True
) -> StratumTests:
    """Return what the tests of the strata rest on."""
    need_controls(cube, [metric])
    dims = strata_dims(cube)
    status = cells(cube["status"], dims)
    ids, counted = cells(cluster_ids(cube), dims), (status != NO_RUN) & (status != FAILED)
    repeated, relabelled = _repeated(cube, metric, ids, counted)
    n_clusters = cluster_count(np.where(counted, 1.0, np.nan), ids)
    logs, n_logs = _of_rows(cube, metric, ids, counted, status == FAILED if worst else None)
    n_failed, shift = np.zeros((2, len(status)))
    if worst and (status == FAILED).any():
        n_failed, shift = _failed(cube, metric, statistic)
    # a failed run that counts as the worst has no draws to combine
    combinable = combined_nulls(cube, metric) & ~(repeated & ~relabelled) & (n_failed == 0) & combine
    columns, combined = _of_draws(cube, metric, statistic, ids, counted, relabelled, combinable)
    columns.sums[:, 0] += shift
    columns.defined[:, 0] += n_failed
    return StratumTests(columns, combined, n_clusters, logs, n_logs, repeated, relabelled)


def _repeated(cube: xr.Dataset, metric: str, ids: Ints, counted: Bools) -> tuple[Bools, Bools]:
    """Return which strata repeat a cluster, and which of these are tested by relabelled estimates."""
    stratum, _ = np.nonzero(counted)
    repeated = np.zeros(len(counted), bool)
    twice = repeated_strata(ids[counted], stratum, np.ones(len(stratum), bool))
    repeated[: len(twice)] = twice
    relabelled = repeated & relabelled_nulls(cube, metric)
    if relabelled.any():
        relabelled &= _have_joint_draws(cube, metric, counted)
    return repeated, relabelled


def _have_joint_draws(cube: xr.Dataset, metric: str, counted: Bools) -> Bools:
    """Return which strata have relabelled estimates of their runs, which pooled ones and joined cubes may lack."""
    if variable_name(metric, "relabelled") not in cube:
        return np.zeros(len(counted), bool)
    dims, last = strata_dims(cube), ("replicate", "draw")
    joint, controls = (cells(variable(cube, metric, part), dims, last) for part in ("relabelled", "control"))
    lacking = (np.isnan(joint).all(axis=2) | ~counted).all(axis=1)
    defined = (~np.isnan(controls).any(axis=2) | ~counted).all(axis=1)
    return ~(lacking & defined & counted.any(axis=1))


def _scores(
    cube: xr.Dataset, metric: str, ids: Ints, counted: Bools, relabelled: Bools
) -> Iterator[tuple[slice, Floats, Ints, Ints]]:
    """Yield blocks of strata: their scores and those of the draws of their tests, strata and clusters, by run."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    observed = cells(cube[metric], dims)
    last = ("replicate", "draw")
    controls = cells(variable(cube, metric, "control"), dims, last)
    joint = controls
    if relabelled.any():
        joint = cells(variable(cube, metric, "relabelled"), dims, last)
    for block in _blocks(controls.shape):
        drawn = np.where(relabelled[block, None, None], joint[block], controls[block])
        x = np.concatenate([observed[block, :, None], drawn], axis=2)
        at, place = np.nonzero(counted[block])
        x = score(x[at, place], direction=spec["direction"], optimum=spec["optimum"])
        yield block, x, at, ids[block][at, place]


def _of_draws(
    cube: xr.Dataset,
    metric: str,
    statistic: Statistic,
    ids: Ints,
    counted: Bools,
    relabelled: Bools,
    combinable: Bools,
) -> tuple[Columns, Floats]:
    """Return the columns of the statistic from the draws that the cube keeps, and p-values of their combinations."""
    direction, seeds = str(cube[metric].attrs["direction"]), stratum_seeds(cube)
    parts, p = [], np.full(len(counted), np.nan)
    for block, x, at, clusters in _scores(cube, metric, ids, counted, relabelled):
        columns, of_clusters = stratum_columns(x, at, clusters, block.stop - block.start, statistic)
        parts.append(columns)
        p[block] = combined_p_values(columns, of_clusters, seeds[block], direction, combinable[block])
    return Columns.stack(parts), p


def combined_p_values(columns: Columns, clusters: Clusters, seeds: Ints, direction: str, combinable: Bools) -> Floats:
    """Return p-values of random combinations of the clusters' draws; NaN for strata that have none."""
    p = np.full(len(combinable), np.nan)
    for i, mine in _combined(columns, clusters, combinable):
        summed, names = clusters.columns[mine], clusters.name[mine]
        p[i] = combined_p(summed, names, int(seeds[i]), alternative=better_side(direction))
    return p


def _combined(columns: Columns, clusters: Clusters, combinable: Bools) -> Iterator[tuple[int, slice]]:
    """Yield the strata whose clusters' draws are combined, with the rows of their clusters."""
    starts = np.searchsorted(clusters.stratum, np.arange(len(combinable) + 1))
    able = combinable & columns.informed & ~columns.infinite & (columns.defined[:, 0] > 0) & (np.diff(starts) > 1)
    for i in np.flatnonzero(able).tolist():
        yield i, slice(starts[i], starts[i + 1])


def guessing_limits(cube: xr.Dataset, metric: str, alpha: float) -> tuple[Floats, Floats]:
    """Return how far the mean of each stratum's runs lies above the limits of guessing.

    A mean beyond a limit has a p of at most `alpha` by the statistic "mean", on that side.
    """
    dims, status = strata_dims(cube), cells(cube["status"], strata_dims(cube))
    ids, counted = cells(cluster_ids(cube), dims), (status != NO_RUN) & (status != FAILED)
    repeated, relabelled = _repeated(cube, metric, ids, counted)
    combinable = combined_nulls(cube, metric) & ~(repeated & ~relabelled)
    seeds, limits = stratum_seeds(cube), np.full((2, len(counted)), np.nan)
    for block, x, at, of_runs in _scores(cube, metric, ids, counted, relabelled):
        columns, clusters = stratum_columns(x, at, of_runs, block.stop - block.start, "mean")
        combined = dict(_combined(columns, clusters, combinable[block]))
        for i in np.flatnonzero(columns.informed & ~columns.infinite & (columns.defined[:, 0] > 0)).tolist():
            sums = columns.sums[i, 1:]
            if i in combined:
                mine = combined[i]
                sums = combined_sums(clusters.columns[mine], clusters.name[mine], int(seeds[block][i]))[1]
            place = max(int(alpha * (len(sums) + 1) + 1e-9) - 1, 0)
            ends = np.sort(sums)[[place, -1 - place]]
            beyond = columns.sums[i, 0] - ends
            # sums that differ by rounding are ties
            beyond[np.abs(beyond) <= SLACK * max(np.abs(sums).max(), abs(columns.sums[i, 0]))] = 0.0
            limits[:, block.start + i] = beyond / columns.defined[i, 0]
    has_runs = (status != NO_RUN).any(axis=1)
    return limits[0, has_runs], limits[1, has_runs]


def draw_sums(cube: xr.Dataset, metric: str) -> tuple[Floats, Floats]:
    """Return the sum of the scores of every draw that a test rests on, and their number, (n_strata, R) each."""
    dims = strata_dims(cube)
    variable(cube, metric, "control")
    status = cells(cube["status"], dims)
    ids, counted = cells(cluster_ids(cube), dims), (status != NO_RUN) & (status != FAILED)
    _, relabelled = _repeated(cube, metric, ids, counted)
    sums, counts = np.zeros((2, len(status), cube.sizes["draw"]))
    for block, x, at, _ in _scores(cube, metric, ids, counted, relabelled):
        if len(x):
            first = np.flatnonzero(np.diff(at, prepend=-1))
            known = ~np.isnan(x[:, 1:])
            with np.errstate(invalid="ignore"):  # infinities of both signs
                sums[block][at[first]] = np.add.reduceat(np.where(known, x[:, 1:], 0.0), first, axis=0)
            counts[block][at[first]] = np.add.reduceat(known.astype(np.float64), first, axis=0)
    return sums, counts


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Cut strata into blocks of bounded memory."""
    step = max(1, BLOCK // max(1, math.prod(shape[1:])))
    for start in range(0, max(1, shape[0]), step):
        yield slice(start, min(start + step, shape[0]))


def _of_rows(cube: xr.Dataset, metric: str, ids: Ints, counted: Bools, failed: Bools | None) -> tuple[Floats, Ints]:
    """Combine the p-values of runs by cluster; runs without one count as 1, and `failed` runs where they are given."""
    dims = strata_dims(cube)
    # a run whose value xarray masked has no p-value either
    p = cells(variable(cube, metric, "p"), dims) if f"{metric}_p" in cube else np.full(ids.shape, np.nan)
    p = np.where(np.isnan(cells(cube[metric], dims)), np.nan, p)
    none = np.isnan(np.where(counted, p, np.nan)).all(axis=1)
    used = counted if failed is None else counted | failed
    at, place = np.nonzero(used)
    filled = np.where(np.isnan(p), 1.0, p)
    logs, n = twice_mean(filled[at, place], at, ids[at, place], len(ids))
    return np.where(none, np.nan, logs), n


def _failed(cube: xr.Dataset, metric: str, statistic: Statistic) -> tuple[Floats, Floats]:
    """Return how many failed runs of each stratum count as the worst, and what they add to its statistic alone."""
    dims, spec = strata_dims(cube), cube[metric].attrs
    failed = cells(cube["status"], dims) == FAILED
    worst = score(cells(fill_failed(cube, metric)[metric], dims), direction=spec["direction"], optimum=spec["optimum"])
    worst = np.where(failed, worst, np.nan)
    n = (~np.isnan(worst)).sum(axis=1).astype(np.float64)
    if statistic == "rank":
        width = int(cube.attrs["n_draws"]) + 1
        last = 1.0 if spec["direction"] == "maximize" else float(width)
        return n, n * (last - (width + 1) / 2)
    expected = cells(variable(cube, metric, "control_loss" if spec["direction"] == "zero" else "control_mean"), dims)
    mean = moments(np.where(np.isnan(cells(cube[metric], dims)), np.nan, expected))[1]
    away = np.where(np.isnan(worst), 0.0, worst - mean[:, None]).sum(axis=1)
    return n, np.where(np.isnan(away), 0.0, away)


#: what a p-value is that no combination of draws reached
LEAST_OF_COMBINATIONS = f"the least of {COMBINATIONS:,} combinations of draws"


class StratumP(NamedTuple):
    """P-values of strata, (n_strata,) each."""

    p: Floats
    se: Floats
    #: p-values that no draw reached: upper bounds, which more draws may make smaller
    at_floor: Bools
    #: words, None without a p-value
    method: NDArray[np.object_]

    @property
    def floor_flags(self) -> pd.arrays.BooleanArray:
        """`at_floor` as a column that is missing for strata without a p-value."""
        return pd.arrays.BooleanArray(self.at_floor, np.isnan(self.p))


def described_p(tests: StratumTests, p: Floats, cluster: str, able: Bools) -> StratumP:
    """Describe p-values (b + 1) / (n + 1) of n draws or combinations, of the strata that are `able` to have one."""
    n_draws = tests.columns.sums.shape[1] - 1
    n = np.where(tests.by_logs, np.nan, np.where(np.isnan(tests.combined), n_draws, COMBINATIONS))
    floor = np.nan_to_num(p * (n + 1), nan=np.inf) <= 1 + 1e-9
    return StratumP(p, np.sqrt(p * (1 - p) / n), floor, tests.p_methods(cluster, able))
