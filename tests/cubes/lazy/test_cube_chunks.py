"""Chunks of lazy cubes: shares of partitions cut by blocks and merged into every cell once."""

from __future__ import annotations

import dask
import numpy as np
import pytest
import xarray as xr
from dask.delayed import delayed

from causaleval_pd.cubes.lazy.cube_chunks import chunked_variables
from causaleval_pd.cubes.lazy_tables import split

SIZES = {"a": 3, "b": 2, "replicate": 4}
RUNS = np.array([(s, r) for s in range(6) for r in range(4) if (s + r) % 5])
VALUES = np.arange(len(RUNS)) + 0.5


def template(**variables):
    attrs = {"metrics": '["m"]', "strata": '["a", "b"]'}
    return xr.Dataset({name: (dims, np.zeros([1] * len(dims))) for name, dims in variables.items()}, attrs=attrs)


def made(kind, partitions, like, grid, **lengths):
    variables = chunked_variables(list(map(delayed, partitions)), kind, like, SIZES | lengths, grid, "token")
    with dask.config.set(scheduler="synchronous"):
        return {name: (x, x.to_numpy()) for name, x in variables.items()}


def rows(chosen):
    stratum, replicate = RUNS[chosen].T
    return {"rows": ((stratum, replicate), {"m": VALUES[chosen]})}


@pytest.mark.parametrize("limit", [1, 40, 1e9])
@pytest.mark.parametrize("n_parts", [1, 4])
def test_every_run_is_placed_once_whatever_the_blocks(limit, n_parts):
    order = np.random.default_rng(1).permutation(len(RUNS))
    parts = [rows(part) for part in np.array_split(order, n_parts)]
    grid = split(SIZES, 8 * 24, limit)
    [(variable, found)] = made("rows", parts, template(m=("a", "b", "replicate")), grid).values()
    wanted = np.full((6, 4), np.nan)
    wanted[tuple(RUNS.T)] = VALUES
    np.testing.assert_array_equal(found, wanted.reshape(3, 2, 4))
    assert variable.data.npartitions == len(grid)


def test_two_runs_of_one_cell_are_refused():
    parts = [rows([0, 1]), rows([1, 2])]
    with pytest.raises(ValueError, match="1 places of the cube have several runs, of one stratum and one replicate"):
        made("rows", parts, template(m=("a", "b", "replicate")), split(SIZES, 1, 10))


def test_partitions_without_runs_leave_cells_at_their_fill():
    like = template(m=("a", "b", "replicate"), status=("a", "b", "replicate"))
    none = {"rows": ((np.empty(0, int),) * 2, {"m": np.empty(0), "status": np.empty(0)})}
    found = made("rows", [none, none], like, split(SIZES, 1, 10))
    assert np.isnan(found["m"][1]).all() and (found["status"][1] == 0).all()


STRATA = [
    (np.array([0, 5]), [[1.0, 2.0], [5.0, np.nan]], [[1.0, 2.0], [1.0, 0.0]], [[1.0, 2.0], [3.0, 4.0]]),
    (np.array([5]), [[0.0, 5.0]], [[4.0, 2.0]], [[10.0, 20.0]]),
]


@pytest.mark.parametrize("limit", [1, 1e9])
def test_sums_are_added_and_tables_of_values_joined(limit):
    names = ("m_control_value", "m_control_weight", "m_control_sum")
    parts = []
    for levels, *arrays in STRATA:
        parts.append({"strata": ((levels,), dict(zip(names, map(np.array, arrays), strict=True)))})
    like = template(**dict(zip(names, [("a", "b", "m_bin")] * 2 + [("a", "b", "draw")], strict=True)))
    grid = split({name: SIZES[name] for name in ("a", "b")}, 1000, limit)
    found = {name: x.reshape(6, -1) for name, (_, x) in made("strata", parts, like, grid, m_bin=4, draw=2).items()}
    np.testing.assert_array_equal(found["m_control_sum"][[0, 1, 5]], [[1, 2], [0, 0], [13, 24]])
    np.testing.assert_array_equal(found["m_control_value"][5], [0, 5, np.nan, np.nan])
    np.testing.assert_array_equal(found["m_control_weight"][5], [4, 3, 0, 0])
    np.testing.assert_array_equal(found["m_control_value"][0], [1, 2, np.nan, np.nan])
    assert np.isnan(found["m_control_value"][1:5]).all() and (found["m_control_weight"][1:5] == 0).all()
