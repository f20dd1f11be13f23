"""Failed runs at the worst value: the end of the range away from the optimum, else the worst that was seen."""

import numpy as np
import pytest

from causaleval_pd.cubes.worst_case import cells, fill_failed

STATUS = [[1, 2, 0], [2, 1, 1]]
VALUES = np.array([[3.0, np.nan, np.nan], [np.nan, 5.0, 1.0]])


def make(make_cube, direction, draws=None, low=-np.inf, high=np.inf):
    cube = make_cube({"a": np.array([1, 2])}, {"m": (VALUES, direction, *(draws or []))}, status=STATUS)
    return cube.assign(m=cube["m"].assign_attrs(valid_range=[low, high]))


@pytest.mark.parametrize(
    ("direction", "low", "high", "worst"),
    [("minimize", 0, 9, 9), ("maximize", 0, 9, 0), ("zero", -4, 7, -4), ("zero", 0, 7, 7)],
)
def test_finite_ranges_have_a_worst_end(make_cube, direction, low, high, worst):
    cube = make(make_cube, direction, low=low, high=high)
    found = fill_failed(cube, "m")["m"]
    np.testing.assert_array_equal(found, [[3, worst, np.nan], [worst, 5, 1]])
    assert found.attrs == cube["m"].attrs and np.isnan(cube["m"].to_numpy()[0, 1]), "the cube stays as it is"


@pytest.mark.parametrize(("direction", "worst"), [("minimize", [3, 5]), ("maximize", [3, 1]), ("zero", [3, 5])])
def test_infinite_ranges_take_the_worst_of_the_stratum(make_cube, direction, worst):
    found = fill_failed(make(make_cube, direction), "m")["m"].to_numpy()
    assert [found[0, 1], found[1, 0]] == worst
    pooled = fill_failed(make(make_cube, direction), "m", ["a"])["m"].to_numpy()
    both = min(worst) if direction == "maximize" else max(worst)
    assert [pooled[0, 1], pooled[1, 0]] == [both] * 2


def test_controls_may_be_worse(make_cube):
    draws = np.full((2, 3, 4), 2.0)
    draws[0, 0] = [1, 8, np.nan, 2]
    cube = make(make_cube, "minimize", [draws])
    found = fill_failed(cube, "m")["m"].to_numpy()
    assert [found[0, 1], found[1, 0]] == [8, 5]


def test_a_stratum_that_always_failed_has_no_worst_value(make_cube):
    cube = make_cube({"a": np.array([1])}, {"m": (np.full((1, 2), np.nan), "minimize")}, status=[[2, 2]])
    assert np.isnan(fill_failed(cube, "m")["m"]).all()


def test_descriptions_have_no_worst_value(make_cube):
    with pytest.raises(ValueError, match="m has no direction, so failed runs have no worst value; use missing='drop'"):
        fill_failed(make(make_cube, "none"), "m")


def test_strata_are_one_leading_axis(ragged):
    found = cells(ragged["shd_control"], ["density", "algorithm"], ["draw", "replicate"])
    assert found.shape == (6, 40, 12)
    one = ragged["shd_control"].isel(density=1, algorithm=0).transpose("draw", "replicate")
    np.testing.assert_array_equal(found[3], one)
    assert cells(ragged["shd"].isel(density=0, algorithm=0), []).shape == (1, 12)
