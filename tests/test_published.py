"""Controls from published numbers: the Sachs analyses, and messages."""

from __future__ import annotations

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
        truth, n_edges=n_edges, kind=kind, observed={"shd": shd}, n_draws=n, rng=11, method="simulate", p_rule="share"
    ).iloc[0]
    assert found["mean"] == pytest.approx(mean, abs=4 * np.hypot(found["sd"] / np.sqrt(n), se))
    assert found["p"] == pytest.approx(p, abs=4 * np.hypot(found["p_se"], p_se))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_edges": 56}, "n_edges must be a whole number from 0 to 55 for 11 nodes, found 56"),
        ({"kind": "tree"}, "kind must be one of dag, cpdag, pdag, found 'tree'"),
        ({"metrics": ["shd"], "observed": {"skeleton_hd": 3}}, r"observed has values of \['skeleton_hd'\]"),
        ({"metrics": ["true_density"]}, "has no direction"),
    ],
)
def test_published_numbers_are_checked(settings, message):
    call = {"n_edges": 16, "kind": "dag", "metrics": ["shd"], "rng": 1} | settings
    with pytest.raises(ValueError, match=message):
        ce.control_distribution(ce.datasets.sachs_truth(20), **call)
