"""Controls of classes of DAGs: the classes of random DAGs, fitted as the estimate was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import Metric
from ...graphs.kernels import kernels
from ...graphs.kernels.planes import arcs_from_planes, planes_from_arcs
from ..classes.class_pairs import Classes, ClassPairs, DagClass, class_of_arcs
from ..family_fits import FamilyFits
from .dag_spaces import ParentSets, bits
from .random_networks import RandomNetworks

Floats = NDArray[np.float64]
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
