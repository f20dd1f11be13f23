"""Compiled random skeletons with the same degrees."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import LAST, ONE, SIX, ZERO, copy_row, is_set, list_edges, set_mark
from .control_inputs import check_index, edge_room
from .draws import STEP, mix, two_below
from .inputs import Ints, Words, checked_planes, read_only
from .planes import N_PLANES, plane_words


def _rows(n_nodes: int) -> Words:
    """Return room for rows of neighbours."""
    return np.empty((n_nodes, max(1, -(-n_nodes // 64))), np.uint64)


@kernel_part
def _rows_of(u: Words, v: Words, m: int, rows: Words) -> None:
    """Fill the rows of neighbours from `m` edges."""
    rows[:] = ZERO
    for e in range(m):
        rows[u[e], v[e] >> SIX] |= ONE << (v[e] & LAST)
        rows[v[e], u[e] >> SIX] |= ONE << (u[e] & LAST)


@kernel_part
def _switch(state: np.uint64, attempts: int, u: Words, v: Words, m: np.uint64, rows: Words) -> np.uint64:
    """Switch the ends of two edges, again and again; return the state of the stream."""
    done = 0
    while done < attempts:
        state += STEP
        accepted, a, f = two_below(mix(state), m + m, m - ONE)
        if not accepted:
            continue
        done += 1
        e = a >> ONE
        f += np.uint64(f >= e)
        p, q, x, y = u[e], v[e], u[f], v[f]
        if a & ONE:
            x, y = y, x
        if p == y or x == q or is_set(rows, p, y) or is_set(rows, x, q):
            continue
        for s, t in ((p, q), (x, y), (p, y), (x, q)):
            rows[s, t >> SIX] ^= ONE << (t & LAST)
            rows[t, s >> SIX] ^= ONE << (s & LAST)
        u[e], v[e], u[f], v[f] = p, y, x, q
    return state


@kernel
def _switch_edges(
    planes: Words,
    index: Ints,
    attempts: Ints,
    keys: Words,
    start: int,
    count: int,
    edges: Words,
    rows: Words,
    out: Words,
) -> None:
    """Draw skeletons with the degrees of the rows' graphs."""
    d = np.uint64(rows.shape[0])
    u, v, mark, hub_u, hub_v = edges[0], edges[1], edges[2], edges[3], edges[4]
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        m = list_edges(planes[index[row]], d, u, v, mark)
        if m > 1:
            _rows_of(u, v, m, rows)
            _switch(mix(base), attempts[row], u, v, np.uint64(m), rows)
        copy_row(u, hub_u, m)
        copy_row(v, hub_v, m)
        for column in range(count):
            copy_row(hub_u, u, m)
            copy_row(hub_v, v, m)
            if m > 1:
                _rows_of(u, v, m, rows)
                _switch(mix(base + np.uint64(start + column + 1) * STEP), attempts[row], u, v, np.uint64(m), rows)
            graph = out[row * count + column]
            for e in range(m):
                set_mark(graph, u[e], v[e], d, ONE)


def switch_edges(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, attempts: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Draw skeletons with the same degrees by switching the ends of two edges again and again.

    As `relabel_graphs`; directions do not count. A row's graph and all its draws are `attempts` (n,) symmetric steps
    away from a common graph, which makes them exchangeable if the row's graph is uniform given its degrees, however few
    the steps (Besag and Clifford 1989, doi:10.1093/biomet/76.4.633).
    """
    graphs, names = checked_planes(planes, n_nodes), read_only(keys, np.uint64)
    chosen = check_index(index, len(graphs), (len(names),), start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    steps, edges = read_only(attempts, np.int64), edge_room(n_nodes, 5)
    _switch_edges(graphs, chosen, steps, names, start, count, edges, _rows(n_nodes), out)
    return out
