"""Places of the rows of a table in a cube: strata along `by`, replicates within them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from ..contract.checks import check_type, shown
from ..tables.columns import check_labels, near_equal
from .schema import IDENTITIES, METRIC, METRIC_VARIABLES, RESERVED

By = Sequence[str | Mapping[str, Sequence[float]]]


#: label of the rows whose stratum is missing
MISSING = "missing"


class Axis(NamedTuple):
    """One dimension of strata: its name, coordinate, further coordinates along it, and each row's position."""

    name: str
    labels: NDArray[Any]
    extra: dict[str, NDArray[Any]]
    codes: NDArray[np.int64]


class StratumColumn(NamedTuple):
    """One entry of `by`: its name, each row's value, and the edges that cut numbers."""

    name: str
    values: pd.Series
    edges: Sequence[float] | None


def strata_edges(by: By) -> dict[str, Sequence[float] | None]:
    """Return the edges of every name of `by`, None where a name has no edges."""
    return dict(stratum_entries(by))


def stratum_entries(by: By) -> Iterator[tuple[str, Sequence[float] | None]]:
    """Yield the names of `by` with their edges, repeated names too."""
    entries = [by] if isinstance(by, (str, Mapping)) else by
    check_type(entries, Iterable, "the name of a column, several names, or [] for one stratum of all runs", "by")
    for entry in entries:
        yield from dict(entry).items() if isinstance(entry, Mapping) else [(entry, None)]


def strata_axes(columns: Sequence[StratumColumn]) -> list[Axis]:
    """Turn columns into axes: levels in order (categories as declared, others ascending), or intervals (a, b].

    The first interval is closed. A value outside the edges is an error that names the row.
    """
    return [
        levels(name, values) if edges is None else _intervals(name, values, edges) for name, values, edges in columns
    ]


def _check_text(name: str, label: str) -> None:
    """Refuse a label that is not valid text: files and tables of text cannot hold it."""
    try:
        label.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{name!r} cannot be a stratum, its label {label!r} is not valid Unicode text (character {error.start}); "
            "replace it in the table"
        ) from None


def levels(name: str, values: pd.Series) -> Axis:
    """Return the axis of a column's levels, missing values last."""
    check_labels(values, name)
    if isinstance(values.dtype, pd.CategoricalDtype):
        kept = values.cat.remove_unused_categories()
        codes, labels = kept.cat.codes.to_numpy(np.int64), kept.cat.categories
    else:
        try:
            codes, labels = pd.factorize(values, sort=True)
        except TypeError as error:
            raise ValueError(f"{name!r} cannot be a stratum, its values do not compare: {error}") from error
        for label in labels:
            if isinstance(label, str) and not label.isascii():
                _check_text(name, label)
        codes = np.asarray(codes, np.int64)
    missing = codes < 0
    if isinstance(labels, pd.IntervalIndex):
        labels = labels.astype(str)
    array = np.asarray(labels)
    if pd.api.types.is_bool_dtype(labels.dtype) or pd.api.types.infer_dtype(array) == "boolean":
        array = array.astype(bool)
    # no truth value or date could stand for a missing one
    words = array.dtype.kind not in ("iuf" if missing.any() else "iufMb")
    if words:
        array = label_words(labels)
    if missing.any():
        codes = np.where(missing, len(array), codes)
        array = np.append(array, MISSING) if words else np.append(array.astype(np.float64), np.nan)
    if words and len({*array.tolist()}) < len(array):
        label = next(x for x in array.tolist() if array.tolist().count(x) > 1)
        raise ValueError(
            f"{name!r} cannot be a stratum, different values of it are written {label!r}, such as a text and a number, "
            f"or a text and a missing value; make them one type, as in table[{name!r}].astype(str)"
        )
    return Axis(name, array, {}, codes.astype(np.int64))


def label_words(labels: Iterable[Any]) -> NDArray[np.object_]:
    """Return labels as words."""
    # objects are stored as strings of any length; Zarr 3 has no specification for those of fixed length
    return np.array([str(label) for label in labels], dtype=object)


def _intervals(name: str, values: pd.Series, edges: Sequence[float]) -> Axis:
    check_type(edges, (Sequence, np.ndarray), "a list of ascending numbers", f"the edges of {name!r}")
    if isinstance(edges, str):
        raise TypeError(f"the edges of {name!r} must be a list of ascending numbers, found {edges!r}")
    cuts = np.asarray(edges, np.float64)
    if cuts.ndim != 1 or len(cuts) < 2 or not (np.diff(cuts) > 0).all():
        raise ValueError(f"the edges of {name!r} must be at least two ascending numbers, found {list(edges)}")
    if not pd.api.types.is_numeric_dtype(values.dtype):
        raise ValueError(f"{name!r} holds {values.dtype}, and only numbers can be cut by edges; name it without edges")
    numbers = values.to_numpy(np.float64, na_value=np.nan)
    beside = near_equal(numbers, cuts)
    if beside is not None:
        raise ValueError(
            f"row {int(np.argmax(numbers == beside[0]))}: {name} is {beside[0]!r}, which differs from the edge "
            f"{beside[1]!r} by rounding errors only; round the values, as in table[{name!r}].round(9)"
        )
    outside = (numbers < cuts[0]) | (numbers > cuts[-1])
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"row {row}: {name} is {numbers[row]:g}, outside the edges {cuts[0]:g} to {cuts[-1]:g}; widen the edges "
            f"({int(outside.sum())} rows lie outside)"
        )
    codes = np.maximum(np.searchsorted(cuts, numbers, side="left") - 1, 0).astype(np.int64)
    labels = interval_labels(cuts)
    left, right = cuts[:-1], cuts[1:]
    if np.isnan(numbers).any():
        codes = np.where(np.isnan(numbers), len(labels), codes)
        labels, left, right = [*labels, MISSING], np.append(left, np.nan), np.append(right, np.nan)
    return Axis(name, np.array(labels, dtype=object), {f"{name}_left": left, f"{name}_right": right}, codes)


def interval_labels(edges: Iterable[float]) -> list[str]:
    """Return the labels of the intervals between edges."""
    return [f"{'[' if i == 0 else '('}{a:g}, {b:g}]" for i, (a, b) in enumerate(itertools.pairwise(edges))]


def stratum_numbers(axes: Sequence[Axis], n: int) -> NDArray[np.int64]:
    """Return each row's stratum, numbered in the order of the cube's cells."""
    number = np.zeros(n, np.int64)
    for axis in axes:
        number = number * max(1, len(axis.labels)) + axis.codes
    return number


class Grid(NamedTuple):
    """The cells of a cube, strata x replicates, and the places of the rows in them."""

    axes: Sequence[Axis]
    replicates: NDArray[Any]
    stratum: NDArray[np.int64]
    position: NDArray[np.int64]

    @property
    def n_strata(self) -> int:
        """Number of strata."""
        return math.prod(self.strata_shape)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.n_strata * len(self.replicates)

    @property
    def strata_dims(self) -> tuple[str, ...]:
        """Names of the strata."""
        return tuple(axis.name for axis in self.axes)

    @property
    def strata_shape(self) -> tuple[int, ...]:
        """Number of levels of each stratum."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def cell(self) -> NDArray[np.int64]:
        """Each row's cell."""
        return self.stratum * len(self.replicates) + self.position


def lay_out(
    columns: Sequence[StratumColumn],
    keys: Sequence[pd.Series],
    truth_id: NDArray[np.int64] | None,
    replicate: pd.Series | None,
    limit: int,
) -> Grid:
    """Give every row its stratum and its replicate, so that each has a cell of its own."""
    axes = strata_axes(columns)
    stratum = stratum_numbers(axes, len(keys[0]))
    if replicate is not None:
        _, labels, _, position = levels("replicate", replicate.reset_index(drop=True))
    else:
        position = number_replicates(keys, stratum, truth_id)
        labels = np.arange(int(position.max(initial=-1)) + 1)
    n_strata = cube_size(axes, len(labels), limit)
    grid = Grid(axes, labels, stratum, position)
    refuse_shared_cells(grid.cell, n_strata * len(labels), labels, None if replicate is None else replicate.name)
    return grid


def number_replicates(
    keys: Sequence[pd.Series], stratum: NDArray[np.int64], truth_id: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the numbers of the runs within their strata, whatever the order of the rows.

    Rows of one truth get the same number in every stratum, so that strata can be compared pairwise. Truths are numbered
    by their smallest key within the strata that they connect, repeats of a truth in a stratum by their keys. Without
    truths the runs of a stratum are numbered by their keys.
    """
    rank = _ranks(keys)
    if truth_id is not None:
        return _number_truths(rank, stratum, truth_id)
    rows = pd.DataFrame({"stratum": stratum, "rank": rank}).sort_values("rank")
    return np.asarray(rows.groupby("stratum").cumcount().sort_index(), np.int64)


def refuse_shared_cells(
    cells: NDArray[np.int64], n_cells: int, labels: NDArray[Any], replicate: Hashable | None
) -> None:
    """Refuse rows that share a cell: a stratum whose replicates repeat."""
    taken = np.zeros(n_cells, bool)
    taken[cells] = True
    if np.count_nonzero(taken) == len(cells):
        return
    first = int(np.flatnonzero(pd.Series(cells).duplicated(keep=False))[0])
    same = np.flatnonzero(cells == cells[first])
    label = shown(labels[cells[first] % len(labels)])
    raise ValueError(
        f"rows {same[:5].tolist()} have the same stratum and the same {replicate!r} ({label}); name a column that "
        "tells them apart by replicate=, or add one to by="
    )


def _ranks(keys: Sequence[pd.Series]) -> NDArray[np.int64]:
    """Rank the rows by their keys."""
    codes = [pd.factorize(key, sort=_sortable(key), use_na_sentinel=True)[0] for key in keys]
    order = np.lexsort(codes[::-1])
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _sortable(values: pd.Series) -> bool:
    return values.dtype != object or pd.api.types.infer_dtype(values, skipna=True) in ("string", "integer", "floating")


def _number_truths(
    rank: NDArray[np.int64], stratum: NDArray[np.int64], truth_id: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give numbers to truths within the groups of strata that they connect, a truth as many as it has repeats."""
    n = len(rank)
    if n == 0:
        return np.empty(0, np.int64)
    truth, cell = pd.factorize(truth_id)[0], pd.factorize(stratum)[0]
    n_truths, n_cells = int(truth.max()) + 1, int(cell.max()) + 1
    links = scipy.sparse.coo_array((np.ones(n, np.int8), (truth, n_truths + cell)), shape=(n_truths + n_cells,) * 2)
    component = scipy.sparse.csgraph.connected_components(links, directed=False)[1][:n_truths].astype(np.int64)
    # repeats of a truth in a stratum
    order, repeat = np.lexsort([rank, cell, truth]), np.empty(n, np.int64)
    repeat[order] = _places(truth[order] * n_cells + cell[order], np.ones(n, np.int64))
    repeats, smallest = np.zeros(n_truths, np.int64), np.full(n_truths, n)
    np.maximum.at(repeats, truth, repeat + 1)
    np.minimum.at(smallest, truth, rank)
    start, by_key = np.empty(n_truths, np.int64), np.lexsort([smallest, component])
    start[by_key] = _places(component[by_key], repeats[by_key])
    return np.asarray(start[truth] + repeat, np.int64)


def _places(groups: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where parts of these lengths, laid end to end, begin within their group; groups are side by side."""
    ends = np.cumsum(lengths)
    first = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    before = ends[first] - lengths[first]
    return np.asarray(ends - lengths - np.repeat(before, np.diff(first, append=len(groups))), np.int64)


def check_names(strata: Sequence[str], metrics: Sequence[str], values: Sequence[str], *, controls: bool) -> None:
    """Refuse a name that two dimensions or variables of a cube would have."""
    made = METRIC_VARIABLES.values() if controls else [METRIC]
    names = [*strata, *(variable.name(metric) for metric in metrics for variable in made)]
    counts = Counter([*names, *values, *RESERVED, *IDENTITIES, *({"status"} - {*strata})])
    twice = sorted(name for name, n in counts.items() if n > 1)
    if twice:
        raise ValueError(
            f"a cube cannot use the name {', '.join(twice)} twice; rename a column, or a metric by tweak(name=)"
        )


def cube_size(axes: Sequence[Axis], n_replicates: int, limit: int) -> int:
    """Return the number of strata; refuse cubes whose cells memory cannot hold."""
    strata = math.prod(len(axis.labels) for axis in axes)
    if strata * n_replicates > limit:
        sizes = ", ".join(f"{axis.name}: {len(axis.labels)}" for axis in axes)
        raise ValueError(
            f"the cube would have {strata} strata ({sizes}) x {n_replicates} replicates, more than {limit:,} cells; "
            "cut numbers by edges, {name: [edges]}, or leave a name out of by="
        )
    return cast(int, strata)
