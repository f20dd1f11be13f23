"""Metrics of mixed graphs that add up over pairs of nodes: what each type of shared edge adds, and channels of types.

A metric whose counts depend on the types of the edges of each pair of nodes alone, and which is affine in the numbers
of shared edges by both types, has exact moments under random relabelling. What one shared edge of each pair of types
adds is found by evaluating the metric's function on counts that stand in for pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....contract.metric import Metric
from ....graphs.counts import EndCounts, PairCounts
from ....graphs.kernels.planes import row_chunks
from ....graphs.mixed.marks import ARROW, CIRCLE, NONE, TAIL, count_bits, lift, marks_from_planes, where
from ....graphs.pairs import GraphBatch, GraphPairs

Floats = NDArray[np.float64]
#: codes of the marks at both ends of an ordered pair of nodes
Type = tuple[int, int]

_MARKS = (TAIL, ARROW, CIRCLE)
#: edges of an ordered pair, -> with <-> and its reversal last
TYPES: tuple[Type, ...] = (*((a, b) for a in _MARKS for b in _MARKS), (NONE, ARROW), (ARROW, NONE))
#: of each edge and its reversal the one that is listed first
FORWARD: tuple[Type, ...] = ((TAIL, ARROW), (ARROW, ARROW), (CIRCLE, ARROW), (CIRCLE, CIRCLE), (TAIL, TAIL))
FORWARD += ((TAIL, CIRCLE), (NONE, ARROW))


def _reversed(edge: Type) -> Type:
    return edge[1], edge[0]


def _marks(edge: Type) -> tuple[set[int], set[int]]:
    """Return the marks at both ends: the end of -> with <-> has two."""
    if NONE not in edge:
        return {edge[0]}, {edge[1]}
    return ({TAIL, ARROW}, {ARROW}) if edge == (NONE, ARROW) else ({ARROW}, {TAIL, ARROW})


def _direction(edge: Type) -> int:
    """Return 1 for ->, -1 for <-, beside <-> or not, and 0 for every other edge."""
    return {(TAIL, ARROW): 1, (NONE, ARROW): 1, (ARROW, TAIL): -1, (ARROW, NONE): -1}.get(edge, 0)


def _is_bidirected(edge: Type) -> bool:
    return edge in ((ARROW, ARROW), (NONE, ARROW), (ARROW, NONE))


class TypedPairs:
    """Stands in for pairs of graphs with given numbers of edges by type, and of shared edges by both types.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    true, estimated : mapping
        From a type of `FORWARD` to the (n,) numbers of such edges, either way round.
    shared : mapping
        From two types of one pair of nodes to how many pairs have them.
    """

    is_mixed = True

    def __init__(
        self,
        n_nodes: int,
        true: Mapping[Type, Floats],
        estimated: Mapping[Type, Floats],
        shared: Mapping[tuple[Type, Type], float],
    ) -> None:
        self._n_nodes, self._true, self._estimated, self._shared = n_nodes, true, estimated, shared

    def _sum(self, weigh: Callable[[Type, Type], float]) -> Floats:
        none = np.zeros_like(next(iter(self._true.values())))
        return none + sum(weigh(s, t) * k for (s, t), k in self._shared.items())

    @cached_property
    def counts(self) -> PairCounts:
        """Counts of shared adjacencies by their directions."""

        def total(edges: Mapping[Type, Floats], weigh: Callable[[Type], float]) -> Floats:
            return np.asarray(sum(weigh(s) * k for s, k in edges.items()))

        def unlike(s: Type, t: Type) -> bool:
            return s != t and _direction(s) == _direction(t)

        return PairCounts(
            self._n_nodes,
            self._sum(lambda s, t: 1),
            total(self._true, lambda s: 1),
            total(self._estimated, lambda s: 1),
            same_direction=self._sum(lambda s, t: _direction(s) * _direction(t) == 1),
            reversed=self._sum(lambda s, t: _direction(s) * _direction(t) == -1),
            true_directed=total(self._true, lambda s: abs(_direction(s))),
            estimated_directed=total(self._estimated, lambda s: abs(_direction(s))),
            lost_direction=self._sum(lambda s, t: _direction(s) != 0 and _direction(t) == 0),
            added_direction=self._sum(lambda s, t: _direction(s) == 0 and _direction(t) != 0),
            unlike=self._sum(unlike),
        )

    @cached_property
    def ends(self) -> EndCounts:
        """Counts of the marks at the ends of edges."""
        return EndCounts(self.counts, self._mark, self._likeness)

    def _mark(self, mark: int) -> tuple[Floats, ...]:
        def ends(edges: Mapping[Type, Floats]) -> Floats:
            return np.asarray(sum(sum(mark in end for end in _marks(s)) * k for s, k in edges.items()))

        def both(mine: int | None, other: int | None) -> Floats:
            """Count ends with one mark in the truth and one in the estimate, None being any."""

            def at(s: Type, t: Type) -> int:
                pairs = zip(_marks(s), _marks(t), strict=True)
                return sum((mine is None or mine in x) and (other is None or other in y) for x, y in pairs)

            return self._sum(at)

        shared = both(mark, mark), both(mark, None), both(None, mark)
        return ends(self._true), ends(self._estimated), *shared, both(CIRCLE, mark), both(mark, CIRCLE)

    def _likeness(self) -> tuple[Floats, ...]:
        def other_marks(s: Type, t: Type) -> int:
            return sum(x != y for x, y in zip(_marks(s), _marks(t), strict=True))

        def one_circle(s: Type, t: Type) -> int:
            return sum((CIRCLE in x) != (CIRCLE in y) for x, y in zip(_marks(s), _marks(t), strict=True))

        def bidirected(edges: Mapping[Type, Floats]) -> Floats:
            return np.asarray(sum(_is_bidirected(s) * k for s, k in edges.items()))

        return (
            self._sum(other_marks),
            self._sum(one_circle),
            self._sum(lambda s, t: s != t and CIRCLE in s and CIRCLE in t),
            bidirected(self._true),
            bidirected(self._estimated),
            self._sum(lambda s, t: _is_bidirected(s) and _is_bidirected(t)),
        )


def count_types(graphs: GraphBatch) -> dict[Type, Floats]:
    """Count the edges of each graph by type, either way round."""
    planes = graphs.lifted
    found = {edge: count_bits(where(planes, *edge)).astype(np.float64) for edge in TYPES}
    return {s: found[s] if _is_own(s) else found[s] + found[_reversed(s)] for s in FORWARD}


class TypeWeights(NamedTuple):
    """What shared edges add to a metric, by the types that the truths and the estimates of pairs have."""

    #: (n,): the metric without shared edges
    constant: Floats
    #: (n, K, L): what a shared edge adds
    weights: Floats
    #: the K types of true edges, seen from one end, and the L types of estimated edges, seen from either end
    true: tuple[Type, ...]
    estimated: tuple[Type, ...]


def _is_own(edge: Type) -> bool:
    return edge == _reversed(edge)


def type_weights(metric: Metric, pairs: GraphPairs) -> TypeWeights | None:
    """Return what shared edges add to a metric, or None if it is not affine in their numbers by both types."""
    true = {s: k[pairs.truth_index] for s, k in count_types(pairs.truth).items()}
    estimated = {s: k[pairs.estimate_index] for s, k in count_types(pairs.estimate).items()}

    def at(shared: Mapping[tuple[Type, Type], float]) -> Floats:
        stand_in = TypedPairs(pairs.n_nodes, true, estimated, shared)
        return np.asarray(metric.function(stand_in, **metric.options), np.float64)

    none = at({})
    here, forward = ([s for s in FORWARD if side[s].any()] for side in (true, estimated))
    there = [t for t in TYPES if t in forward or _reversed(t) in forward]
    units = {(s, t): at({(s, t): 1.0}) - none for s in here for t in there}
    for step in (2, 5):
        multiples = {pair: float(1 + (i * step) % 7) for i, pair in enumerate(units)}
        expected = none + sum(k * units[pair] for pair, k in multiples.items())
        if not np.allclose(at(multiples), expected, rtol=1e-9, atol=1e-9, equal_nan=True):
            return None
    weights = np.zeros((pairs.n, len(here), len(there)))
    for (s, t), unit in units.items():
        # an edge that is its own reversal stands at both ordered pairs of its nodes
        weights[:, here.index(s), there.index(t)] = unit / (2 if _is_own(s) else 1)
    return TypeWeights(none, weights, tuple(here), tuple(there))


def type_channels(graphs: GraphBatch, types: tuple[Type, ...]) -> NDArray[np.int8]:
    """Return which ordered pairs of nodes have an edge of each type, (N, K, d, d)."""
    found = np.empty((len(graphs), len(types), graphs.n_nodes, graphs.n_nodes), np.int8)
    for part in row_chunks(len(graphs), 20 * graphs.n_nodes**2):
        marks = marks_from_planes(lift(graphs.planes[part]), graphs.n_nodes)
        here = marks.transpose(0, 2, 1)
        for place, (a, b) in enumerate(types):
            found[part, place] = (here == a) & (marks == b)
    return found
