"""Columns of graphs over observed nodes, MAGs, PAGs and ADMGs of graphs with latent nodes; the `latents=` argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .kernels import kernels
from .kernels.planes import ADMG, CPDAG, DAG, MAG, MIXED, PAG, a_kind
from .mixed import conversions
from .mixed.marks import lift
from .node_names import names_per_row, short
from .packing import Block, UnpackedColumn, join_blocks, join_by_key

Planes = NDArray[np.uint64]
Latents = list[frozenset[str] | None]


def read_latents(latents: Any, n_rows: int, index: pd.Index | None = None) -> Latents:
    """Return the latent nodes of each row, None where they are missing."""
    if latents is None:
        return [frozenset()] * n_rows
    expected = "a list of node names, or one list per row"
    rows = names_per_row(latents, "latents", n_rows, index, "the column", expected)
    return [None if names is None else frozenset(names) for names in rows]


class Projection:
    """Converts the rows of a decoded column, given their latent nodes; `where` names rows in messages."""

    def __init__(self, column: UnpackedColumn, latents: Latents, where: Callable[[int], str]) -> None:
        self._column, self._latents, self._where = column, latents, where
        self._node_sets = {names: i for i, names in enumerate(column.node_sets)}

    def mags(self) -> UnpackedColumn:
        """Project DAGs, ADMGs and MAGs to MAGs, and take a representative MAG of each PAG."""

        def convert(block: Block) -> Block:
            return self._by_kind(block, {PAG: self._representative}, lambda part: self._projected(part, MAG))

        return self._each(convert)

    def pags(self) -> UnpackedColumn:
        """Project to MAGs and take their PAGs; a CPDAG has the PAG of the DAGs of its class."""

        def convert(block: Block) -> Block:
            by_kind: dict[int, Callable[[Block], Block]] = {PAG: self._as_it_is, CPDAG: self._pag_of_cpdag}
            return self._by_kind(block, by_kind, lambda part: _to_pag(self._projected(part, MAG)))

        return self._each(convert)

    def admgs(self) -> UnpackedColumn:
        """Project DAGs, ADMGs and MAGs to acyclic directed mixed graphs."""
        return self._each(lambda block: self._by_kind(block, {}, lambda part: self._projected(part, ADMG)))

    def _each(self, convert: Callable[[Block], Block]) -> UnpackedColumn:
        """Convert the graphs of each block and number of latent nodes together."""
        blocks = join_by_key(convert(part) for block in self._column.blocks for part in self._parts(block))
        return UnpackedColumn(self._column.n_rows, blocks, tuple(self._node_sets))

    def _parts(self, block: Block) -> list[Block]:
        """Cut a block by the number of latent nodes; rows whose latent nodes are missing are left out."""
        n_latent = np.full(len(block.rows), -1)
        for i, row in enumerate(block.rows.tolist()):
            hidden = self._latents[row]
            if hidden is not None:
                self._check(row, hidden, self._column.node_sets[block.node_set[i]])
                n_latent[i] = len(hidden)
        return [block.take(np.flatnonzero(n_latent == n)) for n in np.unique(n_latent[n_latent >= 0]).tolist()]

    def _check(self, row: int, hidden: frozenset[str], names: tuple[str, ...]) -> None:
        unknown = sorted(hidden - set(names)) if hidden else []
        if unknown:
            raise ValueError(
                f"{self._where(row)}: latents names {unknown[0]!r}, which is not a node of the graph; its nodes are "
                f"{short(names)}"
            )

    def _by_kind(
        self, block: Block, special: dict[int, Callable[[Block], Block]], other: Callable[[Block], Block]
    ) -> Block:
        """Convert a block's graphs by class, those of no special class by projection."""
        for kind in np.unique(block.kinds).tolist():
            if kind not in special and kind not in (DAG, MAG, ADMG):
                row = int(block.rows[(block.kinds == kind).argmax()])
                raise ValueError(f"{self._where(row)}: {_explain_other(kind)}")
        groups = [(convert, block.kinds == kind) for kind, convert in special.items()]
        groups.append((other, ~np.isin(block.kinds, list(special))))
        return join_blocks([convert(block.take(np.flatnonzero(chosen))) for convert, chosen in groups if chosen.any()])

    def _refuse_latents(self, block: Block) -> None:
        """Refuse latent nodes of classes that are not projected."""
        for row, kind in zip(block.rows.tolist(), block.kinds.tolist(), strict=True):
            if self._latents[row]:
                raise ValueError(
                    f"{self._where(row)}: the graph is {a_kind(kind)}, and latents= applies to a dag, admg or mag; "
                    "leave latents out, or make them the nodes of a graph of these classes"
                )

    def _as_it_is(self, block: Block) -> Block:
        self._refuse_latents(block)
        return block

    def _representative(self, block: Block) -> Block:
        self._refuse_latents(block)
        return _with(block, conversions.pag_to_mag(block.planes, block.n_nodes), MAG)

    def _pag_of_cpdag(self, block: Block) -> Block:
        self._refuse_latents(block)
        extended, _ = kernels().extend_to_dag(block.planes, block.n_nodes)
        return _to_pag(_with(block, lift(extended), MAG))

    def _projected(self, block: Block, kind: int) -> Block:
        """Project the graphs of a block, which have as many latent nodes each."""
        names = [self._column.node_sets[i] for i in block.node_set.tolist()]
        hidden = [self._latents[row] or frozenset() for row in block.rows.tolist()]
        if not hidden[0] and kind == MAG and (block.kinds != ADMG).all():
            return _with(block, lift(block.planes), MAG)
        known: dict[tuple[Sequence[str], frozenset[str]], tuple[list[int], int]] = {}
        for key in zip(names, hidden, strict=True):
            if key not in known:
                kept = [i for i, name in enumerate(key[0]) if name not in key[1]]
                nodes = tuple(key[0][i] for i in kept)
                known[key] = kept, self._node_sets.setdefault(nodes, len(self._node_sets))
        pairs = [known[key] for key in zip(names, hidden, strict=True)]
        n_kept = block.n_nodes - len(hidden[0])
        observed = np.array([kept for kept, _ in pairs], np.int64).reshape(len(pairs), n_kept)
        planes = conversions.project(block.planes, block.n_nodes, observed, to_admg=kind == ADMG)
        node_set = np.array([number for _, number in pairs], np.int64)
        return replace(_with(block, planes, kind), n_nodes=n_kept, node_set=node_set)


def _with(block: Block, planes: Planes, kind: int) -> Block:
    return replace(block, planes=planes, kinds=np.full(len(planes), kind, np.uint8))


def _to_pag(block: Block) -> Block:
    return _with(block, conversions.mag_to_pag(block.planes, block.n_nodes), PAG)


def _explain_other(kind: int) -> str:
    """Return why a graph of a class cannot be projected."""
    mend = {
        CPDAG: "take pag() of it, or pass its DAG",
        MIXED: "faults('pag') returns why it is not a PAG",
    }.get(kind, "pass a graph of these classes")
    return f"the graph is {a_kind(kind)}, expected a dag, admg, mag or pag; {mend}"


def completed(column: UnpackedColumn, where: Callable[[int], str]) -> UnpackedColumn:
    """Return the maximal ancestral graphs that complete the ancestral graphs of a column."""
    from .faults import fault_of

    def convert(block: Block) -> Block:
        planes = lift(block.planes)
        simple = ~conversions.not_simple(planes)
        done, faults = conversions.complete(planes[simple], block.n_nodes)
        wrong = ~simple
        wrong[simple] = faults != 0
        if wrong.any():
            at = int(wrong.argmax())
            fault = fault_of(planes[at], column.node_sets[block.node_set[at]], MAG)
            raise ValueError(f"{where(int(block.rows[at]))}: the graph is not ancestral: it {fault}; mend the graph")
        return _with(block, done, MAG)

    return replace(column, blocks=join_by_key(map(convert, column.blocks)), checked=None)
