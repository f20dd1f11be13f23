"""The rows of a table as a cube takes them: canonical cells and every column that the settings name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_column_name, check_known, check_type
from ..contract.metric import METRICS, Metric, get_metric
from ..execution.random_streams import hash_rows, key_columns
from ..tables.best_of import Candidates, find_candidates, match_candidates
from ..tables.clusters import BY_TRUTH, Cluster, Clusters, read_clusters
from ..tables.columns import column_or_level, labels_of, numbers
from ..tables.evaluate import evaluate
from ..tables.matching import Matches, find_null, match_rows, named_nulls
from ..tables.scoring import score_rows
from ..tables.settings import Cells, NullChoice
from ..tables.tasks import Metrics, Task, read_tasks
from .schema import RESERVED
from .strata import By, StratumColumn, stratum_entries
from .weights import read_weights

Floats = NDArray[np.float64]
#: columns to carry along, with or without their directions
Values = Sequence[str] | Mapping[str, Literal["minimize", "maximize"] | None]


@dataclass(frozen=True)
class Runs:
    """The rows of a table."""

    #: metrics and canonical cells by field; the first is of the cells' own field
    tasks: list[Task]
    #: labels of the rows, for messages
    index: pd.Index
    #: (n,): whether a row has no truth or no estimate
    failed: NDArray[np.bool_]
    #: (n,): identity of each row's truth, which pairs rows across strata; without a truth that of its context,
    #: else of its replicate, else its own
    truth_id: NDArray[np.int64]
    #: the columns of `by`
    strata: list[StratumColumn]
    #: columns that tell rows apart
    keys: list[pd.Series]
    #: column that numbers the runs of a stratum
    replicate: pd.Series | None
    #: numbers to carry along, by name
    carried: dict[str, Floats]
    #: which of them are better: "minimize", "maximize" or "none"
    directions: dict[str, str]
    #: random stream and stated class of controls of each row; None without controls
    matches: Matches | None
    #: rows that depend on one another
    clusters: Clusters
    #: groups of rows of which the best counts: a run of the cube is then a group, of which `failed`, `truth_id`,
    #: `strata`, `keys` and `replicate` are
    candidates: Candidates | None = None
    #: (n,): how much each row counts; None where all count alike
    weights: Floats | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the table, or of the larger one that they are part of."""
        return len(self.failed) if self.clusters.n_rows is None else self.clusters.n_rows

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of all tasks."""
        return [m for task in self.tasks for m in task.metrics]


def read_runs(
    table: pd.DataFrame,
    metrics: Metrics,
    by: By,
    cells: Cells,
    choice: NullChoice | None,
    *,
    key: Hashable | Sequence[Hashable] | None,
    replicate: Hashable | None,
    values: Values,
    cluster: Cluster = None,
) -> Runs:
    """Read and check everything that a cube needs of a table."""
    tasks, _ = read_tasks(table, metrics, cells)
    first_task = tasks[0]
    directions = _directions(values)
    if not directions and not any(task.metrics for task in tasks):
        raise ValueError("no metrics were named; a cube needs at least one, or values= to carry along")
    strata = stratum_columns(table, by, first_task)
    carried = {name: numbers(table, name, "values") for name in directions}
    replicates = None if replicate is None else labels_of(table, replicate, "replicate")
    for name, floors in _floors(first_task, choice, list(directions)).items():
        carried[name], directions[name] = floors, "none"
    named = [*(column.name for column in strata), *values, cells.truth, cells.estimate, cluster, key, replicate]
    weights = read_weights(table, first_task.field, named)
    if choice is not None and choice.best_of is not None:
        refused = {"values=": len(values) > 0, "cluster=": cluster != BY_TRUTH, "column 'weight'": weights is not None}
        return _read_groups(table, tasks, strata, choice, replicates, refused)
    keys = list(key_columns(table, key))
    identity = run_identity(first_task, keys, replicates)
    clusters = read_clusters(table, cluster, first_task, identity, relabelled=choice is not None)
    matches = None if choice is None else match_rows(table, choice, clusters)
    return Runs(
        tasks,
        table.index,
        first_task.failed(),
        identity,
        strata,
        keys,
        replicates,
        carried,
        directions,
        matches,
        clusters,
        weights=weights,
    )


def _read_groups(
    table: pd.DataFrame,
    tasks: list[Task],
    strata: list[StratumColumn],
    choice: NullChoice,
    replicate: pd.Series | None,
    refused: Mapping[str, bool],
) -> Runs:
    """Take groups of candidates as runs; `refused` are inputs that groups cannot have, and whether they are there."""
    check_column_name(choice.best_of, "best_of")
    for name, is_there in refused.items():
        if is_there:
            raise ValueError(f"best_of= makes a run of the cube of a group of rows and takes no {name}")
    if choice.best_of in [column.name for column in strata]:
        raise ValueError(f"by names {choice.best_of!r}, of whose levels best_of= takes the best; leave it out of by=")
    first_task = tasks[0]
    candidates = find_candidates(
        table, cast(Hashable, choice.best_of), choice.key, first_task, [x.values for x in strata]
    )

    def first(column: pd.Series) -> pd.Series:
        return column.iloc[candidates.first].reset_index(drop=True)

    keys = [first(x) for x in key_columns(table, choice.key) if x.name != choice.best_of]
    numbers = None if replicate is None else first(replicate)
    identity = cast(NDArray[np.int64], first_task.identity())[candidates.first]
    return Runs(
        tasks,
        table.index,
        pd.Series(first_task.failed()).groupby(candidates.group).all().to_numpy(bool),
        identity,
        [column._replace(values=first(column.values)) for column in strata],
        keys or [pd.Series(range(len(candidates.first)))],
        numbers,
        {},
        {},
        match_candidates(table, choice, first_task),
        Clusters(BY_TRUTH, identity),
        candidates,
    )


def _floors(task: Task, choice: NullChoice | None, taken: Sequence[str]) -> dict[str, Floats]:
    """Return the smallest p-values that estimates without truths can have, where controls relabel them."""
    name = task.field.floor
    if choice is None or task.truth is not None or not name or name in taken:
        return {}
    if not any(find_null(task.field, one).joint for one in named_nulls(choice.null)):
        return {}
    return score_rows(task._replace(metrics=(get_metric(name),)), "nan", task.estimate.index)


def _directions(values: Values) -> dict[str, str]:
    """Return the columns to carry along, each with its direction, "none" where the user gives none."""
    check_type(values, (list, tuple, Mapping), "a list of columns or {column: direction}", "values")
    if not isinstance(values, Mapping):
        for name in values:
            check_type(name, Hashable, "a list of columns or {column: direction}, each name hashable", "values")
        return dict.fromkeys(values, "none")
    for name, direction in values.items():
        check_known(direction, ["minimize", "maximize", None], f"direction of {name!r} (values)")
    return {name: direction or "none" for name, direction in values.items()}


def run_identity(task: Task, keys: Sequence[pd.Series], replicate: pd.Series | None) -> NDArray[np.int64]:
    """Return what pairs runs across strata: their truth, else context, else `replicate`, else an identity per run."""
    truth_ids = task.identity()
    return unnamed_truths(keys if replicate is None else [replicate]) if truth_ids is None else truth_ids


def unnamed_truths(parts: Sequence[pd.Series]) -> NDArray[np.int64]:
    """Return one number per row that stands for its truth: equal where all parts are equal by value, and never 0."""
    numbers = hash_rows(parts).view(np.int64)
    return np.where(numbers == 0, 1, numbers)


def stratum_columns(table: pd.DataFrame, by: By, task: Task) -> list[StratumColumn]:
    """Read the columns of `by`; a name is a column of the table or a metric that describes a row."""
    columns: list[StratumColumn] = []
    for name, edges in stratum_entries(by):
        if not isinstance(name, str):
            raise ValueError(f"by names {name!r}, and a stratum needs a string as its name; rename the table's column")
        if name in [column.name for column in columns]:
            raise ValueError(f"by names {name!r} twice; a stratum needs a name of its own")
        if name in RESERVED:
            raise ValueError(
                f"by names {name!r}, which cubes and their tables need; rename the table's column, "
                f"e.g. table.rename(columns={{{name!r}: 'my_{name}'}})"
            )
        columns.append(StratumColumn(name, _values(table, name, task), edges))
    return columns


def _values(table: pd.DataFrame, name: str, task: Task) -> pd.Series:
    here = name in table.columns or name in table.index.names
    if not here:
        METRICS.load()
    described = METRICS.get(name)
    if here or described is None or described.direction is not None:
        return column_or_level(table, name, "by").reset_index(drop=True)
    if task.context is not None:
        scored = score_rows(task._replace(metrics=(described,)), "raise", task.estimate.index)[described.name]
        if not described.of_truth or not task.failed().any():
            return pd.Series(scored, name=name)
    truth = task.estimate.array if task.truth is None else task.truth.array
    cells = pd.DataFrame({"truth": truth, "estimate": truth if described.of_truth else task.estimate.array})
    try:
        series = cast(pd.Series, evaluate(cells, [name])[name])
    except ValueError:
        if task.context is None:
            raise
        # it needs inputs, and was computed with them above
        series = pd.Series(np.nan, index=range(len(truth)), name=name)
    return series if task.context is None else _of_failed_too(series, scored, task)


def _of_failed_too(whole: pd.Series, scored: NDArray[np.float64], task: Task) -> pd.Series:
    """Return one number per truth by its context, for failed runs that of other runs on the same truth and context.

    `whole` is the number without the context, which holds for failed runs if the context changes it nowhere.
    """
    failed = task.failed()
    if np.array_equal(whole.to_numpy(float)[~failed], scored[~failed], equal_nan=True):
        return whole
    same = [task.identity(), None if task.context is None else task.context.codes]
    series = pd.Series(scored, name=whole.name)
    return series.where(~failed, series.groupby([np.asarray(x) for x in same if x is not None]).transform("first"))
