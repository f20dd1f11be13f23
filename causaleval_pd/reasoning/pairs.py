"""Aligned pairs of answers, and of quantities, which metrics map to one value a pair."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.pairs import Pairs
from .measures.yes_counts import QUANTITIES, Floats, Terms

#: kind of a quantity without yes-counts
NUMBER = "number"


@dataclass(frozen=True, eq=False)
class AnswerPairs(Pairs):
    """True and given answers."""

    #: truth, estimate, (n,): the answers
    truth: NDArray[np.bool_]
    estimate: NDArray[np.bool_]

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth)

    @property
    def work(self) -> float:
        """Nanoseconds a pair, as in `Pairs`."""
        return 20.0

    def take(self, positions: NDArray[Any] | slice) -> AnswerPairs:
        """Return the pairs at `positions`."""
        return AnswerPairs(self.truth[positions], self.estimate[positions])

    def unique(self) -> tuple[AnswerPairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        code = 2 * self.truth.astype(np.int64) + self.estimate
        _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
        return self.take(first), inverse

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs are refused: all if answers are not among `kinds`."""
        return np.full(self.n, "answer" not in kinds)

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        return f"truth is {bool(self.truth[position])} and the answer {bool(self.estimate[position])}"


@dataclass(frozen=True, eq=False)
class QuantityPairs(Pairs):
    """True and estimated quantities, with the yes-counts of the estimates where these are known."""

    #: truth, estimate, (n,): the numbers
    truth: Floats
    estimate: Floats
    #: counts of shape (n, terms): compared quantity, then factors
    terms: Terms | None = None
    #: (n,): number of factors that the estimate is a product of
    n_factors: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth)

    @property
    def work(self) -> float:
        """Nanoseconds a pair, as in `Pairs`."""
        return 20.0

    def take(self, positions: NDArray[Any] | slice) -> QuantityPairs:
        """Return the pairs at `positions`."""
        terms = None if self.terms is None else self.terms.take(positions)
        factors = None if self.n_factors is None else self.n_factors[positions]
        return QuantityPairs(self.truth[positions], self.estimate[positions], terms, factors)

    @cached_property
    def kinds(self) -> NDArray[np.object_]:
        """Name of the estimated quantity of each pair, or "number" without counts."""
        if self.terms is None:
            return np.full(self.n, NUMBER, object)
        return np.asarray(QUANTITIES, object)[self.terms.quantity[:, 1]]

    def unique(self) -> tuple[QuantityPairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        columns = [self.truth, self.estimate]
        if self.terms is not None:
            columns += [values[:, i].astype(np.float64) for values in self.terms.fields for i in range(values.shape[1])]
        _, first, inverse = np.unique(
            np.stack(columns, axis=1), axis=0, return_index=True, return_inverse=True, equal_nan=True
        )
        return self.take(first), inverse.reshape(-1)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs estimate a quantity that is not among `kinds`."""
        return np.array([kind not in kinds for kind in self.kinds], bool)

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        return (
            f"the quantity is a {self.kinds[position]} (truth {self.truth[position]:g}, estimate "
            f"{self.estimate[position]:g})"
        )
