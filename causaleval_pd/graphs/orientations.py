"""DAGs in number: all labelled ones, those of a skeleton, and the ways to direct a component of a CPDAG.

A component is one that undirected edges connect, also of a PDAG that is closed under Meek's rules.

The components of a class are directed independently of one another: each combination of their ways is a member. Nodes
are numbers, sets of nodes the bits of an integer.

References
----------
Meek (1995), Causal inference and causal explanation with background knowledge, UAI.
He, Jia & Yu (2015), Counting and exploring sizes of Markov equivalence classes of DAGs, JMLR 16.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from .kernels import kernels
from .kernels.inputs import read_only
from .kernels.planes import arcs_from_planes, matrices_from_planes, planes_from_arcs, planes_from_matrices, row_chunks

Planes = NDArray[np.uint64]
Floats = NDArray[np.float64]

#: parents of each node; neighbours of each node by undirected edges
Sets = tuple[int, ...]

#: ways of a component up to which all are listed; of larger ones as many are drawn
MOST_WAYS = 1000
#: work of counting the ways of a component (nodes times ends of edges, over its parts) before it is refused
_MOST_WORK = 300_000

#: nodes up to which all DAGs are listed: 29,281 over five
MOST_LISTED = 5
#: edges up to which all orientations are listed
MOST_DIRECTED = 14


class TooManyWaysError(ValueError):
    """A component that is neither listed nor counted within bounds."""


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the bits of a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def close(parents: Sequence[int], undirected: Sequence[int]) -> tuple[list[int], list[int]]:
    """Direct the undirected edges that Meek's four rules direct; return parents and undirected neighbours."""
    into, beside = list(parents), list(undirected)
    out = [0] * len(into)
    for node, nodes in enumerate(into):
        for parent in bits(nodes):
            out[parent] |= 1 << node
    adjacent = [a | b | c for a, b, c in zip(into, beside, out, strict=True)]
    waiting = [node for node, nodes in enumerate(beside) if nodes]
    while waiting:
        changed = 0
        for a in waiting:
            for b in bits(beside[a]):
                if _directs(a, b, into, out, beside, adjacent):
                    into[b] |= 1 << a
                    out[a] |= 1 << b
                    beside[a] &= ~(1 << b)
                    beside[b] &= ~(1 << a)
                    changed |= adjacent[a] | adjacent[b]
        waiting = [node for node in bits(changed) if beside[node]]
    return into, beside


def _directs(
    a: int, b: int, into: Sequence[int], out: Sequence[int], beside: Sequence[int], adjacent: Sequence[int]
) -> bool:
    """Check whether one of Meek's rules directs a - b as a -> b."""
    if into[a] & ~adjacent[b] & ~(1 << b) or out[a] & into[b]:
        return True
    through = beside[a] & into[b]
    if any(through & ~adjacent[c] & ~(1 << c) for c in bits(through)):
        return True
    return any(into[c] & beside[a] & ~adjacent[b] for c in bits(into[b] & adjacent[a]))


def components(undirected: Sequence[int]) -> list[int]:
    """Return the components that undirected edges connect, as sets; nodes without such edges are left out."""
    left = sum(1 << node for node, neighbours in enumerate(undirected) if neighbours)
    result = []
    while left:
        seen = waiting = left & -left
        while waiting:
            new = undirected[(waiting & -waiting).bit_length() - 1] & ~seen
            waiting = (waiting & (waiting - 1)) | new
            seen |= new
        result.append(seen)
        left &= ~seen
    return result


def ways(parents: Sets, undirected: Sets, seed: int = 0) -> tuple[list[Sets], bool]:
    """Return the ways to direct one component, else `MOST_WAYS` independent uniform ones, and if these are all."""
    n, n_ends, known = len(undirected), sum(x.bit_count() for x in undirected), Parts()
    members = _listed(parents, undirected) if any(parents) or known.count(undirected) <= MOST_WAYS else None
    if members is not None:
        return members, True
    if any(parents):
        raise TooManyWaysError(
            f"a component of {n} nodes with directed edges has more than {MOST_WAYS} members, or too many edges to "
            "list them, and only components of CPDAGs are drawn from"
        )
    generator = np.random.default_rng([seed, n, n_ends])
    return [tuple(known.draw(undirected, generator)) for _ in range(MOST_WAYS)], False


def _listed(parents: Sets, undirected: Sets) -> list[Sets] | None:
    """List all ways, or return None where there are too many, or it takes too long to know."""
    members: list[Sets] = []
    degrees = [x.bit_count() for x in undirected]
    work, step = 0, sum(degrees) * max(degrees, default=0)
    stack = [(list(parents), list(undirected))]
    while stack:
        into, beside = stack.pop()
        a = next((node for node, near in enumerate(beside) if near), None)
        if a is None:
            members.append(tuple(into))
        else:
            b = next(bits(beside[a]))
            stack += [close(*_direct(into, beside, x, y)) for x, y in ((b, a), (a, b))]
        # each entry of the stack leads to a way of its own
        work += step
        if len(members) + len(stack) > MOST_WAYS or (any(parents) and work > 50 * _MOST_WORK):
            return None
    return members


def _direct(into: Sequence[int], beside: Sequence[int], a: int, b: int) -> tuple[list[int], list[int]]:
    """Direct one undirected edge as a -> b."""
    directed, left = list(into), list(beside)
    directed[b] |= 1 << a
    left[a] &= ~(1 << b)
    left[b] &= ~(1 << a)
    return directed, left


def _rooted(undirected: Sets, root: int) -> tuple[list[int], list[int]]:
    """Direct all edges of a root away from it, and what follows from that."""
    into, beside = [0] * len(undirected), list(undirected)
    for b in bits(undirected[root]):
        into, beside = _direct(into, beside, root, b)
    return close(into, beside)


def _within(undirected: Sequence[int], nodes: int) -> tuple[list[int], Sets]:
    """Return the nodes of a set and the undirected edges between them, numbered anew."""
    kept = list(bits(nodes))
    at = {node: i for i, node in enumerate(kept)}
    return kept, tuple(sum(1 << at[b] for b in bits(undirected[a] & nodes)) for a in kept)


#: what follows from a source of a part: its number of ways, parents, and the parts that are left
_Root = tuple[int, list[int], list[tuple[list[int], Sets]]]


class Parts:
    """Connected chordal graphs that are parts of a component, by the sources that their ways have."""

    def __init__(self) -> None:
        self._found: dict[Sets, list[_Root]] = {}
        self._shares: dict[Sets, Floats] = {}
        self._work = 0

    def roots(self, undirected: Sets) -> list[_Root]:
        """Return what follows from each node as the source."""
        if undirected not in self._found:
            n_ends = sum(x.bit_count() for x in undirected)
            self._work += len(undirected) * n_ends
            if self._work > _MOST_WORK:
                raise TooManyWaysError(
                    f"a component of {len(undirected)} nodes and {n_ends // 2} undirected edges has too many members "
                    "to count or draw them"
                )
            sources = []
            for root in range(len(undirected)):
                into, beside = _rooted(undirected, root)
                left = [_within(beside, part) for part in components(beside)]
                sources.append((math.prod(self.count(neighbours) for _, neighbours in left), into, left))
            self._found[undirected] = sources
        return self._found[undirected]

    def count(self, undirected: Sets) -> int:
        """Count the ways without v-structures."""
        n, n_ends = len(undirected), sum(x.bit_count() for x in undirected)
        if n_ends == n * (n - 1):
            return math.factorial(n)
        return n if n_ends == 2 * (n - 1) else sum(n_ways for n_ways, _, _ in self.roots(undirected))

    def shares(self, undirected: Sets) -> Floats:
        """Return the share of the ways in which each edge has each of its directions."""
        n, n_ends = len(undirected), sum(x.bit_count() for x in undirected)
        if n_ends == n * (n - 1):
            return (np.ones((n, n)) - np.eye(n)) / 2
        if n_ends == 2 * (n - 1):
            return _tree_shares(undirected)
        if undirected not in self._shares:
            roots, matrix = self.roots(undirected), np.zeros((n, n))
            total = sum(n_ways for n_ways, _, _ in roots)
            for n_ways, into, left in roots:
                # counts may exceed what a float can hold
                share = n_ways / total
                for node, parents in enumerate(into):
                    matrix[list(bits(parents)), node] += share
                for kept, neighbours in left:
                    matrix[np.ix_(kept, kept)] += share * self.shares(neighbours)
            self._shares[undirected] = matrix
        return self._shares[undirected]

    def draw(self, undirected: Sets, generator: np.random.Generator) -> list[int]:
        """Draw one way, all equally likely, as sets of parents."""
        n, n_ends = len(undirected), sum(x.bit_count() for x in undirected)
        if n_ends == n * (n - 1):
            result, before = [0] * n, 0
            for node in generator.permutation(n).tolist():
                result[node] = before
                before |= 1 << node
            return result
        if n_ends == 2 * (n - 1):
            return _rooted(undirected, int(generator.integers(n)))[0]
        roots = self.roots(undirected)
        total = sum(n_ways for n_ways, _, _ in roots)
        # counts may exceed what a float can hold
        weights = np.array([n_ways / total for n_ways, _, _ in roots])
        _, parents_of, left = roots[int(generator.choice(n, p=weights / weights.sum()))]
        into = list(parents_of)
        for kept, neighbours in left:
            for a, parents in zip(kept, self.draw(neighbours, generator), strict=True):
                into[a] |= sum(1 << kept[b] for b in bits(parents))
        return into


def _tree_shares(undirected: Sets) -> Floats:
    """Return the shares of a tree: its ways have one source each, and an edge points away from it."""
    n = len(undirected)
    before, order = {0: 0}, [0]
    for node in order:
        new = [b for b in bits(undirected[node]) if b not in before]
        before |= dict.fromkeys(new, node)
        order += new
    size, matrix = [1] * n, np.zeros((n, n))
    for node in reversed(order[1:]):
        size[before[node]] += size[node]
        matrix[node, before[node]] = size[node] / n
        matrix[before[node], node] = (n - size[node]) / n
    return matrix


def direction_shares(undirected: Sequence[int]) -> Floats:
    """Return the share of the DAGs of a CPDAG's class that direct each of its undirected edges in either way."""
    matrix = np.zeros((len(undirected), len(undirected)))
    for component in components(undirected):
        kept, neighbours = _within(undirected, component)
        matrix[np.ix_(kept, kept)] = _component_shares(neighbours)
    return matrix


@lru_cache(maxsize=256)
def _component_shares(undirected: Sets) -> Floats:
    matrix = Parts().shares(undirected)
    matrix.flags.writeable = False
    return matrix


@cache
def all_dags(n_nodes: int, n_edges: int) -> Planes:
    """Return every labelled DAG with a number of edges, as (N, 2, W) planes."""
    if n_nodes > MOST_LISTED:
        raise ValueError(f"all DAGs are listed over at most {MOST_LISTED} nodes, found {n_nodes}")
    pairs = itertools.combinations(range(n_nodes), 2)
    lists = [all_orientations(n_nodes, edges) for edges in itertools.combinations(pairs, n_edges)]
    return read_only(np.concatenate(lists), np.uint64)


@lru_cache(maxsize=64)
def all_orientations(n_nodes: int, edges: tuple[tuple[int, int], ...]) -> Planes:
    """Return every acyclic orientation of a skeleton, as (N, 2, W) planes."""
    if len(edges) > MOST_DIRECTED:
        raise ValueError(f"orientations are listed for at most {MOST_DIRECTED} edges, found {len(edges)}")
    flips = (np.arange(2 ** len(edges))[:, None] >> np.arange(len(edges))) & 1 == 1
    first, second = np.array(edges, np.int64).reshape(-1, 2).T
    row = np.repeat(np.arange(len(flips)), len(edges))
    source, target = np.where(flips, second, first).ravel(), np.where(flips, first, second).ravel()
    planes = planes_from_arcs(len(flips), n_nodes, row, source, target)
    return read_only(planes[kernels().is_acyclic(planes, n_nodes)], np.uint64)


def parent_sets(planes: Planes, n_nodes: int) -> list[list[int]]:
    """Return the parents of each node of each graph, as bits of an integer."""
    parents = [[0] * n_nodes for _ in range(len(planes))]
    arcs = (array.tolist() for array in arcs_from_planes(planes, n_nodes))
    for row, source, target in zip(*arcs, strict=True):
        parents[row][target] |= 1 << source
    return parents


def compelled(planes: Planes, n_nodes: int, separated: NDArray[np.bool_]) -> Planes:
    """Keep the directions of DAGs in v-structures, between pairs (N, d, d) that are separated, and what follows."""
    cpdags, order = np.empty_like(planes), np.arange(n_nodes)
    for rows in row_chunks(len(planes), 64 * n_nodes**2):
        arcs = matrices_from_planes(planes[rows], n_nodes).astype(bool)
        apart = ~(arcs | arcs.transpose(0, 2, 1) | np.eye(n_nodes, dtype=bool))
        # a -> b is in a v-structure iff b has another parent that is not adjacent to a
        collides = apart.astype(np.float32) @ arcs.astype(np.float32) > 0
        directed = arcs & (collides | separated[rows])
        lines = arcs & ~directed
        lines |= lines.transpose(0, 2, 1)
        marks = directed | lines
        sides = (parent_sets(planes_from_matrices(side, order), n_nodes) for side in (directed, lines))
        for graph, parents, beside in zip(marks, *sides, strict=True):
            for node, known in enumerate(close(parents, beside)[0]):
                graph[node, list(bits(known))] = False
        cpdags[rows] = planes_from_matrices(marks, order)
    return cpdags
