"""Compiled comparison of the m-separations of mixed graphs, 64 pairs of nodes at once (see `lanes`).

References
----------
van der Zander & Liskiewicz (2020), Finding minimal d-separators in linear time and applications, UAI,
doi:10.48550/arXiv.1907.07595 (the nearest separator).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ONE, ZERO, compact, lowest, popcount
from ..inputs import Ints, Words
from ..lanes import Flags, Nodes
from ..ones import count_ones

_TAIL, _ARROW = 1, 2


class Steps(NamedTuple):
    """The edges of one graph by what a walk over them may do."""

    #: (2, E): tail and head of the edges on which a causal path may lead; in PAGs also those it may possibly take
    ahead: Nodes
    #: (2, E): ends of the edges <->; those of a pair of nodes may stand in both lists
    both: Nodes
    #: (2,): numbers of edges in both
    size: Ints


def _empty_steps(most: int) -> Steps:
    """Return room for the steps over a given number of edges."""
    return Steps(np.empty((2, 2 * most), np.uint16), np.empty((2, most), np.uint16), np.zeros(2, np.int64))


@kernel_part
def _read_steps(planes: Words, n_nodes: int, steps: Steps, adjacent: Flags) -> None:
    """Read four planes (4, W); of a pair with two edges, -> and <->, they hold a mark at one end only."""
    compact()
    ahead, both = steps.ahead, steps.both
    n_ahead = n_both = i = 0
    adjacent[:] = False
    row_end = n_nodes - 1  # pairs of node i end before row_end
    for w in range(planes.shape[1]):
        left = planes[0, w] | planes[1, w] | planes[2, w] | planes[3, w]
        while left != ZERO:
            bit: np.uint64 = lowest(left)
            left &= left - ONE
            pair = 64 * w + np.int64(bit)
            while pair >= row_end:
                i += 1
                row_end += n_nodes - 1 - i
            j = pair + n_nodes - row_end
            adjacent[i, j] = adjacent[j, i] = True
            here = np.int64((planes[0, w] >> bit) & ONE) | (np.int64((planes[1, w] >> bit) & ONE) << 1)
            there = np.int64((planes[2, w] >> bit) & ONE) | (np.int64((planes[3, w] >> bit) & ONE) << 1)
            if here != _ARROW and there != _TAIL:
                ahead[0, n_ahead], ahead[1, n_ahead] = i, j
                n_ahead += 1
            if there != _ARROW and here != _TAIL:
                ahead[0, n_ahead], ahead[1, n_ahead] = j, i
                n_ahead += 1
            if (here == _ARROW and there != _TAIL) or (there == _ARROW and here != _TAIL):
                both[0, n_both], both[1, n_both] = i, j
                n_both += 1
    steps.size[0], steps.size[1] = n_ahead, n_both


@kernel_part
def _fill_ancestors(steps: Steps, x: Words, y: Words, inside: Words) -> None:
    """Fill the possible ancestors of both nodes of each lane."""
    compact()
    tail, head = steps.ahead[0], steps.ahead[1]
    for v in range(x.size):
        inside[v] = x[v] | y[v]
    changed = ONE
    while changed != ZERO:
        changed = ZERO
        for a in range(steps.size[0]):
            new = inside[head[a]] & ~inside[tail[a]]
            inside[tail[a]] |= new
            changed |= new


@kernel_part
def _fill_moral_neighbours(steps: Steps, members: Words, inside: Words, met: Words, found: Words) -> None:
    """Fill `found` with the nodes that a path of colliders joins to `members`, all nodes of it in `inside`."""
    compact()
    tail, head, left, right = steps.ahead[0], steps.ahead[1], steps.both[0], steps.both[1]
    met[:] = ZERO
    found[:] = ZERO
    for a in range(steps.size[0]):
        met[head[a]] |= members[tail[a]] & inside[head[a]]
        found[tail[a]] |= members[head[a]] & inside[tail[a]]
    for b in range(steps.size[1]):
        met[left[b]] |= members[right[b]] & inside[left[b]]
        met[right[b]] |= members[left[b]] & inside[right[b]]
    changed = ONE
    while changed != ZERO:
        changed = ZERO
        for b in range(steps.size[1]):
            u, v = left[b], right[b]
            here, there = met[v] & inside[u] & ~met[u], met[u] & inside[v] & ~met[v]
            met[u] |= here
            met[v] |= there
            changed |= here | there
    for a in range(steps.size[0]):
        found[tail[a]] |= met[head[a]] & inside[tail[a]]
    for v in range(found.size):
        found[v] |= met[v]


@kernel_part
def _fill_nearest(steps: Steps, x: Words, y: Words, inside: Words, given: Words, rows: Words) -> None:
    """Fill the minimal separators nearest to x: its moral neighbours that y reaches without passing another one."""
    compact()
    border, reached, walking, met, found = rows[0], rows[1], rows[2], rows[3], rows[4]
    _fill_moral_neighbours(steps, x, inside, met, border)
    for v in range(x.size):
        border[v] &= ~x[v]
        reached[v] = y[v]
    changed = ONE
    while changed != ZERO:
        changed = ZERO
        for v in range(x.size):
            walking[v] = reached[v] & ~border[v]
        _fill_moral_neighbours(steps, walking, inside, met, found)
        for v in range(x.size):
            changed |= found[v] & ~reached[v]
            reached[v] |= found[v]
    for v in range(x.size):
        given[v] = reached[v] & border[v]


@kernel_part
def _count_connected(true: Steps, x: Words, y: Words, given: Words, rows: Words) -> int:
    """Count the lanes whose nodes the truth connects, by walks whose colliders and no other inner nodes are given."""
    compact()
    tail, head, left, right = true.ahead[0], true.ahead[1], true.both[0], true.both[1]
    # how a walk arrives at a node: by its tail, by its head
    up, down = rows[0], rows[1]
    for v in range(x.size):
        up[v] = x[v]
        down[v] = ZERO
    changed = ONE
    while changed != ZERO:
        changed = ZERO
        for a in range(true.size[0]):
            u, v = tail[a], head[a]
            new = (up[u] | down[u]) & ~given[u] & ~down[v]
            down[v] |= new
            changed |= new
        for b in range(true.size[1]):
            u, v = left[b], right[b]
            new = ((up[u] & ~given[u]) | (down[u] & given[u])) & ~down[v]
            down[v] |= new
            changed |= new
            new = ((up[v] & ~given[v]) | (down[v] & given[v])) & ~down[u]
            down[u] |= new
            changed |= new
        for a in range(true.size[0] - 1, -1, -1):
            u, v = tail[a], head[a]
            new = ((up[v] & ~given[v]) | (down[v] & given[v])) & ~up[u]
            up[u] |= new
            changed |= new
    connected = 0
    for v in range(x.size):
        connected += popcount(y[v] & (up[v] | down[v]))
    return connected


@kernel_part
def _count_mistakes(true: Steps, steps: Steps, nearest: bool, rows: Words) -> int:
    """Count the lanes that the estimate separates and the truth does not; empty the lanes."""
    compact()
    inside, x, y, given = rows[5], rows[6], rows[7], rows[8]
    _fill_ancestors(steps, x, y, inside)
    if nearest:
        _fill_nearest(steps, x, y, inside, given, rows)
    for v in range(x.size):
        given[v] = (given[v] if nearest else inside[v]) & ~(x[v] | y[v])
    wrong = _count_connected(true, x, y, given, rows)
    x[:] = ZERO
    y[:] = ZERO
    return wrong


@kernel
def _separation_mistakes(
    truth: Words,
    estimate: Words,
    left: Ints,
    right: Ints,
    nearest: bool,
    true: Steps,
    steps: Steps,
    adjacent: Flags,
    rows: Words,
    out: Ints,
) -> None:
    """Fill the ordered pairs of nodes of each pair of graphs that the estimate separates and the truth connects."""
    compact()
    n_nodes = rows.shape[1]
    x, y = rows[6], rows[7]
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            _read_steps(truth[left[n]], n_nodes, true, adjacent)
        _read_steps(estimate[right[n]], n_nodes, steps, adjacent)
        waiting = wrong = 0
        x[:] = ZERO
        y[:] = ZERO
        for i in range(n_nodes):
            # the nearest separator depends on which node comes first, the others do not
            for j in range(0 if nearest else i + 1, n_nodes):
                if i != j and not adjacent[i, j]:
                    x[i] |= ONE << np.uint64(waiting)
                    y[j] |= ONE << np.uint64(waiting)
                    waiting += 1
                if waiting == 64:
                    wrong += _count_mistakes(true, steps, nearest, rows)
                    waiting = 0
        if waiting > 0:
            wrong += _count_mistakes(true, steps, nearest, rows)
        out[n] = wrong if nearest else 2 * wrong


def mixed_separation_mistakes(
    truth: Words, estimate: Words, truth_index: Ints, estimate_index: Ints, n_nodes: int, nearest: bool
) -> NDArray[np.int64]:
    """Count ordered pairs of nodes that the estimate separates and the truth does not.

    Parameters
    ----------
    truth : (N, 4, W) array
        MAGs or ADMGs.
    estimate : (K, 4, W) array
        MAGs or PAGs; MAGs if `nearest`.
    truth_index, estimate_index : (n,) array
        Positions of the graphs of each pair.
    n_nodes : int
        Number of nodes.
    nearest : bool
        Whether to separate by the minimal set nearest to the first node, instead of by all possible ancestors.
    """
    out = np.zeros(len(truth_index), np.int64)
    most = 1
    for planes in (truth, estimate):
        if len(planes):
            joined = planes[:, 0] | planes[:, 1] | planes[:, 2] | planes[:, 3]
            most = max(most, int(count_ones(joined).sum(axis=1).max()))
    true, steps = _empty_steps(most), _empty_steps(most)
    adjacent, rows = np.zeros((n_nodes, n_nodes), np.bool_), np.zeros((9, n_nodes), np.uint64)
    _separation_mistakes(truth, estimate, truth_index, estimate_index, nearest, true, steps, adjacent, rows, out)
    return out
