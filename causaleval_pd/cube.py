"""From a table of runs to an xarray cube over strata, replicates and control draws, and from a cube to its summary."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from .context import describe_context
from .controls import check_directions, check_settings, control_kinds, find_null, given_controls
from .engine import RNGLike, resolve_seed, row_keys
from .evaluate import Invalid, Metrics, Task, column, plan, score_rows
from .metric import Metric
from .null import Matching
from .row_controls import Method, Plan, RowControls
from .stats import score as score_values
from .strata import RESERVED, Axis, By, cube_size, replicate_axis, strata_axes, stratum_numbers
from .streaming import control_chunks

Floats = NDArray[np.float64]

#: raw draws are kept by default up to this many bytes
_DRAWS_BYTES = 256 * 2**20
#: cells of strata x replicates that a cube may have
_MAX_CELLS = 200_000_000
#: distinct control values of a stratum that are stored exactly; more are averaged within as many bins
_MAX_VALUES = 4096

NO_RUN, SCORED, FAILED = 0, 1, 2

#: row summaries that a cube carries beside each metric, with the words of their labels
ROW_PARTS = {
    "mean": ("control_mean", "mean of {}, controls"),
    "low": ("control_low", "lower limit of {}, controls"),
    "high": ("control_high", "upper limit of {}, controls"),
    "loss": ("control_loss", "mean distance of {} from its optimum, controls"),
    "p": ("p", "p-value of {} against controls"),
    "as_good": ("as_good", "share of controls at least as good in {}"),
    "better": ("better", "share of controls strictly better in {}"),
}


def cube(
    table: pd.DataFrame,
    metrics: Metrics = None,
    *,
    by: By,
    n_draws: int | None = 1000,
    null: str | None = None,
    control: Hashable | None = None,
    rng: RNGLike = None,
    truth: Hashable = "truth",
    estimate: Hashable = "estimate",
    replicate: Hashable | None = None,
    key: Hashable | Sequence[Hashable] | None = None,
    control_kind: str | None = None,
    permute: bool = True,
    method: Method = "auto",
    level: float = 0.95,
    keep_draws: bool | Literal["auto"] = "auto",
    values: Sequence[str] = (),
    field: str | None = None,
    context: Mapping[str, Any] | None = None,
    zero_division: float = math.nan,
    invalid: Invalid = "raise",
    progress: bool = False,
) -> xr.Dataset:
    """Score runs and their controls into an array over strata.

    Parameters
    ----------
    table : DataFrame
        One run a row.
    metrics : str, Metric or iterable of these, optional
        What to compute; default the field's default set.
    by : sequence of str or {name: edges}
        The strata, a dimension each, in this order. A name is a column or a metric that describes the row
        (`"true_density"`); edges cut numbers into intervals, the lowest edge included. Rows whose value is missing form
        a category of their own.
    n_draws : int or None
        Controls a row; None makes no controls.
    null : str, optional
        Null model; default the field's. `"stratum"` draws edge numbers from the stratum's estimates.
    control : hashable, optional
        Column that holds one given control a row, in place of a null model.
    rng, truth, estimate, key, control_kind, permute, method, level, field, context, zero_division, invalid,
    progress
        As in `with_controls`.
    replicate : hashable, optional
        Column that numbers the runs of a stratum and pairs them across strata. By default rows take the number of their
        truth, so that strata that share truths are paired by truth; repeats follow `key`.
    keep_draws : {"auto"} or bool
        Keep every draw (dimension `draw`). "auto" keeps them where they take at most 256 MiB; otherwise the cube
        carries sums by draw and tables of values a stratum, enough for `summary` and `test_controls`.
    values : sequence of str
        Numeric columns of the table to carry along (run times, for example).

    Returns
    -------
    Dataset
        Dimensions: the strata, `replicate`, and `draw` where draws are kept. For each metric `m`: `m` and, with
        controls, `m_control_mean`, `m_control_low`, `m_control_high`, `m_control_loss`, `m_p`, `m_as_good`, `m_better`
        (stratum x replicate), and `m_control` or the accumulators `m_control_sum`, `m_control_count`,
        `m_control_value`, `m_control_weight`. Further `status` (0 no run, 1 scored, 2 failed), `n_obs` and `truth_id`.
        Variables carry their metric's spec as attributes, the cube its seed, null model and conventions. It can be
        saved to netCDF and Zarr as it is.

    Raises
    ------
    ValueError
        As `with_controls`; also for unknown strata, values outside the edges, replicates that repeat in a stratum, or a
        cube of more than 200 million cells.

    Examples
    --------
    >>> import pandas as pd
    >>> import causaleval_pd as ce
    >>> runs = pd.DataFrame({
    ...     "algorithm": ["x", "x", "y", "y"],
    ...     "truth": ["A -> B; B -> C", "A -> B; C"] * 2,
    ...     "estimate": ["A -> B; B -> C", "A; B; C", "C -> B; A", None],
    ... })
    >>> found = ce.cube(runs, ["shd"], by=["algorithm"], n_draws=100, rng=7)
    >>> dict(found.sizes)
    {'algorithm': 2, 'replicate': 2, 'draw': 100}
    >>> found.shd.to_numpy()
    array([[ 0.,  1.],
           [ 2., nan]])
    """
    from . import __version__

    check_settings(n_draws, level, method, "add_one")
    seed = resolve_seed(rng)
    tasks, _ = plan(
        table, metrics, truth=truth, estimate=estimate, field=field, context=context, zero_division=zero_division
    )
    chosen = [m for task in tasks for m in task.metrics]
    if not tasks:
        raise ValueError("no metrics were named; a cube needs at least one")
    own = tasks[0]
    axes = strata_axes(table, by, own)
    stratum = stratum_numbers(axes, len(table))
    identity = own.field.identify(own.truth)
    labels, position = replicate_axis(table, stratum, identity, replicate=replicate, key=key)
    n_strata = cube_size(axes, len(labels), _MAX_CELLS)
    _check_names(axes, chosen, values)

    builder = _Builder(axes, labels, n_strata, stratum, position)
    failed = own.field.missing(own.truth) | own.field.missing(own.estimate)
    builder.place("status", np.where(failed, FAILED, SCORED).astype(np.int8), NO_RUN, role="status", flags=True)
    builder.place("truth_id", identity, 0, role="identity")
    builder.variables["n_obs"] = (
        builder.strata_dims,
        np.bincount(stratum, minlength=n_strata).reshape(builder.strata_shape),
        {"long_name": "number of runs", "role": "count"},
    )
    for name in values:
        carried = column(table, name, "values")
        if not pd.api.types.is_numeric_dtype(carried.dtype):
            raise ValueError(f"values={name!r} holds {carried.dtype}, and a cube carries numbers only")
        numbers = carried.to_numpy(np.float64, na_value=np.nan)
        builder.place(name, numbers, np.nan, role="value", long_name=name)

    n_drawn = 0 if n_draws is None else 1 if control is not None else n_draws
    attrs: dict[str, Any] = {
        "strata": json.dumps([axis.name for axis in axes]),
        "metrics": json.dumps([m.name for m in chosen]),
        "n_draws": n_drawn,
        "draws_kept": 0,
        "zero_division": float(zero_division),
        "context": json.dumps(describe_context(context)),
        "causaleval_pd_version": __version__,
    }
    if n_draws is None:
        _place_scores(builder, tasks, invalid, table.index)
        return builder.dataset(attrs)

    keep = keep_draws is True or (
        keep_draws == "auto" and n_strata * len(labels) * n_drawn * 8 * len(chosen) <= _DRAWS_BYTES
    )
    check_directions(chosen)
    kinds = control_kinds(table, control_kind)
    keys = row_keys(table, key, seed)
    how = Plan(n_drawn, method, level, "add_one", invalid, keep=True)
    found_kinds: set[str] = set()
    for task in tasks:
        if control is None:
            model = find_null(task.field, null, permute=permute)
        else:
            model = given_controls(task, column(table, control, "control"), str(control))
        match = model.match(Matching(task.truth, task.estimate, kinds, stratum, model.options, task.context))
        collector = _Collector(builder, task.metrics, n_drawn, keep)
        for chunk in control_chunks(task, match, keys, how, table.index, progress=progress):
            collector.add(chunk.rows, chunk.summaries, chunk.draws, row_p=not model.by_stratum)
            found_kinds |= set(chunk.kind.tolist())
        collector.finish()
    attrs |= {
        "control_null": model.name,
        "control_kind": ", ".join(sorted(found_kinds)),
        "control_seed": seed,
        "draws_kept": int(keep),
        "control_level": level,
    }
    return builder.dataset(attrs)


def _check_names(axes: Sequence[Axis], metrics: Sequence[Metric], values: Sequence[str]) -> None:
    names = [axis.name for axis in axes] + [m.name for m in metrics] + list(values)
    names += ["status", "truth_id", "n_obs", *RESERVED]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"a cube cannot use the name {', '.join(twice)} twice; rename a column, or a metric by tweak(name=)"
        )


def _place_scores(builder: _Builder, tasks: Sequence[Task], invalid: Invalid, index: pd.Index) -> None:
    for task in tasks:
        scores = score_rows(task, invalid, index)
        for m in task.metrics:
            builder.place(m.name, scores[m.name], np.nan, **metric_attrs(m))


def metric_attrs(metric: Metric) -> dict[str, Any]:
    """Return a metric's spec as attributes that netCDF and Zarr can store."""
    return {
        "long_name": metric.long_name,
        "direction": metric.direction or "none",
        "valid_range": list(metric.range),
        "optimum": metric.optimum,
        "references": metric.reference,
        "options": json.dumps({k: v for k, v in metric.options.items() if k != "zero_division"}, default=str),
        "role": "metric",
    }


class _Builder:
    """Places row values into the cells of a cube."""

    def __init__(
        self,
        axes: Sequence[Axis],
        labels: NDArray[Any],
        n_strata: int,
        stratum: NDArray[np.int64],
        position: NDArray[np.int64],
    ) -> None:
        self.axes = axes
        self.labels = labels
        self.n_strata = n_strata
        self.stratum = stratum
        self.cell = stratum * len(labels) + position
        self.strata_dims = tuple(axis.name for axis in axes)
        self.strata_shape = tuple(len(axis.labels) for axis in axes)
        self.variables: dict[str, Any] = {}

    @property
    def n_rows(self) -> int:
        return len(self.cell)

    def empty(self, fill: Any, dtype: Any, *last: int) -> NDArray[Any]:
        """Return an array over strata x replicates (x last), flat in its cells."""
        return np.full((self.n_strata * len(self.labels), *last), fill, dtype)

    def place(self, name: str, rows: NDArray[Any], fill: Any, **attrs: Any) -> None:
        """Add a variable over strata and replicates from one value a row."""
        cells = self.empty(fill, rows.dtype)
        cells[self.cell] = rows
        if attrs.pop("flags", False):
            attrs |= {
                "long_name": "state of the run",
                "flag_values": [0, 1, 2],
                "flag_meanings": "no_run scored failed",
            }
        self.add(name, cells, **attrs)

    def add(self, name: str, cells: NDArray[Any], last: tuple[str, ...] = (), **attrs: Any) -> None:
        shape = (*self.strata_shape, len(self.labels), *cells.shape[1:])
        self.variables[name] = ((*self.strata_dims, "replicate", *last), cells.reshape(shape), attrs)

    def add_stratum(self, name: str, strata: NDArray[Any], last: str, **attrs: Any) -> None:
        """Add a variable over strata and one further dimension."""
        self.variables[name] = ((*self.strata_dims, last), strata.reshape(*self.strata_shape, -1), attrs)

    def dataset(self, attrs: dict[str, Any]) -> xr.Dataset:
        coordinates: dict[str, Any] = {"replicate": self.labels}
        for axis in self.axes:
            coordinates[axis.name] = axis.labels
            coordinates |= {name: (axis.name, array) for name, array in axis.extra.items()}
        return xr.Dataset(self.variables, coordinates, attrs)


class _Collector:
    """Gathers the chunks of one task: row summaries, and raw draws or the strata's accumulators."""

    def __init__(self, builder: _Builder, metrics: Sequence[Metric], n_draws: int, keep: bool) -> None:
        self.builder, self.metrics, self.n_draws, self.keep = builder, metrics, n_draws, keep
        n_rows, n_strata = builder.n_rows, builder.n_strata
        self.rows = {m.name: {part: np.full(n_rows, np.nan) for part in ("observed", *ROW_PARTS)} for m in metrics}
        if keep:
            self.raw = {m.name: builder.empty(np.nan, np.float64, n_draws) for m in metrics}
        else:
            self.sums = {m.name: np.zeros((n_strata, n_draws)) for m in metrics}
            self.counts = {m.name: np.zeros((n_strata, n_draws), np.int64) for m in metrics}
            self.tables: dict[str, dict[int, pd.Series]] = {m.name: {} for m in metrics}

    def add(
        self, rows: NDArray[np.int64], summaries: dict[str, RowControls], draws: dict[str, Floats], *, row_p: bool
    ) -> None:
        strata = self.builder.stratum[rows]
        for m in self.metrics:
            summary = summaries[m.name]
            for part, column_values in self.rows[m.name].items():
                column_values[rows] = getattr(summary, part) if row_p or part != "p" else np.nan
            if self.keep:
                self.raw[m.name][self.builder.cell[rows]] = draws[m.name]
                continue
            scores = score_values(draws[m.name], direction=m.direction, optimum=m.optimum)
            for number in np.unique(strata):
                mine = strata == number
                self.sums[m.name][number] += np.nansum(scores[mine], axis=0)
                self.counts[m.name][number] += (~np.isnan(scores[mine])).sum(axis=0)
                seen = pd.Series(*np.unique(draws[m.name][mine], return_counts=True)[::-1])
                seen = seen[~np.isnan(seen.index.to_numpy(np.float64))]
                table = self.tables[m.name].get(int(number))
                merged = seen if table is None else table.add(seen, fill_value=0)
                self.tables[m.name][int(number)] = _coarsen(merged, _MAX_VALUES)

    def finish(self) -> None:
        for m in self.metrics:
            rows = self.rows[m.name]
            self.builder.place(m.name, rows["observed"], np.nan, **metric_attrs(m))
            for part, (suffix, label) in ROW_PARTS.items():
                attrs = {"long_name": label.format(m.long_name), "role": "control"}
                self.builder.place(f"{m.name}_{suffix}", rows[part], np.nan, **attrs)
            attrs = {"long_name": f"{m.long_name}, controls", "role": "control"}
            if self.keep:
                self.builder.add(f"{m.name}_control", self.raw[m.name], ("draw",), **attrs)
                continue
            self.builder.add_stratum(f"{m.name}_control_sum", self.sums[m.name], "draw", **attrs)
            self.builder.add_stratum(f"{m.name}_control_count", self.counts[m.name], "draw", **attrs)
            tables = [self.tables[m.name].get(i, pd.Series(dtype=np.float64)) for i in range(self.builder.n_strata)]
            width = max((len(t) for t in tables), default=0)
            values = np.full((len(tables), width), np.nan)
            weights = np.zeros((len(tables), width))
            for i, t in enumerate(tables):
                values[i, : len(t)], weights[i, : len(t)] = t.index.to_numpy(np.float64), t.to_numpy(np.float64)
            self.builder.add_stratum(f"{m.name}_control_value", values, f"{m.name}_bin", **attrs)
            self.builder.add_stratum(f"{m.name}_control_weight", weights, f"{m.name}_bin", **attrs)


def _coarsen(table: pd.Series, limit: int) -> pd.Series:
    """Average neighbouring values of a value table that has become too long."""
    table = table.sort_index()
    if len(table) <= limit:
        return table
    values, weights = table.index.to_numpy(np.float64), table.to_numpy(np.float64)
    bins = np.minimum((np.cumsum(weights) - weights / 2) / weights.sum() * limit, limit - 1).astype(int)
    weight = np.bincount(bins, weights, minlength=limit)
    value = np.bincount(bins, weights * values, minlength=limit)
    used = weight > 0
    return pd.Series(weight[used], index=value[used] / weight[used])
