"""The divergence of a class of DAGs: mean, best or worst over its members, each with parameters of its own.

A divergence is a sum over nodes of terms that depend on the node's parents alone, and the undirected components of a
class are directed independently. So mean, minimum and maximum over the members are sums over components.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...contract.pairs import PairError
from ..classes.class_pairs import ClassPairs, DagClass
from ..family_fits import FamilyFits
from ..laws.elimination import Scope
from ..networks.network import Network
from ..networks.structure import check_table
from .family_terms import family_term, own_term

Floats = NDArray[np.float64]
#: which number of the members' values is the class's
Over = Literal["mean", "best", "worst"]
_SUMMARIES: dict[Over, Callable[[list[float]], float]] = {"mean": np.mean, "best": np.min, "worst": np.max}


def class_divergence(pairs: ClassPairs, law: str, over: Over, seed: int) -> Floats:
    """Compute the scaled divergence, in nats, of every pair of a truth and a class.

    It is NaN if a member's is undefined, and the mean is infinite if a member's is.
    """
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
