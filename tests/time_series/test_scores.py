"""Scores of links at lags against graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import causaleval_pd as ce

NAMES = ["X", "Y", "Z"]
AXES = {"encoding": "cause,effect,lag", "first_lag": 0, "nodes": NAMES}
OFF = ~np.eye(3, dtype=bool)


@pytest.mark.parametrize("name", ["val_matrix", "p_matrix"])
def test_scores_of_tigramite(run, name):
    matrix = run[name]
    p_values = name == "p_matrix"
    truth = ce.lagged_column(["X@-1 -> X; X@-1 -> Y; Y@-1 -> Y; X@-2 -> Z; Z@-2 -> X; Y -> Z"])
    labels = np.zeros((3, 3))
    labels[[0, 0, 2, 1], [1, 2, 0, 2]] = 1
    graph = truth.lagged.summary(two_cycles="undirected")
    # LPCMCI has p = 0 of a variable on itself at lag 0
    ranked = -np.log10(np.maximum(matrix, 1e-300)) if p_values else np.abs(matrix)
    for how in ("max", "mean"):
        scores = ce.lagged_scores([matrix], reduce=how, p_values=p_values, **AXES)
        over = getattr(ranked[:, :, 1:], how)(axis=2)
        assert ce.auroc(graph[0], scores[0]) == pytest.approx(roc_auc_score(labels[OFF], over[OFF]))
    at_lag_2 = ce.lagged_scores([matrix], lag=2, p_values=p_values, **AXES)
    directed = ce.as_graph("X -> Z; Y")
    lag_2 = np.zeros((3, 3))
    lag_2[0, 2] = 1
    assert ce.auroc(directed, at_lag_2[0]) == pytest.approx(roc_auc_score(lag_2[OFF], ranked[:, :, 2][OFF]))
    # at lag 0 scores are of pairs, and the diagonal means nothing
    at_lag_0 = ce.lagged_scores([matrix], lag=0, p_values=p_values, **AXES)
    frame = at_lag_0.score.to_frame()
    assert len(frame) == 3 and not frame.isna().any().any()


def test_a_lag_that_was_not_searched_has_no_scores(run):
    with pytest.raises(ValueError, match="row 0.*has no scores at lag 0"):
        ce.lagged_scores([run["p_matrix"]], lag=0, min_lag=1, p_values=True, **AXES)
    with pytest.raises(ValueError, match="row 0.*has the lags up to 2, not 3"):
        ce.lagged_scores([run["p_matrix"]], lag=3, p_values=True, **AXES)


def test_scores_of_fitted_models(series):
    from statsmodels.tsa.api import VAR

    fitted = VAR(pd.DataFrame(series, columns=NAMES)).fit(2)
    weights = ce.lagged_scores([fitted, None], lag=1)
    assert weights.isna().tolist() == [False, True]
    np.testing.assert_allclose(weights.score.to_numpy()[0], fitted.coefs[0].T)
    p = ce.lagged_scores([fitted, fitted.pvalues], lag=2, p_values=True).score.to_numpy()
    np.testing.assert_allclose(p[0], -np.log10(fitted.pvalues.iloc[4:7].to_numpy()))
    np.testing.assert_array_equal(p[0], p[1])
    same = ce.lagged_scores([fitted.coefs], lag=1, encoding="statsmodels coefs", nodes=NAMES)
    assert same[0] == weights[0]
    runs = pd.DataFrame({"truth": ce.lagged_column(["X@-1 -> Y; X@-2 -> Z; Y@-1 -> Z"]).lagged.summary()})
    runs["estimate"] = ce.lagged_scores([fitted], reduce="max", p_values=True)
    assert runs.ceval.with_controls(["auroc"], n_draws=50, rng=1)["auroc"].item() > 0.8


def test_what_is_asked():
    stack = np.zeros((2, 2, 2))
    for how in ({}, {"lag": 1, "reduce": "max"}):
        with pytest.raises(ValueError, match="pass lag= for the scores at one lag, or reduce="):
            ce.lagged_scores([stack], **how)
    with pytest.raises(ValueError, match="axes of arrays differ"):
        ce.lagged_scores([stack], lag=1)
    with pytest.raises(TypeError, match="row 0.*has no scores of all links"):
        ce.lagged_scores([{"source": [], "target": [], "lag": []}], lag=1)
    with pytest.raises(ValueError, match="expects numbers between 0 and 1"):
        ce.lagged_scores([stack + 2], lag=1, p_values=True, encoding="cause,effect,lag", first_lag=0)
    with pytest.raises(ValueError, match="no lags from 1"):
        ce.lagged_scores([stack[:, :, :1]], reduce="max", encoding="cause,effect,lag", first_lag=0)
