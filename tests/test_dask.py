"""Dask's tables give the answers of pandas."""

import functools

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
import causaleval_pd.dask

from .cubes.lazy.test_lazy_cube import BY, METRICS, RUNS, partitioned


@functools.cache
def wanted_rows():
    return ce.with_controls(RUNS, METRICS, n_draws=50, rng=7, key="run")


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.permutations(range(len(RUNS))), st.lists(st.integers(0, len(RUNS)), max_size=5))
def test_rows_are_the_same_bits_in_any_partitions(order, cuts):
    lazy = partitioned(RUNS, order, cuts).ceval.with_controls(METRICS, n_draws=50, rng=7, key="run")
    found = lazy.compute()
    assert list(lazy.dtypes.items()) == list(found.dtypes.items())
    pd.testing.assert_frame_equal(found.sort_index(), wanted_rows(), check_exact=True, check_dtype=False)


@functools.cache
def wanted_summary(interval):
    cube = ce.cube(RUNS, METRICS, by=BY, n_draws=50, rng=7, key="run")
    return ce.summary(cube, interval=interval, columns="full")


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.permutations(range(len(RUNS))), st.lists(st.integers(0, len(RUNS)), max_size=5))
@pytest.mark.parametrize("interval", ["quantile", "mean_ci"])
def test_summaries_agree_in_any_partitions(interval, order, cuts):
    wanted = wanted_summary(interval)
    cube = partitioned(RUNS, order, cuts).ceval.cube(METRICS, by=BY, n_draws=50, rng=7, key="run")
    found = cube.ceval.summary(interval=interval, columns="full")
    assert (found["p_value"] == wanted["p_value"]).all()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"on": "excess"}, {"by": "all"}, {"by": ["density"]}, {"by": "all", "test": "max_t"}]
)
def test_comparisons_agree(settings):
    how = {"by": ["algorithm", "density"], "n_draws": 50, "rng": 7, "key": "run"}
    cubes = (table.ceval.cube(METRICS, **how) for table in (dd.from_pandas(RUNS, npartitions=3), RUNS))
    found, wanted = (ce.compare(cube, "algorithm", **settings, columns="full") for cube in cubes)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_columns_are_short_or_full():
    table, how = dd.from_pandas(RUNS, npartitions=3), {"n_draws": 50, "rng": 7, "key": "run"}
    for columns in ("short", "full"):
        lazy = table.ceval.with_controls(["shd"], columns=columns, **how)
        wanted = ce.with_controls(RUNS, ["shd"], columns=columns, **how)
        assert list(lazy.columns) == list(wanted.columns)
        pd.testing.assert_frame_equal(lazy.compute(), wanted, check_exact=True, check_dtype=False)
        with ce.set_options(engine="dask"):
            found = ce.with_controls(RUNS, ["shd"], columns=columns, **how)
        pd.testing.assert_frame_equal(found, wanted, check_exact=True)


def test_scores_are_lazy_with_their_dtypes():
    lazy = dd.from_pandas(RUNS, npartitions=3).ceval.evaluate(["shd", "sid"], invalid="nan")
    assert isinstance(lazy, dd.DataFrame)
    found = lazy.compute()
    assert list(lazy.dtypes.items()) == list(found.dtypes.items())
    wanted = ce.evaluate(RUNS, ["shd", "sid"], invalid="nan")
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False, check_exact=True)


@pytest.mark.slow
def test_latent_nodes_of_the_rows():
    truths = ["A -> B; L -> B; L -> C; D -> C", "A -> B; B -> C; D; L"]
    runs = pd.DataFrame({"truth": truths * 4, "algorithm": list("xxyy") * 2, "hidden": ["L", "L;A"] * 4})
    runs["run"] = range(8)
    runs["estimate"] = ["A o-> B; B <-> C; D o-> C", "B o-o C; D"] * 4
    lists = runs.assign(hidden=runs["hidden"].str.split(";"))
    lazy, order = partitioned(runs, [3, 0, 7, 1, 6, 2, 5, 4], [3, 5]), ["shd", "shd_p", "latent_recall"]
    how = {"context": {"latents": "hidden"}, "n_draws": 20, "rng": 7, "key": "run"}
    wanted = lists.ceval.with_controls(["shd", "latent_recall"], **how)
    assert wanted["shd"].tolist() == [0] * 8
    found = lazy.ceval.with_controls(["shd", "latent_recall"], **how).compute().sort_values("run")
    assert np.array_equal(found[order].to_numpy(float), wanted[order].to_numpy(float), equal_nan=True)
    cubes = (table.ceval.cube(["shd"], by=["algorithm"], **how) for table in (lazy, lists))
    pd.testing.assert_frame_equal(*(cube.ceval.summary(columns="full") for cube in cubes))
    message = r"partition [01]: row 0 .*: context 'latents': found the text .*str\.join\(';'\)"
    with pytest.raises(ValueError, match=message):
        partitioned(lists, list(range(8)), [4]).ceval.evaluate(["shd"], context={"latents": "hidden"}).compute()


@pytest.mark.parametrize(("verb", "settings"), [("with_controls", {}), ("cube", {"by": ["algorithm"]})])
def test_errors_name_the_partition(verb, settings):
    bad = RUNS.assign(estimate=RUNS["estimate"].astype(object))
    bad.loc[25, "estimate"] = b"no graph"
    table = partitioned(bad.astype({"estimate": RUNS["estimate"].dtype}), list(range(len(RUNS))), [20])
    with pytest.raises(ValueError, match=r"partition 1: column 'estimate', row 5 \(index 25\)"):
        getattr(table.ceval, verb)(["shd"], key="run", **settings).compute()


def test_what_dask_cannot_know_is_refused():
    table = partitioned(RUNS, list(range(len(RUNS))), [20])
    for how, error, message in (
        ({"n_draws": 5}, ValueError, "divisions of this dask table are unknown"),
        ({"n_draws": 5, "key": ["run", "no"]}, ValueError, r"key names columns that the table lacks: \['no'\]"),
        ({"key": "run", "best_of": "alpha"}, TypeError, "with_controls of a dask table has no keyword best_of"),
        ({"key": "run", "draws": 5}, TypeError, "unexpected keyword argument 'draws'"),
    ):
        with pytest.raises(error, match=message):
            table.ceval.with_controls(["shd"], **how)
    with pytest.raises(ValueError, match="a cube of a dask table has no setting best_of"):
        table.ceval.cube(["shd"], by=["algorithm"], key="run", best_of="alpha")
    printed = RUNS.assign(truth="DiGraph with 4 nodes and 4 edges")
    lazy = dd.from_pandas(printed, npartitions=2).ceval.evaluate(["shd"])
    with pytest.raises(ValueError, match="the printed text of an object: dask turns objects into text"):
        lazy.compute()


@pytest.mark.parametrize("by", [["algorithm", "algorithm"], ["n", "algorithm", {"n": [0, 200, 1000]}]])
def test_a_stratum_that_is_named_twice_is_refused(by):
    runs = ce.datasets.runs().query("n_nodes == 10 and n <= 400").reset_index(drop=True)
    for table in (runs, dd.from_pandas(runs, npartitions=2)):
        with pytest.raises(ValueError, match=f"by names '{'algorithm' if by[0] != 'n' else 'n'}' twice"):
            table.ceval.cube(["shd"], by=by, n_draws=5)


def test_an_unset_seed_is_settled_once():
    lazy = dd.from_pandas(RUNS, npartitions=3).ceval.with_controls(["shd"], n_draws=5, method="simulate")
    first = lazy.compute()
    pd.testing.assert_frame_equal(first, lazy.compute(), check_exact=True)
    assert first["control_seed"].nunique() == 1


def test_verbs_that_need_all_rows_are_refused_by_name():
    table = dd.from_pandas(ce.datasets.runs().head(4), npartitions=2)
    for verb in ("pool", "with_baselines"):
        message = rf"no verb '{verb}', which needs all rows; use table.compute\(\).ceval"
        with pytest.raises(AttributeError, match=message):
            getattr(table.ceval, verb)
    message = r"'report', which is one of cubes; use table.ceval.cube\(.*\).ceval.report"
    with pytest.raises(AttributeError, match=message):
        _ = table.ceval.report
    assert not hasattr(table.ceval, "nothing")


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permute_answers", "majority_answers", "random_answers"])
def test_answers_are_shuffled_within_whole_strata(null):
    rng = np.random.default_rng(1)
    answers = pd.DataFrame({"s": rng.choice(list("xy"), 60), "q": rng.choice(["1", "2"], 60), "run": range(60)})
    answers = answers.assign(truth=rng.random(60) < 0.5).assign(estimate=lambda t: t["truth"] ^ (rng.random(60) < 0.2))
    how = {"n_draws": 29, "rng": 1, "null": null, "key": "run", "context": {"group": "q"}}
    cubes = {"by": ["s"], "metrics": ["answer_accuracy"], **how}
    lazy = dd.from_pandas(answers, npartitions=4, sort=False).ceval
    wanted = answers.ceval.cube(**cubes).ceval.summary(columns="full")
    found = lazy.cube(**cubes).ceval.summary(columns="full")
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12)
    if null == "random_answers":
        rows = lazy.with_controls(["answer_accuracy"], **how).compute(scheduler="synchronous")
        pd.testing.assert_frame_equal(rows, answers.ceval.with_controls(["answer_accuracy"], **how), check_dtype=False)
    else:
        with pytest.raises(ValueError, match=f"controls of {null} depend on the other rows of the table"):
            lazy.with_controls(["answer_accuracy"], **how)
