"""Compiled random graphs: uniform skeletons of given numbers of edges in a uniform order, and ones of given degrees.

Every draw has a stream of its own: the counter-based splitmix64 generator started at a hash of (key, number of the
draw), so that no draw depends on chunks, threads or other draws. Pairs of ranks are drawn until enough distinct ones
are found; for more than half of all pairs, those that are left out are drawn instead. A Fisher-Yates shuffle then
assigns the ranks to the nodes. Numbers are bounded by multiplication and shift (Lemire 2019, doi:10.1145/3230636).

Draw r of a row reads the words mix(s + STEP), mix(s + 2 STEP), ... with s = mix(mix(key + STEP) + (r + 1) STEP), all
modulo 2^64; mix is the output function of splitmix64 (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195). A word
gives two bounded numbers, one from its low and one from its high half: a half x gives floor(x n / 2^32) below n, and
the whole word is rejected if x n mod 2^32 < 2^32 mod n in either half. Pairs are drawn first, then the shuffle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import LAST, ONE, SIX, ZERO, copy_row, fill_compelled, flip, is_set, list_edges, set_mark
from .inputs import Ints, Words, check_index, checked_draws, checked_planes, edge_room, read_only
from .planes import N_PLANES, plane_words, row_words

STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_11, _27, _30, _31, _32 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@kernel_part
def mix(z: np.uint64) -> np.uint64:
    """Scramble a word: the output function of splitmix64."""
    z = (z ^ (z >> _30)) * _FIRST
    z = (z ^ (z >> _27)) * _SECOND
    return z ^ (z >> _31)


@kernel_part
def unit(state: np.uint64) -> float:
    """Return the number in [0, 1) made of the upper 53 bits of the word at a state of the stream."""
    return np.float64(mix(state) >> _11) * 2.0**-53


@kernel_part
def two_below(word: np.uint64, n: np.uint64, m: np.uint64) -> tuple[bool, np.uint64, np.uint64]:
    """Return whether the word is accepted, and a number below `n` and one below `m`."""
    low, high = (word & _LOW) * n, (word >> _32) * m
    accepted = True
    if (low & _LOW) < n or (high & _LOW) < m:  # rare, so that the divisions cost nothing
        accepted = (low & _LOW) >= (ONE << _32) % n and (high & _LOW) >= (ONE << _32) % m
    return accepted, low >> _32, high >> _32


@kernel_part
def draw_pairs(state: np.uint64, n_edges: int, parents: Words, low: Words, high: Words) -> np.uint64:
    """Draw `n_edges` distinct pairs of ranks, as parent rows and as lists; return the state of the stream."""
    n_nodes = np.uint64(parents.shape[0])
    n_pairs = parents.shape[0] * (parents.shape[0] - 1) // 2
    complement = 2 * n_edges > n_pairs
    wanted = np.uint64(n_pairs - n_edges if complement else n_edges)
    parents[:] = ZERO
    e = ZERO
    while e < wanted:
        state += STEP
        accepted, a, b = two_below(mix(state), n_nodes, n_nodes - ONE)
        if not accepted:
            continue
        b += np.uint64(b >= a)
        if a > b:
            a, b = b, a
        low[e], high[e] = a, b  # overwritten by the next pair unless it is new
        new = ONE ^ is_set(parents, b, a)
        flip(parents, b, a, new)
        e += new
    if complement:
        e = ZERO
        for y in range(n_nodes):
            for x in range(y):
                flip(parents, y, x, ONE)
                low[e], high[e] = x, y
                e += is_set(parents, y, x)
    return state


@kernel_part
def shuffle(state: np.uint64, order: Words) -> np.uint64:
    """Fill `order` with a random permutation; return the state of the stream."""
    for i in range(order.size):
        order[i] = i
    left = np.uint64(order.size)
    while left > ONE:
        state += STEP
        accepted, j, k = two_below(mix(state), left, left - ONE)
        if accepted:
            left -= ONE
            order[left], order[j] = order[j], order[left]
            left -= ONE
            order[left], order[k] = order[k], order[left]
    return state


@kernel
def _draw(
    n_edges: Ints,
    cpdag: NDArray[np.bool_],
    keys: Words,
    fixed: Ints,
    start: int,
    count: int,
    parents: Words,
    compelled: Words,
    order: Words,
    low: Words,
    high: Words,
    planes: Words,
) -> None:
    """Draw graphs start .. start + count - 1 of each row into `planes` (n * count, 2, W), as `draw_graphs` checked.

    `fixed` is the causal order. Room: parents, compelled (d,) or (d, words), one word per node being about half again
    as fast; order (d,); low, high (E,) for pairs of ranks.
    """
    n_nodes = np.uint64(parents.shape[0])
    for i in range(fixed.size):
        order[i] = fixed[i]
    for row in range(keys.size):
        base = mix(keys[row] + STEP)
        for column in range(count):
            state = mix(base + np.uint64(start + column + 1) * STEP)
            wanted = n_edges[row, column if n_edges.shape[1] > 1 else 0]
            state = draw_pairs(state, wanted, parents, low, high)
            if fixed.size == 0:
                shuffle(state, order)
            if cpdag[row]:
                fill_compelled(parents, compelled)
            into = compelled if cpdag[row] else parents
            graph = planes[row * count + column]
            for e in range(wanted):
                undirected = ONE ^ is_set(into, high[e], low[e])
                set_mark(graph, order[low[e]], order[high[e]], n_nodes, undirected)


def draw_graphs(
    n_nodes: int, n_edges: ArrayLike, cpdag: ArrayLike, keys: ArrayLike, start: int, count: int, order: ArrayLike = ()
) -> Words:
    """Draw random graphs with given numbers of edges, (n * count, 2, W), the draws of a row together.

    `n_edges` is (n, 1) or (n, count), `cpdag` (n,) states whether a row's DAGs are replaced by their CPDAGs, `keys`
    (n,) name the rows' random streams, and draws start .. start + count - 1 are made: draw r depends on the key and r
    alone. `order` (d,) is the causal order of the nodes, a random one for each draw if empty.
    """
    draws = checked_draws(n_nodes, n_edges, cpdag, keys, start, count, order)
    planes = np.zeros((len(draws.keys) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    rows = np.empty((2, n_nodes) if n_nodes <= 64 else (2, n_nodes, row_words(n_nodes)), np.uint64)
    causal = np.empty(n_nodes, np.uint64)
    pairs = np.empty((2, int(draws.n_edges.max(initial=0)) + 1), np.uint64)
    _draw(draws.n_edges, draws.cpdag, draws.keys, draws.order, start, count, *rows, causal, *pairs, planes)
    return planes


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
    rows = np.empty((n_nodes, row_words(n_nodes)), np.uint64)
    _switch_edges(graphs, chosen, steps, names, start, count, edges, rows, out)
    return out
