"""Parameters from data and from the joint law."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, from_joint, sample

from . import brute_force as brute

CASES = pd.DataFrame({"A": ["n", "n", "y", "y", "y"], "B": ["n", "y", "y", "y", "n"]})


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        ("mle", [[1 / 2, 1 / 2], [1 / 3, 2 / 3]]),
        (0.5, [[1.5 / 3, 1.5 / 3], [1.5 / 4, 2.5 / 4]]),
        (1, [[2 / 4, 2 / 4], [2 / 5, 3 / 5]]),
    ],
)
def test_counts_become_probabilities(estimator, rows):
    np.testing.assert_allclose(from_data("A -> B", CASES, estimator).cpts["B"], rows)


def test_rows_never_seen_are_undefined_uniform_or_pseudo_counts():
    states = {"A": ["n", "y", "z"], "B": ["n", "y"]}
    rows = [from_data("A -> B", CASES, e, states=states).cpts["B"][2].tolist() for e in ("uniform rows", 0.5)]
    assert rows == [[0.5, 0.5], [0.5, 0.5]]
    assert np.isnan(from_data("A -> B", CASES, states=states).cpts["B"][2]).all()


def test_the_structure_brings_its_states(metastatic):
    few = sample(metastatic, 3, rng=1).astype(str)
    assert from_data(metastatic, few, 1.0).states == metastatic.states
    assert from_data(metastatic.graph, few, 1.0, states=metastatic) == from_data(metastatic, few, 1.0)


def test_much_data_recovers_the_network(metastatic):
    cases = sample(metastatic, 100_000, rng=2)
    found = from_data(metastatic, cases)
    for name in "MSBC":
        np.testing.assert_allclose(found.cpts[name], metastatic.cpts[name], atol=0.02)
    assert sample(metastatic, 50, rng=2).equals(sample(metastatic, 50, rng=2))


@pytest.mark.parametrize("seed", range(4))
def test_the_joint_law_gives_its_conditionals(seed):
    rng = np.random.default_rng(seed)
    truth = brute.random_network(rng, zeros=0.3)
    estimate = from_joint("A -> B; A -> C; B -> C", truth)
    law = brute.joint(truth)
    # a complete DAG has the whole joint law
    for x, p in law.items():
        parts = [brute.conditional(estimate, i, x) for i in range(3)]
        assert np.nan_to_num(np.prod(parts)) == pytest.approx(p)
    assert not np.isnan(from_joint("A -> B; A -> C; B -> C", truth, undefined="uniform").parameters).any()


def test_gaussian_regressions():
    truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"A": [], "B": [2.0]}, {"A": 1, "B": 0.5}, {"A": 1, "B": -1})
    assert ce.kl(truth, from_joint("B -> A", truth)) == pytest.approx(0, abs=1e-12)
    cases = sample(truth, 50_000, rng=3)
    found = from_data("A -> B", cases)
    assert found.coefficients["B"][0] == pytest.approx(2, abs=0.02)
    assert (found.intercepts["B"], found.variances["B"]) == pytest.approx((-1, 0.5), abs=0.03)
    slope, intercept = np.polyfit(cases["A"], cases["B"], 1)
    assert (found.coefficients["B"][0], found.intercepts["B"]) == pytest.approx((slope, intercept))


def test_an_undefined_row_cannot_be_drawn_from():
    broken = ce.DiscreteNetwork({"A": [], "B": ["A"]}, {"A": [0.5, 0.5], "B": [[1, 0], [np.nan] * 2]})
    with pytest.raises(ValueError, match="node 'B'.*undefined"):
        sample(broken, 100, rng=1)
    with pytest.raises(ValueError, match="undefined rows"):
        from_joint("B -> A", broken)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"data": CASES[["A"]]}, "lacks columns for the nodes \\['B'\\]"),
        ({"data": CASES.assign(C=1)}, "has the columns \\['C'\\]"),
        ({"data": CASES.replace("y", None)}, "column 'A' has missing values"),
        ({"estimator": "bayes"}, "estimator must be 'mle'"),
        ({"estimator": 0}, "estimator must be 'mle'"),
        ({"estimator": True}, "estimator must be 'mle'"),
        ({"states": {"A": ["n"], "B": ["n", "y"]}}, "column 'A' has the value 'y' in row 2; known: \\['n'\\]"),
        ({"structure": "A -- B"}, "parameters need a DAG, found a graph of class cpdag"),
        ({"data": pd.DataFrame({"A": [0.1, 0.2], "B": [1.0, 2.0]}), "estimator": 0.5}, "take estimator='mle' alone"),
        ({"data": pd.DataFrame({"A": [0.1, 0.2], "B": [0.2, 0.4]})}, "node 'B' is a linear function"),
    ],
)
def test_mistakes_are_named(change, words):
    given = {"structure": "A -> B", "data": CASES, "estimator": "mle"} | change
    with pytest.raises(ValueError, match=words):
        from_data(given["structure"], given["data"], given["estimator"], states=given.get("states"))


def test_other_mistakes(metastatic):
    with pytest.raises(ValueError, match="the structure has the nodes"):
        from_joint("A -> B", metastatic)
    with pytest.raises(ValueError, match="undefined must be"):
        from_joint(metastatic, metastatic, undefined="zero")
    with pytest.raises(ValueError, match="n must be"):
        sample(metastatic, -1)
    with pytest.raises(TypeError, match="data must be a DataFrame"):
        from_data("A -> B", CASES.to_numpy())


def test_structures_may_be_parents_by_node(metastatic):
    parents = {name: list(found) for name, found in metastatic.parents.items()}
    arcs = [(p, name) for name, found in parents.items() for p in found]
    assert from_joint(parents, metastatic) == from_joint(ce.as_graph(arcs), metastatic)
    assert ce.kl(metastatic, from_joint(parents, metastatic)) == pytest.approx(0, abs=1e-12)
    data = sample(metastatic, 50, rng=1)
    assert from_data(parents, data, 0.5) == from_data(ce.as_graph(arcs), data, 0.5)
    with pytest.raises(ValueError, match="cycle"):
        from_data({"M": ["C"], "S": [], "B": [], "C": ["M"]}, data, 0.5)
    with pytest.raises(ValueError, match=r"node 'S' has the parents \['X'\]"):
        from_joint({"M": [], "S": ["X"], "B": [], "C": []}, metastatic)


def test_gaussian_nodes_without_parents_need_no_coefficients():
    given = {"A": [], "B": ["A"]}, {"A": 1, "B": 0.75}
    assert ce.GaussianNetwork(given[0], {"B": [0.5]}, given[1]) == ce.GaussianNetwork(
        given[0], {"A": [], "B": [0.5]}, given[1]
    )
    with pytest.raises(ValueError, match=r"coefficients lacks the nodes \['B'\]"):
        ce.GaussianNetwork(given[0], {}, given[1])
