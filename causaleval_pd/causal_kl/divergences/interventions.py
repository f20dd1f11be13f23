"""Interventions and laws of interventions: which nodes are set, to which states, how often.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...contract.checks import check_number, shown
from ..networks.network import DiscreteNetwork, check_discrete

__all__ = ["Intervention", "all_but_one", "all_sets", "single_interventions"]

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
        if isinstance(self.nodes, str) or not isinstance(self.nodes, Iterable):
            raise TypeError(f"nodes must be a tuple of names, found {shown(self.nodes)}")
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if len(set(self.nodes)) < len(self.nodes):
            raise ValueError(f"an intervention has a node twice: {list(self.nodes)}")
        check_number(self.success, "success", "(0, 1]")
        check_number(self.weight, "weight", "[0, inf)")


def single_interventions(network: DiscreteNetwork, values: Any = "uniform") -> tuple[Intervention, ...]:
    """Return interventions on one node at a time, all nodes equally likely.

    Parameters
    ----------
    network : DiscreteNetwork
        Network with the nodes.
    values : str
        Law of the states, as in `Intervention`.

    Returns
    -------
    tuple of Intervention
        One a node.

    Raises
    ------
    ValueError
        If `values` is not the name of a law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> [(x.nodes, x.weight) for x in ce.causal_kl.single_interventions(network)]
    [(('A',), 0.5), (('B',), 0.5)]
    """
    check_discrete(network)
    check_values(values)
    return tuple(Intervention((name,), values, 1 / len(network.nodes)) for name in network.nodes)


def all_sets(
    network: DiscreteNetwork, values: Any = "uniform", *, probability: float = 0.5
) -> tuple[Intervention, ...]:
    """Return interventions on every set of nodes, each node being in it with a given probability.

    With probability 1/2 these are the laws of CKL1 (`values="uniform"`) and CKL2 ("observed"), which `ckl1` and `ckl2`
    score without enumeration.

    Parameters
    ----------
    network : DiscreteNetwork
        Network with the nodes; at most twelve.
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
        If there are too many sets, or `probability` is not between 0 and 1.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> len(ce.causal_kl.all_sets(network))
    4
    """
    check_discrete(network)
    check_values(values)
    check_number(probability, "probability", "[0, 1]")
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
        Network with the nodes.
    values : str
        Law of the states, as in `Intervention`.

    Returns
    -------
    tuple of Intervention
        One a node.

    Raises
    ------
    ValueError
        If `values` is not the name of a law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> network = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> [x.nodes for x in ce.causal_kl.all_but_one(network)]
    [('B',), ('A',)]
    """
    check_discrete(network)
    check_values(values)
    names = network.nodes
    return tuple(Intervention(tuple(x for x in names if x != name), values, 1 / len(names)) for name in names)


def check_values(values: Any) -> None:
    """Refuse an unknown law of states."""
    if not (isinstance(values, str) and values in ("uniform", "observed", "independent")):
        raise ValueError(f"values must be 'uniform', 'observed' or 'independent', found {values!r}")
