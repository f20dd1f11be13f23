"""Graphs of thresholded correlations, and graphs without information."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causaleval_pd as ce


def test_pairs_are_joined_by_their_correlation_or_partial_correlation(chain):
    assert ce.baselines.correlation_threshold(chain).edges == ("x -- y", "x -- z", "y -- z")
    assert ce.baselines.partial_correlation_threshold(chain).edges == ("x -- y", "y -- z")
    assert ce.baselines.correlation_threshold(chain, n_edges=2).edges == ("x -- y", "y -- z")


@pytest.mark.parametrize("partial", [False, True])
def test_levels_are_those_of_fishers_z(partial):
    data = pd.DataFrame(np.random.default_rng(7).normal(size=(30, 3)), columns=list("abc"))
    r = data.corr().to_numpy()
    if partial:
        inverse = np.linalg.inv(r)
        r = -inverse / np.sqrt(np.outer(np.diag(inverse), np.diag(inverse)))
    p = 2 * stats.norm.sf(np.sqrt(30 - 3 - partial) * np.abs(np.arctanh(r[0, 1])))
    find = ce.baselines.partial_correlation_threshold if partial else ce.baselines.correlation_threshold
    assert "a -- b" in find(data, alpha=p * 1.0001).edges
    assert "a -- b" not in find(data, alpha=p * 0.9999).edges


def test_fixed_graphs_take_only_the_names(chain):
    assert ce.baselines.empty(chain) == ce.as_graph("w; x; y; z")
    assert ce.baselines.complete(chain).n_undirected == 6
    dags = {ce.baselines.complete(chain, seed, kind="dag") for seed in range(9)}
    assert {dag.n_edges for dag in dags} == {6}
    assert len(dags) > 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda data: ce.baselines.correlation_threshold(data, alpha=2), "alpha"),
        (lambda data: ce.baselines.correlation_threshold(data, n_edges=7), "n_edges"),
        (lambda data: ce.baselines.correlation_threshold(data.iloc[:3]), "3 cases, too few for Fisher's z"),
        (lambda data: ce.baselines.partial_correlation_threshold(data.assign(v=data["x"] - data["y"])), "linear funct"),
        (lambda data: ce.baselines.complete(data, kind="pag"), "kind must be 'cpdag' or 'dag'"),
    ],
)
def test_wrong_options_are_refused(chain, call, message):
    with pytest.raises(ValueError, match=message):
        call(chain)
