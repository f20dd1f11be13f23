"""Verdicts of summaries on estimates that data judge."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask

pytestmark = pytest.mark.slow

rng = np.random.default_rng(3)
FRAMES = {}
for key in range(4):
    data = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("ABCDE"))
    data["B"] += data["A"]
    data["D"] += data["A"] + data["B"]
    data["E"] += data["D"]
    FRAMES[key] = data
GRAPHS = {
    "good": "A -> B; A -> D; B -> D; D -> E; C",
    "bad": "C -> B; C -> E; B -> E; E -> A; D",
    "full": "A -> B; A -> C; A -> D; A -> E; B -> C; B -> D; B -> E; C -> D; C -> E; D -> E",
    "none": "A; B; C; D; E",
}
RUNS = pd.DataFrame([{"graph": g, "data": k, "estimate": text} for g, text in GRAPHS.items() for k in FRAMES])
HOW = {"by": ["graph"], "truth": None, "context": {"data": ("data", FRAMES)}, "n_draws": 99, "rng": 1}


def words(table, **rows):
    for name, value in rows.items():
        table = table[table[name] == value]
    return table.set_index("graph")["verdict"].to_dict()


def test_verdicts_compare_p_values_and_the_smallest_that_is_possible():
    cube = ce.cube(RUNS, ["separation_share", "bic"], null=["permutation", "edges"], **HOW)
    table = ce.summary(cube, columns="full")
    wanted = {"good": "not all guesses", "bad": "not better"}
    wanted |= {"full": "uninformative", "none": "uninformative"}
    assert words(table, metric="bic", null="permutation") == wanted
    assert words(table, metric="separation_share", null="permutation") == wanted
    assert "uninformative" not in set(table.loc[table["null"] == "edges", "verdict"])
    assert "p_floor" not in set(table["metric"]) and cube["p_floor"].notnull().all()


def test_dask_tables_have_the_verdicts_of_their_cube():
    """Rows of a data set stand in several partitions."""
    how = HOW | {"null": "permutation", "n_draws": 49}
    whole = ce.summary(ce.cube(RUNS, ["separation_share", "bic"], **how), columns="full")
    turned = RUNS.sample(frac=1, random_state=1).reset_index(drop=True).assign(run=range(len(RUNS)))
    lazy = dd.from_pandas(RUNS.assign(run=range(len(RUNS))), npartitions=5).ceval.cube(
        ["separation_share", "bic"], key="run", replicate="run", **how
    )
    pd.testing.assert_series_equal(lazy.ceval.summary(columns="full")["verdict"], whole["verdict"])
    by_run = how | {"key": "run", "replicate": "run"}
    parts = dd.from_pandas(turned, npartitions=3).ceval.cube(["bic"], **by_run)
    assert words(parts.ceval.summary(columns="full"), metric="bic") == words(whole, metric="bic")
    small = RUNS[RUNS["graph"] == "good"].assign(estimate="A -> B; B -> D", data=0, run=range(4))
    one = dd.from_pandas(small, npartitions=2).ceval.cube(["bic"], **by_run)
    assert one.ceval.summary(columns="full")["verdict"].tolist() == ["uninformative"], "one data set is worth one run"


def test_one_run_of_few_nodes_is_uninformative_and_several_data_sets_are_not():
    chain = RUNS[RUNS["graph"] == "good"].assign(estimate="A -> B; B -> D; D -> E; C")
    small = chain.assign(estimate="A -> B; B -> D")
    # runs on one data set are relabelled alike, and are worth one
    same = pd.concat([small.head(1)] * 4, ignore_index=True)
    one, four, alone = (
        ce.cube(x.assign(run=range(len(x))), ["bic"], null="permutation", key="run", **HOW).ceval.summary()["verdict"]
        for x in (small.head(1), small, same)
    )
    assert one.tolist() == alone.tolist() == ["uninformative"]  # 2 of 6 relabellings are equivalent
    assert four.tolist() != ["uninformative"]  # (1 / 3)^4


def test_other_cubes_are_never_uninformative():
    runs = RUNS.assign(truth=GRAPHS["good"])
    how = {"by": ["graph"], "null": "permutation", "n_draws": 9, "rng": 1}
    for cube in (
        ce.cube(RUNS, ["bic"], null="edges", **HOW),
        ce.cube(runs, ["shd"], **how),
        ce.cube(runs, ["shd", "bic"], context=HOW["context"], **how),
    ):
        assert "uninformative" not in set(cube.ceval.summary()["verdict"])
