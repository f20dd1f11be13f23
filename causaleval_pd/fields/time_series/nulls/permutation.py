"""The null model `permutation`: the estimate with its variables relabelled at random, the lags of links kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.confusion import Confusion
from ....contract.law import ClosedForm, Distribution
from ....contract.metric import Metric
from ....contract.null import Controls, Matching, Null, register_null
from ....contract.relabelling import MOST_LISTED, all_orders
from ....graphs.kernels.planes import row_chunks
from ...structure.hamming import shd
from ...structure.nulls.quadratic_assignment import pair_sums, relabelling_moments
from ..closed_forms import AT_LAG_0, LINKS, WINDOW, asked_for, evaluate
from ..metrics import ALL_HAMMING, of_graphs
from ..pairs import LaggedPairs, Universe
from .controls import Floats, Keys, lagged_controls, plain_rows, refuse_control_kind, words
from .edges import graph_controls

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
        if metric.closed_form == AT_LAG_0.name:
            return self._graph_law(of_graphs(metric))
        if metric.closed_form == LINKS.name:
            asked = asked_for(metric)
            return None if asked is None else self._links_moments(metric, *asked)
        if metric.closed_form == WINDOW.name:
            lagged, at_lag_0 = self.law(ALL_HAMMING), self._graph_law(shd)
            # both parts move together: the mean alone adds up
            return None if lagged is None or at_lag_0 is None else ClosedForm(lagged.mean + at_lag_0.mean)
        return None

    def _graph_law(self, metric: Metric) -> ClosedForm | None:
        """Return the moments that the null model of graphs has of a metric of the links at lag 0."""
        graphs = self.pairs.at_lag_0
        return (
            None if graphs is None else graph_controls("permutation", self.rows, graphs, self.keys).closed_form(metric)
        )

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
            batch = some.estimate
            codes = _moved(batch.codes[some.estimate_index], orders).reshape(-1, *batch.codes.shape[1:])
            kinds = np.repeat(batch.kinds[some.estimate_index], len(orders))
            index = np.arange(len(codes), dtype=np.int64)
            yield LaggedPairs(
                some.truth, replace(batch, codes=codes, kinds=kinds), np.repeat(some.truth_index, len(orders)), index
            )

    def _listed_law(self, metric: Metric) -> ClosedForm:
        scored, inverse = self._distinct
        n_orders = math.factorial(self.d)
        fits = scored.n * n_orders * scored.estimate.codes[:1].size < _KEPT
        values = np.empty((scored.n, n_orders))
        done = 0
        for pairs in self._kept if fits else self._lists():
            refused = metric.refused(pairs)
            found = np.full(pairs.n, np.nan)
            found[~refused] = metric(pairs if not refused.any() else pairs.take(np.flatnonzero(~refused)))
            number = pairs.n // n_orders
            values[done : done + number] = found.reshape(number, n_orders)
            done += number
        weights = np.full(values.shape, 1 / n_orders)
        return ClosedForm.of(Distribution.of(inverse.astype(np.int64), values, weights))

    def _links_moments(self, metric: Metric, universe: Universe, lags: Any) -> ClosedForm | None:
        pairs = self.pairs
        rows = np.ones(pairs.n, bool)
        if universe in ("summary", "summary_self"):
            channels = [batch.arcs[:, None] for batch in (pairs.truth, pairs.estimate)]
        else:
            last = min(pairs.lags(lags), pairs.truth.max_lag, pairs.estimate.max_lag)
            channels = [batch.codes[:, 1 : last + 1] > 0 for batch in (pairs.truth, pairs.estimate)]
            rows = rows if universe == "adjacent" else plain_rows(pairs)
        part = {"self": "self", "all": "all", "summary_self": "all"}.get(universe, "cross")
        return _affine(metric, pairs.confusion(universe, lags), *self._moments(channels, part), rows)

    def _moments(self, channels: list[NDArray[np.bool_]], part: str) -> tuple[Floats, Floats]:
        """Return mean and variance of the number of shared cells of channels (N, K, d, d)."""
        mean, variance = np.zeros(self.pairs.n), np.zeros(self.pairs.n)
        indices = self.pairs.truth_index, self.pairs.estimate_index
        n_channels = channels[0].shape[1]
        if not n_channels:
            return mean, variance
        for rows in row_chunks(self.pairs.n, 60 * n_channels * self.d**2 + 60 * n_channels**2):
            true, estimated = (
                side[index[rows]].astype(np.float64) for side, index in zip(channels, indices, strict=True)
            )
            if part in ("cross", "all"):
                between = relabelling_moments(pair_sums(true), pair_sums(estimated), np.eye(n_channels), self.d)
                mean[rows] += between[0]
                variance[rows] += between[1]
            if part in ("self", "all"):
                own = _self_moments(true, estimated)
                mean[rows] += own[0]
                variance[rows] += own[1]
            if part == "all":
                variance[rows] += 2 * _covariance(true, estimated, between[0], own[0])
        # differences of large numbers round
        return mean, np.where(variance > 1e-9 * (1 + mean**2), variance, 0.0)


def _self_moments(true: Floats, estimated: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of the shared cells of diagonals: a sum over variables of one cell of each matrix."""
    d = true.shape[-1]
    sides = [np.einsum("nkii->nki", side) for side in (true, estimated)]
    cells = np.einsum("nki,nkj->nij", *sides)
    mean = cells.sum(axis=(1, 2)) / d
    if d < 2:
        return mean, np.zeros(len(mean))
    centred = (
        cells
        - cells.mean(axis=1, keepdims=True)
        - cells.mean(axis=2, keepdims=True)
        + cells.mean(axis=(1, 2), keepdims=True)
    )
    return mean, (centred**2).sum(axis=(1, 2)) / (d - 1)


def _covariance(true: Floats, estimated: Floats, between: Floats, own: Floats) -> Floats:
    """Return the covariance of shared cells off the diagonal and on it, at the source, the target or neither."""
    d = true.shape[-1]
    if d < 2:
        return np.zeros(len(true))
    sides = []
    for side in (true, estimated):
        diagonal = np.einsum("nkii->nki", side)
        off = side - np.einsum("nki,ij->nkij", diagonal, np.eye(d))
        out, into = off.sum(axis=3), off.sum(axis=2)
        source, target = (np.einsum("nki,nli->nkl", x, diagonal) for x in (out, into))
        neither = off.sum(axis=(2, 3))[:, :, None] * diagonal.sum(axis=2)[:, None, :] - source - target
        sides.append((source, target, neither))
    ways = (d * (d - 1), d * (d - 1), d * (d - 1) * (d - 2))
    product = sum((a * b).sum(axis=(1, 2)) / n if n else 0.0 for a, b, n in zip(*sides, ways, strict=True))
    return np.asarray(product - between * own)


def _affine(
    metric: Metric, found: Confusion, mean: Floats, variance: Floats, rows: NDArray[np.bool_]
) -> ClosedForm | None:
    """Return the moments of a metric that is affine in the shared positives, whose own are given."""
    true, estimated, total = (np.asarray(x, np.float64) for x in (found.true, found.estimated, found.total))
    at = [evaluate(metric, Confusion(np.full(len(true), both), true, estimated, total)) for both in (0.0, 1.0, 2.0)]
    step = at[1] - at[0]
    if not np.allclose(at[2] - at[1], step, rtol=1e-9, atol=1e-12, equal_nan=True) or not rows.any():
        return None
    return ClosedForm((at[0] + step * mean)[rows], (step**2 * variance)[rows]).spread(rows)


def permutation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: Keys) -> Controls:
    """Relabel the variables of every estimate: links keep their lags and marks, at lag 0 too.

    Law: the estimate under a uniform permutation of its variables' names. Given: the estimate up to names, that is its
    structure in time. Rows with one key are relabelled alike. Up to six variables all relabellings are listed.

    It is valid for every guesser that does not use the names, whatever the shape of its guesses, or where the truth's
    names are random.
    """
    found = Relabellings(rows, pairs, keys)
    return lagged_controls(pairs, found.codes, found.law)


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
