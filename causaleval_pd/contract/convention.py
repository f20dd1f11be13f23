"""Conventions: options by which metrics take further kinds of cell, and the hint that names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .pairs import Pairs


class Convention(NamedTuple):
    """An option of a metric by which it takes further kinds of cell; the option's values are these and its default."""

    #: name of the metric's keyword
    option: str
    #: its value
    value: str
    #: kinds that the metric then takes, of the truth too where both sides have the same kinds
    kinds: tuple[str, ...]
    #: what the metric then does, for messages
    meaning: str


def what_applies(metrics: Sequence[Any], refused: Sequence[Pairs]) -> str:
    """Return a hint that names metrics and their conventions for refused pairs, "; use ..." or nothing."""
    n = sum(pairs.n for pairs in refused)
    found: dict[tuple[int, str], list[str]] = {}
    for x in metrics:
        most = n - sum(int(x.refused(pairs).sum()) for pairs in refused)
        if most:
            found.setdefault((most, ""), []).append(repr(x.name))
        for option, value, _, meaning in x.conventions:
            taken = n - sum(int(x.refused(pairs, {**x.options, option: value}).sum()) for pairs in refused)
            if taken > most:
                call = f"ce.tweak({x.name!r}, {option}={value!r})"
                found.setdefault((taken, f" ({meaning})"), []).append(call)
    words = []
    for (taken, meaning), names in found.items():
        either = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        words.append(f"{either}{f' for {taken} of them' if taken < n else ''}{meaning}")
    return f"; use {'; or '.join(words)}" if words else ""
