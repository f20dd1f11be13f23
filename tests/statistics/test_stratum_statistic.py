"""The statistic of a stratum: definitions by hand, ties, undefined and infinite values, and valid p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics.stratum_statistic import (
    Columns,
    cluster_starts,
    column_p_values,
    fisher,
    mid_ranks,
    standardize,
    stratum_columns,
    tied,
    twice_mean,
)

RNG = np.random.default_rng(5)
STRATUM = np.array([0, 0, 0, 2, 2, 0, 2])
CLUSTER = np.array([7, 8, 7, 7, 9, 8, 9])
X = RNG.normal(3, 2, (7, 20))


def by_hand(x, cluster, statistic):
    """Return the columns of one stratum, from the definition."""
    z = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    if statistic == "mean":
        return x.mean(axis=0)
    means = np.stack([z[cluster == g].mean(axis=0) for g in np.unique(cluster)])
    if statistic == "rank":
        return stats.rankdata(means, axis=1).mean(axis=0)
    return (means / means.std(axis=1, keepdims=True)).mean(axis=0)


@pytest.mark.parametrize("statistic", ["standardized", "mean", "rank"])
def test_statistic_is_as_defined(statistic):
    found = stratum_columns(X, STRATUM, CLUSTER, 3, statistic)
    for s in (0, 2):
        mine = by_hand(X[s == STRATUM], CLUSTER[s == STRATUM], statistic)
        np.testing.assert_allclose(found.values[s], mine, rtol=1e-12, atol=1e-12)
    assert np.isnan(found.values[1]).all()
    assert found.n_rows.tolist() == [4, 0, 3] and found.n_no_information.tolist() == [0, 0, 0]
    assert found.informed.tolist() == [True, False, True]
    turned = RNG.permutation(7)
    other = stratum_columns(X[turned], STRATUM[turned], CLUSTER[turned], 3, statistic)
    np.testing.assert_allclose(other.values, found.values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("statistic", ["standardized", "mean", "rank"])
def test_columns_are_treated_alike(statistic):
    order = RNG.permutation(20)
    found, turned = (stratum_columns(x, STRATUM, CLUSTER, 3, statistic).values for x in (X, X[:, order]))
    np.testing.assert_allclose(turned, found[:, order], rtol=1e-12, atol=1e-12)


def test_parts_of_strata_add_up():
    for statistic in ("standardized", "mean", "rank"):
        whole = stratum_columns(X, STRATUM, CLUSTER, 3, statistic)
        halves = (CLUSTER == 7, CLUSTER != 7)
        parts = [stratum_columns(X[some], STRATUM[some], CLUSTER[some], 3, statistic) for some in halves]
        added = parts[0] + parts[1]
        for a, b in zip(added, whole, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        stacked = Columns.stack([whole.take(slice(i, i + 1)) for i in range(3)])
        np.testing.assert_array_equal(stacked.sums, whole.sums)


def test_a_cluster_counts_by_how_well_its_runs_agree():
    row = RNG.normal(size=(1, 50))
    repeated, alone = (
        stratum_columns(x, np.zeros(len(x), int), np.ones(len(x), int), 1, "standardized").values
        for x in (np.repeat(row, 9, axis=0), row)
    )
    np.testing.assert_allclose(repeated, alone, atol=1e-12)


def test_runs_of_a_cluster_that_cancel_add_nothing():
    # such as precision of orientations of a graph and of its reversal; their sum differs by rounding alone
    x = RNG.integers(0, 8, (4, 200)) / 7
    both = np.concatenate([x, 1 - x[:1], 1.1 - x[1:2]])
    stratum, cluster = np.zeros(6, int), np.array([0, 1, 2, 3, 0, 1])
    for statistic in ("standardized", "rank"):
        found = stratum_columns(both, stratum, cluster, 1, statistic)
        rest = stratum_columns(x[2:], stratum[2:4], cluster[2:4], 1, statistic)
        nothing = 0.0 if statistic == "standardized" else 2 * 100.5  # the middle of 200 ranks
        np.testing.assert_allclose(found.sums, rest.sums + nothing, atol=1e-9)
    alone = stratum_columns(both[[0, 4]], stratum[:2], stratum[:2], 1, "standardized").values
    assert column_p_values(alone, alternative="greater").tolist() == [1.0]


def test_rows_without_variation_and_undefined_values():
    x = np.array([[2.0, 2.0, 2.0, 2.0], [np.nan, 1.0, 3.0, 2.0], [np.nan] * 4])
    z, informed = standardize(x)
    assert informed.tolist() == [False, True, False]
    np.testing.assert_allclose(z[1], [0, -np.sqrt(1.5), np.sqrt(1.5), 0])
    assert (z[[0, 2]] == 0).all()
    found = stratum_columns(x, np.zeros(3, int), np.arange(3), 1, "standardized")
    assert (found.n_rows[0], found.n_no_information[0]) == (2, 1)
    assert found.defined.tolist() == [[1, 2, 2, 2]]
    constant = stratum_columns(x[:1], np.zeros(1, int), np.zeros(1, int), 1, "mean")
    assert not constant.informed[0]


def test_infinite_values_lie_beyond_the_finite_ones():
    z, _ = standardize([[np.inf, 1.0, 2.0, -np.inf, np.nan], [np.inf, np.inf, np.inf, np.inf, np.inf]])
    expected = np.array([3.0, 1.0, 2.0, 0.0])
    np.testing.assert_allclose(z[0, :4], (expected - 1.5) / expected.std())
    assert z[0, 4] == 0 and (z[1] == 0).all()


def test_rounding_makes_no_difference():
    values = np.array([[0.1 + 0.2, 0.3, 0.5, 0.1]])
    observed, drawn = tied(values)
    assert drawn[0, 0] == observed[0]
    assert column_p_values(values, alternative="greater")[0] == 3 / 4
    assert column_p_values(values, alternative="less")[0] == 3 / 4
    assert mid_ranks(values).tolist() == [[2.5, 2.5, 4.0, 1.0]]


def test_twice_the_mean_is_combined_by_fisher():
    p, stratum, cluster = np.array([0.01, 0.03, 0.9, 0.2, 0.5]), np.array([1, 1, 1, 1, 0]), np.array([4, 4, 5, 5, 4])
    sums, n = twice_mean(p, stratum, cluster, 3)
    assert n.tolist() == [1, 2, 0]
    found = fisher(sums, n)
    assert found[1] == pytest.approx(stats.combine_pvalues([0.04, 1.0]).pvalue)
    assert found[0] == pytest.approx(0.5) and np.isnan(found[2])


def test_starts_of_clusters():
    starts = cluster_starts(np.array([0, 0, 0, 1]), np.array([3, 3, 4, 4]))
    assert starts.tolist() == [0, 2, 3]


def test_mid_ranks_are_those_of_scipy():
    values = np.random.default_rng(3).integers(-3, 4, (50, 9)) / 4
    values[7, 2] = np.nan
    values[8] = np.inf
    np.testing.assert_array_equal(mid_ranks(values), stats.rankdata(values, axis=1))
    assert mid_ranks(np.empty((0, 4))).shape == (0, 4)
