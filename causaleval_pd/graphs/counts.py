"""Counts that metrics share: of the edges of one graph, and of what truth and estimate have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_DIRECTIONS = (
    "same_direction",
    "reversed",
    "true_directed",
    "estimated_directed",
    "lost_direction",
    "added_direction",
)


class EdgeCounts(NamedTuple):
    """Edges of each graph of a batch, by type."""

    edges: NDArray[np.float64]
    directed: NDArray[np.float64]
    undirected: NDArray[np.float64]


class PairCounts:
    """Counts of what truth and estimate have in common: float64 arrays, one value per pair, computed when first used.

    `same_direction`, `reversed`, `lost_direction` (truth directed, estimate not), `added_direction` and
    `both_undirected` add up to `tp`, the shared adjacencies. `n_pairs` is the number of node pairs. In mixed graphs
    directed edges are ``->``, and every other edge counts as undirected; two such edges may be unlike.

    Parameters
    ----------
    n_nodes : array_like
        Number of nodes.
    tp, true_edges, estimated_edges : array_like
        Shared adjacencies, and adjacencies of truth and estimate.
    same_direction, reversed, true_directed, estimated_directed, lost_direction, added_direction : array_like
        Counts of directed edges; all broadcast together.
    unlike : array_like
        Shared adjacencies that differ although neither edge is directed, or both have the direction, as a pair with
        ``->`` and ``<->`` does from one with ``->``.
    """

    def __init__(
        self,
        n_nodes: Any,
        tp: Any,
        true_edges: Any,
        estimated_edges: Any,
        *,
        same_direction: Any = 0.0,
        reversed: Any = 0.0,
        true_directed: Any = 0.0,
        estimated_directed: Any = 0.0,
        lost_direction: Any = 0.0,
        added_direction: Any = 0.0,
        unlike: Any = 0.0,
    ) -> None:
        self._n_nodes = n_nodes
        self._given = {
            "tp": tp,
            "true_edges": true_edges,
            "estimated_edges": estimated_edges,
            "same_direction": same_direction,
            "reversed": reversed,
            "true_directed": true_directed,
            "estimated_directed": estimated_directed,
            "lost_direction": lost_direction,
            "added_direction": added_direction,
            "unlike": unlike,
        }
        self._shape = np.broadcast_shapes(np.shape(n_nodes), *(np.shape(x) for x in self._given.values()))

    def _count(self, name: str) -> Values:
        given = np.asarray(self._given[name], np.float64)
        return given if given.shape == self._shape else np.broadcast_to(given, self._shape)

    @cached_property
    def tp(self) -> Values:
        """Shared adjacencies."""
        return self._count("tp")

    @cached_property
    def fp(self) -> Values:
        """Adjacencies of the estimate only."""
        return self.estimated_edges - self.tp

    @cached_property
    def fn(self) -> Values:
        """Adjacencies of the truth only."""
        return self.true_edges - self.tp

    @cached_property
    def tn(self) -> Values:
        """Pairs of nodes that are adjacent in neither graph."""
        return self.n_pairs - self.true_edges - self.fp

    @cached_property
    def n_pairs(self) -> Values:
        """Pairs of nodes."""
        d = np.asarray(self._n_nodes, np.float64)
        return np.broadcast_to(d * (d - 1) / 2, self._shape)

    @cached_property
    def true_edges(self) -> Values:
        """Adjacencies of the truth."""
        return self._count("true_edges")

    @cached_property
    def estimated_edges(self) -> Values:
        """Adjacencies of the estimate."""
        return self._count("estimated_edges")

    @cached_property
    def true_directed(self) -> Values:
        """Directed edges of the truth."""
        return self._count("true_directed")

    @cached_property
    def estimated_directed(self) -> Values:
        """Directed edges of the estimate."""
        return self._count("estimated_directed")

    @cached_property
    def same_direction(self) -> Values:
        """Shared adjacencies that are directed alike."""
        return self._count("same_direction")

    @cached_property
    def reversed(self) -> Values:
        """Shared adjacencies that are directed the other way."""
        return self._count("reversed")

    @cached_property
    def lost_direction(self) -> Values:
        """Shared adjacencies, directed in the truth and undirected in the estimate."""
        return self._count("lost_direction")

    @cached_property
    def added_direction(self) -> Values:
        """Shared adjacencies, undirected in the truth and directed in the estimate."""
        return self._count("added_direction")

    @cached_property
    def different(self) -> Values:
        """Pairs of nodes whose edges differ."""
        total = self.fn + self.fp
        total += self.reversed
        total += self.lost_direction + self.added_direction
        total += self._count("unlike")
        return total

    @cached_property
    def both_undirected(self) -> Values:
        """Shared adjacencies that are undirected in both graphs."""
        return self.tp - self.same_direction - self.reversed - self.lost_direction - self.added_direction


class ComparedCounts(PairCounts):
    """Counts of pairs of graphs, compared when a count is first used: adjacencies and directions apart from each other.

    Parameters
    ----------
    n_nodes, n : int
        Number of nodes of each graph, and of pairs of graphs.
    adjacencies, directions : callable
        Return the counts as the kernels `adjacency_counts` and `direction_counts` do.
    """

    def __init__(
        self, n_nodes: int, n: int, adjacencies: Callable[[], Sequence[Values]], directions: Callable[[], Any]
    ) -> None:
        self._n_nodes, self._shape = n_nodes, (n,)
        self._compare, self._compare_directions = adjacencies, directions

    @cached_property
    def _adjacencies(self) -> Sequence[Values]:
        return self._compare()

    @cached_property
    def _given(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(zip(_DIRECTIONS, self._compare_directions(), strict=True))

    @cached_property
    def tp(self) -> Values:
        """Shared adjacencies."""
        return self._adjacencies[0]

    @cached_property
    def fp(self) -> Values:
        """Adjacencies of the estimate only."""
        return self._adjacencies[1]

    @cached_property
    def fn(self) -> Values:
        """Adjacencies of the truth only."""
        return self._adjacencies[2]

    @cached_property
    def tn(self) -> Values:
        """Pairs of nodes that are adjacent in neither graph."""
        return self._adjacencies[3]

    @cached_property
    def different(self) -> Values:
        """Pairs of nodes whose edges differ."""
        return self._adjacencies[4]

    @cached_property
    def true_edges(self) -> Values:
        """Adjacencies of the truth."""
        return self.tp + self.fn

    @cached_property
    def estimated_edges(self) -> Values:
        """Adjacencies of the estimate."""
        return self.tp + self.fp


class MarkCounts(NamedTuple):
    """Ends of edges with one mark (tail, arrowhead or circle) in truth, estimate and both, one value per pair."""

    true: Values
    estimated: Values
    both: Values
    #: those of the truth, and of the estimate, on adjacencies that both graphs have
    true_on_shared: Values
    estimated_on_shared: Values
    #: those of the estimate where the truth has a circle, and of the truth where the estimate has one
    at_circle: Values
    missed_by_circle: Values


class Likeness(NamedTuple):
    """In what shared adjacencies differ, and bidirected edges of truth, estimate and both, one value per pair."""

    #: ends of shared adjacencies whose marks differ, and those with a circle in one graph only
    other_marks: Values
    one_circle: Values
    #: shared adjacencies with a circle in both graphs that differ
    unlike_circle_edges: Values
    #: pairs of nodes with <->
    true_bidirected: Values
    estimated_bidirected: Values
    both_bidirected: Values


class EndCounts:
    """Counts over the ends of edges.

    Parameters
    ----------
    counts : PairCounts
        Counts of the same pairs.
    marks : callable
        From the code of a mark (1 tail, 2 arrow, 3 circle) to its counts, rows as in `MarkCounts`.
    likeness : callable
        Returns rows as in `Likeness`.
    """

    def __init__(
        self, counts: PairCounts, marks: Callable[[int], Sequence[Values]], likeness: Callable[[], Sequence[Values]]
    ) -> None:
        self.counts = counts
        self._compare, self._compare_edges = marks, likeness
        self._found: dict[int, MarkCounts] = {}

    def of(self, mark: int) -> MarkCounts:
        """Return the counts of a mark: 1 tail, 2 arrow, 3 circle."""
        if mark not in self._found:
            self._found[mark] = MarkCounts(*self._compare(mark))
        return self._found[mark]

    @cached_property
    def likeness(self) -> Likeness:
        """In what shared adjacencies differ."""
        return Likeness(*self._compare_edges())


def plain_ends(counts: PairCounts) -> EndCounts:
    """Return the ends of graphs that have only directed edges, a tail and an arrowhead, and undirected, two tails."""
    c = counts

    def marks(mark: int) -> tuple[Values, ...]:
        none = np.zeros_like(c.tp)
        if mark == 3:
            return (none,) * len(MarkCounts._fields)
        same, on_shared = c.same_direction, c.same_direction + c.reversed
        heads = (c.true_directed, c.estimated_directed, same, on_shared + c.lost_direction)
        if mark == 2:
            return (*heads, on_shared + c.added_direction, none, none)
        changed = c.lost_direction + c.added_direction
        both = same + changed + 2 * c.both_undirected
        true, estimated = 2 * c.true_edges - c.true_directed, 2 * c.estimated_edges - c.estimated_directed
        tails = (2 * c.tp - on_shared - c.lost_direction, 2 * c.tp - on_shared - c.added_direction)
        return (true, estimated, both, *tails, none, none)

    def likeness() -> tuple[Values, ...]:
        none = np.zeros_like(c.tp)
        return (c.lost_direction + c.added_direction + 2 * c.reversed, *[none] * 5)

    return EndCounts(counts, marks, likeness)


class ClaimCounts(NamedTuple):
    """What the marks of estimates claim about the graphs that truths are projections of, one value per pair of graphs.

    An arrowhead at v of u *-> v claims that v is not an ancestor of u, a tail at u that u is one of v, and u <-> v that
    they are confounded.
    """

    heads: Values
    right_heads: Values
    tails: Values
    right_tails: Values
    #: ordered pairs (ancestor, descendant) of the truth; those adjacent in the estimate; other adjacent pairs
    ancestors: Values
    adjacent_ancestors: Values
    adjacent_others: Values
    #: edges u -> v of the estimate; those where u is an ancestor of v; where v is one of u
    directed: Values
    directed_ancestors: Values
    directed_descendants: Values
    #: edges u <-> v of the estimate; those that are confounded; those with a latent ancestor in common
    bidirected: Values
    bidirected_confounded: Values
    bidirected_common: Values
    #: pairs of nodes that are confounded, and with a latent ancestor; those that are adjacent in the estimate
    confounded: Values
    common: Values
    adjacent_confounded: Values
    adjacent_common: Values


class VStructureCounts(NamedTuple):
    """Unshielded colliders of the truth, of the estimate and of both, one value per pair."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]


class AncestorCounts(NamedTuple):
    """Ordered pairs joined by a directed path in the truth, the estimate and both, one value per pair of graphs.

    `agreed` and `opposed` count the directed edges of the truth whose tail is an ancestor of the head in the estimate,
    and whose head is one of the tail; not those where both hold.
    """

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]
    agreed: NDArray[np.float64]
    opposed: NDArray[np.float64]


class BlanketCounts(NamedTuple):
    """Members of Markov blankets, summed over the nodes, in the truth, the estimate and both."""

    true: NDArray[np.float64]
    estimated: NDArray[np.float64]
    both: NDArray[np.float64]
