"""Clusters of dask tables: brought together where partitions split them, and tested as in memory."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.field import get_field
from causaleval_pd.cubes import scores, stratum_tests
from causaleval_pd.cubes.lazy import clusters as lazy_clusters
from causaleval_pd.cubes.lazy.clusters import PartClusters, plan_clusters

KEY = ["algorithm", "n", "density", "replicate"]
HOW = {"by": ["s"], "n_draws": 30, "rng": 6, "method": "simulate"}


def runs(*, shuffled):
    truths = ["A -> B; B -> C; D", "A -> C; B -> D", "D -> A; B -> C", "A -> B; C -> D; B -> C"]
    guesses = ["A -> B; C; D", "B -> A; C -> D", "A -> D; D -> C; B", "C -> B; B -> A; D", "A -> C; A -> D; B"]
    rows = [(t, guesses[(i + j) % 5], "a") for i, t in enumerate(truths) for j in range(3)]
    rows += [(t, guesses[i], "b") for i, t in enumerate(truths)]
    table = pd.DataFrame(rows, columns=["truth", "estimate", "s"]).assign(g=lambda x: x["truth"].map(truths.index) // 2)
    for role in ("truth", "estimate"):
        table[role] = ce.graph_column(table[role])
    return table.sample(frac=1, random_state=1).reset_index(drop=True) if shuffled else table


@pytest.mark.slow
@pytest.mark.parametrize(("shuffled", "cluster"), [(True, "truth"), (False, "truth"), (True, "g"), (True, None)])
def test_lazy_tables_are_tested_as_in_memory(shuffled, cluster):
    table = runs(shuffled=shuffled)
    how = HOW | {"cluster": cluster}
    whole = ce.cube(table, ["shd"], **how)
    lazy = dd.from_pandas(table, npartitions=4)
    found = lazy.ceval.cube(["shd"], **how).compute(scheduler="synchronous")
    pd.testing.assert_frame_equal(found.ceval.test_controls(), whole.ceval.test_controls(), rtol=1e-9)
    columns = ["s", "metric", "mean", "p_value", "p_se", "p_method", "n_clusters", "skill"]
    mine = lazy.ceval.summary(["shd"], statistic="rank", **how).compute(scheduler="synchronous")
    theirs = whole.ceval.summary(statistic="rank")
    pd.testing.assert_frame_equal(mine[columns], theirs[columns], rtol=1e-9)


METHODS = {
    "combinations of draws": {"method": "simulate"},
    "exact convolution": {"null": "erdos_renyi", "cluster": None, "tails": "exact"},
    "moments": {"method": "moments", "cluster": None, "null": "permutation"},
}


@pytest.mark.slow
@pytest.mark.parametrize("most", [pytest.param(2**14, marks=pytest.mark.slow), 20])
@pytest.mark.parametrize("method", METHODS)
def test_small_p_values_are_those_in_memory(method, most, monkeypatch):
    """Also where some strata have too many runs to be kept whole: p-values of these rest on draws, on any engine."""
    for module in (scores, stratum_tests, lazy_clusters):
        monkeypatch.setattr(module, "MOST_RUNS", most)
    table = ce.datasets.runs().query("replicate < 9 and (n == 100 or density == 0.2)").sample(frac=1, random_state=3)
    how = {"by": ["algorithm", "density"], "n_draws": 9, "rng": 6, "key": KEY} | METHODS[method]
    metrics = ["shd", "adjacency_f1"]
    whole = table.ceval.cube(metrics, **how)
    parts = dd.from_pandas(table, npartitions=5, sort=False).ceval
    lazy = parts.cube(metrics, **how).compute(scheduler="synchronous")
    for statistic in ("mean", "rank"):
        wanted = whole.ceval.summary(statistic=statistic)
        found = parts.summary(metrics, statistic=statistic, **how).compute(scheduler="synchronous")
        for table_of_strata in (found, lazy.ceval.summary(statistic=statistic)):
            pd.testing.assert_frame_equal(table_of_strata, wanted, rtol=1e-12, atol=1e-12)
            assert table_of_strata["p_value"].equals(wanted["p_value"])
        if method == "moments":
            tested = {"statistic": statistic} | ({} if statistic == "rank" else {"method": "moments"})
            pd.testing.assert_frame_equal(lazy.ceval.test_controls(**tested), whole.ceval.test_controls(**tested))
        elif (method, statistic) != ("exact convolution", "rank"):
            named = wanted["p_method"].str.contains(method)
            assert named.any() and (wanted["p_value"] < 0.1)[named].any()
            assert not named[wanted["n_runs"] > most].any() and (wanted["n_runs"] > most).any() == (most == 20)


@pytest.mark.slow
def test_raw_draws_are_those_in_memory():
    table = runs(shuffled=True)
    lazy = dd.from_pandas(table, npartitions=3).ceval.cube(["shd"], keep_draws=True, **HOW)
    whole = ce.cube(table, ["shd"], keep_draws=True, **HOW)
    for name in ("shd_relabelled", "shd_control"):
        np.testing.assert_array_equal(lazy[name].compute(scheduler="synchronous"), whole[name])


@pytest.mark.slow
def test_a_column_that_splits_a_truth_is_refused_across_partitions():
    table = runs(shuffled=False).assign(g=lambda x: np.arange(len(x)))
    with pytest.raises(ValueError, match=r"partition \d+, row \d+ and partition .* have the same truth, but different"):
        dd.from_pandas(table, npartitions=16).ceval.cube(["shd"], cluster="g", **HOW)


def test_plans_say_which_strata_repeat_and_which_rows_have_to_meet(monkeypatch):
    nothing, how = np.zeros(2, np.int64), {"n_draws": 9, "tails": None}
    own = get_field("graph")
    parts = [PartClusters(np.array(ids), *[nothing] * 3) for ids in ([1, 1], [2, 0], [1, 0])]
    strata = [np.array(x) for x in ([5, 5], [6, 6], [6, 6])]
    plan = plan_clusters(parts, strata, how, "truth", own)
    assert plan.repeated.tolist() == [5] and plan.whole.tolist() == [] and not plan.spread and plan.n_rows == 6
    spread = plan_clusters(parts, [*strata[:2], np.array([5, 6])], how, "truth", own)
    assert spread.repeated.tolist() == [5] and spread.spread
    # stratum 6 is in two partitions
    whole = plan_clusters(parts, strata, how | {"tails": "exact"}, "truth", own)
    assert whole.whole.tolist() == [5, 6] and whole.spread
    single = plan_clusters(parts, strata, how | {"tails": "exact"}, "none", own)
    assert single.repeated.tolist() == [] and single.whole.tolist() == [5, 6] and single.spread
    monkeypatch.setattr(lazy_clusters, "MOST_RUNS", 3)
    small = plan_clusters(parts, strata, how | {"tails": "exact"}, "truth", own)
    assert small.whole.tolist() == [5] and not small.spread
    monkeypatch.setattr(lazy_clusters, "MOST_RUNS", 9)
    assert plan_clusters(parts, strata, how | {"tails": "exact"}, "truth", own).whole.tolist() == [5, 6]
    by_moments = plan_clusters(parts, strata, how | {"tails": "exact", "method": "moments"}, "truth", own)
    assert by_moments.whole.tolist() == [5, 6]
