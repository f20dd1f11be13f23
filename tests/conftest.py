"""What tests share: figures are drawn without a display and closed afterwards; cubes are made from arrays.

`SLOW_SHARE=3/7 pytest -m slow` runs the third seventh of the slow tests: the same tests on any machine.
"""

import gc
import gzip
import json
import os
import pathlib
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

os.environ.setdefault("MPLBACKEND", "Agg")
# the same few examples in every run; `--hypothesis-profile=default` draws more of them, and others each time
settings.register_profile("ci", max_examples=40, derandomize=True, deadline=None)
settings.load_profile("ci")


#: data, graphs, sortabilities and weights of another program
CAUSALDISCO = pathlib.Path(__file__).parent / "known_answers" / "causaldisco.json.gz"
#: examples of docstrings that take seconds
SLOW_EXAMPLES = ("asking.inspect_task", "warm_up.warm_up")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow examples, and keep the share of the slow tests that `SLOW_SHARE` names."""
    for item in items:
        if item.name.endswith(SLOW_EXAMPLES):
            item.add_marker("slow")
    share, parts = map(int, os.environ.get("SLOW_SHARE", "1/1").split("/"))
    left_out = [x for x in items if x.get_closest_marker("slow") and zlib.crc32(x.nodeid.encode()) % parts + 1 != share]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [x for x in items if x not in set(left_out)]


class FromBothEnds(LoadFileScheduling):
    """Gives files of tests to the first worker from the first on, and to others from the last on.

    Neighbouring files need the same kernels: one worker compiles them, and the other reads them from the cache.
    """

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node is not self.nodes[0]:
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FromBothEnds | None:
    """Replace the scheduler that the option `--dist loadfile` names."""
    return FromBothEnds(config, log) if config.option.dist == "loadfile" else None


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close what a test drew: matplotlib warns about many open figures, and warnings are errors here."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _count_lines(function: Callable[..., object], *args: object) -> int:
    """Count the lines of Python that a call executes, also if it refuses what it reads."""
    n, before = 0, sys.gettrace()
    gc.disable()  # collections run lines of others

    def trace(frame: FrameType, event: str, arg: object) -> object:
        nonlocal n
        n += event == "line"
        return trace

    sys.settrace(trace)
    try:
        with suppress(ValueError, TypeError):
            function(*args)
    finally:
        sys.settrace(before)
        gc.enable()
    return n


@pytest.fixture(scope="session")
def count_lines() -> Callable[..., int]:
    """Count lines that a call executes: a measure of its work that no machine changes."""
    return _count_lines


@pytest.fixture
def declare() -> Iterator[Callable[..., Callable[[Callable[..., object]], object]]]:
    """Declare metrics that are forgotten after the test; unless a word says otherwise, errors of DAGs up to 9."""
    from causaleval_pd.contract.metric import METRICS, metric

    usual = {"field": "graph", "kinds": ("dag",), "direction": "minimize", "range": (0, 9), "optimum": 0}
    known = set(METRICS)
    yield lambda **spec: metric(**usual | {"long_name": "declared"} | spec)
    for name in set(METRICS) - known:
        del METRICS[name]


NO_RUN, SCORED, FAILED = 0, 1, 2
SPECS = {
    "minimize": {"direction": "minimize", "valid_range": [0.0, np.inf], "optimum": 0.0},
    "maximize": {"direction": "maximize", "valid_range": [0.0, 1.0], "optimum": 1.0},
    "zero": {"direction": "zero", "valid_range": [-np.inf, np.inf], "optimum": 2.0},
    "none": {"direction": "none", "valid_range": [0.0, 1.0], "optimum": np.nan},
}


def _make_cube(strata, metrics, *, status=None, truth=None):
    """Build a cube; `metrics` maps a name to (values, direction) or (values, direction, draws)."""
    shape = next(iter(metrics.values()))[0].shape
    dims = [*strata, "replicate"]
    status = np.full(shape, SCORED, np.int8) if status is None else np.asarray(status, np.int8)
    truth = np.broadcast_to(np.arange(1, shape[-1] + 1), shape) if truth is None else np.asarray(truth)
    variables = {"status": (dims, status)}
    coordinates = {"truth_id": (dims, np.where(status == NO_RUN, 0, truth))}
    n_draws = 0
    for name, (values, direction, *draws) in metrics.items():
        spec = SPECS[direction]
        values = np.where(status == SCORED, values, np.nan)
        variables[name] = (dims, values, {"long_name": name, "role": "metric", **spec})
        if not draws:
            continue
        control = np.where((status == SCORED)[..., None], draws[0], np.nan)
        n_draws = control.shape[-1]
        variables[f"{name}_control"] = ([*dims, "draw"], control)
        undefined = np.isnan(control).all(axis=-1)
        defined = (~np.isnan(control)).sum(axis=-1)
        for part, found in {
            "control_mean": np.where(undefined, np.nan, np.nansum(control, axis=-1) / np.maximum(defined, 1)),
            "control_loss": np.where(
                undefined, np.nan, np.nansum(np.abs(control - spec["optimum"]), axis=-1) / np.maximum(defined, 1)
            ),
        }.items():
            variables[f"{name}_{part}"] = (dims, found)
    attrs = {"strata": json.dumps(list(strata)), "metrics": json.dumps(list(metrics)), "n_draws": n_draws}
    attrs |= {"zero_division": np.nan, "control_cluster": "truth"}
    if n_draws:
        attrs |= {"control_null": "edges", "control_kind": "dag", "control_seed": 1}
        same = {"control_seed": 1, "control_draws": n_draws, "control_null": "edges"}
        coordinates |= {
            name: (dims, np.full(shape, x, object if x == "edges" else np.int64)) for name, x in same.items()
        }
    return xr.Dataset(variables, {**strata, "replicate": np.arange(shape[-1]), **coordinates}, attrs)


@pytest.fixture(scope="session")
def make_cube():
    """Build a cube from arrays."""
    return _make_cube


@pytest.fixture
def ragged():
    """Two metrics over 3 algorithms x 2 densities x 12 replicates, with absent, failed and undefined runs."""
    rng = np.random.default_rng(7)
    shape = (3, 2, 12)
    strata = {"algorithm": np.array(["ges", "lingam", "pc"]), "density": np.array([0.2, 0.5])}
    status = rng.choice([NO_RUN, SCORED, FAILED], shape, p=[0.1, 0.75, 0.15])
    shd = rng.integers(0, 12, shape).astype(float)
    f1 = rng.integers(0, 9, shape) / 8
    f1[rng.random(shape) < 0.1] = np.nan
    metrics = {
        "shd": (shd, "minimize", rng.integers(2, 15, (*shape, 40)).astype(float)),
        "f1": (f1, "maximize", np.where(rng.random((*shape, 40)) < 0.05, np.nan, rng.integers(0, 7, (*shape, 40)) / 8)),
    }
    return _make_cube(strata, metrics, status=status)


@pytest.fixture(scope="session")
def causaldisco():
    """Data, graphs, sortabilities and sort-and-regress weights of CausalDisco, by data set."""
    found = json.loads(gzip.decompress(CAUSALDISCO.read_bytes()))
    for one in found.values():
        one["data"] = pd.DataFrame(one["data"], columns=one["columns"])
    return found


@pytest.fixture
def studies(causaldisco):
    """Two algorithms on three data sets, one of which failed once, with settings."""
    rows, frames = [], {}
    for name, one in list(causaldisco.items())[:3]:
        frames[name] = one["data"]
        nodes = "; ".join(one["columns"])
        truth = "; ".join(f"{a} -> {b}" for a, b in one["graphs"]["truth"]["arcs"])
        wrong = "; ".join(f"{a} -> {b}" for a, b in one["graphs"]["random"]["arcs"])
        for algorithm, estimate in (("exact", truth), ("guess", wrong)):
            rows.append(
                {"algorithm": algorithm, "dataset": name, "n": 300, "seconds": len(rows) / 2, "converged": True}
                | {"truth": f"{truth}; {nodes}", "estimate": f"{estimate}; {nodes}"}
            )
    runs = pd.DataFrame(rows)
    runs.loc[3, "estimate"] = None
    return runs, {"data": ("dataset", frames)}
