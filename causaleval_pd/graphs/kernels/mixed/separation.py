"""Compiled m-separations of mixed graphs: connection, smallest separators, projections onto observed nodes.

Nodes x and y of a graph of -> and <-> are m-connected given a set iff a walk joins them whose colliders are ancestors
of the set, and whose other inner nodes are not in it. For 64 pairs at once see `lanes`.

Observed X and Y are adjacent in the projected MAG iff an inducing walk joins them: each collider on it is an ancestor
of X or Y, each other inner node latent. In the acyclic directed mixed graph (ADMG) X -> Y iff a directed path has
latent inner nodes only, and X <-> Y iff a walk without colliders does that has arrowheads at both ends.

References
----------
Richardson & Spirtes (2002), Ancestral graph Markov models, Annals of Statistics 30, doi:10.1214/aos/1031689015.
van der Zander & Liskiewicz (2020), Finding minimal d-separators in linear time and applications, UAI,
doi:10.48550/arXiv.1907.07595 (the nearest separator).
van der Zander, Liskiewicz & Textor (2019), Separators and adjustment sets in causal graphs, Artificial Intelligence
270, doi:10.1016/j.artint.2018.12.006: smallest separators are smallest vertex cuts of a moral graph of ancestors.
Verma & Pearl (1990), Equivalence and synthesis of causal models, UAI, for the ADMG.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import (
    ARROW,
    NO_NODE,
    NONE,
    ONE,
    TAIL,
    ZERO,
    add,
    compact,
    copy_row,
    drop,
    has,
    members,
    pair_of,
    take_lowest,
)
from ..inputs import Ints, Words
from ..planes import row_words
from .rows import Rows, close, empty_rows, fill_ancestors, put_marks, read_marks

#: rows of memory that `connects` needs
N_ROWS = 5


class Model(NamedTuple):
    """The edges of a graph of -> and <->, and what follows from them, each (d, words)."""

    parents: Words
    children: Words
    #: nodes joined by <->
    spouses: Words
    #: ancestors; a node is its own
    above: Words


def empty_model(n_nodes: int) -> Model:
    """Return room for a graph."""
    return Model(*np.zeros((4, n_nodes, row_words(n_nodes)), np.uint64))


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
    close(m.above)
    for v in range(np.uint64(g.near.shape[0])):
        add(m.above[v], v)


@kernel_part
def add_rows(matrix: Words, nodes: Words, union: Words) -> None:
    """Add the rows of a set of nodes to a row."""
    compact()
    for w in range(np.uint64(nodes.size)):
        for v in members(w, nodes[w]):
            for k in range(union.size):
                union[k] |= matrix[v, k]


@kernel_part
def is_joined(
    m: Model, x: np.uint64, y: np.uint64, given: Words, open_colliders: Words, cut: Words, rows: Words
) -> bool:
    """Return whether a walk joins x and y, without x -> `cut`: its colliders are open, other inner nodes not given."""
    compact()
    todo_head, todo_tail, seen_head, seen_tail = rows[0], rows[1], rows[2], rows[3]
    for w in range(given.size):
        # how a walk that leaves x arrives at the next node
        todo_head[w] = seen_head[w] = (m.children[x, w] & ~cut[w]) | m.spouses[x, w]
        todo_tail[w] = seen_tail[w] = m.parents[x, w]
    add(seen_head, x)
    add(seen_tail, x)
    while not has(seen_head, y) and not has(seen_tail, y):
        v = take_lowest(todo_head)
        by_tail = v == NO_NODE
        if by_tail:
            v = take_lowest(todo_tail)
            if v == NO_NODE:
                return False
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
    return True


@kernel_part
def connects(m: Model, x: np.uint64, y: np.uint64, given: Words, cut: Words, rows: Words) -> bool:
    """Return whether the graph without the edges from x to the nodes `cut` connects x and y given a set."""
    # a walk that returns to x has a shorter one, so that cut edges matter at the first step only; and as no node given
    # is a descendant of `cut`, or `cut` is empty, colliders have the same descendants given with and without them
    compact()
    open_colliders = rows[4]
    open_colliders[:] = ZERO
    add_rows(m.above, given, open_colliders)
    return is_joined(m, x, y, given, open_colliders, cut, rows)


class Flow(NamedTuple):
    """Disjoint paths in a moral graph. They enter a node v at its inner side 64 words + v, and leave at its outer v."""

    #: sides to which a path may go on from each side, (128 words, 2 words)
    steps: Words
    #: side from which a search reached each side, (128 words,)
    before: Words
    #: sides that a search has seen; that it has yet to look at; where it ends; on the side of x of a cut, (4, 2 words)
    sides: Words


@kernel_part
def _search(flow: Flow, start: np.uint64) -> bool:
    """Add to the sides seen those to which steps lead from `start`, until one is found that ends the search."""
    compact()
    seen, todo, ends = flow.sides[0], flow.sides[1], flow.sides[2]
    todo[:] = ZERO
    add(seen, start)
    add(todo, start)
    while True:
        u = take_lowest(todo)
        if u == NO_NODE:
            return False
        met = ZERO
        for w in range(np.uint64(seen.size)):
            new = flow.steps[u, w] & ~seen[w]
            seen[w] |= new
            todo[w] |= new
            met |= new & ends[w]
            for v in members(w, new):
                flow.before[v] = u
        if met != ZERO:
            return True


@kernel_part
def _fill_paths(moral: Words, x: np.uint64, y: np.uint64, flow: Flow) -> None:
    """Fill as many paths from x to y as there are without a node in common, each turning those that it crosses."""
    compact()
    words = moral.shape[1]
    inner = np.uint64(64 * words)
    for v in range(np.uint64(moral.shape[0])):
        for w in range(words):
            flow.steps[v, w] = flow.steps[inner + v, w] = flow.steps[inner + v, words + w] = ZERO
            flow.steps[v, words + w] = moral[v, w]
        add(flow.steps[inner + v], v)
    flow.sides[:] = ZERO
    add(flow.sides[2], inner + y)
    for _ in range(moral.shape[0]):
        flow.sides[0, :] = ZERO
        if not _search(flow, x):
            break
        v = inner + y
        while v != x:
            u = flow.before[v]
            if u >= inner:  # only inside nodes there is no room for another path
                drop(flow.steps[u], v)
            add(flow.steps[v], u)
            v = u


@kernel_part
def _fill_cut(x: np.uint64, y: np.uint64, flow: Flow, n_nodes: np.uint64, cut: Words) -> None:
    """Fill the smallest vertex cut between x and y whose nodes come first: one node of each path."""
    # a cut keeps sides to which steps lead from x and its inner sides, apart from y and its outer sides
    compact()
    seen, ends, near = flow.sides[0], flow.sides[2], flow.sides[3]
    inner = np.uint64(32 * near.size)
    copy_row(seen, near, near.size)
    for v in range(n_nodes):
        if has(flow.steps[v], inner + v) and not has(near, v):  # on a path
            add(ends, v)
            copy_row(near, seen, near.size)
            if _search(flow, inner + v):
                drop(ends, v)
            else:
                copy_row(seen, near, near.size)
                add(cut, v)


@kernel_part
def _fill_moral(g: Rows, inside: Words, moral: Words, rows: Words) -> None:
    """Fill the neighbours of each node of a set in its moral graph: a path of colliders, all in the set, joins them."""
    compact()
    colliders, seen = rows[0], rows[1]
    for v in range(np.uint64(moral.shape[0])):
        moral[v, :] = ZERO
        if not has(inside, v):
            continue
        for w in range(inside.size):
            moral[v, w] = g.near[v, w] & inside[w]
            colliders[w] = seen[w] = g.far_head[v, w] & inside[w]
        while True:
            u = take_lowest(colliders)
            if u == NO_NODE:
                break
            for w in range(inside.size):
                moral[v, w] |= g.head[u, w] & inside[w]
                new = g.head[u, w] & g.far_head[u, w] & inside[w] & ~seen[w]
                seen[w] |= new
                colliders[w] |= new
        drop(moral[v], v)


@kernel
def _fill_separators(planes: Words, g: Rows, above: Words, moral: Words, rows: Words, flow: Flow, out: Words) -> None:
    compact()
    n_nodes, words = np.uint64(g.near.shape[0]), g.near.shape[1]
    inside = rows[2]
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        fill_ancestors(g, above)
        pair = -1
        for x in range(n_nodes):
            for y in range(x + ONE, n_nodes):
                pair += 1
                if has(g.near[x], y):
                    continue
                for w in range(words):
                    inside[w] = above[x, w] | above[y, w]
                add(inside, x)
                add(inside, y)
                _fill_moral(g, inside, moral, rows)
                _fill_paths(moral, x, y, flow)
                _fill_cut(x, y, flow, n_nodes, out[n, pair])


def smallest_separators(planes: Words, n_nodes: int) -> Words:
    """Return the first smallest m-separator of each pair that a MAG (N, 4, W) does not join, (N, pairs, words)."""
    g, words = empty_rows(n_nodes), row_words(n_nodes)
    sides = 128 * words
    flow = Flow(*(np.zeros(shape, np.uint64) for shape in ((sides, 2 * words), sides, (4, 2 * words))))
    rows = np.zeros((3, words), np.uint64)
    out = np.zeros((len(planes), n_nodes * (n_nodes - 1) // 2, words), np.uint64)
    _fill_separators(planes, g, np.zeros_like(g.near), np.zeros_like(g.near), rows, flow, out)
    return out


@kernel_part
def _write_mag(m: Model, observed: Ints, kept: Words, rows: Words, out: Words) -> None:
    compact()
    n, colliders, nothing = np.uint64(observed.size), rows[4], rows[5]
    nothing[:] = ZERO
    for i in range(n):
        for j in range(i + ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            for w in range(kept.size):
                colliders[w] = m.above[a, w] | m.above[b, w]
            if is_joined(m, a, b, kept, colliders, nothing, rows):
                here = TAIL if has(m.above[b], a) else ARROW
                there = TAIL if has(m.above[a], b) else ARROW
                put_marks(out, pair_of(i, j, n), here, there)


@kernel_part
def _write_admg(m: Model, observed: Ints, kept: Words, rows: Words, sources: Words, out: Words) -> None:
    n, words = np.uint64(observed.size), np.uint64(kept.size)
    # sources: nodes from which latent nodes lead to an observed one, itself included; and their parents
    parents, todo = m.above, rows[0]
    for k in range(n):
        b = np.uint64(observed[k])
        sources[b, :] = ZERO
        parents[b, :] = ZERO
        todo[:] = ZERO
        add(sources[b], b)
        add(todo, b)
        while True:
            v = take_lowest(todo)
            if v == NO_NODE:
                break
            for w in range(words):
                parents[b, w] |= m.parents[v, w]
                new = m.parents[v, w] & ~kept[w] & ~sources[b, w]
                sources[b, w] |= new
                todo[w] |= new
    for i in range(n):
        for j in range(i + ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            confounded = False
            for w in range(words):
                if sources[a, w] & sources[b, w]:
                    confounded = True
                for v in members(w, sources[a, w]):
                    for k in range(words):
                        if m.spouses[v, k] & sources[b, k]:
                            confounded = True
            if has(parents[b], a):
                put_marks(out, pair_of(i, j, n), NONE if confounded else TAIL, ARROW)
            elif has(parents[a], b):
                put_marks(out, pair_of(i, j, n), ARROW, NONE if confounded else TAIL)
            elif confounded:
                put_marks(out, pair_of(i, j, n), ARROW, ARROW)


@kernel
def _project(
    planes: Words, observed: Ints, to_admg: bool, g: Rows, m: Model, kept: Words, rows: Words, room: Words, out: Words
) -> None:
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        fill_model(g, m)
        kept[:] = ZERO
        for k in range(observed.shape[1]):
            add(kept, np.uint64(observed[n, k]))
        if to_admg:
            _write_admg(m, observed[n], kept, rows, room, out[n])
        else:
            _write_mag(m, observed[n], kept, rows, out[n])


def project(planes: Words, n_nodes: int, observed: Ints, to_admg: bool, out: Words) -> None:
    """Project acyclic graphs of -> and <-> onto `observed` (N, p), ascending nodes of each graph, into zero planes."""
    g, words = empty_rows(n_nodes), row_words(n_nodes)
    kept, rows = np.zeros(words, np.uint64), np.zeros((6, words), np.uint64)
    _project(planes, observed, to_admg, g, empty_model(n_nodes), kept, rows, np.zeros_like(g.near), out)
