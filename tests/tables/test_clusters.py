"""Clusters of rows: by truth, by a column, or none; what is refused, and which strata repeat one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.tables.clusters import PlacedClusters, read_clusters, repeated_strata
from causaleval_pd.tables.settings import Cells
from causaleval_pd.tables.tasks import read_tasks

TRUTHS = ["A -> B; C", "C -> B; A", "A -> B; C", "A -> B; C; D"]
RUNS = pd.DataFrame({"truth": TRUTHS, "estimate": ["A; B -> C", "A -> B; C", None, "A -> D; B; C"], "g": list("aaab")})


def clusters(table=RUNS, cluster="truth"):
    [task], _ = read_tasks(table, ["shd"], Cells())
    return read_clusters(table, cluster, task, task.identity())


def test_rows_of_one_truth_are_a_cluster():
    found = clusters()
    assert found.setting == "truth" and len(set(found.ids.tolist())) == 3
    assert found.ids[0] == found.ids[2]
    turned = clusters(RUNS[::-1])
    assert turned.ids[::-1].tolist() == found.ids.tolist()
    written_otherwise = RUNS.assign(truth=["C; A -> B", *TRUTHS[1:]])
    assert clusters(written_otherwise).ids.tolist() == found.ids.tolist()


def test_none_gives_every_row_a_cluster_of_its_own():
    found = clusters(cluster=None)
    assert found.setting == "none" and len(set(found.ids.tolist())) == 4


def test_a_column_may_merge_truths():
    found = clusters(cluster="g")
    assert found.setting == "column g"
    assert found.ids[0] == found.ids[1] != found.ids[3] and found.ids[2] == 0


def test_streams_depend_on_seed_and_cluster_alone():
    a, b = clusters(), clusters(RUNS.iloc[[2, 0]])
    assert a.keys(3)[0] == a.keys(3)[2] == b.keys(3)[0] != a.keys(4)[0]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (list("abcd"), None),
        (list("abbc"), None),
        (["a", None, "a", "b"], r"row 1 \(index 1\): cluster='g' has no value"),
        (list("aaaa"), r"row 0 \(index 0\) and row 3 \(index 3\) are in one cluster, but their truths have different"),
    ],
)
def test_columns_that_are_no_clusters_are_refused(column, message):
    if message is None:
        # the third run failed, so nothing of its cluster matters
        assert clusters(RUNS.assign(g=column), "g").ids[2] == 0
        return
    with pytest.raises(ValueError, match=message):
        clusters(RUNS.assign(g=column), "g")


def test_a_column_that_splits_a_truth_is_refused():
    table = RUNS.assign(estimate="A; B; C", g=list("abcd")).iloc[:3]
    with pytest.raises(ValueError, match=r"row 0 .* and row 2 .* have the same truth, but different clusters"):
        clusters(table, "g")
    with pytest.raises(ValueError, match="cluster"):
        clusters(RUNS, "unknown")


def test_answers_have_no_clusters_unless_a_column_names_them():
    table = pd.DataFrame({"truth": [True, True, False], "estimate": [True, False, False], "g": [1, 1, 2]})
    [task], _ = read_tasks(table, ["answer_accuracy"], Cells())
    assert read_clusters(table, "truth", task, task.identity()).setting == "none"
    found = read_clusters(table, "g", task, task.identity())
    assert found.setting == "column g" and found.ids[0] == found.ids[1] != found.ids[2]


def test_strata_that_repeat_a_cluster():
    ids, stratum = np.array([5, 6, 5, 5, 6]), np.array([0, 0, 1, 1, 2])
    every = np.ones(5, bool)
    assert repeated_strata(ids, stratum, every).tolist() == [False, True, False]
    assert repeated_strata(ids, stratum, np.array([1, 1, 1, 0, 1], bool)).tolist() == [False, False, False]
    marks = pd.DataFrame({"c": [1, 1], "r": [True, False]})
    [task], _ = read_tasks(RUNS.iloc[:2].assign(**marks), ["shd"], Cells())
    placed = read_clusters(marks, PlacedClusters("truth", "c", "r", True), task, np.zeros(2, np.int64))
    assert placed.repeats(np.zeros(2, np.int64), np.ones(2, bool)).tolist() == [True, False]


def test_networks_and_formulas_have_labels():
    truths = pd.Series(["A*b+C<->E", "A*b+c<->E", "A*B<->E"], dtype="str")
    labels = ce.configurational.FORMULAS.labels(truths)
    assert labels[0] == labels[1] != labels[2]
