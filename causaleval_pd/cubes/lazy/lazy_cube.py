"""A cube backed by dask arrays, from a dask table: rows are scored where they are, and their numbers shuffled."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import xarray as xr
from dask.base import compute, tokenize
from dask.delayed import delayed
from numpy.typing import NDArray

from ...contract.field import get_field
from ...contract.options import takes_settings_of
from ...execution.files import computation
from ...execution.options import serially
from ...execution.random_streams import RNGLike, key_columns, refuse_repeats, resolve_seed
from ...tables.columns import column
from ...tables.settings import Nulls
from ...tables.tasks import Metrics, Task
from ..assembly import short_ids
from ..cube import cube as cube_of
from ..runs import run_identity, stratum_columns
from ..schema import IDENTITIES, read_nulls
from ..strata import (
    MISSING,
    Axis,
    By,
    StratumColumn,
    label_words,
    levels,
    number_replicates,
    strata_axes,
    strata_edges,
    stratum_numbers,
)
from .clusters import MARKS, ClusterPlan, PartClusters, lazy_setting, part_clusters, plan_clusters
from .cube_chunks import chunked_variables, row_identities, split
from .partitions import (
    cells_of,
    check_draws,
    in_partition,
    keywords,
    level_ranks,
    looks_at_strata,
    need_key,
    settle,
)

#: columns that hold a row's cell while rows are shuffled
_STRATUM, _REPLICATE, _NUMBER = "__stratum__", "__replicate__", "__number__"


@takes_settings_of(cube_of, without=("best_of",))
def cube(
    table: dd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: int | None = 1000,
    null: Nulls = None,
    rng: RNGLike = None,
    replicate: Hashable | None = None,
    key: Hashable | Sequence[Hashable] | None = None,
    **settings: Any,
) -> xr.Dataset:
    """Score a dask table of runs and their controls into an array over strata, lazily.

    The labels of the strata are looked up now. Rows are scored when the cube is computed or saved, each partition by
    itself, and then only their numbers are shuffled, into chunks of some 64 MiB. Rows move to another partition only
    under a null model that looks at strata. The verbs of a lazy cube load what they need of it into memory; write a
    cube that does not fit by `to_zarr`, and read the strata that you need.

    Parameters
    ----------
    table : dask.dataframe.DataFrame
        One run per row.
    by, n_draws, null, rng
        As in `causaleval_pd.cube`.
    replicate : hashable, optional
        Column that numbers the runs of a stratum and pairs them across strata. By default runs get the number of their
        truth, as in `causaleval_pd.cube`; for this the keys and the identity of the truths of all rows, some 40 bytes
        per row, are loaded now.
    key
        As in `causaleval_pd.dask.with_controls`.
    **settings
        Further keywords of `causaleval_pd.cube`.

    Returns
    -------
    Dataset
        As `causaleval_pd.cube`, of dask arrays.

    Raises
    ------
    ValueError
        As `causaleval_pd.cube`; runs that have the same place are found when the cube is computed.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import causaleval_pd as ce
    >>> import causaleval_pd.dask
    >>> runs = dd.from_pandas(ce.datasets.runs(), npartitions=4)
    >>> found = runs.ceval.cube(["shd"], by=["algorithm", "density", "n"], n_draws=100, rng=7)
    >>> dict(found.sizes)
    {'algorithm': 3, 'density': 3, 'n': 3, 'replicate': 20, 'draw': 100}
    >>> float(found.ceval.summary()["p_value"].max())
    1e-05
    """
    if "best_of" in settings:
        raise ValueError("a cube of a dask table has no setting best_of: candidates may lie in other partitions")
    check_draws(n_draws)
    metrics, made = settle(table, metrics, settings)
    if made.get("truth", "truth") is None and made.get("context") and replicate is None:
        raise ValueError(
            "runs of a dask table without a truth are not paired by their context, which no partition has seen whole; "
            "name a column that pairs them by replicate="
        )
    if n_draws is not None:
        need_key(table, key)
    made |= {
        "n_draws": n_draws,
        "null": null,
        "rng": resolve_seed(rng),
        "key": key,
    }

    field = get_field(made["field"])
    parts = table.to_delayed()
    lookups = compute(*[delayed(_look_up)(part, by, replicate, made, i) for i, part in enumerate(parts)])
    coordinates, extra = _coordinates(lookups, table._meta, by)
    setting, placed_strata = lazy_setting(made, field, table.columns), [_strata(x, coordinates) for x in lookups]
    plan = plan_clusters([part.clusters for part in lookups], placed_strata, made, setting, field)
    scoring = made | {"cluster": plan.placed}
    blank = table._meta.assign(**MARKS)
    with serially():
        template = cube_of(blank, metrics, by=by, replicate=replicate, **keywords(scoring))
    strata = {name: len(coordinates[name]) for name in strata_edges(by)}
    numbers = _numbers(lookups, coordinates, made) if replicate is None else None
    if numbers is not None:
        coordinates["replicate"] = np.arange(max(int(x.max(initial=-1)) for x in numbers) + 1)
    sizes = {**strata, "replicate": len(coordinates["replicate"])}

    token = tokenize(computation(table), metrics, by, str(replicate), made)
    # the tables of dask take no delayed partitions that are shuffled later, but a map over their inputs
    replicates = None if numbers is None else dd.from_map(_column, numbers, meta=pd.Series(dtype=np.int64))
    columns = {name: pd.Series(dtype=np.int64) for name in (_STRATUM, _REPLICATE)}
    meta = table._meta.assign(**columns, **MARKS)
    placed = table.map_partitions(
        _place, replicates, by, replicate, made, coordinates, plan, meta=meta, align_dataframes=False
    )
    meeting = n_draws is not None and looks_at_strata(made["field"], null)
    if meeting:
        placed = placed.shuffle(on=_STRATUM, npartitions=len(parts))
    score = delayed(partial(_score, shuffled=meeting))
    scored = [
        score(part, metrics, replicate, scoring, i, dask_key_name=f"score-{token}-{i}")
        for i, part in enumerate(placed.to_delayed())
    ]
    variables = _variables(scored, template, sizes, token)
    attrs = dict(template.attrs)
    if n_draws is not None:
        attrs["control_kind"] = str(made.get("control_kind") or "that of the estimate")
    # those of null models, and of the dimensions that metrics declare
    kept = {name: x for name, x in template.coords.items() if name not in {**coordinates, **extra, **IDENTITIES}}
    identities = {name: variables.pop(name) for name in row_identities(template)} | _same(template, variables["status"])
    ordered = {name: variables[name] for name in template.data_vars}
    return xr.Dataset(ordered, {**coordinates, **extra, **kept, **identities}, attrs)


def _same(template: xr.Dataset, status: xr.Variable) -> dict[str, xr.Variable]:
    """Return the coordinates that are the same for all runs of a call."""
    coordinates = {}
    if "control_seed" in template.coords:
        for name, value in (("control_seed", "control_seed"), ("control_draws", "n_draws")):
            array = da.full(status.shape, template.attrs[value], np.int64, chunks=status.chunks)
            coordinates[name] = xr.Variable(status.dims, array, IDENTITIES[name].describe())
    if "control_null" in template.coords:
        nulls = [read_nulls(x.attrs["control_null"]) for x in template.data_vars.values() if "control_null" in x.attrs]
        words = np.full(status.shape, ", ".join(dict.fromkeys(null for [null] in nulls)), object)
        coordinates["control_null"] = xr.Variable(status.dims, words, IDENTITIES["control_null"].describe())
    return coordinates


def _variables(
    scored: Sequence[Any], template: xr.Dataset, sizes: Mapping[str, int], token: str
) -> dict[Hashable, xr.Variable]:
    """Return the variables of the whole cube, from the scores of the partitions."""
    lengths: dict[Hashable, int] = dict(template.sizes)
    lengths.update(sizes)
    n_bytes = sum(x.dtype.itemsize * math.prod(lengths[dim] for dim in x.dims) for x in template.data_vars.values())
    return chunked_variables(scored, template, lengths, split(sizes, n_bytes), token)


class _Found(NamedTuple):
    """What the places of a partition's rows in the cube depend on: their strata, truths and keys."""

    axes: list[Axis]
    truth: NDArray[np.int64]
    keys: pd.DataFrame
    clusters: PartClusters


def _axes(part: pd.DataFrame, by: By, replicate: Hashable | None, task: Task) -> list[Axis]:
    axes = strata_axes(stratum_columns(part, by, task))
    if replicate is not None:
        axes.append(levels("replicate", column(part, replicate, "replicate")))
    return axes


def _look_up(
    part: pd.DataFrame, by: By, replicate: Hashable | None, settings: Mapping[str, Any], number: int
) -> _Found:
    with in_partition(settings, number):
        task = cells_of(part, settings)
        axes = _axes(part, by, replicate, task)
        clusters = part_clusters(part, settings, task)
    if replicate is not None:
        return _Found(axes, np.empty(0, np.int64), part[[]], clusters)
    keys = list(key_columns(part, settings["key"]))
    return _Found(axes, run_identity(task, keys, None), pd.DataFrame(dict(enumerate(x.array for x in keys))), clusters)


def _coordinates(parts: Sequence[_Found], meta: pd.DataFrame, by: By) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the coordinates of a cube of the whole table, and the further coordinates along its strata."""
    edges = strata_edges(by)
    coordinates: dict[str, NDArray[Any]] = {}
    extra: dict[str, Any] = {}
    for i, axis in enumerate(parts[0].axes):
        name = axis.name
        labels = {None if pd.isna(x) else x for part in parts for x in pd.Index(part.axes[i].labels)}
        if edges.get(name) is not None:
            missing = [np.nan] if MISSING in labels else []
            [whole] = strata_axes([StratumColumn(name, pd.Series(missing, dtype=np.float64), edges[name])])
            coordinates[name] = whole.labels
            extra |= {side: (name, values) for side, values in whole.extra.items()}
            continue
        words = any(isinstance(x, str) for x in labels)
        found_labels = pd.Series(list({str(x) for x in labels} if words else labels), dtype=object)
        order = np.argsort(np.asarray(level_ranks(found_labels, meta, name, None), np.float64), kind="stable")
        ordered = [found_labels.iloc[i] for i in order]
        coordinates[name] = (
            np.array(ordered, dtype=object) if words else np.array([np.nan if x is None else x for x in ordered])
        )
    return coordinates, extra


def _strata(part: _Found, coordinates: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return the strata of a partition's rows, numbered in the order of the cube's cells."""
    axes = [_whole(axis, coordinates) for axis in part.axes if axis.name != "replicate"]
    return stratum_numbers(axes, len(part.clusters.ids))


def _whole(axis: Axis, coordinates: Mapping[str, NDArray[Any]]) -> Axis:
    """Return the axis of the whole table, with the positions of a partition's rows along it."""
    labels = coordinates[axis.name]
    index = pd.Index(axis.labels)
    # truth values and dates are words where another partition lacks one
    index = pd.Index(label_words(index)) if labels.dtype == object else index
    positions = pd.Index(labels).get_indexer(index).astype(np.int64)
    return axis._replace(labels=labels, codes=positions[axis.codes])


def _numbers(
    parts: Sequence[_Found], coordinates: Mapping[str, NDArray[Any]], settings: Mapping[str, Any]
) -> list[NDArray[np.int64]]:
    """Give numbers to the runs of all partitions by their truths, and refuse keys that repeat."""
    keys = pd.concat([part.keys for part in parts], ignore_index=True)
    if settings["n_draws"] is not None:
        refuse_repeats([keys[name] for name in keys.columns], settings["key"])
    stratum = np.concatenate([stratum_numbers([_whole(a, coordinates) for a in x.axes], len(x.truth)) for x in parts])
    columns = [keys[name] for name in keys.columns]
    numbers = number_replicates(columns, stratum, np.concatenate([x.truth for x in parts]))
    return np.split(numbers, np.cumsum([len(x.truth) for x in parts])[:-1])


def _column(values: NDArray[np.int64]) -> pd.Series:
    return pd.Series(values)


def _place(
    part: pd.DataFrame,
    numbers: pd.Series | None,
    by: By,
    replicate: Hashable | None,
    settings: Mapping[str, Any],
    coordinates: Mapping[str, NDArray[Any]],
    plan: ClusterPlan,
) -> pd.DataFrame:
    """Add the places of a partition's rows in the whole cube, and their clusters."""
    cells = cells_of(part, settings)
    axes = [_whole(axis, coordinates) for axis in _axes(part, by, replicate, cells)]
    replicates = axes.pop().codes if numbers is None else numbers.to_numpy()
    stratum = stratum_numbers(axes, len(part))
    placed = part.assign(**{_STRATUM: stratum, _REPLICATE: replicates})
    return plan.mark(placed, part_clusters(part, settings, cells).ids, stratum)


def _score(
    part: pd.DataFrame,
    metrics: Metrics,
    replicate: Hashable | None,
    settings: Mapping[str, Any],
    partition: int,
    *,
    shuffled: bool,
) -> dict[str, Any]:
    """Score a partition's rows; return their places in the whole cube, and the values of its variables."""
    stratum, position = (part[name].to_numpy(np.int64) for name in (_STRATUM, _REPLICATE))
    number = part.groupby(_STRATUM).cumcount().to_numpy(np.int64)
    runs = part.drop(columns=_REPLICATE).assign(**{_NUMBER: number})
    with in_partition(settings, partition, shuffled=shuffled):
        part_cube = cube_of(runs, metrics, by=[_STRATUM], replicate=_NUMBER, **keywords(settings))
    at = np.searchsorted(part_cube[_STRATUM].to_numpy().astype(np.int64), stratum), number
    names: list[Hashable] = [*part_cube.data_vars, *row_identities(part_cube)]
    rows = {name: part_cube[name].transpose(_STRATUM, "replicate", ...).to_numpy()[at] for name in names}
    if settings.get("truth", "truth") is None:
        # the cube of a partition takes a run's number in it for what pairs it with others
        numbers = None if replicate is None else column(part, replicate, "replicate")
        identity = run_identity(cells_of(part, settings), list(key_columns(part, settings["key"])), numbers)
        rows["truth_id"] = short_ids(identity)
    return {"places": (stratum, position), "values": rows}
