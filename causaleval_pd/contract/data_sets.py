"""Data sets of a context: the columns of the nodes of a graph, checked, as numbers or as levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .checks import hint_alike

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class DataError(ValueError):
    """Data that cannot judge a graph; verbs name the rows."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """The columns of the nodes of a graph."""

    #: the nodes, in their order
    names: tuple[str, ...]
    #: (n, d): numbers, or positions of levels of columns that hold none
    values: Floats
    #: whether all columns hold numbers
    is_numeric: bool
    #: whether all columns hold floats
    is_float: bool
    #: (n, d): positions of the values among the levels of their column; None where a column holds floats
    levels: Ints | None = None
    #: (d,): number of levels of each column
    n_levels: Ints | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def is_discrete(self) -> bool:
        """Whether all columns hold integers, truth values, text or categories."""
        return self.levels is not None

    @property
    def numbers(self) -> Floats:
        """The columns as numbers."""
        if not self.is_numeric:
            raise DataError("the data have columns of text or categories, and this test or score needs numbers")
        return self.values

    @property
    def coded(self) -> tuple[Ints, Ints]:
        """The columns as positions of levels, and the numbers of levels."""
        if self.levels is None or self.n_levels is None:
            raise DataError(
                "the data have columns of floats, and this test or score counts integers or categories; cut the "
                "columns into levels, as by pd.cut, or name another test"
            )
        return self.levels, self.n_levels


def read_data(data: Any, names: Sequence[str], *, drop_missing: bool = False) -> DataSet:
    """Take the columns of some nodes out of data."""
    if not isinstance(data, pd.DataFrame):
        raise TypeError(
            f"context 'data' must be a DataFrame with one column per node, or (column, {{name: DataFrame}}), found "
            f"{type(data).__name__}"
        )
    data = with_text_labels(data, names)
    lacking = [name for name in names if name not in data.columns]
    if lacking:
        raise DataError(
            f"the data have no columns for the nodes {lacking[:5]}; their columns are {list(data.columns)[:10]}"
            + hint_alike(lacking, (name for name in data.columns if isinstance(name, str)))
        )
    frame = data[list(names)]
    if frame.shape[1] != len(names):
        twice = sorted({str(name) for name in frame.columns if list(frame.columns).count(name) > 1})
        raise DataError(f"the data have two columns called {twice[0]!r}; rename or drop one")
    frame = _complete(frame, drop_missing=drop_missing)
    types = pd.api.types
    for name, dtype in zip(names, frame.dtypes, strict=True):
        is_number = types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype)
        if not (is_number or isinstance(dtype, pd.CategoricalDtype) or types.is_string_dtype(dtype)):
            raise DataError(f"column {name!r} has the type {dtype}; use numbers, categories or text")
        held = types.infer_dtype(frame[name]) if types.is_object_dtype(dtype) else ""
        if held in ("floating", "mixed-integer-float", "decimal"):
            raise DataError(
                f"column {name!r} holds floats in a column of objects, which would count as categories; convert it, as "
                "by data.infer_objects() or data.astype(float)"
            )
    numeric = [types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    floats = [types.is_float_dtype(dtype) for dtype in frame.dtypes]
    values = np.zeros(frame.shape)
    levels, n_levels = np.zeros(frame.shape, np.int64), np.zeros(len(names), np.int64)
    for i, (is_number, is_float) in enumerate(zip(numeric, floats, strict=True)):
        if not is_float:
            levels[:, i], n_levels[i] = _codes(frame.iloc[:, i])
        values[:, i] = frame.iloc[:, i].to_numpy(np.float64) if is_number else levels[:, i]
    _check_values(values, names)
    if any(floats):
        return DataSet(tuple(names), values, all(numeric), all(floats))
    return DataSet(tuple(names), values, all(numeric), False, levels, n_levels)


def with_text_labels(data: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return data whose labels are texts, as names of nodes are, where a node has no column otherwise."""
    if all(name in data.columns for name in names) or isinstance(data.columns, pd.MultiIndex):
        return data
    return data.set_axis([str(label) for label in data.columns], axis=1)


def _complete(frame: pd.DataFrame, *, drop_missing: bool) -> pd.DataFrame:
    """Return the rows without missing values; refuse others unless they are dropped."""
    missing = frame.isna()
    if not missing.to_numpy().any():
        return frame
    if not drop_missing:
        named = {str(name): int(n) for name, n in missing.sum().items() if n}
        raise DataError(
            f"the data have missing values, by column {named}; impute them, or use complete rows only by "
            "context={..., 'missing': 'drop'}"
        )
    return frame[~missing.any(axis=1)]


def _codes(column: pd.Series) -> tuple[Ints, int]:
    """Return the positions of a column's values among its levels, and the number of the levels that it shows."""
    try:
        codes, levels = pd.factorize(column, sort=True)
    except TypeError as error:
        raise DataError(f"column {column.name!r} holds values that cannot be ordered: {error}") from None
    return codes.astype(np.int64), len(levels)


def _check_values(values: Floats, names: Sequence[str]) -> None:
    """Refuse infinite values, constant columns, and copies of a column."""
    if not len(values):
        raise DataError("the data have no rows without missing values")
    infinite = ~np.isfinite(values).all(axis=0)
    if infinite.any():
        raise DataError(f"column {names[int(infinite.argmax())]!r} holds infinite values; mend or drop these rows")
    constant = [name for name, column in zip(names, values.T, strict=True) if (column == column[0]).all()]
    if constant:
        raise DataError(f"the columns {constant[:5]} are constant over {len(values)} rows; leave them out of the graph")
    seen: dict[bytes, str] = {}
    for name, column in zip(names, values.T, strict=True):
        first = seen.setdefault(np.ascontiguousarray(column).tobytes(), name)
        if first != name:
            raise DataError(f"the columns {first!r} and {name!r} are equal in every row; leave one out")
