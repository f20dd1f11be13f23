"""Compiled counts of what the marks of estimates claim about true ancestors and latent confounders, and what is right.

An arrowhead at v of u *-> v claims that v is not an ancestor of u, a tail at u of u -* v that u is one of v, and
u <-> v that a latent node confounds them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from causaleval_pd.execution.compilation import kernel

from ..bits import popcount
from ..inputs import Ints, Words, checked_comparison, words_in_place
from ..planes import N_MIXED_PLANES
from .pair_counts import adjacent_bits, bidirected_bits, directed_bits, marked_bits

N_CLAIM_COUNTS = 17


@kernel
def _claim_counts(
    truth: Words,
    truth_step: int,
    estimate: Words,
    estimate_step: int,
    words: np.uint64,
    left: Ints,
    right: Ints,
    out: NDArray[np.float64],
) -> None:
    """Fill the counts of each pair, a row a count; graphs and relations are that many words apart."""
    for n in range(left.size):
        t, e = np.uint64(left[n] * truth_step), np.uint64(right[n] * estimate_step)
        out[:, n] = 0
        for w in range(words):
            forward, backward = truth[t + w], truth[t + w + words]
            confounded, common = truth[t + w + words + words], truth[t + w + words + words + words]
            near = adjacent_bits(estimate, e + w, words)
            spouses = bidirected_bits(estimate, e + w, words)
            for end in range(2):
                low = end == 0
                # of the node at this end: whether it is an ancestor of the other one
                above = forward if low else backward
                head = marked_bits(estimate, e + w, words, np.uint64(2), low)
                tail = marked_bits(estimate, e + w, words, np.uint64(1), low)
                arrow = directed_bits(estimate, e + w, words, low)
                out[0, n] += popcount(head)
                out[1, n] += popcount(head & ~above)
                out[2, n] += popcount(tail)
                out[3, n] += popcount(tail & above)
                out[4, n] += popcount(above)
                out[5, n] += popcount(near & above)
                out[6, n] += popcount(near & ~above)
                out[7, n] += popcount(arrow)
                out[8, n] += popcount(arrow & above)
                out[9, n] += popcount(arrow & (backward if low else forward))
            out[10, n] += popcount(spouses)
            out[11, n] += popcount(spouses & confounded)
            out[12, n] += popcount(spouses & common)
            out[13, n] += popcount(confounded)
            out[14, n] += popcount(common)
            out[15, n] += popcount(near & confounded)
            out[16, n] += popcount(near & common)


def claim_counts(
    relations: ArrayLike, estimate: ArrayLike, truth_index: ArrayLike, estimate_index: ArrayLike
) -> NDArray[np.float64]:
    """Count claims of estimates (K, 4, W) and relations of truths (N, 4, W).

    Planes of relations are: i is an ancestor of j; j of i; both are confounded; both have a latent ancestor. Rows of
    the result (17, n) are those of `graphs.counts.ClaimCounts`. Indices are as in `mixed_adjacency_counts`.
    """
    given = checked_comparison(relations, estimate, truth_index, estimate_index, in_place=True, n_planes=N_MIXED_PLANES)
    out = np.empty((N_CLAIM_COUNTS, len(given.truth_index)))
    _claim_counts(
        *words_in_place(given.truth),
        *words_in_place(given.estimate),
        np.uint64(given.truth.shape[2]),
        given.truth_index,
        given.estimate_index,
        out,
    )
    return out
