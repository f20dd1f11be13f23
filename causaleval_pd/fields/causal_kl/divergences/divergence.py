"""Divergence of an estimated network from the true one: observational (KL) and under interventions (causal KL).

KL is published for linear-Gaussian networks too; their CKL1 to CKL3 are an extension of ours.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ....contract.checks import check_choice
from ....contract.metric import METRICS, metric
from ....contract.options import with_options
from ....contract.pairs import PairError
from ..classes import ClassPairs
from ..laws.family_laws import LAWS, FamilyLaws, laws_of, scale
from ..laws.gaussian_moments import moments_of
from ..networks.network import DiscreteNetwork, GaussianNetwork
from ..networks.pairs import Group, NetworkPairs, row_sums
from ..networks.structure import Structure
from .family_terms import Over, class_divergence, discrete_sums, gaussian_terms

__all__ = ["ckl", "ckl1", "ckl2", "ckl3", "kl", "undefined_mass", "wed_3", "zero_mass"]

Floats = NDArray[np.float64]

KINDS = ("discrete", "gaussian")
#: of estimates that are classes of DAGs, fitted to data
CLASS_KINDS = ("discrete class", "gaussian class")
#: values nearer to 0 are the rounding of equal networks
_ROUNDING = 1e-12


def weights(truth: FamilyLaws, law: str, structure: Structure) -> Floats:
    """Return the weights of all entries of the estimate's tables, one table after the other."""
    return np.concatenate(
        [truth.family_law(law, i, parents).reshape(-1) for i, parents in enumerate(structure.parents)] or [np.empty(0)]
    )


def _discrete(group: Group, law: str) -> Floats:
    """Compute the scaled divergence, in nats, of discrete estimates with the same parent sets."""
    truth = laws_of(discrete_truth(group))
    weight = weights(truth, law, group.structure)
    own = truth.own_log_probability(law)
    values = own - discrete_sums(weight, group.parameters)
    # the rounding of a difference of sums is relative to them
    return np.where(np.abs(values) < _ROUNDING / 10 * abs(own), 0.0, values)


def _gaussian(network: GaussianNetwork, structure: Structure, parameters: Floats, law: str) -> Floats:
    """Compute the scaled divergence, in nats, of linear-Gaussian estimates with the same parent sets."""
    truth = moments_of(network)
    total = np.zeros(len(parameters))
    for i, (parents, part) in enumerate(zip(structure.parents, structure.slices, strict=True)):
        total += gaussian_terms(truth, law, i, parents, parameters[:, part])
    return total


def discrete_truth(group: Group) -> DiscreteNetwork:
    """Return the true network of a group; refuse one that is not discrete."""
    if not isinstance(group.truth, DiscreteNetwork):
        raise TypeError(f"expected a discrete network, found {group.truth!r}")
    return group.truth


def check_base(base: Any) -> None:
    """Refuse an invalid base of a logarithm."""
    if isinstance(base, bool) or not (isinstance(base, (int, float)) and 0 < base < math.inf and base != 1):
        raise ValueError(f"base must be a positive number other than 1, found {base!r}")


def divergence(
    pairs: NetworkPairs,
    law: str,
    scaled: bool,
    base: float,
    seed: int = 0,
    over: Over = "mean",
) -> Floats:
    """Compute a divergence of every pair, with the options of the metrics; see `ckl1`."""
    check_base(base)
    check_choice(over, get_args(Over), "over")
    if isinstance(pairs, ClassPairs):
        values = class_divergence(pairs, law, over, seed)
    else:
        values = _network_divergence(pairs, law)
    if not scaled and pairs.n:
        values /= scale(law, len(pairs.structure.nodes))
    values = np.where(np.abs(values) < _ROUNDING, 0.0, values)
    return values / math.log(base) if base != math.e else values


def _network_divergence(pairs: NetworkPairs, law: str) -> Floats:
    values = np.empty(pairs.n)
    for group in pairs.groups():
        if isinstance(group.truth, GaussianNetwork):
            values[group.rows] = _gaussian(group.truth, group.structure, group.parameters, law)
        else:
            try:
                values[group.rows] = _discrete(group, law)
            except ValueError as error:
                raise PairError(group.rows, str(error)) from None
    return values


#: what the divergences declare alike, and entries of their docstrings
DIVERGENCE: dict[str, Any] = {
    "field": "network",
    "kinds": KINDS,
    "direction": "minimize",
    "range": (0, math.inf),
    "optimum": 0,
    "closed_form": "additive",
    "costly": True,
    "reference": "10.48550/arXiv.2111.06029",
}
OPTIONS = {
    "scaled": """scaled : bool
    Multiply by 2, as the published tables do: 1 / P(a node is not intervened on). False: the definition.""",
    "base": """base : float
    Base of the logarithm; default e (nats), 2 for bits.""",
    "seed": """seed : int
    Seed of the members that are drawn from a class of many.""",
    "over": """over : {"mean", "best", "worst"}
    Where the estimate is a CPDAG or PDAG whose members are fitted to data (`context=`): the mean over the members, all
    equally likely, or the best or worst of them. Undirected components with at most 1000 ways to direct them are
    listed, so that the value is exact; of larger ones 1000 ways are drawn.""",
}
#: what the divergences that apply to classes too declare alike
OF_CLASSES = {**DIVERGENCE, "kinds": (*KINDS, *CLASS_KINDS)}


@metric(**{**OF_CLASSES, "reference": "10.1214/aoms/1177729694"}, long_name="KL divergence")
@with_options(OPTIONS)
def kl(pairs: Any, *, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Kullback-Leibler divergence of the estimated from the true joint law, `KL(truth || estimate)`.

    It ignores interventions: equivalent networks fitted to the same law have the same divergence. It is infinite where
    the estimate excludes what the truth permits, and NaN where an undefined row of the estimate is reached.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[1, 0], [0, 1]]})
    >>> estimate = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [.5, .5], "B": [.5, .5]})
    >>> ce.kl(truth, estimate, base=2)
    1.0
    """
    return divergence(pairs, "kl", True, base, seed, over)


@metric(**OF_CLASSES, long_name="causal KL, uniform interventions")
@with_options(OPTIONS)
def ckl1(
    pairs: Any,
    *,
    scaled: bool = True,
    base: float = math.e,
    seed: int = 0,
    over: Over = "mean",
) -> Floats:
    """Mean KL divergence over interventions: every set of nodes is equally likely, set to uniformly random states.

    `CKL1 = sum_A 2^-k sum_a prod_i 1/|X_i| KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    For linear-Gaussian networks, on which no value is uniform, nodes are set to independent draws of their true
    marginal laws, an extension of ours.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> round(ce.kl(truth, turned), 4), round(ce.ckl1(truth, turned), 4)
    (0.0, 0.4394)
    """
    return divergence(pairs, "ckl1", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="causal KL, values as observed")
@with_options(OPTIONS)
def ckl2(
    pairs: Any,
    *,
    scaled: bool = True,
    base: float = math.e,
    seed: int = 0,
    over: Over = "mean",
) -> Floats:
    """Mean KL divergence over interventions: every set of nodes is equally likely, its states drawn as observed.

    `CKL2 = sum_A 2^-k sum_a truth(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    For linear-Gaussian networks the same formula, an extension of ours.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> round(ce.ckl2(truth, turned), 4), round(ce.ckl2(truth, turned, scaled=False), 4)
    (0.4394, 0.2197)
    """
    return divergence(pairs, "ckl2", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="causal KL, all but one")
@with_options(OPTIONS)
def ckl3(
    pairs: Any,
    *,
    scaled: bool = True,
    base: float = math.e,
    seed: int = 0,
    over: Over = "mean",
) -> Floats:
    """Mean KL divergence over interventions on all nodes but one, set to states drawn from their true law.

    `CKL3 = sum_{|A| = k - 1} 1/k sum_a truth(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    It can be 0 for a wrong structure where the true law is deterministic, and infinite for an equivalent one. For
    linear-Gaussian networks the same formula, an extension of ours.

    Parameters
    ----------
    scaled : bool
        Multiply by the number of nodes, as the published tables do. False: the definition.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> round(ce.ckl3(truth, turned), 4)
    0.8789
    """
    return divergence(pairs, "ckl3", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="weighted edit distance, CKL3")
@with_options(OPTIONS)
def wed_3(pairs: Any, *, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Weighted edit distance WED_3: the cost of each node's wrong parents, weighted by the true law of all parents.

    `WED_3 = sum_i sum_{true and estimated parents} truth(parents) KL(truth(x_i|true) || estimate(x_i|estimated))`,
    which is the number of nodes times CKL3.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> round(ce.wed_3(truth, turned), 4)
    0.8789
    """
    return divergence(pairs, "ckl3", True, base, seed, over)


@metric(
    **{**DIVERGENCE, "kinds": ("discrete",), "instead": ("ckl1", "ckl2", "ckl3")},
    long_name="causal KL, single interventions",
)
@with_options(OPTIONS)
def ckl(pairs: Any, *, base: float = math.e) -> Floats:
    """Mean KL divergence over interventions on one node at a time, each node and each of its states equally likely.

    `CKL = sum_i 1/k sum_a 1/|X_i| KL(truth(.|do(X_i = a)) || estimate(.|do(X_i = a)))`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [.5, .5], "B": [[.9, .1], [.1, .9]]})
    >>> turned = ce.DiscreteNetwork({"A": ["B"], "B": []}, {"A": [[.9, .1], [.1, .9]], "B": [.5, .5]})
    >>> round(ce.ckl(truth, turned), 4)
    0.4394
    """
    check_base(base)
    values = np.empty(pairs.n)
    for group in pairs.groups():
        try:
            values[group.rows] = _single_interventions(group)
        except ValueError as error:
            raise PairError(group.rows, str(error)) from None
    values = np.where(np.abs(values) < _ROUNDING, 0.0, values)
    return values / math.log(base)


def _single_interventions(group: Group) -> Floats:
    """Compute the mean divergence, in nats, over truths in which one node is cut off from its parents and uniform."""
    network = discrete_truth(group)
    total = np.zeros(len(group.parameters))
    for i, name in enumerate(network.nodes):
        n_states = len(network.states[name])
        cut = DiscreteNetwork(
            {**network.parents, name: []}, {**network.cpts, name: np.full(n_states, 1 / n_states)}, network.states
        )
        laws = FamilyLaws(cut)
        weight = weights(laws, "kl", group.structure)
        weight[group.structure.slices[i]] = 0.0
        # the node itself adds nothing, as both networks set it
        own = laws.own_log_probability("kl") + math.log(n_states)
        total += own - discrete_sums(weight, group.parameters)
    return total / max(1, len(network.nodes))


METRICS.other_names(
    {
        "kld": ["kl"],
        "kl_divergence": ["kl"],
        "kullback_leibler": ["kl"],
        "causal_kl": ["ckl3", "ckl1", "ckl2"],
    }
)


_MASS: dict[str, Any] = {
    "field": "network",
    "kinds": ("discrete",),
    "direction": None,
    "range": (0, 1),
    "costly": True,
    "reference": "10.48550/arXiv.2111.06029",
}
_OPTIONS = {
    "of": """of : {"kl", "ckl1", "ckl2", "ckl3"}
    Law of interventions; `tweak("zero_mass", of="kl", name="kl_zero_mass")` names a column.""",
}


def _masses(pairs: NetworkPairs, of: str, hit: Any) -> Floats:
    """Return the mean over nodes of the weight on entries of the estimate's tables that are `hit`."""
    if of not in LAWS:
        raise ValueError(f"of must be one of {', '.join(LAWS)}, found {of!r}")
    values = np.empty(pairs.n)
    for group in pairs.groups():
        weight = weights(laws_of(discrete_truth(group)), of, group.structure)
        values[group.rows] = row_sums(hit(group.parameters) * weight) / max(1, len(group.structure.nodes))
    return values


@metric(**_MASS, long_name="mass on zeros of the estimate")
@with_options(_OPTIONS)
def zero_mass(pairs: Any, *, of: str = "ckl3") -> Floats:
    """Share of the true (intervened) law that falls on a zero of the estimate's tables: the cause of an infinite value.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": []}, {"A": [.3, .7]})
    >>> estimate = ce.DiscreteNetwork({"A": []}, {"A": [0, 1]})
    >>> ce.kl(truth, estimate), ce.zero_mass(truth, estimate, of="kl")
    (inf, 0.3)
    """
    return _masses(pairs, of, lambda parameters: parameters == 0)


@metric(**_MASS, long_name="mass on undefined rows of the estimate")
@with_options(_OPTIONS)
def undefined_mass(pairs: Any, *, of: str = "ckl3") -> Floats:
    """Share of the true (intervened) law that falls on undefined rows of the estimate's tables: the cause of a NaN.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [1, 0], "B": [[.9, .1], [.1, .9]]})
    >>> estimate = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [1, 0], "B": [[.9, .1], [float("nan")] * 2]})
    >>> [ce.undefined_mass(truth, estimate, of=law) for law in ("kl", "ckl1")]
    [0.0, 0.125]
    """
    return _masses(pairs, of, np.isnan)
