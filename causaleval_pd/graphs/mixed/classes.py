"""Classes of mixed graphs: the narrowest one of a graph, and why a graph is not in a class.

A *mag* is a maximal ancestral graph: edges ``->`` and ``<->``, one per pair, without directed or almost directed cycle
and without an inducing path between nodes that are not adjacent. A *pag* holds the marks that all MAGs of a Markov
equivalence class share. An *admg* is an acyclic directed mixed graph, whose pairs may have ``->`` and ``<->``. A
*skeleton* has ``--`` only, which is read as an adjacency without marks. Any graph with one edge per pair may be
*mixed*.

There is no selection bias, so that no MAG or PAG has an edge ``--`` or ``o--``.

References
----------
Richardson & Spirtes (2002), doi:10.1214/aos/1031689015. Zhang (2008), doi:10.1016/j.artint.2008.08.001.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import kernels, mixed_kernels
from ..kernels.planes import ADMG, MAG, MIXED, PAG, SKELETON, TAIL
from .conversions import not_simple, ready
from .marks import adjacencies, bidirected, circles, directed_part, doubles, where

Planes = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def _has(words: NDArray[np.uint64]) -> Flags:
    return np.asarray((words != 0).any(axis=1))


def _checked(planes: Planes, n_nodes: int, goal: str, possible: Flags) -> Flags:
    """Return which of the graphs that may be in a class are."""
    chosen = np.flatnonzero(possible)
    flags = np.zeros(len(planes), np.bool_)
    if len(chosen):
        blocks, most = ready(planes[chosen], n_nodes)
        _, faults = mixed_kernels().convert(blocks, n_nodes, getattr(mixed_kernels(), goal), most)
        flags[chosen] = faults == mixed_kernels().VALID
    return flags


def is_mag(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are maximal ancestral graphs."""
    return _checked(planes, n_nodes, "CHECK_MAG", ~not_simple(planes))


def is_pag(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are the PAG of a Markov equivalence class of MAGs."""
    return _checked(planes, n_nodes, "CHECK_PAG", ~_has(doubles(planes)))


def is_admg(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs have the edges -> and <-> only, and no directed cycle."""
    directed = directed_part(planes)
    others = adjacencies(planes) & ~(adjacencies(directed) | bidirected(planes))
    flags = ~_has(others)
    flags[flags] = kernels().is_acyclic(directed[flags], n_nodes)
    return flags


def is_skeleton(planes: Planes) -> Flags:
    """Return which graphs have the edge -- only."""
    return ~_has(adjacencies(planes) & ~where(planes, TAIL, TAIL))


def infer_mixed_kinds(planes: Planes, n_nodes: int) -> NDArray[np.uint8]:
    """Return the narrowest class of graphs with <-> or circles: pag or mixed with circles, else mag, admg or mixed."""
    has_circles = _has(circles(planes))
    kinds = np.full(len(planes), MIXED, np.uint8)
    for kind, possible, holds in (
        (PAG, has_circles, is_pag),
        (ADMG, ~has_circles, is_admg),
        (MAG, ~has_circles, is_mag),
    ):
        chosen = np.flatnonzero(possible)
        if len(chosen):
            kinds[chosen[holds(planes[chosen], n_nodes)]] = kind
    return kinds


def not_in_mixed_class(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> Flags:
    """Return which graphs of four planes are not in the class they declare."""
    wrong = np.zeros(len(planes), np.bool_)
    for kind in np.unique(kinds).tolist():
        chosen = np.flatnonzero(kinds == kind)
        some = planes[chosen]
        if kind == SKELETON:
            wrong[chosen] = ~is_skeleton(some)
        elif kind == MIXED:
            wrong[chosen] = _has(doubles(some))
        else:
            wrong[chosen] = ~{MAG: is_mag, PAG: is_pag, ADMG: is_admg}[kind](some, n_nodes)
    return wrong
