"""The lasso's path by its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

from causaleval_pd.baselines.lasso import lasso_by_bic, lasso_path


@pytest.mark.slow
def test_every_corner_is_a_lasso_solution():
    """At penalty C, residuals have inner product +-C with active predictors and at most C with others."""
    rng = np.random.default_rng(7)
    drops = 0
    for _ in range(300):
        p = int(rng.integers(1, 8))
        # correlated predictors of unequal scale, so that some are dropped along the path
        x = rng.normal(size=(40, p)) @ rng.normal(size=(p, p)) * rng.uniform(0.01, 3, p)
        y = x @ rng.normal(size=p) + rng.normal(size=40)
        x, y = x - x.mean(axis=0), y - y.mean()
        path = lasso_path(x.T @ x, x.T @ y)
        sizes = (path != 0).sum(axis=1)
        drops += (np.diff(sizes) <= 0).sum()  # one comes, one goes
        left = x.T @ (y[:, None] - x @ path.T)
        penalty = np.abs(left).max(axis=0)
        assert (np.diff(penalty) < 0).all()
        scale = np.abs(x.T @ y).max()
        for coefficients, product, most in zip(path, left.T, penalty, strict=True):
            active = coefficients != 0
            np.testing.assert_allclose(product[active], most * np.sign(coefficients[active]), atol=1e-9 * scale)
        np.testing.assert_allclose(path[-1], np.linalg.lstsq(x, y, rcond=None)[0], rtol=1e-6, atol=1e-9)
    assert drops > 10, "no predictor was ever dropped: the rule is not tested"


def test_bic_chooses_no_predictor_of_noise_and_all_of_a_clear_signal():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(500, 3))
    assert (lasso_by_bic(x, rng.normal(size=500)) == 0).all()
    found = lasso_by_bic(x, x @ [1.0, -2.0, 3.0] + rng.normal(size=500))
    np.testing.assert_allclose(found, [1, -2, 3], atol=0.15)


def test_too_few_cases_are_refused():
    with pytest.raises(ValueError, match="4 cases are too few for a regression on 3 variables: it needs more than 4"):
        lasso_by_bic(np.eye(4)[:, :3], np.arange(4.0))
