"""What tables of tests share: their columns, checks of settings, adjusted p-values, and the least that p can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..contract.checks import check_known, check_type, counted
from ..contract.metric import METRICS
from ..statistics.arrays import Floats
from ..statistics.interval_notes import INFINITE, Notes
from ..statistics.max_t import EXACT_BLOCKS, RESAMPLES
from ..statistics.multiplicity import adjust as adjusted
from ..tables.history import calls
from .pairwise import Comparison
from .statistical_tests import WILCOXON

Missing = Literal["drop", "worst"]

#: columns of every table of tests: after the strata what is tested, at the end results, which printed tables show there
TESTED = (*("metric", "comparison", "n_pairs", "n_truths", "n_failed", "n_undefined", "null", "test", "alternative"),)
RESULTS = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted")


def check_missing(missing: str) -> None:
    """Refuse an unknown treatment of failed runs."""
    check_known(missing, ["drop", "worst"], "value of missing")


def directions_of(table: pd.DataFrame, given: Mapping[str, str]) -> list[str]:
    """Return the direction of every row's metric, or of skill; of carried columns that in the history, else "none"."""
    check_type(given, Mapping, "a mapping of metrics to directions", "directions")
    for aim in given.values():
        check_known(aim, ["minimize", "maximize", "zero", "none"], "direction")
    names = table["metric"].astype(str) if "metric" in table else [""] * len(table)
    known: dict[str, str | None] = {name: METRICS[name].direction for name in set(names) if name in METRICS}
    for values in (one.get("values") for one in calls(table.attrs)):
        if isinstance(values, Mapping):
            known |= {name: aim for name, aim in values.items() if aim is not None}
    skills = of_skill(table)
    return [
        "maximize" if skill else str(given.get(name, known.get(name, "none")))
        for name, skill in zip(names, skills, strict=True)
    ]


def of_skill(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows hold differences or effects of skill, which is better when larger, whatever the metric."""
    named = [table[name].astype(str) == "skill" for name in ("on", "response") if name in table]
    made = calls(table.attrs)[-1:]
    of_all = [one.get("on") == "skill" for one in made if one["verb"] == "compare"]
    return np.asarray(named[0], bool) if named else np.full(len(table), any(of_all))


def in_order(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the strata, that is all columns that are not declared, and then the declared ones in their order."""
    return table[[*(name for name in table if name not in columns), *columns]]


def families(table: pd.DataFrame) -> NDArray[np.int64]:
    """Return the number of each row's metric, within which p-values are adjusted."""
    return np.asarray(table.groupby("metric", dropna=False, sort=False).ngroup(), np.int64)


def stack_tests(
    parts: list[pd.DataFrame], columns: Sequence[str], strata: Sequence[str], adjust: str | None
) -> pd.DataFrame:
    """Stack the metrics' tables of tests and adjust p-values by metric, but for a test's own `p_adjusted`."""
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*strata, *columns])
    if "p_adjusted" not in table:
        table["p_adjusted"] = adjusted(table["p_value"].to_numpy(np.float64), adjust, families(table))
    return in_order(table, columns)


#: what notes say of a p-value that cannot be small
_FLOOR = "is at least"
#: clusters up to which a number that suffices is looked for
_MOST = 64


def at_floor(table: pd.DataFrame, how: Comparison) -> pd.arrays.BooleanArray:
    """Return which p-values no random resample reached, so that more of them may make p smaller.

    P-values over all sign vectors are exact; those of the largest t are up to `EXACT_BLOCKS` clusters.
    """
    p = table["p_value"].to_numpy(np.float64)
    few = table["n_truths"].to_numpy(np.int64) <= EXACT_BLOCKS
    drawn = np.full(len(p), how.test.resamples) & ~(few & (how.test.design == "blocks"))
    with np.errstate(invalid="ignore"):  # without a p-value
        least = drawn & (p * (RESAMPLES + 1) <= 1 + 1e-9)
    return pd.arrays.BooleanArray(least, np.isnan(p))


def cannot_be_significant(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the rows of a table of comparisons whose note states that p cannot be small, whatever the data."""
    return table["note"].fillna("").str.contains(_FLOOR).to_numpy(np.bool_)


class TooFewClustersError(ValueError):
    """No row of a comparison can be significant, whatever the data."""


def least_p_notes(
    table: pd.DataFrame, how: Comparison, labels: NDArray[np.int64] | None, *, unit: str, pooled: bool
) -> Notes:
    """Return for every row whether its test cannot reach 1 - level after the correction, whatever the data.

    `labels` are the families, None where all rows are one; `pooled` is whether no stratum is kept. Wilcoxon's test is
    refused where it cannot in any row.
    """
    notes = np.full(len(table), None, object)
    known = table["p_value"].notna().to_numpy()
    if not (how.test.signs or how.test.resamples) or not known.any():
        return notes
    clusters = np.asarray(table["n_truths"], np.int64)
    families = np.zeros(len(table), np.int64) if labels is None else labels
    reached = _least_adjusted(known, clusters, how, families)
    sizes = pd.Series(known).groupby(families).transform("sum").to_numpy()
    column = "p_value" if how.adjust in (None, "none") else "p_adjusted"
    short = np.flatnonzero(known & (reached > how.alpha))
    enough = {size: _clusters_needed(int(size), how) for size in np.unique(sizes[short])}
    if how.test.name == "wilcoxon" and len(short) == known.sum():
        row = short[np.argmax(clusters[short])]
        tests = f"{sizes[row]:.0f} test{'s' if sizes[row] > 1 else ''}"
        ways = [] if _infinite(table).any() else ["use test='t'"]
        ways += [] if pooled else ["pool strata by leaving them out of by="]
        raise TooFewClustersError(
            f"test='wilcoxon' needs {enough[sizes[row]]} {unit} for {tests} with adjust={how.adjust!r}, found "
            f"{clusters[row]}: its {column} is at least {reached[row]:.2g}, whatever the data"
            + ("; " + ", or ".join(ways) if ways else "")
        )
    for row in short:
        needed = enough[sizes[row]]
        more = "no number of clusters suffices" if needed is None else f"{needed} are needed for {how.alpha:g}"
        notes[row] = f"{column} {_FLOOR} {reached[row]:.2g} with {counted(int(clusters[row]), 'cluster')}; {more}"
    return notes


def ranking_notes(table: pd.DataFrame, how: Comparison, labels: NDArray[np.int64]) -> Notes:
    """Return a table's notes, which name Wilcoxon's test where infinite values have no p and its p can be small."""
    ranked = how._replace(test=WILCOXON, adjust="holm" if how.jointly else how.adjust)
    clusters = np.asarray(table["n_truths"], np.int64)
    able = _least_adjusted(clusters > 0, clusters, ranked, labels) <= ranked.alpha
    named = able & _infinite(table) & table["p_value"].isna().to_numpy()
    words = f"{INFINITE}; test='wilcoxon' ranks them beyond all others"
    return np.where(named, table["note"].str.replace(INFINITE, words), table["note"]).astype(object)


def _infinite(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return the rows of a table of comparisons whose note speaks of infinite values."""
    return table["note"].fillna("").str.contains("infinite values").to_numpy(np.bool_)


def _least_adjusted(
    known: NDArray[np.bool_], clusters: NDArray[np.int64], how: Comparison, families: NDArray[np.int64]
) -> Floats:
    """Return the smallest adjusted p-values that rows of these numbers of clusters can have; NaN where not `known`."""
    least = np.where(known, _least_p(clusters, how), np.nan)
    return np.asarray(adjusted(least, _correction(how), families))


def _correction(how: Comparison) -> str | None:
    """Return the correction of p-values one by one, which that by the largest t is not."""
    return None if how.jointly else how.adjust


def _least_p(clusters: NDArray[np.int64], how: Comparison) -> Floats:
    """Return the smallest p-values that samples of these sizes can have."""
    sided = 2.0 if how.claim == "two-sided" else 1.0
    n = np.maximum(clusters, 1).astype(np.float64)
    least = np.minimum(1.0, sided * 2.0**-n) if how.test.signs else np.zeros(len(n))
    return np.maximum(least, 1 / (RESAMPLES + 1)) if how.test.resamples else least


def _clusters_needed(size: int, how: Comparison) -> int | None:
    """Return how many clusters let all tests of a family of this size reach 1 - level; None if no number does."""
    tiny = 2.0**-100  # far from 1, where corrections multiply equal p-values by the same factor
    factor = float(np.max(adjusted(np.full(size, tiny), _correction(how), None))) / tiny
    numbers = np.arange(1, _MOST + 1)
    enough = numbers[_least_p(numbers, how) * factor <= how.alpha]
    return int(enough[0]) if len(enough) else None
