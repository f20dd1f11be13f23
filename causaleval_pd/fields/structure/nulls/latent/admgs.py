"""Random acyclic directed mixed graphs (ADMGs) and random skeletons, which need no proposals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .....execution.random_streams import random_words
from .....graphs.kernels import control_kernels, kernels
from .....graphs.mixed.marks import adjacencies, bidirected, count_bits, count_edges, directed_part, lines

Planes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]

#: sets the streams of bidirected edges apart from those of directed ones, and those of a graph from one another
_BIDIRECTED, _NEXT = np.uint64(0xA24BAED4963EE407), np.uint64(0x9E3779B97F4A7C15)


def random_skeletons(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw uniform skeletons with the numbers of edges of graphs."""
    return lines(_pairs(d, count_edges(planes), keys, start, count))


def _pairs(d: int, n_edges: Ints, keys: Keys, start: int, count: int) -> NDArray[np.uint64]:
    """Return the bits (n * count, W) of uniform sets of pairs."""
    drawn = kernels().draw_graphs(d, n_edges[:, None], np.zeros(len(keys), bool), keys, start, count)
    return np.asarray(drawn[:, 0] | drawn[:, 1])


def random_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw directed and bidirected edges independently, as many as graphs have."""
    n_both = count_bits(bidirected(planes))
    n_directed = count_edges(planes) - n_both
    arrows = kernels().draw_graphs(d, n_directed[:, None], np.zeros(len(keys), bool), keys, start, count)
    return _admgs(arrows, _pairs(d, n_both, keys ^ _BIDIRECTED, start, count))


def _admgs(arrows: Planes, both: NDArray[np.uint64]) -> Planes:
    """Join directed graphs (N, 2, W) and sets of bidirected pairs (N, W); a pair may have both edges."""
    forward, backward = arrows[:, 0], arrows[:, 1]
    alone = [forward & ~both, backward & ~both]
    return np.stack([alone[0], backward | (both & ~forward), alone[1], forward | (both & ~backward)], axis=1)


def assigned_admgs(d: int, planes: Planes, keys: Keys, start: int, count: int) -> Planes:
    """Draw which adjacent nodes have a directed edge, a bidirected one or both; directions follow random orders."""
    near, both = adjacencies(planes), bidirected(planes)
    arrows = directed_part(planes)
    n_pairs, n_both = count_bits(near), count_bits(both)
    n_double = count_bits(both & (arrows[:, 0] | arrows[:, 1]))
    index = np.arange(len(keys), dtype=np.int64)[:, None]
    directed = control_kernels().orient_graphs(np.stack([near, near], axis=1), d, index, keys, start, count)
    alone, confounded = np.zeros((2, len(keys), count, planes.shape[2]), np.uint64)
    for i in range(len(keys)):
        places = np.flatnonzero(np.unpackbits(near[i].view(np.uint8), bitorder="little"))
        streams = (keys[i] ^ _BIDIRECTED) + np.arange(1, n_pairs[i] + 1, dtype=np.uint64) * _NEXT
        order = places[np.argsort(random_words(streams, start, count), axis=0, kind="stable")]
        # first those that are bidirected alone, then those with both edges
        n_alone = int(n_both[i] - n_double[i])
        for chosen, into in ((order[:n_alone], alone), (order[: n_both[i]], confounded)):
            bits = np.zeros((count, 64 * planes.shape[2]), np.uint8)
            np.put_along_axis(bits, chosen.T, 1, axis=1)
            into[i] = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    words = planes.shape[2]
    return _admgs(directed & ~alone.reshape(-1, 1, words), confounded.reshape(-1, words))
