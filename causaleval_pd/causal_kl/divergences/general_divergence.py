"""The general causal KL divergence: the expected divergence under interventions whose law the user chooses.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import metric
from ..networks.inference import Scope, WidthError, marginal
from ..networks.network import DiscreteNetwork
from ..networks.pairs import row_sums
from ..networks.weights import Truth, prepare
from .divergence import check_base
from .intervention import Intervention, check_values, single_interventions

Floats = NDArray[np.float64]


class Intervened:
    """The true network under one intervention; variable k + i is the state to which node i is set."""

    def __init__(self, truth: Truth, intervention: Intervention) -> None:
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


@metric(
    field="network",
    kinds=("discrete",),
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    closed_form="additive",
    long_name="causal KL, chosen interventions",
    costly=True,
    reference="10.48550/arXiv.2111.06029",
)
def ckl(
    pairs: Any,
    *,
    interventions: Sequence[Intervention] | Literal["single"] = "single",
    base: float = math.e,
) -> Floats:
    """Mean KL divergence over interventions whose law the user chooses.

    CKL = sum_A w(A) sum_a v_A(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a))), with the same w and v for both.

    Parameters
    ----------
    pairs : pairs of field 'network', or a cell
        Aligned pairs; or the true network, followed by the estimated one.
    interventions : sequence of Intervention, or "single"
        The law: weights that sum to 1, over sets of nodes and their states. "single": one node at a time, uniform
        states. `tweak("ckl", interventions=..., name=...)` names a column.
    base : float
        Base of the logarithm; default e (nats), 2 for bits.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> law = [ce.causal_kl.Intervention(("A",), {"A": "0"})]
    >>> round(ce.ckl(truth, turned, interventions=law), 4), round(ce.ckl(truth, turned), 4)
    (0.3681, 0.4394)
    """
    check_base(base)
    values = np.empty(pairs.n)
    for group in pairs.groups():
        if not isinstance(group.truth, DiscreteNetwork):
            raise TypeError(f"expected a discrete network, found {group.truth!r}")
        law = single_interventions(group.truth) if isinstance(interventions, str) else tuple(interventions)
        if isinstance(interventions, str) and interventions != "single":
            raise ValueError(f"interventions must be 'single' or a sequence of Intervention, found {interventions!r}")
        if not law or abs(sum(x.weight for x in law) - 1) > 1e-8:
            raise ValueError(f"the weights of the interventions must sum to 1, found {sum(x.weight for x in law):.6g}")
        values[group.rows] = sum(
            x.weight * _divergence(prepare(group.truth), x, group.layout.parents, _tables(group)) for x in law
        )
    values = np.where(np.abs(values) < 1e-12, 0.0, values)
    return np.asarray(values / math.log(base))


def _tables(group: Any) -> list[Floats]:
    layout, stack = group.layout, group.parameters
    return [stack[:, part].reshape(-1, *shape) for part, shape in zip(layout.slices, layout.shapes, strict=True)]


def _divergence(truth: Truth, intervention: Intervention, parents: Sequence[Scope], tables: Sequence[Floats]) -> Floats:
    """Return the divergence (m,) under one intervention."""
    intervened = Intervened(truth, intervention)
    total = np.zeros(len(tables[0]) if tables else 0)
    for i in range(truth.k):
        try:
            own = intervened.log_probability(i, truth.parents[i], truth.network.values_of(i)[None])
            total += own - intervened.log_probability(i, parents[i], tables[i])
        except WidthError as error:
            raise WidthError(f"node {truth.network.nodes[i]!r} needs {error}; use smaller interventions") from None
    return total
