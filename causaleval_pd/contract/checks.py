"""The parts that messages share: rows, numbers, unknown names with the nearest, names that look alike, warnings."""

from __future__ import annotations

import difflib
import math
import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

#: characters that do not show: soft hyphens, joiners, marks of direction and of bytes, selectors of variants
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*", re.ASCII)

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the package, however deep in it the reason was seen."""
    frame = caller = sys._getframe(1)
    # what stands between two functions of the package, such as a library that calls it back, is no caller
    while frame.f_back is not None:
        inside, frame = frame.f_code.co_filename.startswith(_PACKAGE), frame.f_back
        caller = frame if inside else caller
    registry = caller.f_globals.setdefault("__warningregistry__", {})
    module = caller.f_globals.get("__name__")
    warnings.warn_explicit(text, category, caller.f_code.co_filename, caller.f_lineno, module, registry)


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def enumerated(words: Sequence[str], link: str) -> str:
    """Join words as `a, b or c`; the link is "or" or "and"."""
    *first, last = words
    return f" {link} ".join(filter(None, [", ".join(first), last]))


def face(name: str) -> str:
    """Return what a reader sees of a name: names with the same face look alike."""
    if _PLAIN.fullmatch(name):
        return name
    shown = _INVISIBLE.sub("", unicodedata.normalize("NFC", name))
    return " ".join(_DASHES.sub("-", shown).replace("\u00b5", "\u03bc").split())


def alike(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two different names that look alike, or None."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(face(name), name)
        if other != name:
            return other, name
    return None


def explain_alike(first: str, second: str) -> str:
    """Describe in what two names differ that look alike, with characters that do not show as their codes."""
    steps: dict[str, Callable[[str], str]] = {
        "blanks": lambda name: " ".join(name.split()),
        "Unicode's normal form (NFC, NFD)": lambda name: unicodedata.normalize("NFC", name),
        "characters that do not show": lambda name: _INVISIBLE.sub("", name),
        "dashes": lambda name: _DASHES.sub("-", name),
    }
    what = next((word for word, plain in steps.items() if plain(first) == plain(second)), "blanks and other characters")
    return f"{first!a} and {second!a} look alike, but differ in {what}"


def hint_alike(names: Iterable[str], others: Iterable[str]) -> str:
    """Return a hint, with a mark before it, where a name looks like one of the others, else nothing."""
    faces = {face(name): name for name in others}
    for name in names:
        other = faces.get(face(name), name)
        if other != name:
            return f"; {explain_alike(name, other)}"
    return ""


NUMBERS = (int, float, np.integer, np.floating)


def name_row(row: int, index: pd.Index | None = None, column: Hashable | None = None) -> str:
    """Name a row in a message: `column 'truth', row 17 (index ('pc', 0.2))`."""
    prefix = "" if column is None else f"column {column!r}, "
    if index is None:
        return f"{prefix}row {row}"
    label = index[row]
    if isinstance(label, tuple):
        label = tuple(part.item() if isinstance(part, np.generic) else part for part in label)
    elif isinstance(label, np.generic):
        label = label.item()
    return f"{prefix}row {row} (index {label!r})"


def nearest(name: Any, known: Iterable[Any]) -> str:
    """Return a hint `did you mean 'shd'? `, with a space at its end, for a name that is nearly known, else nothing."""
    written = {str(x).casefold(): str(x) for x in known}
    near = [written[x] for x in difflib.get_close_matches(str(name).casefold(), list(written), n=3, cutoff=0.5)]
    return f"did you mean {', '.join(map(repr, near))}? " if near else ""


def check_known(name: Any, known: Iterable[Any], what: str, hint: str = "") -> None:
    """Refuse a name that is not known."""
    known = list(known)
    try:
        # arrays, tables and pd.NA do not compare to True or False, so the name is looked up by its hash
        unknown = name not in dict.fromkeys(known)
    except TypeError:
        unknown = True
    if unknown:
        hint = hint or nearest(name, known)
        raise ValueError(f"unknown {what} {shown(name)}; {hint}known are {', '.join(map(repr, known))}")


def check_choice(value: Any, choices: Sequence[Any], what: str) -> None:
    """Refuse anything but one of a few words, or None where it is among them."""
    # arrays, tables and pd.NA do not compare to True or False
    if not isinstance(value, (str, type(None))) or value not in choices:
        raise ValueError(f"{what} must be {enumerated([*map(repr, choices)], 'or')}, found {shown(value)}")


def check_type(value: Any, types: type | tuple[type, ...], expected: str, what: str) -> None:
    """Refuse a value of other types than those that `expected` describes; `what` names the argument."""
    if not isinstance(value, types):
        raise TypeError(f"{what} must be {expected}, found {shown(value)}")


def check_column_name(value: Any, what: str) -> None:
    """Refuse what cannot be the name of a column, and so cannot be compared with names."""
    if not isinstance(value, Hashable) or value is pd.NA:
        raise TypeError(f"{what} must be the name of a column, found {shown(value)}")


def check_columns(table: Any, columns: Mapping[str, Any]) -> None:
    """Refuse what is not a table, and a table without the columns that have these roles."""
    check_type(table, pd.DataFrame, "a DataFrame", "table")
    for what, column in columns.items():
        check_column_name(column, what)
        if column not in table.columns:
            hint = f"{nearest(column, table.columns)}its columns are {list(table.columns)}"
            raise ValueError(f"the table has no column {column!r} ({what}); {hint}")


def check_number(value: Any, what: str, interval: str = "(-inf, inf)") -> float:
    """Return a number within an interval (limits in square brackets belong to it), and refuse anything else."""
    low, high = map(float, interval[1:-1].split(","))
    if isinstance(value, NUMBERS) and not isinstance(value, bool):
        above = low <= value if interval[0] == "[" else low < value
        below = value <= high if interval[-1] == "]" else value < high
        if above and below:
            return float(value)
    words = {
        "(-inf, inf)": "be a finite number",
        "(0, inf)": "be a positive number",
        "[0, inf)": "be a number from 0",
        "(0, 1)": "lie between 0 and 1",
    }.get(interval, f"lie in {interval}")
    raise ValueError(f"{what} must {words}, found {shown(value)}")


def check_whole(value: Any, what: str, least: int = 0, most: float = math.inf) -> int:
    """Return a whole number from `least` to `most`, and refuse anything else."""
    inside = isinstance(value, NUMBERS) and not isinstance(value, bool) and least <= value <= most
    # the remainder of an infinite float64 would warn
    if inside and value < math.inf and not value % 1:
        return int(value)
    beyond = isinstance(value, NUMBERS) and value > most
    words = "a positive integer" if least == 1 and not beyond else f"an integer from {least}"
    if most < math.inf and (least != 1 or beyond):
        words += f" to {most}"
    raise ValueError(f"{what} must be {words}, found {shown(value)}")


def check_flag(value: Any, what: str) -> bool:
    """Return True or False, and refuse anything else: a text such as "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, found {shown(value)}")
    return bool(value)


def refuse_masked(values: Any, expected: str, mend: str) -> None:
    """Refuse an array with masked values, which comparisons and conversions would take as they stand or leave out."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = tuple(np.argwhere(np.ma.getmaskarray(values))[0].tolist())
        raise ValueError(
            f"found a masked value in cell {place} of a masked array, expected {expected}; fill it, as in {mend}"
        )


def shown(value: Any) -> str:
    """Show what was found: short values themselves, long ones cut, tables by their type."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (pd.DataFrame, pd.Series, pd.Index, np.ndarray)):
        return f"a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
