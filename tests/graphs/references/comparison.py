"""Operations on blocks of graphs in plain numpy, with the names, arguments and results of the compiled ones.

Graphs are unpacked to boolean matrices with `marks[n, i, j]` for the mark i -> j; loops run over nodes, never over
graphs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels.inputs import Words, checked_comparison, checked_draws, checked_planes, read_only
from causaleval_pd.graphs.kernels.planes import CLASS_BITS, DAG, KINDS, N_PLANES, count_ones, plane_words

from .adjustment import adjustment_mistakes
from .bounds import sid_bounds
from .relations import ancestor_counts, blanket_counts, separation_mistakes

__all__ = [
    "adjacency_counts",
    "adjustment_mistakes",
    "ancestor_counts",
    "blanket_counts",
    "dag_to_cpdag",
    "degrees",
    "direction_counts",
    "draw_graphs",
    "extend_to_dag",
    "is_acyclic",
    "separation_mistakes",
    "sid_bounds",
    "split_cells",
    "v_structure_counts",
]

Marks = NDArray[np.bool_]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def unpack(planes: Words, n_nodes: int) -> Marks:
    """Turn planes into matrices of marks."""
    rows, columns = np.triu_indices(n_nodes, 1)
    marks = np.zeros((len(planes), n_nodes, n_nodes), np.bool_)
    if len(rows) and len(planes):
        octets = np.ascontiguousarray(planes.astype("<u8")).view(np.uint8).reshape(len(planes), N_PLANES, -1)
        bits = np.unpackbits(octets, axis=-1, count=len(rows), bitorder="little").astype(np.bool_)
        marks[:, rows, columns], marks[:, columns, rows] = bits[:, 0], bits[:, 1]
    return marks


def pack(marks: Marks) -> Words:
    """Turn matrices of marks into planes."""
    n_nodes = marks.shape[1]
    rows, columns = np.triu_indices(n_nodes, 1)
    bits = np.zeros((len(marks), N_PLANES, 64 * plane_words(n_nodes)), np.bool_)
    bits[:, 0, : len(rows)], bits[:, 1, : len(rows)] = marks[:, rows, columns], marks[:, columns, rows]
    return np.packbits(bits, axis=-1, bitorder="little").view("<u8").astype(np.uint64)


def adjacency_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> tuple[NDArray[np.float64], ...]:
    """Count the adjacencies that pairs of graphs share, and the pairs of nodes on which they differ."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    t, e = given.truth[given.truth_index], given.estimate[given.estimate_index]
    true, estimated = t[:, 0] | t[:, 1], e[:, 0] | e[:, 1]
    unlike = (t[:, 0] ^ e[:, 0]) | (t[:, 1] ^ e[:, 1])
    parts = [true & estimated, estimated & ~true, true & ~estimated, true | estimated, unlike]
    tp, fp, fn, some, different = (count_ones(part).sum(axis=1, dtype=np.float64) for part in parts)
    return tp, fp, fn, n_nodes * (n_nodes - 1) // 2 - some, different


def direction_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count directed edges of pairs of graphs, and the directions of the adjacencies that they share."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    t, e = given.truth[given.truth_index], given.estimate[given.estimate_index]
    true_arrow, estimated_arrow = t[:, 0] ^ t[:, 1], e[:, 0] ^ e[:, 1]
    both, turned = true_arrow & estimated_arrow, t[:, 0] ^ e[:, 0]
    parts = [both & ~turned, both & turned, true_arrow, estimated_arrow]
    parts += [true_arrow & e[:, 0] & e[:, 1], estimated_arrow & t[:, 0] & t[:, 1]]
    return np.stack([count_ones(part).sum(axis=1, dtype=np.float64) for part in parts])


def causal_ranks(directed: Marks) -> NDArray[np.int64]:
    """Peel off nodes without parents, layer by layer; -1 for nodes on or behind a cycle."""
    rank = np.full(directed.shape[:2], -1, np.int64)
    placed = np.zeros(len(directed), np.int64)
    for _ in range(directed.shape[1]):
        waiting = np.asarray((directed & (rank < 0)[:, :, None]).any(axis=1))
        ready = (rank < 0) & ~waiting
        if not ready.any():
            break
        rank = np.where(ready, placed[:, None] + np.cumsum(ready, axis=1) - 1, rank)
        placed += ready.sum(axis=1)
    return rank


def is_acyclic(planes: ArrayLike, n_nodes: int) -> NDArray[np.bool_]:
    """Return which graphs have no cycle of directed edges; undirected edges are ignored."""
    marks = unpack(checked_planes(planes, n_nodes), n_nodes)
    return np.asarray((causal_ranks(marks & ~marks.transpose(0, 2, 1)) >= 0).all(axis=1))


def _compelled(parents: Marks) -> Marks:
    """Return which edges of DAGs whose nodes are numbered in a causal order are directed in the CPDAG.

    `parents[n, y, x]` for x -> y. Let x be the last parent of y: if a parent of y other than x is no parent of x, or a
    compelled parent of x is no parent of y, all edges into y are compelled, else those from the compelled parents of x.
    """
    compelled = np.zeros_like(parents)
    every = np.arange(len(parents))
    for y in range(parents.shape[1]):
        mine = parents[:, y]
        some = np.asarray(mine.any(axis=1))
        x = np.where(some, parents.shape[1] - 1 - np.argmax(mine[:, ::-1], axis=1), 0)
        others = mine.copy()
        others[every, x] = False
        whole = np.asarray(((others & ~parents[every, x]) | (compelled[every, x] & ~mine)).any(axis=1))
        compelled[:, y] = np.where(whole[:, None], mine, compelled[every, x]) & some[:, None]
    return compelled


def dag_to_cpdag(planes: ArrayLike, n_nodes: int) -> tuple[Words, NDArray[np.bool_]]:
    """Replace DAGs by the CPDAGs of their classes."""
    marks = unpack(checked_planes(planes, n_nodes), n_nodes)
    rank = causal_ranks(marks)
    acyclic = np.asarray((rank >= 0).all(axis=1))
    order = np.argsort(rank, axis=1, kind="stable")
    every = np.arange(len(marks))[:, None, None]
    ranked = marks[every, order[:, :, None], order[:, None, :]].transpose(0, 2, 1)
    undirected = ranked & ~_compelled(ranked)
    both = ranked.transpose(0, 2, 1) | undirected
    found = np.zeros_like(marks)
    found[every, order[:, :, None], order[:, None, :]] = both
    return pack(found & acyclic[:, None, None]), acyclic


def extend_to_dag(planes: ArrayLike, n_nodes: int) -> tuple[Words, NDArray[np.bool_]]:
    """Orient the undirected edges of PDAGs without new v-structures or cycles, where that is possible."""
    marks = unpack(checked_planes(planes, n_nodes), n_nodes)
    extended = np.zeros_like(marks)
    alive = np.ones(marks.shape[:2], np.bool_)
    adjacent = marks | marks.transpose(0, 2, 1)
    for _ in range(n_nodes):
        before = alive.sum()
        for x in range(n_nodes):
            here = alive.copy()
            here[:, x] = False
            child = marks[:, x] & ~marks[:, :, x] & here
            neighbour = marks[:, x] & marks[:, :, x] & here
            around = adjacent[:, x] & here
            # y neighbour of x, z another node around x: they must be adjacent
            apart = around[:, None, :] & ~adjacent & ~np.eye(n_nodes, dtype=np.bool_)
            sink = alive[:, x] & ~child.any(axis=1) & ~(apart.any(axis=2) & neighbour).any(axis=1)
            extended[:, :, x] |= sink[:, None] & marks[:, :, x] & here
            alive[:, x] &= ~sink
        if alive.sum() == before:
            break
    ok = np.asarray(~alive.any(axis=1))
    return pack(extended & ok[:, None, None]), ok


def v_structure_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int32]:
    """Count unshielded colliders i -> k <- j of directed edges, i and j not adjacent."""
    given = checked_comparison(truth, estimate, truth_index, estimate_index)
    true = _colliders(unpack(checked_planes(given.truth, n_nodes), n_nodes))[given.truth_index]
    estimated = _colliders(unpack(checked_planes(given.estimate, n_nodes), n_nodes))[given.estimate_index]
    return np.stack([x.sum(axis=(1, 2, 3), dtype=np.int32) for x in (true, estimated, true & estimated)], axis=1)


def _colliders(marks: Marks) -> Marks:
    """Return triples [n, k, i, j] with i < j."""
    parents = (marks & ~marks.transpose(0, 2, 1)).transpose(0, 2, 1)
    apart = np.triu(~(marks | marks.transpose(0, 2, 1)), 1)
    return np.asarray(parents[:, :, :, None] & parents[:, :, None, :] & apart[:, None])


def degrees(planes: ArrayLike, n_nodes: int) -> NDArray[np.int32]:
    """Count directed edges into and out of each node, and undirected ones."""
    marks = unpack(checked_planes(planes, n_nodes), n_nodes)
    undirected = marks & marks.transpose(0, 2, 1)
    directed = marks ^ undirected
    return np.stack([directed.sum(axis=1), directed.sum(axis=2), undirected.sum(axis=1)], axis=-1).astype(np.int32)


def _mix(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _two_below(word: Words, n: Words, m: Words) -> tuple[NDArray[np.bool_], Words, Words]:
    """Return which words are accepted, and numbers below `n` and below `m`."""
    low, high = (word & _LOW) * n, (word >> _32) * m
    space = np.uint64(1) << _32
    return ((low & _LOW) >= space % n) & ((high & _LOW) >= space % m), low >> _32, high >> _32


def draw_graphs(
    n_nodes: int, n_edges: ArrayLike, cpdag: ArrayLike, keys: ArrayLike, start: int, count: int, order: ArrayLike = ()
) -> Words:
    """Draw random graphs with given numbers of edges."""
    given = checked_draws(n_nodes, n_edges, cpdag, keys, start, count, order)
    wanted = np.broadcast_to(given.n_edges, (len(given.keys), count)).ravel()
    base = _mix(given.keys + _STEP)
    numbers = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    state = _mix((base[:, None] + numbers * _STEP).ravel())
    n_pairs = n_nodes * (n_nodes - 1) // 2
    complement = 2 * wanted > n_pairs
    left = np.where(complement, n_pairs - wanted, wanted)
    parents = np.zeros((len(state), n_nodes, n_nodes), np.bool_)
    active = np.flatnonzero(left > 0)
    size = np.full(1, n_nodes, np.uint64)
    while len(active):
        state[active] += _STEP
        accepted, a, b = _two_below(_mix(state[active]), size, size - np.uint64(1))
        b = b + (b >= a)
        high, low = np.maximum(a, b).astype(np.int64), np.minimum(a, b).astype(np.int64)
        new = accepted & ~parents[active, high, low]
        parents[active[new], high[new], low[new]] = True
        left[active[new]] -= 1
        active = active[left[active] > 0]
    parents[complement] = np.tril(~parents[complement], -1)
    ranks = np.tile(given.order if len(given.order) else np.arange(n_nodes), (len(state), 1))
    if not len(given.order):
        _shuffle(state, ranks)
    mapped = np.repeat(given.cpdag, count)
    undirected = parents & ~_compelled(parents) & mapped[:, None, None]
    both = parents.transpose(0, 2, 1) | undirected
    marks = np.zeros_like(both)
    marks[np.arange(len(state))[:, None, None], ranks[:, :, None], ranks[:, None, :]] = both
    return pack(marks)


def _shuffle(state: Words, ranks: NDArray[np.int64]) -> None:
    """Shuffle each row, two places a word."""
    left = np.full(len(ranks), ranks.shape[1], np.uint64)
    active = np.flatnonzero(left > 1)
    while len(active):
        state[active] += _STEP
        room = left[active]
        accepted, j, k = _two_below(_mix(state[active]), room, room - np.uint64(1))
        rows = active[accepted]
        for back, place in ((1, j[accepted]), (2, k[accepted])):
            last, other = left[rows].astype(np.int64) - back, place.astype(np.int64)
            ranks[rows, last], ranks[rows, other] = ranks[rows, other], ranks[rows, last]
        left[rows] -= np.uint64(2)
        active = active[left[active] > 1]


def split_cells(
    cells: ArrayLike, before: int, size: int, words: int, padding: np.uint64
) -> tuple[Words, NDArray[np.uint8], bool]:
    """Take packed cells apart that should all have the first one's header."""
    given = read_only(cells, np.uint64)
    planes = given[:, size:].reshape(len(given), N_PLANES, words).copy()
    kinds = ((given[:, before] >> np.uint64(16)) & np.uint64(0xFF)).astype(np.uint8)
    header = given[:, before:size] ^ given[:1, before:size]
    header[:, 0] &= ~CLASS_BITS
    undirected = (planes[:, 0] & planes[:, 1]).any(axis=1)
    faulty = header.any(axis=1) | (planes[:, :, -1] & padding).any(axis=1) | (kinds >= len(KINDS))
    return planes, kinds, not bool((faulty | (undirected & (kinds == DAG))).any())
