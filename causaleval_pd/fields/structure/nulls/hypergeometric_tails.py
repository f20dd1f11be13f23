"""Compiled tail probabilities of hypergeometric laws, each distinct law summed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

#: tail probabilities that are kept, in 8-byte numbers
MOST_KEPT = 8_000_000
#: tails are looked up in a full table from this number of rows for each of its cells
ROWS_A_CELL = 2
#: added to the tail of an impossible number; placeholder of tails that are not filled yet
_IMPOSSIBLE, _UNKNOWN = 2.0, 4.0

#: terms this much smaller than the largest do not change a sum of them
_NOTHING = 1e-24
#: tails are kept from the largest term down to one this small; for smaller ones all terms are summed
_FAR = 1e-12


@kernel_part
def _fill_tails(
    m: int, mt: int, me: int, low: int, high: int, far: float, inverse: Floats, tails: Floats
) -> tuple[int, int]:
    """Fill P(X >= k) for k = begin .. end, from the first place on, and return begin and end; below begin they are 1.

    Beyond end terms are less than `far` times the largest one; in the kept ones the terms that are left out change
    nothing. Ratios of neighbouring terms lead away from the mode, without divisions. Shared edges may be `low` to
    `high` in number; `inverse` (m + 2,) has 1 / k.
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


@kernel
def _tails(
    x: Ints,
    m: int,
    mt: Ints,
    me: Ints,
    first: int,
    least: int,
    places: Ints,
    span: int,
    inverse: Floats,
    kept: Floats,
    scratch: Floats,
    out: Floats,
) -> int:
    """Fill the tails of rows, keeping those of every law met so far, and return the first misfit.

    Laws are numbered by `first`, the smallest mt, `least`, the smallest me, and `span`, the number of values of me.
    `places` (3 * laws,) has where a law's tails start in `kept`, and the shared edges at which they begin and end; -1:
    not kept.
    """
    used, misfit = 0, -1
    for i in range(x.size):
        low, high = max(0, mt[i] + me[i] - m), min(mt[i], me[i])
        if x[i] <= low or x[i] > high:
            out[i] = 1.0 if x[i] <= low else 0.0
            if x[i] != low and misfit < 0:
                misfit = i
            continue
        slot = 3 * ((mt[i] - first) * span + me[i] - least)
        if places[slot] < 0:
            size = high - low + 1
            if used + size > kept.size:
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
    return misfit


@kernel_part
def _fill_law(m: int, mt: int, me: int, inverse: Floats, scratch: Floats, law: Floats) -> None:
    """Fill P(X >= k) for k = 0, 1, ..., to the same bits as `_tails`, raised by `_IMPOSSIBLE` where k cannot be."""
    low, high = max(0, mt + me - m), min(mt, me)
    law[:low], law[low], law[high + 1 :] = _IMPOSSIBLE + 1.0, 1.0, _IMPOSSIBLE
    for far in (0.0, _FAR):
        begin, end = _fill_tails(m, mt, me, low, high, far, inverse, scratch)
        law[low : begin + 1] = 1.0
        for k in range(begin + 1, end + 1):
            law[k] = scratch[k - begin]


@kernel
def _tails_by_table(
    x: Ints,
    m: int,
    mt: Ints,
    me: Ints,
    first: int,
    least: int,
    table: Floats,
    inverse: Floats,
    scratch: Floats,
    out: Floats,
) -> int:
    """Look tails up in a table by mt - first, me - least and x, whose laws are filled when first met."""
    misfit = -1
    for i in range(x.size):
        k = min(max(x[i], 0), table.shape[2] - 1)
        p = table[mt[i] - first, me[i] - least, k]
        if p > 1.0 or k != x[i]:  # seldom
            if p == _UNKNOWN:
                _fill_law(m, mt[i], me[i], inverse, scratch, table[mt[i] - first, me[i] - least])
                p = table[mt[i] - first, me[i] - least, k]
            if p > 1.0 or k != x[i]:
                p = 1.0 if x[i] <= k and p != _IMPOSSIBLE else 0.0
                if misfit < 0:
                    misfit = i
        out[i] = p
    return misfit


def _inverses(m: int) -> Floats:
    """Return 1 / k for k = 0 .. m + 1, and 0 for k = 0."""
    inverse = np.zeros(m + 2)
    inverse[1:] = 1.0 / np.arange(1, m + 2)
    return inverse


def hypergeometric_tails(shared: Ints, n_pairs: int, true_edges: Ints, estimated_edges: Ints) -> tuple[Floats, int]:
    """Return P(X >= shared), to some 1e-14 relative, and the first row whose shared number is impossible, or -1.

    There must be a row, and numbers of edges from 0 to `n_pairs`.
    """
    mt, me = true_edges, estimated_edges
    first, least, most = int(mt.min()), int(me.min()), int(me.max())
    spans, width = (int(mt.max()) - first + 1, most - least + 1), min(int(mt.max()), most) + 1
    out, inverse, scratch = np.empty(len(shared)), _inverses(n_pairs), np.empty(n_pairs + 1)
    if spans[0] * spans[1] * width <= len(shared) // ROWS_A_CELL:
        table = np.full((*spans, width), _UNKNOWN)
        misfit = _tails_by_table(shared, n_pairs, mt, me, first, least, table, inverse, scratch, out)
    else:
        places = np.full(3 * spans[0] * spans[1], -1, np.int64)
        kept = np.empty(max(MOST_KEPT, width))
        misfit = _tails(shared, n_pairs, mt, me, first, least, places, spans[1], inverse, kept, scratch, out)
    return out, int(misfit)
