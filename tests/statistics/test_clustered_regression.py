"""Regression with clusters: statsmodels' mixed model, known tests as special cases, and its size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy import stats as scipy_stats
from statsmodels.regression.mixed_linear_model import MixedLM

from causaleval_pd.statistics.clustered_regression import clustered_fit, reml_variances


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
def test_variances_and_coefficients_are_those_of_statsmodels(seed):
    design, response, cluster = study(seed)
    keep = np.random.default_rng(seed).random(len(cluster)) < 0.7
    design, response, cluster = design[keep], response[keep], cluster[keep]
    theirs = MixedLM(response, design, groups=cluster).fit(reml=True)
    found = reml_variances(design, response, cluster)
    assert theirs.converged and found.converged
    assert found.cluster == pytest.approx(theirs.cov_re[0, 0], rel=1e-3)
    assert found.residual == pytest.approx(theirs.scale, rel=1e-3)
    fit = clustered_fit(design, response, cluster, found.cluster / found.residual)
    np.testing.assert_allclose(fit.estimate, theirs.fe_params, rtol=1e-3, atol=1e-4)


def test_variance_of_clusters_that_do_not_differ_is_none():
    response = np.tile([-1.0, 1.0, 2.0, -2.0], 5)
    found = reml_variances(np.ones((20, 1)), response, np.repeat(np.arange(5), 4))
    assert found.cluster == 0 and found.residual == pytest.approx(response.var(ddof=1))


def test_pairs_are_the_paired_t_test():
    values = np.random.default_rng(4).normal(size=(9, 2))
    design = np.tile([[1.0, 0.0], [1.0, 1.0]], (9, 1))
    theirs = scipy_stats.ttest_rel(values[:, 1], values[:, 0])
    for ratio in (0.0, 0.5, 10.0):
        fit = clustered_fit(design, values.reshape(-1), np.repeat(np.arange(9), 2), ratio)
        assert fit.estimate[1] / fit.error[1] == pytest.approx(theirs.statistic)
        assert fit.df[1] == pytest.approx(theirs.df)


def test_unequal_shares_lower_the_degrees_of_freedom():
    design = np.stack([np.ones(30), np.arange(30) < 2], axis=1).astype(float)
    fit = clustered_fit(design, np.random.default_rng(1).normal(size=30), np.arange(30), 0.0)
    assert fit.df[1] < 1.5 and fit.df[0] > 20


def test_coefficients_of_one_cluster_have_no_error():
    design, response, cluster = study(1)
    one = np.column_stack([design, cluster == 3])
    fit = clustered_fit(one.astype(float), response, cluster, 1.0)
    assert np.isnan(fit.error[4]) and np.isfinite(fit.error[:4]).all() and np.isfinite(fit.estimate).all()


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 1.0])
@pytest.mark.parametrize("n_clusters", [6, 20])
def test_every_coefficient_keeps_its_level(slope, n_clusters):
    repeats, rejected = 1000, np.zeros(4)
    for seed in range(repeats):
        design, response, cluster = study(seed, n_clusters, slope)
        variances = reml_variances(design, response, cluster)
        fit = clustered_fit(design, response, cluster, variances.cluster / variances.residual)
        rejected += 2 * special.stdtr(fit.df, -np.abs(fit.estimate / fit.error)) <= 0.05
    assert (rejected / repeats < 0.072).all()  # 3 standard errors above .05
