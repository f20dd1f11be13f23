"""The null models `edges` and `lags`: as many links at random places, or the links of each pair at random lags."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....contract.checks import check_choice
from ....contract.confusion import Confusion
from ....contract.law import ClosedForm, Distribution
from ....contract.metric import Metric
from ....contract.null import Controls, Matching, Null, register_null
from ....graphs.pairs import GraphPairs
from ...structure.field import GRAPHS
from ...structure.hamming import shd
from ...structure.nulls.graph_controls import constant
from ...structure.nulls.hypergeometric import hypergeometric, hypergeometric_law
from ..cells import TURNED, codes_of_planes
from ..closed_forms import AT_LAG_0, LAG_DISTANCE, LINKS, WINDOW, asked_for, evaluate
from ..metrics import ALL_HAMMING, lag_sets, nearest, of_graphs
from ..pairs import LaggedPairs, Universe
from .controls import (
    CountLaw,
    Floats,
    Keys,
    added,
    fixed,
    lagged_controls,
    law_of_counts,
    linked_pairs,
    placed,
    plain_rows,
    refuse_control_kind,
    words,
)

#: set the streams of links at lag 0, and of the coins that turn them, apart from those of other links
_AT_LAG_0, _COINS = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)


class RandomLinks:
    """Random placement of the links of the estimates of a batch."""

    def __init__(self, matching: Matching, rows: NDArray[np.int64], pairs: LaggedPairs, keys: Keys) -> None:
        self.pairs, self.keys = pairs, keys
        self.pooled = matching.options.get("self_links", "kept") == "pooled"
        self.by_lag = matching.options.get("keep", "total") == "lags"
        graphs = None if pairs.estimate.is_pag else pairs.at_lag_0
        if graphs is None and not pairs.estimate.min_lag and not pairs.estimate.is_pag:
            # a control has links at lag 0 although the truth was not searched there
            at_lag_0, index = pairs.estimate.at_lag_0, pairs.estimate_index
            graphs = GraphPairs(at_lag_0, at_lag_0, index, index)
        self.at_lag_0 = None if graphs is None else graph_controls("edges", rows, graphs, keys)

    def codes(self, start: int, count: int) -> NDArray[np.uint8]:
        """Draw the codes of n * count graphs."""
        batch, index = self.pairs.estimate, self.pairs.estimate_index
        n, lags, d = len(index), batch.max_lag, batch.n_nodes
        own = batch.codes[index, 1:].reshape(n, lags * d * d)
        drawn = np.repeat(own[:, :, None], count, axis=2)
        keys = words(self.keys, lags * d * d, start, count)
        for places in self._groups(lags, d):
            order = np.argsort(keys[:, places], axis=1, kind="stable")
            drawn[:, places] = np.take_along_axis(drawn[:, places], order, axis=1)
        found = np.zeros((n * count, lags + 1, d, d), np.uint8)
        found[:, 1:] = drawn.transpose(0, 2, 1).reshape(n * count, lags, d, d)
        if batch.is_pag:
            found[:, 0] = self._moved_at_lag_0(start, count)
        elif self.at_lag_0 is not None:
            graphs: Any = self.at_lag_0.draw(start, count)
            found[:, 0] = codes_of_planes(graphs.estimate.planes[graphs.estimate_index], d)
        return found

    def _moved_at_lag_0(self, start: int, count: int) -> NDArray[np.uint8]:
        """Place links at lag 0 of any marks over pairs of variables, and turn each by a coin."""
        batch, index = self.pairs.estimate, self.pairs.estimate_index
        low, high = np.triu_indices(batch.n_nodes, 1)
        drawn = np.repeat(batch.codes[index, 0][:, low, high][:, :, None], count, axis=2)
        order = np.argsort(words(self.keys ^ _AT_LAG_0, len(low), start, count), axis=1, kind="stable")
        drawn = np.take_along_axis(drawn, order, axis=1)
        coins = (words(self.keys ^ _COINS, len(low), start, count) >> np.uint64(63)).astype(bool)
        drawn = np.where(coins, TURNED[drawn], drawn).transpose(0, 2, 1).reshape(len(index) * count, len(low))
        found = np.zeros((len(drawn), batch.n_nodes, batch.n_nodes), np.uint8)
        found[:, low, high], found[:, high, low] = drawn, TURNED[drawn]
        return found

    def _groups(self, lags: int, d: int) -> list[NDArray[np.int64]]:
        """Return the places whose links are exchanged with one another, among those of all lags from 1."""
        places = np.arange(lags * d * d, dtype=np.int64).reshape(lags, d, d)
        diagonal = np.broadcast_to(np.eye(d, dtype=bool), places.shape)
        parts = [np.ones_like(diagonal)] if self.pooled else [~diagonal, diagonal]
        if self.by_lag:
            return [places[lag][part[lag]] for lag in range(lags) for part in parts]
        return [places[part] for part in parts]

    def law(self, metric: Metric) -> ClosedForm | None:
        """Return the exact law of a metric of counts, that of its graphs at lag 0, or the mean over all lags."""
        if metric.closed_form == AT_LAG_0.name:
            return self._graph_law(of_graphs(metric))
        if metric.closed_form == LINKS.name:
            return self._links_law(metric)
        if metric.closed_form == WINDOW.name and self.pairs.at_lag_0 is not None:
            lagged, at_lag_0 = self.law(ALL_HAMMING), self._graph_law(shd)
            if lagged is not None and at_lag_0 is not None:
                both = lagged.variance is not None and at_lag_0.variance is not None
                variance = lagged.variance + at_lag_0.variance if both else None  # type: ignore[operator]
                return ClosedForm(lagged.mean + at_lag_0.mean, variance)
        return None

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
        asked = asked_for(metric)
        if asked is None:
            return None
        universe, lags = asked
        if universe in ("summary", "summary_self"):
            return self._summary_law(metric, universe)
        last = self.pairs.lags(lags)
        searched = self.pairs.estimate.max_lag
        inside = min(last, searched)
        parts: list[Universe] = ["cross", "self"] if universe == "all" and not self.pooled else [universe]
        columns = []
        for part in parts:
            counts = self.pairs.link_counts(part)
            drawn = self.pairs.link_counts("all") if self.pooled else counts
            # the links of either graph, lag by lag where these are kept
            columns.append(
                np.concatenate([counts.true[:, 1 : inside + 1], drawn.estimated[:, 1 : searched + 1]], axis=1)
            )

        def law(key: NDArray[np.int64]) -> CountLaw:
            shares = key.reshape(len(parts), -1)
            return added(
                self._placed(part, share[:inside], share[inside:]) for part, share in zip(parts, shares, strict=True)
            )

        rows = np.ones(self.pairs.n, bool) if universe == "adjacent" else plain_rows(self.pairs)
        true = self.pairs.confusion(universe, lags).true
        return law_of_counts(
            metric, rows, self._reduced(columns, inside), true, self.pairs.n_places(universe) * last, law
        )

    def _reduced(self, columns: list[NDArray[np.int64]], inside: int) -> NDArray[np.int64]:
        """Return the numbers of links of true and estimated graphs that laws depend on, side by side."""
        if self.by_lag:
            return np.concatenate(columns, axis=1)
        found = []
        for numbers in columns:
            # laws of totals depend on sums: they stand at the first lag
            wide = np.zeros_like(numbers)
            if inside:
                wide[:, 0] = numbers[:, :inside].sum(axis=1)
            if numbers.shape[1] > inside:
                wide[:, inside] = numbers[:, inside:].sum(axis=1)
            found.append(wide)
        return np.concatenate(found, axis=1)

    def _placed(self, part: Universe, true: NDArray[np.int64], links: NDArray[np.int64]) -> CountLaw:
        """Return the law of one kind of links, of which those at the lags of `true` are counted."""
        places = self.pairs.n_places(part)
        slots = self.pairs.n_nodes**2 if self.pooled else places
        if self.by_lag:
            return added(placed(slots, places, int(a), int(b)) for a, b in zip(true, links[: len(true)], strict=True))
        if not len(links):
            return fixed()
        return placed(slots * len(links), places * len(true), int(true.sum()), int(links.sum()))

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
            arcs, loops, cross, own = map(int, key)
            found = linked_pairs(pairs.n_ordered, lags, cross, arcs)
            return found if universe == "summary" else added([found, linked_pairs(pairs.n_nodes, lags, own, loops)])

        keys = np.column_stack([without, true - without, *links]).astype(np.int64)
        return law_of_counts(metric, rows, keys, true, pairs.n_places(universe), law)


def graph_controls(name: str, rows: NDArray[np.int64], graphs: GraphPairs, keys: Keys) -> Controls:
    """Return the controls of a null model of graphs for the links at lag 0 of a batch."""
    model = GRAPHS.nulls[name]
    # controls of graphs read their pairs alone; messages name the rows of the table
    nothing = pd.Series(dtype=object)
    return model.match(Matching(nothing, nothing, None, None, model.options))(rows, graphs, keys)


def edges_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Match every control to its row's numbers of links and searched lags.

    Law: the links between two variables are placed uniformly over the ordered pairs of variables and the searched lags,
    those of a variable on itself over variables and lags, marks included; the links at lag 0 are those of the null
    model `edges` of graphs, or in a ts_pag the estimate's own, placed uniformly over pairs of variables and turned by
    coins. The three are independent. Given: variables, lags, class, and the three numbers.

    With `self_links="pooled"` links of a variable on itself may become links between two variables, and with
    `keep="lags"` each lag keeps its number of links.

    Not valid for guesses of another shape where the truth has that shape, as for graphs: `permutation` keeps the shape.
    """
    found = RandomLinks(matching, rows, pairs, keys)
    return lagged_controls(pairs, found.codes, found.law)


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
    order = np.argsort(places, axis=1, kind="stable")
    own = batch.codes[index, 1:].reshape(n, lags, d * d, 1)
    drawn = np.take_along_axis(np.broadcast_to(own, order.shape), order, axis=1)
    found = np.zeros((n * count, lags + 1, d, d), np.uint8)
    found[:, 1:] = drawn.transpose(0, 3, 1, 2).reshape(n * count, lags, d, d)
    found[:, 0] = np.repeat(batch.codes[index, 0], count, axis=0)
    return found


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
    if not rows.any():
        return None
    scored, inverse = pairs.take(np.flatnonzero(rows)).unique()
    counts = scored.confusion(universe, lags)
    samples = []
    for i in range(scored.n):
        both, weight = _shared_law(scored, i, universe)
        ones = np.ones_like(both)
        found = Confusion(both, *(float(x[i]) * ones for x in (counts.true, counts.estimated, counts.total)))
        samples.append((evaluate(metric, found), weight))
    return ClosedForm.of(Distribution.pooled(inverse.astype(np.int64), samples)).spread(rows)


def _shared_law(pairs: LaggedPairs, at: int, universe: Universe) -> tuple[Floats, Floats]:
    """Return the law of the number of shared links of one pair of graphs."""
    lags, d = pairs.estimate.max_lag, pairs.n_nodes
    true = pairs.truth.codes[pairs.truth_index[at], 1 : lags + 1] > 0
    estimated = pairs.estimate.codes[pairs.estimate_index[at], 1:] > 0
    own = np.eye(d, dtype=bool)
    counted = {"self": own, "all": np.ones_like(own)}.get(universe, ~own)
    both = np.stack([true.sum(axis=0)[counted], estimated.sum(axis=0)[counted]])
    kinds, numbers = np.unique(both[:, (both > 0).all(axis=0)], axis=1, return_counts=True)
    weight = np.ones(1)
    for a, b, times in zip(*kinds.tolist(), numbers.tolist(), strict=True):
        support, chances = hypergeometric_law(lags, a, b)
        one = np.zeros(int(support[-1]) + 1)
        one[support] = chances
        for _ in range(times):
            weight = np.convolve(weight, one)
    return np.arange(len(weight), dtype=np.float64), weight


def _distance_moments(pairs: LaggedPairs) -> ClosedForm:
    """Return mean and variance of the lag error: of each pair of variables a mean over lags drawn without replacement.

    Its mean is the mean distance of all searched lags from the nearest true one.
    """
    scored, inverse = pairs.unique()
    mean, variance = np.full(scored.n, np.nan), np.full(scored.n, np.nan)
    lags = pairs.estimate.max_lag
    for at in range(scored.n):
        sets = lag_sets(scored.take(slice(at, at + 1)))
        shared = sets.shared[0]
        if not shared.any():
            continue
        away = nearest(sets.true)[0, :lags][:, shared]
        number = sets.estimated[0].sum(axis=0)[shared]
        spread = away.var(axis=0, ddof=1) if lags > 1 else np.zeros(len(number))
        mean[at] = away.mean(axis=0).mean()
        variance[at] = (spread / number * (1 - number / lags)).sum() / len(number) ** 2
    return ClosedForm(mean[inverse], variance[inverse])


def lags_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Give the links of every pair of variables random lags among those that were searched.

    Law: of each ordered pair of variables, and of each variable with itself, the lags of its links are a uniform set of
    as many, over which their marks are dealt at random. Links at lag 0 stay. Given: the summary graph and the number of
    lags of each pair.

    It tests whether the lags are right, and nothing else: metrics of the summary graph do not vary. Not valid for
    guessers that prefer some lags, such as lag 1, where the truth's links have these lags too.
    """
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
