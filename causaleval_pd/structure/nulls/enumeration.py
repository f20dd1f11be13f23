"""Exact laws of any metric where all controls of a row can be listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.pairs import PairError
from ...graphs.pairs import GraphBatch, GraphPairs

#: listed controls that are scored at once
_GRAPHS = 30_000


def enumerated(
    metric: Metric,
    pairs: GraphPairs,
    law: NDArray[np.int64],
    support: Callable[[int], tuple[GraphBatch, Any]],
    longest: int | None = None,
) -> ClosedForm | None:
    """Return the exact law of any metric where all controls of a row can be listed; None if it is undefined for one.

    `law` (n,) numbers the list of controls of each row; `support(number)` returns the controls of a list and their
    probabilities. No list is longer than `longest`; by default all are made at once to find out.
    """
    if not pairs.n:
        return None
    keys = np.stack([pairs.truth_index, law], axis=1)
    distinct, index = np.unique(keys, axis=0, return_inverse=True)
    samples: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    if longest is None:
        longest = max((len(support(number)[0]) for number in np.unique(law).tolist()), default=1)
    for block in np.array_split(distinct, -(-len(distinct) * longest // _GRAPHS)):
        lists = [support(number) for number in block[:, 1].tolist()]
        sizes = [len(graphs) for graphs, _ in lists]
        planes, kinds = (np.concatenate([getattr(graphs, x) for graphs, _ in lists]) for x in ("planes", "kinds"))
        graphs = GraphBatch(pairs.n_nodes, planes, kinds)
        every = np.arange(len(graphs), dtype=np.int64)
        controls = GraphPairs(pairs.truth, graphs, np.repeat(block[:, 0], sizes), every)
        if metric.refused(controls).any():
            return None
        try:
            values = np.asarray(metric(controls), np.float64)
        except PairError:
            # drawing names the rows at fault
            return None
        chances = [np.broadcast_to(chance, size) for (_, chance), size in zip(lists, sizes, strict=True)]
        samples += zip(np.split(values, np.cumsum(sizes)[:-1]), chances, strict=True)
    distribution = Distribution.pooled(index.reshape(-1).astype(np.int64), samples)
    mean = distribution.expectation(lambda x: x)
    variance = distribution.expectation(np.square) - mean**2
    return ClosedForm(mean, np.maximum(variance, 0.0), distribution)
