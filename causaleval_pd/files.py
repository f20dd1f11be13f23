"""Dask tables written to Parquet: an interrupted output is continued, and never taken for a whole one."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
from dask.base import compute
from dask.delayed import delayed
from dask.diagnostics.progress import ProgressBar

from .engine import current_client

_PLAN = "_plan.json"


def to_parquet(
    table: dd.DataFrame, path: str | os.PathLike[str], *, resume: bool = False, progress: bool = False
) -> Path:
    """Compute a dask table into a directory of Parquet files, one a partition.

    Files are written beside the directory, in `path` + ".partial", each under a name of its own and renamed when it is
    complete; the directory gets its name when all of them are. What is at `path` is therefore always whole.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        What to compute, by `with_controls` for example.
    path : path
        Directory to make.
    resume : bool
        Continue an interrupted run: partitions whose files are complete are not computed again. It must be the same
        computation, of the same seed; a finished output stays as it is.
    progress : bool
        Show dask's progress bar.

    Returns
    -------
    Path
        The directory, for `dask.dataframe.read_parquet`.

    Raises
    ------
    FileExistsError
        If there is an output, or an interrupted one, and `resume` is False.
    ValueError
        If the interrupted output belongs to another computation.

    Examples
    --------
    >>> import tempfile
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scored = runs.ceval.with_controls(["shd"], n_draws=100, rng=7)
    ...     path = scored.ceval.to_parquet(f"{folder}/scored")
    ...     dd.read_parquet(path)["shd"].sum().compute()
    np.float64(6052.0)
    """
    final = Path(path)
    partial = final.with_name(final.name + ".partial")
    planned = {"computation": table._name, "partitions": table.npartitions}
    if final.exists() and not resume:
        raise FileExistsError(f"{final} exists; remove it, or choose another path")
    if final.exists():
        return _check_plan(final, planned)
    if partial.exists() and not resume:
        raise FileExistsError(f"{partial} is an interrupted output; continue it by resume=True, or remove it")
    if (partial / _PLAN).exists():
        _check_plan(partial, planned)
    else:
        partial.mkdir(parents=True, exist_ok=True)
        _write_then_rename(partial / _PLAN, json.dumps(planned).encode())
    width = len(str(table.npartitions))
    names = [f"part-{i:0{width}d}.parquet" for i in range(table.npartitions)]
    writes = [
        delayed(_write_part)(part, str(partial / name))
        for name, part in zip(names, table.to_delayed(), strict=True)
        if not (partial / name).exists()
    ]
    _run(writes, progress=progress)
    missing = [name for name in names if not (partial / name).exists()]
    if missing:
        raise FileNotFoundError(
            f"{partial} lacks {len(missing)} files, {missing[0]} first: workers must write to a file system that this "
            "process sees"
        )
    for left in partial.glob("*.writing"):
        left.unlink()
    partial.rename(final)
    return final


def _check_plan(folder: Path, planned: dict[str, Any]) -> Path:
    found = json.loads((folder / _PLAN).read_text()) if (folder / _PLAN).exists() else {}
    if found != planned:
        raise ValueError(
            f"{folder} belongs to another computation ({found}, not {planned}); resume=True needs the same table, "
            "partitions and settings, and a seed by rng="
        )
    return folder


def _run(writes: list[Any], *, progress: bool) -> None:
    client = current_client()
    if client is None:
        with ProgressBar() if progress else nullcontext():
            compute(*writes)
        return
    futures = client.compute(writes)
    if progress and futures:
        from distributed import progress as show

        show(futures, notebook=False)
    client.gather(futures)


def _write_part(part: pd.DataFrame, path: str) -> None:
    writing = f"{path}.{uuid.uuid4().hex}.writing"
    part.to_parquet(writing)
    os.replace(writing, path)


def _write_then_rename(path: Path, content: bytes) -> None:
    writing = path.with_name(f"{path.name}.{uuid.uuid4().hex}.writing")
    writing.write_bytes(content)
    os.replace(writing, path)
