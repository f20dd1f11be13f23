"""Clusters and strata of dask tables: which strata of the whole table repeat a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.field import Field
from ...tables.clusters import (
    BY_TRUTH,
    SINGLE,
    Cluster,
    PlacedClusters,
    by_data,
    check_clusters,
    read_clusters,
    setting_of,
    truth_marks,
    units_of,
    warn_of_units,
)
from ...tables.context import data_columns
from ...tables.tasks import Task
from ..runs import run_identity

Ints = NDArray[np.int64]

#: columns that hold a row's cluster, and whether its stratum repeats one
CLUSTER, REPEATED = "__cluster__", "__repeated__"
#: their types
MARKS: dict[str, pd.Series] = {CLUSTER: pd.Series(dtype=np.int64), REPEATED: pd.Series(dtype=bool)}


class PartClusters(NamedTuple):
    """The clusters, truths and labels of a partition's rows, 0 where a row has none or has failed."""

    ids: Ints
    truths: Ints
    labels: Ints
    #: what rows that count as clusters of their own share with others, as `units_of` returns it
    units: Ints


class ClusterPlan(NamedTuple):
    """The clusters and strata of a whole table."""

    #: what the runs of a cluster share
    setting: str
    #: (n,): numbers of the strata that repeat a cluster, ascending
    repeated: NDArray[Any]
    #: rows of the table
    n_rows: int

    @property
    def placed(self) -> PlacedClusters:
        """How the cube of a partition reads them."""
        return PlacedClusters(self.setting, CLUSTER, REPEATED, bool(len(self.repeated)), self.n_rows)

    def mark(self, part: pd.DataFrame, ids: Ints, stratum: NDArray[Any]) -> pd.DataFrame:
        """Add the columns of clusters and strata to a partition."""
        return part.assign(**{CLUSTER: ids, REPEATED: np.isin(stratum, self.repeated)})


def lazy_setting(settings: Mapping[str, Any], field: Field, columns: Iterable[Hashable]) -> str:
    """Return what the runs of a cluster share, by the settings of a cube, the field of its cells and the columns."""
    cluster = settings.get("cluster", BY_TRUTH)
    shared = setting_of(cluster, field)
    if shared != BY_TRUTH:
        return shared
    if settings.get("truth", "") is None:
        named = data_columns(settings.get("context"), columns)
        return by_data(named) if named or "data" in (settings.get("context") or {}) else SINGLE
    return BY_TRUTH


def part_clusters(part: pd.DataFrame, settings: Mapping[str, Any], task: Task) -> PartClusters:
    """Read the clusters of a partition."""
    cluster: Cluster = settings.get("cluster", "truth")
    nothing = np.zeros(len(part), np.int64)
    identity = nothing if task.truth is None else run_identity(task, [], None)
    relabelled = settings["n_draws"] is not None
    clusters = read_clusters(part, cluster, task, identity, relabelled=relabelled)
    cluster_ids = np.where(task.failed(), 0, clusters.ids)
    units = units_of(part, cluster, task)
    marks = (nothing, nothing)
    if clusters.setting not in (BY_TRUTH, SINGLE):
        marks = truth_marks(task, identity, relabelled=relabelled)
    return PartClusters(cluster_ids, *marks, nothing if units is None else units)


def _place(sizes: Sequence[int], row: int) -> str:
    """Name a row of the whole table by its partition and its place in it."""
    ends = np.cumsum(sizes)
    number = int(np.searchsorted(ends, row, side="right"))
    return f"partition {number}, row {row - (ends[number] - sizes[number])}"


def plan_clusters(
    parts: Sequence[PartClusters],
    strata: Sequence[NDArray[Any]],
    settings: Mapping[str, Any],
    setting: str,
    field: Field,
) -> ClusterPlan:
    """Find the strata that repeat a cluster, from the rows of all partitions."""
    cluster: Cluster = settings.get("cluster", BY_TRUTH)
    sizes = [len(part.ids) for part in parts]
    ids, truths, labels, units = (np.concatenate(x) for x in zip(*parts, strict=True))
    if setting not in (BY_TRUTH, SINGLE):
        check_clusters(ids, truths, labels, cluster, partial(_place, sizes))
    stratum = np.concatenate(strata)
    warn_of_units(field.unit, units, stratum, partial(_place, sizes))
    rows = np.flatnonzero(ids != 0) if setting != SINGLE else np.empty(0, np.int64)
    rows = rows[np.lexsort([ids[rows], stratum[rows]])]
    twice = (ids[rows[1:]] == ids[rows[:-1]]) & (stratum[rows[1:]] == stratum[rows[:-1]])
    return ClusterPlan(setting, np.unique(stratum[rows[1:]][twice]), len(stratum))
