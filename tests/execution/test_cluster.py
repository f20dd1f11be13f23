"""The same answers from two worker processes, from one, and from none; a worker dies, a task fails."""

import functools
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from distributed import Client, LocalCluster
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.cubes.lazy import cube_chunks
from causaleval_pd.execution import engines
from causaleval_pd.execution.engines import map_chunks
from causaleval_pd.execution.files import to_parquet, to_zarr
from causaleval_pd.tables import simulate as streaming

from ..cubes.lazy.test_lazy_cube import BY, partitioned
from ..cubes.lazy.test_lazy_cube import METRICS as MIXED

pytestmark = pytest.mark.slow

METRICS = ["shd", "adjacency_f1"]
RUNS = ce.datasets.runs().query("n == 100").reset_index(drop=True).assign(run=lambda t: np.arange(len(t)))
HOW = {"n_draws": 300, "rng": 7, "key": "run", "method": "simulate"}


@functools.cache
def expected() -> pd.DataFrame:
    with ce.set_options(engine="serial"):
        return ce.with_controls(RUNS, METRICS, **HOW)


def started(n_workers: int, as_default: bool) -> Iterator[Client]:
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, **local)
    with cluster, Client(cluster, set_as_default=as_default) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    yield from started(2, as_default=True)


@pytest.fixture(scope="module")
def clients(client) -> Iterator[dict[int, Client]]:
    """Clients of clusters of one worker and of two."""
    for one in started(1, as_default=False):
        yield {1: one, 2: client}


def same(found: pd.DataFrame) -> None:
    found = found.set_index("run", drop=False).sort_index().rename_axis(None)
    pd.testing.assert_frame_equal(found, expected(), check_exact=True, check_dtype=False)


def test_two_processes_give_the_bits_of_one(client):
    table = dd.from_pandas(RUNS.sample(frac=1, random_state=1), npartitions=5, sort=False)
    same(table.ceval.with_controls(METRICS, **HOW).compute())


FEW = RUNS.query("replicate < 4").reset_index(drop=True).assign(run=lambda t: np.arange(len(t)) * 3)
FEW.loc[[4, 17], "estimate"] = None


class Way(NamedTuple):
    """A way to compute: seed, order of rows, cuts of partitions, workers or threads, sizes of blocks and units."""

    rng: int
    order: list[int]
    cuts: list[int]
    n_workers: int
    chunk: int
    unit: float


WAYS = st.builds(
    Way,
    st.sampled_from([7, 8]),
    st.permutations(range(len(FEW))),
    st.lists(st.integers(0, len(FEW)), max_size=5),
    st.sampled_from([1, 2]),
    st.sampled_from([2**10, 2**13, 2**26]),
    st.sampled_from([1e5, 1e7, 4e8]),
)
few_examples = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@functools.cache
def wanted_rows(rng: int) -> pd.DataFrame:
    with ce.set_options(engine="serial"):
        return ce.with_controls(FEW, MIXED, n_draws=40, rng=rng, key="run")


@functools.cache
def wanted_cube(rng: int) -> xr.Dataset:
    with ce.set_options(engine="serial"):
        return ce.cube(FEW, MIXED, by=BY, n_draws=40, rng=rng, key="run")


@pytest.mark.parametrize("engine", ["serial", "threads", "dask", "partitions"])
@few_examples
@given(way=WAYS)
def test_rows_and_means_are_the_same_computed_in_any_way(engine, clients, way):
    shuffled = FEW.iloc[way.order]
    how = {"n_draws": 40, "rng": way.rng, "key": "run"}
    where = clients[way.n_workers].as_current() if engine in ("dask", "partitions") else nullcontext()
    with pytest.MonkeyPatch.context() as patched, where:
        patched.setattr(streaming, "CHUNK_BYTES", way.chunk)
        patched.setattr(engines, "UNIT_NANOSECONDS", way.unit)
        if engine == "partitions":
            table = partitioned(FEW, way.order, way.cuts)
            rows = table.ceval.with_controls(MIXED, **how).compute()
            cube = table.ceval.cube(MIXED, by=BY, **how).compute()
        else:
            with ce.set_options(engine=engine, n_jobs=way.n_workers if engine == "threads" else None):
                rows = ce.with_controls(shuffled, MIXED, **how)
                cube = ce.cube(shuffled, MIXED, by=BY, **how)
        means = ce.summary(cube, columns="full")
    pd.testing.assert_frame_equal(rows.sort_index(), wanted_rows(way.rng), check_exact=True, check_dtype=False)
    by_row = [name for name, x in wanted_cube(way.rng).items() if "replicate" in x.dims]
    xr.testing.assert_equal(cube[by_row], wanted_cube(way.rng)[by_row])
    wanted = ce.summary(wanted_cube(way.rng), columns="full")
    assert (means["p_value"] == wanted["p_value"]).all()
    pd.testing.assert_frame_equal(means, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_chunks_and_partitions_go_to_the_current_cluster(n_workers, clients):
    with clients[n_workers].as_current(), ce.set_options(engine="dask"):
        pids = set(clients[n_workers].run(os.getpid).values())
        chunks = set(map_chunks(lambda i: os.getpid(), range(8)))
        partitions = dd.from_map(lambda i: pd.Series([os.getpid()]), range(8), meta=pd.Series([0])).compute()
    assert len(pids) == n_workers
    assert chunks and chunks <= pids
    assert set(partitions) <= pids


def test_a_pandas_table_has_the_same_answers_there(client, monkeypatch):
    monkeypatch.setattr(engines, "UNIT_NANOSECONDS", 1e6)
    with ce.set_options(engine="dask"):
        found = ce.with_controls(RUNS, METRICS, **HOW)
        scored = ce.evaluate(RUNS, ["shd", "sid"], invalid="nan")
    pd.testing.assert_frame_equal(found, expected(), check_exact=True)
    pd.testing.assert_frame_equal(scored, ce.evaluate(RUNS, ["shd", "sid"], invalid="nan"), check_exact=True)
    with ce.set_options(engine="serial"):
        how = {"by": ["algorithm"], "n_draws": 300, "rng": 7, "key": "run"}
        one = ce.cube(RUNS, METRICS, **how)
    with ce.set_options(engine="dask"):
        assert one.identical(ce.cube(RUNS, METRICS, **how))


def test_summary_on_a_cluster(client):
    table = dd.from_pandas(RUNS, npartitions=5)
    found = table.ceval.cube(METRICS, by=["algorithm", "density"], n_draws=100, rng=7).ceval.summary(columns="full")
    cube = ce.cube(RUNS, METRICS, by=["algorithm", "density"], n_draws=100, rng=7)
    wanted = ce.summary(cube, columns="full")
    assert (found["p_value"] == wanted["p_value"]).all()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12)


def failing_once(folder, name: str):
    """Return a function that raises OSError when it is first called for number 2, then gives rows."""

    def read(number: int) -> pd.DataFrame:
        if number == 2 and not (folder / name).exists():
            (folder / name).touch()
            raise OSError("the disk was away")
        return RUNS.iloc[45 * number : 45 * number + 45]

    return read


def test_a_failed_task_is_tried_again(client, tmp_path):
    table = dd.from_map(failing_once(tmp_path, "failed"), range(4), meta=RUNS.iloc[:0])
    scored = table.ceval.with_controls(METRICS, **HOW)
    with pytest.raises(OSError, match="the disk was away"):
        scored.ceval.to_parquet(tmp_path / "scored")
    assert not (tmp_path / "scored").exists()
    (tmp_path / "failed").unlink()
    path = to_parquet(scored, tmp_path / "scored", resume=True, retries=1)
    same(dd.read_parquet(path).compute())


def kill_a_worker_when(client: Client, write, begun) -> None:
    """Run `write` in a thread, and kill a worker once `begun()` is true."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            write()
        except Exception as error:
            failures.append(error)

    writer = threading.Thread(target=run)
    pids = client.run(os.getpid)
    writer.start()
    while not begun():
        assert writer.is_alive(), failures
        time.sleep(0.01)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    writer.join(120)
    assert not writer.is_alive() and not failures
    client.wait_for_workers(2, timeout=300)
    assert set(client.run(os.getpid).values()) != set(pids.values())


def test_a_killed_worker_does_not_change_the_output(client, tmp_path):
    RUNS.to_parquet(tmp_path / "runs.parquet", row_group_size=20)
    table = dd.read_parquet(tmp_path / "runs.parquet", split_row_groups=1)
    assert table.npartitions == 9
    scored = table.ceval.with_controls(METRICS, **HOW | {"n_draws": 20_000})
    parts = tmp_path / "scored.partial"
    path = tmp_path / "scored"
    kill_a_worker_when(client, lambda: to_parquet(scored, path), lambda: list(parts.glob("part-*.parquet")))
    found = dd.read_parquet(tmp_path / "scored").compute()
    wanted = ce.with_controls(RUNS, METRICS, **HOW | {"n_draws": 20_000})
    found = found.set_index("run", drop=False).sort_index().rename_axis(None)
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, check_dtype=False)


def test_a_killed_worker_does_not_change_a_cube(client, tmp_path, monkeypatch):
    monkeypatch.setattr(cube_chunks, "BLOCK_BYTES", 2**14)
    how = {"by": ["density", "algorithm"], "key": "run", "n_draws": 50, "rng": 7}
    cube = dd.from_pandas(RUNS, npartitions=9).ceval.cube(["shd"], **how)
    marks = tmp_path / "cube.zarr.partial" / "_pieces"
    kill_a_worker_when(client, lambda: to_zarr(cube, tmp_path / "cube.zarr"), lambda: list(marks.glob("*")))
    wanted = ce.cube(RUNS, ["shd"], **how)
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "cube.zarr").load(), wanted)
