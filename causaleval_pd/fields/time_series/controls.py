"""Controls of lagged graphs, laws of counts of links, and null models made of a user's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.confusion import Confusion
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, Null, custom_draws, no_closed_form
from ...execution.random_streams import random_words
from ..structure.nulls.hypergeometric import hypergeometric_law, hypergeometric_weights
from .cells import KINDS, LaggedGraph
from .column import as_lagged
from .metrics import evaluate
from .pairs import LaggedPairs

Floats = NDArray[np.float64]


class CountLaw(NamedTuple):
    """A law of shared and estimated links: points and their probabilities, (s,) each."""

    both: Floats
    estimated: Floats
    weight: Floats


def fixed(both: float = 0.0, estimated: float = 0.0) -> CountLaw:
    """Return the law of numbers that do not vary."""
    return CountLaw(np.array([both], np.float64), np.array([estimated], np.float64), np.ones(1))


@lru_cache(maxsize=4096)
def placed(places: int, counted: int, true: int, links: int) -> CountLaw:
    """Return the law of links placed at random, of which those on `counted` places count; `true` of these are true."""
    if counted == places:
        both, weights = hypergeometric_law(places, true, links)
        return CountLaw(both.astype(np.float64), np.full(len(both), float(links)), weights)
    return _mixed(counted, true, *hypergeometric_law(places, counted, links))


def _mixed(places: int, true: int, numbers: NDArray[np.int64], chances: Floats) -> CountLaw:
    """Return the law of as many links on places as a number has, whose law is given."""
    drawn = numbers[:, None]
    support, weights = hypergeometric_weights(np.full_like(drawn, places), np.full_like(drawn, true), drawn)
    weights = weights * chances[:, None]
    some = weights > 0
    estimated = np.broadcast_to(drawn, support.shape)
    return CountLaw(support[some].astype(np.float64), estimated[some].astype(np.float64), weights[some])


@lru_cache(maxsize=4096)
def linked_pairs(pairs: int, lags: int, links: int, true: int) -> CountLaw:
    """Return the law of pairs that have a link at any lag, of links placed at random over pairs and lags.

    Links are placed one after another: the next one falls on a pair without a link with a chance that depends on how
    many pairs have one, so that all terms are positive. Given the number of pairs, they are uniform.
    """
    chances = np.zeros(pairs + 1)
    chances[0] = 1.0
    number = np.arange(pairs + 1, dtype=np.float64)
    for placed_before in range(links):
        left = pairs * lags - placed_before
        fresh = chances * np.maximum(pairs - number, 0) * lags / left
        chances = chances * np.maximum(number * lags - placed_before, 0) / left
        chances[1:] += fresh[:-1]
    some = np.flatnonzero(chances)
    return _mixed(pairs, true, some, chances[some])


def added(laws: Iterable[CountLaw]) -> CountLaw:
    """Return the law of the sums of independent numbers."""
    total = fixed()
    for law in laws:
        both = (total.both[:, None] + law.both).reshape(-1)
        estimated = (total.estimated[:, None] + law.estimated).reshape(-1)
        weight = (total.weight[:, None] * law.weight).reshape(-1)
        points, place = np.unique(np.stack([both, estimated]), axis=1, return_inverse=True)
        total = CountLaw(
            points[0], points[1], np.bincount(place.reshape(-1), weight, points.shape[1]).astype(np.float64)
        )
    return total


Keys = NDArray[np.uint64]

#: odd step between the streams of the places of a graph (the golden ratio's fraction of 2**64)
_NEXT = np.uint64(0x9E3779B97F4A7C15)


def lagged_controls(
    pairs: LaggedPairs,
    codes: Callable[[int, int], NDArray[np.uint8]],
    known: Callable[[Metric], ClosedForm | None] = no_closed_form,
    pace: float = 50.0,
) -> Controls:
    """Make controls of a batch: `codes(start, count)` draws n * count graphs, a row's draws together."""
    batch, index = pairs.estimate, pairs.estimate_index
    # a control takes its codes, and the words and places that drawing it needs
    n_places = int(np.prod(batch.codes.shape[1:]))

    def drawn(start: int, count: int) -> LaggedPairs:
        found = codes(start, count)
        estimate = replace(batch, codes=found, kinds=np.repeat(batch.kinds[index], count))
        every = np.arange(len(found), dtype=np.int64)
        return LaggedPairs(pairs.truth, estimate, np.repeat(pairs.truth_index, count), every)

    kinds = np.array(KINDS, object)[batch.kinds[index]]
    return DrawnControls(pairs, kinds, drawn, known, 200 + 30 * n_places, 1000.0 + pace * n_places)


def refuse_control_kind(matching: Matching) -> None:
    """Refuse classes of controls that the user states: controls keep the class of the estimate."""
    if matching.control_kind is not None:
        raise ValueError("controls of lagged graphs have the class of the estimate; leave control_kind out")


def words(keys: Keys, places: int, start: int, count: int) -> NDArray[np.uint64]:
    """Return random words for each place of each row and draw, (n, places, count)."""
    streams = keys[:, None] ^ (np.arange(1, places + 1, dtype=np.uint64) * _NEXT)
    return random_words(streams.reshape(-1), start, count).reshape(len(keys), places, count)


def plain_rows(pairs: LaggedPairs) -> NDArray[np.bool_]:
    """Return which pairs have directed links only at lags from 1, so that links are there or not."""
    return np.asarray(
        pairs.truth.has_plain_lags[pairs.truth_index] & pairs.estimate.has_plain_lags[pairs.estimate_index]
    )


def law_of_counts(
    metric: Metric,
    rows: NDArray[np.bool_],
    keys: NDArray[np.int64],
    true: NDArray[np.int64],
    total: int,
    law: Callable[[NDArray[np.int64]], CountLaw],
) -> ClosedForm | None:
    """Return the exact law of a metric that is a function of counts, of some rows.

    `keys` (n, k) are the numbers that the law of a row depends on, besides its `true` positives among `total` places;
    `law(key)` returns the law of distinct keys.
    """
    if not rows.any():
        return None
    chosen = np.column_stack([true, keys])[rows]
    distinct, index = np.unique(chosen, axis=0, return_inverse=True)
    samples = []
    for number, *key in distinct.tolist():
        counts = law(np.array(key, np.int64))
        shape = np.ones_like(counts.both)
        found = Confusion(counts.both, number * shape, counts.estimated, total * shape)
        samples.append((evaluate(metric, found), counts.weight))
    return ClosedForm.of(Distribution.pooled(index.reshape(-1).astype(np.int64), samples)).spread(rows)


#: draws one control for an estimate
DrawOne = Callable[[LaggedGraph, np.random.Generator], Any]


def custom_null(function: DrawOne, name: str) -> Null:
    """Make a null model of a function that draws one control.

    `function(estimate, rng)` returns a lagged graph over the estimate's variables, in a form that `as_lagged` reads
    without options, with the estimate's searched lags and class. It must draw from `rng` alone: draw r depends on the
    seed, the row's key and r.
    """

    def controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
        refuse_control_kind(matching)
        cells = matching.estimate.iloc[rows]

        def codes(start: int, count: int) -> NDArray[np.uint8]:
            drawn = custom_draws(function, map(LaggedGraph.from_bytes, cells), keys, start, count)
            return np.stack([_read(found, estimate, name, int(rows[at])) for at, estimate, found in drawn])

        return lagged_controls(pairs, codes, pace=3000.0)

    return Null(name, f"random lagged graphs drawn by the function {name}", controls)


def _read(found: Any, estimate: LaggedGraph, name: str, row: int) -> NDArray[np.uint8]:
    """Read what the user's function returned for the estimate of a row."""
    try:
        control = as_lagged(found)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"row {row}: null {name!r} returned {type(found).__name__}, which is not a lagged graph: {error}"
        ) from error
    if control.nodes != estimate.nodes or control.max_lag > estimate.max_lag or control.min_lag < estimate.min_lag:
        raise ValueError(
            f"row {row}: null {name!r} returned {control.to_string()!r}; a control has the variables and the lags of "
            f"the estimate, {list(estimate.nodes)[:10]} and {estimate.min_lag}..{estimate.max_lag}"
        )
    if KINDS.index(control.kind) > KINDS.index(estimate.kind):
        raise ValueError(f"row {row}: null {name!r} returned a {control.kind}, expected a {estimate.kind}")
    codes = np.zeros_like(estimate.codes)
    codes[: control.max_lag + 1] = control.codes
    return codes
