"""The published layout: what is written is read, with the functions of nodes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from causaleval_pd.reasoning import World, make_tasks, quantities, read_published, write_published
from causaleval_pd.reasoning.tasks import published_export, published_format

RAW = [
    "Task ID", "Context ID", "Sample ID", "Replicate ID", "Nodes per BCC", "DAG adjacency matrix", "DAG nodes",
    "CCT adjacency matrix", "CCT nodes", "Exogenous variables", "Bernoulli parameters", "Global quantity",
    "Local quantities", "Causal context", "Sample context", "Factual queries",
    "Interventional queries (cause = True)", "Interventional queries (cause = False)",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("theme", [pytest.param("candy_party", marks=pytest.mark.slow), "clinical_notes"])
def test_what_is_written_is_read(theme, tmp_path, monkeypatch):
    monkeypatch.setattr(published_export, "CHUNK", 40)
    monkeypatch.setattr(published_format, "ROWS_AT_ONCE", 50)
    tasks = make_tasks(theme, [[3, 3], [4, 2]], n_samples=40, replicates=2, rng=3)
    folder = write_published(tasks, tmp_path / "out")
    tables = read_published(*sorted(folder.glob("*.csv")))
    keys = ["task", "sample", "replicate", "question"]
    ours, theirs = (x.questionnaire().sort_values(keys, ignore_index=True) for x in (tasks, tables))
    pd.testing.assert_frame_equal(theirs, ours)
    pd.testing.assert_series_equal(tables.nodes["noise"], tasks.nodes["noise"])
    # forty samples tell nearly every function, and none is wrong
    inferred, true = tables.nodes["function"], tasks.nodes["function"]
    inner = ~tasks.nodes["node"].isin([task.world.roots[0] for task in tasks.tasks]).to_numpy()
    assert inferred[inner].notna().mean() > 0.9
    assert (inferred == true)[inferred.notna()].all()
    assert inferred[~inner].isna().all()


@pytest.mark.slow
def test_inferred_functions_give_exact_truths(tmp_path):
    tasks = make_tasks("candy_party", [[3, 3]], n_samples=200, rng=5)
    tables = read_published(*write_published(tasks, tmp_path / "out").glob("*.csv"))
    assert tables.world(0) == tasks.world(0)
    answers = tables.questionnaire().assign(answer=lambda q: q["truth"])
    table = quantities(answers, worlds={0: tables.world(0)}, which=["pns"])
    np.testing.assert_allclose(table["truth_exact"].notna(), True)


def test_columns_and_refusals(tmp_path):
    tasks = make_tasks("candy_party", [[3, 3]], n_samples=3, rng=5)
    folder = write_published(tasks, tmp_path / "out")
    raw = pd.read_csv(folder / "raw.csv")
    assert raw.columns.tolist() == RAW
    with pytest.raises(FileExistsError, match=r"holds raw\.csv"):
        write_published(tasks, folder)
    world = World([("a", "b"), ("c", "b")], {"b": "and"}, {"a": 0.5, "b": 0.9, "c": 0.5})
    forked = make_tasks("candy_party", worlds=[world], pairs="all", n_samples=2, rng=0)
    with pytest.raises(ValueError, match="one root"):
        write_published(forked, tmp_path / "other")
    cell = raw.loc[0, "Factual queries"]
    raw["Factual queries"] = cell.replace("'True endogenous': {", "'True endogenous': {'more': 1, ")
    raw.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(ValueError, match="expected a value of 0 or 1 for each of 5 variables, found 6"):
        read_published(tmp_path / "bad.csv")


def test_values_that_agree_with_no_function_are_refused(tmp_path):
    tasks = make_tasks("candy_party", [[2]], functions="and", noise=0.5, n_samples=60, rng=5)
    raw = pd.read_csv(write_published(tasks, tmp_path / "out") / "raw.csv")
    root, leaf = tasks.world(0).nodes
    # the leaf is true though both its noise and its parent are false, and true where all are
    swap = {"True": "False", "False": "True"}
    raw["Factual queries"] = raw["Factual queries"].str.replace(
        rf"('True endogenous': {{'{root}': \w+, '{leaf}': )(\w+)", lambda m: m[1] + swap[m[2]], regex=True
    )
    raw.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(ValueError, match=f"the values of node '{leaf}' agree neither with AND nor with OR nor XOR"):
        read_published(tmp_path / "bad.csv")
