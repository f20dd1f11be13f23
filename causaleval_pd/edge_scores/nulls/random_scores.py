"""The null model `random_scores`: random scores with the symmetry and sparsity of the estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.null import Controls, Matching, Null, register_null
from ..cells.packed import TYPES
from ..universe import Universe
from .ranking import refuse_calibration, refuse_sources, shuffled_slots
from .relabelling import has_acyclic_support
from .score_controls import ScoreControls


def random_scores_controls(
    matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]
) -> Controls:
    """Deal every estimate's scores out to random pairs, along a random order of the nodes for weights of a DAG.

    Law: for weights of a DAG, a random order of the nodes, random pairs of them for the non-zero scores, directed along
    the order, and the scores dealt out at random. Other scores are shuffled over the scored pairs, symmetric ones over
    unordered pairs; so are weights of a DAG if some pair is scored in one direction only, which no order can turn.
    Given: the scores, their symmetry, and which pairs are scored.
    """
    ensembles = np.flatnonzero(pairs.estimate.kinds[pairs.estimate_index] == TYPES)
    if len(ensembles):
        raise ValueError(
            f"row {int(rows[ensembles[0]])}: the estimate holds probabilities of an ensemble of graphs, whose members "
            "have no joint law as random graphs; use null='permutation', or test the consensus, a graph"
        )
    refuse_calibration(matching)
    refuse_sources(matching, "random_scores")
    acyclic = (has_acyclic_support(pairs.estimate) & ~pairs.estimate.symmetric)[pairs.estimate_index]
    slots, paired = shuffled_slots(pairs, Universe())
    acyclic &= (slots == slots.transpose(0, 2, 1)).all(axis=(1, 2))
    # a weighted DAG takes one slot of a pair: pairs with their scores are shuffled, then directed
    slots = slots.copy()
    slots[acyclic] = np.triu(slots[acyclic], 1)

    def planes(start: int, count: int) -> NDArray[np.float64]:
        from ..kernels import shuffle_scores

        scores, d = pairs.estimate.planes, pairs.n_nodes
        out = np.empty((pairs.n * count, *scores.shape[1:]))
        room = np.empty(d * d, np.int64), np.empty(d * d, np.uint64), np.empty(d, np.uint64)
        which = slots, paired, acyclic
        shuffle_scores(scores, pairs.estimate_index, *which, keys, start, count, *room, out)
        return out

    return ScoreControls(pairs, "random", planes)


for _name, _long_name in (
    ("random_scores", "the estimate's scores dealt out to random pairs, weights of a DAG to a random DAG"),
    ("edges", "the estimate's scores dealt out to random pairs (another name of random_scores)"),
):
    register_null("scores", Null(_name, _long_name, random_scores_controls, label_invariant=True))
