"""The null models of lagged graphs: links at random places, links at random lags, and variables relabelled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.confusion import Confusion
from ...contract.field import MOST_LISTED, all_orders
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, Known, Matching, Null, register_null
from ...execution.random_streams import random_words
from ...graphs.kernels.planes import row_chunks
from ...graphs.pairs import GraphPairs
from ...statistics.tails import hypergeometric_law, hypergeometric_weights
from ..structure.distances import shd
from ..structure.field import GRAPHS
from ..structure.nulls.additive import pair_sums, relabelling_moments
from ..structure.nulls.graph_controls import constant
from ..structure.nulls.laws import hypergeometric
from .cells import TURNED, codes_of_planes
from .field import lagged_controls, refuse_control_kind
from .metrics import (
    ALL_HAMMING,
    AT_LAG_0,
    LAG_DISTANCE,
    LINKS,
    WINDOW,
    asked_for,
    evaluate,
    lag_sets,
    nearest,
    of_graphs,
)
from .pairs import LaggedPairs, Universe

Floats = NDArray[np.float64]


class CountLaw(NamedTuple):
    """A law of shared and estimated links: points and their probabilities, (s,) each."""

    both: Floats
    estimated: Floats
    weight: Floats


#: the law of no links
NOTHING = CountLaw(np.zeros(1), np.zeros(1), np.ones(1))


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
    """Return the law of pairs that have a link at any lag, of links placed at random over pairs and lags."""
    # one after another: the next falls on a pair without a link by a chance that depends on how many pairs have one
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
    total = NOTHING
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


def words(keys: Keys, places: int, start: int, count: int) -> NDArray[np.uint64]:
    """Return random words for each place of each row and draw, (n, places, count)."""
    streams = keys[:, None] ^ (np.arange(1, places + 1, dtype=np.uint64) * _NEXT)
    return random_words(streams.reshape(-1), start, count).reshape(len(keys), places, count)


def shuffled(values: NDArray[Any], words: NDArray[np.uint64]) -> NDArray[Any]:
    """Put values (n, m, ...) in the order of random words, along the second axis."""
    return np.take_along_axis(values, np.argsort(words, axis=1, kind="stable"), axis=1)


def with_lag_0(at_lag_0: NDArray[np.uint8], lagged: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return codes (n * count, L + 1, d, d) of links at lag 0 (n * count, d, d) and at others (n, L d d, count)."""
    shape = len(at_lag_0), -1, *at_lag_0.shape[1:]
    return np.concatenate([at_lag_0[:, None], lagged.transpose(0, 2, 1).reshape(shape)], axis=1)


def plain_rows(pairs: LaggedPairs) -> NDArray[np.bool_]:
    """Return which pairs have directed links only at lags from 1, so that links are there or not."""
    plain = [batch.has_plain_lags for batch in (pairs.truth, pairs.estimate)]
    return np.asarray(plain[0][pairs.truth_index] & plain[1][pairs.estimate_index])


def law_of_counts(
    metric: Metric,
    rows: NDArray[np.bool_],
    keys: NDArray[np.int64],
    true: NDArray[np.int64],
    total: int,
    law: Callable[[NDArray[np.int64]], CountLaw],
) -> ClosedForm | None:
    """Return the exact law of a function of counts, of some rows; `keys` (n, k) are what `law` depends on."""
    if not rows.any():
        return None
    chosen = np.column_stack([true, keys])[rows]
    distinct, index = np.unique(chosen, axis=0, return_inverse=True)
    samples = []
    for number, *key in distinct.tolist():
        counts = law(np.array(key, np.int64))
        shape = np.ones_like(counts.both)
        confusions = Confusion(counts.both, number * shape, counts.estimated, total * shape)
        samples.append((evaluate(metric, confusions), counts.weight))
    return ClosedForm.of(Distribution.pooled(index.reshape(-1).astype(np.int64), samples)).spread(rows)


def _law_of_parts(metric: Metric, links: Known, graphs: Known, *, independent: bool) -> ClosedForm | None:
    """Return what is known of a metric by the laws of metrics of lagged links, and of graphs of the links at lag 0."""
    if metric.closed_form == AT_LAG_0.name:
        return graphs(of_graphs(metric))
    if metric.closed_form == LINKS.name:
        return links(metric)
    if metric.closed_form != WINDOW.name:
        return None
    lagged, at_lag_0 = links(ALL_HAMMING), graphs(shd)
    if lagged is None or at_lag_0 is None:
        return None
    variance = None
    if independent and lagged.variance is not None and at_lag_0.variance is not None:
        variance = lagged.variance + at_lag_0.variance
    return ClosedForm(lagged.mean + at_lag_0.mean, variance)


#: set the streams of links at lag 0, and of the coins that turn them, apart from those of other links
_AT_LAG_0, _COINS = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)


class RandomLinks:
    """Random placement of the links of the estimates of a batch."""

    def __init__(self, matching: Matching, rows: NDArray[np.int64], pairs: LaggedPairs, keys: Keys) -> None:
        self.pairs, self.keys = pairs, keys
        self.pooled = matching.options.get("self_links", "kept") == "pooled"
        self.by_lag = matching.options.get("keep", "total") == "lags"
        graphs = pairs.at_lag_0
        if graphs is None:
            # a control has links at lag 0 although the truth was not searched there
            at_lag_0, index = pairs.estimate.at_lag_0, pairs.estimate_index
            graphs = GraphPairs(at_lag_0, at_lag_0, index, index)
        is_kept = pairs.estimate.is_pag or pairs.estimate.min_lag
        self.at_lag_0 = None if is_kept else graph_controls("edges", rows, graphs, keys)

    def codes(self, start: int, count: int) -> NDArray[np.uint8]:
        """Draw the codes of n * count graphs."""
        batch, index = self.pairs.estimate, self.pairs.estimate_index
        n, lags, d = len(index), batch.max_lag, batch.n_nodes
        lagged_codes = batch.codes[index, 1:].reshape(n, -1, 1)
        keys = words(self.keys, lags * d * d, start, count)
        drawn = np.empty(keys.shape, np.uint8)
        for places in self._groups(lags, d):
            drawn[:, places] = shuffled(lagged_codes[:, places], keys[:, places])
        at_lag_0 = np.zeros((n * count, d, d), np.uint8)
        if batch.is_pag:
            at_lag_0 = self._moved_at_lag_0(start, count)
        elif self.at_lag_0 is not None:
            graphs: Any = self.at_lag_0.draw(start, count)
            at_lag_0 = codes_of_planes(graphs.estimate.planes[graphs.estimate_index], d)
        return with_lag_0(at_lag_0, drawn)

    def _moved_at_lag_0(self, start: int, count: int) -> NDArray[np.uint8]:
        """Place links at lag 0 of any marks over pairs of variables, and turn each by a coin."""
        batch, index = self.pairs.estimate, self.pairs.estimate_index
        low, high = np.triu_indices(batch.n_nodes, 1)
        places, coins = (words(self.keys ^ stream, len(low), start, count) for stream in (_AT_LAG_0, _COINS))
        drawn = shuffled(batch.codes[index, 0][:, low, high][:, :, None], places)
        drawn = np.where((coins >> np.uint64(63)).astype(bool), TURNED[drawn], drawn)
        drawn = drawn.transpose(0, 2, 1).reshape(len(index) * count, len(low))
        matrices = np.zeros((len(drawn), batch.n_nodes, batch.n_nodes), np.uint8)
        matrices[:, low, high], matrices[:, high, low] = drawn, TURNED[drawn]
        return matrices

    def _groups(self, lags: int, d: int) -> list[NDArray[np.int64]]:
        """Return the places whose links are exchanged with one another, among those of all lags from 1."""
        places = np.arange(lags * d * d, dtype=np.int64).reshape(lags, d, d)
        diagonal = np.eye(d, dtype=bool)
        parts = [np.ones_like(diagonal)] if self.pooled else [~diagonal, diagonal]
        if self.by_lag:
            return [one[part] for one in places for part in parts]
        return [places[:, part].reshape(-1) for part in parts]

    def law(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric of counts, that of its graphs at lag 0, or the mean over all lags."""
        return _law_of_parts(metric, self._links_law, self._graph_law, independent=True)

    def _graph_law(self, metric: Metric) -> ClosedForm | None:
        """Return what the null model of graphs has of a metric of the links at lag 0."""
        graphs = self.pairs.at_lag_0
        if graphs is None:
            return None
        if self.at_lag_0 is not None:
            return self.at_lag_0.closed_form(metric)
        if metric.closed_form != "hypergeometric":
            return None
        return hypergeometric(metric, self.pairs.n_nodes, graphs.counts.true_edges, graphs.counts.estimated_edges)

    def _links_law(self, metric: Metric) -> ClosedForm | None:
        asked, pairs = asked_for(metric), self.pairs
        if asked is None:
            return None
        universe, lags = asked
        if universe in ("summary", "summary_self"):
            return self._summary_law(metric, universe)
        last, searched = pairs.lags(lags), pairs.estimate.max_lag
        inside = min(last, searched)
        parts: list[Universe] = ["cross", "self"] if universe == "all" and not self.pooled else [universe]
        columns = []
        for part in parts:
            drawn = pairs.link_counts("all" if self.pooled else part).estimated
            # the links of either graph, lag by lag where these are kept
            for links, most in ((pairs.link_counts(part).true, inside), (drawn, searched)):
                by_lag = links[:, 1 : most + 1]
                columns.append(by_lag if self.by_lag else by_lag.sum(axis=1, keepdims=True))

        def law(key: NDArray[np.int64]) -> CountLaw:
            laws = []
            for part, share in zip(parts, key.reshape(len(parts), -1).tolist(), strict=True):
                places = pairs.n_places(part)
                slots = pairs.n_nodes**2 if self.pooled else places
                if self.by_lag:
                    # the counted lags of the truth stand before all of the estimate
                    at_lags = zip(share[:inside], share[inside:], strict=False)
                    laws.append(added(placed(slots, places, *both) for both in at_lags))
                elif searched:
                    laws.append(placed(slots * searched, places * inside, *share))
            return added(laws)

        rows = np.ones(pairs.n, bool) if universe == "adjacent" else plain_rows(pairs)
        true = pairs.confusion(universe, lags).true
        keys = np.concatenate(columns, axis=1)
        return law_of_counts(metric, rows, keys, true, pairs.n_places(universe) * last, law)

    def _summary_law(self, metric: Metric, universe: Universe) -> ClosedForm | None:
        """Return the law of arcs of summary graphs, of rows whose estimates have no links at lag 0."""
        if self.by_lag or self.pooled:
            return None
        pairs, lags = self.pairs, self.pairs.estimate.max_lag
        has_lag_0 = np.asarray((pairs.estimate.codes[:, 0] > 0).any(axis=(1, 2)))
        rows = plain_rows(pairs) & ~has_lag_0[pairs.estimate_index]
        true = pairs.confusion(universe).true
        without = pairs.confusion("summary").true
        links = [pairs.link_counts(part).estimated.sum(axis=1) for part in ("cross", "self")]

        def law(key: NDArray[np.int64]) -> CountLaw:
            arcs, loops, cross, self_links = map(int, key)
            arc_law = linked_pairs(pairs.n_places("cross"), lags, cross, arcs)
            if universe == "summary":
                return arc_law
            return added([arc_law, linked_pairs(pairs.n_nodes, lags, self_links, loops)])

        keys = np.column_stack([without, true - without, *links]).astype(np.int64)
        return law_of_counts(metric, rows, keys, true, pairs.n_places(universe), law)


def graph_controls(name: str, rows: NDArray[np.int64], graphs: GraphPairs, keys: Keys) -> Controls:
    """Return the controls of a null model of graphs for the links at lag 0 of a batch."""
    model = GRAPHS.nulls[name]
    # controls of graphs read their pairs alone; messages name the rows of the table
    nothing = pd.Series(dtype=object)
    return model.match(Matching(nothing, nothing, None, None, model.options))(rows, graphs, keys)


def edges_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Match every control to its row's numbers of links and searched lags."""
    random_links = RandomLinks(matching, rows, pairs, keys)
    return lagged_controls(pairs, random_links.codes, random_links.law)


def check_options(matching: Matching) -> None:
    """Refuse options that the model does not have."""
    refuse_control_kind(matching)
    check_choice(matching.options.get("self_links", "kept"), ("kept", "pooled"), "self_links")
    check_choice(matching.options.get("keep", "total"), ("total", "lags"), "keep")


register_null(
    "lagged",
    Null(
        "edges",
        "random lagged graphs with the estimate's lags and numbers of links",
        edges_controls,
        prepare=check_options,
        options={"self_links": "kept", "keep": "total"},
        label_invariant=True,
    ),
)


def _codes(pairs: LaggedPairs, keys: Keys, start: int, count: int) -> NDArray[np.uint8]:
    """Exchange the lags of each pair of variables at random."""
    batch, index = pairs.estimate, pairs.estimate_index
    n, lags, d = len(index), batch.max_lag, batch.n_nodes
    places = words(keys, lags * d * d, start, count).reshape(n, lags, d * d, count)
    drawn = shuffled(batch.codes[index, 1:].reshape(n, lags, d * d, 1), places)
    return with_lag_0(np.repeat(batch.codes[index, 0], count, axis=0), drawn.reshape(n, lags * d * d, count))


def _known(pairs: LaggedPairs, metric: Metric) -> ClosedForm | None:
    """Return the exact law of a metric of counts, the moments of a mean distance of lags, or None."""
    if metric.closed_form == AT_LAG_0.name:
        return constant(metric(pairs))
    if metric.closed_form == LAG_DISTANCE.name:
        return _distance_moments(pairs)
    if metric.closed_form == WINDOW.name:
        lagged = _links_law(pairs, ALL_HAMMING)
        fixed = np.asarray(metric(pairs)) - ALL_HAMMING(pairs)
        return None if lagged is None else ClosedForm(lagged.mean + fixed, lagged.variance)
    return _links_law(pairs, metric) if metric.closed_form == LINKS.name else None


def _links_law(pairs: LaggedPairs, metric: Metric) -> ClosedForm | None:
    """Return the law of a function of counts: shared links are a sum of independent hypergeometric numbers."""
    asked = asked_for(metric)
    if asked is None:
        return None
    universe, lags = asked
    if universe in ("summary", "summary_self"):
        return constant(metric(pairs))
    if pairs.lags(lags) < pairs.estimate.max_lag:
        # how many links stay among the lags that are compared is random
        return None
    rows = np.ones(pairs.n, bool) if universe == "adjacent" else plain_rows(pairs)
    scored, inverse = pairs.unique()
    counts = scored.confusion(universe, lags)
    searched, diagonal = pairs.estimate.max_lag, np.eye(pairs.n_nodes, dtype=bool)
    counted = {"self": diagonal, "all": np.ones_like(diagonal)}.get(universe, ~diagonal)
    numbers = [
        (batch.codes[index, 1 : searched + 1] > 0).sum(axis=1)[:, counted]
        for batch, index in ((scored.truth, scored.truth_index), (scored.estimate, scored.estimate_index))
    ]

    def law(key: NDArray[np.int64]) -> CountLaw:
        both = np.stack([side[key[0]] for side in numbers])
        kinds, times = np.unique(both[:, (both > 0).all(axis=0)], axis=1, return_counts=True)
        weight = np.ones(1)
        for a, b, n in zip(*kinds.tolist(), times.tolist(), strict=True):
            support, chances = hypergeometric_law(searched, a, b)
            one = np.zeros(int(support[-1]) + 1)
            one[support] = chances
            for _ in range(n):
                weight = np.convolve(weight, one)
        return CountLaw(np.arange(len(weight), dtype=float), np.full(len(weight), counts.estimated[key[0]]), weight)

    total = pairs.n_places(universe) * pairs.lags(lags)
    return law_of_counts(metric, rows, inverse[:, None], counts.true[inverse], total, law)


def _distance_moments(pairs: LaggedPairs) -> ClosedForm:
    """Return mean and variance of the lag error, by pairs of variables a mean over lags drawn without replacement."""
    scored, inverse = pairs.unique()
    mean, variance = np.full(scored.n, np.nan), np.full(scored.n, np.nan)
    lags = pairs.estimate.max_lag
    for at in range(scored.n):
        true, estimated, [shared] = lag_sets(scored.take(slice(at, at + 1)))
        if not shared.any():
            continue
        away = nearest(true)[0, :lags][:, shared]
        number = estimated[0].sum(axis=0)[shared]
        spread = away.var(axis=0, ddof=1) if lags > 1 else np.zeros(len(number))
        mean[at] = away.mean(axis=0).mean()
        variance[at] = (spread / number * (1 - number / lags)).sum() / len(number) ** 2
    return ClosedForm(mean[inverse], variance[inverse])


def lags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Give the links of every pair of variables random lags among those that were searched."""
    return lagged_controls(pairs, partial(_codes, pairs, keys), partial(_known, pairs))


register_null(
    "lagged",
    Null(
        "lags",
        "the estimate with its links at random lags",
        lags_controls,
        prepare=refuse_control_kind,
        label_invariant=True,
    ),
)


#: bytes of listed relabellings that are kept for all metrics of a batch
_KEPT = 1 << 26


def _moved(codes: NDArray[np.uint8], orders: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return graphs (n, L + 1, d, d) with variable orders[.., k] in place k, (n, orders, L + 1, d, d)."""
    n, d = len(codes), codes.shape[2]
    every = np.broadcast_to(orders, (n, *orders.shape[-2:]))
    row = np.arange(n)[:, None, None, None, None]
    lag = np.arange(codes.shape[1])[None, None, :, None, None]
    return np.asarray(codes[row, lag, every[:, :, None, :, None], every[:, :, None, None, :]]).reshape(
        n, every.shape[1], -1, d, d
    )


class Relabellings:
    """Random relabellings of the estimates of a batch."""

    def __init__(self, rows: NDArray[np.int64], pairs: LaggedPairs, keys: Keys) -> None:
        self.rows, self.pairs, self.keys = rows, pairs, keys
        self.d = pairs.n_nodes

    def codes(self, start: int, count: int) -> NDArray[np.uint8]:
        """Draw the codes of n * count graphs: the order of a row depends on its key and the draw alone."""
        orders = np.argsort(words(self.keys, self.d, start, count), axis=1, kind="stable").transpose(0, 2, 1)
        batch = self.pairs.estimate
        drawn = _moved(batch.codes[self.pairs.estimate_index], orders)
        return drawn.reshape(-1, batch.max_lag + 1, self.d, self.d)

    def law(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law where all relabellings are listed, else moments of what adds up over pairs."""
        if self.d <= MOST_LISTED:
            return self._listed_law(metric)
        # links at lag 0 and at others move together
        return _law_of_parts(metric, self._links_moments, self._graph_law, independent=False)

    def _graph_law(self, metric: Metric) -> ClosedForm | None:
        """Return the moments that the null model of graphs has of a metric of the links at lag 0."""
        graphs = self.pairs.at_lag_0
        if graphs is None:
            return None
        return graph_controls("permutation", self.rows, graphs, self.keys).closed_form(metric)

    @cached_property
    def _distinct(self) -> tuple[LaggedPairs, NDArray[np.int64]]:
        return self.pairs.unique()

    @cached_property
    def _kept(self) -> list[LaggedPairs]:
        return list(self._lists())

    def _lists(self) -> Iterator[LaggedPairs]:
        """Pair the truth of distinct pairs with all relabellings of the estimate, some pairs at a time."""
        scored, orders = self._distinct[0], all_orders(self.d)
        for part in row_chunks(scored.n, len(orders) * scored.estimate.codes[:1].size * 20):
            some = scored.take(part)
            batch, at = some.estimate, some.estimate_index
            codes = _moved(batch.codes[at], orders).reshape(-1, *batch.codes.shape[1:])
            relabelled = replace(batch, codes=codes, kinds=np.repeat(batch.kinds[at], len(orders)))
            truth_index = np.repeat(some.truth_index, len(orders))
            yield LaggedPairs(some.truth, relabelled, truth_index, np.arange(len(codes), dtype=np.int64))

    def _listed_law(self, metric: Metric) -> ClosedForm:
        scored, inverse = self._distinct
        n_orders = math.factorial(self.d)
        fits = scored.n * n_orders * scored.estimate.codes[:1].size < _KEPT
        parts = [np.empty(0)]
        for pairs in self._kept if fits else self._lists():
            parts.append(metric.of_taken(pairs)[0])
        values = np.concatenate(parts).reshape(-1, n_orders)
        weights = np.full(values.shape, 1 / n_orders)
        return ClosedForm.of(Distribution.of(inverse.astype(np.int64), values, weights))

    def _links_moments(self, metric: Metric) -> ClosedForm | None:
        """Return the moments of a metric that is affine in the shared links."""
        asked, pairs = asked_for(metric), self.pairs
        if asked is None:
            return None
        universe, lags = asked
        rows = np.ones(pairs.n, bool)
        if universe in ("summary", "summary_self"):
            channels = [batch.arcs[:, None] for batch in (pairs.truth, pairs.estimate)]
        else:
            last = min(pairs.lags(lags), pairs.lags("shared"))
            channels = [batch.codes[:, 1 : last + 1] > 0 for batch in (pairs.truth, pairs.estimate)]
            rows = rows if universe == "adjacent" else plain_rows(pairs)
        counts = pairs.confusion(universe, lags)
        at = [evaluate(metric, counts._replace(both=np.full(pairs.n, both))) for both in (0.0, 1.0, 2.0)]
        step = at[1] - at[0]
        if not np.allclose(at[2] - at[1], step, rtol=1e-9, atol=1e-12, equal_nan=True) or not rows.any():
            return None
        part = {"self": "self", "all": "all", "summary_self": "all"}.get(universe, "cross")
        mean, variance = self._moments(channels, part)
        return ClosedForm((at[0] + step * mean)[rows], (step**2 * variance)[rows]).spread(rows)

    def _moments(self, channels: list[NDArray[np.bool_]], part: str) -> tuple[Floats, Floats]:
        """Return mean and variance of the number of shared cells of channels (N, K, d, d)."""
        mean, variance = np.zeros((2, self.pairs.n))
        n_channels = channels[0].shape[1]
        indices = self.pairs.truth_index, self.pairs.estimate_index
        for rows in row_chunks(self.pairs.n, 60 * n_channels * self.d**2 + 60 * n_channels**2):
            sides = [side[index[rows]].astype(np.float64) for side, index in zip(channels, indices, strict=True)]
            if part in ("cross", "all"):
                between = relabelling_moments(pair_sums(sides[0]), pair_sums(sides[1]), np.eye(n_channels), self.d)
                mean[rows] += between[0]
                variance[rows] += between[1]
            if part in ("self", "all"):
                of_loops = _self_moments(*sides)
                mean[rows] += of_loops[0]
                variance[rows] += of_loops[1]
            if part == "all":
                variance[rows] += 2 * (_product(*sides) - between[0] * of_loops[0])
        # differences of large numbers round
        return mean, np.where(variance > 1e-9 * (1 + mean**2), variance, 0.0)


def _self_moments(true: Floats, estimated: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of the shared cells of diagonals: a sum over variables of one cell of each matrix."""
    d = true.shape[-1]
    cells = np.einsum("nki,nkj->nij", *(np.einsum("nkii->nki", side) for side in (true, estimated)))
    rows, columns = (cells.mean(axis=axis, keepdims=True) for axis in (1, 2))
    centred = cells - rows - columns + cells.mean(axis=(1, 2), keepdims=True)
    return cells.sum(axis=(1, 2)) / d, (centred**2).sum(axis=(1, 2)) / (d - 1)


def _product(true: Floats, estimated: Floats) -> Floats:
    """Return the mean product of the shared cells off the diagonal and on it, at the source, the target or neither."""
    d = true.shape[-1]
    sides = []
    for side in (true, estimated):
        diagonal = np.einsum("nkii->nki", side)
        off = side - np.einsum("nki,ij->nkij", diagonal, np.eye(d))
        source, target = (np.einsum("nki,nli->nkl", off.sum(axis=axis), diagonal) for axis in (3, 2))
        neither = off.sum(axis=(2, 3))[:, :, None] * diagonal.sum(axis=2)[:, None, :] - source - target
        sides.append((source, target, neither))
    ways = (d * (d - 1), d * (d - 1), d * (d - 1) * (d - 2))
    return np.asarray(sum((a * b).sum(axis=(1, 2)) / n for a, b, n in zip(*sides, ways, strict=True)))


def permutation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Relabel the variables of every estimate: links keep their lags and marks, at lag 0 too."""
    relabellings = Relabellings(rows, pairs, keys)
    return lagged_controls(pairs, relabellings.codes, relabellings.law)


register_null(
    "lagged",
    Null(
        "permutation",
        "the estimate with its variables relabelled at random, lags kept",
        permutation_controls,
        prepare=refuse_control_kind,
        label_invariant=True,
        joint=True,
    ),
)
