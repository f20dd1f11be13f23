"""Compiled random graphs: uniform skeletons of given numbers of edges in a uniform order.

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

from . import bits
from .inputs import Ints, Words, checked_draws, read_only
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
def stream(key: np.uint64, draw: int) -> np.uint64:
    """Return the state at which the stream of a row's draw begins; draw -1 names the stream that its draws share."""
    return mix(mix(key + STEP) + np.uint64(draw + 1) * STEP)


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
        accepted = (low & _LOW) >= (bits.ONE << _32) % n and (high & _LOW) >= (bits.ONE << _32) % m
    return accepted, low >> _32, high >> _32


@kernel_part
def draw_pairs(state: np.uint64, n_edges: int, parents: Words, low: Words, high: Words) -> np.uint64:
    """Draw `n_edges` distinct pairs of ranks, as parent rows and as lists; return the state of the stream."""
    n_nodes = np.uint64(parents.shape[0])
    n_pairs = parents.shape[0] * (parents.shape[0] - 1) // 2
    complement = 2 * n_edges > n_pairs
    wanted = np.uint64(n_pairs - n_edges if complement else n_edges)
    parents[:] = bits.ZERO
    e = bits.ZERO
    while e < wanted:
        state += STEP
        accepted, a, b = two_below(mix(state), n_nodes, n_nodes - bits.ONE)
        if not accepted:
            continue
        b += np.uint64(b >= a)
        if a > b:
            a, b = b, a
        low[e], high[e] = a, b  # overwritten by the next pair unless it is new
        new = bits.ONE ^ bits.is_set(parents, b, a)
        bits.flip(parents, b, a, new)
        e += new
    if complement:
        e = bits.ZERO
        for y in range(n_nodes):
            for x in range(y):
                bits.flip(parents, y, x, bits.ONE)
                low[e], high[e] = x, y
                e += bits.is_set(parents, y, x)
    return state


@kernel_part
def shuffle(state: np.uint64, order: Words) -> np.uint64:
    """Fill `order` with a random permutation; return the state of the stream."""
    for i in range(order.size):
        order[i] = i
    left = np.uint64(order.size)
    while left > bits.ONE:
        state += STEP
        accepted, j, k = two_below(mix(state), left, left - bits.ONE)
        if accepted:
            left -= bits.ONE
            order[left], order[j] = order[j], order[left]
            left -= bits.ONE
            order[left], order[k] = order[k], order[left]
    return state


@kernel
def _draw(
    n_edges: Ints,
    cpdag: NDArray[np.bool_],
    keys: Words,
    start: int,
    count: int,
    fixed: Ints,
    rows: Words,
    order: Words,
    pairs: Words,
    planes: Words,
) -> None:
    """Draw graphs into `planes`, along a `fixed` order or random ones; `rows` and `pairs` are room for arcs."""
    parents, compelled, low, high = rows[0], rows[1], pairs[0], pairs[1]
    n_nodes = np.uint64(parents.shape[0])
    for i in range(fixed.size):
        order[i] = fixed[i]
    for row in range(keys.size):
        for column in range(count):
            state = stream(keys[row], start + column)
            wanted = n_edges[row, column if n_edges.shape[1] > 1 else 0]
            state = draw_pairs(state, wanted, parents, low, high)
            if fixed.size == 0:
                shuffle(state, order)
            if cpdag[row]:
                bits.fill_compelled(parents, compelled)
            into = compelled if cpdag[row] else parents
            graph = planes[row * count + column]
            for e in range(wanted):
                undirected = bits.ONE ^ bits.is_set(into, high[e], low[e])
                bits.set_mark(graph, order[low[e]], order[high[e]], n_nodes, undirected)


def draw_graphs(
    n_nodes: int, n_edges: ArrayLike, cpdag: ArrayLike, keys: ArrayLike, start: int, count: int, order: ArrayLike = ()
) -> Words:
    """Draw DAGs, or their CPDAGs, with `n_edges` (n, 1) or (n, count) edges along an order, or random ones."""
    # draws start .. start + count - 1 of each row, together: draw r depends on the row's key and r alone
    edges, names = checked_draws(n_nodes, n_edges, keys, start, count)
    mapped, fixed = read_only(cpdag, np.bool_), read_only(order, np.int64)
    if len(mapped) != len(names) or (fixed.size and sorted(fixed) != list(range(n_nodes))):
        raise ValueError(
            f"{len(names)} keys need as many of cpdag, found {len(mapped)}; and order must be empty or hold each of "
            f"0..{n_nodes - 1} once, found {fixed.tolist()}"
        )
    planes = np.zeros((len(names) * count, N_PLANES, plane_words(n_nodes)), np.uint64)
    rows = np.empty((2, n_nodes) if n_nodes <= 64 else (2, n_nodes, row_words(n_nodes)), np.uint64)
    room = rows, np.empty(n_nodes, np.uint64), np.empty((2, int(edges.max(initial=0)) + 1), np.uint64)
    _draw(edges, mapped, names, start, count, fixed, *room, planes)
    return planes
