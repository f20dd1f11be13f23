"""Labelled DAGs with a given number of arcs: all of them, or uniform draws; acyclic orientations of a skeleton.

A DAG is an array of parent sets, one a node, as bits. Counting goes by the nodes without parents: what is left without
them is a smaller DAG, each of whose own parentless nodes must have a parent among those removed.

References
----------
.. [1] Robinson, R. W. (1977). Counting unlabeled acyclic digraphs. doi:10.1007/BFb0069178
.. [2] Kuipers, J., Moffa, G. (2015). Uniform random generation of large acyclic digraphs.
   doi:10.1007/s11222-013-9428-y
"""

from __future__ import annotations

import itertools
import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from .layout import causal_order

Masks = NDArray[np.int64]
Floats = NDArray[np.float64]

#: DAGs over so many nodes are enumerated (29 281 over five)
MAX_ENUMERATED = 5
#: orientations of skeletons with so many edges are enumerated
MAX_ENUMERATED_EDGES = 14
#: uniform draws count DAGs over at most so many nodes
MAX_DRAWN = 80


@lru_cache(maxsize=8)
def all_dags(k: int) -> Masks:
    """Return every DAG over k nodes, as (n, k) parent sets.

    Examples
    --------
    >>> [len(all_dags(k)) for k in range(1, 5)]
    [1, 3, 25, 543]
    """
    if k > MAX_ENUMERATED:
        raise ValueError(f"DAGs over {k} nodes are too many to enumerate; at most {MAX_ENUMERATED} nodes")
    choices = [[m for m in range(2**k) if not m >> i & 1] for i in range(k)]
    grids = np.meshgrid(*choices, indexing="ij")
    masks = np.stack([g.reshape(-1) for g in grids], axis=1).astype(np.int64)
    return masks[is_acyclic(masks)]


def is_acyclic(masks: Masks) -> NDArray[np.bool_]:
    """Tell which of (n, k) parent sets are DAGs, by removing nodes without parents."""
    n, k = masks.shape
    alive = np.full(n, 2**k - 1, np.int64)
    for _ in range(k):
        gone = np.zeros(n, np.int64)
        for i in range(k):
            gone |= np.where((masks[:, i] & alive) == 0, 1 << i, 0)
        alive &= ~gone
    return np.asarray(alive == 0)


@lru_cache(maxsize=128)
def dags_with(k: int, n_arcs: int) -> Masks:
    """Return every DAG over k nodes with so many arcs, as (n, k) parent sets."""
    masks = all_dags(k)
    return masks[np.bitwise_count(masks).sum(axis=1) == n_arcs]


@lru_cache(maxsize=256)
def orientations(k: int, edges: tuple[tuple[int, int], ...]) -> Masks:
    """Return every acyclic orientation of a skeleton, as (n, k) parent sets.

    Examples
    --------
    >>> len(orientations(3, ((0, 1), (0, 2), (1, 2))))
    6
    """
    if len(edges) > MAX_ENUMERATED_EDGES:
        raise ValueError(f"a skeleton of {len(edges)} edges has too many orientations to enumerate")
    masks = np.zeros((2 ** len(edges), k), np.int64)
    for turned in range(2 ** len(edges)):
        for at, (a, b) in enumerate(edges):
            child, parent = (a, b) if turned >> at & 1 else (b, a)
            masks[turned, child] |= 1 << parent
    return masks[is_acyclic(masks)]


class ArcCounts:
    """Numbers of DAGs by nodes, parentless nodes and arcs, as probabilities under arcs that are tossed independently.

    Every number of DAGs with j arcs over n nodes is multiplied by p^j (1 - p)^(n(n-1) - j), which cancels wherever one
    number is divided by another, and keeps all of them in the range of floats.
    """

    def __init__(self, k: int, n_arcs: int) -> None:
        self.k, self.n_arcs = k, n_arcs
        self.p = min(0.5, max(n_arcs, 1) / max(1, k * (k - 1)))
        # tables[n][s]: DAGs over n nodes of which s have no parents, by number of arcs
        self.tables: list[Floats] = [np.zeros((1, n_arcs + 1))]
        for n in range(1, k + 1):
            table = np.zeros((n + 1, n_arcs + 1))
            for s in range(1, n + 1):
                table[s] = math.comb(n, s) * (
                    self._isolated(s, n) if s == n else sum(self._joined(n, s, u) for u in range(1, n - s + 1))
                )
            self.tables.append(table)
        if not self.tables[k][:, n_arcs].sum() > 0:
            raise ValueError(
                f"DAGs over {k} nodes with {n_arcs} arcs are too rare among random graphs to be drawn uniformly; "
                "use null='edges', whose DAGs are uniform skeletons in uniform orders"
            )

    def _tail(self, s: int, n: int) -> float:
        """Return the probability that no arc points to s chosen nodes from n - 1 others each."""
        return (1 - self.p) ** (s * (n - 1))

    def _isolated(self, s: int, n: int) -> Floats:
        return _binomial(0, self.p, self.n_arcs) * self._tail(s, n)

    @cache  # noqa: B019  (lives as long as the counts, which are cached themselves)
    def links(self, s: int, rest: int, needy: int) -> Floats:
        """Return the law of the number of arcs from s nodes to `rest` others, of which `needy` have at least one."""
        free = _binomial(s * (rest - needy), self.p, self.n_arcs)
        return np.convolve(free, self._reached(s, needy))[: self.n_arcs + 1]

    @cache  # noqa: B019
    def _reached(self, s: int, needy: int) -> Floats:
        """Return the law of the number of arcs from s nodes to `needy` others, each of which has at least one."""
        if needy == 0:
            return _binomial(0, self.p, self.n_arcs)
        one = _binomial(s, self.p, self.n_arcs).copy()
        one[0] = 0.0
        return np.convolve(self._reached(s, needy - 1), one)[: self.n_arcs + 1]

    def _joined(self, n: int, s: int, u: int) -> Floats:
        rest = n - s
        law = np.convolve(self.links(s, rest, u), self.tables[rest][u])[: self.n_arcs + 1]
        return law * self._tail(s, n)

    def draw(self, generator: np.random.Generator) -> list[int]:
        """Draw one DAG with `n_arcs` arcs, uniformly, as parent sets."""
        arcs = self.n_arcs
        weights = self.tables[self.k][:, arcs]
        s = _pick(weights, generator)
        n = self.k
        layers, links = [s], []
        while s < n:
            rest = n - s
            # how many of the rest lose all their parents, and how many arcs reach them
            joint = np.array(
                [self.links(s, rest, u)[: arcs + 1] * self.tables[rest][u][arcs::-1] for u in range(1, rest + 1)]
            )
            chosen = _pick(joint.reshape(-1), generator)
            u, used = chosen // (arcs + 1) + 1, chosen % (arcs + 1)
            links.append((s, rest, u, used))
            layers.append(u)
            arcs, n, s = arcs - used, rest, u
        names = generator.permutation(self.k).tolist()
        parents = [0] * self.k
        start = 0
        for s, rest, u, used in links:
            sources = names[start : start + s]
            start += s
            targets = names[start : start + rest]
            for target, pattern in zip(targets, self._patterns(s, rest, u, used, generator), strict=True):
                for at in pattern:
                    parents[target] |= 1 << sources[at]
        return parents

    def _patterns(self, s: int, rest: int, needy: int, used: int, generator: np.random.Generator) -> list[list[int]]:
        """Draw which of s sources each of `rest` nodes has as parents, the first `needy` at least one."""
        patterns = []
        for left in range(needy, 0, -1):
            own = _binomial(s, self.p, used).copy()
            own[0] = 0.0
            others = self.links(s, rest - (needy - left) - 1, left - 1)[: used + 1]
            number = _pick(own * others[used::-1], generator)
            patterns.append(generator.choice(s, number, replace=False).tolist())
            used -= number
        spare = rest - needy
        chosen = generator.choice(s * spare, used, replace=False) if spare else np.empty(0, np.int64)
        return patterns + [[int(c) % s for c in chosen if int(c) // s == t] for t in range(spare)]


@lru_cache(maxsize=8192)
def _binomial(n: int, p: float, most: int) -> Floats:
    """Return the probabilities of 0 .. most successes among n."""
    found = np.zeros(most + 1)
    for j in range(min(n, most) + 1):
        found[j] = math.comb(n, j) * p**j * (1 - p) ** (n - j)
    return found


def _pick(weights: Floats, generator: np.random.Generator) -> int:
    """Draw a position in proportion to its weight."""
    cumulative = np.cumsum(weights)
    return int(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"))


@lru_cache(maxsize=16)
def arc_counts(k: int, n_arcs: int) -> ArcCounts:
    """Return the counts from which DAGs over k nodes with so many arcs are drawn."""
    if k > MAX_DRAWN:
        raise ValueError(
            f"uniform DAGs are drawn over at most {MAX_DRAWN} nodes, found {k}; use null='edges', whose DAGs are "
            "uniform skeletons in uniform orders"
        )
    return ArcCounts(k, n_arcs)


def draw_ordered(k: int, n_arcs: int, generator: np.random.Generator) -> list[int]:
    """Draw a DAG as uniform positions of arcs in a uniform order, which favours DAGs with many causal orders."""
    pairs = list(itertools.combinations(generator.permutation(k).tolist(), 2))
    parents = [0] * k
    for at in generator.choice(len(pairs), n_arcs, replace=False) if n_arcs else []:
        source, target = pairs[at]
        parents[target] |= 1 << source
    return parents


def draw_orientation(k: int, edges: tuple[tuple[int, int], ...], generator: np.random.Generator) -> list[int]:
    """Draw an acyclic orientation of a skeleton, nearly uniformly, by a chain that reverses one arc at a time.

    A reversal that closes no cycle is as likely as its undoing, and reversals lead from every orientation to every
    other, so that the chain's law is uniform in the limit. It starts from a random order and takes 4 m (1 + log m)
    steps.
    """
    place = generator.permutation(k)
    parents = [0] * k
    for a, b in edges:
        child, parent = (a, b) if place[a] > place[b] else (b, a)
        parents[child] |= 1 << parent
    steps = int(4 * len(edges) * (1 + math.log(max(1, len(edges)))))
    for at in generator.integers(len(edges), size=steps).tolist() if edges else []:
        a, b = edges[at]
        child, parent = (a, b) if parents[a] >> b & 1 else (b, a)
        parents[child] ^= 1 << parent
        parents[parent] ^= 1 << child
        if not _is_dag(parents):
            parents[child] ^= 1 << parent
            parents[parent] ^= 1 << child
    return parents


def _is_dag(parents: list[int]) -> bool:
    return len(causal_order([bits(p) for p in parents])) == len(parents)


def bits(mask: int) -> tuple[int, ...]:
    """Return the positions of the bits of a parent set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
