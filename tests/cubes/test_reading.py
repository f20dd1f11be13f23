"""Reading cubes: the null model of each metric, dimensions that a metric declares, sums and values of controls."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
from causaleval_pd.cubes.reading import (
    cells,
    fill_failed,
    metric_strata,
    null_name,
    null_references,
    own_dims,
    strata_columns,
    strata_dims,
    variable,
)


@pytest.fixture(scope="module")
def networks() -> xr.Dataset:
    """Return a cube of metrics whose default null models differ: one of networks, one of their graphs."""
    mutations = list(ce.causal_kl.metastatic_mutations().values())
    table = pd.DataFrame({"truth": [ce.causal_kl.metastatic()] * 4, "estimate": mutations[:4], "a": ["x", "y"] * 2})
    return ce.cube(table, ["edit_distance", "shd"], by=["a"], n_draws=20, rng=7, context={"estimator": "joint"})


@pytest.mark.slow
def test_every_metric_carries_its_own_null(networks, cube):
    assert [null_name(networks, name) for name in ("edit_distance", "shd")] == ["dags", "edges"]
    assert "control_null" not in networks.attrs
    assert null_name(networks) == "dags (edit_distance); edges (shd)"
    tests = ce.summary(networks, columns="full")
    assert tests.groupby("metric")["null"].unique().map(list).to_dict() == {"edit_distance": ["dags"], "shd": ["edges"]}
    assert (null_name(cube), null_name(cube, "shd"), cube.attrs["control_null"]) == ("edges",) * 3


@pytest.mark.slow
def test_references_have_no_test(small):
    reference = ce.cube(small, ["shd"], by=["algorithm"], n_draws=10, rng=7, null="oracle_skeleton")
    assert null_references(reference, "shd") == ["oracle_skeleton"]
    assert ce.summary(reference, columns="full")["p_value"].isna().all()
    both = ce.cube(small, ["shd"], by=["algorithm"], n_draws=10, rng=7, null=["edges", "oracle_skeleton"])
    assert both.ceval.summary().groupby("null")["p_value"].count().to_dict() == {"edges": 3, "oracle_skeleton": 0}


@pytest.fixture(scope="module")
def lagged() -> tuple[xr.Dataset, dict[int, xr.Dataset]]:
    """Return a cube of a metric with one value per lag and one without, and for each lag a cube of its values alone."""
    rng = np.random.default_rng(3)
    shape, draws = (2, 5), 19
    spec = {"direction": "minimize", "valid_range": [0.0, np.inf], "optimum": 0.0, "role": "metric"}
    status = np.array([[1, 1, 1, 1, 1], [1, 1, 2, 1, 0]], np.int8)
    there = status == 1

    def variables(name: str, lags: tuple[int, ...]) -> dict[str, tuple[list[str], np.ndarray]]:
        own = ["lag"] if lags else []
        values = np.where(there[(..., *[None] * len(lags))], rng.integers(0, 9, (*shape, *lags)).astype(float), np.nan)
        control = np.where(np.isnan(values)[..., None], np.nan, rng.integers(0, 9, (*values.shape, draws)))
        dims = ["algorithm", "replicate", *own]
        rows = {"control_mean": control.mean(-1), "control_loss": control.mean(-1)}
        rows |= {"control_mean_se": np.where(np.isnan(values), np.nan, control.std(-1, ddof=1) / np.sqrt(draws))}
        found = {name: (dims, values, spec), f"{name}_control": ([*dims, "draw"], control)}
        return found | {f"{name}_{part}": (dims, x) for part, x in rows.items()}

    attrs = {"strata": '["algorithm"]', "metrics": '["error", "shd"]', "n_draws": draws}
    attrs |= {"control_null": "edges", "control_seed": 1, "control_kind": "dag", "zero_division": np.nan}
    dims = ["algorithm", "replicate"]
    base = {"status": (dims, status)}
    coords = {"algorithm": ["ges", "pc"], "replicate": np.arange(5), "lag": [0, 1, 2]}
    coords["truth_id"] = dims, np.where(status > 0, np.arange(1, 6), 0)
    coords["control_seed"] = dims, np.ones(shape, int)
    cube = xr.Dataset(base | variables("error", (3,)) | variables("shd", ()), coords, attrs)
    alone = {lag: cube.sel(lag=lag, drop=True) for lag in (0, 1, 2)}
    return cube, alone


def test_dimensions_of_a_metric_become_strata(lagged):
    cube, _ = lagged
    assert (own_dims(cube, "error"), own_dims(cube, "shd")) == (["lag"], [])
    assert strata_columns(cube, ["shd", "error"]) == ["algorithm", "lag"]
    part = metric_strata(cube, "error")
    assert strata_dims(part) == json.loads(part.attrs["strata"]) == ["algorithm", "lag"]
    assert "shd" not in part and set(part["status"].dims) == {"algorithm", "replicate", "lag"}
    assert metric_strata(cube, "shd") is cube
    assert metric_strata(part, "error") is part


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["quantile", "mean_ci"])
@pytest.mark.parametrize("chunked", [False, True])
def test_the_summary_has_rows_for_every_coordinate(lagged, interval, chunked):
    cube, alone = lagged
    table = ce.summary(cube.chunk({"algorithm": 1}) if chunked else cube, interval=interval, columns="full")
    assert list(table.columns[:3]) == ["algorithm", "lag", "metric"]
    assert table["lag"].isna().tolist() == [False] * 6 + [True] * 2
    for lag, one in alone.items():
        wanted = ce.summary(one, interval=interval, columns="full")
        mine = table[(table["lag"] == lag) & (table["metric"] == "error")].drop(columns="lag").reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, wanted[wanted["metric"] == "error"].reset_index(drop=True))
    mine = table[table["metric"] == "shd"].drop(columns="lag").reset_index(drop=True)
    wanted = ce.summary(alone[0], "shd", interval=interval, columns="full")
    pd.testing.assert_frame_equal(mine, wanted)


def test_variables_are_found_by_metric_and_part(cube):
    assert variable(cube, "shd", "control_mean").identical(cube["shd_control_mean"])
    with pytest.raises(KeyError):
        variable(cube, "shd", "controls_mean")


def test_a_single_replicate_is_selected_by_a_list(cube):
    assert len(cube.isel(replicate=[0]).ceval.summary(columns="full")) > 0
    with pytest.raises(ValueError, match=r"lost its dimension 'replicate'; select by a list"):
        cube.isel(replicate=0).ceval.summary(columns="full")
    with pytest.raises(ValueError, match="was not made by cube"):
        xr.Dataset({"x": 1}).ceval.summary(columns="full")


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


def test_strata_are_one_leading_axis(ragged):
    found = cells(ragged["shd_control"], ["density", "algorithm"], ["draw", "replicate"])
    assert found.shape == (6, 40, 12)
    one = ragged["shd_control"].isel(density=1, algorithm=0).transpose("draw", "replicate")
    np.testing.assert_array_equal(found[3], one)
    assert cells(ragged["shd"].isel(density=0, algorithm=0), []).shape == (1, 12)
