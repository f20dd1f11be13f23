"""The law of the average precision where labels are shuffled: moments, all compositions, or a bracket on a grid."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .ties import Ties, steps, transition_table

Floats = NDArray[np.float64]

#: compositions up to which all are listed
_MOST_LISTED = 200_000
#: cells of the first grid and of the last, and steps that a law on a grid may take, less where scores tie, because
#: ties differ from row to row
_FIRST_CELLS, _LAST_CELLS, _MOST_STEPS, _MOST_STEPS_TIED = 2_000, 64_000, 500_000_000, 200_000_000
#: a bracket this narrow, relative to p, is not refined, nor are p-values outside the other numbers
_WIDTH, _SMALL, _LARGE = 0.05, 1e-5, 0.2


class PrecisionMoments(NamedTuple):
    """Exact moments of the average precision; the skewness is 0 where it is constant."""

    mean: float
    variance: float
    skewness: float


@lru_cache(maxsize=4096)
def precision_moments(ties: Ties) -> PrecisionMoments:
    """Return mean, variance and skewness of the average precision.

    Examples
    --------
    >>> from causaleval_pd.edge_scores.nulls.laws.ties import Ties
    >>> precision_moments(Ties(2, 1, b"")).mean
    0.75
    """
    from .law_kernels import power_sums

    if ties.k == 0:
        return PrecisionMoments(math.nan, math.nan, math.nan)
    table = transition_table(ties)
    state, moved = np.empty((ties.k + 1, 4)), np.empty((ties.k + 1, 4))
    power_sums(table.sizes, ties.k, table.starts, table.weights, state, moved)
    first, second, third = (float(x) / ties.k**i for i, x in enumerate(state[ties.k, 1:].tolist(), 1))
    variance = second - first**2
    if variance <= 1e-13 * second:
        return PrecisionMoments(first, 0.0, 0.0)
    return PrecisionMoments(first, variance, (third - 3 * first * variance - first**3) / variance**1.5)


def n_compositions(ties: Ties) -> float:
    """Return in how many ways the true candidates may fall into the groups, inf for very many."""
    ways = np.zeros(ties.k + 1)
    ways[0] = 1.0
    for t in ties.sizes.tolist():
        sums = np.cumsum(ways)
        ways = sums - np.concatenate([np.zeros(min(t + 1, ties.k + 1)), sums])[: ties.k + 1]
        if ways.max() > 1e15:
            return math.inf
    return float(ways[ties.k])


@lru_cache(maxsize=256)
def listed_precisions(ties: Ties) -> tuple[Floats, Floats] | None:
    """Return all values of the average precision with their probabilities, or None where they are too many."""
    if ties.k == 0 or n_compositions(ties) > _MOST_LISTED:
        return None
    table = transition_table(ties)
    k, seen, left = ties.k, 0, ties.n
    count, total, chance = np.zeros(1, np.int64), np.zeros(1), np.ones(1)
    for g, t in enumerate(table.sizes.tolist()):
        seen, left = seen + t, left - t
        width = min(t, k) + 1
        weights = table.weights[table.starts[g] : table.starts[g + 1]].reshape(k + 1, width)
        parts = []
        for a in range(width):
            new = count + a
            some = (new <= k) & (k - new <= left)
            parts.append((new[some], total[some] + a * new[some] / seen, chance[some] * weights[count[some], a]))
        count, total, chance = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    values, index = np.unique(np.round(total / k, 13), return_inverse=True)
    return values, np.bincount(index.reshape(-1), chance, len(values)).astype(np.float64)


@lru_cache(maxsize=64)
def _grid_tails(ties: Ties, cells: int, up: bool) -> Floats:
    """Return upper tails of the average precision in units of 1 / cells, its summands rounded up or down."""
    from .law_kernels import grid_law

    table = transition_table(ties)
    top = cells + len(table.sizes) + 2
    state, moved = np.empty((ties.k + 1, top + 1)), np.empty((ties.k + 1, top + 1))
    band = np.empty((4, ties.k + 1), np.int64)
    grid_law(table.sizes, ties.k, table.starts, table.weights, cells, up, band, state, moved)
    return np.minimum(np.cumsum(state[ties.k, ::-1])[::-1], 1.0)


def can_bracket(ties: Ties) -> bool:
    """Return whether a bracket of p-values takes little enough work."""
    return ties.k > 0 and steps(ties) * _FIRST_CELLS <= _MOST_STEPS_TIED


def bracketed_tails(ties: Ties, observed: Floats) -> Floats:
    """Return upper ends of P(average precision >= each value); from p = 1e-5 to .2 within 5 % if the grid allows it."""
    found = np.full(len(observed), np.nan)
    open_rows = np.arange(len(observed))
    cells = _FIRST_CELLS
    while len(open_rows):
        cut = observed[open_rows] * cells
        ends = []
        for up in (True, False):
            tails = _grid_tails(ties, cells, up)
            at = np.ceil(cut - 1e-6).astype(np.int64)
            ends.append(np.where(at < len(tails), tails[np.clip(at, 0, len(tails) - 1)], 0.0))
        found[open_rows] = ends[0]
        wide = (ends[0] - ends[1] > _WIDTH * ends[0]) & (ends[0] <= _LARGE) & (ends[0] >= _SMALL)
        cells *= 2
        if cells > _LAST_CELLS or steps(ties) * cells > (_MOST_STEPS_TIED if ties.profile else _MOST_STEPS):
            break
        open_rows = open_rows[wide]
    return found


def grid_quantile(ties: Ties, q: float) -> float:
    """Return a quantile of the average precision, within a cell of the grid."""
    tails = _grid_tails(ties, _FIRST_CELLS, True)
    return min(1.0, float(np.argmax(1 - np.append(tails[1:], 0.0) >= q - 1e-12)) / _FIRST_CELLS)
