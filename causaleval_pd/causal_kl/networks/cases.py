"""Data sets as cells: the cases that a network was fitted to, as bytes, so that a table holds them beside its rows.

A cell is a line of text, header, description and values.

============ ===========================================================================================
bytes 0-47   text for readers of printed tables (`cases_text`)
bytes 48-63  magic 0xCC, version 1, two zero bytes, length of the description (4 bytes), its digest (8)
description  canonical JSON: columns, states of each column (null for numbers), number of rows
values       column after column: numbers of states, 2 bytes each, or float64
============ ===========================================================================================
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np
import pandas as pd

from ...contract.cells import CellFormat, register_cell_format

MAGIC, VERSION, TEXT_BYTES = 0xCC, 1, 48
_HEADER = struct.Struct("<BBHI8s")
_FORMAT = register_cell_format(CellFormat("a packed data set", MAGIC, TEXT_BYTES))
_MAX_STATES = 2**16


def is_continuous(data: pd.DataFrame) -> bool:
    """Return whether all columns are floats, so that laws fitted to them are linear-Gaussian."""
    return bool(len(data.columns)) and all(pd.api.types.is_float_dtype(dtype) for dtype in data.dtypes)


def pack_cases(data: pd.DataFrame) -> bytes:
    """Return a data set as bytes; equal data sets have equal bytes."""
    columns = [str(name) for name in data.columns]
    if len(set(columns)) < len(columns):
        raise ValueError(f"data has two columns of one name: {columns}")
    states: list[list[str]] | None = None
    if is_continuous(data):
        values = np.ascontiguousarray(data.to_numpy("<f8").T)
    else:
        coded = [pd.Categorical(data[name]) for name in data.columns]
        states = [[str(state) for state in one.categories] for one in coded]
        for name, one, own in zip(columns, coded, states, strict=True):
            if (one.codes < 0).any():
                raise ValueError(f"data column {name!r} has missing values; leave these cases out or impute them")
            if len(own) > _MAX_STATES or len(set(own)) < len(own):
                raise ValueError(
                    f"data column {name!r} has {len(own)} values, expected at most {_MAX_STATES} of own names"
                )
        values = np.array([one.codes for one in coded], "<u2").reshape(len(columns), len(data))
    content = {"columns": columns, "states": states, "rows": len(data)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    header = _HEADER.pack(MAGIC, VERSION, 0, len(text), hashlib.blake2b(text, digest_size=8).digest())
    return cases_text(len(data), len(columns), states is None) + header + text + values.tobytes()


def cases_text(n_rows: int, n_columns: int, continuous: bool) -> bytes:
    """Return the text of a cell, filled up with blanks."""
    kind = "continuous" if continuous else "discrete"
    text = f"{kind} data, {n_rows} rows, {n_columns} columns"
    return text.encode()[:TEXT_BYTES].ljust(TEXT_BYTES)


def unpack_cases(cell: bytes) -> pd.DataFrame:
    """Return the data set of a cell; raise a ValueError if it is not one."""
    start = TEXT_BYTES + _HEADER.size
    if len(cell) < start or not _FORMAT.holds(cell):
        raise ValueError(f"{_FORMAT.explain(cell)}, as learn() stores it")
    _, version, zero, length, digest = _HEADER.unpack_from(cell, TEXT_BYTES)
    text = cell[start : start + length]
    if version != VERSION or zero or hashlib.blake2b(text, digest_size=8).digest() != digest:
        raise ValueError("the description of a data set does not match its digest or version; the cell is damaged")
    try:
        content: Any = json.loads(text)
        columns, states, n = content["columns"], content["states"], int(content["rows"])
        kind = "<f8" if states is None else "<u2"
        values = np.frombuffer(cell, kind, offset=start + length).reshape(len(columns), n)
        if states is None:
            return pd.DataFrame(dict(zip(columns, values, strict=True)))
        coded = (
            pd.Categorical.from_codes(row.astype(np.int64), categories=pd.Index(own, dtype=object))
            for row, own in zip(values, states, strict=True)
        )
        return pd.DataFrame(dict(zip(columns, coded, strict=True)))
    except (KeyError, TypeError, ValueError, UnicodeDecodeError, RecursionError):
        raise ValueError("the values of a data set do not match its description; the cell is damaged") from None
