"""What a statistical test is: its function on arrays, what the function takes, and what its result means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from ..contract.checks import check_known
from ..contract.registry import Registry

Design = Literal["paired", "independent", "blocks", "skill", "draws"]


@dataclass(frozen=True)
class StatisticalTest:
    """A statistical test that `compare` offers by its name.

    Parameters
    ----------
    name : str
        What users pass as `test=`.
    long_name : str
        Its name in words.
    function : callable
        Tests many samples at once, one per row along the last axis, NaN for missing values, and returns a tuple that
        begins with the arrays of statistics and p-values. It takes the keyword `alternative` ("two-sided", "less" or
        "greater"), the keywords named by `options`, and arrays that depend on `design`:

        - "paired": the differences a - b, (..., n).
        - "independent": two samples, (..., n) and (..., m).
        - "blocks": blocks of levels, (..., n, k), and the positions of the first and second level of every comparison.
        - "skill": the losses and expected control losses of the first level, a pair of (..., n), and those of the
          second; also the keyword `shift`.
        - "draws": the statistic of every stratum, (...), and of each draw of its controls, (..., n_draws). This is the
          one test of `summary`; `compare` takes none of this design.

        Runs that share a truth (`cluster=`) are one value: their mean, or for "skill" their sum.
    design : {"paired", "independent", "blocks", "skill", "draws"}
        What is compared.
    options : sequence of str
        Keywords that the function takes of "level", "rng".
    margin : bool
        Whether shifted differences can be tested, as equivalence needs.
    binary : bool
        Whether values must be 0 or 1.
    effect : str
        Effect size whose interval belongs to the test: "mean_difference", "hodges_lehmann" or "skill_difference".
    interval : bool
        Whether the function's result has limits `low` and `high` of that effect, as its last two arrays.
    signs : bool
        Whether p rests on the 2^n sign vectors of n pairs, so that no p-value is below 2^-n, two-sided 2^(1 - n).
    null, claim, statistic, assumption, avoid : str
        What its p-value means: the null hypothesis, the alternative, the statistic, what it assumes, and when not to
        use it.
    reference : str
        DOI or address of the paper.

    Raises
    ------
    ValueError
        If the design or an option is unknown.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> from causaleval_pd.inference.statistical_test import TESTS
    >>> t = TESTS.find("t")
    >>> t.design, t.resamples
    ('paired', False)
    """

    name: str
    long_name: str
    function: Callable[..., Any]
    design: Design
    options: Sequence[str] = ()
    margin: bool = True
    binary: bool = False
    effect: str = "mean_difference"
    interval: bool = False
    signs: bool = False
    null: str = ""
    claim: str = ""
    statistic: str = ""
    assumption: str = ""
    avoid: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        check_known(self.design, get_args(Design), f"design of test {self.name!r}")
        for option in self.options:
            check_known(option, ("level", "rng"), f"option of test {self.name!r}")

    @property
    def resamples(self) -> bool:
        """Whether the test draws random numbers."""
        return "rng" in self.options


#: all tests by name
TESTS: Registry[StatisticalTest] = Registry("test", "causaleval_pd.tests")


def register_test(test: StatisticalTest) -> StatisticalTest:
    """Register a statistical test and return it, so that `compare` offers it.

    Parameters
    ----------
    test : StatisticalTest
        The declaration of the test.

    Raises
    ------
    ValueError
        If other code has taken the name; code that runs again replaces what it registered.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> from causaleval_pd.inference.statistical_test import TESTS
    >>> ce.register_test(TESTS["t"])
    Traceback (most recent call last):
        ...
    ValueError: a test called 't' is already registered; choose another name
    """
    return TESTS.add(test.name, test)


def list_tests() -> pd.DataFrame:
    """Return the registered statistical tests, one per row.

    Returns
    -------
    DataFrame
        Indexed by name: the attributes of `StatisticalTest` in words, flags and names, and `resamples` (whether it
        draws random numbers). The design "draws" is that of `summary`, the others are of `compare`.

    Examples
    --------
    >>> import causaleval_pd as ce
    >>> ce.list_tests().loc["mcnemar", "null"]
    'Pairs (1, 0) and (0, 1) are equally probable.'
    """
    return TESTS.table(
        *("long_name", "design", "margin", "binary", "resamples", "effect"),
        *("null", "claim", "statistic", "assumption", "avoid", "reference"),
    )
