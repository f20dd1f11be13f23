"""The statistic of a stratum: definitions by hand, ties, undefined and infinite values, and valid p-values."""

import itertools

import numpy as np
import pytest
from scipy import stats

from causaleval_pd.statistics import stratum_statistic
from causaleval_pd.statistics.stratum_statistic import (
    COMBINATIONS,
    STATISTICS,
    cluster_starts,
    column_p_values,
    combined_p,
    combined_sums,
    excess,
    fisher,
    mid_ranks,
    randomisation_test,
    stratum_columns,
    tied,
    twice_mean,
)


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_p_values_count_draws_at_least_as_extreme(alternative):
    rng = np.random.default_rng(1)
    observed, drawn = rng.integers(0, 6, 40).astype(float), rng.integers(0, 6, (40, 25)).astype(float)
    drawn[rng.random(drawn.shape) < 0.2] = np.nan
    found = randomisation_test(observed, drawn, alternative=alternative)
    np.testing.assert_array_equal(found.statistic, observed)
    for value, draws, p in zip(observed, drawn, found.p_value, strict=True):
        known = draws[~np.isnan(draws)]
        extreme = (known >= value) if alternative == "greater" else (known <= value)
        assert p == (1 + extreme.sum()) / (1 + len(known))


def test_ties_count_in_spite_of_rounding():
    assert randomisation_test(0.1 + 0.2, [0.3, 0.1], alternative="greater").p_value == 2 / 3


def test_nothing_is_undefined():
    found = randomisation_test([np.nan, 1.0], [[1.0, 2.0], [np.nan, np.nan]])
    assert np.isnan(found.p_value).all()


def test_two_sided_tests_are_refused():
    with pytest.raises(ValueError, match="alternative must be 'less' or 'greater', found 'two-sided'"):
        randomisation_test(1.0, [1.0, 2.0], alternative="two-sided")


RNG = np.random.default_rng(5)
STRATUM = np.array([0, 0, 0, 2, 2, 0, 2])
CLUSTER = np.array([7, 8, 7, 7, 9, 8, 9])
X = RNG.normal(3, 2, (7, 20))


def by_hand(x, cluster, statistic):
    """Return the columns of one stratum, from the definition."""
    away = x - np.nanmean(x, axis=1, keepdims=True)
    away[np.isnan(away)] = 0
    sums = np.stack([away[cluster == g].sum(axis=0) for g in np.unique(cluster)])
    return (stats.rankdata(sums, axis=1) if statistic == "rank" else sums).sum(axis=0)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("undefined", [False, True])
def test_statistic_is_as_defined(statistic, undefined):
    x = np.where(undefined & (np.random.default_rng(2).random(X.shape) < 0.4), np.nan, X)
    found, _ = stratum_columns(x, STRATUM, CLUSTER, 3, statistic)
    for s in (0, 2):
        mine = by_hand(x[s == STRATUM], CLUSTER[s == STRATUM], statistic)
        np.testing.assert_allclose(found.sums[s], mine, rtol=1e-12, atol=1e-12)
    assert np.isnan(found.values[1]).all()
    assert found.n_rows.tolist() == [4, 0, 3] and found.n_no_information.tolist() == [0, 0, 0]
    assert found.informed.tolist() == [True, False, True]
    turned = RNG.permutation(7)
    other, _ = stratum_columns(x[turned], STRATUM[turned], CLUSTER[turned], 3, statistic)
    np.testing.assert_array_equal(other.sums, found.sums)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_columns_are_treated_alike(statistic):
    order = RNG.permutation(20)
    found, turned = (stratum_columns(x, STRATUM, CLUSTER, 3, statistic)[0].values for x in (X, X[:, order]))
    np.testing.assert_allclose(turned, found[:, order], rtol=1e-12, atol=1e-12)


def test_without_undefined_values_the_mean_excess_is_the_test_of_the_mean():
    found, _ = stratum_columns(X, STRATUM, CLUSTER, 3, "mean")
    for s in (0, 2):
        mean = X[s == STRATUM].mean(axis=0)
        np.testing.assert_allclose(found.sums[s] / found.n_rows[s], mean - mean.mean(), atol=1e-12)


def test_runs_of_a_cluster_that_cancel_add_nothing():
    # such as precision of orientations of a graph and of its reversal; their sum differs by rounding alone
    x = RNG.integers(0, 8, (4, 200)) / 7
    both = np.concatenate([x, 1 - x[:1], 1.1 - x[1:2]])
    stratum, cluster = np.zeros(6, int), np.array([0, 1, 2, 3, 0, 1])
    for statistic, nothing in (("mean", 0.0), ("rank", 2 * 100.5)):  # the middle of 200 ranks
        found, _ = stratum_columns(both, stratum, cluster, 1, statistic)
        rest, _ = stratum_columns(x[2:], stratum[2:4], cluster[2:4], 1, statistic)
        np.testing.assert_allclose(found.sums, rest.sums + nothing, atol=1e-9)
    alone, _ = stratum_columns(both[[0, 4]], stratum[:2], stratum[:2], 1, "rank")
    assert column_p_values(alone.values, alternative="greater").tolist() == [1.0]


def test_rows_without_variation_and_undefined_values():
    x = np.array([[2.0, 2.0, 2.0, 2.0], [np.nan, 1.0, 3.0, 2.0], [np.nan] * 4])
    found = excess(x)
    assert found.informed.tolist() == [False, True, False]
    np.testing.assert_allclose(found.values[1], [0, -1, 1, 0])
    assert (found.values[[0, 2]] == 0).all()
    columns, _ = stratum_columns(x, np.zeros(3, int), np.arange(3), 1, "mean")
    assert (columns.n_rows[0], columns.n_no_information[0]) == (2, 1)
    assert columns.defined.tolist() == [[1, 2, 2, 2]]
    constant, _ = stratum_columns(x[:1], np.zeros(1, int), np.zeros(1, int), 1, "mean")
    assert not constant.informed[0]
    # the runs of this stratum have no value, its draws have
    undefined, _ = stratum_columns(x[1:2], np.zeros(1, int), np.zeros(1, int), 1, "mean")
    np.testing.assert_array_equal(undefined.values, [[np.nan, -1, 1, 0]])


def test_runs_outside_draws_that_do_not_vary_count_with_their_excess():
    x = np.array([[0.4, 0.5, 0.5, 0.5], [0.7, 0.5, np.nan, 0.5], [0.5, 0.5, 0.5, 0.5], [0.6, 0.5, 0.4, 0.5]])
    found = excess(x)
    assert found.outside.tolist() == [True, True, False, False]
    np.testing.assert_allclose(found.values[0], [-0.075, 0.025, 0.025, 0.025])
    columns, _ = stratum_columns(x, np.zeros(4, int), np.arange(4), 1, "mean")
    assert columns.n_outside.tolist() == [2] and columns.n_no_information.tolist() == [1]


def test_infinite_values_have_the_last_ranks_and_no_mean():
    x = np.array([[np.inf, 1.0, 2.0, np.inf], [0.0, 5.0, 2.0, 1.0]])
    both = np.zeros(2, int), np.arange(2)
    ranked, _ = stratum_columns(x, *both, 1, "rank")
    assert ranked.sums.tolist() == [[3.5 + 1, 1 + 4, 2 + 3, 3.5 + 2]] and not ranked.infinite[0]
    assert stratum_columns(x, *both, 1, "mean")[0].infinite.tolist() == [True]


def test_combinations_are_those_of_an_enumeration():
    rng = np.random.default_rng(4)
    for columns in (rng.integers(0, 4, (3, 6)).astype(float), rng.normal(size=(4, 8))):
        columns[:, 0] += 1
        sums = np.array([sum(x) for x in itertools.product(*columns.tolist())])
        names = rng.integers(0, 2**63, len(columns), dtype=np.uint64)
        for alternative, sign in (("greater", 1), ("less", -1)):
            exact = (sign * (sums - columns[:, 0].sum()) >= -1e-9).mean()
            found = combined_p(columns, names, 3, alternative=alternative)
            assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / COMBINATIONS) + 1e-5
            turned = combined_p(columns[::-1], names[::-1], 3, alternative=alternative)
            assert turned == found
            assert (found == combined_p(columns, names, 4, alternative=alternative)) == (exact == 1)
    best = np.tile(np.arange(20) == 0, (20, 1)).astype(float)
    assert combined_p(best, np.arange(20), 1, alternative="greater") == pytest.approx(1e-5)


@pytest.mark.parametrize("ahead", [-3, 0, 0.2, 0.5, 1, 2, 6])
@pytest.mark.parametrize("values", ["normal", "whole"])
def test_p_counts_all_combinations_also_where_it_stops_early(values, ahead):
    rng = np.random.default_rng(8)
    for n_clusters in (2, 5, 20):
        columns = rng.normal(size=(n_clusters, 30)) if values == "normal" else rng.integers(-3, 3, (n_clusters, 30)) / 7
        columns[:, 0] += ahead
        names = rng.integers(0, 2**63, n_clusters, dtype=np.uint64)
        ordered, sums = combined_sums(columns, names, 5)
        observed = ordered[:, 0].sum()
        p = [combined_p(columns, names, 5, alternative=side) for side in ("greater", "less")]
        assert p == [(1 + (x >= -1e-7).sum()) / (1 + COMBINATIONS) for x in (sums - observed, observed - sums)]


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_p_is_valid_with_undefined_values_repeated_clusters_and_constant_rows(statistic, monkeypatch):
    """A random column of each cluster is the observed one: sizes at .05 and .01 of 2,000 studies."""
    rng = np.random.default_rng(6)
    n, width = 2000, 40
    cluster = np.array([0, 0, 0, 1, 1, 2, 3, 4])
    base = rng.exponential(size=(8, width)) * np.array([[1], [3], [1], [0.2], [5], [1], [1], [1]])
    base[2] = np.round(base[2])
    base[3, 5:20] = base[5, :30] = np.nan
    base[6] = 0.5
    monkeypatch.setattr(stratum_statistic, "COMBINATIONS", 1999)
    p = np.empty(n)
    for i in range(n):
        chosen = rng.integers(0, width, 5)[cluster]
        x = base.copy()
        x[np.arange(8), 0], x[np.arange(8), chosen] = base[np.arange(8), chosen], base[:, 0]
        _, clusters = stratum_columns(x, np.zeros(8, int), cluster, 1, statistic)
        p[i] = combined_p(clusters.columns, clusters.name, i, alternative="greater")
    for alpha in (0.05, 0.01):
        assert (p <= alpha).mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / n)


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
