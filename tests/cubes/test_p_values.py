"""P-values of strata: floors of draws, exact ones, and when these no longer hold."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.p_values import of_draws, stratum_p, with_tails
from causaleval_pd.cubes.stratum_tests import stratum_tests

COMBINED = "simulated, combinations of draws"


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    return ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1, tails="exact")


def methods(cube, metric="adjacency_tp"):
    return ce.summary(cube, metric)["p_method"].tolist()


def test_p_values_that_no_draw_reached_are_at_the_floor(cube):
    tests, able = stratum_tests(cube.assign_attrs(control_combined="[]"), "shd"), np.array([True, True, False])
    found = of_draws(tests, np.array([0.05, 0.1, np.nan]), "truth", able)
    assert found.at_floor.tolist() == [True, False, False]
    assert found.floor_flags.tolist() == [True, False, pd.NA]
    assert found.method.tolist() == ["simulated", "simulated", None]
    assert found.se[1] == pytest.approx((0.1 * 0.9 / 19) ** 0.5)
    assert stratum_p(cube, "shd").p.tolist() == ce.summary(cube, "shd")["p_value"].tolist()


@pytest.mark.slow
def test_selecting_strata_keeps_exact_p_values_and_cutting_runs_drops_them(cube):
    whole = ce.summary(cube, "adjacency_tp")
    assert whole["p_method"].tolist() == ["exact convolution"] * 3 and not whole["p_at_floor"].any()
    assert (whole["p_value"] < 1e-4).all()
    one = ce.summary(cube.sel(algorithm="pc"), "adjacency_tp")
    assert one["p_value"].iloc[0] == whole["p_value"].iloc[2] and one["p_method"].iloc[0] == "exact convolution"
    assert methods(cube.isel(algorithm=[1, 0])) == ["exact convolution"] * 2
    assert methods(cube.isel(replicate=slice(4))) == [COMBINED] * 3
    better = cube["adjacency_tp"] > cube["adjacency_tp"].min()
    whole = better.all("replicate").to_numpy()
    assert whole.any() and not whole.all()
    assert methods(cube.where(better)) == np.where(whole, "exact convolution", COMBINED).tolist()
    assert methods(cube.drop_vars("adjacency_tp_mean_p")) == [COMBINED] * 3
    assert methods(cube.drop_vars("n_runs")) == [COMBINED] * 3


@pytest.mark.slow
def test_cubes_that_are_put_together_keep_what_holds(cube):
    a, b = cube.sel(algorithm=["ges"]), cube.sel(algorithm=["lingam", "pc"])
    xr.testing.assert_identical(ce.concat([a, b], "algorithm")["adjacency_tp_mean_p"], cube["adjacency_tp_mean_p"])
    names = [name for name in a if any(f"_{x}_p" in name for x in ("mean", "rank"))]
    mixed = ce.concat([a.drop_vars(names), b], "algorithm")
    assert methods(mixed) == [COMBINED, "exact convolution", "exact convolution"]
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and 6 <= replicate < 9")
    more = ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1, tails="exact")
    assert methods(ce.concat([cube, more], "replicate")) == [COMBINED] * 3


@pytest.mark.slow
def test_files_and_null_models_keep_them(cube):
    buffer = io.BytesIO(cube.to_netcdf(engine="h5netcdf"))
    assert ce.summary(xr.open_dataset(buffer, engine="h5netcdf")).equals(ce.summary(cube))
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 4")
    both = ce.cube(
        runs, ["adjacency_tp"], by=["algorithm"], null=["edges", "permutation"], n_draws=19, rng=1, tails="exact"
    )
    found = ce.summary(both).set_index(["null", "algorithm"])["p_method"]
    assert set(found["edges"]) == {"exact convolution"}
    assert set(found["permutation"]) == {COMBINED}


def test_a_cube_without_tails_is_returned_as_it_is(cube):
    tests, able = stratum_tests(cube, "adjacency_tp"), np.ones(3, bool)
    plain = of_draws(tests, np.full(3, 0.5), "truth", able)
    bare = cube.drop_vars([name for name in cube if name.startswith("shd_") and name.endswith("_p_method")])
    assert with_tails(plain, bare, "shd", "mean").p.tolist() == plain.p.tolist()
    assert with_tails(plain, bare, "shd", "rank").p.tolist() == plain.p.tolist()
    assert with_tails(plain, cube, "adjacency_tp", "mean", but=able).p.tolist() == plain.p.tolist()
    assert (with_tails(plain, cube, "adjacency_tp", "mean").p < 1e-4).all()


@pytest.mark.slow
def test_stacking_runs_with_a_stratum_keeps_p_values_of_whole_strata():
    runs = ce.datasets.runs().query("density == 0.2 and replicate < 6")
    cube = ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm", "n"], n_draws=19, rng=1, tails="exact")
    stacked = cube.stack(run=("n", "replicate"))
    for whole in (stacked, stacked.unstack("run"), cube.where(cube["shd"] >= 0)):
        pd.testing.assert_frame_equal(ce.summary(whole), ce.summary(cube))
    first = stacked.isel(run=slice(1, None))  # a run of n = 100 is gone
    assert ce.summary(first, "adjacency_tp")["p_method"].tolist() == [COMBINED, *["exact convolution"] * 2] * 3


@pytest.mark.slow
def test_runs_that_are_joined_are_tested_as_those_of_one_cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    how = {"by": ["algorithm"], "replicate": "replicate", "n_draws": 19, "rng": 1}
    metrics = ["adjacency_tp", "shd"]
    halves = [ce.cube(runs.query(half), metrics, **how) for half in ("replicate < 3", "replicate >= 3")]
    by_xarray = xr.concat(halves, "replicate", data_vars="all", join="outer", coords="minimal", compat="override")
    whole = ce.test_controls(ce.cube(runs, metrics, **how))["p_value"]
    for joined in (ce.concat(halves, "replicate"), by_xarray):
        pd.testing.assert_series_equal(ce.test_controls(joined)["p_value"], whole)
