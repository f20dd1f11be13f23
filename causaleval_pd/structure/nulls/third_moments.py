"""Exact third moments of sums over ordered pairs of nodes under random relabelling of one side.

The third power of such a sum adds up over three ordered pairs of nodes, whose six ends fall together in 87 ways. For
each way the sums over either side are multiplied and divided by the number of places that the distinct nodes may take.

References
----------
.. [1] Siemiatycki, J. (1978). Mantel's space-time clustering statistic: computing higher moments and a comparison of
   various data transforms. doi:10.1080/00949657808810243
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...graphs.kernels.planes import row_chunks

Floats = NDArray[np.float64]

#: bytes of products of three channels that are held at once for a row
_ROW_BYTES = 87 * 27 * 8 * 4


@cache
def patterns() -> tuple[tuple[int, ...], ...]:
    """Return the ways in which the ends of three arcs fall together, as the number of each end's node.

    Examples
    --------
    >>> len(patterns()), patterns()[0]
    (87, (0, 1, 0, 1, 0, 1))
    """
    every = product(*(range(i + 1) for i in range(6)))
    grown = (ends for ends in every if all(ends[i] <= max(ends[:i], default=-1) + 1 for i in range(6)))
    return tuple(ends for ends in grown if ends[0] != ends[1] and ends[2] != ends[3] and ends[4] != ends[5])


@cache
def _coarser() -> Floats:
    """Return by how much the free sum of a pattern (column) counts in the sum over distinct nodes of another."""
    signs = np.zeros((87, 87))
    for (i, fine), (j, coarse) in product(enumerate(patterns()), repeat=2):
        joined = {(a, b) for a, b in zip(fine, coarse, strict=True)}
        if len(joined) != max(fine) + 1:
            continue
        sizes = [sum(b == node for _, b in joined) for node in range(max(coarse) + 1)]
        signs[i, j] = math.prod((-1) ** (size - 1) * math.factorial(size - 1) for size in sizes)
    return signs


def triple_sums(channels: ArrayLike) -> Floats:
    """Sum products of three centred channels (N, K, d, d) over distinct nodes by pattern, (N, K, K, K, 87).

    Channels lose their diagonals and their mean, so that moments are central without cancellation.
    """
    x = np.array(channels, np.float64)
    d = x.shape[-1]
    x[..., range(d), range(d)] = 0.0
    x -= (x.sum(axis=(2, 3)) / max(1, d * (d - 1)))[..., None, None]
    x[..., range(d), range(d)] = 0.0
    if not len(x):
        return np.empty((0, *[x.shape[1]] * 3, 87))
    parts = [_free_sums(x[rows]) for rows in row_chunks(len(x), 8 * 2 * x.shape[1] ** 2 * d * d)]
    return np.asarray(np.concatenate(parts) @ _coarser().T)


def _free_sums(x: Floats) -> Floats:
    """Sum products of three channels by pattern over nodes that need not be distinct."""
    sums = {"": x.sum(axis=(2, 3)), "a": x.sum(axis=3), "b": x.sum(axis=2), "ab": x}
    found = np.empty((len(x), *[x.shape[1]] * 3, 87))
    for p, ends in enumerate(patterns()):
        arcs, inputs = [ends[0:2], ends[2:4], ends[4:6]], []
        for channel, arc in zip("xyz", arcs, strict=True):
            # ends that no other arc has are summed before anything is multiplied
            kept = [sum(end in other for other in arcs) > 1 for end in arc]
            inputs.append(sums["a" * kept[0] + "b" * kept[1]])
            letters = "".join("abcdef"[end] for end, keep in zip(arc, kept, strict=True) if keep)
            inputs.append(f"n{channel}{letters}")
        text = ",".join(inputs[1::2]) + "->nxyz"
        found[..., p] = np.einsum(text, *inputs[::2], optimize="greedy")
    return found


def central_third_moment(truth: Floats, estimate: Floats, costs: ArrayLike, n_nodes: int) -> Floats:
    """Return the third central moment of a sum over ordered pairs, over random relabellings pi.

    The sum is that over k, l, i and j of costs[k, l] truth_k(i, j) estimate_l(pi(i), pi(j)).

    Parameters
    ----------
    truth, estimate : (n, K, K, K, 87) and (n, L, L, L, 87) float
        Their `triple_sums`.
    costs : (n, K, L) or (K, L) array_like
        Costs between channels.
    n_nodes : int
        Number d of nodes.

    Returns
    -------
    (n,) float
        Exact over all d! relabellings.

    Examples
    --------
    >>> chain = np.array([[[[0, 1, 0], [0, 0, 1], [0, 0, 0]]]])
    >>> central_third_moment(triple_sums(chain), triple_sums(chain), [[1.0]], 3).round(3).tolist()
    [0.259]
    """
    weight = np.broadcast_to(np.asarray(costs, np.float64), (len(truth), *np.shape(costs)[-2:]))
    nodes = [max(ends) + 1 for ends in patterns()]
    chance = np.array([1 / math.perm(n_nodes, k) if k <= n_nodes else 0.0 for k in nodes])
    found = np.empty(len(truth))
    for rows in row_chunks(len(truth), _ROW_BYTES):
        w, moved = weight[rows], estimate[rows]
        for _ in range(3):
            # the axis that is weighed becomes the last of the three
            moved = np.einsum("nka,nabcp->nbckp", w, moved, optimize=True)
        found[rows] = np.einsum("nabcp,nabcp,p->n", truth[rows], moved, chance, optimize=True)
    return found
