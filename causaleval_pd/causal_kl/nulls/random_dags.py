"""DAGs as parent sets: all of those with a number of arcs, and acyclic orientations of a skeleton, all or drawn.

A DAG is an array of parent sets, one a node, as bits.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ...graphs.dags import all_dags, all_orientations, parent_sets
from ..networks.layout import causal_order

Masks = NDArray[np.int64]


@lru_cache(maxsize=128)
def dags_with(k: int, n_arcs: int) -> Masks:
    """Return every DAG over k nodes with so many arcs, as (n, k) parent sets.

    Examples
    --------
    >>> [len(dags_with(3, n_arcs)) for n_arcs in range(4)]
    [1, 6, 12, 6]
    """
    return np.array(parent_sets(all_dags(k, n_arcs), k), np.int64)


@lru_cache(maxsize=256)
def orientations(k: int, edges: tuple[tuple[int, int], ...]) -> Masks:
    """Return every acyclic orientation of a skeleton, as (n, k) parent sets.

    Examples
    --------
    >>> len(orientations(3, ((0, 1), (0, 2), (1, 2))))
    6
    """
    return np.array(parent_sets(all_orientations(k, edges), k), np.int64)


def draw_orientation(k: int, edges: tuple[tuple[int, int], ...], generator: np.random.Generator) -> list[int]:
    """Draw an acyclic orientation of a skeleton, nearly uniformly, by a chain that reverses one arc at a time.

    A reversal that closes no cycle is as likely as its undoing, and reversals lead from every orientation to every
    other, so that the chain's law is uniform in the limit. It starts from a random order and takes 4 m (1 + log m)
    steps.
    """
    place = generator.permutation(k)
    parents = [0] * k
    for a, b in edges:
        child, parent = (a, b) if place[a] > place[b] else (b, a)
        parents[child] |= 1 << parent
    steps = int(4 * len(edges) * (1 + math.log(max(1, len(edges)))))
    for at in generator.integers(len(edges), size=steps).tolist() if edges else []:
        a, b = edges[at]
        child, parent = (a, b) if parents[a] >> b & 1 else (b, a)
        parents[child] ^= 1 << parent
        parents[parent] ^= 1 << child
        if not _is_dag(parents):
            parents[child] ^= 1 << parent
            parents[parent] ^= 1 << child
    return parents


def _is_dag(parents: list[int]) -> bool:
    return len(causal_order([bits(p) for p in parents])) == len(parents)


def bits(mask: int) -> tuple[int, ...]:
    """Return the positions of the bits of a parent set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)
