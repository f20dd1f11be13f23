"""Edit distances: counts of arcs, weights by enumeration, patterns."""

from __future__ import annotations

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_joint

from .. import brute_force as brute


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
