"""The context that a user gives: one set of inputs per row, and their description in results."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_type, name_row, nearest
from ..contract.context import Context

#: inputs that choose how data are tested
_OF_TESTS = ("test", "alpha", "missing")


def resolve_context(
    table: pd.DataFrame, given: Mapping[str, Any] | None, accepted: Mapping[str, Iterable[str]]
) -> Context | None:
    """Find each row's context from what the user gave."""
    if given is None:
        return None
    check_type(given, Mapping, "a mapping of names to inputs, as {'data': frame}", "context")
    if not given:
        return None
    known = [name for names in accepted.values() for name in names]
    for name in given:
        if name not in known:
            takers = "; ".join(f"{field} takes {', '.join(names) or 'none'}" for field, names in accepted.items())
            raise ValueError(f"context has an unknown input {name!r}; {nearest(name, known)}{takers}")
    parts = {name: _one_input(table, name, value) for name, value in given.items()}
    codes = np.stack([codes for codes, _ in parts.values()], axis=1)
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    values = tuple(
        {name: objects[i] for (name, (_, objects)), i in zip(parts.items(), row, strict=True)}
        for row in distinct.tolist()
    )
    columns = data_columns(given, table.columns)
    # one frame for all rows is one data set; no number is 0
    data_sets = np.ones(len(table), np.int64) if "data" in given else None
    if columns:
        words = pd.concat([table[key].map(str) for key in columns], axis=1)
        numbers = pd.util.hash_pandas_object(words, index=False).to_numpy().view(np.int64)
        data_sets = np.where(numbers == 0, 1, numbers)
    return Context(values, inverse.reshape(-1).astype(np.int64), data_sets, tuple(columns))


def data_columns(given: Mapping[str, Any] | None, columns: Iterable[Hashable]) -> list[str]:
    """Return the columns that name inputs of rows, but for how data are tested: rows on the same data stay so."""
    named = [value for name, value in (given or {}).items() if name not in _OF_TESTS]
    keys = [value[0] if _by_name(value) else value for value in named]
    return [key for key in keys if isinstance(key, str) and key in list(columns)]


def _by_name(value: Any) -> bool:
    """Return whether an input is a column with the objects that it names."""
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Mapping)


def _one_input(table: pd.DataFrame, name: str, value: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Return the distinct objects of one input, and each row's number among them."""
    if _by_name(value):
        key, objects = value
        if key not in table.columns:
            raise ValueError(f"context {name!r}: the table has no column {key!r}; {nearest(str(key), table.columns)}")
        codes, labels = _column_codes(table, name, key)
        for position, label in enumerate(labels):
            if label not in objects:
                row = int(np.argmax(codes == position))
                raise ValueError(
                    f"context {name!r}: {name_row(row, table.index, key)}: {label!r} is not among the named objects "
                    f"{list(objects)[:10]}"
                )
        return codes, [objects[label] for label in labels]
    if isinstance(value, str) and value in table.columns:
        return _column_codes(table, name, value)
    parts = list(value.values()) if isinstance(value, Mapping) else value
    if isinstance(parts, (list, tuple)) and parts and all(isinstance(part, pd.DataFrame) for part in parts):
        raise TypeError(
            f"context {name!r} holds {len(parts)} tables: where rows have tables of their own, a column names them, "
            f"as in context={{{name!r}: ('run', {{name: table, ...}})}} for the names in the column 'run'"
        )
    return np.zeros(len(table), np.int64), [value]


def _column_codes(table: pd.DataFrame, name: str, key: Any) -> tuple[NDArray[np.int64], list[Any]]:
    cells, unhashable = table[key], (list, set, frozenset, np.ndarray)
    if any(isinstance(cell, unhashable) for cell in cells):
        cells = cells.map(lambda cell: tuple(cell) if isinstance(cell, unhashable) else cell)
    try:
        codes, labels = pd.factorize(cells)
    except TypeError as error:
        raise TypeError(f"context {name!r}: column {key!r} holds cells that cannot be compared: {error}") from error
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise ValueError(f"context {name!r}: {name_row(row, table.index, key)} is missing; every row needs one")
    return codes.astype(np.int64), list(labels)


def describe_context(given: Mapping[str, Any] | None) -> dict[str, str]:
    """Describe the given context in words, for the attributes of results."""
    words = {}
    for name, value in (given or {}).items():
        if _by_name(value):
            frames = [f"{key}: {fingerprint(one)}" for key, one in value[1].items() if isinstance(one, pd.DataFrame)]
            words[name] = f"by column {value[0]}" + (f" ({'; '.join(frames)})" if frames else "")
        elif isinstance(value, pd.DataFrame):
            words[name] = fingerprint(value)
        elif callable(value):
            words[name] = str(getattr(value, "__name__", type(value).__name__))
        elif isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(one, str) for one in value):
            words[name] = str(sorted(value) if isinstance(value, (set, frozenset)) else list(value))
        else:
            words[name] = str(value) if isinstance(value, (str, int, float)) else type(value).__name__
    return words


def fingerprint(data: pd.DataFrame) -> str:
    """Describe a table of data in a line: its size and a hash of its columns' names and values."""
    size = f"{type(data).__name__} of {len(data)} rows and {data.shape[1]} columns"
    try:
        rows = pd.util.hash_pandas_object(data, index=False).to_numpy()
    except TypeError:  # cells that cannot be hashed
        return size
    digest = hashlib.blake2b(repr(list(data.columns)).encode() + rows.tobytes(), digest_size=4)
    return f"{size}, hash {digest.hexdigest()}"
