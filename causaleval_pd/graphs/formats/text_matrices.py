"""Texts of numbers: a matrix with or without names, or a table of edges, as programs write them to files."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..packing import MAX_NODES
from .edge_list import edge_columns, read_csv, read_printed
from .networkx_graph import GML

_NUMBER = re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?$|(?:nan|inf|NA|NaN)$")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*+,\d++(?:[eE][-+]?\d++)?$")
#: separators of fields; a comma may be that of decimals where there is another
_SEPARATORS = "\t;,"
_IN_QUOTES = re.compile(r'"[^"\n]*+"')
_ARROW = re.compile(r"->|<-|--|-@|@-|o-")
_COMMENTS = re.compile(r"\s*+(?>(?:#[^\n]*+(?:\n|$)\s*+)*)")
_FLAGS = {"true", "false"}


def read_table(text: str, *, is_table: bool = False) -> Any:
    """Return the matrix or the table of edges that a text holds, else the text itself, which a table is not."""
    if GML.takes(text):
        # its words may stand like those of a table
        return text
    lines = [line for line in text.lstrip("\r\n").split("\n", 20)[:20] if line.strip()][:2]
    if not lines:
        return text
    if lines[0][0] == "#" and (is_table or not isinstance(read_table(_COMMENTS.sub("", text, count=1)), str)):
        raise ValueError(
            f"line 1: found the comment {lines[0][:40]!r} before a matrix or table; delete the '#' before names of "
            "nodes, and other comments whole"
        )
    separator = _separator(lines)
    first, *second = [_fields(line, separator) for line in lines]
    if any(first) and all(_NUMBER.match(field) or not field for field in first):
        header = _names_are_numbers(text, separator)
        if header or all(first):
            return _matrix(text, separator, header=header)
    if edge_columns(first) is not None and not (separator is None and any(map(_ARROW.search, lines))):
        return read_printed(text) if separator is None else read_csv(text, separator)
    if any(map(_ARROW.search, lines)):
        return text
    plain = _is_row(first, None)
    header = not plain and bool(second) and _is_row(second[0], first)
    if is_table and not header and not plain:
        raise ValueError(
            f"line 1: found {lines[0][:40]!r}, expected names of nodes and a matrix of numbers below, or a table with "
            "the columns from and to, or source and target"
        )
    return _matrix(text, separator, header=header) if header or plain else text


def _separator(lines: list[str]) -> str | None:
    """Return the separator of fields, None for blanks."""
    plain = [_IN_QUOTES.sub("x", line) for line in lines]
    if len(plain[0].split()) > 1 and not any(x in plain[0] for x in _SEPARATORS):
        return None
    return next((x for line in plain for x in _SEPARATORS if x in line), None)


def _fields(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return [field.strip('"') for field in line.split()]
    return [field.strip() for field in next(csv.reader([line.strip("\r\n")], delimiter=separator), [])]


def _is_row(fields: list[str], names: list[str] | None) -> bool:
    """Return whether fields are those of a row of a matrix, if perhaps a faulty one, below these names."""
    numbers = fields if names is None or (len(names) == len(fields) and not _is_label(fields[0])) else fields[1:]
    if names is not None and len(names) not in (len(fields), len(fields) - 1):
        return len(numbers) > 1 and all(map(_NUMBER.match, fields))
    alike = [bool(_NUMBER.match(x) or _DECIMAL_COMMA.match(x) or x.lower() in _FLAGS or not x) for x in numbers]
    return len(fields) > 1 and any(numbers) and all(alike)


def _names_are_numbers(text: str, separator: str | None) -> bool:
    """Return whether the first line of a text of numbers names the nodes, as the matrix is square without it only."""
    rows = [fields for line in text.splitlines() if any(fields := _fields(line, separator))]
    names, others = rows[0], rows[1:]
    if names[0] == "":
        return names[1:] == [row[0] for row in others]
    if len(others) != len(names) or len({*names}) < len(names) or {*names} <= {"0", "1"}:
        # one row too many of zeros and ones is a fault of the file
        return False
    with_labels = all(len(row) == len(names) + 1 for row in others) and names == [row[0] for row in others]
    return with_labels or all(len(row) == len(names) for row in others)


def _is_label(field: str) -> bool:
    return bool(field) and not (_NUMBER.match(field) or _DECIMAL_COMMA.match(field) or field.lower() in _FLAGS)


def _matrix(text: str, separator: str | None, *, header: bool) -> Any:
    """Read a matrix; a header names the columns, and a name before each row the rows."""
    names: list[str] | None = None
    rows: list[NDArray[np.float64]] = []
    labels: list[str] = []
    for number, line in enumerate(io.StringIO(text), 1):
        fields = _fields(line, separator)
        if not any(fields):
            continue
        if header and names is None:
            names = fields
            continue
        if len(fields) > MAX_NODES + 1:
            raise ValueError(f"line {number}: found {len(fields)} numbers; at most {MAX_NODES} nodes are supported")
        if names and (_is_label(fields[0]) or len(fields) == len(names) + (1 if names[0] else 0)):
            labels.append(fields[0])
            fields = fields[1:]
        _check_numbers(fields, names, number)
        if rows and len(fields) != len(rows[0]):
            raise ValueError(f"line {number}: found {len(fields)} numbers, the first row has {len(rows[0])}")
        if len(rows) >= len(fields):
            more = "; if line 1 holds names, write ones that are not numbers" if names is None else ""
            raise ValueError(f"line {number}: found more than {len(fields)} rows of {len(fields)} numbers{more}")
        rows.append(np.array(["nan" if field == "NA" else field for field in fields], np.float64))
    if not rows or len(rows) != len(rows[0]):
        raise ValueError(f"found {len(rows)} rows of {len(rows[0]) if rows else 0} numbers, expected a square matrix")
    stacked = np.stack(rows)
    values = stacked.astype(np.int8) if np.isin(stacked, np.arange(-100, 101)).all() else stacked
    if names is None:
        return values
    columns = [name for name in names if name] if len(names) > len(rows) else names
    if len(columns) != len(rows) or (labels and len(labels) != len(rows)):
        raise ValueError(f"line 1: found {len(columns)} names, expected {len(rows)} as there are rows")
    return pd.DataFrame(values, labels or columns, columns)


def _check_numbers(fields: list[str], names: list[str] | None, number: int) -> None:
    """Refuse fields of a line that are not numbers, by the name of their column, or its number where it has none."""
    place = next((k for k, field in enumerate(fields) if not _NUMBER.match(field)), None)
    if place is None:
        return
    if names and not names[-1] and not fields[-1]:
        raise ValueError(f"line {number}: ends with a separator; delete it at the end of all lines")
    field, named = fields[place], (names or [])[-len(fields) :]
    column = f"column {named[place]!r}" if place < len(named) and named[place] else f"column {place + 1}"
    mend = ""
    if not field:
        mend = "; write 0 where there is no edge"
    elif _DECIMAL_COMMA.match(field):
        mend = f"; write a point for the decimal comma, as {field.replace(',', '.')[:60]!r}"
    elif field.lower() in _FLAGS:
        mend = "; write 1 for true and 0 for false"
    shown = repr(field[:60]) if field else "an empty cell"
    raise ValueError(f"line {number}: found {shown}, expected a number in {column}{mend}")
