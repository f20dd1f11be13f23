"""Random networks as controls: against enumeration by another implementation, and uniform where they are drawn."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.causal_kl import control_summary, from_data, from_joint, sample
from causaleval_pd.causal_kl.nulls.random_dags import bits, dags_with, draw_orientation, orientations
from causaleval_pd.causal_kl.nulls.random_networks import ordered_dags, own_orientations, relabellings, uniform_dags

from .conftest import known

METRICS = ["kl", "ckl1", "ckl2", "ckl3"]


def test_controls_of_every_number_of_arcs_agree_with_enumeration(metastatic):
    expected = known("negative_control_metastatic")
    expected = expected[(expected.parameters == "jpd") & (expected.metric != "ED")]
    names = metastatic.nodes
    arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for n_arcs, rows in expected.groupby("arcs"):
        estimate = from_joint(ce.as_graph(arcs[:n_arcs], nodes=names), metastatic)
        found = control_summary(metastatic, estimate, METRICS)
        assert found.exact.all()
        assert (found.n_controls == rows.dags.iloc[0]).all()
        for row in rows.itertuples():
            ours = found.loc[row.metric.lower()]
            for name in ("mean", "sd", "q05", "q25", "median", "q75", "q95"):
                assert ours[name] == pytest.approx(getattr(row, name), abs=2e-6), (n_arcs, row.metric, name)


def test_mutations_stand_where_enumeration_puts_them(metastatic, mutations):
    for name, rows in known("negative_control_mutations").groupby("mutation"):
        found = control_summary(metastatic, mutations[name], METRICS)
        for row in rows.itertuples():
            ours = found.loc[row.metric.lower()]
            assert ours.value == pytest.approx(row.value_scaled, abs=1e-6)
            assert ours.percentile == pytest.approx(row.share_of_random_DAGs_scoring_less_or_half_ties, abs=6e-5)
            assert ours.ratio == pytest.approx(row.value_over_control_mean, abs=6e-5, nan_ok=True)


def test_tables_get_the_same_controls(metastatic, mutations):
    estimates = [mutations["rev.out.strong"], mutations["add.strong"], None]
    runs = pd.DataFrame({"truth": [metastatic] * 3, "estimate": estimates})
    scored = runs.ceval.with_controls([*METRICS, "edit_distance"], rng=1)
    alone = control_summary(metastatic, mutations["rev.out.strong"], METRICS)
    assert (scored["ckl3_p_method"][:2] == "exact").all()
    assert scored["ckl3_p"][0] == pytest.approx(alone.p["ckl3"])
    assert scored["ckl3_skill"][0] == pytest.approx(1 - alone.ratio["ckl3"])
    assert scored["edit_distance_control_mean"][0] == pytest.approx(16 / 3)
    # a complete DAG fitted to the joint law has a KL divergence of 0 whatever its directions
    assert scored["kl_p"][1] == 1 and np.isnan(scored["kl_skill"][1])
    assert scored.iloc[2].filter(like="ckl3_").drop("ckl3_control_undefined").isna().all()
    assert scored["control_null"].eq("dags").all()


def test_draws_follow_the_enumerated_law(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic], "estimate": [mutations["rev.out.strong"]]})
    exact = runs.ceval.with_controls(["ckl2", "ckl3"], rng=1)
    drawn = runs.ceval.with_controls(["ckl2", "ckl3"], rng=1, n_draws=2000, method="simulate")
    for name in ("ckl2", "ckl3"):
        assert drawn[f"{name}_p"][0] == pytest.approx(exact[f"{name}_p"][0], abs=4 * drawn[f"{name}_p_se"][0])
        assert drawn[f"{name}_control_mean"][0] == pytest.approx(exact[f"{name}_control_mean"][0], abs=0.02)


def test_draws_depend_on_seed_and_key_alone(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic] * 4, "estimate": list(mutations.values())[4:8]})
    how = {"rng": 3, "n_draws": 30, "method": "simulate"}
    for null in ce.causal_kl.NETWORKS.nulls:
        one = runs.ceval.with_controls(["ckl3"], null=null, **how)
        other = runs.iloc[[2, 0]].ceval.with_controls(["ckl3"], null=null, **how)
        pd.testing.assert_frame_equal(one.loc[[2, 0]], other)


def test_enumerated_rows_stay_exact_beside_rows_that_are_drawn():
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (200, 6)), columns=list("ABCDEF"))
    complete = "; ".join(f"{a} -> {b}" for i, a in enumerate("ABCDEF") for b in "ABCDEF"[i + 1 :])
    truth, few, many = (
        from_data(arcs, frame, 0.5) for arcs in ("A -> B; C -> D; E; F", "A -> B; B -> C; D; E; F", complete)
    )
    runs = pd.DataFrame({"truth": [truth] * 3, "estimate": [few, many, few]})
    how = {"null": "orientation", "n_draws": 20, "rng": 1, "context": {"data": frame, "estimator": 0.5}}
    together = runs.ceval.with_controls(["ckl3"], **how)
    assert together["ckl3_p_method"].tolist() == ["exact", "simulated", "exact"]
    for row in range(3):
        alone = runs.iloc[[row]].ceval.with_controls(["ckl3"], **how)
        pd.testing.assert_frame_equal(together.iloc[[row]], alone, check_exact=True)


def test_parameters_come_from_the_same_data_by_the_same_estimator(metastatic):
    frames = {"first": sample(metastatic, 200, rng=1), "second": sample(metastatic, 200, rng=2)}
    arcs = "M->S; M->B; S->C; B->C"
    runs = pd.DataFrame(
        {
            "truth": [metastatic] * 2,
            "estimate": [from_data(arcs, frame, 0.5, states=metastatic) for frame in frames.values()],
            "study": list(frames),
        }
    )
    scored = runs.ceval.with_controls(["ckl3"], rng=1, context={"data": ("study", frames), "estimator": 0.5})
    for row, frame in enumerate(frames.values()):
        dags = [
            from_data(_graph(masks, metastatic.nodes), frame, 0.5, states=metastatic)
            for masks in dags_with(4, 4).tolist()
        ]
        values = ce.evaluate(pd.DataFrame({"truth": [metastatic] * len(dags), "estimate": dags}), ["ckl3"])["ckl3"]
        assert scored["ckl3_control_mean"][row] == pytest.approx(values.mean(), abs=1e-12)
        assert scored["ckl3_p"][row] == pytest.approx((values <= scored["ckl3"][row] + 1e-12).mean())
    assert scored["ckl3_control_mean"][0] != scored["ckl3_control_mean"][1]


def _graph(masks, names):
    return ce.as_graph([(names[p], names[i]) for i, mask in enumerate(masks) for p in bits(mask)], nodes=names)


def test_undefined_and_infinite_controls_are_counted():
    copy = ce.DiscreteNetwork({"A": [], "B": ["A"], "C": []}, {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [0.3, 0.7]})
    found = control_summary(copy, from_joint("A -> B; B -> C", copy), ["ckl2", "ckl3"])
    assert 0 < found.share_inf["ckl3"] < 1
    assert 0 < found.share_nan["ckl2"] < 1
    assert np.isnan(found.ratio["ckl3"]) and np.isnan(found["mean"]["ckl3"])
    runs = pd.DataFrame({"truth": [copy], "estimate": [from_joint("A -> B; C", copy)]})
    scored = runs.ceval.with_controls(["ckl3"], rng=1)
    assert np.isnan(scored["ckl3_control_mean"][0]) and np.isnan(scored["ckl3_skill"][0])
    assert 0 < scored["ckl3_p"][0] < 1


def test_oracle_skeleton_has_the_published_means(metastatic, mutations):
    found = control_summary(metastatic, mutations["true"], METRICS, null="oracle_skeleton")
    assert (found.n_controls == 14).all()
    np.testing.assert_allclose(found["mean"], [0.039, 0.313, 0.165, 0.280], atol=6e-4)
    assert found.p.isna().all()


def test_relabelled_estimates_have_the_published_mean(metastatic, mutations):
    found = control_summary(metastatic, mutations["true"], ["ckl3"], null="permutation").loc["ckl3"]
    assert found.n_controls == 24
    assert (found["mean"], found["sd"]) == pytest.approx((0.300, 0.147), abs=6e-4)


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


def test_linear_gaussian_controls():
    parents = {"A": [], "B": ["A"], "C": ["B"], "D": ["C"], "E": ["D"], "F": ["E"]}
    truth = ce.GaussianNetwork(parents, {n: [0.8] * len(p) for n, p in parents.items()}, dict.fromkeys(parents, 1.0))
    cases = sample(truth, 500, rng=1)
    runs = pd.DataFrame({"truth": [truth], "estimate": [from_data(truth, cases)]})
    settings = {"context": {"data": cases, "estimator": "mle"}, "rng": 1, "n_draws": 40}
    scored = runs.ceval.with_controls(["kl", "ckl3", "wed_p"], **settings)
    assert (scored[["kl_p", "ckl3_p", "wed_p_p"]] < 0.05).all(axis=None)
    assert scored["kl_control_mean"][0] > scored["kl"][0]


def test_graph_and_network_metrics_share_controls_of_one_name(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic], "estimate": [mutations["rev.in.weak"]]})
    scored = runs.ceval.with_controls(["shd", "ckl3"], null="dags", rng=1, n_draws=50)
    assert scored[["shd_p", "ckl3_p"]].notna().all(axis=None)


def test_functions_draw_controls(metastatic, mutations):
    def reversed_arc(estimate, rng):
        return "S -> M; M -> B; S -> C; B -> C" if rng.random() < 0.5 else mutations["del.weak"]

    runs = pd.DataFrame({"truth": [metastatic] * 2, "estimate": [mutations["rev.in.strong"], metastatic]})
    scored = runs.ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2)
    two = [ce.ckl3(metastatic, mutations[name]) for name in ("rev.in.weak", "del.weak")]
    assert min(two) < scored["ckl3_control_mean"][0] < max(two)
    assert scored["ckl3_p"].tolist() == [1, 1 / 61]
    again = runs.iloc[[1]].ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2)
    pd.testing.assert_frame_equal(again, scored.iloc[[1]])


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("A -> B", "row 0: null 'bad' returned str, which is no DAG or network"),
        ("M -- S; B; C", "parameters need a DAG"),
        (3, "returned int"),
        (ce.DiscreteNetwork({"M": []}, {"M": [1.0]}), "does not match the estimate: estimate has 4 nodes, control 1"),
    ],
)
def test_functions_that_draw_something_else_are_named(metastatic, returned, words):
    def bad(estimate, rng):
        return returned

    with pytest.raises(ValueError, match=words):
        pd.DataFrame({"truth": [metastatic], "estimate": [metastatic]}).ceval.with_controls(["kl"], null=bad, rng=1)


def test_estimator_without_data_or_data_without_estimator_is_refused(metastatic, mutations):
    with pytest.raises(ValueError, match="needs data"):
        control_summary(metastatic, mutations["true"], estimator="mle")
    with pytest.raises(ValueError, match="data without an estimator"):
        control_summary(metastatic, mutations["true"], data=sample(metastatic, 10, rng=1))


def layout(k, arcs):
    names = [f"n{i:03}" for i in range(k)]
    parents = {names[i]: [names[a] for a, b in arcs if b == i] for i in range(k)}
    network = ce.GaussianNetwork(parents, {n: [0.5] * len(p) for n, p in parents.items()}, dict.fromkeys(names, 1.0))
    return network.layout


ARCS = [(0, 1), (1, 2), (0, 2), (3, 2)]


@pytest.mark.parametrize("space_of", [uniform_dags, ordered_dags, relabellings])
def test_listed_and_drawn_dags_have_the_same_law(space_of, monkeypatch):
    space = space_of(layout(4, ARCS), layout(4, ARCS))
    monkeypatch.setattr("causaleval_pd.causal_kl.nulls.random_networks.MOST_LISTED", 3)
    drawn = space_of(layout(4, ARCS), layout(4, ARCS))
    assert drawn.all is None
    found = Counter(map(tuple, drawn.draw(np.array([7], np.uint64), 0, 8000)))
    if space_of is ordered_dags:
        # uniform skeletons, and orders that fit more DAGs than others
        assert set(found) == set(map(tuple, dags_with(4, 4).tolist()))
        return
    expected = Counter(map(tuple, space.all.tolist()))
    assert set(found) == set(expected)
    counts = np.array([[found[dag], expected[dag]] for dag in expected])
    assert stats.chisquare(counts[:, 0], counts[:, 1] * 8000 / counts[:, 1].sum()).pvalue > 1e-3
    listed = Counter(map(tuple, space.draw(np.array([7], np.uint64), 0, 8000)))
    assert stats.chisquare([listed[dag] for dag in expected], counts[:, 1] * 8000 / counts[:, 1].sum()).pvalue > 1e-3


@pytest.mark.parametrize("space_of", [uniform_dags, ordered_dags, relabellings])
def test_large_dags_are_drawn_with_their_number_of_arcs(space_of):
    arcs = [(i, i + 1 + j) for i in range(70) for j in range(2)]
    space = space_of(layout(72, arcs), layout(72, arcs))
    for parents in space.draw(np.array([3], np.uint64), 5, 3):
        assert sum(p.bit_count() for p in parents) == len(arcs)
        layout(72, [(a, i) for i, p in enumerate(parents) for a in bits(p)])  # refuses cycles
    if space_of is relabellings:
        assert sorted(p.bit_count() for p in parents) == sorted(Counter(b for _, b in arcs)[i] for i in range(72))


@pytest.mark.parametrize("tries", [20_000, 0])
def test_orientations_of_many_edges_are_uniform(tries, monkeypatch):
    """The 720 orders of six nodes, by rejection or by the chain."""
    monkeypatch.setattr("causaleval_pd.causal_kl.nulls.random_networks._TRIES", tries)
    complete = layout(6, [(a, b) for b in range(6) for a in range(b)])
    space = own_orientations(complete, complete)
    assert space.all is None
    key = np.array([8], np.uint64)
    drawn = Counter(map(tuple, space.draw(key, 0, 7200 if tries else 1)))
    assert all(sorted(p.bit_count() for p in parents) == [0, 1, 2, 3, 4, 5] for parents in drawn)
    assert tries == 0 or (len(drawn) == 720 and stats.chisquare(list(drawn.values())).pvalue > 1e-3)
    assert space.draw(key, 0, 3)[2] == space.draw(key, 2, 1)[0]


def test_drawn_orientations_are_uniform():
    edges = ((0, 1), (0, 2), (1, 2), (2, 3), (1, 3))
    space = {tuple(masks) for masks in orientations(4, edges).tolist()}
    rng = np.random.default_rng(6)
    drawn = Counter(tuple(draw_orientation(4, edges, rng)) for _ in range(4000))
    assert set(drawn) == space
    assert stats.chisquare(list(drawn.values())).pvalue > 1e-3


def test_too_large_spaces_are_refused(metastatic):
    names = [f"n{i:03}" for i in range(401)]
    wide = ce.DiscreteNetwork({n: [] for n in names}, {n: [0.5, 0.5] for n in names})
    with pytest.raises(ValueError, match="at most 400 nodes, found 401.*null='edges'"):
        control_summary(wide, wide, ["edit_distance"], n_draws=2)
    assert control_summary(wide, wide, ["edit_distance"], n_draws=2, null="edges", rng=1)["mean"].tolist() == [0.0]
