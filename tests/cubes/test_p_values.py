"""P-values of strata: floors of draws, and runs that were put together."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.p_values import of_draws, stratum_p
from causaleval_pd.cubes.stratum_tests import stratum_tests


@pytest.fixture(scope="module")
def cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    return ce.cube(runs, ["adjacency_tp", "shd"], by=["algorithm"], n_draws=19, rng=1)


def test_p_values_that_no_draw_reached_are_at_the_floor(cube):
    tests, able = stratum_tests(cube.assign_attrs(control_combined="[]"), "shd"), np.array([True, True, False])
    found = of_draws(tests, np.array([0.05, 0.1, np.nan]), "truth", able)
    assert found.at_floor.tolist() == [True, False, False]
    assert found.floor_flags.tolist() == [True, False, pd.NA]
    assert found.method.tolist() == ["simulated", "simulated", None]
    assert found.se[1] == pytest.approx((0.1 * 0.9 / 19) ** 0.5)
    assert stratum_p(cube, "shd").p.tolist() == ce.summary(cube, "shd", columns="full")["p_value"].tolist()


@pytest.mark.slow
def test_runs_that_are_joined_are_tested_as_those_of_one_cube():
    runs = ce.datasets.runs().query("density == 0.2 and n == 400 and replicate < 6")
    how = {"by": ["algorithm"], "replicate": "replicate", "n_draws": 19, "rng": 1}
    metrics = ["adjacency_tp", "shd"]
    halves = [ce.cube(runs.query(half), metrics, **how) for half in ("replicate < 3", "replicate >= 3")]
    by_xarray = xr.concat(halves, "replicate", data_vars="all", join="outer", coords="minimal", compat="override")
    whole = ce.summary(ce.cube(runs, metrics, **how), columns="full")["p_value"]
    for joined in (ce.concat(halves, "replicate"), by_xarray):
        pd.testing.assert_series_equal(ce.summary(joined, columns="full")["p_value"], whole)
