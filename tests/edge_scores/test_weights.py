"""Weights against true weights."""

import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

TRUE = np.array([[0, 2.0, 0], [0, 0, -1.0], [0, 0, 0]])
FOUND = np.array([[0, 1.0, 0], [0, 0, 0], [0, 0.5, 0]])


def weights(*matrices):
    return ce.score_column(list(matrices), nodes=list("ABC"), encoding="row->column", kind="weight")


def test_values_by_hand():
    true, found = weights(TRUE, FOUND)
    assert ce.relative_frobenius(true, found) == pytest.approx(math.sqrt((1 + 1 + 0.25) / 5))
    assert ce.mean_squared_weight_error(true, found) == pytest.approx(2.25 / 6)
    assert ce.sign_accuracy(true, found) == 0.5
    assert ce.sign_accuracy(true, found, zero="drop") == 1
    assert ce.weight_cosine(true, found) == pytest.approx(2 / math.sqrt(5 * 1.25))
    empty = weights(0 * TRUE)[0]
    for metric in (ce.relative_frobenius, ce.sign_accuracy, ce.weight_cosine):
        assert math.isnan(metric(empty, found))


def test_tables_of_weights_take_metrics_of_graphs_and_scores():
    table = pd.DataFrame({"truth": weights(TRUE, TRUE), "estimate": weights(FOUND, TRUE)})
    found = table.ceval.evaluate(["relative_frobenius", "auroc", "shd"])
    assert found["relative_frobenius"][1] == 0 and found["auroc"][1] == 1
    assert found["shd"].tolist() == [1, 0]
    assert list(table.ceval.evaluate().columns[2:]) == ["relative_frobenius", "sign_accuracy"]
    controls = table.ceval.with_controls(["relative_frobenius", "weight_cosine"], rng=1, n_draws=200)
    assert (controls["relative_frobenius_p"] < 0.3).all(), "one of six relabellings is as good"
    assert controls["control_null"].unique().tolist() == ["permutation"]


def test_relabelled_weights_have_exact_means():
    rng = np.random.default_rng(1)
    names = ["mean_squared_weight_error", "weight_cosine"]
    table = pd.DataFrame({"truth": weights(TRUE, TRUE), "estimate": weights(FOUND, rng.normal(size=(3, 3)))})
    exact = table.ceval.with_controls(names, rng=1, columns="full", n_draws=2000)
    drawn = table.ceval.with_controls(names, rng=1, columns="full", n_draws=2000, method="simulate")
    for name in names:
        assert (exact[f"{name}_mean_method"] == "exact").all()
        error = (exact[f"{name}_control_mean"] - drawn[f"{name}_control_mean"]).abs()
        assert (error < 4 * drawn[f"{name}_control_mean_se"]).all()


def test_other_nodes_are_refused():
    other = ce.score_column([TRUE], nodes=list("ABX"), encoding="row->column", kind="weight")
    table = pd.DataFrame({"truth": weights(TRUE), "estimate": other})
    with pytest.raises(ValueError, match="truth has nodes"):
        table.ceval.evaluate(["relative_frobenius"])
