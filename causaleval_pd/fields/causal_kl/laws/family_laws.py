"""Laws of families in the intervened truth: of a node and other nodes, given that the node is not intervened on.

In a scaled causal KL divergence an intervened node contributes log 1 = 0, so that only such family laws are needed, and
they depend on the truth and on the estimate's parent sets alone: all re-parameterisations of an estimate share them.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ..networks.network import DiscreteNetwork
from .elimination import Scope, WidthError, marginal

Floats = NDArray[np.float64]
LAWS = ("kl", "ckl1", "ckl2", "ckl3")
#: bytes of laws that are kept of each truth
_CACHE_BYTES = 16 * 2**20


class FamilyLaws:
    """Laws of families in one true network, kept once computed."""

    def __init__(self, network: DiscreteNetwork) -> None:
        structure = network.structure
        self.network = network
        self.k = len(structure.nodes)
        self.cards = structure.cards
        self.parents = structure.parents
        # an undefined row is filled, so that laws exist; that it is undefined shows where its logarithm is weighted
        self.tables = [
            np.where(np.isnan(cpt), 1.0 / cpt.shape[-1], cpt) for cpt in map(network.values_of, range(self.k))
        ]
        self.scopes: list[Scope] = [(*parents, i) for i, parents in enumerate(self.parents)]
        self._own: dict[str, float] = {}
        self._found: OrderedDict[tuple[str, int, Scope], Floats] = OrderedDict()
        self._bytes = 0

    @cached_property
    def ancestors(self) -> list[int]:
        """Each node's ancestors and the node itself, as bits."""
        masks = [0] * self.k
        for i in self.network.structure.order:
            masks[i] = 1 << i
            for p in self.parents[i]:
                masks[i] |= masks[p]
        return masks

    def ancestral(self, nodes: Iterable[int]) -> list[int]:
        """Return the nodes and all their ancestors, ascending."""
        mask = 0
        for i in nodes:
            mask |= self.ancestors[i]
        return [i for i in range(self.k) if mask >> i & 1]

    def family_law(self, law: str, node: int, others: Scope) -> Floats:
        """Return the law of (others.., node), in ascending order, given that the node is not intervened on.

        A `WidthError` names the node for which the true network is too densely connected for an exact answer.
        """
        if law == "ckl3" and (others == self.parents[node] or not any(self.ancestors[j] >> node & 1 for j in others)):
            law = "kl"
        key = (law, node, others)
        if key in self._found:
            self._found.move_to_end(key)
            return self._found[key]
        own = self.parents[node]
        if set(others) < set(own):
            drop = tuple(axis for axis, p in enumerate(own) if p not in others)
            found = np.asarray(self.family_law(law, node, own).sum(axis=drop))
        else:
            try:
                found = _QUERIES[law](self, node, others)
            except WidthError as error:
                raise WidthError(
                    f"node {self.network.nodes[node]!r} with {[self.network.nodes[j] for j in others]} needs {error}; "
                    "exact answers stop there"
                ) from None
        found.flags.writeable = False
        self._remember(key, found)
        return found

    def _remember(self, key: tuple[str, int, Scope], found: Floats) -> None:
        self._found[key] = found
        self._bytes += found.nbytes
        while self._bytes > _CACHE_BYTES and len(self._found) > 1:
            self._bytes -= self._found.popitem(last=False)[1].nbytes

    def joint(self, nodes: Scope) -> Floats:
        """Return the observational joint law of some nodes."""
        used = self.ancestral(nodes)
        return marginal([self.scopes[j] for j in used], [self.tables[j] for j in used], self.cards, nodes)

    @cached_property
    def uniform_mixed(self) -> list[Floats]:
        """Each node's table when it is set to a uniformly random state half of the time."""
        return [table / 2 + 0.5 / table.shape[-1] for table in self.tables]

    @cached_property
    def twin_mixed(self) -> list[Floats]:
        """Each node's table, with a last axis for the state to which it is set half of the time."""
        return [table[..., None] / 2 + np.eye(table.shape[-1]) / 2 for table in self.tables]

    def own_log_probability(self, law: str) -> float:
        """Return the expected log probability that the truth gives to its own states, summed over nodes."""
        law = "kl" if law == "ckl3" else law
        if law not in self._own:
            total = 0.0
            for i, parents in enumerate(self.parents):
                weight = self.family_law(law, i, parents)
                reached = weight > 0
                total += float((weight[reached] * np.log(self.network.values_of(i)[reached])).sum())
                if np.isnan(total):
                    raise ValueError(
                        f"node {self.network.nodes[i]!r} of the truth has an undefined row that is reached with "
                        "positive probability; interventions visit rows that are never observed, so give its full table"
                    )
            self._own[law] = total
        return self._own[law]


@lru_cache(maxsize=32)
def laws_of(network: DiscreteNetwork) -> FamilyLaws:
    """Return the laws of a true network; recent networks are kept."""
    return FamilyLaws(network)


def _observed(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """KL: no intervention."""
    return truth.joint((*others, node))


def _uniform(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL1: every other node is set, independently, to a uniform state with probability 1/2."""
    used = truth.ancestral((*others, node))
    tables = [truth.tables[j] if j == node else truth.uniform_mixed[j] for j in used]
    return marginal([truth.scopes[j] for j in used], tables, truth.cards, (*others, node))


def _twin(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL2: every other node is set with probability 1/2, all of them to one draw of the true joint, the twin."""
    k = truth.k
    used = truth.ancestral((*others, node))
    scopes, tables = [], []
    for j in used:
        scopes.append(truth.scopes[j] if j == node else (*truth.scopes[j], j + k))
        tables.append(truth.tables[j] if j == node else truth.twin_mixed[j])
    for j in truth.ancestral(j for j in used if j != node):
        scopes.append(tuple(v + k for v in truth.scopes[j]))
        tables.append(truth.tables[j])
    return marginal(scopes, tables, truth.cards * 2, (*others, node))


def _fresh_leaf(truth: FamilyLaws, node: int, others: Scope) -> Floats:
    """CKL3: the others are set to a draw of the true joint, and the node follows from its true parents alone."""
    used = truth.ancestral((*others, *truth.parents[node]))
    leaf = truth.k
    scopes = [*(truth.scopes[j] for j in used), (*truth.parents[node], leaf)]
    tables = [*(truth.tables[j] for j in used), truth.tables[node]]
    return marginal(scopes, tables, (*truth.cards, truth.cards[node]), (*others, leaf))


_QUERIES = {"kl": _observed, "ckl1": _uniform, "ckl2": _twin, "ckl3": _fresh_leaf}


def scale(law: str, k: int) -> float:
    """Return 1 / P(a node is not intervened on), which scales the published tables."""
    return {"kl": 1.0, "ckl1": 2.0, "ckl2": 2.0, "ckl3": float(k)}[law]
