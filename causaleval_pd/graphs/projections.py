"""Columns of graphs over observed nodes, MAGs, PAGs and ADMGs of graphs with latent nodes; the `latents=` argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, DAG, KINDS, MAG, MIXED, PAG, a_kind
from .mixed import paths
from .mixed.marks import lift
from .node_names import Nodes, names_per_row, short
from .packing import Block, UnpackedColumn, Where, group_rows, join_by_key

Planes = NDArray[np.uint64]
Latents = list[frozenset[str] | None]


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
        row = where(int(block.rows[0]))
        if (kind, target) not in _BY_CLASS:
            mends = {CPDAG: "take its pag(), or pass its DAG", MIXED: "faults('pag') returns why it is no PAG"}
            mend = mends.get(kind, "pass a graph of these classes")
            raise ValueError(f"{row}: the graph is {a_kind(kind)}, expected a dag, admg, mag or pag; {mend}")
        if n_latent:
            raise ValueError(
                f"{row}: the graph is {a_kind(kind)}, and latents= applies to a dag, admg or mag; leave latents out, "
                "or make them the nodes of a graph of these classes"
            )
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


def _with(block: Block, planes: Planes, kind: int) -> Block:
    return replace(block, planes=planes, kinds=np.full(len(planes), kind, np.uint8))


def completed(column: UnpackedColumn, where: Where) -> UnpackedColumn:
    """Return the maximal ancestral graphs that complete the ancestral graphs of a column."""
    from .faults import fault_of

    def convert(block: Block) -> Block:
        planes = lift(block.planes)
        simple = ~paths.not_simple(planes)
        done, faults = paths.complete(planes[simple], block.n_nodes)
        wrong = ~simple
        wrong[simple] = faults
        if wrong.any():
            at = int(wrong.argmax())
            fault = fault_of(planes[at], column.node_sets[block.node_set[at]], MAG)
            raise ValueError(f"{where(int(block.rows[at]))}: the graph is not ancestral: it {fault}; mend the graph")
        return _with(block, done, MAG)

    return replace(column, blocks=join_by_key(map(convert, column.blocks)), checked=None)
