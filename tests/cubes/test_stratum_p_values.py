"""P-values of strata: floors of draws, exact ones, and when these no longer hold."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.stratum_p_values import from_draws, with_tails, without_p


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    return ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1)


def methods(cube, metric="adjacency_tp"):
    return ce.summary(cube, metric)["p_method"].tolist()


def test_p_values_that_no_draw_reached_are_at_the_floor():
    found = from_draws(np.array([0.05, 0.1, np.nan, 1 / 3]), np.array([19, 19, 19, 2]))
    assert found.at_floor.tolist() == [True, False, False, True]
    assert found.floor_flags.tolist() == [True, False, pd.NA, True]
    assert found.words.tolist()[:2] == ["simulated"] * 2 and pd.isna(found.words[2])
    assert found.se[1] == pytest.approx((0.1 * 0.9 / 19) ** 0.5)
    kept = found.where(np.array([False, True, True, True]))
    assert np.isnan(kept.p[0]) and not kept.at_floor[0] and kept.p[1] == 0.1
    assert np.isnan(without_p(2).p).all()


def test_selecting_strata_keeps_exact_p_values_and_cutting_runs_drops_them(cube):
    whole = ce.summary(cube, "adjacency_tp")
    assert whole["p_method"].tolist() == ["exact convolution"] * 3 and not whole["p_at_floor"].any()
    assert (whole["p_value"] < 1e-4).all()
    one = ce.summary(cube.sel(algorithm="pc"), "adjacency_tp")
    assert one["p_value"].iloc[0] == whole["p_value"].iloc[2] and one["p_method"].iloc[0] == "exact convolution"
    assert methods(cube.isel(algorithm=[1, 0])) == ["exact convolution"] * 2
    assert methods(cube.isel(replicate=slice(4))) == ["simulated"] * 3
    best = cube.where(cube["adjacency_tp"] > cube["adjacency_tp"].min())
    assert set(methods(best)) == {"simulated"}
    assert methods(cube.drop_vars("adjacency_tp_mean_p")) == ["simulated"] * 3
    assert methods(cube.drop_vars("n_runs")) == ["simulated"] * 3


def test_cubes_that_are_put_together_keep_what_holds(cube):
    a, b = cube.sel(algorithm=["ges"]), cube.sel(algorithm=["lingam", "pc"])
    xr.testing.assert_identical(ce.concat([a, b], "algorithm")["adjacency_tp_mean_p"], cube["adjacency_tp_mean_p"])
    names = [name for name in a if "_mean_p" in name]
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
    assert set(found["edges"]) == {"exact convolution"} and set(found["permutation"]) == {"simulated"}


def test_a_cube_without_tails_is_returned_as_it_is(cube):
    plain = from_draws(np.array([0.5, 0.5, 0.5]), np.array([19, 19, 19]))
    assert with_tails(plain, cube, "shd").p.tolist() == plain.p.tolist()
    assert with_tails(plain, cube, "adjacency_tp", but=np.ones(3, bool)).p.tolist() == plain.p.tolist()
    assert (with_tails(plain, cube, "adjacency_tp").p < 1e-4).all()
