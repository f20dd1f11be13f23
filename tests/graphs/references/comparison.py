"""Operations on blocks of graphs in plain numpy, with the names, arguments and results of the compiled ones.

Graphs are unpacked to boolean matrices with `marks[n, i, j]` for the mark i -> j; loops run over nodes, never over
graphs.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.graphs.kernels.inputs import Words, checked_planes
from causaleval_pd.graphs.kernels.planes import N_PLANES, plane_words

from .adjustment import adjustment_mistakes
from .bounds import sid_bounds
from .relations import ancestor_counts, blanket_counts, separation_mistakes

__all__ = ["adjustment_mistakes", "ancestor_counts", "blanket_counts", "separation_mistakes", "sid_bounds"]

Marks = NDArray[np.bool_]


def unpack(planes: Words, n_nodes: int) -> Marks:
    rows, columns = np.triu_indices(n_nodes, 1)
    marks = np.zeros((len(planes), n_nodes, n_nodes), np.bool_)
    if len(rows) and len(planes):
        octets = np.ascontiguousarray(planes.astype("<u8")).view(np.uint8).reshape(len(planes), N_PLANES, -1)
        bits = np.unpackbits(octets, axis=-1, count=len(rows), bitorder="little").astype(np.bool_)
        marks[:, rows, columns], marks[:, columns, rows] = bits[:, 0], bits[:, 1]
    return marks


def pack(marks: Marks) -> Words:
    n_nodes = marks.shape[1]
    rows, columns = np.triu_indices(n_nodes, 1)
    bits = np.zeros((len(marks), N_PLANES, 64 * plane_words(n_nodes)), np.bool_)
    bits[:, 0, : len(rows)], bits[:, 1, : len(rows)] = marks[:, rows, columns], marks[:, columns, rows]
    return np.packbits(bits, axis=-1, bitorder="little").view("<u8").astype(np.uint64)


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
