"""Partial correlations, residual variances, and the tests of independence that rest on them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .kept import Bools, Floats, Ints, Kept

#: nodes up to which all partial correlations are computed at once: 67,584 of them
MOST_TABULATED = 12
#: Fisher's z of larger partial correlations is that of this one
_LARGEST = 0.999999


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

    def _inverses(self, first: NDArray[np.int64], given: Bools) -> Floats:
        """Return the leading two rows of inverse correlation matrices of some nodes, (m, k), and sets of one size."""
        sets = np.nonzero(given)[1].reshape(len(given), -1)
        at = np.concatenate([first, sets], axis=1)
        return np.asarray(np.linalg.inv(self.correlations[at[:, :, None], at[:, None, :]])[:, :2, :2])

    def _solve_partials(self, x: Ints, y: Ints, given: Bools) -> Floats:
        found, sizes = np.empty(len(x)), given.sum(axis=1)
        for size in np.unique(sizes).tolist():
            some = np.flatnonzero(sizes == size)
            inverse = self._inverses(np.stack([x[some], y[some]], axis=1), given[some])
            found[some] = -inverse[:, 0, 1] / np.sqrt(inverse[:, 0, 0] * inverse[:, 1, 1])
        return found

    def _solve_variances(self, nodes: Ints, _: Ints, given: Bools) -> Floats:
        found, sizes = np.empty(len(nodes)), given.sum(axis=1)
        for size in np.unique(sizes).tolist():
            some = np.flatnonzero(sizes == size)
            found[some] = -np.log(self._inverses(nodes[some, None], given[some])[:, 0, 0])
        return found


def fisher_z_p(partials: Floats, n: int, sizes: Ints) -> Floats:
    """Return two-sided p-values of Fisher's z of partial correlations given sets of some sizes, from n rows."""
    from scipy.special import erfc

    bounded = np.clip(partials, -_LARGEST, _LARGEST)
    z = np.sqrt(np.maximum(n - sizes - 3, 0)) * np.arctanh(np.abs(bounded))
    return np.asarray(erfc(z / np.sqrt(2)))


def student_t_p(partials: Floats, n: int, sizes: Ints) -> Floats:
    """Return two-sided p-values of the t test of partial correlations given sets of some sizes, from n rows."""
    from scipy.special import stdtr

    df = np.maximum(n - sizes - 2, 1).astype(np.float64)
    rest = np.maximum(1 - partials**2, np.finfo(float).tiny)
    return np.asarray(2 * stdtr(df, -np.abs(partials) * np.sqrt(df / rest)))
