"""Adjusted p-values against statsmodels, family by family."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from causaleval_pd.statistics.multiplicity import adjust


@pytest.mark.parametrize(
    ("name", "theirs"),
    [("holm", "holm"), ("bh", "fdr_bh"), ("by", "fdr_by"), ("fdr_bh", "fdr_bh"), ("bonferroni", "bonferroni")],
)
def test_adjustment_leaves_undefined_p_values_out(name, theirs):
    p = np.array([0.01, np.nan, 0.2, 0.03, 0.04])
    found = adjust(p, name)
    np.testing.assert_allclose(found[[0, 2, 3, 4]], multipletests(p[[0, 2, 3, 4]], method=theirs)[1])
    assert np.isnan(found[1])
    assert p[1] != p[1] and p[0] == 0.01


@pytest.mark.parametrize("name", ["holm", "bonferroni", "fdr_bh", "fdr_by"])
def test_families_are_adjusted_as_by_statsmodels(name):
    rng = np.random.default_rng(6)
    p = np.round(rng.beta(0.5, 2, 200), 2)
    p[::17] = np.nan
    family = rng.integers(0, 12, 200)
    found = adjust(p, name, family)
    for label in range(12):
        rows = (family == label) & ~np.isnan(p)
        np.testing.assert_allclose(found[rows], multipletests(p[rows], method=name)[1], rtol=1e-12)
    assert np.isnan(found[::17]).all()


def test_adjustment_within_families():
    p = np.array([0.01, 0.02, 0.03, np.nan])
    assert adjust(p, "bonferroni", ["a", "b", "a", "b"]).tolist()[:3] == [0.02, 0.02, 0.06]
    np.testing.assert_array_equal(adjust(p, None), p)
    np.testing.assert_array_equal(adjust(p, "none"), p)
    assert np.isnan(adjust([np.nan, np.nan], "holm")).all()
    assert adjust([], "holm").shape == (0,)
    with pytest.raises(ValueError, match=r"unknown correction 'hommel'.*'holm'"):
        adjust(p, "hommel")
