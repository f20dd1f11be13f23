"""Aligned pairs of graphs and edge scores."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.pairs import Pairs
from ..graphs.kernels import planes as graph_planes
from .cells.packed import KINDS, TYPES, ScoreBatch

Marks = NDArray[np.bool_]

#: nanoseconds that ranking one ordered pair of nodes takes, roughly
_RANKING = 60.0


@dataclass(frozen=True, eq=False)
class Truths:
    """Graphs as matrices of marks."""

    #: number of nodes d
    n_nodes: int
    #: (T, d, d): the mark i -> j, in both cells for an undirected edge; any edge of a pair in both, where mixed
    marks: Marks
    #: (T,): position in the classes of graphs
    kinds: NDArray[np.uint8]
    #: the distinct node sets
    node_sets: tuple[tuple[str, ...], ...]
    #: (T,): position of each truth's nodes
    node_set: NDArray[np.int64]

    def take(self, at: NDArray[Any]) -> Truths:
        """Return the truths at some positions."""
        return replace(self, marks=self.marks[at], kinds=self.kinds[at], node_set=self.node_set[at])

    @cached_property
    def undirected(self) -> NDArray[np.bool_]:
        """Which truths have no directed edge, but an edge."""
        both = self.marks & self.marks.transpose(0, 2, 1)
        return np.asarray((self.marks == both).all(axis=(1, 2)) & self.marks.any(axis=(1, 2)))

    @property
    def mixed(self) -> NDArray[np.bool_]:
        """Which truths have marks other than arrows and lines, so that pairs are adjacent or not."""
        return np.asarray(self.kinds >= len(graph_planes.PLAIN_KINDS))


@dataclass(frozen=True, eq=False)
class ScorePairs(Pairs):
    """Aligned pairs over as many nodes."""

    #: stored truths and estimates
    truth: Truths
    estimate: ScoreBatch
    #: (n,): positions of the stored cells of each pair
    truth_index: NDArray[np.int64]
    estimate_index: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth_index)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every cell."""
        return self.truth.n_nodes

    @property
    def work(self) -> float:
        """Rough time of ranking one pair's scores in nanoseconds."""
        return _RANKING * self.n_nodes**2 + 1000.0

    @property
    def symmetric(self) -> NDArray[np.bool_]:
        """Whether the scores of each pair are of unordered pairs."""
        return self.estimate.symmetric[self.estimate_index]

    def take(self, positions: NDArray[Any] | slice) -> ScorePairs:
        """Return the pairs at `positions`, sharing the cells."""
        return replace(self, truth_index=self.truth_index[positions], estimate_index=self.estimate_index[positions])

    def unique(self) -> tuple[ScorePairs, NDArray[np.int64]]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        keys = np.stack([self.truth_index, self.estimate_index], axis=1)
        _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return self.take(first), inverse.reshape(-1).astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs have scores of other kinds, or truths of other classes."""
        allowed = np.array([kind in kinds for kind in KINDS])
        wanted = kinds if truth_kinds is None else truth_kinds
        known = np.array([kind in wanted for kind in graph_planes.KINDS])
        fits = allowed[self.estimate.kinds[self.estimate_index]] & known[self.truth.kinds[self.truth_index]]
        return np.asarray(~fits)

    def describe(self, position: int) -> str:
        """Name the class of the truth and the kind of the scores at `position`."""
        truth = graph_planes.a_kind(self.truth.kinds[self.truth_index[position]])
        kind = KINDS[self.estimate.kinds[self.estimate_index[position]]]
        return (
            f"the truth is {truth} and the estimate holds {'probabilities of types' if kind == KINDS[TYPES] else kind}"
        )
