"""Exact moments of ranking metrics where the nodes of the estimate are relabelled.

The area under the ROC curve and the precision at k are sums over ordered pairs of nodes of the truth's mark times a
weight of the estimate's rank, whose moments over all relabellings are known. The average precision is a sum over pairs
of slots, so that its mean is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.pairs import PairError
from ...structure.nulls.quadratic_assignment import PairSums, pair_sums, relabelling_moments
from ..pairs import ScorePairs
from ..universe import UNORDERED, Universe, candidates, universe_options

Floats = NDArray[np.float64]

_KNOWN = ("auroc", "precision_at_k", "average_precision")
#: nodes up to which the mean of the average precision is summed
_MOST_NODES = 150


class Ranked(NamedTuple):
    """Rows whose candidates are all pairs of nodes, so that their number does not change with the labels."""

    #: (m, d, d): true slots, in both cells where pairs are unordered
    true: Floats
    #: (m, d, d): candidates above each slot, and those that tie with it
    above: Floats
    tied: Floats
    #: (m,): candidates, true ones, and cells of the matrices that a candidate has
    n: Floats
    k: Floats
    cells: Floats


def relabelled_moments(metric: Metric, pairs: ScorePairs) -> ClosedForm | None:
    """Return mean and variance of a metric over all relabellings, where they are known, or None."""
    if metric.closed_form not in _KNOWN:
        return None
    chosen = Universe.of(**universe_options(metric))
    if chosen.universe not in (None, "ordered", "unordered") or chosen.undirected == "ignore":
        return None
    try:
        found = candidates(pairs, chosen)
    except PairError:
        # scoring names the rows at fault
        return None
    d, unordered = pairs.n_nodes, chosen.codes(pairs) == UNORDERED
    full = found.size == np.where(unordered, d * (d - 1) // 2, d * (d - 1))
    full &= np.isfinite(found.keys).all(axis=1) | (found.size < found.keys.shape[1])
    rows = np.flatnonzero(full & (found.n_true > 0))
    if not len(rows) or d < 2:
        return None
    ranked = _ranked(pairs.take(rows), chosen, unordered[rows])
    k = metric.options.get("k")
    mean, variance = {
        "auroc": lambda: _auroc(ranked, d),
        "precision_at_k": lambda: _precision(ranked, d, ranked.k if k is None else np.full(len(rows), float(k))),
        "average_precision": lambda: _average_precision(ranked, d),
    }[metric.closed_form]()
    spread = np.full((2, pairs.n), np.nan)
    spread[:, rows] = mean, variance
    return ClosedForm(spread[0], spread[1], tailed=np.zeros(pairs.n, np.bool_))


def _ranked(pairs: ScorePairs, chosen: Universe, unordered: NDArray[np.bool_]) -> Ranked:
    from ..kernels import place

    found, d = candidates(pairs, chosen), pairs.n_nodes
    true, above, tied = np.zeros((3, pairs.n, d, d))
    place(found.keys, found.slots, unordered, np.empty(d * d), np.empty(d * d, np.int64), above, tied)
    row, i, j = np.nonzero(found.slots)
    starts = np.concatenate([[0], np.cumsum(found.size)[:-1]])
    true[row, i, j] = found.labels[row, np.arange(len(row)) - starts[row]]
    true = np.where(unordered[:, None, None], np.maximum(true, true.transpose(0, 2, 1)), true)
    cells = np.where(unordered, 2.0, 1.0)
    return Ranked(true, above, tied, found.size.astype(np.float64), found.n_true.astype(np.float64), cells)


def _linear(ranked: Ranked, weights: Floats, d: int) -> tuple[Floats, Floats]:
    """Return mean and variance of the sum of the weights of the true candidates."""
    weights = weights.copy()
    weights[:, range(d), range(d)] = 0.0
    sums: list[PairSums] = [pair_sums(x[:, None]) for x in (ranked.true, weights)]
    return relabelling_moments(sums[0], sums[1], (1 / ranked.cells)[:, None, None], d)


def _auroc(ranked: Ranked, d: int) -> tuple[Floats, Floats]:
    n, products = ranked.n[:, None, None], ranked.k * (ranked.n - ranked.k)
    # midranks from the bottom, less their mean
    midranks = n - ranked.above - (ranked.tied - 1) / 2 - (n + 1) / 2
    # in units of 1, so that a small variance is not taken for rounding error
    mean, variance = _linear(ranked, midranks / np.maximum(products, 1)[:, None, None] ** 0.5, d)
    able = products > 0
    some = np.maximum(products, 1)
    return np.where(able, 0.5 + mean / some**0.5, np.nan), np.where(able, variance / some, np.nan)


def _precision(ranked: Ranked, d: int, k: Floats) -> tuple[Floats, Floats]:
    cut = k[:, None, None]
    share = np.clip((cut - ranked.above) / np.maximum(ranked.tied, 1), 0.0, 1.0)
    mean, variance = _linear(ranked, share, d)
    able = k <= ranked.n
    return np.where(able, mean / k, np.nan), np.where(able, variance / k**2, np.nan)


def _average_precision(ranked: Ranked, d: int) -> tuple[Floats, Floats]:
    """Return the mean; the variance is not known."""
    from ..kernels import pattern_sums

    nothing = np.full(len(ranked.n), np.nan)
    if d > _MOST_NODES:
        return nothing, nothing
    sums = np.empty((len(ranked.n), 6))
    pattern_sums(ranked.above, ranked.tied, sums)
    # over all pairs of slots the sum is the number of slots, in each cell of both
    total = ranked.n * ranked.cells**2
    by_pattern = np.column_stack([sums, total - sums.sum(axis=1)])
    ways = np.array([d * (d - 1)] * 2 + [d * (d - 1) * (d - 2)] * 4 + [d * (d - 1) * (d - 2) * (d - 3)], np.float64)
    average = np.divide(by_pattern, ways, out=np.zeros_like(by_pattern), where=ways > 0)
    products = pair_sums(ranked.true[:, None]).products[:, 0, 0]
    mean = (average * products).sum(axis=1) / (ranked.k * ranked.cells**2)
    return mean, nothing
