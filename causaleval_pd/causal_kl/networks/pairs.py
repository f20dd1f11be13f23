"""Aligned pairs of networks: stacks of parameters by layout, and the groups that share a truth."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.pairs import Pairs
from .layout import Layout
from .network import DiscreteNetwork, GaussianNetwork, Network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: numbers of a stack that are scored at once
_BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class Networks:
    """Distinct networks over the same variables, in stacks of one layout each.

    Attributes
    ----------
    layouts : sequence of Layout
        The layouts.
    stacks : sequence of (m, size) float
        Parameters of the networks of each layout.
    layout, position : (n,) int64
        Layout of each network and its row in that layout's stack.
    """

    layouts: Sequence[Layout]
    stacks: Sequence[Floats]
    layout: Ints
    position: Ints

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Networks:
        """Stack some networks."""
        codes, layouts = pd.factorize(pd.Series([n.layout for n in networks], dtype=object))
        position = np.empty(len(networks), np.int64)
        stacks = []
        for code in range(len(layouts)):
            rows = np.flatnonzero(codes == code)
            position[rows] = np.arange(len(rows))
            stacks.append(np.stack([networks[i].parameters for i in rows.tolist()]))
        return cls(list(layouts), stacks, codes.astype(np.int64), position)

    def __len__(self) -> int:
        return len(self.layout)

    def network(self, index: int) -> Network:
        """Return one of the networks as a value."""
        layout = self.layouts[self.layout[index]]
        kind = DiscreteNetwork if layout.kind == "discrete" else GaussianNetwork
        return kind._of_checked(layout, self.stacks[self.layout[index]][self.position[index]])


def row_sums(values: Floats) -> Floats:
    """Sum over the last axis, each row in one order: its bits do not depend on the rows beside it."""
    return np.asarray(np.ascontiguousarray(values).sum(axis=-1))


class Group(NamedTuple):
    """Pairs that share the truth and the layout of the estimate: rows, truth, layout, stacked parameters."""

    rows: Ints
    truth: Network
    layout: Layout
    parameters: Floats


@dataclass(frozen=True, eq=False)
class NetworkPairs(Pairs):
    """Pairs of networks over the same variables and states.

    Attributes
    ----------
    truth, estimate : Networks
        The networks of each side.
    truth_index, estimate_index : (n,) int64
        Which networks a pair holds.
    """

    truth: Networks
    estimate: Networks
    truth_index: Ints
    estimate_index: Ints

    @property
    def n(self) -> int:
        """Number of pairs."""
        return len(self.truth_index)

    @property
    def layout(self) -> Layout:
        """Layout of the first truth; its nodes and states are those of all."""
        return self.truth.layouts[self.truth.layout[self.truth_index[0]]]

    def take(self, positions: Ints | slice) -> NetworkPairs:
        """Return the pairs at `positions`, sharing the networks."""
        return NetworkPairs(self.truth, self.estimate, self.truth_index[positions], self.estimate_index[positions])

    def unique(self) -> tuple[NetworkPairs, Ints]:
        """Return the distinct pairs, and for each pair the position of its equal among them."""
        _, first, inverse = np.unique(
            self.truth_index * len(self.estimate) + self.estimate_index, return_index=True, return_inverse=True
        )
        return self.take(first), inverse.astype(np.int64)

    def refused(self, kinds: Container[str], truth_kinds: Container[str] | None = None) -> NDArray[np.bool_]:
        """Tell which pairs are of a kind that is not among `kinds`; both sides are of one kind."""
        allowed = [layout.kind in kinds for layout in self.truth.layouts]
        if truth_kinds is not None:
            allowed = [x and layout.kind in truth_kinds for x, layout in zip(allowed, self.truth.layouts, strict=True)]
        return ~np.array(allowed, bool)[self.truth.layout[self.truth_index]]

    def describe(self, position: int) -> str:
        """Say what the pair at `position` holds, for messages."""
        kind = self.truth.layouts[self.truth.layout[self.truth_index[position]]].kind
        return f"truth and estimate are {kind} networks"

    @cached_property
    def _groups(self) -> list[tuple[Ints, int, int]]:
        """Rows, truth and estimate's layout of each group."""
        layouts = self.estimate.layout[self.estimate_index]
        key = self.truth_index * len(self.estimate.layouts) + layouts
        order = np.argsort(key, kind="stable")
        starts = np.flatnonzero(np.diff(key[order], prepend=-1))
        return (
            [(rows, int(self.truth_index[rows[0]]), int(layouts[rows[0]])) for rows in np.split(order, starts[1:])]
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
        """Yield the pairs in groups of one truth and one layout of estimates, a bounded number of numbers at a time."""
        for rows, truth, layout in self._groups:
            found = self.estimate.layouts[layout]
            step = max(1, _BLOCK // max(1, found.size))
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                chosen = self.estimate.position[self.estimate_index[part]]
                yield Group(part, self.true_network(truth), found, self.estimate.stacks[layout][chosen])
