"""Values by cluster against a loop; regression with clusters against refits without one, and its size."""

import numpy as np
import pytest
import scipy
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.regression.linear_model import OLS

from causaleval_pd.statistics.arrays import mean_difference
from causaleval_pd.statistics.clusters import cluster_means, cluster_sums, clustered_fit, clustered_mean


def test_sums_and_means_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    values = np.where(rng.random((40, 15)) < 0.2, np.nan, rng.normal(size=(40, 15)))
    groups = rng.integers(0, 6, (40, 15))
    sums, sizes = cluster_sums(values, groups)
    means = cluster_means(values, groups)
    for i in range(40):
        seen = [g for g, v in zip(groups[i], values[i], strict=True) if not np.isnan(v)]
        order = list(dict.fromkeys(seen))
        members = [values[i][(groups[i] == g) & ~np.isnan(values[i])] for g in order]
        np.testing.assert_allclose(sums[i, : len(order)], [x.sum() for x in members])
        np.testing.assert_allclose(means[i, : len(order)], [x.mean() for x in members])
        assert sizes[i, : len(order)].tolist() == [len(x) for x in members]
        assert np.isnan(sums[i, len(order) :]).all() and not sizes[i, len(order) :].any()


def test_without_clusters_values_stay():
    values = np.array([[1.0, np.nan, 3.0]])
    np.testing.assert_array_equal(cluster_means(values, None), values)


def test_clusters_of_one_value_keep_their_order():
    values = np.array([[3.0, np.nan, 1.0, 2.0]])
    assert cluster_means(values, [[9, 8, 4, 6]])[0, :3].tolist() == [3.0, 1.0, 2.0]


def test_rows_may_have_further_axes():
    values = np.arange(12.0).reshape(2, 2, 3)
    sums, sizes = cluster_sums(values, [1, 1, 2])
    np.testing.assert_array_equal(sums[..., 0], values[..., :2].sum(axis=-1))
    np.testing.assert_array_equal(sizes[..., :2], np.broadcast_to([2, 1], (2, 2, 2)))


def test_the_clustered_mean_leaves_out_one_cluster_at_a_time():
    rng = np.random.default_rng(3)
    sizes = np.array([1, 2, 3, 4, 5, 1, 2, 3, 4])
    groups = np.repeat(np.arange(9), sizes)
    values = rng.normal(size=25) + rng.normal(size=9)[groups]
    found = clustered_mean(values, groups, 0.95)
    without = [values[groups != g].mean() for g in range(9)]
    error = np.sqrt(8 / 9 * np.square(without - np.mean(without)).sum())
    half = scipy.stats.t.ppf(0.975, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    np.testing.assert_allclose(found, [values.mean(), values.mean() - half, values.mean() + half])
    gaps = clustered_mean(np.append(values, np.nan), np.append(groups, 0), 0.95)
    np.testing.assert_allclose(gaps, found)
    np.testing.assert_allclose(clustered_mean(values, np.arange(25), 0.95), mean_difference(values, 0.95))
    alone = clustered_mean(values, np.zeros(25), 0.95)
    assert alone.effect == found.effect and np.isnan([alone.low, alone.high]).all()


def test_the_clustered_mean_of_equal_clusters_is_the_t_interval_of_their_means():
    values = np.random.default_rng(4).normal(size=(3, 20))
    found = clustered_mean(values, np.arange(20) // 4, 0.9)
    np.testing.assert_allclose(found, mean_difference(values.reshape(3, 5, 4).mean(axis=2), 0.9))


def test_the_clustered_mean_has_no_limits_where_clusters_do_not_differ():
    found = clustered_mean([[0.1, 0.1, 0.1, 0.1], [0.0, 2.0, 0.0, 2.0], [np.inf, 1.0, 1.0, 2.0]], [1, 1, 2, 2], 0.95)
    assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("sizes", [[12, 4, 2, 1, 1], [20, 1, 1, 1, 1], [5] * 4, [12, 8, 1, 1, 1, 1, 1, 1, 3, 2]])
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_clustered_mean_covers(sizes, share):
    """`share` is the part of the variance that the values of a cluster have in common."""
    rng, groups = np.random.default_rng(5), np.repeat(np.arange(len(sizes)), sizes)
    common, own = rng.normal(size=(4000, len(sizes))), rng.normal(size=(4000, len(groups)))
    found = clustered_mean(np.sqrt(share) * common[:, groups] + np.sqrt(1 - share) * own, groups, 0.95)
    assert ((found.low <= 0) & (found.high >= 0)).mean() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 4000)


def study(seed, n_clusters=12, slope=0.0):
    """Return a design of intercept, algorithm, density, and n, with its clusters and random values."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(n_clusters), 6)
    algorithm, density = np.tile([0.0, 1.0], 3 * n_clusters), (cluster % 2).astype(float)
    n = np.tile(np.repeat([-1.0, 0.0, 1.0], 2), n_clusters)
    design = np.stack([np.ones(len(cluster)), algorithm, density, n], axis=1)
    own, tilt = rng.normal(size=n_clusters), slope * rng.normal(size=n_clusters)
    return design, own[cluster] + tilt[cluster] * algorithm + rng.normal(size=len(cluster)), cluster


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_errors_are_those_of_refits_without_a_cluster(seed):
    design, response, cluster = study(seed, slope=1.0)
    keep = np.random.default_rng(seed).random(len(cluster)) < 0.7
    design, response, cluster = design[keep], response[keep], cluster[keep]
    fit = clustered_fit(design, response, cluster)
    np.testing.assert_allclose(fit.estimate, OLS(response, design).fit().params, rtol=1e-9)
    left_out = [OLS(response[cluster != g], design[cluster != g]).fit().params for g in np.unique(cluster)]
    variance = (len(left_out) - 1) * np.var(left_out, axis=0)
    np.testing.assert_allclose(fit.error, np.sqrt(variance), rtol=1e-8)


def test_pairs_are_the_paired_t_test():
    values = np.random.default_rng(4).normal(size=(9, 2))
    design = np.tile([[1.0, 0.0], [1.0, 1.0]], (9, 1))
    theirs = scipy_stats.ttest_rel(values[:, 1], values[:, 0])
    fit = clustered_fit(design, values.reshape(-1), np.repeat(np.arange(9), 2))
    assert fit.estimate[1] / fit.error[1] == pytest.approx(theirs.statistic)
    assert fit.df[1] == pytest.approx(theirs.df)


def test_unequal_shares_lower_the_degrees_of_freedom():
    design = np.stack([np.ones(30), np.arange(30) < 2], axis=1).astype(float)
    fit = clustered_fit(design, np.random.default_rng(1).normal(size=30), np.arange(30))
    assert fit.df[1] < 1.5 and fit.df[0] > 20


def test_coefficients_of_one_cluster_have_no_error():
    design, response, cluster = study(1)
    one = np.column_stack([design, cluster == 3])
    fit = clustered_fit(one.astype(float), response, cluster)
    assert np.isnan(fit.error[4]) and np.isfinite(fit.error[:4]).all() and np.isfinite(fit.estimate).all()


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 1.0])
@pytest.mark.parametrize("n_clusters", [6, 20])
def test_every_coefficient_keeps_its_level(slope, n_clusters):
    repeats, rejected = 1000, np.zeros(4)
    for seed in range(repeats):
        fit = clustered_fit(*study(seed, n_clusters, slope))
        rejected += 2 * special.stdtr(fit.df, -np.abs(fit.estimate / fit.error)) <= 0.05
    assert (rejected / repeats < 0.072).all()  # 3 standard errors above .05
