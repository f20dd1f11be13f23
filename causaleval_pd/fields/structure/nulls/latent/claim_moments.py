"""Metrics of what estimates claim about true ancestors and confounders, as sums over ordered pairs of nodes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....contract.metric import Metric
from .....graphs.mixed.marks import ARROW, NONE, TAIL
from .....graphs.mixed.relations import DEFINITE, POSSIBLE, ancestors
from .....graphs.pairs import GraphBatch, GraphPairs
from ..shared_edges import Additive, affine, mark_matrices

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
    found = graphs.known_origins.relations
    return np.stack([found.ancestor, ~found.ancestor, found.confounded, found.common_ancestor], axis=1)


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
        found = ancestors(graphs.planes, graphs.n_nodes, definite)
        return np.stack([found == DEFINITE, found == POSSIBLE], axis=1)

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
