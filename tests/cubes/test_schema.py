"""What cubes hold is what the schema declares."""

import json

import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.schema import ATTRIBUTES, IDENTITIES, declared, result_columns

SETTINGS = {
    "usual": {"values": ["seconds"]},
    "several nulls": {"null": ["edges", "empty"]},
    "no controls": {"n_draws": None, "values": ["seconds"]},
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_every_variable_is_as_declared(small, settings):
    cube = ce.cube(small, ["shd", "adjacency_f1"], by=["algorithm", "n"], **{"n_draws": 10, "rng": 7} | settings)
    found = declared(cube)
    assert set(found) == set(cube.data_vars)
    metrics = json.loads(cube.attrs["metrics"])
    for name, variable in found.items():
        array = cube[name]
        metric = next((m for m in metrics if variable.name(m) == name), "")
        null = ["null"] if variable.role == "control" and "null" in cube.dims else []
        assert list(array.dims) == [*null, "algorithm", "n", *variable.over], name
        assert str(array.dtype) == variable.dtype, name
        assert array.attrs["role"] == variable.role, name
        assert len([x for x in cube.data_vars if str(x).startswith(metric)]) <= 8 or not metric
    for name in set(cube.coords) - set(cube.dims):
        assert cube[name].dims == ("algorithm", "n", "replicate") and str(cube[name].dtype) == IDENTITIES[name].dtype
    assert set(cube.attrs) <= set(ATTRIBUTES)


@pytest.mark.slow
def test_columns_of_results_are_known():
    runs = ce.datasets.runs().query("n_nodes == 10 and n == 100")
    table = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=20, rng=1).ceval.summary(columns="full")
    assert set(table.columns) - {"algorithm"} <= result_columns()


def test_a_carried_column_cannot_have_the_name_of_a_variable(small):
    carried = small.assign(shd_p=0.5)
    with pytest.raises(ValueError, match="cannot use the name shd_p twice"):
        ce.cube(carried, ["shd"], by=["algorithm"], n_draws=5, rng=1, values=["shd_p"])
    assert "shd_p" in ce.cube(carried, ["shd"], by=["algorithm"], n_draws=None, values=["shd_p"])
