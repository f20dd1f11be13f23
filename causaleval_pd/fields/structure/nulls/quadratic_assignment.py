"""Exact moments of sums over ordered pairs of nodes under random relabelling of one side.

A statistic that adds up over ordered pairs of nodes, sum over i != j of c(type of (i, j) in the truth, type in the
estimate), has an exact mean and variance under random relabelling whatever the costs c. Types are channels, matrices
over ordered pairs, and a metric is a matrix of costs between channels.

References
----------
.. [1] Hubert, L., Schultz, J. (1976). Quadratic assignment as a general data analysis strategy.
   doi:10.1111/j.2044-8317.1976.tb00714.x
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class PairSums(NamedTuple):
    """Sums over one side that the moments need: of its channels, and of products of two channels by pattern."""

    #: (N, K): sums of the channels over ordered pairs
    totals: Floats
    #: (N, K, K, 7): sums over two ordered pairs of nodes that are the same, reversed, share their first node, their
    #: second node, the first is the other's second, the second the other's first, or are disjoint
    products: Floats


def pair_sums(channels: ArrayLike) -> PairSums:
    """Sum channels (N, K, d, d), without their diagonals, and products of two of them by pattern."""
    x = np.array(channels, np.float64)
    d = x.shape[-1]
    x[..., range(d), range(d)] = 0.0
    first, second = x.sum(axis=3), x.sum(axis=2)
    totals = first.sum(axis=2)
    flat = x.reshape(*x.shape[:2], d * d)
    turned = x.transpose(0, 1, 3, 2).reshape(flat.shape)

    def product(a: Floats, b: Floats) -> Floats:
        return np.asarray(a @ b.transpose(0, 2, 1))

    same, reverse = product(flat, flat), product(flat, turned)
    patterns = [same, reverse, product(first, first) - same, product(second, second) - same]
    patterns += [product(first, second) - reverse, product(second, first) - reverse]
    disjoint = totals[:, :, None] * totals[:, None, :] - sum(patterns)
    return PairSums(totals, np.stack([*patterns, disjoint], axis=-1))


def relabelling_moments(truth: PairSums, estimate: PairSums, costs: ArrayLike, n_nodes: int) -> tuple[Floats, Floats]:
    """Return mean and variance of sum over k, l of costs[k, l] truth_k(i, j) estimate_l(pi(i), pi(j)), pi random.

    Both (n,) are exact over all d! relabellings; truth and estimate have n rows with K and L channels, costs (n, K, L)
    or (K, L).
    """
    d = n_nodes
    weight = np.broadcast_to(np.asarray(costs, np.float64), (len(truth.totals), *np.shape(costs)[-2:]))
    ways = np.array([d * (d - 1)] * 2 + [d * (d - 1) * (d - 2)] * 4 + [d * (d - 1) * (d - 2) * (d - 3)], np.float64)
    chance = np.divide(1.0, ways, out=np.zeros(7), where=ways > 0)
    mean = np.einsum("nk,nkl,nl->n", truth.totals, weight, estimate.totals) * chance[0]
    spread = np.einsum("nka,nklp,nlb->nabp", weight, truth.products, weight, optimize=True)
    square = np.einsum("nabp,nabp,p->n", spread, estimate.products, chance, optimize=True)
    variance = square - mean**2
    # clip variances that are only rounding error
    return mean, np.where(variance > 1e-9 * (1 + mean**2), variance, 0.0)
