"""Curves pass through the points of the metrics, and their bands are the laws of shuffled scores."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.edge_scores import curve_points

mpl.use("agg")


def table(n=6, d=6):
    rng = np.random.default_rng(1)
    marks = np.triu(rng.random((n, d, d)) < 0.3, 1).astype(int)
    marks[:, 0, 1] = 1
    scores = rng.normal(size=(n, d, d)) + marks
    frame = pd.DataFrame({"truth": ce.graph_column(marks, encoding="row->column")})
    frame["estimate"] = ce.score_column(scores, encoding="row->column", kind="score")
    return frame.assign(algorithm=["a", "b"] * (n // 2))


def test_one_run_is_its_own_curve():
    frame = table().head(1)
    roc = curve_points(frame)
    area = (np.diff(roc["x"]) * (roc["y"].to_numpy()[1:] + roc["y"].to_numpy()[:-1]) / 2).sum()
    assert area == pytest.approx(ce.auroc(*frame.loc[0, ["truth", "estimate"]]), abs=0.02)
    points = curve_points(frame, "precision_recall")
    k = int(ce.n_true_candidates(*frame.loc[0, ["truth", "estimate"]]))
    at = points.iloc[[int(round(30 * d) == k) for d in points["depth"]].index(1)]
    assert at["y"] == pytest.approx(ce.precision_at_k(*frame.loc[0, ["truth", "estimate"]]))
    low, high = stats.hypergeom(30, k, k).ppf([0.025, 0.975])
    assert (at["low_y"], at["high_y"]) == (pytest.approx(low / k), pytest.approx(high / k))


def test_strata_have_lines_and_bands():
    axes = ce.plot.curves(table(), "roc", by="algorithm")
    assert len(axes.lines) == 2 and len(axes.patches) == 2
    legend = axes.get_legend()
    assert [x.get_text() for x in legend.get_texts()] == ["a", "b"] and legend.get_title().get_text() == "algorithm"
    points = curve_points(table(), by="algorithm")
    assert (points["low_y"] <= points["high_y"]).all() and points["stratum"].nunique() == 2


def test_faults():
    with pytest.raises(ValueError, match="no column 'size'"):
        curve_points(table(), by="size")
    with pytest.raises(ValueError, match="kind must be"):
        curve_points(table(), "lift")
    empty = table().assign(truth="0; 1; 2; 3; 4; 5")
    with pytest.raises(ValueError, match="there is no curve"):
        curve_points(empty)
    one = table().assign(truth=["0; 1; 2; 3; 4; 5", "0 -> 1; 2; 3; 4; 5"] * 3)
    with pytest.raises(ValueError, match="no run of algorithm = 'a' has true candidates and others"):
        curve_points(one, by="algorithm")


def test_rows_without_a_stratum_are_one():
    frame = table().assign(size=[1.0, np.nan, 1.0, np.nan, np.nan, 1.0])
    assert curve_points(frame, by="size")["stratum"].unique().tolist() == [1.0, "missing"]
