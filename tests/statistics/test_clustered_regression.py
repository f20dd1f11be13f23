"""Regression with clusters: refits without a cluster, known tests as special cases, and its size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.regression.linear_model import OLS

from causaleval_pd.statistics.clustered_regression import clustered_fit


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
