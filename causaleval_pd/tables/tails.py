"""P-values of rows and of strata by multilevel splitting, where no draw of their controls reached what was observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..contract.metric import Metric
from ..contract.null import Controls
from ..contract.walk import States, Walk
from ..statistics.direction import merit
from ..statistics.tails.splitting import Splitting, splitting
from .row_summary import SPLITTING, RowControls, at_floor
from .scoring import score
from .settings import Invalid

Floats = NDArray[np.float64]

#: sets the stream of splitting apart from that of draws
_STREAM = 0x5B1177
#: probability below which the levels reached give a bound: no family of tests needs less
LEAST = 1e-15


def splitting_stream(key: np.uint64, metric: Metric) -> np.random.Generator:
    """Return the random stream of a row, or of a stratum, and a metric."""
    return np.random.default_rng([_STREAM, int(key), *metric.name.encode()])


class Member(NamedTuple):
    """A row that takes part in a sum: its row of a walk, and score = weight x (merit - centre), undefined is 0."""

    walk: Walk
    row: int
    centre: float
    weight: float


@dataclass(frozen=True)
class WalkedRows:
    """The rows of one cluster, which are changed by the states of the first, as a component of a sum."""

    metric: Metric
    members: Sequence[Member]
    invalid: Invalid
    #: whether an undefined score is the worst, rather than the mean
    undefined_is_worst: bool = False

    def start(self, n: int, rng: np.random.Generator) -> States:
        """Draw controls."""
        return self.members[0].walk.start(self.members[0].row, n, rng)

    def propose(self, states: States, rng: np.random.Generator) -> States:
        """Change controls."""
        return self.members[0].walk.propose(self.members[0].row, states, rng)

    def score(self, states: States) -> Floats:
        """Add up the weighted scores of the rows, of which the largest are best."""
        m, total = self.metric, np.zeros(len(states))
        for walk, row, centre, weight in self.members:
            found = score(m, walk.pairs(row, states), self.invalid, distinct=False)
            found = weight * (merit(found, direction=m.direction, optimum=m.optimum) - centre)
            total += found if self.undefined_is_worst else np.where(np.isnan(found), 0.0, found)
        return total


def with_splitting(
    metric: Metric, rows: RowControls, controls: Controls, keys: NDArray[np.uint64], invalid: Invalid
) -> RowControls:
    """Replace p-values that no draw reached by those of splitting, where the controls can be walked."""
    walk = controls.walk
    floor = np.flatnonzero(at_floor(rows))
    if walk is None or not len(floor):
        return rows
    columns = {name: getattr(rows, name).copy() for name in ("p", "p_se", "p_low", "p_high", "p_method", "p_bound")}
    for row in floor.tolist():
        observed = float(merit(rows.observed[row], direction=metric.direction, optimum=metric.optimum))
        part = WalkedRows(metric, [Member(walk, row, 0.0, 1.0)], invalid, undefined_is_worst=True)
        found = splitting([part], observed, splitting_stream(keys[row], metric), least=LEAST)
        if math.isnan(found.p):
            continue
        # p is that of a defined control
        for name, value in zip(columns, _columns(found, 1 - rows.undefined[row]), strict=True):
            columns[name][row] = value
    return rows._replace(**columns)


def _columns(found: Splitting, defined: float) -> tuple[float, float, float, float, int, float]:
    """Return p, its error, limits, method and whether it is a bound, given the share of defined controls."""
    p, low, high = (min(1.0, x / defined) for x in (found.p, found.low, found.high))
    return p, found.estimate * found.error / defined, low, high, SPLITTING, float(not found.reached)
