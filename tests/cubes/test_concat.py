"""Cubes put together: the same as one cube of all runs, or refused with what differs."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce

METRICS = ["shd", "adjacency_precision"]
RUNS = ce.datasets.runs().query("density == 0.2 and (n == 400 or (n == 100 and replicate < 8))").reset_index(drop=True)
RUNS["seconds"] = np.linspace(1, 9, len(RUNS))


def make(runs: pd.DataFrame, **settings) -> xr.Dataset:
    given = {"by": ["algorithm", "n"], "n_draws": 15, "rng": 7, "replicate": "replicate", "values": ["seconds"]}
    return ce.cube(runs, METRICS, **given | settings)


def same_summary(found: xr.Dataset, wanted: xr.Dataset, **how) -> None:
    pd.testing.assert_frame_equal(*(cube.ceval.summary(columns="full") for cube in (found, wanted)), **how)


@pytest.fixture(scope="module", params=[{}, {"n_draws": None}], ids=["draws", "none"])
def how(request) -> dict:
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "lazy"), [("algorithm", False), ("n", True)])
def test_strata_are_put_together(how, dim, lazy):
    parts = [make(part, **how) for _, part in RUNS.groupby(dim)]
    found = ce.concat([part.chunk({"replicate": 3}) for part in parts] if lazy else parts, dim)
    assert lazy == (found.chunks != {})
    xr.testing.assert_identical(found.compute(), make(RUNS, **how))


@pytest.mark.slow
def test_ragged_strata_and_replicates_are_filled(how):
    # each cube lacks levels of the other dimension, and has fewer replicates
    here = RUNS[(RUNS["algorithm"] != "pc") | (RUNS["n"] == 100)]
    parts = [make(part, **how) for _, part in here.groupby("algorithm")]
    assert len({tuple(part.sizes.values()) for part in parts}) > 1
    found = ce.concat(parts, "algorithm")
    xr.testing.assert_identical(found, make(here, **how))
    assert {str(found[name].dtype) for name in ("status", "truth_id")} == {"int8", "int64"}


def test_replicates_are_put_together(how):
    whole = make(RUNS, **how)
    parts = [make(RUNS.query("replicate < 5"), **how), make(RUNS.query("replicate >= 5"), **how)]
    found = ce.concat(parts, "replicate")
    xr.testing.assert_equal(found, whole)
    same_summary(found, whole, rtol=1e-12)
    # numbers that occur in both are numbered on; truths keep their identity
    again = ce.concat([parts[0], parts[1].assign_coords(replicate=np.arange(15))], "replicate")
    assert again["replicate"].to_numpy().tolist() == list(range(20))
    np.testing.assert_array_equal(again["truth_id"], whole["truth_id"])
    words = [part.assign_coords(replicate=[f"r{i}" for i in range(part.sizes["replicate"])]) for part in parts]
    with pytest.raises(ValueError, match="the replicate 'r0' occurs in several cubes"):
        ce.concat(words, "replicate")


@pytest.mark.slow
def test_null_models_are_put_side_by_side():
    nulls = ["edges", "permutation", "oracle_skeleton"]
    parts = [make(RUNS, null=null) for null in nulls]
    whole = make(RUNS, null=nulls)
    joined = ce.concat(parts, "null")
    made = json.loads(joined.attrs["causaleval_pd_history"])
    assert [one["null"] for one in made] == [json.loads(x.attrs["causaleval_pd_history"])[0]["null"] for x in parts]
    one_call = whole.attrs["causaleval_pd_history"]
    xr.testing.assert_identical(joined.assign_attrs(causaleval_pd_history=one_call), whole)
    # those that were selected, and several at once
    several = ce.concat([whole.sel(null=["edges", "permutation"]), parts[2]], "null")
    xr.testing.assert_identical(several.assign_attrs(causaleval_pd_history=one_call), whole)
    same_summary(ce.concat([whole.sel(null=null) for null in nulls], "null"), whole)
    with pytest.raises(ValueError, match="the null model 'edges' occurs in several cubes"):
        ce.concat([parts[0], parts[0]], "null")
    with pytest.raises(ValueError, match="status of cube 1 is not that of the first cube"):
        ce.concat([parts[0], make(RUNS[1:], null="permutation")], "null")
    with pytest.raises(ValueError, match="cube 0 has no controls"):
        ce.concat([make(RUNS, n_draws=None)] * 2, "null")


@pytest.mark.slow
def test_levels_that_were_selected_are_put_together():
    whole = make(RUNS)
    parts = [whole.sel(n=n) for n in (100, 400)]
    same_summary(ce.concat(parts, "n"), whole)
    with pytest.raises(ValueError, match=r"n 100 in the first cube, 400 in cube 1; put levels together by dim='n'"):
        ce.concat(parts, "algorithm")


@pytest.mark.slow
def test_new_strata_take_labels():
    parts = [make(RUNS[RUNS["n"] == n], by=["algorithm"]) for n in (400, 100)]
    found = ce.concat(parts, pd.Index(["large", "small"], name="study"))
    table = found.ceval.summary(columns="full")
    assert table.columns[0] == "study"
    assert table[table["metric"] == "shd"].groupby("study")["n_runs"].sum().to_dict() == {"large": 60, "small": 24}
    assert len(found.ceval.compare("study", metrics="shd", by="all", columns="full")) == 3
    with pytest.raises(ValueError, match=r"cube 0 has no stratum 'study'; .*dim=pd.Index\(\[...\], name='study'\)"):
        ce.concat(parts, "study")
    with pytest.raises(ValueError, match="one label per cube; found"):
        ce.concat(parts, pd.Index(["large"], name="study"))


@pytest.mark.slow
def test_seeds_may_be_a_stratum():
    parts = [make(RUNS, rng=seed) for seed in (7, 8)]
    found = ce.concat(parts, "control_seed")
    assert found["control_seed"].to_numpy().tolist() == [7, 8]
    for seed, part in zip((7, 8), parts, strict=True):
        table = found.ceval.summary(columns="full")
        mine = table[table["control_seed"] == seed].drop(columns="control_seed").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, part.ceval.summary(columns="full"))


@pytest.mark.slow
def test_strata_keep_seeds_of_their_own(tmp_path):
    """Cubes of two authors: every stratum has the numbers of the cube that it comes from."""
    seeds = {"ges": 7, "lingam": 2**62 + 1, "pc": 7}
    parts = {name: make(RUNS[RUNS["algorithm"] == name], rng=seed) for name, seed in seeds.items()}
    found = ce.concat(parts.values(), "algorithm")
    assert found["control_seed"].max(["n", "replicate"]).to_numpy().tolist() == [7, 2**62 + 1, 7]
    found.to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as read:
        again = read.load()
    for verb in (ce.summary, partial(ce.summary, columns="full")):
        for whole in (found, again, found.isel(algorithm=[2, 1, 0]).sortby("algorithm")):
            table = verb(whole)
            for name, part in parts.items():
                mine = table[table["algorithm"] == name].reset_index(drop=True)
                pd.testing.assert_frame_equal(mine, verb(part))
                pd.testing.assert_frame_equal(verb(whole.sel(algorithm=name)), verb(part.sel(algorithm=name)))
    # what needs no draw is that of one seed
    both = found, make(RUNS)
    pd.testing.assert_frame_equal(*(cube.ceval.compare("algorithm", columns="full") for cube in both))
    assert len({len(cube.ceval.compare("algorithm", on="skill")) for cube in both}) == 1
    page = found.ceval.report(tmp_path / "report.html", metrics="shd").read_text("utf-8")
    assert "from seeds 7, 4611686018427387905 " in page


@pytest.mark.slow
def test_seeds_of_several_dimensions_are_kept():
    here = RUNS[(RUNS["algorithm"] != "pc") | (RUNS["n"] == 100)]
    seeds = {("ges", 100): 1, ("ges", 400): 2, ("lingam", 100): 3, ("lingam", 400): 3, ("pc", 100): 4}
    parts = {key: make(part, rng=seeds[key]) for key, part in here.groupby(["algorithm", "n"])}
    names = ("ges", "lingam", "pc")
    by_algorithm = [ce.concat([part for key, part in parts.items() if key[0] == name], "n") for name in names]
    found = ce.concat(by_algorithm, "algorithm")
    table = found.ceval.summary(columns="full")
    for (algorithm, n), part in parts.items():
        assert int(found["control_seed"].sel(algorithm=algorithm, n=n).max()) == seeds[algorithm, n]
        mine = table[(table["algorithm"] == algorithm) & (table["n"] == n)].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, part.ceval.summary(columns="full"))


def test_runs_and_null_models_of_several_seeds_are_refused():
    parts = [make(RUNS.query("replicate < 5")), make(RUNS.query("replicate >= 5"), rng=8)]
    with pytest.raises(ValueError, match=r"seed \[7\] in the first cube, \[8\] in cube 1; make them with one rng="):
        ce.concat(parts, "replicate")
    with pytest.raises(ValueError, match=r"seed \[7\] in the first cube, \[8\] in cube 1; make them with one rng="):
        ce.concat([make(RUNS), make(RUNS, null="permutation", rng=8)], "null")
    joined = [ce.concat([make(RUNS.query("n == 100")), make(RUNS.query("n == 400"), rng=rng)], "n") for rng in (8, 9)]
    with pytest.raises(ValueError, match=r"seed \[7, 8\] in the first cube, \[7, 9\] in cube 1"):
        ce.concat([joined[0], joined[1].assign_coords(replicate=np.arange(100, 120))], "replicate")


DIFFERENT = {
    "null": ({"null": "permutation"}, 'null model "edges" .*, "permutation" in cube 1; .*dim=\'null\''),
    "draws": ({"n_draws": 10}, "n_draws 15 in the first cube, 10 in cube 1"),
    "zero division": ({}, "zero_division NaN in the first cube, 0.0 in cube 1"),
    "strata": ({"by": ["algorithm", "n", "n_nodes"]}, "strata .*; make them with the same by="),
    "columns": ({"values": []}, "variables .*the same values="),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_cubes_that_were_made_differently_are_refused(name):
    other, message = DIFFERENT[name]
    with ce.set_options(zero_division=0.0 if name == "zero division" else np.nan):
        changed = make(RUNS.query("n == 400"), **other)
    with pytest.raises(ValueError, match=message):
        ce.concat([make(RUNS.query("n == 100")), changed], "n")


@pytest.mark.parametrize("combine_attrs", ["override", "drop_conflicts"])
@pytest.mark.parametrize("along", ["n", "new"])
def test_xarray_that_puts_together_what_was_made_differently_is_noticed(along, combine_attrs):
    """With drop_conflicts, the attributes in which cubes differ are gone; draws of other numbers cannot be joined."""
    rows = {"n": "n == 400", "new": "n == 100"}[along]
    parts = make(RUNS.query("n == 100"), values=[]), make(RUNS.query(rows), values=[], null="permutation")
    dim = along if along == "n" else pd.Index(["a", "b"], name="new")
    whole = xr.concat(parts, dim, combine_attrs=combine_attrs, join="outer", compat="equals", data_vars="all")
    with pytest.raises(ValueError, match="strata of this cube differ in the null model of the draws"):
        whole.ceval.summary(columns="full")


@pytest.mark.slow
def test_other_metrics_versions_and_labels_are_refused():
    small, large = make(RUNS.query("n == 100")), make(RUNS.query("n == 400"))
    with pytest.raises(ValueError, match=r'metrics \["adjacency_precision", "shd"\] .*leave metrics out by drop_vars'):
        ce.concat([small, ce.cube(RUNS, ["shd"], by=["algorithm", "n"], n_draws=15, rng=7)], "n")
    with pytest.raises(ValueError, match="causaleval_pd_version"):
        ce.concat([small, large.assign_attrs(causaleval_pd_version="0.0.1")], "n")
    double = ce.tweak("shd", reversal_cost=2, name="shd")
    of_levels = ((100, "shd"), (400, double))
    apart = [ce.cube(RUNS.query(f"n == {n}"), [metric], by=["n"], n_draws=None) for n, metric in of_levels]
    for cubes, dim, error, message in (
        (apart, "n", ValueError, "options of shd"),
        ([small, small], "n", ValueError, "the level 100 of 'n' occurs in several cubes"),
        ([], "n", ValueError, "found no cube"),
        ([small, large], "draw", ValueError, "cannot be put together along 'draw'"),
        ([small, large], 3, TypeError, "dim must be a name"),
        ([small, RUNS], "n", TypeError, "cube must be a Dataset"),
    ):
        with pytest.raises(error, match=message):
            ce.concat(cubes, dim)


def test_reshaped_cubes_are_put_together():
    whole = make(RUNS)
    parts = [x.rename(shd="SHD").reindex(replicate=range(22)) for x in (whole.sel(n=[100]), whole.sel(n=[400]))]
    found = ce.concat(parts, "n")
    table = found.ceval.summary(columns="full").replace("SHD", "shd")
    pd.testing.assert_frame_equal(table, whole.ceval.summary(columns="full"))


@pytest.mark.slow
def test_a_cube_that_occurs_twice_is_refused(how):
    whole = make(RUNS, **how)
    twice = whole.assign_coords(replicate=whole["replicate"] + 100)
    with pytest.raises(ValueError, match="cube 2 has the same runs and controls as cube 1, and would count them twice"):
        ce.concat([whole.isel(replicate=slice(3)), whole, twice], "replicate")
