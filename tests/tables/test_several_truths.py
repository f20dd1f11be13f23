"""Rows with several accepted truths: the aggregate, the same one in each draw, and the level of p."""

from __future__ import annotations

import cloudpickle
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.tables.several_truths import over_truths

TRUTHS = ["first", "second"]
AGGREGATES = {
    "best": np.fmin,
    "worst": np.fmax,
    "mean": lambda a, b: (np.where(np.isnan(a), b, a) + np.where(np.isnan(b), a, b)) / 2,
}


def random_dags(n, d, n_edges, rng):
    names, texts = [chr(65 + i) for i in range(d)], []
    for _ in range(n):
        order = rng.permutation(names)
        pairs = [(order[i], order[j]) for i in range(d) for j in range(i + 1, d)]
        chosen = rng.choice(len(pairs), n_edges, replace=False)
        texts.append("; ".join([*(f"{pairs[k][0]} -> {pairs[k][1]}" for k in chosen), *names]))
    return texts


@pytest.fixture
def runs():
    rng = np.random.default_rng(7)
    table = pd.DataFrame({name: random_dags(12, 8, 9, rng) for name in [*TRUTHS, "estimate"]})
    table["algorithm"] = ["x", "y"] * 6
    table.loc[[2, 5], "second"] = None
    table.loc[[3, 5], "first"] = None
    table.loc[7, "estimate"] = None
    return table


@pytest.mark.parametrize("over", AGGREGATES)
def test_metrics_are_aggregated_over_the_truths_that_a_row_has(runs, over):
    found = runs.ceval.evaluate(["shd", "adjacency_f1"], truth=TRUTHS, over_truths=over)
    single = [runs.ceval.evaluate(["shd", "adjacency_f1"], truth=name) for name in TRUTHS]
    at = [0, 1, 2, 3, 4, 6, 8, 9, 10, 11]
    both = [x["shd"].to_numpy()[at] for x in single]
    np.testing.assert_array_equal(found["shd"].to_numpy()[at], AGGREGATES[over](*both))
    turned = {"best": "worst", "worst": "best"}.get(over, over)
    both = [x["adjacency_f1"].to_numpy()[at] for x in single]
    np.testing.assert_array_equal(found["adjacency_f1"].to_numpy()[at], AGGREGATES[turned](*both))
    assert found["shd"].isna().to_numpy().nonzero()[0].tolist() == [5, 7]
    best = np.where(single[1]["shd"].fillna(99) < single[0]["shd"].fillna(99), "second", "first")
    assert found["shd_truth"].astype(object)[at].tolist() == best[at].tolist()
    assert found["shd_truth"].isna()[[5, 7]].all()


@pytest.mark.parametrize(
    ("over", "null"),
    [
        *[("best", null) for null in ("edges", "permutation", "orientation", "degree")],
        *[("mean", "edges"), ("worst", "permutation")],
    ],
)
def test_each_draw_gets_the_same_aggregate(runs, over, null):
    runs = runs.dropna().assign(run=range(8))
    settings = {
        "by": [],
        "null": null,
        "n_draws": 30,
        "rng": 7,
        "cluster": None,
        "replicate": "run",
    }
    found = runs.ceval.cube(["shd"], truth=TRUTHS, over_truths=over, **settings)["shd_control"]
    single = [runs.ceval.cube(["shd"], truth=name, **settings)["shd_control"].to_numpy() for name in TRUTHS]
    np.testing.assert_array_equal(found.to_numpy(), AGGREGATES[over](*single))
    assert found.shape == (8, 30)


@pytest.mark.parametrize("null", ["edges", "permutation"])
def test_a_truth_named_twice_is_one_truth(runs, null):
    runs = runs.dropna()
    twice = runs.assign(again=runs["first"])
    settings = {"null": null, "method": "simulate", "n_draws": 99, "rng": 7, "cluster": None, "columns": "full"}
    one = runs.ceval.with_controls(["shd", "sid"], truth="first", **settings)
    two = twice.ceval.with_controls(["shd", "sid"], truth=["first", "again"], over_truths="worst", **settings)
    pd.testing.assert_frame_equal(two[one.columns], one)
    assert (two["shd_truth"] == "first").all()


@pytest.mark.slow
def test_verbs_take_several_truths(runs):
    settings = {"truth": TRUTHS, "over_truths": "best", "n_draws": 40, "rng": 7}
    cube = runs.ceval.cube(["shd"], by=["algorithm"], **settings)
    summary = cube.ceval.summary(columns="full").set_index("algorithm")
    assert summary["n_scored"].sum() == 10
    assert summary["n_failed"].sum() == 2
    with ce.set_options(engine="threads"):
        turned = runs.iloc[::-1].ceval.with_controls(["shd"], **settings).iloc[::-1]
    pd.testing.assert_frame_equal(turned, runs.ceval.with_controls(["shd"], **settings))
    given = runs.dropna().assign(control=runs["first"].dropna())
    held = given.ceval.cube(["shd"], by=["algorithm"], truth=TRUTHS, over_truths="best", control="control")
    assert float(held["shd_control"].max()) == 0


def test_metrics_without_truth_and_with_words_or_dimensions(runs):
    counts = runs.ceval.evaluate(["estimated_edges"], truth=TRUTHS, over_truths="mean")
    assert counts["estimated_edges"].dropna().eq(9).all()
    with pytest.raises(ValueError, match="estimated_edges has no direction, so that no truth is better"):
        runs.ceval.evaluate(["estimated_edges"], truth=TRUTHS, over_truths="best")
    with pytest.raises(ValueError, match="by names 'true_edges', which describes a truth, and rows have several"):
        runs.ceval.cube(["shd"], by=["true_edges"], truth=TRUTHS, over_truths="best", n_draws=None)


def test_views_have_several_truths_too():
    network = ce.GaussianNetwork({"A": [], "B": ["A"]}, {"B": [0.5]}, {"A": 1, "B": 1})
    other = ce.GaussianNetwork({"A": ["B"], "B": []}, {"A": [0.5]}, {"A": 1, "B": 1})
    runs = pd.DataFrame({"a": [network], "b": [other], "estimate": [other]})
    found = runs.ceval.evaluate(["shd", "edit_distance"], truth=["a", "b"], over_truths="worst")
    assert found[["shd", "edit_distance"]].to_numpy().tolist() == [[1.0, ce.edit_distance(network, other)]]


def test_metrics_over_truths_reach_other_processes():
    made = over_truths(ce.tweak("shd", reversal_cost=2), "worst", "mine")
    again = cloudpickle.loads(cloudpickle.dumps(made))
    assert (again.name, again.over, dict(again.base.options)) == ("mine", "worst", {"reversal_cost": 2})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"truth": TRUTHS}, "choose over_truths='best', 'mean' or 'worst'"),
        ({"truth": "first", "over_truths": "best"}, "aggregates over several truths; name their columns by a list"),
        ({"truth": TRUTHS, "over_truths": "least"}, "over_truths must be 'best', 'mean' or 'worst', found 'least'"),
        ({"truth": ["first", "first"], "over_truths": "best"}, "a list of different names"),
        ({"truth": [], "over_truths": "best"}, "a list of different names"),
        ({"truth": ["first", "third"], "over_truths": "best"}, "the table has no column 'third'"),
        ({"truth": ["first", "estimate"], "over_truths": "best"}, "truth and estimate are the same column 'estimate'"),
    ],
)
def test_wrong_calls_are_refused(runs, settings, message):
    with pytest.raises(ValueError, match=message):
        runs.ceval.evaluate(["shd"], **settings)
    with pytest.raises(ValueError, match=message):
        runs.ceval.cube(["shd"], by=["algorithm"], **settings)


def test_the_best_of_settings_is_not_combined_with_truths(runs):
    settings = {"truth": TRUTHS, "over_truths": "best", "best_of": "algorithm"}
    with pytest.raises(ValueError, match="takes no over_truths="):
        runs.ceval.with_controls(["shd"], **settings)
    with pytest.raises(ValueError, match="takes no over_truths="):
        runs.ceval.cube(["shd"], by=[], **settings)


@pytest.mark.slow
def test_p_keeps_its_level_where_the_least_of_several_does_not():
    """Random estimates, three accepted truths: .05 at level .05 up to three standard errors of 600 rows."""
    rng = np.random.default_rng(11)
    names = ["a", "b", "c"]
    table = pd.DataFrame({name: random_dags(600, 8, 12, rng) for name in [*names, "estimate"]})
    settings = {"n_draws": 99, "rng": 7, "method": "simulate"}
    joint = table.ceval.with_controls(["shd"], truth=names, over_truths="best", **settings)["shd_p"]
    each = [table.ceval.with_controls(["shd"], truth=name, **settings)["shd_p"] for name in names]
    error = np.sqrt(0.05 * 0.95 / 600)
    assert (joint <= 0.05).mean() < 0.05 + 3 * error
    assert (np.minimum.reduce(each) <= 0.05).mean() > 0.05 + 2 * error


@pytest.mark.slow
def test_dask_tables_take_several_truths(runs):
    import dask.dataframe as dd

    import causaleval_pd.dask  # noqa: F401

    for name in [*TRUTHS, "estimate"]:
        runs[name] = ce.graph_column(runs[name])
    parts = dd.from_pandas(runs, npartitions=3)
    settings = {"truth": TRUTHS, "over_truths": "best"}
    for verb, more in (("evaluate", {}), ("with_controls", {"n_draws": 40, "rng": 7})):
        here, there = (getattr(x.ceval, verb)(["shd"], **settings, **more) for x in (runs, parts))
        pd.testing.assert_frame_equal(there.compute(), here, check_dtype=False)
    how = {"by": ["algorithm"], "n_draws": 40, "rng": 7} | settings
    cube = parts.ceval.cube(["shd"], **how).compute()
    columns = ["mean", "control_mean", "p_value", "n_clusters"]
    here, there = (x.ceval.summary(columns="full") for x in (runs.ceval.cube(["shd"], **how), cube))
    pd.testing.assert_frame_equal(there[columns], here[columns], check_dtype=False)
    np.testing.assert_allclose(np.sort(cube["shd"]), np.sort(runs.ceval.cube(["shd"], **how)["shd"]))
