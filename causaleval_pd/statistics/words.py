"""Words of results that tables, figures and reports share: verdicts, levels, p-values, names of what was computed."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

#: signs of printed numbers: minus, and a dash for a missing number
MINUS, DASH = "\u2212", "\u2013"
#: p-values below are written as such; that of this number of draws, which bounds p, and larger ones as fractions
_LEAST_P, _MOST_DRAWS = 1e-5, 10**4

#: verdicts on runs against their controls
BETTER, NOT_ALL_GUESSES, NOT_BETTER = "better", "not all guesses", "not better"
#: what follows where limits of p lie on both sides of the level
UNDECIDED = "cannot be judged"

#: what corrections for multiplicity are called, by their names as settings
CORRECTIONS = {
    **{"holm": "Holm's method", "bonferroni": "Bonferroni's method", "max_t": "the maximum of t"},
    **dict.fromkeys(("bh", "fdr_bh"), "Benjamini and Hochberg's method"),
    **dict.fromkeys(("by", "fdr_by"), "Benjamini and Yekutieli's method"),
}
#: what tests of strata compare, by the names of statistics
STATISTICS = {"mean": "mean", "rank": "sum of ranks"}
#: what a small p of a comparison shows, by the names of its alternatives
SHOWS = {
    "two-sided": "a difference in either direction",
    "less": "an effect below 0",
    "greater": "an effect above 0",
    "equivalent": "an effect within the margin",
}
#: what is compared, by its names as a setting
COMPARED = {"metric": "the metric", "excess": "the metric minus the mean of its controls", "skill": "skill"}


def verdicts(p_low: ArrayLike, p_high: ArrayLike, alpha: float, good: ArrayLike = True) -> NDArray[np.object_]:
    """Return the verdict on results whose p against guessing lies between two limits, None without one."""
    low, high = np.asarray(p_low, np.float64), np.asarray(p_high, np.float64)
    passes = np.where(good, BETTER, NOT_ALL_GUESSES)
    words = np.where(high <= alpha, passes, np.where(low > alpha, NOT_BETTER, UNDECIDED)).astype(object)
    words[np.isnan(high)] = None
    return words


def effect_words(name: str) -> str:
    """Return what an effect size is called."""
    return {"hodges_lehmann": "Hodges-Lehmann difference"}.get(name, name.replace("_", " "))


def listed(words: Sequence[str], most: int = 12) -> str:
    """Return words in a row, the first ones of many; semicolons divide words that have commas."""
    between = "; " if any(", " in word for word in words) else ", "
    shown = between.join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def level_words(levels: Iterable[Hashable]) -> list[str]:
    """Return the names of levels: numbers and dates in short form, unless two levels would look alike."""
    level_list: list[Any] = list(levels)
    missing = [bool(pd.api.types.is_scalar(level) and pd.isna(level)) for level in level_list]
    known = {level: _short(level) for level, lacks in zip(level_list, missing, strict=True) if not lacks}
    alike = len(set(known.values())) < len(known)
    return [
        "" if lacks else str(level) if alike else known[level] for level, lacks in zip(level_list, missing, strict=True)
    ]


def _short(level: Any) -> str:
    if isinstance(level, (float, np.floating)):
        return f"{level:g}"
    if isinstance(level, (pd.Timestamp, np.datetime64)):
        stamp = pd.Timestamp(level)
        return stamp.strftime("%Y-%m-%d") if stamp == stamp.normalize() else str(stamp)
    return str(level)


def p_text(p: float, *, at_floor: bool = False) -> str:
    """Return a p-value with two significant digits, a bound rounded up; the least of R draws as `≤ 1/(R+1)`."""
    if math.isnan(p):
        return DASH
    least = f"1e{MINUS}5"
    if p < _LEAST_P * (1 - 1e-9):
        return f"< {least}"
    if at_floor:
        whole = round(1 / p)
        if 1 < whole <= _MOST_DRAWS and abs(1 / p - whole) < 1e-6 * whole:
            return f"≤ 1/{whole}"
        digit = 10.0 ** (math.floor(math.log10(p)) - 1)
        p = math.ceil(p / digit - 1e-9) * digit
        if p < _LEAST_P * (1 + 1e-9):
            return f"≤ {least}"
    text = f"{p:#.2g}".removesuffix(".") if p >= 1e-4 else f"{p:.1e}".replace("e-0", f"e{MINUS}")
    return f"≤ {text}" if at_floor else text
