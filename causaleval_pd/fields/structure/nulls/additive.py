"""Metrics that add up over ordered pairs of nodes, claims about ancestors too, and their moments under relabelling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....graphs.edge_types import FORWARD, LINE, reversed_type
from ....graphs.kernels.planes import ARROW, NONE, TAIL, row_chunks
from ....graphs.mixed.relations import DEFINITE, POSSIBLE, ancestors
from ....graphs.pairs import GraphBatch, GraphPairs
from .quadratic_assignment import PairSums, pair_sums, relabelling_moments
from .shared_edges import Additive, affine, edge_weights, margins, mark_matrices

Floats = NDArray[np.float64]

#: counts of claims that change under relabelling, with their channels of truth and estimate and what a pair adds
_CLAIMS = {
    "right_heads": (1, 0, 1.0),
    "right_tails": (0, 1, 1.0),
    "directed_ancestors": (0, 2, 1.0),
    "directed_descendants": (0, 3, 1.0),
    "bidirected_confounded": (2, 4, 0.5),
    "bidirected_common": (3, 4, 0.5),
    "adjacent_ancestors": (0, 5, 1.0),
    "adjacent_others": (1, 5, 1.0),
    "adjacent_confounded": (2, 5, 0.5),
    "adjacent_common": (3, 5, 0.5),
}


def true_relations(graphs: GraphBatch) -> NDArray[np.bool_]:
    """Return the channels i is an ancestor of j; i is not; both are confounded; have a latent ancestor in common."""
    relations = graphs.known_origins.relations
    return np.stack([relations.ancestor, ~relations.ancestor, relations.confounded, relations.common_ancestor], axis=1)


def claimed_relations(graphs: GraphBatch) -> NDArray[np.bool_]:
    """Return the channels head at i; tail at i; i -> j; i <- j; i <-> j; adjacent."""
    there = mark_matrices(graphs)
    here = there.transpose(0, 2, 1)
    double = (here == NONE) & (there == ARROW)
    heads, tails = (here == ARROW) | double, (here == TAIL) | double
    arrows = (there == ARROW) & tails
    spouses = heads & heads.transpose(0, 2, 1)
    near = (here != NONE) | (there != NONE)
    return np.stack([heads, tails, arrows, arrows.transpose(0, 2, 1), spouses, near], axis=1)


def of_claims(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Weigh claims that are right, or None for a metric that is not affine in them."""

    def at(*counts: float) -> Floats:
        changed = {name: np.full(pairs.n, k) for name, k in zip(_CLAIMS, counts, strict=True)}
        stand_in = SimpleNamespace(claims=pairs.claims.with_counts(**changed), n_nodes=pairs.n_nodes)
        return np.asarray(metric.function(stand_in, **metric.options), np.float64)

    weights = affine(at, len(_CLAIMS))
    if weights is None:
        return None
    costs = np.zeros((pairs.n, 4, 6))
    for (true, claimed, share), unit in zip(_CLAIMS.values(), weights[1], strict=True):
        costs[:, true, claimed] += share * unit
    return Additive(true_relations, claimed_relations, weights[0], costs)


def true_ancestors(graphs: GraphBatch) -> NDArray[np.bool_]:
    """Return the channel i is an ancestor of j."""
    return graphs.known_origins.relations.ancestor[:, None]


def claimed_ancestors(definite: Any) -> Callable[[GraphBatch], NDArray[np.bool_]]:
    """Return a function from graphs to the channels i is a definite, and a possible, ancestor of j."""

    def channels(graphs: GraphBatch) -> NDArray[np.bool_]:
        ancestry = ancestors(graphs.planes, graphs.n_nodes, definite)
        return np.stack([ancestry == DEFINITE, ancestry == POSSIBLE], axis=1)

    return channels


def of_ancestor_classes(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Weigh true ancestors that are definite or possible ones of the estimate, at fixed numbers of all these."""
    definite = metric.options.get("definite", "exact")
    known = ancestors(pairs.estimate.planes, pairs.n_nodes, definite)
    claimed = [
        (known == code).sum(axis=(1, 2), dtype=np.float64)[pairs.estimate_index] for code in (DEFINITE, POSSIBLE)
    ]
    true = pairs.truth.known_origins.relations.ancestor.sum(axis=(1, 2), dtype=np.float64)[pairs.truth_index]
    total = float(pairs.n_nodes * (pairs.n_nodes - 1))

    def at(*counts: float) -> Floats:
        both = [np.full(pairs.n, k) for k in counts]
        above = [*both, true - sum(both)]
        others = [claimed[0] - both[0], claimed[1] - both[1], total - true - claimed[0] - claimed[1] + sum(both)]
        table = np.stack([np.stack(above, axis=1), np.stack(others, axis=1)], axis=1)
        stand_in = SimpleNamespace(remember=lambda key, compute: table, n_nodes=pairs.n_nodes)
        return np.asarray(metric.function(stand_in, **metric.options), np.float64)

    weights = affine(at, 2)
    if weights is None:
        return None
    costs = np.stack(weights[1], axis=1)[:, None]
    return Additive(true_ancestors, claimed_ancestors(definite), weights[0], costs)


def _arrows_and_lines(graphs: GraphBatch) -> NDArray[np.int8]:
    """Return the channels i -> j and i -- j."""
    return _type_channels(graphs, (FORWARD, LINE))


def _type_channels(graphs: GraphBatch, types: Sequence[int]) -> NDArray[np.int8]:
    """Return which ordered pairs of nodes have an edge of each type, (N, K, d, d)."""
    there = mark_matrices(graphs)
    here = there.transpose(0, 2, 1)
    channels = np.empty((len(graphs), len(types), graphs.n_nodes, graphs.n_nodes), np.int8)
    for k, t in enumerate(types):
        channels[:, k] = (here == t % 4) & (there == t // 4)
    return channels


def _of_edges(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Return how a metric adds up over types of edges, or None; edges that are their own reversal are two pairs."""
    true, estimated = margins(pairs)
    weights = edge_weights(metric, pairs.n_nodes, true, estimated, is_mixed=pairs.is_mixed)
    if weights is None:
        return None
    here, there = list(true), list(dict.fromkeys(t for _, t in weights.units))
    costs = np.zeros((pairs.n, len(here), len(there)))
    for (s, t), unit in weights.units.items():
        costs[:, here.index(s), there.index(t)] = unit / (2 if s == reversed_type(s) else 1)
    return Additive(
        lambda graphs: _type_channels(graphs, here),
        lambda graphs: _type_channels(graphs, there),
        weights.constant,
        costs,
    )


def _closure(graphs: GraphBatch) -> NDArray[np.bool_]:
    """Return which nodes have a directed path to which others, (N, d, d)."""
    reach = _arrows_and_lines(graphs)[:, 0].astype(np.float32)
    for _ in range(max(1, graphs.n_nodes).bit_length()):
        reach = np.minimum(reach + reach @ reach, 1)
    above = reach > 0
    above[:, range(graphs.n_nodes), range(graphs.n_nodes)] = False
    return above


def _ancestors_and_arrows(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channels i ~> j and i -> j."""
    return np.stack([_closure(graphs), _arrows_and_lines(graphs)[:, 0]], axis=1)


def _ancestors_and_order(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channels i ~> j, only i ~> j, and only j ~> i."""
    above = _closure(graphs)
    below = above.transpose(0, 2, 1)
    return np.stack([above, above & ~below, below & ~above], axis=1)


def _of_ancestors(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Weigh shared ancestors, and true edges along and against the estimate's order."""

    def at(*shared: float) -> Floats:
        both, agreed, opposed = (np.full(pairs.n, k) for k in shared)
        changed = pairs.ancestors._replace(both=both, agreed=agreed, opposed=opposed)
        return _value(metric, SimpleNamespace(ancestors=changed, counts=pairs.counts))

    weights = affine(at, 3)
    if weights is None:
        return None
    costs = np.zeros((pairs.n, 2, 3))
    costs[:, 0, 0], costs[:, 1, 1], costs[:, 1, 2] = weights[1]
    return Additive(_ancestors_and_arrows, _ancestors_and_order, weights[0], costs)


def _blankets(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channel "in the Markov blanket of"."""
    arrows, lines = np.moveaxis(_arrows_and_lines(graphs), 1, 0)
    parents = arrows.astype(np.float32)
    return ((parents @ parents.transpose(0, 2, 1) > 0) | ((arrows | arrows.transpose(0, 2, 1) | lines) > 0))[:, None]


def _of_blankets(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Weigh shared members of blankets."""

    def at(both: float) -> Floats:
        changed = pairs.blankets._replace(both=np.full(pairs.n, both))
        return _value(metric, SimpleNamespace(blankets=changed))

    weights = affine(at, 1)
    return None if weights is None else Additive(_blankets, _blankets, weights[0], weights[1][0][:, None, None])


def _value(metric: Metric, counts: Any) -> Floats:
    return np.asarray(metric.function(counts, **metric.options), np.float64)


#: how metrics add up over ordered pairs of nodes, by their closed form; of mixed graphs the last three do not
_RULES: dict[str, Callable[[Metric, GraphPairs], Additive | None]] = {
    "hypergeometric": _of_edges,
    "linear": _of_edges,
    "claims": of_claims,
    "ancestor_classes": of_ancestor_classes,
    "cpdag_linear": _of_edges,
    "ancestors": _of_ancestors,
    "blankets": _of_blankets,
}
_PLAIN = ("cpdag_linear", "ancestors", "blankets")


def additive_moments(metric: Metric, pairs: GraphPairs) -> ClosedForm | None:
    """Return exact mean and variance under random relabelling of the estimates; None for a metric not pair-additive."""
    if metric.closed_form == "v_structures":
        return _v_structure_mean(metric, pairs)
    name = metric.closed_form or ""
    if name not in _RULES or (pairs.is_mixed and name in _PLAIN):
        return None
    compared = pairs.cpdags if name == "cpdag_linear" else pairs
    sum_of = _RULES[name](metric, compared)
    if sum_of is None:
        return None
    sides = (
        (compared.truth, compared.truth_index, sum_of.truth),
        (compared.estimate, compared.estimate_index, sum_of.estimate),
    )
    sums = [PairSums(*_by_row(*side, pair_sums)) for side in sides]
    mean, variance = relabelling_moments(sums[0], sums[1], sum_of.costs, pairs.n_nodes)
    unknown = np.isnan(sum_of.constant) | metric.refused(pairs)
    return ClosedForm(np.where(unknown, np.nan, mean + sum_of.constant), np.where(unknown, np.nan, variance))


def _by_row(
    graphs: GraphBatch,
    index: NDArray[np.int64],
    channels: Callable[[GraphBatch], NDArray[Any]],
    sums: Callable[[NDArray[Any]], Sequence[Floats]],
) -> list[Floats]:
    """Return sums of the channels of each row's graph; each graph is summed once."""
    used, place = np.unique(index, return_inverse=True)
    # 3 channels of float64, and their transposes
    parts = [sums(channels(graphs.take(used[part]))) for part in row_chunks(len(used), 50 * graphs.n_nodes**2)]
    return [np.concatenate(both)[place] for both in zip(*parts, strict=True)]


def _v_structure_mean(metric: Metric, pairs: GraphPairs) -> ClosedForm:
    """Return the mean of a function that is affine in the shared v-structures at fixed numbers of them.

    A relabelled v-structure of the estimate falls on each of the d C(d - 1, 2) triples with the same probability.
    """
    counts = pairs.v_structures
    d = pairs.n_nodes
    triples = d * (d - 1) * (d - 2) / 2
    expected = counts.true * counts.estimated / triples if triples else np.zeros(pairs.n)
    return ClosedForm(_value(metric, SimpleNamespace(v_structures=counts._replace(both=expected))))
