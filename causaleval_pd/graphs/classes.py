"""Graph classes: the narrowest one of a graph, the check of a declared one, and CPDAGs.

A *dag* is fully directed and acyclic. A *cpdag* is the completed partially directed graph of a Markov equivalence
class: it has a consistent DAG extension, and the CPDAG of that extension is the graph itself. A *digraph* is fully
directed and may have cycles. Every graph of directed and undirected edges is a *pdag*. Graphs with latent confounders
have classes of their own, in `mixed.classes`.

References
----------
Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented graph, UCLA R-185.
Chickering (1995), A transformational characterization of equivalent Bayesian network structures, arXiv:1302.4938.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .edge_strings import write_names
from .kernels import kernels
from .kernels.planes import CPDAG, DAG, DIGRAPH, KINDS, PDAG, SKELETON, a_kind, arcs_from_planes
from .mixed.classes import infer_mixed_kinds, not_in_mixed_class
from .mixed.marks import adjacencies, directed_part, is_mixed, lines

Planes = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def is_acyclic(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs have no directed cycle; edges of other marks are not walked."""
    planes = directed_part(planes) if is_mixed(planes) else planes
    return np.asarray(kernels().is_acyclic(planes, n_nodes), dtype=np.bool_)


def is_digraph(planes: Planes) -> Flags:
    """Return which graphs are fully directed."""
    return np.asarray(~(planes[:, 0] & planes[:, 1]).any(axis=1))


def is_dag(planes: Planes, n_nodes: int) -> Flags:
    """Return which graphs are fully directed and acyclic."""
    flags = is_digraph(planes)
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


def infer_kinds(planes: Planes, n_nodes: int) -> NDArray[np.uint8]:
    """Return the narrowest class of each graph: dag, else digraph where it is fully directed, else cpdag, else pdag.

    Graphs of four planes are taken to have a circle or a bidirected edge (see `infer_mixed_kinds`).
    """
    if is_mixed(planes):
        return infer_mixed_kinds(planes, n_nodes)
    directed = is_digraph(planes)
    kinds = np.full(len(planes), DIGRAPH, dtype=np.uint8)
    kinds[directed] = np.where(is_acyclic(planes[directed], n_nodes), DAG, DIGRAPH)
    kinds[~directed] = np.where(is_cpdag(planes[~directed], n_nodes), CPDAG, PDAG)
    return kinds


def not_in_class(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> Flags:
    """Return which graphs are not in the class they declare."""
    if is_mixed(planes):
        return not_in_mixed_class(planes, n_nodes, kinds)
    wrong = np.zeros(len(planes), dtype=np.bool_)
    for kind, holds in ((DAG, is_dag), (CPDAG, is_cpdag)):
        declared = np.flatnonzero(kinds == kind)
        if len(declared):
            wrong[declared] = ~holds(planes[declared], n_nodes)
    return wrong | ((kinds == DIGRAPH) & ~is_digraph(planes))


def misdeclared(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8], checked: set[tuple[int, int]] | None) -> Flags:
    """Return which graphs are not in the class that their cell declares, as cells of a foreign file may be.

    `checked` has the numbers of nodes and planes of the graphs of a column that are known to be; None: all are.
    """
    key = (n_nodes, planes.shape[1])
    if checked is None or key in checked:
        return np.zeros(len(planes), np.bool_)
    wrong = not_in_class(planes, n_nodes, kinds)
    if not wrong.any():
        checked.add(key)
    return wrong


#: how to get classes that hold
MEND_CLASS = "graph_column(column.graph.to_strings()) infers the classes anew"
#: which cells hold two nodes that cause each other
KEEP_TWO_CYCLES = (
    "; lagged graphs keep two-cycles, as lagged_column(['A@-1 -> B; B@-1 -> A']), with metrics such as summary_f1"
)


def explain_kind(planes: Planes, names: Sequence[str], kind: int) -> str:
    """Return why a graph, planes (2, W) or (4, W), is not in the class it declares."""
    if is_mixed(planes[None]):
        from .mixed.faults import explain_mixed_kind

        return explain_mixed_kind(planes, names, kind)
    _, source, target = arcs_from_planes(planes[None], len(names))
    arcs = set(zip(source.tolist(), target.tolist(), strict=True))
    directed = [(s, t) for s, t in arcs if (t, s) not in arcs]
    written = write_names(names)
    start = f"is declared a {KINDS[kind]}, but "
    if kind in (DAG, DIGRAPH) and len(directed) < len(arcs):
        edge = _written_edge(written, arcs, *min(arcs - set(directed)))
        opposite = " (two opposite arcs are one undirected edge)" if kind == DIGRAPH else ""
        mend = f"orient it, or declare the graph a cpdag or pdag{KEEP_TWO_CYCLES if kind == DIGRAPH else ''}"
        return f"{start}has the undirected edge {edge}{opposite}; {mend}"
    import networkx as nx

    try:
        cycle = [s for s, _ in nx.find_cycle(nx.DiGraph(sorted(directed)))]
    except nx.NetworkXNoCycle:
        pass
    else:
        path = " -> ".join(written[node] for node in [*cycle, cycle[0]])
        wider = "digraph" if len(directed) == len(arcs) else "pdag"
        return f"{start}has the directed cycle {path}; mend the graph, or declare it a {wider}"
    completed, extends = class_cpdag(planes[None], len(names))
    if not extends[0]:
        return f"{start}no DAG has its skeleton, directed edges and v-structures; mend the graph, or declare it a pdag"
    _, source, target = arcs_from_planes(completed, len(names))
    others = set(zip(source.tolist(), target.tolist(), strict=True))
    s, t = min(arcs ^ others)
    here, there = (_written_edge(written, side, s, t) for side in (arcs, others))
    return (
        f"{start}has {here} where the CPDAG of its equivalence class has {there}; declare it a pdag, or use its cpdag()"
    )


def _written_edge(names: Sequence[str], arcs: set[tuple[int, int]], i: int, j: int) -> str:
    """Write the edge of a pair of nodes, as `write_edges` does."""
    undirected = {(i, j), (j, i)} <= arcs
    s, t = (i, j) if (i, j) in arcs and (i < j or not undirected) else (j, i)
    return f"{names[s]} {'--' if undirected else '->'} {names[t]}"


def to_cpdags(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Flags]:
    """Return the CPDAG of each graph, and which graphs have none (without a consistent DAG extension)."""
    if is_mixed(planes):
        raise ValueError(f"a graph is {a_kind(kinds[0])}, which has no CPDAG; take its pag()")
    result, none = planes.copy(), np.zeros(len(planes), dtype=np.bool_)
    dags = np.flatnonzero(kinds == DAG)
    result[dags] = kernels().dag_to_cpdag(planes[dags], n_nodes)[0]
    pdags = np.flatnonzero((kinds == PDAG) | (kinds == DIGRAPH))
    result[pdags], extends = class_cpdag(planes[pdags], n_nodes)
    none[pdags] = ~extends
    return result, none


def to_skeletons(planes: Planes, n_nodes: int) -> tuple[Planes, NDArray[np.uint8]]:
    """Return each graph with all edges undirected, and its class: cpdag, else pdag; skeleton of four planes."""
    if is_mixed(planes):
        return lines(adjacencies(planes)), np.full(len(planes), SKELETON, np.uint8)
    edges = planes[:, 0] | planes[:, 1]
    skeletons = np.stack([edges, edges], axis=1)
    return skeletons, np.where(is_cpdag(skeletons, n_nodes), CPDAG, PDAG).astype(np.uint8)


def extensions(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Flags]:
    """Return a DAG of the class of each DAG, CPDAG or PDAG, the same on any machine, and where one exists."""
    result, exists = planes.copy(), np.ones(len(planes), dtype=np.bool_)
    others = np.flatnonzero(kinds != DAG)
    if len(others):
        result[others], exists[others] = kernels().extend_to_dag(planes[others], n_nodes)
    return result, exists
