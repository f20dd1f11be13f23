"""The rows of a table as a cube takes them: canonical cells and every column that the settings name."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_type
from ..contract.metric import METRICS, Metric
from ..execution.random_streams import key_columns, row_keys
from ..tables.columns import column, numbers
from ..tables.evaluate import evaluate
from ..tables.matching import control_kinds, shared_key
from ..tables.settings import Cells, Drawing
from ..tables.tasks import Metrics, Task, plan
from .schema import RESERVED, result_columns
from .strata import By, StratumColumn, stratum_entries

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """The rows of a table.

    Attributes
    ----------
    tasks : list of Task
        Metrics and canonical cells by field; the first is of the cells' own field.
    index : Index
        Labels of the rows, for messages.
    failed : (n,) bool
        Whether a row has no truth or no estimate.
    truth_id : (n,) int or None
        Identity of each row's truth, which pairs rows across strata; None pairs them by `replicate` alone.
    strata : list of StratumColumn
        The columns of `by`.
    keys : list of Series
        Columns that tell rows apart.
    replicate : Series or None
        Column that numbers the runs of a stratum.
    carried : dict
        Numbers to carry along, by name.
    given : Series or None
        Given controls.
    kinds : (n,) object or None
        Stated class of each row's controls.
    streams : (n,) uint64 or None
        Key of each row's random stream; None without controls.
    """

    tasks: list[Task]
    index: pd.Index
    failed: NDArray[np.bool_]
    truth_id: NDArray[np.int64] | None
    strata: list[StratumColumn]
    keys: list[pd.Series]
    replicate: pd.Series | None
    carried: dict[str, Floats]
    given: pd.Series | None
    kinds: NDArray[np.object_] | None
    streams: NDArray[np.uint64] | None

    @property
    def metrics(self) -> list[Metric]:
        """The metrics of all tasks."""
        return [m for task in self.tasks for m in task.metrics]


def read_runs(
    table: pd.DataFrame,
    metrics: Metrics,
    by: By,
    cells: Cells,
    drawing: Drawing | None,
    *,
    replicate: Hashable | None,
    control: Hashable | None,
    values: Sequence[str],
) -> Runs:
    """Read and check everything that a cube needs of a table.

    Parameters
    ----------
    table, metrics, by, replicate, control, values
        As in `cube`.
    cells : Cells
        Columns of the cells and the keys.
    drawing : Drawing or None
        How controls are drawn; None makes no controls.

    Returns
    -------
    Runs
        The rows, in the order of the table.

    Raises
    ------
    ValueError
        If a column is unknown or unsuited, keys repeat, or a name of `by` is reserved.
    """
    tasks, _ = plan(
        table,
        metrics,
        truth=cells.truth,
        estimate=cells.estimate,
        field=cells.field,
        context=cells.context,
        zero_division=cells.zero_division,
    )
    own = tasks[0]
    if not values and not any(task.metrics for task in tasks):
        raise ValueError("no metrics were named; a cube needs at least one, or values= to carry along")
    check_type(values, (list, tuple), "a list of columns", "values")
    kinds = None if drawing is None else control_kinds(table, drawing.control_kind)
    carried = {name: numbers(table, name, "values") for name in values}
    replicates = None if replicate is None else column(table, replicate, "replicate")
    given = None if control is None or drawing is None else column(table, control, "control")
    strata = stratum_columns(table, by, own)
    streams = None if drawing is None else row_keys(table, cells.key, drawing.seed)
    if drawing is not None and drawing.share_draws:
        streams = np.full(len(table), shared_key(drawing.seed))
    return Runs(
        tasks,
        table.index,
        own.field.missing(own.truth) | own.field.missing(own.estimate),
        own.field.identify(own.truth),
        strata,
        list(key_columns(table, cells.key)),
        replicates,
        carried,
        given,
        kinds,
        streams,
    )


def stratum_columns(table: pd.DataFrame, by: By, task: Task) -> list[StratumColumn]:
    """Read the columns of `by`; a name is a column of the table or a metric that describes a row.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    by : sequence of str or {name: edges}
        Names, with edges where numbers are cut.
    task : Task
        Canonical columns, for the metrics that describe a row.

    Returns
    -------
    list of StratumColumn
        In the order of `by`.

    Raises
    ------
    ValueError
        If a name is unknown, repeated or reserved.
    """
    taken = result_columns()
    columns: list[StratumColumn] = []
    for name, edges in stratum_entries(by):
        if not isinstance(name, str) or name in RESERVED or name in [found.name for found in columns]:
            raise ValueError(
                f"by names {name!r}; a stratum needs a name of its own, a string other than {', '.join(RESERVED)}"
            )
        if name in taken:
            raise ValueError(
                f"by names {name!r}, a column of the tables that are made of a cube; rename the table's column, "
                f"e.g. table.rename(columns={{{name!r}: 'my_{name}'}})"
            )
        columns.append(StratumColumn(name, _values(table, name, task), edges))
    return columns


def _values(table: pd.DataFrame, name: str, task: Task) -> pd.Series:
    described = METRICS.get(name)
    if name in table.columns or described is None or described.direction is not None:
        return column(table, name, "by").reset_index(drop=True)
    truth = task.truth.array
    cells = pd.DataFrame({"truth": truth, "estimate": truth if described.of_truth else task.estimate.array})
    return cast(pd.Series, evaluate(cells, [name], field=task.field.name)[name])
