"""P-values of rows by splitting, against exact ones, on any engine, and where there are none."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.metric import METRICS
from causaleval_pd.tables.tails import splitting_stream

#: rigid: no relabelling but the identity gives the same graph
CHAIN = "A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; G -> H; A -> C"
OTHER = "H -> G; G -> F; A -> C; B -> E; D -> F; A -> H; C -> E"
RUNS = pd.DataFrame({"truth": [CHAIN] * 3, "estimate": [CHAIN, OTHER, None]}, index=["x", "y", "z"])


def with_tails(runs, metrics=("shd",), **settings):
    how = {"null": "permutation", "n_draws": 99, "rng": 1, "tails": "splitting", "columns": "full"}
    return ce.with_controls(runs, list(metrics), **how | settings)


def test_a_perfect_estimate_has_the_p_value_of_one_relabelling():
    found = with_tails(RUNS)
    exact = 1 / math.factorial(8)
    assert found["shd_p_method"].tolist()[:2] == ["splitting", "simulated"] and found["shd_p"].isna().tolist()[2]
    assert found["shd_p_low"].iloc[0] < exact < found["shd_p_high"].iloc[0] < 2 * exact
    # an estimate that errs upwards, but for chance
    assert found["shd_p"].iloc[0] > 0.9 * exact and found["shd_p_at_floor"].tolist() == [False, False, pd.NA]
    assert found["shd_p_low"].isna().tolist() == [False, True, True]
    plain = ce.with_controls(RUNS, ["shd"], null="permutation", n_draws=99, rng=1, columns="full")
    assert plain["shd_p"].iloc[0] == 0.01 and plain["shd_p_at_floor"].tolist() == [True, False, pd.NA]
    # all but p is as it was
    same = [name for name in plain if "_p" not in name]
    pd.testing.assert_frame_equal(found[same], plain[same])


@pytest.mark.slow
def test_results_depend_on_seed_and_key_alone():
    first = with_tails(RUNS)["shd_p"]
    assert with_tails(RUNS[::-1], engine="threads", n_jobs=2)["shd_p"]["x"] == first["x"]
    assert with_tails(RUNS, ["adjacency_f1", "shd"])["shd_p"]["x"] == first["x"]
    assert with_tails(RUNS, rng=2)["shd_p"]["x"] != first["x"]
    shd, f1 = METRICS["shd"], METRICS["adjacency_f1"]
    streams = [splitting_stream(np.uint64(key), m).random() for key, m in ((1, shd), (2, shd), (1, f1), (1, shd))]
    assert streams[0] == streams[3] and len(set(streams)) == 3


@pytest.mark.slow
def test_random_graphs_have_the_tails_of_the_hypergeometric_law():
    settings = {"null": "edges", "method": "simulate"}
    runs = pd.DataFrame(
        {"truth": [CHAIN], "estimate": ["A -> B; B -> C; C -> D; D -> E; E -> F; F -> G; H -> A; H -> B"]}
    )
    exact = ce.with_controls(runs, ["adjacency_f1"], rng=1)["adjacency_f1_p"][0]
    found = with_tails(runs, ["adjacency_f1"], **settings).iloc[0]
    assert found["adjacency_f1_p_method"] == "splitting"
    assert found["adjacency_f1_p_low"] / 1.3 < exact < found["adjacency_f1_p"] < 2.5 * exact


def test_null_models_without_a_walk_keep_the_bound():
    found = with_tails(RUNS, null="dags")
    assert found["shd_p_method"].tolist()[0] == "simulated" and found["shd_p_at_floor"].tolist()[0]
    with pytest.raises(ValueError, match="tails"):
        with_tails(RUNS, tails="exact")


def test_auto_draws_split_what_they_cannot_reach(monkeypatch):
    table = with_tails(RUNS[:2], n_draws="auto", tails=None)
    assert set(table["n_draws"]) == {999} and table["shd_p_method"].tolist() == ["simulated"] * 2
