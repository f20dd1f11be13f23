"""Columns of a table: found by name, typed by their metric, added without replacing others."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import alike, check_flag, check_type, explain_alike, nearest
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


def check_labels(values: pd.Series, name: Hashable, of: str = "table") -> None:
    """Refuse labels of groups, of which two look alike or are equal but of different types; `of` holds the column."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.cat.categories.to_series()
    where, mend = f"{name!r}: found the labels", f"{of}[{name!r}]"
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) not in ("string", "boolean"):
        is_flag = values.map(lambda label: isinstance(label, (bool, np.bool_))).astype(bool)
        numbers = [label for label in values[~is_flag] if isinstance(label, (int, float, complex, np.number))]
        for flag, same in itertools.product(values[is_flag].unique(), numbers):
            if flag == same:
                raise ValueError(
                    f"{where} {flag!r} and {same!r}, which count as equal; make them one type, as in {mend}.astype(str)"
                )
    if values.dtype.kind == "f":
        known = np.unique(values.dropna().to_numpy(np.float64))
        close = near_equal(known[:-1], known[1:])
        if close is not None:
            raise ValueError(f"{where} {close[0]!r} and {close[1]!r}, equal but for rounding; round: {mend}.round(9)")
    elif values.dtype.kind == "O" or isinstance(values.dtype, pd.StringDtype):
        # other labels need not be hashable
        words = values[values.map(lambda label: isinstance(label, str)).astype(bool)]
        pair = alike(words.unique())
        if pair is not None:
            raise ValueError(
                f"{where} {explain_alike(*pair)}; make them one, as in {mend}.str.normalize('NFC').str.strip()"
            )


def near_equal(numbers: NDArray[np.float64], others: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return a number and one of the others, in ascending order, from which it differs by rounding errors, or None."""
    numbers, others = numbers[np.isfinite(numbers)], others[np.isfinite(others)]
    if not (len(numbers) and len(others)):
        return None
    after = np.searchsorted(others, numbers)
    for place in (after - 1, after):
        beside = others[np.clip(place, 0, len(others) - 1)]
        close = (numbers != beside) & (np.abs(numbers - beside) <= 8 * np.spacing(np.abs(beside)))
        if close.any():
            at = int(np.argmax(close))
            return float(numbers[at]), float(beside[at])
    return None


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
