"""Outputs on disk trust contents, not names; they have one writer, no links, and lose nothing that is not theirs."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pytest
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.execution.files import to_parquet, to_zarr

RUNS = ce.datasets.runs().iloc[:40].reset_index(drop=True)


@functools.cache
def scored_table() -> dd.DataFrame:
    return dd.from_pandas(RUNS, npartitions=4).ceval.evaluate(["shd"])


@functools.cache
def made_cube() -> xr.Dataset:
    return ce.cube(ce.datasets.runs(), ["shd"], by=["algorithm"], n_draws=5, rng=1)


class Output:
    """A writer, what it writes, and the files of two of its pieces."""

    def __init__(self, write: Callable[..., Path], what: Any, pieces: tuple[str, str], path: Path) -> None:
        self.write, self.what, self.pieces, self.path = write, what, pieces, path
        self.partial = path.with_name(path.name + ".partial")

    def make(self, **how: Any) -> Path:
        return self.write(self.what, self.path, **how)

    def is_right(self) -> bool:
        if self.write is to_zarr:
            return bool(xr.open_zarr(self.path).load().identical(made_cube()))
        found, wanted = dd.read_parquet(self.path).compute(), scored_table().compute()
        return bool((found["shd"] == wanted["shd"]).all() and (found["estimate"] == wanted["estimate"]).all())

    def interrupt(self) -> None:
        """Make the folder of a writer that was killed before it gave the folder its name."""
        self.make().rename(self.partial)


@pytest.fixture(params=["parquet", "zarr"])
def output(request, tmp_path) -> Output:
    if request.param == "parquet":
        return Output(to_parquet, scored_table(), ("part-0.parquet", "part-1.parquet"), tmp_path / "out")
    return Output(to_zarr, made_cube().chunk(algorithm=1), ("shd/0.0", "shd/1.0"), tmp_path / "out")


def swap(folder: Path, left: str, right: str) -> None:
    (folder / left).rename(folder / "kept")
    (folder / right).rename(folder / left)
    (folder / "kept").rename(folder / right)


def spoil(folder: Path, pieces: tuple[str, str], how: str) -> None:
    first, second = pieces
    whole = (folder / first).read_bytes()
    if how == "garbage":
        (folder / first).write_bytes(b"\x00garbage" * 10)
    elif how == "a bit":
        (folder / first).write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    elif how == "cut":
        (folder / first).write_bytes(whole[: len(whole) // 2])
    elif how == "gone":
        (folder / first).unlink()
    else:
        swap(folder, first, second)


HOW = ["garbage", "a bit", "cut", "gone", "swapped"]


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
def test_spoiled_pieces_are_made_again(output, how):
    output.interrupt()
    with pytest.raises(FileExistsError, match="interrupted output; continue it by resume=True"):
        output.make()
    spoil(output.partial, output.pieces, how)
    output.make(resume=True)
    assert output.is_right() and not output.partial.exists()
    output.make(resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
def test_spoiled_pieces_of_a_finished_output_are_named(output, how):
    output.make()
    spoil(output.path, output.pieces, how)
    with pytest.raises(ValueError, match=f"out is damaged: '{output.pieces[0]}' is not as it was written"):
        output.make(resume=True)


@pytest.mark.slow
def test_spoiled_labels_are_written_again(tmp_path):
    output = Output(to_zarr, made_cube().chunk(algorithm=1), ("", ""), tmp_path / "out")
    output.interrupt()
    (output.partial / ".zmetadata").write_text("{}")
    (output.partial / "algorithm" / "0").write_bytes(b"nonsense")
    output.make(resume=True)
    assert output.is_right()


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [
        *("{", "[" * 100_000),
        *(pytest.param(x, marks=pytest.mark.slow) for x in ("", "[1]", "7", "null", '{"checksums": 3}', "\ud800")),
    ],
)
def test_a_spoiled_plan_is_refused(output, plan):
    output.interrupt()
    (output.partial / "_plan.json").write_bytes(plan.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match="out.partial.* (is damaged|belongs to another computation).*remove it"):
        output.make(resume=True)
    assert (output.partial / output.pieces[0]).exists()
    output.partial.rename(output.path)
    with pytest.raises(ValueError, match="out.* (is damaged|belongs to another computation).*remove it"):
        output.make(resume=True)


@pytest.mark.slow
def test_spoiled_records_are_not_trusted(output):
    output.interrupt()
    records = output.partial / "_pieces"
    records.mkdir()
    for name in ("part-0.parquet", "part-1.parquet", "0", "1", "layout"):
        (records / f"{name}.json").write_text('{"part-0.parquet": "0", "shd/0.0": null, ".zattrs": 4}')
    output.make(resume=True)
    assert output.is_right()


@pytest.mark.slow
def test_links_are_refused_and_not_followed(output, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for link in (output.path, output.partial):
        link.symlink_to(elsewhere)
        for resume in (True, False):
            with pytest.raises(ValueError, match=f"{link.name} is a symbolic link"):
                output.make(resume=resume)
        link.unlink()
        link.symlink_to(tmp_path / "nowhere")
        with pytest.raises(ValueError, match=f"{link.name} is a symbolic link"):
            output.make()
        link.unlink()
    output.interrupt()
    piece = output.partial / output.pieces[0]
    kept = shutil.move(piece, elsewhere / "piece")
    piece.symlink_to(kept)
    before = kept.read_bytes()
    with pytest.raises(ValueError, match=f"{piece.name} is a symbolic link"):
        output.make(resume=True)
    assert kept.read_bytes() == before
    piece.unlink()
    (output.partial / "_pieces").symlink_to(elsewhere)
    with pytest.raises(ValueError, match="_pieces is a symbolic link"):
        output.make(resume=True)
    assert list(elsewhere.iterdir()) == [kept]


def test_a_folder_that_is_no_output_is_left_alone(output):
    output.partial.mkdir()
    (output.partial / "thesis.txt").write_text("all of it")
    for resume, kind in ((True, ValueError), (False, FileExistsError)):
        with pytest.raises(kind):
            output.make(resume=resume)
    assert (output.partial / "thesis.txt").read_text() == "all of it"


@pytest.mark.slow
def test_files_of_others_are_refused(output):
    output.interrupt()
    (output.partial / "part-9.parquet").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"out.partial holds 'part-9.parquet', which is not part of this output"):
        output.make(resume=True)
    (output.partial / "part-9.parquet").unlink()
    output.make(resume=True)
    (output.path / "notes.writing").write_bytes(b"mine")
    with pytest.raises(ValueError, match="out holds 'notes.writing'"):
        output.make(resume=True)
    assert (output.path / "notes.writing").read_bytes() == b"mine"


@pytest.mark.slow
@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    "kind", ["pipe", *(pytest.param(x, marks=pytest.mark.slow) for x in ("folder", "full folder"))]
)
@pytest.mark.parametrize("name", ["piece", "_plan.json", "_lock", "_pieces", "_pieces/layout.json", "other"])
def test_what_is_no_file_is_refused_before_it_is_read(output, name, kind, finished):
    """A pipe would be read for ever; a folder cannot be replaced."""
    output.make()
    if not finished:
        output.path.rename(output.partial)
    place = (output.path if finished else output.partial) / (output.pieces[0] if name == "piece" else name)
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place) if kind == "pipe" else place.mkdir()
    if kind == "full folder":
        (place / "thesis.txt").write_text("all of it")
    if kind == "folder" and name in ("other", "_pieces"):
        output.make(resume=True)
        assert output.is_right()
        return
    with pytest.raises(ValueError, match=f"{place.name}.*(remove it|move it|remove the folder)"):
        output.make(resume=True)
    assert kind != "full folder" or (place / "thesis.txt").read_text() == "all of it"


@pytest.mark.parametrize("resume", [True, False])
def test_a_file_at_the_path_is_refused(output, resume):
    for place in (output.partial, output.path):
        place.write_text("all of it")
        with pytest.raises(ValueError, match=f"{place.name} is a file, and outputs have a folder of this name"):
            output.make(resume=resume)
        assert place.read_text() == "all of it"
        place.unlink()


@pytest.mark.parametrize("path", ["", ".", "/", ".."])
def test_a_path_needs_a_name(output, path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="does not end in the name of a folder"):
        output.write(output.what, path)


@pytest.mark.slow
def test_the_home_folder_is_written_as_tilde(output, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert output.write(output.what, "~/out") == output.path
    assert output.is_right()


@pytest.mark.slow
def test_a_lock_that_is_a_hard_link_does_not_overwrite_the_other_file(output, tmp_path):
    output.interrupt()
    (tmp_path / "thesis.txt").write_text("all of it")
    os.link(tmp_path / "thesis.txt", output.partial / "_lock")
    with pytest.raises(ValueError, match="_lock is a hard link"):
        output.make(resume=True)
    assert (tmp_path / "thesis.txt").read_text() == "all of it"


@pytest.mark.slow
def test_a_plan_does_not_lead_to_files_elsewhere(output):
    output.make()
    plan = json.loads((output.path / "_plan.json").read_text())
    for name in ("/dev/zero", "../" * 20 + "dev/zero", "a\0b", "a" * 300):
        (output.path / "_plan.json").write_text(json.dumps({**plan, "checksums": {name: "0"}}))
        with pytest.raises(ValueError, match="out is damaged: '.*' is not as it was written"):
            output.make(resume=True)
    output.path.rename(output.partial)
    (output.partial / "_pieces").mkdir()
    (output.partial / "_pieces" / "layout.json").write_text('{"/dev/zero": "0"}')
    output.make(resume=True)
    assert output.is_right()


@pytest.mark.slow
def test_an_empty_folder_of_a_killed_writer_is_continued(output):
    output.partial.mkdir()
    (output.partial / "_lock").write_text("process 1 on elsewhere")
    output.make(resume=True)
    assert output.is_right()


WRITER = """
import sys, time
from pathlib import Path
import dask.dataframe as dd
import causaleval_pd as ce, causaleval_pd.dask
here = Path(sys.argv[1])
def read(number):
    (here / "started").touch()
    while not (here / "go").exists():
        time.sleep(0.02)
    return ce.datasets.runs().iloc[:2]
table = dd.from_map(read, range(1), meta=ce.datasets.runs().iloc[:0])
table.ceval.evaluate(["shd"]).ceval.to_parquet(here / "out")
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["finished", "killed"])
def test_an_output_has_one_writer(end, tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) as writer:
        try:
            while not (tmp_path / "started").exists():
                assert writer.poll() is None
                time.sleep(0.02)
            for resume in (True, False):
                with pytest.raises(
                    FileExistsError, match=f"is being written by process {writer.pid} on {platform.node()}"
                ):
                    scored_table().ceval.to_parquet(tmp_path / "out", resume=resume)
            if end == "finished":
                (tmp_path / "go").touch()
                assert writer.wait(60) == 0
        finally:
            writer.kill()
    if end == "finished":
        assert (tmp_path / "out").is_dir() and not (tmp_path / "out.partial").exists()
        return
    # the lock ended with its holder
    with pytest.raises(ValueError, match="another computation"):
        scored_table().ceval.to_parquet(tmp_path / "out", resume=True)
