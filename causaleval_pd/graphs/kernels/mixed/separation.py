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

from .. import bits
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
    bits.compact()
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            m.parents[v, w] = g.head[v, w] & ~g.far_head[v, w]
            m.children[v, w] = g.far_head[v, w] & ~g.head[v, w]
            m.spouses[v, w] = g.near[v, w] & ~g.tail[v, w] & ~g.far_tail[v, w]
            m.above[v, w] = m.parents[v, w]
    close(m.above)
    for v in range(np.uint64(g.near.shape[0])):
        bits.add(m.above[v], v)


@kernel_part
def add_rows(matrix: Words, nodes: Words, union: Words) -> None:
    """Add the rows of a set of nodes to a row."""
    bits.compact()
    for w in range(np.uint64(nodes.size)):
        for v in bits.members(w, nodes[w]):
            for k in range(union.size):
                union[k] |= matrix[v, k]


@kernel_part
def is_joined(
    m: Model, x: np.uint64, y: np.uint64, given: Words, open_colliders: Words, cut: Words, rows: Words
) -> bool:
    """Return whether a walk joins x and y, without x -> `cut`: its colliders are open, other inner nodes not given."""
    bits.compact()
    todo_head, todo_tail, seen_head, seen_tail = rows[0], rows[1], rows[2], rows[3]
    for w in range(given.size):
        # how a walk that leaves x arrives at the next node
        todo_head[w] = seen_head[w] = (m.children[x, w] & ~cut[w]) | m.spouses[x, w]
        todo_tail[w] = seen_tail[w] = m.parents[x, w]
    bits.add(seen_head, x)
    bits.add(seen_tail, x)
    while not bits.has(seen_head, y) and not bits.has(seen_tail, y):
        v = bits.take_lowest(todo_head)
        by_tail = v == bits.NO_NODE
        if by_tail:
            v = bits.take_lowest(todo_tail)
            if v == bits.NO_NODE:
                return False
        passes = not bits.has(given, v)
        turns = passes if by_tail else bits.has(open_colliders, v) != bits.ZERO
        for w in range(given.size):
            heads, tails = bits.ZERO, bits.ZERO
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
    bits.compact()
    open_colliders = rows[4]
    open_colliders[:] = bits.ZERO
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
    bits.compact()
    seen, todo, ends = flow.sides[0], flow.sides[1], flow.sides[2]
    todo[:] = bits.ZERO
    bits.add(seen, start)
    bits.add(todo, start)
    while True:
        u = bits.take_lowest(todo)
        if u == bits.NO_NODE:
            return False
        met = bits.ZERO
        for w in range(np.uint64(seen.size)):
            new = flow.steps[u, w] & ~seen[w]
            seen[w] |= new
            todo[w] |= new
            met |= new & ends[w]
            for v in bits.members(w, new):
                flow.before[v] = u
        if met != bits.ZERO:
            return True


@kernel_part
def _fill_paths(moral: Words, x: np.uint64, y: np.uint64, flow: Flow) -> None:
    """Fill as many paths from x to y as there are without a node in common, each turning those that it crosses."""
    bits.compact()
    words = moral.shape[1]
    inner = np.uint64(64 * words)
    for v in range(np.uint64(moral.shape[0])):
        for w in range(words):
            flow.steps[v, w] = flow.steps[inner + v, w] = flow.steps[inner + v, words + w] = bits.ZERO
            flow.steps[v, words + w] = moral[v, w]
        bits.add(flow.steps[inner + v], v)
    flow.sides[:] = bits.ZERO
    bits.add(flow.sides[2], inner + y)
    for _ in range(moral.shape[0]):
        flow.sides[0, :] = bits.ZERO
        if not _search(flow, x):
            break
        v = inner + y
        while v != x:
            u = flow.before[v]
            if u >= inner:  # only inside nodes there is no room for another path
                bits.drop(flow.steps[u], v)
            bits.add(flow.steps[v], u)
            v = u


@kernel_part
def _fill_cut(flow: Flow, n_nodes: np.uint64, cut: Words) -> None:
    """Fill the smallest vertex cut between the ends of paths whose nodes come first: one node of each path."""
    # sides to which steps lead from the first end and inner sides of the cut are not its outer sides, or the last end
    bits.compact()
    seen, ends, near = flow.sides[0], flow.sides[2], flow.sides[3]
    inner = np.uint64(32 * near.size)
    bits.copy_row(seen, near, near.size)
    for v in range(n_nodes):
        if bits.has(flow.steps[v], inner + v) and not bits.has(near, v):  # on a path
            bits.add(ends, v)
            bits.copy_row(near, seen, near.size)
            if _search(flow, inner + v):
                bits.drop(ends, v)
            else:
                bits.copy_row(seen, near, near.size)
                bits.add(cut, v)


@kernel_part
def _fill_moral(g: Rows, inside: Words, moral: Words, rows: Words) -> None:
    """Fill the neighbours of each node of a set in its moral graph: a path of colliders, all in the set, joins them."""
    bits.compact()
    colliders, seen = rows[0], rows[1]
    for v in range(np.uint64(moral.shape[0])):
        moral[v, :] = bits.ZERO
        if not bits.has(inside, v):
            continue
        for w in range(inside.size):
            moral[v, w] = g.near[v, w] & inside[w]
            colliders[w] = seen[w] = g.far_head[v, w] & inside[w]
        while True:
            u = bits.take_lowest(colliders)
            if u == bits.NO_NODE:
                break
            for w in range(inside.size):
                moral[v, w] |= g.head[u, w] & inside[w]
                new = g.head[u, w] & g.far_head[u, w] & inside[w] & ~seen[w]
                seen[w] |= new
                colliders[w] |= new
        bits.drop(moral[v], v)


@kernel
def _fill_separators(planes: Words, g: Rows, above: Words, moral: Words, rows: Words, flow: Flow, out: Words) -> None:
    bits.compact()
    n_nodes, words = np.uint64(g.near.shape[0]), g.near.shape[1]
    inside = rows[2]
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        fill_ancestors(g, above)
        pair = -1
        for x in range(n_nodes):
            for y in range(x + bits.ONE, n_nodes):
                pair += 1
                if bits.has(g.near[x], y):
                    continue
                for w in range(words):
                    inside[w] = above[x, w] | above[y, w]
                bits.add(inside, x)
                bits.add(inside, y)
                _fill_moral(g, inside, moral, rows)
                _fill_paths(moral, x, y, flow)
                _fill_cut(flow, n_nodes, out[n, pair])


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
    bits.compact()
    n, colliders, nothing = np.uint64(observed.size), rows[4], rows[5]
    nothing[:] = bits.ZERO
    for i in range(n):
        for j in range(i + bits.ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            for w in range(kept.size):
                colliders[w] = m.above[a, w] | m.above[b, w]
            if is_joined(m, a, b, kept, colliders, nothing, rows):
                here = bits.TAIL if bits.has(m.above[b], a) else bits.ARROW
                there = bits.TAIL if bits.has(m.above[a], b) else bits.ARROW
                put_marks(out, bits.pair_of(i, j, n), here, there)


@kernel_part
def _write_admg(m: Model, observed: Ints, kept: Words, rows: Words, sources: Words, out: Words) -> None:
    n, words = np.uint64(observed.size), np.uint64(kept.size)
    # sources: nodes from which latent nodes lead to an observed one, itself included; and their parents
    parents, todo = m.above, rows[0]
    for k in range(n):
        b = np.uint64(observed[k])
        sources[b, :] = bits.ZERO
        parents[b, :] = bits.ZERO
        todo[:] = bits.ZERO
        bits.add(sources[b], b)
        bits.add(todo, b)
        while True:
            v = bits.take_lowest(todo)
            if v == bits.NO_NODE:
                break
            for w in range(words):
                parents[b, w] |= m.parents[v, w]
                new = m.parents[v, w] & ~kept[w] & ~sources[b, w]
                sources[b, w] |= new
                todo[w] |= new
    for i in range(n):
        for j in range(i + bits.ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            confounded = False
            for w in range(words):
                if sources[a, w] & sources[b, w]:
                    confounded = True
                for v in bits.members(w, sources[a, w]):
                    for k in range(words):
                        if m.spouses[v, k] & sources[b, k]:
                            confounded = True
            if bits.has(parents[b], a):
                put_marks(out, bits.pair_of(i, j, n), bits.NONE if confounded else bits.TAIL, bits.ARROW)
            elif bits.has(parents[a], b):
                put_marks(out, bits.pair_of(i, j, n), bits.ARROW, bits.NONE if confounded else bits.TAIL)
            elif confounded:
                put_marks(out, bits.pair_of(i, j, n), bits.ARROW, bits.ARROW)


@kernel
def _project(
    planes: Words, observed: Ints, to_admg: bool, g: Rows, m: Model, kept: Words, rows: Words, room: Words, out: Words
) -> None:
    for n in range(planes.shape[0]):
        read_marks(planes[n], g)
        fill_model(g, m)
        kept[:] = bits.ZERO
        for k in range(observed.shape[1]):
            bits.add(kept, np.uint64(observed[n, k]))
        if to_admg:
            _write_admg(m, observed[n], kept, rows, room, out[n])
        else:
            _write_mag(m, observed[n], kept, rows, out[n])


def project(planes: Words, n_nodes: int, observed: Ints, to_admg: bool, out: Words) -> None:
    """Project acyclic graphs of -> and <-> onto `observed` (N, p), ascending nodes of each graph, into zero planes."""
    g, words = empty_rows(n_nodes), row_words(n_nodes)
    kept, rows = np.zeros(words, np.uint64), np.zeros((6, words), np.uint64)
    _project(planes, observed, to_admg, g, empty_model(n_nodes), kept, rows, np.zeros_like(g.near), out)
