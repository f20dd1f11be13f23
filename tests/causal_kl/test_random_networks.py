"""Random networks as controls in tables; the probe of the rule `additive`."""

import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, from_joint, sample

from . import brute_force as brute
from .conftest import listed_controls

DIVERGENCES = ["kl", "ckl1", "ckl2", "ckl3"]
#: controls with parameters from the true joint law, as those of the estimates
JOINT = {"estimator": "joint"}


@pytest.mark.slow
def test_tables_get_the_same_controls(metastatic, mutations):
    estimates = [mutations["rev.out.strong"], mutations["add.strong"], None]
    runs = pd.DataFrame({"truth": [metastatic] * 3, "estimate": estimates})
    scored = runs.ceval.with_controls([*DIVERGENCES, "edit_distance"], rng=1, columns="full", context=JOINT)
    alone = listed_controls(metastatic, estimates[0], "ckl3")
    assert (scored["ckl3_p_method"][:2] == "exact").all()
    assert scored["ckl3_p"][0] == pytest.approx((alone <= scored["ckl3"][0] + 1e-12).mean())
    assert scored["ckl3_skill"][0] == pytest.approx(1 - scored["ckl3"][0] / alone.mean())
    assert scored["edit_distance_control_mean"][0] == pytest.approx(16 / 3)
    # a complete DAG fitted to the joint law has a KL divergence of 0 whatever its directions
    assert scored["kl_p"][1] == 1 and np.isnan(scored["kl_skill"][1])
    assert scored.iloc[2].filter(like="ckl3_").drop("ckl3_control_undefined").isna().all()
    assert scored["control_null"].eq("dags").all()


def test_draws_follow_the_enumerated_law(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic], "estimate": [mutations["rev.out.strong"]]})
    exact = runs.ceval.with_controls(["ckl2", "ckl3"], rng=1, columns="full", context=JOINT)
    drawn = runs.ceval.with_controls(
        ["ckl2", "ckl3"], rng=1, n_draws=2000, method="simulate", columns="full", context=JOINT
    )
    for name in ("ckl2", "ckl3"):
        assert drawn[f"{name}_p"][0] == pytest.approx(exact[f"{name}_p"][0], abs=4 * drawn[f"{name}_p_se"][0])
        assert drawn[f"{name}_control_mean"][0] == pytest.approx(exact[f"{name}_control_mean"][0], abs=0.02)


@pytest.mark.slow
def test_draws_depend_on_seed_and_key_alone(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic] * 4, "estimate": list(mutations.values())[4:8]})
    how = {"rng": 3, "n_draws": 30, "method": "simulate", "context": JOINT}
    for null in ce.causal_kl.NETWORKS.nulls:
        one = runs.ceval.with_controls(["ckl3"], null=null, **how)
        other = runs.iloc[[2, 0]].ceval.with_controls(["ckl3"], null=null, **how)
        pd.testing.assert_frame_equal(one.loc[[2, 0]], other)


@pytest.mark.slow
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


@pytest.mark.slow
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
        graphs = [ce.as_graph(arcs, nodes=metastatic.nodes) for arcs in brute.dags(metastatic.nodes, 4)]
        dags = [from_data(graph, frame, 0.5, states=metastatic) for graph in graphs]
        values = ce.evaluate(pd.DataFrame({"truth": [metastatic] * len(dags), "estimate": dags}), ["ckl3"])["ckl3"]
        assert scored["ckl3_control_mean"][row] == pytest.approx(values.mean(), abs=1e-12)
        assert scored["ckl3_p"][row] == pytest.approx((values <= scored["ckl3"][row] + 1e-12).mean())
    assert scored["ckl3_control_mean"][0] != scored["ckl3_control_mean"][1]


def test_undefined_and_infinite_controls_are_counted():
    copy = ce.DiscreteNetwork({"A": [], "B": ["A"], "C": []}, {"A": [0.5, 0.5], "B": [[1, 0], [0, 1]], "C": [0.3, 0.7]})
    estimate = from_joint("A -> B; B -> C", copy)
    assert 0 < np.isinf(listed_controls(copy, estimate, "ckl3")).mean() < 1
    undefined = np.isnan(listed_controls(copy, estimate, "ckl2")).mean()
    counted = pd.DataFrame({"truth": [copy], "estimate": [estimate]}).ceval.with_controls(
        ["ckl2"], rng=1, columns="full", context=JOINT
    )
    assert counted["ckl2_control_undefined"][0] == pytest.approx(undefined)
    assert 0 < undefined < 1
    runs = pd.DataFrame({"truth": [copy], "estimate": [from_joint("A -> B; C", copy)]})
    scored = runs.ceval.with_controls(["ckl3"], rng=1, context=JOINT)
    assert scored["ckl3_control_mean"][0] == np.inf and np.isnan(scored["ckl3_skill"][0])
    assert 0 < scored["ckl3_p"][0] < 1


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
    scored = runs.ceval.with_controls(["shd", "ckl3"], null="edges", rng=1, n_draws=50, context=JOINT)
    assert scored[["shd_p", "ckl3_p"]].notna().all(axis=None)


def test_estimator_without_data_or_data_without_estimator_is_refused(metastatic, mutations):
    runs = pd.DataFrame({"truth": [metastatic], "estimate": [mutations["true"]]})
    for context, words in (
        ({"estimator": "mle"}, "needs data"),
        ({"data": sample(metastatic, 10, rng=1)}, "data without an estimator"),
    ):
        with pytest.raises(ValueError, match=words):
            runs.ceval.with_controls(["ckl3"], context=context)


def register(function, kinds=("discrete", "gaussian")):
    """Register a metric under the rule."""
    return ce.metric(
        field="network",
        kinds=kinds,
        direction="minimize",
        range=(0, math.inf),
        optimum=0,
        long_name=function.__name__,
        closed_form="additive",
    )(function)


@pytest.mark.slow
def test_the_rule_is_explained():
    assert ce.list_closed_forms().loc["additive", "explanation"].startswith("A sum of terms, one per node")


@pytest.mark.parametrize("name", ["kl", "ckl2", "edit_distance", "wed_d", "wed_p"])
def test_a_square_of_a_sum_is_refused(name):
    def squared(pairs):
        return ce.get_metric(name)(pairs) ** 2

    with pytest.raises(ValueError, match=r"squared names closed_form='additive', but at A -> B; A -> C it is "):
        register(squared)
    assert "squared" not in ce.list_metrics("network").index


def test_a_distance_of_equivalence_classes_is_refused():
    def classes(pairs):
        return ce.pattern_edit_distance(pairs)

    with pytest.raises(ValueError, match="at A -> B; A -> C; B -> C it is 0, where adding up its nodes gives 1"):
        register(classes)


def test_a_metric_that_scores_no_network_is_refused():
    def broken(pairs):
        return pairs.counts.fn

    with pytest.raises(ValueError, match="on discrete networks it raises AttributeError.*on gaussian networks"):
        register(broken)


@pytest.mark.usefixtures("declare")
def test_sums_are_registered():
    def distance_of_skeletons(pairs):
        values = np.empty(pairs.n)
        for group in pairs.groups():
            true, estimated = ({frozenset(arc) for arc in x.arcs} for x in (group.truth.structure, group.structure))
            values[group.rows] = len(true ^ estimated)
        return values

    assert register(distance_of_skeletons) is ce.get_metric("distance_of_skeletons")
