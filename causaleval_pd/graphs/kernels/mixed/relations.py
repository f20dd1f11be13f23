"""Compiled relations in mixed graphs: ancestors as far as marks determine them, visible edges, unshielded colliders.

In a PAG a node u may be an ancestor of v iff a possibly directed path leads from u to v. It is one in every MAG of the
class iff a directed path does, or two uncovered possibly directed paths whose first nodes differ and are not adjacent.

References
----------
Zhang (2008), Causal reasoning with ancestral graphs, JMLR 9, for possibly directed paths and visible edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ARROW, NONE, ONE, ZERO, add, compact, count_colliders, has, is_empty, marks_of, members, row_of
from ..inputs import Comparison, Words, checked_comparison
from ..planes import N_MIXED_PLANES, row_words
from .classes import Scratch, fill_by_first_step, fill_discriminating, fill_first_steps, scratch_for
from .rows import Rows, close, empty_rows, read_marks

#: which relation to find
ANCESTORS, DIRECTED_PATHS, VISIBLE = range(3)
#: codes of ordered pairs (u, v): u is not an ancestor of v, a possible one, one in every graph of the class
NOT, POSSIBLE, DEFINITE = range(3)


@kernel_part
def _paths(g: Rows, certain: Words, possible: Words) -> None:
    """Fill the nodes to which directed, and possibly directed, paths lead from each node."""
    compact()
    for v in range(np.uint64(g.near.shape[0])):
        for w in range(g.near.shape[1]):
            certain[v, w] = g.tail[v, w] & g.far_head[v, w]
        fill_first_steps(g, v, possible[v])
    close(certain)
    close(possible)


@kernel_part
def _second_paths(g: Rows, certain: Words, possible: Words, scratch: Scratch) -> None:
    """Add the nodes to which two uncovered possibly directed paths lead whose first nodes are not adjacent."""
    compact()
    first, ends = scratch.rows[0], scratch.rows[1]
    words = np.uint64(g.near.shape[1])
    for u in range(np.uint64(g.near.shape[0])):
        for w in range(words):
            ends[w] = possible[u, w] & ~certain[u, w]
        if is_empty(ends):
            continue
        fill_first_steps(g, u, first)
        fill_by_first_step(g, u, first, ends, scratch)
        for w in range(words):
            for f in members(w, first[w]):
                for k in range(words):
                    for h in members(k, first[k] & ~g.near[f, k]):
                        if h != f:
                            for at in range(words):
                                certain[u, at] |= scratch.reached[f, at] & scratch.reached[h, at]


@kernel
def _relate(
    planes: Words, relation: int, g: Rows, certain: Words, possible: Words, scratch: Scratch, out: NDArray[np.uint8]
) -> None:
    """Fill the codes of ordered pairs of each graph."""
    compact()
    n_nodes = np.uint64(g.near.shape[0])
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        if relation == VISIBLE:
            for c in range(n_nodes):
                if not is_empty(g.head[c]):
                    fill_discriminating(g, c, scratch.rows[0], scratch.rows[1])
                    for a in range(n_nodes):
                        out[n, a, c] = has(scratch.rows[0], a)
            continue
        _paths(g, certain, possible)
        if relation == ANCESTORS:
            _second_paths(g, certain, possible, scratch)
        for u in range(n_nodes):
            for v in range(n_nodes):
                if u != v:
                    out[n, u, v] = DEFINITE if has(certain[u], v) else POSSIBLE if has(possible[u], v) else NOT


def relate(planes: Words, n_nodes: int, relation: int, most_edges: int) -> NDArray[np.uint8]:
    """Return (N, d, d) codes of ordered pairs (u, v) of graphs (N, 4, W) without double edges."""
    out = np.zeros((len(planes), n_nodes, n_nodes), np.uint8)
    rows = empty_rows(n_nodes)
    certain, possible = np.zeros_like(rows.near), np.zeros_like(rows.near)
    _relate(planes, relation, rows, certain, possible, scratch_for(n_nodes, most_edges), out)
    return out


@kernel_part
def _head_rows(planes: Words, heads: Words, near: Words) -> None:
    """Fill for each node the nodes on whose edge it has a head, also beside a tail, and those adjacent to it."""
    compact()
    heads[:] = ZERO
    near[:] = ZERO
    n_nodes = np.uint64(near.shape[0])
    i, end = ZERO, n_nodes - ONE
    for w in range(np.uint64(planes.shape[1])):
        for pair in members(w, planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]):
            i, end = row_of(pair, i, end, n_nodes)
            j = pair + n_nodes - end
            here, there = marks_of(planes, w, pair)
            add(near[i], j)
            add(near[j], i)
            if here == ARROW or (here == NONE and there == ARROW):
                add(heads[i], j)
            if there == ARROW or (there == NONE and here == ARROW):
                add(heads[j], i)


@kernel
def _collider_counts(pairs: Comparison, rows: Words, out: NDArray[np.float64]) -> None:
    """Fill the unshielded colliders of truth, estimate and both, one row each."""
    compact()
    heads, near, claimed, other = rows[0], rows[1], rows[2], rows[3]
    true = 0
    for n in range(pairs.truth_index.size):
        if n == 0 or pairs.truth_index[n] != pairs.truth_index[n - 1]:  # controls of one row share their truth
            _head_rows(pairs.truth[pairs.truth_index[n]], heads, near)
            true = count_colliders(heads, near)
        _head_rows(pairs.estimate[pairs.estimate_index[n]], claimed, other)
        out[0, n], out[1, n] = true, count_colliders(claimed, other)
        for v in range(heads.shape[0]):
            for w in range(heads.shape[1]):
                claimed[v, w] &= heads[v, w]
                other[v, w] |= near[v, w]
        out[2, n] = count_colliders(claimed, other)


def collider_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.float64]:
    """Count unshielded colliders A *-> B <-* C, A and C not adjacent.

    Rows of the result (3, n): those of the truth, of the estimate and of both. Planes have four of each graph; other
    parameters are those of `adjacency_counts`, of four planes.
    """
    pairs = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=N_MIXED_PLANES)
    out = np.empty((3, len(pairs.truth_index)))
    _collider_counts(pairs, np.zeros((4, n_nodes, row_words(n_nodes)), np.uint64), out)
    return out
