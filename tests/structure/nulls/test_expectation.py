"""Expected metrics and the skeleton test against the source's numbers and enumeration."""

from __future__ import annotations

import itertools
import pathlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce

KNOWN = pathlib.Path(__file__).parents[2] / "known_answers"


def test_the_five_node_example():
    names = ["adjacency_precision", "adjacency_recall"]
    found = ce.expected_metric(names, n_nodes=5, true_edges=8, estimated_edges=7).set_index("metric")
    np.testing.assert_allclose(
        found.loc["adjacency_precision", ["mean", "median", "low", "high"]].astype(float),
        [0.8, 6 / 7, 5 / 7, 1],
        atol=1e-14,
    )
    np.testing.assert_allclose(
        found.loc["adjacency_recall", ["mean", "median", "low", "high"]].astype(float),
        [0.7, 0.75, 0.625, 0.875],
        atol=1e-14,
    )


@pytest.mark.parametrize("margins", [((5, 5), 0.5), ((5, 10), 0.6667), ((8, 10), 0.8889), ((8, 7), 0.7467)])
def test_figure_2(margins):
    (mt, me), f1 = margins
    found = ce.expected_metric("adjacency_f1", n_nodes=5, true_edges=mt, estimated_edges=me)
    assert found["mean"][0] == pytest.approx(f1, abs=5e-5)


def test_the_whole_grid_of_closed_forms():
    grid = pd.read_csv(KNOWN / "analytic_hypergeom.csv.gz")
    margins = {"n_nodes": grid["d"], "true_edges": grid["m_true"], "estimated_edges": grid["m_est"]}
    for short in ("precision", "recall", "f1", "npv", "specificity"):
        name = f"adjacency_{short}"
        published = ce.expected_metric(name, **margins, convention="published")
        np.testing.assert_allclose(published["mean"], grid[f"{short}_mean"], atol=1e-12)
        for ours, theirs in (("median", "median"), ("low", "lwr"), ("high", "upr")):
            np.testing.assert_allclose(
                published[ours], grid[f"{short}_{theirs}"], atol=1e-12, err_msg=f"{short} {ours}"
            )
        defined = ce.expected_metric(name, **margins)["mean"]
        undefined = grid[f"{short}_median"].isna()
        assert (defined.isna() == undefined).all()
        np.testing.assert_allclose(defined[~undefined], grid.loc[~undefined, f"{short}_mean"], atol=1e-12)
    p = ce.skeleton_test(grid["tp_median"], grid["m_true"], grid["m_est"], grid["d"])
    np.testing.assert_allclose(p, grid["p_at_median"], rtol=1e-12)


def test_the_cohort_test():
    assert ce.skeleton_test(10, 30, 30, 22) == pytest.approx(0.0015632445865336076, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "adjacency_jaccard",
        "adjacency_mcc",
        "adjacency_g1",
        "adjacency_for",
        "skeleton_hd",
        "skeleton_p",
        "adjacency_balanced_accuracy",
    ],
)
def test_every_function_of_the_skeletons_by_enumeration(name):
    metric = ce.get_metric(name)
    pairs = list(itertools.combinations("ABCD", 2))
    for mt, me in itertools.product(range(7), repeat=2):

        def text(skeleton):
            return "; ".join([f"{a} -> {b}" for a, b in skeleton] + list("ABCD"))

        truth = text(pairs[:mt])
        table = pd.DataFrame({"truth": truth, "estimate": [text(s) for s in itertools.combinations(pairs, me)]})
        values = ce.evaluate(table, [name])[name].to_numpy()
        found = ce.expected_metric(metric, n_nodes=4, true_edges=mt, estimated_edges=me).iloc[0]
        if np.isnan(values).all():
            assert np.isnan(found["mean"])
            continue
        assert not np.isnan(values).any()
        assert found["mean"] == pytest.approx(values.mean(), abs=1e-12)
        for q, column in ((0.5, "median"), (0.025, "low"), (0.975, "high")):
            expected = np.quantile(values, q, method="inverted_cdf")
            assert found[column] == pytest.approx(expected, abs=1e-12), (mt, me, column)


def test_expected_shd_of_random_dags():
    found = ce.expected_metric(ce.tweak("shd", reversal_cost=2), n_nodes=11, true_edges=20, estimated_edges=[16, 33])
    np.testing.assert_allclose(found["mean"], [36 - 20 * 16 / 55, 53 - 20 * 33 / 55])
    assert found["median"].isna().all()


def test_margins_are_checked():
    with pytest.raises(ValueError, match="true_edges is 11, but 5 nodes have only 10 pairs"):
        ce.expected_metric("shd", n_nodes=5, true_edges=11, estimated_edges=3)
    with pytest.raises(ValueError, match="estimated_edges must hold whole numbers from 0"):
        ce.expected_metric("shd", n_nodes=5, true_edges=1, estimated_edges=-3)
    with pytest.raises(ValueError, match="orientation_recall has no closed form"):
        ce.expected_metric("orientation_recall", n_nodes=5, true_edges=1, estimated_edges=3)
    with pytest.raises(ValueError, match="tp is 4, impossible with 3 true and 5 estimated edges over 5 nodes"):
        ce.skeleton_test(4, 3, 5, 5)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        ce.expected_metric("adjacency_f1", n_nodes=5, true_edges=1, estimated_edges=3, level=95)


def test_tail_probabilities_keep_their_relative_accuracy():
    tp = np.arange(1, 60)
    ours = ce.skeleton_test(tp, 60, 300, 50)
    np.testing.assert_allclose(ours, stats.hypergeom.sf(tp - 1, 1225, 60, 300), rtol=1e-10)


def test_broadcasting_and_scalars():
    assert ce.skeleton_test([[1], [2]], [3, 4], 3, 4).shape == (2, 2)
    assert isinstance(ce.skeleton_test(1, 3, 3, 4), float)
    assert ce.skeleton_test(0, 0, 3, 4) == 1.0
