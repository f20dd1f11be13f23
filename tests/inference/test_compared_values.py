"""What comparisons take from a cube: pairs of levels, numbers by metric, groups that blocks of a cube agree on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.inference.compared_values import (
    compared_values,
    level_pairs,
    names_of_pairs,
    numbers_of_metrics,
    places_of_pairs,
)


def test_pairs_of_levels():
    first, second = level_pairs(np.array(["a", "b", "c"]), "algorithm", None)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2), (1, 2)]
    first, second = level_pairs(np.array([0.2, 0.5]), "density", 0.5)
    assert (first.tolist(), second.tolist()) == ([0], [1])
    with pytest.raises(ValueError, match="'n' has 1 level, and a comparison needs two"):
        level_pairs(np.array([1]), "n", None)


DAYS = pd.to_datetime(["2020-01-01", "2021-06-01"])


@pytest.mark.parametrize(
    ("levels", "reference"),
    [
        ([50.0, 100.0], 100),
        ([50.0, 100.0], "100.0"),
        ([50, 100], 100.0),
        ([50, 100], np.int64(100)),
        (DAYS, DAYS[1]),
        (DAYS, DAYS[1].to_pydatetime()),
        (DAYS, DAYS[1].to_numpy()),
        ([False, True], True),
        ([0.5, np.nan], np.nan),
    ],
)
def test_a_reference_is_a_level_as_sel_takes_it(levels, reference):
    first, second = level_pairs(np.asarray(levels), "x", reference)
    assert (first.tolist(), second.tolist()) == ([0], [1])


@pytest.mark.parametrize("reference", ["other", 99, (50, 100), DAYS[0], pd.NA])
def test_a_reference_that_is_no_level_is_refused(reference):
    with pytest.raises(ValueError, match=r"unknown level of 'n' \(reference\)"):
        level_pairs(np.array([50, 100]), "n", reference)


@pytest.mark.parametrize("reference", [np.array([]), pd.Series([50, 100]), pd.DataFrame(), [50]])
def test_several_references_are_refused(reference):
    with pytest.raises(TypeError, match="reference must be one level of 'n', found"):
        level_pairs(np.array([50, 100]), "n", reference)


def test_a_number_is_a_reference_of_a_cube_whatever_its_type():
    runs = ce.datasets.runs().query("n_nodes == 10")
    of = {
        dtype: ce.cube(runs.astype({"n": dtype}), ["shd"], by=["n"], n_draws=None).ceval.compare(
            "n", reference=100.0, columns="full"
        )
        for dtype in ("int64", "float64")
    }
    assert of["int64"]["comparison"].tolist() == ["400 - 100", "1600 - 100"]
    assert of["float64"]["comparison"].tolist() == ["400.0 - 100.0", "1600.0 - 100.0"]
    np.testing.assert_array_equal(of["int64"]["effect"], of["float64"]["effect"])


def test_numbers_of_metrics():
    assert numbers_of_metrics(None, ["m", "k"], "rope") == {"m": 0.0, "k": 0.0}
    assert numbers_of_metrics(2.0, ["m"], "rope") == {"m": 2.0}
    assert numbers_of_metrics({"m": 0.0}, ["m"], "rope", zero=True) == {"m": 0.0}
    for given, message in (
        (0.0, "rope must be a positive number in units of the metric, found"),
        (-1.0, "rope must be a positive number"),
        (np.nan, "rope must be a positive number"),
        ({"m": 1.0}, "rope= names no rope for k; give one"),
        ({"m": 1.0, "x": 2.0}, r"metric compared \(rope\)"),
    ):
        with pytest.raises(ValueError, match=message):
            numbers_of_metrics(given, ["m", "k"], "rope")


def test_groups_are_the_same_numbers_in_every_part_of_a_cube(ragged):
    sites = xr.zeros_like(ragged["status"], np.int64) + np.arange(ragged.sizes["replicate"]) % 3 + 1
    carried = ragged.assign_coords(cluster_id=sites).assign_attrs(control_cluster="column site")
    first, second = level_pairs(ragged["algorithm"].to_numpy(), "algorithm", None)
    settings = {"on": "metric", "missing": "drop", "margin": 0.0}
    whole = compared_values(carried, "shd", "algorithm", first, second, **settings).levels.cluster
    part = compared_values(carried.isel(density=[1]), "shd", "algorithm", first, second, **settings).levels.cluster
    np.testing.assert_array_equal(whole[1:], part)
    assert len(np.unique(whole)) == 3


def test_names_with_dashes_do_not_name_two_comparisons():
    levels = np.array(["a", "a - b", "b - c", "c"], object)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 3])
    named = names_of_pairs(levels, first, second).tolist()
    assert named == ['a - "a - b"', 'a - "b - c"', '"a - b" - c']
    assert names_of_pairs(levels[:2], np.array([0]), np.array([1])).tolist() == ["a - a - b"]
    places = places_of_pairs(levels)
    assert len(places) == 12 and places['"a - b" - c'] == (1, 3) and places['"b - c" - a'] == (2, 0)
    assert places_of_pairs(levels[:1]) == {}
