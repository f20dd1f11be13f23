"""Tests of conditional independence, each done once per data set, pair of nodes and conditioning set.

Pearson's chi-squared and the likelihood ratio G of levels, summed over strata; partial correlations, residual variances
and the tests that rest on them; and tests that others wrote: a user's function, or the kernel test of causal-learn.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.data_sets import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Kept:
    """Numbers by a pair of nodes and a set: `compute(x, y, given)` returns one each, whatever others it is given."""

    def __init__(self, compute: Callable[[Ints, Ints, Bools], Floats]) -> None:
        self._compute = compute
        self._found: dict[bytes, float] = {}

    def __len__(self) -> int:
        return len(self._found)

    def find(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the numbers of the pairs x, y, (m,), and sets, (m, d); compute those that are new."""
        if not len(x):
            return np.zeros(0)
        sets = np.packbits(given, axis=1)
        ends = np.stack([x, y], axis=1).astype("<u4")
        cells = np.ascontiguousarray(np.hstack([ends.view(np.uint8), sets]))
        words = cells.view(np.dtype((np.void, cells.shape[1])))[:, 0]
        distinct, first, inverse = np.unique(words, return_index=True, return_inverse=True)
        keys = [word.tobytes() for word in distinct]
        new = np.array([i for i, key in enumerate(keys) if key not in self._found], np.int64)
        if len(new):
            at = first[new]
            numbers = self._compute(x[at], y[at], given[at])
            self._found.update(zip([keys[i] for i in new.tolist()], numbers.tolist(), strict=True))
        return np.array([self._found[key] for key in keys])[inverse.reshape(-1)]


#: products of numbers of levels up to which strata are numbered without looking at the rows
_MOST_STRATA = 1 << 40
#: counts of one table
MOST_CELLS = 1 << 22
#: conditioning sets whose strata are kept at a time
_KEPT = 256


def check_cells(*shape: int) -> None:
    """Refuse tables of more counts than fit in memory, in which nearly all are 0."""
    if math.prod(shape) > MOST_CELLS:
        raise DataError(
            f"counts of columns with {' x '.join(map(str, shape[1:]))} levels in {shape[0]} strata would fill a table "
            f"of {math.prod(shape):,} cells, more than {MOST_CELLS:,}; cut the columns into fewer levels, as by "
            "pd.qcut, or take integers as numbers: convert them to floats, or name the test 'fisher_z'"
        )


def strata(levels: Ints, n_levels: Ints, given: tuple[int, ...]) -> tuple[Ints, int]:
    """Return the stratum of each row, those with the same levels of the given columns, and the number of strata."""
    number, bound = np.zeros(len(levels), np.int64), 1
    for column in given:
        bound *= int(n_levels[column])
        number = number * n_levels[column] + levels[:, column]
        if bound > _MOST_STRATA:
            distinct, number = np.unique(number, return_inverse=True)
            bound = len(distinct)
    distinct, number = np.unique(number, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(distinct)


class CountTests:
    """Tests of columns of levels (n, d) within strata, by chi-squared or (`ratio`) G, without continuity correction."""

    def __init__(self, levels: Ints, n_levels: Ints, *, ratio: bool) -> None:
        self.levels, self.n_levels, self.ratio = levels, n_levels, ratio
        self._strata = lru_cache(maxsize=_KEPT)(lambda given: strata(levels, n_levels, given))

    def p_values(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the p-values of pairs of columns, (m,), given sets, (m, d); 1 without degrees of freedom."""
        from scipy.special import gammaincc

        rows = zip(x.tolist(), y.tolist(), given, strict=True)
        statistics = [self._statistic(i, j, tuple(np.flatnonzero(z).tolist())) for i, j, z in rows]
        statistic, df = np.reshape(statistics, (-1, 2)).T
        return np.where(df > 0, gammaincc(np.where(df > 0, df, 1) / 2, statistic / 2), 1.0)

    def _statistic(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float]:
        """Return the statistic and its degrees of freedom."""
        number, n_strata = self._strata(given)
        shape = n_strata, int(self.n_levels[x]), int(self.n_levels[y])
        check_cells(*shape)
        at = (number * shape[1] + self.levels[:, x]) * shape[2] + self.levels[:, y]
        counts = np.bincount(at, minlength=shape[0] * shape[1] * shape[2]).reshape(shape).astype(np.float64)
        rows, columns = counts.sum(axis=2), counts.sum(axis=1)
        # of the rows and columns that a stratum shows
        df = (((rows > 0).sum(axis=1) - 1) * ((columns > 0).sum(axis=1) - 1)).sum()
        expected = rows[:, :, None] * columns[:, None, :] / counts.sum(axis=(1, 2))[:, None, None]
        here = counts > 0 if self.ratio else expected > 0
        seen, wanted = counts[here], expected[here]
        parts = 2 * seen * np.log(seen / wanted) if self.ratio else (seen - wanted) ** 2 / wanted
        return float(parts.sum()), float(df)


#: nodes up to which all partial correlations are computed at once: 67,584 of them
MOST_TABULATED = 12
#: Fisher's z of larger partial correlations is that of this one
_LARGEST_PARTIAL = 0.999999


def all_partials(correlations: Floats) -> tuple[Floats, Floats]:
    """Return every partial correlation and residual variance, by the recursion from smaller sets to larger."""
    d = len(correlations)
    partials, variances = np.empty((1 << d, d, d)), np.empty((1 << d, d))
    partials[0], variances[0] = correlations, 1.0
    for k in range(d):
        half = 1 << k
        before, to_k = partials[:half], partials[:half, :, k]
        rest = 1 - to_k**2
        rest[:, k] = np.nan  # the set holds k
        scale = np.sqrt(rest)
        after = before - to_k[:, :, None] * to_k[:, None, :]
        partials[half : 2 * half] = after / scale[:, :, None] / scale[:, None, :]
        variances[half : 2 * half] = variances[:half] * rest
    return partials, variances


class PartialCorrelations:
    """Partial correlations and residual variances of data with a correlation matrix (d, d), each computed once."""

    def __init__(self, correlations: Floats) -> None:
        self.correlations, self.d = correlations, len(correlations)
        self._partials, self._variances = Kept(self._solve_partials), Kept(self._solve_variances)

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        return all_partials(self.correlations)

    def _places(self, given: Bools) -> Ints:
        return np.asarray(given @ (1 << np.arange(self.d, dtype=np.int64)), np.int64)

    def partials(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the partial correlations of pairs of nodes, (m,), given sets, (m, d)."""
        if self.d <= MOST_TABULATED:
            return np.asarray(self._table[0][self._places(given), x, y])
        return self._partials.find(np.minimum(x, y), np.maximum(x, y), given)

    def log_variances(self, nodes: Ints, given: Bools) -> Floats:
        """Return the logarithms of the residual variances of nodes, (m,), given sets, in units of their variances."""
        if self.d <= MOST_TABULATED:
            return np.log(self._table[1][self._places(given), nodes])
        return self._variances.find(nodes, nodes, given)

    def _solve(self, ends: Ints, given: Bools, read: Callable[[Floats], Floats]) -> Floats:
        """Read numbers off inverse correlation matrices of nodes (m, k), which stand first, and sets (m, d)."""
        numbers, sizes = np.empty(len(ends)), given.sum(axis=1)
        for size in np.unique(sizes).tolist():
            some = np.flatnonzero(sizes == size)
            at = np.concatenate([ends[some], np.nonzero(given[some])[1].reshape(len(some), -1)], axis=1)
            numbers[some] = read(np.linalg.inv(self.correlations[at[:, :, None], at[:, None, :]]))
        return numbers

    def _solve_partials(self, x: Ints, y: Ints, given: Bools) -> Floats:
        ends = np.stack([x, y], axis=1)
        return self._solve(ends, given, lambda z: -z[:, 0, 1] / np.sqrt(z[:, 0, 0] * z[:, 1, 1]))

    def _solve_variances(self, nodes: Ints, _: Ints, given: Bools) -> Floats:
        return self._solve(nodes[:, None], given, lambda z: -np.log(z[:, 0, 0]))


def fisher_z_p(partials: Floats, n: int, sizes: Ints) -> Floats:
    """Return two-sided p-values of Fisher's z of partial correlations given sets of some sizes, from n rows."""
    from scipy.special import erfc

    bounded = np.clip(partials, -_LARGEST_PARTIAL, _LARGEST_PARTIAL)
    z = np.sqrt(np.maximum(n - sizes - 3, 0)) * np.arctanh(np.abs(bounded))
    return np.asarray(erfc(z / np.sqrt(2)))


def student_t_p(partials: Floats, n: int, sizes: Ints) -> Floats:
    """Return two-sided p-values of the t test of partial correlations given sets of some sizes, from n rows."""
    from scipy.special import stdtr

    df = np.maximum(n - sizes - 2, 1).astype(np.float64)
    rest = np.maximum(1 - partials**2, np.finfo(float).tiny)
    return np.asarray(2 * stdtr(df, -np.abs(partials) * np.sqrt(df / rest)))


#: `test(x, y, z)` returns the p-value of independence of x and y, (n,), given z, (n, k)
Test = Callable[[Floats, Floats, Floats], float]

#: seconds that the kernel tests of one data set may take, roughly
KERNEL_BUDGET = 600.0
#: seconds of a kernel test of 1000 rows, and the power of the rows by which it grows
_KERNEL_SECONDS, _KERNEL_POWER = 3.9, 2.9


def name_of(test: Test) -> str:
    """Return the name of a function."""
    return str(getattr(test, "__name__", type(test).__name__))


def call_test(test: Test, values: Floats, x: Ints, y: Ints, given: Bools) -> Floats:
    """Return the p-values of a function for pairs of columns, (m,), given sets, (m, d)."""
    _check_arguments(test)
    p_array = np.empty(len(x))
    for row, (i, j, z) in enumerate(zip(x.tolist(), y.tolist(), given, strict=True)):
        p: Any = test(values[:, i].copy(), values[:, j].copy(), values[:, z])
        if not isinstance(p, (int, float, np.floating)) or not 0 <= p <= 1:
            raise DataError(f"the test {name_of(test)} returned {p!r} where a p-value in [0, 1] was expected")
        p_array[row] = p
    return p_array


def _check_arguments(test: Test) -> None:
    """Refuse a function that does not take three arguments, where it shows what it takes."""
    try:
        taken = inspect.signature(test)
    except (TypeError, ValueError):
        return
    try:
        taken.bind(None, None, None)
    except TypeError as error:
        raise DataError(
            f"the test {name_of(test)} takes {taken}, and is called by test(x, y, z): the values of two nodes, (n,), "
            "and of those given, (n, k)"
        ) from error


class KernelTests:
    """The kernel test of causal-learn (extra `discovery`) on values (n, d), within a budget of time."""

    def __init__(self, values: Floats) -> None:
        try:
            from causallearn.utils.cit import CIT
        except ImportError as error:
            raise DataError("test='kci' needs causal-learn: pip install 'causaleval_pd[discovery]'") from error
        self._test = CIT(values, "kci")
        self._seconds, self._n = _KERNEL_SECONDS * (len(values) / 1000) ** _KERNEL_POWER, len(values)
        self._spent = 0.0

    def p_values(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the p-values of pairs of columns, (m,), given sets, (m, d)."""
        wanted = len(x) * self._seconds
        if self._spent + wanted > KERNEL_BUDGET:
            raise DataError(
                f"test='kci' takes about {self._seconds:.2g} s a test of {self._n} rows, and {len(x)} more tests would "
                f"exceed the {KERNEL_BUDGET:g} s that the tests of a data set may take; give fewer rows, as by "
                "data.sample(300, random_state=1), fewer draws, or a faster test"
            )
        self._spent += wanted
        rows = zip(x.tolist(), y.tolist(), given, strict=True)
        return np.array([float(self._test(i, j, np.flatnonzero(z).tolist())) for i, j, z in rows])
