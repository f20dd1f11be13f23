"""Divergences and edit distances: definitions by enumeration, properties, options; variable laws."""

import graphlib
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, from_joint, sample
from causaleval_pd.fields.causal_kl import laws
from causaleval_pd.fields.causal_kl.laws import WidthError, elimination_steps, marginal

from . import brute_force as brute

CAUSAL = ["ckl1", "ckl2", "ckl3"]
ALL = ["kl", *CAUSAL, "wed_3"]


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_definitions_by_enumeration(seed, zeros):
    rng = np.random.default_rng([seed, int(zeros * 10)])
    truth = brute.random_network(rng, zeros=zeros)
    estimate = brute.random_network(rng, cards=[len(truth.states[n]) for n in truth.nodes], zeros=zeros / 2)
    expected = {
        "kl": brute.general(truth, estimate, [(1.0, (), {(): 1.0}, 1.0)]),
        "wed_3": brute.wed_3(truth, estimate),
    }
    expected |= {name: brute.general(truth, estimate, law) for name, law in brute.laws(truth).items()}
    for name, value in expected.items():
        found = getattr(ce, name)(truth, estimate, **({"scaled": False} if name in CAUSAL else {}))
        assert found == pytest.approx(value, abs=1e-12), name


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_properties(seed):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, k=4, cards=[2, 2, 3, 2])
    estimate = brute.random_network(rng, k=4, cards=[2, 2, 3, 2])
    swap = {"A": "D", "B": "A", "C": "B", "D": "C"}

    def renamed(network):
        return ce.DiscreteNetwork(
            {swap[n]: [swap[p] for p in found] for n, found in network.parents.items()},
            {swap[n]: table for n, table in network.cpts.items()},
        )

    for name in ALL:
        metric = getattr(ce, name)
        value = metric(truth, estimate)
        assert metric(truth, truth) == 0
        assert value >= 0
        assert metric(renamed(truth), renamed(estimate)) == pytest.approx(value, abs=1e-10)
        assert metric(truth, estimate, base=2) == pytest.approx(value / math.log(2))
    # an estimate with the true arcs and nothing against their order: interventions cost as observations do
    fuller = from_joint(truth, truth)
    assert ce.ckl3(truth, fuller) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_ckl3_is_kl_without_arcs_against_the_true_order(seed):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, k=4)
    names = list(truth.nodes)
    order = list(graphlib.TopologicalSorter(truth.parents).static_order())
    some = {n: [p for p in order[: order.index(n)] if rng.random() < 0.5] for n in names}
    graph = ce.as_graph([(p, n) for n, found in some.items() for p in found], nodes=names)
    estimate = from_data(graph, sample(truth, 50, rng=seed), 0.5, states=truth)
    assert ce.ckl3(truth, estimate) == pytest.approx(ce.kl(truth, estimate), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_ckl2_is_kl_for_the_true_tree(seed):
    rng = np.random.default_rng(seed)
    names = list("ABCD")
    parents = {n: [names[rng.integers(i)]] if i else [] for i, n in enumerate(names)}
    tables = [
        {n: rng.dirichlet(np.ones(3), size=3 if found else None) for n, found in parents.items()} for _ in range(2)
    ]
    truth, estimate = (ce.DiscreteNetwork(parents, table) for table in tables)
    assert ce.ckl2(truth, estimate) == pytest.approx(ce.kl(truth, estimate), abs=1e-12)


def test_scales(metastatic, mutations):
    for name, factor in zip(CAUSAL, (2, 2, 4), strict=True):
        metric = getattr(ce, name)
        scaled = metric(metastatic, mutations["rev.out.strong"])
        assert metric(metastatic, mutations["rev.out.strong"], scaled=False) * factor == pytest.approx(scaled)


def test_names_and_orders_of_states_do_not_matter(metastatic):
    turned = ce.DiscreteNetwork(
        {n: metastatic.parents[n][::-1] for n in reversed(metastatic.nodes)},
        {
            n: np.flip(table, axis=tuple(range(table.ndim))).transpose(*range(table.ndim - 1)[::-1], table.ndim - 1)
            for n, table in metastatic.cpts.items()
        },
        {n: states[::-1] for n, states in metastatic.states.items()},
    )
    assert turned == metastatic and ce.ckl2(metastatic, turned) == 0


def test_rows_do_not_depend_on_their_neighbours(metastatic, mutations):
    names = list(mutations) * 3
    runs = pd.DataFrame({"truth": [metastatic] * len(names), "estimate": [mutations[n] for n in names]})
    together = ce.evaluate(runs, ALL)
    for row in (0, 5, 20):
        alone = ce.evaluate(runs.iloc[[row]], ALL)
        pd.testing.assert_frame_equal(alone[ALL], together.loc[[row], ALL], check_exact=True)


def test_undefined_rows_of_the_truth_are_refused_where_they_matter():
    truth = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [1, 0], "B": [[0.3, 0.7], [math.nan] * 2]})
    estimate = ce.DiscreteNetwork({"A": [], "B": []}, {"A": [0.5, 0.5], "B": [0.5, 0.5]})
    assert ce.kl(truth, estimate) > 0
    with pytest.raises(ValueError, match="node 'B' of the truth has an undefined row"):
        ce.ckl1(truth, estimate)


@pytest.mark.parametrize("zeros", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_single_interventions_by_enumeration(seed, zeros):
    rng = np.random.default_rng([seed, int(zeros * 10)])
    truth = brute.random_network(rng, cards=[2, 3, 2])
    estimate = brute.random_network(rng, cards=[2, 3, 2], zeros=zeros)
    law = [(1 / 3, (i,), brute.uniform_values(truth, (i,)), 1.0) for i in range(3)]
    assert ce.ckl(truth, estimate) == pytest.approx(brute.general(truth, estimate, law), abs=1e-12)
    assert ce.ckl(truth, truth) == 0


def test_networks_over_the_width_limit_are_refused_by_node(metastatic, mutations, monkeypatch):
    laws.elimination_steps.cache_clear()
    monkeypatch.setattr(laws, "WIDTH_LIMIT", 4)
    truth = ce.DiscreteNetwork(dict(metastatic.parents), {**metastatic.cpts, "M": [0.85, 0.15]}, metastatic.states)
    with pytest.raises(ValueError, match=r"node '\w'.*table over"):
        ce.ckl2(truth, mutations["true"])
    laws.elimination_steps.cache_clear()


def test_gaussian_kl_is_that_of_the_normal_laws():
    rng = np.random.default_rng(4)
    parents = [{"A": [], "B": ["A"], "C": ["A", "B"]}, {"A": ["C"], "B": ["A"], "C": []}]
    truth, estimate = (
        ce.GaussianNetwork(
            p,
            {n: rng.normal(size=len(x)) for n, x in p.items()},
            {n: rng.uniform(0.5, 2) for n in p},
            {n: rng.normal() for n in p},
        )
        for p in parents
    )

    def moments(network):
        weights = np.zeros((3, 3))
        for i, n in enumerate(network.nodes):
            for p, w in zip(network.parents[n], network.coefficients[n], strict=True):
                weights[i, network.nodes.index(p)] = w
        inverse = np.linalg.inv(np.eye(3) - weights)
        return (
            inverse @ [network.intercepts[n] for n in network.nodes],
            inverse @ np.diag([network.variances[n] for n in network.nodes]) @ inverse.T,
        )

    (m1, s1), (m2, s2) = moments(truth), moments(estimate)
    gap = np.linalg.solve(s2, m2 - m1) @ (m2 - m1)
    logs = np.linalg.slogdet(s2)[1] - np.linalg.slogdet(s1)[1]
    assert ce.kl(truth, estimate) == pytest.approx((np.trace(np.linalg.solve(s2, s1)) - 3 + gap + logs) / 2)


@pytest.mark.parametrize("shift", [1e-3, 1e-4, 1.6e-6])
def test_small_divergences_are_of_second_order_and_no_rounding(shift):
    truth, near = (ce.DiscreteNetwork({"A": []}, {"A": [0.5 + x, 0.5 - x]}) for x in (0.0, shift))
    assert ce.kl(truth, near) == pytest.approx(-np.log1p(-4 * shift**2) / 2, rel=1e-3)
    assert ce.kl(truth, truth) == 0


def test_every_mutation_of_the_paper(metastatic, mutations):
    expected = dict.fromkeys(mutations, 1.0) | {"true": 0, "tweak.weak": 0, "tweak.strong": 0, "add.strong": 2}
    expected |= {name: 2.0 for name in mutations if name.startswith("rev")}
    assert {name: ce.edit_distance(metastatic, estimate) for name, estimate in mutations.items()} == expected


def test_weights_are_mutual_informations(metastatic, mutations):
    law = brute.marginal_of(metastatic, (1, 3))  # nodes in code-point order: B, C, M, S
    of_s, of_b = (brute.marginal_of(metastatic, (i,)) for i in (3, 1))
    assert ce.wed_d(metastatic, mutations["rev.out.weak"]) == pytest.approx(
        2 * sum(p * np.log(p / (of_b[(b,)] * of_s[(s,)])) for (b, s), p in law.items()), abs=1e-12
    )
    assert ce.wed_d(metastatic, mutations["del.weak"], base=2) * np.log(2) == pytest.approx(0.0086774, abs=5e-8)
    # the weight printed for this deletion is that of another pair: it must be I(M, S)
    assert ce.wed_d(metastatic, mutations["del.weak"]) == pytest.approx(0.00868, abs=5e-6)


def test_exclusive_or_costs_nothing():
    truth = ce.DiscreteNetwork(
        {"A": [], "B": [], "C": ["A", "B"]},
        {"A": [0.5, 0.5], "B": [0.5, 0.5], "C": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]},
    )
    assert ce.wed_d(truth, from_joint("A -> C; B", truth)) == 0
    assert ce.edit_distance(truth, from_joint("A -> C; B", truth)) == 1


@pytest.mark.slow
def test_patterns_are_those_of_the_equivalence_class():
    """Two DAGs are equivalent if and only if every law of one is a law of the other."""
    rng = np.random.default_rng(0)
    names = ("A", "B", "C")
    dags = [ce.as_graph(arcs, nodes=names) for n_arcs in range(4) for arcs in brute.dags(names, n_arcs)]
    assert len(dags) == 25
    base = brute.random_network(rng, cards=[2, 2, 2], p=1.0)
    for graph in dags:
        truth = from_joint(graph, base)
        for other in dags:
            estimate = from_joint(other, truth)
            equivalent = ce.kl(truth, estimate) < 1e-9 and estimate.n_arcs == truth.n_arcs
            assert (ce.pattern_edit_distance(truth, estimate) == 0) == equivalent
            assert ce.pattern_edit_distance(truth, estimate) == ce.pattern_edit_distance(estimate, truth)


def test_costs_of_patterns(metastatic, mutations):
    # reversing M -> S leaves the class; the collider at C is kept
    assert ce.pattern_edit_distance(metastatic, mutations["rev.in.weak"]) == 0
    # without M -> B all of S, B are parents of the collider, and M - S stays undirected
    assert ce.pattern_edit_distance(metastatic, mutations["del.strong"]) == 1
    collider = ce.DiscreteNetwork({"A": [], "B": ["A", "C"], "C": []}, {"A": [1.0], "B": [[[1.0]]], "C": [1.0]})
    chain = ce.DiscreteNetwork({"A": [], "B": ["A"], "C": ["B"]}, {"A": [1.0], "B": [[1.0]], "C": [[1.0]]})
    assert ce.pattern_edit_distance(collider, chain) == 1
    assert ce.pattern_edit_distance(collider, chain, undirected_cost=1) == 2
    turned = ce.DiscreteNetwork({"A": ["B", "C"], "B": [], "C": []}, {"A": [[[1.0]]], "B": [1.0], "C": [1.0]})
    # A -> B turns round, C -> B goes and C -> A is new
    assert ce.pattern_edit_distance(collider, turned) == 2 + 1 + 1
    with pytest.raises(ValueError, match="undirected_cost"):
        ce.pattern_edit_distance(collider, chain, undirected_cost=-1)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("one_pass", [2**12, 4])
def test_marginals_of_random_products(seed, one_pass, monkeypatch):
    monkeypatch.setattr(laws, "ONE_PASS", one_pass)
    elimination_steps.cache_clear()
    rng = np.random.default_rng(seed)
    cards = tuple(rng.integers(1, 4, size=7).tolist())
    scopes = [tuple(rng.permutation(7)[: rng.integers(1, 4)].tolist()) for _ in range(9)]
    scopes += [(v,) for v in range(7)]
    tables = [rng.random([cards[v] for v in scope]) for scope in scopes]
    keep = tuple(rng.permutation(7)[: rng.integers(0, 4)].tolist())
    everything = np.einsum(*(x for pair in zip(tables, map(list, scopes), strict=True) for x in pair), list(keep))
    np.testing.assert_allclose(marginal(scopes, tables, cards, keep), everything)
    elimination_steps.cache_clear()


def test_zeros_stay_exactly_zero():
    rng = np.random.default_rng(1)
    first, second = rng.random((3, 3)), rng.random((3, 3))
    first[:, 1] = 0
    found = marginal([(0, 1), (1, 2)], [first, second], (3, 3, 3), (1, 2))
    assert (found[1] == 0).all() and (found[[0, 2]] > 0).all()


def test_options_are_checked(metastatic):
    for call, words in (
        (lambda: ce.kl(metastatic, metastatic, base=1), "base must be"),
        (lambda: ce.kl(metastatic, metastatic, base=-2), "base must be"),
        (lambda: ce.zero_mass(metastatic, metastatic, of="ckl4"), "of must be 'kl', 'ckl1'"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_too_wide_tables_are_refused():
    with pytest.raises(WidthError, match="table over 26 variables with 6.71e"):
        marginal([(v, 25) for v in range(25)], [np.ones((2, 2))] * 25, (2,) * 26, tuple(range(25)))
