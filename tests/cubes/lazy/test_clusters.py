"""Clusters of dask tables: brought together where partitions split them, and tested as in memory."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.cubes.lazy.clusters import PartClusters, plan_clusters

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


def test_raw_draws_are_those_in_memory():
    table = runs(shuffled=True)
    lazy = dd.from_pandas(table, npartitions=3).ceval.cube(["shd"], keep_draws=True, **HOW)
    whole = ce.cube(table, ["shd"], keep_draws=True, **HOW)
    for name in ("shd_relabelled", "shd_control"):
        np.testing.assert_array_equal(lazy[name].compute(scheduler="synchronous"), whole[name])


def test_a_column_that_splits_a_truth_is_refused_across_partitions():
    table = runs(shuffled=False).assign(g=lambda x: np.arange(len(x)))
    with pytest.raises(ValueError, match=r"partition \d+, row \d+ and partition .* have the same truth, but different"):
        dd.from_pandas(table, npartitions=16).ceval.cube(["shd"], cluster="g", **HOW)


def test_plans_say_which_strata_repeat_and_whether_clusters_are_spread():
    nothing = np.zeros(2, np.int64)
    parts = [PartClusters(np.array(ids), nothing, nothing) for ids in ([1, 1], [2, 0], [1, 0])]
    strata = [np.array(x) for x in ([5, 5], [6, 6], [6, 6])]
    plan = plan_clusters(parts, strata, "truth", "truth")
    assert plan.repeated.tolist() == [5] and not plan.spread
    spread = plan_clusters(parts, [*strata[:2], np.array([5, 6])], "truth", "truth")
    assert spread.repeated.tolist() == [5] and spread.spread
