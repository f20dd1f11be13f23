"""Null models of networks keep the level of their own guessers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, sample

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
