"""Outputs on disk are continued by their marks, and lose nothing that is not theirs."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pytest
import xarray as xr

import causaleval_pd as ce
import causaleval_pd.dask
from causaleval_pd.execution import files
from causaleval_pd.execution.files import to_parquet, to_zarr

RUNS = ce.datasets.runs().iloc[:40].reset_index(drop=True)


@functools.cache
def scored_table() -> dd.DataFrame:
    return dd.from_pandas(RUNS, npartitions=4).ceval.evaluate(["shd"])


@functools.cache
def made_cube() -> xr.Dataset:
    return ce.cube(ce.datasets.runs(), ["shd"], by=["algorithm"], n_draws=5, rng=1)


class Output:
    """A writer, what it writes, and one of its pieces with its file."""

    def __init__(self, write: Callable[..., Path], what: Any, piece: str, file: str, path: Path) -> None:
        self.write, self.what, self.piece, self.file, self.path = write, what, piece, file, path
        self.partial = path.with_name(path.name + ".partial")

    def make(self, **how: Any) -> Path:
        return self.write(self.what, self.path, **how)

    def is_right(self) -> bool:
        if self.write is to_zarr:
            return bool(xr.open_zarr(self.path).load().identical(made_cube()))
        found, wanted = dd.read_parquet(self.path).compute(), scored_table().compute()
        return bool((found["shd"] == wanted["shd"]).all() and (found["estimate"] == wanted["estimate"]).all())

    def interrupt(self) -> None:
        """Make the folder of a writer that was killed when it had marked all but one of its pieces."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "finish", lambda partial, final: None)
            self.make()
        (self.partial / "_pieces" / self.piece).unlink()


@pytest.fixture(params=["parquet", "zarr"])
def output(request, tmp_path) -> Output:
    if request.param == "parquet":
        return Output(to_parquet, scored_table(), "part-0.parquet", "part-0.parquet", tmp_path / "out")
    return Output(to_zarr, made_cube().chunk(algorithm=1), "0", "shd/0.0", tmp_path / "out")


@pytest.mark.slow
def test_pieces_without_a_mark_are_made_again_and_no_others(output):
    output.interrupt()
    with pytest.raises(FileExistsError, match="interrupted output; continue it by resume=True"):
        output.make()
    before = {file: file.stat().st_mtime_ns for file in output.partial.rglob("*") if file.is_file()}
    (output.partial / output.file).write_bytes(b"half of it")
    output.make(resume=True)
    assert output.is_right() and not output.partial.exists()
    after = {file: (output.path / file.relative_to(output.partial)) for file in before}
    assert before[output.partial / "_plan.json"] == after[output.partial / "_plan.json"].stat().st_mtime_ns
    assert after[output.partial / output.file].stat().st_mtime_ns != before[output.partial / output.file]
    output.make(resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["{", "[" * 100_000, "", "[1]", "null", "\ud800", None])
def test_a_spoiled_plan_is_refused(output, plan):
    output.interrupt()
    if plan is None:
        (output.partial / "_plan.json").unlink()
    else:
        (output.partial / "_plan.json").write_bytes(plan.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=r"out\.partial (has no readable|belongs to another computation).*remove it"):
        output.make(resume=True)
    assert (output.partial / output.file).exists()
    output.partial.rename(output.path)
    with pytest.raises(ValueError, match=r"out (has no readable|belongs to another computation).*remove it"):
        output.make(resume=True)


def test_a_folder_that_is_no_output_is_left_alone(output):
    output.partial.mkdir()
    (output.partial / "thesis.txt").write_text("all of it", encoding="utf-8")
    for resume, kind in ((True, ValueError), (False, FileExistsError)):
        with pytest.raises(kind, match=r"out\.partial .* remove it"):
            output.make(resume=resume)
    assert (output.partial / "thesis.txt").read_text(encoding="utf-8") == "all of it"


@pytest.mark.parametrize(("resume", "kind"), [(True, ValueError), (False, FileExistsError)])
def test_a_file_at_the_path_is_refused(output, resume, kind):
    for place in (output.partial, output.path):
        place.write_text("all of it", encoding="utf-8")
        with pytest.raises(kind, match=f"{place.name} .*remove it"):
            output.make(resume=resume)
        assert place.read_text(encoding="utf-8") == "all of it"
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


def test_pieces_that_this_process_does_not_see_are_named(output, monkeypatch):
    monkeypatch.setattr(files, "compute", lambda *writes: None)
    with pytest.raises(FileNotFoundError, match="lacks . pieces.*workers must write to a file system"):
        output.make()
    assert not output.path.exists()
