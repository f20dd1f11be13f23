"""Interventional essential graphs (I-CPDAGs): the directions that observations and interventions determine.

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
from .kernels.planes import CPDAG, DAG, PDAG, a_kind, matrices_from_planes, planes_from_matrices, row_chunks
from .orientations import bits, close, parent_sets
from .packing import UnpackedColumn

Planes = NDArray[np.uint64]
Marks = NDArray[np.bool_]

#: sets of nodes that are intervened on, each in an experiment of its own
Targets = tuple[frozenset[str], ...]


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


def icpdags(column: UnpackedColumn, index: pd.Index, where: Callable[[int], str], targets: Any) -> UnpackedColumn:
    """Return the I-CPDAGs of the graphs of a column; see `series.graph.icpdag`."""
    by_row = isinstance(targets, pd.Series)
    families = one_per_row(targets, len(index), index, "targets", "the column") if by_row else [read_targets(targets)]
    known: dict[tuple[int, Targets], Marks] = {}
    blocks = []
    for block in column.blocks:
        wrong = np.flatnonzero(block.kinds != DAG)
        if len(wrong):
            kind = a_kind(block.kinds[wrong[0]])
            raise ValueError(f"{where(int(block.rows[wrong[0]]))}: the graph is {kind}; an I-CPDAG is that of a dag")
        separated = np.zeros((len(block.rows), block.n_nodes, block.n_nodes), bool)
        for i, (row, number) in enumerate(zip(block.rows.tolist(), block.node_set.tolist(), strict=True)):
            try:
                key = number, read_targets(families[row]) if by_row else families[0]
                if key not in known:
                    known[key] = pairs_apart(key[1], column.node_sets[number])
            except (TypeError, ValueError) as error:
                raise type(error)(f"{where(row)}: {error}") from None
            separated[i] = known[key]
        planes, kinds = to_icpdags(block.planes, block.n_nodes, separated)
        blocks.append(replace(block, planes=planes, kinds=kinds))
    return replace(column, blocks=tuple(blocks))
