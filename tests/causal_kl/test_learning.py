"""Learned graphs as a table that keeps the data and the estimator of their parameters."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.causal_kl import from_data, learn, metastatic, sample

CONTEXT = {"data": "data", "estimator": "estimator"}


def copied(data: pd.DataFrame) -> str:
    return "M -> S; M -> B; S -> C; B -> C"


@pytest.mark.slow
def test_controls_are_fitted_as_the_estimates(tmp_path):
    truth = metastatic()
    cases = {r: sample(truth, 300, rng=r) for r in range(2)}
    runs = learn(cases, {"copied": copied, "chain": lambda data: "M -> S; S -> C; C -> B"}, truth=truth)
    assert list(runs.columns) == ["sample", "learner", "truth", "estimate", "data", "estimator", "seconds"]
    assert runs["learner"].tolist() == ["copied", "chain"] * 2 and runs["sample"].tolist() == [0, 0, 1, 1]
    runs.to_parquet(tmp_path / "runs.parquet")
    runs = pd.read_parquet(tmp_path / "runs.parquet", dtype_backend="pyarrow")
    found = runs.ceval.with_controls(["ckl3", "shd"], context=CONTEXT, rng=1, n_draws=20)
    # the same as fitted by hand
    graphs = ce.graph_column(runs["estimate"]).graph.to_graphs()[:2]
    fitted = [from_data(graph, data, 0.5, states=truth) for data in cases.values() for graph in graphs]
    by_hand = pd.DataFrame({"truth": [truth] * 4, "estimate": fitted, "sample": [0, 0, 1, 1]}).ceval.with_controls(
        ["ckl3", "shd"], context={"data": ("sample", cases), "estimator": 0.5}, rng=1, n_draws=20
    )
    for name in ("ckl3", "ckl3_control_mean", "ckl3_p", "shd", "shd_p"):
        assert found[name].astype(float).tolist() == pytest.approx(by_hand[name].tolist(), abs=1e-12)
    with pytest.raises(ValueError, match="context= is missing"):
        runs.ceval.with_controls(["ckl3"], rng=1)


def test_linear_gaussian_data():
    truth = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [0.8]}, {"A": 1.0, "B": 1.0})
    cases = sample(truth, 100, rng=1)
    runs = learn(cases, lambda data: "A -- B", truth=truth)
    assert runs["estimator"].tolist() == ["mle"] and runs["learner"].tolist() == ["<lambda>"]
    found = runs.ceval.evaluate([ce.tweak("ckl3", over="best", name="best"), "ckl3"], context=CONTEXT)
    assert found["best"][0] == pytest.approx(ce.ckl3(truth, from_data("A -> B", cases)), abs=1e-12)
    with pytest.raises(ValueError, match="learners of pyagrum take discrete data"):
        learn(cases, "miic")


def test_mistakes_are_named():
    truth = metastatic()
    cases = sample(truth, 50, rng=1)
    for call, error, words in (
        (lambda: learn(cases, "pcc"), ValueError, "unknown learner 'pcc'; did you mean 'pc'"),
        (lambda: learn(cases, 3), TypeError, "a learner is a name, an object of pgmpy or a function, found int"),
        (lambda: learn([1, 2], copied), TypeError, "data 'data' must be a DataFrame"),
        (lambda: learn(cases[["M", "S"]], copied, truth=truth), ValueError, "has the columns .*the truth the nodes"),
        (lambda: learn(cases, lambda data: "A -> B"), ValueError, "learner '<lambda>' returned str"),
        (lambda: learn(cases, lambda data: 3), TypeError, "learner '<lambda>' returned int"),
        (lambda: learn(cases, copied, estimator="mean"), ValueError, "estimator must be 'mle'"),
        (lambda: learn(cases, [copied, copied]), ValueError, "two learners are called 'copied'"),
        (
            lambda: learn(cases.assign(B=cases["B"].where(cases.index > 0)), copied),
            ValueError,
            "'B' has missing values",
        ),
    ):
        with pytest.raises(error, match=words):
            call()
    runs = learn(cases, copied, truth=truth)
    for cell, words in (
        (b"hello", "found 5 bytes"),
        (runs["data"][0][:-1], "do not match its description"),
        (runs["data"][0].replace(b'"M"', b'"Z"'), "digest"),
    ):
        broken = runs.assign(data=pd.Series([cell], dtype=runs["data"].dtype))
        with pytest.raises(ValueError, match=words):
            broken.ceval.evaluate(["ckl3"], context=CONTEXT)


@pytest.mark.slow
def test_learners_of_pgmpy_and_pyagrum():
    with warnings.catch_warnings():
        # extension modules that cannot be imported where warnings are errors
        warnings.simplefilter("ignore")
        import pgmpy.causal_discovery
        import pyagrum  # noqa: F401
    truth = metastatic()
    cases = sample(truth, 2000, rng=0)
    names = ["pc", "ges", "hill_climbing", "miic", "tabu", "greedy"]
    runs = learn(cases, [*names, pgmpy.causal_discovery.GES()], truth=truth)
    assert runs["learner"].tolist() == [*names, "GES"]
    found = runs.ceval.with_controls(["kl", "ckl3"], context=CONTEXT, rng=1).set_index("learner")
    assert found.loc["ges", "ckl3"] == found.loc["GES", "ckl3"]
    assert found["kl"].between(0, 0.02).all() and found["ckl3"].notna().all()
    assert found.loc[["ges", "miic"], "control_kind"].tolist() == ["cpdag"] * 2
    assert np.isfinite(found["ckl3_skill"]).all()
