"""Columns of packed networks, and aligned pairs: the same variables and states, parameters stacked by structure."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.cells import rows_of, unpack_distinct
from ...contract.checks import hint_alike, shown
from ...contract.pairs import StoredPairs
from ...graphs.column import graph_column, is_graph_column
from ...graphs.packing import coerce_cells, group_rows, holds_cells
from .cells import FORMAT, Network, Structure, check_parameters, network_of, read_head, read_parameters, split_cell
from .formats import as_network, is_network, is_path

__all__ = ["as_network", "network_column"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T", bound=Hashable)

#: numbers of a stack that are scored at once
_BLOCK = 2**21


def numbered(values: Iterable[T]) -> tuple[list[T], Ints]:
    """Return the distinct ones of values by first appearance, and the number of each value among them."""
    number: dict[T, int] = {}
    index = np.array([number.setdefault(value, len(number)) for value in values], np.int64)
    return list(number), index


@dataclass(frozen=True, eq=False)
class Networks:
    """Distinct networks over the same variables, in stacks of one structure each."""

    #: the structures
    structures: Sequence[Structure]
    #: (n,): structure of each network
    structure: Ints
    #: parameters of the networks of each structure
    stacks: Sequence[Floats]
    #: (n,): row of each network in the stack of its structure
    position: Ints

    @classmethod
    def stacked(cls, structures: Sequence[Structure], structure: Ints, parameters: Sequence[Floats]) -> Networks:
        """Stack the parameters of networks, whose structures are numbers among all of `structures`."""
        position, stacks = np.empty(len(parameters), np.int64), []
        for _, members in group_rows(structure):
            position[members] = np.arange(len(members))
            stacks.append(np.stack([parameters[i] for i in members.tolist()]))
        return cls(structures, structure, stacks, position)

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Networks:
        """Stack networks by structure."""
        structures, structure = numbered(one.structure for one in networks)
        return cls.stacked(structures, structure, [one.parameters for one in networks])

    def structure_of(self, index: int) -> Structure:
        """Return the structure of one of the networks."""
        return self.structures[self.structure[index]]

    def network(self, index: int) -> Network:
        """Return one of the networks as a value."""
        return network_of(self.structure_of(index), self.stacks[self.structure[index]][self.position[index]])


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
        return self.truth.structure_of(self.truth_index[0])

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Return which pairs are of a kind that is not among `kinds`; both sides are of one kind."""
        allowed = [x.kind in kinds and (truth_kinds is None or x.kind in truth_kinds) for x in self.truth.structures]
        return ~np.array(allowed, bool)[self.truth.structure[self.truth_index]]

    def describe(self, position: int) -> str:
        """Describe the pair at `position`, for messages."""
        return f"truth and estimate are {self.truth.structure_of(self.truth_index[position]).kind} networks"

    def true_network(self, index: int) -> Network:
        """Return a network of the true side, made once."""
        network: Network = self.remember(("true network", index), lambda: self.truth.network(index))
        return network

    def groups(self) -> Iterator[Group]:
        """Yield the pairs in groups of one truth and one structure of estimates, of bounded size."""
        n_structures = len(self.estimate.structures)
        key = self.truth_index * n_structures + self.estimate.structure[self.estimate_index]
        for number, rows in group_rows(key):
            truth, structure = divmod(number, n_structures)
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
    left, right = as_network(truth), as_network(estimate)
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
                f"node {name!r} has the states {shown(list(true))} in the {left} and {shown(list(estimated))} in the "
                f"{right}{hint_alike(true, estimated)}; name the same ones (a state never observed too: states= of "
                "from_data)"
            )
    return None


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
    return coerce_cells(series, lambda _, cell: as_network(cell).to_bytes(), column)


def is_network_column(series: pd.Series) -> bool:
    """Check by its first cell whether a column looks like cells of `network_column`."""
    return holds_cells(series, FORMAT, lambda cell: is_path(cell) or is_network(cell))


def unpack_networks(series: pd.Series) -> tuple[Networks, NDArray[np.int64]]:
    """Decode and check distinct cells of canonical bytes: networks, and which of them a row holds, -1 for none."""
    structures: dict[bytes, Structure] = {}
    heads: list[bytes] = []

    def unpack(cell: bytes) -> Floats:
        head, tail = split_cell(cell)
        if head not in structures:
            structures[head] = read_head(head)
        heads.append(head)
        return read_parameters(structures[head], tail)

    codes, parameters, where = unpack_distinct(series, unpack)
    networks = Networks.stacked(list(structures.values()), numbered(heads)[1], parameters)
    for number, members in group_rows(networks.structure):
        layout, stack = networks.structures[number], networks.stacks[number]
        check_parameters(layout, stack, lambda row, members=members: f"{where(int(members[row]))}: ")
    return networks, codes


def graphs_of_networks(series: pd.Series) -> pd.Series:
    """Return the DAGs of packed networks, missing where they are; packed graphs are returned as they are."""
    if is_graph_column(series) and not is_network_column(series):
        return series
    networks, codes = unpack_networks(series)
    graphs = graph_column([one.graph for one in networks.structures])
    at = np.append(networks.structure, -1)[codes]
    taken = graphs.array.take(at, allow_fill=True)
    return pd.Series(taken, index=series.index, name=series.name)
