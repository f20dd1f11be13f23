"""Numbers and lists in messages and captions."""

from __future__ import annotations

from collections.abc import Sequence


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def enumerated(words: Sequence[str], link: str) -> str:
    """Join words as `a, b or c`; the link is "or" or "and"."""
    *first, last = words
    return f" {link} ".join(filter(None, [", ".join(first), last]))


def listed(words: Sequence[str], most: int = 12) -> str:
    """Return words in a row, the first ones of many; semicolons divide words that have commas."""
    between = "; " if any(", " in word for word in words) else ", "
    shown = between.join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"
