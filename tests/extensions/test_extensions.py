"""A field, metrics and null models of a third party go through every verb, without a change in the package."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import toys
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.contract.encoding import ENCODINGS, Edges, Encoding
from causaleval_pd.contract.figure import FIGURES
from causaleval_pd.inference.statistical_test import TESTS, StatisticalTest
from causaleval_pd.statistics.paired_tests import paired_wilcoxon

BY = ["algorithm", "half"]


def test_toys_are_listed():
    assert ce.list_fields().loc["weights", "truth_field"] == "ranking"
    assert ce.list_nulls("ranking").index.tolist() == [("ranking", "shuffled")]
    assert ce.list_metrics("ranking").loc["first_items", "dims"] == "part, side"
    assert ce.list_closed_forms().loc["sum_of_distances", "field"] == "ranking"
    with pytest.raises(ValueError, match="a field called 'ranking' is already registered"):
        ce.register_field(replace(ce.structure.GRAPHS, name="ranking"))
    with pytest.raises(ValueError, match="a null model called 'shuffled' is already registered"):
        ce.register_null("ranking", replace(toys.SHUFFLED, controls=lambda *matched: None))


def test_a_metric_is_called_on_two_cells():
    footrule, displacement = ce.get_metric("footrule"), ce.get_metric("displacement")
    assert footrule("a > b > c", "c > b > a") == 4.0
    assert displacement("a > b > c", "c > b > a").tolist() == [2.0, 0.0, 2.0]


@pytest.mark.slow
def test_evaluate_and_controls(runs):
    scored = ce.with_controls(runs, n_draws=50, rng=7, columns="full")
    assert scored["footrule"].equals(runs.ceval.evaluate()["footrule"])
    assert (scored["footrule_mean_method"] == "exact").all() and (scored["footrule_p_method"] == "simulated").all()
    assert (scored["footrule_control_mean"] == 5).all()
    drawn = ce.with_controls(runs, n_draws=400, rng=7, method="simulate", columns="full")
    assert abs(drawn["footrule_control_mean"].mean() - 5) < 0.1
    assert set(scored["control_null"]) == {"shuffled"}


def test_controls_are_the_same_in_any_order_and_on_any_engine(runs):
    whole = ce.with_controls(runs, n_draws=30, rng=7, method="simulate")
    mixed = ce.with_controls(runs.sample(frac=1, random_state=1), n_draws=30, rng=7, method="simulate").sort_index()
    pd.testing.assert_frame_equal(whole, mixed, check_exact=True)
    with ce.set_options(engine="threads", n_jobs=2):
        threads = ce.with_controls(runs, n_draws=30, rng=7, method="simulate")
    pd.testing.assert_frame_equal(whole, threads, check_exact=True)


@pytest.mark.slow
def test_cubes_tests_and_comparisons(runs):
    cube = ce.cube(runs, ["footrule"], by=BY, n_draws=99, rng=7)
    assert isinstance(cube, xr.Dataset) and cube.attrs["control_null"] == "shuffled"
    tested = cube.ceval.summary(columns="full").set_index(BY)["p_value"]
    assert (tested["near"] < 0.01).all() and (tested["guess"] > 0.05).all()
    compared = cube.ceval.compare("algorithm", by="all", columns="full")
    assert (compared["n_pairs"] == 12).all() and (compared["p_value"] < 0.01).all()
    assert cube.ceval.compare("algorithm", columns="full")["n_pairs"].tolist() == [24]
    assert len(cube.ceval.rank_test("algorithm", by="all")) == 4


@pytest.mark.slow
def test_figures(runs):
    cube = ce.cube(runs, ["footrule"], by=BY, n_draws=20, rng=7)
    assert type(cube.ceval.plot.strata("footrule", x="algorithm", hue="half")).__name__ == "FacetGrid"
    assert type(cube.ceval.plot.distributions("footrule", hue="algorithm", col="half")).__name__ == "FacetGrid"
    assert len(cube.ceval.plot.heat_map("footrule", x="algorithm", y="half").texts) == 4


@pytest.mark.slow
def test_figures_of_a_metric_with_further_dimensions(runs):
    cube = ce.cube(runs, ["displacement", "footrule"], by=BY, n_draws=20, rng=7)
    grid = cube.ceval.plot.strata("displacement", x="item", hue="algorithm", col="half", values="raw")
    means = [line for line in grid.axes.flat[0].lines if line.get_gid() == "means"]
    expected = cube["displacement"].mean("replicate").isel(half=0)
    assert [len(line.get_ydata()) for line in means] == [4, 4]
    for line, algorithm in zip(means, cube["algorithm"].to_numpy(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected.sel(algorithm=algorithm))
    assert type(cube.ceval.plot.distributions("displacement", hue="item")).__name__ == "FacetGrid"
    one = cube.sel(half=[0])
    assert len(one.ceval.plot.heat_map("displacement", value="p", x="algorithm", y="item").texts) == 8
    first = one.isel(item=[0])
    assert first.ceval.plot.critical_difference("displacement", "algorithm").texts
    with pytest.raises(ValueError, match=r"does not show: item \(4 levels\); choose one by cube.sel\(item=0\)"):
        one.ceval.plot.strata("displacement", x="algorithm")
    # other metrics of the cube do not have the dimension
    assert type(one.ceval.plot.strata("footrule", x="algorithm")).__name__ == "FacetGrid"


def test_other_cells_keep_their_field():
    assert "shd" in ce.evaluate(ce.datasets.runs().head(3)), "a column of packed graphs is offered to all fields"


@pytest.mark.slow
def test_truths_of_another_field(runs):
    table = runs.drop(columns="estimate")
    scored = ce.with_controls(table, estimate="weights", n_draws=30, rng=7)
    # weights rank the items as the ranking does
    assert scored["weight_footrule"].tolist() == ce.evaluate(runs, ["footrule"])["footrule"].tolist()
    cube = ce.cube(table, ["weight_footrule"], by=BY, estimate="weights", n_draws=30, rng=7)
    assert (cube.ceval.compare("algorithm", by="all", columns="full")["n_pairs"] == 12).all(), (
        "runs are paired by their truths"
    )
    with pytest.raises(ValueError, match="ranks an item twice"):
        ce.evaluate(table.assign(truth="a > a"), estimate="weights")


def test_without_a_truth(runs):
    table = runs.drop(columns="truth")
    scored = ce.with_controls(table, ["orderly"], truth=None, n_draws=30, rng=7)
    assert scored["orderly"].between(0, 1).all() and "truth" not in scored
    assert ce.get_metric("orderly")(None, "a > b > c") == 1.0
    with pytest.raises(ValueError, match="footrule compares estimates with a truth, and truth=None names none"):
        ce.evaluate(table, ["orderly", "footrule"], truth=None)
    with pytest.raises(ValueError, match="no column 'truth'"):
        ce.evaluate(table, ["orderly"])


def test_further_dimensions_in_tables(runs):
    scored = ce.evaluate(runs, ["displacement", "footrule", "first_items"])
    items = [f"displacement_{i}" for i in range(4)]
    halves = [f"first_items_{half}_{side}" for half in ("upper", "lower") for side in ("truth", "estimate")]
    assert list(scored.columns[len(runs.columns) :]) == [*items, "footrule", *halves]
    np.testing.assert_array_equal(scored[items].sum(axis=1), scored["footrule"])
    controls = ce.with_controls(runs, ["displacement"], n_draws=30, rng=7)
    assert {f"{name}_{part}" for name in items for part in ("control_mean", "p", "skill")} <= set(controls)
    found = ce.contract.metric.component(ce.get_metric("displacement"), ((0, 1, 2, 3),), (2,))
    assert pickle.loads(pickle.dumps(found)).name == "displacement_2"
    short = pd.concat([runs, runs.assign(truth="a > b", estimate="b > a")], ignore_index=True)
    scored = ce.evaluate(short, ["displacement"])
    assert scored["displacement_3"].isna().sum() == len(runs), "smaller cells have no such coordinate"


def test_a_result_of_the_wrong_shape_is_refused(runs):
    @ce.metric(
        field="ranking",
        kinds=("ranking",),
        direction="minimize",
        range=(0, 1),
        optimum=0,
        long_name="crooked",
        dims={"side": ("left", "right", "middle")},
    )
    def crooked(pairs):
        return np.zeros((pairs.n, 4))

    with pytest.raises(ValueError, match=r"crooked returned an array of shape \(48, 4\) .* side of sizes \(3,\)"):
        ce.evaluate(runs, [crooked])


DECLARED, OPEN = "first_items", "displacement"


@pytest.fixture
def without_truths(runs):
    """Runs whose truths are unknown, with the number of the pair that each belongs to."""
    return runs.drop(columns="truth").assign(number=np.arange(len(runs)) // 2, run=np.arange(len(runs)))


@pytest.mark.slow
def test_further_dimensions_in_cubes(runs, tmp_path):
    how = {"by": BY, "n_draws": 40, "rng": 7}
    kept = ce.cube(runs, [OPEN, "footrule", DECLARED], **how)
    assert kept[DECLARED].dims == (*BY, "replicate", "part", "side") and kept[OPEN].dims == (*BY, "replicate", "item")
    np.testing.assert_array_equal(kept[OPEN].sum("item"), kept["footrule"])
    table = kept.ceval.summary(columns="full")
    assert table["metric"].value_counts().to_dict() == {OPEN: 16, "footrule": 4, DECLARED: 16}
    assert list(table)[:5] == [*BY, "item", "part", "side"]
    assert table.query("metric == 'footrule'")[["item", "part", "side"]].isna().all(axis=None)
    scored = ce.evaluate(runs, [DECLARED])
    means = scored.groupby(BY)["first_items_lower_estimate"].mean()
    mine = table.query("part == 'lower' and side == 'estimate'").set_index(BY)["mean"]
    np.testing.assert_allclose(mine, means)
    for verb in (ce.summary, lambda cube: ce.compare(cube, "algorithm", columns="full")):
        found = verb(kept)
        assert {"item", "part", "side"} <= set(found) and not found["p_value"].isna().all()
    one = kept.sel(item=2).ceval.compare("algorithm", metrics=OPEN, columns="full")
    every = kept.ceval.compare("algorithm", metrics=OPEN, columns="full").query("item == 2")
    np.testing.assert_array_equal(one["p_value"], every["p_value"])
    kept.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as back:
        xr.testing.assert_identical(back.load(), kept)
        pd.testing.assert_frame_equal(ce.summary(back, columns="full"), ce.summary(kept, columns="full"))


@pytest.mark.slow
def test_verbs_on_dask_tables(runs):
    table, how = dd.from_pandas(runs, npartitions=5), {"n_draws": 40, "rng": 7}
    metrics = ["footrule", DECLARED]
    for verb, settings in (("evaluate", {}), ("with_controls", how)):
        lazy = getattr(table.ceval, verb)(metrics, **settings)
        found = lazy.compute()
        assert list(lazy.dtypes.items()) == list(found.dtypes.items())
        wanted = getattr(runs.ceval, verb)(metrics, **settings)
        pd.testing.assert_frame_equal(found, wanted, check_exact=True, check_dtype=False)
    wanted = ce.cube(runs, metrics, by=BY, **how)
    found = table.ceval.cube(metrics, by=BY, **how)
    xr.testing.assert_equal(found.compute(), wanted)
    for verb in (ce.summary, partial(ce.summary, columns="full")):
        pd.testing.assert_frame_equal(verb(found), verb(wanted), rtol=1e-12, atol=1e-12)
    compared = table.ceval.cube(metrics, by=BY, n_draws=None).ceval.compare("algorithm", columns="full")
    pd.testing.assert_frame_equal(compared, ce.compare(wanted, "algorithm", columns="full"), rtol=1e-12)


@pytest.mark.parametrize("verb", ["evaluate", "with_controls", "cube"])
def test_dimensions_that_the_data_decide_are_refused_on_dask(runs, verb):
    table = dd.from_pandas(runs, npartitions=2)
    by = {} if verb in ("evaluate", "with_controls") else {"by": BY}
    with pytest.raises(ValueError, match="dimensions of displacement depend on the data.*; compute the table first"):
        getattr(table.ceval, verb)(["footrule", OPEN], **by)


@pytest.mark.slow
def test_runs_without_a_truth_are_paired_by_replicate_or_context(without_truths):
    def compare(**settings):
        cube = ce.cube(without_truths, ["orderly"], truth=None, by=["algorithm"], n_draws=None, **settings)
        return ce.compare(cube, "algorithm", columns="full"), cube

    message = r"have different data sets \(24 such pairs\), so they are not pairs; give runs"
    with pytest.raises(ValueError, match=message):
        compare()
    for settings in ({"replicate": "number"}, {"context": {"judge": "number"}}):
        table, cube = compare(**settings)
        assert table["n_pairs"].tolist() == [24] and (cube["truth_id"] != 0).all()
        assert (
            cube["truth_id"]
            .sel(algorithm="near")
            .equals(cube["truth_id"].sel(algorithm="guess").drop_vars("algorithm"))
            or (cube["truth_id"][0] == cube["truth_id"][1]).all()
        )
    assert compare(replicate="number")[0].equals(compare(context={"judge": "number"})[0])


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"key": "run"}, {"replicate": "number"}, {"n_draws": None}, {"by": BY}])
def test_runs_without_a_truth_on_dask(without_truths, settings):
    how = {"truth": None, "by": ["algorithm"], "n_draws": 9, "rng": 7} | settings
    wanted = ce.cube(without_truths, ["orderly"], **how)
    found = dd.from_pandas(without_truths, npartitions=5).ceval.cube(["orderly"], **how).compute()
    for name in ["truth_id", "status", *wanted.data_vars]:
        np.testing.assert_array_equal(found[name], wanted[name])
    pd.testing.assert_frame_equal(ce.summary(found, columns="full"), ce.summary(wanted, columns="full"), rtol=1e-12)


def test_runs_without_a_truth_on_dask_have_no_context_to_be_paired_by(without_truths):
    table = dd.from_pandas(without_truths, npartitions=2)
    how = {"truth": None, "by": ["algorithm"], "n_draws": None, "context": {"judge": "number"}}
    with pytest.raises(ValueError, match="not paired by their context, .*; name a column that pairs them by replicate"):
        table.ceval.cube(["orderly"], **how)
    assert table.ceval.cube(["orderly"], replicate="number", **how).compute()["orderly"].notnull().all()


@pytest.mark.slow
def test_metrics_of_one_call_may_have_different_null_models(tmp_path):
    estimates = [*list(ce.causal_kl.metastatic_mutations().values())[:3], None]
    table = pd.DataFrame({"truth": [ce.causal_kl.metastatic()] * 4, "estimate": estimates, "a": list("xyxy")})
    joint = {"estimator": "joint"}
    scored = ce.with_controls(table, ["edit_distance", "shd"], n_draws=9, rng=7, columns="full", context=joint)
    assert scored["edit_distance_control_null"].tolist() == ["dags"] * 4
    assert scored["shd_control_null"].tolist() == ["edges"] * 4
    assert set(scored["control_null"]) == {"dags, edges"} or set(scored["control_null"]) == {"edges, dags"}
    alone = ce.with_controls(table, ["shd"], n_draws=9, rng=7, columns="full")
    assert "shd_control_null" not in alone and set(alone["control_null"]) == {"edges"}
    pd.testing.assert_series_equal(alone["shd_p"], scored["shd_p"])
    cube = ce.cube(table, ["edit_distance", "shd"], by=["a"], n_draws=9, rng=7, context=joint)
    assert "control_null" not in cube.attrs
    cube.to_netcdf(tmp_path / "cube.nc")
    with xr.open_dataset(tmp_path / "cube.nc") as back:
        names = {name: back[name].attrs["control_null"] for name in ("edit_distance", "shd")}
        assert names == {"edit_distance": "dags", "shd": "edges"}
        assert set(map(tuple, ce.summary(back, columns="full")[["metric", "null"]].to_numpy())) == set(names.items())
    assert ce.cube(table, ["shd"], by=["a"], n_draws=9, rng=7).attrs["control_null"] == "edges"


@pytest.fixture
def own_test():
    """A statistical test of a third party, of the median."""

    def median(difference, *, alternative="two-sided"):
        medians = np.ma.median(np.ma.masked_invalid(difference), axis=-1)
        return np.ma.filled(medians, np.nan), paired_wilcoxon(difference, alternative=alternative)[1]

    yield ce.register_test(StatisticalTest("own_median", "median", median, "paired"))
    del TESTS["own_median"]


@pytest.fixture
def own_figure():
    """A figure of a third party, of the p-values of a comparison."""

    @ce.figure("p-values of comparisons", of="cube", concludes="which algorithms differ")
    def own_p_values(cube, dim, *, test):
        """Draw a bar a comparison."""
        table = cube.ceval.compare(dim, by="all", test=test, columns="full")
        axes = plt.figure().gca()
        axes.bar(range(len(table)), table["p_adjusted"])
        return axes

    yield
    del FIGURES["own_p_values"]


@pytest.fixture
def own_encoding():
    """An encoding of a third party: a>b>c."""

    def read(cell):
        names = tuple(cell.split(">"))
        return Edges.from_arcs(names, [(i, i + 1) for i in range(len(names) - 1)], is_open=True)

    words = {"tool": "ours", "cells": "chain", "meaning": "a chain", "mark": "i stands before j", "example": "a>b"}
    yield ce.register_encoding(Encoding(name="chain", read=read, types=(str,), by_name=True, **words))
    del ENCODINGS["chain"]


@pytest.mark.slow
@pytest.mark.usefixtures("own_test", "own_figure")
def test_own_tests_and_figures_take_own_fields(runs):
    cube = ce.cube(runs, ["footrule", DECLARED], by=BY, n_draws=20, rng=7)
    compared = cube.ceval.compare("algorithm", by="all", test="own_median", metrics="footrule", columns="full")
    difference = cube["footrule"].sel(algorithm="guess") - cube["footrule"].sel(algorithm="near")
    np.testing.assert_array_equal(compared["statistic"], difference.median("replicate"))
    axes = cube[["footrule", "status"]].ceval.plot.own_p_values("algorithm", test="own_median")
    assert [bar.get_height() for bar in axes.patches] == compared["p_adjusted"].tolist()
    table = dd.from_pandas(runs, npartitions=3)
    lazy = table.ceval.cube(["footrule"], by=BY, n_draws=None).ceval.compare(
        "algorithm", by="all", test="own_median", columns="full"
    )
    pd.testing.assert_frame_equal(lazy, compared)


@pytest.mark.usefixtures("own_encoding", "own_test", "own_figure")
def test_own_encodings_reach_every_verb():
    chains = ["a>b>c", "a>b", "b>a>c", "c>b>a"]
    table = pd.DataFrame({"truth": ce.graph_column(["a>b>c"] * 8, encoding="chain")})
    table["estimate"] = ce.graph_column(chains * 2, encoding="chain", nodes=list("abc")).array
    table = table.assign(algorithm=["x"] * 4 + ["y"] * 4, number=[0, 1, 2, 3] * 2)
    assert ce.evaluate(table, ["shd"])["shd"].tolist() == [0, 1, 3, 2] * 2
    cube = ce.cube(table, ["shd"], by=["algorithm"], n_draws=9, rng=7, replicate="number")
    assert cube.ceval.compare("algorithm", test="own_median", columns="full")["statistic"].tolist() == [0.0]
    assert cube.ceval.plot.own_p_values("algorithm", test="own_median").patches[0].get_height() == 1
