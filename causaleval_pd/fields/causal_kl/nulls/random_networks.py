"""Controls of networks: random DAGs, or their classes, that are parameterised as the estimate was.

Parameters come from the same data, or from the true joint law, so that a control differs in its arcs alone: its
parameters are not random guesses. Against a complete or equivalent DAG the KL divergence is uninformative by
construction.

References
----------
.. [1] O'Donnell, R. T., Korb, K. B., Allison, L. (2021). Causal KL: Evaluating causal discovery.
   doi:10.48550/arXiv.2111.06029
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm, Distribution
from ....contract.metric import Metric
from ....contract.null import Controls, Matching
from ....graphs.kernels import kernels
from ....graphs.kernels.planes import arcs_from_planes, planes_from_arcs
from ..classes import Classes, ClassPairs, DagClass, class_of_arcs
from ..family_fits import FamilyFits, Fits
from ..fitting import parameterise
from ..networks.network import Network
from ..networks.pairs import NetworkPairs, Networks
from ..networks.structure import Structure
from .dag_spaces import ParentSets, Space, bits


class FittedControls(Controls):
    """Base of the controls of networks: their class is that of DAGs, and their cost is that of their tables."""

    pairs: NetworkPairs

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls: DAGs."""
        return np.full(self.pairs.n, "dag", object)

    @property
    def cost(self) -> int:
        """Bytes that a control takes while it is scored, roughly: its tables, their logarithms, and copies."""
        return 64 * max((structure.size for structure in self.pairs.estimate.structures), default=1)


def no_fits(matching: Matching) -> Fits:
    """Start the store of a table's fits, so that batches of rows with the same data share them."""
    return {}


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RandomNetworks(FittedControls):
    """Controls that are random DAGs with parameters fitted as the estimate's were."""

    #: the observed pairs, one per row
    pairs: NetworkPairs
    #: DAGs of each row's controls
    spaces: list[Space]
    #: fits of each row
    fits: list[FamilyFits]
    #: (n,): names of the rows' random streams
    keys: NDArray[np.uint64]

    @property
    def work(self) -> float:
        """Nanoseconds that drawing one control takes, roughly."""
        return 1e5

    def draw(self, start: int, count: int) -> NetworkPairs:
        """Return rows x count pairs, a row's draws together, whose estimates are draws start .. start + count - 1."""
        wanted = [
            (row, tuple(parents))
            for row, space in enumerate(self.spaces)
            for parents in space.draw(self.keys[row : row + 1], start, count)
        ]
        return self.pairs_with(wanted)

    def pairs_with(self, wanted: list[tuple[int, tuple[int, ...]]]) -> NetworkPairs:
        """Return pairs of the rows' truths with DAGs (parent sets as bits), each distinct network made once."""
        known: dict[tuple[int, tuple[int, ...]], int] = {}
        networks: list[Network] = []
        index = np.empty(len(wanted), np.int64)
        structures: dict[tuple[int, ...], Structure] = {}
        for at, (row, parents) in enumerate(wanted):
            key = (id(self.fits[row]), parents)
            if key not in known:
                if parents not in structures:
                    own = self.pairs.structure
                    structures[parents] = Structure(own.nodes, own.states, tuple(bits(int(p)) for p in parents))
                known[key] = len(networks)
                networks.append(parameterise(structures[parents], self.fits[row]))
            index[at] = known[key]
        rows = np.array([row for row, _ in wanted], np.int64)
        return NetworkPairs(self.pairs.truth, Networks.of(networks), self.pairs.truth_index[rows], index)

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for rows whose DAGs are enumerated, or None."""
        enumerated = {row: masks for row, space in enumerate(self.spaces) if (masks := space.all) is not None}
        if not enumerated:
            return None
        keys: dict[tuple[int, int, int, str], int] = {}
        index, laws, kinds = [], [], self.kind.tolist()
        for row, masks in enumerated.items():
            key = (int(self.pairs.truth_index[row]), id(self.fits[row]), id(masks), kinds[row])
            if key not in keys:
                keys[key] = len(keys)
                laws.append(self._values(metric, row, masks))
            index.append(keys[key])
        values = np.full((len(laws), max(map(len, laws), default=0)), np.nan)
        weights = np.zeros_like(values)
        for at, law in enumerate(laws):
            values[at, : len(law)], weights[at, : len(law)] = law, 1 / len(law)
        distribution = Distribution.of(np.array(index, np.int64), values, weights)
        return ClosedForm(distribution.expectation(lambda x: x), None, distribution).spread(
            np.isin(np.arange(self.pairs.n), list(enumerated))
        )

    def _values(self, metric: Metric, row: int, masks: ParentSets) -> Floats:
        """Score every DAG of a row's space."""

        def score(pairs: NetworkPairs) -> Floats:
            return np.asarray(metric.function(pairs, **metric.options), np.float64)

        if metric.closed_form == "additive":
            found = self.add_terms(score, row, masks)
            if np.isfinite(found).all():
                return found
        return score(self.pairs_with([(row, tuple(parents)) for parents in masks.tolist()]))

    def add_terms(self, score: Callable[[NetworkPairs], Floats], row: int, masks: ParentSets) -> Floats:
        """Score DAGs as sums over nodes, whose terms are scores of networks in which one node alone has parents."""
        k = masks.shape[1]
        distinct = [(i, mask) for i in range(k) for mask in np.unique(masks[:, i]).tolist()]
        wanted = [(row, tuple(mask if j == i else 0 for j in range(k))) for i, mask in distinct]
        values = score(self.pairs_with([(row, (0,) * k), *wanted]))
        with np.errstate(invalid="ignore"):
            terms = dict(zip(distinct, values[1:] - values[0], strict=True))
        total = np.full(len(masks), values[0])
        for i in range(k):
            own, inverse = np.unique(masks[:, i], return_inverse=True)
            total += np.array([terms[i, mask] for mask in own.tolist()])[inverse]
        return np.where(np.abs(total) < 1e-12, 0.0, total)


Dag = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RandomClasses(RandomNetworks):
    """Controls that are the Markov equivalence classes of random DAGs, or where a row asks for that the DAGs."""

    #: rows whose controls are classes
    of_classes: NDArray[np.bool_]

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls."""
        return np.where(self.of_classes, np.array("cpdag", object), np.array("dag", object))

    def pairs_with(self, wanted: list[tuple[int, Dag]]) -> ClassPairs:
        """Return pairs of the rows' truths with the classes of DAGs (parent sets as bits)."""
        completed = classes_of_dags(list({parents for row, parents in wanted if self.of_classes[row]}))
        number: dict[tuple[DagClass, int], int] = {}
        found: list[tuple[DagClass, FamilyFits]] = []
        index = np.empty(len(wanted), np.int64)
        for at, (row, parents) in enumerate(wanted):
            one = completed[parents] if self.of_classes[row] else DagClass(parents, (0,) * len(parents))
            key = (one, id(self.fits[row]))
            if key not in number:
                number[key] = len(found)
                found.append((one, self.fits[row]))
            index[at] = number[key]
        rows = np.array([row for row, _ in wanted], np.int64)
        some = Classes.of(found, self.pairs.structure)
        return ClassPairs(self.pairs.truth, some, self.pairs.truth_index[rows], index)

    def _values(self, metric: Metric, row: int, masks: ParentSets) -> Floats:
        """Score the class of every DAG of a row's space, each class once."""
        pairs = self.pairs_with([(row, tuple(parents)) for parents in masks.tolist()])
        distinct, inverse = pairs.unique()
        return np.asarray(metric.function(distinct, **metric.options), np.float64)[inverse]


def classes_of_dags(dags: list[Dag]) -> dict[Dag, DagClass]:
    """Return the Markov equivalence class of each DAG, given by the parents of its nodes as bits."""
    if not dags:
        return {}
    k = len(dags[0])
    arcs = [(row, p, i) for row, dag in enumerate(dags) for i, mask in enumerate(dag) for p in bits(mask)]
    columns = np.array(arcs, np.int64).reshape(-1, 3).T
    completed, _ = kernels().dag_to_cpdag(planes_from_arcs(len(dags), k, *columns), k)
    found: list[set[tuple[int, int]]] = [set() for _ in dags]
    for row, source, target in zip(*(x.tolist() for x in arcs_from_planes(completed, k)), strict=True):
        found[row].add((source, target))
    return {dag: class_of_arcs(k, frozenset(own)) for dag, own in zip(dags, found, strict=True)}
