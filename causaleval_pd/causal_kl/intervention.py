"""The general causal KL divergence: the expected divergence under interventions whose law the user chooses.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..metric import metric
from .batch import row_sums
from .inference import Scope, WidthError, marginal
from .networks import DiscreteNetwork
from .weights import Truth, prepare

Floats = NDArray[np.float64]
Values = Literal["uniform", "observed", "independent"] | Mapping[str, Any] | NDArray[np.float64] | Sequence[Any]

#: sets that `all_sets` enumerates
_MAX_SETS = 2**12


@dataclass(frozen=True, eq=False)
class Intervention:
    """A set of nodes to intervene on, and the law of the states that they are set to.

    Attributes
    ----------
    nodes : tuple of str
        The nodes; empty: no intervention.
    values : {"uniform", "observed", "independent"}, mapping or array
        "uniform" states, each on its own; "observed": their true joint law; "independent": their true marginal laws,
        each on its own; a mapping gives each node its state; an array is a law over the states of the nodes (one axis a
        node in the order of `nodes`, states in the order of the network's).
    weight : float
        Probability of this intervention among those of a law.
    success : float
        Probability with which a node takes the state that it is set to; else it follows its parents (an imperfect
        intervention).

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.causal_kl.Intervention(("A",), {"A": "1"}, weight=0.5).weight
    0.5
    """

    nodes: tuple[str, ...]
    values: Any = "uniform"
    weight: float = 1.0
    success: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if len(set(self.nodes)) < len(self.nodes):
            raise ValueError(f"an intervention has a node twice: {list(self.nodes)}")
        if not 0 < self.success <= 1:
            raise ValueError(f"success must lie above 0 and at most 1, found {self.success!r}")
        if not 0 <= self.weight < math.inf:
            raise ValueError(f"weight must be a number from 0, found {self.weight!r}")


def single_interventions(network: DiscreteNetwork, values: Any = "uniform") -> tuple[Intervention, ...]:
    """Return interventions on one node at a time, all nodes equally likely.

    Parameters
    ----------
    network : DiscreteNetwork
        Whose nodes are meant.
    values : str
        Law of the states, as in `Intervention`.

    Returns
    -------
    tuple of Intervention
        One a node.

    Raises
    ------
    ValueError
        If the values are of no law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> [(x.nodes, x.weight) for x in ce.causal_kl.single_interventions(network)]
    [(('A',), 0.5), (('B',), 0.5)]
    """
    _check_values(values)
    return tuple(Intervention((name,), values, 1 / len(network.nodes)) for name in network.nodes)


def all_sets(
    network: DiscreteNetwork, values: Any = "uniform", *, probability: float = 0.5
) -> tuple[Intervention, ...]:
    """Return interventions on every set of nodes, each node being in it with a given probability.

    With probability 1/2 these are the laws of CKL1 (`values="uniform"`) and CKL2 ("observed"), which `ckl1` and `ckl2`
    know how to score without enumeration.

    Parameters
    ----------
    network : DiscreteNetwork
        Whose nodes are meant; at most twelve.
    values : str
        Law of the states, as in `Intervention`.
    probability : float
        Probability that a node is intervened on.

    Returns
    -------
    tuple of Intervention
        One a set.

    Raises
    ------
    ValueError
        If there are too many sets or the probability is none.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> len(ce.causal_kl.all_sets(network))
    4
    """
    _check_values(values)
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must lie between 0 and 1, found {probability!r}")
    k = len(network.nodes)
    if 2**k > _MAX_SETS:
        raise ValueError(f"{k} nodes have 2^{k} sets; at most {_MAX_SETS} are enumerated: use ckl1 or ckl2")
    sets = itertools.chain.from_iterable(itertools.combinations(network.nodes, r) for r in range(k + 1))
    return tuple(Intervention(s, values, probability ** len(s) * (1 - probability) ** (k - len(s))) for s in sets)


def all_but_one(network: DiscreteNetwork, values: Any = "observed") -> tuple[Intervention, ...]:
    """Return interventions on all nodes but one, all equally likely: with "observed" values the law of CKL3.

    Parameters
    ----------
    network : DiscreteNetwork
        Whose nodes are meant.
    values : str
        Law of the states, as in `Intervention`.

    Returns
    -------
    tuple of Intervention
        One a node.

    Raises
    ------
    ValueError
        If the values are of no law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> [x.nodes for x in ce.causal_kl.all_but_one(network)]
    [('B',), ('A',)]
    """
    _check_values(values)
    names = network.nodes
    return tuple(Intervention(tuple(x for x in names if x != name), values, 1 / len(names)) for name in names)


def contiguous_blocks(truth: DiscreteNetwork, order: Sequence[str] | None = None) -> tuple[Intervention, ...]:
    """Return interventions on runs of a causal order that leave the joint law of every free node's parents as it is.

    The parent-joint condition: with states of their true joint law, a set of nodes may be intervened on if each node
    that is not has parents whose joint law is the observational one. A block between its causes and its effects breaks
    it where a free node has parents both inside and outside that depend on each other.

    Parameters
    ----------
    truth : DiscreteNetwork
        The true network.
    order : sequence of str, optional
        A causal order of the nodes; default one with ties by name.

    Returns
    -------
    tuple of Intervention
        The blocks that satisfy the condition, equally likely; among them the one without nodes.

    Raises
    ------
    ValueError
        If `order` is no causal order of the nodes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> chain = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> [x.nodes for x in ce.causal_kl.contiguous_blocks(chain)]
    [(), ('A',), ('A', 'B'), ('B',)]
    """
    names = list(truth.nodes)
    listed = [names[i] for i in truth.layout.order] if order is None else list(order)
    if sorted(listed) != names or any(
        listed.index(p) > listed.index(name) for name in names for p in truth.parents[name]
    ):
        raise ValueError(f"order must list all nodes, parents before children, found {listed}")
    k = len(listed)
    runs = [(), *(tuple(listed[a:b]) for a in range(k) for b in range(a + 1, k + 1))]
    kept = [Intervention(run, "observed") for run in runs if satisfies_parent_joint(truth, run)]
    return tuple(Intervention(x.nodes, x.values, 1 / len(kept)) for x in kept)


def satisfies_parent_joint(truth: DiscreteNetwork, nodes: Iterable[str]) -> bool:
    """Tell whether interventions on these nodes leave the joint law of every other node's parents as it is.

    Parameters
    ----------
    truth : DiscreteNetwork
        The true network.
    nodes : iterable of str
        Nodes that are set to states of their true joint law.

    Returns
    -------
    bool
        True where the parent-joint condition holds to 1e-12.

    Raises
    ------
    ValueError
        If a node is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> copies = ce.DiscreteNetwork({"A": [], "B": ["A"], "C": ["A", "B"]}, {"A": [.5, .5],
    ...     "B": [[.9, .1], [.1, .9]], "C": [[[.9, .1], [.5, .5]], [[.5, .5], [.1, .9]]]})
    >>> [ce.causal_kl.satisfies_parent_joint(copies, s) for s in (["A"], ["B"], ["A", "B"])]
    [True, False, True]
    """
    known = prepare(truth)
    intervention = Intervention(tuple(nodes), "observed")
    intervened = _Intervened(known, intervention)
    return all(
        np.allclose(intervened.joint(parents), known.joint(parents), rtol=0, atol=1e-12)
        for i, parents in enumerate(truth.layout.parents)
        if i not in intervened.at
    )


def _check_values(values: Any) -> None:
    if not (isinstance(values, str) and values in ("uniform", "observed", "independent")):
        raise ValueError(f"values must be 'uniform', 'observed' or 'independent', found {values!r}")


class _Intervened:
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
            _check_values(values)
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
    null="additive",
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
    intervened = _Intervened(truth, intervention)
    total = np.zeros(len(tables[0]) if tables else 0)
    for i in range(truth.k):
        try:
            own = intervened.log_probability(i, truth.parents[i], truth.network.values_of(i)[None])
            total += own - intervened.log_probability(i, parents[i], tables[i])
        except WidthError as error:
            raise WidthError(f"node {truth.network.nodes[i]!r} needs {error}; use smaller interventions") from None
    return total
