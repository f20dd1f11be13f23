"""Columns of packed networks, and aligned pairs: the same variables and states, parameters stacked by structure."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import pack_rows, rows_of
from ...contract.checks import hint_alike, name_row
from ...contract.pairs import StoredPairs
from ...graphs.column import graph_column, is_graph_column
from ...graphs.packing import as_packed, is_packed
from .cells import (
    FORMAT,
    DiscreteNetwork,
    GaussianNetwork,
    Network,
    Structure,
    check_parameters,
    read_head,
    read_parameters,
    split_cell,
)
from .formats import is_network, read_network

__all__ = ["as_network", "network_column"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: numbers of a stack that are scored at once
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class Networks:
    """Distinct networks over the same variables, in stacks of one structure each."""

    #: the structures
    structures: Sequence[Structure]
    #: parameters of the networks of each structure
    stacks: Sequence[Floats]
    #: structure, position, (n,): structure of each network and its row in that structure's stack
    structure: Ints
    position: Ints

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Networks:
        """Stack networks by structure."""
        codes, structures = pd.factorize(pd.Series([n.structure for n in networks], dtype=object))
        position = np.empty(len(networks), np.int64)
        stacks = []
        for code in range(len(structures)):
            rows = np.flatnonzero(codes == code)
            position[rows] = np.arange(len(rows))
            stacks.append(np.stack([networks[i].parameters for i in rows.tolist()]))
        return cls(list(structures), stacks, codes.astype(np.int64), position)

    def __len__(self) -> int:
        return len(self.structure)

    def network(self, index: int) -> Network:
        """Return one of the networks as a value."""
        structure = self.structures[self.structure[index]]
        kind = DiscreteNetwork if structure.kind == "discrete" else GaussianNetwork
        return kind._of_checked(structure, self.stacks[self.structure[index]][self.position[index]])


def row_sums(values: Floats) -> Floats:
    """Sum over the last axis, each row in one order: its bits do not depend on the rows beside it."""
    return np.asarray(np.ascontiguousarray(values).sum(axis=-1))


class Group(NamedTuple):
    """Pairs that share the truth and the structure of the estimate: rows, truth, structure, stacked parameters."""

    rows: Ints
    truth: Network
    structure: Structure
    parameters: Floats


@dataclass(frozen=True, eq=False)
class NetworkPairs(StoredPairs):
    """Pairs of networks over the same variables and states."""

    truth: Networks
    estimate: Networks

    @property
    def structure(self) -> Structure:
        """Structure of the first truth; its nodes and states are those of all."""
        return self.truth.structures[self.truth.structure[self.truth_index[0]]]

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs are of a kind that is not among `kinds`; both sides are of one kind."""
        allowed = [x.kind in kinds and (truth_kinds is None or x.kind in truth_kinds) for x in self.truth.structures]
        return ~np.array(allowed, bool)[self.truth.structure[self.truth_index]]

    def describe(self, position: int) -> str:
        """Describe the pair at `position`, for messages."""
        kind = self.truth.structures[self.truth.structure[self.truth_index[position]]].kind
        return f"truth and estimate are {kind} networks"

    @cached_property
    def _groups(self) -> list[tuple[Ints, int, int]]:
        """Rows, truth and estimate's structure of each group."""
        structures = self.estimate.structure[self.estimate_index]
        key = self.truth_index * len(self.estimate.structures) + structures
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        groups = np.split(order, starts[1:]) if self.n else []
        return [(rows, int(self.truth_index[rows[0]]), int(structures[rows[0]])) for rows in groups]

    def true_network(self, index: int) -> Network:
        """Return a network of the true side, made once."""
        network: Network = self.remember(("true network", index), lambda: self.truth.network(index))
        return network

    def groups(self) -> Iterator[Group]:
        """Yield the pairs in groups of one truth and one structure of estimates, of bounded size."""
        for rows, truth, structure in self._groups:
            layout = self.estimate.structures[structure]
            step = max(1, _BLOCK // max(1, layout.size))
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                chosen = self.estimate.position[self.estimate_index[part]]
                yield Group(part, self.true_network(truth), layout, self.estimate.stacks[structure][chosen])


def pair(truth: Any, estimate: Any) -> NetworkPairs:
    """Read two single cells and refuse networks whose variables, states or kinds differ; as values they are aligned."""
    for cell, side in ((truth, "truth"), (estimate, "estimate")):
        if cell is None:
            raise TypeError(f"a metric of networks needs a truth and an estimate, found None as the {side}")
    left, right = read_network(truth), read_network(estimate)
    fault = differing(left.structure, right.structure)
    if fault:
        raise ValueError(fault)
    zero = np.zeros(1, np.int64)
    return NetworkPairs(Networks.of([left]), Networks.of([right]), zero, zero)


def differing(truth: Structure, estimate: Structure, sides: tuple[str, str] = ("truth", "estimate")) -> str | None:
    """Return why two networks cannot be compared, or None; `sides` are their names in the message."""
    left, right = sides
    if truth.nodes != estimate.nodes:
        only = [sorted(set(a) - set(b)) for a, b in ((truth.nodes, estimate.nodes), (estimate.nodes, truth.nodes))]
        return (
            f"{left} has {len(truth.nodes)} nodes, {right} {len(estimate.nodes)}; only in the {left}: "
            f"{only[0][:5]}, only in the {right}: {only[1][:5]}{hint_alike(*only)}; give both the same variables"
        )
    if truth.kind != estimate.kind:
        words = {"discrete": "discrete", "gaussian": "continuous"}
        return (
            f"node {truth.nodes[0]!r} is {words[truth.kind]} in the {left} and {words[estimate.kind]} in the {right}; "
            "compare networks of one kind"
        )
    # a linear-Gaussian network has no states
    for name, true, estimated in zip(truth.nodes, truth.states or (), estimate.states or (), strict=False):
        if true != estimated:
            return (
                f"node {name!r} has the states {_some(true)} in the {left} and {_some(estimated)} in the {right}"
                f"{hint_alike(true, estimated)}; name the same ones (a state never observed too: states= of from_data)"
            )
    return None


def _some(states: tuple[str, ...]) -> str:
    return str(list(states)) if len(states) <= 10 else f"{list(states[:10])} and {len(states) - 10} more"


def as_network(value: Any) -> Network:
    """Read one network in any format of `network_column`.

    Parameters
    ----------
    value : network
        A cell as in `network_column`.

    Returns
    -------
    DiscreteNetwork or GaussianNetwork
        The network.

    Raises
    ------
    TypeError
        If the format is unknown.
    ValueError
        If it is not well-formed; names the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.as_network({"A": {"parents": [], "prob": [.3, .7]},
    ...                "B": {"parents": ["A"], "prob": [[.9, .2], [.1, .8]]}})
    DiscreteNetwork(2 nodes, 1 arcs: A -> B)
    """
    return read_network(value)


def network_column(values: Any, *, index: Any = None) -> pd.Series:
    """Make a column of packed networks.

    Parameters
    ----------
    values : Series, list or other sequence
        One network per row: `DiscreteNetwork`, `GaussianNetwork`, packed bytes, pgmpy and pyagrum networks, fitted
        networks of bnlearn as dicts (`{node: {"parents": [...], "prob": table}}`, or "coefficients" and "sd"), paths of
        BIF files. None, NaN and pd.NA stay missing.
    index : Index, optional
        Of the result; default that of `values`.

    Returns
    -------
    Series
        Canonical bytes, ``pd.ArrowDtype(pa.large_binary())``. Equal networks have equal bytes, so ``==``, ``groupby``,
        ``merge``, Parquet and dask work on the column.

    Raises
    ------
    TypeError, ValueError
        If a cell is not a well-formed network; names the row and the node.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": []}, {"A": [.3, .7]})
    >>> ce.network_column([network, None]).isna().tolist()
    [False, True]
    """
    column = coerce_networks(rows_of(values, index, "networks"))
    unpack_networks(column)
    return column


def coerce_networks(series: pd.Series, column: Hashable | None = None) -> pd.Series:
    """Return a column of a user's table as packed networks; `unpack_networks` checks those that are packed."""
    if is_packed(series):
        return as_packed(series)
    return pack_rows(series, lambda row, cell: read_network(cell).to_bytes(), column)


def is_network_column(series: pd.Series) -> bool:
    """Check by dtype and first cells whether a column looks like cells of `network_column`, without paths."""
    if not (is_packed(series) or series.dtype == object):
        return False
    if is_packed(series):
        series = as_packed(series)
    cells = series.dropna().iloc[:1].tolist()
    if not cells:
        return is_packed(series)
    cell = cells[0]
    return FORMAT.holds(cell) if isinstance(cell, bytes) else is_network(cell)


def unpack_networks(series: pd.Series) -> tuple[Networks, NDArray[np.int64]]:
    """Decode and check distinct cells of canonical bytes: networks, and which of them a row holds, -1 for none."""
    codes, distinct = pd.factorize(series)
    cells = distinct.tolist()

    def where(cell: int) -> str:
        return name_row(int(np.argmax(codes == cell)), series.index, series.name)

    heads: dict[bytes, list[int]] = {}
    tails = []
    for at, cell in enumerate(cells):
        try:
            head, tail = split_cell(cell)
        except ValueError as error:
            raise ValueError(f"{where(at)}: {error}") from None
        heads.setdefault(head, []).append(at)
        tails.append(tail)
    structures: list[Structure] = []
    stacks = []
    structure, position = np.empty(len(cells), np.int64), np.empty(len(cells), np.int64)
    for head, members in heads.items():
        try:
            layout = read_head(head)
        except ValueError as error:
            raise ValueError(f"{where(members[0])}: {error}") from None
        stack = np.empty((len(members), layout.size))
        for row, at in enumerate(members):
            try:
                stack[row] = read_parameters(layout, tails[at])
            except ValueError as error:
                raise ValueError(f"{where(at)}: {error}") from None
        check_parameters(layout, stack, lambda row, members=members: where(members[row]))
        structure[members], position[members] = len(structures), np.arange(len(members))
        structures.append(layout)
        stacks.append(stack)
    return Networks(structures, stacks, structure, position), codes.astype(np.int64)


def graphs_of_networks(series: pd.Series) -> pd.Series:
    """Return the DAGs of packed networks, missing where they are; packed graphs are returned as they are."""
    if is_graph_column(series) and not is_network_column(series):
        return series
    networks, codes = unpack_networks(series)
    graphs = graph_column([one.graph for one in networks.structures])
    at = np.append(networks.structure, -1)[codes]
    taken = graphs.array.take(at, allow_fill=True)
    return pd.Series(taken, index=series.index, name=series.name)
