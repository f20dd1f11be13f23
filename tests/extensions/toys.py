"""Toy extensions: a field of rankings, its metrics and null model, and a field of scores whose truths are rankings.

A ranking is a text, best first: "b > a > c".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd

import causaleval_pd as ce
from causaleval_pd.contract.field import FIELDS, Field
from causaleval_pd.contract.law import CLOSED_FORMS, ClosedForm, ClosedFormRule
from causaleval_pd.contract.metric import METRICS
from causaleval_pd.contract.null import Controls, Null
from causaleval_pd.contract.pairs import Batch, Pairs


@dataclass(frozen=True, eq=False)
class RankingPairs(Pairs):
    """Aligned rankings of the same items: the place of each item, (n, k), in truth and estimate."""

    items: tuple[str, ...]
    truth: np.ndarray | None
    estimate: np.ndarray

    @property
    def n(self):
        return len(self.estimate)

    def take(self, positions):
        truth = None if self.truth is None else self.truth[positions]
        return RankingPairs(self.items, truth, self.estimate[positions])

    def unique(self):
        return self, np.arange(self.n)

    def refused(self, kinds, truth_kinds=None):
        return np.full(self.n, "ranking" not in kinds)

    def describe(self, position):
        return f"the estimate ranks {', '.join(self.items)}"


def coerce_rankings(cells: pd.Series, column: str) -> pd.Series:
    for row, cell in enumerate(cells):
        if not pd.isna(cell) and len(set(str(cell).split(" > "))) != len(str(cell).split(" > ")):
            raise ValueError(f"column {column!r}, row {row}: {cell!r} ranks an item twice; name each item once")
    return cells.astype("str")


def places(cell: str) -> tuple[tuple[str, ...], list[int]]:
    """Return the items in code-point order, and their places."""
    order = cell.split(" > ")
    return tuple(sorted(order)), [order.index(item) for item in sorted(order)]


def batches(truth, estimate, context=None) -> Iterator[Batch]:
    """Align rankings by items, one batch a set of items."""
    known = estimate.notna().to_numpy() & (True if truth is None else truth.notna().to_numpy())
    by_items: dict[tuple[str, ...], list[int]] = {}
    for row in np.flatnonzero(known).tolist():
        by_items.setdefault(places(estimate.iloc[row])[0], []).append(row)
    for items, rows in by_items.items():
        sides = [
            None if side is None else np.array([places(side.iloc[row])[1] for row in rows])
            for side in (truth, estimate)
        ]
        yield Batch(np.array(rows, np.int64), RankingPairs(items, *sides))


def pair(truth, estimate) -> RankingPairs:
    [(_, pairs)] = batches(None if truth is None else pd.Series([truth]), pd.Series([estimate]))
    return pairs


RANKINGS = Field(
    name="ranking",
    default_metrics=("footrule",),
    default_null="shuffled",
    holds=lambda cells: all(isinstance(cell, str) and " > " in cell for cell in cells.dropna()),
    coerce=coerce_rankings,
    batches=batches,
    pair=pair,
    context=("judge",),
)


@dataclass(frozen=True, eq=False)
class Shuffled(Controls):
    """Rankings shuffled uniformly."""

    pairs: RankingPairs
    keys: np.ndarray

    def draw(self, start, count):
        """Draw r of a row depends on its key and r alone."""
        k = len(self.pairs.items)
        drawn = [
            np.random.default_rng([int(key), r]).permutation(k)
            for key in self.keys
            for r in range(start, start + count)
        ]
        index = np.repeat(np.arange(self.pairs.n), count)
        truth = None if self.pairs.truth is None else self.pairs.truth[index]
        return RankingPairs(self.pairs.items, truth, np.array(drawn).reshape(len(index), k))

    def closed_form(self, metric):
        """A random place is (k - 1) / 2 on average, |i - j| is (k**2 - 1) / 3k for random i and j."""
        if metric.closed_form != "sum_of_distances":
            return None
        k = len(self.pairs.items)
        return ClosedForm(np.full(self.pairs.n, (k**2 - 1) / 3))


SHUFFLED = Null("shuffled", "rankings shuffled uniformly", lambda matching, rows, pairs, keys: Shuffled(pairs, keys))


def _adds_up(value):
    """Check that a metric adds up distances of places, on two items more or less apart."""
    found = [value(RankingPairs(("a", "b"), np.array([[0, 1]]), np.array([x])))[0] for x in ([0, 1], [1, 0], [2, -1])]
    return None if found == [0, 2, 4] else f"its values at distances 0, 2 and 4 are {found}"


SUM_OF_DISTANCES = ClosedFormRule(
    "sum_of_distances", "ranking", "The sum of distances of places; its mean is known under shuffling.", _adds_up
)


def make_metrics() -> None:
    """Register the toy metrics; rankings are a registered field by now."""

    # [metric]
    @ce.metric(
        field="ranking",
        kinds=("ranking",),
        direction="minimize",
        range=(0, float("inf")),
        optimum=0,
        long_name="Spearman's footrule",
        closed_form="sum_of_distances",
    )
    def footrule(pairs):
        """Sum the distances between the items' places in both rankings."""
        return np.abs(pairs.truth - pairs.estimate).sum(axis=1).astype(float)

    # [end]

    @ce.metric(
        field="ranking",
        kinds=("ranking",),
        direction="minimize",
        range=(0, float("inf")),
        optimum=0,
        long_name="distance of an item's place",
        dims={"item": None},
    )
    def displacement(pairs):
        """Return the distance between the places of each item, in code-point order."""
        return np.abs(pairs.truth - pairs.estimate).astype(float)

    @ce.metric(
        field="ranking",
        kinds=("ranking",),
        direction="maximize",
        range=(0, 1),
        optimum=1,
        long_name="found among the first",
        dims={"part": ("upper", "lower"), "side": ("truth", "estimate")},
    )
    def first_items(pairs):
        """Return whether the first item is in the upper and lower half of truth and estimate."""
        upper = np.stack([pairs.truth[:, 0], pairs.estimate[:, 0]], axis=1) < len(pairs.items) / 2
        return np.stack([upper, ~upper], axis=1).astype(float)

    @ce.metric(
        field="ranking",
        kinds=("ranking",),
        truth_kinds=(),
        direction="maximize",
        range=(0, 1),
        optimum=1,
        long_name="items in code-point order",
    )
    def orderly(pairs):
        """Return the share of neighbouring items, in code-point order, whose places ascend: no truth is needed."""
        return (np.diff(pairs.estimate, axis=1) > 0).mean(axis=1)

    @ce.metric(
        field="weights",
        kinds=("weights",),
        truth_kinds=("ranking",),
        direction="minimize",
        range=(0, float("inf")),
        optimum=0,
        long_name="footrule of the ranking by weights",
    )
    def weight_footrule(pairs):
        """Rank the items by their weights, largest first, and sum the distances to their true places."""
        order = np.argsort(np.argsort(-pairs.estimate, axis=1, kind="stable"), axis=1)
        return np.abs(pairs.truth - order).sum(axis=1).astype(float)


class WeightPairs(RankingPairs):
    """True places and estimated weights of the same items."""

    def take(self, positions):
        return WeightPairs(self.items, self.truth[positions], self.estimate[positions])

    def refused(self, kinds, truth_kinds=None):
        return np.full(self.n, "weights" not in kinds or "ranking" not in truth_kinds)


def weight_batches(truth, estimate, context=None) -> Iterator[Batch]:
    rows = np.flatnonzero(truth.notna().to_numpy() & estimate.notna().to_numpy())
    for row in rows.tolist():
        items, order = places(truth.iloc[row])
        weights = dict(entry.split("=") for entry in estimate.iloc[row].split())
        found = np.array([[float(weights[item]) for item in items]])
        yield Batch(np.array([row], np.int64), WeightPairs(items, np.array([order]), found))


@dataclass(frozen=True, eq=False)
class ShuffledWeights(Shuffled):
    """Weights shuffled uniformly."""

    def draw(self, start, count):
        found = super().draw(start, count)
        index = np.repeat(np.arange(self.pairs.n), count)
        return WeightPairs(found.items, found.truth, np.take_along_axis(self.pairs.estimate[index], found.estimate, 1))


WEIGHTS = Field(
    name="weights",
    default_metrics=("weight_footrule",),
    default_null="shuffled",
    holds=lambda cells: all(isinstance(cell, str) and "=" in cell for cell in cells.dropna()),
    coerce=lambda cells, column: cells.astype("str"),
    batches=weight_batches,
    pair=lambda truth, estimate: next(iter(weight_batches(pd.Series([truth]), pd.Series([estimate])))).pairs,
    truth_field="ranking",
)


@contextmanager
def registered() -> Iterator[None]:
    """Register the toys, and remove them again."""
    before = set(METRICS)
    try:
        ce.register_field(RANKINGS)
        ce.register_null("ranking", SHUFFLED)
        ce.register_field(WEIGHTS)
        weights = Null("shuffled", "weights shuffled", lambda matching, rows, pairs, keys: ShuffledWeights(pairs, keys))
        ce.register_null("weights", weights)
        ce.register_closed_form(SUM_OF_DISTANCES)
        make_metrics()
        yield
    finally:
        for name in set(METRICS) - before:
            del METRICS[name]
        for field in (RANKINGS, WEIGHTS):
            FIELDS.pop(field.name, None)
            field.nulls.clear()
        CLOSED_FORMS.pop(SUM_OF_DISTANCES.name, None)


def runs(n: int = 24) -> pd.DataFrame:
    """Make runs of two algorithms on the same truths: one that looks at the truth, one that guesses."""
    rng = np.random.default_rng(7)
    items = np.array(list("abcd"))
    rows = []
    for number, truth in enumerate(rng.permutation([*itertools.permutations(items)])[:n]):
        near = truth.copy()
        near[[0, 1]] = near[[1, 0]]
        for algorithm, estimate in (("near", near), ("guess", rng.permutation(items))):
            weights = " ".join(f"{item}={4 - place}" for place, item in enumerate(estimate))
            rows.append((algorithm, number % 2, " > ".join(truth), " > ".join(estimate), weights))
    table = pd.DataFrame(rows, columns=["algorithm", "half", "truth", "estimate", "weights"])
    return table.assign(study=[f"study {i // 2}" for i in range(len(table))])
