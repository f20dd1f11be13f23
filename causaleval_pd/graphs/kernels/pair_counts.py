"""Compiled counts over pairs of nodes: on which truth and estimate agree or differ, and by the types of both edges.

Graphs are read in place, those of agreements in packed cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from .bits import ZERO, popcount
from .inputs import Ints, Words, checked_comparison, words_in_place
from .planes import N_ADJACENCY_COUNTS, N_MIXED_PLANES, N_PLANES

Row = NDArray[np.float64]


class Side(NamedTuple):
    """The graphs of one side of the pairs, where they stand."""

    #: all words, how many of them the graphs are apart, and how many a plane has
    words: Words
    step: int
    length: np.uint64
    #: whether graphs have four planes
    mixed: bool
    #: (n,): position of each pair's graph
    index: Ints


@kernel
def _adjacency_counts(true: Side, claimed: Side, n_pairs: int, out: tuple[Row, ...]) -> None:
    """Fill the counts of each pair, an array per count."""
    truth, estimate, words = true.words, claimed.words, true.length
    tp, fp, fn, tn, different = out
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        shared = n_true = n_claimed = unlike = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            near, found, differ = tf | tb, ef | eb, (tf ^ ef) | (tb ^ eb)
            if true.mixed:
                third, fourth = w + words + words, w + words + words + words
                near |= truth[t + third] | truth[t + fourth]
                found |= estimate[e + third] | estimate[e + fourth]
                differ |= (truth[t + third] ^ estimate[e + third]) | (truth[t + fourth] ^ estimate[e + fourth])
            shared += popcount(near & found)
            n_true += popcount(near)
            n_claimed += popcount(found)
            unlike += popcount(differ)
        tp[n], fp[n], fn[n], tn[n] = shared, n_claimed - shared, n_true - shared, n_pairs - n_true - n_claimed + shared
        different[n] = unlike


@kernel
def _direction_counts(true: Side, claimed: Side, out: NDArray[np.float64]) -> None:
    """Fill the counts of each pair, a row per count."""
    truth, estimate, words = true.words, claimed.words, true.length
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        same = opposite = directed = oriented = lost = added = 0
        for w in range(words):
            tf, tb, ef, eb = truth[t + w], truth[t + w + words], estimate[e + w], estimate[e + w + words]
            t_arrow, e_arrow = tf ^ tb, ef ^ eb
            both = t_arrow & e_arrow
            same += popcount(both & ~(tf ^ ef))
            opposite += popcount(both & (tf ^ ef))
            directed += popcount(t_arrow)
            oriented += popcount(e_arrow)
            lost += popcount(t_arrow & ef & eb)
            added += popcount(e_arrow & tf & tb)
        out[0, n], out[1, n], out[2, n] = same, opposite, directed
        out[3, n], out[4, n], out[5, n] = oriented, lost, added


def adjacency_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    out: Sequence[Row] | None = None,
) -> tuple[Row, ...]:
    """Count adjacencies of both, estimate only, truth only and neither, and pairs of nodes that differ; (n,) each."""
    # two planes or four on both sides, also in place in packed cells; `out` is where the counts go, if given
    n_planes = N_MIXED_PLANES if np.shape(truth)[1:2] == (N_MIXED_PLANES,) else N_PLANES
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=(n_planes,))
    n = len(comparison.truth_index)
    rows = tuple(np.empty(n) for _ in range(N_ADJACENCY_COUNTS)) if out is None else tuple(out)
    if len(rows) != N_ADJACENCY_COUNTS or any(row.shape != (n,) for row in rows):
        raise ValueError(f"out must be {N_ADJACENCY_COUNTS} arrays of length {n}")
    _adjacency_counts(*_sides(*comparison), n_nodes * (n_nodes - 1) // 2, rows)
    return rows


def direction_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count same, reversed, true, estimated directed edges; shared ones that lost or gained a direction: (6, n)."""
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index)
    out = np.empty((6, len(comparison.truth_index)))
    _direction_counts(*_sides(*comparison), out)
    return out


def _sides(truth: Words, estimate: Words, left: Ints, right: Ints) -> tuple[Side, Side]:
    true, claimed = (
        Side(*words_in_place(planes), np.uint64(planes.shape[2]), planes.shape[1] == N_MIXED_PLANES, index)
        for planes, index in ((truth, left), (estimate, right))
    )
    return true, claimed


#: a word of ones
ALL = 2**64 - 1


@kernel_part
def _bits_of_types(planes: Words, at: np.uint64, words: np.uint64, lifted: bool, flips: Words, out: Words) -> None:
    """Fill the bits of the pairs with each type in a word, and at the end of those with any edge."""
    first, second = planes[at], planes[at + words]
    if lifted:
        third, fourth = planes[at + words + words], planes[at + words + words + words]
    else:
        third, fourth = second, first & ~second
        second = second & ~first
    n_types = flips.shape[0]
    for k in range(n_types):
        out[k] = (first ^ flips[k, 0]) & (second ^ flips[k, 1]) & (third ^ flips[k, 2]) & (fourth ^ flips[k, 3])
    out[n_types] = first | second | third | fourth


@kernel
def _type_counts(
    true: Side,
    claimed: Side,
    true_flips: Words,
    estimated_flips: Words,
    true_bits: Words,
    estimated_bits: Words,
    here: NDArray[np.int64],
    table: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Fill the table of each pair, none first."""
    n_true, n_estimated, words = true_flips.shape[0], estimated_flips.shape[0], true.length
    for n in range(true.index.size):
        t, e = np.uint64(true.index[n] * true.step), np.uint64(claimed.index[n] * claimed.step)
        table[:] = 0
        for w in range(words):
            _bits_of_types(true.words, t + w, words, true.mixed, true_flips, true_bits)
            _bits_of_types(claimed.words, e + w, words, claimed.mixed, estimated_flips, estimated_bits)
            near, found, n_here = true_bits[n_true], estimated_bits[n_estimated], 0
            for j in range(n_estimated):
                if estimated_bits[j] != ZERO:
                    table[0, j + 1] += popcount(estimated_bits[j] & ~near)
                    here[n_here] = j
                    n_here += 1
            for i in range(n_true):
                if true_bits[i] != ZERO:
                    table[i + 1, 0] += popcount(true_bits[i] & ~found)
                    for k in range(n_here):
                        table[i + 1, here[k] + 1] += popcount(true_bits[i] & estimated_bits[here[k]])
        for i in range(n_true + 1):
            for j in range(n_estimated + 1):
                out[i, j, n] = table[i, j]


def type_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    true_types: Sequence[int],
    estimated_types: Sequence[int],
) -> NDArray[np.float64]:
    """Count the pairs of nodes by the types, from 1 to 15, of both edges, (I + 1, J + 1, n); no edge is first."""
    comparison = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=(N_PLANES, N_MIXED_PLANES))
    types = true_types, estimated_types
    # xor with these makes the planes of a type ones
    flips = [
        np.array([[0 if code >> plane & 1 else ALL for plane in range(4)] for code in side], np.uint64).reshape(-1, 4)
        for side in types
    ]
    table = np.empty((len(types[0]) + 1, len(types[1]) + 1), np.int64)
    out = np.empty((*table.shape, len(comparison.truth_index)))
    bits = (np.empty(len(side) + 1, np.uint64) for side in types)
    _type_counts(*_sides(*comparison), *flips, *bits, np.empty(len(types[1]), np.int64), table, out)
    return out
