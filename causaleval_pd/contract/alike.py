"""Names and labels that look alike: they differ in blanks, characters that do not show, type or the last digit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: what editors write before the text of a file
BYTE_ORDER_MARK = "\ufeff"
EXPLAIN_MARK = "the byte order mark '\\ufeff' is not part of a name: read the file with encoding='utf-8-sig'"

#: characters that do not show: soft hyphens, joiners, marks of direction and of bytes, selectors of variants
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]"
)
_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_PLAIN = re.compile(r"[!-~]+(?: [!-~]+)*", re.ASCII)


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


def check_labels(values: pd.Series, name: Hashable, of: str = "table") -> None:
    """Refuse labels of groups, of which two look alike or are equal but of different types; `of` holds the column."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.cat.categories.to_series()
    where, mend = f"{name!r}: found the labels", f"{of}[{name!r}]"
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) not in ("string", "boolean"):
        flags = values[values.map(lambda label: isinstance(label, (bool, np.bool_)))].unique()
        rest = values[values.map(lambda label: not isinstance(label, (bool, np.bool_)))]
        for flag in flags:
            same = next((label for label in rest if _equals(label, flag)), None)
            if same is not None:
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


def _equals(label: Any, flag: Any) -> bool:
    return isinstance(label, (int, float, complex, np.number)) and bool(label == flag)


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
