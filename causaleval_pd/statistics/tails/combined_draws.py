"""Tails of sums over clusters among all combinations of their draws, where the draws side by side reach no further.

Draw r of all clusters is one combination of n_draws ** n_clusters, because clusters are independent. Convolution counts
them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .convolution import GRID, Law, tail_of_sum

Floats = NDArray[np.float64]

#: multiplications that the convolution of one stratum may take, about a fifth of a second
MOST_WORK = 2e8
#: values of a cluster below which rounding would hide its law
_FEWEST = 32
#: sums closer than this share of their scale tie
_TIE = 1e-9


class CombinedDraws(NamedTuple):
    """A p-value among all combinations of draws, and whether no combination of draws alone reaches the observed sum."""

    p: float
    at_floor: bool


def combined_draws(columns: ArrayLike) -> CombinedDraws | None:
    """Return the share of combinations, one column of each cluster, whose sum is at least that of the first columns.

    Where the columns of a cluster are exchangeable under the null hypothesis and clusters are independent, all
    combinations are equally likely, so that this is an exactly valid p-value, whatever the number of draws. Its least
    value is (n_draws + 1) ** -n_clusters.

    Parameters
    ----------
    columns : (n_clusters, n_draws + 1) array_like
        What each cluster adds to a statistic of which large values are extreme: observed (column 0), and by every draw.

    Returns
    -------
    CombinedDraws or None
        None where columns are undefined, or the clusters are too many for their numbers of values.

    Notes
    -----
    Values without a common step are rounded towards a larger p-value, first within clusters that have many, then in
    the convolution. This is the test within blocks whose exact law Pagano and Tritchler (1983) compute,
    doi:10.1080/01621459.1983.10477990.

    Examples
    --------
    Of nine combinations, only the observed one reaches 5:

    >>> found = combined_draws([[3.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    >>> round(found.p * 9, 9), found.at_floor
    (1.0, True)
    >>> found = combined_draws([[2.0, 1.0, 3.0], [2.0, 0.0, 1.0]])
    >>> round(found.p * 9, 9), found.at_floor
    (3.0, False)
    """
    x = np.asarray(columns, np.float64)
    if not x.size or not np.isfinite(x).all():
        return None
    laws = [_law(row) for row in x]
    most = int(MOST_WORK / (2 * (GRID + 1) * len(laws)))
    if max(len(values) for values, _ in laws) > max(most, _FEWEST):
        if most < _FEWEST:
            return None
        laws = [_rounded(law, most) for law in laws]
    # in an order of their own, so that no digit depends on the order of the clusters
    laws.sort(key=lambda law: (law[0].tobytes(), law[1].tobytes()))
    observed = float(np.sort(x[:, 0]).sum())
    tail = tail_of_sum(laws, observed, most_work=MOST_WORK)
    if tail is None:
        return None
    best = float(np.sort(x[:, 1:].max(axis=1)).sum())
    scale = max(1.0, abs(observed), float(np.abs(x).max()))
    return CombinedDraws(min(1.0, tail.upper), best < observed - _TIE * scale)


def _law(row: Floats) -> Law:
    """Return the distinct values of a cluster and their shares of the columns."""
    values, n = np.unique(row, return_counts=True)
    return values, n / len(row)


def _rounded(law: Law, most: int) -> Law:
    """Round the values of a law up to a grid over their range."""
    values, shares = law
    if len(values) <= most:
        return law
    step = (values[-1] - values[0]) / (most - 1)
    places = np.minimum(np.ceil((values - values[0]) / step), most - 1).astype(np.int64)
    used = np.unique(places)
    # the largest value stays as it is
    return np.where(used == most - 1, values[-1], values[0] + used * step), np.bincount(places, shares)[used]
