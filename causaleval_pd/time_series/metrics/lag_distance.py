"""How far estimated lags are from true ones, of pairs of variables that both graphs link."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.confusion import Values
from ...contract.metric import metric
from ...graphs.kernels.planes import row_chunks
from ..cells.marks import KINDS
from ..closed_forms import LAG_DISTANCE
from ..pairs import LaggedPairs

__all__ = ["lag_error"]


class LagSets(NamedTuple):
    """Lags of links between two variables, (n, lags, d, d) bool each, and the pairs of variables that both link."""

    true: NDArray[np.bool_]
    estimated: NDArray[np.bool_]
    #: (n, d, d)
    shared: NDArray[np.bool_]


def lag_sets(pairs: LaggedPairs) -> LagSets:
    """Return the lags from 1 of each pair, as many as either graph searched, without links of a variable on itself."""
    d, last = pairs.n_nodes, pairs.max_lag
    between = ~np.eye(d, dtype=np.bool_)
    found = []
    for batch, index in ((pairs.truth, pairs.truth_index), (pairs.estimate, pairs.estimate_index)):
        wide = np.zeros((pairs.n, last, d, d), np.bool_)
        wide[:, : batch.max_lag] = (batch.codes[index, 1:] > 0) & between
        found.append(wide)
    return LagSets(found[0], found[1], np.asarray(found[0].any(axis=1) & found[1].any(axis=1)))


def nearest(lags: NDArray[np.bool_]) -> Values:
    """Return the distance of each lag from the nearest of a set of lags (n, lags, d, d); infinite of an empty set."""
    n_lags = lags.shape[1]
    steps = np.abs(np.arange(n_lags)[:, None] - np.arange(n_lags)[None, :]).astype(np.float64)
    found = np.full(lags.shape, np.inf)
    for lag in range(n_lags):
        found = np.minimum(found, np.where(lags[:, lag, None], steps[lag][None, :, None, None], np.inf))
    return found


@metric(
    field="lagged",
    kinds=KINDS,
    direction="minimize",
    range=(0, math.inf),
    optimum=0,
    closed_form=LAG_DISTANCE.name,
    long_name="lag error",
)
def lag_error(pairs: LaggedPairs) -> Values:
    """Return the mean distance of estimated lags from the nearest true lag.

    The mean is over the estimated lags of a pair of variables, cause and effect, and then over the pairs that both
    graphs link at lags from 1; without such pairs it is undefined. Links at lag 0 and of a variable on itself are left
    out. Missing and extra links do not count: read it beside `summary_f1`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.lag_error("X@-1 -> Y; X@-4 -> Z", "X@-1 -> Y; X@-2 -> Y; X@-2 -> Z")
    1.25
    """
    found = np.full(pairs.n, np.nan)
    for part in row_chunks(pairs.n, 40 * max(1, pairs.max_lag) * pairs.n_nodes**2):
        sets = lag_sets(pairs.take(part))
        away = np.where(sets.estimated & sets.shared[:, None], nearest(sets.true), 0.0).sum(axis=1)
        distances = away / np.maximum(sets.estimated.sum(axis=1), 1)
        number = sets.shared.sum(axis=(1, 2))
        total = np.where(sets.shared, distances, 0.0).sum(axis=(1, 2))
        found[part] = np.divide(total, number, out=np.full(len(total), np.nan), where=number > 0)
    return found
