"""Tables made of a cube, metric by metric; those of a lazy cube are lazy and load one block of strata at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.history import Call, calls, remember
from .reading import metric_strata, of_metric, own_dims
from .reshaped import check_metric

Rows = Callable[[xr.Dataset, str], pd.DataFrame]
Finish = Callable[[list[pd.DataFrame]], pd.DataFrame]

#: bytes of a block of strata; one stratum may take more
BLOCK_BYTES = 64 * 2**20


def is_lazy(cube: xr.Dataset) -> bool:
    """Return whether the cube is backed by dask."""
    return any(cube.variables[name].chunks is not None for name in cube.data_vars)


def tabulate(
    cube: xr.Dataset,
    names: Sequence[str],
    rows: Rows,
    finish: Finish,
    *,
    strata: Sequence[str],
    whole: Sequence[str] = (),
    made: Call,
    draws: bool = True,
) -> pd.DataFrame:
    """Make a table that has rows for every stratum and metric.

    It is a dask table where the cube is lazy: nothing is loaded before it is computed, and then one block of strata of
    one metric at a time.

    Parameters
    ----------
    cube : Dataset
        Made by `cube`.
    names : sequence of str
        The metrics.
    rows : callable
        Makes the rows of one metric, in the order of the strata, from a cube whose strata include the dimensions that
        the metric declares; it looks at one stratum at a time.
    finish : callable
        Makes the table of the metrics' rows, in their order.
    strata, whole : sequence of str
        The strata of the cube, and those along which `rows` looks at all levels together.
    made : dict
        Record of the verb's call, for the table's history, which begins with that of the cube.
    draws : bool
        Whether `rows` looks at draws.
    """
    made_by = [*calls(cube.attrs), made]

    def finished(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return remember(finish(parts), made_by)

    if not is_lazy(cube):
        return finished([rows(check_metric(metric_strata(cube, name), name), name) for name in names])
    import dask.dataframe as dd
    from dask.delayed import delayed

    metrics, empty = [], []
    for name in names:
        apart = [dim for dim in [*strata, *own_dims(cube, name)] if dim not in whole]
        mine = metric_strata(of_metric(cube, name, draws=draws), name)
        blocks = split({dim: mine.sizes[dim] for dim in apart}, mine.nbytes, BLOCK_BYTES)
        labels = {dim: mine[dim].to_numpy() for dim in apart}
        metrics.append((labels, [_later(rows, mine.isel(block), name) for block in blocks]))
        empty.append(rows(check_metric(_without_runs(mine, whole), name), name))
    table = dd.from_delayed([delayed(_join)(metrics, finished)], meta=finished(empty), verify_meta=False)
    return cast(pd.DataFrame, table)


def then(table: Any, function: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """Apply a function to a table, later if the table is lazy."""
    if isinstance(table, pd.DataFrame):
        return function(table)
    return cast(pd.DataFrame, table.map_partitions(function, meta=function(table._meta)))


def computed(table: Any) -> pd.DataFrame:
    """Return a table in memory."""
    return cast(pd.DataFrame, table if isinstance(table, pd.DataFrame) else table.compute())


def split(sizes: Mapping[str, int], n_bytes: int, limit: int) -> list[dict[str, slice]]:
    """Cut an array into blocks of at most `limit` bytes, or of one level of every dimension, the first ones first."""
    cuts = []
    left = n_bytes / limit
    for size in sizes.values():
        # all blocks but the last are equal, as Zarr's chunks have to be
        step = max(1, int(size / max(left, 1)))
        cuts.append([slice(a, min(a + step, size)) for a in range(0, max(size, 1), step)])
        left *= step / max(size, 1)
    return [dict(zip(sizes, block, strict=True)) for block in itertools.product(*cuts)]


def _later(rows: Rows, block: xr.Dataset, name: str) -> Any:
    """Make the rows of a block when they are computed."""
    from dask.delayed import delayed

    lazy = {key: x for key, x in block.variables.items() if x.chunks is not None}
    # a dataset handed to `delayed` would be optimised by itself, and what it shares with others computed again
    arrays = {key: x.data.rechunk(-1).to_delayed(optimize_graph=False).item() for key, x in lazy.items()}
    spec = {key: (x.dims, x.attrs) for key, x in lazy.items()}
    return delayed(_rows)(rows, block.drop_vars(list(lazy)), spec, arrays, name)


def _rows(
    rows: Rows,
    rest: xr.Dataset,
    spec: Mapping[Hashable, tuple[tuple[Hashable, ...], dict[str, Any]]],
    arrays: Mapping[Hashable, NDArray[Any]],
    name: str,
) -> pd.DataFrame:
    loaded = {key: (dims, arrays[key], attrs) for key, (dims, attrs) in spec.items()}
    return rows(check_metric(rest.assign(loaded), name), name)


def _without_runs(cube: xr.Dataset, whole: Sequence[str]) -> xr.Dataset:
    """Return a small cube in memory that has the names and types of another, but no runs."""
    # two draws, for tests that need some
    small = cube.isel({dim: slice(0, 2 if dim == "draw" else 1) for dim in cube.dims if dim not in whole})
    blank = {name: (x.dims, np.zeros(x.shape, x.dtype), x.attrs) for name, x in small.data_vars.items()}
    return xr.Dataset(blank, small.coords, small.attrs)


def _join(metrics: list[tuple[Mapping[str, NDArray[Any]], list[pd.DataFrame]]], finish: Finish) -> pd.DataFrame:
    """Put the blocks of every metric in the order of the strata."""
    tables = []
    for labels, blocks in metrics:
        filled = [block for block in blocks if len(block)]
        table = pd.concat(filled, ignore_index=True) if filled else blocks[0]
        places = [pd.Index(levels).get_indexer(pd.Index(table[dim])) for dim, levels in labels.items()]
        # a stable sort: rows of one stratum keep their order
        tables.append(table.iloc[np.lexsort(places[::-1])] if places else table)
    return finish(tables)
