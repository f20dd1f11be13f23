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


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    return ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1)


def methods(cube, metric="adjacency_tp"):
    return ce.summary(cube, metric)["p_method"].tolist()


def test_p_values_that_no_draw_reached_are_at_the_floor(cube):
    tests, able = stratum_tests(cube, "shd"), np.array([True, True, False])
    found = of_draws(tests, np.array([0.05, 0.1, np.nan]), "truth", able)
    assert found.at_floor.tolist() == [True, False, False]
    assert found.floor_flags.tolist() == [True, False, pd.NA]
    assert found.method.tolist() == ["simulated", "simulated", None]
    assert found.se[1] == pytest.approx((0.1 * 0.9 / 19) ** 0.5)
    assert stratum_p(cube, "shd").p.tolist() == ce.summary(cube, "shd")["p_value"].tolist()


def test_selecting_strata_keeps_exact_p_values_and_cutting_runs_drops_them(cube):
    whole = ce.summary(cube, "adjacency_tp")
    assert whole["p_method"].tolist() == ["exact convolution"] * 3 and not whole["p_at_floor"].any()
    assert (whole["p_value"] < 1e-4).all()
    one = ce.summary(cube.sel(algorithm="pc"), "adjacency_tp")
    assert one["p_value"].iloc[0] == whole["p_value"].iloc[2] and one["p_method"].iloc[0] == "exact convolution"
    assert methods(cube.isel(algorithm=[1, 0])) == ["exact convolution"] * 2
    assert methods(cube.isel(replicate=slice(4))) == ["simulated"] * 3
    better = cube["adjacency_tp"] > cube["adjacency_tp"].min()
    whole = better.all("replicate").to_numpy()
    assert whole.any() and not whole.all()
    assert methods(cube.where(better)) == np.where(whole, "exact convolution", "simulated").tolist()
    assert methods(cube.drop_vars("adjacency_tp_standardized_p")) == ["simulated"] * 3
    assert methods(cube.drop_vars("n_runs")) == ["simulated"] * 3


def test_cubes_that_are_put_together_keep_what_holds(cube):
    a, b = cube.sel(algorithm=["ges"]), cube.sel(algorithm=["lingam", "pc"])
    xr.testing.assert_identical(
        ce.concat([a, b], "algorithm")["adjacency_tp_standardized_p"], cube["adjacency_tp_standardized_p"]
    )
    names = [name for name in a if any(f"_{x}_p" in name for x in ("mean", "standardized", "rank"))]
    mixed = ce.concat([a.drop_vars(names), b], "algorithm")
    assert methods(mixed) == ["simulated", "exact convolution", "exact convolution"]
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and 6 <= replicate < 9")
    more = ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1)
    assert methods(ce.concat([cube, more], "replicate")) == ["simulated"] * 3


def test_files_and_null_models_keep_them(cube):
    buffer = io.BytesIO(cube.to_netcdf(engine="h5netcdf"))
    assert ce.summary(xr.open_dataset(buffer, engine="h5netcdf")).equals(ce.summary(cube))
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 4")
    both = ce.cube(runs, ["adjacency_tp"], by=["algorithm"], null=["edges", "permutation"], n_draws=19, rng=1)
    found = ce.summary(both).set_index(["null", "algorithm"])["p_method"]
    assert set(found["edges"]) == {"exact convolution"}
    assert set(found["permutation"]) == {"simulated, combinations of draws"}


def test_a_cube_without_tails_is_returned_as_it_is(cube):
    tests, able = stratum_tests(cube, "adjacency_tp"), np.ones(3, bool)
    plain = of_draws(tests, np.full(3, 0.5), "truth", able)
    bare = cube.drop_vars([name for name in cube if name.startswith("shd_") and name.endswith("_p_method")])
    assert with_tails(plain, bare, "shd", "standardized").p.tolist() == plain.p.tolist()
    assert with_tails(plain, bare, "shd", "rank").p.tolist() == plain.p.tolist()
    assert with_tails(plain, cube, "adjacency_tp", "mean", but=able).p.tolist() == plain.p.tolist()
    assert (with_tails(plain, cube, "adjacency_tp", "mean").p < 1e-4).all()


def test_stacking_runs_with_a_stratum_keeps_p_values_of_whole_strata():
    runs = ce.datasets.runs().query("density == 0.2 and replicate < 6")
    cube = ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm", "n"], n_draws=19, rng=1)
    stacked = cube.stack(run=("n", "replicate"))
    for whole in (stacked, stacked.unstack("run"), cube.where(cube["shd"] >= 0)):
        pd.testing.assert_frame_equal(ce.summary(whole), ce.summary(cube))
    first = stacked.isel(run=slice(1, None))  # a run of n = 100 is gone
    assert ce.summary(first, "adjacency_tp")["p_method"].tolist() == ["simulated", *["exact convolution"] * 2] * 3


def test_a_note_explains_p_values_at_the_floor_of_strata_that_were_cut(cube):
    words = "since runs were cut or joined after cube(); a cube made of these runs resolves smaller p"
    few = cube.isel(replicate=slice(5))
    for table in (ce.summary(few), ce.test_controls(few)):
        floor = table["p_at_floor"].to_numpy(bool)
        assert table["note"].fillna("").str.contains(words, regex=False).tolist() == floor.tolist()
    assert not ce.summary(cube)["note"].fillna("").str.contains("cut or joined").any()
    # one cluster has no combinations of draws, and a cube without them resolves none
    one = ce.test_controls(few.isel(replicate=[0]), "shd")
    assert not one["note"].fillna("").str.contains("cut or joined").any()
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    plain = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=19, rng=1, tails=None).isel(replicate=slice(5))
    assert not ce.summary(plain)["note"].fillna("").str.contains("cut or joined").any()
    assert ce.summary(few, "shd")["p_at_floor"].any()


def test_a_note_explains_p_values_at_the_floor_of_strata_whose_runs_were_joined(cube):
    """Halves of the runs, joined in either way: the cube of all runs resolves smaller p, and the notes say so."""
    words = "since runs were cut or joined after cube(); a cube made of these runs resolves smaller p"
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    how = {"by": ["algorithm"], "replicate": "replicate", "n_draws": 19, "rng": 1}
    halves = [ce.cube(runs.query(half), ["adjacency_tp", "shd"], **how) for half in ("replicate < 3", "replicate >= 3")]
    by_xarray = xr.concat(halves, "replicate", data_vars="all", join="outer", coords="minimal", compat="override")
    for joined in (ce.concat(halves, "replicate"), by_xarray):
        for table in (ce.summary(joined), ce.test_controls(joined)):
            floor = table["p_at_floor"].to_numpy(bool)
            assert floor.any()
            assert table["note"].fillna("").str.contains(words, regex=False).tolist() == floor.tolist()
    # strata of another cube keep their p-values, and need no note
    parts = [one.sel(algorithm=["pc"]) for one in halves]
    mixed = ce.concat([ce.concat(parts, "replicate"), cube.sel(algorithm=["ges", "lingam"])], "algorithm")
    table = ce.summary(mixed, "shd").set_index("algorithm")
    assert table["note"].fillna("").str.contains(words, regex=False).to_dict() == {
        "pc": True,
        "ges": False,
        "lingam": False,
    }
