"""P-values of strata by splitting: against exact ones, with clusters, and what stays a bound."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.tails.split_strata import MOST_SCORES

#: graphs that no relabelling but the identity leaves alone
RIGID = [
    "A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; A -> C",
    "A -> B; A -> C; B -> D; C -> E; E -> F; F -> G; B -> G",
]


def cube_of(truths, **settings):
    runs = pd.DataFrame({"s": "x", "truth": truths, "estimate": truths})
    how = {"by": ["s"], "n_draws": 49, "rng": 1, "tails": "splitting", "method": "simulate"}
    return ce.cube(runs, ["shd"], **how | settings)


@pytest.mark.slow
@pytest.mark.parametrize(("truths", "n_clusters"), [(RIGID, 2), ([RIGID[0]] * 3, 1)])
def test_perfect_runs_have_the_p_value_of_one_relabelling_a_cluster(truths, n_clusters):
    cube = cube_of(truths, null="permutation")
    exact = math.factorial(7) ** -n_clusters
    found = ce.test_controls(cube).iloc[0]
    assert found["p_method"] == "splitting" and not found["p_at_floor"] and found["n_clusters"] == n_clusters
    assert found["p_low"] / 1.2 < exact < found["p_value"] < 3 * exact
    if n_clusters == 1:
        assert ce.test_controls(cube, statistic="rank").iloc[0]["p_at_floor"]


def test_null_models_without_a_walk_keep_the_bound():
    truths = [f"{RIGID[0]}; H; I"]
    found = ce.test_controls(cube_of(truths, null="dags")).iloc[0]
    assert found["p_method"] == "simulated" and found["p_at_floor"] and found["p_value"] == 1 / 50
    assert "p <= 0.02, the least that these draws give; n_draws='auto' or tails='splitting'" in found["note"]
    cube = cube_of(truths, null="dags")
    assert not [name for name in cube if "_p_method" in name] and MOST_SCORES > 1e6
