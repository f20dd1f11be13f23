"""Compiled projections of acyclic graphs onto observed nodes: the MAG and the acyclic directed mixed graph (ADMG).

Observed X and Y are adjacent in the MAG iff an inducing walk joins them: each collider on it is an ancestor of X or Y,
each other inner node latent. In the ADMG X -> Y iff a directed path has latent inner nodes only, and X <-> Y iff a walk
without colliders does that has arrowheads at both ends.

References
----------
Richardson & Spirtes (2002), doi:10.1214/aos/1031689015. Verma & Pearl (1990), Equivalence and synthesis of causal
models, UAI, for the ADMG.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ONE, ZERO, compact, members
from ..inputs import Ints, Words
from ..planes import ARROW, NONE, TAIL
from .rows import Rows, add, close, drop, empty_rows, has, pair_of, put_marks, read_marks, take_lowest

_NONE, _TAIL, _ARROW = np.uint64(NONE), np.uint64(TAIL), np.uint64(ARROW)


class Family(NamedTuple):
    """The edges of a directed mixed graph and its ancestors, each (n, words)."""

    parents: Words
    children: Words
    #: nodes joined by <->
    spouses: Words
    #: a node is its own ancestor
    ancestors: Words
    #: further memory
    above: Words


@kernel_part
def _read_family(planes: Words, g: Rows, f: Family) -> None:
    """Read ->, <-> or both of each pair of four planes (4, W), and find the ancestors.

    Both leave no mark at the parent: a head at one end is ->, and no tail is <->.
    """
    compact()
    read_marks(planes, g)
    for v in range(f.parents.shape[0]):
        for w in range(f.parents.shape[1]):
            f.parents[v, w] = g.head[v, w] & ~g.far_head[v, w]
            f.children[v, w] = g.far_head[v, w] & ~g.head[v, w]
            f.spouses[v, w] = g.near[v, w] & ~g.tail[v, w] & ~g.far_tail[v, w]
            f.ancestors[v, w] = f.parents[v, w]
    close(f.ancestors)
    for v in range(np.uint64(f.parents.shape[0])):
        add(f.ancestors[v], v)


@kernel_part
def _joined(f: Family, a: np.uint64, b: np.uint64, latent: Words, rows: Words) -> bool:
    """Return whether an inducing walk joins two nodes."""
    compact()
    if has(f.parents[a], b) or has(f.children[a], b) or has(f.spouses[a], b):
        return True
    words = latent.size
    by_head, by_tail, seen_head, seen_tail = rows[0], rows[1], rows[2], rows[3]
    for w in range(words):
        # how a walk that leaves a arrives at the next node
        seen_head[w] = f.children[a, w] | f.spouses[a, w]
        seen_tail[w] = f.parents[a, w]
        by_head[w] = seen_head[w]
        by_tail[w] = seen_tail[w]
    while True:
        if has(seen_head, b) or has(seen_tail, b):
            return True
        at = take_lowest(by_head)
        tail = at < 0
        if tail:
            at = take_lowest(by_tail)
            if at < 0:
                return False
        v = np.uint64(at)
        if v == a:
            continue
        hidden, collides = has(latent, v), not tail and (has(f.ancestors[a], v) or has(f.ancestors[b], v))
        for w in range(words):
            heads, tails = ZERO, ZERO
            if hidden:
                heads |= f.children[v, w]
            if hidden and tail:
                heads |= f.spouses[v, w]
                tails |= f.parents[v, w]
            if collides:
                heads |= f.spouses[v, w]
                tails |= f.parents[v, w]
            heads &= ~seen_head[w]
            tails &= ~seen_tail[w]
            seen_head[w] |= heads
            seen_tail[w] |= tails
            by_head[w] |= heads
            by_tail[w] |= tails


@kernel_part
def _write_mag(f: Family, observed: Ints, latent: Words, rows: Words, out: Words) -> None:
    n = np.uint64(observed.size)
    for i in range(n):
        for j in range(i + ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            if _joined(f, a, b, latent, rows):
                here = _TAIL if has(f.ancestors[b], a) else _ARROW
                there = _TAIL if has(f.ancestors[a], b) else _ARROW
                put_marks(out, pair_of(i, j, n), here, there)


@kernel_part
def _write_admg(f: Family, observed: Ints, latent: Words, rows: Words, out: Words) -> None:
    n, words = np.uint64(observed.size), np.uint64(latent.size)
    # nodes from which latent nodes lead to an observed one, itself included; then the ancestors' room has their parents
    todo = rows[0]
    for k in range(n):
        b = np.uint64(observed[k])
        f.above[b, :] = ZERO
        f.ancestors[b, :] = ZERO
        add(f.above[b], b)
        for w in range(words):
            todo[w] = f.above[b, w]
        while True:
            v = take_lowest(todo)
            if v < 0:
                break
            for w in range(words):
                f.ancestors[b, w] |= f.parents[v, w]
                new = f.parents[v, w] & latent[w] & ~f.above[b, w]
                f.above[b, w] |= new
                todo[w] |= new
    for i in range(n):
        for j in range(i + ONE, n):
            a, b = np.uint64(observed[i]), np.uint64(observed[j])
            forward, backward, confounded = has(f.ancestors[b], a), has(f.ancestors[a], b), False
            for w in range(words):
                if f.above[a, w] & f.above[b, w]:
                    confounded = True
                for v in members(w, ZERO if confounded else f.above[a, w]):
                    for k in range(words):
                        if f.spouses[v, k] & f.above[b, k]:
                            confounded = True
            if forward:
                put_marks(out, pair_of(i, j, n), _NONE if confounded else _TAIL, _ARROW)
            elif backward:
                put_marks(out, pair_of(i, j, n), _ARROW, _NONE if confounded else _TAIL)
            elif confounded:
                put_marks(out, pair_of(i, j, n), _ARROW, _ARROW)


@kernel
def _project(
    planes: Words, observed: Ints, to_admg: bool, g: Rows, f: Family, latent: Words, rows: Words, out: Words
) -> None:
    for n in range(planes.shape[0]):
        _read_family(planes[n], g, f)
        for w in range(latent.size):
            latent[w] = ~ZERO
        for k in range(observed.shape[1]):
            drop(latent, np.uint64(observed[n, k]))
        if to_admg:
            _write_admg(f, observed[n], latent, rows, out[n])
        else:
            _write_mag(f, observed[n], latent, rows, out[n])


def project(planes: Words, n_nodes: int, observed: Ints, to_admg: bool, out: Words) -> Words:
    """Project graphs (N, 4, W), whose edges are -> and <-> and have no directed cycle, onto their observed nodes.

    `observed`, (N, p), holds the observed nodes of each graph, ascending; `out` is zero, of graphs of p nodes.
    """
    g = empty_rows(n_nodes)
    family = Family(*(np.zeros_like(g.near) for _ in Family._fields))
    words = g.near.shape[1]
    _project(planes, observed, to_admg, g, family, np.zeros(words, np.uint64), np.zeros((4, words), np.uint64), out)
    return out
