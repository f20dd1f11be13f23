"""Compiled counts of unshielded colliders A *-> B <-* C of mixed graphs, A and C not adjacent."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ONE, SIX, ZERO, bit_of, compact, count_colliders, lowest
from ..inputs import Ints, Words, checked_comparison
from ..planes import N_MIXED_PLANES
from .rows import add


@kernel_part
def _head_bits(words: Words, at: np.uint64, step: np.uint64, low: bool) -> np.uint64:
    """Return the bits of pairs with an arrowhead, beside a tail or not, at their low or their high end."""
    first, second = words[at], words[at + step]
    third, fourth = words[at + step + step], words[at + step + step + step]
    if not low:
        first, second, third, fourth = third, fourth, first, second
    return (second & ~first) | (~(first | second) & fourth & ~third)


@kernel_part
def _head_rows(planes: Words, heads: Words, near: Words) -> None:
    """Fill for each node the nodes on whose edge it has a head, and those adjacent to it."""
    compact()
    heads[:] = ZERO
    near[:] = ZERO
    n_nodes, words = np.uint64(near.shape[0]), np.uint64(planes.shape[1])
    flat = planes.reshape(-1)
    i, row_end = ZERO, n_nodes - ONE  # pairs of node i end before row_end
    for w in range(words):
        left = planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]
        at_low, at_high = _head_bits(flat, w, words, True), _head_bits(flat, w, words, False)
        while left != ZERO:
            pair = (w << SIX) + lowest(left)
            left &= left - ONE
            while pair >= row_end:
                i += ONE
                row_end += n_nodes - ONE - i
            j, bit = pair + n_nodes - row_end, bit_of(pair)
            add(near[i], j)
            add(near[j], i)
            if at_low & bit != ZERO:
                add(heads[i], j)
            if at_high & bit != ZERO:
                add(heads[j], i)


@kernel
def _collider_counts(
    truth: Words, estimate: Words, left: Ints, right: Ints, rows: Words, out: NDArray[np.float64]
) -> None:
    """Fill the unshielded colliders of truth, estimate and both, one row each."""
    compact()
    heads, near, claimed, other = rows[0], rows[1], rows[2], rows[3]
    true = 0
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            _head_rows(truth[left[n]], heads, near)
            true = count_colliders(heads, near)
        _head_rows(estimate[right[n]], claimed, other)
        out[0, n], out[1, n] = true, count_colliders(claimed, other)
        for v in range(heads.shape[0]):
            for w in range(heads.shape[1]):
                claimed[v, w] &= heads[v, w]
                other[v, w] |= near[v, w]
        out[2, n] = count_colliders(claimed, other)


def collider_counts(
    truth: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike, n_nodes: int
) -> NDArray[np.float64]:
    """Count unshielded colliders A *-> B <-* C, A and C not adjacent.

    Rows of the result (3, n): those of the truth, of the estimate and of both. Planes have four of each graph; other
    parameters are those of `adjacency_counts`, of four planes.
    """
    given = checked_comparison(truth, estimate, truth_index, estimate_index, n_planes=N_MIXED_PLANES)
    out = np.empty((3, len(given.truth_index)))
    _collider_counts(*given, np.zeros((4, n_nodes, max(1, -(-n_nodes // 64))), np.uint64), out)
    return out
