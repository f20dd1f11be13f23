"""Example networks: metastatic cancer and its mutations, on which the divergences were introduced, and two more.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from types import MappingProxyType

from ...contract.checks import check_number
from .fitting import from_joint
from .networks.network import DiscreteNetwork, Network

__all__ = ["metastatic", "metastatic_mutations"]

#: arcs of the mutated structures, by the names of the published tables
MUTATED_ARCS = MappingProxyType(
    {
        "true": "M -> S; M -> B; S -> C; B -> C",
        "add.weak": "M -> S; M -> B; S -> C; B -> C; S -> B",
        "add.strong": "M -> S; M -> B; S -> C; B -> C; S -> B; M -> C",
        "del.weak": "M -> B; S -> C; B -> C",
        "del.strong": "M -> S; S -> C; B -> C",
        "rev.in.weak": "S -> M; M -> B; S -> C; B -> C",
        "rev.in.strong": "M -> S; B -> M; S -> C; B -> C",
        "rev.out.weak": "M -> S; M -> B; C -> S; B -> C",
        "rev.out.strong": "M -> S; M -> B; S -> C; C -> B",
    }
)


def metastatic(*, coma_given_serum: float = 0.8, coma_given_tumour: float = 0.8) -> DiscreteNetwork:
    """Return the network of metastatic cancer M, raised serum calcium S, brain tumour B and coma C.

    Parameters
    ----------
    coma_given_serum, coma_given_tumour : float
        P(C | S, not B) and P(C | B, not S). The published "weak" and "strong" tweaks set one of them to 0.75.

    Returns
    -------
    DiscreteNetwork
        The network, with states T and F.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.causal_kl.metastatic()
    DiscreteNetwork(4 nodes, 4 arcs: B -> C; M -> B; M -> S; S -> C)
    """
    by_s = check_number(coma_given_serum, "coma_given_serum", "[0, 1]")
    by_b = check_number(coma_given_tumour, "coma_given_tumour", "[0, 1]")
    return DiscreteNetwork(
        {"M": [], "S": ["M"], "B": ["M"], "C": ["S", "B"]},
        {
            "M": [0.9, 0.1],
            "S": [[0.2, 0.8], [0.05, 0.95]],
            "B": [[0.8, 0.2], [0.2, 0.8]],
            "C": [[[0.8, 0.2], [by_s, 1 - by_s]], [[by_b, 1 - by_b], [0.05, 0.95]]],
        },
        {node: ["T", "F"] for node in "MSBC"},
    )


def metastatic_mutations() -> dict[str, Network]:
    """Return the mutations of the published tables with infinite data.

    Returns
    -------
    dict
        Network by name: two tweaked ones, then structures with the conditional laws of the true joint law.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> mutations = ce.causal_kl.metastatic_mutations()
    >>> round(ce.ckl3(ce.causal_kl.metastatic(), mutations["rev.out.strong"]), 4)
    0.356
    """
    truth = metastatic()
    tweaked: dict[str, Network] = {
        "tweak.weak": metastatic(coma_given_serum=0.75),
        "tweak.strong": metastatic(coma_given_tumour=0.75),
    }
    return tweaked | {name: from_joint(arcs, truth) for name, arcs in MUTATED_ARCS.items()}
