"""Sums over the runs of each stratum, and the columns of a summary made of them.

A summary has two steps. The first adds up runs: here from the cells of a cube in memory, in `mergeable_sums` from the
partitions of a dask table. The second, `summary_columns`, serves both. In memory a stratum's runs are listed one by one
with weight 1; merged sums list distinct values. Losses are added up by cluster in both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..statistics.arrays import Estimate, Floats, quantile_interval, ratio, weighted_quantile
from ..statistics.clusters import cluster_limits, cluster_sums
from ..statistics.direction import TOLERANCE
from ..statistics.skill import skill_interval, skill_notes
from ..statistics.stratum_statistic import Statistic
from ..tables.clusters import SINGLE
from .p_values import StratumP, of_draws
from .reading import (
    cluster_losses,
    cluster_setting,
    clusters_of_runs,
    control_values,
    draws_shared,
    has_controls,
    has_draws,
    loss_errors,
    strata_dims,
    variable,
)
from .schema import FAILED, NO_RUN, SCORED
from .stratum_tests import StratumTests, draw_sums, stratum_tests
from .worst_case import cells

#: columns of counts, in the order of `Sums.n`
#: `n_scored + n_failed + n_undefined = n_runs`; scored runs have a value of the metric
COUNTS = ("n_runs", "n_scored", "n_failed", "n_undefined", "n_without_controls")
#: shares of runs whose value cannot enter a mean
SHARES = ("undefined_share", "infinite_share")
#: columns that need controls
CONTROL_COLUMNS = (
    *("control_mean", "control_low", "control_high", "superiority_share", "p_value"),
    *("skill", "skill_low", "skill_high", "ci_level", "control_mean_se", "p_se", "p_at_floor", "p_method"),
    *("n_clusters", "note"),
)


#: sum and number of the values of each cluster, a row a stratum
ClusterSums = tuple[Floats, Floats]


class Table(NamedTuple):
    """Values of each stratum with the number of times that each occurs, 0 for padding; (n_strata, n) each."""

    values: Floats
    weights: Floats


class Sums(NamedTuple):
    """Runs of each stratum and metric and their controls, added up; without controls the last three are empty."""

    #: (n_strata, 5): numbers of runs, in the order of `COUNTS`
    n: NDArray[np.int64]
    #: values of the metric
    values: Table
    #: (3, 2, n_strata): sum and number of the control means, of their squared Monte Carlo errors, and of the shares at
    #: least as good
    totals: Floats
    #: (2, n_strata, n_draws): sum of draw r over the rows where it is defined, and their number; of estimates that are
    #: relabelled by cluster where the test of the stratum rests on them
    draws: Floats
    #: values of the controls
    control_values: Table
    #: what the tests of the strata rest on; None without controls
    tests: StratumTests | None = None


def stratum_sums(cube: xr.Dataset, metric: str, *, pooled: bool = True, statistic: Statistic = "mean") -> Sums:
    """Add up the runs and controls of each stratum of a cube; values of the controls only if `pooled`.

    Draws that the cube keeps are added up unless `pooled`, where nothing needs their sums.
    """
    dims = strata_dims(cube)
    scores, status = cells(cube[metric], dims), cells(cube["status"], dims)
    defined, drawn = ~np.isnan(scores), has_controls(cube, metric)
    lacking = defined & np.isnan(cells(variable(cube, metric, "control_mean"), dims)) if drawn else defined
    unscored = ~defined
    counted = [status != NO_RUN, defined, unscored & (status == FAILED), unscored & (status == SCORED), lacking]
    n = np.stack([x.sum(axis=1) for x in counted], axis=1)
    values = Table(scores, defined.astype(np.float64))
    none = np.empty((len(n), 0))
    if not drawn:
        return Sums(n, values, np.zeros((3, 2, len(n))), np.stack([none, none]), Table(none, none))
    means, errors = (cells(variable(cube, metric, part), dims) for part in ("control_mean", "control_mean_se"))
    rows = [np.where(defined, means, np.nan), np.where(defined, errors, np.nan) ** 2]
    totals = np.stack([_total(x) for x in [*rows, cells(variable(cube, metric, "as_good"), dims)]])
    drawn_values = [cells(x, dims, ["bin"]) for x in control_values(cube, metric)] if pooled else [none, none]
    tests = stratum_tests(cube, metric, statistic)
    draws = np.stack([none, none])
    if not (pooled and has_draws(cube, metric)):
        draws = np.stack(draw_sums(cube, metric))
    return Sums(n, values, totals, draws, Table(*drawn_values), tests)


def stratum_clusters(cube: xr.Dataset, metric: str) -> ClusterSums | None:
    """Return the sum and number of the values of each cluster of runs; None where runs are independent."""
    if cluster_setting(cube) == SINGLE:
        return None
    return cluster_sums(cells(cube[metric], strata_dims(cube)), clusters_of_runs(cube))


def _total(values: Floats) -> Floats:
    """Return the sum of the defined values of each row and their number."""
    undefined = np.isnan(values)
    with np.errstate(invalid="ignore"):  # infinities of both signs
        return np.stack([np.where(undefined, 0.0, values).sum(axis=-1), (~undefined).sum(axis=-1)])


def _mean(total: Floats) -> Floats:
    """Return sum / number; NaN for no values."""
    usable = total[1] > 0
    return np.divide(total[0], total[1], out=np.full(len(total[0]), np.nan), where=usable)


class Skill(NamedTuple):
    """Skill of each stratum with its limits, and what there is to note about them."""

    estimate: Estimate
    note: NDArray[np.object_]
    #: of the limits
    level: float

    @classmethod
    def of(
        cls,
        loss: Floats,
        control_loss: Floats,
        level: float,
        control_error: Floats | None = None,
        *,
        shared: bool = False,
    ) -> Skill:
        """Compute it from the losses of each cluster of runs, as `skill_interval`."""
        found = skill_interval(loss, control_loss, level, control_error=control_error, shared=shared)
        return cls(found, skill_notes(loss, control_loss, control_error=control_error), level)


def stratum_skill(cube: xr.Dataset, metric: str, level: float) -> Skill:
    """Return the skill of each stratum with limits; runs of one cluster are not independent."""
    errors = cluster_sums(loss_errors(cube, metric), clusters_of_runs(cube))[0]
    return Skill.of(*cluster_losses(cube, metric), level, errors, shared=draws_shared(cube))


def summary_columns(
    sums: Sums,
    skill: Skill | None,
    spec: dict[str, Any],
    tested: NDArray[np.bool_],
    tails: Callable[[StratumP], StratumP] = lambda found: found,
    *,
    by_cluster: ClusterSums | None = None,
    cluster: str,
    shared: bool,
    level: float,
    interval: str,
) -> dict[str, Any]:
    """Return the columns of `summary` besides the strata and the metric.

    Parameters
    ----------
    sums : Sums
        Runs and controls of each stratum.
    skill : Skill or None
        Skill with limits; None without controls.
    spec : dict
        Attributes of the metric.
    tested : (n_strata,) bool
        Strata that have a p-value.
    tails : callable
        Replaces p-values of draws by those that do not rest on draws.
    by_cluster : tuple of (n_strata, n) ndarray, optional
        For the interval of the mean: sum and number of the values of each cluster; None for independent runs.
    cluster : str
        What runs of a cluster share.
    shared : bool
        Whether rows met the same controls, so that their Monte Carlo errors are not independent.
    level, interval
        As in `summary`.
    """
    tail = [(1 - level) / 2, (1 + level) / 2]
    n, mean, deviation = _moments(*sums.values)
    columns: dict[str, Any] = dict(zip(COUNTS, sums.n.T, strict=True)) | _shares(sums) | {"mean": mean}
    nothing = _undefined_notes(sums)
    notes = nothing
    if interval == "quantile":
        columns["low"], columns["high"] = np.moveaxis(weighted_quantile(*sums.values, tail), -1, 0)
    else:
        columns["low"], columns["high"], of_limits = _mean_limits(n, mean, deviation, by_cluster, level)
        notes = _joined(of_limits, notes)
    columns |= {name: np.full(len(n), np.nan) for name in CONTROL_COLUMNS}
    columns |= {"n_clusters": np.full(len(n), -1), "p_method": nothing, "note": notes}
    columns["p_at_floor"] = np.full(len(n), pd.NA, object)
    if skill is None or sums.tests is None:
        return columns
    total, number = sums.draws
    reference = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    if interval == "quantile":
        low, high = np.moveaxis(weighted_quantile(*sums.control_values, tail), -1, 0)
    else:
        low, high = quantile_interval(reference, level)
    means, errors, shares = sums.totals
    columns |= {"control_mean": _mean(means), "control_low": low, "control_high": high}
    columns["superiority_share"] = _mean(shares)
    p_value = sums.tests.p_values(str(spec["direction"]), tested)
    found = tails(of_draws(sums.tests, p_value, cluster, tested))
    columns |= {"p_value": found.p, "p_se": found.se, "p_method": found.method, "p_at_floor": found.floor_flags}
    columns["n_clusters"] = sums.tests.n_clusters
    if not shared:
        columns["control_mean_se"] = np.sqrt(_mean(errors) / np.maximum(errors[1], 1))
    columns["skill"], columns["skill_low"], columns["skill_high"] = skill.estimate
    columns["ci_level"] = np.where(np.isnan(skill.estimate.low), np.nan, skill.level)
    columns["note"] = _joined(_joined(notes, skill.note), sums.tests.notes(tested))
    return columns


def _joined(first: NDArray[np.object_], second: NDArray[np.object_] | list[str | None]) -> NDArray[np.object_]:
    """Join notes row by row."""
    pairs = zip(first, second, strict=True)
    return np.array(["; ".join(x for x in pair if x) or None for pair in pairs], object)


def _shares(sums: Sums) -> dict[str, Floats]:
    """Return the shares of undefined and of infinite values."""
    n_runs, n_scored, n_failed, n_undefined, _ = sums.n.T.astype(np.float64)
    infinite = np.where(np.isinf(sums.values.values), sums.values.weights, 0.0).sum(axis=-1)
    return dict(zip(SHARES, (ratio(n_undefined, n_runs - n_failed), ratio(infinite, n_scored)), strict=True))


def _undefined_notes(sums: Sums) -> NDArray[np.object_]:
    """Return how many runs are undefined: what the rest of the row leaves out."""
    n_scored, n_undefined = sums.n[:, 1], sums.n[:, 3]
    words = [
        None
        if not undefined
        else f"{undefined} of {undefined + scored} values undefined, left out"
        if scored
        else f"all {undefined} values undefined"
        for scored, undefined in zip(n_scored.tolist(), n_undefined.tolist(), strict=True)
    ]
    return np.array(words, object)


def _mean_limits(
    n: Floats, mean: Floats, deviation: Floats, by_cluster: ClusterSums | None, level: float
) -> tuple[Floats, Floats, NDArray[np.object_]]:
    """Return the limits of the mean of the runs of each stratum, and why some are missing."""
    deviation = np.where(deviation == 0, np.nan, deviation)
    half = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * deviation / np.sqrt(np.maximum(n, 1))
    low, high, number = mean - half, mean + half, n
    if by_cluster is not None:
        limits, number = cluster_limits(*by_cluster, level), (by_cluster[1] > 0).sum(axis=-1)
        low, high = (np.where(number < n, a, b) for a, b in zip(limits, (low, high), strict=True))
    words = {
        "mean without interval: one cluster": (number == 1) & (n > 1),
        "mean without interval: one run": n == 1,
        "mean without interval: infinite values": (n > 1) & ~np.isfinite(mean),
        "mean without interval: no variation": (n > 1) & np.isnan(low),
    }
    notes = np.select(list(words.values()), [np.array(word, object) for word in words], np.array(None, object))
    return low, high, notes


def _moments(values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return number, mean and standard deviation of the values of each row, as `statistics.arrays.moments`."""
    used = weights > 0
    n = weights.sum(axis=-1)
    usable = (n > 0) & ~(used & np.isinf(values)).any(axis=-1)
    kept = np.where(used & usable[:, None], values, 0.0)
    mean = (kept * weights).sum(axis=-1) / np.maximum(n, 1)
    # infinite values make the mean infinite, those of both signs undefined
    with np.errstate(invalid="ignore"):
        ends = np.where(used & np.isinf(values), values, 0.0).sum(axis=-1)
    apart = np.where(used & usable[:, None], kept - mean[:, None], 0.0)
    deviation = np.sqrt((apart**2 * weights).sum(axis=-1) / np.maximum(n - 1, 1))
    noise = TOLERANCE * np.abs(kept).max(axis=-1, initial=0.0)
    deviation = np.where(deviation <= noise, 0.0, deviation)
    return n, np.where(usable, mean, np.where(n > 0, ends, np.nan)), np.where(usable & (n > 1), deviation, np.nan)
