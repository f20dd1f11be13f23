"""Outputs are whole or not there, and interrupted ones are continued."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import causaleval_pd as ce
import causaleval_pd.dask

RUNS = ce.datasets.runs().iloc[:40].reset_index(drop=True)


def read(number: int, flag: str) -> pd.DataFrame:
    """Return ten rows; with a file at `flag`, reading breaks once some part is written."""
    if Path(flag).exists() and list(Path(flag).parent.glob("out.partial/part-*.parquet")):
        raise OSError("the disk is gone")
    return RUNS.iloc[10 * number : 10 * number + 10]


def scored(flag: Path, rng: int = 7) -> dd.DataFrame:
    table = dd.from_map(read, range(4), flag=str(flag), meta=RUNS.iloc[:0])
    return table.assign(run=table["replicate"]).ceval.with_controls(
        ["shd"], n_draws=20, rng=rng, key=["replicate", "n", "algorithm", "density"]
    )


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


def test_bad_rows_are_named_and_nothing_looks_whole(tmp_path):
    bad = RUNS.assign(run=np.arange(40)).astype({"estimate": object})
    bad.loc[25, "estimate"] = b"no graph"
    bad["estimate"] = pd.array(bad["estimate"], dtype=RUNS["estimate"].dtype)
    lazy = dd.from_pandas(bad, npartitions=4).ceval.evaluate(["shd"])
    with pytest.raises(ValueError, match=r"partition 2: .*'estimate', row 5 \(index 25\)"):
        lazy.ceval.to_parquet(tmp_path / "out")
    assert not (tmp_path / "out").exists()
