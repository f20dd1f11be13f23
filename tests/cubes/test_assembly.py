"""A cube put together: every row in its cell, null models side by side, coordinates of metrics' own dimensions."""

import json
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
from causaleval_pd.cubes.assembly import metric_attrs

RUNS = pd.DataFrame(
    {
        "truth": ["A -> B; C", "A -> B; B -> C", "A -> B; C", "A -> B; B -> C"],
        "estimate": ["A -> B; C", "A; B; C", "B -> A; C", None],
        "a": list("xxyy"),
        "seconds": [1.0, 2.0, 3.0, 4.0],
    }
)


@pytest.fixture
def sides(declare):
    """Metrics with one and two dimensions of their own."""
    side = {"side": ("extra", "missing")}

    @declare(dims=side)
    def errors(pairs):
        return np.stack([pairs.counts.fp, pairs.counts.fn], axis=1)

    @declare(dims=side | {"power": None}, long_name="table of edges")
    def table(pairs):
        both = pairs.counts.fp, pairs.counts.fn
        return np.stack([np.stack([c, c**2.0, c**3.0], axis=1) for c in both], axis=1)


def test_rows_stand_in_the_cell_of_their_stratum_and_replicate():
    cube = ce.cube(RUNS, ["shd"], by=["a"], n_draws=None, values=["seconds"])
    np.testing.assert_array_equal(cube["seconds"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(cube["status"], [[1, 1], [1, 2]])
    np.testing.assert_array_equal(cube["shd"], [[0, 2], [1, np.nan]])
    assert cube["seconds"].attrs["long_name"] == "seconds"
    assert json.loads(cube.attrs["metrics"]) == ["shd"] and cube.attrs["field"] == "graph"


@pytest.mark.usefixtures("sides")
def test_dimensions_of_metrics_follow_the_replicates():
    cube = ce.cube(RUNS, ["table", "shd", "errors"], by=["a"], n_draws=9, rng=7)
    assert json.loads(cube.attrs["metrics"]) == ["table", "shd", "errors"]
    assert cube["errors"].dims == ("a", "replicate", "side")
    assert cube["table"].dims == cube["table_p"].dims == ("a", "replicate", "side", "power")
    assert cube["side"].to_numpy().tolist() == ["extra", "missing"] and cube["power"].to_numpy().tolist() == [0, 1, 2]
    assert cube["table"].attrs["long_name"] == "table of edges"
    assert cube["table_p"].attrs["long_name"] == "p-value of table of edges against controls"
    scored = ce.with_controls(RUNS, ["errors", "table"], n_draws=9, rng=7)
    for i in range(3):
        at = {"a": RUNS["a"][i], "replicate": i % 2}
        for side in ("extra", "missing"):
            assert float(cube["errors"].sel(at).sel(side=side)) == scored[f"errors_{side}"][i]
            assert float(cube["errors_p"].sel(at).sel(side=side)) == scored[f"errors_{side}_p"][i]
            for power in (0, 1, 2):
                assert float(cube["table"].sel(at).sel(side=side, power=power)) == scored[f"table_{side}_{power}"][i]
    assert cube["table_control"].dims == ("a", "replicate", "side", "power", "draw")


@pytest.mark.usefixtures("sides")
def test_names_of_metrics_with_dimensions_are_taken():
    taken = RUNS.assign(errors=1.0)
    for named in ({"by": ["a"], "values": ["errors"]}, {"by": ["errors"]}):
        with pytest.raises(ValueError, match="a cube cannot use the name errors twice; rename a column"):
            ce.cube(taken, ["errors"], n_draws=None, **named)
    with pytest.raises(ValueError, match="a cube cannot use the name side twice"):
        ce.cube(RUNS.assign(side=1), ["errors"], by=["side"], n_draws=None)


@pytest.mark.usefixtures("sides")
def test_metrics_that_share_a_dimension_share_its_labels(declare):
    @declare(dims={"side": ("left", "right")})
    def other(pairs):
        return np.stack([pairs.counts.fp, pairs.counts.fn], axis=1)

    with pytest.raises(ValueError, match=r"'side' with different labels, \['extra', 'missing'\] and \['left"):
        ce.cube(RUNS, ["errors", "other"], by=["a"], n_draws=None)


def test_specs_are_what_netcdf_can_store():
    spec = metric_attrs(ce.tweak("adjacency_f1", zero_division=0.5))
    assert spec["options"] == "{}" and spec["direction"] == "maximize" and spec["valid_range"] == [0.0, 1.0]
    assert json.loads(metric_attrs(ce.tweak("shd", reversal_cost=2))["options"]) == {"reversal_cost": 2}
    odd = replace(ce.shd, direction=None, options=MappingProxyType({"by": np.arange(2)}))
    assert metric_attrs(odd)["direction"] == "none" and json.loads(metric_attrs(odd)["options"]) == {"by": "[0 1]"}


def test_each_metric_names_its_null_and_the_cube_where_they_agree():
    one = ce.cube(RUNS, ["shd", "adjacency_f1"], by=["a"], n_draws=3, rng=1, null=["edges", "permutation"])
    assert one.attrs["control_null"] == one["shd"].attrs["control_null"] == '["edges", "permutation"]'
    assert one["null"].to_numpy().tolist() == ["edges", "permutation"]
    assert one["shd_p"].dims == ("null", "a", "replicate")
