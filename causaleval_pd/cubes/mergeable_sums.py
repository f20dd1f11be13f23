"""Sums over the runs of a stratum that merge: the summary of a table that no machine holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.history import call, calls, remember
from ..statistics.stratum_statistic import Statistic
from ..tables.clusters import SINGLE
from ..tables.stratum_draws import add_values, pad_tables, value_table
from .p_values import StratumTails, stratum_tails
from .reading import (
    cluster_setting,
    clusters_of_runs,
    cube_metrics,
    draws_shared,
    has_controls,
    loss_errors,
    losses,
    metric_strata,
    null_references,
    own_dims,
    strata_columns,
    strata_dims,
    strata_table,
)
from .stratum_sums import ClusterSums, Skill, Sums, Table, stratum_sums, summary_columns
from .summary import COLUMNS, typed_columns
from .verdicts import cluster_floors, has_verdicts, with_verdicts
from .worst_case import cells

Floats = NDArray[np.float64]
#: labels of a stratum, and after them those of the metric's own dimensions
Stratum = tuple[Any, ...]


class ClusterLosses(NamedTuple):
    """Losses of the runs of each cluster, such as a truth, and those expected of their controls, added up."""

    #: index: clusters; columns: sums of losses, of expected losses, and of their Monte Carlo errors
    table: pd.DataFrame
    #: whether every run is a cluster
    single: bool

    @classmethod
    def of(
        cls, clusters: NDArray[np.int64], own: Floats, expected: Floats, error: Floats, *, single: bool
    ) -> ClusterLosses:
        """Add up the runs of one stratum (n,)."""
        here, columns = ~np.isnan(own), {"own": own, "expected": expected, "error": error}
        return cls(pd.DataFrame(columns)[here].groupby(clusters[here]).sum(), single)

    def merge(self, other: ClusterLosses) -> ClusterLosses:
        """Merge the runs of two tables."""
        if self.single:
            return ClusterLosses(pd.concat([self.table, other.table], ignore_index=True), self.single)
        return ClusterLosses(self.table.add(other.table, fill_value=0), self.single)

    def skill(self, level: float, *, shared: bool = False) -> Skill:
        """Return the skill with its limits; the Monte Carlo errors are those of one draw if draws are `shared`."""
        own, expected, error = (self.table[[name]].to_numpy().T for name in ("own", "expected", "error"))
        return Skill.of(own, expected, level, error, shared=shared)


class RunSums(NamedTuple):
    """Sums of one stratum and metric, with the losses of runs and those expected of their controls."""

    sums: Sums
    losses: ClusterLosses
    #: sum and size, the number of values, of each cluster; None where runs are independent
    means: pd.DataFrame | None
    #: the smallest p-value of each cluster; None where the cube has none
    floors: pd.Series | None = None
    #: its p-value that does not rest on draws; None where the cube has no such variables
    tails: StratumTails | None = None

    def merge(self, other: RunSums) -> RunSums:
        """Add the runs of another table; values of the metric stay exact, those of controls are kept to a limit."""
        a, b = self.sums, other.sums
        values = _series(a.values).add(_series(b.values), fill_value=0)
        drawn = add_values(_series(a.control_values), _series(b.control_values))
        tests = None if a.tests is None or b.tests is None else a.tests.merge(b.tests)
        merged = Sums(a.n + b.n, _table(values), a.totals + b.totals, a.draws + b.draws, _table(drawn), tests)
        means = None
        if self.means is not None and other.means is not None:
            means = self.means.add(other.means, fill_value=0)
        floors = None
        if self.floors is not None and other.floors is not None:
            floors = self.floors.combine(other.floors, min, fill_value=1.0)
        tails = self.tails if self.tails is None or other.tails is None else self.tails.merge(other.tails)
        return RunSums(merged, self.losses.merge(other.losses), means, floors, tails)

    def by_cluster(self) -> ClusterSums | None:
        """Return the sums and sizes of the clusters as one stratum."""
        return None if self.means is None else (self.means[["sum"]].to_numpy().T, self.means[["size"]].to_numpy().T)


def _series(table: Table) -> pd.Series:
    return value_table(table.values[0], table.weights[0])


def _table(series: pd.Series) -> Table:
    return Table(*pad_tables([series]))


class CubeSums(NamedTuple):
    """Sums by metric and stratum, and an empty cube with the attributes of those that they come from."""

    strata: dict[tuple[str, Stratum], RunSums]
    empty: xr.Dataset

    def merge(self, other: CubeSums) -> CubeSums:
        """Add the sums of another table."""
        strata = dict(self.strata)
        for place, sums in other.strata.items():
            strata[place] = strata[place].merge(sums) if place in strata else sums
        return self._replace(strata=strata)


def merge_sums(sums: Iterable[CubeSums]) -> CubeSums:
    """Merge the sums of several tables, in their order."""
    parts = list(sums)
    # truth values and dates are words in a table that lacks one
    words = {
        (name, i) for part in parts for name, labels in part.strata for i, x in enumerate(labels) if type(x) is str
    }

    def worded(metric: str, labels: Stratum) -> Stratum:
        return tuple(str(x) if (metric, i) in words else x for i, x in enumerate(labels))

    named = [part._replace(strata={(m, worded(m, x)): runs for (m, x), runs in part.strata.items()}) for part in parts]
    return reduce(CubeSums.merge, named)


def sum_cube(cube: xr.Dataset, statistic: Statistic = "mean", *, by_cluster: bool = True) -> CubeSums:
    """Add up the runs of a cube that holds some of the runs of each stratum.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` from one null model, with `keep_draws=False` where it has controls. It has all runs of a cluster
        in a stratum.
    statistic : {"mean", "rank"}
        As in `summary`.
    by_cluster : bool
        Whether to add up the values of each cluster, for intervals of the mean.

    Returns
    -------
    CubeSums
        Of the strata that have runs.
    """
    strata = {}
    for metric in cube_metrics(cube):
        alone = metric_strata(cube, metric)
        labels = [tuple(_plain(x) for x in row) for row in strata_table(alone).itertuples(index=False)]
        labels = labels if strata_dims(alone) else [()]
        n, values, totals, draws, drawn, tests = stratum_sums(alone, metric, statistic=statistic)
        tails = stratum_tails(alone, metric, statistic)
        scores = cells(alone[metric], strata_dims(alone))
        own, expected, errors = (np.full(scores.shape, np.nan),) * 3
        if has_controls(cube, metric):
            own, expected, errors = *losses(alone, metric), loss_errors(alone, metric)
        clusters, single = clusters_of_runs(alone), cluster_setting(alone) == SINGLE
        floors = cluster_floors(alone) if has_verdicts(alone) else [None] * len(n)
        for i in np.flatnonzero(n[:, 0]).tolist():
            one = slice(i, i + 1)
            found, counts = np.unique(values.values[i][values.weights[i] > 0], return_counts=True)
            controls = _table(value_table(drawn.values[i], drawn.weights[i]))
            distinct = Table(found[None], counts[None].astype(np.float64))
            of_tests = None if tests is None else tests.take(one)
            sums = Sums(n[one], distinct, totals[:, :, one], draws[:, one], controls, of_tests)
            lost = ClusterLosses.of(clusters[i], own[i], expected[i], errors[i], single=single)
            means = _cluster_means(clusters[i], scores[i]) if by_cluster and not single else None
            of_tails = None if tails is None else tails.take(one)
            strata[metric, labels[i]] = RunSums(sums, lost, means, floors[i], of_tails)
    return CubeSums(strata, cube.isel({dim: slice(0) for dim in cube.dims}))


def _cluster_means(clusters: NDArray[np.int64], values: Floats) -> pd.DataFrame:
    """Return the sum and number of the defined values of each cluster of one stratum."""
    here = ~np.isnan(values)
    return pd.DataFrame({"sum": values[here], "size": 1.0}).groupby(clusters[here]).sum()


def _plain(label: Any) -> Any:
    """Return a label as an object that is equal to itself, so that missing numbers find each other."""
    if isinstance(label, np.generic):
        label = label.item()
    return None if isinstance(label, float) and np.isnan(label) else label


def summarise_sums(
    found: CubeSums, strata: Sequence[str], level: float, interval: str, statistic: Statistic = "mean"
) -> pd.DataFrame:
    """Return the rows of `summary`, unordered, from the sums of all runs.

    Parameters
    ----------
    found : CubeSums
        Of all runs.
    strata : sequence of str
        Names of the strata.
    level, interval, statistic
        As in `summary`.

    Returns
    -------
    DataFrame
        The columns of `summary`, a row a stratum and metric.
    """
    drawn, shared = has_controls(found.empty), draws_shared(found.empty)
    rows = []
    # stratum by stratum: sums over padded value tables would differ in their last digit
    for (metric, labels), runs in found.strata.items():
        columns = summary_columns(
            runs.sums,
            runs.losses.skill(level, shared=shared) if drawn else None,
            found.empty[metric].attrs,
            np.array([not shared and not null_references(found.empty, metric)]),
            (lambda p: p) if runs.tails is None else runs.tails.replace,
            by_cluster=runs.by_cluster(),
            cluster=cluster_setting(found.empty),
            shared=shared,
            level=level,
            interval=interval,
        )
        values = {name: value[0] if np.ndim(value) else value for name, value in columns.items()}
        names = [*strata, *own_dims(found.empty, metric)]
        rows.append(dict(zip(names, labels, strict=True)) | {"metric": metric} | values)
    metrics = cube_metrics(found.empty)
    made = call("summary", {"metrics": metrics, "level": level, "interval": interval, "statistic": statistic})
    table = typed_columns(pd.DataFrame(rows, columns=[*strata_columns(found.empty, metrics), *COLUMNS]))
    if has_verdicts(found.empty) and len(table):
        # rows are those of the strata, in their order
        floors = pd.Series([runs.floors for runs in found.strata.values()], dtype=object)
        parts = table.groupby("metric", sort=False).indices.items()
        judged = [
            with_verdicts(table.iloc[at], found.empty, str(m), level, floors.iloc[at].tolist()) for m, at in parts
        ]
        table = pd.concat(judged).sort_index()
    return remember(table, [*calls(found.empty.attrs), made])
