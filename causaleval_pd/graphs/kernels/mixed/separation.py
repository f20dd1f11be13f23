"""Compiled comparison of the m-separations of mixed graphs.

References
----------
van der Zander & Liskiewicz (2020), Finding minimal d-separators in linear time and applications, UAI,
doi:10.48550/arXiv.1907.07595 (the nearest separator).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel, kernel_part

from ..bits import ZERO
from ..inputs import Ints, Words
from .connection import N_ROWS, Model, close_both, connects, empty_model, fill_model
from .rows import Rows, add, drop, empty_rows, has, read_marks, take_lowest


@kernel_part
def fill_possible_steps(g: Rows, forward: Words, backward: Words) -> None:
    """Fill the nodes to which, and from which, a possibly directed edge leads: no head at its start, no tail ahead."""
    for v in range(g.near.shape[0]):
        for w in range(g.near.shape[1]):
            forward[v, w] = g.near[v, w] & ~g.head[v, w] & ~g.far_tail[v, w]
            backward[v, w] = g.near[v, w] & ~g.far_head[v, w] & ~g.tail[v, w]


@kernel_part
def add_collider_neighbours(g: Rows, members: Words, inside: Words, reached: Words, rows: Words) -> None:
    """Add the nodes that a path of colliders joins to one of `members`, all nodes of it in `inside`; empty `members`.

    They are the neighbours in the moral graph of `inside`.
    """
    colliders, seen = rows[0], rows[1]
    for w in range(inside.size):
        colliders[w] = ZERO
    while True:
        v = take_lowest(members)
        if v < 0:
            break
        for w in range(inside.size):
            reached[w] |= g.near[v, w] & inside[w]
            colliders[w] |= g.far_head[v, w] & inside[w]
    for w in range(inside.size):
        seen[w] = colliders[w]
    while True:
        v = take_lowest(colliders)
        if v < 0:
            break
        for w in range(inside.size):
            reached[w] |= g.head[v, w] & inside[w]
            new = g.head[v, w] & g.far_head[v, w] & inside[w] & ~seen[w]
            seen[w] |= new
            colliders[w] |= new


@kernel_part
def _fill_nearest(g: Rows, x: np.uint64, y: np.uint64, inside: Words, given: Words, rows: Words) -> None:
    """Fill the minimal separator nearest to x: its moral neighbours that y reaches without passing another one."""
    border, reached, walking = rows[2], rows[3], rows[4]
    for w in range(inside.size):
        border[w] = reached[w] = walking[w] = ZERO
    add(walking, x)
    add_collider_neighbours(g, walking, inside, border, rows)
    drop(border, x)
    add(walking, y)
    add(reached, y)
    while True:
        for w in range(inside.size):
            given[w] = reached[w]  # reached before this step
        add_collider_neighbours(g, walking, inside, reached, rows)
        grew = ZERO
        for w in range(inside.size):
            walking[w] = reached[w] & ~given[w] & ~border[w]
            grew |= walking[w]
        if grew == ZERO:
            break
    for w in range(inside.size):
        given[w] = reached[w] & border[w]


@kernel
def _separation_mistakes(
    truth: Words,
    estimate: Words,
    left: Ints,
    right: Ints,
    nearest: bool,
    g: Rows,
    true: Model,
    above: Words,
    below: Words,
    rows: Words,
    out: Ints,
) -> None:
    """Fill the ordered pairs of nodes of each pair of graphs that the estimate separates and the truth connects."""
    n_nodes, words = np.uint64(g.near.shape[0]), g.near.shape[1]
    inside, given, nothing = rows[N_ROWS], rows[N_ROWS + 1], rows[N_ROWS + 2]
    for n in range(left.size):
        if n == 0 or left[n] != left[n - 1]:  # controls of one row share their truth
            read_marks(truth[left[n]], g)
            fill_model(g, true)
        read_marks(estimate[right[n]], g)
        fill_possible_steps(g, below, above)
        close_both(above, below)
        wrong = 0
        for x in range(n_nodes):
            # the nearest separator depends on which node comes first, the others do not
            for y in range(ZERO if nearest else x + np.uint64(1), n_nodes):
                if x == y or has(g.near[x], y):
                    continue
                for w in range(words):
                    inside[w] = above[x, w] | above[y, w]
                    given[w] = inside[w]
                if nearest:
                    _fill_nearest(g, x, y, inside, given, rows)
                drop(given, x)
                drop(given, y)
                if connects(true, x, y, given, nothing, rows):
                    wrong += 1
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
    g, true = empty_rows(n_nodes), empty_model(n_nodes)
    above, below = np.zeros_like(g.near), np.zeros_like(g.near)
    rows = np.zeros((N_ROWS + 3, g.near.shape[1]), np.uint64)
    _separation_mistakes(truth, estimate, truth_index, estimate_index, nearest, g, true, above, below, rows, out)
    return out
