"""The terms of families that add up to a divergence, and their sums over the members of a class of DAGs.

The term of a family depends on the truth, the node, its parents in the estimate and its parameters there. The
undirected components of a class are directed independently, so that mean, minimum and maximum over its members are sums
over components.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....contract.pairs import PairError
from ..classes import ClassPairs, DagClass
from ..family_fits import FamilyFits
from ..laws.elimination import Scope
from ..laws.family_laws import laws_of
from ..laws.gaussian_moments import GaussianMoments, moments_of
from ..networks.network import DiscreteNetwork, GaussianNetwork, Network
from ..networks.pairs import row_sums
from ..networks.structure import check_table

Floats = NDArray[np.float64]


def discrete_sums(weight: Floats, parameters: Floats) -> Floats:
    """Return the expected log probability of each row of parameters (m, n), by the weights (n,) of their entries."""
    reached = weight > 0
    with np.errstate(divide="ignore"):
        logs = np.log(parameters[:, reached])
    return row_sums(logs * weight[reached])


def gaussian_terms(truth: GaussianMoments, law: str, i: int, parents: Scope, values: Floats) -> Floats:
    """Return the terms of a node for rows of (intercept, coefficients.., variance)."""
    at, weights, variance = list(parents), values[:, 1:-1], values[:, -1]
    shift = truth.means[i] - values[:, 0] - row_sums(weights * truth.means[at])
    if law == "ckl3":
        # the node follows from its true parents; all others have their joint law
        difference = np.tile(truth.weights[i], (len(values), 1))
        difference[:, at] -= weights
        spread = truth.variances[i] + _quadratic(difference, truth.covariance)
    else:
        used = [i, *at]
        difference = np.concatenate([np.ones((len(values), 1)), -weights], axis=1)
        spread = _quadratic(difference, truth.moments(law, i)[np.ix_(used, used)])
    return np.asarray((np.log(variance / truth.variances[i]) - 1 + (spread + shift**2) / variance) / 2)


def _quadratic(rows: Floats, matrix: Floats) -> Floats:
    """Return r' M r for each row r, each summed on its own."""
    return row_sums(row_sums(rows[:, None, :] * matrix) * rows)


def own_term(truth: Network, law: str) -> float:
    """Return what is added to the terms of all families."""
    return laws_of(truth).own_log_probability(law) if isinstance(truth, DiscreteNetwork) else 0.0


def family_term(truth: Network, law: str, i: int, parents: Scope, parameters: Floats) -> float:
    """Return the term of a node whose parameters given these parents are a table or (intercept, .., variance)."""
    rows = parameters.reshape(1, -1)
    if isinstance(truth, GaussianNetwork):
        return float(gaussian_terms(moments_of(truth), law, i, parents, rows)[0])
    if not isinstance(truth, DiscreteNetwork):
        raise TypeError(f"expected a DiscreteNetwork or a GaussianNetwork, found {type(truth).__name__}")
    return -float(discrete_sums(laws_of(truth).family_law(law, i, parents).reshape(-1), rows)[0])


#: which number of the members' values is the class's
Over = Literal["mean", "best", "worst"]
_SUMMARIES: dict[Over, Callable[[list[float]], float]] = {"mean": np.mean, "best": np.min, "worst": np.max}


def class_divergence(pairs: ClassPairs, law: str, over: Over, seed: int) -> Floats:
    """Return the scaled divergence, in nats, of each truth and class: NaN if a member's is, a mean infinite too."""
    values = np.empty(pairs.n)
    terms: dict[tuple[int, int], Terms] = {}
    for position in range(pairs.n):
        truth, (members, fits) = int(pairs.truth_index[position]), pairs.class_of(position)
        key = (truth, id(fits))
        if key not in terms:
            terms[key] = Terms(pairs.true_network(truth), law, fits)
        try:
            values[position] = _summed(members, terms[key], over, seed)
        except ValueError as error:
            raise PairError([position], str(error)) from None
    return values


def _summed(members: DagClass, terms: Terms, over: Over, seed: int) -> float:
    total = terms.own + sum(terms.of(i, members.example[i]) for i in members.fixed)
    for part in members.parts(seed):
        found = [sum(terms.of(i, p) for i, p in zip(part.nodes, way, strict=True)) for way in part.ways]
        total += float(_SUMMARIES[over](found))
    # the rounding of a difference of sums is relative to them
    return 0.0 if abs(total) < 1e-13 * abs(terms.own) else total


class Terms:
    """The terms of families under one truth and one set of fits, each made on first use."""

    def __init__(self, truth: Network, law: str, fits: FamilyFits) -> None:
        self.truth, self.law, self.fits = truth, law, fits
        self.own = own_term(truth, law)
        self._found: dict[tuple[int, Scope], float] = {}

    def of(self, node: int, parents: Scope) -> float:
        """Return the term of a node with these parents."""
        if (node, parents) not in self._found:
            structure = self.truth.structure
            if structure.states is not None:
                check_table(structure.nodes[node], [structure.cards[v] for v in (*parents, node)])
            parameters = self.fits.fit(node, parents)
            self._found[node, parents] = family_term(self.truth, self.law, node, parents, parameters)
        return self._found[node, parents]
