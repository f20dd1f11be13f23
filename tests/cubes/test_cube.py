"""The cube: strata, pairing, controls, round trips, and its summary."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

import causaleval_pd as ce

BY = ["algorithm", "density", "n"]
NAMES = ["shd", "adjacency_f1"]


def test_cells_hold_what_evaluate_gives(cube, small):
    scored = ce.with_controls(small, NAMES, n_draws=60, rng=7, control_kind="kind")
    for row in (0, 17, len(small) - 1):
        place = {name: small[name].iloc[row] for name in BY}
        cell = cube.sel(place)
        [at] = np.flatnonzero(
            np.isclose(cell["shd_p"], scored["shd_p"].iloc[row]) & np.isclose(cell["shd"], scored["shd"].iloc[row])
        )[:1]
        assert cell["shd_control_mean"][at] == scored["shd_control_mean"].iloc[row]
        assert cell["adjacency_f1_p"][at] == scored["adjacency_f1_p"].iloc[row]
        assert cell["shd_control"][at].mean() == pytest.approx(float(cell["shd_control_mean"][at]), abs=1.5)


def test_row_order_does_not_matter(cube, small):
    shuffled = ce.cube(small.sample(frac=1, random_state=0), NAMES, by=BY, n_draws=60, rng=7, control_kind="kind")
    xr.testing.assert_identical(cube, shuffled)


def test_specs_seed_and_conventions_are_carried(cube):
    assert cube["shd"].attrs["direction"] == "minimize"
    assert cube["shd"].attrs["long_name"] == ce.shd.long_name
    assert (cube.attrs["control_seed"], cube.attrs["control_null"], cube.attrs["n_draws"]) == (7, "edges", 60)
    assert json.loads(cube.attrs["strata"]) == BY
    assert "cpdag" in cube.attrs["control_kind"]


@pytest.mark.parametrize("suffix", ["zarr", "nc"])
def test_round_trip(tmp_path, small, suffix):
    table = small.assign(word=pd.Categorical(small["algorithm"], categories=sorted(small["algorithm"].unique())[::-1]))
    cube = ce.cube(table, NAMES, by=["word", {"true_density": [0, 0.3, 1]}, "n"], n_draws=20, rng=7, values=["seconds"])
    path = tmp_path / f"cube.{suffix}"
    if suffix == "nc":
        cube.to_netcdf(path)
        back = xr.open_dataset(path).load()
    else:
        cube.to_zarr(path, consolidated=False)
        back = xr.open_zarr(path, consolidated=False).load()
    xr.testing.assert_identical(cube, back)
    pd.testing.assert_frame_equal(cube.ceval.summary(columns="full"), back.ceval.summary(columns="full"))
    back.close()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["algo"]}, r"no column 'algo' \(by\)"),
        ({"by": ["algorithm", "algorithm"]}, "by names 'algorithm' twice; a stratum needs a name of its own"),
        ({"by": ["draw"]}, "by names 'draw', which cubes .*'draw': 'my_draw'"),
        ({"by": [{"n": [0, 200]}]}, r"row \d+: n is \d+, outside the edges 0 to 200"),
        ({"by": [{"n": [5]}]}, "at least two ascending numbers"),
        ({"by": [{"algorithm": [0, 1]}]}, "only numbers can be cut by edges"),
        ({"by": ["algorithm"], "values": ["secs"]}, r"no column 'secs' \(values\); did you mean 'seconds'"),
        ({"by": ["algorithm"], "metrics": ["true_density"]}, "true_density has no direction.*a description of the row"),
        ({"by": ["algorithm"], "metrics": []}, "no metrics were named; a cube needs at least one, or values="),
        ({"by": ["algorithm"], "values": ["kind"]}, "values='kind' holds str, expected numbers"),
        ({"by": ["lists"]}, "'lists' cannot be a stratum, its values do not compare"),
    ],
)
def test_settings_are_checked(small, settings, message):
    call = {"metrics": ["shd"], "n_draws": 5, "rng": 1} | settings
    with pytest.raises(ValueError, match=message):
        ce.cube(small.assign(lists=[[1]] * len(small)), **call)


def test_user_values_ride_along(small):
    found = ce.cube(small, ["shd"], by=["algorithm", "density", "n"], n_draws=None, values=["seconds"])
    assert float(found["seconds"].sum()) == pytest.approx(small["seconds"].sum())
    assert found["seconds"].attrs["role"] == "value"


def test_empty_tables_make_empty_cubes(small):
    found = ce.cube(small.iloc[:0], ["shd"], by=["algorithm"], n_draws=5, rng=1)
    assert found.sizes["algorithm"] == 0 and len(found.ceval.summary(columns="full")) == 0


def test_a_cube_may_carry_numbers_alone():
    runs = pd.DataFrame({"truth": "A -> B", "estimate": ["A -> B", None, "B -> A"], "algorithm": ["x", "x", "y"]})
    runs["seconds"] = [1.0, 2.0, 3.0]
    found = ce.cube(runs, [], by=["algorithm"], values=["seconds"], n_draws=None)
    np.testing.assert_array_equal(found["seconds"], [[1, 2], [3, np.nan]])
    np.testing.assert_array_equal(found["status"], [[1, 2], [1, 0]])
    for settings in ({"n_draws": None}, {"values": ["seconds"]}):
        with pytest.raises(ValueError, match="no metrics were named"):
            ce.cube(runs, [], by=["algorithm"], **settings)


CARRIED = pd.DataFrame(
    {
        "algorithm": ["ges", "pc"] * 6,
        "truth": np.repeat(["A -> B; C", "B -> C; A", "A -> C; B", "A -> B; B -> C", "C -> A; B", "C -> B; A"], 2),
        "estimate": ["A -> B; C", "B -> C; A", None, "A -> C; B"] * 3,
        "seconds": [1.0, 2.0, 9.0, 4.0, np.nan, 3.0, np.nan, 1.0, 2.0, 5.0, 1.0, 3.5],
    }
)


@pytest.mark.slow
def test_carried_columns_are_summarised():
    """A failed run counts with its value, as in a group's mean; without one it is failed."""
    for metrics, drawn in (([], None), (["shd"], 20)):
        cube = ce.cube(CARRIED, metrics, by=["algorithm"], n_draws=drawn, rng=7, values=["seconds"])
        table = cube.ceval.summary("seconds", columns="full").set_index("algorithm")
        groups = CARRIED.groupby("algorithm")["seconds"]
        np.testing.assert_allclose(table["mean"], groups.mean())
        counts = table[["n_runs", "n_scored", "n_failed", "n_undefined"]]
        assert counts.to_numpy().tolist() == [[6, 4, 1, 1], [6, 6, 0, 0]]
        assert table[["control_mean", "p_value", "skill"]].isna().all(axis=None)
        metric = cube.ceval.summary(columns="full")["metric"].unique().tolist()
        assert metric == (metrics or ["seconds"])
        for other in (cube.chunk({"algorithm": 1}), cube):
            whole = other.ceval.summary([*metrics, "seconds"], columns="full").query("metric == 'seconds'")
            pd.testing.assert_frame_equal(whole.set_index("algorithm"), table)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["minimize", "maximize", None])
def test_carried_columns_are_compared_and_ranked(direction):
    cube = ce.cube(CARRIED, ["shd"], by=["algorithm"], n_draws=20, rng=7, values={"seconds": direction})
    wide = CARRIED.pivot(index="truth", columns="algorithm", values="seconds").dropna()
    [row] = cube.ceval.compare("algorithm", metrics="seconds", test="t", columns="full").to_dict("records")
    assert row["effect"] == pytest.approx((wide["ges"] - wide["pc"]).mean())
    assert (row["n_pairs"], row["n_failed"], row["n_undefined"]) == (4, 1, 1)
    assert cube.ceval.summary("seconds", columns="full")["p_value"].isna().all()
    ranks = cube.ceval.rank_test("algorithm", "seconds").set_index("algorithm")["mean_rank"]
    sign = -1 if direction == "maximize" else 1
    np.testing.assert_allclose(ranks, (sign * wide).rank(axis=1).mean())
    with pytest.raises(ValueError, match="'seconds' is a column that the cube carries"):
        cube.ceval.compare("algorithm", metrics="seconds", on="excess", columns="full")
    if direction is None:
        with pytest.raises(ValueError, match="seconds has no direction, so failed runs have no worst value"):
            cube.ceval.compare("algorithm", metrics="seconds", missing="worst", columns="full")
    else:
        worst = cube.ceval.compare("algorithm", metrics="seconds", missing="worst", test="t", columns="full")
        assert worst["n_pairs"].tolist() == [5]


def test_directions_of_carried_columns_are_checked():
    with pytest.raises(ValueError, match=r"unknown direction of 'seconds' \(values\) 'lower'"):
        ce.cube(CARRIED, ["shd"], by=["algorithm"], n_draws=None, values={"seconds": "lower"})


@pytest.mark.slow
def test_carried_columns_are_drawn():
    cube = ce.cube(CARRIED, ["shd"], by=["algorithm"], n_draws=20, rng=7, values={"seconds": "minimize"})
    grid = cube.ceval.plot.strata("seconds", x="algorithm")
    assert "lower is better" in " ".join(grid.ax.get_ylabel().split())
    assert not [x for x in grid.ax.lines if x.get_gid() == "open"]
    assert cube.ceval.plot.distributions("seconds", hue="algorithm").axes.size == 1
    assert cube.ceval.plot.critical_difference("seconds", "algorithm").texts
    with pytest.raises(ValueError, match="'seconds' is a column that the cube carries"):
        cube.expand_dims(n=[1]).ceval.plot.heat_map("seconds", x="algorithm", y="n")


def test_every_variable_has_a_long_name():
    runs = ce.datasets.runs().head(6)
    runs = runs.assign(study=pd.factorize(runs["truth"].graph.to_strings())[0] // 2)
    cube = runs.ceval.cube(["shd"], by=["algorithm"], n_draws=9, rng=1, cluster="study")
    assert {"truth_id", "cluster_id"} <= set(cube.coords)
    assert [name for name, x in cube.data_vars.items() if not x.attrs.get("long_name")] == []


NODES = [f"X{i}" for i in range(8)]


def guess(rng, n_edges=8):
    pairs = list(itertools.combinations(NODES, 2))
    place = dict(zip(NODES, rng.permutation(8), strict=True))
    chosen = [pairs[i] for i in rng.choice(28, n_edges, replace=False)]
    return "; ".join([f"{a} -> {b}" if place[a] < place[b] else f"{b} -> {a}" for a, b in chosen] + NODES)


def tuned(n_strata, n_truths, n_levels, seed=1):
    """Random guesses: strata s of truths of their own, each with candidates."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(n_strata):
        for _ in range(n_truths):
            truth = guess(rng)
            rows += [{"s": s, "level": f"l{k}", "truth": truth, "estimate": guess(rng)} for k in range(n_levels)]
    return pd.DataFrame(rows)


@pytest.mark.slow
def test_a_run_of_the_cube_is_a_row_of_the_table_of_groups():
    runs = tuned(2, 3, 4)
    runs.loc[[0, 1, 2, 3, 5], "estimate"] = None
    names = ["shd", "adjacency_f1"]
    how = {"best_of": "level", "n_draws": 40, "rng": 3}
    rows = ce.with_controls(runs, names, columns="full", **how)
    cube = runs.ceval.cube(names, by=["s"], **how)
    assert dict(cube.sizes)["replicate"] == 3 and cube["status"].to_numpy().ravel().tolist() == [2, 1, 1, 1, 1, 1]
    levels = json.loads(cube.attrs["best_of"])
    assert levels == {"column": "level", "levels": ["l0", "l1", "l2", "l3"]}
    truth = cube["truth_id"].to_numpy().ravel()
    assert len(set(truth.tolist())) == 6
    for name in names:
        for part in ("", "_control_mean", "_p"):
            values = cube[f"{name}{part}"].to_numpy().ravel()
            np.testing.assert_allclose(np.sort(values), np.sort(rows[f"{name}{part}"].to_numpy(float)))
        chosen = cube[f"{name}_chosen"].to_numpy().ravel()
        expected = rows[f"{name}_chosen"]
        named = [None if np.isnan(x) else levels["levels"][int(x)] for x in chosen]
        assert sorted(map(str, named)) == sorted(str(None if pd.isna(x) else x) for x in expected)
    np.testing.assert_array_equal(np.sort(cube["n_candidates"].to_numpy().ravel()), np.sort(rows["n_candidates"]))
    table = cube.ceval.summary(columns="full")
    assert table["n_runs"].tolist() == [3] * 4 and table["n_failed"].sum() == 2
    assert cube.ceval.summary(columns="full")["null"].unique().tolist() == ["permutation"]


@pytest.mark.slow
def test_strata_of_the_best_of_guesses_keep_their_level():
    """Also where several algorithms are tuned on one truth, whose runs are relabelled alike."""
    n_strata = 80
    runs = tuned(n_strata, 3, 6)
    again = runs.assign(algorithm="same")
    twice = pd.concat([runs.assign(algorithm="x"), again], ignore_index=True)
    most = stats.binom.ppf(0.999, n_strata, 0.05)
    for table, key in ((runs, None), (twice, ["algorithm", "truth", "level"])):
        cube = table.ceval.cube(["shd"], by=["s"], best_of="level", key=key, n_draws=99, rng=3)
        assert (cube.ceval.summary(columns="full")["p_value"] <= 0.05).sum() <= most
    best = runs.assign(shd=ce.evaluate(runs, ["shd"])["shd"]).sort_values("shd").groupby("truth").head(1)
    plain = best[runs.columns].ceval.cube(["shd"], by=["s"], n_draws=99, rng=3)
    assert (plain.ceval.summary(columns="full")["p_value"] <= 0.05).sum() > most


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["s", "level"]}, "by names 'level', of whose levels best_of= takes the best"),
        ({"n_draws": None}, "best_of= compares the best candidates with the best of their controls"),
        ({"values": ["seconds"]}, "takes no values="),
        ({"null": ["permutation", "edges"]}, "null must be one null model here"),
        ({"null": "edges"}, "null='edges' draws them one by one"),
        ({"key": ["s"]}, "are candidates of one group but have different truths"),
    ],
)
def test_bad_cubes_of_candidates_are_refused(settings, message):
    runs = tuned(1, 2, 2).assign(seconds=1.0)
    with pytest.raises(ValueError, match=message):
        runs.ceval.cube(["shd"], **({"by": ["s"], "best_of": "level", "n_draws": 9} | settings))
