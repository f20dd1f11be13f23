"""CPU time of the first call, in fresh processes with an empty cache: `python tests/benchmarks/bench_first_call.py`.

Each line is one process: it imports pandas and the package, reads graphs, evaluates, scores controls and builds a cube.
The first call compiles what it needs; the column "again" is the time of the same calls once more, in the same process.
Arguments are names of metrics (all of them if there is none); "default" stands for the default metrics, and
"null=permutation" for the default metrics with controls of that null model.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

STEPS = ("read", "evaluate", "with_controls", "cube")
KINDS = ("dag", "cpdag")


def measure(name: str, kind: str) -> None:
    """Print the CPU seconds of each step as JSON; run in a fresh process."""
    import time

    import numpy as np
    import pandas as pd
    import xarray  # noqa: F401

    began = time.process_time()
    import causaleval_pd as ce

    spent = {"import": time.process_time() - began}
    null = name.removeprefix("null=") if name.startswith("null=") else None
    metrics = None if name == "default" or null else [name]
    controls = {} if null is None else {"null": null}
    rng = np.random.default_rng(7)
    matrices = np.triu(rng.random((2, 24, 10, 10)) < 0.3, 1).astype(np.int8)

    def read() -> pd.DataFrame:
        truth, estimate = (ce.graph_column(block, encoding="row->column") for block in matrices)
        if kind == "cpdag":
            estimate = estimate.graph.cpdag()
        return pd.DataFrame({"truth": truth, "estimate": estimate, "group": np.arange(24) % 3})

    for round_ in ("first", "again"):
        start = time.process_time()
        table = read()
        steps = [time.process_time()]
        table.ceval.evaluate(metrics, invalid="nan")
        steps.append(time.process_time())
        scored = table.ceval.with_controls(metrics, rng=1, invalid="nan", **controls)
        steps.append(time.process_time())
        scored.ceval.cube(by=["group"], metrics=metrics, invalid="nan")
        steps.append(time.process_time())
        if round_ == "first":
            spent |= dict(zip(STEPS, np.diff([start, *steps]).tolist(), strict=True))
        spent[round_] = steps[-1] - start
    sys.stdout.write(json.dumps(spent))


def fresh(name: str, kind: str) -> dict[str, float]:
    """Measure in a process of its own whose cache is empty."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--measure", name, kind]
        done = subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": cache}, stdout=subprocess.PIPE, check=True)
    return {key: float(value) for key, value in json.loads(done.stdout).items()}


def main(names: list[str]) -> None:
    """Print a line a metric and kind of estimates."""
    columns = ("import", *STEPS, "first", "again")
    print(f"{'metric':<28}{'estimates':<11}" + "".join(f"{column:>14}" for column in columns), flush=True)
    for name in names:
        for kind in KINDS:
            spent = fresh(name, kind)
            print(f"{name:<28}{kind:<11}" + "".join(f"{spent[column]:>14.2f}" for column in columns), flush=True)


def every_metric() -> list[str]:
    """Return the defaults, and each metric and null model of rows of graphs."""
    import causaleval_pd as ce

    metrics = ce.list_metrics()
    nulls = ce.list_nulls("graph").query("not by_stratum").index.get_level_values("name")
    return ["default", *metrics.index[metrics["field"] == "graph"], *(f"null={name}" for name in nulls)]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:4])
    else:
        main(sys.argv[1:] or every_metric())
