"""Options that several metrics share are explained once and reach every docstring."""

from __future__ import annotations

import pytest

import causaleval_pd as ce
from causaleval_pd.contract.options import with_options

TEXTS = {"floor": "floor : float\n    Smallest denominator.", "cap": "cap : float\n    Largest value."}


def test_entries_follow_the_signature_and_own_ones_are_kept():
    @with_options(TEXTS)
    def ratio(top, *, cap=1.0, floor=0.0):
        """Compute a ratio.

        More prose.

        Parameters
        ----------
        top : float
            What is divided,
            by one.
        floor : float
            My own floor.

        Examples
        --------
        >>> 1 + 1
        2
        """

    assert ratio.__doc__.split("\n\n")[:3] == [
        "Compute a ratio.",
        "More prose.",
        "Parameters\n----------\ntop : float\n    What is divided,\n    by one.\ncap : float\n    Largest value.\n"
        "floor : float\n    My own floor.",
    ]
    assert ratio.__doc__.endswith("Examples\n--------\n>>> 1 + 1\n2")


def test_an_option_without_a_text_is_an_error():
    with pytest.raises(KeyError, match="depth"):

        @with_options(TEXTS)
        def ratio(*, depth=1):
            """Compute a ratio."""


def test_functions_without_docstrings_are_left_alone():
    @with_options(TEXTS)
    def ratio(*, depth=1):
        return depth

    assert ratio.__doc__ is None and ratio(depth=2) == 2


def test_every_option_of_every_metric_is_documented():
    import inspect

    for name in ce.list_metrics().index:
        found = ce.get_metric(name)
        for option in list(inspect.signature(found).parameters)[1:]:
            assert f"\n{option} : " in found.__doc__, (name, option)
