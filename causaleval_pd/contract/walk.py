"""Walks: controls as states that are changed step by step, for p-values smaller than independent draws can give."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .pairs import Pairs

States = NDArray[Any]


class Walk(Protocol):
    """The controls of the rows of a batch as states, rows of whole numbers (n, width).

    A control drawn by `start` has the law of the null model, and a change by `propose` is as likely as its reversal, so
    that a walk which refuses some changes keeps the law among the states that it allows.
    """

    def start(self, row: int, n: int, rng: np.random.Generator) -> States:
        """Draw n controls of a row of the batch."""

    def propose(self, row: int, states: States, rng: np.random.Generator) -> States:
        """Return copies of states with a small change each."""

    def pairs(self, row: int, states: States) -> Pairs:
        """Pair the row's truth with the controls that the states stand for.

        States of a model that relabels estimates jointly stand for the relabelled estimate of any row with equal
        labels.
        """
