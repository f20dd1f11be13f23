"""The comparison of levels in a report: over all strata first, then stratum by stratum, and in words who is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from ..contract.checks import counted, enumerated
from ..cubes.reading import strata_dims
from ..inference.compare import compare
from ..inference.compared_values import places_of_pairs
from ..inference.result_tables import TooFewClustersError, cannot_be_significant
from ..statistics.words import level_words, listed
from .methods import Sentence

#: what the better level has, by the direction of the metric
_BETTER = {
    "metric": {
        **{"minimize": "a lower {}", "maximize": "a higher {}", "none": "a lower {}"},
        "zero": "a {} closer to its optimum",
    },
    "excess": {
        **{"minimize": "a lower {} beyond its controls", "maximize": "a higher {} beyond its controls"},
        **{"none": "a lower {} beyond its controls", "zero": "a {} closer to its optimum, beyond its controls,"},
    },
}


class LevelComparison(NamedTuple):
    """The tables of a comparison."""

    #: over all strata
    pooled: pd.DataFrame
    #: the rows of each stratum that can be significant; None without strata, or where no row can
    strata: pd.DataFrame | None = None
    #: what was left out of the strata, and why
    left_out: str | None = None


def compare_in_blocks(
    cube: xr.Dataset, over: str, metrics: Sequence[str], *, level: float = 0.95, **how: Any
) -> LevelComparison:
    """Compare the levels of a stratum over all others and, where these have several levels, in each."""
    pooled = compare(cube, over, metrics, level=level, columns="full", **how)
    if all(cube.sizes[dim] < 2 for dim in strata_dims(cube) if dim not in (over, "null")):
        return LevelComparison(pooled)
    try:
        strata = compare(cube, over, metrics, by="all", level=level, columns="full", **how)
    except TooFewClustersError as error:
        return LevelComparison(pooled, None, f"Strata are not compared one by one: {str(error).split('; ')[0]}.")
    short = strata["p_value"].isna().to_numpy() | cannot_be_significant(strata)
    enough = f"enough clusters for a p of {1 - level:.4g}, whatever the differences"
    if short.all():
        return LevelComparison(pooled, None, f"Strata are not compared one by one: none has {enough}.")
    rows = counted(int(short.sum()), "comparison")
    verb = "is" if short.sum() == 1 else "are"
    left_out = f"{rows} without {enough}, {verb} left out." if short.any() else None
    return LevelComparison(pooled, strata[~short], left_out)


def who_is_better(
    table: pd.DataFrame, levels: NDArray[Any], directions: Mapping[str, str], level: float, limit: str
) -> list[Sentence]:
    """State for every metric which levels are better, in how many strata; `limit` is when two levels differ."""
    sentences = []
    by_null = ["null"] if table["null"].nunique() > 1 else []
    for key, rows in table.groupby([*by_null, "metric"], sort=False):
        what = _what(str(key[-1]), str(rows["on"].iloc[0]), directions)
        under = f", null model “{key[0]}”" if by_null else ""
        better, equal, untested = _winners(rows, levels, directions.get(str(key[-1]), "none"), level)
        for winner, losers in better.items():
            sentences.append(Sentence(f"{winner} has {what} than {enumerated(losers, 'and')} ({limit}{under})."))
        if equal:
            pairs = listed(equal) if better or untested or len(equal) == 1 else "any two levels"
            sentences.append(Sentence(f"{key[-1]}: no difference is detected between {pairs} ({limit}{under})."))
        if untested:
            sentences.append(Sentence(f"{key[-1]}: no p-value of {listed(untested)}{under}."))
    return sentences


def _winners(
    rows: pd.DataFrame, levels: NDArray[Any], direction: str, level: float
) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return the levels that each level is better than, in words, the pairs without a difference, and without a p."""
    places, names = places_of_pairs(levels), level_words(levels)
    sign = 1 if direction == "maximize" or rows["on"].iloc[0] == "skill" else -1
    better: dict[str, list[str]] = {}
    equal, untested = [], []
    for comparison, pair in rows.groupby("comparison", sort=False):
        first, second = (names[place] for place in places[str(comparison)])
        gain = sign * pair["effect"].where(pair["p_adjusted"] <= 1 - level)
        for winner, loser, n in ((first, second, int((gain > 0).sum())), (second, first, int((gain < 0).sum()))):
            share = f" in {n} of {counted(len(pair), 'stratum', 'strata')}" if len(pair) > 1 else ""
            if n:
                better.setdefault(winner, []).append(f"{loser}{share}")
        if pair["p_adjusted"].isna().all():
            untested.append(f"{first} and {second}")
        elif gain.isna().all():
            equal.append(f"{first} and {second}")
    return better, equal, untested


def _what(name: str, on: str, directions: Mapping[str, str]) -> str:
    """Return what a better level has."""
    return f"more skill by {name}" if on == "skill" else _BETTER[on][directions.get(name, "none")].format(name)
