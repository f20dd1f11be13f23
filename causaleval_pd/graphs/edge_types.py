"""Pairs of nodes by the types of the true and the estimated edge, and the counts that are weighted sums of these.

The type of the edge of nodes i < j is the mark at i plus four times that at j, as `mixed.marks` codes them; 0 is no
edge. What the truth's side of the table holds may be another relation of the nodes: that of claims is which of both is
an ancestor of the other, and whether they are confounded. Where a truth is the MAG or PAG of a graph with latent nodes,
these are read in the graph itself.

Metrics share further counts: of one graph, v-structures, paths, Markov blankets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels.planes import ADMG, ARROW, CIRCLE, DAG, MAG, NONE, TAIL, planes_from_matrices, row_chunks
from .mixed.marks import Planes, bidirected, is_mixed, spouses
from .mixed.paths import DEFINITE, ancestors, project

Values = NDArray[np.float64]
Weight = Callable[[int, int], int]
#: numbers of pairs of nodes by the types of the true and the estimated edge, not both 0; missing cells are 0
ByTypes = Mapping[tuple[int, int], Any]


def reversed_type(edge: int) -> int:
    """Return the type of an edge seen from its other node."""
    return edge // 4 + 4 * (edge % 4)


FORWARD, BACKWARD, LINE = PLAIN_TYPES = [TAIL + 4 * ARROW, ARROW + 4 * TAIL, TAIL + 4 * TAIL]
#: -> beside <->, which has a code at one end only
DOUBLE = NONE + 4 * ARROW
#: every type that an edge may have, and of each and its reversal the first
TYPES = (
    *(at_low + 4 * at_high for at_low in (TAIL, ARROW, CIRCLE) for at_high in (TAIL, ARROW, CIRCLE)),
    DOUBLE,
    reversed_type(DOUBLE),
)
ONE_WAY = (FORWARD, ARROW + 4 * ARROW, CIRCLE + 4 * ARROW, CIRCLE + 4 * CIRCLE, LINE, TAIL + 4 * CIRCLE, DOUBLE)
#: bits of the relations of a pair of nodes of a true graph, one a plane
ABOVE, BELOW, CONFOUNDED, COMMON = (1 << plane for plane in range(4))
#: whether the node at either end is an ancestor of the other one
_UP = (ABOVE, BELOW)


def marks_of(edge: int) -> tuple[set[int], set[int]]:
    """Return the marks at both ends: the tail's end of -> beside <-> has a tail and an arrowhead."""
    at_low, at_high = edge % 4, edge // 4
    if {at_low, at_high} == {NONE, ARROW}:
        return ({TAIL, ARROW}, {ARROW}) if at_high else ({ARROW}, {TAIL, ARROW})
    return {at_low} - {NONE}, {at_high} - {NONE}


def _direction(edge: int) -> int:
    """Return 1 for ->, -1 for <-, beside <-> or not, and 0 for every other edge."""
    low, high = marks_of(edge)
    return (TAIL in low and ARROW in high) - (TAIL in high and ARROW in low)


def _is_bidirected(edge: int) -> bool:
    low, high = marks_of(edge)
    return ARROW in low and ARROW in high


def _ends(s: int, t: int) -> zip[tuple[set[int], set[int]]]:
    return zip(marks_of(s), marks_of(t), strict=True)


def _n_ends(mark: int, edge: int) -> int:
    return sum(mark in end for end in marks_of(edge))


def _on_shared(weight: Weight) -> Weight:
    return lambda s, t: weight(s, t) if s and t else 0


def _of_mark(mark: int, name: str) -> dict[str, Weight]:
    """Return the counts of the ends with a mark: in truth, estimate and both, there on shared edges, and at circles."""
    true: Weight = lambda s, t: _n_ends(mark, s)  # noqa: E731
    estimated: Weight = lambda s, t: _n_ends(mark, t)  # noqa: E731
    return {
        f"true_{name}s": true,
        f"estimated_{name}s": estimated,
        f"both_{name}s": lambda s, t: sum(mark in x and mark in y for x, y in _ends(s, t)),
        f"true_{name}s_on_shared": _on_shared(true),
        f"estimated_{name}s_on_shared": _on_shared(estimated),
        f"{name}s_at_circle": lambda s, t: sum(CIRCLE in x and mark in y for x, y in _ends(s, t)),
        f"{name}s_missed_by_circle": lambda s, t: sum(mark in x and CIRCLE in y for x, y in _ends(s, t)),
    }


#: what a pair of nodes with a true and an estimated edge adds to each count
EDGES: dict[str, Weight] = {
    "tp": lambda s, t: s > 0 and t > 0,
    "fp": lambda s, t: s == 0 and t > 0,
    "fn": lambda s, t: s > 0 and t == 0,
    "true_edges": lambda s, t: s > 0,
    "estimated_edges": lambda s, t: t > 0,
    "different": lambda s, t: s != t,
    "true_directed": lambda s, t: _direction(s) != 0,
    "estimated_directed": lambda s, t: _direction(t) != 0,
    "same_direction": lambda s, t: _direction(s) * _direction(t) == 1,
    "reversed": lambda s, t: _direction(s) * _direction(t) == -1,
    "lost_direction": _on_shared(lambda s, t: _direction(s) != 0 and _direction(t) == 0),
    "added_direction": _on_shared(lambda s, t: _direction(s) == 0 and _direction(t) != 0),
    "both_undirected": _on_shared(lambda s, t: _direction(s) == 0 and _direction(t) == 0),
    **_of_mark(TAIL, "tail"),
    **_of_mark(ARROW, "arrow"),
    **_of_mark(CIRCLE, "circle"),
    "other_marks": _on_shared(lambda s, t: sum(x != y for x, y in _ends(s, t))),
    "one_circle": _on_shared(lambda s, t: sum((CIRCLE in x) != (CIRCLE in y) for x, y in _ends(s, t))),
    "unlike_circle_edges": lambda s, t: s != t and _n_ends(CIRCLE, s) > 0 and _n_ends(CIRCLE, t) > 0,
    "true_bidirected": lambda s, t: _is_bidirected(s),
    "estimated_bidirected": lambda s, t: _is_bidirected(t),
    "both_bidirected": lambda s, t: _is_bidirected(s) and _is_bidirected(t),
}


def _directed(above: int, below: int) -> Weight:
    """Count the estimate's -> by the relation of the tail to the head, or of the head to the tail."""
    return lambda r, t: bool(r & above) if _direction(t) == 1 else bool(r & below) if _direction(t) == -1 else False


#: what a pair of nodes with a relation of the truth and an edge of the estimate adds to what the edge claims: an
#: arrowhead at v of u *-> v that v is not an ancestor of u, a tail at u that u is one, <-> that both are confounded
CLAIMS: dict[str, Weight] = {
    "heads": lambda r, t: _n_ends(ARROW, t),
    "right_heads": lambda r, t: sum(ARROW in x and not r & up for x, up in zip(marks_of(t), _UP, strict=True)),
    "tails": lambda r, t: _n_ends(TAIL, t),
    "right_tails": lambda r, t: sum(TAIL in x and r & up > 0 for x, up in zip(marks_of(t), _UP, strict=True)),
    "ancestors": lambda r, t: bool(r & ABOVE) + bool(r & BELOW),
    "adjacent_ancestors": lambda r, t: bool(t) * (bool(r & ABOVE) + bool(r & BELOW)),
    "adjacent_others": lambda r, t: bool(t) * (2 - bool(r & ABOVE) - bool(r & BELOW)),
    "directed": lambda r, t: _direction(t) != 0,
    "directed_ancestors": _directed(ABOVE, BELOW),
    "directed_descendants": _directed(BELOW, ABOVE),
    "bidirected": lambda r, t: _is_bidirected(t),
    "bidirected_confounded": lambda r, t: _is_bidirected(t) and r & CONFOUNDED > 0,
    "bidirected_common": lambda r, t: _is_bidirected(t) and r & COMMON > 0,
    "confounded": lambda r, t: r & CONFOUNDED > 0,
    "common": lambda r, t: r & COMMON > 0,
    "adjacent_confounded": lambda r, t: t > 0 and r & CONFOUNDED > 0,
    "adjacent_common": lambda r, t: t > 0 and r & COMMON > 0,
}


class EdgeTypes:
    """Counts of pairs of graphs, by the names of `EDGES` or of other weights; each is summed when it is first used."""

    def __init__(self, n_nodes: Any, cells: ByTypes, weights: Mapping[str, Weight] = EDGES) -> None:
        self.n_nodes, self.cells, self.weights = n_nodes, cells, weights
        self.shape = np.broadcast_shapes(np.shape(n_nodes), *(np.shape(x) for x in cells.values()))

    @classmethod
    def of_margins(
        cls, n_nodes: Any, true: Mapping[int, Any], estimated: Mapping[int, Any], shared: ByTypes
    ) -> EdgeTypes:
        """Return the counts of graphs with numbers of edges by type, either way round, and of edges that both have."""
        cells = {(s, 0): k for s, k in true.items()} | {(0, t): k for t, k in estimated.items()}
        for (s, t), k in shared.items():
            estimate = t if t in estimated else reversed_type(t)
            cells |= {(s, t): k, (s, 0): cells[s, 0] - k, (0, estimate): cells[0, estimate] - k}
        return cls(n_nodes, cells)

    def __getattr__(self, name: str) -> Values:
        if name.startswith("_") or name not in self.weights:
            raise AttributeError(f"there is no count {name!r}")
        weigh, total = self.weights[name], np.zeros(self.shape)
        for types, number in self.cells.items():
            weight = weigh(*types)
            if weight:
                total += number if weight == 1 else weight * number
        self.__dict__[name] = total
        return total

    @property
    def n_pairs(self) -> Values:
        """Pairs of nodes."""
        d = np.asarray(self.n_nodes, np.float64)
        return np.broadcast_to(d * (d - 1) / 2, self.shape)

    @property
    def directions(self) -> list[Values]:
        """The counts of directions in the order of the kernel `direction_counts`."""
        return [getattr(self, name) for name in _DIRECTIONS]

    @property
    def tn(self) -> Values:
        """Pairs of nodes that are adjacent in neither graph."""
        return self.n_pairs - self.true_edges - self.fp

    def with_counts(self, **counts: Values) -> EdgeTypes:
        """Return the same with other values of some counts."""
        changed = copy(self)
        changed.__dict__.update(counts)
        return changed


_ADJACENCIES = ("tp", "fp", "fn", "tn", "different")
_DIRECTIONS = ("same_direction", "reversed", "true_directed", "estimated_directed", "lost_direction", "added_direction")


@dataclass(frozen=True, eq=False)
class PairCounts:
    """The counts of `EDGES` that default metrics use, of n pairs of graphs, by two kernels without a table."""

    n_nodes: int
    n: int
    #: returns the counts of adjacencies, as the kernel `adjacency_counts` does
    adjacencies: Callable[[], Sequence[Values]]
    #: returns those of directions, as the kernel `direction_counts` does
    directions: Callable[[], Sequence[Values]]

    def __getattr__(self, name: str) -> Values:
        if name in _ADJACENCIES:
            self.__dict__.update(zip(_ADJACENCIES, self.adjacencies(), strict=True))
        elif name in _DIRECTIONS:
            self.__dict__.update(zip(_DIRECTIONS, self.directions(), strict=True))
        elif name in _SUMS:
            self.__dict__[name] = _SUMS[name](self)
        else:
            raise AttributeError(f"there is no count {name!r}")
        return self.__dict__[name]

    @property
    def n_pairs(self) -> Values:
        """Pairs of nodes."""
        return np.full(self.n, self.n_nodes * (self.n_nodes - 1) / 2)


_SUMS: dict[str, Callable[[Any], Values]] = {
    "true_edges": lambda c: c.tp + c.fn,
    "estimated_edges": lambda c: c.tp + c.fp,
    "both_undirected": lambda c: c.tp - c.same_direction - c.reversed - c.lost_direction - c.added_direction,
}


class EdgeCounts(NamedTuple):
    """Edges of each graph of a batch, by type."""

    edges: NDArray[np.float64]
    directed: NDArray[np.float64]
    undirected: NDArray[np.float64]


class AncestorCounts(NamedTuple):
    """Ordered pairs joined by a directed path in the truth, the estimate and both, one value per pair of graphs."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]
    #: directed edges of the truth whose tail is an ancestor of the head in the estimate, not vice versa
    agreed: NDArray[np.float64]
    #: those whose head is an ancestor of the tail, not vice versa
    opposed: NDArray[np.float64]


class Relations(NamedTuple):
    """Relations of ordered pairs of observed nodes, (N, d, d) each."""

    #: u is an ancestor of v
    ancestor: NDArray[np.bool_]
    #: u <-> v in the projection to an acyclic directed mixed graph
    confounded: NDArray[np.bool_]
    #: a latent node is an ancestor of u and v
    common_ancestor: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Origins:
    """The graphs that truths are projections of, one per truth."""

    #: number of nodes, latent ones included
    n_nodes: int
    #: (N, 2 or 4, W): DAGs, ADMGs or MAGs
    planes: Planes
    #: (N,): their classes
    kinds: NDArray[np.uint8]
    #: (N, d): which of their nodes the truths have, ascending
    observed: NDArray[np.int64]

    def take(self, positions: NDArray[Any]) -> Origins:
        """Return the graphs at `positions`."""
        return Origins(self.n_nodes, self.planes[positions], self.kinds[positions], self.observed[positions])

    @cached_property
    def relations(self) -> Relations:
        """What the graphs decide about their observed nodes; nothing of graphs of other classes."""
        n, d = self.observed.shape
        masks = Relations(*(np.zeros((n, d, d), bool) for _ in range(3)))
        known = np.flatnonzero(np.isin(self.kinds, (DAG, ADMG, MAG)))
        for part in row_chunks(len(known), 40 * self.n_nodes**2):
            rows = known[part]
            planes, observed = self.planes[rows], self.observed[rows]
            above = ancestors(planes, self.n_nodes, "path") == DEFINITE
            seen = (np.arange(len(rows))[:, None, None], observed[:, :, None], observed[:, None, :])
            masks.ancestor[rows] = above[seen]
            masks.common_ancestor[rows] = _common_ancestors(planes, above, observed)[seen]
            masks.confounded[rows] = spouses(project(planes, self.n_nodes, observed, to_admg=True), d)
        return masks

    @cached_property
    def relation_planes(self) -> Planes:
        """The relations as pair planes (N, 4, W): ancestor forward and backward, confounded, with a common ancestor."""
        order = np.arange(self.observed.shape[1], dtype=np.int64)
        above, confounded, common = (planes_from_matrices(relation, order) for relation in self.relations)
        return np.stack([above[:, 0], above[:, 1], confounded[:, 0], common[:, 0]], axis=1)


def _common_ancestors(planes: Planes, above: NDArray[np.bool_], observed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes have a latent ancestor in common, an edge <-> standing for a latent parent of both."""
    n, n_nodes = above.shape[:2]
    latent = np.ones((n, n_nodes), bool)
    np.put_along_axis(latent, observed, False, axis=1)
    reach = (above | np.eye(n_nodes, dtype=bool)).astype(np.float32)  # of nodes and their descendants
    hidden = above.astype(np.float32) * latent[:, :, None]
    shared = hidden.transpose(0, 2, 1) @ hidden
    if is_mixed(planes) and bidirected(planes).any():
        shared += reach.transpose(0, 2, 1) @ spouses(planes, n_nodes).astype(np.float32) @ reach
    mask = shared > 0
    mask[:, range(n_nodes), range(n_nodes)] = False
    return np.asarray(mask)
