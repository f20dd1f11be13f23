"""Clusters and strata of dask tables: which strata repeat a cluster, and which rows have to meet in a partition."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.context import data_columns
from ...contract.field import Field
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
    units_of,
    warn_of_units,
)
from ...tables.tasks import Task
from ..runs import run_identity, stratum_columns
from ..strata import By, label_words, strata_axes
from ..stratum_tests import MOST_RUNS
from .partitions import cells_of, in_partition

Ints = NDArray[np.int64]

#: columns that hold a row's cluster, whether its stratum repeats one, whether a partition has the whole of its stratum,
#: and what it shares with the rows that it has to meet, while rows are shuffled
CLUSTER, REPEATED, WHOLE, MEETING = "__cluster__", "__repeated__", "__whole__", "__meeting__"
#: their types
MARKS: dict[str, pd.Series] = {
    name: pd.Series(dtype=dtype)
    for name, dtype in ((CLUSTER, np.int64), (REPEATED, bool), (WHOLE, bool), (MEETING, np.int64))
}


class PartClusters(NamedTuple):
    """The clusters, truths and labels of a partition's rows, 0 where a row has none or has failed.

    And, where it counts as a cluster of its own, what it shares with others nevertheless, as `units_of` returns it.
    """

    ids: Ints
    truths: Ints
    labels: Ints
    units: Ints


class ClusterPlan(NamedTuple):
    """The clusters and strata of a whole table.

    Attributes
    ----------
    setting : str
        What the runs of a cluster share.
    repeated : (n,) array
        Numbers of the strata that repeat a cluster, ascending.
    whole : (n,) array
        Numbers of the strata whose rows meet in one partition; of other strata, those of a cluster meet.
    spread : bool
        Whether rows that have to meet are in several partitions.
    n_rows : int
        Rows of the table.
    """

    setting: str
    repeated: NDArray[Any]
    whole: NDArray[Any]
    spread: bool
    n_rows: int

    @property
    def placed(self) -> PlacedClusters:
        """How the cube of a partition reads them."""
        return PlacedClusters(self.setting, CLUSTER, REPEATED, WHOLE, bool(len(self.repeated)), self.n_rows)

    def mark(self, part: pd.DataFrame, ids: Ints, stratum: NDArray[Any]) -> pd.DataFrame:
        """Add the columns of clusters and strata to a partition."""
        repeated, whole = np.isin(stratum, self.repeated), np.isin(stratum, self.whole)
        meeting = np.where(whole, stratum.view(np.int64), ids)
        return part.assign(**{CLUSTER: ids, REPEATED: repeated, WHOLE: whole, MEETING: meeting})


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
    clusters = read_clusters(part, cluster, own, identity, relabelled=relabelled)
    found = np.where(own.failed(), 0, clusters.ids)
    units = units_of(part, cluster, own)
    marks = (nothing, nothing)
    if clusters.setting not in (BY_TRUTH, SINGLE):
        marks = truth_marks(own, identity, relabelled=relabelled)
    return PartClusters(found, *marks, nothing if units is None else units)


def needs_plan(settings: Mapping[str, Any], own: Field, columns: Iterable[Hashable]) -> bool:
    """Return whether rows may have to meet before they are scored, or may share a unit, by the settings of a cube."""
    with_tails = settings["n_draws"] is not None and settings["tails"] is not None
    with_units = bool(own.unit) and own.unit in columns and settings.get("cluster", BY_TRUTH) == BY_TRUTH
    return with_tails or with_units or lazy_setting(settings, own, columns) != SINGLE


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
    own: Field,
) -> ClusterPlan:
    """Find the strata that repeat a cluster, and those to keep whole, from the rows of all partitions.

    Parameters
    ----------
    parts : sequence of PartClusters
        Clusters of the rows of each partition.
    strata : sequence of (n,) array
        Numbers of their strata, 64 bits each.
    settings : mapping
        Settings of the cube.
    setting : str
        What the runs of a cluster share.
    own : Field
        Field of the cells.
    """
    cluster: Cluster = settings.get("cluster", BY_TRUTH)
    sizes = [len(part.ids) for part in parts]
    ids, truths, labels, units = (np.concatenate(x) for x in zip(*parts, strict=True))
    number = np.repeat(np.arange(len(parts)), sizes)
    if setting not in (BY_TRUTH, SINGLE):
        check_clusters(ids, truths, labels, cluster, partial(_place, sizes))
    stratum = np.concatenate(strata)
    warn_of_units(own.unit, units, stratum, partial(_place, sizes))
    rows = np.flatnonzero(ids != 0) if setting != SINGLE else np.empty(0, np.int64)
    rows = rows[np.lexsort([number[rows], ids[rows], stratum[rows]])]
    twice = (ids[rows[1:]] == ids[rows[:-1]]) & (stratum[rows[1:]] == stratum[rows[:-1]])
    apart = twice & (number[rows[1:]] != number[rows[:-1]])
    whole, of, n = np.unique(stratum, return_inverse=True, return_counts=True)
    small = np.zeros(len(whole), bool)
    if settings["n_draws"] is not None and settings["tails"] is not None:
        # p-values by moments are asked for by name, and cost little
        small = (n <= MOST_RUNS) | (settings.get("method") == "moments")
    first, last = np.full(len(whole), len(parts)), np.full(len(whole), -1)
    np.minimum.at(first, of, number)
    np.maximum.at(last, of, number)
    spread = bool(apart.any() or (first != last)[small].any())
    return ClusterPlan(setting, np.unique(stratum[rows[1:]][twice]), whole[small], spread, len(stratum))


class Marks(NamedTuple):
    """The clusters of a partition's rows, and numbers of their strata that agree between partitions."""

    clusters: PartClusters
    stratum: NDArray[np.uint64]


def marks_of(part: pd.DataFrame, by: By, settings: Mapping[str, Any], number: int) -> Marks:
    """Read the clusters and strata of a partition."""
    with in_partition(number):
        own = cells_of(part, settings)
        axes = strata_axes(stratum_columns(part, by, own))
        # labels that are words in a partition that lacks one
        named = [label_words(pd.Index(x.labels)) if x.labels.dtype.kind in "bM" else x.labels for x in axes]
        labels = [pd.Series(x)[axis.codes].reset_index(drop=True) for x, axis in zip(named, axes, strict=True)]
        stratum = hash_rows(labels) if labels else np.zeros(len(part), np.uint64)
        return Marks(part_clusters(part, settings, own), stratum)
