"""Make a study larger than memory, score it with controls and summarise it.

`python examples/scale.py` takes seconds; `--full` is 1,000,000 rows x 1,000 draws. `--workers 2` uses a dask cluster of
that many processes on this machine instead of threads. `--out DIR` writes the scored rows as partitioned
Parquet, and continues there where an earlier run was interrupted. The summary loads the draws of its cube, 800 bytes
per run; rows that are written take no more memory than the partitions at work.
"""

import argparse
import re
import resource
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd

import causaleval_pd as ce

try:
    import dask.dataframe as dd
    from dask.diagnostics import ProgressBar
    from distributed import Client, LocalCluster

    import causaleval_pd.dask
except ImportError:
    raise SystemExit("this example needs dask: pip install 'causaleval_pd[dask]'") from None

NODES = 20
EDGES = 40


def random_dags(rng, n):
    """Draw DAGs of 20 nodes with 40 edges on average, as matrices row -> column."""
    place = np.argsort(rng.random((n, NODES)), axis=1)
    linked = np.triu(rng.random((n, NODES, NODES)) < 2 * EDGES / (NODES * (NODES - 1)), 1)
    linked = linked | linked.transpose(0, 2, 1)
    return linked & (place[:, :, None] < place[:, None, :])


def study(number, rows):
    """Make the runs of one partition: the better algorithm keeps more of the truth."""
    rng = np.random.default_rng([11, number])
    algorithm = rng.integers(0, 2, rows)
    truth, guess = random_dags(rng, rows), random_dags(rng, rows)
    known = rng.random(rows) < np.where(algorithm == 0, 0.3, 0.6)
    estimate = np.where(known[:, None, None], truth, guess)
    return pd.DataFrame(
        {
            "run": number * rows + np.arange(rows),
            "algorithm": np.where(algorithm == 0, "guesses", "knows"),
            "truth": ce.graph_column(truth, encoding="row->column").array,
            "estimate": ce.graph_column(estimate, encoding="row->column").array,
        }
    )


def peak_mib():
    """Return the peak memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage reports the parent's peak where that was larger
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=4000)
    arguments.add_argument("--draws", type=int, default=100)
    arguments.add_argument("--partition-rows", type=int, default=1000)
    arguments.add_argument("--workers", type=int, default=0)
    arguments.add_argument("--full", action="store_true")
    arguments.add_argument("--out")
    given = arguments.parse_args()
    if given.full:
        given.rows, given.draws, given.partition_rows = 1_000_000, 1000, 10_000
    size = given.partition_rows
    table = dd.from_map(study, range(given.rows // size), rows=size, meta=study(0, 1).iloc[:0])

    cluster = (
        LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        if given.workers
        else None
    )
    with nullcontext() if cluster is None else cluster, nullcontext() if cluster is None else Client(cluster) as client:
        start = time.perf_counter()
        if given.out:
            scored = table.ceval.with_controls(["shd"], n_draws=given.draws, rng=7, key="run", method="simulate")
            with ce.set_options(progress=True):
                print("written to", scored.ceval.to_parquet(given.out, resume=True))
        else:
            with ProgressBar() if client is None else nullcontext():
                cube = table.ceval.cube(
                    ["shd"], by=["algorithm"], n_draws=given.draws, rng=7, key="run", method="simulate"
                )
                found = cube.ceval.summary()
            print(found.iloc[:, :9].round(3).to_string())
        spent = time.perf_counter() - start
        peaks = [peak_mib()] if client is None else list(client.run(peak_mib).values())
    print(f"{given.rows:,} rows x {given.draws:,} draws: {spent:.1f} s, {given.rows / spent:,.0f} rows per second")
    print("peak memory:", ", ".join(f"{peak:,.0f} MiB" for peak in peaks))


if __name__ == "__main__":
    main()
