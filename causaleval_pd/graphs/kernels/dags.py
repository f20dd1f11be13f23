"""Compiled uniform DAGs with given numbers of edges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import ONE, ZERO, flip, is_set, members, set_mark
from .dag_counts import Floats, Laws, best_weight, check_counted, laws
from .draws import STEP, draw_pairs, mix, shuffle, stream, two_below, unit
from .inputs import Ints, Words, are_sparse, checked_draws, edge_room
from .planes import N_PLANES, plane_words, row_words


class Layers(NamedTuple):
    """The places of one DAG, layer after layer: a node may have parents in the layer before its own and ahead of it."""

    #: before, begin, (d,): where the layer before a place's own begins, and where its own begins. The places ahead of
    #: both are free to be parents or not: a pair of such a place and this one is a *slot*.
    before: Ints
    begin: Ints
    #: (d,): number of a place's parents in the layer before
    wanted: Ints
    #: (d + 1,): numbers of slots of the places so far
    slots: Ints


@kernel_part
def is_acyclic(parents: Words) -> bool:
    """Return whether rows of parents, one word per node, have no cycle."""
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


@kernel_part
def flip_coins(state: np.uint64, n_edges: int, low: Words, high: Words, parents: Words) -> np.uint64:
    """Direct each edge by a bit, 64 bits per word, the lowest first."""
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


@kernel_part
def mark_arcs(graph: Words, n_edges: int, low: Words, high: Words, parents: Words, n_nodes: np.uint64) -> None:
    """Mark each edge in the direction that the rows of parents give it."""
    for e in range(n_edges):
        a, b = low[e], high[e]
        if (parents[a] >> b) & ONE:
            a, b = b, a
        set_mark(graph, a, b, n_nodes, ZERO)


@kernel
def _draw_sparse(
    rows: Ints, n_edges: Ints, keys: Words, start: int, count: int, edges: Words, nodes: Words, out: Words
) -> None:
    """Draw skeletons and directions until there is no cycle."""
    low, high, parents, scratch = edges[0], edges[1], nodes[0], nodes[1]
    d = np.uint64(parents.size)
    for row in rows:
        m = n_edges[row]
        for column in range(count):
            state = stream(keys[row], start + column)
            done = False
            while not done:
                state = draw_pairs(state, m, scratch, low, high)
                state = flip_coins(state, m, low, high, parents)
                done = is_acyclic(parents)
            mark_arcs(out[row * count + column], m, low, high, parents, d)


@kernel_part
def _draw_layers(state: np.uint64, most: int, laws: Laws, layers: Layers) -> tuple[np.uint64, int]:
    """Draw the layer of each place, and its number of parents in the layer before; give up beyond `most` of them."""
    before, begin, wanted, slots = layers
    roots, joined, reach, parents, _ = laws
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


@kernel_part
def _place(x: float, sums: Floats | Ints, first: int, most: int) -> int:
    """Return how many ascending numbers from place `first` on are at most x, up to `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high) >> 1
        if sums[first + middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_part
def _has_arcs(state: np.uint64, wanted: int, n_slots: int, arcs: Floats) -> tuple[np.uint64, bool]:
    """Toss a coin for each slot, and check whether `wanted` of them have an arc; slots go by powers of two."""
    left, n_arcs, k = n_slots, 0, 62
    while left > 0:
        while (left >> k) & 1 == 0:
            k -= 1
        state += STEP
        x = unit(state)
        n_arcs += _place(x, arcs, (1 << k) + k - 1, 1 << k)
        left -= 1 << k
        if n_arcs > wanted or n_arcs + left < wanted:
            return state, False
    return state, n_arcs == wanted


@kernel_part
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


@kernel_part
def _fill_slots(state: np.uint64, wanted: int, layers: Layers, rows: Words) -> np.uint64:
    """Choose `wanted` slots, or those that are left out if these are fewer."""
    before, slots = layers.before, layers.slots
    n_nodes = before.size
    n_slots = slots[n_nodes]
    missing = min(wanted, n_slots - wanted)
    while missing > 0:
        state += STEP
        accepted, number, _ = two_below(mix(state), np.uint64(n_slots), ONE)
        low = _place(np.int64(number), slots, 1, n_nodes - 1)
        t, a = np.uint64(low), number - np.uint64(slots[low])
        if accepted and is_set(rows, t, a) == ZERO:
            flip(rows, t, a, ONE)
            missing -= 1
    if 2 * wanted > n_slots:
        for i in range(n_nodes):
            for j in range(before[i]):
                flip(rows, np.uint64(i), np.uint64(j), ONE)
    return state


@kernel_part
def _draw_shape(state: np.uint64, n_edges: int, laws: Laws, layers: Layers) -> tuple[np.uint64, int]:
    """Draw layers and numbers of arcs until these add up to `n_edges`; return the number of slots with an arc."""
    while True:
        state, total = _draw_layers(state, n_edges, laws, layers)
        rest, n_slots = n_edges - total, layers.slots[layers.slots.size - 1]
        if 0 <= rest <= n_slots:
            state, fits = _has_arcs(state, rest, n_slots, laws.arcs)
            if fits:
                return state, rest


@kernel
def _draw_dags(
    laws: Laws,
    rows: Ints,
    n_edges: Ints,
    keys: Words,
    start: int,
    count: int,
    layers: Layers,
    rows_of_parents: Words,
    names: Words,
    out: Words,
) -> None:
    """Draw the DAGs of some rows, which have a weight in common."""
    n_nodes = laws.reach.size - 1
    for row in rows:
        for column in range(count):
            state = stream(keys[row], start + column)
            state, rest = _draw_shape(state, n_edges[row], laws, layers)
            rows_of_parents[:] = ZERO
            for t in range(n_nodes):
                size = layers.begin[t] - layers.before[t]
                state = _choose_parents(state, np.uint64(t), layers.before[t], size, layers.wanted[t], rows_of_parents)
            state = _fill_slots(state, rest, layers, rows_of_parents)
            shuffle(state, names)
            for t in range(n_nodes):
                for w in range(np.uint64(rows_of_parents.shape[1])):
                    for a in members(w, rows_of_parents[t, w]):
                        set_mark(out[row * count + column], names[a], names[t], np.uint64(n_nodes), ZERO)


def draw_dags(n_nodes: int, n_edges: ArrayLike, keys: ArrayLike, start: int, count: int) -> Words:
    """Draw uniformly among the labelled DAGs with `n_edges` (n,) edges; others as in `draw_graphs`."""
    # both ways are exact: few edges are directed by coins until there is no cycle, in tries exponential in the edges;
    # for more, layers and numbers of arcs are drawn from weighted laws until the number is met; then arcs are placed
    edges, names = checked_draws(n_nodes, np.reshape(n_edges, (-1, 1)), keys, start, count)
    edges = edges[:, 0]
    check_counted(n_nodes)
    out = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    if n_nodes < 2:
        return out
    sparse = are_sparse(n_nodes, edges)
    room, nodes = edge_room(n_nodes, 2), np.empty((2, n_nodes), np.uint64)
    _draw_sparse(np.flatnonzero(sparse), edges, names, start, count, room, nodes, out)
    weights = np.array([-1 if few else best_weight(n_nodes, m) for few, m in zip(sparse, edges.tolist(), strict=True)])
    layers = Layers(*np.empty((3, n_nodes), np.int64), np.zeros(n_nodes + 1, np.int64))
    scratch = layers, np.empty((n_nodes, row_words(n_nodes)), np.uint64), np.empty(n_nodes, np.uint64)
    for weight in np.unique(weights[~sparse]).tolist():
        chosen = np.flatnonzero(weights == weight)
        _draw_dags(laws(n_nodes, weight), chosen, edges, names, start, count, *scratch, out)
    return out
