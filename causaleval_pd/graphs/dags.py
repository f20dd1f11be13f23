"""Labelled DAGs: all of those with a number of edges, and DAGs as sets of parents."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .batch import kernels
from .planes import arcs_from_planes, planes_from_marks

Planes = NDArray[np.uint64]

#: nodes up to which all DAGs are listed: 29,281 over five
MOST_LISTED = 5


@cache
def all_dags(n_nodes: int, n_edges: int) -> Planes:
    """Return every labelled DAG with a number of edges, as (N, 2, W) planes.

    Examples
    --------
    >>> [sum(len(all_dags(d, m)) for m in range(d * (d - 1) // 2 + 1)) for d in range(1, 5)]
    [1, 3, 25, 543]
    """
    if n_nodes > MOST_LISTED:
        raise ValueError(f"all DAGs are listed over at most {MOST_LISTED} nodes, found {n_nodes}")
    pairs = list(itertools.combinations(range(n_nodes), 2))
    chosen = list(itertools.combinations(range(len(pairs)), n_edges))
    flips = (np.arange(2**n_edges)[:, None] >> np.arange(n_edges)) & 1
    marks = np.zeros((len(chosen), len(flips), n_nodes, n_nodes), bool)
    for number, some in enumerate(chosen):
        for e, k in enumerate(some):
            i, j = pairs[k]
            marks[number, :, i, j], marks[number, :, j, i] = flips[:, e] == 0, flips[:, e] == 1
    planes = planes_from_marks(marks.reshape(-1, n_nodes, n_nodes), np.arange(n_nodes))
    found: Planes = planes[kernels().is_acyclic(planes, n_nodes)]
    found.flags.writeable = False
    return found


def parent_sets(planes: Planes, n_nodes: int) -> list[list[int]]:
    """Return the parents of each node of each graph, as bits of an integer.

    Examples
    --------
    >>> parent_sets(all_dags(2, 1), 2)
    [[0, 1], [2, 0]]
    """
    found = [[0] * n_nodes for _ in range(len(planes))]
    arcs = (array.tolist() for array in arcs_from_planes(planes, n_nodes))
    for row, source, target in zip(*arcs, strict=True):
        found[row][target] |= 1 << source
    return found
