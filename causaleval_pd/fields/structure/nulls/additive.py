"""Metrics that add up over edges, ordered pairs of nodes or claims: their rules, and moments under relabelling.

A statistic that adds up over ordered pairs of nodes, sum over i != j of c(type of (i, j) in the truth, type in the
estimate), has an exact mean and variance under random relabelling of one side whatever the costs c. Types are channels,
matrices over ordered pairs, and a metric is a matrix of costs between channels; costs follow from the metric's values
at chosen counts.

References
----------
.. [1] Hubert, L., Schultz, J. (1976). Quadratic assignment as a general data analysis strategy.
   doi:10.1111/j.2044-8317.1976.tb00714.x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....contract.confusion import Confusion
from ....contract.law import ClosedForm, ClosedFormRule, Value, register_closed_form
from ....contract.metric import Metric
from ....graphs.edge_types import BACKWARD, FORWARD, LINE, ONE_WAY, TYPES, AncestorCounts, EdgeTypes, reversed_type
from ....graphs.kernels.planes import ARROW, NONE, TAIL, matrices_from_planes, row_chunks
from ....graphs.mixed.marks import count_bits, is_mixed, marks_from_planes, where
from ....graphs.mixed.paths import DEFINITE, POSSIBLE, ancestors
from ....graphs.pairs import GraphBatch, GraphPairs

Floats = NDArray[np.float64]


class PairSums(NamedTuple):
    """Sums over one side that the moments need: of its channels, and of products of two channels by pattern."""

    #: (N, K): sums of the channels over ordered pairs
    totals: Floats
    #: (N, K, K, 7): sums over two ordered pairs of nodes that are the same, reversed, share their first node, their
    #: second node, the first is the other's second, the second the other's first, or are disjoint
    products: Floats


def pair_sums(channels: ArrayLike) -> PairSums:
    """Sum channels (N, K, d, d), without their diagonals, and products of two of them by pattern."""
    x = np.array(channels, np.float64)
    d = x.shape[-1]
    x[..., range(d), range(d)] = 0.0
    first, second = x.sum(axis=3), x.sum(axis=2)
    totals = first.sum(axis=2)
    flat = x.reshape(*x.shape[:2], d * d)
    turned = x.transpose(0, 1, 3, 2).reshape(flat.shape)

    def product(a: Floats, b: Floats) -> Floats:
        return np.asarray(a @ b.transpose(0, 2, 1))

    same, reverse = product(flat, flat), product(flat, turned)
    patterns = [same, reverse, product(first, first) - same, product(second, second) - same]
    patterns += [product(first, second) - reverse, product(second, first) - reverse]
    disjoint = totals[:, :, None] * totals[:, None, :] - sum(patterns)
    return PairSums(totals, np.stack([*patterns, disjoint], axis=-1))


def relabelling_moments(truth: PairSums, estimate: PairSums, costs: ArrayLike, n_nodes: int) -> tuple[Floats, Floats]:
    """Return mean and variance of sum over k, l of costs[k, l] truth_k(i, j) estimate_l(pi(i), pi(j)), pi random."""
    d = n_nodes
    weight = np.broadcast_to(np.asarray(costs, np.float64), (len(truth.totals), *np.shape(costs)[-2:]))
    ways = np.array([d * (d - 1)] * 2 + [d * (d - 1) * (d - 2)] * 4 + [d * (d - 1) * (d - 2) * (d - 3)], np.float64)
    chance = np.divide(1.0, ways, out=np.zeros(7), where=ways > 0)
    mean = np.einsum("nk,nkl,nl->n", truth.totals, weight, estimate.totals) * chance[0]
    spread = np.einsum("nka,nklp,nlb->nabp", weight, truth.products, weight, optimize=True)
    square = np.einsum("nabp,nabp,p->n", spread, estimate.products, chance, optimize=True)
    variance = square - mean**2
    # clip variances that are only rounding error
    return mean, np.where(variance > 1e-9 * (1 + mean**2), variance, 0.0)


def _value(metric: Metric, counts: Any) -> Floats:
    return np.asarray(metric.function(counts, **metric.options), np.float64)


class Counts(NamedTuple):
    """Stands in for `GraphPairs` where a metric is a function of counts alone, of CPDAGs where it compares these."""

    counts: EdgeTypes
    is_mixed: bool = False

    @property
    def edge_types(self) -> EdgeTypes:
        """The same counts."""
        return self.counts

    @property
    def cpdags(self) -> Counts:
        """The same."""
        return self

    def value(self, metric: Metric) -> Floats:
        """Return the metric's values."""
        return _value(metric, self)


#: counts at which a metric is evaluated, its value, the sum of its units, and where the two differ
Evaluation = tuple[list[float], Floats, Floats, NDArray[np.bool_]]


def affine_units(at: Callable[..., Floats], n: int) -> tuple[Floats, list[Floats], list[Evaluation]]:
    """Return `at` where all n counts are 0, what one unit of each count adds, and how these add up at other counts."""
    none = at(*[0.0] * n)
    units = [at(*unit) - none for unit in np.eye(n).tolist()]
    several = ([float(1 + i * step % 7) for i in range(n)] for step in (2, 5))
    evaluations = []
    for counts in ([2.0 * (i == 0) for i in range(n)], *several):
        value, total = at(*counts), none + sum(k * unit for k, unit in zip(counts, units, strict=True))
        evaluations.append((counts, value, total, ~np.isclose(value, total, rtol=1e-9, atol=1e-9, equal_nan=True)))
    return none, units, evaluations


def affine(metric: Metric, stand_in: Callable[..., Any], n: int) -> tuple[Floats, list[Floats]] | None:
    """Return the units of a metric in the n counts of which `stand_in` makes pairs, or None if it is not affine."""
    none, units, evaluations = affine_units(lambda *counts: _value(metric, stand_in(*counts)), n)
    return None if any(wrong.any() for *_, wrong in evaluations) else (none, units)


#: functions to the channels of true and of estimated graphs; of each count that adds up over ordered pairs of nodes a
#: channel of each, and what a pair that has both adds; and what stands in for pairs with other counts, (n,) each
Channels = Callable[[GraphBatch], NDArray[Any]]
Additive = tuple[Channels, Channels, Sequence[tuple[int, int, float]], Callable[..., Any]]


def count_types(graphs: GraphBatch, index: NDArray[np.int64]) -> dict[int, Floats]:
    """Count the edges of graphs by type, either way round, one value per pair."""
    numbers = {t: count_bits(where(graphs.lifted, t % 4, t // 4)).astype(np.float64)[index] for t in graphs.types}
    either = {s: [numbers[t] for t in {s, reversed_type(s)} & numbers.keys()] for s in ONE_WAY}
    return {s: np.sum(parts, axis=0) for s, parts in either.items() if parts}


def shared_edges(
    n_nodes: int, true: Mapping[int, Any], estimated: Mapping[int, Any], *, is_mixed: bool = False
) -> tuple[list[tuple[int, int]], Callable[..., Counts]]:
    """Return both types that shared edges may have at these margins, and the function of their numbers to counts."""
    cells = [(s, t) for s in true for t in TYPES if t in estimated or reversed_type(t) in estimated]

    def counts(*shared: Any) -> Counts:
        return Counts(EdgeTypes.of_margins(n_nodes, true, estimated, dict(zip(cells, shared, strict=True))), is_mixed)

    return cells, counts


def mark_matrices(graphs: GraphBatch) -> NDArray[np.uint8]:
    """Return (N, d, d) matrices with the code of the mark at j of the edge i - j in cell (i, j)."""
    if is_mixed(graphs.planes):
        return marks_from_planes(graphs.planes, graphs.n_nodes)
    arcs = matrices_from_planes(graphs.planes, graphs.n_nodes)
    back = arcs.transpose(0, 2, 1)
    return np.where(back, TAIL, ARROW * arcs).astype(np.uint8)


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


def _of_claims(metric: Metric, pairs: GraphPairs) -> Additive:
    """Count claims that are right."""

    def stand_in(*counts: Floats) -> Any:
        claims = pairs.claims.with_counts(**dict(zip(_CLAIMS, counts, strict=True)))
        return SimpleNamespace(claims=claims, n_nodes=pairs.n_nodes)

    return true_relations, claimed_relations, list(_CLAIMS.values()), stand_in


def _of_ancestor_classes(metric: Metric, pairs: GraphPairs) -> Additive:
    """Count true ancestors that are definite or possible ones of the estimate, at fixed numbers of all these."""
    definite = metric.options.get("definite", "exact")
    known = ancestors(pairs.estimate.planes, pairs.n_nodes, definite)
    totals = ((known == code).sum(axis=(1, 2), dtype=np.float64) for code in (DEFINITE, POSSIBLE))
    claimed = [total[pairs.estimate_index] for total in totals]
    true = pairs.truth.known_origins.relations.ancestor.sum(axis=(1, 2), dtype=np.float64)[pairs.truth_index]
    total = float(pairs.n_nodes * (pairs.n_nodes - 1))

    def stand_in(*both: Floats) -> Any:
        above = [*both, true - sum(both)]
        others = [claimed[0] - both[0], claimed[1] - both[1], total - true - claimed[0] - claimed[1] + sum(both)]
        table = np.stack([np.stack(above, axis=1), np.stack(others, axis=1)], axis=1)
        return SimpleNamespace(remember=lambda key, compute: table, n_nodes=pairs.n_nodes)

    def claimed_ancestors(graphs: GraphBatch) -> NDArray[np.bool_]:
        ancestry = ancestors(graphs.planes, graphs.n_nodes, definite)
        return np.stack([ancestry == DEFINITE, ancestry == POSSIBLE], axis=1)

    terms = [(0, 0, 1.0), (0, 1, 1.0)]
    return lambda graphs: graphs.known_origins.relations.ancestor[:, None], claimed_ancestors, terms, stand_in


def _type_channels(graphs: GraphBatch, types: Sequence[int]) -> NDArray[np.int8]:
    """Return which ordered pairs of nodes have an edge of each type, (N, K, d, d)."""
    there = mark_matrices(graphs)
    here = there.transpose(0, 2, 1)
    channels = np.empty((len(graphs), len(types), graphs.n_nodes, graphs.n_nodes), np.int8)
    for k, t in enumerate(types):
        channels[:, k] = (here == t % 4) & (there == t // 4)
    return channels


def _of_edges(metric: Metric, pairs: GraphPairs) -> Additive:
    """Count shared edges by both types; edges that are their own reversal are two ordered pairs."""
    true, estimated = count_types(pairs.truth, pairs.truth_index), count_types(pairs.estimate, pairs.estimate_index)
    cells, counts = shared_edges(pairs.n_nodes, true, estimated, is_mixed=pairs.is_mixed)
    here, there = list(true), list(dict.fromkeys(t for _, t in cells))
    terms = [(here.index(s), there.index(t), 0.5 if s == reversed_type(s) else 1.0) for s, t in cells]
    return partial(_type_channels, types=here), partial(_type_channels, types=there), terms, counts


def _above(graphs: GraphBatch) -> NDArray[np.bool_]:
    """Return which nodes have a directed path to which others, (N, d, d)."""
    # `ancestors` takes as many nodes as mixed graphs may have
    above = _type_channels(graphs, [FORWARD])[:, 0].astype(np.float32)
    for _ in range(max(1, graphs.n_nodes).bit_length()):
        above = np.minimum(above + above @ above, 1)
    return (above > 0) & ~np.eye(graphs.n_nodes, dtype=bool)


def _ancestors_and_order(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channels i ~> j, only i ~> j, and only j ~> i."""
    above = _above(graphs)
    below = above.transpose(0, 2, 1)
    return np.stack([above, above & ~below, below & ~above], axis=1)


def _of_ancestors(metric: Metric, pairs: GraphPairs) -> Additive:
    """Count shared ancestors, and true edges along and against the estimate's order."""

    def ancestors_and_arrows(graphs: GraphBatch) -> NDArray[Any]:
        return np.stack([_above(graphs), _type_channels(graphs, [FORWARD])[:, 0]], axis=1)

    def stand_in(both: Floats, agreed: Floats, opposed: Floats) -> Any:
        changed = pairs.ancestors._replace(both=both, agreed=agreed, opposed=opposed)
        return SimpleNamespace(ancestors=changed, counts=pairs.counts)

    return ancestors_and_arrows, _ancestors_and_order, [(0, 0, 1.0), (1, 1, 1.0), (1, 2, 1.0)], stand_in


def _blankets(graphs: GraphBatch) -> NDArray[Any]:
    """Return the channel "in the Markov blanket of"."""
    arrows, lines = np.moveaxis(_type_channels(graphs, [FORWARD, LINE]), 1, 0)
    parents = arrows.astype(np.float32)
    return ((parents @ parents.transpose(0, 2, 1) > 0) | ((arrows | arrows.transpose(0, 2, 1) | lines) > 0))[:, None]


def _of_blankets(metric: Metric, pairs: GraphPairs) -> Additive:
    """Count shared members of blankets."""
    counts = pairs.blankets
    return _blankets, _blankets, [(0, 0, 1.0)], lambda both: SimpleNamespace(blankets=counts._replace(both=both))


#: how metrics add up over ordered pairs of nodes, by their closed form; of mixed graphs the last three do not
_RULES: dict[str, Callable[[Metric, GraphPairs], Additive]] = {
    "hypergeometric": _of_edges,
    "linear": _of_edges,
    "claims": _of_claims,
    "ancestor_classes": _of_ancestor_classes,
    "cpdag_linear": _of_edges,
    "ancestors": _of_ancestors,
    "blankets": _of_blankets,
}
_PLAIN = ("cpdag_linear", "ancestors", "blankets")


def additive_moments(metric: Metric, pairs: GraphPairs) -> ClosedForm | None:
    """Return exact mean and variance under random relabelling of the estimates; None for a metric not pair-additive."""
    if metric.closed_form == "v_structures":
        # a relabelled v-structure falls on each of the d C(d - 1, 2) triples with equal probability
        counts, d = pairs.v_structures, pairs.n_nodes
        expected = counts.true * counts.estimated / max(1.0, d * (d - 1) * (d - 2) / 2)
        return ClosedForm(_value(metric, SimpleNamespace(v_structures=counts._replace(both=expected))))
    name = metric.closed_form or ""
    if name not in _RULES or (pairs.is_mixed and name in _PLAIN):
        return None
    compared = pairs.cpdags if name == "cpdag_linear" else pairs
    truth, estimate, terms, stand_in = _RULES[name](metric, compared)
    weights = affine(metric, lambda *counts: stand_in(*(np.full(pairs.n, k) for k in counts)), len(terms))
    if weights is None:
        return None
    constant, units = weights
    true = _sums_by_row(compared.truth, compared.truth_index, truth)
    estimated = _sums_by_row(compared.estimate, compared.estimate_index, estimate)
    costs = np.zeros((pairs.n, true.totals.shape[1], estimated.totals.shape[1]))
    for (here, there, share), unit in zip(terms, units, strict=True):
        costs[:, here, there] += share * unit
    mean, variance = relabelling_moments(true, estimated, costs, pairs.n_nodes)
    unknown = np.isnan(constant) | metric.refused(pairs)
    return ClosedForm(np.where(unknown, np.nan, mean + constant), np.where(unknown, np.nan, variance))


def _sums_by_row(graphs: GraphBatch, index: NDArray[np.int64], channels: Channels) -> PairSums:
    """Return sums of the channels of each row's graph; each graph is summed once."""
    used, place = np.unique(index, return_inverse=True)
    # 3 channels of float64, and their transposes
    parts = [pair_sums(channels(graphs.take(used[part]))) for part in row_chunks(len(used), 50 * graphs.n_nodes**2)]
    return PairSums(*(np.concatenate(both)[place] for both in zip(*parts, strict=True)))


#: shared edges with the same direction, the other one, a lost one, an added one, and without
_SHARED = ((FORWARD, FORWARD), (FORWARD, BACKWARD), (FORWARD, LINE), (LINE, FORWARD), (LINE, LINE))


def _edges(*shared: float) -> Counts:
    """Stand in for pairs on 12 nodes, with numbers of shared edges by type at fixed margins."""
    true, estimated = {FORWARD: 20.0, LINE: 10.0}, {FORWARD: 18.0, LINE: 7.0}
    return Counts(EdgeTypes.of_margins(12.0, true, estimated, dict(zip(_SHARED, shared, strict=True))))


Probe = Callable[[Value], str | None]


def _affine_in(at: Callable[..., Any], *names: str) -> Probe:
    """Return the check that a metric is affine in the named counts, of which `at` makes stand-ins for pairs."""

    def probe(value: Value) -> str | None:
        for numbers, actual, expected, wrong in affine_units(lambda *counts: value(at(*counts)), len(names))[2]:
            if wrong.any():
                counts = ", ".join(f"{name} {k:g}" for name, k in zip(names, numbers, strict=True) if k)
                return f"at {counts} it is {actual.item():g}, where adding up its units gives {expected.item():g}"
        return None

    return probe


def _positives(counts: str) -> Callable[[float], Any]:
    """Return what stands in for pairs with a number of positives that both sides have, among these counts."""
    return lambda both: SimpleNamespace(**{counts: Confusion(*(np.full(1, x, float) for x in (both, 40, 35)))})


def function_of_adjacencies(value: Value) -> str | None:
    """Check that a metric depends on the shared adjacencies alone, not on directions."""
    for shared in (4, 15):
        first, *others = (value(_edges(*counts)) for counts in shared * np.eye(5))
        if not np.allclose(others, first, rtol=1e-9, atol=1e-9, equal_nan=True):
            return f"its value at {shared} shared adjacencies depends on their directions"
    return None


def reverses(value: Value) -> str | None:
    """Check that a metric becomes 1 minus itself when all directions of the control are reversed."""
    for right, wrong in ((1, 3), (5, 2), (4, 4)):
        score, turned = value(_edges(right, wrong, 0, 0, 0)), value(_edges(wrong, right, 0, 0, 0))
        if not np.allclose(score + turned, 1, rtol=1e-9, atol=1e-9):
            return f"with {right} right and {wrong} wrong directions it is {score.item():g}, reversed {turned.item():g}"
    return None


def affine_in_ancestors(value: Value) -> str | None:
    """Check that a metric is affine in shared ancestors, and in true edges along and against the estimate's order."""

    def at(both: float, agreed: float, opposed: float, shared: float = 0) -> Any:
        ancestors = AncestorCounts(*(np.full(1, x, float) for x in (40, 35, both, agreed, opposed)))
        return SimpleNamespace(ancestors=ancestors, counts=_edges(shared, 0, 0, 0, 0).counts)

    if not np.allclose(value(at(9, 5, 3)), value(at(9, 5, 3, shared=6)), rtol=1e-9, atol=1e-9, equal_nan=True):
        return "it depends on the number of shared edges"
    return _affine_in(at, "shared ancestors", "edges along the order", "edges against it")(value)


#: what must hold for the metrics of each closed form, and what null models then compute
_EXPLANATIONS = {
    "hypergeometric": "A function of the number of shared adjacencies at fixed numbers of nodes and edges. Under "
    "random skeletons that number is hypergeometric, so the whole law is exact; under relabelling the mean and, for "
    "sums, variance.",
    "linear": "Affine in the numbers of shared edges by type (same, reversed, lost, added direction, both undirected; "
    "in mixed graphs by the marks at both ends). Mean and variance are exact under random DAGs, random directions and "
    "relabelling.",
    "cpdag_linear": "Affine in the numbers of shared edges by type of the CPDAGs of both graphs. Mean and variance are "
    "exact under relabelling.",
    "reversal": "A share of right directions that becomes 1 minus itself when the control is reversed. A DAG and its "
    "reversal are equally likely, so the mean is 1/2 given a shared edge.",
    "ancestors": "Affine in the numbers of shared ancestor pairs and of true edges along and against the estimate's "
    "order. Mean and variance are exact under relabelling.",
    "blankets": "Affine in the number of shared members of Markov blankets. Mean and variance are exact under "
    "relabelling.",
    "v_structures": "Affine in the number of shared v-structures. The mean is exact under relabelling.",
    "claims": "Affine in the numbers of right claims about true ancestors and confounders, at fixed numbers of claims. "
    "Mean and variance are exact under relabelling.",
    "ancestor_classes": "Affine in the numbers of true ancestors that are definite, and possible, ones of the "
    "estimate, at fixed numbers of these. Mean and variance are exact under relabelling.",
    "mean_over_edges": "The mean, over the estimate's directed edges, of a value that each ordered pair of nodes has. "
    "Its mean is exact under random DAGs and relabelling, and under random DAGs the variance (up to 32 nodes), where "
    "every pair has a value.",
}
_AFFINE_IN_EDGES = _affine_in(
    _edges, "same direction", "reversed", "lost direction", "added direction", "both undirected"
)
_PROBES: dict[str, Probe] = {
    "hypergeometric": function_of_adjacencies,
    "linear": _AFFINE_IN_EDGES,
    "cpdag_linear": _AFFINE_IN_EDGES,
    "reversal": reverses,
    "ancestors": affine_in_ancestors,
    "blankets": _affine_in(_positives("blankets"), "shared members"),
    "v_structures": _affine_in(_positives("v_structures"), "shared v-structures"),
}
for _name, _explanation in _EXPLANATIONS.items():
    register_closed_form(ClosedFormRule(_name, "graph", _explanation, _PROBES.get(_name)))
