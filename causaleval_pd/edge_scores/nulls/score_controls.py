"""Controls that are edge scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...contract.law import ClosedForm
from ...contract.metric import Metric
from ...contract.null import Controls
from ..cells.packed import ScoreBatch
from ..pairs import ScorePairs

#: bytes that a drawn control takes for each cell of its matrix, with what ranks it
_BYTES = 40
#: nanoseconds that a cell of a drawn matrix takes
_PACE = 6.0


def no_closed_form(metric: Metric) -> ClosedForm | None:
    """Return None: every metric is simulated."""
    return None


@dataclass(frozen=True, eq=False)
class ScoreControls(Controls):
    """Controls of the rows of one batch."""

    #: the observed pairs, one a row
    pairs: ScorePairs
    #: what the controls are, a word for all
    word: str
    #: `planes(start, count)` draws n * count matrices, (n * count, planes, d, d), a row's draws together
    planes: Callable[[int, int], NDArray[np.float64]]
    #: `known(metric)` returns the closed form or None
    known: Callable[[Metric], ClosedForm | None] = no_closed_form

    @property
    def kind(self) -> NDArray[np.object_]:
        """What the controls are, a word a row."""
        return np.full(self.pairs.n, self.word, object)

    @property
    def cost(self) -> int:
        """Bytes of one control."""
        return _BYTES * self.pairs.estimate.planes.shape[1] * self.pairs.n_nodes**2 + 200

    @property
    def work(self) -> float:
        """Nanoseconds to draw one control."""
        return _PACE * self.pairs.estimate.planes.shape[1] * self.pairs.n_nodes**2 + 100

    def draw(self, start: int, count: int) -> ScorePairs:
        """Pair draws start .. start + count - 1 of every row with its truth."""
        scores, index = self.pairs.estimate, np.repeat(self.pairs.estimate_index, count)
        flags = scores.kinds[index], scores.symmetric[index], scores.single[index]
        drawn = ScoreBatch(scores.n_nodes, self.planes(start, count), *flags)
        truth = np.repeat(self.pairs.truth_index, count)
        return replace(self.pairs, estimate=drawn, truth_index=truth, estimate_index=np.arange(len(truth)))

    def closed_form(self, metric: Metric) -> ClosedForm | None:
        """Return the metric's exact moments or law under the model, or None."""
        return self.known(metric)
