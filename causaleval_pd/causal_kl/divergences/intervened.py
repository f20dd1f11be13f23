"""The joint law of a true network under one intervention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..laws.elimination import Scope, marginal
from ..laws.family_laws import FamilyLaws
from ..networks.pairs import row_sums
from .interventions import Intervention, check_values

Floats = NDArray[np.float64]


class IntervenedLaw:
    """The joint law of a true network under one intervention; variable k + i is the state to which node i is set."""

    def __init__(self, truth: FamilyLaws, intervention: Intervention) -> None:
        nodes = truth.network.nodes
        unknown = [name for name in intervention.nodes if name not in nodes]
        if unknown:
            raise ValueError(f"the intervention has the unknown nodes {unknown}; the nodes are {list(nodes)[:20]}")
        self.truth, self.k = truth, truth.k
        self.at = [nodes.index(name) for name in intervention.nodes]
        self.success = intervention.success
        self.cards = truth.cards * 2
        self.values = self._value_tables(intervention)

    def _value_tables(self, intervention: Intervention) -> list[tuple[Scope, Floats]]:
        """Return the factors of the law of the states to set."""
        truth, k, values = self.truth, self.k, intervention.values
        if isinstance(values, Mapping):
            if set(values) != set(intervention.nodes):
                raise ValueError(f"values must give a state to each of the nodes {list(intervention.nodes)}")
            return [((k + i,), np.eye(truth.cards[i])[self._state(i, values)]) for i in self.at]
        if isinstance(values, str):
            check_values(values)
            if values == "uniform":
                return [((k + i,), np.full(truth.cards[i], 1 / truth.cards[i])) for i in self.at]
            if values == "independent":
                return [((k + i,), truth.joint((i,))) for i in self.at]
            used = truth.ancestral(self.at)
            return [(tuple(v + k for v in truth.scopes[j]), truth.tables[j]) for j in used]
        law = np.asarray(values, np.float64)
        expected = tuple(truth.cards[i] for i in self.at)
        if law.shape != expected:
            raise ValueError(
                f"values of the nodes {list(intervention.nodes)} have the shape {law.shape}, expected {expected}"
            )
        if not (law >= 0).all() or abs(law.sum() - 1) > 1e-8:
            raise ValueError(f"values of the nodes {list(intervention.nodes)} must be probabilities that sum to 1")
        return [(tuple(k + i for i in self.at), law)]

    def _state(self, node: int, values: Mapping[str, Any]) -> int:
        name = self.truth.network.nodes[node]
        states = self.truth.network.states[name]
        if str(values[name]) not in states:
            raise ValueError(f"node {name!r} has no state {values[name]!r}; its states are {list(states)}")
        return states.index(str(values[name]))

    def mixed(self, table: Floats) -> Floats:
        """Return a table with an axis, before the child's, for the state to which it is set."""
        sets = np.eye(table.shape[-1])
        return np.asarray(self.success * sets + (1 - self.success) * table[..., None, :])

    def joint(self, keep: Scope) -> Floats:
        """Return the law of some variables."""
        truth, k = self.truth, self.k
        used = truth.ancestral(v if v < k else v - k for v in keep)
        factors = [
            (truth.scopes[j], truth.tables[j])
            if j not in self.at
            else ((k + j, j), np.eye(truth.cards[j]))
            if self.success == 1
            else ((*truth.parents[j], k + j, j), self.mixed(truth.tables[j]))
            for j in used
        ]
        factors += self.values
        return marginal([scope for scope, _ in factors], [table for _, table in factors], self.cards, keep)

    def log_probability(self, node: int, parents: Scope, tables: Floats) -> Floats:
        """Return the expected log probability (m,) that tables (m, parents.., child) give to a node's states."""
        if node in self.at and self.success == 1:
            return np.zeros(len(tables))
        if node in self.at:
            weight = self.joint((*parents, self.k + node, node))
            tables = np.stack([self.mixed(table) for table in tables])
        else:
            weight = self.joint((*parents, node))
        reached = weight > 0
        with np.errstate(divide="ignore"):
            return row_sums(weight[reached] * np.log(tables[:, reached]))
