"""Controls of networks that are listed or drawn: enumerations, published means, laws, level, functions of the user."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, from_joint, sample
from causaleval_pd.fields.causal_kl.nulls import (
    dags_with_arcs,
    ordered_dags,
    own_orientations,
    relabellings,
    uniform_dags,
)

from . import brute_force as brute
from .conftest import known, listed_controls

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


@pytest.mark.parametrize("n_arcs", range(7))
def test_all_dags_are_listed(n_arcs):
    listed = [tuple(parents) for parents in dags_with_arcs(4, n_arcs).tolist()]
    expected = {
        tuple(sum(1 << a for a, b in arcs if b == i) for i in range(4)) for arcs in brute.dags(range(4), n_arcs)
    }
    assert set(listed) == expected and len(listed) == len(expected)


def structure(k, arcs):
    names = [f"n{i:03}" for i in range(k)]
    parents = {names[i]: [names[a] for a, b in arcs if b == i] for i in range(k)}
    network = ce.GaussianNetwork(parents, {n: [0.5] * len(p) for n, p in parents.items()}, dict.fromkeys(names, 1.0))
    return network.structure


ARCS = [(0, 1), (1, 2), (0, 2), (3, 2)]


@pytest.mark.parametrize("space_of", [uniform_dags, ordered_dags, relabellings])
def test_listed_and_drawn_dags_have_the_same_law(space_of, monkeypatch):
    space = space_of(structure(4, ARCS), structure(4, ARCS))
    monkeypatch.setattr("causaleval_pd.fields.causal_kl.nulls.MOST_LISTED", 3)
    drawn = space_of(structure(4, ARCS), structure(4, ARCS))
    assert drawn.all is None
    found = Counter(map(tuple, drawn.draw(np.array([7], np.uint64), 0, 8000)))
    if space_of is ordered_dags:
        # uniform skeletons, each directed along every order
        law = Counter(
            tuple(sum(1 << a for a in order[: order.index(b)] if {a, b} in skeleton) for b in range(4))
            for skeleton in itertools.combinations([{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}], 4)
            for order in itertools.permutations(range(4))
        )
        assert set(found) == set(law) == set(map(tuple, dags_with_arcs(4, 4).tolist()))
        assert stats.chisquare([found[x] for x in law], [8000 * n / law.total() for n in law.values()]).pvalue > 1e-3
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
    space = space_of(structure(72, arcs), structure(72, arcs))
    for parents in space.draw(np.array([3], np.uint64), 5, 3):
        assert sum(p.bit_count() for p in parents) == len(arcs)
        structure(72, [(a, i) for i, p in enumerate(parents) for a in range(72) if p >> a & 1])  # refuses cycles
    if space_of is relabellings:
        assert sorted(p.bit_count() for p in parents) == sorted(Counter(b for _, b in arcs)[i] for i in range(72))


@pytest.mark.slow
def test_orientations_of_many_edges_are_uniform():
    """The 720 orders of six nodes."""
    complete = structure(6, [(a, b) for b in range(6) for a in range(b)])
    space = own_orientations(complete, complete)
    assert space.all is None
    key = np.array([8], np.uint64)
    drawn = Counter(map(tuple, space.draw(key, 0, 7200)))
    assert all(sorted(p.bit_count() for p in parents) == [0, 1, 2, 3, 4, 5] for parents in drawn)
    assert len(drawn) == 720 and stats.chisquare(list(drawn.values())).pvalue > 1e-3
    assert space.draw(key, 0, 3)[2] == space.draw(key, 2, 1)[0]


def test_skeletons_too_dense_for_uniform_draws_are_refused(monkeypatch):
    monkeypatch.setattr("causaleval_pd.fields.causal_kl.nulls.MOST_TRIES", 0)
    complete = structure(6, [(a, b) for b in range(6) for a in range(b)])
    with pytest.raises(ValueError, match="6 nodes and 15 edges is too dense .* null='permutation'"):
        own_orientations(complete, complete).draw(np.array([8], np.uint64), 0, 1)


def test_functions_draw_controls(metastatic, mutations):
    def reversed_arc(estimate, rng):
        return "S -> M; M -> B; S -> C; B -> C" if rng.random() < 0.5 else mutations["del.weak"]

    runs = pd.DataFrame({"truth": [metastatic] * 2, "estimate": [mutations["rev.in.strong"], metastatic]})
    scored = runs.ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2, context=JOINT)
    two = [ce.ckl3(metastatic, mutations[name]) for name in ("rev.in.weak", "del.weak")]
    assert min(two) < scored["ckl3_control_mean"][0] < max(two)
    assert scored["ckl3_p"].tolist() == [1, 1 / 61]
    again = runs.iloc[[1]].ceval.with_controls(["ckl3"], null=reversed_arc, n_draws=60, rng=2, context=JOINT)
    pd.testing.assert_frame_equal(again, scored.iloc[[1]])


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("A -> B", "row 0 .*: null 'bad' returned str, which is not a DAG or network"),
        ("M -- S; B; C", "parameters need a DAG"),
        (3, "returned int"),
        (ce.DiscreteNetwork({"M": []}, {"M": [1.0]}), "does not match the estimate: estimate has 4 nodes, control 1"),
    ],
)
def test_functions_that_draw_something_else_are_named(metastatic, returned, words):
    def bad(estimate, rng):
        return returned

    with pytest.raises(ValueError, match=words):
        pd.DataFrame({"truth": [metastatic], "estimate": [metastatic]}).ceval.with_controls(
            ["kl"], null=bad, rng=1, context=JOINT
        )


NODES = list("ABCD")


def uniform_dag(rng):
    """Take three ordered pairs until they are a DAG."""
    while True:
        pairs = [sorted(rng.choice(NODES, 2, replace=False), reverse=rng.random() < 0.5) for _ in range(3)]
        arcs = sorted({(str(a), str(b)) for a, b in pairs})
        if len(arcs) == 3 and nx.is_directed_acyclic_graph(nx.DiGraph(arcs)):
            return arcs


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 4])
def test_p_values_of_uniform_dags_are_not_smaller_than_uniform(repeats):
    """Also where a stratum repeats a truth and its guess on several data sets."""
    rng = np.random.default_rng(4)
    rows, cases = [], {}
    for i in range(240):
        if i % repeats == 0:
            arcs, guess = uniform_dag(rng), "; ".join([f"{a} -> {b}" for a, b in uniform_dag(rng)] + NODES)
            parents = {node: [a for a, b in arcs if b == node] for node in NODES}
            truth = ce.DiscreteNetwork(parents, {x: rng.dirichlet([1, 1], (2,) * len(p)) for x, p in parents.items()})
        cases[i] = sample(truth, 50, rng=rng)
        rows.append({"truth": truth, "estimate": from_data(guess, cases[i], 0.5), "s": i // 4, "data": i})
    runs, how = pd.DataFrame(rows), {"n_draws": 99, "rng": 5, "context": {"data": ("data", cases), "estimator": 0.5}}
    found = runs.ceval.cube(["kl", "ckl3"], by=["s"], **how).ceval.summary(columns="full")
    assert set(found["n_clusters"]) == {4 // repeats}
    of_rows = runs.ceval.with_controls(["ckl3"], **how)["ckl3_p"] if repeats == 1 else pd.Series([1.0])
    for p in (found.loc[found["metric"] == "kl", "p_value"], found.loc[found["metric"] == "ckl3", "p_value"], of_rows):
        for level in (0.05, 0.2):
            assert (p <= level).mean() <= level + 3 * np.sqrt(level * (1 - level) / len(p))
