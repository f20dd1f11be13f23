"""The exact law of skeleton metrics under uniformly random skeletons, and its tails."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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
    columns = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(x, np.int64)) for x in (n_nodes, true_edges, estimated_edges))
    )
    codes, first = distinct(columns)
    d, mt, me = (x[first][:, None] for x in columns)
    support, weights = hypergeometric_weights(d * (d - 1) // 2, mt, me)
    counts = EdgeTypes.of_margins(d, {LINE: mt}, {LINE: me}, {(LINE, LINE): support})
    values = Counts(counts).value(metric)
    distribution = Distribution.of(codes, values, weights)
    return ClosedForm.of(distribution)


def distinct(columns: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each row among the distinct rows as they appear, and where each first appears."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # two factors at a time: their numbers are small, so that products do not overflow
        level_codes, levels = pd.factorize(column)
        codes = pd.factorize(codes * len(levels) + level_codes)[0].astype(np.int64)
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


@lru_cache(maxsize=4096)
def hypergeometric_law(n: int, marked: int, drawn: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of marked ones among some drawn of n that are possible, and their probabilities."""
    support, weights = hypergeometric_weights(*(np.array([[x]], np.int64) for x in (n, marked, drawn)))
    return support[0], weights[0]


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
    columns = np.broadcast_arrays(*(np.asarray(x, np.int64) for x in (shared, n_pairs, true_edges, estimated_edges)))
    x, m, mt, me = (column.ravel() for column in columns)
    result = np.empty(len(x))
    low, high = np.maximum(0, mt + me - m), np.minimum(mt, me)
    law, first = distinct([m, mt, me])
    step = max(1, MOST_CELLS // (int((high - low).max(initial=0)) + 1))
    for start in range(0, len(first), step):
        of_laws = first[start : start + step]
        rows = np.flatnonzero((law >= start) & (law < start + step)) if step < len(first) else slice(None)
        _, weights = hypergeometric_weights(*(column[of_laws, None] for column in (m, mt, me)))
        tails = np.zeros((len(of_laws), weights.shape[1] + 1))
        tails[:, :-1] = np.minimum(np.cumsum(weights[:, ::-1], axis=1)[:, ::-1], 1.0)
        tails[:, 0] = 1.0
        result[rows] = tails[law[rows] - start, np.clip(x[rows] - low[rows], 0, weights.shape[1])]
    misfits = np.flatnonzero((x < low) | (x > high))
    return np.maximum(result, SMALLEST_P).reshape(columns[0].shape), int(misfits[0]) if len(misfits) else -1
