"""The parts of a cube: row values placed in its cells, draws gathered in strata, null models laid side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..tables.row_summary import METHODS, NONE
from ..tables.simulate import Chunk
from ..tables.stratum_draws import add_values
from .schema import ROW_PARTS
from .strata import Axis

Floats = NDArray[np.float64]
Variable = tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]


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


class Builder:
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
        self.layers: list[dict[str, Variable]] = []

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.cell)

    def empty(self, fill: Any, dtype: Any, *last: int) -> NDArray[Any]:
        """Return an array over strata x replicates (x last), flat in its cells."""
        return np.full((self.n_strata * len(self.labels), *last), fill, dtype)

    def place(self, name: str, rows: NDArray[Any], fill: Any, **attrs: Any) -> None:
        """Add a variable over strata and replicates from one value a row."""
        every = self.n_rows == self.n_strata * len(self.labels)
        cells = np.empty(self.n_rows, rows.dtype) if every else self.empty(fill, rows.dtype)
        cells[self.cell] = rows
        if attrs.pop("flags", False):
            attrs |= {
                "long_name": "state of the run",
                "flag_values": [0, 1, 2],
                "flag_meanings": "no_run scored failed",
            }
        self.add(name, cells, **attrs)

    def add(self, name: str, cells: NDArray[Any], last: tuple[str, ...] = (), **attrs: Any) -> None:
        """Add a variable over strata and replicates; what is said of controls belongs to the null model at hand."""
        shape = (*self.strata_shape, len(self.labels), *cells.shape[1:])
        into = self.layers[-1] if attrs.get("role") == "control" else self.variables
        into[name] = ((*self.strata_dims, "replicate", *last), cells.reshape(shape), attrs)

    def add_stratum(self, name: str, strata: NDArray[Any], last: str, **attrs: Any) -> None:
        """Add a variable of the null model at hand over strata and one further dimension."""
        self.layers[-1][name] = ((*self.strata_dims, last), strata.reshape(*self.strata_shape, strata.shape[-1]), attrs)

    def dataset(self, attrs: dict[str, Any], nulls: Sequence[str] = ()) -> xr.Dataset:
        """Put the variables together, with a dimension `null` where there are several null models."""
        coordinates: dict[str, Any] = {"replicate": self.labels}
        if len(nulls) > 1:
            coordinates["null"] = np.array(nulls, dtype=object)
        for name in self.layers[0] if self.layers else ():
            layers = [layer[name] for layer in self.layers]
            self.variables[name] = _stacked(layers, nulls, np.nan if name.endswith("_value") else 0)
        for axis in self.axes:
            coordinates[axis.name] = axis.labels
            coordinates |= {name: (axis.name, array) for name, array in axis.extra.items()}
        return xr.Dataset(self.variables, coordinates, attrs)


def _stacked(layers: list[Variable], nulls: Sequence[str], fill: float) -> Variable:
    """Lay a variable of several null models side by side; value tables of different lengths are padded."""
    if len(layers) == 1:
        return layers[0]
    dims, _, attrs = layers[0]
    width = max(array.shape[-1] for _, array, _ in layers)
    padded = []
    for _, array, _ in layers:
        room = [(0, 0)] * (array.ndim - 1) + [(0, width - array.shape[-1])]
        padded.append(np.pad(array, room, constant_values=fill))
    if "method" in attrs:
        told = [f"{null}: {layer[2]['method']}" for null, layer in zip(nulls, layers, strict=True)]
        attrs = attrs | {"method": "; ".join(told)}
    return ("null", *dims), np.stack(padded), attrs


class Collector:
    """Gathers the chunks of one task: row summaries, and raw draws or the strata's accumulators."""

    def __init__(self, builder: Builder, metrics: Sequence[Metric], n_draws: int, keep: bool) -> None:
        self.builder, self.metrics, self.n_draws, self.keep = builder, metrics, n_draws, keep
        n_rows, n_strata = builder.n_rows, builder.n_strata
        self.rows = {m.name: {part: np.full(n_rows, np.nan) for part in ("observed", *ROW_PARTS)} for m in metrics}
        self.methods: dict[str, dict[str, set[int]]] = {m.name: {"mean": set(), "p": set()} for m in metrics}
        if keep:
            self.raw = {m.name: builder.empty(np.nan, np.float64, n_draws) for m in metrics}
        else:
            self.sums = {m.name: np.zeros((n_strata, n_draws)) for m in metrics}
            self.counts = {m.name: np.zeros((n_strata, n_draws), np.int64) for m in metrics}
            self.tables: dict[str, dict[int, pd.Series]] = {m.name: {} for m in metrics}

    def add(self, chunk: Chunk, *, row_p: bool) -> None:
        """Take over the rows of a chunk; without `row_p` they have no p-values of their own."""
        rows = chunk.rows
        for m in self.metrics:
            summary = chunk.summaries[m.name]
            for part, column_values in self.rows[m.name].items():
                column_values[rows] = getattr(summary, part) if row_p or part not in ("p", "p_se") else np.nan
            self.methods[m.name]["mean"] |= set(summary.mean_method.tolist())
            self.methods[m.name]["p"] |= set(summary.p_method.tolist()) if row_p else set()
            if self.keep:
                self.raw[m.name][self.builder.cell[rows]] = chunk.draws[m.name]
                continue
            tables = self.tables[m.name]
            for number, found in chunk.strata[m.name].items():
                self.sums[m.name][number] += found.sums
                self.counts[m.name][number] += found.counts
                tables[number] = add_values(tables[number], found.values) if number in tables else found.values

    def finish(self) -> None:
        """Place what was gathered into the cube."""
        for m in self.metrics:
            rows = self.rows[m.name]
            self.builder.place(m.name, rows["observed"], np.nan, **metric_attrs(m))
            for part, (suffix, label) in ROW_PARTS.items():
                attrs = {"long_name": label.format(m.long_name), "role": "control"}
                if part in self.methods[m.name]:
                    found = sorted(self.methods[m.name][part] - {NONE})
                    attrs["method"] = ", ".join(METHODS[code] for code in found) or "none"
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
