"""Baselines as rows of a table."""

import functools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


def test_one_row_a_data_set_and_baseline(studies):
    runs, context = studies
    before = runs.copy()
    more = runs.ceval.with_baselines(["var_sort_regress", "empty"], context=context, rng=7)
    pd.testing.assert_frame_equal(runs, before)
    assert list(more.index) == list(range(12))
    pd.testing.assert_frame_equal(more.iloc[:6].drop(columns="estimate"), runs.drop(columns="estimate"))
    new = more.iloc[6:]
    assert new["algorithm"].tolist() == ["var_sort_regress"] * 3 + ["empty"] * 3
    assert new["dataset"].tolist() == runs["dataset"].unique().tolist() * 2
    assert new["n"].tolist() == [300] * 6
    assert new["seconds"].isna().all(), "runs on a data set differ in it"
    assert new["converged"].tolist() == [True] * 6
    for row in new.head(3).itertuples():
        assert ce.Graph.from_bytes(row.estimate) == ce.baselines.var_sort_regress(context["data"][1][row.dataset])


@pytest.mark.slow
def test_baselines_are_rows_like_others_for_all_verbs(studies):
    runs, context = studies
    more = runs.ceval.with_baselines(["r2_sort_regress", "complete"], context=context, rng=7)
    cube = more.ceval.cube(["shd"], by=["algorithm"], n_draws=20, rng=7)
    counts = cube.ceval.summary(columns="full").set_index("algorithm")["n_runs"]
    assert counts.to_dict() == dict.fromkeys(["complete", "exact", "guess", "r2_sort_regress"], 3)
    pairs = cube.ceval.compare("algorithm", test="t", reference="r2_sort_regress", columns="full")
    assert pairs["n_pairs"].max() == 3


def test_matched_thresholds_have_the_edges_of_the_estimates(studies):
    runs, context = studies
    more = runs.ceval.with_baselines("correlation_threshold", context=context, n_edges="match")
    new = more.iloc[6:]
    assert set(new["algorithm"]) == {"correlation_threshold like exact", "correlation_threshold like guess"}
    assert len(new) == 5, "a failed run has no number of edges"
    kept = more.iloc[:6].dropna(subset="estimate")
    assert new["estimate"].graph.n_edges.tolist() == kept["estimate"].graph.n_edges.tolist()
    assert new["seconds"].tolist() == kept["seconds"].tolist()


@pytest.mark.slow
def test_random_orders_depend_on_seed_data_and_name_alone(studies):
    runs, context = studies
    names = ["random_sort_regress"]
    first = runs.ceval.with_baselines(names, context=context, rng=7).iloc[6:].set_index("dataset")["estimate"]
    turned = runs.iloc[::-1].reset_index(drop=True)
    again = turned.ceval.with_baselines([*names, "empty"], context=context, rng=7)
    again = again[again["algorithm"] == names[0]].set_index("dataset")["estimate"]
    assert first.to_dict() == again.to_dict()
    others = {runs.ceval.with_baselines(names, context=context, rng=seed)["estimate"].iloc[-1] for seed in range(9)}
    assert len(others) > 2
    named = runs.ceval.with_baselines({"a": names[0], "b": names[0]}, context=context, rng=7)["estimate"]
    assert named.iloc[6:9].tolist() != named.iloc[9:].tolist()


def test_functions_are_baselines(studies):
    runs, context = studies

    def first_to_last(data, rng):
        return f"{data.columns[0]} -> {data.columns[-1]}; " + "; ".join(data.columns)

    two = functools.partial(ce.baselines.correlation_threshold, n_edges=2)
    more = runs.ceval.with_baselines({"own": first_to_last, "two edges": two}, context=context)
    assert more.iloc[6:]["estimate"].graph.n_edges.tolist() == [1, 1, 1, 2, 2, 2]
    assert runs.ceval.with_baselines([first_to_last], context=context)["algorithm"].iloc[-1] == "first_to_last"


def test_tables_without_truth_and_of_failed_runs(studies):
    runs, context = studies
    free = runs.drop(columns="truth").assign(algorithm=runs["algorithm"].astype("category"))
    more = free.ceval.with_baselines("empty", context=context, truth=None)
    assert len(more) == 9
    assert more["algorithm"].cat.categories.tolist() == ["exact", "guess", "empty"]
    failed = runs.assign(estimate=None)
    assert failed.ceval.with_baselines("var_sort_regress", context=context).iloc[6:]["estimate"].notna().all()


def test_indices_stay_unique(studies):
    runs, context = studies
    by_name = runs.set_index(["algorithm", "dataset"], drop=False)
    more = by_name.ceval.with_baselines("empty", context=context)
    assert more.index[-1] == ("empty", runs["dataset"].iloc[-1])
    words = runs.set_axis([f"run {i}" for i in range(6)])
    assert words.ceval.with_baselines("empty", context=context).index[-1] == "empty, run 4"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"baselines": "var_sort"}, "unknown baseline 'var_sort'; did you mean"),
        ({"baselines": []}, "names no baseline"),
        ({"baselines": [3]}, "a baseline is a name or a function"),
        ({"baselines": ["empty", "empty"]}, "names 'empty' twice"),
        ({"baselines": functools.partial(ce.baselines.empty)}, "has no name; give one by a mapping"),
        ({"baselines": {"guess": "empty"}}, "column 'algorithm' holds 'guess' already"),
        ({"context": {}}, "baselines need data"),
        ({"context": None}, "context must be a mapping"),
        ({"context": {"data": ("dataset", {})}}, "is not among the named objects"),
        ({"context": {"data": 3}}, "row 0 .*baseline 'empty': data must be a DataFrame"),
        ({"context": {"data": pd.DataFrame({"A": [1.0, 2.0]})}}, "row 0 .*the data have no column 'B', .* a node"),
        ({"algorithm": "method"}, "the table has no column 'method' .algorithm."),
        ({"n_edges": 3}, "n_edges must be 'match' or None"),
        ({"baselines": {"x": lambda data, rng: "A -> Z"}}, r"row 0 .*returned a graph of the nodes \['A', 'Z'\]"),
    ],
)
def test_wrong_calls_are_refused(studies, settings, message):
    runs, context = studies
    with pytest.raises((ValueError, TypeError), match=message):
        runs.ceval.with_baselines(**({"baselines": "empty", "context": context} | settings))


@pytest.mark.slow
def test_complete_rows_only_where_asked(studies):
    runs, (column, frames) = studies[0], studies[1]["data"]
    gaps = {name: pd.concat([data, data.head(3).assign(A=np.nan)]) for name, data in frames.items()}
    names = ["var_sort_regress", "random_sort_regress"]
    settings = {"context": {"data": (column, gaps), "missing": "drop"}, "rng": 7}
    whole = runs.ceval.with_baselines(names, **settings | {"context": {"data": (column, frames)}})
    pd.testing.assert_frame_equal(runs.ceval.with_baselines(names, **settings), whole)
    scored = runs.ceval.evaluate(["var_sortability"], context=settings["context"])
    pd.testing.assert_frame_equal(scored, runs.ceval.evaluate(["var_sortability"], context={"data": (column, frames)}))
    with pytest.raises(ValueError, match="row 0 .*missing values, by column"):
        runs.ceval.with_baselines(names, context={"data": (column, gaps)})
