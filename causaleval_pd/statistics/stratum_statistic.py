"""The statistic of a stratum: the excess of its runs over their draws, added up by cluster and then by stratum.

Column 0 holds the runs, column r draw r of their controls. All functions treat the columns alike, so that they stay
exchangeable under the null hypothesis, which is what makes p-values of `column_p_values` and `combined_p` valid.

References
----------
.. [1] Vovk, V., Wang, R. (2020). Combining p-values via averaging. doi:10.1093/biomet/asaa027
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from .arrays import ranks_in_order
from .direction import TOLERANCE, as_good
from .paired_tests import Outcome


def randomisation_test(
    observed: ArrayLike, drawn: ArrayLike, *, alternative: Literal["less", "greater"] = "greater"
) -> Outcome:
    """Test whether an observed value (...) is exchangeable with its draws (..., n) under the null model.

    p is (1 + #{draws at least as extreme}) / (n + 1) over the defined draws; NaN without an observed value or a draw.
    Values within `1e-12 max(1, |observed|)` tie, and ties count as extreme.

    Notes
    -----
    Null hypothesis: the observed value is one more draw of the null model. Alternative: it tends to the named side.
    Assumption: the observed value and its draws are exchangeable under the null model, so draws of dependent runs must
    be drawn jointly. Not for draws of another model, such as other margins: their distance from the observed value is
    no evidence.
    """
    if alternative not in ("less", "greater"):
        raise ValueError(f"alternative must be 'less' or 'greater', found {alternative!r}")
    observed, drawn = np.asarray(observed, np.float64), np.asarray(drawn, np.float64)
    direction = "maximize" if alternative == "greater" else "minimize"
    extreme = as_good(drawn, observed[..., None], direction=direction, optimum=0.0).sum(axis=-1)
    n = (~np.isnan(drawn)).sum(axis=-1)
    return Outcome(observed, np.where(np.isnan(observed) | (n == 0), np.nan, (1 + extreme) / (n + 1)))


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Statistic = Literal["mean", "rank"]

STATISTICS: tuple[Statistic, ...] = ("mean", "rank")
#: columns this close to the first are ties, relative to the largest of a stratum: sums are rounded
SLACK = 1e-9
#: random combinations of one column of each cluster that a p-value counts, besides the observed one
COMBINATIONS = 99_999
#: clusters, or groups of clusters where there are more, whose columns are combined: a bound of the work
MOST_CLUSTERS = 2**14


class Columns(NamedTuple):
    """The statistic of every stratum, its runs in column 0 and draw r of their controls in column r."""

    #: (n_strata, R + 1): the statistic, infinite or NaN where a score is infinite
    sums: Floats
    #: (n_strata, R + 1): number of defined scores
    defined: Floats
    #: n_rows, n_no_information, n_outside, (n_strata,): runs, those of them whose columns are all equal, and those that
    #: differ from all their draws although these are equal
    n_rows: Ints
    n_no_information: Ints
    n_outside: Ints

    @property
    def values(self) -> Floats:
        """The statistic, (n_strata, R + 1); NaN in strata without runs, and for the runs where none has a value."""
        values = np.where(self.n_rows[:, None] > 0, self.sums, np.nan)
        values[self.defined[:, 0] == 0, 0] = np.nan
        return values

    @property
    def informed(self) -> Bools:
        """Which strata have a run whose columns differ."""
        return self.n_rows > self.n_no_information

    @property
    def infinite(self) -> Bools:
        """Which strata have an infinite score, so that their sums do not compare."""
        return np.asarray(~np.isfinite(self.sums).all(axis=1))

    @classmethod
    def stack(cls, parts: Sequence[Columns]) -> Columns:
        """Put strata one below the other."""
        return cls._make(np.concatenate(part) for part in zip(*parts, strict=True))


class Excess(NamedTuple):
    """The excess of runs over the means of their columns, and what these columns show."""

    #: (n, R + 1): 0 where a score is undefined or the columns of a run are all equal
    values: Floats
    #: informed, outside, (n,): runs whose columns differ, and of these the runs whose draws are all equal
    informed: Bools
    outside: Bools


def excess(columns: ArrayLike) -> Excess:
    """Subtract from each row (n, R + 1) the mean of its finite columns; infinite values stay infinite, NaN gives 0."""
    x = np.ascontiguousarray(columns, np.float64)
    finite = np.isfinite(x)
    kept = np.where(finite, x, 0.0)
    mean = kept.sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    values = np.where(np.isnan(x), 0.0, x - mean[:, None])
    noise = TOLERANCE * np.abs(kept).max(axis=1, initial=0.0)
    informed = np.abs(values).max(axis=1, initial=0.0) > noise
    values[~informed] = 0.0
    low, high = (end.reduce(x[:, 1:], axis=1, initial=np.nan) for end in (np.fmin, np.fmax))
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        alike = (np.isfinite(x[:, 1:]).sum(axis=1) > 1) & (high - low <= noise)
    return Excess(values, informed, informed & alike)


def mid_ranks(values: ArrayLike) -> Floats:
    """Return the mid-rank of every column within its row; values that differ by rounding are ties."""
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


def without_rounding(sums: Floats, scale: Floats) -> Floats:
    """Return clusters' summed excess (n_clusters, R + 1), 0 where it cancels but for rounding of the largest."""
    return np.where(np.abs(sums) <= SLACK * scale[:, None], 0.0, sums)


def cluster_ranks(sums: Floats, scale: Floats) -> Floats:
    """Return the mid-ranks of clusters' summed excess (n_clusters, R + 1) among its columns.

    Sums that differ by less than rounding of the largest excess, `scale`, are ties; infinite ones of both signs cancel.
    """
    with np.errstate(invalid="ignore"):
        return mid_ranks(np.where(np.isnan(sums), 0.0, sums) / np.where(scale > 0, scale, 1.0)[:, None])


def largest(values: Floats) -> Floats:
    """Return the largest finite absolute value of each row."""
    return np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1, initial=0.0)


class Clusters(NamedTuple):
    """What clusters add to the statistic of their strata, sorted by stratum."""

    #: (n_clusters, R + 1)
    columns: Floats
    #: (n_clusters,): strata
    stratum: Ints
    #: (n_clusters,): a number that depends on all scores of a cluster and on no order of rows
    name: NDArray[np.uint64]


def stratum_columns(
    x: ArrayLike, stratum: Ints, cluster: Ints, n_strata: int, statistic: Statistic
) -> tuple[Columns, Clusters]:
    """Return the statistic of strata, of their runs and of every draw (n, R + 1), and what each cluster adds to it.

    "mean" adds up the excess of runs over the means of their columns; "rank" adds up, over clusters, the mid-rank of
    the sum of a cluster's excess among its columns. A run that is undefined in all columns does not count.
    """
    scores = np.asarray(x, np.float64)
    names = _names(scores)
    # rows of a cluster in an order of their own, so that no digit depends on the order of the table
    order = np.lexsort([names, cluster, stratum])
    order = order[~np.isnan(scores[order]).all(axis=1)]
    scores, names, stratum, cluster = scores[order], names[order], stratum[order], cluster[order]
    values, informed, outside = excess(scores)
    sums, defined = np.zeros((2, n_strata, scores.shape[1]))
    numbers = [np.bincount(stratum[some], minlength=n_strata) for some in (slice(None), ~informed, outside)]
    starts = cluster_starts(stratum, cluster)
    of = stratum[starts]
    if not len(scores):
        return Columns(sums, defined, *numbers), Clusters(values, of, names)
    first = np.flatnonzero(np.diff(stratum, prepend=-1))
    defined[stratum[first]] = np.add.reduceat((~np.isnan(scores)).astype(np.float64), first, axis=0)
    with np.errstate(invalid="ignore"):  # infinities of both signs
        scale = np.maximum.reduceat(largest(values), starts)
        columns = without_rounding(np.add.reduceat(values, starts, axis=0), scale)
        if statistic == "rank":
            columns = cluster_ranks(columns, scale)
        first = np.flatnonzero(np.diff(of, prepend=-1))
        sums[of[first]] = np.add.reduceat(columns, first, axis=0)
    return Columns(sums, defined, *numbers), Clusters(columns, of, np.add.reduceat(names, starts))


def _names(x: Floats) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its values and their places."""
    alike = np.where(np.isnan(x), np.nan, x + 0.0)  # one NaN, one zero
    words = (hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in alike)
    return np.array([int.from_bytes(word, "little") for word in words], np.uint64)


def column_p_values(columns: ArrayLike, *, alternative: Literal["less", "greater"]) -> Floats:
    """Return the share of columns (n_strata, R + 1) at least as extreme as the first, which counts among them.

    Undefined draws do not count; values that differ by rounding are ties.
    """
    observed, drawn = tied(columns)
    return np.asarray(randomisation_test(observed, drawn, alternative=alternative).p_value, np.float64)


def combined_p(
    clusters: ArrayLike,
    names: ArrayLike,
    seed: int,
    *,
    alternative: Literal["less", "greater"],
) -> float:
    """Return the share of random combinations of one column of each cluster that reach the runs, which count as one.

    Where the columns of a cluster are exchangeable under the null hypothesis and clusters are independent, the runs are
    one of (R + 1) ** n_clusters combinations that are equally likely, so that this is a valid p-value. `clusters`
    (n_clusters, R + 1) are finite; their `names` and `seed` name the random stream, whatever the order of the clusters.
    """
    sign = 1.0 if alternative == "greater" else -1.0
    columns, additions = _combinations(sign * np.asarray(clusters, np.float64), names, seed)
    slack = SLACK * np.abs(columns).max(axis=1).sum()
    needed = columns[:, 0].sum() - slack
    most = columns.max(axis=1)
    # the most that the clusters which follow can add; with the slack, as sums differ by rounding
    following = most.sum() - np.cumsum(most) + slack
    sums = np.zeros(COMBINATIONS)
    for addition, left in zip(additions, following.tolist(), strict=True):
        sums += addition
        if sums.max() + left < needed:  # no combination can reach the runs any more
            return 1 / (1 + COMBINATIONS)
    return (1 + int((sums >= needed).sum())) / (1 + COMBINATIONS)


def combined_sums(clusters: ArrayLike, names: ArrayLike, seed: int) -> tuple[Floats, Floats]:
    """Return the columns of clusters, or of groups of many, and the sums of random combinations of them."""
    columns, additions = _combinations(clusters, names, seed)
    sums = np.zeros(COMBINATIONS)
    for addition in additions:
        sums += addition
    return columns, sums


def _combinations(clusters: ArrayLike, names: ArrayLike, seed: int) -> tuple[Floats, Iterator[Floats]]:
    """Return the columns of clusters, or of groups of many, and what each adds to random combinations, in one array."""
    columns, keys = np.asarray(clusters, np.float64), np.asarray(names, np.uint64)
    rng = np.random.default_rng([int(keys.sum()), seed])
    columns = columns[np.argsort(keys, kind="stable")]
    if len(columns) > MOST_CLUSTERS:
        starts = np.linspace(0, len(columns), MOST_CLUSTERS, endpoint=False).astype(np.int64)
        columns = np.add.reduceat(columns, starts, axis=0)
    width = columns.shape[1]
    kind = np.uint16 if width <= 2**16 else np.uint32
    chosen = np.empty(COMBINATIONS)
    # "clip" writes into `chosen` without a copy; no number is beyond the columns
    return columns, (
        column.take(rng.integers(0, width, COMBINATIONS, dtype=kind), out=chosen, mode="clip") for column in columns
    )


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

    Twice the mean is a valid p-value whatever the dependence, and no smaller factor is [1]_. Returns by stratum the sum
    of -2 log p of its clusters, for `fisher`, and their number.
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
