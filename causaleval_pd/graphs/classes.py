"""Graph classes: the narrowest one of a graph, the check of a declared one, and CPDAGs.

A *dag* is fully directed and acyclic. A *cpdag* is the completed partially directed graph of a Markov equivalence
class: it has a consistent DAG extension, and the CPDAG of that extension is the graph itself. A *digraph* is fully
directed and may have cycles. Every graph of directed and undirected edges is a *pdag*.

Of graphs with latent confounders, a *mag* is a maximal ancestral graph: edges ``->`` and ``<->``, one per pair, without
directed or almost directed cycle and without an inducing path between nodes that are not adjacent. A *pag* holds the
marks that all MAGs of a Markov equivalence class share. An *admg* is an acyclic directed mixed graph, whose pairs may
have ``->`` and ``<->``. A *skeleton* has ``--`` only, which is read as an adjacency without marks. Any graph with one
edge per pair may be *mixed*. There is no selection bias, so that no MAG or PAG has an edge ``--`` or ``o--``.

References
----------
Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented graph, UCLA R-185.
Chickering (1995), A transformational characterization of equivalent Bayesian network structures, arXiv:1302.4938.
Richardson & Spirtes (2002), doi:10.1214/aos/1031689015. Zhang (2008), doi:10.1016/j.artint.2008.08.001.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, DAG, DIGRAPH, MAG, MIXED, PAG, PDAG, PLAIN_KINDS, SKELETON, TAIL
from .mixed import marks as mixed
from .mixed.paths import convert, not_simple

Planes = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def is_acyclic(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs have no directed cycle; edges of other marks are not walked."""
    planes = mixed.directed_part(planes) if mixed.is_mixed(planes) else planes
    return np.asarray(kernels().is_acyclic(planes, n_nodes), dtype=np.bool_)


def is_digraph(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are fully directed."""
    return np.asarray(~(planes[:, 0] & planes[:, 1]).any(axis=1))


def is_dag(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are fully directed and acyclic."""
    flags = is_digraph(planes, n_nodes)
    flags[flags] = is_acyclic(planes[flags], n_nodes)
    return flags


def class_cpdag(planes: Planes, n_nodes: int) -> tuple[Planes, Flags]:
    """Return the CPDAG of each graph's consistent DAG extensions, all Markov equivalent, and which graphs have one."""
    extended, extends = kernels().extend_to_dag(planes, n_nodes)
    completed, _ = kernels().dag_to_cpdag(extended, n_nodes)
    return np.asarray(completed), np.asarray(extends, dtype=np.bool_)


def is_cpdag(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are the CPDAG of a Markov equivalence class."""
    completed, extends = class_cpdag(planes, n_nodes)
    return np.asarray(extends & (completed == planes).all(axis=(1, 2)))


def _has(words: NDArray[np.uint64]) -> Flags:
    return np.asarray((words != 0).any(axis=1))


def _fits(planes: Planes, n_nodes: int, goal: str, possible: Flags) -> Flags:
    """Return which of the graphs that may be in a class are, by the kernel."""
    if possible.any():
        possible[possible] = ~convert(planes[possible], n_nodes, goal)[1]
    return possible


def is_admg(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs have the edges -> and <-> only, and no directed cycle."""
    directed = mixed.directed_part(planes)
    others = mixed.adjacencies(planes) & ~(mixed.adjacencies(directed) | mixed.bidirected(planes))
    flags = ~_has(others)
    flags[flags] = kernels().is_acyclic(directed[flags], n_nodes)
    return flags


#: which graphs are in a class; every graph of two planes is a pdag
IN_CLASS: dict[int, Callable[[Planes, int], Flags]] = {
    DAG: is_dag,
    CPDAG: is_cpdag,
    DIGRAPH: is_digraph,
    MAG: lambda planes, n_nodes: _fits(planes, n_nodes, "CHECK_MAG", ~not_simple(planes)),
    PAG: lambda planes, n_nodes: _fits(planes, n_nodes, "CHECK_PAG", ~_has(mixed.doubles(planes))),
    ADMG: is_admg,
    SKELETON: lambda planes, n_nodes: ~_has(mixed.adjacencies(planes) & ~mixed.where(planes, TAIL, TAIL)),
    MIXED: lambda planes, n_nodes: ~_has(mixed.doubles(planes)),
}


def infer_kinds(planes: Planes, n_nodes: int) -> NDArray[np.uint8]:
    """Return the narrowest class of each graph; those of four planes have a circle or <->."""
    if mixed.is_mixed(planes):
        marked, widest = _has(mixed.circles(planes)), MIXED
        order = ((PAG, marked), (ADMG, ~marked), (MAG, ~marked))
    else:
        marked, widest = is_digraph(planes, n_nodes), PDAG
        order = ((DIGRAPH, marked), (DAG, marked), (CPDAG, ~marked))
    kinds = np.full(len(planes), widest, dtype=np.uint8)
    for kind, possible in order:
        chosen = np.flatnonzero(possible)
        if len(chosen):
            kinds[chosen[IN_CLASS[kind](planes[chosen], n_nodes)]] = kind
    return kinds


def not_in_class(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> Flags:
    """Return which graphs are not in the class they declare, of either number of planes."""
    wrong = np.zeros(len(planes), dtype=np.bool_)
    for kind in np.unique(kinds).tolist():
        declared = np.flatnonzero(kinds == kind)
        some = mixed.lift(planes[declared]) if kind >= len(PLAIN_KINDS) else planes[declared]
        if kind < len(PLAIN_KINDS) and mixed.is_mixed(some):
            plain = mixed.has_plain_marks(some)
            wrong[declared[~plain]] = True
            declared, some = declared[plain], mixed.lower(some[plain])
        if kind != PDAG and len(declared):
            wrong[declared] = ~IN_CLASS[kind](some, n_nodes)
    return wrong


def misdeclared(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8], checked: set[tuple[int, int]] | None) -> Flags:
    """Return which graphs are not in the class of their cell; `checked` has the keys of blocks that are, None all."""
    key = (n_nodes, planes.shape[1])
    if checked is None or key in checked:
        return np.zeros(len(planes), np.bool_)
    wrong = not_in_class(planes, n_nodes, kinds)
    if not wrong.any():
        checked.add(key)
    return wrong


#: how to get classes that hold
MEND_CLASS = "graph_column(column.graph.to_strings()) infers the classes anew"


def extensions(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Flags]:
    """Return a DAG of the class of each DAG, CPDAG or PDAG, the same on any machine, and where one exists."""
    result, exists = planes.copy(), np.ones(len(planes), dtype=np.bool_)
    others = np.flatnonzero(kinds != DAG)
    if len(others):
        result[others], exists[others] = kernels().extend_to_dag(planes[others], n_nodes)
    return result, exists


def to_cpdags(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Flags]:
    """Return the CPDAG of each graph, and which graphs have none (without a consistent DAG extension)."""
    result, none = planes.copy(), np.zeros(len(planes), dtype=np.bool_)
    others = np.flatnonzero(kinds != CPDAG)
    extended, exists = extensions(planes[others], n_nodes, kinds[others])
    result[others], none[others] = kernels().dag_to_cpdag(extended, n_nodes)[0], ~exists
    return result, none


def to_skeletons(planes: Planes, n_nodes: int) -> tuple[Planes, NDArray[np.uint8]]:
    """Return each graph with all edges undirected, and its class: cpdag, else pdag; skeleton of four planes."""
    if mixed.is_mixed(planes):
        return mixed.lines(mixed.adjacencies(planes)), np.full(len(planes), SKELETON, np.uint8)
    skeletons = np.stack([mixed.adjacencies(planes)] * 2, axis=1)
    return skeletons, np.where(is_cpdag(skeletons, n_nodes), CPDAG, PDAG).astype(np.uint8)
