"""Clusters of dask tables: which strata repeat one, and whether the rows of one are spread over partitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import compute
from dask.delayed import delayed
from numpy.typing import NDArray

from ...contract.context import data_columns
from ...contract.field import Field, get_field
from ...execution.random_streams import hash_rows
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
)
from ...tables.tasks import Task
from ..runs import run_identity, stratum_columns
from ..strata import By, strata_axes
from .partitions import cells_of, in_partition

Ints = NDArray[np.int64]

#: columns that hold a row's cluster, and whether its stratum repeats one, while rows are shuffled
CLUSTER, REPEATED = "__cluster__", "__repeated__"


class PartClusters(NamedTuple):
    """The clusters, truths and labels of a partition's rows, 0 where a row has none or has failed."""

    ids: Ints
    truths: Ints
    labels: Ints


class ClusterPlan(NamedTuple):
    """The clusters of a whole table.

    Attributes
    ----------
    setting : str
        What the runs of a cluster share.
    repeated : (n,) array
        Numbers of the strata that repeat a cluster, ascending.
    spread : bool
        Whether a stratum has rows of one cluster in several partitions.
    """

    setting: str
    repeated: NDArray[Any]
    spread: bool

    @property
    def placed(self) -> PlacedClusters:
        """How the cube of a partition reads them."""
        return PlacedClusters(self.setting, CLUSTER, REPEATED, bool(len(self.repeated)))

    def mark(self, part: pd.DataFrame, ids: Ints, stratum: NDArray[Any]) -> pd.DataFrame:
        """Add the columns of clusters to a partition."""
        return part.assign(**{CLUSTER: ids, REPEATED: np.isin(stratum, self.repeated)})


def lazy_setting(settings: Mapping[str, Any], own: Field, columns: Iterable[Hashable]) -> str:
    """Return what the runs of a cluster share, by the settings of a cube, the field of its cells and the columns."""
    cluster = settings.get("cluster", BY_TRUTH)
    found = setting_of(cluster, own)
    if found != BY_TRUTH:
        return found
    if settings["n_draws"] is None:
        return SINGLE
    if settings.get("truth", "") is None:
        named = data_columns(settings.get("context"), columns)
        return by_data(named) if named or "data" in (settings.get("context") or {}) else SINGLE
    return BY_TRUTH


def part_clusters(part: pd.DataFrame, settings: Mapping[str, Any], own: Task) -> PartClusters:
    """Read the clusters of a partition."""
    cluster: Cluster = settings.get("cluster", "truth")
    nothing = np.zeros(len(part), np.int64)
    identity = nothing if own.truth is None else run_identity(own, [], None)
    relabelled = settings["n_draws"] is not None
    found = np.where(own.failed(), 0, read_clusters(part, cluster, own, identity, relabelled=relabelled).ids)
    if setting_of(cluster, own.field) == BY_TRUTH:
        return PartClusters(found, nothing, nothing)
    return PartClusters(found, *truth_marks(own, identity, relabelled=relabelled))


def plan_clusters(
    parts: Sequence[PartClusters], strata: Sequence[NDArray[Any]], cluster: Cluster, setting: str
) -> ClusterPlan:
    """Find the strata that repeat a cluster, from the clusters and strata of all partitions' rows."""
    sizes = [len(part.ids) for part in parts]
    ids, truths, labels = (np.concatenate(x) for x in zip(*parts, strict=True))
    number = np.repeat(np.arange(len(parts)), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if setting != BY_TRUTH:
        check_clusters(
            ids, truths, labels, cluster, lambda row: f"partition {number[row]}, row {row - starts[number[row]]}"
        )
    stratum = np.concatenate(strata)
    rows = np.flatnonzero(ids != 0)
    rows = rows[np.lexsort([number[rows], ids[rows], stratum[rows]])]
    twice = (ids[rows[1:]] == ids[rows[:-1]]) & (stratum[rows[1:]] == stratum[rows[:-1]])
    apart = twice & (number[rows[1:]] != number[rows[:-1]])
    return ClusterPlan(setting, np.unique(stratum[rows[1:]][twice]), bool(apart.any()))


class Marks(NamedTuple):
    """The clusters of a partition's rows, and numbers of their strata that agree between partitions."""

    clusters: PartClusters
    stratum: NDArray[np.uint64]


def marks_of(part: pd.DataFrame, by: By, settings: Mapping[str, Any], number: int) -> Marks:
    """Read the clusters and strata of a partition."""
    with in_partition(number):
        own = cells_of(part, settings)
        axes = strata_axes(stratum_columns(part, by, own))
        labels = [pd.Series(axis.labels)[axis.codes].reset_index(drop=True) for axis in axes]
        stratum = hash_rows(labels) if labels else np.zeros(len(part), np.uint64)
        return Marks(part_clusters(part, settings, own), stratum)


def mark_clusters(part: pd.DataFrame, by: By, settings: Mapping[str, Any], plan: ClusterPlan) -> pd.DataFrame:
    """Add the columns of clusters to a partition."""
    found = marks_of(part, by, settings, 0) if len(part) else None
    if found is None:
        return part.assign(**{CLUSTER: np.empty(0, np.int64), REPEATED: np.empty(0, bool)})
    return plan.mark(part, found.clusters.ids, found.stratum)


def with_whole_clusters(table: dd.DataFrame, by: By, settings: dict[str, Any]) -> tuple[dd.DataFrame, dict[str, Any]]:
    """Mark the clusters of a table's rows, and shuffle rows so that each partition has the whole of its clusters."""
    own = get_field(settings["field"])
    setting = lazy_setting(settings, own, table.columns)
    if setting == SINGLE:
        return table, settings
    marks = compute(*[delayed(marks_of)(part, by, settings, i) for i, part in enumerate(table.to_delayed())])
    cluster = settings.get("cluster", "truth")
    plan = plan_clusters([x.clusters for x in marks], [x.stratum for x in marks], cluster, setting)
    meta = table._meta.assign(**{CLUSTER: pd.Series(dtype=np.int64), REPEATED: pd.Series(dtype=bool)})
    marked = table.map_partitions(mark_clusters, by, settings, plan, meta=meta)
    if plan.spread:
        marked = marked.shuffle(on=CLUSTER, npartitions=table.npartitions)
    return marked, settings | {"cluster": plan.placed}
