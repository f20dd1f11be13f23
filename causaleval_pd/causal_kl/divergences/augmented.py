"""The augmented network: interventions as variables of their own, which makes a causal KL divergence a KL divergence.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_type
from ..laws.elimination import marginal
from ..laws.family_laws import FamilyLaws, laws_of
from ..networks.network import DiscreteNetwork
from ..networks.pairs import align

__all__ = ["augment", "conditional_kl"]

Floats = NDArray[np.float64]
Law = Literal["ckl1", "ckl2", "ckl3"]

#: state of an intervention variable that leaves its node alone
NONE = "none"
#: suffixes of a node's intervention, and of its value in the true joint law from which interventions copy
INTERVENTION, SOURCE = "'", "*"
#: the variable that chooses which node CKL3 leaves alone
FREE = "free node'"


def augment(network: DiscreteNetwork, law: Law = "ckl1", *, truth: DiscreteNetwork | None = None) -> DiscreteNetwork:
    """Add a variable for each node's intervention to a network.

    The variable of node X is called X' and has the states of X and "none". CKL1 draws each on its own: "none" half of
    the time, else a uniform state. CKL2 copies the states of one draw of the true joint law, whose variables are called
    X*, each with probability 1/2. CKL3 copies all but one, chosen uniformly by the variable "free node'".

    Parameters
    ----------
    network : DiscreteNetwork
        The network.
    law : {"ckl1", "ckl2", "ckl3"}
        Law of the interventions.
    truth : DiscreteNetwork, optional
        Network whose joint law CKL2 and CKL3 copy; default `network`.

    Returns
    -------
    DiscreteNetwork
        The augmented network. The KL divergence of a truth's and an estimate's (`truth=` the same) is their causal KL
        divergence by definition, that is, with `scaled=False`.

    Raises
    ------
    ValueError
        If a name or state is taken, the law unknown, or the networks do not align.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"M": []}, {"M": [.9, .1]}, {"M": ["T", "F"]})
    >>> augmented = ce.causal_kl.augment(network)
    >>> augmented.cpts["M"].tolist(), augmented.cpts["M'"].tolist()
    ([[1.0, 0.0], [0.0, 1.0], [0.1, 0.9]], [0.25, 0.25, 0.5])
    """
    if law not in ("ckl1", "ckl2", "ckl3"):
        raise ValueError(f"law must be 'ckl1', 'ckl2' or 'ckl3', found {law!r}")
    source = network if truth is None else truth
    align(source, network)
    parents: dict[str, list[str]] = {}
    cpts: dict[str, Any] = {}
    states: dict[str, list[str]] = {}
    for name in network.nodes:
        own = list(network.states[name])
        if NONE in own:
            raise ValueError(f"node {name!r} has a state called {NONE!r}, which is kept for interventions; rename it")
        parents[name], states[name] = [*network.parents[name], name + INTERVENTION], own
        cpts[name] = _steered(network.cpts[name])
        states[name + INTERVENTION] = [*own, NONE]
        parents[name + INTERVENTION] = []
        cpts[name + INTERVENTION] = np.array([0.5 / len(own)] * len(own) + [0.5])
        if law != "ckl1":
            starred = name + SOURCE
            parents[starred] = [p + SOURCE for p in source.parents[name]]
            cpts[starred], states[starred] = source.cpts[name], own
            parents[name + INTERVENTION] = [starred]
            cpts[name + INTERVENTION] = np.column_stack([np.eye(len(own)) / 2, np.full(len(own), 0.5)])
    if law == "ckl3":
        k = len(network.nodes)
        parents[FREE], cpts[FREE], states[FREE] = [], np.full(k, 1 / k), list(network.nodes)
        for at, name in enumerate(network.nodes):
            card = len(network.states[name])
            copied = np.repeat(np.column_stack([np.eye(card), np.zeros(card)])[:, None], k, axis=1)
            copied[:, at] = [0.0] * card + [1.0]
            parents[name + INTERVENTION], cpts[name + INTERVENTION] = [name + SOURCE, FREE], copied
    wanted = len(network.nodes) * (2 if law == "ckl1" else 3) + (law == "ckl3")
    if len(parents) != wanted:
        raise ValueError(f"node names that end in {INTERVENTION} or {SOURCE} are kept for interventions; rename them")
    return DiscreteNetwork(parents, cpts, states)


def _steered(table: Floats) -> Floats:
    """Add an axis for the intervention before the child's: a state sets the node, the last one, "none", does not."""
    card = table.shape[-1]
    sets = np.broadcast_to(np.eye(card), (*table.shape[:-1], card, card))
    return np.concatenate([sets, table[..., None, :]], axis=-2)


def conditional_kl(
    truth: Any,
    estimate: Any,
    evidence: Mapping[str, Any],
    *,
    law: Literal["kl", "ckl1", "ckl2", "ckl3"] = "kl",
    base: float = math.e,
) -> float:
    """Compute the divergence of the two joint laws given evidence.

    For a causal law it is that of the augmented networks, which has two terms: the expected divergence given
    interventions and evidence, and the divergence of the laws of interventions given evidence (without evidence these
    are the same, and the second term is 0). It is not scaled.

    Parameters
    ----------
    truth, estimate : DiscreteNetwork
        The networks, or cells as in `network_column`.
    evidence : mapping
        State by node; under a causal law also by intervention variable ("X'").
    law : {"kl", "ckl1", "ckl2", "ckl3"}
        Without interventions, or their law.
    base : float
        Base of the logarithm.

    Returns
    -------
    float
        The divergence: infinite where the estimate excludes what the truth permits, NaN where an undefined row of the
        estimate is reached or the estimate excludes the evidence.

    Raises
    ------
    ValueError
        If a node or state is unknown or the evidence has probability 0 in the truth.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> estimate = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> ce.causal_kl.conditional_kl(truth, estimate, {"B": "0"}, base=2)
    1.0
    """
    left, right = align(truth, estimate)
    if not isinstance(left, DiscreteNetwork) or not isinstance(right, DiscreteNetwork):
        raise TypeError("evidence needs discrete networks")
    if law != "kl":
        left, right = augment(left, law), augment(right, law, truth=left)
    true, estimated = laws_of(left), laws_of(right)
    seen = _evidence(left, evidence)
    probability = _evidence_probability(true, seen)
    if not probability > 0:
        raise ValueError(f"the evidence {dict(evidence)} has probability 0 in the truth")
    total = 0.0
    for sign, network in ((1, left), (-1, right)):
        for i, parents in enumerate(network.structure.parents):
            weight = _given(true, (*parents, i), seen) / probability
            reached = weight > 0
            with np.errstate(divide="ignore"):
                total += sign * float((weight[reached] * np.log(network.values_of(i)[reached])).sum())
    other = _evidence_probability(estimated, seen)
    value = total - math.log(probability) + math.log(other) if other > 0 else math.nan
    return 0.0 if abs(value) < 1e-12 else value / math.log(base)


def _evidence(network: DiscreteNetwork, evidence: Mapping[str, Any]) -> dict[int, int]:
    """Return evidence as positions of nodes and states."""
    check_type(evidence, Mapping, "a mapping of nodes to states", "evidence")
    seen = {}
    for name, state in evidence.items():
        if name not in network.states:
            raise ValueError(f"evidence names the unknown node {name!r}; the nodes are {list(network.nodes)[:20]}")
        if str(state) not in network.states[name]:
            raise ValueError(f"node {name!r} has no state {state!r}; its states are {list(network.states[name])}")
        seen[network.nodes.index(name)] = network.states[name].index(str(state))
    return seen


def _given(truth: FamilyLaws, keep: tuple[int, ...], seen: Mapping[int, int]) -> Floats:
    """Return the probability of each combination of states together with the evidence."""
    used = truth.ancestral([*keep, *seen])
    scopes = [truth.scopes[j] for j in used] + [(j,) for j in seen]
    tables = [truth.tables[j] for j in used] + [np.eye(truth.cards[j])[state] for j, state in seen.items()]
    return marginal(scopes, tables, truth.cards, keep)


def _evidence_probability(truth: FamilyLaws, seen: Mapping[int, int]) -> float:
    return float(_given(truth, (), seen))
