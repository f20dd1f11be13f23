"""The controls of one estimate, against enumeration by another implementation and the published means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import control_summary, from_data, from_joint, sample

from ..conftest import known

METRICS = ["kl", "ckl1", "ckl2", "ckl3"]


@pytest.mark.slow
def test_controls_of_every_number_of_arcs_agree_with_enumeration(metastatic):
    expected = known("negative_control_metastatic")
    expected = expected[(expected.parameters == "jpd") & (expected.metric != "ED")]
    names = metastatic.nodes
    arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for n_arcs, rows in expected.groupby("arcs"):
        estimate = from_joint(ce.as_graph(arcs[:n_arcs], nodes=names), metastatic)
        found = control_summary(metastatic, estimate, METRICS, estimator="joint")
        assert found.exact.all()
        assert (found.n_controls == rows.dags.iloc[0]).all()
        for row in rows.itertuples():
            ours = found.loc[row.metric.lower()]
            for name in ("mean", "sd", "q05", "q25", "median", "q75", "q95"):
                assert ours[name] == pytest.approx(getattr(row, name), abs=2e-6), (n_arcs, row.metric, name)


@pytest.mark.slow
def test_mutations_stand_where_enumeration_puts_them(metastatic, mutations):
    for name, rows in known("negative_control_mutations").groupby("mutation"):
        found = control_summary(metastatic, mutations[name], METRICS, estimator="joint")
        for row in rows.itertuples():
            ours = found.loc[row.metric.lower()]
            assert ours.value == pytest.approx(row.value_scaled, abs=1e-6)
            assert ours.percentile == pytest.approx(row.share_of_random_DAGs_scoring_less_or_half_ties, abs=6e-5)
            assert ours.ratio == pytest.approx(row.value_over_control_mean, abs=6e-5, nan_ok=True)


def test_oracle_skeleton_has_the_published_means(metastatic, mutations):
    found = control_summary(metastatic, mutations["true"], METRICS, null="oracle_skeleton", estimator="joint")
    assert (found.n_controls == 14).all()
    np.testing.assert_allclose(found["mean"], [0.039, 0.313, 0.165, 0.280], atol=6e-4)
    assert found.p.isna().all()


def test_relabelled_estimates_have_the_published_mean(metastatic, mutations):
    found = control_summary(metastatic, mutations["true"], ["ckl3"], null="permutation", estimator="joint").loc["ckl3"]
    assert found.n_controls == 24
    assert (found["mean"], found["sd"]) == pytest.approx((0.300, 0.147), abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize("n_arcs", [0, 4, 6])
def test_controls_from_a_thousand_cases_have_the_known_means(metastatic, n_arcs):
    expected = known("negative_control_metastatic")
    expected = expected[(expected.parameters == "n1000 +0.5") & (expected.arcs == n_arcs)].set_index("metric")
    names = metastatic.nodes
    arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]][:n_arcs]
    graph = ce.as_graph(arcs, nodes=names)
    means = pd.DataFrame(
        control_summary(
            metastatic, from_data(graph, cases, 0.5, states=metastatic), METRICS, data=cases, estimator=0.5
        )["mean"]
        for cases in (sample(metastatic, 1000, rng=r) for r in range(25))
    )
    for name in METRICS:
        # the known means are of 400 draws of a DAG with its data
        error = np.hypot(means[name].std() / 5, expected.sd[name.upper()] / 20)
        assert means[name].mean() == pytest.approx(expected["mean"][name.upper()], abs=4 * error)


def test_too_large_spaces_are_refused(metastatic):
    names = [f"n{i:03}" for i in range(401)]
    wide = ce.DiscreteNetwork({n: [] for n in names}, {n: [0.5, 0.5] for n in names})
    with pytest.raises(ValueError, match="at most 400 nodes, found 401.*null='edges'"):
        control_summary(wide, wide, ["edit_distance"], n_draws=2, estimator="joint")
    assert control_summary(wide, wide, ["edit_distance"], n_draws=2, null="edges", rng=1, estimator="joint")[
        "mean"
    ].tolist() == [0.0]
