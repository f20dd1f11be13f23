"""Exact moments under random relabelling of metrics that add up over ordered pairs of nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....contract.law import ClosedForm
from ....contract.metric import Metric
from ....graphs.kernels.planes import marks_from_planes, row_chunks
from ....graphs.pairs import GraphBatch, GraphPairs
from .affine import affine_units, first_misfit
from .edge_moments import edge_weights
from .edge_types import type_channels, type_weights
from .latent.claim_moments import (
    ancestor_class_costs,
    claim_costs,
    claimed_ancestors,
    claimed_relations,
    true_ancestors,
    true_relations,
)
from .quadratic_assignment import PairSums, pair_sums, relabelling_moments

Floats = NDArray[np.float64]


class Additive(NamedTuple):
    """How metrics of one kind add up: what is compared, the channels of either side, and the costs of a metric.

    `costs(metric, pairs)` returns a constant (n,) and costs (n, K, L), or None where a metric does not add up.
    """

    view: Callable[[GraphPairs], GraphPairs]
    truth: Callable[[GraphBatch], NDArray[Any]]
    estimate: Callable[[GraphBatch], NDArray[Any]]
    costs: Callable[[Metric, GraphPairs], tuple[Floats, Floats] | None]


def _arrows_and_lines(graphs: GraphBatch) -> NDArray[np.int8]:
    """Return the channels i -> j and i -- j."""
    marks = marks_from_planes(graphs.planes, graphs.n_nodes)
    lines = marks & marks.transpose(0, 2, 1)
    return np.stack([marks ^ lines, lines], axis=1)


def _arrows_both_ways_and_lines(graphs: GraphBatch) -> NDArray[np.int8]:
    """Return the channels i -> j, i <- j and i -- j."""
    arrows, lines = np.moveaxis(_arrows_and_lines(graphs), 1, 0)
    return np.stack([arrows, arrows.transpose(0, 2, 1), lines], axis=1)


def _edge_costs(metric: Metric, pairs: GraphPairs) -> tuple[Floats, Floats] | None:
    """Turn weights of shared edges into costs: a directed edge is one ordered pair, an undirected one is two."""
    weights = edge_weights(metric, pairs)
    if weights is None:
        return None
    costs = np.zeros((pairs.n, 2, 3))
    costs[:, 0, 0], costs[:, 0, 1], costs[:, 0, 2] = weights.same, weights.reversed, weights.lost
    costs[:, 1, 0], costs[:, 1, 2] = weights.added, weights.undirected / 2
    return weights.constant, costs


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


def _ancestor_costs(metric: Metric, pairs: GraphPairs) -> tuple[Floats, Floats] | None:
    """Weigh shared ancestors, and true edges along and against the estimate's order."""
    found = pairs.ancestors

    def at(both: float, agreed: float, opposed: float) -> Floats:
        changed = found._replace(
            both=np.full(pairs.n, both), agreed=np.full(pairs.n, agreed), opposed=np.full(pairs.n, opposed)
        )
        return _value(metric, SimpleNamespace(ancestors=changed, counts=pairs.counts))

    none, units = affine_units(at, 3)
    if first_misfit(at, none, units):
        return None
    costs = np.zeros((pairs.n, 2, 3))
    costs[:, 0, 0], costs[:, 1, 1], costs[:, 1, 2] = units
    return none, costs


def _blankets(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channel "in the Markov blanket of"."""
    arrows, lines = np.moveaxis(_arrows_and_lines(graphs), 1, 0)
    parents = arrows.astype(np.float32)
    return ((parents @ parents.transpose(0, 2, 1) > 0) | ((arrows | arrows.transpose(0, 2, 1) | lines) > 0))[:, None]


def _blanket_costs(metric: Metric, pairs: GraphPairs) -> tuple[Floats, Floats] | None:
    """Weigh shared members of blankets."""
    found = pairs.blankets

    def at(both: float) -> Floats:
        return _value(metric, SimpleNamespace(blankets=found._replace(both=np.full(pairs.n, both))))

    none, units = affine_units(at, 1)
    return None if first_misfit(at, none, units) else (none, units[0][:, None, None])


def _value(metric: Metric, counts: Any) -> Floats:
    return np.asarray(metric.function(counts, **metric.options), np.float64)


def _as_they_are(pairs: GraphPairs) -> GraphPairs:
    return pairs


def _as_cpdags(pairs: GraphPairs) -> GraphPairs:
    return pairs.cpdags


_EDGES = Additive(_as_they_are, _arrows_and_lines, _arrows_both_ways_and_lines, _edge_costs)
_CLAIMS = Additive(_as_they_are, true_relations, claimed_relations, claim_costs)
_ANCESTOR_CLASSES = Additive(_as_they_are, true_ancestors, claimed_ancestors("exact"), ancestor_class_costs)

#: closed-form rules whose metrics add up over ordered pairs of directed and undirected edges
ADDITIVE: dict[str, Additive] = {
    "hypergeometric": _EDGES,
    "linear": _EDGES,
    "cpdag_linear": _EDGES._replace(view=_as_cpdags),
    "ancestors": Additive(_as_they_are, _ancestors_and_arrows, _ancestors_and_order, _ancestor_costs),
    "blankets": Additive(_as_they_are, _blankets, _blankets, _blanket_costs),
}


def _rule_of(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Return how a metric adds up, or None."""
    if metric.closed_form == "claims":
        return _CLAIMS
    if metric.closed_form == "ancestor_classes":
        definite = metric.options.get("definite", "exact")
        return _ANCESTOR_CLASSES._replace(estimate=claimed_ancestors(definite))
    return _of_types(metric, pairs) if pairs.is_mixed else ADDITIVE.get(metric.closed_form or "")


def _of_types(metric: Metric, pairs: GraphPairs) -> Additive | None:
    """Return how a metric of mixed graphs adds up over the types of their edges, or None."""
    found = type_weights(metric, pairs) if metric.closed_form in ("hypergeometric", "linear") else None
    if found is None:
        return None
    constant, weights, true, estimated = found
    return Additive(
        _as_they_are,
        lambda graphs: type_channels(graphs, true),
        lambda graphs: type_channels(graphs, estimated),
        lambda metric, pairs: (constant, weights),
    )


def additive_moments(metric: Metric, pairs: GraphPairs) -> ClosedForm | None:
    """Return exact mean and variance of a pair-additive metric under random relabelling of the estimates.

    None for a metric that does not add up over ordered pairs.
    """
    if metric.closed_form == "v_structures":
        return _v_structure_mean(metric, pairs)
    rule = _rule_of(metric, pairs)
    if rule is None:
        return None
    compared = rule.view(pairs)
    found = rule.costs(metric, compared)
    if found is None:
        return None
    constant, costs = found
    sides = (
        (compared.truth, compared.truth_index, rule.truth),
        (compared.estimate, compared.estimate_index, rule.estimate),
    )
    sums = [PairSums(*_by_row(*side, pair_sums)) for side in sides]
    mean, variance = relabelling_moments(sums[0], sums[1], costs, pairs.n_nodes)
    unknown = np.isnan(constant) | metric.refused(pairs)

    return ClosedForm(np.where(unknown, np.nan, mean + constant), np.where(unknown, np.nan, variance))


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
    found = pairs.v_structures
    d = pairs.n_nodes
    triples = d * (d - 1) * (d - 2) / 2
    expected = found.true * found.estimated / triples if triples else np.zeros(pairs.n)
    return ClosedForm(_value(metric, SimpleNamespace(v_structures=found._replace(both=expected))))
