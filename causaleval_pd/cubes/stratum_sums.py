"""The columns of a summary: what runs of a stratum score, what their controls score, skill and p."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..statistics.arrays import Estimate, Floats, moments, quantile_interval, ratio
from ..statistics.clusters import cluster_limits, cluster_sums
from ..statistics.skill import skill_interval, skill_notes
from ..statistics.stratum_statistic import Statistic
from ..tables.clusters import SINGLE
from .p_values import of_draws
from .reading import (
    as_good_shares,
    cluster_losses,
    cluster_setting,
    clusters_of_runs,
    control_values,
    draws_shared,
    has_controls,
    loss_errors,
    strata_dims,
    tested,
    variable,
)
from .schema import FAILED, NO_RUN, SCORED
from .stratum_tests import draw_sums, stratum_tests
from .worst_case import cells

#: columns of counts; `n_scored + n_failed + n_undefined = n_runs`, and scored runs have a value of the metric
COUNTS = ("n_runs", "n_scored", "n_failed", "n_undefined", "n_without_controls")
#: shares of runs whose value cannot enter a mean
SHARES = ("undefined_share", "infinite_share")
#: columns that need controls
CONTROL_COLUMNS = (
    *("control_mean", "control_low", "control_high", "superiority_share", "p_value"),
    *("skill", "skill_low", "skill_high", "ci_level", "control_mean_se", "p_se", "p_at_floor", "p_method"),
    *("n_clusters", "note"),
)


class Skill(NamedTuple):
    """Skill of each stratum with its limits, what there is to note about them, and their level."""

    estimate: Estimate
    note: NDArray[np.object_]
    level: float


def stratum_skill(cube: xr.Dataset, metric: str, level: float) -> Skill:
    """Return the skill of each stratum with limits; runs of one cluster are not independent."""
    errors = cluster_sums(loss_errors(cube, metric), clusters_of_runs(cube))[0]
    loss, expected = cluster_losses(cube, metric)
    found = skill_interval(loss, expected, level, control_error=errors, shared=draws_shared(cube))
    return Skill(found, skill_notes(loss, expected, control_error=errors), level)


def summary_columns(
    cube: xr.Dataset, metric: str, *, level: float, interval: str, statistic: Statistic
) -> dict[str, Any]:
    """Return the columns of `summary` besides the strata and the metric, of all strata in order."""
    dims = strata_dims(cube)
    scores, status = cells(cube[metric], dims), cells(cube["status"], dims)
    defined, drawn = ~np.isnan(scores), has_controls(cube, metric)
    means = cells(variable(cube, metric, "control_mean"), dims) if drawn else scores
    counted = [status != NO_RUN, defined, ~defined & (status == FAILED), ~defined & (status == SCORED)]
    counts = [x.sum(axis=1) for x in [*counted, defined & np.isnan(means) if drawn else defined]]
    n_runs, n_scored, n_failed, n_undefined, _ = counts
    columns: dict[str, Any] = dict(zip(COUNTS, counts, strict=True))
    columns["undefined_share"] = ratio(n_undefined, n_runs - n_failed)
    columns["infinite_share"] = ratio(np.isinf(scores).sum(axis=1), n_scored)
    columns["mean"] = _means(scores)
    notes = _undefined_notes(n_scored, n_undefined)
    if interval == "quantile":
        columns["low"], columns["high"] = quantile_interval(scores, level)
    else:
        columns["low"], columns["high"], of_limits = _mean_limits(cube, metric, scores, columns["mean"], level)
        notes = _joined(of_limits, notes)
    nothing = np.full(len(scores), None, object)
    columns |= {name: np.full(len(scores), np.nan) for name in CONTROL_COLUMNS}
    columns |= {"n_clusters": np.full(len(scores), -1), "p_method": nothing, "note": notes}
    columns["p_at_floor"] = np.full(len(scores), pd.NA, object)
    return (
        columns | _control_columns(cube, metric, defined, means, notes, level, interval, statistic)
        if drawn
        else columns
    )


def _control_columns(
    cube: xr.Dataset,
    metric: str,
    defined: NDArray[np.bool_],
    means: Floats,
    notes: NDArray[np.object_],
    level: float,
    interval: str,
    statistic: Statistic,
) -> dict[str, Any]:
    """Return the columns that need controls; `means` are those of the runs' controls."""
    dims, able, skill = strata_dims(cube), tested(cube, metric), stratum_skill(cube, metric, level)
    if interval == "quantile":
        low, high = quantile_interval(cells(control_values(cube, metric), dims, ["value"]), level)
    else:
        sums, number = draw_sums(cube, metric)
        low, high = quantile_interval(ratio(sums, number), level)
    tests = stratum_tests(cube, metric, statistic)
    p_values = tests.p_values(str(cube[metric].attrs["direction"]), able)
    found = of_draws(tests, p_values, cluster_setting(cube), able)
    columns: dict[str, Any] = {
        "control_mean": _means(np.where(defined, means, np.nan)),
        "control_low": low,
        "control_high": high,
        "superiority_share": _means(as_good_shares(cube, metric)),
        "p_value": found.p,
        "p_se": found.se,
        "p_method": found.method,
        "p_at_floor": found.floor_flags,
        "n_clusters": tests.n_clusters,
        "ci_level": np.where(np.isnan(skill.estimate.low), np.nan, level),
        "note": _joined(_joined(notes, skill.note), tests.notes(able)),
    }
    columns["skill"], columns["skill_low"], columns["skill_high"] = skill.estimate
    if not draws_shared(cube):
        errors = np.where(defined, cells(variable(cube, metric, "control_mean_se"), dims), np.nan) ** 2
        columns["control_mean_se"] = np.sqrt(_means(errors) / np.maximum((~np.isnan(errors)).sum(axis=1), 1))
    return columns


def _means(values: Floats) -> Floats:
    """Return the mean of each row's defined values: infinite where one is, NaN without any or with both infinities."""
    undefined = np.isnan(values)
    with np.errstate(invalid="ignore"):  # infinities of both signs
        return ratio(np.where(undefined, 0.0, values).sum(axis=-1), (~undefined).sum(axis=-1))


def _joined(first: NDArray[np.object_], second: NDArray[np.object_] | list[str | None]) -> NDArray[np.object_]:
    """Join notes row by row."""
    pairs = zip(first, second, strict=True)
    return np.array(["; ".join(x for x in pair if x) or None for pair in pairs], object)


def _undefined_notes(n_scored: NDArray[np.int64], n_undefined: NDArray[np.int64]) -> NDArray[np.object_]:
    """Return how many runs are undefined: what the rest of the row leaves out."""
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
    cube: xr.Dataset, metric: str, scores: Floats, mean: Floats, level: float
) -> tuple[Floats, Floats, NDArray[np.object_]]:
    """Return the limits of the mean of the runs of each stratum, and why some are missing."""
    n, _, deviation = moments(scores)
    deviation = np.where(deviation == 0, np.nan, deviation)
    half = scipy.special.stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * deviation / np.sqrt(np.maximum(n, 1))
    low, high, number = mean - half, mean + half, n
    if cluster_setting(cube) != SINGLE:
        sums, numbers = cluster_sums(scores, clusters_of_runs(cube))
        number = (numbers > 0).sum(axis=-1)
        limits = cluster_limits(sums, numbers, level)
        low, high = (np.where(number < n, a, b) for a, b in zip(limits, (low, high), strict=True))
    words = {
        "mean without interval: one cluster": (number == 1) & (n > 1),
        "mean without interval: one run": n == 1,
        "mean without interval: infinite values": (n > 1) & ~np.isfinite(mean),
        "mean without interval: no variation": (n > 1) & np.isnan(low),
    }
    notes = np.select(list(words.values()), [np.array(word, object) for word in words], np.array(None, object))
    return low, high, notes
