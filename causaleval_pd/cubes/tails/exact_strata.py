"""Exact p-values of strata whose rows all have exact laws: the law of their sum, by convolution.

Rows whose values are dealt without replacement, such as shuffled answers, enter it deck by deck.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from ...contract.law import Dealt, Distribution
from ...contract.metric import Metric
from ...statistics.arrays import SMALLEST_P
from ...statistics.direction import merit
from ...statistics.tails.convolution import Law, tail_of_sum
from ..schema import LAW_STATISTICS, TAIL_METHODS, TAIL_STATISTICS
from ..strata import Grid

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: number of the method in `schema.TAIL_METHODS`
_CONVOLVED = TAIL_METHODS.index("exact convolution")
#: multiplications that the convolution of a stratum may take, about a second
MOST_WORK = 1e9


class RowLaw(NamedTuple):
    """The exact law of a metric: its defined values, their probabilities, and that of being undefined."""

    values: Floats
    weights: Floats
    undefined: float


class RowLaws:
    """Exact laws of a metric of the rows of a table, each distinct law kept once."""

    def __init__(self, n: int) -> None:
        #: (n,): number of each row's law, -1 without one
        self.number = np.full(n, -1, np.int64)
        self.laws: list[RowLaw] = []
        #: how the laws of rows depend on each other, with deck -1 where they do not; None without any that do
        self.dealt: Dealt | None = None

    def add(self, rows: NDArray[np.int64], distribution: Distribution) -> None:
        """Add the laws of some rows."""
        if distribution.dealt is not None:
            if self.dealt is None:
                n = len(self.number)
                deck, size, marked = np.full((3, n), -1, np.int64)
                self.dealt = Dealt(deck, size, marked, np.full((n, 2), np.nan))
            for mine, values in zip(self.dealt, distribution.dealt, strict=True):
                mine[rows] = values
        used, place = np.unique(distribution.index, return_inverse=True)
        self.number[rows] = len(self.laws) + place
        for at in used:
            kept = distribution.weights[at] > 0
            values, weights = distribution.values[at][kept], distribution.weights[at][kept]
            self.laws.append(RowLaw(values, weights, float(distribution.undefined[at])))


def without_tails(n_strata: int) -> dict[str, NDArray[Any]]:
    """Return the variables of strata without p-values of their own, named as `schema.TAIL_VARIABLES`."""
    found: dict[str, NDArray[Any]] = {}
    for statistic in TAIL_STATISTICS:
        found |= {f"{statistic}_{part}": np.full(n_strata, np.nan) for part in ("p", "p_low", "p_high")}
        found[f"{statistic}_p_method"] = np.zeros(n_strata, np.int8)
    return found


def exact_strata(
    metric: Metric, observed: Floats, laws: RowLaws, counted: Bools, grid: Grid
) -> dict[str, NDArray[Any]]:
    """Return exact p-values of strata whose runs are independent and all have exact laws.

    Parameters
    ----------
    metric : Metric
        A metric with a direction.
    observed : (n,) float
        Its value of each row.
    laws : RowLaws
        Exact laws of the rows.
    counted : (n,) bool
        Runs that are neither failed nor in strata that repeat a cluster.
    grid : Grid
        The strata of the rows.

    Returns
    -------
    dict
        By name in `schema.TAIL_VARIABLES`, (n_strata,) each.
    """
    found = without_tails(grid.n_strata)
    aim: dict[str, Any] = {"direction": metric.direction, "optimum": metric.optimum}
    # in an order of their own, so that no digit depends on the order of the rows
    order = [(law.values.tobytes(), law.weights.tobytes(), law.undefined) for law in laws.laws]
    scored = [law._replace(values=merit(law.values, **aim)) for law in laws.laws]
    scores = merit(observed, **aim)
    for mine in rows_of_strata(counted, grid):
        numbers = laws.number[mine]
        if (numbers < 0).any():
            continue
        alone = mine if laws.dealt is None else mine[laws.dealt.deck[mine] < 0]
        decks = _decks(laws, scored, np.setdiff1d(mine, alone), scores, aim)
        if decks is None:
            continue
        chosen = zip(laws.number[alone].tolist(), scores[alone].tolist(), strict=True)
        runs = [(scored[number], value) for number, value in sorted(chosen, key=lambda x: (order[x[0]], x[1]))]
        for statistic in LAW_STATISTICS:
            summed = _sum(runs, decks)
            tail = None if summed is None else tail_of_sum(*summed, most_work=MOST_WORK)
            if tail is not None:
                at = grid.stratum[mine[0]]
                upper = min(max(tail.upper, SMALLEST_P), 1.0)
                found[f"{statistic}_p"][at] = found[f"{statistic}_p_high"][at] = upper
                found[f"{statistic}_p_low"][at] = min(tail.lower, 1.0)
                found[f"{statistic}_p_method"][at] = _CONVOLVED
    return found


def rows_of_strata(counted: Bools, grid: Grid) -> list[NDArray[np.int64]]:
    """Return the rows that count of each stratum that has any, in the order of the strata."""
    rows = np.flatnonzero(counted)
    rows = rows[np.argsort(grid.stratum[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(grid.stratum[rows], prepend=-1))
    return np.split(rows, starts[1:]) if len(rows) else []


class _Kind(NamedTuple):
    """Rows of a deck that score the same without a mark, and the same with one."""

    law: RowLaw
    #: (2,): score without and with a mark
    values: Floats
    #: observed scores
    scores: Floats


class _Deck(NamedTuple):
    """Rows of which a number is marked at random."""

    marked: int
    kinds: list[_Kind]

    def order(self) -> list[Any]:
        """Return what decks are put in order by, whatever the order of the rows."""
        return [self.marked, *((x.values.tobytes(), len(x.scores), float(x.scores.sum())) for x in self.kinds)]

    def law(self) -> Law:
        """Return the law of the sum of the rows' scores."""
        n = [len(kind.scores) for kind in self.kinds]
        first = np.arange(max(0, self.marked - sum(n[1:])), min(n[0], self.marked) + 1)
        weights = scipy.stats.hypergeom.pmf(first, sum(n), n[0], self.marked)
        values = np.zeros(len(first))
        for number, kind in zip((first, self.marked - first), self.kinds, strict=False):
            without, marked = kind.values
            values += number * marked + (len(kind.scores) - number) * without
        return values, weights / weights.sum()


def _decks(
    laws: RowLaws, scored: list[RowLaw], rows: NDArray[np.int64], scores: Floats, aim: Any
) -> list[_Deck] | None:
    """Return the decks of a stratum's rows; None where one lacks a row, or has rows of more than two kinds."""
    if laws.dealt is None or not len(rows):
        return []
    dealt = laws.dealt.take(rows)
    values = merit(dealt.values, **aim)
    _, kind = np.unique(values.view("V16")[:, 0], return_inverse=True)
    order = np.lexsort([kind, dealt.deck])
    starts = np.flatnonzero(np.diff(dealt.deck[order], prepend=-1))
    found = []
    for mine in np.split(order, starts[1:]):
        of_kinds = np.split(mine, np.flatnonzero(np.diff(kind[mine])) + 1)
        if len(mine) != dealt.size[mine[0]] or len(of_kinds) > 2:
            return None
        kinds = [_Kind(scored[laws.number[rows[at[0]]]], values[at[0]], scores[rows[at]]) for at in of_kinds]
        found.append(_Deck(int(dealt.marked[mine[0]]), kinds))
    return sorted(found, key=_Deck.order)


def _sum(runs: list[tuple[RowLaw, float]], decks: list[_Deck]) -> tuple[list[Law], float] | None:
    """Return the laws of the parts of a sum, and its observed value; None where a score may be infinite or missing."""
    known = [law for law, _ in runs] + [kind.law for deck in decks for kind in deck.kinds]
    if any(law.undefined > 0 or not np.isfinite(law.values).all() for law in known):
        return None
    laws = [(law.values, law.weights) for law, _ in runs] + [deck.law() for deck in decks]
    scores = [value for _, value in runs] + [float(kind.scores.sum()) for deck in decks for kind in deck.kinds]
    total = sum(scores)
    return (laws, total) if laws and np.isfinite(total) else None
