"""Probabilities: Brier's parts add up, logarithmic loss is that of hand counts, calibration has its own null model."""

import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.edge_scores import brier_parts, calibration_points

NAMES = ["A", "B", "C", "D"]


def probabilities(rng, n, digits=8):
    found = rng.random((n, 4, 4)).round(digits)
    return ce.score_column(found, nodes=NAMES, encoding="row->column", kind="probability")


def test_scores_of_one_pair():
    cell = ce.score_column([[[0, 0.75], [0.25, 0]]], nodes=["A", "B"], encoding="row->column")[0]
    assert ce.brier("A -> B", cell) == pytest.approx(0.25**2)
    assert ce.log_loss("A -> B", cell) == pytest.approx(-math.log(0.75))
    sure = ce.score_column([[[0, 0.0], [1.0, 0]]], nodes=["A", "B"], encoding="row->column")[0]
    assert math.isinf(ce.log_loss("A -> B", sure))
    assert ce.log_loss("A -> B", sure, clip=0.01) == pytest.approx(-math.log(0.01))
    assert ce.log_loss("B -> A", sure, clip=0.01) == pytest.approx(-math.log(0.99))
    assert ce.calibration_error("A -> B", cell) == pytest.approx(0.25)


@pytest.mark.parametrize("bins", [None, 1, 3, 10])
@pytest.mark.parametrize("strategy", ["width", "quantile"])
def test_parts_add_up(bins, strategy):
    cell = probabilities(np.random.default_rng(1), 1, digits=1)[0]
    parts = brier_parts("A -> B; B -> C; D", cell, bins=bins, strategy=strategy)
    total = parts["reliability"] - parts["resolution"] + parts["uncertainty"]
    total += parts["within_variance"] - 2 * parts["within_covariance"]
    assert parts["brier"] == pytest.approx(ce.brier("A -> B; B -> C; D", cell), abs=1e-15)
    assert total == pytest.approx(parts["brier"], abs=1e-15)
    if bins is None:
        assert parts["within_variance"] == pytest.approx(0, abs=1e-15)


def test_the_curve_is_that_of_the_error():
    cell = probabilities(np.random.default_rng(2), 1)[0]
    runs = pd.DataFrame({"truth": ["A -> B; B -> C; D"], "estimate": [cell]})
    curve = calibration_points(runs, bins=5)
    gap = (curve["mean_probability"] - curve["share_true"]).abs()
    assert curve["n_candidates"].sum() == 12
    assert ce.calibration_error("A -> B; B -> C; D", cell, bins=5) == pytest.approx(
        (gap * curve["n_candidates"]).sum() / 12
    )
    constant = ce.score_column([np.full((4, 4), 2 / 12)], nodes=NAMES, encoding="row->column")[0]
    assert ce.calibration_error("A -> B; B -> C; D", constant) == pytest.approx(0)


def test_limits_of_bins_are_those_of_their_numbers():
    matrix = np.full((11, 11), np.nan)
    matrix[tuple(x[:50] for x in np.triu_indices(11, 1))] = np.arange(50) / 50
    cells = ce.score_column([matrix], encoding="row->column")
    # .58 * 50 is less than 29 by rounding
    curve = calibration_points(pd.DataFrame({"truth": "; ".join(map(str, range(11))), "estimate": cells}), bins=50)
    assert curve["n_candidates"].tolist() == [1] * 50


def test_parts_of_no_candidates_are_undefined():
    cell = ce.score_column([np.full((2, 2), np.nan)])[0]
    assert ce.edge_scores.brier_parts("0 -> 1", cell).isna().all()


def test_shuffled_brier_scores_have_exact_moments():
    table = pd.DataFrame({"truth": ["A -> B; B -> C; D"], "estimate": probabilities(np.random.default_rng(3), 1)})
    exact = table.ceval.with_controls(["brier"], null="ranking", rng=1, n_draws=4000, columns="full")
    drawn = table.ceval.with_controls(["brier"], null="ranking", rng=1, n_draws=4000, method="simulate", columns="full")
    assert exact["brier_mean_method"][0] == "exact" and exact["brier_p_method"][0] == "simulated"
    error = 4 * drawn["brier_control_mean_se"][0]
    assert exact["brier_control_mean"][0] == pytest.approx(drawn["brier_control_mean"][0], abs=error)


@pytest.mark.slow
def test_calibration_has_its_own_null_model():
    rng = np.random.default_rng(4)
    n = 60
    column = probabilities(rng, n)
    q = column.score.to_numpy(nodes=NAMES)
    marks = np.triu(rng.random((n, 4, 4)) < q, 1).astype(int)
    truths = ce.graph_column(marks, nodes=NAMES, encoding="row->column")
    table = pd.DataFrame({"truth": truths, "estimate": column})
    for null, method in (
        ("ranking", "simulate"),
        ("ranking", "auto"),
        ("permutation", "auto"),
        ("random_scores", "auto"),
    ):
        with pytest.raises(ValueError, match="null='calibrated'"):
            table.ceval.with_controls(["calibration_error"], null=null, method=method, rng=1, n_draws=20)
    found = table.ceval.with_controls(["calibration_error"], null="calibrated", rng=1, n_draws=200)
    # half of the candidates can never be true, so that these probabilities are too large
    assert found["calibration_error_skill"].isna().all()
    assert (found["calibration_error_p"] < 0.05).mean() > 0.15
    halves = table.assign(half=np.arange(n) % 2)
    how = {"null": "calibrated", "rng": 1, "n_draws": 50}
    summary = halves.ceval.cube(["calibration_error"], by=["half"], **how).ceval.summary(columns="full")
    assert summary["control_mean"].notna().all() and summary[["skill", "skill_low"]].isna().all(axis=None)
    weights = table.assign(estimate=ce.score_column([np.full((4, 4), 3.0)] * n, nodes=NAMES).array)
    with pytest.raises(ValueError, match="needs probabilities"):
        weights.ceval.with_controls(["auroc"], null="calibrated", rng=1)


def test_calibrated_probabilities_are_not_rejected():
    rng = np.random.default_rng(5)
    n = 300
    upper = np.triu(rng.random((n, 4, 4)), 1)
    column = ce.score_column(upper + upper.transpose(0, 2, 1), nodes=NAMES)
    marks = np.triu(rng.random((n, 4, 4)) < upper, 1).astype(int)
    truths = ce.graph_column(marks, nodes=NAMES, encoding="row->column")
    table = pd.DataFrame({"truth": truths, "estimate": column})
    p = table.ceval.with_controls(["calibration_error"], null="calibrated", rng=1, n_draws=99)["calibration_error_p"]
    for level in (0.05, 0.2, 0.5):
        assert abs((p <= level).mean() - level) < 3.5 * np.sqrt(level * (1 - level) / n) + 0.01


@pytest.mark.parametrize("null", ["ranking", "permutation"])
def test_infinite_controls_are_no_warning(null):
    table = pd.DataFrame({"truth": ["A -> B; C"]})
    table["estimate"] = ce.score_column(
        [[[0, 1, 0.5], [0, 0, 0.2], [0, 0, 0]]], nodes=["A", "B", "C"], encoding="row->column"
    )
    row = table.ceval.with_controls(["log_loss"], null=null, rng=1, n_draws=99).iloc[0]
    assert np.isinf(row["log_loss_control_mean"]) and 0 < row["log_loss_p"] < 1


def test_what_is_no_probability_is_refused():
    table = pd.DataFrame({"truth": ["0 -> 1"], "estimate": ce.score_column([[[0, 2.0], [2.0, 0]]])})
    for name in ("brier", "log_loss", "calibration_error"):
        with pytest.raises(ValueError, match=f"{name} applies to"):
            table.ceval.evaluate([name])
    with pytest.raises(ValueError, match="calibration is of probabilities"):
        brier_parts("0 -> 1", table["estimate"][0])
