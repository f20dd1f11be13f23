"""Graph classes: the narrowest one of a graph, the check of a declared one, and conversions between them.

A *dag* is fully directed and acyclic. A *cpdag* is the completed partially directed graph of a Markov equivalence
class: it has a consistent DAG extension, and the CPDAG of that extension is the graph itself. A *digraph* is fully
directed and may have cycles. Every graph of directed and undirected edges is a *pdag*.

Of graphs with latent confounders, a *mag* is a maximal ancestral graph: edges ``->`` and ``<->``, one per pair, without
directed or almost directed cycle and without an inducing path between nodes that are not adjacent. A *pag* holds the
marks that all MAGs of a Markov equivalence class share. An *admg* is an acyclic directed mixed graph, whose pairs may
have ``->`` and ``<->``. A *skeleton* has ``--`` only, which is read as an adjacency without marks. Any graph with one
edge per pair may be *mixed*. There is no selection bias, so that no MAG or PAG has an edge ``--`` or ``o--``.

Two DAGs are I-equivalent iff they have the same skeleton and v-structures, before and after the edges into each set of
targets are removed. An *I-CPDAG* has the directed edges that all members of a class share (see `series.graph.icpdag`).

References
----------
Dor & Tarsi (1992), A simple algorithm to construct a consistent extension of a partially oriented graph, UCLA R-185.
Chickering (1995), A transformational characterization of equivalent Bayesian network structures, arXiv:1302.4938.
Richardson & Spirtes (2002), doi:10.1214/aos/1031689015. Zhang (2008), doi:10.1016/j.artint.2008.08.001.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.cells import is_missing, one_per_row
from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, DAG, DIGRAPH, KINDS, MAG, MIXED, PAG, PDAG, PLAIN_KINDS, SKELETON, TAIL, a_kind
from .mixed import marks as mixed
from .mixed import paths
from .node_names import Nodes, names_per_row, short
from .orientations import compelled
from .packing import Block, UnpackedColumn, Where, group_rows, join_by_key

Planes = NDArray[np.uint64]
Bools = NDArray[np.bool_]
#: latent nodes of each row, None where they are missing
Latents = list[frozenset[str] | None]
#: sets of nodes that are intervened on, each in an experiment of its own
Targets = tuple[frozenset[str], ...]


def is_acyclic(planes: Planes, n_nodes: int) -> Bools:
    """Return which graphs have no directed cycle; edges of other marks are not walked."""
    planes = mixed.directed_part(planes) if mixed.is_mixed(planes) else planes
    return np.asarray(kernels().is_acyclic(planes, n_nodes), dtype=np.bool_)


def is_digraph(planes: Planes, n_nodes: int) -> Bools:
    """Return which graphs are fully directed."""
    return np.asarray(~(planes[:, 0] & planes[:, 1]).any(axis=1))


def is_dag(planes: Planes, n_nodes: int) -> Bools:
    """Return which graphs are fully directed and acyclic."""
    flags = is_digraph(planes, n_nodes)
    flags[flags] = is_acyclic(planes[flags], n_nodes)
    return flags


def class_cpdag(planes: Planes, n_nodes: int) -> tuple[Planes, Bools]:
    """Return the CPDAG of each graph's consistent DAG extensions, all Markov equivalent, and which graphs have one."""
    extended, extends = kernels().extend_to_dag(planes, n_nodes)
    completed, _ = kernels().dag_to_cpdag(extended, n_nodes)
    return np.asarray(completed), np.asarray(extends, dtype=np.bool_)


def is_cpdag(planes: Planes, n_nodes: int) -> Bools:
    """Return which graphs are the CPDAG of a Markov equivalence class."""
    completed, extends = class_cpdag(planes, n_nodes)
    return np.asarray(extends & (completed == planes).all(axis=(1, 2)))


def _has(words: NDArray[np.uint64]) -> Bools:
    return np.asarray((words != 0).any(axis=1))


def _fits(planes: Planes, n_nodes: int, goal: str, possible: Bools) -> Bools:
    """Return which of the graphs that may be in a class the kernel finds to be."""
    fits = possible.copy()
    if possible.any():
        fits[possible] = ~paths.convert(planes[possible], n_nodes, goal)[1]
    return fits


def is_admg(planes: Planes, n_nodes: int) -> Bools:
    """Return which graphs have the edges -> and <-> only, and no directed cycle."""
    directed = mixed.directed_part(planes)
    others = mixed.adjacencies(planes) & ~(mixed.adjacencies(directed) | mixed.bidirected(planes))
    flags = ~_has(others)
    flags[flags] = kernels().is_acyclic(directed[flags], n_nodes)
    return flags


#: which graphs are in a class; every graph of two planes is a pdag
IN_CLASS: dict[int, Callable[[Planes, int], Bools]] = {
    DAG: is_dag,
    CPDAG: is_cpdag,
    DIGRAPH: is_digraph,
    MAG: lambda planes, n_nodes: _fits(planes, n_nodes, "CHECK_MAG", ~paths.not_simple(planes)),
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


def not_in_class(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> Bools:
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


def misdeclared(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8], checked: set[tuple[int, int]] | None) -> Bools:
    """Return which graphs are not in the class of their cell; none where `checked` has their key or is None."""
    key = (n_nodes, planes.shape[1])
    if checked is None or key in checked:
        return np.zeros(len(planes), np.bool_)
    wrong = not_in_class(planes, n_nodes, kinds)
    if not wrong.any():
        checked.add(key)
    return wrong


#: how to get classes that hold
MEND_CLASS = "graph_column(column.graph.to_strings()) infers the classes anew"


def extensions(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Bools]:
    """Return a DAG of the class of each DAG, CPDAG or PDAG, the same on any machine, and where one exists."""
    result, exists = planes.copy(), np.ones(len(planes), dtype=np.bool_)
    others = np.flatnonzero(kinds != DAG)
    if len(others):
        result[others], exists[others] = kernels().extend_to_dag(planes[others], n_nodes)
    return result, exists


def to_cpdags(planes: Planes, n_nodes: int, kinds: NDArray[np.uint8]) -> tuple[Planes, Bools]:
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


def refuse(block: Block, rows: Bools, where: Where, why: str) -> None:
    """Refuse the first of some graphs of a block for its class."""
    if rows.any():
        at = int(rows.argmax())
        raise ValueError(f"{where(int(block.rows[at]))}: the graph is {a_kind(block.kinds[at])}{why}")


def _with(block: Block, planes: Planes, kinds: int | NDArray[np.uint8]) -> Block:
    return replace(block, planes=planes, kinds=np.full(len(planes), kinds, np.uint8))


def converted(
    column: UnpackedColumn, convert: Callable[[Block], tuple[Planes, int | NDArray[np.uint8]]]
) -> UnpackedColumn:
    """Return a column with the planes and classes that a function makes of each block."""
    return replace(column, blocks=join_by_key(_with(block, *convert(block)) for block in column.blocks))


def read_latents(latents: Any, n_rows: int, index: pd.Index | None = None) -> Latents:
    """Return the latent nodes of each row, None where they are missing."""
    if latents is None:
        return [frozenset()] * n_rows
    expected = "a list of node names, or one list per row"
    rows = names_per_row(latents, "latents", n_rows, index, "the column", expected)
    return [None if names is None else frozenset(names) for names in rows]


def check_latents(latents: frozenset[str], nodes: Nodes, where: Where, row: int) -> None:
    """Refuse latent nodes that are no nodes of the row's graph."""
    unknown = sorted(latents.difference(nodes))
    if unknown:
        raise ValueError(
            f"{where(row)}: latents names {unknown[0]!r}, which is not a node of the graph; its nodes are "
            f"{short(nodes)}"
        )


def projected(column: UnpackedColumn, latents: Latents, where: Where, target: int) -> UnpackedColumn:
    """Return the MAGs, PAGs or ADMGs (`target`) over the observed nodes; rows without latents become missing."""
    node_sets = {names: i for i, names in enumerate(column.node_sets)}
    parts = []
    for block in column.blocks:
        names = [column.node_sets[i] for i in block.node_set.tolist()]
        hidden = [latents[row] for row in block.rows.tolist()]
        for row, nodes, some in zip(block.rows.tolist(), names, hidden, strict=True):
            if some:
                check_latents(some, nodes, where, row)
        n_latent = np.array([-1 if some is None else len(some) for some in hidden], np.int64)
        for key, chosen in group_rows(n_latent * len(KINDS) + block.kinds):
            if key >= 0:
                pairs = [(names[i], hidden[i] or frozenset()) for i in chosen.tolist()]
                parts.append(_projected(block.take(chosen), pairs, node_sets, where, target))
    return UnpackedColumn(column.n_rows, join_by_key(parts), tuple(node_sets))


def _projected(
    block: Block, pairs: Sequence[tuple[Nodes, frozenset[str]]], node_sets: dict[Nodes, int], where: Where, target: int
) -> Block:
    """Project graphs of one class with as many latent nodes; `pairs` are their nodes and the latent ones."""
    kind, n_latent = int(block.kinds[0]), len(pairs[0][1])
    planes, n_nodes = block.planes, block.n_nodes
    if kind not in (DAG, MAG, ADMG):
        mends = {CPDAG: "take its pag(), or pass its DAG", MIXED: "faults('pag') returns why it is no PAG"}
        why = f", expected a dag, admg, mag or pag; {mends.get(kind, 'pass a graph of these classes')}"
        refuse(block, np.full(len(planes), (kind, target) not in _BY_CLASS), where, why)
        why = ", and latents= applies to a dag, admg or mag; leave latents out, or make them the nodes of a graph of "
        refuse(block, np.full(len(planes), n_latent > 0), where, f"{why}these classes")
        return _with(block, _BY_CLASS[kind, target](planes, n_nodes), target)
    if n_latent or ADMG in (kind, target):
        observed, numbers = {}, {}
        for nodes, hidden in dict.fromkeys(pairs):
            kept = observed[nodes, hidden] = [i for i, name in enumerate(nodes) if name not in hidden]
            numbers[nodes, hidden] = node_sets.setdefault(tuple(nodes[i] for i in kept), len(node_sets))
        places = np.array([observed[pair] for pair in pairs], np.int64).reshape(len(pairs), n_nodes - n_latent)
        planes = paths.project(planes, n_nodes, places, to_admg=target == ADMG)
        node_set = np.array([numbers[pair] for pair in pairs], np.int64)
        block = replace(block, n_nodes=n_nodes - n_latent, node_set=node_set)
    planes = paths.mag_to_pag(mixed.lift(planes), block.n_nodes) if target == PAG else mixed.lift(planes)
    return _with(block, planes, target)


#: conversions of other classes, without latent nodes; a CPDAG has the PAG of the DAGs of its class
_BY_CLASS: dict[tuple[int, int], Callable[[Planes, int], Planes]] = {
    (PAG, PAG): lambda planes, n_nodes: planes,
    (PAG, MAG): paths.pag_to_mag,
    (CPDAG, PAG): lambda planes, n: paths.mag_to_pag(mixed.lift(kernels().extend_to_dag(planes, n)[0]), n),
}


def read_targets(given: Any) -> Targets:
    """Read a family of sets of nodes, as in "A; B,C"."""
    if is_missing(given):
        return ()
    wrong = "targets must be a text such as 'A; B,C', or sets of names such as [['A'], ['B', 'C']]"
    if not isinstance(given, (str, Iterable)) or isinstance(given, (bytes, pd.DataFrame)):
        raise TypeError(f"{wrong}; found {type(given).__name__}: {given!r}")
    sets = []
    for one in given.split(";") if isinstance(given, str) else given:
        if not isinstance(one, (str, Iterable)) or isinstance(one, bytes):
            raise TypeError(f"{wrong}; found {one!r} as a set")
        names = [x.strip() for x in one.split(",")] if isinstance(one, str) else list(one)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"{wrong}; found the name {name!r}")
        sets.append(frozenset(name for name in names if name))
    return tuple(dict.fromkeys(nodes for nodes in sets if nodes))


def pairs_apart(targets: Targets, nodes: Sequence[str]) -> Bools:
    """Return which pairs of nodes, (d, d), have exactly one in some set of targets."""
    unknown = next((name for names in targets for name in sorted(names) if name not in nodes), None)
    if unknown is not None:
        raise ValueError(f"targets name {unknown!r}, which is not a node; the nodes are {list(nodes)[:10]}")
    rows = np.array([[name in names for name in nodes] for names in targets], bool).reshape(len(targets), len(nodes))
    return np.asarray((rows[:, :, None] != rows[:, None, :]).any(axis=0))


def to_icpdags(planes: Planes, n_nodes: int, separated: Bools) -> tuple[Planes, NDArray[np.uint8]]:
    """Return the I-CPDAG of each DAG, and its class: cpdag where it is one, else dag where it is one, else pdag."""
    graphs = compelled(planes, n_nodes, separated)
    kinds = np.where(is_dag(graphs, n_nodes), DAG, PDAG).astype(np.uint8)
    kinds[is_cpdag(graphs, n_nodes)] = CPDAG
    return graphs, kinds


def icpdags(column: UnpackedColumn, index: pd.Index, where: Where, targets: Any) -> UnpackedColumn:
    """Return the I-CPDAGs of the graphs of a column; see `series.graph.icpdag`."""
    by_row = isinstance(targets, pd.Series)
    families = one_per_row(targets, len(index), index, "targets", "the column") if by_row else [read_targets(targets)]
    known: dict[tuple[int, Targets], Bools] = {}

    def convert(block: Block) -> tuple[Planes, NDArray[np.uint8]]:
        refuse(block, block.kinds != DAG, where, "; an I-CPDAG is that of a dag")
        separated = np.zeros((len(block.rows), block.n_nodes, block.n_nodes), bool)
        for i, (row, number) in enumerate(zip(block.rows.tolist(), block.node_set.tolist(), strict=True)):
            try:
                key = number, read_targets(families[row]) if by_row else families[0]
                if key not in known:
                    known[key] = pairs_apart(key[1], column.node_sets[number])
            except (TypeError, ValueError) as error:
                raise type(error)(f"{where(row)}: {error}") from None
            separated[i] = known[key]
        return to_icpdags(block.planes, block.n_nodes, separated)

    return converted(column, convert)
