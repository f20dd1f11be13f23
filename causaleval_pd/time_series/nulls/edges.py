"""The null model `edges`: random graphs with as many links between variables, self-links and links at lag 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...contract.checks import check_choice
from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...graphs.pairs import GraphPairs
from ...structure.field import GRAPHS
from ...structure.nulls.hypergeometric import hypergeometric
from ..cells.marks import TURNED, codes_of_planes
from ..closed_forms import AT_LAG_0, LINKS, WINDOW, asked_for
from ..metrics.contemporaneous import GRAPH_METRICS
from ..metrics.links import ALL_HAMMING
from ..pairs import LaggedPairs, Universe
from .controls import (
    Keys,
    LaggedControls,
    law_of_counts,
    plain_rows,
    refuse_control_kind,
    words,
)
from .count_laws import CountLaw, added, fixed, linked_pairs, placed

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
            return self._graph_law(GRAPH_METRICS[metric.function.__name__], metric)
        if metric.closed_form == LINKS.name:
            return self._links_law(metric)
        if metric.closed_form == WINDOW.name and self.pairs.at_lag_0 is not None:
            lagged, at_lag_0 = self.law(ALL_HAMMING), self._graph_law(GRAPH_METRICS["contemporaneous_shd"])
            if lagged is not None and at_lag_0 is not None:
                both = lagged.variance is not None and at_lag_0.variance is not None
                variance = lagged.variance + at_lag_0.variance if both else None  # type: ignore[operator]
                return ClosedForm(lagged.mean + at_lag_0.mean, variance)
        return None

    def _graph_law(self, of_graphs: Metric, metric: Metric | None = None) -> ClosedForm | None:
        """Return what the null model of graphs has of a metric of the links at lag 0."""
        graphs = self.pairs.at_lag_0
        if graphs is None:
            return None
        chosen = replace(of_graphs, options={} if metric is None else {**of_graphs.options, **metric.options})
        if self.at_lag_0 is not None:
            return self.at_lag_0.closed_form(chosen)
        if chosen.closed_form != "hypergeometric":
            return None
        return hypergeometric(chosen, self.pairs.n_nodes, graphs.counts.true_edges, graphs.counts.estimated_edges)

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
    return LaggedControls(pairs, found.codes, found.law)


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
