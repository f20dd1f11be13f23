"""Compiled random skeletons: with the same degrees, scale-free, and rewired rings."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import LAST, ONE, SIX, ZERO, copy_row, is_set, list_edges, set_mark
from .control_inputs import check_edges, check_index, check_rewiring, edge_room
from .draws import STEP, mix, shuffle, two_below
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


@kernel
def _scale_free(
    n_edges: Ints, n_nodes: int, keys: Words, start: int, count: int, urn: Words, rows: Words, out: Words
) -> None:
    """Draw skeletons by preferential attachment."""
    d = np.uint64(n_nodes)
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        for column in range(count):
            state = mix(base + np.uint64(start + column + 1) * STEP)
            graph = out[row * count + column]
            rows[:] = ZERO
            for i in range(n_nodes):
                urn[i] = i
            size, left = d, n_edges[row]
            while left > 0:
                state += STEP
                accepted, i, j = two_below(mix(state), size, size)
                a, b = urn[i], urn[j]
                if not accepted or a == b or is_set(rows, a, b):
                    continue
                rows[a, b >> SIX] |= ONE << (b & LAST)
                rows[b, a >> SIX] |= ONE << (a & LAST)
                urn[size], urn[size + ONE] = a, b
                size += ONE + ONE
                left -= 1
                set_mark(graph, a, b, d, ONE)


def scale_free(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw skeletons by preferential attachment with `n_edges` (n,) edges, the draws of a row together.

    Each end of a new edge is chosen in proportion to 1 + its degree; loops and repeats are drawn anew.

    References
    ----------
    Barabasi and Albert (1999), Emergence of scaling in random networks, doi:10.1126/science.286.5439.509.
    """
    edges, names = check_edges(n_nodes, n_edges, keys, start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    urn = np.empty(n_nodes + n_nodes * n_nodes, np.uint64)
    _scale_free(edges, n_nodes, names, start, count, urn, _rows(n_nodes), out)
    return out


@kernel
def _small_world(
    n_edges: Ints,
    n_nodes: int,
    threshold: np.uint64,
    keys: Words,
    start: int,
    count: int,
    nodes: Words,
    edges: Words,
    rows: Words,
    out: Words,
) -> None:
    """Draw rewired rings; an edge moves if the upper half of its word is below `threshold`."""
    d = np.uint64(n_nodes)
    order, degree, u, v = nodes[0], nodes[1], edges[0], edges[1]
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        m = n_edges[row]
        for column in range(count):
            state = shuffle(mix(base + np.uint64(start + column + 1) * STEP), order)
            degree[:] = ZERO
            for e in range(m):
                # ring by ring: the node next to it, the next but one, ...
                u[e], v[e] = order[e % n_nodes], order[(e % n_nodes + e // n_nodes + 1) % n_nodes]
                degree[u[e]] += ONE
                degree[v[e]] += ONE
            _rows_of(u, v, m, rows)
            for e in range(m):
                state += STEP
                a, b = u[e], v[e]
                if mix(state) >> np.uint64(32) >= threshold or degree[a] == d - ONE:
                    continue
                c = a
                while c == a or is_set(rows, a, c):
                    state += STEP
                    accepted, c, _ = two_below(mix(state), d, ONE)
                    if not accepted:
                        c = a
                for t in (b, c):
                    rows[a, t >> SIX] ^= ONE << (t & LAST)
                    rows[t, a >> SIX] ^= ONE << (a & LAST)
                degree[b] -= ONE
                degree[c] += ONE
                v[e] = c
            graph = out[row * count + column]
            for e in range(m):
                set_mark(graph, u[e], v[e], d, ONE)


def small_world(n_nodes: int, n_edges: ArrayLike, rewiring: float, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw skeletons of rings in which each edge has moved one end with probability `rewiring` (in steps of 2^-32).

    Nodes stand in a random ring; edges go from each node to the next, then to the next but one, and so on until
    `n_edges` (n,) are reached. An end moves to a node that is drawn uniformly among those not yet adjacent.

    References
    ----------
    Watts and Strogatz (1998), Collective dynamics of small-world networks, doi:10.1038/30918.
    """
    edges, names = check_edges(n_nodes, n_edges, keys, start, count)
    threshold = np.uint64(math.floor(check_rewiring(rewiring) * 2**32))
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    nodes, ends = np.empty((2, n_nodes), np.uint64), edge_room(n_nodes, 2)
    _small_world(edges, n_nodes, threshold, names, start, count, nodes, ends, _rows(n_nodes), out)
    return out
