"""Results carry the calls that made them: settings, seeds, null models and versions, as JSON values."""

import functools
import io
import json
import math
import platform

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.tables.history import HISTORY, call, calls, remember

RUNS = ce.datasets.runs().query("n == 100 and replicate < 5").reset_index(drop=True)
BY = ["algorithm", "density"]


@functools.cache
def made_cube():
    return ce.cube(RUNS, ["shd", "adjacency_f1"], by=BY, n_draws=20, rng=7)


OF_CUBES = {
    "summary": lambda cube: ce.summary(cube, level=0.9, adjust="holm", missing="worst"),
    "rank_test": lambda cube: ce.rank_test(cube, "algorithm", adjust="bh"),
    "compare": lambda cube: ce.compare(cube, "algorithm", test="max_t", columns="full"),
}


def history(result):
    return calls(result.attrs)


@pytest.mark.parametrize("verb", OF_CUBES)
def test_tables_of_cubes_carry_the_calls_of_cube_and_verb(verb):
    table = OF_CUBES[verb](made_cube())
    made = table.attrs[HISTORY]
    assert [made[0]["verb"], made[-1]["verb"]] == ["cube", verb]
    assert (made[0]["seed"], made[0]["null"], made[0]["n_draws"], made[0]["by"]) == (7, ["edges"], 20, BY)
    assert all(one["versions"]["causaleval_pd"] == ce.__version__ for one in made)
    assert json.loads(json.dumps(table.attrs, allow_nan=False)) == table.attrs


@pytest.mark.slow
def test_settings_are_those_of_the_call():
    def last(verb):
        return OF_CUBES[verb](made_cube()).attrs[HISTORY][-1]

    assert last("summary")["level"] == 0.9 and last("summary")["metrics"] == ["shd", "adjacency_f1"]
    assert (last("summary")["adjust"], last("summary")["missing"]) == ("holm", "worst")
    assert last("compare")["test"] == "max_t"
    assert last("rank_test")["dim"] == "algorithm"


def test_rows_carry_every_call_in_its_order():
    with ce.set_options(zero_division=0):
        first = ce.evaluate(RUNS, ["adjacency_f1"])
    both = ce.with_controls(first, ["shd"], n_draws=10, rng=7, level=0.9, control_kind="kind")
    one, two = both.attrs[HISTORY]
    assert (one["verb"], one["metrics"], one["zero_division"]) == ("evaluate", ["adjacency_f1"], 0.0)
    assert (two["verb"], two["metrics"], two["zero_division"]) == ("with_controls", ["shd"], "nan")
    assert (two["seed"], two["null"], two["level"], two["control_kind"]) == (7, ["edges"], 0.9, "kind")
    assert (two["field"], two["n_draws"], two["method"]) == (["graph"], 10, "auto")
    assert first.attrs[HISTORY] == [one] and RUNS.attrs == {}


def test_published_results_carry_their_call():
    table = ce.control_distribution("A -> B; B -> C", n_edges=2, kind="dag", metrics=["shd"], n_draws=10, rng=5)
    assert (table.attrs[HISTORY][0]["seed"], table.attrs[HISTORY][0]["kind"]) == (5, "dag")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rng", [None, np.random.default_rng(3), 11, np.int32(4)], ids=["none", "generator", "int", "numpy"]
)
def test_the_seed_repeats_the_result(rng):
    scored = ce.with_controls(RUNS, ["sid_lower"], n_draws=10, rng=rng)
    seed = scored.attrs[HISTORY][-1]["seed"]
    assert type(seed) is int
    again = ce.with_controls(RUNS, ["sid_lower"], n_draws=10, rng=seed)
    pd.testing.assert_frame_equal(again, scored, check_exact=True)
    assert again.attrs == scored.attrs

    cube = ce.cube(RUNS, ["shd"], by=BY, n_draws=10, rng=rng)
    xr.testing.assert_identical(ce.cube(RUNS, ["shd"], by=BY, n_draws=10, rng=history(cube)[0]["seed"]), cube)


def test_options_of_metrics_and_null_models_are_named():
    shd = ce.tweak("shd", reversal_cost=2, name="shd_double")
    null = ce.null_model("knowledge", tiers=[["A"], ["B", "C"]], name="tiers")
    runs = pd.DataFrame({"truth": ["A -> B; B -> C"] * 3, "estimate": ["A -> B; C"] * 3})
    [made] = ce.with_controls(runs, [shd, "adjacency_f1"], null=null, n_draws=5, rng=1).attrs[HISTORY]
    assert made["options"] == {"shd_double": {"reversal_cost": 2}}
    assert made["null"] == ["tiers"] and made["null_options"]["tiers"]["tiers"] == [["A"], ["B", "C"]]

    def reversed_graph(estimate, rng):
        return estimate

    found = ce.cube(runs, ["shd"], by=[], n_draws=5, null=[reversed_graph, "edges"], rng=1)
    assert history(found)[0]["null"] == ["reversed_graph", "edges"]


def test_attributes_of_the_table_stay():
    runs = RUNS.copy()
    runs.attrs = {"source": {"year": 2025}}
    scored = ce.evaluate(runs, ["shd"])
    assert scored.attrs["source"] == {"year": 2025}
    scored.attrs["source"]["year"] = 0
    assert runs.attrs == {"source": {"year": 2025}}


def test_attributes_survive_parquet_and_concat():
    parts = [ce.with_controls(RUNS.iloc[i : i + 10], ["shd"], n_draws=5, rng=7) for i in (0, 10)]
    assert pd.concat(parts).attrs == parts[0].attrs
    file = io.BytesIO()
    parts[0].to_parquet(file)
    stored = pd.read_parquet(file)
    assert stored.attrs == parts[0].attrs and pd.concat([stored, parts[1]]).attrs == parts[1].attrs
    other = ce.with_controls(RUNS.iloc[10:], ["shd"], n_draws=5, rng=8)
    assert len(pd.concat([parts[0], other])) == len(RUNS)


@pytest.mark.slow
def test_cubes_keep_their_history_in_files(tmp_path):
    made_cube().to_netcdf(tmp_path / "cube.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "cube.nc", engine="h5netcdf") as stored:
        assert history(stored.load()) == history(made_cube())
        assert ce.summary(stored, columns="full").attrs == ce.summary(made_cube(), columns="full").attrs


@pytest.mark.slow
def test_dask_carries_the_same():
    lazy = dd.from_pandas(RUNS, npartitions=3)
    wanted = ce.with_controls(RUNS, ["shd"], n_draws=10, rng=7)
    assert lazy.ceval.with_controls(["shd"], n_draws=10, rng=7).compute().attrs == wanted.attrs
    assert lazy.ceval.evaluate(["shd"]).compute().attrs == ce.evaluate(RUNS, ["shd"]).attrs
    cube = lazy.ceval.cube(["shd"], by=BY, n_draws=10, rng=7)
    one, two = cube.ceval.summary(columns="full").attrs[HISTORY]
    assert (one["verb"], one["seed"], one["null"], two["verb"]) == ("cube", 7, ["edges"], "summary")


def test_values_are_those_of_json():
    made = call(
        "verb",
        {
            "number": np.float64(0.5), "infinite": -math.inf, "name": ("a", 1), "day": pd.Timestamp("2025-01-02"),
            "function": sorted, "table": pd.DataFrame(), "many": np.zeros((9, 9)), "few": np.arange(2),
            "set": {"b", "a"},
        },
    )  # fmt: skip
    versions = made.pop("versions")
    assert made == {
        "verb": "verb", "number": 0.5, "infinite": "-inf", "name": ["a", 1], "day": "2025-01-02 00:00:00",
        "function": "sorted", "table": "DataFrame", "many": "array of shape (9, 9)", "few": [0, 1], "set": ["a", "b"],
    }  # fmt: skip
    assert versions["python"] == platform.python_version() and versions["numpy"] == np.__version__


@pytest.mark.parametrize("wrong", ["{", 3, ["evaluate"], '{"verb": 1}'])
def test_what_is_no_history_is_refused(wrong):
    with pytest.raises(ValueError, match="causaleval_pd_history.* expected the list of calls"):
        calls({HISTORY: wrong})


def test_records_do_not_share_their_lists():
    table = remember(pd.DataFrame(), [call("a", {})], {"kept": [1]})
    calls(table.attrs)[0]["verb"] = "b"
    assert table.attrs[HISTORY][0]["verb"] == "a" and table.attrs["kept"] == [1]
