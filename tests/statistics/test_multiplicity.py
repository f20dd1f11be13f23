"""Adjusted p-values against statsmodels, family by family."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from causaleval_pd.statistics.multiplicity import adjust, auto_draws, floors


@pytest.mark.slow
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


@pytest.mark.slow
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


def test_families_whose_draws_are_too_few_name_the_draws_that_they_need():
    """The case of 60 perfect strata of 1,000 draws, and the same family with some exact p-values."""
    least = np.full(60, 1 / 1001)
    [found] = floors(least, least, "holm")
    assert (found.n_tests, found.draws_needed) == (60, 1199)
    assert found.least_adjusted == pytest.approx(60 / 1001) and adjust(least, "holm").min() == found.least_adjusted
    enough = np.full(60, 1 / 1200)
    assert floors(enough, enough, "holm") == [] and adjust(enough, "holm").min() <= 0.05
    assert floors(least, least, "bonferroni")[0].draws_needed == 1199
    # all 60 at the floor pass by Benjamini and Hochberg's correction; one alone needs as many draws as by Holm's
    assert floors(least, least, "bh") == []
    alone = np.r_[1 / 1001, np.full(59, 0.5)]
    assert floors(alone, least, "bh")[0].draws_needed == 1199
    # no p-value is at the floor; by 39 draws one of two tests may pass: 2 / 40 = .05
    assert floors(np.full(2, 0.5), np.full(2, 1 / 11), "bh")[0].draws_needed == 39
    by = floors(least, least, "by", 0.001)[0]
    assert by.draws_needed == pytest.approx((1 / np.arange(1, 61)).sum() / 0.001, abs=1)
    # p-values that do not rest on draws come first in Holm's order
    mixed = np.r_[np.full(20, 1e-9), np.full(40, 1 / 1001)]
    assert floors(mixed, np.r_[np.full(20, np.nan), least[:40]], "holm") == []
    assert floors(np.full(3, 1e-9), np.full(3, np.nan), "holm") == [] == floors(least, least, "none")
    families = np.repeat(["a", "b"], [50, 10])
    assert floors(least, least, "holm", 0.04, families)[0].n_tests == 50
    assert len(floors(least, least, "holm", 0.04, families)) == 1


def test_as_many_draws_as_a_family_needs():
    assert [auto_draws(n) for n in (1, 30, 60, 300)] == [999, 5999, 11999, 59999]
    assert auto_draws(500) == 99_999 and auto_draws(501) == 9_999
    assert auto_draws(1, alpha=0.005) == 1999
