"""The statistic of a stratum: its runs and their draws, standardised, added up by cluster and then by stratum.

Column 0 holds the runs, column r draw r of their controls. All functions treat the columns alike, so that they stay
exchangeable under the null hypothesis, which is what makes the p-value of `column_p_values` exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import ratio
from .direction import TOLERANCE
from .randomisation import randomisation_test
from .ranks import ranks_in_order

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Statistic = Literal["standardized", "mean", "rank"]

STATISTICS: tuple[Statistic, ...] = ("standardized", "mean", "rank")
#: columns this close to the first are ties, relative to the largest of a stratum: sums are rounded
SLACK = 1e-9


class Columns(NamedTuple):
    """The statistic of every stratum, its runs in column 0 and draw r of their controls in column r."""

    #: sums, counts, (n_strata, R + 1): the statistic is their ratio
    sums: Floats
    counts: Floats
    #: (n_strata, R + 1): number of defined scores; a draw without any is left out
    defined: Floats
    #: n_rows, n_no_information, (n_strata,): runs, and those of them whose columns are all equal
    n_rows: Ints
    n_no_information: Ints

    @property
    def values(self) -> Floats:
        """The statistic, (n_strata, R + 1); NaN where no score is defined."""
        return np.where(self.defined > 0, ratio(self.sums, self.counts), np.nan)

    @property
    def informed(self) -> Bools:
        """Which strata have a run whose columns differ."""
        return self.n_rows > self.n_no_information

    def __add__(self, other: object) -> Columns:
        """Add the columns of other clusters of the same strata."""
        if not isinstance(other, Columns):
            return NotImplemented
        n_rows, silent = self.n_rows + other.n_rows, self.n_no_information + other.n_no_information
        sums, counts, defined = self.sums + other.sums, self.counts + other.counts, self.defined + other.defined
        return Columns(sums, counts, defined, n_rows, silent)

    def take(self, strata: slice) -> Columns:
        """Return those of some strata."""
        sums, counts, defined = self.sums[strata], self.counts[strata], self.defined[strata]
        return Columns(sums, counts, defined, self.n_rows[strata], self.n_no_information[strata])

    @classmethod
    def stack(cls, parts: Sequence[Columns]) -> Columns:
        """Put strata one below the other."""
        rows = [np.concatenate([part[i] for part in parts]) for i in range(5)]
        return cls(rows[0], rows[1], rows[2], rows[3], rows[4])


def standardize(columns: ArrayLike, least: float = 0.0) -> tuple[Floats, Bools]:
    """Subtract from each row its mean and divide by its standard deviation, over all its columns.

    Parameters
    ----------
    columns : (n, R + 1) array_like
        Scores of runs and of their draws. NaN is undefined and counts as the mean of its row; an infinite value lies
        beyond the row's finite ones by their range.
    least : float
        Rows with a standard deviation of at most this do not vary: of sums whose parts cancel, it is that of rounding.

    Returns
    -------
    z : (n, R + 1) ndarray
        0 in rows that do not vary.
    informed : (n,) bool
        Which rows vary.

    Examples
    --------
    >>> z, informed = standardize([[3.0, 1.0, 1.0, 3.0], [2.0, 2.0, 2.0, np.nan]])
    >>> z.tolist(), informed.tolist()
    ([[1.0, -1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]], [True, False])
    """
    x = _finite(np.ascontiguousarray(columns, np.float64))
    known = ~np.isnan(x)
    n = np.maximum(known.sum(axis=1), 1)
    x = np.where(known, x, 0.0)
    z = np.where(known, x - (x.sum(axis=1) / n)[:, None], 0.0)
    deviation = np.sqrt(np.square(z).sum(axis=1) / n)
    informed = deviation > np.maximum(least, TOLERANCE * np.abs(x).max(axis=1, initial=0.0))
    z /= np.where(informed, deviation, 1.0)[:, None]
    z[~informed] = 0.0
    return z, informed


def standardize_clusters(sums: ArrayLike) -> Floats:
    """Standardise what the standardised runs of each cluster add up to; 0 where they cancel in all columns.

    Examples
    --------
    >>> standardize_clusters([[2.0, -2.0], [1e-16, -1e-16]]).tolist()
    [[1.0, -1.0], [0.0, 0.0]]
    """
    return standardize(sums, SLACK)[0]


def _finite(x: Floats) -> Floats:
    """Replace infinite values of each row by values beyond its finite ones."""
    infinite = np.isinf(x)
    if not infinite.any():
        return x
    finite = np.where(infinite | np.isnan(x), np.nan, x)
    low, high = np.fmin.reduce(finite, axis=1), np.fmax.reduce(finite, axis=1)
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    beyond = np.where(high > low, high - low, 1.0)
    ends = np.where(x > 0, (high + beyond)[:, None], (low - beyond)[:, None])
    return np.where(infinite, ends, x)


def mid_ranks(values: ArrayLike) -> Floats:
    """Return the mid-rank of every column within its row; values that differ by rounding are ties.

    Examples
    --------
    >>> mid_ranks([[0.3, 0.1, 0.1 + 1e-12]]).tolist()
    [[3.0, 1.5, 1.5]]
    """
    # scipy.stats.rankdata does the same, but importing scipy.stats takes as long as the rest of a first cube
    alike = np.round(np.asarray(values, np.float64), 9)
    order = np.argsort(alike, axis=1)
    ranks = np.empty(alike.shape)
    np.put_along_axis(ranks, order, ranks_in_order(np.take_along_axis(alike, order, axis=1)), axis=1)
    ranks[np.isnan(alike).any(axis=1)] = np.nan
    return ranks


def cluster_starts(stratum: Ints, cluster: Ints) -> Ints:
    """Return where the runs of a stratum and cluster begin, of rows that are sorted by both."""
    new = np.ones(len(stratum), bool)
    new[1:] = (stratum[1:] != stratum[:-1]) | (cluster[1:] != cluster[:-1])
    return np.flatnonzero(new)


def stratum_columns(x: ArrayLike, stratum: Ints, cluster: Ints, n_strata: int, statistic: Statistic) -> Columns:
    """Return the statistic of strata, of their runs and of every draw.

    Parameters
    ----------
    x : (n, R + 1) array_like
        Scores of runs, and of draws of their controls. A run that is undefined in all columns does not count.
    stratum, cluster : (n,) ndarray of int
        Number of each run's stratum, from 0, and of its cluster.
    n_strata : int
        Number of strata.
    statistic : {"standardized", "mean", "rank"}
        "standardized" adds up the standardised runs of a cluster, divides by the standard deviation of the sum over its
        columns, and averages clusters; "rank" averages the mid-ranks of these sums; "mean" averages scores.

    Returns
    -------
    Columns
        Of the strata.

    Examples
    --------
    >>> x = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 2.0]])
    >>> found = stratum_columns(x, np.array([0, 0]), np.array([7, 8]), 1, "mean")
    >>> found.values.tolist(), found.n_no_information.tolist()
    ([[1.5, 2.5, 3.5]], [1])
    """
    values, stratum, cluster = _in_clusters(x, stratum, cluster)
    sums, counts, defined = np.zeros((3, n_strata, values.shape[1]))
    n_rows = np.bincount(stratum, minlength=n_strata)
    z, informed = standardize(values)
    silent = np.bincount(stratum[~informed], minlength=n_strata)
    if len(values):
        known = (~np.isnan(values)).astype(np.float64)
        if statistic == "mean":
            found, present, of = np.where(np.isnan(values), 0.0, values), known, stratum
        else:
            found, of = _of_clusters(z, stratum, cluster)
            found = mid_ranks(found) if statistic == "rank" else found
            present = np.ones_like(found)
        first = np.flatnonzero(np.diff(of, prepend=-1))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            sums[of[first]], counts[of[first]] = (np.add.reduceat(a, first, axis=0) for a in (found, present))
        first = np.flatnonzero(np.diff(stratum, prepend=-1))
        defined[stratum[first]] = np.add.reduceat(known, first, axis=0)
    return Columns(sums, counts, defined, n_rows, silent)


def _in_clusters(x: ArrayLike, stratum: Ints, cluster: Ints) -> tuple[Floats, Ints, Ints]:
    """Sort rows by stratum and cluster, without those that are undefined in all columns."""
    values = np.asarray(x, np.float64)
    order = np.lexsort([cluster, stratum])
    order = order[~np.isnan(values[order]).all(axis=1)]
    return values[order], stratum[order], cluster[order]


def _of_clusters(z: Floats, stratum: Ints, cluster: Ints) -> tuple[Floats, Ints]:
    """Return what clusters of sorted rows add to the standardised statistic, and their strata."""
    starts = cluster_starts(stratum, cluster)
    # in units of its own standard deviation a cluster counts by how well its runs agree
    return standardize_clusters(np.add.reduceat(z, starts, axis=0)), stratum[starts]


def cluster_columns(
    x: ArrayLike, stratum: Ints, cluster: Ints, statistic: Literal["standardized", "mean"]
) -> tuple[Floats, Ints]:
    """Return what every cluster adds to the statistic of its stratum.

    Parameters
    ----------
    x, stratum, cluster, statistic
        As in `stratum_columns`.

    Returns
    -------
    columns : (n_clusters, R + 1) ndarray
        Sorted by stratum; the sum over a stratum's clusters has the order of its statistic. Of "mean" the sum of
        scores, NaN for a cluster with an undefined or infinite score, whose number of scores is not that of the draws.
    stratum : (n_clusters,) ndarray of int
        The clusters' strata.

    Examples
    --------
    >>> x = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 3.0], [4.0, 0.0, 0.0]])
    >>> columns, of = cluster_columns(x, np.array([0, 0, 0]), np.array([7, 8, 7]), "mean")
    >>> columns.tolist(), of.tolist()
    ([[5.0, 3.0, 5.0], [2.0, 2.0, 3.0]], [0, 0])
    """
    values, stratum, cluster = _in_clusters(x, stratum, cluster)
    if not len(values):
        return values, stratum
    if statistic != "mean":
        return _of_clusters(standardize(values)[0], stratum, cluster)
    starts = cluster_starts(stratum, cluster)
    finite = np.where(np.isfinite(values).all(axis=1, keepdims=True), values, np.nan)
    return np.add.reduceat(finite, starts, axis=0), stratum[starts]


def column_p_values(columns: ArrayLike, *, alternative: Literal["less", "greater"]) -> Floats:
    """Return the share of columns at least as extreme as the first, which counts among them, by stratum.

    Parameters
    ----------
    columns : (n_strata, R + 1) array_like
        A statistic of runs (column 0) and of their draws; NaN where undefined.
    alternative : {"less", "greater"}
        Which values are extreme.

    Returns
    -------
    (n_strata,) ndarray
        (1 + #{draws as extreme}) / (1 + #{defined draws}); values that differ by rounding are ties.

    Examples
    --------
    >>> column_p_values([[3.0, 1.0, 2.0, 3.0 + 1e-12]], alternative="greater").tolist()
    [0.5]
    """
    observed, drawn = tied(columns)
    return np.asarray(randomisation_test(observed, drawn, alternative=alternative).p_value, np.float64)


def tied(columns: ArrayLike) -> tuple[Floats, Floats]:
    """Return the first column and the others, which are equal to it where they differ by rounding alone."""
    values = np.asarray(columns, np.float64)
    observed, drawn = values[..., 0], values[..., 1:]
    scale = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=-1, initial=0.0)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        same = np.abs(drawn - observed[..., None]) <= SLACK * scale[..., None]
    return observed, np.where(same, observed[..., None], drawn)


def twice_mean(p: ArrayLike, stratum: Ints, cluster: Ints, n_strata: int) -> tuple[Floats, Ints]:
    """Combine the p-values of dependent runs: min(1, 2 x mean) within clusters, Fisher's sum over clusters.

    Twice the mean is a valid p-value whatever the dependence, and no smaller factor is [1]_.

    Parameters
    ----------
    p : (n,) array_like
        P-values of runs.
    stratum, cluster : (n,) ndarray of int
        Number of each run's stratum, from 0, and of its cluster.
    n_strata : int
        Number of strata.

    Returns
    -------
    sums : (n_strata,) ndarray
        -2 times the sum of the logarithms of the clusters' p-values; see `fisher`.
    n_clusters : (n_strata,) ndarray of int
        Their numbers.

    References
    ----------
    .. [1] Vovk, V., Wang, R. (2020). Combining p-values via averaging. doi:10.1093/biomet/asaa027
    """
    order = np.lexsort([cluster, stratum])
    values, stratum, cluster = np.asarray(p, np.float64)[order], stratum[order], cluster[order]
    if not len(values):
        return np.zeros(n_strata), np.zeros(n_strata, np.int64)
    starts = cluster_starts(stratum, cluster)
    sizes = np.diff(starts, append=len(values))
    of_cluster = np.minimum(1.0, 2 * np.add.reduceat(values, starts) / sizes)
    with np.errstate(divide="ignore"):  # exact p-values may be 0
        logs = -2 * np.log(np.where(sizes > 1, of_cluster, values[starts]))
    of = stratum[starts]
    return np.bincount(of, logs, n_strata).astype(np.float64), np.bincount(of, minlength=n_strata)


def fisher(sums: ArrayLike, n: ArrayLike) -> Floats:
    """Return the p-value of Fisher's combination of n independent p-values; NaN for none."""
    n = np.asarray(n, np.float64)
    p = scipy.special.chdtrc(2 * np.maximum(n, 1), np.asarray(sums, np.float64))
    return np.where(n > 0, p, np.nan)
