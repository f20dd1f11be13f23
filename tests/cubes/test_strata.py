"""Strata along `by` and replicates within them."""

import functools

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.schema import NO_RUN
from causaleval_pd.cubes.strata import number_replicates

BY = ["algorithm", "density", "n"]


def test_dimensions_follow_by(cube, small):
    assert list(cube.dims)[:3] == BY
    assert cube.sizes["draw"] == 60
    assert cube.sizes["replicate"] == 4
    assert cube["density"].to_numpy().tolist() == sorted(small["density"].unique())
    assert int((cube["status"] != NO_RUN).sum()) == len(small)


def test_replicates_pair_equal_truths(cube, small):
    identity = cube["truth_id"]
    for other in range(1, cube.sizes["algorithm"]):
        assert (identity.isel(algorithm=0) == identity.isel(algorithm=other)).all()
    assert len(np.unique(identity)) == small["truth"].nunique()


def test_strata_of_every_kind():
    sizes = pd.Categorical(["l", "s", "m", "s", "m", None], categories=["s", "m", "l", "xl"])
    table = pd.DataFrame({"size": sizes, "x": [0.0, 0.1, 0.2, 0.35, 1.0, np.nan], "k": [3, 1, 2, 3, 1, 2]})
    table = table.assign(truth="A -> B; C", estimate="A -> B; C")
    found = ce.cube(table, ["shd"], by=["size", {"x": [0, 0.2, 1]}, "k"], n_draws=None)
    assert found["size"].to_numpy().tolist() == ["s", "m", "l", "missing"]
    assert found["x"].to_numpy().tolist() == ["[0, 0.2]", "(0.2, 1]", "missing"]
    assert found["x_left"].to_numpy()[:2].tolist() == [0, 0.2]
    assert found["k"].to_numpy().tolist() == [1, 2, 3]
    assert (found["status"] > 0).sum("replicate").sel(size="l", x="[0, 0.2]", k=3) == 1
    assert int((found["status"] > 0).sum("replicate").sum()) == 6
    assert len(found.ceval.summary(columns="full")) == 6


def test_size_metrics_stratify_failed_runs_too():
    table = pd.DataFrame({"truth": ["A -> B; C", "A -> B; B -> C; A -> C"], "estimate": ["A; B; C", None]})
    found = ce.cube(table, ["shd"], by=[{"true_density": [0, 0.5, 1]}], n_draws=None)
    assert (found["status"] > 0).sum("replicate").to_numpy().tolist() == [1, 1]


def test_repeats_of_a_truth_take_their_own_places():
    table = pd.DataFrame({"a": list("xxxyyy"), "truth": ["A -> B", "A -> B", "B -> A"] * 2, "estimate": ["A -> B"] * 6})
    found = ce.cube(table, ["shd"], by=["a"], n_draws=None)
    assert found.sizes["replicate"] == 3
    assert (found["truth_id"].sel(a="x") == found["truth_id"].sel(a="y")).all()
    named = ce.cube(table.assign(seed=[5, 6, 7] * 2), ["shd"], by=["a"], n_draws=None, replicate="seed")
    assert named["replicate"].to_numpy().tolist() == [5, 6, 7]
    message = r"rows \[0, 1\] have the same stratum and the same 'seed' \(5\); name a column"
    with pytest.raises(ValueError, match=message):
        ce.cube(table.assign(seed=[5, 5, 7] * 2), ["shd"], by=["a"], n_draws=None, replicate="seed")


def test_truths_of_separate_strata_share_the_replicate_axis():
    nodes = [f"X{i}" for i in range(5)]
    truths = ["; ".join([f"{a} -> {b}", *nodes]) for a in nodes for b in nodes if a != b]
    table = pd.DataFrame({"density": np.repeat([1, 2], 10), "truth": truths, "estimate": truths})
    assert ce.cube(table, ["shd"], by=["density"], n_draws=None).sizes["replicate"] == 10


def test_a_name_cannot_be_stratum_and_variable(small):
    with pytest.raises(ValueError, match="cannot use the name shd twice"):
        ce.cube(small.assign(shd=1), ["shd"], by=["shd"], n_draws=None)


def test_labels_are_valid_text(small):
    odd = small.assign(algorithm=pd.Series("\ud800", small.index, dtype=object))
    with pytest.raises(ValueError, match=r"'algorithm' cannot be a stratum, its label '\\ud800' is not valid Unicode"):
        ce.cube(odd, ["shd"], by=["algorithm"], n_draws=None)


@pytest.mark.parametrize("odd", [["1", 1], ["missing", None]])
def test_values_that_are_written_alike_are_refused(small, odd):
    values = pd.Series([odd[i % 2] for i in range(len(small))], small.index, dtype=object)
    with pytest.raises(ValueError, match="'g' cannot be a stratum, different values of it are written '(1|missing)'"):
        ce.cube(small.assign(g=values), ["shd"], by=["g"], n_draws=None)


def results(cube, name):
    """Return what the verbs make of a cube by this stratum and n."""
    parts = [cube.sel({name: [level]}) for level in ("pc", "ges")]
    return {
        "summary": cube.ceval.summary(columns="full"),
        "pooled": cube.ceval.summary(by=[name]),
        "compare": cube.ceval.compare(name, columns="full"),
        "other": cube.ceval.compare("n", by=[name], test="max_t", columns="full"),
        "ranks": cube.ceval.rank_test(name, by="all"),
        "model": cube.ceval.model(f"shd ~ {name}"),
        "concat": ce.concat(parts, name).ceval.summary(by=[name]),
        "runs": cube.ceval.runs(),
    }


@functools.cache
def named(name):
    """Return a cube whose first stratum has this name, and what the verbs make of it."""
    rows = ce.datasets.runs().query("replicate < 6 and density == 0.2 and algorithm != 'lingam'")
    cube = ce.cube(rows.rename(columns={"algorithm": name}), ["shd"], by=[name, "n"], n_draws=20, rng=1)
    return cube, results(cube, name)


#: columns of results, variables of cubes, and words that verbs use inside
@pytest.mark.parametrize("name", ["status", "method", "mean", "skill", "note", "p_value", "value", "sample", "reading"])
def test_a_stratum_may_be_called_anything(name):
    (_, usual), (cube, of_verbs) = named("algorithm"), named(name)
    assert cube[name].to_numpy().tolist() == ["ges", "pc"] and cube.sizes["n"] == 3
    for verb, found in of_verbs.items():
        expected = usual[verb].set_axis(found.columns, axis=1)
        if verb == "model":
            assert found["term"].tolist()[1].startswith(name)
            found, expected = found.drop(columns="term"), expected.drop(columns="term")
        pd.testing.assert_frame_equal(found, expected, obj=verb)
        assert found.columns.is_unique


def test_runs_without_truths_are_numbered_by_their_keys():
    keys = [pd.Series([5, 1, 9, 2, 7])]
    found = number_replicates(keys, np.array([0, 0, 1, 1, 0]), None)
    assert found.tolist() == [1, 0, 1, 0, 2]


def test_dates_with_a_missing_one_stay_dates():
    days = pd.to_datetime(["2020-01-01", None, "2021-01-01"])
    table = pd.DataFrame({"truth": ["A -> B"] * 3, "estimate": ["A -> B"] * 3, "day": days})
    summary = table.ceval.cube(["shd"], by=["day"], n_draws=5, rng=1).ceval.summary(columns="full")
    assert summary["day"].tolist() == ["2020-01-01 00:00:00", "2021-01-01 00:00:00", "missing"]
    assert summary["n_runs"].tolist() == [1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]", "object", "category"])
def test_truth_values_are_labels(small, dtype, tmp_path):
    flag = (small["density"] > small["density"].median()).to_numpy()
    table = small.assign(flag=pd.Series(flag, small.index, dtype=dtype))
    cube = ce.cube(table, ["shd"], by=["flag"], n_draws=20, rng=7)
    cube.to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
    cube.to_zarr(tmp_path / "cube.zarr", consolidated=False)
    with (
        xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as netcdf,
        xr.open_zarr(tmp_path / "cube.zarr", consolidated=False) as zarr,
    ):
        for one in (cube, netcdf, zarr):
            assert one["flag"].dtype == bool and one["flag"].to_numpy().tolist() == [False, True]
            for value in (False, True):
                assert int((one.sel(flag=value)["status"] > 0).sum()) == (flag == value).sum()
            table = one.load().ceval.summary(columns="full")
            assert table["flag"].dtype == bool and table["n_runs"].tolist() == [(~flag).sum(), flag.sum()]
    found = cube.ceval.compare("flag", test="welch_t", reference=False)
    assert found["comparison"].tolist() == ["True - False"]
    cube.ceval.report(tmp_path / "report.html")
    cube.ceval.plot.strata("shd", x="flag")


def test_truth_values_with_a_missing_one_are_words(small):
    flag = pd.array([True, False, None] * len(small), dtype="boolean")[: len(small)]
    found = ce.cube(small.assign(flag=flag), ["shd"], by=["flag"], n_draws=None)
    assert found["flag"].to_numpy().tolist() == ["False", "True", "missing"]


def test_labels_that_may_be_one_are_refused(small):
    for odd in ([True, 1], ["pc", "pc "], [0.3, 0.1 + 0.2]):
        values = pd.Series([odd[i % 2] for i in range(len(small))], small.index, dtype=object).infer_objects()
        table = small.assign(g=values)
        calls = [
            lambda table=table: ce.cube(table, ["shd"], by=["g"], n_draws=None),
            lambda table=table: ce.cube(table, ["shd"], by=["algorithm"], n_draws=5, rng=1, cluster="g"),
            lambda table=table: ce.cube(table, ["shd"], by=["algorithm"], n_draws=None, replicate="g"),
            lambda table=table: ce.with_controls(table, ["shd"], n_draws=5, rng=1, best_of="g"),
            lambda table=table: ce.pool(table, by=["g"]),
            lambda table=table: ce.placebo(table, rng=1, cluster="g"),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="'g': found the labels .* (count as equal|look alike|rounding)"):
                call()


def test_numbers_beside_an_edge_are_refused(small):
    table = small.assign(g=[0.1 + 0.2] * len(small))
    message = r"row 0: g is 0.30000000000000004, which differs from the edge 0.3 by rounding"
    with pytest.raises(ValueError, match=message):
        ce.cube(table, ["shd"], by=[{"g": [0, 0.3, 1]}], n_draws=None)
    found = ce.cube(table.round({"g": 9}), ["shd"], by=[{"g": [0, 0.3, 1]}], n_draws=None)
    assert (found["status"] > 0).sum("replicate").to_numpy().tolist() == [len(small), 0]
