"""The null model `ranking`: an estimate's scores shuffled over the universe of candidates."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...contract.metric import Metric
from ...contract.null import Controls, Matching, Null, register_null
from ...contract.pairs import PairError
from ..pairs import ScorePairs
from ..universe import UNORDERED, Universe, candidates
from .score_controls import ScoreControls
from .shuffled_laws import shuffled_law

#: options of the universe over which scores are shuffled
_OPTIONS: dict[str, Any] = {"universe": None, "sources": None, "undirected": "both", "unscored": "drop"}


def universe_of_metric(metric: Metric) -> Universe:
    """Return the universe of a metric's candidates, with the options by which they are ranked."""
    return Universe.of(
        **{name: metric.options[name] for name in Universe.__dataclass_fields__ if name in metric.options}
    )


def shuffled_universe(matching: Matching) -> Universe:
    """Return the universe over which scores are shuffled: as the user names it, else that of the metrics.

    Raises
    ------
    ValueError
        If metrics have candidates of which one shuffle keeps the law of one of them only.
    """
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
    found = {replace(universe_of_metric(m), reduce="max", magnitude=None): m.name for m in ranking}
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
        sources = universe_of_metric(metric).sources if "sources" in metric.options else None
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
        own = universe_of_metric(metric)
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
