"""From the rows of a table to their places in a cube: strata along `by`, replicates within them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..contract.checks import check_type
from ..contract.metric import METRICS
from ..execution.random_streams import key_columns
from ..tables.columns import column
from ..tables.evaluate import evaluate
from ..tables.tasks import Task
from .schema import RESERVED, RESULT_COLUMNS

By = Sequence[str | Mapping[str, Sequence[float]]]


#: label of the rows whose stratum is not known
MISSING = "missing"


class Axis(NamedTuple):
    """One dimension of strata: its name, coordinate, further coordinates along it, and each row's position."""

    name: str
    labels: NDArray[Any]
    extra: dict[str, NDArray[Any]]
    codes: NDArray[np.int64]


def strata_axes(table: pd.DataFrame, by: By, task: Task) -> list[Axis]:
    """Turn `by` into axes; a name is a column of the table or a metric that describes a row.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    by : sequence of str or {name: edges}
        A name takes its levels in order (categories as declared, numbers and words ascending); edges cut a number into
        intervals (a, b], the first one closed.
    task : Task
        Canonical columns, for the metrics that describe a row.

    Returns
    -------
    list of Axis
        In the order of `by`.

    Raises
    ------
    ValueError
        If a name is unknown, repeated or reserved, or a value lies outside the edges; the row is named.
    """
    if isinstance(by, (str, Mapping)):
        by = [by]
    check_type(by, Iterable, "the name of a column or several names, one a stratum", "by")
    axes: list[Axis] = []
    for entry in by:
        cuts = dict(entry) if isinstance(entry, Mapping) else {entry: None}
        for name, edges in cuts.items():
            if not isinstance(name, str) or name in RESERVED or name in [axis.name for axis in axes]:
                raise ValueError(
                    f"by names {name!r}; a stratum needs a name of its own, a string other than {', '.join(RESERVED)}"
                )
            if name in RESULT_COLUMNS:
                raise ValueError(
                    f"by names {name!r}, a column of the tables that are made of a cube; rename the table's column, "
                    f"e.g. table.rename(columns={{{name!r}: 'my_{name}'}})"
                )
            values = _values(table, name, task)
            axes.append(_levels(name, values) if edges is None else _intervals(name, values, edges))
    return axes


def _values(table: pd.DataFrame, name: str, task: Task) -> pd.Series:
    described = METRICS.get(name)
    if name in table.columns or described is None or described.direction is not None:
        return column(table, name, "by").reset_index(drop=True)
    truth = task.truth.array
    cells = pd.DataFrame({"truth": truth, "estimate": truth if described.of_truth else task.estimate.array})
    return cast(pd.Series, evaluate(cells, [name], field=task.field.name)[name])


def _levels(name: str, values: pd.Series) -> Axis:
    if isinstance(values.dtype, pd.CategoricalDtype):
        kept = values.cat.remove_unused_categories()
        codes, labels = kept.cat.codes.to_numpy(np.int64), kept.cat.categories
    else:
        try:
            codes, labels = pd.factorize(values, sort=True)
        except TypeError as error:
            raise ValueError(f"{name!r} cannot be a stratum, its values do not compare: {error}") from error
        codes = np.asarray(codes, np.int64)
    missing = codes < 0
    if isinstance(labels, pd.IntervalIndex):
        labels = labels.astype(str)
    array = np.asarray(labels)
    words = array.dtype.kind not in "iufM"
    if words:
        # objects are stored as strings of any length; Zarr 3 has no specification for those of fixed length
        array = np.array([str(x) for x in labels], dtype=object)
    if missing.any():
        codes = np.where(missing, len(array), codes)
        array = np.append(array, MISSING) if words else np.append(array.astype(np.float64), np.nan)
    return Axis(name, array, {}, codes.astype(np.int64))


def _intervals(name: str, values: pd.Series, edges: Sequence[float]) -> Axis:
    cuts = np.asarray(edges, np.float64)
    if cuts.ndim != 1 or len(cuts) < 2 or not (np.diff(cuts) > 0).all():
        raise ValueError(f"the edges of {name!r} must be at least two ascending numbers, found {list(edges)}")
    if not pd.api.types.is_numeric_dtype(values.dtype):
        raise ValueError(f"{name!r} holds {values.dtype}, and only numbers can be cut by edges; name it without edges")
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    outside = (numbers < cuts[0]) | (numbers > cuts[-1])
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"row {row}: {name} is {numbers[row]:g}, outside the edges {cuts[0]:g} to {cuts[-1]:g}; widen the edges "
            f"({int(outside.sum())} rows lie outside)"
        )
    codes = np.maximum(np.searchsorted(cuts, numbers, side="left") - 1, 0).astype(np.int64)
    labels = [f"{'[' if i == 0 else '('}{a:g}, {b:g}]" for i, (a, b) in enumerate(itertools.pairwise(cuts))]
    left, right = cuts[:-1], cuts[1:]
    if np.isnan(numbers).any():
        codes = np.where(np.isnan(numbers), len(labels), codes)
        labels, left, right = [*labels, MISSING], np.append(left, np.nan), np.append(right, np.nan)
    return Axis(name, np.array(labels, dtype=object), {f"{name}_left": left, f"{name}_right": right}, codes)


def stratum_numbers(axes: Sequence[Axis], n: int) -> NDArray[np.int64]:
    """Give each row its stratum, numbered in the order of the cube's cells."""
    number = np.zeros(n, np.int64)
    for axis in axes:
        number = number * max(1, len(axis.labels)) + axis.codes
    return number


def replicate_axis(
    table: pd.DataFrame,
    stratum: NDArray[np.int64],
    truth_id: NDArray[np.int64],
    *,
    replicate: Hashable | None,
    key: Hashable | Sequence[Hashable] | None,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Give every row a replicate: the user's column, or its truth's number and its place among repeats.

    Rows of one truth get the same replicate in every stratum, so that strata can be compared pairwise. Truths are
    numbered by their smallest key within the strata that they connect, repeats of a truth in a stratum by their keys,
    whatever the order of the rows.

    Returns
    -------
    labels, positions : arrays
        Coordinate of `replicate`, and each row's position along it.
    """
    if replicate is not None:
        axis = _levels("replicate", column(table, replicate, "replicate").reset_index(drop=True))
        labels, positions = axis.labels, axis.codes
    else:
        positions = number_truths(table, key, stratum, truth_id)
        labels = np.arange(int(positions.max(initial=-1)) + 1)
    return labels, positions


def number_truths(
    table: pd.DataFrame,
    key: Hashable | Sequence[Hashable] | None,
    stratum: NDArray[np.int64],
    truth_id: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Give the runs of every stratum numbers by their truths, as `replicate_axis` says."""
    return _number_truths(_ranks(table, key), stratum, truth_id)


def check_cells(cells: NDArray[np.int64], n_cells: int, labels: NDArray[Any], replicate: Hashable | None) -> None:
    """Refuse rows that share a cell: a stratum whose replicates repeat."""
    taken = np.zeros(n_cells, bool)
    taken[cells] = True
    if np.count_nonzero(taken) == len(cells):
        return
    first = int(np.flatnonzero(pd.Series(cells).duplicated(keep=False))[0])
    same = np.flatnonzero(cells == cells[first])
    label = labels[cells[first] % len(labels)]
    raise ValueError(
        f"rows {same[:5].tolist()} have the same stratum and the same {replicate!r} ({label!r}); name a column that "
        "tells them apart by replicate=, or add one to by="
    )


def _ranks(table: pd.DataFrame, key: Hashable | Sequence[Hashable] | None) -> NDArray[np.int64]:
    """Rank the rows by their keys."""
    parts = key_columns(table, key)
    codes = [pd.factorize(part, sort=_sortable(part), use_na_sentinel=True)[0] for part in parts]
    order = np.lexsort(codes[::-1])
    ranks = np.empty(len(table), np.int64)
    ranks[order] = np.arange(len(table))
    return ranks


def _sortable(values: pd.Series) -> bool:
    return values.dtype != object or pd.api.types.infer_dtype(values, skipna=True) in ("string", "integer", "floating")


def _number_truths(
    rank: NDArray[np.int64], stratum: NDArray[np.int64], truth_id: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give truths numbers within the groups of strata that they connect, each as many places as it has repeats."""
    n = len(rank)
    if n == 0:
        return np.empty(0, np.int64)
    truth, cell = pd.factorize(truth_id)[0], pd.factorize(stratum)[0]
    n_truths, n_cells = int(truth.max()) + 1, int(cell.max()) + 1
    links = coo_array((np.ones(n, np.int8), (truth, n_truths + cell)), shape=(n_truths + n_cells,) * 2)
    component = connected_components(links, directed=False)[1][truth]
    rows = pd.DataFrame({"component": component, "truth": truth, "cell": cell, "rank": rank})
    repeat = rows.sort_values("rank").groupby(["truth", "cell"]).cumcount().reindex(rows.index)
    truths = (
        rows.assign(repeats=repeat + 1).groupby("truth").agg({"component": "first", "rank": "min", "repeats": "max"})
    )
    truths = truths.sort_values(["component", "rank"])
    start = truths.groupby("component")["repeats"].cumsum() - truths["repeats"]
    return (start.reindex(truth).to_numpy() + repeat.to_numpy()).astype(np.int64)


def cube_size(axes: Sequence[Axis], n_replicates: int, limit: int) -> int:
    """Return the number of strata, refusing cubes whose cells could not be held."""
    strata = math.prod(len(axis.labels) for axis in axes)
    if strata * n_replicates > limit:
        sizes = ", ".join(f"{axis.name}: {len(axis.labels)}" for axis in axes)
        raise ValueError(
            f"the cube would have {strata} strata ({sizes}) x {n_replicates} replicates, more than {limit:,} cells; "
            "cut numbers by edges, {name: [edges]}, or leave a name out of by="
        )
    return cast(int, strata)


def strata_edges(by: By) -> dict[str, Sequence[float] | None]:
    """Return the edges of every name of `by`, None where it has no edges."""
    entries = [by] if isinstance(by, (str, Mapping)) else by
    pairs = [(dict(entry) if isinstance(entry, Mapping) else {entry: None}) for entry in entries]
    return {name: edges for entry in pairs for name, edges in entry.items()}


def strata_names(by: By) -> list[str]:
    """Return the names of `by`."""
    return list(strata_edges(by))
