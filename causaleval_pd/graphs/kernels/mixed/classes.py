"""Compiled conversions of mixed graphs: MAG to PAG and back, maximal completion, and the tests of these classes.

Without selection bias, the orientation rules R0-R4 and R8-R10 are complete. R4 needs no search for a discriminating
path: such a path for b between a and c exists iff a is a parent of c from which a chain of bidirected edges between
parents of c leads to one that has a head from a node not adjacent to c.

References
----------
Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.
Zhang (2008), On the completeness of orientation rules for causal discovery in the presence of latent confounders and
selection bias, Artificial Intelligence 172, doi:10.1016/j.artint.2008.08.001; also: orienting the circle component of a
PAG gives a MAG of its class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .. import bits
from ..inputs import Words
from ..planes import row_words
from .rows import Rows, clear, empty_rows, fill_ancestors, read_marks, set_head, set_tail, write_marks

_SIDE = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)


class Scratch(NamedTuple):
    """Memory for the rules."""

    #: (d, words): previous nodes on walks to a node; nodes reached by each first step
    before: Words
    reached: Words
    #: (4, words)
    rows: Words
    #: one entry for each direction of each edge
    stack: Words


def scratch_for(n_nodes: int, most_edges: int) -> Scratch:
    """Return memory for graphs of at most `most_edges` edges."""
    words = row_words(n_nodes)
    before, reached = np.zeros((2, n_nodes, words), np.uint64)
    return Scratch(before, reached, np.zeros((4, words), np.uint64), np.zeros(2 * most_edges + 1, np.uint64))


@kernel_part
def fill_discriminating(g: Rows, c: np.uint64, parents: Words, frontier: Words) -> bool:
    """Fill the parents of c, by visible edges, that end discriminating paths for its neighbours; return if any do."""
    bits.compact()
    any_found = False
    parents[:] = bits.ZERO
    for w in range(np.uint64(parents.size)):
        for a in bits.members(w, g.head[c, w] & g.far_tail[c, w]):
            for k in range(parents.size):
                if g.head[a, k] & ~g.near[c, k]:
                    parents[w] |= bits.bit_of(a)
                    any_found = True
                    break
        frontier[w] = parents[w]
    if any_found:
        while True:
            a = bits.take_lowest(frontier)
            if a == bits.NO_NODE:
                break
            for w in range(parents.size):
                new = g.head[a, w] & g.far_head[a, w] & g.head[c, w] & g.far_tail[c, w] & ~parents[w]
                parents[w] |= new
                frontier[w] |= new
    return any_found


@kernel_part
def _orient_circles(g: Rows, row: Words) -> bool:
    """Apply R1-R3 to each circle, that of v on v o-* u; return whether anything changes."""
    bits.compact()
    changed = False
    words = np.uint64(g.near.shape[1])
    for v in range(np.uint64(g.near.shape[0])):
        if bits.is_empty(g.head[v]):
            continue
        for w in range(words):
            for u in bits.members(w, g.near[v, w] & ~g.head[v, w] & ~g.tail[v, w]):
                away, into = bits.ZERO, bits.ZERO
                for k in range(words):
                    # R1: a *-> v, a and u not adjacent
                    away |= g.head[v, k] & ~g.near[u, k]
                    # R2: u -> b *-> v or u *-> b -> v
                    into |= g.far_head[u, k] & g.head[v, k] & (g.tail[u, k] | g.far_tail[v, k])
                    # R3: a *-> v <-* c, a *-o u o-* c, a and c not adjacent
                    row[k] = g.head[v, k] & g.near[u, k] & ~g.head[u, k] & ~g.tail[u, k]
                if away != bits.ZERO:
                    set_tail(g, v, u)
                    set_head(g, u, v)
                elif into != bits.ZERO or not bits.is_clique(row, g.near):
                    set_head(g, v, u)
                else:
                    continue
                changed = True
    return changed


@kernel_part
def _rule_4(mag: Rows, g: Rows, rows: Words) -> bool:
    """Orient b o-* c at the end of a discriminating path: b -> c, or b <-> c with a head at b from the path too."""
    bits.compact()
    changed = False
    words = np.uint64(g.near.shape[1])
    parents, frontier, others = rows[0], rows[1], rows[2]
    for c in range(np.uint64(g.near.shape[0])):
        open_ends = bits.ZERO
        for w in range(words):
            open_ends |= g.near[c, w] & ~g.far_head[c, w] & ~g.far_tail[c, w]
        if open_ends == bits.ZERO or not fill_discriminating(g, c, parents, frontier):
            continue
        for w in range(words):
            for b in bits.members(w, g.near[c, w] & ~g.far_head[c, w] & ~g.far_tail[c, w]):
                for k in range(words):
                    others[k] = parents[k] & g.far_head[b, k]
                if bits.is_empty(others):
                    continue
                changed = True
                set_head(g, c, b)
                if bits.has(mag.tail[b], c):
                    set_tail(g, b, c)
                    continue
                set_head(g, b, c)
                for k in range(words):
                    for a in bits.members(k, others[k]):
                        set_head(g, b, a)
    return changed


@kernel_part
def fill_uncovered(g: Rows, a: np.uint64, first: Words, before: Words, stack: Words, reached: Words) -> None:
    """Fill where uncovered possibly directed walks from a end whose first step is in `first`."""
    # no step has a head at its start or a tail at its end, and no three nodes in a row are a triangle
    bits.compact()
    before[:] = bits.ZERO
    words = np.uint64(g.near.shape[1])
    top = 0
    for w in range(words):
        reached[w] = first[w]
        for f in bits.members(w, first[w]):
            bits.add(before[f], a)
            stack[top] = a << _SIDE | f
            top += 1
    while top:
        top -= 1
        u, v = stack[top] >> _SIDE, stack[top] & _LOWER
        for w in range(words):
            for x in bits.members(w, g.near[v, w] & ~g.head[v, w] & ~g.far_tail[v, w] & ~g.near[u, w]):
                if x not in (u, a) and not bits.has(before[x], v):
                    bits.add(before[x], v)
                    bits.add(reached, x)
                    stack[top] = v << _SIDE | x
                    top += 1


@kernel_part
def fill_first_steps(g: Rows, a: np.uint64, first: Words) -> None:
    """Fill the neighbours of a on edges with neither a head at a nor a tail at the neighbour."""
    bits.compact()
    for w in range(first.size):
        first[w] = g.near[a, w] & ~g.head[a, w] & ~g.far_tail[a, w]


@kernel_part
def fill_by_first_step(g: Rows, a: np.uint64, first: Words, ends: Words, scratch: Scratch) -> None:
    """Fill in `scratch.reached` the `ends` of uncovered walks from a by each first step; drop those that reach none."""
    bits.compact()
    one = scratch.rows[2]
    words = np.uint64(first.size)
    for w in range(words):
        for f in bits.members(w, first[w]):
            one[:] = bits.ZERO
            bits.add(one, f)
            fill_uncovered(g, a, one, scratch.before, scratch.stack, scratch.reached[f])
            for k in range(words):
                scratch.reached[f, k] &= ends[k]
            if bits.is_empty(scratch.reached[f]):
                bits.drop(first, f)


@kernel_part
def _rule_9(g: Rows, a: np.uint64, c: np.uint64, scratch: Scratch) -> bool:
    """Return whether an uncovered possibly directed path leads from a to c by a node that is not adjacent to c."""
    bits.compact()
    first, ends = scratch.rows[0], scratch.rows[1]
    fill_first_steps(g, a, first)
    bits.drop(first, c)
    for w in range(first.size):
        first[w] &= ~g.near[c, w]
    if bits.is_empty(first):
        return False
    fill_uncovered(g, a, first, scratch.before, scratch.stack, ends)
    return bits.has(ends, c) != bits.ZERO


@kernel_part
def _rule_10(g: Rows, a: np.uint64, c: np.uint64, scratch: Scratch) -> bool:
    """Return whether such paths from a, by two nodes that are not adjacent, end at two parents of c."""
    bits.compact()
    first, parents, reached = scratch.rows[0], scratch.rows[1], scratch.reached
    words = np.uint64(first.size)
    for w in range(words):
        parents[w] = g.head[c, w] & g.far_tail[c, w]
    bits.drop(parents, a)
    n_parents = 0
    for w in range(words):
        n_parents += bits.popcount(parents[w])
    if n_parents < 2:
        return False
    fill_first_steps(g, a, first)
    bits.drop(first, c)
    fill_by_first_step(g, a, first, parents, scratch)
    for w in range(words):
        for f in bits.members(w, first[w]):
            for k in range(words):
                for h in bits.members(k, first[k] & ~g.near[f, k]):
                    ends = 0
                    for at in range(words):
                        ends += bits.popcount(reached[f, at] | reached[h, at])
                    if h != f and ends > 1:
                        return True
    return False


@kernel_part
def orient_tails(g: Rows, scratch: Scratch) -> bool:
    """Apply R8-R10 to each a o-> c until nothing changes: a -> c; return whether anything did."""
    bits.compact()
    any_changed, changed = False, True
    while changed:
        changed = False
        for c in range(np.uint64(g.near.shape[0])):
            for w in range(np.uint64(g.near.shape[1])):
                for a in bits.members(w, g.head[c, w] & ~g.far_head[c, w] & ~g.far_tail[c, w]):
                    middles = bits.ZERO  # R8: a -> b -> c
                    for k in range(g.near.shape[1]):
                        middles |= g.tail[a, k] & g.far_head[a, k] & g.head[c, k] & g.far_tail[c, k]
                    if middles != bits.ZERO or _rule_9(g, a, c, scratch) or _rule_10(g, a, c, scratch):
                        set_tail(g, a, c)
                        changed = True
        any_changed |= changed
    return any_changed


@kernel_part
def orient_heads(mag: Rows, g: Rows, scratch: Scratch) -> None:
    """Apply R1-R4 until nothing changes: with R0 they find all heads that the class shares; R8-R10 add none."""
    bits.compact()
    while _orient_circles(g, scratch.rows[0]) or _rule_4(mag, g, scratch.rows):
        pass


@kernel_part
def begin(mag: Rows, g: Rows) -> None:
    """Fill g with the skeleton of a MAG and the heads of its unshielded colliders."""
    bits.compact()
    clear(g)
    for v in range(g.near.shape[0]):
        bits.copy_row(mag.near[v], g.near[v], g.near.shape[1])
    # R0
    for v in range(np.uint64(mag.near.shape[0])):
        for w in range(np.uint64(mag.near.shape[1])):
            for a in bits.members(w, mag.head[v, w]):
                for k in range(np.uint64(mag.near.shape[1])):
                    others = mag.head[v, k] & ~mag.near[a, k]
                    if k == a >> bits.SIX:
                        others &= ~bits.bit_of(a)
                    if others:
                        set_head(g, v, a)
                        break


#: what to do with each graph
GOALS = ("CHECK_MAG", "CHECK_PAG", "COMPLETE", "MAG_TO_PAG", "PAG_TO_MAG")
_CHECK_MAG, _CHECK_PAG, _COMPLETE, _MAG_TO_PAG, _PAG_TO_MAG = range(len(GOALS))


@kernel_part
def _has_tail_edge(g: Rows) -> bool:
    """Return whether an edge has a tail at one end and no head at the other."""
    bits.compact()
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            if g.tail[v, w] & ~g.far_head[v, w]:
                return True
    return False


@kernel_part
def _is_ancestral(g: Rows, ancestors: Words) -> bool:
    """Return whether a graph of arrows and tails is ancestral; fill the rows of ancestors if no edge has other ends."""
    bits.compact()
    if _has_tail_edge(g):
        return False
    fill_ancestors(g, ancestors)
    for v in range(np.uint64(g.near.shape[0])):
        if bits.has(ancestors[v], v):
            return False
        for w in range(g.near.shape[1]):
            if g.head[v, w] & g.far_head[v, w] & ancestors[v, w]:
                return False
    return True


@kernel_part
def _joins(g: Rows, ancestors: Words, a: np.uint64, b: np.uint64, todo: Words, seen: Words) -> bool:
    """Return whether an inducing path a *-> q <-> ... <-> r <-* b joins two nodes that are not adjacent."""
    bits.compact()
    for w in range(todo.size):
        todo[w] = g.far_head[a, w] & (ancestors[a, w] | ancestors[b, w])
        seen[w] = todo[w]
    while True:
        v = bits.take_lowest(todo)
        if v == bits.NO_NODE:
            break
        if bits.has(g.far_head[b], v):
            return True
        for w in range(todo.size):
            new = g.head[v, w] & g.far_head[v, w] & (ancestors[a, w] | ancestors[b, w]) & ~seen[w]
            todo[w] |= new
            seen[w] |= new
    return False


@kernel_part
def is_maximal(g: Rows, ancestors: Words, rows: Words, complete: bool) -> bool:
    """Return whether no inducing path joins nodes that are not adjacent; else, if `complete`, join these by <->."""
    bits.compact()
    maximal = True
    for a in range(np.uint64(g.near.shape[0])):
        if bits.is_empty(g.far_head[a]):
            continue
        for b in range(a + bits.ONE, np.uint64(g.near.shape[0])):
            if bits.has(g.near[a], b) or not _joins(g, ancestors, a, b, rows[0], rows[1]):
                continue
            maximal = False
            if not complete:
                return False
            bits.add(g.near[a], b)
            bits.add(g.near[b], a)
            set_head(g, a, b)
            set_head(g, b, a)
    return maximal


@kernel_part
def _representative(pag: Rows, mag: Rows, circles: Words, rows: Words) -> bool:
    """Fill a MAG of a PAG's class; return whether the graph of circle edges is chordal, as that of every PAG is."""
    bits.compact()
    clear(mag)
    n_nodes, words = np.uint64(pag.near.shape[0]), np.uint64(pag.near.shape[1])
    placed, mine = rows[0], rows[1]
    placed[:] = bits.ZERO
    for v in range(n_nodes):
        for w in range(words):
            mag.near[v, w] = pag.near[v, w]
            circles[v, w] = pag.near[v, w] & ~(
                pag.head[v, w] | pag.tail[v, w] | pag.far_head[v, w] | pag.far_tail[v, w]
            )
            for u in bits.members(w, pag.near[v, w] & ~circles[v, w]):
                if bits.has(pag.tail[v], u) or (bits.has(pag.far_head[v], u) and not bits.has(pag.head[v], u)):
                    set_tail(mag, v, u)
                else:  # also on an edge v o- u, which no legal PAG has
                    set_head(mag, v, u)
    # circle edges point along a maximum cardinality search
    for _ in range(n_nodes):
        best, most = bits.ZERO, -1
        for v in range(n_nodes):
            if not bits.has(placed, v):
                n = 0
                for w in range(words):
                    n += bits.popcount(circles[v, w] & placed[w])
                if n > most:
                    best, most = v, n
        for w in range(words):
            mine[w] = circles[best, w] & placed[w]
            for u in bits.members(w, mine[w]):
                set_head(mag, best, u)
                set_tail(mag, u, best)
        if not bits.is_clique(mine, circles):
            return False
        bits.add(placed, best)
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
    planes: Words,
    goal: int,
    mag: Rows,
    pag: Rows,
    matrix: Words,
    names: Words,
    scratch: Scratch,
    out: Words,
    faults: NDArray[np.bool_],
) -> None:
    """Convert or check each graph; `faults` holds which are not what they should be."""
    bits.compact()
    of_pag, to_pag = goal in (_CHECK_PAG, _PAG_TO_MAG), goal in (_CHECK_PAG, _MAG_TO_PAG)
    for n in range(planes.shape[0]):
        read_marks(planes[n], pag if of_pag else mag)
        fits = True
        if of_pag:
            fits = _representative(pag, mag, matrix, scratch.rows) and not (goal == _CHECK_PAG and _has_tail_edge(pag))
        if fits and goal <= _COMPLETE:
            fits = _is_ancestral(mag, matrix)
            if fits:
                fits = is_maximal(mag, matrix, scratch.rows, goal == _COMPLETE) or goal == _COMPLETE
        if fits and goal != _CHECK_MAG:
            if to_pag:
                begin(mag, pag)
                changed = True
                while changed:  # every call of a function is compiled into a copy of its own
                    orient_heads(mag, pag, scratch)
                    changed = orient_tails(pag, scratch)
            write_marks(pag if to_pag else mag, names, out[n])
            fits = goal != _CHECK_PAG or _same(out[n], planes[n])
        faults[n] = not fits


def convert(planes: Words, n_nodes: int, goal: str, most_edges: int) -> tuple[Words, NDArray[np.bool_]]:
    """Convert or check graphs; return also which do not fit the goal. The results have at most `most_edges` edges."""
    out, faults = np.zeros_like(planes), np.zeros(len(planes), np.bool_)
    mag, pag = empty_rows(n_nodes), empty_rows(n_nodes)
    room = mag, pag, np.zeros_like(mag.near), np.arange(n_nodes, dtype=np.uint64), scratch_for(n_nodes, most_edges)
    _convert(planes, GOALS.index(goal), *room, out, faults)
    return out, faults
