"""Tasks on disk: one Parquet file a table, written in chunks."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import pandas as pd
import pyarrow as pa

from ...contract.checks import check_type
from ...execution.engines import with_bar
from .task_tables import COLUMNS, TaskTables
from .tasks import Chunk, Tasks

__all__ = ["read_tasks", "write_tasks"]

_SMALL = ("worlds", "nodes", "edges", "quantities", "questions")
_LARGE = ("contexts", "truths")
_FILES = {f"{name}.parquet" for name in (*_SMALL, *_LARGE)}


def write_tasks(tasks: Tasks, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
    """Write tasks to a folder of Parquet files: worlds, nodes, edges, quantities, questions, contexts, truths.

    Contexts and truths are made and written in chunks, so that memory does not grow with their number. The folder is
    written under another name, `path` + ".<random>.writing", and renamed when complete, so an interrupted call leaves
    no incomplete folder at `path`.

    Parameters
    ----------
    tasks : Tasks
        Tasks made by `make_tasks`.
    path : path
        Folder to create.
    overwrite : bool
        Whether to replace an existing folder of tasks. A folder that holds anything else is never replaced.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    FileExistsError
        If the path exists and `overwrite` is False, or it holds something else than tasks.
    ValueError
        If the path is a symbolic link.

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

    check_type(tasks, Tasks, "the Tasks that make_tasks returns", "tasks")
    target = Path(path)
    _check_replaceable(target, overwrite)
    # a name that nobody else has, so that all in this folder is made here
    draft = target.with_name(f"{target.name}.{uuid.uuid4().hex}.writing")
    draft.mkdir(parents=True)
    try:
        for name in _SMALL:
            pq.write_table(_plain(getattr(tasks, name)), _file(draft, name), compression="zstd")
        for name, chunks in (("contexts", tasks.context_chunks()), ("truths", tasks.truth_chunks())):
            weights = [chunk.stop - chunk.start for chunk in chunks]
            made = with_bar(map(Chunk.table, chunks), weights, name)
            _stream(_file(draft, name), made)
        _put(draft, target, overwrite)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _check_replaceable(target: Path, overwrite: bool) -> None:
    """Refuse a path that exists, unless it is to be replaced and holds tasks and nothing else."""
    if target.is_symlink():
        raise ValueError(f"{target} is a symbolic link; write to the folder itself, or to another name")
    if not target.exists():
        return
    if not overwrite:
        raise FileExistsError(f"{target} exists; give another name, or overwrite=True to replace it")
    found = {one.name for one in target.iterdir()} if target.is_dir() else set()
    strange = sorted(found - _FILES)
    if not target.is_dir() or strange or (found and found < _FILES):
        what = f"holds {strange[0]!r}" if strange else "is not a complete folder of tasks"
        raise FileExistsError(
            f"{target} {what}; overwrite=True replaces only what write_tasks wrote: remove it, or give another name"
        )


def _put(draft: Path, target: Path, overwrite: bool) -> None:
    """Give a complete folder its name; what is replaced is kept until then."""
    for file in draft.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    _check_replaceable(target, overwrite)
    if not target.exists():
        draft.rename(target)
        return
    replaced = target.with_name(f"{target.name}.{uuid.uuid4().hex}.replaced")
    target.rename(replaced)
    try:
        draft.rename(target)
    except OSError:
        replaced.rename(target)
        raise
    for name in _FILES:
        (replaced / name).unlink(missing_ok=True)
    replaced.rmdir()


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
    ValueError
        If a file is damaged or lacks columns; names the file.

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
    return TaskTables(**{name: _read_table(folder, name) for name in (*_SMALL, *_LARGE)})


def _read_table(folder: Path, name: str) -> pd.DataFrame:
    import pyarrow.parquet as pq

    file = _file(folder, name)
    try:
        with pq.ParquetFile(file) as stored:
            table = stored.read().to_pandas()
    except (pa.ArrowException, ValueError, OSError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"{file} is not a table of tasks, or is damaged: {error}") from None
    missing = [column for column in COLUMNS[name] if column not in table]
    if missing:
        raise ValueError(f"{file} lacks the columns {missing}; it was not written by write_tasks")
    return table
