"""Compiled conversions of mixed graphs: MAG to PAG and back, maximal completion, and the tests of these classes.

References
----------
Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.
Zhang (2008), doi:10.1016/j.artint.2008.08.001: orienting the circle component of a PAG gives a MAG of its class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ONE, SIX, ZERO, bit_of, compact, lowest, popcount
from ..inputs import Ints, Words
from .rows import (
    Rows,
    add,
    clear,
    empty_rows,
    fill_ancestors,
    has,
    is_empty,
    read_marks,
    set_head,
    set_tail,
    take_lowest,
    write_marks,
)
from .rules import Scratch, orient, scratch_for

#: what to do with each graph
CHECK_MAG, CHECK_PAG, COMPLETE, MAG_TO_PAG, PAG_TO_MAG = range(5)
#: why a graph is not in its class, in the order of the checks
VALID, TAIL_EDGE, NOT_CHORDAL, CYCLE, ALMOST_CYCLE, NOT_MAXIMAL, OTHER_MARKS = range(7)


@kernel_part
def _ancestral_fault(g: Rows, ancestors: Words) -> int:
    """Return why a graph of arrows and tails is not ancestral; fill the rows of ancestors if no edge has other ends."""
    compact()
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            if g.tail[v, w] & ~g.far_head[v, w]:
                return TAIL_EDGE
    fill_ancestors(g, ancestors)
    almost = False
    for v in range(np.uint64(g.near.shape[0])):
        if has(ancestors[v], v):
            return CYCLE
        for w in range(g.near.shape[1]):
            if g.head[v, w] & g.far_head[v, w] & ancestors[v, w]:
                almost = True
    return ALMOST_CYCLE if almost else VALID


@kernel_part
def _joins(g: Rows, ancestors: Words, a: np.uint64, b: np.uint64, todo: Words, seen: Words) -> bool:
    """Return whether an inducing path a *-> q <-> ... <-> r <-* b joins two nodes that are not adjacent."""
    compact()
    for w in range(todo.size):
        todo[w] = g.far_head[a, w] & (ancestors[a, w] | ancestors[b, w])
        seen[w] = todo[w]
    while True:
        v = take_lowest(todo)
        if v < 0:
            return False
        if has(g.far_head[b], np.uint64(v)):
            return True
        for w in range(todo.size):
            new = g.head[v, w] & g.far_head[v, w] & (ancestors[a, w] | ancestors[b, w]) & ~seen[w]
            todo[w] |= new
            seen[w] |= new


@kernel_part
def is_maximal(g: Rows, ancestors: Words, rows: Words, complete: bool) -> bool:
    """Return whether no inducing path joins nodes that are not adjacent; else, if `complete`, join these by <->."""
    compact()
    maximal = True
    for a in range(np.uint64(g.near.shape[0])):
        if is_empty(g.far_head[a]):
            continue
        for b in range(a + ONE, np.uint64(g.near.shape[0])):
            if has(g.near[a], b) or not _joins(g, ancestors, a, b, rows[0], rows[1]):
                continue
            maximal = False
            if not complete:
                return False
            add(g.near[a], b)
            add(g.near[b], a)
            set_head(g, a, b)
            set_head(g, b, a)
    return maximal


@kernel_part
def _representative(pag: Rows, mag: Rows, circles: Words, rows: Words) -> bool:
    """Fill a MAG of the class of a PAG: o-> becomes ->, and circle edges point along a maximum cardinality search.

    Return whether the graph of circle edges is chordal, as that of every PAG is.
    """
    compact()
    clear(mag)
    n_nodes, words = np.uint64(pag.near.shape[0]), np.uint64(pag.near.shape[1])
    placed, mine = rows[0], rows[1]
    for w in range(words):
        placed[w] = ZERO
    for v in range(n_nodes):
        for w in range(words):
            mag.near[v, w] = pag.near[v, w]
            circles[v, w] = pag.near[v, w] & ~(
                pag.head[v, w] | pag.tail[v, w] | pag.far_head[v, w] | pag.far_tail[v, w]
            )
            left = pag.near[v, w] & ~circles[v, w]
            while left != ZERO:
                u = (w << SIX) + lowest(left)
                left &= left - ONE
                if has(pag.head[v], u):
                    set_head(mag, v, u)
                elif has(pag.tail[v], u) or has(pag.far_head[v], u):
                    set_tail(mag, v, u)
                else:  # an edge v o- u, which no legal PAG has
                    set_head(mag, v, u)
    for _ in range(n_nodes):
        best, most = ZERO, -1
        for v in range(n_nodes):
            if not has(placed, v):
                n = 0
                for w in range(words):
                    n += popcount(circles[v, w] & placed[w])
                if n > most:
                    best, most = v, n
        for w in range(words):
            mine[w] = circles[best, w] & placed[w]
        for w in range(words):
            left = mine[w]
            while left != ZERO:
                u = (w << SIX) + lowest(left)
                left &= left - ONE
                for k in range(words):
                    others = mine[k] & ~circles[u, k]
                    if k == u >> SIX:
                        others &= ~bit_of(u)
                    if others != ZERO:
                        return False
                set_head(mag, best, u)
                set_tail(mag, u, best)
        add(placed, best)
    return True


@kernel_part
def _same(left: Words, right: Words) -> bool:
    for p in range(left.shape[0]):
        for w in range(left.shape[1]):
            if left[p, w] != right[p, w]:
                return False
    return True


@kernel
def _convert(
    planes: Words, goal: int, mag: Rows, pag: Rows, matrix: Words, scratch: Scratch, out: Words, faults: Ints
) -> None:
    """Convert or check each graph; `faults` holds why it is not what it should be."""
    compact()
    for n in range(planes.shape[0]):
        fault = VALID
        of_pag = goal in (CHECK_PAG, PAG_TO_MAG)
        read_marks(planes[n], pag if of_pag else mag)
        if of_pag:
            if not _representative(pag, mag, matrix, scratch.rows):
                fault = NOT_CHORDAL
            if goal == CHECK_PAG:
                for v in range(pag.near.shape[0]):
                    for w in range(pag.near.shape[1]):
                        if pag.tail[v, w] & ~pag.far_head[v, w]:
                            fault = TAIL_EDGE
        if fault == VALID and goal <= COMPLETE:
            fault = _ancestral_fault(mag, matrix)
            if fault == VALID and not is_maximal(mag, matrix, scratch.rows, goal == COMPLETE) and goal != COMPLETE:
                fault = NOT_MAXIMAL
        if fault == VALID and goal != CHECK_MAG:
            to_pag = goal in (CHECK_PAG, MAG_TO_PAG)
            if to_pag:
                orient(mag, pag, scratch)
            write_marks(pag if to_pag else mag, out[n])
            if goal == CHECK_PAG and not _same(out[n], planes[n]):
                fault = OTHER_MARKS
        faults[n] = fault


def convert(planes: Words, n_nodes: int, goal: int, most_edges: int) -> tuple[Words, NDArray[np.int64]]:
    """Convert or check graphs (N, 4, W) without double edges; return the results and the codes of their faults.

    `most_edges` is the largest number of edges of a graph after the conversion.
    """
    out, faults = np.zeros_like(planes), np.zeros(len(planes), np.int64)
    mag, pag = empty_rows(n_nodes), empty_rows(n_nodes)
    matrix = np.zeros_like(mag.near)
    _convert(planes, goal, mag, pag, matrix, scratch_for(n_nodes, most_edges), out, faults)
    return out, faults
