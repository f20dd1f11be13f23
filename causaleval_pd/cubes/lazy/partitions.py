"""Dask tables of runs: settings shared by all partitions, checks of each, and the order of results."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...contract.field import get_field
from ...contract.metric import Metric
from ...contract.null import Null
from ...execution.options import get_options, serially
from ...execution.random_streams import key_columns
from ...tables.columns import column
from ...tables.context import data_columns, resolve_context
from ...tables.matching import find_null, named_nulls
from ...tables.settings import Cells, Nulls
from ...tables.tasks import Metrics, Task, cells_field, default_metrics, select
from ..strata import MISSING, interval_labels

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame


#: what is settled for all partitions and is no keyword of a verb
_SETTLED = ("field", "zero_division")


@contextmanager
def in_partition(settings: Mapping[str, Any], number: int | None, *, shuffled: bool = False) -> Iterator[None]:
    """Work in this thread, and name the partition in errors: a `shuffled` table has rows at other places."""
    try:
        with serially(zero_division=settings["zero_division"]):
            yield
    except (ValueError, TypeError) as error:
        where = f"partition{'' if number is None else f' {number}'}{' of the shuffled table' if shuffled else ''}"
        raise type(error)(f"{where}: {error}") from error


def check_cells(part: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    """Refuse text that does not read as a cell of the field: dask may have printed objects."""
    cell_field = get_field(settings["field"])
    for name, field in (
        (settings.get("truth", "truth"), cell_field.of_truth),
        (settings.get("estimate", "estimate"), cell_field),
    ):
        cells = part[name] if name in part.columns else part.index[:0].to_series()
        first = int(np.argmax(cells.notna())) if cells.notna().any() else None
        if first is None or not isinstance(cells.iloc[first], str):
            continue
        try:
            field.coerce(cells.iloc[: first + 1], str(name))
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{error}. If the column held objects, this is the printed text of an object: dask turns objects into "
                "text; pack the column by ce.graph_column before dask.dataframe.from_pandas, or read packed Parquet"
            ) from error


def settle(table: DaskFrame, metrics: Metrics, keywords: Mapping[str, Any]) -> tuple[list[Metric], dict[str, Any]]:
    """Return the metrics of a call, and its keywords with the field and 0/0, which a failed partition does not show."""
    check_dims(metrics)
    read = Cells(keywords.get("truth", "truth"), keywords.get("estimate", "estimate"))
    cells = {role: column(table._meta, name, role) for role, name in read.names.items()}
    chosen = None if metrics is None else select(metrics)
    field = cells_field(cells, chosen)
    chosen = default_metrics(field, read.truth) if chosen is None else chosen
    return list(chosen), {**keywords, "field": field.name, "zero_division": get_options()["zero_division"]}


def keywords(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those settings that are keywords of a verb."""
    return {name: value for name, value in settings.items() if name not in _SETTLED}


def check_dims(metrics: Metrics) -> None:
    """Refuse metrics whose dimensions the data decide: no partition has seen all data."""
    open_dims = [m.name for m in (() if metrics is None else select(metrics)) if None in m.dims.values()]
    if open_dims:
        raise ValueError(
            f"the dimensions of {', '.join(open_dims)} depend on the data, so their columns are not known before all "
            "partitions are read; compute the table first"
        )


def check_draws(n_draws: object) -> None:
    """Refuse a number of draws that depends on the number of tests, which a lazy table does not show."""
    if isinstance(n_draws, str):
        raise ValueError(
            f"n_draws={n_draws!r} depends on the number of tests, which is not known before a dask table is read; give "
            "a number, such as ten times the number of tests / .05"
        )


def need_key(table: DaskFrame, key: Hashable | Sequence[Hashable] | None) -> None:
    """Refuse a table whose index may repeat, unless a key is named."""
    if key is None and not table.known_divisions:
        raise ValueError(
            "the divisions of this dask table are unknown, so its index may repeat from one partition to the next; "
            "name columns that tell rows apart by key="
        )
    key_columns(table._meta, key)


def level_ranks(labels: pd.Series, meta: pd.DataFrame, name: str, edges: Sequence[float] | None) -> pd.Series:
    """Return the position of each label along its axis, missing labels last."""
    if edges is not None:
        levels = interval_labels(edges)
    elif name in meta.columns and isinstance(meta[name].dtype, pd.CategoricalDtype):
        levels = [str(x) for x in meta[name].cat.categories]
        labels = labels.astype(str)
    else:
        levels = sorted(x for x in labels.dropna().unique() if x != MISSING)
    return labels.map({x: i for i, x in enumerate(levels)}).fillna(len(levels))


def looks_at_strata(field: str, null: Nulls) -> bool:
    """Return whether a null model needs all rows of a stratum, which no partition has."""
    return any(model.estimated for model in _models(field, null))


def refuse_estimated(field: str, null: Nulls) -> None:
    """Refuse null models of rows that are estimated from other rows, of which a partition has some."""
    names = [model.name for model in _models(field, null) if model.estimated]
    if names:
        raise ValueError(
            f"the controls of {', '.join(names)} depend on the other rows of the table, of which a partition has some; "
            "use cube, which brings the rows of a stratum together, or compute the table first"
        )


def _models(field: str, null: Nulls) -> list[Null]:
    return [find_null(get_field(field), one) for one in named_nulls(null)]


def cells_of(part: pd.DataFrame, settings: Mapping[str, Any]) -> Task:
    """Return the canonical cells of a partition, for metrics that describe a row."""
    check_cells(part, settings)
    field = get_field(settings["field"])
    cells = Cells(settings.get("truth", "truth"), settings.get("estimate", "estimate"))
    truth = None
    if "truth" in cells.names:
        truth = field.of_truth.coerce(column(part, cells.names["truth"], "truth"), "truth")
    inputs, context = settings.get("context"), None
    if truth is not None:
        context = resolve_context(part, inputs, {field.name: field.context})
    elif data_columns(inputs, part.columns) or "data" in (inputs or {}):
        # inputs of other fields are checked where the metrics are known
        context = resolve_context(part, inputs, {field.name: tuple(inputs or ())})
    return Task(field, (), truth, field.coerce(part[cells.estimate], "estimate"), context)
