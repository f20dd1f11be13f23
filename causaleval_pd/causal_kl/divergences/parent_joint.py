"""The parent-joint condition: interventions that keep the joint law of every free node's parents.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..laws.family_laws import laws_of
from ..networks.network import DiscreteNetwork, check_discrete
from .intervened import IntervenedLaw
from .interventions import Intervention

__all__ = ["contiguous_blocks", "satisfies_parent_joint"]


def contiguous_blocks(truth: DiscreteNetwork, order: Sequence[str] | None = None) -> tuple[Intervention, ...]:
    """Return interventions on runs of a causal order that keep the joint law of every free node's parents.

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
        If `order` is not a causal order of the nodes.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> chain = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> [x.nodes for x in ce.causal_kl.contiguous_blocks(chain)]
    [(), ('A',), ('A', 'B'), ('B',)]
    """
    check_discrete(truth, "truth")
    names = list(truth.nodes)
    listed = [names[i] for i in truth.structure.order] if order is None else list(order)
    if sorted(listed) != names or any(
        listed.index(p) > listed.index(name) for name in names for p in truth.parents[name]
    ):
        raise ValueError(f"order must list all nodes, parents before children, found {listed}")
    k = len(listed)
    runs = [(), *(tuple(listed[a:b]) for a in range(k) for b in range(a + 1, k + 1))]
    kept = [Intervention(run, "observed") for run in runs if satisfies_parent_joint(truth, run)]
    return tuple(Intervention(x.nodes, x.values, 1 / len(kept)) for x in kept)


def satisfies_parent_joint(truth: DiscreteNetwork, nodes: Iterable[str]) -> bool:
    """Check whether interventions on these nodes keep the joint law of every other node's parents.

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
    check_discrete(truth, "truth")
    known = laws_of(truth)
    intervention = Intervention(tuple(nodes), "observed")
    intervened = IntervenedLaw(known, intervention)
    return all(
        np.allclose(intervened.joint(parents), known.joint(parents), rtol=0, atol=1e-12)
        for i, parents in enumerate(truth.structure.parents)
        if i not in intervened.at
    )
