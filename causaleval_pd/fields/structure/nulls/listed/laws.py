"""Exact laws of any metric where all controls of a row can be listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....contract.law import ClosedForm, Distribution
from .....contract.metric import Metric
from .....contract.pairs import PairError
from .....graphs.pairs import GraphBatch, GraphPairs

#: the controls of a list, and their probabilities: one for all, or one each
Listed = tuple[GraphBatch, Any]

#: listed controls that are scored at once
_GRAPHS = 30_000
#: blocks of them that metrics share
_BLOCKS = 8


def merged(planes: NDArray[np.uint64], weights: Any) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Return the different graphs among listed ones, (n, 2, W), with the sums of their weights."""
    distinct, inverse = np.unique(planes.reshape(len(planes), -1), axis=0, return_inverse=True)
    each = np.broadcast_to(np.asarray(weights, np.float64), len(planes))
    summed = np.bincount(inverse.reshape(-1), each, len(distinct)).astype(np.float64)
    return np.ascontiguousarray(distinct.reshape(-1, *planes.shape[1:])), summed


class ListedLaws:
    """The laws of metrics for rows whose controls are listed, by the number of the list of each row, `law` (n,).

    `support(number)` returns the controls of a list, at most `longest`, and their probabilities. `listed` rows (n,)
    have one; default all.
    """

    def __init__(
        self,
        pairs: GraphPairs,
        law: NDArray[np.int64],
        support: Callable[[int], Listed],
        longest: int,
        listed: NDArray[np.bool_] | None = None,
    ) -> None:
        self.pairs, self.support = pairs, support
        self.listed = np.ones(pairs.n, bool) if listed is None else listed
        rows = np.flatnonzero(self.listed)
        # rows with the same list side by side: its graphs are then scored as one batch
        keys = np.stack([law[rows], pairs.truth_index[rows]], axis=1)
        distinct, index = np.unique(keys, axis=0, return_inverse=True)
        self.index: NDArray[np.int64] = index.reshape(-1).astype(np.int64)
        self.blocks = np.array_split(distinct, max(1, -(-len(distinct) * longest // _GRAPHS))) if len(rows) else []
        self.block = lru_cache(maxsize=_BLOCKS)(self._block)

    def _block(self, number: int) -> tuple[GraphPairs, list[Any]]:
        """Pair the truths of a block with the graphs of their lists; return also the probabilities of each list."""
        numbers, place = np.unique(self.blocks[number][:, 0], return_inverse=True)
        lists = [self.support(n) for n in numbers.tolist()]
        sizes = np.array([len(graphs) for graphs, _ in lists])
        starts = np.cumsum(sizes) - sizes
        graphs = lists[0][0]
        if len(lists) > 1:
            planes, kinds = (np.concatenate([getattr(graphs, x) for graphs, _ in lists]) for x in ("planes", "kinds"))
            graphs = GraphBatch(self.pairs.n_nodes, planes, kinds)
        places = place.reshape(-1).tolist()
        estimate = np.concatenate([np.arange(starts[i], starts[i] + sizes[i], dtype=np.int64) for i in places])
        truth = np.repeat(self.blocks[number][:, 1], sizes[places])
        chances = [np.broadcast_to(lists[i][1], sizes[i]) for i in places]
        return GraphPairs(self.pairs.truth, graphs, truth, estimate), chances

    def exact(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric for the listed rows, or None if it is undefined for one of their graphs."""
        samples: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        for number in range(len(self.blocks)):
            controls, chances = self.block(number)
            if metric.refused(controls).any():
                return None
            try:
                values = np.asarray(metric(controls), np.float64)
            except PairError:
                # drawing names the rows at fault
                return None
            ends = np.cumsum([len(chance) for chance in chances])[:-1]
            samples += zip(np.split(values, ends), chances, strict=True)
        distribution = Distribution.pooled(self.index, samples)
        return ClosedForm(*distribution.moments(), distribution).spread(self.listed)

    def law(self, metric: Metric, others: Callable[[Metric], ClosedForm | None]) -> ClosedForm | None:
        """Return the exact law of a metric for listed rows, and what `others` returns for the other rows."""
        exact = self.exact(metric) if self.blocks else None
        if exact is None:
            return others(metric)
        found = None if self.listed.all() else others(metric)
        if found is None:
            return exact
        variance = found.variance
        if variance is not None and exact.variance is not None:
            variance = np.where(self.listed, exact.variance, variance)
        mean = np.where(self.listed, exact.mean, found.mean)
        return replace(exact, mean=mean, variance=variance)
