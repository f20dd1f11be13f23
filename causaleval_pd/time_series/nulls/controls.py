"""Controls of lagged graphs: what the null models share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...contract.confusion import Confusion
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, Matching
from ...execution.random_streams import random_words
from ..cells.marks import KINDS
from ..closed_forms import evaluate
from ..pairs import LaggedPairs
from .count_laws import CountLaw

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

#: odd step between the streams of the places of a graph (the golden ratio's fraction of 2**64)
_NEXT = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class LaggedControls(Controls):
    """Controls of the rows of one batch."""

    #: the observed pairs
    pairs: LaggedPairs
    #: `codes(start, count)` draws the codes of n * count graphs, a row's draws together
    codes: Callable[[int, int], NDArray[np.uint8]]
    #: `known(metric)` returns the closed form or None
    known: Callable[[Metric], ClosedForm | None]
    #: nanoseconds that drawing takes for each place of a link, roughly
    pace: float = 50.0

    @property
    def kind(self) -> NDArray[np.object_]:
        """Class of the controls by name, a row each."""
        return np.array(KINDS, object)[self.pairs.estimate.kinds[self.pairs.estimate_index]]

    @property
    def cost(self) -> int:
        """Bytes of one control: its codes, and the words and places that drawing it takes."""
        return 200 + 30 * self._places

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control."""
        return 1000.0 + self.pace * self._places

    @property
    def _places(self) -> int:
        return int(np.prod(self.pairs.estimate.codes.shape[1:]))

    def draw(self, start: int, count: int) -> LaggedPairs:
        """Pair draws start .. start + count - 1 of every row with its truth."""
        pairs = self.pairs
        codes = self.codes(start, count)
        kinds = np.repeat(pairs.estimate.kinds[pairs.estimate_index], count)
        drawn = replace(pairs.estimate, codes=codes, kinds=kinds)
        return LaggedPairs(
            pairs.truth, drawn, np.repeat(pairs.truth_index, count), np.arange(len(codes), dtype=np.int64)
        )

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact moments or law under the model, or None."""
        return self.known(metric)


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
    return of_distribution(Distribution.pooled(index.reshape(-1).astype(np.int64), samples)).spread(rows)


def of_distribution(distribution: Distribution) -> ClosedForm:
    """Return mean, variance and law."""
    return ClosedForm(*distribution.moments(), distribution)


def unchanged(metric: Metric, pairs: LaggedPairs) -> ClosedForm:
    """Return the law of a metric that has the same value for all controls of a row as for its estimate."""
    value = np.asarray(metric(pairs), np.float64)
    law = Distribution.of(np.arange(pairs.n, dtype=np.int64), value[:, None], np.ones((pairs.n, 1)))
    return ClosedForm(value, np.where(np.isnan(value), np.nan, 0.0), law)
