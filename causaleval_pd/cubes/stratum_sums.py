"""Sums over the runs of each stratum, and the columns of a summary made of them.

A summary has two steps. The first adds up runs: here from the cells of a cube in memory, in `mergeable_sums` from the
partitions of a dask table. The second, `summary_columns`, serves both. In memory a stratum's runs are listed one by one
with weight 1, and the ratio of losses comes from the pairs themselves, so that no digit depends on how sums merge;
merged sums list distinct values and hold the losses' comoments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from ..statistics.arrays import Estimate, Floats, quantile_interval, ratio_of_means, weighted_quantile
from ..statistics.direction import TOLERANCE, score
from .reading import control_sums, control_values, has_controls, losses, randomisation_p, strata_dims, variable
from .schema import FAILED, NO_RUN, SCORED
from .worst_case import cells

#: columns of counts, in the order of `RunSums.n`
COUNTS = ("n_obs", "n_missing", "n_undefined", "n_without_controls")
#: columns that need controls
CONTROL_COLUMNS = (
    *("control_mean", "control_low", "control_high", "superiority_share", "p_value"),
    *("skill", "skill_low", "skill_high", "control_mean_se", "p_se"),
)


class Table(NamedTuple):
    """Values of each stratum with the number of times that each occurs, 0 for padding; (n_strata, n) each."""

    values: Floats
    weights: Floats


class Total(NamedTuple):
    """Sum of the defined values of each stratum, and their number; (n_strata,) each."""

    sum: Floats
    n: Floats

    @classmethod
    def of(cls, values: Floats) -> Total:
        """Add up the defined values of each row."""
        undefined = np.isnan(values)
        with np.errstate(invalid="ignore"):  # infinities of both signs
            total = np.where(undefined, 0.0, values).sum(axis=-1)
        return cls(total, (~undefined).sum(axis=-1).astype(np.float64))

    def mean(self) -> Floats:
        """Return the means; NaN for no values or an infinite one."""
        usable = (self.n > 0) & np.isfinite(self.sum)
        return np.divide(self.sum, self.n, out=np.full(len(self.n), np.nan), where=usable)


class RunSums(NamedTuple):
    """Runs of each stratum: their numbers, (n_strata, 4) in the order of `COUNTS`, and their values."""

    n: NDArray[np.int64]
    values: Table


class ControlSums(NamedTuple):
    """Controls of each stratum.

    Attributes
    ----------
    mean, squared_error, as_good : Total
        Of the rows' control means, of the squared Monte Carlo errors of these, and of the shares at least as good.
    sums, counts : (n_strata, n_draws) float
        Sum of draw r over the rows where it is defined, and their number.
    values : Table or None
        Control values; None where they were not asked for.
    """

    mean: Total
    squared_error: Total
    as_good: Total
    sums: Floats
    counts: NDArray[Any]
    values: Table | None


def run_sums(cube: xr.Dataset, metric: str) -> RunSums:
    """Add up the runs of each stratum of a cube."""
    dims = strata_dims(cube)
    scores, status = cells(cube[metric], dims), cells(cube["status"], dims)
    defined = ~np.isnan(scores)
    drawn = ~np.isnan(cells(variable(cube, metric, "control_mean"), dims)) if has_controls(cube) else False
    counted = [status != NO_RUN, status == FAILED, (status == SCORED) & ~defined, defined & ~drawn]
    n = np.stack([x.sum(axis=1) for x in counted], axis=1)
    return RunSums(n, Table(scores, defined.astype(np.float64)))


def control_totals(cube: xr.Dataset, metric: str, *, values: bool = True) -> ControlSums:
    """Add up the controls of each stratum of a cube; their values only where `values`."""
    dims = strata_dims(cube)
    defined = ~np.isnan(cells(cube[metric], dims))

    def of_runs(part: str) -> Floats:
        return np.where(defined, cells(variable(cube, metric, part), dims), np.nan)

    sums, counts = (cells(x, dims, ["draw"]) for x in control_sums(cube, metric))
    return ControlSums(
        Total.of(of_runs("control_mean")),
        Total.of(of_runs("control_mean_se") ** 2),
        Total.of(cells(variable(cube, metric, "as_good"), dims)),
        sums,
        counts,
        Table(*(cells(x, dims, ["bin"]) for x in control_values(cube, metric))) if values else None,
    )


def loss_ratio(cube: xr.Dataset, metric: str, level: float) -> Estimate:
    """Return the ratio of the mean distances from the optimum, of runs and expected of their controls, with limits."""
    return ratio_of_means(*losses(cube, metric), level)


def summary_columns(
    runs: RunSums,
    controls: ControlSums | None,
    losses: Estimate | None,
    spec: dict[str, Any],
    tested: NDArray[np.bool_],
    *,
    shared: bool,
    level: float,
    interval: str,
) -> dict[str, NDArray[Any]]:
    """Return the columns of `summary` besides the strata and the metric.

    Parameters
    ----------
    runs : RunSums
        Runs of each stratum.
    controls : ControlSums or None
        Their controls; None without controls.
    losses : Estimate or None
        Ratio of the mean distances from the optimum, of runs and expected of their controls, with limits.
    spec : dict
        Attributes of the metric.
    tested : (n_strata,) bool
        Strata that have a p-value.
    shared : bool
        Whether rows met the same controls, so that their Monte Carlo errors are not independent.
    level, interval
        As in `summary`.

    Returns
    -------
    dict of ndarray
        The columns, a value a stratum.
    """
    tail = [(1 - level) / 2, (1 + level) / 2]
    n, mean, deviation = _moments(*runs.values)
    columns: dict[str, NDArray[Any]] = dict(zip(COUNTS, runs.n.T, strict=True)) | {"mean": mean}
    if interval == "quantile":
        columns["low"], columns["high"] = np.moveaxis(weighted_quantile(*runs.values, tail), -1, 0)
    else:
        half = special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * deviation / np.sqrt(np.maximum(n, 1))
        columns["low"], columns["high"] = mean - half, mean + half
    columns |= {name: np.full(len(n), np.nan) for name in CONTROL_COLUMNS}
    if controls is None or losses is None:
        return columns
    sums, counts = controls.sums, controls.counts
    reference = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    columns["control_mean"] = controls.mean.mean()
    if interval == "quantile" and controls.values is not None:
        low, high = np.moveaxis(weighted_quantile(*controls.values, tail), -1, 0)
    else:
        low, high = quantile_interval(reference, level)
    columns["control_low"], columns["control_high"] = low, high
    columns["superiority_share"] = controls.as_good.mean()
    statistic = _mean_score(runs.values, spec)
    p_value, drawn = randomisation_p(statistic, reference, spec["direction"])
    p_value = np.where(tested, p_value, np.nan)
    columns["p_value"] = p_value
    columns["p_se"] = np.sqrt(p_value * (1 - p_value) / np.where(drawn > 0, drawn, np.nan))
    if not shared:
        error = controls.squared_error
        columns["control_mean_se"] = np.sqrt(error.mean() / np.maximum(error.n, 1))
    columns["skill"], columns["skill_low"], columns["skill_high"] = 1 - losses.effect, 1 - losses.high, 1 - losses.low
    return columns


def _moments(values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and standard deviation of the values of each row, as `statistics.arrays.moments`."""
    used = weights > 0
    n = weights.sum(axis=-1)
    usable = (n > 0) & ~(used & np.isinf(values)).any(axis=-1)
    kept = np.where(used & usable[:, None], values, 0.0)
    mean = (kept * weights).sum(axis=-1) / np.maximum(n, 1)
    apart = np.where(used & usable[:, None], kept - mean[:, None], 0.0)
    deviation = np.sqrt((apart**2 * weights).sum(axis=-1) / np.maximum(n - 1, 1))
    noise = TOLERANCE * np.abs(kept).max(axis=-1, initial=0.0)
    deviation = np.where(deviation <= noise, 0.0, deviation)
    return n, np.where(usable, mean, np.nan), np.where(usable & (n > 1), deviation, np.nan)


def _mean_score(values: Table, spec: dict[str, Any]) -> Floats:
    """Return the mean of the metric, or of its distance from the optimum, in each stratum; NaN without values."""
    used = values.weights > 0
    scores = score(values.values, direction=spec["direction"], optimum=spec["optimum"])
    with np.errstate(invalid="ignore"):  # infinities of both signs
        total = (np.where(used, scores, 0.0) * values.weights).sum(axis=-1)
    n = values.weights.sum(axis=-1)
    return np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
