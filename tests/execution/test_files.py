"""Outputs are whole or not there, and interrupted ones are continued."""

import functools
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.execution.files import to_parquet, to_zarr

RUNS = ce.datasets.runs().iloc[:40].reset_index(drop=True)
KEY = ["algorithm", "density", "n", "replicate"]


@functools.cache
def made() -> xr.Dataset:
    """Return a cube."""
    strata = ["algorithm", {"n": [0, 200, 9999]}]
    return ce.cube(ce.datasets.runs(), ["shd", "adjacency_f1"], by=strata, n_draws=12, rng=7)


def read(number: int, flag: str) -> pd.DataFrame:
    """Return ten rows; with a file at `flag`, reading breaks once some part is written."""
    if Path(flag).exists() and list(Path(flag).parent.glob("out.partial/part-*.parquet")):
        raise OSError("the disk is gone")
    return RUNS.iloc[10 * number : 10 * number + 10]


def scored(flag: Path, rng: int = 7) -> dd.DataFrame:
    table = dd.from_map(read, range(4), flag=str(flag), meta=RUNS.iloc[:0])
    return table.assign(run=table["replicate"]).ceval.with_controls(["shd"], n_draws=20, rng=rng, key=KEY)


def test_an_interrupted_output_is_continued(tmp_path):
    flag, path = tmp_path / "broken", tmp_path / "out"
    flag.touch()
    with dask.config.set(scheduler="synchronous"), pytest.raises(OSError, match="the disk is gone"):
        scored(flag).ceval.to_parquet(path)
    assert not path.exists()
    written = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out.partial").glob("part-*.parquet")}
    assert written
    flag.unlink()
    with pytest.raises(FileExistsError, match="interrupted output; continue it by resume=True"):
        scored(flag).ceval.to_parquet(path)
    with pytest.raises(ValueError, match="another computation"):
        scored(flag, rng=8).ceval.to_parquet(path, resume=True)
    scored(flag).ceval.to_parquet(path, resume=True)
    assert {name: (path / name).stat().st_mtime_ns for name in written} == written
    found = dd.read_parquet(path).compute()
    pd.testing.assert_frame_equal(found, scored(flag).compute(), check_dtype=False, check_exact=True)
    assert not list(path.glob("*.writing"))


def test_a_whole_output_is_kept(tmp_path):
    path = tmp_path / "out"
    table = scored(tmp_path / "none")
    table.ceval.to_parquet(path)
    with pytest.raises(FileExistsError, match="out exists"):
        table.ceval.to_parquet(path)
    assert table.ceval.to_parquet(path, resume=True) == path
    with pytest.raises(ValueError, match="another computation"):
        scored(tmp_path / "none", rng=8).ceval.to_parquet(path, resume=True)


def read_bad(number: int, folder: str) -> pd.DataFrame:
    """Return ten rows, one of them bad once some part is written."""
    rows = read(number, "no flag").astype({"estimate": object})
    if list(Path(folder).glob("part-*.parquet")):
        rows.iloc[5, rows.columns.get_loc("estimate")] = b"no graph"
    return rows.astype(RUNS.dtypes[["estimate"]])


def test_bad_rows_are_named_and_nothing_looks_whole(tmp_path):
    path, partial = tmp_path / "out", tmp_path / "out.partial"
    bad = dd.from_map(read_bad, range(4), folder=str(partial), meta=RUNS.iloc[:0])
    with pytest.raises(ValueError, match=r"partition \d: .*'estimate', row 5 \(index \d?5\)"):
        bad.ceval.evaluate(["shd"]).ceval.to_parquet(path)
    assert not path.exists()
    assert list(partial.glob("part-*.parquet"))
    mended = dd.from_pandas(RUNS, npartitions=4).ceval.evaluate(["shd"])
    with pytest.raises(ValueError, match="belongs to another computation.*to start anew, remove it"):
        mended.ceval.to_parquet(path, resume=True)
    assert not path.exists()


def test_retries_need_a_cluster(tmp_path):
    with pytest.raises(ValueError, match="start a dask Client"):
        to_parquet(scored(tmp_path / "none"), tmp_path / "out", retries=1)
    assert not list(tmp_path.iterdir())


def test_an_address_is_no_folder(tmp_path):
    for write, what in ((to_parquet, scored(tmp_path / "none")), (to_zarr, made())):
        with pytest.raises(ValueError, match="'s3://bucket/out' is not on a file system"):
            write(what, "s3://bucket/out")


def test_scores_read_back_are_a_table_of_runs(tmp_path):
    path = dd.from_pandas(RUNS, npartitions=4).ceval.evaluate(["shd"]).ceval.to_parquet(tmp_path / "out")
    wanted = ce.evaluate(RUNS, ["shd"]).query("algorithm == 'ges'")
    assert 0 < len(wanted) < len(RUNS)
    lazy = dd.read_parquet(path, filters=[("algorithm", "==", "ges")])
    table = pd.read_parquet(path, filters=[("algorithm", "==", "ges")])
    for found in (lazy, table):
        assert {name: found.dtypes[name] for name in ("truth", "estimate")} == dict(RUNS.dtypes[["truth", "estimate"]])
    again = {"metrics": ["shd", "sid"], "invalid": "nan", "overwrite": True}
    wanted = ce.evaluate(wanted, **again)
    for found in (lazy.ceval.evaluate(**again).compute(), table.ceval.evaluate(**again)):
        found, rows = (x.reset_index(drop=True) for x in (found, wanted))
        pd.testing.assert_frame_equal(found, rows, check_exact=True, check_dtype=False)


@functools.cache
def table_of(verb):
    return verb(made())


@pytest.mark.slow
@pytest.mark.parametrize(
    "chunks", [None, {}, {"algorithm": 2, "replicate": 50}, {"n": 1, "draw": 5}, {"algorithm": 1}], ids=str
)
def test_cubes_come_back_from_zarr(chunks, tmp_path):
    cube = made() if chunks is None else made().chunk(chunks)
    path = to_zarr(cube, tmp_path / "cube.zarr")
    found = xr.open_zarr(path)
    xr.testing.assert_identical(found.load(), made())
    if chunks is not None:
        assert all(xr.open_zarr(path)[name].chunks == cube[name].chunks for name in cube.data_vars)
    for verb in (ce.summary, partial(ce.summary, columns="full")):
        rows = verb(xr.open_zarr(path))
        pd.testing.assert_frame_equal(rows, table_of(verb), rtol=1e-12, check_dtype=False)
    assert to_zarr(cube, path, resume=True) == path
    with pytest.raises(FileExistsError, match=r"cube\.zarr exists"):
        to_zarr(cube, path)
    with pytest.raises(ValueError, match="another computation"):
        to_zarr(made().isel(n=[0]), path, resume=True)
    assert not [p for p in tmp_path.rglob("*") if p.name.endswith((".partial", ".writing", "_pieces"))]


def test_a_cube_whose_labels_fail_leaves_no_folder_behind(tmp_path):
    """Without a plan it could be neither continued nor written anew."""

    def fail(block):
        raise ZeroDivisionError("made to fail")

    lazy = made().chunk()
    ids = lazy["truth_id"]
    broken = lazy.assign_coords(
        truth_id=ids.copy(data=ids.data.map_blocks(fail, meta=np.empty((0, 0, 0, 0), ids.dtype)))
    )
    with pytest.raises(ZeroDivisionError, match="made to fail"):
        to_zarr(broken, tmp_path / "cube.zarr")
    assert not list(tmp_path.iterdir())
    assert to_zarr(lazy, tmp_path / "cube.zarr", resume=True).is_dir()


@pytest.mark.slow
def test_a_cube_read_from_zarr_can_be_cut_and_written_again(tmp_path):
    path = to_zarr(made().chunk(algorithm=1), tmp_path / "cube.zarr")
    cut = xr.open_zarr(path).chunk(algorithm=3, replicate=40).isel(n=[1])
    again = xr.open_zarr(to_zarr(cut, tmp_path / "cut.zarr"))
    xr.testing.assert_identical(again.load(), made().isel(n=[1]))


def test_a_chunk_is_made_once_and_goes_to_disk_before_all_are_made(tmp_path):
    made: list[tuple[int, int]] = []

    def make(block_info):
        [(place, _)] = block_info[None]["array-location"][:1]
        made.append((place, len(list(tmp_path.glob("cube.zarr.partial/_pieces/*")))))
        return np.full((1, 3), float(place))

    level = da.map_blocks(make, chunks=((1,) * 8, (3,)), meta=np.empty((0, 0)))
    cube = xr.Dataset({"x": (("a", "b"), level), "y": (("a", "b"), level + 1), "n": (("a",), level.sum(axis=1))})
    with dask.config.set(scheduler="synchronous"):
        to_zarr(cube.assign_coords(a=list("stuvwxyz")), tmp_path / "cube.zarr")
    assert sorted(place for place, _ in made) == list(range(8))
    assert all(i - finished <= 2 for i, (_, finished) in enumerate(made))
    found = xr.open_zarr(tmp_path / "cube.zarr")
    assert found["n"].to_numpy().tolist() == [3.0 * i for i in range(8)]
    assert found["y"].sel(a="u").to_numpy().tolist() == [3.0, 3.0, 3.0]


@pytest.mark.slow
def test_variables_may_be_divided_in_their_own_ways(tmp_path):
    cube = made().chunk(algorithm=1)
    cube = cube.assign(shd=cube["shd"].chunk(algorithm=2, n=1), shd_p=cube["shd_p"].chunk(algorithm=3))
    found = xr.open_zarr(to_zarr(cube, tmp_path / "cube.zarr"))
    assert all(found[name].chunks == cube[name].chunks for name in cube.data_vars)
    xr.testing.assert_identical(found.load(), made())


def test_chunks_that_zarr_cannot_store_are_refused(tmp_path):
    path = tmp_path / "cube.zarr"
    with pytest.raises(ValueError, match="uniform chunk sizes"):
        to_zarr(made().chunk(replicate=(20, 60, 40)), path)
    assert not path.exists()


STUDY = f"KEY = {KEY}\n"
STUDY += """
import sys, time
from pathlib import Path
import dask, dask.array as da, dask.dataframe as dd, numpy as np, pandas as pd, xarray as xr
import causaleval_pd as ce, causaleval_pd.dask
from causaleval_pd.cubes.lazy import cube_chunks
from causaleval_pd.execution.files import to_zarr

here, runs = Path(sys.argv[2]), ce.datasets.runs().reset_index(drop=True)
(here / "runs").mkdir(exist_ok=True)
if not (here / "runs/runs.parquet").exists():
    runs.to_parquet(here / "runs/runs.parquet", row_group_size=90)

def hang_when_told(finished):
    if (here / "hang").exists() and list(here.glob(finished)):
        (here / "hanging").touch()
        time.sleep(600)

def note(array, name, block_info=None):
    if block_info:
        with (here / "made").open("a") as made:
            print(name, *block_info[0]["chunk-location"], file=made)
    return array

whole_part, whole_block = pd.DataFrame.to_parquet, xr.Dataset.to_zarr

def write_part(table, path, **settings):
    whole_part(table, path, **settings)
    if (here / "hang").exists() and list(here.glob("out.partial/part-*.parquet")):
        Path(path).write_bytes(Path(path).read_bytes()[:1000])
    hang_when_told("out.partial/part-*.parquet")

def write_block(block, path, **settings):
    found = whole_block(block, path, **settings)
    hang_when_told("out.partial/_pieces/*")
    return found

pd.DataFrame.to_parquet, xr.Dataset.to_zarr = write_part, write_block
resume = not (here / "hang").exists()
table = dd.read_parquet(here / "runs", split_row_groups=1)
table = table.assign(run=table["n"] + 1)
how = {"n_draws": 20, "rng": 7, "key": KEY}
cube_chunks.BLOCK_BYTES = 2**16
with dask.config.set(scheduler="synchronous"):
    if sys.argv[1] == "parquet":
        table.ceval.with_controls(["shd"], **how).ceval.to_parquet(here / "out", resume=resume)
    else:
        cube = table.ceval.cube(["shd"], by=["density", "algorithm"], **how)
        noted = {name: (x.dims, da.map_blocks(note, x.data, name, dtype=x.dtype), x.attrs) for name, x in cube.items()}
        to_zarr(cube.assign(noted), here / "out", resume=resume)
"""


@pytest.mark.parametrize("kind", ["parquet", "zarr"])
@pytest.mark.slow
def test_a_killed_writer_is_continued_by_another_process(kind, tmp_path):
    """The writer is killed with one piece complete and the next one half written, or written and not yet marked."""
    script = [sys.executable, "-c", STUDY, kind, str(tmp_path)]
    (tmp_path / "hang").touch()
    with subprocess.Popen(script) as writer:
        while not (tmp_path / "hanging").exists():
            assert writer.poll() is None
            time.sleep(0.02)
        os.kill(writer.pid, signal.SIGKILL)
    partial = tmp_path / "out.partial"
    complete = {p.name: p.stat().st_mtime_ns for p in partial.glob("part-*.parquet")}
    assert len(list(partial.glob("_pieces/*"))) == 1 and len(complete) == (kind == "parquet")
    assert bool(list(partial.glob("*.writing"))) == (kind == "parquet")
    assert not (tmp_path / "out").exists()
    (tmp_path / "hang").unlink()
    if kind == "zarr":
        (tmp_path / "made").rename(tmp_path / "made at first")
    subprocess.run(script, check=True)
    assert not partial.exists()
    runs = ce.datasets.runs().reset_index(drop=True)
    if kind == "parquet":
        assert not list((tmp_path / "out").glob("*.writing"))
        assert {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in complete} == complete
        wanted = runs.assign(run=runs["n"] + 1).ceval.with_controls(["shd"], n_draws=20, rng=7, key=KEY)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out"), wanted, check_exact=True, check_dtype=False)
        return
    wanted = runs.ceval.cube(["shd"], by=["density", "algorithm"], n_draws=20, rng=7, key=KEY)
    found = xr.open_zarr(tmp_path / "out")
    xr.testing.assert_equal(found.load(), wanted)
    at_first, then = ((tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("made at first", "made"))
    places = (
        (name, place) for name, x in xr.open_zarr(tmp_path / "out").items() for place in np.ndindex(x.data.numblocks)
    )
    chunks = {f"{name} {' '.join(map(str, place))}" for name, place in places}
    kept = chunks - set(then)
    assert kept and kept <= set(at_first)
    assert sorted(then) == sorted(chunks - kept)
    assert len({line.split()[1] for line in kept}) == 1


STOPPED = """
import os, signal, sys, threading, time
from pathlib import Path
import dask, dask.dataframe as dd
import networkx as nx, numpy as np, pandas as pd
import causaleval_pd as ce, causaleval_pd.dask

signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background of a shell ignore it
here = Path(sys.argv[1])
runs = ce.datasets.runs().iloc[:4]
path = nx.path_graph(200, create_using=nx.DiGraph)
column = ce.graph_column([nx.relabel_nodes(path, "v{:03}".format)] * 80)
large = pd.DataFrame({"truth": column.iloc[:40].array, "estimate": column.iloc[40:].array})
how = {"method": "simulate", "rng": 1}
ce.set_options(engine="serial")

def read(number):
    if number and (here / "long").exists():
        while not (here / "out.partial/_pieces/part-0.parquet").exists():
            time.sleep(0.02)
        if number == 1:
            threading.Timer(1, lambda: (print("now", flush=True), os.kill(os.getpid(), signal.SIGINT))).start()
        ce.with_controls(large, ["sid"], n_draws=100_000, **how)
    return runs

ce.with_controls(large.iloc[:1], ["sid"], n_draws=2, **how)
table = dd.from_map(read, range(4), meta=runs.iloc[:0])
# parts wait for the first one, so each has a thread, whatever the number of cores
with dask.config.set(scheduler="threads", num_workers=4):
    table.ceval.evaluate(["shd"]).ceval.to_parquet(here / "out", resume=len(sys.argv) > 2)
"""


@pytest.mark.slow
def test_an_interrupt_leaves_what_can_be_continued(tmp_path):
    """The work would take hours; the limit of time is generous."""
    (tmp_path / "long").touch()
    script = [sys.executable, "-c", STOPPED, str(tmp_path)]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "now\n"
            _, errors = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT, errors
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("*.writing"))
    (tmp_path / "long").unlink()
    subprocess.run([*script, "resume"], check=True)
    assert len(pd.read_parquet(tmp_path / "out")) == 16
