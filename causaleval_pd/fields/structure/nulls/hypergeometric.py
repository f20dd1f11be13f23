"""The exact law of skeleton metrics under uniformly random skeletons, and its tails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ....contract.law import ClosedForm, Distribution, padded_sum
from ....contract.metric import Metric
from ....graphs.edge_types import LINE, EdgeTypes
from ....statistics.arrays import SMALLEST_P
from .shared_edges import Counts

#: numbers that a table of tail probabilities may hold
MOST_CELLS = 4_000_000


def hypergeometric(metric: Metric, n_nodes: Any, true_edges: Any, estimated_edges: Any) -> ClosedForm:
    """Return the exact distribution of a function of the shared adjacencies under a uniformly random skeleton.

    With M node pairs, the number of shared adjacencies is hypergeometric (M, true edges, estimated edges).
    """
    given = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, np.int64)) for x in (n_nodes, true_edges, estimated_edges))
    )
    codes, first = distinct(given)
    d, mt, me = (x[first][:, None] for x in given)
    support, weights = hypergeometric_weights(d * (d - 1) // 2, mt, me)
    counts = EdgeTypes.of_margins(d, {LINE: mt}, {LINE: me}, {(LINE, LINE): support})
    values = Counts(counts).value(metric)
    distribution = Distribution.of(codes, values, weights)
    return ClosedForm(*distribution.moments(), distribution)


def distinct(columns: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each row among the distinct rows as they appear, and where each first appears."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # two factors at a time: their numbers are small, so that products do not overflow
        found, levels = pd.factorize(column)
        codes = pd.factorize(codes * len(levels) + found)[0].astype(np.int64)
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, first


def hypergeometric_weights(
    n_pairs: NDArray[np.int64], true_edges: NDArray[np.int64], estimated_edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return support and probabilities (u, s), to some 1e-14 relative, of hypergeometric laws of (u, 1) margins."""
    low = np.maximum(0, true_edges + estimated_edges - n_pairs)
    high = np.minimum(true_edges, estimated_edges)
    steps = np.arange(int((high - low).max(initial=0)) + 1)
    support = np.minimum(low + steps, high)
    inside = low + steps <= high
    k = support.astype(np.float64)
    rising = np.log(np.maximum((true_edges - k) * (estimated_edges - k), 1.0))
    falling = np.log((k + 1) * np.maximum(n_pairs - true_edges - estimated_edges + k + 1, 1.0))
    logs = np.zeros(support.shape)
    logs[:, 1:] = np.cumsum((rising - falling)[:, :-1], axis=1)
    logs = np.where(inside, logs, -np.inf)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    # what is possible has a probability, though it may be too small for a number
    return support, np.where(inside, np.maximum(weights / padded_sum(weights)[:, None], SMALLEST_P), 0.0)


def hypergeometric_tail(
    shared: ArrayLike, n_pairs: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike
) -> NDArray[np.float64]:
    """Return P(X >= shared) for X hypergeometric, with broadcasting; each distinct law is summed once.

    Small tails keep their relative accuracy; those below the smallest normal number, 2e-308, are that number.
    """
    return tails_and_misfit(shared, n_pairs, true_edges, estimated_edges)[0]


def tails_and_misfit(
    shared: ArrayLike, n_pairs: ArrayLike, true_edges: ArrayLike, estimated_edges: ArrayLike
) -> tuple[NDArray[np.float64], int]:
    """Return P(X >= shared), and the first place (of the flat result) whose shared number is impossible, or -1."""
    sizes = np.asarray(n_pairs, np.int64)
    x, mt, me = (np.asarray(given, np.int64) for given in (shared, true_edges, estimated_edges))
    shape = np.broadcast_shapes(sizes.shape, x.shape, mt.shape, me.shape)
    x, mt, me = (np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1) for array in (x, mt, me))
    if not len(x):
        return np.empty(shape), -1
    if (sizes == sizes.flat[0]).all():
        result, misfit = _tails_of_one_size(x, int(sizes.flat[0]), mt, me)
        return np.maximum(result, SMALLEST_P).reshape(shape), misfit
    m = np.broadcast_to(sizes, shape).reshape(-1)
    result, misfits = np.empty(len(x)), []
    for size in np.unique(m):
        rows = np.flatnonzero(m == size)
        result[rows], misfit = _tails_of_one_size(x[rows], int(size), mt[rows], me[rows])
        misfits += [int(rows[misfit])] if misfit >= 0 else []
    return np.maximum(result, SMALLEST_P).reshape(shape), min(misfits, default=-1)


def _tails_of_one_size(
    x: NDArray[np.int64], n_pairs: int, mt: NDArray[np.int64], me: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Return tails and misfit for one number of pairs; compiled unless few rows have a wide range of laws."""
    span = (int(mt.max()) - int(mt.min()) + 1) * (int(me.max()) - int(me.min()) + 1)
    if span <= 4 * len(x) + MOST_CELLS:
        # numba is imported where it is needed
        from .hypergeometric_tails import hypergeometric_tails

        return hypergeometric_tails(x, n_pairs, mt, me)
    return tails_of_distinct_laws(x, n_pairs, mt, me)


def tails_of_distinct_laws(
    x: NDArray[np.int64], n_pairs: int, mt: NDArray[np.int64], me: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """Return P(X >= x) and the first row whose x is impossible, law by law in numpy."""
    width = np.maximum(np.minimum(mt, me) - np.maximum(0, mt + me - n_pairs) + 1, 1)
    codes, found = pd.factorize(pd.MultiIndex.from_arrays([mt, me]), sort=True)
    order = np.argsort(codes, kind="stable")
    bounds = np.searchsorted(codes[order], np.arange(len(found) + 1))
    result = np.empty(len(x))
    step = max(1, MOST_CELLS // int(width.max(initial=1)))
    for start in range(0, len(found), step):
        stop = min(start + step, len(found))
        rows = order[bounds[start] : bounds[stop]]
        laws = order[bounds[start:stop]]
        _, weights = hypergeometric_weights(np.full((len(laws), 1), n_pairs), mt[laws, None], me[laws, None])
        tails = np.zeros((len(laws), weights.shape[1] + 1))
        tails[:, :-1] = np.minimum(np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], 1.0)
        tails[:, 0] = 1.0
        place = x[rows] - np.maximum(0, mt[rows] + me[rows] - n_pairs)
        result[rows] = tails[codes[rows] - start, np.clip(place, 0, weights.shape[1])]
    misfits = np.flatnonzero((x < np.maximum(0, mt + me - n_pairs)) | (x > np.minimum(mt, me)))
    return result, int(misfits[0]) if len(misfits) else -1
