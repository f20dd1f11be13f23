"""Closed-form rules of metrics of lagged graphs, the counts that stand in for pairs, and probes of the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.closed_form import ClosedFormRule, Value, register_closed_form
from ...contract.confusion import Confusion
from ...contract.metric import Metric
from .pairs import Lags, Universe

#: both, true, estimated and total, on which metrics are probed
_COUNTS = ((0, 3, 2, 12), (1, 3, 2, 12), (2, 3, 2, 12), (2, 2, 5, 20), (0, 0, 1, 6), (1, 4, 1, 30))


class KnownLinks:
    """Stands in for `LaggedPairs` of a metric of one universe's counts, and remembers its universe and lags."""

    def __init__(self, counts: Confusion) -> None:
        self._counts = counts
        self.asked: set[tuple[Universe, Lags | int]] = set()

    def confusion(self, universe: Universe, lags: Lags | int = "union") -> Confusion:
        """Return the counts."""
        self.asked.add((universe, lags))
        return self._counts

    def differing(self, universe: Universe, lags: Lags | int = "union") -> NDArray[np.float64]:
        """Return the number of links of one graph only."""
        found = self.confusion(universe, lags)
        return np.asarray(found.fp + found.fn, np.float64)


def evaluate(metric: Metric, counts: Confusion) -> NDArray[np.float64]:
    """Return the values of a metric at counts in place of pairs."""
    whole = metric if metric.component is None else metric.component.whole
    return np.asarray(whole.function(KnownLinks(counts), **metric.options), np.float64)


def asked_for(metric: Metric) -> tuple[Universe, Lags] | None:
    """Return the universe and the lags that a metric compares; None where it compares several, or one lag alone."""
    probe = KnownLinks(Confusion(*(np.array([x], np.float64) for x in _COUNTS[0])))
    metric.function(probe, **metric.options)
    if len(probe.asked) != 1:
        return None
    [(universe, lags)] = probe.asked
    return (universe, lags) if isinstance(lags, str) else None


def _probe(value: Value) -> str | None:
    """Check that a metric is a function of the counts of one universe."""
    columns = [np.array(x, np.float64) for x in zip(*_COUNTS, strict=True)]
    probe: Any = KnownLinks(Confusion(*columns))
    together = value(probe)
    if len(probe.asked) != 1:
        return "it does not compare one universe of links (pairs.confusion)"
    if together.shape != (len(_COUNTS),):
        return f"it gives an array of shape {together.shape} for {len(_COUNTS)} pairs; expected one value per pair"
    for i, counts in enumerate(_COUNTS):
        stand_in: Any = KnownLinks(Confusion(*(np.array([x], np.float64) for x in counts)))
        alone = value(stand_in)
        if not np.allclose(alone, together[i : i + 1], rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"at {counts} links it is {alone.item():g} alone and {together[i]:g} among other pairs"
    return None


LINKS = register_closed_form(
    ClosedFormRule(
        "links",
        "lagged",
        "A function of the confusion counts of one universe of links. Null models compute the law of the counts.",
        _probe,
    )
)
AT_LAG_0 = register_closed_form(
    ClosedFormRule(
        "links_at_lag_0",
        "lagged",
        "A metric of graphs, of the links at lag 0. Its law is that of the null model of graphs of the same name.",
    )
)
WINDOW = register_closed_form(
    ClosedFormRule(
        "window",
        "lagged",
        "The sum of the lagged links that differ and of the distance at lag 0. Its mean is the sum of their means.",
    )
)
LAG_DISTANCE = register_closed_form(
    ClosedFormRule(
        "lag_distance",
        "lagged",
        "A mean over pairs of variables of the mean distance of estimated lags from true ones. Random lags give its "
        "mean and variance.",
    )
)
