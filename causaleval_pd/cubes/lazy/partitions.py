"""Tables of dask: what is settled once for all partitions, what each is checked for, how results are ordered."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...contract.field import get_field
from ...contract.null import Nulls
from ...execution.random_streams import key_columns
from ...tables.columns import column
from ...tables.matching import find_null
from ...tables.settings import Cells
from ...tables.tasks import Metrics, Task, cells_field, select
from ..strata import MISSING, By

if TYPE_CHECKING:
    from dask.dataframe import DataFrame as DaskFrame
from ..strata import strata_edges


def check_cells(part: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    """Refuse cells that dask has made printed text of."""
    for role in ("truth", "estimate"):
        name = settings.get(role, role)
        cells = part[name].dropna() if name in part.columns else part.iloc[:0]
        if (
            len(cells)
            and isinstance(cells.iloc[0], str)
            and re.match(r"\w*Graph\b.* with \d+ nodes|\[\[", cells.iloc[0])
        ):
            raise ValueError(
                f"column {name!r} holds {cells.iloc[0][:40]!r}, the printed text of an object: dask turns objects into "
                "text; pack the column by ce.graph_column before dask.dataframe.from_pandas, or read packed Parquet"
            )


@contextmanager
def in_partition(number: int | None) -> Iterator[None]:
    """Say in which partition something is wrong with the rows."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"partition{'' if number is None else f' {number}'}: {error}") from error


def settle_field(
    table: DaskFrame, metrics: Metrics, truth: Hashable | None, estimate: Hashable, field: str | None
) -> str:
    """Settle the field once: a partition whose estimates all failed could not tell."""
    names = Cells(truth, estimate).names
    cells = {role: column(table._meta, name, role) for role, name in names.items()}
    return cells_field(cells, None if metrics is None else select(metrics), field).name


def need_key(table: DaskFrame, key: Hashable | Sequence[Hashable] | None) -> None:
    """Refuse tables whose rows are not known to have streams of their own."""
    if key is None and not table.known_divisions:
        raise ValueError(
            "the divisions of this dask table are unknown, so its index may repeat from one partition to the next; "
            "name columns that tell rows apart by key="
        )
    key_columns(table._meta, key)


def cube_settings(table: DaskFrame, metrics: Metrics, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords of `causaleval_pd.cube` with the field settled."""
    given = dict(settings)
    cells = given.get("truth", "truth"), given.get("estimate", "estimate")
    given["field"] = settle_field(table, metrics, *cells, given.get("field"))
    return given


def sort_strata(table: pd.DataFrame, meta: pd.DataFrame, by: By, metric: pd.Series) -> pd.DataFrame:
    """Put rows in the order of their metrics and of a cube's cells."""
    positions = [metric, *(places(table[name], meta, name, edges) for name, edges in strata_edges(by).items())]
    order = np.lexsort([np.asarray(place, np.float64) for place in reversed(positions)])
    return table.iloc[order].reset_index(drop=True)


def places(labels: pd.Series, meta: pd.DataFrame, name: str, edges: Sequence[float] | None) -> pd.Series:
    """Return the position of each label along its axis."""
    if edges is not None:
        left = labels.str.extract(r"^[\[(]([^,]+),")[0].astype(float)
        return left.fillna(np.inf)
    if name in meta.columns and isinstance(meta[name].dtype, pd.CategoricalDtype):
        order = {str(x): i for i, x in enumerate(meta[name].cat.categories)}
        return labels.map(lambda x: order.get(str(x), len(order)))
    levels = sorted(x for x in labels.dropna().unique() if x != MISSING)
    return labels.map({x: i for i, x in enumerate(levels)}).fillna(len(levels))


def looks_at_strata(field: str, null: Nulls) -> bool:
    """Tell whether a null model looks at a whole stratum, which no partition has."""
    wanted: list[Any] = list(null) if isinstance(null, (list, tuple)) else [null]
    return any(find_null(get_field(field), one).by_stratum for one in wanted)


def cells_of(part: pd.DataFrame, settings: Mapping[str, Any]) -> Task:
    """Return the canonical cells of a partition, for metrics that describe a row."""
    check_cells(part, settings)
    own = get_field(settings["field"])
    truth, estimate = (own.coerce(part[settings.get(role, role)], role) for role in ("truth", "estimate"))
    return Task(own, (), truth, estimate)
