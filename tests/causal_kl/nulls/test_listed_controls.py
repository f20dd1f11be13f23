"""Controls that are listed, against enumeration by another implementation and the published means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, from_joint, sample

from ..conftest import known, listed_controls

METRICS = ["kl", "ckl1", "ckl2", "ckl3"]
JOINT = {"estimator": "joint"}


@pytest.mark.slow
def test_controls_of_every_number_of_arcs_agree_with_enumeration(metastatic):
    expected = known("negative_control_metastatic")
    expected = expected[(expected.parameters == "jpd") & (expected.metric != "ED")]
    names = metastatic.nodes
    arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for n_arcs, rows in expected.groupby("arcs"):
        estimate = from_joint(ce.as_graph(arcs[:n_arcs], nodes=names), metastatic)
        for row in rows.itertuples():
            found = listed_controls(metastatic, estimate, row.metric.lower())
            assert len(found) == row.dags
            ours = [found.mean(), found.std(), *np.quantile(found, [0.05, 0.25, 0.5, 0.75, 0.95])]
            theirs = [row.mean, row.sd, row.q05, row.q25, row.median, row.q75, row.q95]
            assert ours == pytest.approx(theirs, abs=2e-6), (n_arcs, row.metric)


@pytest.mark.slow
def test_mutations_stand_where_enumeration_puts_them(metastatic, mutations):
    for name, rows in known("negative_control_mutations").groupby("mutation"):
        for row in rows.itertuples():
            metric = row.metric.lower()
            value = float(ce.get_metric(metric)(metastatic, mutations[name]))
            found = listed_controls(metastatic, mutations[name], metric)
            equal = np.isclose(found, value, rtol=0, atol=1e-12)
            less = ((found < value) & ~equal).mean() + equal.mean() / 2
            assert value == pytest.approx(row.value_scaled, abs=1e-6)
            assert less == pytest.approx(row.share_of_random_DAGs_scoring_less_or_half_ties, abs=6e-5)
            ratio = value / found.mean() if found.mean() > 1e-9 else np.nan
            assert ratio == pytest.approx(row.value_over_control_mean, abs=6e-5, nan_ok=True)


def test_oracle_skeleton_has_the_published_means(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic], "estimate": [mutations["true"]]})
    found = runs.ceval.with_controls(METRICS, null="oracle_skeleton", context=JOINT, rng=1).iloc[0]
    np.testing.assert_allclose([found[f"{m}_control_mean"] for m in METRICS], [0.039, 0.313, 0.165, 0.280], atol=6e-4)
    assert all(np.isnan(found[f"{m}_p"]) for m in METRICS)
    assert len(listed_controls(metastatic, mutations["true"], "kl", "oracle_skeleton")) == 14


def test_relabelled_estimates_have_the_published_mean(metastatic, mutations):
    found = listed_controls(metastatic, mutations["true"], "ckl3", "permutation")
    assert len(found) == 24
    assert (found.mean(), found.std()) == pytest.approx((0.300, 0.147), abs=6e-4)


@pytest.mark.slow
@pytest.mark.parametrize("n_arcs", [0, 4, 6])
def test_controls_from_a_thousand_cases_have_the_known_means(metastatic, n_arcs):
    expected = known("negative_control_metastatic")
    expected = expected[(expected.parameters == "n1000 +0.5") & (expected.arcs == n_arcs)].set_index("metric")
    names = metastatic.nodes
    arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]][:n_arcs]
    graph = ce.as_graph(arcs, nodes=names)
    cases = {r: sample(metastatic, 1000, rng=r) for r in range(25)}
    estimates = [from_data(graph, data, 0.5, states=metastatic) for data in cases.values()]
    runs = pd.DataFrame({"truth": [metastatic] * 25, "estimate": estimates, "sample": list(cases)})
    found = runs.ceval.with_controls(METRICS, context={"data": ("sample", cases), "estimator": 0.5}, rng=1)
    for name in METRICS:
        means = found[f"{name}_control_mean"]
        # the known means are of 400 draws of a DAG with its data
        error = np.hypot(means.std() / 5, expected.sd[name.upper()] / 20)
        assert means.mean() == pytest.approx(expected["mean"][name.upper()], abs=4 * error)


def test_too_large_spaces_are_refused():
    names = [f"n{i:03}" for i in range(401)]
    wide = ce.DiscreteNetwork({n: [] for n in names}, {n: [0.5, 0.5] for n in names})
    runs = pd.DataFrame({"truth": [wide], "estimate": [wide]})
    how = {"n_draws": 2, "rng": 1, "context": JOINT}
    with pytest.raises(ValueError, match="at most 400 nodes, found 401.*null='edges'"):
        runs.ceval.with_controls(["edit_distance"], **how)
    assert runs.ceval.with_controls(["edit_distance"], null="edges", **how)["edit_distance_control_mean"].tolist() == [
        0
    ]
