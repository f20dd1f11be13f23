"""Pairs: aligned (truth, estimate) cells, the input of every metric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class PairError(ValueError):
    """A metric cannot be computed for the pairs at these positions; the verbs name their rows."""

    def __init__(self, positions: Any, reason: str) -> None:
        self.positions = np.asarray(positions, np.int64)
        self.reason = reason
        super().__init__(f"pair {self.positions[0]}: {reason}")


class _AnyKind:
    """Kinds of truth of a metric that needs none: every kind, and no truth."""

    def __contains__(self, kind: object) -> bool:
        return True


ANY_KIND = _AnyKind()


class Pairs(ABC):
    """Aligned (truth, estimate) pairs of one signature; a metric maps them to one value per pair."""

    #: arrays (N,) in which values of these pairs may stand, from `first` on, among those of N pairs (see `parts`)
    out: tuple[NDArray[np.float64], ...] = ()
    first: int = 0
    #: (n,): pairs whose estimate could not be drawn, so that every metric is undefined; None if all were drawn
    lacking: NDArray[np.bool_] | None = None
    #: why the estimates of some pairs could not be drawn, by row; empty where all were
    undrawn: str = ""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of pairs."""

    @property
    def work(self) -> float:
        """Nanoseconds that a plain metric takes for one pair, roughly; a costly one takes a hundred times as long."""
        return 1000.0

    @property
    def at_once(self) -> int:
        """Number of pairs that a costly metric is given at a time: an interrupt is obeyed between its calls."""
        return max(1, self.n)

    def remember(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what `compute` returned when it was first asked for by this key, of these pairs."""
        kept = self.__dict__.setdefault("_remembered", {})
        if key not in kept:
            kept[key] = compute()
        return kept[key]

    @abstractmethod
    def take(self, positions: NDArray[Any] | slice) -> Pairs:
        """Return the pairs at `positions`, sharing the cells."""

    def parts(self, most: int) -> Iterator[Pairs]:
        """Cut the pairs into at most as many; what metrics compute of a part is let go with it."""
        for first in range(0, self.n, most):
            yield self.take(slice(first, min(first + most, self.n)))

    @abstractmethod
    def unique(self) -> tuple[Pairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""

    @abstractmethod
    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have an estimate not in `kinds`, or a truth not in `truth_kinds` (default `kinds`)."""

    @abstractmethod
    def describe(self, position: int) -> str:
        """Describe the pair at `position`, for messages."""

    def cells(self, position: int) -> tuple[Any, Any]:
        """Return the truth and the estimate of a pair as values, for metrics that are functions of these."""
        raise TypeError(
            f"{type(self).__name__} have no cells for a metric of (truth, estimate); write a function of pairs"
        )

    def remarks(self, metrics: Sequence[Any]) -> Iterator[Remark]:
        """Yield what users should learn of pairs that these metrics take; the verbs count and name their rows."""
        yield from ()


@dataclass(frozen=True, eq=False)
class StoredPairs(Pairs):
    """Pairs whose cells are stored once, and found by their positions."""

    #: names of the kinds of true cells and of estimated ones; `kinds` of the cells are positions among them
    kinds_of_sides: ClassVar[tuple[Sequence[str], Sequence[str]]] = ((), ())

    truth: Any
    estimate: Any
    #: (n,): positions of the stored cells of each pair
    truth_index: NDArray[np.int64]
    estimate_index: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth_index)

    def take(self, positions: NDArray[Any] | slice) -> Self:
        """Return the pairs at `positions`, sharing the cells."""
        return replace(self, truth_index=self.truth_index[positions], estimate_index=self.estimate_index[positions])

    def unique(self) -> tuple[Self, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        keys = np.stack([self.truth_index, self.estimate_index], axis=1)
        _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return self.take(first), inverse.reshape(-1).astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have an estimate not in `kinds`, or a truth not in `truth_kinds` (default `kinds`)."""
        allowed = (kinds if truth_kinds is None else truth_kinds, kinds)
        true, estimated = (
            np.array([kind in some for kind in known], bool)
            for known, some in zip(self.kinds_of_sides, allowed, strict=True)
        )
        fits = true[self.truth.kinds[self.truth_index]] & estimated[self.estimate.kinds[self.estimate_index]]
        return np.asarray(~fits)


class Remark(NamedTuple):
    """A warning of some pairs: `3 of 40 estimates {what} (rows): {then}`."""

    positions: NDArray[np.int64]
    what: str
    then: str
    #: whether it is worth a warning only where other rows of the table differ
    if_others_differ: bool = False


class Batch(NamedTuple):
    """Rows of a table (positions) that were aligned into one `Pairs`."""

    rows: NDArray[np.int64]
    pairs: Pairs
