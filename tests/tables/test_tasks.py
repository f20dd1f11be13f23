"""From a table and metrics to tasks: fields are settled, cells made canonical once, order kept."""

import math
import re

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.contract.field import get_field
from causaleval_pd.tables.settings import Cells
from causaleval_pd.tables.tasks import bind_zero_division, cells_field, read_tasks, select

RUNS = pd.DataFrame({"truth": ["A -> B; C", "A -> B; C", None], "estimate": ["A -> B; C", None, "A; B; C"]})
without_truth = pytest.mark.filterwarnings("ignore:found an estimate without a truth in 1 of 3 rows")
NETWORKS = pd.DataFrame(
    {"truth": [ce.causal_kl.metastatic()] * 2, "estimate": list(ce.causal_kl.metastatic_mutations().values())[:2]}
)


def test_one_task_a_field_and_metrics_in_the_order_of_the_call():
    tasks, chosen = read_tasks(NETWORKS, ["shd", "edit_distance", "adjacency_f1"], Cells())
    assert [task.field.name for task in tasks] == ["graph", "network"]
    assert [m.name for m in chosen] == ["shd", "edit_distance", "adjacency_f1"]
    assert [[m.name for m in task.metrics] for task in tasks] == [["shd", "adjacency_f1"], ["edit_distance"]]


@without_truth
def test_no_metrics_are_the_default_set_and_an_empty_list_is_none():
    [task], chosen = read_tasks(RUNS, None, Cells())
    assert tuple(m.name for m in chosen) == get_field("graph").default_metrics
    [task], chosen = read_tasks(RUNS, [], Cells())
    assert chosen == () == task.metrics and task.field.name == "graph"


def test_truths_and_estimates_in_different_rows_are_refused():
    truth = pd.Series(["A -> B"] * 2, index=["x.truth.txt", "y.truth.txt"])
    apart = pd.DataFrame({"truth": truth, "estimate": truth.rename(lambda name: name.replace("truth", "fci"))})
    with pytest.raises(ValueError, match=r"no row has both .*'x\.truth\.txt'.*'x\.fci\.txt'.*same labels"):
        read_tasks(apart, ["shd"], Cells())
    read_tasks(apart.assign(estimate=None), ["shd"], Cells())  # all runs failed
    read_tasks(RUNS.iloc[1:2], ["shd"], Cells())
    read_tasks(apart, [], Cells(truth=None))


@without_truth
def test_rows_without_truth_or_estimate_failed_and_truths_have_identities():
    [task], _ = read_tasks(RUNS, ["shd"], Cells())
    assert task.failed().tolist() == [False, True, True]
    identity = task.identity()
    assert identity[0] == identity[1] != 0 and identity[2] == 0
    [batch] = task.batches()
    assert batch.rows.tolist() == [0]


@pytest.mark.parametrize(
    ("table", "metrics", "cells", "error", "message"),
    [
        ([1], ["shd"], Cells(), TypeError, "table must be a pandas DataFrame, found list"),
        (RUNS, ["shd"], Cells("truth", "truth"), ValueError, "truth and estimate are the same column 'truth'"),
        (RUNS, 3, Cells(), TypeError, "metrics must be names or metrics, found int: 3"),
        (RUNS, ["shd", "shd"], Cells(), ValueError, "found twice: shd"),
        (RUNS, ["shd"], Cells(truth=None), ValueError, "shd compares estimates with a truth, and truth=None names"),
        (RUNS, ["shd", "f_beta"], Cells(), ValueError, r"fields \['formula', 'graph'\] cannot be computed on the same"),
        (RUNS, ["shd"], Cells(field="formula"), ValueError, r"of \['graph'\] do not apply to cells of field 'formula'"),
        (RUNS, ["shd"], Cells(field="grap"), ValueError, "unknown field 'grap'; did you mean 'graph'"),
    ],
)
def test_mistakes_are_named(table, metrics, cells, error, message):
    with pytest.raises(error, match=message):
        read_tasks(table, metrics, cells)


def test_the_cells_settle_the_field_where_metrics_do_not():
    assert cells_field({"truth": NETWORKS["truth"]}, None, None).name == "network"
    assert cells_field({"truth": NETWORKS["truth"]}, select("shd"), None).name == "network", "a network has a graph"
    assert cells_field({"truth": RUNS["truth"]}, select("shd"), None).name == "graph"
    assert cells_field({"truth": RUNS["truth"]}, (), "formula").name == "formula", "the user's word comes first"


def test_zero_division_binds_where_there_is_one_and_nothing_is_fixed():
    assert bind_zero_division(ce.shd, 0.0) is ce.shd
    bound = bind_zero_division(ce.adjacency_f1, 0.25)
    assert bound.options["zero_division"] == 0.25 and bound.name == "adjacency_f1"
    fixed = ce.tweak("adjacency_f1", zero_division=1)
    assert bind_zero_division(fixed, 0.25) is fixed
    assert math.isnan(bind_zero_division(ce.adjacency_f1, math.nan).options["zero_division"])


@without_truth
def test_names_of_components_and_metrics_may_not_meet(declare):
    @declare(dims={"side": ("a", "b")})
    def counted(pairs):
        return np.stack([pairs.counts.fp, pairs.counts.fn], axis=1)

    with pytest.raises(ValueError, match="found twice: counted_a"):
        read_tasks(RUNS, ["counted", ce.tweak("shd", name="counted_a")], Cells())
    chosen = read_tasks(RUNS, ["shd", "counted", "sid"], Cells())[1]
    assert [m.name for m in chosen] == ["shd", "counted_a", "counted_b", "sid"]


@pytest.mark.parametrize("verb", ["evaluate", "with_controls"])
def test_missing_truths_are_named(verb):
    settings = {} if verb == "evaluate" else {"n_draws": 5, "rng": 1}
    with pytest.warns(
        UserWarning, match=r"without a truth in 1 of 3 rows, the first row 2 \(index 2\).*dropna"
    ) as found:
        getattr(RUNS.ceval, verb)(["shd"], **settings)
    assert len(found) == 1
    getattr(RUNS.dropna(subset=["truth"]).ceval, verb)(["shd"], **settings)


def test_a_missing_truth_means_nothing_to_metrics_that_need_none():
    assert RUNS.ceval.evaluate(["n_implied"])["n_implied"].notna().tolist() == [True, False, True]


GRAPHS = ["A -> B; C", "A; B; C", "B -> A; C", "A -> C; B", "C -> B; A", "A; B -> C"]
MISALIGNED = r"is missing in exactly the 3 rows whose index label is not among 0 to 3.*index=table.index"


@pytest.mark.parametrize("role", ["truth", "estimate"])
def test_a_list_in_a_filtered_table_is_named(role):
    table = pd.DataFrame({"truth": GRAPHS, "estimate": GRAPHS}).iloc[[1, 4, 5, 3]]
    table.index = pd.Index([1, 14, 15, 13])
    wrong = table.assign(**{role: ce.graph_column(table[role].tolist())})
    with pytest.warns(UserWarning) as found:
        wrong.ceval.evaluate(["shd"])
    assert any(re.search(f"column '{role}' {MISALIGNED}", str(one.message)) for one in found)
    for right in (ce.graph_column(table[role]), ce.graph_column(table[role].tolist(), index=table.index)):
        assert table.assign(**{role: right}).ceval.evaluate(["shd"])["shd"].tolist() == [0.0] * 4


def test_failed_runs_of_a_filtered_table_are_not_taken_for_a_list():
    table = pd.DataFrame({"truth": GRAPHS, "estimate": [*GRAPHS[:3], None, *GRAPHS[4:]]}).iloc[[1, 3, 4, 5]]
    assert table.ceval.evaluate(["shd"])["shd"].isna().tolist() == [False, True, False, False]
