"""Numbers as tables print them: "12.3 ± 1.1", "12.3 (1.1)", "**0.85**", "85 %", "-"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..contract.checks import check_type, check_whole, shown

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_CELL = re.compile(rf"({_NUMBER})(?:\s*±\s*({_NUMBER})|\s*\(\s*±?\s*({_NUMBER})\s*\))?")
#: marks that change how a number looks, not what it is
_MARKS = re.compile(
    r"\\(?:textbf|mathbf|boldsymbol|bm|textit|mathit|emph|underline|bfseries|bf|it|tiny|scriptsize|footnotesize|small)"
    r"(?![a-zA-Z])|\\[,;]|</?(?:b|i|strong|em)>|[*†‡${}~\u00a0\u2009]"
)
_SIGNS = re.compile(r"\\pm(?![a-zA-Z])|\+/-|\+-")
_MISSING = ("", "-", "--", "---", "\u2013", "\u2014", "n/a", "na", "n.a.", "nan", "<na>")
_TYPES = (int, float, np.integer, np.floating)


class PrintedNumber(NamedTuple):
    """A printed number, and what follows its ±; numbers of decimals are None where it was not text."""

    value: float
    decimals: int | None = None
    spread: float = math.nan
    spread_decimals: int = 0


NOTHING = PrintedNumber(math.nan)


def read_number(cell: Any, what: str) -> PrintedNumber:
    """Read a number as tables print it; nothing and dashes are NaN."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return NOTHING
    if not isinstance(cell, str):
        check_type(None if isinstance(cell, bool) else cell, _TYPES, "a number", what)
        if math.isinf(cell):
            raise ValueError(f"{what} must be a finite number, found {cell}")
        return PrintedNumber(float(cell))
    text = _MARKS.sub(" ", _SIGNS.sub("±", cell).replace("\\%", "%").replace("\u2212", "-")).strip()
    if text.casefold() in _MISSING:
        return NOTHING
    is_percent = "%" in text
    parts = _CELL.fullmatch(re.sub(r"\s*%", "", text))
    if parts is None:
        raise ValueError(
            f"{what} is {shown(cell)}, which is not read as a number; cells are numbers, or text such as '12.3', "
            "'12.3 ± 1.1', '12.3 (1.1)', '85 %', and '-' or 'n/a' where nothing was printed"
        )
    value, spread = parts[1], parts[2] or parts[3] or "nan"
    scale, places = (100, 2) if is_percent else (1, 0)
    return PrintedNumber(
        float(value) / scale, _decimals(value) + places, float(spread) / scale, _decimals(spread) + places
    )


def read_counts(cell: Any, what: str, least: int = 0) -> tuple[int, ...] | None:
    """Read a whole number, or a list of them as such or as text; None where nothing was printed."""
    if isinstance(cell, str):
        if re.fullmatch(r"\s*\d{1,3}(,\d{3})+\s*", cell):
            plain = cell.strip().replace(",", "")
            raise ValueError(
                f"{what} is {cell!r}, the number {plain} or a list; write {plain!r}, or a list with blanks, "
                f"{cell.strip().replace(',', ', ')!r}"
            )
        cells: list[Any] = [x for x in re.split(r"[,;\s]+", cell.strip()) if x]
        cells = [read_number(x, what).value for x in cells]
    else:
        cells = list(cell) if isinstance(cell, (list, tuple, np.ndarray)) else [read_number(cell, what).value]
    if all(isinstance(x, float) and math.isnan(x) for x in cells):
        return None
    return tuple(check_whole(x, what, least) for x in cells)


def read_column(table: pd.DataFrame, name: str) -> list[PrintedNumber]:
    """Return a column of printed numbers."""
    cells = table[name]
    if cells.dtype in (np.float16, np.float32):
        cells = cells.astype(str).astype(np.float64)  # the shortest numbers that these stand for
    return [read_number(x, f"row {i}: {name}") for i, x in enumerate(cells)]


def are_printed_numbers(cells: Iterable[Any]) -> bool:
    """Return whether all cells are read as numbers, and at least one is not missing."""
    try:
        return any(not math.isnan(read_number(cell, "").value) for cell in cells)
    except (TypeError, ValueError):
        return False


def decimals_of(x: float) -> int:
    """Return how many decimals a number has."""
    return 0 if math.isnan(x) else _decimals(np.format_float_positional(x, trim="-"))


def half_unit(decimals: int) -> float:
    """Return half a unit of the last of a number of decimals."""
    return 0.5 * 10.0**-decimals


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
