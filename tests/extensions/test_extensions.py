"""A field, metrics and null models of a third party go through every verb, without a change in the package."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import toys
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.contract import registry

BY = ["algorithm", "half"]


def test_toys_are_listed():
    assert ce.list_fields().loc["weights", "truth_field"] == "ranking"
    assert ce.list_nulls("ranking").index.tolist() == [("ranking", "shuffled")]
    assert ce.list_metrics("ranking").loc["first_items", "dims"] == "part, side"
    assert ce.list_closed_forms().loc["sum_of_distances", "field"] == "ranking"
    with pytest.raises(ValueError, match="a field called 'ranking' is already registered"):
        ce.register_field(toys.RANKINGS)
    with pytest.raises(ValueError, match="a null model called 'shuffled' is already registered"):
        ce.register_null("ranking", toys.SHUFFLED)


def test_a_metric_is_called_on_two_cells():
    footrule, displacement = ce.get_metric("footrule"), ce.get_metric("displacement")
    assert footrule("a > b > c", "c > b > a") == 4.0
    assert displacement("a > b > c", "c > b > a").tolist() == [2.0, 0.0, 2.0]


def test_evaluate_and_controls(runs):
    scored = ce.with_controls(runs, n_draws=50, rng=7)
    assert scored["footrule"].equals(runs.ceval.evaluate()["footrule"])
    assert (scored["footrule_mean_method"] == "exact").all() and (scored["footrule_p_method"] == "simulated").all()
    assert (scored["footrule_control_mean"] == 5).all()
    drawn = ce.with_controls(runs, n_draws=400, rng=7, method="simulate")
    assert abs(drawn["footrule_control_mean"].mean() - 5) < 0.1
    assert set(scored["control_null"]) == {"shuffled"}


def test_controls_are_the_same_in_any_order_and_on_any_engine(runs):
    whole = ce.with_controls(runs, n_draws=30, rng=7, method="simulate")
    mixed = ce.with_controls(runs.sample(frac=1, random_state=1), n_draws=30, rng=7, method="simulate").sort_index()
    pd.testing.assert_frame_equal(whole, mixed, check_exact=True)
    threads = ce.with_controls(runs, n_draws=30, rng=7, method="simulate", engine="threads", n_jobs=2)
    pd.testing.assert_frame_equal(whole, threads, check_exact=True)


def test_cubes_tests_and_comparisons(runs):
    cube = ce.cube(runs, ["footrule"], by=BY, n_draws=99, rng=7)
    assert isinstance(cube, xr.Dataset) and cube.attrs["control_null"] == "shuffled"
    tested = cube.ceval.test_controls().set_index(BY)["p_value"]
    assert (tested["near"] == 0.01).all() and (tested["guess"] > 0.05).all()
    compared = cube.ceval.compare("algorithm")
    assert (compared["n_pairs"] == 12).all() and (compared["p_value"] < 0.01).all()
    assert len(cube.ceval.rank_test("algorithm")) == 4
    assert len(cube.ceval.meta_analysis("half")) == 2
    assert len(cube.ceval.control_power()) == 4
    assert len(cube.ceval.comparison_power("algorithm")) == 2
    assert len(cube.ceval.size_and_power(n_tables=20)) > 0
    pd.testing.assert_frame_equal(
        runs.ceval.summary(["footrule"], by=BY, n_draws=99, rng=7), cube.ceval.summary(), check_exact=True
    )
    pd.testing.assert_frame_equal(
        runs.ceval.test_controls(["footrule"], by=BY, n_draws=99, rng=7), cube.ceval.test_controls(), check_exact=True
    )
    pd.testing.assert_frame_equal(
        runs.ceval.compare("algorithm", by=BY, metrics=["footrule"]).drop(columns="null"),
        compared.drop(columns="null"),
        check_exact=True,
    )


def test_figures(runs):
    cube = ce.cube(runs, ["footrule"], by=BY, n_draws=20, rng=7)
    assert type(cube.ceval.plot.strata("footrule", x="algorithm", hue="half")).__name__ == "FacetGrid"
    assert type(cube.ceval.plot.distributions("footrule", hue="algorithm", col="half")).__name__ == "FacetGrid"
    assert len(cube.ceval.plot.p_values("footrule", x="algorithm", y="half").texts) == 4


def test_figures_of_a_metric_with_further_dimensions(runs):
    cube = ce.cube(runs, ["displacement", "footrule"], by=BY, n_draws=20, rng=7)
    grid = cube.ceval.plot.strata("displacement", x="item", hue="algorithm", col="half")
    means = [line for line in grid.axes.flat[0].lines if line.get_gid() == "means"]
    expected = cube["displacement"].mean("replicate").isel(half=0)
    assert [len(line.get_ydata()) for line in means] == [4, 4]
    for line, algorithm in zip(means, cube["algorithm"].to_numpy(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected.sel(algorithm=algorithm))
    assert type(cube.ceval.plot.distributions("displacement", hue="item")).__name__ == "FacetGrid"
    one = cube.sel(half=[0])
    assert len(one.ceval.plot.p_values("displacement", x="algorithm", y="item").texts) == 8
    first = one.isel(item=[0])
    assert len(first.ceval.plot.comparisons("displacement", "algorithm").texts) >= 2
    assert first.ceval.plot.critical_difference("displacement", "algorithm").texts
    with pytest.raises(ValueError, match=r"does not show: item \(4 levels\); choose one by cube.sel\(item=0\)"):
        one.ceval.plot.strata("displacement", x="algorithm")
    # other metrics of the cube do not have the dimension
    assert type(one.ceval.plot.strata("footrule", x="algorithm")).__name__ == "FacetGrid"


def test_null_models_of_third_parties_are_found_by_name(runs, monkeypatch):
    class Point:
        def load(self):
            ce.register_null("ranking", replace(toys.SHUFFLED, name="shuffled_again"))

    nulls = toys.RANKINGS.nulls
    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()] if group == "causaleval_pd.nulls" else [])
    monkeypatch.setattr(nulls, "_loaded", False)
    try:
        scored = ce.with_controls(runs, ["footrule"], null="shuffled_again", n_draws=20, rng=7)
        assert set(scored["control_null"]) == {"shuffled_again"}
    finally:
        nulls.pop("shuffled_again", None)


def test_other_cells_keep_their_field():
    assert "shd" in ce.evaluate(ce.datasets.runs().head(3)), "a column of packed graphs is offered to all fields"


def test_a_failing_third_party_is_named(monkeypatch):
    class Point:
        name, value = "broken", "broken_package.metrics"

        def load(self):
            raise ImportError("no module named x")

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()])
    with pytest.raises(ImportError) as caught:
        registry.Registry("metric", "causaleval_pd.metrics").load()
    [note] = caught.value.__notes__
    assert "the entry point 'broken' of 'causaleval_pd.metrics': broken_package.metrics" in note


def test_truths_of_another_field(runs):
    table = runs.drop(columns="estimate")
    scored = ce.with_controls(table, estimate="weights", n_draws=30, rng=7)
    # weights rank the items as the ranking does
    assert scored["weight_footrule"].tolist() == ce.evaluate(runs, ["footrule"])["footrule"].tolist()
    cube = ce.cube(table, ["weight_footrule"], by=BY, estimate="weights", n_draws=30, rng=7)
    assert (cube.ceval.compare("algorithm")["n_pairs"] == 12).all(), "runs are paired by their truths"
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
    found = ce.contract.metric_dims.component(ce.get_metric("displacement"), ((0, 1, 2, 3),), (2,))
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
