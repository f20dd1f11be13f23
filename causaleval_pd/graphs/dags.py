"""Labelled DAGs: all of those with a number of edges or with a skeleton, and DAGs as sets of parents."""

from __future__ import annotations

import itertools
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from .kernels import kernels
from .kernels.planes import arcs_from_planes, planes_from_arcs

Planes = NDArray[np.uint64]

#: nodes up to which all DAGs are listed: 29,281 over five
MOST_LISTED = 5
#: edges up to which all orientations are listed
MOST_DIRECTED = 14


@cache
def all_dags(n_nodes: int, n_edges: int) -> Planes:
    """Return every labelled DAG with a number of edges, as (N, 2, W) planes."""
    if n_nodes > MOST_LISTED:
        raise ValueError(f"all DAGs are listed over at most {MOST_LISTED} nodes, found {n_nodes}")
    pairs = itertools.combinations(range(n_nodes), 2)
    candidates = [_directed(n_nodes, chosen) for chosen in itertools.combinations(pairs, n_edges)]
    return _acyclic(np.concatenate(candidates), n_nodes)


@lru_cache(maxsize=64)
def all_orientations(n_nodes: int, edges: tuple[tuple[int, int], ...]) -> Planes:
    """Return every acyclic orientation of a skeleton, as (N, 2, W) planes."""
    if len(edges) > MOST_DIRECTED:
        raise ValueError(f"orientations are listed for at most {MOST_DIRECTED} edges, found {len(edges)}")
    return _acyclic(_directed(n_nodes, edges), n_nodes)


def _directed(n_nodes: int, edges: tuple[tuple[int, int], ...]) -> Planes:
    """Direct edges in every way."""
    flips = (np.arange(2 ** len(edges))[:, None] >> np.arange(len(edges))) & 1 == 1
    first, second = np.array(edges, np.int64).reshape(-1, 2).T
    row = np.repeat(np.arange(len(flips)), len(edges))
    source, target = np.where(flips, second, first).ravel(), np.where(flips, first, second).ravel()
    return planes_from_arcs(len(flips), n_nodes, row, source, target)


def _acyclic(planes: Planes, n_nodes: int) -> Planes:
    dags: Planes = planes[kernels().is_acyclic(planes, n_nodes)]
    dags.flags.writeable = False
    return dags


def parent_sets(planes: Planes, n_nodes: int) -> list[list[int]]:
    """Return the parents of each node of each graph, as bits of an integer."""
    parents = [[0] * n_nodes for _ in range(len(planes))]
    arcs = (array.tolist() for array in arcs_from_planes(planes, n_nodes))
    for row, source, target in zip(*arcs, strict=True):
        parents[row][target] |= 1 << source
    return parents
