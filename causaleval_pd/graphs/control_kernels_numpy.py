"""Random graphs of the further null models in plain Python: what the compiled `control_kernels` are checked against.

Same names, arguments and results, bit for bit, a draw at a time. Every draw has a stream of its own, as
`kernels_numpy` says; number 0 in place of (number of the draw) + 1 names the stream of what a row's draws share.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .control_inputs import check_index, check_plan, check_rewiring, check_uniform, linear_extension_law
from .kernel_inputs import Words, checked_planes, read_only
from .kernels_numpy import _causal_ranks, _pack, _unpack

Marks = NDArray[np.bool_]
Edges = list[tuple[int, int]]

_WORD = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)


class _Stream:
    """Words of one draw, and bounded numbers made of them; `number` 0 is what a row's draws share."""

    def __init__(self, key: int, number: int) -> None:
        self._state = _mix((_mix((key + _STEP) & _WORD) + number * _STEP) & _WORD)

    def word(self) -> int:
        self._state = (self._state + _STEP) & _WORD
        return _mix(self._state)

    def try_two(self, n: int, m: int) -> tuple[int, int] | None:
        """Return numbers below n and m, or None where the word would favour some."""
        word = self.word()
        low, high = (word & 0xFFFFFFFF) * n, (word >> 32) * m
        if low % 2**32 < 2**32 % n or high % 2**32 < 2**32 % m:
            return None
        return low >> 32, high >> 32

    def two_below(self, n: int, m: int) -> tuple[int, int]:
        while (found := self.try_two(n, m)) is None:
            pass
        return found

    def shuffle(self, n: int) -> list[int]:
        order = list(range(n))
        for last in range(n - 1, 0, -2):
            j, k = self.two_below(last + 1, last)
            order[last], order[j] = order[j], order[last]
            order[last - 1], order[k] = order[k], order[last - 1]
        return order

    def pairs(self, d: int, m: int) -> Edges:
        """Draw m distinct pairs, for more than half of all those that are left out."""
        every = [(x, y) for y in range(d) for x in range(y)]
        sparse = 2 * m <= len(every)
        found: dict[tuple[int, int], None] = {}
        while len(found) < (m if sparse else len(every) - m):
            a, b = self.two_below(d, d - 1)
            b += b >= a
            found.setdefault((min(a, b), max(a, b)))
        return list(found) if sparse else [pair for pair in every if pair not in found]


def _streams(keys: Words, start: int, count: int) -> list[tuple[int, _Stream]]:
    return [(row, _Stream(int(key), r + 1)) for row, key in enumerate(keys) for r in range(start, start + count)]


def _edges(marks: Marks) -> Edges:
    """List the edges i < j of one matrix of marks."""
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(marks | marks.T, 1))]


def _skeleton(edges: Edges, d: int) -> Marks:
    marks = np.zeros((d, d), np.bool_)
    for a, b in edges:
        marks[a, b] = marks[b, a] = True
    return marks


def _packed(drawn: list[Marks], d: int) -> Words:
    return _pack(np.array(drawn, np.bool_).reshape(len(drawn), d, d))


def relabel_graphs(planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Permute the nodes of graphs.

    Parameters
    ----------
    planes : (N, 2, W) array_like of uint64
        Graphs of any class.
    n_nodes : int
        Their number of nodes.
    index : (n,) array_like of int
        Which graph belongs to a row.
    keys : (n,) array_like of uint64
        Names of the rows' random streams.
    start, count : int
        Draws start .. start + count - 1 are made.

    Returns
    -------
    (n * count, 2, W) uint64
        Planes, the draws of a row together; node i becomes place i of a Fisher-Yates shuffle.
    """
    names = read_only(keys, np.uint64)
    marks = _unpack(checked_planes(planes, n_nodes), n_nodes)
    chosen = check_index(index, len(marks), (len(names),), start, count)
    drawn = []
    for row, stream in _streams(names, start, count):
        order = stream.shuffle(n_nodes)
        graph = np.zeros((n_nodes, n_nodes), np.bool_)
        graph[np.ix_(order, order)] = marks[chosen[row]]
        drawn.append(graph)
    return _packed(drawn, n_nodes)


def orient_graphs(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Direct edges along uniformly random orders.

    Parameters
    ----------
    skeletons : (N, 2, W) array_like of uint64
        Graphs whose edges are directed anew.
    n_nodes : int
        Their number of nodes.
    index : (n, 1) or (n, count) array_like of int
        Which graph belongs to a row, or to a draw of it.
    keys, start, count
        As in `relabel_graphs`; place i of the shuffle is the rank of node i.

    Returns
    -------
    (n * count, 2, W) uint64
        DAGs.
    """
    names = read_only(keys, np.uint64)
    marks = _unpack(checked_planes(skeletons, n_nodes), n_nodes)
    chosen = check_index(index, len(marks), (len(names), 1), start, count)
    chosen = np.broadcast_to(chosen, (len(names), count)).ravel()
    drawn = []
    for graph, (_, stream) in zip(chosen, _streams(names, start, count), strict=True):
        rank = np.array(stream.shuffle(n_nodes), np.int64)
        adjacent = marks[graph] | marks[graph].T
        drawn.append(np.asarray(adjacent & (rank[:, None] < rank[None, :])))
    return _packed(drawn, n_nodes)


def _linear_extensions(arcs: Edges, d: int) -> float:
    """Count the orders of the nodes in which parents come first, by subsets."""
    parents = [0] * d
    for a, b in arcs:
        parents[b] |= 1 << a
    ways = [1.0] + [0.0] * (2**d - 1)
    for subset in range(1, 2**d):
        members = [v for v in range(d) if subset >> v & 1]
        ways[subset] = sum(ways[subset ^ 1 << v] for v in members if not any(parents[c] >> v & 1 for c in members))
    return ways[-1]


def draw_uniform(
    n_nodes: int,
    n_edges: ArrayLike,
    skeletons: ArrayLike | None,
    keys: ArrayLike,
    start: int,
    count: int,
    tries: int,
) -> tuple[Words, int]:
    """Draw uniformly among the DAGs with a number of edges, or with a skeleton, by rejection.

    Parameters
    ----------
    n_nodes : int
        Number of nodes, at most 64.
    n_edges : (n,) array_like of int
        Edges of a row's graphs, where no skeletons are given.
    skeletons : (n, 2, W) array_like of uint64 or None
        Skeletons of a row's graphs; None draws a new one with every try.
    keys, start, count
        As in `relabel_graphs`.
    tries : int
        Most tries a graph.

    Returns
    -------
    planes : (n * count, 2, W) uint64
        DAGs.
    stuck : int
        The first row that ran out of tries, and from which on graphs are empty; -1 if none did.
    """
    edges, graphs, names = check_plan(n_nodes, n_edges, skeletons, keys, start, count)
    check_uniform(n_nodes)
    by_order = linear_extension_law(n_nodes, edges)
    marks = _unpack(graphs, n_nodes)
    drawn: list[Marks] = []
    for row, stream in _streams(names, start, count):
        given = _edges(marks[row]) if skeletons is not None else None
        for _ in range(tries):
            pairs = stream.pairs(n_nodes, int(edges[row])) if given is None else given
            if by_order[row]:
                rank = stream.shuffle(n_nodes)
                arcs = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in pairs]
                kept = (stream.word() >> 11) * 2.0**-53 * _linear_extensions(arcs, n_nodes) < 1.0
            else:
                words = [stream.word() for _ in range(-(-len(pairs) // 64))]
                arcs = [(b, a) if words[e // 64] >> e % 64 & 1 else (a, b) for e, (a, b) in enumerate(pairs)]
                kept = False
            graph = np.zeros((n_nodes, n_nodes), np.bool_)
            for a, b in arcs:
                graph[a, b] = True
            if kept or (not by_order[row] and (_causal_ranks(graph[None]) >= 0).all()):
                break
        else:
            rest = len(names) * count - len(drawn)
            return _packed([*drawn, *[np.zeros((n_nodes, n_nodes), np.bool_)] * rest], n_nodes), row
        drawn.append(graph)
    return _packed(drawn, n_nodes), -1


def switch_edges(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, attempts: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Draw skeletons with the same degrees by switching the ends of two edges again and again.

    A row's graph and all its draws are `attempts` symmetric steps away from a common graph, which makes them
    exchangeable if the row's graph is uniform given its degrees, however few the steps (Besag and Clifford 1989,
    doi:10.1093/biomet/76.4.633).

    Parameters
    ----------
    planes, n_nodes, index, keys, start, count
        As in `relabel_graphs`; directions do not count.
    attempts : (n,) array_like of int
        Proposed switches from the common graph to a row's graph, and to each draw.

    Returns
    -------
    (n * count, 2, W) uint64
        Skeletons.
    """
    names = read_only(keys, np.uint64)
    marks = _unpack(checked_planes(planes, n_nodes), n_nodes)
    chosen = check_index(index, len(marks), (len(names),), start, count)
    steps = read_only(attempts, np.int64)
    drawn = []
    for row, key in enumerate(names):
        hub = _switched(_Stream(int(key), 0), int(steps[row]), _edges(marks[chosen[row]]))
        for r in range(start, start + count):
            drawn.append(_skeleton(_switched(_Stream(int(key), r + 1), int(steps[row]), hub), n_nodes))
    return _packed(drawn, n_nodes)


def _switched(stream: _Stream, attempts: int, edges: Edges) -> Edges:
    if len(edges) < 2:
        return edges
    edges = list(edges)
    present = {frozenset(edge) for edge in edges}
    for _ in range(attempts):
        a, f = stream.two_below(2 * len(edges), len(edges) - 1)
        e = a >> 1
        f += f >= e
        (p, q), (x, y) = edges[e], edges[f]
        if a & 1:
            x, y = y, x
        if p == y or x == q or {p, y} in present or {x, q} in present:
            continue
        present -= {frozenset((p, q)), frozenset((x, y))}
        present |= {frozenset((p, y)), frozenset((x, q))}
        edges[e], edges[f] = (p, y), (x, q)
    return edges


def scale_free(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw skeletons by preferential attachment with a given number of edges.

    Each end of a new edge is chosen in proportion to 1 + its degree; loops and repeats are drawn anew.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_edges : (n,) array_like of int
        Edges of a row's graphs.
    keys, start, count
        As in `relabel_graphs`.

    Returns
    -------
    (n * count, 2, W) uint64
        Skeletons.

    References
    ----------
    Barabasi and Albert (1999), Emergence of scaling in random networks, doi:10.1126/science.286.5439.509.
    """
    edges, _, names = check_plan(n_nodes, n_edges, None, keys, start, count)
    drawn = []
    for row, stream in _streams(names, start, count):
        urn = list(range(n_nodes))
        found: Edges = []
        present: set[frozenset[int]] = set()
        while len(found) < edges[row]:
            places = stream.try_two(len(urn), len(urn))
            if places is None:
                continue
            a, b = urn[places[0]], urn[places[1]]
            if a != b and frozenset((a, b)) not in present:
                present.add(frozenset((a, b)))
                found.append((a, b))
                urn += [a, b]
        drawn.append(_skeleton(found, n_nodes))
    return _packed(drawn, n_nodes)


def small_world(n_nodes: int, n_edges: ArrayLike, rewiring: float, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw skeletons of rings in which each edge has moved one end with probability `rewiring`.

    Nodes stand in a random ring; edges go from each node to the next, then to the next but one, and so on until their
    number is reached. An end moves to a node that is drawn uniformly among those not yet adjacent.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_edges : (n,) array_like of int
        Edges of a row's graphs.
    rewiring : float
        Share of edges that are moved, in steps of 2^-32.
    keys, start, count
        As in `relabel_graphs`.

    Returns
    -------
    (n * count, 2, W) uint64
        Skeletons.

    References
    ----------
    Watts and Strogatz (1998), Collective dynamics of small-world networks, doi:10.1038/30918.
    """
    edges, _, names = check_plan(n_nodes, n_edges, None, keys, start, count)
    threshold = math.floor(check_rewiring(rewiring) * 2**32)
    drawn = []
    for row, stream in _streams(names, start, count):
        order = stream.shuffle(n_nodes)
        ring = [(order[e % n_nodes], order[(e % n_nodes + e // n_nodes + 1) % n_nodes]) for e in range(edges[row])]
        marks = _skeleton(ring, n_nodes)
        for a, b in ring:
            if stream.word() >> 32 >= threshold or marks[a].sum() == n_nodes - 1:
                continue
            c = a
            while c == a or marks[a, c]:
                places = stream.try_two(n_nodes, 1)
                c = a if places is None else places[0]
            marks[a, b] = marks[b, a] = False
            marks[a, c] = marks[c, a] = True
        drawn.append(marks)
    return _packed(drawn, n_nodes)
