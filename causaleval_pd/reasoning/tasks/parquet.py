"""Tasks on disk: one Parquet file a table, written in chunks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ...contract.checks import check_type
from ...execution.engines import map_chunks
from .task_tables import TaskTables
from .tasks import Chunk, Tasks

__all__ = ["read_tasks", "write_tasks"]

_SMALL = ("worlds", "nodes", "edges", "quantities", "questions")
_LARGE = ("contexts", "truths")


def write_tasks(tasks: Tasks, path: str | PathLike[str], *, overwrite: bool = False, progress: bool = False) -> Path:
    """Write tasks to a folder of Parquet files: worlds, nodes, edges, quantities, questions, contexts, truths.

    Contexts and truths are made and written in chunks, so that memory does not grow with their number. The folder is
    written under another name and renamed when complete, so an interrupted call leaves no incomplete folder.

    Parameters
    ----------
    tasks : Tasks
        Tasks made by `make_tasks`.
    path : path
        Folder to create.
    overwrite : bool
        Whether to replace an existing folder.
    progress : bool
        Whether progress bars count contexts and samples.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the path exists and `overwrite` is False.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from causaleval_pd.reasoning import make_tasks, read_tasks, write_tasks
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=5, rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stored = read_tasks(write_tasks(tasks, pathlib.Path(folder) / "candy"))
    >>> stored.contexts.equals(tasks.contexts)
    True
    """
    import pyarrow.parquet as pq

    check_type(tasks, Tasks, "what make_tasks gave", "tasks")
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} exists; give another name, or overwrite=True to replace it")
    draft = target.with_name(target.name + ".part")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    try:
        for name in _SMALL:
            pq.write_table(_plain(getattr(tasks, name)), _file(draft, name), compression="zstd")
        for name, chunks in (("contexts", tasks.context_chunks()), ("truths", tasks.truth_chunks())):
            weights = [chunk.stop - chunk.start for chunk in chunks]
            made = map_chunks(Chunk.table, chunks, weights=weights, progress=progress, label=name)
            _stream(_file(draft, name), made)
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _plain(table: pd.DataFrame) -> pa.Table:
    """Convert a small table to Arrow without version metadata, so that equal tables give equal bytes."""
    return pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)


def _stream(file: Path, chunks: Iterator[pa.Table]) -> None:
    import pyarrow.parquet as pq

    first = next(chunks)
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for chunk in chunks:
            writer.write_table(chunk)


def read_tasks(path: str | PathLike[str]) -> TaskTables:
    """Read tasks written by `write_tasks`.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    TaskTables
        All tables. One of them alone, or some rows: `pandas.read_parquet(path / "contexts.parquet", filters=...)`.

    Raises
    ------
    FileNotFoundError
        If the folder or one of its files is missing.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from causaleval_pd.reasoning import make_tasks, read_tasks, write_tasks
    >>> tasks = make_tasks("candy_party", [[3, 3]], n_samples=5, rng=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_tasks(tasks, pathlib.Path(folder) / "candy")
    ...     stored = read_tasks(path)
    >>> stored.questions.equals(tasks.questions)
    True
    """
    folder = Path(path)
    if missing := [name for name in (*_SMALL, *_LARGE) if not _file(folder, name).is_file()]:
        raise FileNotFoundError(
            f"{folder} is not a folder of tasks; missing files: {', '.join(f'{n}.parquet' for n in missing)}"
        )
    return TaskTables(**{name: pd.read_parquet(_file(folder, name)) for name in (*_SMALL, *_LARGE)})
