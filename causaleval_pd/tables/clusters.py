"""Clusters: rows that depend on one another, because they share a truth or a value of a column."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_column_name, name_row, warn
from ..contract.field import Field
from ..execution.random_streams import hash_rows
from .columns import labels_of
from .tasks import Task

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: settings of results: rows with equal truths are a cluster, every row is one
BY_TRUTH, SINGLE = "truth", "none"

_SPLIT = (
    "have the same truth, but different clusters; runs on one truth depend on each other, so a cluster holds whole "
    "truths: name a coarser column, or use cluster=None where all runs are independent"
)
_MIXED = (
    "are in one cluster, but their truths have different nodes or factors, so that one relabelling cannot serve both: "
    "name a finer column, or leave cluster= out to cluster by truth; formulas have the same factors where context= "
    "names all of them, as {'factors': ['A', 'B', ...]}"
)


class PlacedClusters(NamedTuple):
    """The clusters of some rows of a larger table, in columns."""

    #: what the runs of a cluster share
    setting: str
    #: column that names the clusters
    ids: str
    #: column that marks strata that repeat one
    repeated: str
    #: whether any stratum of the whole table repeats one
    anywhere: bool
    #: rows of the whole table
    n_rows: int


#: "truth", the name of a column, or None for independent rows
Cluster = Hashable | PlacedClusters | None


def setting_of(cluster: Cluster, field: Field) -> str:
    """Return the setting of results that is meant."""
    if isinstance(cluster, PlacedClusters):
        return cluster.setting
    check_column_name(cluster, "cluster")
    if cluster is None or (cluster == BY_TRUTH and not field.truth_clusters):
        return SINGLE
    return BY_TRUTH if cluster == BY_TRUTH else f"column {cluster}"


class Clusters(NamedTuple):
    """The clusters of a table's rows, which may be part of a larger table."""

    #: "truth", "none", or "column" and its name
    setting: str
    #: (n,): number of each row's cluster, the same on any machine; 0 for a row without a truth
    ids: Ints
    #: (n,): rows of strata that hold a cluster twice, where the rows are part of a larger table
    repeated: Bools | None = None
    #: whether any stratum of that table repeats one
    anywhere: bool = False
    #: rows of that table
    n_rows: int | None = None

    def repeats(self, stratum: Ints, counted: Bools) -> Bools:
        """Return which rows are in a stratum that holds a cluster twice among the rows that are `counted`."""
        if self.repeated is not None:
            return self.repeated
        return repeated_strata(self.ids, stratum, counted)[stratum]

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """Return the random stream of each row's cluster."""
        return hash_rows([pd.Series(self.ids)], seed) ^ np.uint64(0xC1057E25_0F5EED5)


def repeated_strata(ids: Ints, stratum: Ints, counted: Bools) -> Bools:
    """Return which strata hold a cluster twice among the rows that are `counted`, by number."""
    order = np.flatnonzero(counted)
    order = order[np.lexsort([ids[order], stratum[order]])]
    twice = (np.diff(ids[order]) == 0) & (np.diff(stratum[order]) == 0)
    repeated = np.zeros(int(stratum.max(initial=-1)) + 1, bool)
    repeated[stratum[order[1:][twice]]] = True
    return repeated


def by_data(columns: Sequence[str]) -> str:
    """Return the setting of a table without truths, whose clusters are data sets: those that columns name, or one."""
    return f"column {', '.join(columns) or 'data'}"


def read_clusters(
    table: pd.DataFrame, cluster: Cluster, task: Task, identity: Ints, *, relabelled: bool = True
) -> Clusters:
    """Return the clusters of a table's rows."""
    if isinstance(cluster, PlacedClusters):
        ids = table[cluster.ids].to_numpy(np.int64) if cluster.setting != SINGLE else _single(len(table))
        repeated = table[cluster.repeated].to_numpy(bool)
        return Clusters(cluster.setting, ids, repeated, cluster.anywhere, cluster.n_rows)
    setting = setting_of(cluster, task.field)
    without = setting == BY_TRUTH and task.truth is None
    if without and task.context is not None and task.context.data_sets is not None:
        return Clusters(by_data(task.context.named_by), np.where(task.failed(), 0, task.context.data_sets))
    if setting == SINGLE or without:
        return Clusters(SINGLE, _single(len(table)))
    if setting == BY_TRUTH:
        return Clusters(BY_TRUTH, identity)
    values = labels_of(table, cluster, "cluster").reset_index(drop=True)
    failed, numbers = task.failed(), hash_rows([values]).view(np.int64)
    lacking = values.isna().to_numpy() & ~failed
    if lacking.any():
        row = int(np.argmax(lacking))
        raise ValueError(
            f"{name_row(row, table.index)}: cluster={cluster!r} has no value; give every run a cluster of its own or "
            "one that it shares, or leave cluster= out to cluster by truth"
        )
    cluster_ids = np.where(numbers == 0, 1, numbers)
    truths, labels = truth_marks(task, identity, relabelled=relabelled)
    check_clusters(cluster_ids, truths, labels, cluster, lambda row: name_row(row, table.index))
    return Clusters(setting, np.where(failed, 0, cluster_ids))


def units_of(table: pd.DataFrame, cluster: Cluster, task: Task) -> Ints | None:
    """Return one number per row, equal where rows share a value of the field's usual clusters; 0 where a row failed.

    None where the user chose clusters, or the table has no such column. Numbers agree between parts of a table.
    """
    unit = task.field.unit
    if not unit or unit not in table.columns or cluster != BY_TRUTH:
        return None
    unit_columns = [table[name].reset_index(drop=True) for name in ("task", unit) if name in table.columns]
    # 63 bits, of which 0 is kept for rows that failed
    numbers = (hash_rows(unit_columns) >> np.uint64(1)).astype(np.int64)
    return np.where(task.failed(), 0, np.maximum(numbers, 1))


def warn_of_units(unit: str, units: Ints, stratum: NDArray[Any], name: Callable[[int], str]) -> None:
    """Warn where rows count as independent by default, but a stratum repeats one of the `units`; `name` names a row."""
    known = np.flatnonzero(units != 0)
    again = np.flatnonzero(pd.DataFrame({"stratum": stratum[known], "unit": units[known]}).duplicated())
    if len(again):
        warn(
            f"rows of a stratum share a value of column {unit!r} ({name(int(known[again[0]]))}), but count as "
            f"independent, which makes p-values too small and intervals too narrow where they depend on each other: "
            f"pass cluster={unit!r} (or a column that tells the {unit}s of several tasks apart), or cluster=None where "
            "they do not",
        )


def _single(n: int) -> Ints:
    """Return one cluster per row."""
    return np.arange(1, n + 1, dtype=np.int64)


def row_clusters(table: pd.DataFrame, cluster: Cluster, task: Task, *, relabelled: bool) -> Clusters:
    """Return the clusters of rows that are scored one by one; failed rows have none."""
    identity = task.identity()
    identity = np.zeros(len(table), np.int64) if identity is None else identity
    clusters = read_clusters(table, cluster, task, identity, relabelled=relabelled)
    return clusters._replace(ids=np.where(task.failed(), 0, clusters.ids))


def truth_marks(task: Task, identity: Ints, *, relabelled: bool) -> tuple[Ints, Ints]:
    """Return the numbers of each row's truth and, if they matter, of its labels; 0 where it has none or failed."""
    nothing = np.zeros(len(identity), np.int64)
    if task.truth is None:
        return nothing, nothing
    field, failed = task.field.of_truth, task.failed()
    truths = identity if task.field.truth_clusters else nothing
    labels = nothing
    if relabelled and task.context is not None and field.labels_in_context is not None:
        labels = field.labels_in_context(task.truth, task.context)
    elif relabelled and field.labels is not None:
        labels = field.labels(task.truth)
    return np.where(failed, 0, truths), np.where(failed, 0, labels)


def check_clusters(ids: Ints, truths: Ints, labels: Ints, cluster: object, name: Callable[[int], str]) -> None:
    """Refuse clusters that split a truth, or hold truths of different labels; `name` names a row in the message."""
    for parts, whole, fault in (
        (ids, truths, _SPLIT),
        (labels, ids, _MIXED),
    ):
        rows = np.flatnonzero((parts != 0) & (whole != 0))
        if not len(rows):
            continue
        _, first, of = np.unique(whole[rows], return_index=True, return_inverse=True)
        earlier = rows[first[of.reshape(-1)]]
        wrong = np.flatnonzero(parts[rows] != parts[earlier])
        if len(wrong):
            row, other = int(rows[wrong[0]]), int(earlier[wrong[0]])
            raise ValueError(f"cluster={cluster!r}: {name(other)} and {name(row)} {fault}")
