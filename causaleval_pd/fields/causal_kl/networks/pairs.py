"""Aligned pairs of networks: the same variables and states by name, parameters stacked by structure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import hint_alike
from ....contract.pairs import StoredPairs
from .formats import read_network
from .network import DiscreteNetwork, GaussianNetwork, Network
from .structure import Structure

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
        return (
            [(rows, int(self.truth_index[rows[0]]), int(structures[rows[0]])) for rows in np.split(order, starts[1:])]
            if self.n
            else []
        )

    @cached_property
    def _truths(self) -> dict[int, Network]:
        return {}

    def true_network(self, index: int) -> Network:
        """Return a network of the true side, made once."""
        if index not in self._truths:
            self._truths[index] = self.truth.network(index)
        return self._truths[index]

    def groups(self) -> Iterator[Group]:
        """Yield the pairs in groups of one truth and one structure of estimates, of bounded size."""
        for rows, truth, structure in self._groups:
            layout = self.estimate.structures[structure]
            step = max(1, _BLOCK // max(1, layout.size))
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                chosen = self.estimate.position[self.estimate_index[part]]
                yield Group(part, self.true_network(truth), layout, self.estimate.stacks[structure][chosen])


def align(truth: Any, estimate: Any) -> tuple[Network, Network]:
    """Read two cells and refuse networks whose variables, states or kinds differ; being canonical, they are aligned."""
    for cell, side in ((truth, "truth"), (estimate, "estimate")):
        if cell is None:
            raise TypeError(f"a metric of networks needs a truth and an estimate, found None as the {side}")
    left, right = read_network(truth), read_network(estimate)
    fault = differing(left.structure, right.structure)
    if fault:
        raise ValueError(fault)
    return left, right


def pair(truth: Any, estimate: Any) -> NetworkPairs:
    """Read and align two single cells."""
    left, right = align(truth, estimate)
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
        return (
            f"node {truth.nodes[0]!r} is {_word(truth)} in the {left} and {_word(estimate)} in the {right}; compare "
            "networks of one kind"
        )
    # a linear-Gaussian network has no states
    for name, true, estimated in zip(truth.nodes, truth.states or (), estimate.states or (), strict=False):
        if true != estimated:
            return (
                f"node {name!r} has the states {_some(true)} in the {left} and {_some(estimated)} in the {right}"
                f"{hint_alike(true, estimated)}; name the same ones (a state never observed too: states= of from_data)"
            )
    return None


def _word(structure: Structure) -> str:
    return "discrete" if structure.kind == "discrete" else "continuous"


def _some(states: tuple[str, ...]) -> str:
    return str(list(states)) if len(states) <= 10 else f"{list(states[:10])} and {len(states) - 10} more"
