"""The null model `permutation`: the estimate with its nodes relabelled at random."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.kernels import control_kernels
from ...graphs.kernels.planes import marks_from_planes, planes_from_marks
from ...graphs.pairs import GraphBatch, GraphPairs
from .additive import additive_moments
from .enumeration import enumerated
from .graph_controls import GraphControls, checked_kinds
from .walks import RelabellingWalk

#: nodes up to which all relabellings are listed (5,040), so that every metric has an exact distribution
MOST_LISTED = 7
#: different relabellings of an estimate up to which they are listed whatever its nodes, up to `MOST_NODES`
MOST_DIFFERENT, MOST_NODES = 5_040, 64
#: nodes up to which relabellings are listed as often as they occur
_REPEATED = 5
#: lists of relabellings that are kept at a time
_KEPT = 256


@cache
def _orders(n_nodes: int) -> NDArray[np.int64]:
    return np.array(list(itertools.permutations(range(n_nodes))), np.int64).reshape(math.factorial(n_nodes), n_nodes)


def _marks(graphs: GraphBatch, number: int) -> NDArray[np.bool_]:
    return np.asarray(marks_from_planes(graphs.planes[[number]], graphs.n_nodes)[0], bool)


def _batch(moved: NDArray[np.bool_], graphs: GraphBatch, number: int) -> GraphBatch:
    planes = planes_from_marks(moved, np.arange(graphs.n_nodes))
    return GraphBatch(graphs.n_nodes, planes, np.repeat(graphs.kinds[[number]], len(moved)))


def all_relabellings(graphs: GraphBatch, number: int) -> GraphBatch:
    """Return a graph with its nodes in all orders."""
    orders = _orders(graphs.n_nodes)
    marks = _marks(graphs, number)
    return _batch(marks[orders[:, :, None], orders[:, None, :]], graphs, number)


def different_relabellings(graphs: GraphBatch, number: int) -> GraphBatch:
    """Return the different graphs among all relabellings of a graph; each occurs equally often."""
    d = graphs.n_nodes
    if d <= MOST_LISTED:
        every = all_relabellings(graphs, number)
        _, first = np.unique(every.planes.reshape(len(every), -1), axis=0, return_index=True)
        return every.take(np.sort(first))
    found = new = _marks(graphs, number)[None]
    while len(new):
        # exchanges of neighbouring nodes reach every order
        moved = [new]
        for i in range(d - 1):
            order = np.arange(d)
            order[[i, i + 1]] = i + 1, i
            moved.append(np.unique(new[:, order][:, :, order], axis=0))
        known = {marks.tobytes() for marks in found}
        found = np.unique(np.concatenate([found, *moved]), axis=0)
        new = found[[marks.tobytes() not in known for marks in found]]
        if len(found) > MOST_DIFFERENT:
            raise OverflowError("too many relabellings to list")
    return _batch(found, graphs, number)


def _fewest_relabellings(degrees: NDArray[np.int32]) -> float:
    """Return the logarithm of a bound: nodes of equal degrees (d, 3) may be exchanged, others are told apart."""
    _, alike = np.unique(degrees, axis=0, return_counts=True)
    return float(math.lgamma(len(degrees) + 1) - sum(math.lgamma(n + 1) for n in alike))


class Relabellings:
    """The relabellings of the estimates of a batch, listed where they are few."""

    def __init__(self, pairs: GraphPairs) -> None:
        self.pairs, self.d = pairs, pairs.n_nodes
        self.support = lru_cache(maxsize=_KEPT)(self._support)

    def _support(self, number: int) -> tuple[GraphBatch, float]:
        """Return the relabellings of an estimate, and the probability of each."""
        if self.d <= _REPEATED:
            return all_relabellings(self.pairs.estimate, number), 1 / math.factorial(self.d)
        found = different_relabellings(self.pairs.estimate, number)
        return found, 1 / len(found)

    @cached_property
    def listed(self) -> NDArray[np.bool_]:
        """Which rows have an estimate whose relabellings are listed."""
        index = self.pairs.estimate_index
        if self.d <= MOST_LISTED or self.d > MOST_NODES:
            return np.full(len(index), self.d <= MOST_LISTED)
        used, place = np.unique(index, return_inverse=True)
        return np.array([self._few(number) for number in used.tolist()], bool)[place]

    def _few(self, number: int) -> bool:
        degrees = self.pairs.estimate.take(np.array([number])).degrees[0]
        if _fewest_relabellings(degrees) > math.log(MOST_DIFFERENT) + 1e-9:
            return False
        try:
            self.support(number)
        except OverflowError:
            return False
        return True

    def law(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for listed rows, moments for others, or None."""
        rows = np.flatnonzero(self.listed)
        if not len(rows):
            return additive_moments(metric, self.pairs)
        pairs = self.pairs.take(rows)
        longest = math.factorial(self.d) if self.d <= MOST_LISTED else MOST_DIFFERENT
        exact = enumerated(metric, pairs, self.pairs.estimate_index[rows], self.support, longest)
        if exact is None or self.listed.all():
            return exact
        others = additive_moments(metric, self.pairs)
        found = exact.spread(self.listed)
        if others is None:
            return found
        variance = others.variance
        if variance is not None and found.variance is not None:
            variance = np.where(self.listed, found.variance, variance)
        return replace(
            found, mean=np.where(self.listed, found.mean, others.mean), variance=variance, shape=others.shape
        )


def permutation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Relabel every estimate: its class, degrees and directed and undirected edges stay."""
    d, kinds = pairs.n_nodes, checked_kinds(rows, pairs)

    def graphs(start: int, count: int) -> GraphBatch:
        planes = control_kernels().relabel_graphs(
            pairs.estimate.contiguous, d, pairs.estimate_index, keys, start, count
        )
        return GraphBatch(d, planes, np.repeat(kinds, count))

    return GraphControls(pairs, kinds, graphs, Relabellings(pairs).law, walked=RelabellingWalk(pairs))


register_null(
    "graph",
    Null(
        "permutation",
        "the estimate with its nodes relabelled at random",
        permutation_controls,
        label_invariant=True,
        joint=True,
    ),
)
