"""Closed forms under random DAGs, by enumeration of every skeleton and order."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.structure.nulls.edge_moments import linear


def _random_dags(d, m):
    """Every (skeleton, order) of the uniform skeleton x uniform order law, once each."""
    pairs = list(itertools.combinations(range(d), 2))
    for skeleton in itertools.combinations(pairs, m):
        for order in itertools.permutations(range(d)):
            yield [(i, j) if order[i] < order[j] else (j, i) for i, j in skeleton]


@pytest.mark.parametrize(
    "truth", ["A -> B; B -> C; A -> D", "A -> B; C -> B; D", "A -> B; B -> C; B -> D; A -> C", "A -- B; B -> C; D"]
)
@pytest.mark.parametrize("m", [0, 1, 3, 6])
def test_linear_metrics_by_enumeration(truth, m):
    names = list("ABCD")
    edges = "; ".join
    graphs = [edges([f"{names[i]} -> {names[j]}" for i, j in dag] + names) for dag in _random_dags(4, m)]
    found = pd.Series(graphs).value_counts()
    pairs = pd.DataFrame({"truth": truth, "estimate": found.index})
    weird = ce.tweak("shd", reversal_cost=1.7, undirected_cost=0.4, absent_undirected_cost=2, name="weird")
    metrics = ce.metric_set(
        "shd", "directed_tp", "arrowhead_fp", "directed_precision", weird, double=ce.tweak("shd", reversal_cost=2)
    )
    values = ce.evaluate(pairs, metrics)
    known = ce.control_distribution(
        truth, n_edges=m, kind="dag", metrics=metrics, method="exact" if m else "auto", n_draws=5, rng=1
    )
    for i, metric in enumerate(metrics):
        x = values[metric.name].to_numpy()
        if np.isnan(x).any():
            assert np.isnan(known["mean"][i])
            continue
        mean = np.average(x, weights=found)
        assert known["mean"][i] == pytest.approx(mean, abs=1e-12), metric.name
        if "--" not in truth:
            assert known["sd"][i] ** 2 == pytest.approx(np.average((x - mean) ** 2, weights=found), abs=1e-12), (
                metric.name
            )
            assert known["sd_method"][i] == "exact"


@pytest.mark.parametrize("zero_division", [np.nan, 0, 1])
@pytest.mark.parametrize("truth", ["A -> B; B -> C; A -> D", "A -> B; C -> B; D", "A -> B; C; D"])
@pytest.mark.parametrize("m", [0, 1, 3, 6])
def test_orientation_ratios_by_enumeration(truth, m, zero_division):
    names = list("ABCD")
    graphs = ["; ".join([f"{names[i]} -> {names[j]}" for i, j in dag] + names) for dag in _random_dags(4, m)]
    pairs = pd.DataFrame({"truth": truth, "estimate": graphs})
    metrics = [
        f"orientation_{part}" for part in ("precision", "recall", "f1", "npv", "specificity", "fdr", "for", "g1")
    ]
    with ce.set_options(zero_division=zero_division):
        values = ce.evaluate(pairs, metrics)[metrics].mean()
        known = ce.control_distribution(truth, n_edges=m, kind="dag", metrics=metrics, n_draws=5, rng=1)
    np.testing.assert_allclose(known["mean"], values, atol=1e-12)
    if not (m == 0 and np.isnan(zero_division)):
        assert (known["mean_method"] == "exact").all()


def test_variance_of_shd_at_larger_size():
    rng = np.random.default_rng(0)
    nodes = [f"X{i}" for i in range(10)]
    pairs = list(itertools.combinations(nodes, 2))
    chosen = rng.choice(len(pairs), 30, replace=False)
    truth = "; ".join(f"{pairs[i][0]} -> {pairs[i][1]}" for i in chosen)
    exact = ce.control_distribution(truth, nodes=nodes, n_edges=13, kind="dag", metrics=["shd"], n_draws=20, rng=1)
    drawn = ce.control_distribution(
        truth, nodes=nodes, n_edges=13, kind="dag", metrics=["shd"], n_draws=40_000, method="simulate", rng=1
    )
    assert exact["mean"][0] == pytest.approx(30.0)
    assert drawn["mean"][0] == pytest.approx(30.0, abs=4 * drawn["sd"][0] / 200)
    assert drawn["sd"][0] == pytest.approx(exact["sd"][0], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shd", "directed_tp", "directed_f1", "arrowhead_precision"])
@pytest.mark.parametrize("edges", [0, 1, 3, 5, 6])
def test_variances_are_those_of_all_skeletons_and_orders(name, edges):
    """Every skeleton with every order of four nodes, against every number of true edges."""
    nodes = ["A", "B", "C", "D"]
    truths = ["A; B; C; D", "A -> B; C; D", "A -> B; B -> C; C -> D", "A -> B; A -> C; A -> D; C -> D"]
    drawn = ["; ".join([f"{nodes[i]} -> {nodes[j]}" for i, j in dag] + nodes) for dag in _random_dags(4, edges)]
    column = ce.graph_column(truths)
    [(_, pairs)] = get_field("graph").batches(column, column, None)
    degrees, counts = pairs.truth.degrees[pairs.truth_index], pairs.truth.edge_counts
    none, me = np.zeros(len(truths)), np.full(len(truths), edges)
    known = linear(ce.get_metric(name), 4, counts.directed[pairs.truth_index], none, me, degrees)
    for i, text in enumerate(truths):
        runs = pd.DataFrame({"truth": [text] * len(drawn), "estimate": drawn})
        values = ce.evaluate(runs, [name])[name].to_numpy(float)
        if np.isnan(values).any():
            continue
        assert known.variance[i] == pytest.approx(values.var(), abs=1e-10)
