"""Null models that move scores or edges: `ranking`, `random_scores` and `calibrated`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....contract.null import Controls, DrawnControls, Matching, Null, no_closed_form, register_null
from ....contract.pairs import PairError, StoredPairs
from ....execution.random_streams import uniforms
from ..cells import KINDS, PROBABILITY, TYPES, ScoreBatch
from ..pairs import UNORDERED, ScorePairs, Truths, Universe, candidates, universe_options
from .laws import shuffled_law

#: sets the streams of the pairs of nodes of a row apart
_NEXT = np.uint64(0x9E3779B97F4A7C15)
#: bytes that a drawn control takes for each cell of its matrix, with what ranks it
_BYTES = 40
#: nanoseconds that a cell of a drawn matrix takes
_PACE = 6.0
#: options of the universe over which scores are shuffled
_OPTIONS: dict[str, Any] = {"universe": None, "sources": None, "undirected": "both", "unscored": "drop"}


def score_controls(
    pairs: Any,
    word: str,
    planes: Callable[[int, int], NDArray[np.float64]],
    known: Callable[[Metric], ClosedForm | None] = no_closed_form,
) -> Controls:
    """Make controls of a batch: `planes(start, count)` draws n * count matrices, a row's draws together."""

    def drawn(start: int, count: int) -> StoredPairs:
        scores, index = pairs.estimate, np.repeat(pairs.estimate_index, count)
        flags = scores.kinds[index], scores.symmetric[index], scores.single[index]
        estimate = ScoreBatch(scores.n_nodes, planes(start, count), *flags)
        return replace(
            pairs,
            estimate=estimate,
            truth_index=np.repeat(pairs.truth_index, count),
            estimate_index=np.arange(len(index)),
        )

    return DrawnControls(pairs, word, drawn, known, *_effort(pairs))


def _effort(pairs: Any) -> tuple[int, float]:
    """Return the bytes of one control, and the nanoseconds that drawing it takes."""
    cells = pairs.estimate.planes.shape[1] * pairs.n_nodes**2
    return _BYTES * cells + 200, _PACE * cells + 100


def shuffled_universe(matching: Matching) -> Universe:
    """Return the universe over which scores are shuffled: as the user names it, else that of the metrics."""
    named = {name: matching.options.get(name, default) for name, default in _OPTIONS.items()}
    if (
        any(
            value is not _OPTIONS[name] and value != _OPTIONS[name]
            for name, value in named.items()
            if name != "sources"
        )
        or named["sources"] is not None
    ):
        return Universe.of(**named)
    ranking = [m for m in matching.metrics if "universe" in inspect.signature(m.function).parameters]
    found = {replace(Universe.of(**universe_options(m)), reduce="max", magnitude=None): m.name for m in ranking}
    if len(found) == 1:
        return next(iter(found))
    # ordered pairs that are shuffled are unordered pairs that are shuffled, whatever their labels
    places = {_places(chosen): name for chosen, name in found.items()}
    if len(places) > 1:
        one, other = list(places.values())[:2]
        raise ValueError(
            f"{one} and {other} have different candidates (universe=, sources= or undirected=), and controls shuffle "
            "the scores over one set of them; make a call each"
        )
    return next(iter(places), Universe())


def _places(chosen: Universe) -> Universe:
    """Return a universe that has the same ordered pairs of nodes."""
    wide = chosen.universe in (None, "ordered", "unordered")
    undirected = "ignore" if chosen.undirected == "ignore" else "both"
    return replace(
        chosen, universe=None if wide else chosen.universe, undirected=undirected, reduce="max", unscored="drop"
    )


def refuse_sources(matching: Matching, null: str) -> None:
    """Refuse metrics of some sources where controls do not keep scores among the sources."""
    for metric in matching.metrics:
        sources = Universe.of(**universe_options(metric)).sources if "sources" in metric.options else None
        if sources is not None:
            raise ValueError(
                f"{metric.name} has sources={list(sources)!r}, and null={null!r} does not keep scores among the "
                f"sources; use null=ce.null_model('ranking', sources={list(sources)!r})"
            )


def refuse_calibration(matching: Matching) -> None:
    """Refuse distances between probabilities and shares, which controls that move the scores do not test."""
    for metric in matching.metrics:
        if metric.closed_form == "calibration":
            raise ValueError(
                f"{metric.name} measures calibration, which null models that move the scores do not test; use "
                "null='calibrated'"
            )


def _refuse_others(matching: Matching, pairs: ScorePairs, chosen: Universe, slots: NDArray[np.bool_]) -> None:
    """Refuse metrics some of whose candidates are not shuffled."""
    for metric in matching.metrics:
        if "universe" not in inspect.signature(metric.function).parameters:
            continue
        own = Universe.of(**universe_options(metric))
        if _places(own) == _places(chosen):
            continue
        try:
            found = candidates(pairs, own)
        except PairError:
            # scoring names the rows at fault
            continue
        scored = np.isfinite(pairs.estimate.values[pairs.estimate_index])
        both = slots | slots.transpose(0, 2, 1)
        either = (own.codes(pairs) == UNORDERED) | (chosen.codes(pairs) == UNORDERED) | pairs.symmetric
        left = found.slots & scored & ~np.where(either[:, None, None], both, slots)
        if left.any():
            raise ValueError(
                f"{metric.name} has candidates over which null='ranking' does not shuffle the scores, as it has other "
                "options (universe=, sources=); give the metric (ce.tweak) and the null model the same, or leave out "
                "those of the null model, which then takes the metric's"
            )


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


def _shuffled(
    pairs: ScorePairs,
    slots: NDArray[np.bool_],
    paired: NDArray[np.bool_],
    acyclic: NDArray[np.bool_],
    keys: NDArray[np.uint64],
) -> Callable[[int, int], NDArray[np.float64]]:
    """Return a function that draws scores shuffled over slots, those of acyclic rows along an order of the nodes."""

    def planes(start: int, count: int) -> NDArray[np.float64]:
        from ..kernels import shuffle_scores

        scores, d = pairs.estimate.planes, pairs.n_nodes
        out = np.empty((pairs.n * count, *scores.shape[1:]))
        room = np.empty(d * d, np.int64), np.empty(d * d, np.uint64), np.empty(d, np.uint64)
        which = slots, paired, acyclic
        shuffle_scores(scores, pairs.estimate_index, *which, keys, start, count, *room, out)
        return out

    return planes


def ranking_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Shuffle every estimate's scores over the candidates.

    Law: all assignments of the scores to the candidates are equally likely; symmetric scores are shuffled over
    unordered pairs. Given: the scores with their ties and zeros, and which pairs are scored. The candidates are those
    of the metrics, unless options of the null model name others.

    It is valid for guessers that rank pairs without looking at what they are, such as scores that are independent and
    alike. Not valid where the guess is a weighted DAG: one of the two slots of a pair is then always 0, which a shuffle
    does not keep, and p is too small (`permutation`).
    """
    refuse_calibration(matching)
    chosen = shuffled_universe(matching)
    slots, paired = shuffled_slots(pairs, chosen)
    _refuse_others(matching, pairs, chosen, slots)

    def known(metric: Any) -> Any:
        return shuffled_law(metric, pairs, slots)

    return score_controls(pairs, "shuffled", _shuffled(pairs, slots, paired, np.zeros(pairs.n, np.bool_), keys), known)


register_null(
    "scores",
    Null(
        "ranking",
        "the estimate's scores, shuffled over the candidates",
        ranking_controls,
        options=dict(_OPTIONS),
        label_invariant=True,
    ),
)


def has_acyclic_support(scores: ScoreBatch) -> NDArray[np.bool_]:
    """Return which matrices have non-zero scores along an order of the nodes only, as weights of a DAG."""
    d = scores.n_nodes
    support = np.nan_to_num(scores.values) != 0
    support[:, range(d), range(d)] = False
    left = np.ones((len(support), d), np.bool_)
    for _ in range(d):
        # nodes without a parent among those that are left go
        goes = left & ~(support & left[:, :, None]).any(axis=1)
        left &= ~goes
        if not goes.any():
            break
    return np.asarray(~left.any(axis=1))


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

    return score_controls(pairs, "random", _shuffled(pairs, slots, paired, acyclic, keys))


register_null(
    "scores",
    Null(
        "random_scores",
        "the estimate's scores dealt out to random pairs, weights of a DAG to a random DAG",
        random_scores_controls,
        label_invariant=True,
    ),
)


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
    d = pairs.n_nodes
    values = np.nan_to_num(pairs.estimate.values[pairs.estimate_index])
    streams = (keys[:, None] ^ (np.arange(1, d * d + 1, dtype=np.uint64) * _NEXT)).reshape(-1)

    def drawn(start: int, count: int) -> ScorePairs:
        tossed = uniforms(streams, start, count).reshape(pairs.n, d, d, count).transpose(0, 3, 1, 2)
        symmetric = pairs.symmetric[:, None, None, None]
        tossed = np.where(symmetric, np.triu(tossed) + np.triu(tossed, 1).swapaxes(2, 3), tossed)
        marks = (tossed < values[:, None]).reshape(-1, d, d)
        own = np.repeat(pairs.truth_index, count)
        truth = Truths(d, marks, np.zeros(len(marks), np.uint8), pairs.truth.node_sets, pairs.truth.node_set[own])
        index = np.repeat(pairs.estimate_index, count)
        found: ScorePairs = replace(pairs, truth=truth, truth_index=np.arange(len(marks)), estimate_index=index)
        return found

    return DrawnControls(pairs, "calibrated", drawn, no_closed_form, *_effort(pairs))


register_null(
    "scores",
    Null("calibrated", "edges drawn from the estimated probabilities", calibrated_controls, reference=True, worse=True),
)
