"""Eight studies of a newcomer, each in the few lines that a person writes; two are examples 28 and 29 too."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS


def test_three_algorithms_over_two_strata():
    """Which algorithms are better than guessing, and which is best: 3 lines."""
    cube = ce.datasets.runs().ceval.cube(["shd"], by=["algorithm", "n"], n_draws=99, rng=7)
    summary = cube.ceval.summary(by=["algorithm"])
    best = cube.ceval.compare("algorithm")

    assert set(summary["verdict"]) == {"better"} and len(summary) == 3
    assert len(best) == 3 and best["p_adjusted"].between(0, 1).all()


def test_estimates_with_latent_confounders():
    """FCI against truths with latent nodes: 3 lines."""
    runs = pd.DataFrame({"truth": ["A -> B; L -> B; L -> C; C -> D"] * 2})
    runs["estimate"] = ce.graph_column(["A o-> B; C o-> B; C o-o D", "A o-> B; B <-> C; C o-o D"], kind="mixed")
    scored = runs.ceval.evaluate(["shd"], context={"latents": ["L"]}, invalid="nan")

    assert scored["shd"].tolist()[0] == 0.0


def test_bootstrap_samples():
    """Graphs of two algorithms as two rows: 1 line."""
    members = pd.DataFrame({"algorithm": np.repeat(["pc", "lingam"], 3), "truth": "A -> B; B -> C", "dataset": 1})
    members["estimate"] = ["A -> B; B -> C", "A -> B; C", "A -> B; C -> B"] * 2
    pooled = members.ceval.pool(["dataset", "algorithm"], ["shd"])

    assert pooled["n_members"].tolist() == [3, 3]
    with pytest.raises(ValueError, match="name the column in by="):
        members.ceval.pool("dataset", ["shd"])


def test_lagged_graphs_of_arrays():
    """Weights of VARLiNGAM against a text: 3 lines."""
    weights = np.array([[[0, 0], [0.4, 0]], [[0.5, 0], [0.3, 0.01]]])
    runs = pd.DataFrame({"truth": ce.lagged_column(["lags 0..1: X -> Y; X@-1 -> X; X@-1 -> Y"])})
    runs["estimate"] = ce.lagged_column([weights], nodes=["X", "Y"], encoding="VARLiNGAM", threshold=0.1)
    scored = runs.ceval.evaluate(["lagged_f1"])

    assert scored["lagged_f1"].tolist() == [1.0]


def test_an_own_metric_and_an_own_null_model():
    """A metric in three lines, a null model in two, and the study in one."""
    try:

        @ce.metric(direction="minimize", optimum=0)
        def isolated_error(truth, estimate):
            return abs(isolated(truth) - isolated(estimate))

        def shuffled(estimate, rng):
            return ce.as_graph(estimate, rename=dict(zip(estimate.nodes, rng.permutation(estimate.nodes), strict=True)))

        scored = ce.datasets.runs().head(6).ceval.with_controls(["isolated_error"], null=shuffled, n_draws=9, rng=7)
    finally:
        METRICS.pop("isolated_error", None)

    # isolated nodes stay isolated under other names
    assert scored["isolated_error_control_mean"].tolist() == scored["isolated_error"].tolist()


def isolated(graph):
    return sum(degree == 0 for _, degree in graph.to_networkx().degree())


def test_matrices_as_text_in_another_order():
    """A CSV with matrices as text and failed runs: 3 lines."""
    file = io.StringIO('truth,estimate\n"[[0,1],[0,0]]","[[0,0],[1,0]]"\n"[[0,1],[0,0]]",\n')
    runs = pd.read_csv(file)
    for column, nodes in (("truth", ["A", "B"]), ("estimate", ["B", "A"])):
        cells = [None if pd.isna(x) else np.array(json.loads(x)) for x in runs[column]]
        runs[column] = ce.graph_column(cells, nodes=nodes, encoding="row->column")
    scored = runs.ceval.evaluate(["shd"])

    assert scored["shd"].tolist()[0] == 0.0 and scored["shd"].isna().tolist() == [False, True]


def test_cubes_of_two_authors():
    """A co-author's cube with another seed: 1 line."""
    runs = ce.datasets.runs()
    mine = runs.query("algorithm == 'pc'").ceval.cube(["shd"], by=["algorithm"], n_draws=99, rng=7)
    theirs = runs.query("algorithm == 'ges'").ceval.cube(["shd"], by=["algorithm"], n_draws=99, rng=8)
    both = ce.concat([mine, theirs], "algorithm")

    assert both.ceval.compare("algorithm")["n_truths"].tolist() == [60]


def test_answers_of_a_model():
    """Yes and no against shuffled answers: 3 lines."""
    runs = pd.DataFrame({"truth": [True, False] * 20, "reply": ["Answer: yes", "Answer: no"] * 20, "model": "m"})
    runs["estimate"] = ce.reasoning.parse_answers(runs["reply"])
    cube = runs.ceval.cube(["answer_accuracy"], by=["model"], n_draws=99, rng=7, cluster=None)
    summary = cube.ceval.summary()

    assert summary["mean"].tolist() == [1.0] and summary["p_value"].iloc[0] < 0.05
