"""A cube backed by dask arrays, from a dask table: one shuffle brings together what a chunk holds."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import xarray as xr
from dask.base import compute
from dask.delayed import delayed
from numpy.typing import NDArray

from .accumulators import MAX_VALUES
from .cube import cube as cube_of
from .engine import RNGLike, resolve_seed
from .evaluate import Metrics
from .null import NullLike
from .partitions import cells_of, cube_settings, need_key, places, refuse_strata, strata_edges
from .strata import MISSING, Axis, By, strata_axes

_CHUNK = "__chunk__"


def cube(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    replicate: Hashable,
    n_draws: int | None = 1000,
    null: NullLike | None = None,
    rng: RNGLike = None,
    key: Hashable | Sequence[Hashable] | None = None,
    keep_draws: bool = False,
    **settings: Any,
) -> xr.Dataset:
    """Score a dask table of runs and their controls into an array over strata, lazily.

    The labels of the strata are looked up now; rows are shuffled and scored when the cube is computed or saved, one
    chunk a level of the first stratum of `by`, whose rows must fit into a worker's memory.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run a row.
    by, n_draws, rng, keep_draws
        As in `causaleval_pd.cube`.
    replicate : hashable
        Column that numbers the runs of a stratum and pairs them across strata. Numbers made from the truths, the
        default for a table in memory, would need all rows at once.
    null
        As in `causaleval_pd.with_controls`, a model that looks at rows only.
    key
        As in `causaleval_pd.dask.with_controls`.
    **settings
        Further keywords of `causaleval_pd.cube`.

    Returns
    -------
    Dataset
        As `causaleval_pd.cube`, of dask arrays; value tables are padded to 4096 places.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube`.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.cube(["shd"], by=["algorithm", "density", "n"], replicate="replicate", n_draws=None)
    >>> dict(found.chunksizes["algorithm"] and found.sizes)
    {'algorithm': 3, 'density': 3, 'n': 3, 'replicate': 20}
    """
    made = cube_settings(table, metrics, settings)
    if n_draws is not None:
        need_key(table, key)
        refuse_strata(made["field"], null)
    if key is None:
        index = list(table._meta.index.to_frame(index=False, name=table._meta.index.name or "index").columns)
        table, key = table.reset_index(), index
    made |= {"by": by, "n_draws": n_draws, "null": null, "rng": resolve_seed(rng), "key": key}
    made |= {"replicate": replicate, "keep_draws": keep_draws}
    coordinates, extra = _coordinates(table, by, replicate, made)
    first = next(iter(coordinates))
    labels = coordinates[first]

    codes = table.map_partitions(_first_codes, by, made, labels, meta=pd.Series(dtype="int64", name=_CHUNK))
    shuffled = table.assign(**{_CHUNK: codes}).set_index(_CHUNK, divisions=list(range(len(labels) + 1)))
    template = cube_of(table._meta, metrics, engine="serial", **made)
    sizes: dict[Hashable, int] = {**template.sizes}
    sizes |= {name: len(x) for name, x in coordinates.items()}
    sizes |= {name: MAX_VALUES for name in template.dims if str(name).endswith("_bin")}
    chunks = [
        delayed(_chunk)(part, metrics, made, {**coordinates, first: labels[i : i + 1]})
        for i, part in enumerate(shuffled.to_delayed())
    ]
    variables = {}
    for name, variable in template.data_vars.items():
        shape = tuple(1 if dim == first else sizes[dim] for dim in variable.dims)
        parts = [da.from_delayed(delayed(operator.getitem)(chunk, name), shape, variable.dtype) for chunk in chunks]
        axis = variable.dims.index(first)
        variables[name] = (variable.dims, da.concatenate(parts, axis), variable.attrs)
    attrs = template.attrs
    if n_draws is not None:
        attrs["control_kind"] = str(made.get("control_kind") or "that of the estimate")
    return xr.Dataset(variables, {**coordinates, **extra}, attrs)


def _axes(part: pd.DataFrame, by: By, replicate: Hashable, settings: Mapping[str, Any]) -> list[Axis]:
    own = cells_of(part, settings)
    runs = part[[replicate]].set_axis(["replicate_"], axis=1)
    [number] = strata_axes(runs, ["replicate_"], own)
    return [*strata_axes(part, by, own), number._replace(name="replicate")]


def _levels(part: pd.DataFrame, by: By, replicate: Hashable, settings: Mapping[str, Any]) -> dict[str, set[Any]]:
    """Return the labels of each axis in a partition, None for a missing number."""
    axes = _axes(part, by, replicate, settings)
    return {axis.name: {None if pd.isna(x) else x for x in axis.labels} for axis in axes}


def _coordinates(
    table: dd.DataFrame, by: By, replicate: Hashable, settings: Mapping[str, Any]
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Look up the labels of every axis, in the order of a cube of the whole table, and what else lies along them."""
    found = compute(*[delayed(_levels)(part, by, replicate, settings) for part in table.to_delayed()])
    edges = strata_edges(by)
    coordinates: dict[str, NDArray[Any]] = {}
    extra: dict[str, Any] = {}
    for name in [*edges, "replicate"]:
        labels = set().union(*(levels[name] for levels in found))
        if edges.get(name) is not None:
            missing = [np.nan] if MISSING in labels else []
            cells = cells_of(table._meta, settings)
            numbers = pd.DataFrame({name: np.array(missing, np.float64)})
            [axis] = strata_axes(numbers, [{name: cast(Sequence[float], edges[name])}], cells)
            coordinates[name] = axis.labels
            extra |= {side: (name, values) for side, values in axis.extra.items()}
            continue
        column = pd.Series(list(labels), dtype=object)
        order = np.argsort(np.asarray(places(column, table._meta, name, None), np.float64), kind="stable")
        words = any(isinstance(x, str) for x in labels)
        ordered = [column.iloc[i] for i in order]
        coordinates[name] = (
            np.array(ordered, dtype=object) if words else np.array([np.nan if x is None else x for x in ordered])
        )
    if len(coordinates) < 2:
        raise ValueError("by names no stratum; a cube of a dask table has a chunk a level of its first stratum")
    return coordinates, extra


def _first_codes(part: pd.DataFrame, by: By, settings: Mapping[str, Any], labels: NDArray[Any]) -> pd.Series:
    axis = strata_axes(part, by, cells_of(part, settings))[0]
    positions = pd.Index(labels).get_indexer(pd.Index(axis.labels))
    return pd.Series(positions[axis.codes].astype(np.int64), part.index, name=_CHUNK)


def _chunk(
    part: pd.DataFrame, metrics: Metrics, settings: dict[str, Any], coordinates: Mapping[str, NDArray[Any]]
) -> dict[Hashable, NDArray[Any]]:
    """Make the cube of one level of the first stratum, in the places that it has in the whole."""
    found = cube_of(part.reset_index(drop=True), metrics, engine="serial", **settings)
    found = found.drop_vars([name for name in found.coords if name not in found.dims])
    empty = {
        name: 0 if variable.dtype.kind == "i" or str(name).endswith(("_control_sum", "_control_weight")) else np.nan
        for name, variable in found.data_vars.items()
    }
    whole = found.reindex(dict(coordinates), fill_value=empty)
    bins = {name: (0, MAX_VALUES - size) for name, size in whole.sizes.items() if str(name).endswith("_bin")}
    if bins:
        whole = whole.pad(bins, constant_values={name: empty[name] for name in whole.data_vars})
    return {name: variable.to_numpy() for name, variable in whole.data_vars.items()}
