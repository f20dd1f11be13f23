"""The null model `lags`: the estimate with its links at random lags, so that its summary graph stays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.confusion import Confusion
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ..closed_forms import AT_LAG_0, LAG_DISTANCE, LINKS, WINDOW, asked_for, evaluate
from ..metrics.lag_distance import lag_sets, nearest
from ..metrics.links import ALL_HAMMING
from ..pairs import LaggedPairs, Universe
from .controls import Floats, Keys, LaggedControls, of_distribution, plain_rows, refuse_control_kind, unchanged, words
from .count_laws import hypergeometric


def _codes(pairs: LaggedPairs, keys: Keys, start: int, count: int) -> NDArray[np.uint8]:
    """Exchange the lags of each pair of variables at random."""
    batch, index = pairs.estimate, pairs.estimate_index
    n, lags, d = len(index), batch.max_lag, batch.n_nodes
    places = words(keys, lags * d * d, start, count).reshape(n, lags, d * d, count)
    order = np.argsort(places, axis=1, kind="stable")
    own = batch.codes[index, 1:].reshape(n, lags, d * d, 1)
    drawn = np.take_along_axis(np.broadcast_to(own, order.shape), order, axis=1)
    found = np.zeros((n * count, lags + 1, d, d), np.uint8)
    found[:, 1:] = drawn.transpose(0, 3, 1, 2).reshape(n * count, lags, d, d)
    found[:, 0] = np.repeat(batch.codes[index, 0], count, axis=0)
    return found


def _known(pairs: LaggedPairs, metric: Metric) -> ClosedForm | None:
    """Return the exact law of a metric of counts, the moments of a mean distance of lags, or None."""
    if metric.closed_form == AT_LAG_0.name:
        return unchanged(metric, pairs)
    if metric.closed_form == LAG_DISTANCE.name:
        return _distance_moments(pairs)
    if metric.closed_form == WINDOW.name:
        lagged = _links_law(pairs, ALL_HAMMING)
        fixed = np.asarray(metric(pairs)) - ALL_HAMMING(pairs)
        return None if lagged is None else ClosedForm(lagged.mean + fixed, lagged.variance)
    return _links_law(pairs, metric) if metric.closed_form == LINKS.name else None


def _links_law(pairs: LaggedPairs, metric: Metric) -> ClosedForm | None:
    """Return the law of a function of counts: shared links are a sum of independent hypergeometric numbers."""
    asked = asked_for(metric)
    if asked is None:
        return None
    universe, lags = asked
    if universe in ("summary", "summary_self"):
        return unchanged(metric, pairs)
    if pairs.lags(lags) < pairs.estimate.max_lag:
        # how many links stay among the lags that are compared is random
        return None
    rows = np.ones(pairs.n, bool) if universe == "adjacent" else plain_rows(pairs)
    if not rows.any():
        return None
    scored, inverse = pairs.take(np.flatnonzero(rows)).unique()
    counts = scored.confusion(universe, lags)
    samples = []
    for i in range(scored.n):
        both, weight = _shared_law(scored, i, universe)
        ones = np.ones_like(both)
        found = Confusion(both, *(float(x[i]) * ones for x in (counts.true, counts.estimated, counts.total)))
        samples.append((evaluate(metric, found), weight))
    return of_distribution(Distribution.pooled(inverse.astype(np.int64), samples)).spread(rows)


def _shared_law(pairs: LaggedPairs, at: int, universe: Universe) -> tuple[Floats, Floats]:
    """Return the law of the number of shared links of one pair of graphs."""
    lags, d = pairs.estimate.max_lag, pairs.n_nodes
    true = pairs.truth.codes[pairs.truth_index[at], 1 : lags + 1] > 0
    estimated = pairs.estimate.codes[pairs.estimate_index[at], 1:] > 0
    own = np.eye(d, dtype=bool)
    counted = {"self": own, "all": np.ones_like(own)}.get(universe, ~own)
    both = np.stack([true.sum(axis=0)[counted], estimated.sum(axis=0)[counted]])
    kinds, numbers = np.unique(both[:, (both > 0).all(axis=0)], axis=1, return_counts=True)
    weight = np.ones(1)
    for a, b, times in zip(*kinds.tolist(), numbers.tolist(), strict=True):
        support, chances = hypergeometric(lags, a, b)
        one = np.zeros(int(support[-1]) + 1)
        one[support.astype(int)] = chances
        for _ in range(times):
            weight = np.convolve(weight, one)
    return np.arange(len(weight), dtype=np.float64), weight


def _distance_moments(pairs: LaggedPairs) -> ClosedForm:
    """Return mean and variance of the lag error: of each pair of variables a mean over lags drawn without replacement.

    Its mean is the mean distance of all searched lags from the nearest true one.
    """
    scored, inverse = pairs.unique()
    mean, variance = np.full(scored.n, np.nan), np.full(scored.n, np.nan)
    lags = pairs.estimate.max_lag
    for at in range(scored.n):
        sets = lag_sets(scored.take(slice(at, at + 1)))
        shared = sets.shared[0]
        if not shared.any():
            continue
        away = nearest(sets.true)[0, :lags][:, shared]
        number = sets.estimated[0].sum(axis=0)[shared]
        spread = away.var(axis=0, ddof=1) if lags > 1 else np.zeros(len(number))
        mean[at] = away.mean(axis=0).mean()
        variance[at] = (spread / number * (1 - number / lags)).sum() / len(number) ** 2
    return ClosedForm(mean[inverse], variance[inverse])


def lags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Give the links of every pair of variables random lags among those that were searched.

    Law: of each ordered pair of variables, and of each variable with itself, the lags of its links are a uniform set of
    as many, over which their marks are dealt at random. Links at lag 0 stay. Given: the summary graph and the number of
    lags of each pair.

    It tests whether the lags are right, and nothing else: metrics of the summary graph do not vary. Not valid for
    guessers that prefer some lags, such as lag 1, where the truth's links have these lags too.
    """
    return LaggedControls(pairs, partial(_codes, pairs, keys), partial(_known, pairs))


register_null(
    "lagged",
    Null(
        "lags",
        "the estimate with its links at random lags",
        lags_controls,
        prepare=refuse_control_kind,
        label_invariant=True,
    ),
)
