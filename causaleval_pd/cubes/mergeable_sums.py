"""Sums over the runs of a stratum that merge: the summary of a table that no machine holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..contract.history import call, calls, remember
from ..statistics.arrays import Estimate
from ..statistics.direction import TOLERANCE
from ..statistics.stratum_statistic import Statistic
from ..tables.stratum_draws import add_values, pad_tables, value_table
from .reading import (
    cluster_setting,
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
)
from .stratum_sums import Sums, Table, stratum_sums, summary_columns
from .summary import COLUMNS, typed_columns

Floats = NDArray[np.float64]
#: labels of a stratum, and after them those of the metric's own dimensions
Stratum = tuple[Any, ...]


@dataclass(frozen=True)
class Comoments:
    """Number, means, and sums of products of deviations of pairs, which merge without loss of digits.

    References
    ----------
    Chan, T. F., Golub, G. H., LeVeque, R. J. (1983). Algorithms for computing the sample variance.
    doi:10.1080/00031305.1983.10483115
    """

    n: int
    mean: Floats
    products: Floats

    @classmethod
    def of(cls, a: Floats, b: Floats) -> Comoments:
        """Count the pairs of which both values are defined."""
        pairs = np.stack([a, b])[:, ~(np.isnan(a) | np.isnan(b))]
        mean = pairs.mean(axis=1) if pairs.shape[1] else np.zeros(2)
        with np.errstate(invalid="ignore"):
            apart = pairs - mean[:, None]
            return cls(pairs.shape[1], mean, apart @ apart.T)

    def __add__(self, other: Comoments) -> Comoments:
        """Merge two parts."""
        n = self.n + other.n
        if self.n == 0 or other.n == 0:
            return self if other.n == 0 else other
        with np.errstate(invalid="ignore"):
            shift = other.mean - self.mean
            products = self.products + other.products + np.outer(shift, shift) * (self.n * other.n / n)
            return Comoments(n, self.mean + shift * (other.n / n), products)

    def ratio(self, level: float) -> Estimate:
        """Return mean(a) / mean(b) and its t interval, as `statistics.arrays.ratio_of_means`."""
        top, bottom = self.mean
        if self.n == 0 or not (np.isfinite(top) and np.isfinite(bottom) and bottom > TOLERANCE):
            return Estimate(*np.full(3, np.nan))
        found = top / bottom
        if self.n == 1:
            return Estimate(found, *np.full(2, np.nan))
        line = np.array([1.0, -found])
        variance = max(float(line @ self.products @ line), 0.0) / (self.n - 1)
        # a deviation that is rounding error is 0
        noise = TOLERANCE * max(abs(top), abs(bottom))
        deviation = np.sqrt(variance) if np.sqrt(variance) > noise else 0.0
        reach = scipy.special.stdtrit(self.n - 1.0, (1 + level) / 2) * deviation / np.sqrt(self.n) / bottom
        return Estimate(found, found - reach, found + reach)


class RunSums(NamedTuple):
    """Sums of one stratum and metric, with the losses of runs and those expected of their controls."""

    sums: Sums
    losses: Comoments

    def merge(self, other: RunSums) -> RunSums:
        """Add the runs of another table; values of the metric stay exact, those of controls are kept to a limit."""
        a, b = self.sums, other.sums
        values = _series(a.values).add(_series(b.values), fill_value=0)
        drawn = add_values(_series(a.control_values), _series(b.control_values))
        tests = None if a.tests is None or b.tests is None else a.tests.merge(b.tests)
        merged = Sums(a.n + b.n, _table(values), a.totals + b.totals, a.draws + b.draws, _table(drawn), tests)
        return RunSums(merged, self.losses + other.losses)


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


def sum_cube(cube: xr.Dataset, statistic: Statistic = "standardized") -> CubeSums:
    """Add up the runs of a cube that holds some of the runs of each stratum.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` from one null model, with `keep_draws=False` where it has controls. It has all runs of a cluster
        in a stratum.
    statistic : {"standardized", "mean", "rank"}
        As in `summary`.

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
        n, values, totals, draws, drawn, tests = stratum_sums(alone, metric, statistic=statistic)
        own, expected = losses(alone, metric) if has_controls(cube) else (np.empty((len(n), 0)),) * 2
        for i in np.flatnonzero(n[:, 0]).tolist():
            one = slice(i, i + 1)
            found, counts = np.unique(values.values[i][values.weights[i] > 0], return_counts=True)
            controls = _table(value_table(drawn.values[i], drawn.weights[i]))
            distinct = Table(found[None], counts[None].astype(np.float64))
            of_tests = None if tests is None else tests.take(one)
            sums = Sums(n[one], distinct, totals[:, :, one], draws[:, one], controls, of_tests)
            strata[metric, labels[i]] = RunSums(sums, Comoments.of(own[i], expected[i]))
    return CubeSums(strata, cube.isel({dim: slice(0) for dim in cube.dims}))


def _plain(label: Any) -> Any:
    """Return a label as an object that is equal to itself, so that missing numbers find each other."""
    if isinstance(label, np.generic):
        label = label.item()
    return None if isinstance(label, float) and np.isnan(label) else label


def summarise_sums(
    found: CubeSums, strata: Sequence[str], level: float, interval: str, statistic: Statistic = "standardized"
) -> pd.DataFrame:
    """Return the rows of `summary`, unordered, from the sums of all runs.

    Parameters
    ----------
    found : CubeSums
        Of all runs.
    strata : sequence of str
        Names of the strata.
    level, interval, statistic
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
            runs.losses.ratio(level) if drawn else None,
            found.empty[metric].attrs,
            np.array([not shared and not null_references(found.empty, metric)]),
            cluster=cluster_setting(found.empty),
            shared=shared,
            level=level,
            interval=interval,
        )
        values = {name: value[0] if np.ndim(value) else value for name, value in columns.items()}
        names = [*strata, *own_dims(found.empty, metric)]
        rows.append(dict(zip(names, labels, strict=True)) | {"metric": metric} | values)
    metrics = cube_metrics(found.empty)
    made = call("summary", {"metrics": metrics, "level": level, "interval": interval, "statistic": statistic})
    table = typed_columns(pd.DataFrame(rows, columns=[*strata_columns(found.empty, metrics), *COLUMNS]))
    return remember(table, [*calls(found.empty.attrs), made])
