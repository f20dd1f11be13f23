"""Ranks of differences against scipy's, with ties, zeros and nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from causaleval_pd.statistics.ranks import rounded, signed_ranks


def test_signed_ranks_and_zeros():
    values = [3.0, 0.0, -1.0, 0.3, 0.1 + 0.2, np.nan]
    assert signed_ranks(values).tolist() == [1.5, 1.5, -3, 4, 0, 0]
    assert sorted(signed_ranks([np.inf, -np.inf, 1.0])) == [-2.5, 1.0, 2.5]


def test_rounding_spares_large_values():
    assert rounded([1e300, -np.inf, 0.1 + 0.2, 1234.5678901234567]).tolist() == [
        1e300,
        -np.inf,
        0.3,
        1234.5678901234567,
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_signed_ranks_equal_scipy_row_by_row(whole):
    rng = np.random.default_rng(5)
    values = rng.integers(-4, 6, (40, 17)).astype(float) if whole else rng.normal(size=(40, 17))
    values[rng.random(values.shape) < 0.2] = np.nan
    for row, found in zip(values, signed_ranks(values), strict=True):
        kept = row[~np.isnan(row)]
        kept = kept[kept != 0]
        expected = np.sign(kept) * scipy_stats.rankdata(np.abs(kept))
        assert sorted(found[found != 0]) == sorted(expected[expected != 0])


def test_ranks_of_nothing():
    assert signed_ranks(np.empty((3, 0))).shape == (3, 0)
    assert signed_ranks(np.full((2, 3), np.nan)).tolist() == [[0.0] * 3] * 2
    assert signed_ranks(np.zeros(3)).tolist() == [0.0] * 3
