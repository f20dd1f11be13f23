"""Variable elimination against the product of all tables."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.causal_kl.laws import elimination
from causaleval_pd.causal_kl.laws.elimination import WidthError, elimination_steps, marginal


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("one_pass", [2**12, 4])
def test_marginals_of_random_products(seed, one_pass, monkeypatch):
    monkeypatch.setattr(elimination, "ONE_PASS", one_pass)
    elimination_steps.cache_clear()
    rng = np.random.default_rng(seed)
    cards = tuple(rng.integers(1, 4, size=7).tolist())
    scopes = [tuple(rng.permutation(7)[: rng.integers(1, 4)].tolist()) for _ in range(9)]
    scopes += [(v,) for v in range(7)]
    tables = [rng.random([cards[v] for v in scope]) for scope in scopes]
    keep = tuple(rng.permutation(7)[: rng.integers(0, 4)].tolist())
    everything = np.einsum(*(x for pair in zip(tables, map(list, scopes), strict=True) for x in pair), list(keep))
    np.testing.assert_allclose(marginal(scopes, tables, cards, keep), everything)
    elimination_steps.cache_clear()


def test_zeros_stay_exactly_zero():
    rng = np.random.default_rng(1)
    first, second = rng.random((3, 3)), rng.random((3, 3))
    first[:, 1] = 0
    found = marginal([(0, 1), (1, 2)], [first, second], (3, 3, 3), (1, 2))
    assert (found[1] == 0).all() and (found[[0, 2]] > 0).all()


def test_too_wide_tables_are_refused():
    with pytest.raises(WidthError, match="table over 26 variables with 6.71e"):
        marginal([(v, 25) for v in range(25)], [np.ones((2, 2))] * 25, (2,) * 26, tuple(range(25)))
