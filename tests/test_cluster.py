"""The same answers from two worker processes, one of which dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd import work_units
from causaleval_pd.engine import map_chunks

METRICS = ["shd", "adjacency_f1"]
RUNS = ce.datasets.runs().reset_index(drop=True).assign(run=lambda t: np.arange(len(t)))
HOW = {"n_draws": 300, "rng": 7, "key": "run", "method": "simulate"}
PANDAS = ce.with_controls(RUNS, METRICS, engine="serial", **HOW)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def same(found: pd.DataFrame) -> None:
    found = found.set_index("run", drop=False).sort_index().rename_axis(None)
    pd.testing.assert_frame_equal(found, PANDAS, check_exact=True, check_dtype=False)


def test_two_processes_give_the_bits_of_one(client):
    same(
        dd.from_pandas(RUNS.sample(frac=1, random_state=1), npartitions=5, sort=False)
        .ceval.with_controls(METRICS, **HOW)
        .compute()
    )


def test_chunks_go_to_the_current_cluster(client):
    found = set(map_chunks(lambda i: os.getpid(), range(8), engine="dask"))
    assert found and found <= set(client.run(os.getpid).values())


def test_a_pandas_table_has_the_same_answers_there(client, monkeypatch):
    monkeypatch.setattr(work_units, "UNIT_NANOSECONDS", 1e6)
    found = ce.with_controls(RUNS, METRICS, engine="dask", **HOW)
    pd.testing.assert_frame_equal(found, PANDAS, check_exact=True)
    scored = ce.evaluate(RUNS, ["shd", "sid"], invalid="nan", engine="dask")
    pd.testing.assert_frame_equal(scored, ce.evaluate(RUNS, ["shd", "sid"], invalid="nan"), check_exact=True)
    one, two = (ce.cube(RUNS, METRICS, by=["algorithm"], engine=e, **HOW) for e in ("serial", "dask"))
    assert one.identical(two)


def test_summary_on_a_cluster(client):
    table = dd.from_pandas(RUNS, npartitions=5)
    found = table.ceval.summary(METRICS, by=["algorithm", "density"], n_draws=100, rng=7).compute()
    wanted = ce.summary(ce.cube(RUNS, METRICS, by=["algorithm", "density"], n_draws=100, rng=7))
    assert (found["p_value"] == wanted["p_value"]).all()
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_killed_worker_does_not_change_the_output(client, tmp_path):
    RUNS.to_parquet(tmp_path / "runs.parquet", row_group_size=20)
    table = dd.read_parquet(tmp_path / "runs.parquet", split_row_groups=1)
    assert table.npartitions == 27
    scored = table.ceval.with_controls(METRICS, **HOW | {"n_draws": 20_000})
    done = threading.Thread(target=scored.ceval.to_parquet, args=(tmp_path / "scored",))
    pids = client.run(os.getpid)
    done.start()
    while not list((tmp_path / "scored.partial").glob("part-*.parquet")):
        assert done.is_alive()
        time.sleep(0.01)
    os.kill(next(iter(pids.values())), signal.SIGKILL)
    done.join()
    client.wait_for_workers(2)
    assert set(client.run(os.getpid).values()) != set(pids.values())
    found = dd.read_parquet(tmp_path / "scored").compute()
    wanted = ce.with_controls(RUNS, METRICS, **HOW | {"n_draws": 20_000})
    found = found.set_index("run", drop=False).sort_index().rename_axis(None)
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, check_dtype=False)
