"""Dask against threads, workers, memory and cubes: `python tests/benchmarks/bench_scale.py [--full]`.

Each line prints what was measured in this run; `--full` takes the sizes of a real study (some twenty minutes).
"""

from __future__ import annotations

import argparse
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import causaleval_pd as ce
import causaleval_pd.dask

SCALE = Path(__file__).parents[2] / "examples" / "scale.py"
study = runpy.run_path(str(SCALE))["study"]


def seconds(function: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def overhead(rows: int) -> None:
    """Controls of one table by the dask path and by the threads path, two threads each, in turn."""
    table = study(0, rows)
    how = {"n_draws": 1000, "rng": 7, "method": "simulate"}
    ce.with_controls(table.head(10), ["shd"], **how)
    lazy = dd.from_pandas(table, chunksize=5000).ceval.with_controls(["shd"], **how)
    threads, by_dask = [], []
    for _ in range(2):
        threads.append(seconds(lambda: ce.with_controls(table, ["shd"], engine="threads", n_jobs=2, **how)))
        with dask.config.set(scheduler="threads", num_workers=2):
            by_dask.append(seconds(lazy.compute))
    print(
        f"threads {min(threads):.1f} s, dask on threads {min(by_dask):.1f} s: {min(by_dask) / min(threads):.2f} times"
    )


def _summarise(rows: int, n_draws: int) -> pd.DataFrame:
    table = dd.from_map(lambda i: study(i, 2500), range(rows // 2500), meta=study(0, 1).iloc[:0])
    return table.ceval.summary(["shd"], by=["algorithm"], n_draws=n_draws, rng=7, key="run", method="simulate")


def workers(rows: int) -> None:
    """One worker process against two, warm, including the reduction."""
    spent = {}
    for n in (1, 2):
        with (
            LocalCluster(
                n_workers=n, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
            ) as cluster,
            Client(cluster),
        ):
            _summarise(5000, 10)
            spent[n] = seconds(lambda: _summarise(rows, 1000))
    print(f"one worker {spent[1]:.1f} s, two {spent[2]:.1f} s: {spent[1] / spent[2]:.2f} times as fast")


def memory(rows: int, n_draws: int) -> None:
    """Peak memory of a process of its own."""
    command = [sys.executable, str(SCALE), "--rows", str(rows), "--draws", str(n_draws), "--partition-rows", "1000"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    print(f"{rows:>9,} rows x {n_draws:>6,} draws:", "; ".join(run.stdout.splitlines()[-2:]))


def cubes(rows: int) -> None:
    """Twenty numbers a row into a cube of 10,000 strata by four keys, and their means, against pandas."""
    rng = np.random.default_rng(1)
    names = [f"m{i}" for i in range(20)]
    columns: dict[str, object] = {f"k{i}": rng.permuted(np.arange(rows) // 10**i % 10) for i in range(4)}
    columns |= {name: rng.random(rows) for name in names}
    cell = ce.graph_column(["A -> B; B -> C"]).repeat(rows).array
    table = pd.DataFrame(columns | {"truth": cell, "estimate": cell})
    keys = [f"k{i}" for i in range(4)]
    table["number"] = table.groupby(keys).cumcount()
    cube = seconds(
        lambda: ce.cube(table, ["shd"], by=keys, values=names, replicate="number", n_draws=None).mean("replicate")
    )
    peer = seconds(lambda: table.groupby(keys)[names].mean().to_xarray())
    print(f"cube of {rows:,} rows x 20, and means: {cube:.2f} s; pandas means alone: {peer:.2f} s")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    overhead(160_000 if full else 20_000)
    workers(120_000 if full else 20_000)
    for size in (10_000, 100_000, 1_000_000) if full else (10_000, 40_000):
        memory(size, 100)
    for number in (100, 1000, 10_000) if full else (100, 1000):
        memory(10_000, number)
    if full:
        memory(1_000_000, 1000)
    cubes(1_000_000)
