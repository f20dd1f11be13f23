"""Outputs on disk, tables to Parquet and cubes to Zarr: one interrupted is continued, and never taken for whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

try:
    import dask.dataframe as dd
except ImportError:
    raise ImportError("outputs of dask need dask: pip install 'causaleval_pd[dask]'") from None
import numpy as np
import pandas as pd
import xarray as xr
from dask import config
from dask.base import compute, tokenize
from dask.delayed import delayed
from dask.diagnostics.progress import ProgressBar
from dask.system import CPU_COUNT

from .engines import current_client, thread_pool
from .options import get_options
from .outputs import begin, check_plan, finish, mark, replace_file

#: what dask notes of Parquet files on the way, with the process's own view of the file system
_CACHES = ("_dataset_info_cache", "_pq_length_stats")

#: by variable, a chunk and where it belongs
_Block = dict[Hashable, tuple[Any, dict[Hashable, slice]]]


def to_parquet(
    table: dd.DataFrame,
    path: str | os.PathLike[str],
    *,
    resume: bool = False,
    retries: int = 0,
) -> Path:
    """Compute a dask table into a directory of Parquet files, one per partition.

    Files are written beside the directory, in `path` + ".partial", each under a name of its own and renamed when it is
    complete; the directory gets its name when all of them are. What is at `path` is therefore always whole.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        What to compute, by `with_controls` for example.
    path : path
        Directory to make.
    resume : bool
        Continue an interrupted run, which has to be over: complete partitions are not computed again. It must be the
        same computation, of the same seed; a finished output stays as it is.
    retries : int
        How often a cluster tries a failed task again, for storage that fails now and then. Without a cluster, continue
        by `resume`.

    Returns
    -------
    Path
        The directory, for `dask.dataframe.read_parquet`.

    Raises
    ------
    FileExistsError
        If there is an output, or an interrupted one, and `resume` is False.
    ValueError
        If the output to continue belongs to another computation, or `retries` are asked for without a cluster.

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
    width = len(str(table.npartitions))
    parts = {f"part-{i:0{width}d}.parquet": part for i, part in enumerate(table.to_delayed())}
    planned = {"computation": computation(table), "partitions": table.npartitions}

    def write(folder: Path, name: str) -> Any:
        return delayed(_write_part)(parts[name], str(folder), name)

    return _write_whole(path, planned, lambda folder: None, list(parts), write, resume, retries)


def to_zarr(
    cube: xr.Dataset,
    path: str | os.PathLike[str],
    *,
    resume: bool = False,
    retries: int = 0,
) -> Path:
    """Compute a cube into a Zarr store, chunk by chunk; see the accessor's `to_zarr`.

    Labels and empty arrays come first, then blocks: the chunks of all variables at one place. All is written to `path`
    + ".partial", where complete blocks are marked, and the store gets its name when all are. What is at `path` is
    therefore always whole.
    """
    blocks = _blocks(cube)
    planned = {"computation": tokenize(cube), "blocks": len(blocks)}

    def lay_out(folder: Path) -> None:
        in_blocks = {name for block in blocks.values() for name in block}
        known = cube.assign({name: x.compute() for name, x in cube.variables.items() if name not in in_blocks})
        # version 2 of the format, which specifies texts and a single file of metadata
        known.drop_encoding().to_zarr(folder, mode="w", compute=False, zarr_format=2, consolidated=True)

    def write(folder: Path, name: str) -> Any:
        arrays, regions = zip(*blocks[name].values(), strict=True)
        return delayed(_write_block)(list(blocks[name]), list(arrays), list(regions), str(folder), name)

    return _write_whole(path, planned, lay_out, list(blocks), write, resume, retries)


def _write_whole(
    path: str | os.PathLike[str],
    planned: Mapping[str, Any],
    lay_out: Callable[[Path], object],
    pieces: Sequence[str],
    write: Callable[[Path, str], Any],
    resume: bool,
    retries: int,
) -> Path:
    """Write the pieces that an output lacks, each with a mark when it is complete, and give it its name."""
    if retries and current_client() is None:
        raise ValueError("retries are made by a cluster; start a dask Client, or continue a failed run by resume=True")
    path = os.path.expanduser(os.fsdecode(path))  # as readers do
    if "://" in path:
        raise ValueError(
            f"{path!r} is not on a file system, and only there can a whole output be renamed; "
            "write to a folder that all workers see, and copy it"
        )
    final = Path(path)
    if final.name in ("", ".."):
        raise ValueError(f"{path!r} does not end in the name of a folder to make; give one, such as 'scored'")
    # workers may have another working directory
    partial = final.with_name(final.name + ".partial").absolute()
    if final.exists() and not resume:
        raise FileExistsError(f"{final} exists; remove it, or choose another path")
    if final.exists():
        check_plan(final, planned)
        return final
    if resume and partial.exists():
        check_plan(partial, planned)
    else:
        begin(partial, planned, lay_out)
    lacking = [name for name in pieces if not mark(partial, name).exists()]
    _run([write(partial, name) for name in lacking], retries=retries)
    missing = [name for name in lacking if not mark(partial, name).exists()]
    if missing:
        raise FileNotFoundError(
            f"{partial} lacks {len(missing)} pieces, {missing[0]} first: workers must write to a file system that this "
            "process sees"
        )
    finish(partial, final)
    return final


def _run(writes: list[Any], *, retries: int) -> None:
    progress, client = get_options()["progress"], current_client()
    if client is None:
        with ProgressBar() if progress else nullcontext(), _threads():
            compute(*writes)
        return
    futures = client.compute(writes, retries=retries)
    if progress and futures:
        from distributed import progress as show

        show(futures, notebook=False)
    try:
        client.gather(futures)
    except BaseException:
        # waits for the cluster to drop them: a run that continues this one asks for the same tasks at once
        client.cancel(futures)
        raise
    finally:
        # a traceback keeps them, and the cluster would keep the failure, for the run that continues this one
        for future in futures:
            future.release()


@contextmanager
def _threads() -> Iterator[None]:
    """Let dask's threads, unless the user chose another scheduler or pool, give up their work on an interrupt."""
    if config.get("scheduler", None) not in (None, "threads", "threading") or config.get("pool", None) is not None:
        yield
        return
    with thread_pool(config.get("num_workers", None) or CPU_COUNT) as pool, config.set(pool=pool):
        yield


def _write_part(part: pd.DataFrame, folder: str, name: str) -> None:
    replace_file(Path(folder) / name, part.to_parquet)
    mark(folder, name).touch()


def computation(table: dd.DataFrame) -> str:
    """Name what a dask table computes, the same in every process."""
    return str(tokenize(_identity(table.expr)))


def _identity(expr: Any) -> Any:
    if hasattr(expr, "checksum"):
        known = zip(expr._parameters, expr.operands, strict=False)
        return [type(expr).__name__, expr.checksum, *(x for name, x in known if name not in _CACHES)]
    if not hasattr(expr, "operands"):
        return expr
    return [type(expr).__name__, *map(_identity, expr.operands)] if expr.dependencies() else expr._name


def _blocks(cube: xr.Dataset) -> dict[str, _Block]:
    """Return the chunks of dask arrays, those at one place of equally divided variables together."""
    blocks: dict[Any, _Block] = {}
    for name, variable in cube.data_vars.items():
        if variable.chunks is None or variable.size == 0 or variable.ndim == 0:
            continue
        # not optimised: variables share the tasks that make them
        chunks = variable.data.to_delayed(optimize_graph=False)
        edges = {dim: np.cumsum([0, *sizes]).tolist() for dim, sizes in variable.variable.chunksizes.items()}
        divided = {dim: tuple(starts) for dim, starts in edges.items() if len(starts) > 2}
        for index in np.ndindex(chunks.shape):
            at = dict(zip(edges, index, strict=True))
            region = {dim: slice(*edges[dim][i : i + 2]) for dim, i in at.items()}
            place = frozenset((dim, starts, at[dim]) for dim, starts in divided.items())
            blocks.setdefault(place, {})[name] = (chunks[index], region)
    return {str(i): block for i, block in enumerate(blocks.values())}


def _write_block(
    names: list[Hashable],
    arrays: list[Any],
    regions: list[dict[Hashable, slice]],
    folder: str,
    piece: str,
) -> None:
    block = {name: (list(at), array) for name, array, at in zip(names, arrays, regions, strict=True)}
    region = {str(dim): place for at in regions for dim, place in at.items()}
    xr.Dataset(block).to_zarr(folder, region=region, consolidated=True)
    mark(folder, piece).touch()
