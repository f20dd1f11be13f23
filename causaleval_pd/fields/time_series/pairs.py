"""Aligned pairs of lagged graphs, and the counts of links that metrics share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

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
#: between two
Links = Literal["cross", "self", "all", "adjacent"]
#: the same, or ordered pairs of variables of summary graphs, without and with those of a variable with itself
Universe = Links | Literal["summary", "summary_self"]
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

    def lags(self, choice: Lags) -> int:
        """Return the largest lag that is compared."""
        true, estimated = self.truth.max_lag, self.estimate.max_lag
        return {"union": self.max_lag, "truth": true, "estimate": estimated, "shared": min(true, estimated)}[choice]

    @cached_property
    def _counts(self) -> tuple[LinkCounts, LinkCounts]:
        """The numbers of links between two variables, and of a variable on itself, by lag."""
        shared = 1 + self.lags("shared")
        counts = np.zeros((2, 4, self.n, self.max_lag + 1), np.int64)
        sides = [(2, self.truth, self.truth_index), (3, self.estimate, self.estimate_index)]
        for place, batch, index in sides:
            counts[:, place, :, 1 : batch.max_lag + 1] = _by_lag(batch.codes[:, 1:] != 0)[:, index]
        for part in row_chunks(self.n, 8 * shared * self.n_nodes**2):
            true, estimated = (batch.codes[index[part], 1:shared] for _, batch, index in sides)
            adjacent = (true != 0) & (estimated != 0)
            counts[:, 0, part, 1:shared] = _by_lag(adjacent & (true == estimated))
            counts[:, 1, part, 1:shared] = _by_lag(adjacent)
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
        d = self.n_nodes
        return {"self": d, "all": d**2, "summary_self": d**2}.get(universe, d * (d - 1))

    def _compared(self, universe: Universe, lags: Lags | int) -> tuple[list[Values], int]:
        """Return the counts of `LinkCounts` over the lags that are compared, and how many these are."""
        if universe in ("summary", "summary_self"):
            both, true, estimated = self._arc_counts(with_self=universe == "summary_self")
            return [both, both, true, estimated], 1
        last = self.lags(lags) if isinstance(lags, str) else lags
        first = 1 if isinstance(lags, str) else lags
        counts = self.link_counts(universe)
        return [x[:, first : last + 1].sum(axis=1).astype(np.float64) for x in counts], last + 1 - first

    def confusion(self, universe: Universe, lags: Lags | int = "union") -> Confusion:
        """Return the positives of truth and estimate; `lags` does not apply to summary graphs."""
        (both, _, true, estimated), n_lags = self._compared(universe, lags)
        return Confusion(both, true, estimated, np.full(self.n, float(self.n_places(universe) * n_lags)))

    def differing(self, universe: Universe, lags: Lags | int = "union") -> Values:
        """Return the number of places with another link, a place with two different links counting once."""
        (both, adjacent, true, estimated), _ = self._compared(universe, lags)
        # of either graph, less those that are the same
        return true + estimated - adjacent - both

    def _arc_counts(self, *, with_self: bool) -> tuple[Values, Values, Values]:
        """Count the ordered pairs of variables with a directed link at any lag, in both graphs and in either."""
        d = self.n_nodes
        counted = np.ones((d, d), np.bool_) if with_self else ~np.eye(d, dtype=np.bool_)
        true, estimated = ((batch.arcs & counted).reshape(len(batch.arcs), -1) for batch in (self.truth, self.estimate))
        both = np.zeros(self.n)
        for part in row_chunks(self.n, 3 * d * d):
            both[part] = (true[self.truth_index[part]] & estimated[self.estimate_index[part]]).sum(axis=1)
        numbers = [side.sum(axis=1).astype(np.float64) for side in (true, estimated)]
        return both, numbers[0][self.truth_index], numbers[1][self.estimate_index]


def _by_lag(links: NDArray[np.bool_]) -> Ints:
    """Count links (n, lags, d, d) between two variables, and of a variable on itself, by lag, (2, n, lags)."""
    loops = np.einsum("nlii->nl", links.astype(np.int64))
    return np.stack([links.sum(axis=(2, 3), dtype=np.int64) - loops, loops])
