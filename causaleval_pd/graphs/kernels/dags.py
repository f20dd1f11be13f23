"""Compiled uniform DAGs with given numbers of edges; `dags_numpy` has the same in plain Python."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from .bits import ONE, SIX, ZERO, flip, is_set, lowest, set_mark
from .control_inputs import are_sparse, check_edges
from .dag_counts import best_weight, check_counted, laws
from .draws import STEP, draw_pairs, mix, shuffle, two_below, unit
from .inputs import Ints, Words
from .planes import N_PLANES, plane_words

Floats = NDArray[np.float64]


@njit(nogil=True, cache=True)
def is_acyclic(parents: Words) -> bool:
    """Tell whether rows of parents, one word a node, have no cycle."""
    left = ZERO
    for v in range(np.uint64(parents.size)):
        left |= ONE << v
    while left != ZERO:
        sources = ZERO
        for v in range(np.uint64(parents.size)):
            if (left >> v) & ONE and parents[v] & left == ZERO:
                sources |= ONE << v
        if sources == ZERO:
            return False
        left ^= sources
    return True


@njit(nogil=True, cache=True)
def flip_coins(state: np.uint64, n_edges: int, low: Words, high: Words, parents: Words) -> np.uint64:
    """Direct each edge by a bit, 64 bits a word, the lowest first."""
    parents[:] = ZERO
    word = ZERO
    for e in range(n_edges):
        if e % 64 == 0:
            state += STEP
            word = mix(state)
        a, b = low[e], high[e]
        if (word >> np.uint64(e % 64)) & ONE:
            a, b = b, a
        parents[b] |= ONE << a
    return state


@njit(nogil=True, cache=True)
def mark_arcs(graph: Words, n_edges: int, low: Words, high: Words, parents: Words, n_nodes: np.uint64) -> None:
    """Write each edge in the direction that the parents tell."""
    for e in range(n_edges):
        a, b = low[e], high[e]
        if (parents[a] >> b) & ONE:
            a, b = b, a
        set_mark(graph, a, b, n_nodes, ZERO)


@njit(nogil=True, cache=True)
def _draw_sparse(n_nodes: int, rows: Ints, n_edges: Ints, keys: Words, start: int, count: int, out: Words) -> None:
    """Draw skeletons and directions until there is no cycle."""
    d = np.uint64(n_nodes)
    room = n_nodes * (n_nodes - 1) // 2 + 1
    low, high = np.empty(room, np.uint64), np.empty(room, np.uint64)
    parents, scratch = np.empty(n_nodes, np.uint64), np.empty(n_nodes, np.uint64)
    for row in rows:
        base = mix(keys[row] + STEP)
        m = n_edges[row]
        for column in range(count):
            state = mix(base + np.uint64(start + column + 1) * STEP)
            done = False
            while not done:
                state = draw_pairs(state, m, scratch, low, high)
                state = flip_coins(state, m, low, high, parents)
                done = is_acyclic(parents)
            mark_arcs(out[row * count + column], m, low, high, parents, d)


@njit(nogil=True, cache=True)
def _draw_layers(
    state: np.uint64,
    most: int,
    roots: Floats,
    joined: Floats,
    reach: Floats,
    parents: Floats,
    before: Ints,
    begin: Ints,
    wanted: Ints,
    slots: Ints,
) -> tuple[np.uint64, int]:
    """Draw the layer of each place, and its number of parents in the layer before; give up beyond `most` of them.

    The layer of a place begins at `begin`, the one before it at `before`; the places ahead of both are free to be
    parents or not, and `slots` adds up their numbers.
    """
    n_nodes = begin.size
    place, size, total = 0, 0, 0
    while place < n_nodes:
        left = n_nodes - place
        state += STEP
        x = unit(state) * joined[size, left]
        chance, reached, u = 0.0, 1.0, 0
        while u < left and chance <= x:
            u += 1
            reached *= reach[size]
            chance += reached * roots[left, u]
        for t in range(place, place + u):
            before[t], begin[t], wanted[t] = place - size, place, min(size, 1)
            slots[t + 1] = slots[t] + place - size
            if size > 1:
                state += STEP
                x = unit(state)
                while parents[size, wanted[t]] <= x:
                    wanted[t] += 1
            total += wanted[t]
        if total > most:
            return state, total
        place += u
        size = u
    return state, total


@njit(nogil=True, cache=True)
def _has_arcs(state: np.uint64, wanted: int, n_slots: int, arcs: Floats) -> tuple[np.uint64, bool]:
    """Toss a coin for each slot, and tell whether `wanted` of them show an arc; slots go by powers of two."""
    left, found, k = n_slots, 0, 62
    while left > 0:
        while (left >> k) & 1 == 0:
            k -= 1
        state += STEP
        x = unit(state)
        first, low, high = (1 << k) + k - 1, 0, 1 << k
        while low < high:
            middle = (low + high) >> 1
            if arcs[first + middle] <= x:
                low = middle + 1
            else:
                high = middle
        found += low
        left -= 1 << k
        if found > wanted or found + left < wanted:
            return state, False
    return state, found == wanted


@njit(nogil=True, cache=True)
def _choose_parents(state: np.uint64, t: np.uint64, first: int, size: int, wanted: int, rows: Words) -> np.uint64:
    """Choose `wanted` parents of place `t` among `size` places, or those that are left out if these are fewer."""
    missing = min(wanted, size - wanted)
    while missing > 0:
        state += STEP
        accepted, a, _ = two_below(mix(state), np.uint64(size), ONE)
        a += np.uint64(first)
        if accepted and is_set(rows, t, a) == ZERO:
            flip(rows, t, a, ONE)
            missing -= 1
    if 2 * wanted > size:
        for i in range(first, first + size):
            flip(rows, t, np.uint64(i), ONE)
    return state


@njit(nogil=True, cache=True)
def _fill_slots(state: np.uint64, wanted: int, before: Ints, slots: Ints, rows: Words) -> np.uint64:
    """Choose `wanted` slots, or those that are left out if these are fewer."""
    n_nodes = before.size
    n_slots = slots[n_nodes]
    missing = min(wanted, n_slots - wanted)
    while missing > 0:
        state += STEP
        accepted, number, _ = two_below(mix(state), np.uint64(n_slots), ONE)
        low, high = 0, n_nodes - 1
        while low < high:  # the first place whose slots end behind that number
            middle = (low + high) >> 1
            if slots[middle + 1] <= np.int64(number):
                low = middle + 1
            else:
                high = middle
        t, a = np.uint64(low), number - np.uint64(slots[low])
        if accepted and is_set(rows, t, a) == ZERO:
            flip(rows, t, a, ONE)
            missing -= 1
    if 2 * wanted > n_slots:
        for i in range(n_nodes):
            for j in range(before[i]):
                flip(rows, np.uint64(i), np.uint64(j), ONE)
    return state


@njit(nogil=True, cache=True)
def _draw_dags(
    n_nodes: int,
    rows: Ints,
    n_edges: Ints,
    keys: Words,
    start: int,
    count: int,
    roots: Floats,
    joined: Floats,
    reach: Floats,
    parents: Floats,
    arcs: Floats,
    out: Words,
) -> None:
    d = np.uint64(n_nodes)
    before, begin = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    wanted, slots = np.empty(n_nodes, np.int64), np.zeros(n_nodes + 1, np.int64)
    own, names = np.empty((n_nodes, max(1, -(-n_nodes // 64))), np.uint64), np.empty(n_nodes, np.uint64)
    for row in rows:
        base = mix(keys[row] + STEP)
        for column in range(count):
            state = mix(base + np.uint64(start + column + 1) * STEP)
            rest = -1
            while rest < 0:
                state, total = _draw_layers(
                    state, n_edges[row], roots, joined, reach, parents, before, begin, wanted, slots
                )
                rest = n_edges[row] - total
                if rest > slots[n_nodes]:
                    rest = -1
                if rest >= 0:
                    state, fits = _has_arcs(state, rest, slots[n_nodes], arcs)
                    if not fits:
                        rest = -1
            own[:] = ZERO
            for t in range(n_nodes):
                size = begin[t] - before[t]
                state = _choose_parents(state, np.uint64(t), before[t], size, wanted[t], own)
            state = _fill_slots(state, rest, before, slots, own)
            shuffle(state, names)
            graph = out[row * count + column]
            for t in range(n_nodes):
                for w in range(np.uint64(own.shape[1])):
                    left = own[t, w]
                    while left != ZERO:
                        set_mark(graph, names[(w << SIX) + lowest(left)], names[t], d, ZERO)
                        left &= left - ONE


def draw_dags(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw uniformly among DAGs with given numbers of edges: compiled `dags_numpy.draw_dags`."""
    edges, names = check_edges(n_nodes, n_edges, keys, start, count)
    check_counted(n_nodes)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    if n_nodes < 2:
        return out
    sparse = are_sparse(n_nodes, edges)
    _draw_sparse(n_nodes, np.flatnonzero(sparse), edges, names, start, count, out)
    weights = np.array([-1 if few else best_weight(n_nodes, m) for few, m in zip(sparse, edges.tolist(), strict=True)])
    for weight in np.unique(weights[~sparse]).tolist():
        _draw_dags(n_nodes, np.flatnonzero(weights == weight), edges, names, start, count, *laws(n_nodes, weight), out)
    return out
