"""Compiled counts over pairs of nodes of mixed graphs, on which truth and estimate agree; cells are read in place.

An end of a pair with ``->`` and ``<->`` has two marks, a tail and an arrowhead; every other end has one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ZERO, popcount
from ..inputs import Comparison, Ints, Words, checked_comparison, words_in_place
from ..planes import N_ADJACENCY_COUNTS, N_MIXED_PLANES

Row = NDArray[np.float64]

N_DIRECTION_COUNTS, N_MARK_COUNTS, N_LIKENESS_COUNTS, N_TYPES = 6, 7, 6, 16


@kernel_part
def adjacent_bits(words: Words, at: np.uint64, step: np.uint64) -> np.uint64:
    """Return the bits of adjacent pairs in a word of four planes."""
    return words[at] | words[at + step] | words[at + step + step] | words[at + step + step + step]


@kernel_part
def _both_marks(here: np.uint64, here_high: np.uint64, there: np.uint64, there_high: np.uint64) -> np.uint64:
    """Return the bits of pairs whose end here has a tail and an arrowhead."""
    return ~(here | here_high) & there_high & ~there


@kernel_part
def marked_bits(words: Words, at: np.uint64, step: np.uint64, mark: np.uint64, low: bool) -> np.uint64:
    """Return the bits of pairs with a mark (code 1 tail, 2 arrow, 3 circle) at their low or their high end."""
    first, second = words[at], words[at + step]
    third, fourth = words[at + step + step], words[at + step + step + step]
    if not low:
        first, second, third, fourth = third, fourth, first, second
    if mark == np.uint64(3):
        return first & second
    double = _both_marks(first, second, third, fourth)
    return (first & ~second if mark == np.uint64(1) else second & ~first) | double


@kernel_part
def directed_bits(words: Words, at: np.uint64, step: np.uint64, forward: bool) -> np.uint64:
    """Return the bits of pairs with -> from the low to the high node, or back."""
    first, second = words[at], words[at + step]
    third, fourth = words[at + step + step], words[at + step + step + step]
    if not forward:
        first, second, third, fourth = third, fourth, first, second
    # a tail or two edges here, an arrow alone there
    return ~second & (fourth & ~third)


@kernel_part
def bidirected_bits(words: Words, at: np.uint64, step: np.uint64) -> np.uint64:
    """Return the bits of pairs with <->, beside -> or not."""
    first, second = words[at], words[at + step]
    third, fourth = words[at + step + step], words[at + step + step + step]
    arrow, other = second & ~first, fourth & ~third
    return (arrow | ~(first | second)) & other | arrow & ~(third | fourth)


@kernel
def _adjacency_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    n_pairs: int,
    out: tuple[Row, ...],
) -> None:
    """Fill the counts of each pair, an array a count; graphs are that many words apart."""
    tp, fp, fn, tn, different = out
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        shared = true = estimated = unlike = 0
        for w in range(words):
            near, claimed = adjacent_bits(truth, t + w, words), adjacent_bits(estimate, e + w, words)
            shared += popcount(near & claimed)
            true += popcount(near)
            estimated += popcount(claimed)
            differs = ZERO
            for plane in range(np.uint64(4)):
                differs |= truth[t + w + plane * words] ^ estimate[e + w + plane * words]
            unlike += popcount(differs)
        tp[n], fp[n], fn[n], tn[n] = shared, estimated - shared, true - shared, n_pairs - true - estimated + shared
        different[n] = unlike


@kernel
def _direction_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    out: NDArray[np.float64],
) -> None:
    """Fill the counts of each pair, a row a count; graphs are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        same = opposite = directed = claimed = lost = added = 0
        for w in range(words):
            tf, tb = directed_bits(truth, t + w, words, True), directed_bits(truth, t + w, words, False)
            ef, eb = directed_bits(estimate, e + w, words, True), directed_bits(estimate, e + w, words, False)
            same += popcount((tf & ef) | (tb & eb))
            opposite += popcount((tf & eb) | (tb & ef))
            directed += popcount(tf | tb)
            claimed += popcount(ef | eb)
            lost += popcount((tf | tb) & adjacent_bits(estimate, e + w, words) & ~(ef | eb))
            added += popcount((ef | eb) & adjacent_bits(truth, t + w, words) & ~(tf | tb))
        out[0, n], out[1, n], out[2, n] = same, opposite, directed
        out[3, n], out[4, n], out[5, n] = claimed, lost, added


@kernel
def _mark_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    mark: np.uint64,
    out: NDArray[np.float64],
) -> None:
    """Fill the counts of one mark for each pair, a row a count; graphs are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        true = claimed = both = on_shared = claimed_on_shared = at_circle = missed_by_circle = 0
        for w in range(words):
            near, adjacent = adjacent_bits(truth, t + w, words), adjacent_bits(estimate, e + w, words)
            for end in range(2):
                low = end == 0
                mine, found = (
                    marked_bits(truth, t + w, words, mark, low),
                    marked_bits(estimate, e + w, words, mark, low),
                )
                circle = marked_bits(truth, t + w, words, np.uint64(3), low)
                other = marked_bits(estimate, e + w, words, np.uint64(3), low)
                true += popcount(mine)
                claimed += popcount(found)
                both += popcount(mine & found)
                on_shared += popcount(mine & adjacent)
                claimed_on_shared += popcount(found & near)
                at_circle += popcount(found & circle)
                missed_by_circle += popcount(mine & other)
        out[0, n], out[1, n], out[2, n], out[3, n] = true, claimed, both, on_shared
        out[4, n], out[5, n], out[6, n] = claimed_on_shared, at_circle, missed_by_circle


@kernel
def _likeness_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    out: NDArray[np.float64],
) -> None:
    """Fill the counts of each pair, a row a count; graphs are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        out[:, n] = 0
        for w in range(words):
            shared = adjacent_bits(truth, t + w, words) & adjacent_bits(estimate, e + w, words)
            circled, claimed_circled, unlike = ZERO, ZERO, ZERO
            for end in range(2):
                low = end == 0
                differs = ZERO
                for mark in range(np.uint64(1), np.uint64(4)):
                    differs |= marked_bits(truth, t + w, words, mark, low) ^ marked_bits(
                        estimate, e + w, words, mark, low
                    )
                circle = marked_bits(truth, t + w, words, np.uint64(3), low)
                other = marked_bits(estimate, e + w, words, np.uint64(3), low)
                out[0, n] += popcount(differs & shared)
                out[1, n] += popcount((circle ^ other) & shared)
                circled |= circle
                claimed_circled |= other
                unlike |= differs
            out[2, n] += popcount(circled & claimed_circled & unlike)
            spouses, claimed = bidirected_bits(truth, t + w, words), bidirected_bits(estimate, e + w, words)
            out[3, n] += popcount(spouses)
            out[4, n] += popcount(claimed)
            out[5, n] += popcount(spouses & claimed)


@kernel
def _type_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    out: NDArray[np.int32],
) -> None:
    """Add the pairs of nodes by both edges' codes, that of the truth first; graphs are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        for w in range(words):
            pairs = adjacent_bits(truth, t + w, words) | adjacent_bits(estimate, e + w, words)
            while pairs != ZERO:
                bit = pairs & (~pairs + np.uint64(1))
                pairs ^= bit
                true, claimed = np.uint64(0), np.uint64(0)
                for plane in range(np.uint64(4)):
                    true |= np.uint64(truth[t + w + plane * words] & bit != ZERO) << plane
                    claimed |= np.uint64(estimate[e + w + plane * words] & bit != ZERO) << plane
                out[n, true, claimed] += 1


def _compared(truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike) -> Comparison:
    return checked_comparison(truth, estimate, truth_index, estimate_index, in_place=True, n_planes=N_MIXED_PLANES)


def _in_place(given: Comparison) -> tuple[Words, int, Words, int, np.uint64, Ints, Ints]:
    sides = *words_in_place(given.truth), *words_in_place(given.estimate)
    return *sides, np.uint64(given.truth.shape[2]), given.truth_index, given.estimate_index


def mixed_adjacency_counts(
    truth: ArrayLike,
    estimate: ArrayLike,
    truth_index: ArrayLike,
    estimate_index: ArrayLike,
    n_nodes: int,
    out: Sequence[Row] | None = None,
) -> tuple[Row, ...]:
    """Count as `adjacency_counts` does, of graphs of four planes (N, 4, W) and (K, 4, W)."""
    given = _compared(truth, estimate, truth_index, estimate_index)
    n = len(given.truth_index)
    rows = tuple(np.empty(n) for _ in range(N_ADJACENCY_COUNTS)) if out is None else tuple(out)
    if len(rows) != N_ADJACENCY_COUNTS or any(row.shape != (n,) for row in rows):
        raise ValueError(f"out must be {N_ADJACENCY_COUNTS} arrays of length {n}")
    _adjacency_counts(*_in_place(given), n_nodes * (n_nodes - 1) // 2, rows)
    return rows


def mixed_direction_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count as `direction_counts` does: ``->`` is a directed edge, also beside ``<->``, and no other edge is."""
    given = _compared(truth, estimate, truth_index, estimate_index)
    out = np.empty((N_DIRECTION_COUNTS, len(given.truth_index)))
    _direction_counts(*_in_place(given), out)
    return out


def mark_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, mark: int
) -> NDArray[np.float64]:
    """Count the ends of edges that have a mark, code 1 tail, 2 arrow or 3 circle.

    Rows of the result (7, n): ends of the truth; of the estimate; of both; of the truth on shared adjacencies; of the
    estimate on shared adjacencies; of the estimate where the truth has a circle; of the truth where the estimate has
    one. Other parameters as in `mixed_adjacency_counts`.
    """
    given = _compared(truth, estimate, truth_index, estimate_index)
    out = np.empty((N_MARK_COUNTS, len(given.truth_index)))
    _mark_counts(*_in_place(given), np.uint64(mark), out)
    return out


def likeness_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count in what shared adjacencies differ, and bidirected edges.

    Rows of the result (6, n): ends of shared adjacencies with other marks; with a circle in one graph only; shared
    adjacencies with a circle in both graphs that differ; pairs with ``<->`` in the truth; in the estimate; in both.
    Parameters as in `mixed_adjacency_counts`.
    """
    given = _compared(truth, estimate, truth_index, estimate_index)
    out = np.empty((N_LIKENESS_COUNTS, len(given.truth_index)))
    _likeness_counts(*_in_place(given), out)
    return out


def type_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.int32]:
    """Count the pairs of nodes by the codes of both edges, (n, 16, 16), the truth's first.

    The code of an edge of nodes i < j is the mark at i plus four times that at j, 0 for none.
    """
    given = _compared(truth, estimate, truth_index, estimate_index)
    out = np.zeros((len(given.truth_index), N_TYPES, N_TYPES), np.int32)
    _type_counts(*_in_place(given), out)
    out[:, 0, 0] = n_nodes * (n_nodes - 1) // 2 - out.sum(axis=(1, 2))
    return out
