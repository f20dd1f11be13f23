"""Compiled rows of bits of graphs with marks at both ends of an edge: tail, arrow or circle.

A graph of d nodes is five matrices of bits, one row per node: its neighbours; those on whose edge this node has a head,
or a tail; those that have a head, or a tail, on the edge. Circles are what is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel_part

from .. import bits
from ..inputs import Words
from ..planes import row_words


class Rows(NamedTuple):
    """The marks of one graph, each (d, words)."""

    #: nodes joined by an edge
    near: Words
    #: nodes on whose edge this node has an arrowhead, or a tail
    head: Words
    tail: Words
    #: nodes that have an arrowhead, or a tail, on the edge
    far_head: Words
    far_tail: Words


def empty_rows(n_nodes: int) -> Rows:
    """Return room for the marks of one graph."""
    return Rows(*np.zeros((5, n_nodes, row_words(n_nodes)), np.uint64))


@kernel_part
def set_head(g: Rows, v: np.uint64, u: np.uint64) -> None:
    """Put an arrowhead at v on the edge v - u."""
    bits.compact()
    g.head[v, u >> bits.SIX] |= bits.bit_of(u)
    g.far_head[u, v >> bits.SIX] |= bits.bit_of(v)


@kernel_part
def set_tail(g: Rows, v: np.uint64, u: np.uint64) -> None:
    """Put a tail at v on the edge v - u."""
    bits.compact()
    g.tail[v, u >> bits.SIX] |= bits.bit_of(u)
    g.far_tail[u, v >> bits.SIX] |= bits.bit_of(v)


@kernel_part
def clear(g: Rows) -> None:
    """Remove all edges."""
    bits.compact()
    for rows in g:
        rows[:] = bits.ZERO


@kernel_part
def read_marks(planes: Words, g: Rows) -> None:
    """Read four planes (4, W); of a pair with two edges, a mark at one end only."""
    bits.compact()
    clear(g)
    n_nodes = np.uint64(g.near.shape[0])
    i, end = bits.ZERO, n_nodes - bits.ONE
    for w in range(np.uint64(planes.shape[1])):
        for pair in bits.members(w, planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]):
            i, end = bits.row_of(pair, i, end, n_nodes)
            j = pair + n_nodes - end
            bits.add(g.near[i], j)
            bits.add(g.near[j], i)
            here, there = bits.marks_of(planes, w, pair)
            if here == bits.ARROW:
                set_head(g, i, j)
            elif here == bits.TAIL:
                set_tail(g, i, j)
            if there == bits.ARROW:
                set_head(g, j, i)
            elif there == bits.TAIL:
                set_tail(g, j, i)


@kernel_part
def put_marks(planes: Words, pair: np.uint64, here: np.uint64, there: np.uint64) -> None:
    """Set the codes of one pair, which are zero."""
    bits.compact()
    w, at = pair >> bits.SIX, pair & bits.LAST
    planes[0, w] |= (here & bits.ONE) << at
    planes[1, w] |= (here >> bits.ONE) << at
    planes[2, w] |= (there & bits.ONE) << at
    planes[3, w] |= (there >> bits.ONE) << at


@kernel_part
def _code(g: Rows, v: np.uint64, u: np.uint64) -> np.uint64:
    """Return the code of the mark at v on the edge v - u."""
    bits.compact()
    if bits.has(g.head[v], u):
        return bits.ARROW
    return bits.TAIL if bits.has(g.tail[v], u) else bits.CIRCLE


@kernel_part
def write_marks(g: Rows, names: Words, planes: Words) -> None:
    """Write a graph into four planes (4, W) that are zero, its nodes by the numbers that `names` gives them."""
    bits.compact()
    n_nodes = np.uint64(g.near.shape[0])
    for v in range(n_nodes):
        for w in range(v >> bits.SIX, np.uint64(g.near.shape[1])):
            for u in bits.members(w, g.near[v, w]):
                if u > v:
                    a, b = v, u
                    if names[a] > names[b]:
                        a, b = b, a
                    put_marks(planes, bits.pair_of(names[a], names[b], n_nodes), _code(g, a, b), _code(g, b, a))


@kernel_part
def close(reach: Words) -> None:
    """Extend one step from each node to all steps."""
    bits.compact()
    n_nodes = np.uint64(reach.shape[0])
    for k in range(n_nodes):
        for v in range(n_nodes):
            if bits.has(reach[v], k):
                for w in range(reach.shape[1]):
                    reach[v, w] |= reach[k, w]


@kernel_part
def fill_ancestors(g: Rows, ancestors: Words) -> None:
    """Fill each node's row with those that have a directed path to it (on a cycle, itself)."""
    bits.compact()
    for v in range(ancestors.shape[0]):
        for w in range(ancestors.shape[1]):
            ancestors[v, w] = g.head[v, w] & g.far_tail[v, w]
    close(ancestors)
