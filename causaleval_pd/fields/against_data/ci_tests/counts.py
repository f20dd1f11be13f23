"""Tests of independence of levels: Pearson's chi-squared and the likelihood ratio G, summed over strata."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..data_sets import DataError
from .kept import Bools, Floats, Ints

#: products of numbers of levels up to which strata are numbered without looking at the rows
_LARGEST = 1 << 40
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
        if bound > _LARGEST:
            found, number = np.unique(number, return_inverse=True)
            bound = len(found)
    found, number = np.unique(number, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(found)


class CountTests:
    """Tests of pairs of columns within strata, by chi-squared or (`ratio`) G, without correction for continuity.

    Expected counts are those of independence in each stratum; statistics and degrees of freedom are summed over the
    strata that rows show, (rows present - 1) (columns present - 1) each. `levels` (n, d) are positions of levels, of
    which there are `n_levels` (d,).
    """

    def __init__(self, levels: Ints, n_levels: Ints, *, ratio: bool) -> None:
        self.levels, self.n_levels, self.ratio = levels, n_levels, ratio
        self._strata = lru_cache(maxsize=_KEPT)(lambda given: strata(levels, n_levels, given))

    def p_values(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the p-values of pairs of columns, (m,), given sets, (m, d); 1 without degrees of freedom."""
        from scipy.special import gammaincc

        rows = zip(x.tolist(), y.tolist(), given, strict=True)
        found = np.array([self._statistic(i, j, tuple(np.flatnonzero(z).tolist())) for i, j, z in rows]).reshape(-1, 2)
        free = found[:, 1] > 0
        return np.where(free, gammaincc(np.where(free, found[:, 1], 1) / 2, found[:, 0] / 2), 1.0)

    def _statistic(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float]:
        """Return the statistic and its degrees of freedom."""
        number, n_strata = self._strata(given)
        shape = n_strata, int(self.n_levels[x]), int(self.n_levels[y])
        check_cells(*shape)
        at = (number * shape[1] + self.levels[:, x]) * shape[2] + self.levels[:, y]
        counts = np.bincount(at, minlength=shape[0] * shape[1] * shape[2]).reshape(shape).astype(np.float64)
        rows, columns = counts.sum(axis=2), counts.sum(axis=1)
        df = (((rows > 0).sum(axis=1) - 1) * ((columns > 0).sum(axis=1) - 1)).sum()
        expected = rows[:, :, None] * columns[:, None, :] / counts.sum(axis=(1, 2))[:, None, None]
        here = counts > 0 if self.ratio else expected > 0
        seen, wanted = counts[here], expected[here]
        parts = 2 * seen * np.log(seen / wanted) if self.ratio else (seen - wanted) ** 2 / wanted
        return float(parts.sum()), float(df)
