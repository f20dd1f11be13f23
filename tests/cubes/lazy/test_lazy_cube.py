"""Cubes of dask tables: those of the same runs in memory, whatever the partitions and blocks."""

import itertools
import math
from functools import partial

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from dask.base import tokenize

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.cubes.lazy import cube_chunks, lazy_cube

pytestmark = pytest.mark.slow

METRICS = ["shd", "adjacency_f1", "orientation_precision"]
RUNS = (
    ce.datasets.runs()
    .query("n == 100 and replicate < 6")
    .reset_index(drop=True)
    .assign(run=lambda t: np.arange(len(t)) * 3)
)
RUNS.loc[[4, 17], "estimate"] = None
BY = ["algorithm", {"true_density": [0, 0.3, 1]}]


def partitioned(table: pd.DataFrame, order: list[int], cuts: list[int]) -> dd.DataFrame:
    """Shuffle a table and cut it anywhere; some partitions are empty."""
    rows = table.iloc[order]
    edges = [0, *sorted(cuts), len(rows)]
    parts = [rows.iloc[a:b] for a, b in itertools.pairwise(edges)]
    return dd.from_map(lambda i: parts[i], range(len(parts)), meta=rows.iloc[:0])


CUBES = {
    "usual": {},
    "numbers given": {"replicate": "number"},
    "several nulls": {"null": ["edges", "degree"], "by": ["n_nodes", "algorithm"]},
    "no controls": {"n_draws": None, "values": ["run"]},
    "one stratum": {"by": []},
}
#: each kind of cube is cut into blocks; whole ones of few kinds are enough
PAIRS = [
    pytest.param(how, size == "whole", id=f"{name}-{size}")
    for name, how in CUBES.items()
    for size in ("cut", "whole")
    if size == "cut" or name == "usual"
]


@pytest.mark.parametrize(("settings", "whole"), PAIRS)
def test_cubes_are_lazy_and_agree(settings, whole, tmp_path, monkeypatch):
    runs = RUNS.assign(number=RUNS.groupby(["algorithm", "density"]).cumcount())
    runs.loc[[3, 30], "n_nodes"] = [7, 8]
    runs.loc[[3, 30], "estimate"] = None
    by = ["n_nodes", "algorithm", {"density": [0, 0.3, 0.5, 1]}]
    how = {"by": by, "n_draws": 30, "rng": 7, "key": "run"} | settings
    limit = 2**26 if whole else 20_000
    monkeypatch.setattr(cube_chunks, "BLOCK_BYTES", limit)
    wanted = ce.cube(runs, METRICS, **how)
    lazy = partitioned(runs, list(range(len(runs)))[::-1], [5, 20, 40]).ceval.cube(METRICS, **how)
    assert all(variable.chunks is not None for variable in lazy.data_vars.values())
    chunks = [math.prod(chunk) for chunk in itertools.product(*lazy["shd"].chunks)]
    assert (len(chunks) > 1) == (lazy.nbytes > limit)
    assert lazy.chunksizes.keys() == lazy.sizes.keys()
    lazy.to_zarr(tmp_path / "cube.zarr", consolidated=False)
    found = lazy.compute()
    xr.testing.assert_equal(found, wanted)
    assert found.attrs | {"control_kind": ""} == wanted.attrs | {"control_kind": ""}
    back = xr.open_zarr(tmp_path / "cube.zarr", consolidated=False)
    for verb in (ce.summary, partial(ce.summary, columns="full")):
        for cube in (lazy, back):
            pd.testing.assert_frame_equal(verb(cube), verb(wanted), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("verb", ["summary", "compare"])
def test_rows_are_scored_once(verb, monkeypatch):
    scored = []

    def cube_of(part: pd.DataFrame, *arguments: object, **settings: object) -> xr.Dataset:
        scored.append(len(part))
        return ce.cube(part, *arguments, **settings)

    monkeypatch.setattr(lazy_cube, "cube_of", cube_of)
    monkeypatch.setattr(cube_chunks, "BLOCK_BYTES", 100_000)
    lazy = dd.from_pandas(RUNS, npartitions=3).ceval.cube(METRICS, by=["algorithm", "density"], n_draws=50, rng=7)
    getattr(ce, verb)(lazy, *(["algorithm"] if verb == "compare" else []))
    # templates of the cube have no rows
    assert sum(scored) == len(RUNS) and scored.count(0) <= 4


def test_the_same_cube_has_the_same_names():
    """So that an interrupted output can be continued."""

    def named(rng: int) -> tuple[str, list[object]]:
        cube = dd.from_pandas(RUNS, npartitions=3).ceval.cube(["shd"], by=BY, rng=rng)
        return tokenize(cube), cube.__dask_keys__()

    assert named(7) == named(7)
    assert named(7) != named(8)


def test_runs_of_one_place_are_refused():
    lazy = partitioned(RUNS, list(range(len(RUNS))), [20]).ceval.cube(
        ["shd"], by=["algorithm"], replicate="replicate", n_draws=None
    )
    with pytest.raises(ValueError, match="have several runs, of one stratum and one replicate; name a column"):
        lazy.compute()
    twice = partitioned(RUNS.assign(run=RUNS["run"] // 6), list(range(len(RUNS))), [20])
    with pytest.raises(ValueError, match=r"columns \['run'\] repeat: rows \[0, 1\] share the key 0, and 26 more"):
        twice.ceval.cube(["shd"], by=["algorithm"], key="run")


@pytest.mark.parametrize("missing", [[], [5]])
@pytest.mark.parametrize("stratum", ["flag", "day"])
def test_truth_values_and_dates_are_labels_of_all_partitions(stratum, missing):
    """A label is missing in one partition only."""
    flag = pd.Series(RUNS["replicate"] % 2 == 0, dtype="boolean")
    day = pd.Series(np.where(flag, pd.Timestamp("2020-01-01"), pd.Timestamp("2021-06-01")))
    runs = RUNS.assign(flag=flag, day=day).drop(columns="replicate")
    runs.loc[missing, ["flag", "day"]] = None
    how = {"by": [stratum], "n_draws": 20, "rng": 7, "key": "run"}
    whole = ce.cube(runs, ["shd"], **how)
    table = partitioned(runs, list(range(len(runs))), [20, 40])
    found = ce.dask.cube(table, ["shd"], **how)
    assert found[stratum].to_numpy().tolist() == whole[stratum].to_numpy().tolist()
    assert found[stratum].dtype == whole[stratum].dtype
    xr.testing.assert_equal(found["shd"].compute(), whole["shd"])
    summary = found.ceval.summary(columns="full")
    counts = ["n_runs", "n_clusters", "p_value"]
    pd.testing.assert_frame_equal(summary[[stratum, *counts]], whole.ceval.summary(columns="full")[[stratum, *counts]])
