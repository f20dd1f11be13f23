"""Clusters of dask tables: brought together where partitions split them, and tested as in memory."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.field import get_field
from causaleval_pd.cubes.lazy.clusters import PartClusters, plan_clusters

KEY = ["algorithm", "n", "density", "replicate"]
HOW = {"by": ["s"], "n_draws": 30, "rng": 6}


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
    pd.testing.assert_frame_equal(found.ceval.summary(columns="full"), whole.ceval.summary(columns="full"), rtol=1e-9)
    columns = ["s", "metric", "mean", "p_value", "p_se", "p_method", "n_clusters", "skill"]
    mine = lazy.ceval.cube(["shd"], **how).ceval.summary(statistic="rank", columns="full")
    theirs = whole.ceval.summary(statistic="rank", columns="full")
    pd.testing.assert_frame_equal(mine[columns], theirs[columns], rtol=1e-9)


@pytest.mark.slow
def test_small_p_values_are_those_in_memory():
    table = ce.datasets.runs().query("replicate < 9 and (n == 100 or density == 0.2)").sample(frac=1, random_state=3)
    how = {"by": ["algorithm", "density"], "n_draws": 9, "rng": 6, "key": KEY}
    whole = table.ceval.cube(["shd", "adjacency_f1"], **how)
    lazy = dd.from_pandas(table, npartitions=5, sort=False).ceval.cube(["shd", "adjacency_f1"], **how)
    for statistic in ("mean", "rank"):
        wanted = whole.ceval.summary(statistic=statistic, columns="full")
        found = lazy.ceval.summary(statistic=statistic, columns="full")
        pd.testing.assert_frame_equal(found, wanted)
        assert wanted["p_method"].str.contains("combinations of draws").any()


@pytest.mark.slow
def test_raw_draws_are_those_in_memory():
    table = runs(shuffled=True)
    lazy = dd.from_pandas(table, npartitions=3).ceval.cube(["shd"], **HOW)
    whole = ce.cube(table, ["shd"], **HOW)
    for name in ("shd_relabelled", "shd_control"):
        np.testing.assert_array_equal(lazy[name].compute(scheduler="synchronous"), whole[name])


@pytest.mark.slow
def test_a_column_that_splits_a_truth_is_refused_across_partitions():
    table = runs(shuffled=False).assign(g=lambda x: np.arange(len(x)))
    with pytest.raises(ValueError, match=r"partition \d+, row \d+ and partition .* have the same truth, but different"):
        dd.from_pandas(table, npartitions=16).ceval.cube(["shd"], cluster="g", **HOW)


def test_plans_say_which_strata_repeat_a_cluster():
    nothing, how = np.zeros(2, np.int64), {"n_draws": 9}
    own = get_field("graph")
    parts = [PartClusters(np.array(ids), *[nothing] * 3) for ids in ([1, 1], [2, 0], [1, 0])]
    strata = [np.array(x) for x in ([5, 5], [6, 6], [6, 6])]
    plan = plan_clusters(parts, strata, how, "truth", own)
    assert plan.repeated.tolist() == [5] and plan.n_rows == 6
    # a cluster that two partitions share
    assert plan_clusters(parts, [strata[1], strata[1], strata[0]], how, "truth", own).repeated.tolist() == [6]
    assert plan_clusters(
        parts, [np.array([5, 6]), strata[1], np.array([5, 6])], how, "truth", own
    ).repeated.tolist() == [5]
    assert plan_clusters(parts, strata, how, "none", own).repeated.tolist() == []
