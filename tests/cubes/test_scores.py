"""Scores of runs and of their controls under one null model or several."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes import scores

RUNS = pd.DataFrame({"estimate": ["A -> B; C", "A; B -> C", None, "B -> A; C"], "a": list("xxyy")})
RUNS.insert(0, "truth", "A -> B; C")


@pytest.fixture(scope="module")
def many_nulls():
    runs = ce.datasets.runs().query("density == 0.2 and n == 100 and replicate < 6")
    nulls = ["edges", "permutation", "oracle_skeleton", ce.null_model("degree", switches=5)]
    return runs, nulls, ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, null=nulls)


@pytest.mark.slow
def test_several_null_models_are_a_dimension(many_nulls):
    runs, nulls, cube = many_nulls
    assert cube["null"].to_numpy().tolist() == ["edges", "permutation", "oracle_skeleton", "degree"]
    assert cube["shd"].dims == ("algorithm", "replicate")
    assert cube["shd_control"].dims == ("null", "algorithm", "replicate", "draw")
    assert "permutation: exact; oracle_skeleton: " in cube["shd_control_mean"].attrs["method"]
    assert "edges: exact; permutation: simulated; oracle_skeleton: none" in cube["adjacency_f1_p"].attrs["method"]
    tests = cube.ceval.summary(columns="full")
    for null in nulls:
        one = ce.cube(runs, ["shd", "adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, null=null)
        name = one.attrs["control_null"]
        cut = cube.sel(null=name)
        for variable in one.data_vars:
            np.testing.assert_array_equal(cut[variable], one[variable], err_msg=variable)
        table = one.ceval.summary(columns="full")
        mine = tests.query("null == @name").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine.drop(columns="null"), table.drop(columns="null"))
        assert set(table["null"]) == {name}
        pd.testing.assert_frame_equal(cut.ceval.summary(columns="full"), table)
    assert (tests["p_value"].isna() == (tests["null"] == "oracle_skeleton")).all()
    references = tests.query("null == 'oracle_skeleton'")
    assert references["p_value"].isna().all() and references.query("metric == 'shd'")["skill"].notna().all()


@pytest.mark.slow
def test_comparisons_do_not_depend_on_the_null_models(many_nulls):
    runs, _, cube = many_nulls
    failed = runs.assign(estimate=runs["estimate"].mask(runs["replicate"] == 2))
    several = ce.cube(failed, ["shd"], by=["algorithm"], n_draws=60, rng=7, null=["edges", "permutation"])
    assert len(cube.ceval.compare("algorithm", metrics="shd", columns="full")) == 3
    assert several.ceval.compare("algorithm", missing="worst", columns="full")["p_value"].notna().all()
    assert several.ceval.summary(missing="worst", columns="full")["p_value"].notna().all()


@pytest.mark.slow
def test_figures_of_several_null_models(many_nulls):
    _, _, cube = many_nulls
    with pytest.raises(ValueError, match=r"null \(4 levels\); choose one by cube.sel\(null='edges'\)"):
        cube.ceval.plot.strata("shd", x="algorithm")
    assert cube.ceval.plot.strata("shd", x="algorithm", col="null").axes.shape == (1, 4)
    assert cube.ceval.plot.distributions("shd", hue="algorithm", col="null").axes.shape == (1, 4)
    cube.ceval.plot.heat_map("shd", x="algorithm", y="null")
    grid = cube.sel(null="degree").ceval.plot.strata("shd", x="algorithm")
    labels = [text.get_text() for text in grid.figure.legends[0].get_texts()]
    assert labels[-1] == "better"
    assert "Null model: degree" in " ".join(text.get_text() for text in grid.figure.texts).replace("\n", " ")


def test_lists_of_null_models_are_checked(many_nulls):
    runs, _, _ = many_nulls
    for null, message in (
        ([], "null must name a null model, found an empty list"),
        (["edges", "edges"], "null has edges twice"),
        (["edges", "edge"], "unknown null 'edge'"),
    ):
        with pytest.raises(ValueError, match=message):
            ce.cube(runs, ["shd"], by=["algorithm"], n_draws=5, rng=7, null=null)


@pytest.mark.slow
def test_cubes_of_several_null_models_are_saved(many_nulls, tmp_path):
    _, _, cube = many_nulls
    cube.to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as read:
        pd.testing.assert_frame_equal(read.load().ceval.summary(columns="full"), cube.ceval.summary(columns="full"))


@pytest.mark.parametrize(("n_draws", "limit", "kept"), [(7, 0, 7), (300, 0, 99), (300, 2 * 4 * 120 * 8, 120)])
def test_the_first_draws_are_kept_up_to_a_limit_and_means_rest_on_all(monkeypatch, n_draws, limit, kept):
    """The bytes are those of controls and relabelled estimates of four runs."""
    how = {"by": ["a"], "n_draws": n_draws, "rng": 3}
    whole = ce.cube(RUNS, ["shd"], **how)
    monkeypatch.setattr(scores, "DRAWS_BYTES", limit)
    cube = ce.cube(RUNS, ["shd"], **how)
    assert cube.attrs["n_draws"] == cube.sizes["draw"] == kept and (cube["control_draws"].max() == kept).all()
    for name in ("shd_control", "shd_relabelled"):
        np.testing.assert_array_equal(cube[name], whole[name].isel(draw=slice(kept)))
    xr.testing.assert_equal(*(x["shd_control_mean"].drop_vars("control_draws") for x in (cube, whole)))
    assert cube.ceval.summary(columns="full")["n_draws"].tolist() == [kept] * 2


def test_failed_strata_and_cubes_without_controls():
    failed = RUNS.assign(estimate=pd.array([None] * 4, dtype="str"))
    cube = ce.cube(failed, ["shd"], by=["a"], n_draws=3, rng=1)
    assert cube["shd"].isnull().all() and cube["shd_control"].isnull().all()
    assert cube["shd_control_mean"].attrs["method"] == cube["shd_p"].attrs["method"] == "none"
    assert cube.attrs["control_kind"] == ""
    bare = ce.cube(RUNS, ["shd"], by=["a"], n_draws=None)
    assert not {"control_seed", "control_null", "control_kind"} & {*bare.attrs, *bare.coords}
    assert list(bare.data_vars) == ["status", "shd"] and "truth_id" in bare.coords


def test_references_give_rows_no_p():
    cube = ce.cube(RUNS, ["shd"], by=["a"], n_draws=9, rng=1, null=["complete", "empty"])
    assert cube["shd_p"].isnull().all() and cube["shd_control_mean"].notnull().any()
    assert json.loads(cube.attrs["control_reference"]) == ["complete", "empty"]
    assert cube["shd_p"].attrs["method"] == "complete: none; empty: none"


@pytest.mark.parametrize("nulls", ["edges", ["edges", "permutation", "degree"]])
def test_runs_are_scored_once_however_many_null_models(nulls):
    scored = []

    def counted(pairs):
        scored.append(pairs.n)
        return pairs.counts.tp

    spec = {"field": "graph", "kinds": ("dag",), "direction": "maximize", "range": (0, 99), "optimum": 99}
    metric = ce.Metric("counted", counted, long_name="counted", symmetric=True, **spec)
    # two runs on each truth, which are relabelled alike for the test of the stratum
    runs = pd.DataFrame({"truth": ["A -> B; C", "B -> C; A"] * 2, "estimate": ["A -> B; C"] * 4})
    cube = ce.cube(runs, [metric], by=[], null=nulls, n_draws=7, rng=1)
    assert "counted_relabelled" in cube
    assert scored.count(len(runs)) == 1
