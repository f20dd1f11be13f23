"""The null models of edge scores: scores shuffled or dealt out, edges drawn from probabilities, nodes relabelled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.field import MOST_LISTED, all_orders
from ...contract.law import ClosedForm, Distribution, Tails
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Matching, Null, no_closed_form, register_null
from ...contract.pairs import PairError, StoredPairs
from ...execution.random_streams import uniforms
from ..structure.nulls.additive import PairSums, pair_sums, relabelling_moments
from .cells import KINDS, PROBABILITY, TYPES, ScoreBatch
from .laws import shuffled_law
from .pairs import UNORDERED, Candidates, ScorePairs, Truths, Universe, candidates, universe_options

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
    words: str | NDArray[np.object_],
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

    return DrawnControls(pairs, words, drawn, known, *_effort(pairs))


def _effort(pairs: Any) -> tuple[int, float]:
    """Return the bytes of one control, and the nanoseconds that drawing it takes."""
    cells = pairs.estimate.planes.shape[1] * pairs.n_nodes**2
    return _BYTES * cells + 200, _PACE * cells + 100


def shuffled_universe(matching: Matching) -> Universe:
    """Return the universe over which scores are shuffled: as the user names it, else that of the metrics."""
    named = {name: matching.options.get(name, default) for name, default in _OPTIONS.items()}
    chosen = Universe(**named)
    if chosen != Universe():
        return chosen
    ranking = [m for m in matching.metrics if "universe" in inspect.signature(m.function).parameters]
    universes = {replace(Universe(**universe_options(m)), reduce="max", magnitude=None): m.name for m in ranking}
    if len(universes) == 1:
        return next(iter(universes))
    # ordered pairs that are shuffled are unordered pairs that are shuffled, whatever their labels
    places = {_places(universe): name for universe, name in universes.items()}
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
        sources = Universe(**universe_options(metric)).sources if "sources" in metric.options else None
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
        universe = Universe(**universe_options(metric))
        if _places(universe) == _places(chosen):
            continue
        try:
            candidate_set = candidates(pairs, universe)
        except PairError:
            # scoring names the rows at fault
            continue
        scored = np.isfinite(pairs.estimate.values[pairs.estimate_index])
        both = slots | slots.transpose(0, 2, 1)
        either = (universe.codes(pairs) == UNORDERED) | (chosen.codes(pairs) == UNORDERED) | pairs.symmetric
        left = candidate_set.slots & scored & ~np.where(either[:, None, None], both, slots)
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
        from .kernels import shuffle_scores

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
        positions = np.repeat(pairs.truth_index, count)
        truth = Truths(d, marks, np.zeros(len(marks), np.uint8), pairs.truth.node_sets, pairs.truth.node_set[positions])
        index = np.repeat(pairs.estimate_index, count)
        drawn_pairs: ScorePairs = replace(pairs, truth=truth, truth_index=np.arange(len(marks)), estimate_index=index)
        return drawn_pairs

    return DrawnControls(pairs, "calibrated", drawn, no_closed_form, *_effort(pairs))


register_null(
    "scores",
    Null("calibrated", "edges drawn from the estimated probabilities", calibrated_controls, reference=True, worse=True),
)


Floats = NDArray[np.float64]

_KNOWN = ("auroc", "precision_at_k", "average_precision")
#: nodes up to which the mean of the average precision is summed
_MOST_NODES = 150


class Ranked(NamedTuple):
    """Rows whose candidates are all pairs of nodes, so that their number does not change with the labels."""

    #: (m, d, d): true slots, in both cells where pairs are unordered
    true: Floats
    #: (m, d, d): candidates above each slot, and those that tie with it
    above: Floats
    tied: Floats
    #: (m,): candidates, true ones, and cells of the matrices that a candidate has
    n: Floats
    k: Floats
    cells: Floats


def relabelled_moments(metric: Metric, pairs: ScorePairs) -> ClosedForm | None:
    """Return mean and variance of a metric over all relabellings, where they are known, or None."""
    if metric.closed_form not in _KNOWN:
        return None
    chosen = Universe(**universe_options(metric))
    if chosen.universe not in (None, "ordered", "unordered") or chosen.undirected == "ignore":
        return None
    try:
        candidate_set = candidates(pairs, chosen)
    except PairError:
        # scoring names the rows at fault
        return None
    d, unordered = pairs.n_nodes, chosen.codes(pairs) == UNORDERED
    full = candidate_set.size == np.where(unordered, d * (d - 1) // 2, d * (d - 1))
    full &= np.isfinite(candidate_set.keys).all(axis=1) | (candidate_set.size < candidate_set.keys.shape[1])
    rows = np.flatnonzero(full & (candidate_set.n_true > 0))
    if not len(rows) or d < 2:
        return None
    ranked = pairs.remember(("ranked", chosen), lambda: _ranked(pairs.take(rows), chosen, unordered[rows]))
    k = metric.options.get("k")
    mean, variance = {
        "auroc": lambda: _auroc(ranked, d),
        "precision_at_k": lambda: _precision(ranked, d, ranked.k if k is None else np.full(len(rows), float(k))),
        "average_precision": lambda: _average_precision(ranked, d),
    }[metric.closed_form]()
    spread = np.full((2, pairs.n), np.nan)
    spread[:, rows] = mean, variance
    return ClosedForm(spread[0], spread[1], tailed=np.zeros(pairs.n, np.bool_))


def _ranked(pairs: ScorePairs, chosen: Universe, unordered: NDArray[np.bool_]) -> Ranked:
    candidate_set, d = candidates(pairs, chosen), pairs.n_nodes
    row, i, j = np.nonzero(candidate_set.slots)
    starts = np.concatenate([[0], np.cumsum(candidate_set.size)[:-1]])
    column = np.arange(len(row)) - starts[row]
    true, above, tied = np.zeros((3, pairs.n, d, d))
    for matrix, values in zip((true, above, tied), (candidate_set.labels, *_places_of(candidate_set)), strict=True):
        matrix[row, i, j] = values[row, column]
        matrix[unordered] = np.maximum(matrix, matrix.transpose(0, 2, 1))[unordered]
    cells = np.where(unordered, 2.0, 1.0)
    return Ranked(
        true, above, tied, candidate_set.size.astype(np.float64), candidate_set.n_true.astype(np.float64), cells
    )


def _places_of(found: Candidates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many candidates rank above each, and how many tie with it, itself among them."""
    n, most = found.keys.shape
    number = np.arange(most)
    keys = np.where(number < found.size[:, None], found.keys, -np.inf)
    order = np.argsort(-keys, axis=1, kind="stable")
    ordered = np.take_along_axis(keys, order, axis=1)
    new = np.ones((n, most + 1), bool)
    new[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new[:, :-1], number, 0), axis=1)
    after = np.minimum.accumulate(np.where(new[:, 1:], number + 1, most)[:, ::-1], axis=1)[:, ::-1]
    above, tied = np.empty((2, n, most), np.int64)
    np.put_along_axis(above, order, first, axis=1)
    np.put_along_axis(tied, order, after - first, axis=1)
    return above, tied


def _linear(ranked: Ranked, weights: Floats, d: int) -> tuple[Floats, Floats]:
    """Return mean and variance of the sum of the weights of the true candidates."""
    weights = weights.copy()
    weights[:, range(d), range(d)] = 0.0
    sums: list[PairSums] = [pair_sums(x[:, None]) for x in (ranked.true, weights)]
    return relabelling_moments(sums[0], sums[1], (1 / ranked.cells)[:, None, None], d)


def _auroc(ranked: Ranked, d: int) -> tuple[Floats, Floats]:
    n, products = ranked.n[:, None, None], ranked.k * (ranked.n - ranked.k)
    # midranks from the bottom, less their mean
    midranks = n - ranked.above - (ranked.tied - 1) / 2 - (n + 1) / 2
    # in units of 1, so that a small variance is not taken for rounding error
    mean, variance = _linear(ranked, midranks / np.maximum(products, 1)[:, None, None] ** 0.5, d)
    able = products > 0
    some = np.maximum(products, 1)
    return np.where(able, 0.5 + mean / some**0.5, np.nan), np.where(able, variance / some, np.nan)


def _precision(ranked: Ranked, d: int, k: Floats) -> tuple[Floats, Floats]:
    cut = k[:, None, None]
    share = np.clip((cut - ranked.above) / np.maximum(ranked.tied, 1), 0.0, 1.0)
    mean, variance = _linear(ranked, share, d)
    able = k <= ranked.n
    return np.where(able, mean / k, np.nan), np.where(able, variance / k**2, np.nan)


def _average_precision(ranked: Ranked, d: int) -> tuple[Floats, Floats]:
    """Return the mean; the variance is not known."""
    from .kernels import pattern_sums

    nothing = np.full(len(ranked.n), np.nan)
    if d > _MOST_NODES:
        return nothing, nothing
    sums = np.empty((len(ranked.n), 6))
    pattern_sums(ranked.above, ranked.tied, sums)
    # over all pairs of slots the sum is the number of slots, in each cell of both
    total = ranked.n * ranked.cells**2
    by_pattern = np.column_stack([sums, total - sums.sum(axis=1)])
    ways = np.array([d * (d - 1)] * 2 + [d * (d - 1) * (d - 2)] * 4 + [d * (d - 1) * (d - 2) * (d - 3)], np.float64)
    average = np.divide(by_pattern, ways, out=np.zeros_like(by_pattern), where=ways > 0)
    products = pair_sums(ranked.true[:, None]).products[:, 0, 0]
    mean = (average * products).sum(axis=1) / (ranked.k * ranked.cells**2)
    return mean, nothing


#: listed controls that are scored at once
_AT_ONCE = 20_000


def listed_law(metric: Metric, pairs: ScorePairs) -> ClosedForm | None:
    """Return the exact law of any metric over all relabellings of few nodes."""
    distinct, index = pairs.unique()
    orders = all_orders(pairs.n_nodes)
    step = max(1, _AT_ONCE // len(orders))
    values = []
    for start in range(0, distinct.n, step):
        some = distinct.take(np.arange(start, min(start + step, distinct.n)))
        scores = some.estimate.take(np.repeat(some.estimate_index, len(orders)))
        every = np.tile(orders, (some.n, 1))
        each = np.arange(len(every))[:, None, None]
        moved = scores.planes.transpose(0, 2, 3, 1)[each, every[:, :, None], every[:, None, :]]
        drawn = replace(scores, planes=np.ascontiguousarray(moved.transpose(0, 3, 1, 2)))
        truth = np.repeat(some.truth_index, len(orders))
        controls = replace(some, estimate=drawn, truth_index=truth, estimate_index=np.arange(len(truth)))
        if metric.refused(controls).any():
            return None
        try:
            values.append(np.asarray(metric(controls), np.float64).reshape(some.n, len(orders)))
        except PairError:
            # drawing names the rows at fault
            return None
    chance = np.full(len(orders), 1 / len(orders))
    law = Distribution.pooled(index, ((row, chance) for row in np.concatenate(values)))
    return ClosedForm.of(law)


def relabelled_planes(pairs: StoredPairs, keys: NDArray[np.uint64]) -> Callable[[int, int], Floats]:
    """Return a function that draws the scores of estimates with their nodes relabelled."""

    def planes(start: int, count: int) -> Floats:
        from .kernels import relabel_scores

        scores, room = pairs.estimate.planes, np.empty(pairs.estimate.n_nodes, np.uint64)
        out = np.empty((pairs.n * count, *scores.shape[1:]))
        relabel_scores(scores, pairs.estimate_index, keys, start, count, room, out)
        return out

    return planes


def permutation_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Relabel the nodes of every estimate: its scores and their pattern stay.

    Law: the scores under a uniform permutation of the nodes' names; rows with one key are relabelled alike. Given: the
    scores up to names, such as the acyclic support of weights.

    It is valid for every guesser that does not use the names, whatever the shape of its guesses. Where pairs are not
    scored, these move with the names, so that the number of true candidates varies.
    """
    refuse_calibration(matching)
    refuse_sources(matching, "permutation")

    def known(metric: Metric) -> ClosedForm | None:
        if not pairs.n or pairs.n_nodes <= MOST_LISTED:
            return listed_law(metric, pairs) if pairs.n else None
        return relabelled_moments(metric, pairs)

    return score_controls(pairs, "relabelled", relabelled_planes(pairs, keys), known)


def join_forms(forms: Sequence[ClosedForm | None], places: Sequence[NDArray[np.int64]], n: int) -> ClosedForm | None:
    """Return the form of n rows, of which those at `places` have these forms; None where nothing is known."""
    known = [(form, at) for form, at in zip(forms, places, strict=True) if form is not None and len(at)]
    if not known:
        return None
    mean, variance, listed = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, np.bool_)
    tailed = np.zeros(n, np.bool_)
    laws = []
    for form, at in known:
        mean[at] = form.mean
        if form.variance is not None:
            variance[at] = form.variance
        if form.distribution is not None:
            listed[at] = True if form.listed is None else form.listed
            laws.append((form.distribution, at))
        tailed[at] = False if form.tailed is None else form.tailed
    tails = None
    if any(form.tails is not None for form, _ in known):

        def tails(observed: Floats, level: float) -> Tails:
            row_tails = Tails.unknown(n)
            for form, at in known:
                if form.tails is not None:
                    parts = form.tails(observed[at], level)
                    for name in Tails._fields:
                        getattr(row_tails, name)[at] = getattr(parts, name)
            return row_tails

    law = _join_laws(laws, n) if laws else None
    return ClosedForm(mean, variance, law, None if listed.all() else listed, tails=tails, tailed=tailed & ~listed)


def _join_laws(laws: Sequence[tuple[Distribution, NDArray[np.int64]]], n: int) -> Distribution:
    """Return one table of the laws of rows at some places each."""
    width = max(law.values.shape[1] for law, _ in laws)
    index, start = np.zeros(n, np.int64), 0
    values, weights, undefined = [], [], []
    for law, at in laws:
        index[at] = law.index + start
        start += len(law.values)
        pad = ((0, 0), (0, width - law.values.shape[1]))
        values.append(np.pad(law.values, pad, mode="edge"))
        weights.append(np.pad(law.weights, pad))
        undefined.append(law.undefined)
    return Distribution(index, np.concatenate(values), np.concatenate(weights), np.concatenate(undefined))


def by_support_controls(matching: Matching, rows: NDArray[np.int64], pairs: Any, keys: NDArray[np.uint64]) -> Controls:
    """Relabel estimates whose scores are those of a weighted DAG, and shuffle the scores of the others.

    Law: that of `permutation` for weights of a DAG and for pooled ensembles, that of `ranking` for other scores. Scores
    are weights of a DAG if they are asymmetric and the non-zero ones have no cycle, as those that NOTEARS returns.
    """
    acyclic = has_acyclic_support(pairs.estimate) & ~pairs.estimate.symmetric
    # probabilities of an ensemble depend on each other as its members do
    acyclic |= pairs.estimate.kinds == TYPES
    chosen = acyclic[pairs.estimate_index]
    bare_matching = replace(matching, options={})
    if chosen.all():
        return permutation_controls(bare_matching, rows, pairs, keys)
    if not chosen.any():
        return ranking_controls(bare_matching, rows, pairs, keys)
    places = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    parts = [
        model(bare_matching, rows[at], pairs.take(at), keys[at])
        for model, at in zip((permutation_controls, ranking_controls), places, strict=True)
    ]

    def planes(start: int, count: int) -> Floats:
        shape = pairs.estimate.planes.shape[1:]
        drawn = np.empty((pairs.n, count, *shape))
        for at, part in zip(places, parts, strict=True):
            controls: Any = part.draw(start, count)
            drawn[at] = controls.estimate.planes.reshape(len(at), count, *shape)
        return drawn.reshape(-1, *shape)

    def known(metric: Metric) -> ClosedForm | None:
        return join_forms([part.closed_form(metric) for part in parts], places, pairs.n)

    words = np.where(chosen, *(part.kind[0] for part in parts))
    return score_controls(pairs, words.astype(object), planes, known)


register_null(
    "scores",
    Null(
        "by_support",
        "weights of a DAG with its nodes relabelled, other scores shuffled over the candidates",
        by_support_controls,
        label_invariant=True,
    ),
)
register_null(
    "scores",
    Null(
        "permutation",
        "the estimate's scores with its nodes relabelled at random",
        permutation_controls,
        label_invariant=True,
        joint=True,
    ),
)
