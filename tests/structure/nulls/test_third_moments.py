"""Third moments under random relabelling, against all relabellings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from causaleval_pd.structure.nulls.third_moments import central_third_moment, patterns, triple_sums


def test_ends_of_three_arcs_fall_together_in_87_ways():
    assert len(set(patterns())) == 87
    assert sorted({max(ends) + 1 for ends in patterns()}) == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("d", [2, 3, 4, 5, 6, 7])
def test_they_are_those_of_all_relabellings(d):
    rng = np.random.default_rng(d)
    a, b, costs = rng.normal(size=(3, 2, d, d)), rng.normal(size=(3, 3, d, d)), rng.normal(size=(3, 2, 3))
    a[1], b[1] = np.rint(a[1]) + 5, np.rint(b[1]) + 5
    found = central_third_moment(triple_sums(a), triple_sums(b), costs, d)
    for x in (a, b):
        x[..., range(d), range(d)] = 0
    weighed = np.einsum("nkl,nlij->nkij", costs, b)
    sums = [
        np.einsum("nkij,nkij->n", a, weighed[..., order, :][..., order])
        for order in map(list, itertools.permutations(range(d)))
    ]
    sums = np.array(sums)
    np.testing.assert_allclose(found, ((sums - sums.mean(axis=0)) ** 3).mean(axis=0), rtol=1e-9, atol=1e-9)


def test_no_graphs():
    none = triple_sums(np.zeros((0, 2, 4, 4)))
    assert none.shape == (0, 2, 2, 2, 87) and central_third_moment(none, none, np.ones((2, 2)), 4).shape == (0,)
