"""Cells of columns: those that users give, and the formats of packed ones, told from their header alone.

A packed cell is a line of ASCII text, then a header that begins with the format's magic byte (0x80 or more, so that no
text has it) and its version (less than 0x80, so that no text in UTF-8 has both). Formats differ in the length of their
line. The longer line reaches over the place where a shorter one ends, so the first place without text decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, ValuesView
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from .checks import name_row, shown
from .encoding import AmbiguousEncodingError

#: a byte in the text that Python writes of bytes
_BYTE = re.compile(r"\\x([0-9a-f]{2})")
#: of columns of packed cells
COLUMN_DTYPE = pd.ArrowDtype(pa.large_binary())
#: what may hold one cell per row, besides a Series
_ROWS = (np.ndarray, list, tuple, ValuesView, pd.Index, pd.api.extensions.ExtensionArray, Iterator)


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, pd.NA, pd.NaT or masked."""
    if isinstance(cell, (float, np.floating)):
        return bool(np.isnan(cell))
    return cell is None or cell is pd.NA or cell is pd.NaT or cell is np.ma.masked


def rows_of(values: Any, index: Any, what: str, dims: tuple[int, ...] = ()) -> pd.Series:
    """Return what a user gave as a Series, one cell per row; an array of `dims` dimensions is a single cell."""
    if not isinstance(values, pd.Series):
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            values = values.to_pylist()
        if not isinstance(values, _ROWS) or (isinstance(values, np.ndarray) and values.ndim == 0):
            raise TypeError(
                f"values must be a Series, list or array of {what}, found {type(values).__name__}; wrap one in a list"
            )
        if isinstance(values, np.ndarray) and values.ndim in dims and values.dtype != object:
            raise TypeError(f"values must hold {what}, found one array of shape {values.shape}; wrap one in a list")
        listed = list(values)
        cells = np.empty(len(listed), object)
        for row, cell in enumerate(listed):
            cells[row] = cell
        values = pd.Series(cells, dtype=object)
    if index is not None:
        try:
            labels = index if isinstance(index, pd.Index) else pd.Index(index)
        except (TypeError, ValueError):
            raise TypeError(f"index must hold one label per row, found {shown(index)}") from None
        if len(labels) != len(values):
            raise ValueError(f"index has {len(labels)} labels, values has {len(values)} rows")
        values = values.set_axis(labels)
    return values


def one_per_row(values: Iterable[Any], n_rows: int, index: pd.Index | None, name: str, whose: str) -> list[Any]:
    """Return what an argument holds for each row, None where missing; refuse another length or order of rows."""
    if isinstance(values, pd.Series) and index is not None and not values.index.equals(index):
        raise ValueError(f"{name} is a Series whose index differs from that of {whose}; bring them into one order")
    entries = [None if is_missing(one) else one for one in values]
    if len(entries) != n_rows:
        raise ValueError(f"{name} has {len(entries)} rows, {whose} has {n_rows}")
    return entries


def packed_column(
    cells: Iterable[bytes | None], index: pd.Index | None = None, name: Hashable | None = None
) -> pd.Series:
    """Make a column of packed cells."""
    return pd.Series(pd.array(pa.array(cells, type=pa.large_binary()), dtype=COLUMN_DTYPE), index=index, name=name)


def pack_rows(series: pd.Series, pack: Callable[[int, Any], bytes], column: Hashable | None = None) -> pd.Series:
    """Make a column of what `pack(row, cell)` returns, missing where cells are; errors name the row of `column`."""
    packed: list[bytes | None] = []
    for row, cell in enumerate(series.tolist()):
        try:
            if _written_format(cell) is not None:
                raise ValueError(explain_written(cell))
            packed.append(None if is_missing(cell) else pack(row, cell))
        except (TypeError, ValueError) as error:
            kinds = (AmbiguousEncodingError, TypeError, ValueError)
            error_class = next(kind for kind in kinds if isinstance(error, kind))
            where = name_row(row, series.index, series.name if column is None else column)
            raise error_class(f"{where}: {error}") from None
    return packed_column(packed, series.index, series.name)


def unpack_distinct(
    series: pd.Series, unpack: Callable[[bytes], Any]
) -> tuple[NDArray[np.int64], list[Any], Callable[[int], str]]:
    """Decode distinct cells; return which each row holds, -1 for none, the decoded ones, and what names their rows."""
    codes, distinct = pd.factorize(series)
    # a list of Arrow's own: that of pandas takes longer
    cells = pa.array(distinct.array).to_pylist() if series.dtype == COLUMN_DTYPE else distinct.tolist()

    def where(number: int) -> str:
        return name_row(int(np.argmax(codes == number)), series.index, series.name)

    decoded = []
    for number, cell in enumerate(cells):
        try:
            decoded.append(unpack(cell))
        except (TypeError, ValueError) as fault:
            error_class = TypeError if isinstance(fault, TypeError) else ValueError
            raise error_class(f"{where(number)}: {fault}") from None
    return codes.astype(np.int64), decoded, where


class ColumnAccessor:
    """An accessor of columns of packed cells, such as ``series.graph``."""

    #: its name, what the cells are, and what makes such columns
    _name: ClassVar[str]
    _nouns: ClassVar[str]
    _maker: ClassVar[str]

    @staticmethod
    def _holds(series: pd.Series) -> bool:
        """Return whether a column has such cells."""
        raise NotImplementedError

    def __init__(self, series: pd.Series) -> None:
        if not self._holds(series):
            raise AttributeError(
                f"series.{self._name} needs a column of packed {self._nouns}, found dtype {series.dtype}; make one "
                f"with {self._maker}"
            )
        self._obj = series

    def __repr__(self) -> str:
        names = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<properties and conversions of {len(self._obj)} {self._nouns}: {names}>"


@dataclass(frozen=True)
class CellFormat:
    """How the packed cells of a field begin."""

    #: what a cell is, for messages, with its article: "a packed graph"
    noun: str
    #: first byte of the header, 128 to 255
    magic: int
    #: bytes of the line of text before the header
    text_bytes: int
    #: what makes columns of such cells, and what CSV may hold of one, for messages
    maker: str = ""
    as_text: str = ""

    def holds(self, cell: Any) -> bool:
        """Return whether an object is a packed cell of this format, of any version."""
        return format_of(cell) is self

    def line(self, *parts: str) -> bytes:
        """Return the line of text of a cell: its parts, the last ones as far as they fit, filled up with blanks."""
        text, *others = parts
        for part in others:
            if len(text) + 2 + len(part) <= self.text_bytes:
                text += f", {part}"
        return text.encode().ljust(self.text_bytes)

    def explain(self, cell: bytes) -> str:
        """Return what bytes are that are not such a cell, for messages."""
        other = format_of(cell)
        if other is not None and other is not self:
            return f"found {other.noun}, expected {self.noun}"
        return f"found {len(cell)} bytes starting with {cell[:8]!r}, not {self.noun}"


#: formats by the place and the value of their magic byte
_FORMATS: dict[tuple[int, int], CellFormat] = {}


def register_cell_format(new: CellFormat) -> CellFormat:
    """Register a format; refuse a magic byte that text or another format has at the same place."""
    if not 0x80 <= new.magic <= 0xFF:
        raise ValueError(
            f"the magic byte of {new.noun} is {new.magic:#x}, expected 0x80 to 0xff, which no line of text has"
        )
    place = new.text_bytes
    other = _FORMATS.setdefault((place, new.magic), new)
    if other != new:
        raise ValueError(
            f"{new.noun} has the magic byte {new.magic:#x} at byte {place}, as {other.noun} has; choose another"
        )
    return new


def format_of(cell: Any) -> CellFormat | None:
    """Return the format that the header of a packed cell declares, None for other objects."""
    if not isinstance(cell, bytes):
        return None
    for place in sorted({place for place, _ in _FORMATS}):
        header = cell[place : place + 2]
        if len(header) == 2 and header[0] >= 0x80:
            return _FORMATS.get((place, header[0])) if header[1] < 0x80 else None
    return None


def _written_format(cell: Any) -> CellFormat | None:
    """Return the format of a packed cell that Python wrote as text, as b'...', None for other objects."""
    if not isinstance(cell, str) or cell[:2] not in ("b'", 'b"'):
        return None
    # a byte takes four letters at most
    part = cell[2 : 10 + 4 * max(place for place, _ in _FORMATS)]
    return format_of(_BYTE.sub(lambda byte: chr(int(byte[1], 16)), part).encode("latin-1", "ignore"))


def explain_written(text: str, maker: str = "", as_text: str = "") -> str:
    """Return a message for the text of an object: `maker` makes columns of such, unless it is a packed cell."""
    cell_format = _written_format(text)
    if cell_format is not None:
        maker, as_text = cell_format.maker, cell_format.as_text
    beginning = text if len(text) <= 60 else f"{text[:57]}..."
    other_way = f", or as {as_text}" if as_text else ""
    return (
        f"found the text {beginning!r}, which an object turned into when dask, CSV or astype(str) wrote it as text; "
        f"make the column with {maker} before that, and store it as Parquet, not CSV{other_way}"
    )
