"""Laws of metrics: sums, quantiles and tails against brute force over the support."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causaleval_pd.contract import law as module
from causaleval_pd.contract.law import ClosedForm, Distribution

VALUES = st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, math.nan])
LAWS = st.lists(st.tuples(VALUES, st.integers(0, 5)), min_size=1, max_size=6).filter(lambda x: sum(w for _, w in x))


def stored(laws):
    """Pad laws to one width, out of order."""
    width = max(map(len, laws)) + 1
    table = np.zeros((2, len(laws), width))
    for row, law in enumerate(laws):
        table[:, row, : len(law)] = np.array(law).T
    table[1] /= table[1].sum(axis=1, keepdims=True)
    return Distribution.of(np.arange(len(laws))[::-1].copy(), table[0], table[1])


@pytest.mark.slow
@given(st.lists(LAWS, min_size=1, max_size=4), VALUES, st.sampled_from(["minimize", "maximize", "zero"]))
def test_laws_equal_brute_force(laws, observed, direction):
    found = stored(laws)
    for row, law in enumerate(reversed(laws)):
        total = sum(w for _, w in law)
        known = [(v, w) for v, w in law if w and not math.isnan(v)]
        mass = sum(w for _, w in known)
        one = {name: getattr(found, name)[found.index[row]] for name in ("values", "weights", "undefined")}
        assert one["undefined"] == pytest.approx(1 - mass / total)
        assert (np.diff(one["values"]) >= 0).all() or not mass
        mean = found.expectation(np.square)[row]
        quantiles = [found.quantile(q)[row] for q in (0.0, 0.025, 0.5, 0.975, 1.0)]
        p, strict = (
            found.probability(np.full(len(laws), observed), direction=direction, optimum=0.5, strict=s)[row]
            for s in (False, True)
        )
        if not mass:
            assert np.isnan([mean, *quantiles, p, strict]).all()
            continue
        assert mean == pytest.approx(sum(v * v * w for v, w in known) / mass)
        support = sorted(known)
        for q, quantile in zip((0.0, 0.025, 0.5, 0.975, 1.0), quantiles, strict=True):
            assert quantile == min(v for v, _ in support if sum(w for u, w in support if u <= v) >= q * mass - 1e-9)
        if math.isnan(observed):
            assert np.isnan([p, strict]).all()
            continue
        loss = {"minimize": lambda v: v, "maximize": lambda v: -v, "zero": lambda v: abs(v - 0.5)}[direction]
        assert p == pytest.approx(sum(w for v, w in known if loss(v) <= loss(observed)) / mass)
        assert strict == pytest.approx(sum(w for v, w in known if loss(v) < loss(observed)) / mass)


def test_infinite_values_have_probability_and_an_infinite_mean():
    law = Distribution.of(np.array([0]), np.array([[np.inf, 1.0]]), np.array([[0.25, 0.75]]))
    assert law.expectation(lambda x: x)[0] == np.inf
    assert law.quantile(0.5)[0] == 1.0 and law.quantile(0.9)[0] == np.inf
    assert law.probability(np.array([np.inf]), direction="minimize", optimum=0.0)[0] == 1.0
    assert law.probability(np.array([5.0]), direction="minimize", optimum=0.0)[0] == 0.75


def test_pooled_laws_store_equal_values_once():
    law = Distribution.pooled(
        np.array([1, 0, 1]), [(np.array([2.0, 1.0, 2.0]), np.array([0.25, 0.5, 0.25])), (np.array([7.0]), np.ones(1))]
    )
    assert law.values.shape == (2, 2) and law.weights[0].tolist() == [0.5, 0.5]
    assert law.expectation(lambda x: x).tolist() == [7.0, 1.5, 7.0]
    assert Distribution.pooled(np.empty(0, np.int64), []).quantile(0.5).shape == (0,)


def test_tails_do_not_depend_on_blocks_of_rows(monkeypatch):
    rng = np.random.default_rng(2)
    weights = rng.random((5, 9))
    law = Distribution.of(rng.integers(0, 5, 50), np.tile(np.arange(9.0), (5, 1)), weights / weights.sum(1)[:, None])
    observed = rng.integers(-1, 10, 50).astype(float)
    whole = law.probability(observed, direction="minimize", optimum=0.0)
    monkeypatch.setattr(module, "TAIL_BLOCK", 20)
    np.testing.assert_array_equal(law.probability(observed, direction="minimize", optimum=0.0), whole)
    assert whole.max() == 1.0 and whole.min() == 0.0


def test_forms_of_some_rows_are_spread_over_all():
    law = Distribution.of(np.array([0, 0]), np.array([[1.0, 2.0]]), np.array([[0.5, 0.5]]))
    form = ClosedForm(np.array([1.5, 2.5]), np.array([0.25, np.nan]), law)
    assert form.spread(np.ones(2, bool)) is form
    rows = np.array([False, True, False, True])
    wide = form.spread(rows)
    np.testing.assert_array_equal(wide.mean, [np.nan, 1.5, np.nan, 2.5])
    np.testing.assert_array_equal(wide.variance, [np.nan, 0.25, np.nan, np.nan])
    np.testing.assert_array_equal(wide.listed, rows)
    assert len(wide.distribution.index) == 4 and wide.distribution.expectation(lambda x: x)[1] == 1.5
    assert ClosedForm(np.ones(1)).spread(np.array([True, False])).variance is None


def test_an_infinite_mean_has_no_variance():
    law = Distribution.of(np.arange(2), np.array([[1.0, math.inf], [1.0, 3.0]]), np.full((2, 2), 0.5))
    mean, variance = law.moments()
    assert mean.tolist() == [math.inf, 2.0]
    assert math.isnan(variance[0]) and variance[1] == 1.0
