"""Tests of independence that others wrote: a function of the user's, or the kernel test of causal-learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data_sets import DataError
from .kept import Bools, Floats, Ints

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
    found = np.empty(len(x))
    for row, (i, j, z) in enumerate(zip(x.tolist(), y.tolist(), given, strict=True)):
        p: Any = test(values[:, i].copy(), values[:, j].copy(), values[:, z])
        if not isinstance(p, (int, float, np.floating)) or not 0 <= p <= 1:
            raise DataError(f"the test {name_of(test)} returned {p!r} where a p-value in [0, 1] was expected")
        found[row] = p
    return found


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
