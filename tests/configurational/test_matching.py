"""Pairings of disjuncts against enumeration."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.configurational import minimisation as matching
from causaleval_pd.configurational.formula import FormulaTooLargeError, Work

codes = st.lists(st.integers(1, 31), min_size=1, max_size=4)


def overlaps(left, right):
    """All sets of non-empty intersections that partial pairings give."""
    padded = [*right, *([0] * len(left))]
    for chosen in itertools.permutations(padded, len(left)):
        yield {a & b for a, b in zip(left, chosen, strict=True)} - {0}


@given(codes, codes)
def test_best_overlap(left, right):
    sizes = {(sum(x.bit_count() for x in found), len(found)) for found in overlaps(left, right)}
    assert matching.best_overlap(left, right) == max(sizes)
    assert matching.best_overlap(left, right, disjuncts_first=True) == max((k, n) for n, k in sizes)


@given(codes, codes)
def test_injections(left, right):
    expected = any(
        all(not a & ~b for a, b in zip(left, chosen, strict=True))
        for chosen in itertools.permutations(right, len(left))
    )
    assert matching.injects(left, right) == expected


def test_a_search_that_takes_too_long_is_refused():
    with pytest.raises(FormulaTooLargeError, match="takes more than 10 steps"):
        matching.best_overlap([3, 5, 6, 9, 10], [12, 10, 9, 6, 5], work=Work(10))
