"""Compiled random graphs of the further null models; `control_kernels_numpy` has the same in plain Python.

Every draw has a stream of its own, as `draw_kernels` says: draw r of a row starts at mix(mix(key + STEP) + (r + 1)
STEP), and a word gives two bounded numbers. Number 0 in place of r + 1 names the stream of what a row's draws share.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .bits import LAST, ONE, SIX, ZERO, is_set, lowest, set_mark
from .control_inputs import check_edges, check_index, check_oriented, check_rewiring, edge_numbers, linear_extension_law
from .dags import draw_dags, flip_coins, is_acyclic, mark_arcs
from .draws import STEP, mix, shuffle, two_below, unit
from .inputs import Ints, Words, checked_planes, read_only
from .planes import N_PLANES, plane_words

__all__ = [
    "draw_dags",
    "orient_graphs",
    "orient_uniformly",
    "relabel_graphs",
    "scale_free",
    "small_world",
    "switch_edges",
]


@njit(nogil=True, cache=True)
def _list_edges(graph: Words, n_nodes: np.uint64, low: Words, high: Words, mark: Words) -> int:
    """List the edges i < j in the order of their bits, with the marks: 1 forward, 2 backward, 3 both."""
    e, i, row_end = 0, ZERO, n_nodes - ONE
    for w in range(np.uint64(graph.shape[1])):
        left = graph[0, w] | graph[1, w]
        while left != ZERO:
            pair = (w << SIX) + lowest(left)
            left &= left - ONE
            while pair >= row_end:
                i += ONE
                row_end += n_nodes - ONE - i
            low[e], high[e] = i, pair + n_nodes - row_end
            forward, backward = (graph[0, w] >> (pair & LAST)) & ONE, (graph[1, w] >> (pair & LAST)) & ONE
            mark[e] = forward + (backward << ONE)
            e += 1
    return e


@njit(nogil=True, cache=True)
def _relabel(planes: Words, index: Ints, n_nodes: int, keys: Words, start: int, count: int, out: Words) -> None:
    d = np.uint64(n_nodes)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    low, high, mark = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    order = np.empty(n_nodes, np.uint64)
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        n_edges = _list_edges(planes[index[row]], d, low, high, mark)
        for column in range(count):
            shuffle(mix(base + np.uint64(start + column + 1) * STEP), order)
            graph = out[row * count + column]
            for e in range(n_edges):
                a, b = order[low[e]], order[high[e]]
                if mark[e] == np.uint64(2):
                    a, b = b, a
                set_mark(graph, a, b, d, np.uint64(mark[e] == np.uint64(3)))


def relabel_graphs(planes: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Permute the nodes of graphs: compiled `control_kernels_numpy.relabel_graphs`."""
    graphs, names = checked_planes(planes, n_nodes), read_only(keys, np.uint64)
    chosen = check_index(index, len(graphs), (len(names),), start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _relabel(graphs, chosen, n_nodes, names, start, count, out)
    return out


@njit(nogil=True, cache=True)
def _orient(skeletons: Words, index: Ints, n_nodes: int, keys: Words, start: int, count: int, out: Words) -> None:
    d = np.uint64(n_nodes)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    low, high, mark = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    rank = np.empty(n_nodes, np.uint64)
    n_edges = 0
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        for column in range(count):
            if column == 0 or index.shape[1] > 1:
                n_edges = _list_edges(skeletons[index[row, column]], d, low, high, mark)
            shuffle(mix(base + np.uint64(start + column + 1) * STEP), rank)
            graph = out[row * count + column]
            for e in range(n_edges):
                a, b = low[e], high[e]
                if rank[a] > rank[b]:
                    a, b = b, a
                set_mark(graph, a, b, d, ZERO)


def orient_graphs(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Direct edges along uniformly random orders: compiled `control_kernels_numpy.orient_graphs`."""
    graphs, names = checked_planes(skeletons, n_nodes), read_only(keys, np.uint64)
    chosen = check_index(index, len(graphs), (len(names), 1), start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _orient(graphs, chosen, n_nodes, names, start, count, out)
    return out


@njit(nogil=True, cache=True)
def _linear_extensions(parents: Words, ways: NDArray[np.float64]) -> float:
    """Count the orders of the nodes in which parents come first, by subsets."""
    n_nodes = np.uint64(parents.size)
    ways[0] = 1.0
    for subset in range(ONE, ONE << n_nodes):
        total = 0.0
        within = ZERO
        left = subset
        while left != ZERO:
            within |= parents[lowest(left)]
            left &= left - ONE
        left = subset & ~within  # the nodes without children in the subset: one of them is last
        while left != ZERO:
            total += ways[subset ^ (left & (~left + ONE))]
            left &= left - ONE
        ways[subset] = total
    return ways[(ONE << n_nodes) - ONE]


@njit(nogil=True, cache=True)
def _follow_order(state: np.uint64, n_edges: int, low: Words, high: Words, rank: Words, parents: Words) -> np.uint64:
    """Direct each edge along a random order, and move the stream on by a word."""
    state = shuffle(state, rank)
    parents[:] = ZERO
    for e in range(n_edges):
        a, b = low[e], high[e]
        if rank[a] > rank[b]:
            a, b = b, a
        parents[b] |= ONE << a
    return state + STEP


@njit(nogil=True, cache=True)
def _orient_uniformly(
    skeletons: Words,
    index: Ints,
    by_order: NDArray[np.bool_],
    n_nodes: int,
    keys: Words,
    start: int,
    count: int,
    tries: int,
    out: Words,
) -> int:
    d = np.uint64(n_nodes)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    low, high, mark = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    parents, rank = np.empty(n_nodes, np.uint64), np.empty(n_nodes, np.uint64)
    ways = np.empty(1 << n_nodes if by_order.any() else 1, np.float64)
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        m = _list_edges(skeletons[index[row]], d, low, high, mark)
        for column in range(count):
            state = mix(base + np.uint64(start + column + 1) * STEP)
            done = False
            for _ in range(tries):
                if by_order[row]:
                    state = _follow_order(state, m, low, high, rank, parents)
                    done = unit(state) * _linear_extensions(parents, ways) < 1.0
                else:
                    state = flip_coins(state, m, low, high, parents)
                    done = is_acyclic(parents)
                if done:
                    break
            if not done:
                return row
            mark_arcs(out[row * count + column], m, low, high, parents, d)
    return -1


def orient_uniformly(
    skeletons: ArrayLike, n_nodes: int, index: ArrayLike, keys: ArrayLike, start: int, count: int, tries: int
) -> tuple[Words, int]:
    """Draw acyclic orientations uniformly: compiled `control_kernels_numpy.orient_uniformly`."""
    names = read_only(keys, np.uint64)
    check_oriented(n_nodes)
    graphs = checked_planes(skeletons, n_nodes)
    chosen = check_index(index, len(graphs), (len(names),), start, count)
    by_order = linear_extension_law(n_nodes, edge_numbers(graphs))[chosen]
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    stuck = _orient_uniformly(graphs, chosen, by_order, n_nodes, names, start, count, tries, out)
    return out, int(stuck)


@njit(nogil=True, cache=True)
def _switch(state: np.uint64, attempts: int, u: Words, v: Words, m: np.uint64, rows: Words) -> np.uint64:
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


@njit(nogil=True, cache=True)
def _switch_edges(
    planes: Words, index: Ints, n_nodes: int, attempts: Ints, keys: Words, start: int, count: int, out: Words
) -> None:
    d = np.uint64(n_nodes)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    u, v, mark = np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint64)
    hub_u, hub_v = np.empty(room, np.uint64), np.empty(room, np.uint64)
    rows = np.empty((n_nodes, max(1, -(-n_nodes // 64))), np.uint64)
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        m = _list_edges(planes[index[row]], d, u, v, mark)
        if m > 1:
            _rows_of(u, v, m, rows)
            _switch(mix(base), attempts[row], u, v, np.uint64(m), rows)
        hub_u[:m], hub_v[:m] = u[:m], v[:m]
        for column in range(count):
            u[:m], v[:m] = hub_u[:m], hub_v[:m]
            if m > 1:
                _rows_of(u, v, m, rows)
                _switch(mix(base + np.uint64(start + column + 1) * STEP), attempts[row], u, v, np.uint64(m), rows)
            graph = out[row * count + column]
            for e in range(m):
                set_mark(graph, u[e], v[e], d, ONE)


@njit(nogil=True, cache=True)
def _rows_of(u: Words, v: Words, m: int, rows: Words) -> None:
    rows[:] = ZERO
    for e in range(m):
        rows[u[e], v[e] >> SIX] |= ONE << (v[e] & LAST)
        rows[v[e], u[e] >> SIX] |= ONE << (u[e] & LAST)


def switch_edges(
    planes: ArrayLike, n_nodes: int, index: ArrayLike, attempts: ArrayLike, keys: ArrayLike, start: int, count: int
) -> Words:
    """Draw skeletons with the same degrees: compiled `control_kernels_numpy.switch_edges`."""
    graphs, names = checked_planes(planes, n_nodes), read_only(keys, np.uint64)
    chosen = check_index(index, len(graphs), (len(names),), start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _switch_edges(graphs, chosen, n_nodes, read_only(attempts, np.int64), names, start, count, out)
    return out


@njit(nogil=True, cache=True)
def _scale_free(n_edges: Ints, n_nodes: int, keys: Words, start: int, count: int, out: Words) -> None:
    d = np.uint64(n_nodes)
    urn = np.empty(n_nodes + n_nodes * n_nodes, np.uint64)
    rows = np.empty((n_nodes, max(1, -(-n_nodes // 64))), np.uint64)
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
    """Draw skeletons by preferential attachment: compiled `control_kernels_numpy.scale_free`."""
    edges, names = check_edges(n_nodes, n_edges, keys, start, count)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _scale_free(edges, n_nodes, names, start, count, out)
    return out


@njit(nogil=True, cache=True)
def _small_world(
    n_edges: Ints, n_nodes: int, threshold: np.uint64, keys: Words, start: int, count: int, out: Words
) -> None:
    d = np.uint64(n_nodes)
    order, degree = np.empty(n_nodes, np.uint64), np.empty(n_nodes, np.uint64)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    u, v = np.empty(room, np.uint64), np.empty(room, np.uint64)
    rows = np.empty((n_nodes, max(1, -(-n_nodes // 64))), np.uint64)
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
    """Draw skeletons of rewired rings: compiled `control_kernels_numpy.small_world`."""
    edges, names = check_edges(n_nodes, n_edges, keys, start, count)
    threshold = np.uint64(math.floor(check_rewiring(rewiring) * 2**32))
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    _small_world(edges, n_nodes, threshold, names, start, count, out)
    return out
