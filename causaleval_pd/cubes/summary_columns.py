"""The columns of a summary: scores of the runs of a stratum and of their controls, effect, skill, p and verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from numpy.typing import NDArray

from ..statistics.arrays import Bools, Floats, moments, paired_difference, quantile_interval, ratio
from ..statistics.clusters import cluster_limits, cluster_means, cluster_sums, clustered_mean
from ..statistics.direction import better_side, merit, score
from ..statistics.interval_notes import NO_VARIATION, interval_notes, joined
from ..statistics.monte_carlo import NOISE_ALONE, noise_alone, without_noise
from ..statistics.multiplicity import adjust as adjusted
from ..statistics.skill import skill_interval, skill_notes
from ..statistics.stratum_statistic import Statistic
from ..statistics.words import BETTER, UNDECIDED
from ..statistics.words import verdicts as verdict_words
from ..tables.clusters import SINGLE
from .reading import (
    as_good_shares,
    cells,
    cluster_ids,
    cluster_losses,
    cluster_setting,
    clusters_of_runs,
    control_errors,
    control_values,
    fill_failed,
    has_controls,
    loss_errors,
    null_name,
    relabelled_nulls,
    strata_dims,
    strata_table,
    tested,
    variable,
)
from .schema import FAILED, NO_RUN, SCORED, variable_name
from .stratum_tests import LEAST_OF_COMBINATIONS, StratumP, described_p, draw_sums, stratum_tests
from .weights import weighted

#: fewest clusters of a verdict that speaks of further truths
FEWEST_CLUSTERS = 5
#: why p and the interval of the effect may differ where strata that repeat clusters were pooled
_WEAK = "the interval of the effect is clear of 0, and twice the mean p has little power"
_BY_STRATA = ": make the cube by these strata"
_HOLDS_0 = "the interval of skill holds 0"
_REVERSED = "is something reversed, such as the direction of edges?"
#: columns of a summary, after the strata: those that a result needs, and further ones
SHORT = (
    *("metric", "n_runs", "mean", "control_mean", "effect", "ci_low", "ci_high", "skill"),
    *("p_value", "p_adjusted", "verdict"),
)
FURTHER = (
    *("n_scored", "n_failed", "n_undefined", "n_without_controls", "n_clusters", "undefined_share", "infinite_share"),
    *("low", "high", "control_low", "control_high", "control_mean_se", "control_as_good_share"),
    *("skill_low", "skill_high", "p_se", "p_at_floor", "p_method", "n_draws", "n_no_information", "null", "note"),
)
#: columns of counts; `n_scored + n_failed + n_undefined = n_runs`, and scored runs have a value of the metric
COUNTS = ("n_runs", "n_scored", "n_failed", "n_undefined", "n_without_controls")
#: columns of numbers that are missing without controls
_OF_CONTROLS = (
    *("control_mean", "control_low", "control_high", "control_mean_se", "control_as_good_share"),
    *("effect", "ci_low", "ci_high", "skill", "skill_low", "skill_high", "p_value", "p_adjusted", "p_se"),
)


@dataclass(frozen=True)
class Settings:
    """What a summary shows; see `summary`."""

    statistic: Statistic = "mean"
    adjust: str | None = None
    missing: str = "drop"
    level: float = 0.95
    interval: str = "quantile"


def summary_columns(cube: xr.Dataset, metric: str, how: Settings) -> pd.DataFrame:
    """Return the rows of one metric, one per stratum in order; `reading` holds notes that change how a row reads."""
    # in quantiles of runs and controls every run counts alike
    raw, cube, dims = cube, weighted(cube, metric, how.missing), strata_dims(cube)
    scores, status = cells(cube[metric], dims), cells(cube["status"], dims)
    defined, drawn = ~np.isnan(scores), has_controls(cube, metric)
    means = cells(variable(cube, metric, "control_mean"), dims) if drawn else scores
    lacking = defined & np.isnan(means) if drawn else defined
    counted = [status != NO_RUN, defined, ~defined & (status == FAILED), ~defined & (status == SCORED), lacking]
    columns: dict[str, Any] = dict(zip(COUNTS, [x.sum(axis=1) for x in counted], strict=True))
    columns["undefined_share"] = ratio(columns["n_undefined"], columns["n_runs"] - columns["n_failed"])
    columns["infinite_share"] = ratio(np.isinf(scores).sum(axis=1), columns["n_scored"])
    worst = how.missing == "worst" and drawn
    filled = cells(fill_failed(cube, metric)[metric], dims) if worst else scores
    columns["mean"] = _means(filled)
    notes = _undefined_notes(columns["n_scored"], columns["n_undefined"])
    if how.interval == "quantile":
        columns["low"], columns["high"] = quantile_interval(cells(raw[metric], dims), how.level)
    else:
        columns["low"], columns["high"], of_limits = _mean_limits(cube, metric, scores, _means(scores), how.level)
        notes = joined(of_limits, notes)
    n = len(scores)
    columns |= {name: np.full(n, np.nan) for name in _OF_CONTROLS}
    columns |= {"n_clusters": np.full(n, -1), "n_draws": np.full(n, -1), "n_no_information": np.full(n, -1)}
    columns |= dict.fromkeys(("p_method", "verdict", "__reading", "null"), np.full(n, None, object))
    columns |= {"p_at_floor": np.full(n, pd.NA, object), "note": notes}
    if drawn:
        columns |= _control_columns(cube, raw, metric, defined, means, filled, how)
        columns["note"] = joined(notes, columns["note"])
    null = columns.pop("null")
    return strata_table(cube, metric=metric, **columns, **({} if "null" in dims else {"null": null}))


def _control_columns(
    cube: xr.Dataset, raw: xr.Dataset, metric: str, defined: Bools, means: Floats, filled: Floats, how: Settings
) -> dict[str, Any]:
    """Return the columns that need controls; `means` are those of the runs' controls, `filled` the runs' values.

    `raw` is the cube in which every run counts alike.
    """
    dims, able, direction = strata_dims(cube), tested(cube, metric), str(cube[metric].attrs["direction"])
    if how.interval == "quantile":
        low, high = quantile_interval(cells(control_values(raw, metric), dims, ["__value__"]), how.level)
    else:
        low, high = quantile_interval(ratio(*draw_sums(cube, metric)), how.level)
    failed = (cells(cube["status"], dims) == FAILED) & (how.missing == "worst")
    tests = stratum_tests(cube, metric, how.statistic, worst=how.missing == "worst")
    p = described_p(tests, tests.p_values(direction, able), cluster_setting(cube), able)
    effect = _effect(cube, metric, defined, failed, filled, how.level)
    losses, errors = cluster_losses(cube, metric), cluster_sums(loss_errors(cube, metric), clusters_of_runs(cube))[0]
    skill = skill_interval(*losses, how.level, control_error=errors)
    share = np.where(failed & defined.any(axis=1, keepdims=True), 1.0, as_good_shares(cube, metric))
    columns: dict[str, Any] = {
        "control_mean": _means(np.where(defined, means, np.nan)),
        "control_low": low,
        "control_high": high,
        "control_as_good_share": _means(share),
        **effect,
        "skill": skill.effect,
        "skill_low": skill.low,
        "skill_high": skill.high,
        "p_value": p.p,
        "p_adjusted": adjusted(p.p, how.adjust),
        "p_se": p.se,
        "p_method": p.method,
        "p_at_floor": p.floor_flags,
        "n_clusters": tests.n_clusters,
        "n_draws": np.full(len(able), cube.sizes["draw"]),
        "n_no_information": tests.columns.n_no_information,
        "null": np.full(len(able), null_name(cube, metric), object),
    }
    columns["verdict"] = verdicts(columns, direction, 1 - how.level)
    if variable_name(metric, "control_mean_se") in cube:
        squares = np.where(defined, cells(variable(cube, metric, "control_mean_se"), dims), np.nan) ** 2
        columns["control_mean_se"] = np.sqrt(_means(squares) / np.maximum((~np.isnan(squares)).sum(axis=1), 1))
    reading = joined(
        columns.pop("effect_note"),
        tests.notes(able),
        _contradictions(
            columns,
            _worse_notes(tests.clearly_worse(direction, able, 1 - how.level), filled, cube[metric].attrs),
            relabelled_nulls(cube, metric),
        ),
    )
    columns["__reading"] = reading
    of_skill = [note and f"skill: {note}" for note in skill_notes(*losses, control_error=errors)]
    columns["note"] = joined(of_skill, reading, _floor_notes(p))
    return columns


def _effect(
    cube: xr.Dataset, metric: str, defined: Bools, failed: Bools, filled: Floats, level: float
) -> dict[str, Any]:
    """Return the mean of runs less their expected controls, its t interval over clusters, and why it has none.

    The control of a failed run is the mean of the stratum's.
    """
    dims, spec = strata_dims(cube), cube[metric].attrs
    part = "control_loss" if spec["direction"] == "zero" else "control_mean"
    expected = cells(variable(cube, metric, part), dims)
    of_stratum = moments(np.where(defined, expected, np.nan))[1]
    run_scores = score(filled, direction=spec["direction"], optimum=spec["optimum"])
    pairs = paired_difference(run_scores, np.where(failed, of_stratum[:, None], expected))
    clusters = cells(cluster_ids(cube), dims)
    # differences that the controls' Monte Carlo errors explain show no variation
    errors = cells(control_errors(cube, metric), dims)
    differences, alone = without_noise(pairs, errors), noise_alone(pairs, errors)
    interval = clustered_mean(differences, clusters, level)
    notes = np.where(alone, NOISE_ALONE, interval_notes(interval, cluster_means(differences, clusters), level))
    effect = clustered_mean(pairs, clusters, level).effect
    return {"effect": effect, "ci_low": interval.low, "ci_high": interval.high, "effect_note": notes}


def verdicts(columns: dict[str, Any], direction: str, alpha: float) -> NDArray[np.object_]:
    """Return the verdict on each stratum, None without a p-value.

    "better" needs a p of at most alpha, the interval of the effect on the good side of 0, and at least five clusters;
    an effect that is the same in all of n clusters needs 2^-n of at most alpha. "not all guesses" needs p alone. Twice
    the mean p is a bound, from which nothing follows where the interval is on the good side.
    """
    p, sign = columns["p_adjusted"], 1 if better_side(direction) == "greater" else -1
    with np.errstate(invalid="ignore"):
        clear = sign * (columns["ci_low"] if sign > 0 else columns["ci_high"]) > 0
        same = np.isin(columns["effect_note"].astype(str), [NO_VARIATION, NOISE_ALONE]) & (sign * columns["effect"] > 0)
    good = clear | (same & (2.0 ** -columns["n_clusters"] <= alpha))
    p_low = np.where(_is_bound(columns) & clear, 0.0, p)
    return verdict_words(p_low, p, alpha, good & (columns["n_clusters"] >= FEWEST_CLUSTERS))


def _is_bound(columns: dict[str, Any]) -> Bools:
    """Return which p-values are twice the mean p of dependent runs."""
    return np.char.startswith(columns["p_method"].astype(str), "twice the mean")


def _contradictions(columns: dict[str, Any], worse: Sequence[str | None], relabelled: Bools) -> list[str | None]:
    """Return what a reader of the verdict would not expect; `relabelled` null models have a test of more power."""
    with np.errstate(invalid="ignore"):
        holds = (columns["verdict"] == BETTER) & (columns["skill_low"] <= 0)
    weak = columns["verdict"] == UNDECIDED
    return [
        _HOLDS_0 if zero else _WEAK + _BY_STRATA * able if few else bad
        for zero, few, able, bad in zip(holds.tolist(), weak.tolist(), relabelled.tolist(), worse, strict=True)
    ]


def _worse_notes(worse: Bools, filled: Floats, spec: Mapping[str, Any]) -> list[str | None]:
    """Return why the strata that are worse than guessing may be so: infinite losses, or else what is reversed."""
    merits = merit(filled, direction=spec["direction"], optimum=spec["optimum"])
    n_infinite, n = np.isneginf(merits).sum(axis=1), (~np.isnan(merits)).sum(axis=1)
    return [
        f"worse than guessing: {f'{lost} of {of} values are infinite' if lost else _REVERSED}" if bad else None
        for bad, lost, of in zip(worse.tolist(), n_infinite.tolist(), n.tolist(), strict=True)
    ]


def _floor_notes(judged: StratumP) -> list[str | None]:
    """Return for every p-value that no draw reached what finds smaller ones."""
    words = [
        f"p <= {p:.3g}, {LEAST_OF_COMBINATIONS}"
        if "combinations" in str(method)
        else f"p <= {p:.3g}, the least that these draws give; n_draws='auto' of the cube resolves smaller p"
        for p, method in zip(judged.p.tolist(), judged.method.tolist(), strict=True)
    ]
    return [word if floor else None for word, floor in zip(words, judged.at_floor.tolist(), strict=True)]


def _means(values: Floats) -> Floats:
    """Return the mean of each row's defined values: infinite where one is, NaN without any or with both infinities."""
    undefined = np.isnan(values)
    with np.errstate(invalid="ignore"):  # infinities of both signs
        return ratio(np.where(undefined, 0.0, values).sum(axis=-1), (~undefined).sum(axis=-1))


def _undefined_notes(n_scored: NDArray[np.int64], n_undefined: NDArray[np.int64]) -> list[str | None]:
    """Return how many runs are undefined: what the rest of the row leaves out."""
    return [
        None
        if not undefined
        else f"{undefined} of {undefined + scored} values undefined, left out"
        if scored
        else f"all {undefined} values undefined"
        for scored, undefined in zip(n_scored.tolist(), n_undefined.tolist(), strict=True)
    ]


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
