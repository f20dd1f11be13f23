"""Several accepted truths a row: a metric is the best, mean or worst over them, of estimates and of controls alike.

Of three accepted truths, one is likely to suit a guess. Each draw of a control is therefore compared with all truths of
its row, and gets the same aggregate as the estimate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_choice
from ..contract.context import Context
from ..contract.field import Field, identify_cells, missing_cells
from ..contract.metric import Metric
from ..contract.null import Controls, Matcher, Matching, Null
from ..contract.pairs import Batch, Pairs
from ..statistics.direction import merit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: the aggregate over the truths of a row
Over = Literal["best", "mean", "worst"]


def check_over(truth: Any, over: Any) -> None:
    """Refuse several truths without an aggregate, and an aggregate without several truths."""
    if not isinstance(truth, list):
        if over is not None:
            raise ValueError(
                f"over_truths={over!r} aggregates over several truths; name their columns by a list, truth=[...]"
            )
        return
    if not truth or any(not isinstance(name, Hashable) for name in truth) or len(set(truth)) < len(truth):
        raise ValueError(f"truth must be the name of a column or a list of different names, found {truth!r}")
    if over is None:
        raise ValueError(
            f"truth names {len(truth)} columns of accepted truths: choose over_truths='best', 'mean' or 'worst', by "
            "which a metric is aggregated over them, in the estimate and in each control"
        )
    check_choice(over, ("best", "mean", "worst"), "over_truths")


@dataclass(frozen=True, eq=False)
class SeveralPairs(Pairs):
    """The same estimates paired with each of several truths."""

    #: pairs of the estimates with their first truth, their second, ...
    members: tuple[Any, ...]
    #: number of each member's truth among the columns that the call names
    numbers: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of estimates."""
        return int(self.members[0].n)

    @property
    def work(self) -> float:
        """Nanoseconds that a plain metric takes for one estimate, roughly."""
        return float(sum(pairs.work for pairs in self.members))

    @property
    def at_once(self) -> int:
        """Number of estimates that a costly metric is given at a time."""
        return int(min(pairs.at_once for pairs in self.members))

    @property
    def lacking(self) -> NDArray[np.bool_] | None:  # type: ignore[override]
        """Which estimates could not be drawn, None if all could."""
        found = [pairs.lacking for pairs in self.members if pairs.lacking is not None]
        return np.logical_or.reduce(found) if found else None

    def take(self, positions: NDArray[Any] | slice) -> SeveralPairs:
        """Return the pairs at `positions`."""
        return SeveralPairs(tuple(pairs.take(positions) for pairs in self.members), self.numbers)

    def unique(self) -> tuple[SeveralPairs, Ints]:
        """Return the distinct pairs, and for each the position of its equal among them."""
        same = np.stack([pairs.unique()[1] for pairs in self.members], axis=1)
        _, first, inverse = np.unique(same, axis=0, return_index=True, return_inverse=True)
        return self.take(first), inverse.reshape(-1).astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs are refused with any of their truths."""
        return np.logical_or.reduce([pairs.refused(kinds, truth_kinds) for pairs in self.members])

    def describe(self, position: int) -> str:
        """Describe the pair at `position` with each truth."""
        return "; ".join(dict.fromkeys(pairs.describe(position) for pairs in self.members))


@dataclass(frozen=True)
class SeveralTruths(Field):
    """A field whose truths are joined cells, one for each of several columns."""

    #: the field of the cells
    own: Any = None
    #: type of the truths' columns
    dtypes: tuple[Any, ...] = ()

    @property
    def of_truth(self) -> Field:
        """Field of the joined truths."""
        own = self.own.of_truth
        labels = None if own.labels is None else functools.partial(_labels, own, self.dtypes)
        return replace(own, missing=missing_cells, identify=identify_cells, labels=labels)


def join_truths(field: Field, truths: Sequence[pd.Series]) -> tuple[SeveralTruths, pd.Series]:
    """Join the canonical truths of several columns row by row, and return the field that aligns them.

    A row whose truths are all missing has none; otherwise the truths that it has count.
    """
    codes = np.stack([pd.factorize(x)[0] for x in truths], axis=1)
    distinct, first, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    cells = np.full(len(distinct), None, object)
    for i, (numbers, row) in enumerate(zip(distinct.tolist(), first.tolist(), strict=True)):
        if max(numbers) >= 0:
            parts = [None if k < 0 else x.iloc[row] for k, x in zip(numbers, truths, strict=True)]
            cells[i] = b"".join(_packed(part) for part in parts)
    joined = pd.Series(cells[inverse.reshape(-1)], index=truths[0].index, name=truths[0].name, dtype=object)
    dtypes = tuple(x.dtype for x in truths)
    settings = {x.name: getattr(field, x.name) for x in fields(Field)}
    settings["batches"] = functools.partial(_batches, field, dtypes)
    return SeveralTruths(**settings, own=field, dtypes=dtypes), joined


def _packed(cell: Any) -> bytes:
    """Return a cell after its kind and length."""
    if cell is None:
        return b"-" + bytes(8)
    if not isinstance(cell, (bytes, str)):
        raise ValueError(f"several truths are cells such as graphs or formulas, found {type(cell).__name__}")
    content = cell if isinstance(cell, bytes) else cell.encode()
    return (b"b" if isinstance(cell, bytes) else b"s") + len(content).to_bytes(8, "little") + content


def split_truths(joined: pd.Series, dtypes: Sequence[Any]) -> list[pd.Series]:
    """Return the truths that `join_truths` has joined."""
    codes, distinct = pd.factorize(joined)
    cells = [np.full(len(distinct) + 1, None, object) for _ in dtypes]
    for i, cell in enumerate(distinct.tolist()):
        place = 0
        for column in cells:
            kind, length = cell[place : place + 1], int.from_bytes(cell[place + 1 : place + 9], "little")
            content = cell[place + 9 : place + 9 + length]
            column[i] = {b"-": None, b"b": content, b"s": content.decode() if kind == b"s" else None}[kind]
            place += 9 + length
    return [
        pd.Series(column[codes], index=joined.index, name=joined.name).astype(dtype)
        for column, dtype in zip(cells, dtypes, strict=True)
    ]


def _labels(own: Field, dtypes: Sequence[Any], joined: pd.Series) -> Ints:
    """Return the number of the labels of each row's first truth, 0 without any."""
    found = np.zeros(len(joined), np.int64)
    for truths in split_truths(joined, dtypes) if own.labels is not None else ():
        mine = own.labels(truths)  # type: ignore[misc]
        found = np.where(found == 0, mine, found)
    return found


def _batches(
    own: Field, dtypes: Sequence[Any], joined: pd.Series, estimate: pd.Series, context: Context | None = None
) -> Iterator[Batch]:
    """Align the estimates with each of their truths; a batch holds rows that have the same truths."""
    aligned = [list(own.batches(truths, estimate, context)) for truths in split_truths(joined, dtypes)]
    batch, place = (np.full((len(aligned), len(estimate)), -1, np.int64) for _ in range(2))
    for k, batches in enumerate(aligned):
        for number, one in enumerate(batches):
            batch[k, one.rows], place[k, one.rows] = number, np.arange(len(one.rows))
    distinct, inverse = np.unique(batch, axis=1, return_inverse=True)
    for i, numbers in enumerate(distinct.T.tolist()):
        rows = np.flatnonzero(inverse.reshape(-1) == i)
        present = [k for k, number in enumerate(numbers) if number >= 0]
        if present:
            members = tuple(aligned[k][numbers[k]].pairs.take(place[k, rows]) for k in present)
            yield Batch(rows, SeveralPairs(members, tuple(present)))


@dataclass(frozen=True, eq=False, repr=False)
class OverTruths(Metric):
    """A metric that is aggregated over the truths of each row."""

    #: what is aggregated
    base: Any = None
    over: str = "best"

    def __reduce__(self) -> tuple[Any, ...]:
        return over_truths, (self.base, self.over, self.name)


def over_truths(base: Metric, over: str, name: str | None = None) -> OverTruths:
    """Return a metric of `SeveralPairs`: the best, mean or worst value over the truths, or the number of the best one.

    Undefined values are left out, unless all are.
    """
    if base.direction is None and over != "mean":
        raise ValueError(
            f"{base.name} has no direction, so that no truth is better; use over_truths='mean', or evaluate it "
            "for each truth"
        )
    if isinstance(base.dtype, tuple):
        raise ValueError(f"{base.name} returns words, which are not aggregated over truths; evaluate it for each truth")
    settings = {x.name: getattr(base, x.name) for x in fields(Metric)}
    settings |= {"name": name or base.name, "closed_form": None, "function": _aggregated(base, over)}
    settings |= {"dtype": "float64" if over == "mean" else base.dtype, "of_truth": False}
    return OverTruths(**settings, base=base, over=over)


def _aggregated(base: Metric, over: str) -> Callable[..., Floats]:
    """Return the function of a metric over truths, with the options of its base."""

    @functools.wraps(base.function)
    def function(pairs: SeveralPairs, **options: Any) -> Floats:
        values = np.stack([np.asarray(base.function(x, **options), np.float64) for x in pairs.members])
        known = ~np.isnan(values)
        if over == "mean":
            total, number = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
            return np.asarray(np.where(number > 0, total / np.maximum(number, 1), np.nan))
        merits = merit(values, direction=base.direction, optimum=base.optimum)
        wanted = -merits if over == "worst" else merits
        chosen = np.argmax(np.where(known, wanted, -np.inf), axis=0)
        if over == "number":
            return np.where(known.any(axis=0), np.array(pairs.numbers, float)[chosen], np.nan)
        return np.asarray(np.take_along_axis(values, chosen[None], axis=0)[0])

    return function


@dataclass(frozen=True, eq=False)
class SeveralControls(Controls):
    """Controls of rows with several truths: one drawn estimate, compared with each of them."""

    #: the observed pairs
    pairs: SeveralPairs
    #: the controls of the rows with each truth; equal keys draw equal estimates
    members: tuple[Controls, ...]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls."""
        return self.members[0].kind

    @property
    def cost(self) -> int:
        """Bytes of one control with all truths."""
        return sum(one.cost for one in self.members)

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control with all truths."""
        return sum(one.work for one in self.members)

    def draw(self, start: int, count: int) -> SeveralPairs:
        """Pair draws start .. start + count - 1 of every row with each of its truths."""
        return SeveralPairs(tuple(one.draw(start, count) for one in self.members), self.pairs.numbers)


def match_several(model: Null, matching: Matching, field: SeveralTruths) -> Matcher:
    """Prepare a null model for rows with several truths."""
    matchers = [model.match(replace(matching, truth=truths)) for truths in split_truths(matching.truth, field.dtypes)]

    def controls(rows: Ints, pairs: SeveralPairs, keys: NDArray[np.uint64]) -> Controls:
        members = zip(pairs.numbers, pairs.members, strict=True)
        return SeveralControls(pairs, tuple(matchers[number](rows, one, keys) for number, one in members))

    return controls
