"""From the arguments of a verb to tasks: metrics of one field and the canonical cells they apply to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ..contract.context import Context, resolve_context
from ..contract.field import FIELDS, Field, get_field
from ..contract.metric import Metric, get_metric
from ..contract.metric_sets import metric_set, tweak
from ..contract.pairs import Batch
from .columns import column

Metrics = str | Metric | Iterable[str | Metric] | None


class Task(NamedTuple):
    """Metrics of one field, the canonical columns they apply to, and the rows' extra inputs."""

    field: Field
    metrics: tuple[Metric, ...]
    truth: pd.Series
    estimate: pd.Series
    context: Context | None = None

    def batches(self) -> Iterable[Batch]:
        """Align the rows' cells."""
        return self.field.batches(self.truth, self.estimate, self.context)


def select(metrics: Metrics, tasks: Sequence[Task]) -> tuple[Metric, ...]:
    """Return the metrics of a call in the user's order."""
    if metrics is None:
        return tuple(m for task in tasks for m in task.metrics)
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise TypeError(f"metrics must be names or metrics, found {type(metrics).__name__}: {metrics!r}")
    return metric_set(*([metrics] if isinstance(metrics, (str, Metric)) else metrics))


def plan(
    table: pd.DataFrame,
    metrics: Metrics,
    *,
    truth: Hashable,
    estimate: Hashable,
    field: str | None,
    context: Mapping[str, Any] | None,
    zero_division: float,
) -> tuple[list[Task], dict[Hashable, pd.Series]]:
    """Check the columns, settle the field, coerce the cells, fix 0/0; one task a field that the metrics belong to.

    Without metrics that is one of the cells' own field.
    """
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas DataFrame, found {type(table).__name__}")
    cells = {name: column(table, name, role) for name, role in ((truth, "truth"), (estimate, "estimate"))}
    if truth == estimate:
        raise ValueError(f"truth and estimate are the same column {truth!r}")
    chosen = None if metrics is None else select(metrics, ())
    own = cells_field(list(cells.values()), chosen, field)
    cells = {name: own.coerce(values, str(name)) for name, values in cells.items()}
    if chosen is None:
        chosen = tuple(get_metric(name) for name in own.default_metrics)
    names = list(dict.fromkeys(m.field for m in chosen)) or [own.name]
    inputs = resolve_context(table, context, {name: get_field(name).context for name in names})
    tasks = []
    for name in names:
        seen = {c: values if name == own.name else own.views[name](values) for c, values in cells.items()}
        mine = tuple(bind_zero_division(m, zero_division) for m in chosen if m.field == name)
        extra = inputs if get_field(name).context else None
        tasks.append(Task(get_field(name), mine, seen[truth], seen[estimate], extra))
    return tasks, cells


def cells_field(cells: Sequence[pd.Series], metrics: Sequence[Metric] | None, name: str | None) -> Field:
    """Settle the field of the cells from the user's word, the metrics and the cells, in this order."""
    wanted = set() if metrics is None else {m.field for m in metrics}
    able = [f for f in FIELDS.values() if wanted <= {f.name, *f.views}]
    if name is not None:
        chosen = get_field(name)
        if chosen not in able:
            raise ValueError(f"metrics of {sorted(wanted)} do not apply to cells of field {name!r}")
        return chosen
    if not able:
        raise ValueError(
            f"metrics of the fields {sorted(wanted)} cannot be computed on the same cells; ask for one field's metrics "
            "at a time: list_metrics() names each metric's field"
        )
    holding = [f for f in able if all(f.holds(c) for c in cells)]
    if len(holding) > 1:
        holding = [f for f in holding if {f.name} == wanted] or holding
    if len(holding) == 1:
        return holding[0]
    if not holding:
        # its coercion says what is wrong with the cells
        some = [f for f in able if any(f.holds(c) for c in cells)]
        return next((f for f in able if {f.name} == wanted), [*some, *able][0])
    raise ValueError(f"the cells may be of the fields {[f.name for f in holding]}; say which by field=")


def bind_zero_division(metric: Metric, value: float) -> Metric:
    """Fix what 0/0 is, unless the metric has no 0/0 or a tweak has said already."""
    return (
        metric if not metric.zero_division or "zero_division" in metric.options else tweak(metric, zero_division=value)
    )
