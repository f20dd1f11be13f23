"""Intervals of a table of comparisons that hold all their true values together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..statistics.arrays import Bools, Estimate, Floats
from ..statistics.effects import EFFECTS
from ..statistics.interval_notes import Notes, interval_notes, joined
from ..statistics.max_t import joint_max_t
from ..statistics.simultaneous import MOST_NUMBERS, contributions, sidak_level, single_level
from ..statistics.skill import FEWEST_CLUSTERS, skill_contributions, skill_difference
from .pairwise import Comparison, Ints

#: tests whose intervals can be made simultaneous
TESTS = ("wilcoxon", "t", "sign", "jackknife")
#: effects that go by the order of values
_BY_RANKS = ("hodges_lehmann", "rank_biserial", "median_difference")


class Sample(NamedTuple):
    """What one row of a table of comparisons is computed from."""

    #: differences (1, n), or losses, control losses and their errors of both levels (6, n)
    values: Floats
    #: number of the cluster of each, the same in all rows; None where pairs are independent
    clusters: Ints | None


def check_simultaneous(how: Comparison) -> None:
    """Refuse tests and effect sizes that have no simultaneous intervals."""
    if how.test.name not in TESTS:
        raise ValueError(
            f"simultaneous=True takes test='wilcoxon', 't', 'sign' or, of skills, 'jackknife', found "
            f"{how.test.name!r}; test='max_t' has intervals that are simultaneous for the rows of each family"
        )
    if how.effect in EFFECTS and EFFECTS[how.effect].members:
        raise ValueError(f"effect={how.effect!r} has no simultaneous intervals; use 'rank_biserial'")


def samples(values: Sequence[Floats], known: Bools, clusters: Ints | None) -> list[Sample]:
    """Return the sample of every row of arrays (rows, n), one or six, that are gathered by cluster.

    `known` and `clusters` (rows, n) are the pairs with a value and their clusters, before they were gathered.
    """
    found = []
    for row, here in enumerate(known):
        labels = None if clusters is None else pd.unique(clusters[row][here])
        n = int(here.sum()) if labels is None else len(labels)
        mine = np.array([x[row][~np.isnan(x[row])] for x in values]).reshape(len(values), n)
        found.append(Sample(mine, labels))
    return found


def simultaneous_intervals(effect: pd.Series, rows: Sequence[Sample], how: Comparison) -> tuple[Estimate, float, Notes]:
    """Return effects with limits that hold all true values together, the level of each interval, and notes.

    Rows with fewer than five clusters have no interval.
    """
    width = max((x.values.shape[1] for x in rows), default=0)
    parts = np.full((rows[0].values.shape[0] if rows else 1, len(rows), width), np.nan)
    for place, one in enumerate(rows):
        parts[:, place, : one.values.shape[1]] = one.values
    number = (~np.isnan(parts[0])).sum(axis=1)
    enough = number >= FEWEST_CLUSTERS
    skill = how.effect == "skill_difference"
    if skill:
        a, b = tuple(parts[:3]), tuple(parts[3:])
        own = skill_contributions(a, b)
    else:
        own = contributions(parts[0], effect.to_numpy(np.float64), ranks=how.effect in _BY_RANKS)
        if how.effect not in _BY_RANKS:
            own = contributions(parts[0], np.zeros(len(rows)), ranks=False)
    level = _level(own[enough], [x.clusters for x, here in zip(rows, enough, strict=True) if here], how)
    if skill:
        found = skill_difference(a, b, level=level)
        estimate = Estimate(found.effect, found.low, found.high)
        notes = np.full(len(rows), None, object)
    else:
        estimate = EFFECTS[how.effect].paired(parts[0], level)
        notes = interval_notes(estimate, parts[0], level)
    limits = (np.where(enough, x, np.nan) for x in (estimate.low, estimate.high))
    notes[~enough & (number > 0)] = f"fewer than {FEWEST_CLUSTERS} clusters: no simultaneous interval"
    return Estimate(estimate.effect, *limits), level, notes


def corrected_jointly(
    table: pd.DataFrame, rows: Sequence[Sample], labels: Ints | None, how: Comparison
) -> pd.DataFrame:
    """Correct the rows of each family by their largest t, and make their intervals simultaneous.

    `rows` are their differences by cluster; `labels` the families, None where all rows are one.
    """
    families = np.zeros(len(table), np.int64) if labels is None else labels
    adjusted, low, high = np.full((3, len(table)), np.nan)
    for family in np.unique(families):
        mine = np.flatnonzero(families == family).tolist()
        differences: list[Floats] = [rows[i].values[0] for i in mine]
        blocks = [np.asarray(rows[i].clusters) for i in mine]
        joint = joint_max_t(
            differences, blocks, alternative=how.side, level=how.level, n_resamples=how.n_resamples, rng=how.seed
        )
        adjusted[mine], low[mine], high[mine] = joint.p_adjusted, joint.low, joint.high
    # the p-value of a row can be that of all sign vectors, the adjusted one that of random ones
    table = table.assign(p_adjusted=np.maximum(adjusted, table["p_value"].to_numpy(np.float64)))
    if how.effect != how.test.effect:
        return table
    lost = table["ci_low"].notna().to_numpy() & np.isnan(low)
    notes = joined(table["note"], ["too few clusters for an interval" if x else None for x in lost])
    return table.assign(ci_low=low, ci_high=high, note=pd.array(notes, dtype="str"))


def _level(own: Floats, clusters: Sequence[Ints | None], how: Comparison) -> float:
    """Return the level of single intervals from the contributions (k, n) of each row's clusters."""
    known = [x for x in clusters if x is not None]
    labels, place = np.unique(np.concatenate([*known, np.zeros(0, np.int64)]), return_inverse=True)
    if len(known) < len(clusters) or len(known) * len(labels) > MOST_NUMBERS:
        # no value is shared between rows, or more than memory holds: the level that always suffices
        return sidak_level(how.level, len(clusters))
    arranged = np.full((len(known), len(labels)), np.nan)
    ends = np.cumsum([len(x) for x in known])
    for row, (end, one) in enumerate(zip(ends, known, strict=True)):
        arranged[row, place[end - len(one) : end]] = own[row, : len(one)]
    return single_level(arranged, how.level, n_resamples=how.n_resamples, rng=how.seed)
