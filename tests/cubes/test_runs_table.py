"""Runs of a cube as rows: those of the table that it was made of."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import causaleval_pd as ce

BY = ["algorithm", "density", "n"]


@pytest.fixture(scope="module")
def table():
    found = ce.datasets.runs().query("n != 1600 and replicate < 6").reset_index(drop=True)
    found.loc[[2, 7], "estimate"] = None
    return found


def test_rows_are_those_of_the_table_with_their_controls(table):
    how = {"n_draws": 30, "rng": 7, "values": ["seconds"], "replicate": "replicate"}
    cube = table.ceval.cube(["shd", "adjacency_f1"], by=BY, **how)
    rows = cube.ceval.runs()
    assert len(rows) == len(table) and rows["failed"].sum() == 2
    scored = table.ceval.with_controls(["shd", "adjacency_f1"], n_draws=30, rng=7)
    both = scored.merge(rows, on=[*BY, "replicate"], suffixes=("", "_cube"))
    assert len(both) == len(table)
    for metric in ("shd", "adjacency_f1"):
        for part in ("", "_control_mean", "_control_low", "_control_high", "_p", "_skill"):
            np.testing.assert_array_equal(both[f"{metric}{part}_cube"], both[f"{metric}{part}"].astype(float))
    np.testing.assert_array_equal(both["seconds_cube"], both["seconds"])
    assert rows.groupby(["density", "replicate"])["truth_id"].nunique().max() == 1


def test_means_of_rows_are_those_of_the_summary(table):
    cube = table.ceval.cube(["shd"], by=BY, n_draws=30, rng=7)
    rows, summary = cube.ceval.runs(), cube.ceval.summary().set_index(BY)
    found = rows.groupby(BY, observed=True)[["shd", "shd_control_mean"]].mean()
    np.testing.assert_allclose(found["shd"], summary.loc[found.index, "mean"])
    fitted = smf.mixedlm("shd ~ algorithm + n", rows.dropna(subset="shd"), groups="truth_id").fit()
    assert fitted.params["algorithm[T.lingam]"] < 0


def test_null_models_and_clusters_are_columns(table):
    few = table.head(24).assign(block=lambda x: pd.factorize(x["truth"].graph.to_strings())[0] // 2)
    cube = few.ceval.cube(["shd"], by=["algorithm"], null=["edges", "permutation"], n_draws=9, rng=1, cluster="block")
    rows = cube.ceval.runs()
    assert list(rows)[:3] == ["null", "algorithm", "replicate"] and len(rows) == 48
    assert rows["cluster_id"].nunique() == few["block"].nunique()
    bare = few.ceval.cube(["shd"], by=[], n_draws=None).ceval.runs()
    assert list(bare) == ["replicate", "truth_id", "failed", "shd"]
