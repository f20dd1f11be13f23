"""Minimal forms relative to data, by trying everything; pairings of disjuncts against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causaleval_pd.configurational.formula import FormulaTooLargeError, Work
from causaleval_pd.configurational.minimisation import Caps, Minimiser, ThresholdMinimiser, best_overlap, injects
from causaleval_pd.configurational.truth_table import FuzzyTable, TruthTable

CAPS = Caps(3, 4, 10)
OUTCOME = 1 << 6
codes = st.integers(1, 62)
candidates = st.frozensets(codes, min_size=1, max_size=3)
cases = st.lists(st.integers(0, 15), min_size=2, max_size=10)


def tables(rows):
    """Three binary factors (two bits each) and an outcome, as bit planes and as memberships."""
    columns = {}
    for factor in range(3):
        for value in (0, 1):
            columns[1 << (2 * factor + value)] = [(row >> factor & 1) == value for row in rows]
    columns[OUTCOME] = [row >> 3 & 1 == 1 for row in rows]
    planes = {bit: sum(1 << i for i, x in enumerate(column) if x) for bit, column in columns.items()}
    member = {bit: np.array(column, float) for bit, column in columns.items()}
    return TruthTable((1 << len(rows)) - 1, planes), FuzzyTable(len(rows), member)


def by_trying(member, n_cases, candidate, con, cov):
    """Search all sets of all parts of a candidate's disjuncts."""
    y = member.planes[OUTCOME]

    def consistent(x):
        return x.sum() > 0 and np.minimum(x, y).sum() / x.sum() >= con - n_cases * 2.2e-16

    def parts(code):
        return [p for p in range(1, 64) if p & ~code == 0 and p.bit_count() <= 3]

    good = {p for code in candidate for p in parts(code) if consistent(member.conjunction(p))}
    pool = {p for p in good if not any(q != p and q & p == q for q in good)}
    found = []
    for size in range(1, len(candidate) + 1):
        for form in map(frozenset, itertools.combinations(sorted(pool), size)):
            x = member.disjunction(form)
            covers = np.minimum(x, y).sum() >= (cov - n_cases * 2.2e-16) * y.sum()
            fits = any(
                all(p & ~code == 0 for p, code in zip(form, chosen, strict=True))
                for chosen in itertools.permutations(candidate, size)
            )
            small = sum(p.bit_count() for p in form) <= 10
            if covers and consistent(x) and fits and small and not any(f < form for f in found):
                found.append(form)
    return set(found)


@settings(deadline=None)
@given(cases, candidates, st.sampled_from([1.0, 0.8, 0.6]), st.sampled_from([1.0, 0.75, 0.5]))
def test_thresholds(rows, candidate, con, cov):
    crisp, fuzzy = tables(rows)
    own = [ThresholdMinimiser(t, OUTCOME, CAPS, consistency=con, coverage=cov) for t in (crisp, fuzzy)]
    assert own[0].constant == own[1].constant == (len({row >> 3 for row in rows}) == 1)
    if not own[0].constant:
        expected = by_trying(fuzzy, len(rows), candidate, con, cov)
        assert set(own[0].forms(candidate)) == set(own[1].forms(candidate)) == expected


@settings(deadline=None)
@given(cases, candidates)
def test_perfect_thresholds_are_the_exact_minimiser(rows, candidate):
    crisp, _ = tables(rows)
    exact, threshold = (
        Minimiser(crisp, OUTCOME, CAPS),
        ThresholdMinimiser(crisp, OUTCOME, CAPS, consistency=1, coverage=1),
    )
    if not exact.constant:
        assert set(exact.forms(candidate)) == set(threshold.forms(candidate))


@pytest.mark.slow
@settings(deadline=None)
@given(cases, st.lists(candidates, min_size=20, max_size=40))
def test_many_candidates_at_once_have_the_forms_that_each_has_alone(rows, many):
    crisp, _ = tables(rows)
    together = Minimiser(crisp, OUTCOME, CAPS)
    if not together.constant:
        alone = [Minimiser(crisp, OUTCOME, CAPS).forms(candidate) for candidate in many]
        assert together.forms(*many) == set().union(*alone)


def test_long_searches_are_refused():
    crisp, _ = tables(range(16))
    minimiser = ThresholdMinimiser(crisp, OUTCOME, CAPS, consistency=0.9, coverage=0.1, work=Work(5))
    with pytest.raises(FormulaTooLargeError, match="takes more than 5 steps"):
        minimiser.forms(frozenset([0b010101, 0b101010]))


formulas = st.lists(st.integers(1, 31), min_size=1, max_size=4)


def overlaps(left, right):
    """All sets of non-empty intersections that partial pairings give."""
    padded = [*right, *([0] * len(left))]
    for chosen in itertools.permutations(padded, len(left)):
        yield {a & b for a, b in zip(left, chosen, strict=True)} - {0}


@given(formulas, formulas)
def test_best_overlap(left, right):
    sizes = {(sum(x.bit_count() for x in found), len(found)) for found in overlaps(left, right)}
    assert best_overlap(left, right) == max(sizes)
    assert best_overlap(left, right, disjuncts_first=True) == max((k, n) for n, k in sizes)


@given(formulas, formulas)
def test_injections(left, right):
    expected = any(
        all(not a & ~b for a, b in zip(left, chosen, strict=True))
        for chosen in itertools.permutations(right, len(left))
    )
    assert injects(left, right) == expected


def test_a_search_that_takes_too_long_is_refused():
    with pytest.raises(FormulaTooLargeError, match="takes more than 10 steps"):
        best_overlap([3, 5, 6, 9, 10], [12, 10, 9, 6, 5], work=Work(10))
