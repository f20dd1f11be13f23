"""Notes of tests that cannot reach .05 with so few clusters, and how many would."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from causaleval_pd.inference.compare import compare


@pytest.fixture
def apart(make_cube):
    """Return a cube of ten algorithms that differ as much as they can, on n truths."""

    def make(n, k=10):
        values = np.arange(k)[:, None] * np.linspace(10, 11, n) ** 2
        return make_cube({"algorithm": [f"a{i}" for i in range(k)]}, {"m": (values, "minimize")})

    return make


def test_forty_five_pairs_of_ten_clusters_cannot_differ(apart):
    table = compare(apart(10), "algorithm", test="sign")
    # 45 times 2 / 2^10; the differences are as large as can be
    assert table["p_adjusted"].tolist() == [pytest.approx(45 / 512)] * 45
    assert set(table["note"]) == {"p_adjusted is at least 0.088 with 10 clusters; 11 are needed for 0.05"}
    message = r"test='wilcoxon' needs 11 truths for 45 tests with adjust='holm', found 10: .* use test='t'$"
    with pytest.raises(ValueError, match=message):
        compare(apart(10), "algorithm", test="wilcoxon")
    assert (compare(apart(10), "algorithm", test="wilcoxon", level=0.9)["p_adjusted"] <= 0.1).all()
    enough = compare(apart(11), "algorithm", test="wilcoxon")
    assert enough["note"].isna().all() and (enough["p_adjusted"] <= 0.05).all()


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "by", "bh", None])
def test_wilcoxon_is_refused_with_the_first_number_that_suffices(apart, adjust):
    with pytest.raises(ValueError, match="found 5") as refused:
        compare(apart(5, 4), "algorithm", test="wilcoxon", adjust=adjust)
    needed = int(str(refused.value).split("needs ")[1].split()[0])
    with pytest.raises(ValueError, match=f"needs {needed} truths"):
        compare(apart(needed - 1, 4), "algorithm", test="wilcoxon", adjust=adjust)
    column = "p_adjusted" if adjust else "p_value"
    assert (compare(apart(needed, 4), "algorithm", test="wilcoxon", adjust=adjust)[column] <= 0.05).all()


@pytest.mark.parametrize("adjust", ["holm", "bonferroni", "by", "bh", None])
@pytest.mark.parametrize("test", ["sign", "sign_flip"])
def test_the_number_named_is_the_first_that_suffices(apart, test, adjust):
    few = compare(apart(5, 4), "algorithm", test=test, adjust=adjust, rng=1)["note"].iloc[0]
    needed = int(few.split("; ")[-1].split()[0])
    column = "p_adjusted" if adjust else "p_value"
    found = [compare(apart(n, 4), "algorithm", test=test, adjust=adjust, rng=1) for n in (needed - 1, needed)]
    assert (found[0][column] > 0.05).all() and (found[1][column] <= 0.05).all()
    assert found[0]["note"].str.contains(f"{needed} are needed").all()
    assert not found[1]["note"].str.contains("needed").fillna(False).any()


def test_families_and_claims_decide(apart):
    ranks = {"effect": "hodges_lehmann"}
    assert compare(apart(10), "algorithm", family="comparison", **ranks)["note"].isna().all()
    assert compare(apart(5, 2), "algorithm", alternative="less", **ranks)["note"].tolist() == [
        "too few clusters for an interval"
    ]
    two = compare(apart(5, 2), "algorithm", adjust="none", **ranks)["note"].iloc[0]
    assert two == "too few clusters for an interval; p_value is at least 0.062 with 5 clusters; 6 are needed for 0.05"


@pytest.mark.slow
def test_rows_of_several_sizes_are_corrected_together(make_cube):
    values = np.arange(2)[:, None, None] * np.linspace(10, 11, 16).reshape(2, 8) ** 2
    status = np.ones((2, 2, 8))
    status[:, 1, 5:] = 0
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (values, "minimize")}, status=status)
    table = compare(cube, "algorithm", by="all", test="wilcoxon")
    np.testing.assert_allclose(table["p_adjusted"], multipletests([2 / 2**8, 2 / 2**5], method="holm")[1])
    assert table["note"].isna().tolist() == [True, False]


def test_resamples_are_a_floor_too(apart):
    note = compare(apart(30), "algorithm", test="sign_flip", rng=1)["note"].iloc[0]
    assert note == "p_adjusted is at least 0.45 with 30 clusters; more n_resamples are needed"


def test_tests_of_means_have_no_floor(apart):
    assert compare(apart(3), "algorithm", test="t")["note"].isna().all()
    # its own correction costs nothing: 45 pairs of 10 clusters can differ
    assert compare(apart(10), "algorithm", test="max_t")["note"].isna().all()


@pytest.mark.parametrize("test", ["wilcoxon", "t", "max_t"])
def test_p_values_that_no_resample_reached_are_at_the_floor(apart, test):
    """Differences as large as can be; up to 12 clusters sign vectors are all listed, so that p is exact."""
    few, many = (compare(apart(n, 3), "algorithm", test=test, rng=1) for n in (7, 14))
    drawn = test in ("max_t")
    assert many["p_at_floor"].tolist() == [drawn] * 3 and str(many["p_at_floor"].dtype) == "boolean"
    assert (many["p_value"] == 1 / 200).all() == drawn
    assert few["p_at_floor"].tolist() == [test == "bootstrap"] * 3
    if test == "max_t":
        # 2^12 - 1 random sign vectors could give the p-value that all of them give
        twelve = compare(apart(12, 3), "algorithm", test=test, rng=1)
        assert twelve["p_value"].min() > 0 and not twelve["p_at_floor"].any()


def test_comparisons_without_a_p_value_are_not_marked(make_cube):
    gone = make_cube({"algorithm": ["x", "y"]}, {"m": (np.array([[1.0, 1.0], [np.nan, 2.0]]), "minimize")})
    found = compare(gone, "algorithm", test="bootstrap", rng=1)
    assert found["p_value"].isna().all() and found["p_at_floor"].isna().all()
