"""Chunks of lazy cubes: shares of partitions cut by blocks and merged into every cell once."""

import dask
import numpy as np
import pytest
import xarray as xr
from dask.delayed import delayed

from causaleval_pd.cubes.lazy import cube_chunks
from causaleval_pd.cubes.lazy.cube_chunks import chunked_variables, split

SIZES = {"a": 3, "b": 2, "replicate": 4}
RUNS = np.array([(s, r) for s in range(6) for r in range(4) if (s + r) % 5])
VALUES = np.arange(len(RUNS)) + 0.5


def template(**variables):
    attrs = {"metrics": '["m"]', "strata": '["a", "b"]'}
    return xr.Dataset({name: (dims, np.zeros([1] * len(dims))) for name, dims in variables.items()}, attrs=attrs)


def made(partitions, like, grid, **lengths):
    variables = chunked_variables(list(map(delayed, partitions)), like, SIZES | lengths, grid, "token")
    with dask.config.set(scheduler="synchronous"):
        return {name: (x, x.to_numpy()) for name, x in variables.items()}


def rows(chosen):
    stratum, replicate = RUNS[chosen].T
    return {"places": (stratum, replicate), "values": {"m": VALUES[chosen]}}


@pytest.mark.parametrize("limit", [1, 40, 1e9])
@pytest.mark.parametrize("n_parts", [1, 4])
def test_every_run_is_placed_once_whatever_the_blocks(limit, n_parts, monkeypatch):
    monkeypatch.setattr(cube_chunks, "BLOCK_BYTES", limit)
    order = np.random.default_rng(1).permutation(len(RUNS))
    parts = [rows(part) for part in np.array_split(order, n_parts)]
    grid = split(SIZES, 8 * 24)
    [(variable, found)] = made(parts, template(m=("a", "b", "replicate")), grid).values()
    wanted = np.full((6, 4), np.nan)
    wanted[tuple(RUNS.T)] = VALUES
    np.testing.assert_array_equal(found, wanted.reshape(3, 2, 4))
    assert variable.data.npartitions == len(grid)


def test_two_runs_of_one_cell_are_refused():
    parts = [rows([0, 1]), rows([1, 2])]
    with pytest.raises(ValueError, match="1 places of the cube have several runs, of one stratum and one replicate"):
        made(parts, template(m=("a", "b", "replicate")), split(SIZES, 1))


def test_partitions_without_runs_leave_cells_at_their_fill():
    like = template(m=("a", "b", "replicate"), status=("a", "b", "replicate"))
    none = {"places": (np.empty(0, int),) * 2, "values": {"m": np.empty(0), "status": np.empty(0)}}
    found = made([none, none], like, split(SIZES, 1))
    assert np.isnan(found["m"][1]).all() and (found["status"][1] == 0).all()
