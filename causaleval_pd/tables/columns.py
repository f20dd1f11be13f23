"""Columns of a table: found by name, typed by their metric, added without replacing others."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_flag, check_labels, check_type, nearest
from ..contract.metric import Metric

#: what columns of truths and estimates are often called
_OFTEN = {
    "truth": ("ground_truth", "true_graph", "true", "gold", "target", "reference"),
    "estimate": ("prediction", "predicted", "pred", "estimated", "est", "learned", "output", "response"),
}


def column(table: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return one column of the table; an error lists those there are."""
    check_type(name, Hashable, "the name of one column", role)
    if name not in table.columns:
        levels = [level for level in table.index.names if level is not None]
        also = f", its index levels {levels}, which reset_index() turns into columns" if levels else ""
        often = [x for x in table.columns if str(x).casefold() in _OFTEN.get(role, ())]
        hint = f"did you mean {', '.join(map(repr, often))}? " if often else nearest(name, table.columns)
        raise ValueError(
            f"the table has no column {name!r} ({role}); {hint}its columns are "
            f"{list(table.columns)}{also}; name it by {role}="
        )
    series = table[name]
    if isinstance(series, pd.DataFrame):
        raise ValueError(f"the table has {series.shape[1]} columns called {name!r}; column names must be unique")
    return cast(pd.Series, series)


def column_or_level(table: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return one column of the table or one level of its index, as groupby of pandas does."""
    check_type(name, Hashable, "the name of one column", role)
    if name not in table.index.names:
        return column(table, name, role)
    if name in table.columns:
        raise ValueError(f"{name!r} ({role}) is both a column and an index level, which is ambiguous; rename one")
    return pd.Series(table.index.get_level_values(cast(str, name)).array, index=table.index, name=name)


def labels_of(table: pd.DataFrame, name: Hashable, role: str) -> pd.Series:
    """Return one column or level whose labels name groups of rows; labels that look alike are an error."""
    labels = column_or_level(table, name, role)
    check_labels(labels, name)
    return labels


def numbers(table: pd.DataFrame, name: Hashable, role: str) -> NDArray[np.float64]:
    """Return one numeric column of the table, missing values as NaN."""
    series = column_or_level(table, name, role)
    if not pd.api.types.is_numeric_dtype(series.dtype) or pd.api.types.is_complex_dtype(series.dtype):
        raise ValueError(f"{role}={name!r} holds {series.dtype}, expected numbers")
    return series.to_numpy(np.float64, na_value=np.nan)


def typed(values: NDArray[np.float64], metric: Metric) -> Any:
    """Give a metric's column the type that its spec declares."""
    if metric.dtype == "float64":
        return values
    missing = np.isnan(values)
    codes = np.where(missing, -1, values).astype(int)
    if metric.dtype == "boolean":
        return pd.arrays.BooleanArray(codes == 1, missing)
    return pd.Categorical.from_codes(codes, categories=pd.Index(metric.dtype))


def with_cells(table: pd.DataFrame, cells: dict[Hashable, pd.Series]) -> pd.DataFrame:
    """Return a new table whose cell columns are canonical."""
    result = table.copy(deep=False)
    for name, values in cells.items():
        result[name] = values.array
    return result


def add_columns(table: pd.DataFrame, columns: dict[str, Any], *, overwrite: bool) -> pd.DataFrame:
    """Return a new table with further columns; existing names are an error unless `overwrite`."""
    taken = [name for name in columns if name in table.columns]
    if not check_flag(overwrite, "overwrite") and taken:
        raise ValueError(
            f"the table already has the columns {taken}; pass overwrite=True, or rename metrics by tweak(name=)"
        )
    added = pd.DataFrame(columns, index=table.index, copy=False)
    return pd.concat([table.drop(columns=taken) if taken else table, added], axis=1)
