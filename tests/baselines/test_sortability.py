"""Sortability of the data of true DAGs, as a metric."""

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


def test_sortabilities_of_rows(studies, causaldisco):
    runs, context = studies
    names = ["var_sortability", "r2_sortability", "snr_sortability"]
    scored = runs.ceval.evaluate(names, context=context)
    for row in scored.drop(3).itertuples():
        known = causaldisco[row.dataset]["graphs"]["truth"]
        for name in names:
            assert getattr(row, name) == pytest.approx(known[f"{name}_paths"])
    pairs = ce.tweak("var_sortability", measure="adjacent_pairs", name="of_edges")
    edges = runs.ceval.evaluate([pairs], context=context)["of_edges"]
    assert edges[0] == pytest.approx(
        causaldisco[runs["dataset"][0]]["graphs"]["truth"]["var_sortability_adjacent_pairs"]
    )


def test_sortability_stratifies_and_failed_runs_have_that_of_their_truth(studies):
    runs, context = studies
    cube = runs.ceval.cube(["shd"], by=[{"var_sortability": [0, 0.5, 1]}], context=context, n_draws=None)
    assert int((cube["status"] > 0).sum("replicate").sum()) == 6
    assert cube.sizes["var_sortability"] == 2


@pytest.mark.parametrize(
    ("options", "context", "message"),
    [
        ({}, None, "var_sortability needs the data of the truths: pass context="),
        ({"measure": "edges"}, "data", "measure must be 'paths' or 'adjacent_pairs'"),
        ({"tolerance": -1}, "data", "tolerance"),
    ],
)
def test_wrong_sortability(studies, options, context, message):
    runs, given = studies
    metric = ce.tweak("var_sortability", **options) if options else "var_sortability"
    with pytest.raises(ValueError, match=message):
        runs.ceval.evaluate([metric], context=given if context else None)
    assert np.isnan(runs.ceval.evaluate(["var_sortability"], context=given)["var_sortability"][3])


SORTABILITIES = ["var_sortability", "r2_sortability", "snr_sortability"]


@pytest.mark.parametrize("name", SORTABILITIES)
@pytest.mark.parametrize(("estimate", "target"), [("A -> B; C", "pag"), ("A o-o B; C", None), ("A -> B; C", "admg")])
def test_sortability_is_of_the_true_dag_whatever_estimates_are_compared_with(name, estimate, target):
    """With a projection of the truth it is the same; truths with latent nodes and of other classes are named by row."""
    data = pd.DataFrame(np.random.default_rng(7).normal(size=(50, 3)), columns=list("ABC"))
    runs = pd.DataFrame({"truth": ["A -> B; B -> C", "A -> C; B"], "estimate": estimate}, index=["r1", "r2"])
    context = {"data": data, "latents": []} | ({} if target is None else {"target": target})
    known = ce.evaluate(runs.assign(estimate="A; B; C"), [name], context={"data": data})[name]
    pd.testing.assert_series_equal(ce.evaluate(runs, [name], context=context)[name], known)
    with pytest.raises(ValueError, match=r"row 1 \(index 'r2'\): the truth has latent nodes; sortability is of DAGs"):
        ce.evaluate(
            runs.assign(truth=["A -> B; B -> C", "D -> A; D -> B; C"], hidden=["", "D"]),
            [name],
            context=context | {"latents": "hidden"},
        )
    truths = ce.graph_column(["A -> B; B -> C", "A <-> B; C"], kind=["dag", "admg"], index=runs.index)
    with pytest.raises(ValueError, match=r"row 1 \(index 'r2'\): the truth is an admg; sortability is of DAGs"):
        ce.evaluate(runs.assign(truth=truths), [name], context=context)
