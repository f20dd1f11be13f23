"""Baselines as rows of a table."""

import functools

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce


@pytest.fixture
def studies(published):
    """Two algorithms on three data sets, one of which failed once, with settings."""
    rows, frames = [], {}
    for name, one in list(published.items())[:3]:
        frames[name] = one["data"]
        nodes = "; ".join(one["columns"])
        truth = "; ".join(f"{a} -> {b}" for a, b in one["graphs"]["truth"]["arcs"])
        wrong = "; ".join(f"{a} -> {b}" for a, b in one["graphs"]["random"]["arcs"])
        for algorithm, estimate in (("exact", truth), ("guess", wrong)):
            rows.append(
                {"algorithm": algorithm, "dataset": name, "n": 300, "seconds": len(rows) / 2, "converged": True}
                | {"truth": f"{truth}; {nodes}", "estimate": f"{estimate}; {nodes}"}
            )
    runs = pd.DataFrame(rows)
    runs.loc[3, "estimate"] = None
    return runs, {"data": ("dataset", frames)}


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


def test_sortabilities_of_rows(studies, published):
    runs, context = studies
    names = ["var_sortability", "r2_sortability", "snr_sortability"]
    scored = runs.ceval.evaluate(names, context=context)
    for row in scored.drop(3).itertuples():
        known = published[row.dataset]["graphs"]["truth"]
        for name in names:
            assert getattr(row, name) == pytest.approx(known[f"{name}_paths"])
    pairs = ce.tweak("var_sortability", measure="adjacent_pairs", name="of_edges")
    edges = runs.ceval.evaluate([pairs], context=context)["of_edges"]
    assert edges[0] == pytest.approx(published[runs["dataset"][0]]["graphs"]["truth"]["var_sortability_adjacent_pairs"])


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
