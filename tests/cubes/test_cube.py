"""The cube: strata, pairing, controls, round trips, and its summary."""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.reading import control_sums, control_values
from causaleval_pd.cubes.schema import FAILED, NO_RUN, SCORED, result_columns

KNOWN = pathlib.Path(__file__).parents[1] / "known_answers"


@pytest.fixture(scope="module")
def runs():
    return ce.datasets.runs()


@pytest.fixture(scope="module")
def small(runs):
    return runs[runs["replicate"] < 4]


BY = ["algorithm", "density", "n"]
NAMES = ["shd", "adjacency_f1"]


@pytest.fixture(scope="module")
def cube(small):
    return ce.cube(small, NAMES, by=BY, n_draws=60, rng=7, control_kind="kind")


def test_dimensions_follow_by(cube, small):
    assert list(cube.dims)[:3] == BY
    assert cube.sizes["draw"] == 60
    assert cube.sizes["replicate"] == 4
    assert cube["density"].to_numpy().tolist() == sorted(small["density"].unique())
    assert int(cube["n_obs"].sum()) == len(small)
    assert (cube["n_obs"] == (cube["status"] != NO_RUN).sum("replicate")).all()


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
        shares = (cell["shd_control"][at] <= cell["shd"][at]).mean()
        assert cell["shd_as_good"][at] == pytest.approx(float(shares))


def test_replicates_pair_equal_truths(cube, small):
    identity = cube["truth_id"]
    for other in range(1, cube.sizes["algorithm"]):
        assert (identity.isel(algorithm=0) == identity.isel(algorithm=other)).all()
    assert len(np.unique(identity)) == small["truth"].nunique()


def test_row_order_does_not_matter(cube, small):
    shuffled = ce.cube(small.sample(frac=1, random_state=0), NAMES, by=BY, n_draws=60, rng=7, control_kind="kind")
    xr.testing.assert_identical(cube, shuffled)


def test_specs_seed_and_conventions_are_carried(cube):
    assert cube["shd"].attrs["direction"] == "minimize"
    assert cube["shd"].attrs["long_name"] == ce.shd.long_name
    assert (cube.attrs["control_seed"], cube.attrs["control_null"], cube.attrs["n_draws"]) == (7, "edges", 60)
    assert json.loads(cube.attrs["strata"]) == BY
    assert "cpdag" in cube.attrs["control_kind"]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_round_trip(tmp_path, small, keep, suffix):
    table = small.assign(word=pd.Categorical(small["algorithm"], categories=sorted(small["algorithm"].unique())[::-1]))
    cube = ce.cube(
        table,
        NAMES,
        by=["word", {"true_density": [0, 0.3, 1]}, "n"],
        n_draws=20,
        rng=7,
        keep_draws=keep,
        values=["seconds"],
    )
    path = tmp_path / f"cube.{suffix}"
    if suffix == "nc":
        cube.to_netcdf(path)
        back = xr.open_dataset(path).load()
    else:
        cube.to_zarr(path, consolidated=False)
        back = xr.open_zarr(path, consolidated=False).load()
    xr.testing.assert_identical(cube, back)
    pd.testing.assert_frame_equal(cube.ceval.summary(), back.ceval.summary())
    back.close()


def test_without_raw_draws_every_verb_gives_the_same(small, cube):
    streamed = ce.cube(small, NAMES, by=BY, n_draws=60, rng=7, control_kind="kind", keep_draws=False)
    assert "shd_control" not in streamed and streamed.attrs["draws_kept"] == 0
    pd.testing.assert_frame_equal(streamed.ceval.summary(), cube.ceval.summary(), rtol=1e-12)
    pd.testing.assert_frame_equal(
        streamed.ceval.summary(interval="mean_ci"), cube.ceval.summary(interval="mean_ci"), rtol=1e-12
    )
    cut = cube.isel(replicate=slice(2))
    assert cut.ceval.summary()["n_obs"].max() == 2
    with pytest.raises(ValueError, match="cut along 'replicate'"):
        streamed.isel(replicate=slice(2)).ceval.summary()
    assert len(streamed.sel(algorithm="pc").ceval.summary()) == len(streamed.ceval.summary()) / 3


def test_summary_is_what_pandas_gives(cube, small):
    scored = ce.evaluate(small, NAMES)
    table = cube.ceval.summary()
    assert list(table.columns) == [
        *BY,
        *("metric", "n_obs", "n_missing", "n_undefined", "n_without_controls", "mean", "low", "high"),
        *("control_mean", "control_low", "control_high", "superiority_share", "p_value", "skill", "skill_low"),
        *("skill_high", "control_mean_se", "p_se"),
    ]
    by_hand = scored.groupby(BY)["shd"].agg(["mean", lambda x: x.quantile(0.025), lambda x: x.quantile(0.975)])
    mine = table[table["metric"] == "shd"].set_index(BY)[["mean", "low", "high"]]
    np.testing.assert_allclose(mine.sort_index(), by_hand.sort_index(), atol=1e-12)
    one = cube.sel(algorithm="pc", density=cube["density"][0], n=cube["n"][0])
    row = table[(table["metric"] == "shd") & (table["algorithm"] == "pc")].iloc[0]
    pooled = one["shd_control"].to_numpy()
    pooled = pooled[~np.isnan(one["shd"].to_numpy())].ravel()
    np.testing.assert_allclose([row["control_low"], row["control_high"]], np.quantile(pooled, [0.025, 0.975]))
    means = one["shd_control"].where(one["shd"].notnull()).mean("replicate")
    b = int((means <= float(one["shd"].mean()) + 1e-12).sum())
    assert row["p_value"] == (b + 1) / 61
    assert row["skill"] == pytest.approx(1 - row["mean"] / row["control_mean"])
    assert row["skill_low"] < row["skill"] < row["skill_high"]
    assert row["p_se"] == pytest.approx(np.sqrt(row["p_value"] * (1 - row["p_value"]) / 60))
    errors = one["shd_control_mean_se"].where(one["shd"].notnull())
    assert row["control_mean_se"] == pytest.approx(float(np.sqrt((errors**2).sum()) / errors.notnull().sum()))


def test_failed_and_undefined_runs_are_counted():
    table = pd.DataFrame(
        {
            "algorithm": ["x"] * 4,
            "truth": ["A -> B; C", "A -> B; B -> C", "A; B -> C", "A; B; C"],
            "estimate": ["A -> B; C", None, "A; B; C", "A -> C; B"],
        }
    )
    found = ce.cube(table, ["adjacency_precision"], by=["algorithm"], n_draws=20, rng=7)
    assert sorted(found["status"].to_numpy().ravel()) == [SCORED, SCORED, SCORED, FAILED]
    row = found.ceval.summary().iloc[0]
    assert (row["n_obs"], row["n_missing"], row["n_undefined"], row["mean"]) == (4, 1, 1, 0.5)


def test_strata_of_every_kind():
    table = pd.DataFrame(
        {
            "truth": ["A -> B; C"] * 6,
            "estimate": ["A -> B; C"] * 6,
            "size": pd.Categorical(["l", "s", "m", "s", "m", None], categories=["s", "m", "l", "xl"]),
            "x": [0.0, 0.1, 0.2, 0.35, 1.0, np.nan],
            "k": [3, 1, 2, 3, 1, 2],
        }
    )
    found = ce.cube(table, ["shd"], by=["size", {"x": [0, 0.2, 1]}, "k"], n_draws=None)
    assert found["size"].to_numpy().tolist() == ["s", "m", "l", "missing"]
    assert found["x"].to_numpy().tolist() == ["[0, 0.2]", "(0.2, 1]", "missing"]
    assert found["x_left"].to_numpy()[:2].tolist() == [0, 0.2]
    assert found["k"].to_numpy().tolist() == [1, 2, 3]
    assert found["n_obs"].sel(size="l", x="[0, 0.2]", k=3) == 1
    assert int(found["n_obs"].sum()) == 6
    assert len(found.ceval.summary()) == 6


def test_size_metrics_stratify_failed_runs_too():
    table = pd.DataFrame({"truth": ["A -> B; C", "A -> B; B -> C; A -> C"], "estimate": ["A; B; C", None]})
    found = ce.cube(table, ["shd"], by=[{"true_density": [0, 0.5, 1]}], n_draws=None)
    assert found["n_obs"].to_numpy().tolist() == [1, 1]


def test_repeats_of_a_truth_take_their_own_places():
    table = pd.DataFrame({"a": list("xxxyyy"), "truth": ["A -> B", "A -> B", "B -> A"] * 2, "estimate": ["A -> B"] * 6})
    found = ce.cube(table, ["shd"], by=["a"], n_draws=None)
    assert found.sizes["replicate"] == 3
    assert (found["truth_id"].sel(a="x") == found["truth_id"].sel(a="y")).all()
    named = ce.cube(table.assign(seed=[5, 6, 7] * 2), ["shd"], by=["a"], n_draws=None, replicate="seed")
    assert named["replicate"].to_numpy().tolist() == [5, 6, 7]
    with pytest.raises(
        ValueError, match=r"rows \[0, 1\] have the same stratum and the same 'seed' \(.*5.*\); name a column"
    ):
        ce.cube(table.assign(seed=[5, 5, 7] * 2), ["shd"], by=["a"], n_draws=None, replicate="seed")


def test_truths_of_separate_strata_share_the_replicate_axis():
    nodes = [f"X{i}" for i in range(5)]
    truths = ["; ".join([f"{a} -> {b}", *nodes]) for a in nodes for b in nodes if a != b]
    table = pd.DataFrame({"density": np.repeat([1, 2], 10), "truth": truths, "estimate": truths})
    assert ce.cube(table, ["shd"], by=["density"], n_draws=None).sizes["replicate"] == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": ["algo"]}, r"no column 'algo' \(by\)"),
        ({"by": ["algorithm", "algorithm"]}, "by names 'algorithm'"),
        ({"by": ["draw"]}, "by names 'draw'"),
        ({"by": [{"n": [0, 200]}]}, r"row \d+: n is \d+, outside the edges 0 to 200"),
        ({"by": [{"n": [5]}]}, "at least two ascending numbers"),
        ({"by": [{"algorithm": [0, 1]}]}, "only numbers can be cut by edges"),
        ({"by": ["algorithm"], "values": ["secs"]}, r"no column 'secs' \(values\); did you mean 'seconds'"),
        ({"by": ["algorithm"], "metrics": ["true_density"]}, "true_density describes a row"),
        ({"by": ["algorithm"], "metrics": []}, "no metrics were named"),
        ({"by": ["algorithm"], "values": ["kind"]}, "values='kind' holds str, and a cube carries numbers only"),
        ({"by": ["lists"]}, "'lists' cannot be a stratum, its values do not compare"),
    ],
)
def test_settings_are_checked(small, settings, message):
    call = {"metrics": ["shd"], "n_draws": 5, "rng": 1} | settings
    with pytest.raises(ValueError, match=message):
        ce.cube(small.assign(lists=[[1]] * len(small)), **call)


def test_a_name_cannot_be_stratum_and_variable(small):
    with pytest.raises(ValueError, match="cannot use the name shd twice"):
        ce.cube(small.assign(shd=1), ["shd"], by=["shd"], n_draws=None)


def test_user_values_ride_along(small):
    found = ce.cube(small, ["shd"], by=["algorithm", "density", "n"], n_draws=None, values=["seconds"])
    assert float(found["seconds"].sum()) == pytest.approx(small["seconds"].sum())
    assert found["seconds"].attrs["role"] == "value"


def test_stratum_null_resamples_the_edges_of_its_stratum():
    nodes = "; A; B; C; D; E"
    estimates = ["A -> B" + nodes, "A -> B; B -> C; C -> D; D -> E; A -> C" + nodes]
    table = pd.DataFrame({"a": ["x"] * 2, "truth": ["A -> B; C -> D" + nodes, "A -> C" + nodes], "estimate": estimates})
    found = ce.cube(table, ["adjacency_tp", "adjacency_fp"], by=["a"], n_draws=2000, rng=7, null="stratum")
    edges = (found["adjacency_tp_control"] + found["adjacency_fp_control"]).to_numpy()
    assert set(np.unique(edges)) == {1, 5}
    assert abs((edges == 1).mean() - 0.5) < 4 * 0.5 / np.sqrt(edges.size)
    assert found["adjacency_tp_p"].isnull().all()
    assert 0 < found.ceval.summary()["p_value"].iloc[0] <= 1
    mixed = pd.concat(
        [table, pd.DataFrame({"a": ["x"], "truth": ["A -> B"], "estimate": ["A -> B"]})], ignore_index=True
    )
    with pytest.raises(ValueError, match=r"graphs of one size a stratum; .* over \[2, 5\] nodes"):
        ce.cube(mixed, ["shd"], by=["a"], n_draws=5, rng=7, null="stratum")


def test_published_table_from_given_controls():
    table = pd.read_csv(KNOWN / "table5_mtrue30.csv.gz")
    nodes = [str(i) for i in range(10)]
    cells = {c: ce.graph_column(table[c], nodes=nodes) for c in ("truth", "pc", "nc")}
    runs = pd.DataFrame(cells).assign(density="dense")
    names = [
        "shd",
        "adjacency_precision",
        "adjacency_recall",
        "orientation_precision",
        "orientation_recall",
        "v_structure_recall",
    ]
    found = ce.cube(runs, names, by=["density"], estimate="pc", control="nc", zero_division=1, rng=0)
    rows = found.ceval.summary().set_index("metric")
    shares = rows["superiority_share"].round(3)
    assert shares[names].tolist() == [0.202, 0.122, 0.245, 0.360, 0.464, 0.563]
    means = [27.333, 0.849, 0.378, 0.650, 0.403, 0.049]
    np.testing.assert_allclose(rows.loc[names, "mean"], means, atol=5.1e-4)
    controls = [31.226, 0.661, 0.294, 0.505, 0.369, 0.023]
    np.testing.assert_allclose(rows.loc[names, "control_mean"], controls, atol=5.1e-4)
    assert rows.loc["shd", ["control_low", "control_high"]].tolist() == [26, 36]
    tests = found.ceval.test_controls(["shd"]).iloc[0]
    difference = table["pc_shd"] - table["nc_shd"]
    assert tests["effect"] == pytest.approx(difference.mean())
    half = 1.9623 * difference.std() / np.sqrt(len(difference))
    assert tests["ci_low"] == pytest.approx(difference.mean() - half, abs=1e-3)


def test_given_controls_must_cover_every_run():
    table = pd.DataFrame({"a": ["x"] * 2, "truth": ["A -> B"] * 2, "estimate": ["A -> B"] * 2, "nc": ["B -> A", None]})
    with pytest.raises(ValueError, match=r"column 'nc' has no control in rows \[1\]"):
        ce.cube(table, ["shd"], by=["a"], control="nc")


def test_a_single_replicate_is_selected_by_a_list(cube):
    assert len(cube.isel(replicate=[0]).ceval.summary()) > 0
    with pytest.raises(ValueError, match=r"lost its dimension 'replicate'; select by a list"):
        cube.isel(replicate=0).ceval.summary()
    with pytest.raises(ValueError, match="was not made by cube"):
        xr.Dataset({"x": 1}).ceval.summary()


def test_empty_tables_make_empty_cubes(small):
    found = ce.cube(small.iloc[:0], ["shd"], by=["algorithm"], n_draws=5, rng=1)
    assert found.sizes["algorithm"] == 0 and len(found.ceval.summary()) == 0


def test_sums_and_values_agree_with_the_raw_draws(cube, small):
    streamed = ce.cube(small, NAMES, by=BY, n_draws=60, rng=7, control_kind="kind", keep_draws=False)
    for name in NAMES:
        for raw, part in zip(control_sums(cube, name), control_sums(streamed, name), strict=True):
            np.testing.assert_allclose(raw.transpose(*part.dims), part, rtol=1e-12)
        values, weights = control_values(streamed, name)
        raw, one = control_values(cube, name)
        np.testing.assert_allclose((values * weights).sum("bin"), (raw * one).sum("bin"), rtol=1e-12)


def test_too_long_value_tables_are_averaged(monkeypatch, small):
    monkeypatch.setattr(sys.modules["causaleval_pd.tables.stratum_draws"], "MAX_VALUES", 8)
    streamed = ce.cube(small, ["adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, keep_draws=False)
    assert streamed.sizes["adjacency_f1_bin"] <= 8
    full = ce.cube(small, ["adjacency_f1"], by=["algorithm"], n_draws=60, rng=7, keep_draws=True)
    near, exact = streamed.ceval.summary(), full.ceval.summary()
    np.testing.assert_allclose(near["control_low"], exact["control_low"], atol=0.1)
    np.testing.assert_allclose(near["p_value"], exact["p_value"])


def test_the_randomisation_test_is_valid_where_metrics_are_undefined():
    """Random guessing on truths whose orientation precision is often 0/0 and differs between rows."""
    rng = np.random.default_rng(3)
    nodes = [f"X{i}" for i in range(5)]

    def guess(m):
        rank = rng.permutation(5)
        pairs = [(i, j) for i in range(5) for j in range(5) if rank[i] < rank[j]]
        chosen = rng.choice(10, m, replace=False)
        return "; ".join([f"X{pairs[k][0]} -> X{pairs[k][1]}" for k in chosen] + nodes)

    n_strata, rows = 300, 6
    sizes = np.tile([1, 2, 8] * 2, n_strata)
    table = pd.DataFrame(
        {
            "stratum": np.repeat(np.arange(n_strata), rows),
            "truth": [guess(m) for m in sizes],
            "estimate": [guess(2) for _ in sizes],
        }
    )
    names = ["orientation_precision", "v_structure_precision"]
    table = ce.cube(table, names, by=["stratum"], n_draws=99, rng=7, keep_draws=False).ceval.summary()
    assert table["n_undefined"].sum() > 300
    for _, part in table.groupby("metric"):
        p = part["p_value"].dropna()
        for alpha in (0.05, 0.1, 0.2):
            assert (p <= alpha).mean() <= alpha + 4 * np.sqrt(alpha * (1 - alpha) / len(p))


def test_a_stratum_cannot_have_the_name_of_a_result():
    runs = ce.datasets.runs().query("n_nodes == 10 and n == 100")
    with pytest.raises(
        ValueError, match=r"by names 'method', a column of the tables .*rename\(columns=\{'method': 'my_"
    ):
        ce.cube(runs.rename(columns={"algorithm": "method"}), ["shd"], by=["method"], n_draws=None)
    cube = ce.cube(runs, ["shd"], by=["algorithm", "density"], n_draws=20, rng=1)
    made = [
        cube.ceval.summary(),
        ce.test_controls(cube, adjust="holm"),
        ce.compare(cube, "algorithm"),
        ce.rank_test(cube, "algorithm"),
        ce.control_power(cube),
        ce.comparison_power(cube, "algorithm", difference=1.0),
        ce.meta_analysis(cube, "density"),
    ]
    columns = set().union(*(table.columns for table in made)) - {"algorithm", "density", "null"}
    assert columns <= result_columns()


def test_a_cube_may_carry_numbers_alone():
    runs = pd.DataFrame(
        {
            "truth": ["A -> B"] * 3,
            "estimate": ["A -> B", None, "B -> A"],
            "algorithm": ["x", "x", "y"],
            "seconds": [1.0, 2.0, 3.0],
        }
    )
    found = ce.cube(runs, [], by=["algorithm"], values=["seconds"], n_draws=None)
    np.testing.assert_array_equal(found["seconds"], [[1, 2], [3, np.nan]])
    np.testing.assert_array_equal(found["status"], [[1, 2], [1, 0]])
    with pytest.raises(ValueError, match="no metrics were named"):
        ce.cube(runs, [], by=["algorithm"], n_draws=None)
    with pytest.raises(ValueError, match="no metrics were named"):
        ce.cube(runs, [], by=["algorithm"], values=["seconds"])
