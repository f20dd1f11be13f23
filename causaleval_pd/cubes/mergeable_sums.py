"""What rows say of a stratum, in a form that can be added up: the summary of a table that no machine holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from ..statistics.arrays import quantile_interval, weighted_quantile
from ..statistics.direction import TOLERANCE, as_good, score
from ..tables.stratum_draws import add_values, value_table
from .reading import control_sums, control_values, cube_metrics, has_controls, losses, strata_dims, strata_table
from .schema import FAILED, NO_RUN, SCORED

Floats = NDArray[np.float64]
_COUNTS = ["n_obs", "n_missing", "n_undefined", "n_without_controls"]
Stratum = tuple[Any, ...]


@dataclass(frozen=True)
class Comoments:
    """Number, means, and sums of products of deviations of pairs; parts are merged without loss of digits.

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
        """Take the pairs of which both values are there."""
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

    def ratio(self, level: float) -> tuple[float, float, float]:
        """Return mean(a) / mean(b) and its t interval by linearisation, as `stats.ratio_of_means`."""
        top, bottom = self.mean
        if self.n == 0 or not (np.isfinite(top) and np.isfinite(bottom) and bottom > TOLERANCE):
            return np.nan, np.nan, np.nan
        found = top / bottom
        if self.n == 1:
            return found, np.nan, np.nan
        line = np.array([1.0, -found])
        variance = max(float(line @ self.products @ line), 0.0) / (self.n - 1)
        # a deviation that is rounding error is 0
        noise = TOLERANCE * max(abs(top), abs(bottom))
        deviation = np.sqrt(variance) if np.sqrt(variance) > noise else 0.0
        reach = special.stdtrit(self.n - 1.0, (1 + level) / 2) * deviation / np.sqrt(self.n) / bottom
        return found, found - reach, found + reach


@dataclass(frozen=True)
class ControlTally:
    """The controls of one stratum and metric, added up.

    Attributes
    ----------
    mean, mean_error, as_good : (2,) float
        Sum over rows and their number, of the controls' means, of the squared Monte Carlo errors of these, and of the
        shares that are as good.
    sums, counts : (n_draws,) float
        Sum of draw r over the rows where it is defined, and their number.
    values : Series
        How often each control value occurred.
    losses : Comoments
        Distances from the optimum, of estimates and expected of their controls.
    """

    mean: Floats
    mean_error: Floats
    as_good: Floats
    sums: Floats
    counts: Floats
    values: pd.Series
    losses: Comoments

    def __add__(self, other: ControlTally) -> ControlTally:
        """Merge two parts."""
        return ControlTally(
            self.mean + other.mean,
            self.mean_error + other.mean_error,
            self.as_good + other.as_good,
            self.sums + other.sums,
            self.counts + other.counts,
            add_values(self.values, other.values),
            self.losses + other.losses,
        )


@dataclass(frozen=True)
class Tally:
    """The rows of one stratum and metric, added up.

    Attributes
    ----------
    n : (4,) int
        Runs, failed runs, scored runs without a value, runs with a value but without controls.
    values : Series
        How often each value of the metric occurred; exact, however many there are.
    controls : ControlTally or None
        What their controls score.
    """

    n: NDArray[np.int64]
    values: pd.Series
    controls: ControlTally | None

    def __add__(self, other: Tally) -> Tally:
        """Merge two parts."""
        both = None if self.controls is None or other.controls is None else self.controls + other.controls
        return Tally(self.n + other.n, _add_tables(self.values, other.values), both)


@dataclass(frozen=True)
class Tallies:
    """Tallies by stratum and metric, with the attributes of the cubes that they come from."""

    parts: dict[tuple[Stratum, str], Tally]
    specs: dict[str, dict[str, Any]]
    attrs: dict[str, Any]

    def __add__(self, other: Tallies) -> Tallies:
        """Merge the tallies of two tables."""
        parts = dict(self.parts)
        for key, tally in other.parts.items():
            parts[key] = parts[key] + tally if key in parts else tally
        return replace(self, parts=parts)


def add_up(tallies: Iterable[Tallies]) -> Tallies:
    """Merge the tallies of several tables, in their order."""
    return reduce(lambda a, b: a + b, tallies)


def tally_cube(cube: xr.Dataset) -> Tallies:
    """Add up the rows of a cube that holds some of the rows of each stratum.

    Parameters
    ----------
    cube : Dataset
        Made by `cube` from one null model, with `keep_draws=False` where it has controls.

    Returns
    -------
    Tallies
        Of the strata that have runs.
    """
    dims = strata_dims(cube)
    names = cube_metrics(cube)
    labels = [tuple(_plain(x) for x in row) for row in strata_table(cube).itertuples(index=False)]
    if not dims:
        labels = [()]

    def flat(array: xr.DataArray, *last: str) -> NDArray[Any]:
        values = array.transpose(*dims, *last).to_numpy()
        return values.reshape(len(labels), *values.shape[len(dims) :])

    status = flat(cube["status"], "replicate")
    parts: dict[tuple[Stratum, str], Tally] = {}
    for name in names:
        scores = flat(cube[name], "replicate")
        lacking = ~np.isnan(scores)
        drawn: list[ControlTally | None] = [None] * len(labels)
        if has_controls(cube):
            drawn = [*_controls(cube, name, flat)]
            lacking &= np.isnan(flat(cube[f"{name}_control_mean"], "replicate"))
        for i in np.flatnonzero((status != NO_RUN).any(axis=1)).tolist():
            n = [status[i] != NO_RUN, status[i] == FAILED, (status[i] == SCORED) & np.isnan(scores[i]), lacking[i]]
            table = _table(scores[i])
            parts[labels[i], name] = Tally(np.array([x.sum() for x in n]), table, drawn[i])
    return Tallies(parts, {name: dict(cube[name].attrs) for name in names}, dict(cube.attrs))


def _controls(cube: xr.Dataset, name: str, flat: Any) -> list[ControlTally]:
    defined = ~np.isnan(flat(cube[name], "replicate"))
    means = np.where(defined, flat(cube[f"{name}_control_mean"], "replicate"), np.nan)
    errors = np.where(defined, flat(cube[f"{name}_control_mean_se"], "replicate"), np.nan)
    shares = flat(cube[f"{name}_as_good"], "replicate")
    sums, counts = (flat(x, "draw").astype(np.float64) for x in control_sums(cube, name))
    values, weights = (flat(x, "bin") for x in control_values(cube, name))
    own, expected = losses(cube, name)
    return [
        ControlTally(
            _sum(means[i]),
            _sum(errors[i] ** 2),
            _sum(shares[i]),
            sums[i],
            counts[i],
            value_table(values[i], weights[i]),
            Comoments.of(own[i], expected[i]),
        )
        for i in range(len(defined))
    ]


def _plain(label: Any) -> Any:
    """Return a label as an object that is equal to itself, so that missing numbers find each other."""
    if isinstance(label, np.generic):
        label = label.item()
    return None if isinstance(label, float) and np.isnan(label) else label


def _sum(values: Floats) -> Floats:
    defined = values[~np.isnan(values)]
    return np.array([defined.sum(), len(defined)])


def _table(values: Floats) -> pd.Series:
    found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    return pd.Series(counts.astype(np.float64), index=found)


def _add_tables(a: pd.Series, b: pd.Series) -> pd.Series:
    return a.add(b, fill_value=0)


def summarise_tallies(found: Tallies, strata: Sequence[str], level: float, interval: str) -> pd.DataFrame:
    """Return the rows of `summary`, unordered, from tallies of all rows.

    Parameters
    ----------
    found : Tallies
        Of all rows.
    strata : sequence of str
        Names of the strata.
    level, interval
        As in `summary`.

    Returns
    -------
    DataFrame
        The columns of `summary`, a row a stratum and metric.
    """
    reference = found.attrs.get("control_null") in json.loads(found.attrs.get("control_reference", "[]"))
    rows = []
    for (stratum, name), tally in found.parts.items():
        row = dict(zip(strata, stratum, strict=True)) | {"metric": name}
        row |= dict(zip(_COUNTS, tally.n.tolist(), strict=True))
        row |= _own(tally, level, interval)
        if tally.controls is not None:
            shared = bool(found.attrs.get("draws_shared", 0))
            tested = not reference and not shared
            row |= _against(tally, tally.controls, found.specs[name], level, interval, tested=tested)
            if not shared:  # rows have draws of their own
                row["control_mean_se"] = np.sqrt(
                    _mean(tally.controls.mean_error) / max(tally.controls.mean_error[1], 1)
                )
        rows.append(row)
    return pd.DataFrame(rows)


def _own(tally: Tally, level: float, interval: str) -> dict[str, float]:
    values, counts = tally.values.index.to_numpy(np.float64), tally.values.to_numpy(np.float64)
    n = counts.sum()
    mean = float((values * counts).sum() / n) if n and np.isfinite(values).all() else np.nan
    if interval == "quantile":
        low, high = weighted_quantile(values, counts, _tails(level))
    else:
        deviation = np.sqrt((counts * (values - mean) ** 2).sum() / (n - 1)) if n > 1 else np.nan
        if deviation <= TOLERANCE * np.abs(values).max(initial=0.0):
            deviation = 0.0
        half = special.stdtrit(max(n - 1, 1), (1 + level) / 2) * deviation / np.sqrt(max(n, 1))
        low, high = mean - half, mean + half
    names = ["control_mean", "control_low", "control_high", "superiority_share", "p_value"]
    names += ["skill", "skill_low", "skill_high", "control_mean_se", "p_se"]
    nothing = dict.fromkeys(names, np.nan)
    return {"mean": mean, "low": float(low), "high": float(high), **nothing}


def _against(
    tally: Tally, controls: ControlTally, spec: dict[str, Any], level: float, interval: str, *, tested: bool
) -> dict[str, float]:
    reference = np.divide(
        controls.sums, controls.counts, out=np.full(len(controls.sums), np.nan), where=controls.counts > 0
    )
    if interval == "quantile":
        table = controls.values
        low, high = weighted_quantile(table.index.to_numpy(np.float64), table.to_numpy(np.float64), _tails(level))
    else:
        low, high = quantile_interval(reference, level)
    values, counts = tally.values.index.to_numpy(np.float64), tally.values.to_numpy(np.float64)
    scores = score(values, direction=spec["direction"], optimum=spec["optimum"])
    direction = "minimize" if spec["direction"] == "zero" else spec["direction"]
    drawn = int((~np.isnan(reference)).sum())
    p_value = p_error = np.nan
    if tested and counts.sum() and drawn:
        statistic = (scores * counts).sum() / counts.sum()
        hits = as_good(reference, statistic, direction=direction, optimum=0.0)
        p_value = (1 + int(hits.sum())) / (drawn + 1)
        p_error = float(np.sqrt(p_value * (1 - p_value) / drawn))
    effect, least, most = controls.losses.ratio(level)
    return {
        "control_mean": _mean(controls.mean),
        "control_low": float(low),
        "control_high": float(high),
        "superiority_share": _mean(controls.as_good),
        "p_value": p_value,
        "p_se": p_error,
        "skill": 1 - effect,
        "skill_low": 1 - most,
        "skill_high": 1 - least,
    }


def _mean(total: Floats) -> float:
    """Return sum / number; NaN for no values or an infinite one."""
    return float(total[0] / total[1]) if total[1] and np.isfinite(total[0]) else np.nan


def _tails(level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]
