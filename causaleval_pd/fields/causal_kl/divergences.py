"""Metrics of two networks: divergences, observational (KL) and under interventions (causal KL), and edit distances.

KL is published for linear-Gaussian networks too; their CKL1 to CKL3 are an extension of ours. A divergence is a sum of
terms: the term of a family depends on the truth, the node, its parents in the estimate and its parameters there. The
undirected components of a class of DAGs are directed independently, so that mean, minimum and maximum over its members
are sums over components.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...contract.checks import check_choice, check_number
from ...contract.metric import METRICS, metric
from ...contract.options import with_example, with_options
from ...contract.pairs import PairError
from ...graphs.kernels.planes import DAG
from ...graphs.pairs import GraphBatch, GraphPairs
from ..structure.distances import shd
from .cells import DiscreteNetwork, GaussianNetwork, Structure, check_table, dag_planes, network_of
from .field import ClassPairs, parts_of
from .fitting import FamilyFits
from .laws import LAWS, FamilyLaws, GaussianMoments, Scope, laws_of, moments_of, squared_paths
from .pairs import Group, NetworkPairs, Networks, row_sums

__all__ = [
    "ckl",
    "ckl1",
    "ckl2",
    "ckl3",
    "edit_distance",
    "kl",
    "pattern_edit_distance",
    "undefined_mass",
    "wed_3",
    "wed_d",
    "wed_p",
    "zero_mass",
]

Floats = NDArray[np.float64]


def _discrete_sums(weight: Floats, parameters: Floats) -> Floats:
    """Return the expected log probability of each row of parameters (m, n), by the weights (n,) of their entries."""
    reached = weight > 0
    with np.errstate(divide="ignore"):
        return row_sums(np.log(parameters[:, reached]) * weight[reached])


def _gaussian_terms(truth: GaussianMoments, law: str, i: int, parents: Scope, values: Floats) -> Floats:
    """Return the terms of a node for rows of (intercept, coefficients.., variance)."""
    at, weights, variance = list(parents), values[:, 1:-1], values[:, -1]
    shift = truth.means[i] - values[:, 0] - row_sums(weights * truth.means[at])
    if law == "ckl3":
        # the node follows from its true parents; all others have their joint law
        difference, moments = np.tile(truth.weights[i], (len(values), 1)), truth.covariance
        difference[:, at] -= weights
    else:
        moments = (truth.covariance if law == "kl" else truth.moments(law, i))[np.ix_([i, *at], [i, *at])]
        difference = np.concatenate([np.ones((len(values), 1)), -weights], axis=1)
    # r' M r for each row r, each summed on its own
    spread = row_sums(row_sums(difference[:, None, :] * moments) * difference)
    if law == "ckl3":
        spread = truth.variances[i] + spread
    return np.asarray((np.log(variance / truth.variances[i]) - 1 + (spread + shift**2) / variance) / 2)


#: which number of the members' values is the class's
Over = Literal["mean", "best", "worst"]
_SUMMARIES: dict[Over, Callable[[list[float]], float]] = {"mean": np.mean, "best": np.min, "worst": np.max}


def _class_divergence(pairs: ClassPairs, law: str, over: Over, seed: int) -> Floats:
    """Return the scaled divergence, in nats, of each truth and class: NaN if a member's is, a mean infinite too."""
    values = np.empty(pairs.n)
    terms: dict[tuple[int, FamilyFits], Callable[[int, Scope], float]] = {}
    for position, index in enumerate(pairs.truth_index.tolist()):
        truth, (members, fits) = pairs.true_network(index), pairs.class_of(position)
        term = terms.setdefault((index, fits), cache(partial(_fitted_term, truth, law, fits)))
        try:
            # what is added to the terms of all families
            own = laws_of(truth).own_log_probability(law) if isinstance(truth, DiscreteNetwork) else 0.0
            total = own + sum(term(i, members.example[i]) for i in members.fixed)
            for nodes, ways in parts_of(members, seed):
                sums = [sum(term(i, parents) for i, parents in zip(nodes, way, strict=True)) for way in ways]
                total += float(_SUMMARIES[over](sums))
        except ValueError as error:
            raise PairError([position], str(error)) from None
        # the rounding of a difference of sums is relative to them
        values[position] = 0.0 if abs(total) < 1e-13 * abs(own) else total
    return values


def _fitted_term(truth: Any, law: str, fits: FamilyFits, node: int, parents: Scope) -> float:
    """Return the term of a node whose parameters given these parents are fitted."""
    if isinstance(truth, GaussianNetwork):
        return float(_gaussian_terms(moments_of(truth), law, node, parents, fits.fit(node, parents)[None])[0])
    check_table(truth.nodes[node], [truth.structure.cards[v] for v in (*parents, node)])
    weight = laws_of(truth).family_law(law, node, parents).reshape(-1)
    return -float(_discrete_sums(weight, fits.fit(node, parents).reshape(1, -1))[0])


#: values nearer to 0 are the rounding of equal networks
_ROUNDING = 1e-12


def weights(truth: FamilyLaws, law: str, structure: Structure) -> Floats:
    """Return the weights of all entries of the estimate's tables, one table after the other."""
    return np.concatenate(
        [truth.family_law(law, i, parents).reshape(-1) for i, parents in enumerate(structure.parents)] or [np.empty(0)]
    )


def by_group(pairs: NetworkPairs, value: Callable[[Group], Any]) -> Floats:
    """Compute one number per pair, or one for all pairs of a group; errors name the pairs."""
    values = np.empty(pairs.n)
    for group in pairs.groups():
        try:
            values[group.rows] = value(group)
        except ValueError as error:
            raise PairError(group.rows, str(error)) from None
    return values


def _divergence(group: Group, law: str) -> Floats:
    """Compute the scaled divergence, in nats, of estimates with the same parent sets."""
    if isinstance(group.truth, GaussianNetwork):
        moments, families = moments_of(group.truth), zip(group.structure.parents, group.structure.slices, strict=True)
        terms = (
            _gaussian_terms(moments, law, i, parents, group.parameters[:, part])
            for i, (parents, part) in enumerate(families)
        )
        return sum(terms, np.zeros(len(group.rows)))
    truth = laws_of(discrete_truth(group))
    truth_term = truth.own_log_probability(law)
    values = truth_term - _discrete_sums(weights(truth, law, group.structure), group.parameters)
    # the rounding of a difference of sums is relative to them
    return np.where(np.abs(values) < _ROUNDING / 10 * abs(truth_term), 0.0, values)


def discrete_truth(group: Group) -> DiscreteNetwork:
    """Return the true network of a group; refuse one that is not discrete."""
    if not isinstance(group.truth, DiscreteNetwork):
        raise TypeError(f"expected a discrete network, found {group.truth!r}")
    return group.truth


def log_of(base: float) -> float:
    """Return the logarithm of a base; refuse numbers that are no base."""
    if check_number(base, "base", "(0, inf)") == 1:
        raise ValueError("base must be a positive number other than 1, found 1")
    return math.log(base)


def divergence(pairs: NetworkPairs, law: str, scaled: bool, base: float, seed: int = 0, over: Over = "mean") -> Floats:
    """Compute a divergence of every pair, with the options of the metrics; see `ckl1`."""
    check_choice(over, get_args(Over), "over")
    unit = log_of(base)
    if isinstance(pairs, ClassPairs):
        values = _class_divergence(pairs, law, over, seed)
    else:
        values = by_group(pairs, lambda group: _divergence(group, law))
    if not scaled and pairs.n:
        # 1 / P(a node is not intervened on)
        values /= {"kl": 1.0, "ckl1": 2.0, "ckl2": 2.0, "ckl3": float(len(pairs.structure.nodes))}[law]
    return np.where(np.abs(values) < _ROUNDING, 0.0, values) / unit


#: what the divergences declare alike, and entries of their docstrings
DIVERGENCE: dict[str, Any] = {
    "field": "network",
    "kinds": ("discrete", "gaussian"),
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
#: what the divergences declare that apply to classes of DAGs, fitted to data, too
OF_CLASSES = {**DIVERGENCE, "kinds": (*DIVERGENCE["kinds"], "discrete class", "gaussian class")}

_TURNED = """>>> import causaleval_pd as ce
>>> truth = ce.DiscreteNetwork({{"A": [], "B": ["A"]}}, {{"A": [.5, .5], "B": [[.9, .1], [.1, .9]]}})
>>> turned = ce.DiscreteNetwork({{"A": ["B"], "B": []}}, {{"A": [[.9, .1], [.1, .9]], "B": [.5, .5]}})
>>> round(ce.{name}(truth, turned), 4)
{gives}"""


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
@with_example(_TURNED, gives=0.4394)
def ckl1(pairs: Any, *, scaled: bool = True, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Mean KL divergence over interventions: every set of nodes is equally likely, set to uniformly random states.

    `CKL1 = sum_A 2^-k sum_a prod_i 1/|X_i| KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    For linear-Gaussian networks, on which no value is uniform, nodes are set to independent draws of their true
    marginal laws, an extension of ours.
    """
    return divergence(pairs, "ckl1", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="causal KL, values as observed")
@with_options(OPTIONS)
@with_example(_TURNED, gives=0.4394)
def ckl2(pairs: Any, *, scaled: bool = True, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Mean KL divergence over interventions: every set of nodes is equally likely, its states drawn as observed.

    `CKL2 = sum_A 2^-k sum_a truth(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    For linear-Gaussian networks the same formula, an extension of ours.
    """
    return divergence(pairs, "ckl2", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="causal KL, all but one")
@with_options(OPTIONS)
@with_example(_TURNED, gives=0.8789)
def ckl3(pairs: Any, *, scaled: bool = True, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Mean KL divergence over interventions on all nodes but one, set to states drawn from their true law.

    `CKL3 = sum_{|A| = k - 1} 1/k sum_a truth(a) KL(truth(.|do(A = a)) || estimate(.|do(A = a)))`.

    It can be 0 for a wrong structure where the true law is deterministic, and infinite for an equivalent one. For
    linear-Gaussian networks the same formula, an extension of ours.

    Parameters
    ----------
    scaled : bool
        Multiply by the number of nodes, as the published tables do. False: the definition.
    """
    return divergence(pairs, "ckl3", scaled, base, seed, over)


@metric(**OF_CLASSES, long_name="weighted edit distance, CKL3")
@with_options(OPTIONS)
@with_example(_TURNED, gives=0.8789)
def wed_3(pairs: Any, *, base: float = math.e, seed: int = 0, over: Over = "mean") -> Floats:
    """Weighted edit distance WED_3: the cost of each node's wrong parents, weighted by the true law of all parents.

    `WED_3 = sum_i sum_{true and estimated parents} truth(parents) KL(truth(x_i|true) || estimate(x_i|estimated))`,
    which is the number of nodes times CKL3.
    """
    return divergence(pairs, "ckl3", True, base, seed, over)


@metric(
    **{**DIVERGENCE, "kinds": ("discrete",), "instead": ("ckl1", "ckl2", "ckl3")},
    long_name="causal KL, single interventions",
)
@with_options(OPTIONS)
@with_example(_TURNED, gives=0.4394)
def ckl(pairs: Any, *, base: float = math.e) -> Floats:
    """Mean KL divergence over interventions on one node at a time, each node and each of its states equally likely.

    `CKL = sum_i 1/k sum_a 1/|X_i| KL(truth(.|do(X_i = a)) || estimate(.|do(X_i = a)))`.
    """
    unit = log_of(base)
    values = by_group(pairs, _single_interventions)
    return np.where(np.abs(values) < _ROUNDING, 0.0, values) / unit


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
        truth_term = laws.own_log_probability("kl") + math.log(n_states)
        total += truth_term - _discrete_sums(weight, group.parameters)
    return total / max(1, len(network.nodes))


METRICS.other_names(
    {"kld": ["kl"], "kl_divergence": ["kl"], "kullback_leibler": ["kl"], "causal_kl": ["ckl3", "ckl1", "ckl2"]}
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
    Law of interventions; `tweak("zero_mass", of="kl", name="kl_zero_mass")` names a column."""
}


def _masses(pairs: NetworkPairs, of: str, hit: Any) -> Floats:
    """Return the mean over nodes of the weight on entries of the estimate's tables that are `hit`."""
    check_choice(of, LAWS, "of")

    def mass(group: Group) -> Floats:
        weight = weights(laws_of(discrete_truth(group)), of, group.structure)
        return row_sums(hit(group.parameters) * weight) / max(1, len(group.structure.nodes))

    return by_group(pairs, mass)


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


@metric(**{**DIVERGENCE, "costly": False}, long_name="edit distance", symmetric=True)
@with_example(_TURNED, gives=2.0)
def edit_distance(pairs: Any) -> Floats:
    """Count the arcs to delete and to add; an arc to reverse counts twice."""
    return by_group(pairs, lambda group: len(group.truth.structure.arcs ^ group.structure.arcs))


def mutual_information(truth: FamilyLaws, a: int, b: int) -> float:
    """Return the mutual information of two nodes under the true law, in nats."""
    joint = truth.joint((a, b))
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return float((joint[some] * np.log(joint[some] / apart[some])).sum())


@metric(
    **{**DIVERGENCE, "kinds": ("discrete",), "instead": ("wed_3", "wed_p")},
    long_name="weighted edit distance, dependence",
)
@with_options(OPTIONS)
@with_example(_TURNED, gives=0.7361)
def wed_d(pairs: Any, *, base: float = math.e) -> Floats:
    """Edit distance whose arcs weigh the mutual information of their ends under the true law.

    WED_D = sum over arcs of one network alone of I(X_i; X_j). An arc to reverse counts twice, and an arc between ends
    that are independent in pairs (exclusive or) costs nothing.
    """
    unit = log_of(base)

    def cost(group: Group) -> float:
        truth = laws_of(discrete_truth(group))
        arcs = sorted(truth.network.structure.arcs ^ group.structure.arcs)
        return sum(mutual_information(truth, min(arc), max(arc)) for arc in arcs)

    return by_group(pairs, cost) / unit


@metric(
    **{**DIVERGENCE, "kinds": ("gaussian",), "instead": ("wed_3", "wed_d")}, long_name="weighted edit distance, paths"
)
def wed_p(pairs: Any, *, own: bool = False) -> Floats:
    """Edit distance of linear-Gaussian networks whose arcs weigh their squared standardised coefficient.

    WED_P = sum over arcs of one network alone of p_ij^2. A deleted arc has the coefficient of the truth. An added arc
    has none there; it gets the one that it has when the estimate's DAG is fitted to the true covariance (our choice,
    the definition being silent), so that the estimate's own parameters never matter, unless `own` is True.

    Parameters
    ----------
    own : bool
        Take an added arc's coefficient, standardised by the estimate's own law, from the estimate.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [.6]}, {"A": 1, "B": .64})
    >>> empty = ce.GaussianNetwork({"A": [], "B": []}, {"A": [], "B": []}, {"A": 1, "B": 1})
    >>> round(ce.wed_p(truth, empty), 4)
    0.36
    """

    def cost(group: Group) -> Any:
        if not isinstance(group.truth, GaussianNetwork):
            raise TypeError(f"expected a linear-Gaussian network, found {group.truth!r}")
        truth, structure, estimated = moments_of(group.truth), group.truth.structure, group.structure
        deleted, new = sorted(structure.arcs - estimated.arcs), sorted(estimated.arcs - structure.arcs)
        base = squared_paths(truth, structure, deleted)
        if not own:
            return base + squared_paths(truth, estimated, new)
        laws = (GaussianMoments(network_of(estimated, values)) for values in group.parameters)
        return [base + squared_paths(moments, estimated, new) for moments in laws] if new else base

    return by_group(pairs, cost)


def _patterns(networks: Networks, index: NDArray[np.int64]) -> tuple[GraphBatch, NDArray[np.int64]]:
    """Return the CPDAGs of the DAGs of some networks, and which of them each has."""
    used, place = np.unique(networks.structure[index], return_inverse=True)
    structures = [networks.structures[i] for i in used.tolist()]
    n_nodes = len(structures[0].nodes)
    planes = dag_planes(n_nodes, [structure.arcs for structure in structures])
    return GraphBatch(n_nodes, planes, np.full(len(structures), DAG, np.uint8)).cpdag, place.reshape(-1)


@metric(**{**DIVERGENCE, "closed_form": None}, long_name="edit distance of patterns", symmetric=True)
@with_example(_TURNED, gives=0.0)
def pattern_edit_distance(pairs: Any, *, undirected_cost: float = 0.5) -> Floats:
    """Edit distance between the patterns (CPDAGs) of the two DAGs: 0 for every member of the true equivalence class.

    An edge to delete or to add costs 1, an arc to reverse 2, an arc that the other pattern leaves undirected a part.

    Parameters
    ----------
    undirected_cost : float
        Cost of an edge that is directed in one pattern and undirected in the other.
    """
    check_number(undirected_cost, "undirected_cost", "[0, 2]")
    if not pairs.n:
        return np.empty(0)
    true, truth_index = _patterns(pairs.truth, pairs.truth_index)
    estimated, estimate_index = _patterns(pairs.estimate, pairs.estimate_index)
    graphs = GraphPairs(true, estimated, truth_index, estimate_index)
    return np.asarray(shd.function(graphs, reversal_cost=2.0, undirected_cost=undirected_cost))
