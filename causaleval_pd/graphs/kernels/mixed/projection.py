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

import numpy as np

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ARROW, NO_NODE, NONE, ONE, TAIL, ZERO, add, compact, has, members, pair_of, take_lowest
from ..inputs import Ints, Words
from ..planes import row_words
from .rows import Rows, empty_rows, put_marks, read_marks
from .separation import Model, empty_model, fill_model, is_joined


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


def project(planes: Words, n_nodes: int, observed: Ints, to_admg: bool, out: Words) -> Words:
    """Project acyclic graphs of -> and <-> onto `observed` (N, p), ascending nodes of each graph, into zero planes."""
    g, words = empty_rows(n_nodes), row_words(n_nodes)
    kept, rows = np.zeros(words, np.uint64), np.zeros((6, words), np.uint64)
    _project(planes, observed, to_admg, g, empty_model(n_nodes), kept, rows, np.zeros_like(g.near), out)
    return out
