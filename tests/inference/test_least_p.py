"""Notes of tests that cannot reach .05 with so few clusters, and how many would."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from causaleval_pd.inference import compare as comparison


def compare(cube, dim, metrics=None, **how):
    return comparison.compare(cube, dim, metrics, **{"columns": "full"} | how)


@pytest.fixture
def apart(make_cube):
    """Return a cube of ten algorithms that differ as much as they can, on n truths."""

    def make(n, k=10):
        values = np.arange(k)[:, None] * np.linspace(10, 11, n) ** 2
        return make_cube({"algorithm": [f"a{i}" for i in range(k)]}, {"m": (values, "minimize")})

    return make


def test_forty_five_pairs_of_ten_clusters_cannot_differ(apart):
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


def test_claims_and_corrections_decide(apart):
    ranks = {"test": "wilcoxon"}
    assert compare(apart(5, 2), "algorithm", alternative="less", **ranks)["note"].tolist() == [
        "too few clusters for an interval"
    ]
    with pytest.raises(ValueError, match="needs 6 truths for 1 test with adjust='none', found 5"):
        compare(apart(5, 2), "algorithm", adjust="none", **ranks)


@pytest.mark.slow
def test_rows_of_several_sizes_are_corrected_together(make_cube):
    values = np.arange(2)[:, None, None] * np.linspace(10, 11, 16).reshape(2, 8) ** 2
    status = np.ones((2, 2, 8))
    status[:, 1, 5:] = 0
    cube = make_cube({"algorithm": ["x", "y"], "n": [1, 2]}, {"m": (values, "minimize")}, status=status)
    table = compare(cube, "algorithm", by="all", test="wilcoxon")
    np.testing.assert_allclose(table["p_adjusted"], multipletests([2 / 2**8, 2 / 2**5], method="holm")[1])
    assert table["note"].isna().tolist() == [True, False]


def test_tests_of_means_have_no_floor(apart):
    assert compare(apart(3), "algorithm", test="t")["note"].isna().all()
    # its own correction costs nothing: 45 pairs of 10 clusters can differ
    assert compare(apart(10), "algorithm", test="max_t")["note"].isna().all()


def test_p_values_that_no_resample_reached_are_at_the_floor(apart):
    """Differences as large as can be; up to 12 clusters sign vectors are all listed, so that p is exact."""
    for test in ("wilcoxon", "t"):
        assert not compare(apart(14, 3), "algorithm", test=test)["p_at_floor"].any()
    few, many = (compare(apart(n, 3), "algorithm", test="max_t") for n in (7, 40))
    assert many["p_at_floor"].tolist() == [True] * 3 and str(many["p_at_floor"].dtype) == "boolean"
    assert (many["p_value"] == 1 / 10_000).all()
    assert not few["p_at_floor"].any()
