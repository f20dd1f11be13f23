"""What comparisons take from a cube: scores or losses, pairs of levels, groups of dependent runs, margins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import check_known, shown
from ..cubes.reading import (
    asked_strata,
    cells,
    cluster_ids,
    cluster_setting,
    control_errors,
    fill_failed,
    null_name,
    strata_dims,
    strata_table,
    variable,
)
from ..cubes.schema import FAILED, NO_RUN, stratum_name
from ..cubes.weights import WEIGHT
from ..statistics.arrays import Floats
from ..statistics.direction import TOLERANCE, score
from ..statistics.words import level_words
from ..tables.clusters import BY_TRUTH, SINGLE
from .pairwise import Ints, Levels, check_truths
from .result_tables import Missing


def run_groups(cube: xr.Dataset) -> xr.DataArray | None:
    """Return the cluster of every run as a number, the same one for the whole cube; None where all are independent."""
    return None if cluster_setting(cube) == SINGLE else cluster_ids(cube).astype(np.int64)


def words_of_clusters(cube: xr.Dataset, single: str) -> str:
    """Return what the clusters of a cube are called; `single` where every run is one."""
    setting = cluster_setting(cube)
    named = {BY_TRUTH: "truths", SINGLE: single}
    return named.get(setting) or f"clusters by {setting.removeprefix('column ')}"


#: what is compared
On = Literal["metric", "excess", "skill"]
ON: tuple[On, ...] = ("metric", "excess", "skill")


class Compared(NamedTuple):
    """One metric's values over strata x levels x replicates."""

    levels: Levels
    #: losses expected of the controls, for skill
    expected: Floats | None
    #: the strata that are kept, one row each
    strata: pd.DataFrame
    #: strata x pairs of levels where both levels have runs
    here: NDArray[np.bool_]


def compared_values(
    part: xr.Dataset,
    name: str,
    dim: str,
    first: Ints,
    second: Ints,
    *,
    on: On,
    missing: Missing,
    margin: float,
    paired: bool = True,
    pooled: Sequence[str] = (),
) -> Compared:
    """Return what a comparison of the levels of `dim` at positions `first` (c,) with those at `second` takes.

    The runs of the strata `pooled` are further replicates. Pairs of runs on different truths are refused where paired.
    """
    others = [other for other in strata_dims(part) if other != dim]
    kept = [other for other in others if other not in pooled]
    beside = [other for other in others if other in pooled]
    if paired:
        status = cells(part["status"], others, last=(dim, "replicate"))
        check_truths(part, dim, status, strata_table(part.isel({dim: 0}, drop=True)), first, second)

    def by_level(array: xr.DataArray) -> NDArray[Any]:
        values = cells(array, kept, last=(dim, *beside, "replicate"))
        return values.reshape(*values.shape[:2], math.prod(values.shape[2:]))

    status = by_level(part["status"])
    run = (status != NO_RUN).any(axis=2)
    grouped = run_groups(part)
    groups = None if grouped is None else by_level(grouped)
    direction = "maximize" if on == "skill" else part[name].attrs["direction"]
    scores, expected = _scores(part, name, dim, on, missing)
    errors = None if on == "metric" else by_level(control_errors(part, name))
    n_pooled = math.prod(part.sizes[other] for other in beside)
    weight = by_level(part[WEIGHT]) if WEIGHT in part.coords else None
    levels = Levels(by_level(scores), status, direction, margin, groups, errors, n_pooled, weight)
    losses = None if expected is None else by_level(expected)
    strata = strata_table(part.isel(dict.fromkeys([dim, *beside], 0), drop=True))
    return Compared(levels, losses, strata, run[:, first] & run[:, second])


class RunValues(NamedTuple):
    """The values of runs by themselves, their Monte Carlo standard errors, and the runs' groups."""

    values: xr.DataArray
    errors: xr.DataArray
    groups: xr.DataArray | None


def run_values(part: xr.Dataset, name: str, *, on: On) -> RunValues:
    """Return the value of every run by itself, such as its skill where the loss of its controls is not 0."""
    groups = run_groups(part)
    if on == "metric":
        return RunValues(part[name], xr.zeros_like(part[name], np.float64), groups)
    (run_scores, expected), errors = _scores(part, name, "", on, "drop"), control_errors(part, name)
    if expected is None:
        return RunValues(run_scores, errors, groups)
    share = run_scores / expected.where(expected > TOLERANCE)
    return RunValues(1 - share, share * errors / expected.where(expected > TOLERANCE), groups)


def compared_stratum(dim: object) -> str:
    """Return what the stratum whose levels are compared is called; refuse what cannot name one, such as metrics."""
    if not isinstance(dim, str):
        raise TypeError(
            f"dim must be the name of the stratum whose levels are compared, found {shown(dim)}; name it first, then "
            "the metrics, as in compare('algorithm', ['shd'])"
        )
    return stratum_name(dim)


def kept_strata(by: str | Sequence[str] | None, known: Sequence[str], dim: str) -> list[str]:
    """Return the strata that a comparison of the levels of `dim` keeps, of those that are known."""
    asked = asked_strata(by, known)
    if dim in asked:
        raise ValueError(f"by= names {dim!r}, whose levels are compared; name the other strata that the table keeps")
    for name in asked:
        check_known(name, known, "stratum (by)")
    if len(set(asked)) < len(asked):
        raise ValueError(f"by= names {next(x for x in asked if asked.count(x) > 1)!r} twice; name it once")
    return [name for name in known if name in asked]


def level_pairs(levels: NDArray[Any], dim: str, reference: Hashable | None) -> tuple[Ints, Ints]:
    """Return positions of the levels a and b of every comparison a - b."""
    if len(levels) < 2:
        raise ValueError(f"{dim!r} has {len(levels)} level, and a comparison needs two")
    if reference is None:
        pairs = list(itertools.combinations(range(len(levels)), 2))
    else:
        place = _place_of(levels, dim, reference)
        pairs = [(i, place) for i in range(len(levels)) if i != place]
    first, second = np.array(pairs, np.int64).T
    return first, second


def _place_of(levels: NDArray[Any], dim: str, level: Hashable) -> int:
    """Return the position of a level, by its value or its text."""
    if not isinstance(level, Hashable):  # such as an array, which is equal to a label cell by cell
        raise TypeError(f"reference must be one level of {dim!r}, found {shown(level)}")
    # an index has dates as Timestamps
    equal = [i for i, label in enumerate(pd.Index(levels)) if level is not pd.NA and label == level]
    if equal:
        return equal[0]
    words = _words(levels)
    check_known(str(level), words, f"level of {dim!r} (reference)")
    return words.index(str(level))


def _words(levels: NDArray[Any]) -> list[str]:
    """Return what levels are called in names of comparisons, days without the time."""
    return level_words(levels) if levels.dtype.kind == "M" else [str(level) for level in levels]


def names_of_pairs(levels: NDArray[Any], first: Ints, second: Ints) -> NDArray[Any]:
    """Return the names "a - b" of comparisons; levels with " - " are quoted where two names would be the same."""
    words = _words(levels)
    if len({f"{a} - {b}" for a, b in itertools.permutations(words, 2)}) < len(words) * (len(words) - 1):
        words = [f'"{word}"' if " - " in word else word for word in words]
    return np.array([f"{words[a]} - {words[b]}" for a, b in zip(first, second, strict=True)], dtype=object)


def places_of_pairs(levels: NDArray[Any]) -> dict[str, tuple[int, int]]:
    """Return the positions of the two levels of every comparison, by its name."""
    pairs = list(itertools.permutations(range(len(levels)), 2))
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    return dict(zip(names_of_pairs(levels, first, second).tolist(), pairs, strict=True))


def pair_table(part: xr.Dataset, name: str, strata: pd.DataFrame, labels: NDArray[Any], on: On) -> pd.DataFrame:
    """Return the columns that name what each row compares, by strata and then `labels` of pairs of levels."""
    table = strata.loc[np.repeat(np.arange(len(strata)), len(labels))].reset_index(drop=True)
    table = table.assign(metric=name, comparison=np.tile(labels, len(strata)))
    if "null" not in table:
        null = None if on == "metric" else null_name(part, name)
        table["null"] = pd.array([null] * len(table), dtype="str")
    return table


def numbers_of_metrics(
    given: float | Mapping[str, float] | None, names: Sequence[str], word: str, *, zero: bool = False
) -> dict[str, float]:
    """Return the number of every metric for the setting `word`, such as its margin; 0 where none is given."""
    if given is None:
        return dict.fromkeys(names, 0.0)
    numbers = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names, given)
    for name in numbers:
        check_known(name, names, f"metric compared ({word})")
    absent = [name for name in names if name not in numbers]
    if absent:
        raise ValueError(f"{word}= names no {word} for {', '.join(absent)}; give one, or leave them out by metrics=")
    for value in numbers.values():
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"{word} must be a number, or one number per metric, found {shown(value)}")
    wrong = {name: value for name, value in numbers.items() if not (0 < value < np.inf or (zero and value == 0))}
    if wrong:
        kind = "0 or a positive number" if zero else "a positive number"
        raise ValueError(f"{word} must be {kind} in units of the metric, found {wrong}")
    return numbers


def _scores(
    cube: xr.Dataset, name: str, dim: str, on: On, missing: Missing
) -> tuple[xr.DataArray, xr.DataArray | None]:
    """Return what is compared: the metric, its distance from the optimum, or that less the controls' for the excess.

    Of skills it is the losses and those expected of the controls.
    """
    worst, skill = missing == "worst", on == "skill"
    spec = cube[name].attrs
    if skill and not np.isfinite(spec["optimum"]):
        raise ValueError(f"{name} has no finite optimum, so it has no skill; use on='excess'")
    filled = fill_failed(cube, name, [dim]) if worst else cube
    direction = "zero" if skill else spec["direction"]
    run_scores = cube[name].copy(data=score(filled[name].to_numpy(), direction=direction, optimum=spec["optimum"]))
    if on == "metric":
        return run_scores, None
    expected = variable(cube, name, "control_loss" if direction == "zero" else "control_mean")
    if worst:
        # a failed run has no number of edges: it counts against the mean control of its level
        mean = expected.where(cube[name].notnull()).mean("replicate")
        expected = expected.where(cube["status"] != FAILED, mean)
    return (run_scores, expected) if skill else (run_scores - expected, None)
