"""The null model `calibrated`: edges drawn from the estimated probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.null import Controls, Matching, Null, register_null
from ...execution.random_streams import uniforms
from ..cells.packed import KINDS, PROBABILITY, TYPES
from ..pairs import ScorePairs, Truths
from .score_controls import ScoreControls

#: sets the streams of the pairs of nodes of a row apart
_NEXT = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class CalibratedControls(ScoreControls):
    """The estimates, with truths that are drawn from them."""

    keys: NDArray[np.uint64] | None = None

    def draw(self, start: int, count: int) -> ScorePairs:
        """Pair every estimate with truths start .. start + count - 1."""
        pairs, d = self.pairs, self.pairs.n_nodes
        keys = np.zeros(pairs.n, np.uint64) if self.keys is None else self.keys
        streams = (keys[:, None] ^ (np.arange(1, d * d + 1, dtype=np.uint64) * _NEXT)).reshape(-1)
        tossed = uniforms(streams, start, count).reshape(pairs.n, d, d, count).transpose(0, 3, 1, 2)
        values = np.nan_to_num(pairs.estimate.values[pairs.estimate_index])
        symmetric = pairs.symmetric[:, None, None, None]
        tossed = np.where(symmetric, np.triu(tossed) + np.triu(tossed, 1).swapaxes(2, 3), tossed)
        marks = (tossed < values[:, None]).reshape(-1, d, d)
        index = np.arange(pairs.n * count)
        own = np.repeat(pairs.truth_index, count)
        truth = Truths(d, marks, np.zeros(len(marks), np.uint8), pairs.truth.node_sets, pairs.truth.node_set[own])
        return replace(pairs, truth=truth, truth_index=index, estimate_index=np.repeat(pairs.estimate_index, count))


def calibrated_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Draw the edges of the truth from the probabilities of every estimate.

    Law: each candidate is true with its probability, independently; symmetric probabilities are of unordered pairs.
    Given: the estimate. It is the law of calibrated probabilities, so that p is the probability that calibrated ones
    have a metric at least as bad: a small p shows that they are not calibrated.
    """
    kinds = pairs.estimate.kinds[pairs.estimate_index]
    wrong = ~np.isin(kinds, (PROBABILITY, TYPES))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"row {rows[at]}: null='calibrated' needs probabilities, the estimate holds {KINDS[kinds[at]]}"
        )
    return CalibratedControls(pairs, "calibrated", lambda start, count: np.empty(0), keys=keys)


register_null(
    "scores",
    Null("calibrated", "edges drawn from the estimated probabilities", calibrated_controls, reference=True, worse=True),
)
