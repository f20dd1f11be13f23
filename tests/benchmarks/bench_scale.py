"""Dask against threads, workers, memory and cubes: `python tests/benchmarks/bench_scale.py [--full]`.

Each line prints what was measured in this run; `--full` takes the sizes of a real study (some twenty minutes).
"""

import argparse
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
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


def seconds(function: Callable[[], object], times: int = 1) -> float:
    """Return the shortest wall time of some calls."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


def overhead(rows: int) -> None:
    """Controls of one table by the dask path and by the threads path, two threads each, in turn."""
    table = study(0, rows)
    how = {"n_draws": 1000, "rng": 7, "method": "simulate"}
    ce.with_controls(table.head(10), ["shd"], **how)
    lazy = dd.from_pandas(table, chunksize=5000).ceval.with_controls(["shd"], **how)
    threads, by_dask = [], []
    for _ in range(3):
        with ce.set_options(engine="threads", n_jobs=2):
            threads.append(_spent(lambda: ce.with_controls(table, ["shd"], **how)))
        with dask.config.set(scheduler="threads", num_workers=2):
            by_dask.append(_spent(lazy.compute))
    for i, clock in enumerate(("wall", "CPU")):
        one, other = (min(times[i] for times in runs) for runs in (threads, by_dask))
        print(f"{clock} time: threads {one:.1f} s, dask on threads {other:.1f} s: {other / one:.2f} times")


def _spent(function: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


def _summarise(rows: int, n_draws: int) -> pd.DataFrame:
    table = dd.from_map(lambda i: study(i, 2500), range(rows // 2500), meta=study(0, 1).iloc[:0])
    cube = table.ceval.cube(["shd"], by=["algorithm"], n_draws=n_draws, rng=7, key="run")
    return cube.ceval.summary(columns="full")


def workers(rows: int) -> None:
    """One worker process against two, warm, including the reduction; CPU time tells it on a busy machine too."""
    wall, cpu = {}, {}
    for n in (1, 2):
        with (
            LocalCluster(
                n_workers=n, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
            ) as cluster,
            Client(cluster) as client,
        ):
            _summarise(5000, 10)
            before = client.run(time.process_time)
            wall[n] = seconds(lambda: _summarise(rows, 1000))
            after = client.run(time.process_time)
            cpu[n] = max(after[worker] - before[worker] for worker in before)
    print(f"one worker {wall[1]:.1f} s, two {wall[2]:.1f} s: {wall[1] / wall[2]:.2f} times as fast")
    print(f"CPU time of the busiest worker {cpu[1]:.1f} s and {cpu[2]:.1f} s: {cpu[1] / cpu[2]:.2f} times")


def memory(sizes: list[tuple[int, int]]) -> None:
    """Peak memory of processes of their own, against the first one's."""
    first = 0.0
    for rows, n_draws in sizes:
        command = [sys.executable, str(SCALE), "--rows", str(rows), "--draws", str(n_draws)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        speed, peak = run.stdout.splitlines()[-2:]
        mib = float(peak.split()[2].replace(",", ""))
        first = first or mib
        print(f"{speed}; peak {mib:.0f} MiB, {mib / first:.2f} times the first")


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
    words = table.assign(**{key: table[key].map("level {}".format) for key in keys})
    for label, runs in (("numbers", table), ("words", words)):
        made = partial(ce.cube, runs, [], by=keys, values=names, replicate="number", n_draws=None)
        # the same arrays: strata x replicates, not averaged
        peer = partial(_pandas_cube, runs, [*keys, "number"], names)
        means = partial(_pandas_cube, runs, keys, names)
        _versus(f"cube of {rows:,} rows x 20, keys are {label}", made, "pandas, the same arrays", peer)
        _versus("  cube and its means", lambda made=made: made().mean("replicate"), "pandas, means alone", means)


def _pandas_cube(table: pd.DataFrame, keys: list[str], names: list[str]) -> object:
    return table.groupby(keys)[names].mean().to_xarray()


def _versus(label: str, ours: Callable[[], object], other: str, peer: Callable[[], object]) -> None:
    """Print the shortest of several calls of each, in turn."""
    spent = [(seconds(ours), seconds(peer)) for _ in range(5)]
    mine, theirs = (min(x) for x in zip(*spent, strict=True))
    print(f"{label}: {mine:.2f} s; {other}: {theirs:.2f} s; {theirs / mine:.1f} times as fast")


def metrics(rows: int) -> None:
    """Twenty metrics of packed graphs into a cube, against the same metrics as columns and pandas."""
    names = ce.list_metrics(field="graph").query("not costly and direction.notna()").index[:20].tolist()
    table = pd.concat([study(i, 10_000) for i in range(rows // 10_000)], ignore_index=True)
    table["number"] = table.groupby("algorithm").cumcount()
    how = {"by": ["algorithm"], "replicate": "number", "n_draws": None}

    def peer() -> object:
        scored = ce.evaluate(table, names)
        return _pandas_cube(scored, ["algorithm", "number"], names)

    _versus(
        f"cube of {len(names)} metrics of {rows:,} graphs",
        lambda: ce.cube(table, names, **how),
        "evaluate and pandas",
        peer,
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--full", action="store_true")
    full = arguments.parse_args().full
    overhead(160_000 if full else 20_000)
    workers(120_000 if full else 20_000)
    memory([(size, 100) for size in ((10_000, 100_000, 1_000_000) if full else (10_000, 40_000))])
    memory([(10_000, number) for number in ((100, 1000, 10_000) if full else (100, 1000))])
    if full:
        memory([(1_000_000, 1000)])
    cubes(1_000_000)
    metrics(200_000 if full else 50_000)
