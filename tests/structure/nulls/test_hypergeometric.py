"""Hypergeometric tails: compiled, plain, scipy's and exact rational numbers agree."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from causaleval_pd.structure.nulls import hypergeometric
from causaleval_pd.structure.nulls import hypergeometric_tails as compiled
from causaleval_pd.structure.nulls.hypergeometric import distinct, hypergeometric_tail, tails_of_distinct_laws
from causaleval_pd.structure.nulls.hypergeometric_tails import hypergeometric_tails

EITHER = pytest.mark.parametrize("tails", [hypergeometric_tails, tails_of_distinct_laws])


@EITHER
@pytest.mark.parametrize("m", [0, 1, 3, 10])
def test_every_small_law(tails, m):
    mt, me, x = (a.ravel() for a in np.meshgrid(range(m + 1), range(m + 1), range(-1, m + 2), indexing="ij"))
    expected = [
        float(sum(Fraction(comb(t, k) * comb(m - t, e - k), comb(m, e)) for k in range(max(0, lowest), min(t, e) + 1)))
        for t, e, lowest in zip(mt.tolist(), me.tolist(), x.tolist(), strict=True)
    ]
    found, misfit = tails(x, m, mt, me)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=0)
    assert misfit == 0  # x is -1
    fits = (x >= mt + me - m) & (x >= 0) & (x <= np.minimum(mt, me))
    assert tails(x[fits], m, mt[fits], me[fits])[1] == -1
    late = np.append(np.flatnonzero(fits), np.flatnonzero(~fits)[-2:])
    assert tails(x[late], m, mt[late], me[late])[1] == fits.sum()


@pytest.mark.slow
@EITHER
def test_small_tails_of_large_laws_keep_their_accuracy(tails):
    x = np.arange(0, 301, 10)
    exact = [
        float(sum(Fraction(comb(300, k) * comb(4650, 400 - k), comb(4950, 400)) for k in range(lowest, 301)))
        for lowest in x.tolist()
    ]
    found, _ = tails(x, 4950, np.full(len(x), 300), np.full(len(x), 400))
    np.testing.assert_allclose(found[exact > np.float64(1e-290)], np.array(exact)[np.array(exact) > 1e-290], rtol=1e-12)


@pytest.mark.slow
def test_many_laws_agree_with_scipy(monkeypatch):
    rng = np.random.default_rng(0)
    mt, me = rng.integers(0, 191, (2, 20_000))
    x = rng.hypergeometric(mt, 190 - mt, me) + rng.integers(-3, 4, 20_000)
    expected = stats.hypergeom.sf(x - 1, 190, mt, me)
    np.testing.assert_allclose(hypergeometric_tail(x, 190, mt, me), expected, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(tails_of_distinct_laws(x, 190, mt, me)[0], expected, rtol=1e-10, atol=1e-300)
    whole = hypergeometric_tails(x, 190, mt, me)[0]
    monkeypatch.setattr(compiled, "MOST_KEPT", 300)
    np.testing.assert_array_equal(hypergeometric_tails(x, 190, mt, me)[0], whole)
    monkeypatch.setattr(hypergeometric, "MOST_CELLS", 300)
    np.testing.assert_allclose(tails_of_distinct_laws(x, 190, mt, me)[0], expected, rtol=1e-10, atol=1e-300)


def test_looked_up_tails_have_the_same_bits(monkeypatch):
    """A row's p does not depend on how many rows there are."""
    rng = np.random.default_rng(1)
    for m, most in ((45, 46), (190, 191), (1225, 60)):
        mt, me = rng.integers(0, most, (2, 3000))
        x = rng.hypergeometric(mt, m - mt, me) + rng.integers(-3, 30, 3000)
        few = hypergeometric_tails(x, m, mt, me)
        monkeypatch.setattr(compiled, "ROWS_A_CELL", 1e-9)
        many = hypergeometric_tails(x, m, mt, me)
        monkeypatch.undo()
        np.testing.assert_array_equal(few[0], many[0])
        assert few[1] == many[1] == np.flatnonzero((x < np.maximum(0, mt + me - m)) | (x > np.minimum(mt, me)))[0]


def test_sizes_may_differ_and_broadcast():
    found = hypergeometric_tail([[1], [2]], [10, 15, 10], 5, [3, 4, 6])
    expected = stats.hypergeom.sf([[0], [1]], [10, 15, 10], 5, [3, 4, 6])
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert hypergeometric_tail([], 10, 5, 3).shape == (0,)


def test_distinct_rows_are_numbered_as_they_appear():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 50) * 2**61, rng.integers(-2, 2, 50), np.zeros(50, np.int64)]
    codes, first = distinct(columns)
    wanted, levels = pd.factorize(pd.MultiIndex.from_arrays(columns))
    assert codes.tolist() == wanted.tolist()
    assert [tuple(int(x[i]) for x in columns) for i in first] == list(levels)
    codes, first = distinct([np.empty(0, np.int64)] * 3)
    assert (len(codes), len(first)) == (0, 0)
