"""Judges: a data set with a test of independence, which is done once per pair of nodes and conditioning set."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ...contract.checks import check_choice, check_number
from .ci_tests import (
    MOST_TABULATED,
    Bools,
    CountTests,
    Floats,
    Ints,
    Kept,
    KernelTests,
    PartialCorrelations,
    Test,
    call_test,
    fisher_z_p,
    name_of,
    student_t_p,
)
from .data_sets import DataError, DataSet, read_data

#: tests by name; "pearsonr" is another name of "t"
NAMES = ("fisher_z", "t", "pearsonr", "chi_squared", "g", "kci")
ALPHA = 0.05


def _find_test(given: Any, data: DataSet) -> str | Test:
    """Return the test that a context names, by default the one for the types of the columns."""
    if given is not None:
        if not callable(given):
            check_choice(given, NAMES, "context 'test'")
        return "t" if given == "pearsonr" else given
    if data.is_float:
        return "fisher_z"
    if data.is_discrete:
        return "chi_squared"
    raise DataError(
        "the data have columns of floats and others; name the test, by context={..., 'test': ...}: 'fisher_z' takes "
        "integers as numbers, and a function test(x, y, z) takes any"
    )


def _warn_of_whole_numbers(data: DataSet) -> None:
    """Warn of floats that may be levels, such as integers that pandas made floats because of missing values."""
    if data.is_float and (data.values == np.round(data.values)).all():
        warnings.warn(
            f"the columns {list(data.names)[:5]} are floats that hold whole numbers, and are tested as numbers by "
            "Fisher's z; convert levels to integers, as by data.astype(int), for chi-squared tests, or name the test "
            "by context={..., 'test': 'fisher_z'}",
            stacklevel=2,
        )


class Judge:
    """A data set and a test of conditional independence: a name, or `test(x, y, z)`, which returns a p-value.

    By default "fisher_z" for floats and "chi_squared" for integers and categories.
    """

    def __init__(self, data: DataSet, test: str | Test | None = None) -> None:
        self.data, self.test = data, _find_test(test, data)
        self._unnamed = test is None
        self._kept = Kept(self._compute)

    @property
    def name(self) -> str:
        """Name of the test."""
        return self.test if isinstance(self.test, str) else name_of(self.test)

    @property
    def takes_levels(self) -> bool:
        """Whether the data are levels: they hold no floats, and no test of numbers is named."""
        return self.data.is_discrete and self.test not in ("fisher_z", "t")

    @property
    def largest_set(self) -> int:
        """Size of the largest set that the test can condition on."""
        rest = {"fisher_z": 4, "t": 3}.get(self.name if isinstance(self.test, str) else "")
        return self.data.n if rest is None else self.data.n - rest

    @cached_property
    def gaussian(self) -> PartialCorrelations:
        """Partial correlations of the data."""
        return PartialCorrelations(self.data.correlations)

    @cached_property
    def _table(self) -> Floats:
        """The p-values of all pairs and sets, for few nodes."""
        d = len(self.data.names)
        every = np.arange(1 << d)
        sizes = ((every[:, None] >> np.arange(d)) & 1).sum(axis=1)
        x, y = np.triu_indices(d, 1)
        given = (every[:, None] >> np.arange(d)) & 1 == 1
        table = np.full((1 << d, d, d), np.nan)
        for i, j in zip(x.tolist(), y.tolist(), strict=True):
            free = np.flatnonzero(~given[:, i] & ~given[:, j])
            both = np.full(len(free), i), np.full(len(free), j)
            table[free, i, j] = table[free, j, i] = self._gaussian_p(*both, given[free], sizes[free])
        return table

    def _gaussian_p(self, x: Ints, y: Ints, given: Bools, sizes: Ints) -> Floats:
        rule = fisher_z_p if self.test == "fisher_z" else student_t_p
        return rule(self.gaussian.partials(x, y, given), self.data.n, sizes)

    def p_values(self, x: Ints, y: Ints, given: Bools) -> Floats:
        """Return the p-values of pairs of nodes, (m,), given sets, (m, d)."""
        if self._unnamed:
            self._unnamed = False
            _warn_of_whole_numbers(self.data)
        if self.test in ("fisher_z", "t") and len(self.data.names) <= MOST_TABULATED:
            at = given @ (1 << np.arange(len(self.data.names), dtype=np.int64))
            return np.asarray(self._table[at, x, y])
        return self._kept.find(np.minimum(x, y), np.maximum(x, y), given)

    @cached_property
    def _compute(self) -> Callable[[Ints, Ints, Bools], Floats]:
        """The test for pairs that are not known yet."""
        test = self.test
        if callable(test):
            own: Test = test
            return lambda x, y, given: call_test(own, self.data.values, x, y, given)
        if test in ("chi_squared", "g"):
            return CountTests(*self.data.coded, ratio=test == "g").p_values
        if test == "kci":
            return KernelTests(self.data.numbers).p_values
        return lambda x, y, given: self._gaussian_p(x, y, given, given.sum(axis=1))


def read_judge(values: Mapping[str, Any], names: tuple[str, ...]) -> Judge:
    """Return the judge that a context gives graphs over some nodes."""
    missing = values.get("missing", "raise")
    check_choice(missing, ("raise", "drop"), "context 'missing'")
    return Judge(read_data(values["data"], names, drop_missing=missing == "drop"), values.get("test"))


def read_alpha(values: Mapping[str, Any]) -> float:
    """Return the level of the tests that a context gives: dependence is p <= alpha."""
    return check_number(values.get("alpha", ALPHA), "context 'alpha'", "(0, 1)")
