"""Aligned pairs of lagged graphs, and the counts of links that metrics share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.confusion import Confusion
from ...contract.pairs import StoredPairs
from ...graphs.kernels.planes import DAG, MIXED, PDAG, row_chunks
from ...graphs.pairs import GraphBatch, GraphPairs
from .cells import DIRECTED, KINDS, Codes, lag_0_planes

Values = NDArray[np.float64]
Ints = NDArray[np.int64]

#: links over which counts are taken: between two variables, of a variable on itself, both, and links of whatever marks
#: between two; ordered pairs of variables of summary graphs, without and with those of a variable with itself
Universe = Literal["cross", "self", "all", "adjacent", "summary", "summary_self"]
#: the universes of links at lags
Links = Literal["cross", "self", "all", "adjacent"]
#: which lags are compared where one graph has more
Lags = Literal["union", "truth", "estimate", "shared"]

_GRAPH_KINDS = np.array([DAG, PDAG, MIXED], np.uint8)


@dataclass(frozen=True, eq=False)
class LaggedBatch:
    """Lagged graphs with as many variables and the same searched lags."""

    #: (N, L + 1, d, d): codes of links
    codes: Codes
    #: (N,): position of each graph's class in `KINDS`
    kinds: NDArray[np.uint8]
    #: smallest searched lag
    min_lag: int
    #: whether graphs may have circles and bidirected links
    is_pag: bool

    @property
    def n_nodes(self) -> int:
        """Number of variables d."""
        return self.codes.shape[2]

    @property
    def max_lag(self) -> int:
        """Largest searched lag L."""
        return self.codes.shape[1] - 1

    def take(self, positions: NDArray[Any]) -> LaggedBatch:
        """Return the graphs at `positions`."""
        return replace(self, codes=self.codes[positions], kinds=self.kinds[positions])

    @cached_property
    def at_lag_0(self) -> GraphBatch:
        """The links at lag 0 as graphs."""
        return GraphBatch(self.n_nodes, lag_0_planes(self.codes, self.is_pag), _GRAPH_KINDS[self.kinds])

    @cached_property
    def arcs(self) -> NDArray[np.bool_]:
        """Whether a directed link leads from i to j at any lag, (N, d, d)."""
        return np.asarray((self.codes == DIRECTED).any(axis=1))

    @cached_property
    def has_plain_lags(self) -> NDArray[np.bool_]:
        """Which graphs have directed links only at lags from 1, (N,)."""
        if not self.is_pag:
            return np.ones(len(self.codes), np.bool_)
        return np.asarray(np.isin(self.codes[:, 1:], (0, DIRECTED)).all(axis=(1, 2, 3)))


class LinkCounts(NamedTuple):
    """Numbers of links by lag, (n, lags + 1) each; lag 0 is empty."""

    #: links of both graphs with the same marks
    both: Ints
    #: links of both graphs with any marks
    adjacent: Ints
    true: Ints
    estimated: Ints


@dataclass(frozen=True, eq=False)
class LaggedPairs(StoredPairs):
    """True and estimated lagged graphs over the same variables; searched lags may differ."""

    kinds_of_sides = (KINDS, KINDS)
    truth: LaggedBatch
    estimate: LaggedBatch

    @property
    def n_nodes(self) -> int:
        """Number of variables."""
        return self.truth.n_nodes

    @property
    def max_lag(self) -> int:
        """Largest lag that either graph searched."""
        return max(self.truth.max_lag, self.estimate.max_lag)

    @property
    def n_ordered(self) -> int:
        """Number of ordered pairs of two variables."""
        return self.n_nodes * (self.n_nodes - 1)

    @property
    def work(self) -> float:
        """Nanoseconds a pair, as in `Pairs`."""
        return 100.0 + 10.0 * (self.max_lag + 1) * self.n_nodes**2

    def describe(self, position: int) -> str:
        """Describe the pair at `position`."""
        truth = KINDS[self.truth.kinds[self.truth_index[position]]]
        estimate = KINDS[self.estimate.kinds[self.estimate_index[position]]]
        return f"truth is a {truth} and estimate a {estimate}"

    @cached_property
    def at_lag_0(self) -> GraphPairs | None:
        """The links at lag 0 as pairs of graphs; None where either graph was searched from lag 1 on."""
        if self.truth.min_lag or self.estimate.min_lag:
            return None
        return GraphPairs(self.truth.at_lag_0, self.estimate.at_lag_0, self.truth_index, self.estimate_index)

    def _compared(self, lags: Lags | int) -> tuple[slice, int]:
        """Return the lags that are compared, and how many."""
        if isinstance(lags, str):
            last = self.lags(lags)
            return slice(1, last + 1), last
        return slice(lags, lags + 1), 1

    def lags(self, choice: Lags) -> int:
        """Return the largest lag that is compared."""
        true, estimated = self.truth.max_lag, self.estimate.max_lag
        return {"union": max(true, estimated), "truth": true, "estimate": estimated, "shared": min(true, estimated)}[
            choice
        ]

    @cached_property
    def _counts(self) -> tuple[LinkCounts, LinkCounts]:
        """The numbers of links between two variables, and of a variable on itself, by lag."""
        d, lags = self.n_nodes, self.max_lag
        shared = 1 + min(self.truth.max_lag, self.estimate.max_lag)
        counts = np.zeros((2, 4, self.n, lags + 1), np.int64)
        sides = [(2, self.truth, self.truth_index), (3, self.estimate, self.estimate_index)]
        for place, batch, index in sides:
            links = batch.codes != 0
            loops = np.einsum("nlii->nl", links.astype(np.int64))
            every = links.sum(axis=(2, 3), dtype=np.int64)
            counts[1, place, :, 1 : batch.max_lag + 1] = loops[index, 1:]
            counts[0, place, :, 1 : batch.max_lag + 1] = (every - loops)[index, 1:]
        for part in row_chunks(self.n, 8 * shared * d * d):
            true = self.truth.codes[self.truth_index[part], 1:shared]
            estimated = self.estimate.codes[self.estimate_index[part], 1:shared]
            adjacent = (true != 0) & (estimated != 0)
            for place, hit in enumerate((adjacent & (true == estimated), adjacent)):
                loops = np.einsum("nlii->nl", hit.astype(np.int64))
                counts[1, place, part, 1:shared] = loops
                counts[0, place, part, 1:shared] = hit.sum(axis=(2, 3), dtype=np.int64) - loops
        return LinkCounts(*counts[0]), LinkCounts(*counts[1])

    def link_counts(self, universe: Universe) -> LinkCounts:
        """Return the numbers of links by lag, of the universes "cross", "self", "all" and "adjacent"."""
        cross, loops = self._counts
        if universe == "all":
            return LinkCounts(*(a + b for a, b in zip(cross, loops, strict=True)))
        if universe == "adjacent":
            return cross._replace(both=cross.adjacent)
        return loops if universe == "self" else cross

    def n_places(self, universe: Universe) -> int:
        """Return the number of places for links of a universe at one lag."""
        return {"self": self.n_nodes, "all": self.n_nodes**2, "summary_self": self.n_nodes**2}.get(
            universe, self.n_ordered
        )

    def confusion(self, universe: Universe, lags: Lags | int = "union") -> Confusion:
        """Return the positives of truth and estimate; `lags` does not apply to summary graphs."""
        if universe in ("summary", "summary_self"):
            return self._summary_confusion(with_self=universe == "summary_self")
        compared, number = self._compared(lags)
        counts = self.link_counts(universe)
        parts = (counts.both, counts.true, counts.estimated)
        both, true, estimated = (x[:, compared].sum(axis=1).astype(np.float64) for x in parts)
        return Confusion(both, true, estimated, np.full(self.n, float(self.n_places(universe) * number)))

    def differing(self, universe: Universe, lags: Lags | int = "union") -> Values:
        """Return the number of places with another link, a place with two different links counting once."""
        if universe in ("summary", "summary_self"):
            counts = self.confusion(universe)
            return np.asarray(counts.fp + counts.fn, np.float64)
        compared, _ = self._compared(lags)
        both, adjacent, true, estimated = (
            x[:, compared].sum(axis=1) for x in self.link_counts("cross" if universe == "adjacent" else universe)
        )
        same = adjacent if universe == "adjacent" else both
        # of either graph, less those that are the same
        return np.asarray(true + estimated - adjacent - same, np.float64)

    def _summary_confusion(self, *, with_self: bool) -> Confusion:
        """Compare ordered pairs of variables by whether a directed link leads from one to the other at any lag."""
        d = self.n_nodes
        counted = np.ones((d, d), np.bool_) if with_self else ~np.eye(d, dtype=np.bool_)
        true, estimated = ((batch.arcs & counted).reshape(len(batch.arcs), -1) for batch in (self.truth, self.estimate))
        both = np.zeros(self.n)
        for part in row_chunks(self.n, 3 * d * d):
            hit = true[self.truth_index[part]] & estimated[self.estimate_index[part]]
            both[part] = hit.sum(axis=1)
        numbers = [side.sum(axis=1).astype(np.float64) for side in (true, estimated)]
        return Confusion(
            both, numbers[0][self.truth_index], numbers[1][self.estimate_index], np.full(self.n, float(counted.sum()))
        )
