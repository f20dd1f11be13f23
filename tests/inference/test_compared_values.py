"""What comparisons take from a cube: pairs of levels, numbers by metric, groups and clusters that agree."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.inference.compare import compare
from causaleval_pd.inference.compared_values import (
    compared_values,
    level_pairs,
    names_of_pairs,
    numbers_of_metrics,
    places_of_pairs,
)
from causaleval_pd.inference.linear_model import model
from causaleval_pd.inference.ranking import rank_test

#: verbs that group runs, with the number of groups in their results
VERBS = {
    "compare": lambda cube: compare(cube, "algorithm")["n_truths"],
    "skill": lambda cube: compare(cube, "algorithm", on="skill")["n_truths"],
    "max_t": lambda cube: compare(cube, "algorithm", test="max_t")["n_truths"],
    "rank_test": lambda cube: rank_test(cube, "algorithm")["n_blocks"],
    "model": lambda cube: model(cube, "shd ~ algorithm")["n_clusters"],
}
CONTROLS = {"by": ["algorithm"], "n_draws": 19, "rng": 7}


@pytest.fixture(scope="module")
def runs():
    """Three algorithms on 20 truths, of which a laboratory has 4, and two of these a batch."""
    table = ce.datasets.runs().query("density == 0.2 and n == 400").reset_index(drop=True)
    return table.assign(lab=table["replicate"] // 4, batch=table["replicate"] // 2)


@pytest.fixture(scope="module")
def by_lab(runs):
    """A cube whose runs depend on each other by laboratory."""
    return runs.ceval.cube(["shd"], cluster="lab", values=["lab", "batch"], **CONTROLS)


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_the_clusters_are_those_of_the_cube(runs, by_lab, verb):
    groups = VERBS[verb]
    assert set(groups(by_lab)) == {5}
    by_truth = runs.ceval.cube(["shd"], **CONTROLS)
    assert set(groups(by_truth)) == {20}
    twice = pd.concat([runs, runs], ignore_index=True)
    n = {"model": 120}.get(verb, 40)
    assert set(groups(twice.ceval.cube(["shd"], cluster=None, **CONTROLS))) == {n}


@pytest.mark.slow
def test_a_cube_without_controls_has_clusters(runs):
    how = {"by": ["algorithm"], "n_draws": None}
    cube = runs.ceval.cube(["shd"], cluster="lab", **how)
    found = compare(cube, "algorithm")
    assert set(found["n_truths"]) == {5}
    lazy = dd.from_pandas(runs, npartitions=3)
    made = lazy.ceval.cube(["shd"], cluster="lab", **how)
    pd.testing.assert_frame_equal(compare(made, "algorithm"), found)
    with pytest.raises(ValueError, match=r"no column 'replicates' \(cluster\)"):
        runs.ceval.cube(["shd"], cluster="replicates", **how)
    split = runs.assign(part=np.arange(len(runs)) % 7)
    with pytest.raises(ValueError, match="have the same truth, but different clusters"):
        split.ceval.cube(["shd"], cluster="part", **how)
    # nothing is relabelled, so that truths of one cluster may have different nodes
    cells = {"truth": ["A -> B", "B -> C"] * 2, "estimate": ["A -> B", "B; C"] * 2}
    nodes = pd.DataFrame(cells | {"a": [0, 0, 1, 1], "g": 1})
    assert nodes.ceval.cube(["shd"], by=["a"], cluster="g", n_draws=None).sizes["a"] == 2


@pytest.mark.slow
def test_saved_cubes_keep_their_clusters(by_lab, tmp_path):

    by_lab.to_netcdf(tmp_path / "cube.nc")
    read = xr.open_dataset(tmp_path / "cube.nc").load()
    pd.testing.assert_frame_equal(compare(read, "algorithm"), compare(by_lab, "algorithm"))


@pytest.mark.slow
def test_answers_have_no_clusters_by_truth():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"truth": rng.random(24) < 0.5, "estimate": rng.random(24) < 0.7, "q": np.arange(24) % 12})
    table["truth"] = table.groupby("q")["truth"].transform("first")
    table["model"] = np.repeat(["x", "y"], 12)
    how = {"by": ["model"], "replicate": "q", "n_draws": 19, "rng": 1}
    cube = table.ceval.cube(["answer_accuracy"], **how)
    assert compare(cube, "model")["n_truths"].tolist() == [12]
    assert set(rank_test(cube, "model")["n_blocks"]) == {12}
    by_question = table.ceval.cube(["answer_accuracy"], cluster="q", **how)
    assert compare(by_question, "model")["n_truths"].tolist() == [12]
    assert model(by_question, "answer_accuracy ~ model")["n_clusters"].tolist() == [12, 12]


@pytest.mark.slow
def test_the_size_of_comparisons_of_dependent_truths(make_cube):
    """Eight laboratories have five truths each, and their truths favour one algorithm alike, by chance."""
    rng = np.random.default_rng(11)
    n, labs = 800, np.repeat(np.arange(1, 9), 5)
    values = rng.normal(size=(2, n, 40)) + rng.normal(size=(2, n, 8))[..., labs - 1]
    cube = make_cube({"a": ["x", "y"], "study": np.arange(n)}, {"m": (values, "minimize")})
    ids = cube["truth_id"].copy(data=np.broadcast_to(labs, values.shape))
    grouped = cube.assign_coords(cluster_id=ids).assign_attrs(control_cluster="column lab")
    for test, highest in (("wilcoxon", 0.05), ("t", 0.07), ("max_t", 0.07)):
        by_lab, by_truth = (
            (compare(c, "a", by="all", test=test, adjust=None)["p_value"] <= 0.05).mean()
            for c in (grouped, cube.assign_attrs(control_cluster="truth"))
        )
        assert 0.02 < by_lab < highest and by_truth > 0.25


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
        ([50.0, 100.0], 100), ([50.0, 100.0], "100.0"), ([50, 100], 100.0), ([50, 100], np.int64(100)), (DAYS, DAYS[1]),
        (DAYS, DAYS[1].to_pydatetime()), (DAYS, DAYS[1].to_numpy()), ([False, True], True), ([0.5, np.nan], np.nan),
    ],
)  # fmt: skip
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
    cubes = (ce.cube(runs.astype({"n": dtype}), ["shd"], by=["n"], n_draws=None) for dtype in ("int64", "float64"))
    whole, fraction = (cube.ceval.compare("n", reference=100.0) for cube in cubes)
    assert whole["comparison"].tolist() == ["400 - 100", "1600 - 100"]
    assert fraction["comparison"].tolist() == ["400.0 - 100.0", "1600.0 - 100.0"]
    np.testing.assert_array_equal(whole["effect"], fraction["effect"])


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
