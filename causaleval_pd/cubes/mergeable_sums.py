"""Sums over the runs of a stratum that merge: the summary of a table that no machine holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.history import call, calls, remember
from ..tables.stratum_draws import add_values, pad_tables, value_table
from .reading import (
    cube_metrics,
    draws_shared,
    has_controls,
    losses,
    metric_strata,
    null_references,
    own_dims,
    strata_columns,
    strata_dims,
    strata_table,
    truths_of_runs,
)
from .stratum_sums import Skill, Sums, Table, stratum_sums, summary_columns
from .summary import COLUMNS
from .worst_case import cells

Floats = NDArray[np.float64]
#: labels of a stratum, and after them those of the metric's own dimensions
Stratum = tuple[Any, ...]


class TruthLosses(NamedTuple):
    """Losses of the runs on each truth and those expected of their controls, added up; 0 for truths without losses."""

    #: index: truths with a value of the metric; columns: sum of losses, sum of expected losses, number of both
    table: pd.DataFrame

    @classmethod
    def of(cls, values: Floats, truths: NDArray[np.int64], own: Floats, expected: Floats) -> TruthLosses:
        """Add up the runs of one stratum (n,)."""
        scored = ~np.isnan(values)
        gone = np.isnan(own)
        rows = {"own": np.where(gone, 0.0, own), "expected": np.where(gone, 0.0, expected), "n": (~gone).astype(int)}
        return cls(pd.DataFrame(rows)[scored].groupby(truths[scored]).sum())

    def merge(self, other: TruthLosses) -> TruthLosses:
        """Merge the runs of two tables."""
        return TruthLosses(self.table.add(other.table, fill_value=0))

    def skill(self, level: float) -> Skill:
        """Return the skill with its limits."""
        used = self.table[self.table["n"] > 0]
        return Skill.of(used[["own"]].to_numpy().T, used[["expected"]].to_numpy().T, level)


class RunSums(NamedTuple):
    """Sums of one stratum and metric, with the losses of runs and those expected of their controls."""

    sums: Sums
    losses: TruthLosses

    def merge(self, other: RunSums) -> RunSums:
        """Add the runs of another table; values of the metric stay exact, those of controls are kept to a limit."""
        a, b = self.sums, other.sums
        values = _series(a.values).add(_series(b.values), fill_value=0)
        drawn = add_values(_series(a.control_values), _series(b.control_values))
        merged = Sums(a.n + b.n, _table(values), a.totals + b.totals, a.draws + b.draws, _table(drawn))
        return RunSums(merged, self.losses.merge(other.losses))


def _series(table: Table) -> pd.Series:
    return value_table(table.values[0], table.weights[0])


def _table(series: pd.Series) -> Table:
    return Table(*pad_tables([series]))


class CubeSums(NamedTuple):
    """Sums by metric and stratum, and an empty cube with the attributes of those that they come from."""

    strata: dict[tuple[str, Stratum], RunSums]
    empty: xr.Dataset

    def merge(self, other: CubeSums) -> CubeSums:
        """Add the sums of another table."""
        strata = dict(self.strata)
        for place, sums in other.strata.items():
            strata[place] = strata[place].merge(sums) if place in strata else sums
        return self._replace(strata=strata)


def merge_sums(sums: Iterable[CubeSums]) -> CubeSums:
    """Merge the sums of several tables, in their order."""
    return reduce(CubeSums.merge, sums)


def sum_cube(cube: xr.Dataset) -> CubeSums:
    """Add up the runs of a cube that holds some of the runs of each stratum.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` from one null model, with `keep_draws=False` where it has controls.

    Returns
    -------
    CubeSums
        Of the strata that have runs.
    """
    strata = {}
    for metric in cube_metrics(cube):
        alone = metric_strata(cube, metric)
        labels = [tuple(_plain(x) for x in row) for row in strata_table(alone).itertuples(index=False)]
        labels = labels if strata_dims(alone) else [()]
        n, values, totals, draws, drawn = stratum_sums(alone, metric)
        scores, truths = cells(alone[metric], strata_dims(alone)), truths_of_runs(alone)
        own, expected = losses(alone, metric) if has_controls(cube, metric) else (np.full(scores.shape, np.nan),) * 2
        for i in np.flatnonzero(n[:, 0]).tolist():
            one = slice(i, i + 1)
            found, counts = np.unique(values.values[i][values.weights[i] > 0], return_counts=True)
            controls = _table(value_table(drawn.values[i], drawn.weights[i]))
            distinct = Table(found[None], counts[None].astype(np.float64))
            sums = Sums(n[one], distinct, totals[:, :, one], draws[:, one], controls)
            strata[metric, labels[i]] = RunSums(sums, TruthLosses.of(scores[i], truths[i], own[i], expected[i]))
    return CubeSums(strata, cube.isel({dim: slice(0) for dim in cube.dims}))


def _plain(label: Any) -> Any:
    """Return a label as an object that is equal to itself, so that missing numbers find each other."""
    if isinstance(label, np.generic):
        label = label.item()
    return None if isinstance(label, float) and np.isnan(label) else label


def summarise_sums(found: CubeSums, strata: Sequence[str], level: float, interval: str) -> pd.DataFrame:
    """Return the rows of `summary`, unordered, from the sums of all runs.

    Parameters
    ----------
    found : CubeSums
        Of all runs.
    strata : sequence of str
        Names of the strata.
    level, interval
        As in `summary`.

    Returns
    -------
    DataFrame
        The columns of `summary`, a row a stratum and metric.
    """
    drawn, shared = has_controls(found.empty), draws_shared(found.empty)
    rows = []
    # stratum by stratum: sums over padded value tables would differ in their last digit
    for (metric, labels), runs in found.strata.items():
        columns = summary_columns(
            runs.sums,
            np.array([len(runs.losses.table)]),
            runs.losses.skill(level) if drawn else None,
            found.empty[metric].attrs,
            np.array([not shared and not null_references(found.empty, metric)]),
            shared=shared,
            level=level,
            interval=interval,
        )
        values = {name: np.ravel(value)[0] for name, value in columns.items()}
        names = [*strata, *own_dims(found.empty, metric)]
        rows.append(dict(zip(names, labels, strict=True)) | {"metric": metric} | values)
    metrics = cube_metrics(found.empty)
    made = call("summary", {"metrics": metrics, "level": level, "interval": interval})
    table = pd.DataFrame(rows, columns=[*strata_columns(found.empty, metrics), *COLUMNS])
    table["note"] = pd.array(table["note"].tolist(), dtype="str")
    return remember(table, [*calls(found.empty.attrs), made])
