"""Compiled tail probabilities of hypergeometric laws, each distinct law summed once."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: tail probabilities that are kept, in 8-byte numbers
_KEPT = 8_000_000


#: terms this much smaller than the largest do not change a sum of them
_NOTHING = 1e-24
#: tails are kept from the largest term down to one this small; for smaller ones all terms are summed
_FAR = 1e-12


@njit(nogil=True, cache=True)
def _fill_tails(
    m: int, mt: int, me: int, low: int, high: int, far: float, inverse: Floats, tails: Floats
) -> tuple[int, int]:
    """Fill P(X >= k) for k = begin .. end, from the first place on, and return begin and end.

    Below begin they are 1. Beyond end terms are less than `far` times the largest one; in the kept ones the terms that
    are left out change nothing. Ratios of neighbouring terms lead away from the mode, without divisions.
    """
    mode = min(max((mt + 1) * (me + 1) // (m + 2), low), high)
    rest = m - mt - me
    begin, below, term = mode, 0.0, 1.0
    while begin > low and term > _NOTHING:
        term *= (begin * (rest + begin)) * (inverse[mt - begin + 1] * inverse[me - begin + 1])
        below += term
        begin -= 1
    term, last, end = 1.0, mode, mode
    while True:
        tails[last - begin] = term
        if term >= far:
            end = last
        if last == high or term < far * _NOTHING:
            break
        term *= ((mt - last) * (me - last)) * (inverse[last + 1] * inverse[rest + last + 1])
        last += 1
    for k in range(last - 1, mode - 1, -1):
        tails[k - begin] += tails[k + 1 - begin]
    scale = 1.0 / (tails[mode - begin] + below)
    term = 1.0
    for k in range(mode, begin, -1):
        term *= (k * (rest + k)) * (inverse[mt - k + 1] * inverse[me - k + 1])
        tails[k - 1 - begin] = tails[k - begin] + term
    for k in range(end - begin + 1):
        tails[k] = min(tails[k] * scale, 1.0)
    return begin, end


@njit(nogil=True, cache=True)
def _tails(x: Ints, m: int, mt: Ints, me: Ints, places: Ints, room: int, out: Floats) -> None:
    inverse = np.empty(m + 2, np.float64)
    inverse[0] = 0.0
    for k in range(1, m + 2):
        inverse[k] = 1.0 / k
    kept, scratch = np.empty(room, np.float64), np.empty(m + 1, np.float64)
    used = 0
    first, least = mt.min(), me.min()
    span = me.max() - least + 1
    for i in range(x.size):
        low, high = max(0, mt[i] + me[i] - m), min(mt[i], me[i])
        if x[i] <= low or x[i] > high:
            out[i] = 1.0 if x[i] <= low else 0.0
            continue
        slot = 3 * ((mt[i] - first) * span + me[i] - least)
        if places[slot] < 0:
            size = high - low + 1
            if used + size > room:
                # forget all laws; the table is large enough for this to be rare
                places[:] = -1
                used = 0
            begin, end = _fill_tails(m, mt[i], me[i], low, high, _FAR, inverse, kept[used : used + size])
            places[slot], places[slot + 1], places[slot + 2] = used, begin, end
            used += end - begin + 1
        begin, end = places[slot + 1], places[slot + 2]
        if x[i] <= end:
            out[i] = 1.0 if x[i] <= begin else kept[places[slot] + x[i] - begin]
        else:
            begin, _ = _fill_tails(m, mt[i], me[i], low, high, 0.0, inverse, scratch)
            out[i] = scratch[x[i] - begin]


def hypergeometric_tails(shared: Ints, n_pairs: int, true_edges: Ints, estimated_edges: Ints) -> Floats:
    """Return P(X >= shared) for hypergeometric X over `n_pairs` pairs, for at least one row.

    Parameters
    ----------
    shared, true_edges, estimated_edges : (n,) int64
        Any shared number, and numbers of edges from 0 to `n_pairs`.
    n_pairs : int
        Number of pairs of nodes.

    Returns
    -------
    (n,) float64
        Tail probabilities, with some 1e-14 relative error.
    """
    span = [int(side.max()) - int(side.min()) + 1 for side in (true_edges, estimated_edges)]
    places = np.full(3 * span[0] * span[1], -1, np.int64)
    width = int(min(true_edges.max(), estimated_edges.max())) + 1
    out = np.empty(len(shared))
    _tails(shared, n_pairs, true_edges, estimated_edges, places, max(_KEPT, width), out)
    return out
