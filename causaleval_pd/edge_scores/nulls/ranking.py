"""The null model `ranking`: an estimate's scores shuffled over the universe of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.null import Controls, Matching, Null, register_null
from ..pairs import ScorePairs
from ..universe import UNORDERED, Universe, candidates
from .score_controls import ScoreControls
from .shuffled_laws import shuffled_law

#: options of the universe over which scores are shuffled
_OPTIONS: dict[str, Any] = {"universe": None, "sources": None, "undirected": "both", "unscored": "drop"}


def shuffled_slots(pairs: ScorePairs, chosen: Universe) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the slots over which scores are shuffled, (n, d, d), and which rows move both directions together."""
    slots = candidates(pairs, chosen).slots
    unordered = chosen.codes(pairs) == UNORDERED
    paired = unordered | pairs.symmetric
    # of symmetric scores in an ordered universe the pairs are shuffled, once each
    folded = paired & ~unordered
    if folded.any():
        slots = slots.copy()
        slots[folded] = np.triu(slots[folded] | slots[folded].transpose(0, 2, 1))
    return slots, paired


def ranking_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Shuffle every estimate's scores over the candidates.

    Law: all assignments of the scores to the candidates are equally likely; symmetric scores are shuffled over
    unordered pairs. Given: the scores with their ties and zeros, and which pairs are scored.

    It is valid for guessers that rank pairs without looking at what they are, such as scores that are independent and
    alike. Not valid where the guess is a weighted DAG: one of the two slots of a pair is then always 0, which a shuffle
    does not keep, and p is too small (`permutation`).
    """
    chosen = Universe.of(**matching.options)
    slots, paired = shuffled_slots(pairs, chosen)

    def planes(start: int, count: int) -> NDArray[np.float64]:
        from ..kernels import shuffle_scores

        scores, d = pairs.estimate.planes, pairs.n_nodes
        out = np.empty((pairs.n * count, *scores.shape[1:]))
        room = np.empty(d * d, np.int64), np.empty(d * d, np.uint64), np.empty(d, np.uint64)
        which = slots, paired, np.zeros(pairs.n, np.bool_)
        shuffle_scores(scores, pairs.estimate_index, *which, keys, start, count, *room, out)
        return out

    def known(metric: Any) -> Any:
        return shuffled_law(metric, pairs, slots)

    return ScoreControls(pairs, "shuffled", planes, known)


for _name, _long_name in (
    ("ranking", "the estimate's scores, shuffled over the candidates"),
    ("shuffle", "the estimate's scores, shuffled over the candidates (another name of ranking)"),
):
    register_null("scores", Null(_name, _long_name, ranking_controls, options=dict(_OPTIONS), label_invariant=True))
