"""Compiled graphs of walks: the arcs that a state chooses, between the nodes that it names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causaleval_pd.execution.compilation import kernel

from .bits import ZERO, set_mark
from .inputs import Ints, Words, read_only
from .planes import N_PLANES, plane_words


@kernel
def _mark_arcs(states: NDArray[np.int16], first: int, ends: Ints, n_arcs: int, planes: Words) -> None:
    """Mark the arcs of every state, of which those before column `first` choose, if there are any."""
    d = np.uint64(states.shape[1] - first)
    for i in range(states.shape[0]):
        for e in range(n_arcs):
            arc = states[i, e] if first else e
            source, target = states[i, first + ends[0, arc]], states[i, first + ends[1, arc]]
            set_mark(planes[i], np.uint64(source), np.uint64(target), d, ZERO)


def graphs_of_states(
    states: NDArray[np.int16], n_nodes: int, source: NDArray[np.int64], target: NDArray[np.int64], n_arcs: int
) -> Words:
    """Return the planes of graphs (n, 2, W) with `n_arcs` arcs each.

    Parameters
    ----------
    states : (n, k + d) ndarray of int16
        Numbers of arcs, of which the first `n_arcs` count, and then the node at each of the d places. Without numbers,
        k = 0, the graphs have the arcs 0, 1, ..
    n_nodes : int
        Number of nodes d.
    source, target : (a,) ndarray of int
        Places that each arc joins.
    n_arcs : int
        Number of arcs of a graph.

    Returns
    -------
    (n, 2, W) uint64
        Planes.

    Raises
    ------
    ValueError
        If there are too few arcs, or a number is out of its range.
    """
    given, ends = read_only(states, np.int16), read_only(np.stack([source, target]), np.int64)
    first, n_listed = given.shape[1] - n_nodes, ends.shape[1]
    if not 0 <= n_arcs <= (first or n_listed):
        raise ValueError(f"a state lists {first or n_listed} arcs, and {n_arcs} were asked for")
    for what, values, most in (
        ("arcs", given[:, :n_arcs] if first else given[:, :0], n_listed),
        ("nodes", given[:, first:], n_nodes),
        ("places", ends, n_nodes),
    ):
        if values.size and not 0 <= values.min() <= values.max() < most:
            raise ValueError(f"{what} are numbers from 0 to {most - 1}, found {values.min()} to {values.max()}")
    planes = np.zeros((len(given), N_PLANES, plane_words(n_nodes)), np.uint64)
    if len(given) and n_arcs:  # a kernel without work is not compiled
        _mark_arcs(given, first, ends, n_arcs, planes)
    return planes
