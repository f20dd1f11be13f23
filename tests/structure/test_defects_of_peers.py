"""Defects of metrics in released packages: what they return, and what the same pairs score here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce

METRICS = ["adjacency", "directed", "arrowhead", "orientation"]
SHARES = [f"{name}_{share}" for name in METRICS for share in ("precision", "recall", "f1")]
SHARES += ["adjacency_specificity", "arrowhead_specificity", "orientation_specificity", "adjacency_fdr"]


def scores(truth: str, estimate: str) -> pd.Series:
    """Every share of one pair; 0/0 is NaN."""
    return pd.DataFrame({"truth": [truth], "estimate": [estimate]}).ceval.evaluate(SHARES)[SHARES].iloc[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("truth", "estimate"),
    [
        ("A -> B", "A -- B"),  # gCastle 1.0.4: a true positive rate of 2 with an SHD of 0
        ("A -> B; B -> C", "B -> A; C -> B"),  # gCastle 1.0.4: a false positive rate of 2
        ("A -> B; B -> C; A -> C", "B -> A; C -> B; C -> A"),
    ],
)
def test_shares_are_at_most_one(truth: str, estimate: str) -> None:
    found = scores(truth, estimate).dropna()
    assert found.between(0, 1).all()
    assert ce.adjacency_recall(truth, estimate) == ce.adjacency_precision(truth, estimate) == 1
    assert ce.shd(truth, estimate) > 0


@pytest.mark.parametrize(("truth", "estimate"), [("A -> B; C", "A; B; C"), ("A; B; C", "A -> B; C")])
def test_graphs_without_edges_are_scored(truth: str, estimate: str) -> None:
    # gCastle 1.0.4: NaN or an AssertionError; causal-learn 0.1.4.8: a ZeroDivisionError
    lacking = "precision" if "->" in truth else "recall"
    assert np.isnan(scores(truth, estimate)[f"adjacency_{lacking}"])
    for value in (0.0, 1.0):
        chosen = ce.tweak(f"adjacency_{lacking}", zero_division=value, name="chosen")
        assert chosen(truth, estimate) == value
    assert ce.shd(truth, estimate) == 1


def test_two_graphs_without_edges_agree() -> None:
    # benchpress: a false positive rate of 1, a true positive rate of 0
    found = scores("A; B; C", "A; B; C")
    assert found["adjacency_specificity"] == 1
    assert np.isnan(found["adjacency_recall"])
    assert ce.shd("A; B; C", "A; B; C") == 0


def test_the_diagonal_is_no_end_of_an_edge() -> None:
    # causal-learn 0.1.4.8 counts its cells as true negatives
    pair = "A -> B; B -> C; D", "A -> B; C -> B; D"
    counts = [metric(*pair) for metric in (ce.arrowhead_tp, ce.arrowhead_fp, ce.arrowhead_fn, ce.arrowhead_tn)]
    assert counts == [1, 1, 1, 9]


def test_edges_with_circles_are_not_all_alike() -> None:
    # bnmetrics 0.2.2: a distance of 0 and an F1 of 1
    for estimate in ("A o-o B", "A <-o B"):
        assert ce.shd("A o-> B", estimate) == 1
        assert ce.arrowhead_f1("A o-> B", estimate) == 0
        assert ce.shd("A o-> B", estimate, cost="bnmetrics") == 0


def test_a_normalised_distance_is_at_most_one() -> None:
    # sep-distances 1.0.2: 2 for a triangle all of whose edges are reversed, documented as one operation each
    triangle, turned = "A -> B; B -> C; A -> C", "B -> A; C -> B; C -> A"
    assert ce.shd(triangle, turned, normalised=True) == 1
    assert ce.shd(triangle, turned) == 3


def test_f1_is_the_harmonic_mean() -> None:
    # causalAssembly 1.2.1: .08 where precision and recall are .2; Tetrad 7.6: a product of four F1 over their sum
    truth = "A -> B; B -> C; C -> D; D -> E; A -> E"
    estimate = "A -> B; A -> C; A -> D; B -> D; C -> E"
    assert ce.directed_precision(truth, estimate) == ce.directed_recall(truth, estimate) == pytest.approx(0.2)
    assert ce.directed_f1(truth, estimate) == ce.adjacency_f1(truth, estimate) == pytest.approx(0.2)


def test_a_complete_truth_has_no_negatives() -> None:
    # dodiscover: positives and negatives are exchanged
    truth, estimate = "A -> B; B -> C; A -> C", "A -> B; C"
    counts = [
        metric(truth, estimate) for metric in (ce.adjacency_tp, ce.adjacency_fp, ce.adjacency_fn, ce.adjacency_tn)
    ]
    assert counts == [1, 0, 2, 0]


def test_missed_arrows_are_no_false_positives() -> None:
    # graphical_models 0.1a21 adds false negatives to false positives
    truth, estimate = "A -> B; B -> C; C -> D", "A -> B; B; C; D"
    assert (ce.directed_fp(truth, estimate), ce.directed_fn(truth, estimate)) == (0, 2)


def test_precision_and_recall_of_orientations_differ() -> None:
    # pgmpy 1.1.2: the two, F1, NPV and specificity are the same number for every pair of DAGs
    found = scores("A -> B; B -> C; C -> D", "A -> B; C -> B; C -- D")
    assert found["orientation_precision"] != found["orientation_recall"]


def test_matrices_are_compared() -> None:
    # pcalg 2.7-12: shd(matrix, matrix) uses a variable that is not defined
    matrices = [np.array([[0, 0], [1, 0]]), np.array([[0, 1], [0, 0]])]
    truth, estimate = (ce.as_graph(cell, encoding="pcalg amat.cpdag") for cell in matrices)
    assert ce.shd(truth, estimate) == 1
    with pytest.raises(ce.AmbiguousEncodingError):
        ce.shd(*matrices)


def test_failed_runs_have_no_distance() -> None:
    # causal-profiler 0.1.1: an error of 0 where all queries failed
    table = pd.DataFrame({"truth": ["A -> B"] * 2, "estimate": pd.Series([None, None], dtype=object)})
    assert table.ceval.evaluate(["shd"])["shd"].isna().all()
