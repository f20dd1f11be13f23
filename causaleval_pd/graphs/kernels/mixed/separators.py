"""Compiled smallest separators of the nodes that a mixed graph does not join.

References
----------
van der Zander, Liskiewicz & Textor (2019), Separators and adjustment sets in causal graphs, Artificial Intelligence
270, doi:10.1016/j.artint.2018.12.006: smallest separators are smallest vertex cuts of a moral graph of ancestors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import LAST, ONE, SIX, ZERO, compact, lowest
from ..inputs import Ints, Words
from .connection import close_both
from .rows import Rows, add, drop, empty_rows, has, read_marks, take_lowest

#: where a path came from inside a node: from its other side
_INSIDE = -1


class Flow(NamedTuple):
    """Disjoint paths from x to y: every node has a side where paths come in and one where they leave."""

    #: nodes on a path, and the sides that a search has seen, (words,)
    used: Words
    seen_in: Words
    seen_out: Words
    #: node before each node on its path, and where the search reached its sides from, (d,)
    before: Ints
    from_in: Ints
    from_out: Ints
    #: sides to look at: twice the node, and one more where paths leave it, (2 d,)
    stack: Ints


def empty_flow(n_nodes: int) -> Flow:
    """Return room for the paths."""
    words = max(1, -(-n_nodes // 64))
    rows = (np.zeros(words, np.uint64) for _ in range(3))
    return Flow(*rows, *(np.zeros(n_nodes, np.int64) for _ in range(3)), np.zeros(2 * n_nodes + 2, np.int64))


@kernel_part
def _turn_paths(x: np.uint64, y: np.uint64, flow: Flow) -> None:
    """Add the path that a search has found from x to y, and turn those that it crosses."""
    compact()
    at = np.int64(y)
    while True:
        # at the side where paths come in
        if flow.from_in[at] == _INSIDE:
            drop(flow.used, np.uint64(at))
        else:
            flow.before[at] = flow.from_in[at]
            at = flow.from_in[at]
            if at == np.int64(x):
                return
        # at the side where paths leave
        if flow.from_out[at] == _INSIDE:
            add(flow.used, np.uint64(at))
        else:
            at = flow.from_out[at]


@kernel_part
def _add_path(moral: Words, x: np.uint64, y: np.uint64, without: Words, flow: Flow) -> bool:
    """Add one more path from x to y that shares no node with the others; return whether there is one."""
    compact()
    for w in range(without.size):
        flow.seen_in[w] = without[w]
        flow.seen_out[w] = without[w]
    add(flow.seen_in, x)
    add(flow.seen_out, x)
    flow.stack[0] = 2 * np.int64(x) + 1
    size = 1
    while size > 0:
        size -= 1
        v = np.uint64(flow.stack[size] >> 1)
        if flow.stack[size] & 1:
            for w in range(np.uint64(without.size)):
                left = moral[v, w] & ~flow.seen_in[w]
                flow.seen_in[w] |= left
                while left != ZERO:
                    u = (w << SIX) + lowest(left)
                    left &= left - ONE
                    flow.from_in[u] = np.int64(v)
                    if u == y:
                        _turn_paths(x, y, flow)
                        return True
                    flow.stack[size] = 2 * np.int64(u)
                    size += 1
            if v != x and has(flow.used, v) and not has(flow.seen_in, v):
                add(flow.seen_in, v)
                flow.from_in[v] = _INSIDE
                flow.stack[size] = 2 * np.int64(v)
                size += 1
            continue
        u, come = v, np.int64(_INSIDE)
        if has(flow.used, v):
            u, come = np.uint64(flow.before[v]), np.int64(v)
        if not has(flow.seen_out, u):
            add(flow.seen_out, u)
            flow.from_out[u] = come
            flow.stack[size] = 2 * np.int64(u) + 1
            size += 1
    return False


@kernel_part
def _has_cut(moral: Words, x: np.uint64, y: np.uint64, without: Words, most: int, flow: Flow) -> int:
    """Return the size of the smallest vertex cut between x and y without some nodes, or `most` + 1 if it is larger."""
    compact()
    for w in range(without.size):
        flow.used[w] = ZERO
    found = 0
    while found <= most and _add_path(moral, x, y, without, flow):
        found += 1
    return found


@kernel_part
def _add_collider_neighbours(g: Rows, v: np.uint64, inside: Words, found: Words, rows: Words) -> None:
    """Add the nodes that a path of colliders joins to a node, all nodes of it in `inside`: its neighbours there."""
    compact()
    colliders, seen = rows[0], rows[1]
    for w in range(inside.size):
        found[w] |= g.near[v, w] & inside[w]
        colliders[w] = seen[w] = g.far_head[v, w] & inside[w]
    while True:
        u = take_lowest(colliders)
        if u < 0:
            break
        for w in range(inside.size):
            found[w] |= g.head[u, w] & inside[w]
            new = g.head[u, w] & g.far_head[u, w] & inside[w] & ~seen[w]
            seen[w] |= new
            colliders[w] |= new


@kernel_part
def _fill_moral(g: Rows, inside: Words, moral: Words, rows: Words) -> None:
    """Fill the moral graph of a set of nodes."""
    compact()
    for v in range(np.uint64(moral.shape[0])):
        for w in range(inside.size):
            moral[v, w] = ZERO
        if has(inside, v):
            _add_collider_neighbours(g, v, inside, moral[v], rows)
            drop(moral[v], v)


@kernel
def _fill_separators(
    planes: Words, g: Rows, above: Words, below: Words, moral: Words, rows: Words, flow: Flow, out: Words
) -> None:
    """Fill the smallest separator of each pair of nodes of each graph, the first by the order of nodes."""
    compact()
    n_nodes, words = np.uint64(g.near.shape[0]), g.near.shape[1]
    inside, without = rows[2], rows[3]
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        for v in range(n_nodes):
            for w in range(words):
                above[v, w] = g.head[v, w] & g.far_tail[v, w]
                below[v, w] = g.tail[v, w] & g.far_head[v, w]
        close_both(above, below)
        pair = -1
        for x in range(n_nodes):
            for y in range(x + ONE, n_nodes):
                pair += 1
                if has(g.near[x], y):
                    continue
                for w in range(words):
                    inside[w] = above[x, w] | above[y, w]
                    without[w] = ZERO
                _fill_moral(g, inside, moral, rows)
                wanted = _has_cut(moral, x, y, without, np.int64(n_nodes), flow)
                drop(inside, x)
                drop(inside, y)
                for v in range(n_nodes):
                    if wanted == 0:
                        break
                    if not has(inside, v):
                        continue
                    # v is in such a separator iff one of fewer nodes suffices without it
                    add(without, v)
                    if _has_cut(moral, x, y, without, wanted - 1, flow) < wanted:
                        wanted -= 1
                        out[n, pair, v >> SIX] |= ONE << (v & LAST)
                    else:
                        drop(without, v)


def smallest_separators(planes: Words, n_nodes: int) -> Words:
    """Return a smallest m-separator of each pair of nodes that a graph does not join.

    Of those of the same size it is the one whose nodes come first: it depends on the m-separations alone.

    Parameters
    ----------
    planes : (N, 4, W) array
        MAGs, DAGs among them.
    n_nodes : int
        Number of nodes.

    Returns
    -------
    (N, d (d - 1) / 2, words) array of uint64
        Bits of the nodes of each pair's separator; none for pairs that are joined.
    """
    g, flow = empty_rows(n_nodes), empty_flow(n_nodes)
    words = g.near.shape[1]
    above, below, moral = (np.zeros_like(g.near) for _ in range(3))
    rows = np.zeros((4, words), np.uint64)
    out = np.zeros((len(planes), n_nodes * (n_nodes - 1) // 2, words), np.uint64)
    _fill_separators(planes, g, above, below, moral, rows, flow, out)
    return out
