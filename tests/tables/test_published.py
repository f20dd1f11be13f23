"""Controls from published numbers: the Sachs analyses, and messages."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


def test_published_numbers_without_a_graph():
    truth = ce.datasets.sachs_truth(20)
    nodes = ["raf", "mek", "plc", "pip2", "pip3", "erk", "akt", "pka", "pkc", "p38", "jnk"]
    found = ce.control_distribution(truth, n_edges=16, kind="dag", observed={"shd": 22}, n_draws=20_000, rng=7).iloc[0]
    assert found["mean"] == pytest.approx(20 + 16 - 1.5 * 20 * 16 / 55)
    assert found["p"] == pytest.approx(0.0476, abs=4 * found["p_se"] + 4 * 0.0007)
    fixed = ce.control_distribution(
        truth, n_edges=16, kind="dag", observed={"shd": 22}, n_draws=20_000, rng=7, permute=False, nodes=nodes
    ).iloc[0]
    assert fixed["mean_method"] == "simulated"
    assert fixed["mean"] == pytest.approx(26.982, abs=4 * fixed["sd"] / np.sqrt(20_000))
    assert fixed["p"] == pytest.approx(0.0524, abs=4 * fixed["p_se"] + 4 * 0.0007)


def test_one_published_number_needs_one_metric():
    call = {"n_edges": 16, "kind": "dag", "rng": 1, "n_draws": 200}
    truth = ce.datasets.sachs_truth(20)
    by_number = ce.control_distribution(truth, metrics="shd", observed=22, **call)
    pd.testing.assert_frame_equal(by_number, ce.control_distribution(truth, observed={"shd": 22}, **call))
    with pytest.raises(ValueError, match=r"observed is one number, 22, for 0 metrics; name it, as in {'shd': 22}"):
        ce.control_distribution(truth, observed=22, **call)


@pytest.mark.parametrize(
    ("n_edges", "kind", "shd", "mean", "se", "p", "p_se"),
    [
        (24, "cpdag", 23, 31.494, 0.0095, 0.0059, 0.0002),
        (33, "dag", 30, 34.996, 0.010, 0.0900, 0.0009),
        (30, "cpdag", 30, 34.258, 0.010, 0.1162, 0.0010),
        (32, "cpdag", 35, 35.199, 0.010, 0.5301, 0.0016),
    ],
)
def test_sachs_null_means(n_edges, kind, shd, mean, se, p, p_se):
    truth = ce.datasets.sachs_truth(20)
    n = 20_000
    found = ce.control_distribution(
        truth, n_edges=n_edges, kind=kind, observed={"shd": shd}, n_draws=n, rng=11, method="simulate"
    ).iloc[0]
    assert found["mean"] == pytest.approx(mean, abs=4 * np.hypot(found["sd"] / np.sqrt(n), se))
    # the source's p is the share of draws
    assert (found["p"] * (n + 1) - 1) / n == pytest.approx(p, abs=4 * np.hypot(found["p_se"], p_se))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_edges": 56}, "n_edges of a graph of 11 nodes must be an integer from 0 to 55, found 56"),
        ({"kind": "tree"}, "unknown kind of graph 'tree'; known are 'dag', 'cpdag', 'pdag'"),
        ({"metrics": ["shd"], "observed": {"skeleton_hd": 3}}, r"observed has values of \['skeleton_hd'\]"),
        ({"metrics": ["true_density"]}, "has no direction"),
    ],
)
def test_published_numbers_are_checked(settings, message):
    call = {"n_edges": 16, "kind": "dag", "metrics": ["shd"], "rng": 1} | settings
    with pytest.raises(ValueError, match=message):
        ce.control_distribution(ce.datasets.sachs_truth(20), **call)


@pytest.mark.parametrize("kind", ["dag", "cpdag"])
def test_published_numbers_and_the_graph_itself_have_the_same_controls(kind):
    truth, estimate = "A -> B; B -> C; C -> D; E; F; G", "B -> A; B -> C; A -> D; E -> F; G"
    settings = {"n_draws": 4000, "rng": 3, "method": "simulate"}
    told = ce.control_distribution(truth, n_edges=4, kind=kind, observed={"shd": 5, "skeleton_hd": 4}, **settings)
    table = pd.DataFrame({"truth": [truth], "estimate": [estimate]})
    own = ce.with_controls(table, ["shd", "skeleton_hd"], control_kind=kind, **settings).iloc[0]
    assert set(told["control_null"]) == {own["control_null"]}
    for row in told.itertuples():
        # two independent samples of one law
        assert row.mean == pytest.approx(own[f"{row.metric}_control_mean"], abs=6 * row.sd / np.sqrt(4000))


def test_null_models_that_need_the_graph_are_refused():
    call = {"n_edges": 16, "kind": "dag", "metrics": ["shd"], "rng": 1}
    with pytest.raises(ValueError, match="null 'degree' needs more than .* drawn by edges"):
        ce.control_distribution(ce.datasets.sachs_truth(20), null="degree", **call)
    with pytest.raises(ValueError, match="null 'degree' has no option 'permute'"):
        ce.control_distribution(ce.datasets.sachs_truth(20), null="degree", permute=False, **call)


@pytest.mark.parametrize(
    ("observed", "message"),
    [("x", "observed must be a number"), ({"shd": "x"}, "observed shd must be a number, found 'x'")],
)
def test_observed_values_are_numbers(observed, message):
    with pytest.raises(TypeError, match=message):
        ce.control_distribution("A -> B; C", n_edges=1, kind="dag", observed=observed, metrics=["shd"], n_draws=5.0)
