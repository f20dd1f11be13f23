"""Conversions of columns of graphs: MAGs, PAGs, ADMGs over observed nodes and I-CPDAGs; `latents=` and `targets=`.

Two DAGs are I-equivalent iff they have the same skeleton and v-structures, before and after the edges into each set of
targets are removed. The I-CPDAG has the directed edges that all members of a class share (see `series.graph.icpdag`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.cells import is_missing, one_per_row
from . import classes
from .kernels import kernels
from .kernels.planes import (
    ADMG,
    CPDAG,
    DAG,
    KINDS,
    MAG,
    MIXED,
    PAG,
    PDAG,
    a_kind,
    matrices_from_planes,
    planes_from_matrices,
    row_chunks,
)
from .mixed import paths
from .mixed.marks import Planes, lift
from .node_names import Nodes, names_per_row, short
from .orientations import bits, close, parent_sets
from .packing import Block, UnpackedColumn, Where, group_rows, join_by_key

Marks = NDArray[np.bool_]
Latents = list[frozenset[str] | None]
#: sets of nodes that are intervened on, each in an experiment of its own
Targets = tuple[frozenset[str], ...]


def refuse(block: Block, rows: Marks, where: Where, why: str) -> None:
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
        alike = block.kinds == kind
        mends = {CPDAG: "take its pag(), or pass its DAG", MIXED: "faults('pag') returns why it is no PAG"}
        why = f", expected a dag, admg, mag or pag; {mends.get(kind, 'pass a graph of these classes')}"
        refuse(block, alike & ((kind, target) not in _BY_CLASS), where, why)
        why = ", and latents= applies to a dag, admg or mag; leave latents out, or make them the nodes of a graph of "
        refuse(block, alike & (n_latent > 0), where, f"{why}these classes")
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
    planes = paths.mag_to_pag(lift(planes), block.n_nodes) if target == PAG else lift(planes)
    return _with(block, planes, target)


#: conversions of other classes, without latent nodes; a CPDAG has the PAG of the DAGs of its class
_BY_CLASS: dict[tuple[int, int], Callable[[Planes, int], Planes]] = {
    (PAG, PAG): lambda planes, n_nodes: planes,
    (PAG, MAG): paths.pag_to_mag,
    (CPDAG, PAG): lambda planes, n: paths.mag_to_pag(lift(kernels().extend_to_dag(planes, n)[0]), n),
}


def completed(column: UnpackedColumn, where: Where) -> UnpackedColumn:
    """Return the maximal ancestral graphs that complete the ancestral graphs of a column."""
    from .faults import fault_of

    def convert(block: Block) -> tuple[Planes, int]:
        planes = lift(block.planes)
        simple = ~paths.not_simple(planes)
        done, faults = paths.convert(planes[simple], block.n_nodes, "COMPLETE")
        wrong = ~simple
        wrong[simple] = faults
        if wrong.any():
            at = int(wrong.argmax())
            fault = fault_of(planes[at], column.node_sets[block.node_set[at]], MAG)
            raise ValueError(f"{where(int(block.rows[at]))}: the graph is not ancestral: it {fault}; mend the graph")
        return done, MAG

    return converted(column, convert)


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


def pairs_apart(targets: Targets, nodes: Sequence[str]) -> Marks:
    """Return which pairs of nodes, (d, d), have exactly one in some set of targets."""
    unknown = next((name for names in targets for name in sorted(names) if name not in nodes), None)
    if unknown is not None:
        raise ValueError(f"targets name {unknown!r}, which is not a node; the nodes are {list(nodes)[:10]}")
    rows = np.array([[name in names for name in nodes] for names in targets], bool).reshape(len(targets), len(nodes))
    return np.asarray((rows[:, :, None] != rows[:, None, :]).any(axis=0))


def to_icpdags(planes: Planes, n_nodes: int, separated: Marks) -> tuple[Planes, NDArray[np.uint8]]:
    """Return the I-CPDAG of each DAG, and its class: cpdag where it is one, else dag where it is one, else pdag."""
    cpdags, order = np.empty_like(planes), np.arange(n_nodes)
    for rows in row_chunks(len(planes), 64 * n_nodes**2):
        arcs = matrices_from_planes(planes[rows], n_nodes).astype(bool)
        apart = ~(arcs | arcs.transpose(0, 2, 1) | np.eye(n_nodes, dtype=bool))
        # a -> b is in a v-structure iff b has another parent that is not adjacent to a
        collides = apart.astype(np.float32) @ arcs.astype(np.float32) > 0
        directed = arcs & (collides | separated[rows])
        lines = arcs & ~directed
        lines |= lines.transpose(0, 2, 1)
        marks = directed | lines
        sides = (parent_sets(planes_from_matrices(side, order), n_nodes) for side in (directed, lines))
        for graph, parents, beside in zip(marks, *sides, strict=True):
            for node, known in enumerate(close(parents, beside)[0]):
                graph[node, list(bits(known))] = False
        cpdags[rows] = planes_from_matrices(marks, order)
    kinds = np.where(classes.is_dag(cpdags, n_nodes), DAG, PDAG).astype(np.uint8)
    kinds[classes.is_cpdag(cpdags, n_nodes)] = CPDAG
    return cpdags, kinds


def icpdags(column: UnpackedColumn, index: pd.Index, where: Where, targets: Any) -> UnpackedColumn:
    """Return the I-CPDAGs of the graphs of a column; see `series.graph.icpdag`."""
    by_row = isinstance(targets, pd.Series)
    families = one_per_row(targets, len(index), index, "targets", "the column") if by_row else [read_targets(targets)]
    known: dict[tuple[int, Targets], Marks] = {}

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
