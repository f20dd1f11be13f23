"""The null models of edge scores: scores shuffled or dealt out, edges drawn from probabilities, nodes relabelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contract.field import MOST_LISTED, all_orders
from ...contract.law import ClosedForm, Distribution
from ...contract.metric import Metric
from ...contract.null import Controls, DrawnControls, Known, Matching, Null, no_closed_form, register_null
from ...execution.random_streams import uniforms
from ..structure.nulls.additive import pair_sums, relabelling_moments
from .cells import ALONE, ALONG_ORDER, KINDS, PAIRED, PROBABILITY, RELABELLED, TYPES, UNORDERED, ScoreBatch
from .laws import shuffled_law
from .pairs import ScorePairs, Truths, Universe, all_candidates, candidates, metric_universes, universe_options

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

#: sets the streams of the pairs of nodes of a row apart
_NEXT = np.uint64(0x9E3779B97F4A7C15)
#: options of the universe over which scores are shuffled
_OPTIONS: dict[str, Any] = {"universe": None, "sources": None, "undirected": "both", "unscored": "drop"}


def _effort(pairs: Any) -> tuple[int, float]:
    """Return the bytes of one control with what ranks it, and the nanoseconds that drawing it takes."""
    cells = pairs.estimate.planes.shape[1] * pairs.n_nodes**2
    return 40 * cells + 200, 6.0 * cells + 100


def moved_controls(
    pairs: Any,
    words: str | NDArray[np.object_],
    keys: Words,
    how: Any = RELABELLED,
    slots: Bools | None = None,
    known: Known = no_closed_form,
) -> Controls:
    """Make controls of a batch, (n,) `how` its scores move over the `slots` (n, d, d); default relabelled nodes."""
    d = pairs.n_nodes
    ways = np.full(pairs.n, how, np.int64)

    def drawn(start: int, count: int) -> Any:
        from .kernels import relabel_scores, shuffle_scores

        scores, index = pairs.estimate, np.repeat(pairs.estimate_index, count)
        planes = np.empty((len(index), *scores.planes.shape[1:]))
        cells, order, draws = (scores.planes, pairs.estimate_index), np.empty(d, np.uint64), (start, count)
        if slots is not None:
            room = np.empty(d * d, np.int64), np.empty(d * d, np.uint64), order
            shuffle_scores(*cells, slots, ways, keys, draws, room, planes)
        if (ways == RELABELLED).any():
            relabel_scores(*cells, ways, keys, draws, order, planes)
        estimate = ScoreBatch(d, planes, scores.kinds[index], scores.symmetric[index], scores.single[index])
        truth_index = np.repeat(pairs.truth_index, count)
        return replace(pairs, estimate=estimate, truth_index=truth_index, estimate_index=np.arange(len(index)))

    return DrawnControls(pairs, words, drawn, known, *_effort(pairs))


def shuffled_universe(matching: Matching) -> Universe:
    """Return the universe over which scores are shuffled: as the user names it, else that of the metrics."""
    named = Universe(**{name: matching.options.get(name, default) for name, default in _OPTIONS.items()})
    if named != Universe():
        return named
    universes = {replace(x, reduce="max", magnitude=None): m.name for m, x in metric_universes(matching.metrics)}
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
    return next(iter(places), named)


def _places(chosen: Universe) -> Universe:
    """Return a universe that has the same ordered pairs of nodes."""
    universe = None if chosen.universe in ("ordered", "unordered") else chosen.universe
    undirected = "ignore" if chosen.undirected == "ignore" else "both"
    return Universe(universe=universe, sources=chosen.sources, undirected=undirected)


def _refuse_metrics(matching: Matching, null: str) -> None:
    """Refuse metrics of calibration, and those of some sources where controls do not keep scores among these."""
    for metric in matching.metrics:
        if metric.closed_form == "calibration":
            raise ValueError(
                f"{metric.name} measures calibration, which null models that move the scores do not test; use "
                "null='calibrated'"
            )
        sources = Universe(sources=metric.options.get("sources")).sources
        if null != "ranking" and sources is not None:
            raise ValueError(
                f"{metric.name} has sources={list(sources)!r}, and null={null!r} does not keep scores among the "
                f"sources; use null=ce.null_model('ranking', sources={list(sources)!r})"
            )


def _refuse_others(matching: Matching, pairs: ScorePairs, chosen: Universe, slots: Bools) -> None:
    """Refuse metrics some of whose candidates are not shuffled."""
    for metric, universe in metric_universes(matching.metrics):
        if _places(universe) == _places(chosen):
            continue
        candidate_set = all_candidates(pairs, universe)
        scored = np.isfinite(pairs.estimate.values[pairs.estimate_index])
        either = (universe.codes(pairs) == UNORDERED) | (chosen.codes(pairs) == UNORDERED) | pairs.symmetric
        moved = slots | (slots.transpose(0, 2, 1) & either[:, None, None])
        if (candidate_set.slots & scored & ~moved)[~candidate_set.faulty].any():
            raise ValueError(
                f"{metric.name} has candidates over which null='ranking' does not shuffle the scores, as it has other "
                "options (universe=, sources=); give the metric (ce.tweak) and the null model the same, or leave out "
                "those of the null model, which then takes the metric's"
            )


def shuffled_slots(pairs: ScorePairs, chosen: Universe) -> tuple[Bools, Ints]:
    """Return the slots over which scores are shuffled, (n, d, d), and whether both directions of a pair do together."""
    slots = all_candidates(pairs, chosen).slots
    unordered = chosen.codes(pairs) == UNORDERED
    # of symmetric scores in an ordered universe the pairs are shuffled, once each
    folded = pairs.symmetric & ~unordered
    if folded.any():
        slots = slots.copy()
        slots[folded] = np.triu(slots[folded] | slots[folded].transpose(0, 2, 1))
    return slots, np.where(unordered | folded, PAIRED, ALONE)


def _some(pairs: Any, rows: Bools) -> Any:
    """Return some pairs; all are the same object, with what it remembers."""
    return pairs if rows.all() else pairs.take(np.flatnonzero(rows))


def _ranked_or_relabelled(matching: Matching, pairs: Any, keys: Words, turned: Bools) -> Controls:
    """Relabel the estimates that are `turned`, and shuffle the scores of the others."""
    _refuse_metrics(matching, "permutation" if turned.any() else "ranking")
    how = np.full(pairs.n, RELABELLED)
    slots = np.zeros((pairs.n, pairs.n_nodes, pairs.n_nodes), np.bool_)
    if not turned.all():
        chosen, shuffled = shuffled_universe(matching), _some(pairs, ~turned)
        slots[~turned], how[~turned] = shuffled_slots(shuffled, chosen)
        _refuse_others(matching, shuffled, chosen, slots[~turned])

    def known(metric: Metric) -> ClosedForm | None:
        shuffled = shuffled_law(metric, pairs, slots, ~turned)
        relabelled = None
        if turned.any():
            law = listed_law if pairs.n_nodes <= MOST_LISTED else relabelled_moments
            relabelled = law(metric, _some(pairs, turned))
        if shuffled is None or relabelled is None:
            return shuffled if relabelled is None else relabelled.spread(turned)
        return _joined(relabelled.spread(turned), shuffled, turned)

    words = np.where(turned, "relabelled", "shuffled").astype(object)
    return moved_controls(pairs, words, keys, how, None if turned.all() else slots, known)


def _joined(form: ClosedForm, other: ClosedForm, rows: Bools) -> ClosedForm:
    """Return the form of all rows, of which `rows` are those of the first, which has no tails."""
    variances = (np.full(len(rows), np.nan) if x.variance is None else x.variance for x in (form, other))
    laws = [x.distribution for x in (form, other) if x.distribution is not None]
    listed = np.zeros(len(rows), np.bool_)
    for x, mine in ((form, rows), (other, ~rows)):
        if x.distribution is not None:
            listed |= mine if x.listed is None else x.listed
    joined = replace(other, mean=np.where(rows, form.mean, other.mean), variance=np.where(rows, *variances))
    if not laws:
        return joined
    law = laws[0]
    if len(laws) == 2:
        width = max(x.values.shape[1] for x in laws)
        pads = [((0, 0), (0, width - x.values.shape[1])) for x in laws]
        law = Distribution(
            np.where(rows, laws[0].index, laws[1].index + len(laws[0].values)),
            np.concatenate([np.pad(x.values, pad, mode="edge") for x, pad in zip(laws, pads, strict=True)]),
            np.concatenate([np.pad(x.weights, pad) for x, pad in zip(laws, pads, strict=True)]),
            np.concatenate([x.undefined for x in laws]),
        )
    return replace(joined, distribution=law, listed=None if listed.all() else listed)


def ranking_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Shuffle every estimate's scores over the candidates."""
    return _ranked_or_relabelled(matching, pairs, keys, np.zeros(pairs.n, np.bool_))


def permutation_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Relabel the nodes of every estimate: its scores and their pattern stay."""
    return _ranked_or_relabelled(matching, pairs, keys, np.ones(pairs.n, np.bool_))


def by_support_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Relabel estimates whose scores are those of a weighted DAG, and shuffle the scores of the others."""
    scores = pairs.estimate
    # probabilities of an ensemble depend on each other as its members do
    turned = (has_acyclic_support(scores) & ~scores.symmetric) | (scores.kinds == TYPES)
    return _ranked_or_relabelled(replace(matching, options={}), pairs, keys, turned[pairs.estimate_index])


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


def random_scores_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Deal every estimate's scores out to random pairs, along a random order of the nodes for weights of a DAG."""
    ensembles = np.flatnonzero(pairs.estimate.kinds[pairs.estimate_index] == TYPES)
    if len(ensembles):
        raise ValueError(
            f"row {int(rows[ensembles[0]])}: the estimate holds probabilities of an ensemble of graphs, whose members "
            "have no joint law as random graphs; use null='permutation', or test the consensus, a graph"
        )
    _refuse_metrics(matching, "random_scores")
    acyclic = (has_acyclic_support(pairs.estimate) & ~pairs.estimate.symmetric)[pairs.estimate_index]
    slots, how = shuffled_slots(pairs, Universe())
    acyclic &= (slots == slots.transpose(0, 2, 1)).all(axis=(1, 2))
    # a weighted DAG takes one slot of a pair: pairs with their scores are shuffled, then directed
    slots = np.where(acyclic[:, None, None], np.triu(slots, 1), slots)
    return moved_controls(pairs, "random", keys, np.where(acyclic, ALONG_ORDER, how), slots)


def calibrated_controls(matching: Matching, rows: Ints, pairs: Any, keys: Words) -> Controls:
    """Draw the edges of the truth from the probabilities of every estimate."""
    kinds = pairs.estimate.kinds[pairs.estimate_index]
    wrong = ~np.isin(kinds, (PROBABILITY, TYPES))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{matching.where(rows[at])}: null='calibrated' needs probabilities, the estimate holds {KINDS[kinds[at]]}"
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
    moments = _MOMENTS.get(metric.closed_form or "")
    if moments is None:
        return None
    chosen = Universe(**universe_options(metric))
    if chosen.universe not in (None, "ordered", "unordered") or chosen.undirected == "ignore":
        return None
    candidate_set = all_candidates(pairs, chosen)
    d, unordered = pairs.n_nodes, chosen.codes(pairs) == UNORDERED
    full = candidate_set.size == np.where(unordered, d * (d - 1) // 2, d * (d - 1))
    full &= np.isfinite(candidate_set.keys).all(axis=1) | (candidate_set.size < candidate_set.keys.shape[1])
    full &= (candidate_set.n_true > 0) & ~candidate_set.faulty
    if not full.any() or d < 2:
        return None
    rows = np.flatnonzero(full)
    ranked = pairs.remember(("ranked", chosen), lambda: _ranked(pairs.take(rows), chosen, unordered[rows]))
    return ClosedForm(*moments(ranked, d, metric.options.get("k"))).spread(full)


def _ranked(pairs: ScorePairs, chosen: Universe, unordered: Bools) -> Ranked:
    found, d = candidates(pairs, chosen), pairs.n_nodes
    matrices = np.zeros((3, pairs.n, d, d))
    for row, (size, labels) in enumerate(zip(found.size.tolist(), found.labels, strict=True)):
        _, group, counts = np.unique(-found.keys[row, :size], return_inverse=True, return_counts=True)
        first = np.cumsum(counts) - counts
        matrices[:, row, found.slots[row]] = labels[:size], first[group], counts[group]
    matrices[:, unordered] = np.maximum(matrices, matrices.swapaxes(2, 3))[:, unordered]
    n, k = found.size.astype(np.float64), found.n_true.astype(np.float64)
    true, above, tied = matrices
    return Ranked(true, above, tied, n, k, np.where(unordered, 2.0, 1.0))


def _linear(ranked: Ranked, weights: Floats, d: int) -> tuple[Floats, Floats]:
    """Return mean and variance of the sum of the weights of the true candidates."""
    weights = weights.copy()
    weights[:, range(d), range(d)] = 0.0
    true, weighed = (pair_sums(x[:, None]) for x in (ranked.true, weights))
    return relabelling_moments(true, weighed, (1 / ranked.cells)[:, None, None], d)


def _auroc(ranked: Ranked, d: int, k: None) -> tuple[Floats, Floats]:
    n, products = ranked.n[:, None, None], ranked.k * (ranked.n - ranked.k)
    # midranks from the bottom, less their mean
    midranks = n - ranked.above - (ranked.tied - 1) / 2 - (n + 1) / 2
    # in units of 1, so that a small variance is not taken for rounding error
    mean, variance = _linear(ranked, midranks / np.maximum(products, 1)[:, None, None] ** 0.5, d)
    able = products > 0
    some = np.maximum(products, 1)
    return np.where(able, 0.5 + mean / some**0.5, np.nan), np.where(able, variance / some, np.nan)


def _precision(ranked: Ranked, d: int, first: int | None) -> tuple[Floats, Floats]:
    k = ranked.k if first is None else np.full(len(ranked.k), float(first))
    share = np.clip((k[:, None, None] - ranked.above) / np.maximum(ranked.tied, 1), 0.0, 1.0)
    mean, variance = _linear(ranked, share, d)
    able = k <= ranked.n
    return np.where(able, mean / k, np.nan), np.where(able, variance / k**2, np.nan)


def _average_precision(ranked: Ranked, d: int, k: None) -> tuple[Floats, Floats]:
    """Return the mean; the variance is not known."""
    from .kernels import pattern_sums

    nothing = np.full(len(ranked.n), np.nan)
    # the sums take d^3 steps
    if d > 150:
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


_MOMENTS: dict[str, Callable[..., tuple[Floats, Floats]]] = {
    "auroc": _auroc,
    "precision_at_k": _precision,
    "average_precision": _average_precision,
}
#: listed controls that are scored at once
_AT_ONCE = 20_000


def listed_law(metric: Metric, pairs: ScorePairs) -> ClosedForm | None:
    """Return the exact law of any metric over all relabellings of few nodes, for rows that the metric takes."""
    distinct, index = pairs.unique()
    orders = all_orders(pairs.n_nodes)
    step = max(1, _AT_ONCE // len(orders))
    values: list[Floats] = []
    taken: list[Bools] = []
    for start in range(0, distinct.n, step):
        some = distinct.take(np.arange(start, min(start + step, distinct.n)))
        scores = some.estimate.take(np.repeat(some.estimate_index, len(orders)))
        every = np.tile(orders, (some.n, 1))
        each = np.arange(len(every))[:, None, None]
        moved = scores.planes.transpose(0, 2, 3, 1)[each, every[:, :, None], every[:, None, :]]
        drawn = replace(scores, planes=np.ascontiguousarray(moved.transpose(0, 3, 1, 2)))
        truth = np.repeat(some.truth_index, len(orders))
        controls = replace(some, estimate=drawn, truth_index=truth, estimate_index=np.arange(len(truth)))
        scored, is_taken = metric.of_taken(controls)
        values.append(scored.reshape(some.n, len(orders)))
        taken.append(is_taken.reshape(some.n, len(orders)))
    known = np.asarray(np.concatenate(taken).all(axis=1))[index]
    if not known.any():
        return None
    chance = np.full(len(orders), 1 / len(orders))
    law = Distribution.pooled(index[known], ((row, chance) for row in np.concatenate(values)))
    return ClosedForm.of(law).spread(known)


_MODELS = {
    "ranking": (ranking_controls, "the estimate's scores, shuffled over the candidates"),
    "random_scores": (
        random_scores_controls,
        "the estimate's scores dealt out to random pairs, weights of a DAG to a random DAG",
    ),
    "calibrated": (calibrated_controls, "edges drawn from the estimated probabilities"),
    "by_support": (
        by_support_controls,
        "weights of a DAG with its nodes relabelled, other scores shuffled over the candidates",
    ),
    "permutation": (permutation_controls, "the estimate's scores with its nodes relabelled at random"),
}
for _name, (_controls, _long_name) in _MODELS.items():
    _drawn_truths = _name == "calibrated"
    _null = Null(_name, _long_name, _controls, reference=_drawn_truths, worse=_drawn_truths)
    _options = dict(_OPTIONS) if _name == "ranking" else {}
    _null = replace(_null, options=_options, label_invariant=not _drawn_truths, joint=_name == "permutation")
    register_null("scores", _null)
