"""Augmented networks: the published marginal, and causal KL as the KL divergence of augmented networks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import augment, conditional_kl, from_joint

from .. import brute_force as brute


def test_the_published_marginal(metastatic):
    augmented = augment(metastatic, "ckl1")
    law = from_joint(ce.as_graph([], nodes=augmented.nodes), augmented)
    assert law.table("M")["T"].iloc[0] == pytest.approx(0.7)
    assert augmented.n_arcs == metastatic.n_arcs + 4


@pytest.mark.parametrize("law", ["ckl1", "ckl2", "ckl3"])
@pytest.mark.parametrize("name", ["del.strong", "rev.in.weak", "rev.out.strong"])
def test_their_divergence_is_the_causal_one(metastatic, mutations, law, name):
    augmented = [augment(network, law, truth=metastatic) for network in (metastatic, mutations[name])]
    expected = getattr(ce, law)(metastatic, mutations[name], scaled=False)
    assert ce.kl(*augmented) == pytest.approx(expected, abs=1e-12)
    assert conditional_kl(metastatic, mutations[name], {}, law=law) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_evidence_conditions_both_laws(seed):
    rng = np.random.default_rng(seed)
    truth, estimate = (brute.random_network(rng, cards=[2, 3, 2]) for _ in range(2))

    def given(network):
        law = {x: p for x, p in brute.joint(network).items() if x[1] == 2 and x[2] == 0}
        return {x: p / sum(law.values()) for x, p in law.items()}

    p, q = given(truth), given(estimate)
    expected = sum(p[x] * math.log(p[x] / q[x]) for x in p)
    assert conditional_kl(truth, estimate, {"B": 2, "C": "0"}) == pytest.approx(expected, abs=1e-12)


def test_evidence_of_a_causal_law_is_that_of_the_augmented_networks():
    rng = np.random.default_rng(9)
    truth, estimate = (brute.random_network(rng, k=2, cards=[2, 2]) for _ in range(2))
    laws = []
    for network in (truth, estimate):
        law = brute.joint(augment(network, "ckl1"))
        nodes = augment(network, "ckl1").nodes
        kept = {x: p for x, p in law.items() if x[nodes.index("A")] == 1}
        laws.append({x: p / sum(kept.values()) for x, p in kept.items()})
    expected = sum(p * math.log(p / laws[1][x]) for x, p in laws[0].items() if p > 0)
    assert conditional_kl(truth, estimate, {"A": "1"}, law="ckl1") == pytest.approx(expected, abs=1e-12)


def test_mistakes_are_named(metastatic):
    with pytest.raises(ValueError, match="unknown node 'X'"):
        conditional_kl(metastatic, metastatic, {"X": "T"})
    with pytest.raises(ValueError, match="node 'M' has no state 'U'"):
        conditional_kl(metastatic, metastatic, {"M": "U"})
    sure = ce.DiscreteNetwork({"A": []}, {"A": [1, 0]})
    open_ = ce.DiscreteNetwork({"A": []}, {"A": [0.5, 0.5]})
    with pytest.raises(ValueError, match="probability 0 in the truth"):
        conditional_kl(sure, open_, {"A": "1"})
    assert math.isnan(conditional_kl(open_, sure, {"A": "1"}))
    with pytest.raises(ValueError, match="law must be"):
        augment(metastatic, "ckl4")
    with pytest.raises(ValueError, match="'none'"):
        augment(ce.DiscreteNetwork({"A": []}, {"A": [0.5, 0.5]}, {"A": ["none", "some"]}))
    with pytest.raises(ValueError, match="kept for interventions"):
        augment(ce.DiscreteNetwork({"A": [], "A'": []}, {"A": [0.5, 0.5], "A'": [0.5, 0.5]}))
