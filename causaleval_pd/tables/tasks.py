"""From a table and the metrics of a call to tasks: metrics of one field and the canonical cells they apply to."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import counted, name_row, warn
from ..contract.context import Context
from ..contract.field import FIELDS, Field, get_field
from ..contract.metric import Metric, bind_zero_division, component, get_metric, metric_set
from ..contract.pairs import Batch
from .columns import column
from .context import resolve_context
from .settings import Cells

Metrics = str | Metric | Iterable[str | Metric] | None


class Task(NamedTuple):
    """Metrics of one field, the canonical columns they apply to, and the rows' extra inputs."""

    field: Field
    #: metrics with further dimensions are there by their components
    metrics: tuple[Metric, ...]
    #: None where the call has none, and for metrics that need none of rows some of which lack it
    truth: Any
    estimate: pd.Series
    context: Context | None = None

    def batches(self) -> Iterable[Batch]:
        """Align the rows' cells."""
        return self.field.batches(self.truth, self.estimate, self.context)

    def failed(self) -> NDArray[np.bool_]:
        """Return which rows have no estimate, or no truth."""
        missing = self.field.missing(self.estimate)
        return missing if self.truth is None else missing | self.field.of_truth.missing(self.truth)

    def identity(self) -> NDArray[np.int64] | None:
        """Return one number per row, equal for runs on the same truth, else on the same data set; None without both."""
        if self.truth is not None:
            return self.field.of_truth.identify(self.truth)
        return None if self.context is None else self.context.data_sets


def read_tasks(table: pd.DataFrame, metrics: Metrics, cells: Cells) -> tuple[list[Task], tuple[Metric, ...]]:
    """Read the cells of a table for the metrics of a call."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a pandas DataFrame, found {type(table).__name__}")
    columns = {role: column(table, name, role) for role, name in cells.names.items()}
    if cells.estimate == cells.names.get("truth"):
        raise ValueError(f"truth and estimate are the same column {cells.estimate!r}")
    chosen = None if metrics is None else select(metrics)
    cell_field = cells_field(columns, chosen, cells.field)
    if chosen and len({m.field for m in chosen}) > 1 and not all(_held(cell_field, columns)):
        _refuse_other_field(cell_field, columns, chosen)
    try:
        canonical = {
            role: _of_role(cell_field, role).coerce(values, str(cells.names[role])) for role, values in columns.items()
        }
    except TypeError as error:
        _refuse_other_field(cell_field, columns, chosen, error)
        raise
    absent = {role: _of_role(cell_field, role).missing(values) for role, values in canonical.items()}
    if "truth" in absent:
        _check_rows(absent["truth"], absent["estimate"], table.index, cells)
    if chosen is None:
        chosen = default_metrics(cell_field, cells.truth)
    _check_truth(chosen, cells.truth)
    _warn_of_missing(absent, chosen, table.index, cells)
    fields = [get_field(name) for name in dict.fromkeys(m.field for m in chosen)] or [cell_field]
    accepted = {field.name: field.context for field in [*fields, cell_field]}
    inputs = resolve_context(table, cells.context, accepted)
    tasks = []
    for field in fields:
        mine = tuple(bind_zero_division(m, cells.zero_division) for m in chosen if m.field == field.name)
        truths = _view(canonical.get("truth"), cell_field.of_truth, field.of_truth)
        estimates = _view(canonical["estimate"], cell_field, field)
        for some, needed in _by_truth(mine, truths, estimates, field):
            seen = Task(field, some, needed, estimates, inputs if field.context else None)
            tasks.append(seen._replace(metrics=tuple(_components(some, seen))))
    order = {m.name: place for place, m in enumerate(chosen)}
    scored = [m for task in tasks for m in task.metrics]
    scored.sort(key=lambda m: order[m.name if m.component is None else m.component.whole.name])
    metric_set(*scored)  # components may take the name of another metric
    return tasks, tuple(scored)


def default_metrics(field: Field, truth: Hashable | None) -> tuple[Metric, ...]:
    """Return the metrics of a call that names none."""
    names = field.without_truth if truth is None and field.without_truth else field.default_metrics
    return tuple(get_metric(name) for name in names)


def _of_role(field: Field, role: str) -> Field:
    """Return the field of the cells of a role."""
    return field.of_truth if role == "truth" else field


def _held(field: Field, cells: Mapping[str, pd.Series]) -> list[bool]:
    """Return which of the cells, given by role, look like those of a field."""
    return [_of_role(field, role).holds(values) for role, values in cells.items()]


def _has_other_truths(field: Field) -> bool:
    """Return whether the truths of a field are of another kind than its estimates."""
    return field.of_truth.holds is not field.holds


def _refuse_other_field(
    field: Field, cells: Mapping[str, pd.Series], chosen: Sequence[Metric] | None, error: Exception | None = None
) -> None:
    """Refuse cells that the field of the metrics cannot read where they are those of another field."""
    other = next((f for f in FIELDS.every() if f is not field and all(_held(f, cells))), None)
    lacking = [m for m in chosen or () if other is not None and m.field not in (other.name, *other.views)]
    if other is not None and lacking:
        usual = get_metric(other.default_metrics[0])
        raise ValueError(
            f"the cells are of field {other.name!r}, whose metrics are those of list_metrics({usual.field!r}), "
            f"as {usual.name}; {', '.join(m.name for m in lacking)} is of field {lacking[0].field!r}"
        ) from error


def _check_rows(no_truth: NDArray[np.bool_], no_estimate: NDArray[np.bool_], index: pd.Index, cells: Cells) -> None:
    """Refuse truths and estimates that stand in different rows, as after joining columns with different labels."""
    if no_truth.all() or no_estimate.all() or not (no_truth | no_estimate).all():
        return
    one, other = index[int(np.argmin(no_truth))], index[int(np.argmin(no_estimate))]
    raise ValueError(
        f"no row has both a truth and an estimate: the first of column {cells.truth!r} is in the row with index "
        f"{one!r}, the first of {cells.estimate!r} in that with index {other!r}; pandas aligns columns by index, so "
        "give both the same labels before they are put into one table, as in "
        "graphs.rename(lambda name: name.split('.')[0])"
    )


def _warn_of_missing(
    absent: Mapping[str, NDArray[np.bool_]], metrics: Sequence[Metric], index: pd.Index, cells: Cells
) -> None:
    """Warn of missing truths, and of cells that are missing where a list was put into a table with other labels."""
    for role, missing in absent.items():
        beyond = _labels_beyond(index)
        # in fewer rows it is likely to be chance
        if len(index) > 2 and beyond.any() and np.array_equal(missing, beyond):
            warn(
                f"column {cells.names[role]!r} is missing in exactly the {counted(int(missing.sum()), 'row')} whose "
                f"index label is not among 0 to {len(index) - 1}, as where a list was made a column and put into a "
                "filtered table: pandas aligns by index, so the other rows may hold cells of other runs; make the "
                "column with index=table.index",
            )
    no_truth = absent.get("truth", np.zeros(0, bool)) & ~absent["estimate"][: len(absent.get("truth", ()))]
    if no_truth.any() and any(m.truth_kinds for m in metrics):
        row = int(np.argmax(no_truth))
        warn(
            f"found an estimate without a truth in {int(no_truth.sum())} of {counted(len(index), 'row')}, the first "
            f"{name_row(row, index)}: their metrics are missing, and they count as failed runs; where it is the data "
            f"that lack the truth, leave them out by table.dropna(subset=[{cells.truth!r}])",
        )


def _labels_beyond(index: pd.Index) -> NDArray[np.bool_]:
    """Return which labels of a table are not among 0 to n - 1, the labels of a list."""
    if not pd.api.types.is_integer_dtype(index.dtype) or not index.is_unique:
        return np.zeros(len(index), bool)
    labels = index.to_numpy(dtype=np.int64, na_value=-1)
    return np.asarray((labels < 0) | (labels >= len(index)))


def _by_truth(
    metrics: tuple[Metric, ...], truths: Any, estimates: pd.Series, field: Field
) -> list[tuple[tuple[Metric, ...], Any]]:
    """Return metrics with the truths of their rows; those that need none have none where a row lacks it."""
    free = tuple(m for m in metrics if not m.truth_kinds)
    if truths is None or not free or not (field.of_truth.missing(truths) & ~field.missing(estimates)).any():
        return [(metrics, truths)]
    needing = tuple(m for m in metrics if m.truth_kinds)
    return [(needing, truths), (free, None)] if needing else [(free, None)]


def _view(cells: Any, field: Field, wanted: Field) -> Any:
    """Return cells as another field sees them."""
    return cells if cells is None or field.name == wanted.name else field.views[wanted.name](cells)


def _components(metrics: Sequence[Metric], task: Task) -> Iterator[Metric]:
    for m in metrics:
        yield from with_components(m, task.batches() if m.dims else ())


def _check_truth(metrics: Sequence[Metric], truth: Hashable | None) -> None:
    """Refuse metrics that compare with a truth where the call has none."""
    needing = [m.name for m in metrics if m.truth_kinds]
    if truth is None and needing:
        raise ValueError(
            f"{', '.join(needing)} compares estimates with a truth, and truth=None names none; name its column by "
            "truth=, or choose metrics that need no truth"
        )


def select(metrics: Metrics) -> tuple[Metric, ...]:
    """Return the metrics that a call names, in its order."""
    if isinstance(metrics, Mapping):
        raise TypeError("metrics must be names or metrics, found a mapping; rename by ce.metric_set(new=metric)")
    if not isinstance(metrics, (str, Metric, Iterable)):
        raise TypeError(f"metrics must be names or metrics, found {type(metrics).__name__}: {metrics!r}")
    return metric_set(*([metrics] if isinstance(metrics, (str, Metric)) else metrics))


def cells_field(cells: Mapping[str, pd.Series], metrics: Sequence[Metric] | None, name: str | None = None) -> Field:
    """Settle the field of the cells, given by role, from a caller's word, the metrics and the cells, in this order."""
    wanted = set() if metrics is None else {m.field for m in metrics}
    able = [f for f in FIELDS.every() if wanted <= {f.name, *f.views}]
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

    if "truth" not in cells:
        # fields whose truths are of another kind are meant only where metrics are theirs
        able = [f for f in able if not _has_other_truths(f) or f.name in wanted] or able
    # the metrics' own field comes first
    holding = [f for f in able if {f.name} == wanted and all(_held(f, cells))] or [
        f for f in able if all(_held(f, cells))
    ]
    # a field whose truths are cells of another one is meant only where the estimates are its cells
    holding = [f for f in holding if not _has_other_truths(f)] or holding
    if len(holding) == 1:
        return holding[0]
    if not holding:

        def suits(field: Field) -> tuple[int, bool, bool]:
            return sum(_held(field, cells)), {field.name} == wanted, bool(wanted) and _has_other_truths(field)

        # its coercion names what is wrong with cells that do not suit it
        return max(able, key=suits)
    raise ValueError(
        f"the cells may be of the fields {[f.name for f in holding]}; name metrics, such as "
        f"{' or '.join(repr(f.default_metrics[0]) for f in holding)}"
    )


def with_components(metric: Metric, batches: Iterable[Batch]) -> tuple[Metric, ...]:
    """Return the metric itself, or one metric `{metric}_{label}` per coordinate where it has further dimensions.

    Open dimensions are as long as the longest result of a batch, whose pairs have one signature.
    """
    if not metric.dims:
        return (metric,)
    labels: list[Any] = list(metric.dims.values())
    if None in labels:
        shapes = [(0,) * len(labels)]
        shapes += [np.shape(metric(batch.pairs.take(slice(0, 1))))[1:] for batch in batches]
        if wrong := [shape for shape in shapes if len(shape) != len(labels)]:
            raise ValueError(
                f"{metric.name} declares the dimensions {', '.join(metric.dims)}, but returned an array of shape "
                f"{(1, *wrong[0])} for one pair"
            )
        sizes = np.max(shapes, axis=0).tolist()
        labels = [range(size) if known is None else known for size, known in zip(sizes, labels, strict=True)]
    every = tuple(tuple(known) for known in labels)
    return tuple(component(metric, every, place) for place in itertools.product(*(range(len(x)) for x in every)))
