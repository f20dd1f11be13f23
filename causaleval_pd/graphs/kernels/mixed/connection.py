"""Compiled m-connection in graphs of -> and <->: MAGs and acyclic directed mixed graphs (ADMGs).

Nodes x and y are m-connected given a set iff a walk joins them whose colliders are ancestors of the set, and whose
other inner nodes are not in it.

References
----------
Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel_part

from ..bits import ONE, SIX, ZERO, compact, lowest
from ..inputs import Words
from .rows import Rows, add, close, has, take_lowest

#: rows of memory that `connects` needs
N_ROWS = 5


class Model(NamedTuple):
    """The edges of a graph of -> and <->, and what follows from them, each (d, words)."""

    parents: Words
    children: Words
    #: nodes joined by <->
    spouses: Words
    #: ancestors and descendants; a node is its own
    above: Words
    below: Words


def empty_model(n_nodes: int) -> Model:
    """Return room for a graph."""
    words = max(1, -(-n_nodes // 64))
    return Model(*(np.zeros((n_nodes, words), np.uint64) for _ in Model._fields))


@kernel_part
def close_both(above: Words, below: Words) -> None:
    """Extend one step from each node, and one to it, to all steps; each node reaches itself."""
    compact()
    close(above)
    close(below)
    for v in range(np.uint64(above.shape[0])):
        add(above[v], v)
        add(below[v], v)


@kernel_part
def fill_model(g: Rows, m: Model) -> None:
    """Fill a graph of -> and <-> from its marks: a parent with both has no mark, and nothing else has none."""
    compact()
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            m.parents[v, w] = g.head[v, w] & ~g.far_head[v, w]
            m.children[v, w] = g.far_head[v, w] & ~g.head[v, w]
            m.spouses[v, w] = g.near[v, w] & ~g.tail[v, w] & ~g.far_tail[v, w]
            m.above[v, w] = m.parents[v, w]
            m.below[v, w] = m.children[v, w]
    close_both(m.above, m.below)


@kernel_part
def add_rows(matrix: Words, members: Words, found: Words) -> None:
    """Add the rows of a set of nodes to a row."""
    compact()
    for w in range(np.uint64(members.size)):
        left = members[w]
        while left != ZERO:
            v = (w << SIX) + lowest(left)
            left &= left - ONE
            for k in range(found.size):
                found[k] |= matrix[v, k]


@kernel_part
def connects(m: Model, x: np.uint64, y: np.uint64, given: Words, cut: Words, rows: Words) -> bool:
    """Return whether the graph without the edges from x to the nodes `cut` connects x and y given a set.

    A walk that returns to x has a shorter one, so that the cut edges matter at its first step only. No node of the set
    is a descendant of `cut`, or `cut` is empty: colliders have the same descendants in the set with and without them.
    """
    compact()
    todo_head, todo_tail, seen_head, seen_tail, open_colliders = rows[0], rows[1], rows[2], rows[3], rows[4]
    for w in range(given.size):
        # how a walk that leaves x arrives at the next node
        todo_head[w] = (m.children[x, w] & ~cut[w]) | m.spouses[x, w]
        todo_tail[w] = m.parents[x, w]
        seen_head[w] = todo_head[w]
        seen_tail[w] = todo_tail[w]
        open_colliders[w] = ZERO
    add(seen_head, x)
    add(seen_tail, x)
    add_rows(m.above, given, open_colliders)
    while True:
        if has(seen_head, y) or has(seen_tail, y):
            return True
        at = take_lowest(todo_head)
        by_tail = at < 0
        if by_tail:
            at = take_lowest(todo_tail)
            if at < 0:
                return False
        v = np.uint64(at)
        passes = not has(given, v)
        turns = passes if by_tail else has(open_colliders, v) != ZERO
        for w in range(given.size):
            heads, tails = ZERO, ZERO
            if passes:
                heads |= m.children[v, w]
            if turns:
                heads |= m.spouses[v, w]
                tails |= m.parents[v, w]
            heads &= ~seen_head[w]
            tails &= ~seen_tail[w]
            seen_head[w] |= heads
            seen_tail[w] |= tails
            todo_head[w] |= heads
            todo_tail[w] |= tails
